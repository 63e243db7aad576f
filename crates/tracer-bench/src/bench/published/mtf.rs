//! Markers and typestate: N. Honcharyk's MTF, a modified HotSpot of 2024.

use super::{Column, Figures, MEAN, Row, Table, Unit, geometric_mean, mean_row, row};

const SOURCE: &str = "N. Honcharyk, master's thesis, King Danylo University, 2024";

/// A program of tables 2.6 and 2.7: milliseconds plain, then milliseconds and marker calls of `HasNextOnce` adaptive,
/// `HasNextOnce`, `HasNext` adaptive, `HasNext`.
struct Typestate(&'static str, f64, [(f64, f64); 4]);

const TYPESTATE: &[Typestate] = &[
    Typestate("avrora", 12_066.6, [(12_308.0, 2.0), (11_938.0, 26.0), (12_096.0, 26.0), (12_231.0, 26.0)]),
    Typestate(
        "eclipse",
        42_476.0,
        [(47_273.0, 3_613.0), (46_714.0, 140_774.0), (46_894.0, 99_740.0), (46_158.0, 140_768.0)],
    ),
    Typestate("fop", 445.6, [(723.0, 16_205.0), (636.0, 181_353.0), (633.0, 176_155.0), (623.0, 181_353.0)]),
    Typestate(
        "h2",
        6_962.0,
        [(8_597.0, 6_519_560.0), (8_692.0, 25_330_249.0), (8_565.0, 25_334_946.0), (8_560.0, 25_334_340.0)],
    ),
    Typestate(
        "jython",
        3_415.0,
        [(4_354.0, 26_154.0), (4_255.0, 307_590.0), (4_366.0, 31_552.0), (4_355.0, 307_590.0)],
    ),
    Typestate(
        "pmd",
        3_519.0,
        [(4_102.0, 566_214.0), (4_375.0, 1_868_874.0), (6_917.0, 1_562_249.0), (6_996.0, 1_868_551.0)],
    ),
    Typestate(
        "sunflow",
        8_288.0,
        [(9_517.0, 1_365_234.0), (9_477.0, 3_922_933.0), (22_255.0, 3_931_300.0), (22_033.0, 3_931_595.0)],
    ),
    Typestate(
        "bloat",
        3_277.0,
        [(6_503.0, 941_270.0), (14_921.0, 147_604_481.0), (15_419.0, 148_490_519.0), (15_496.0, 149_149_959.0)],
    ),
];

/// A program of tables 3.5 and 3.6: milliseconds with markers on 0, 10, 25, 50, 75 and 100 % of the executed methods, marker
/// calls at 100 %.
pub(super) struct Markers(pub(super) &'static str, pub(super) [f64; 6], pub(super) f64);

pub(super) const MARKERS: &[Markers] = &[
    Markers("avrora", [13_087.0, 8_642.0, 16_819.0, 24_892.0, 33_454.0, 43_976.0], 543_934_712.0),
    Markers("eclipse", [41_364.0, 47_547.0, 98_392.0, 153_362.0, 212_275.0, 275_831.0], 358_208.0),
    Markers("fop", [446.0, 469.0, 845.0, 1_033.0, 1_452.0, 1_768.0], 10_755_787.0),
    Markers("h2", [7_159.0, 7_345.0, 15_130.0, 23_222.0, 31_842.0, 41_861.0], 1_325_200_083.0),
    Markers("jython", [3_360.0, 3_521.0, 7_250.0, 10_811.0, 14_487.0, 18_513.0], 356_096_651.0),
    Markers("luindex", [1_039.0, 1_235.0, 2_652.0, 4_108.0, 5_596.0, 7_345.0], 62_876_224.0),
    Markers("lusearch", [3_940.0, 4_679.0, 9_964.0, 15_680.0, 22_561.0, 30_193.0], 886_577_763.0),
    Markers("pmd", [3_808.0, 3_735.0, 7_819.0, 12_026.0, 16_619.0, 21_575.0], 91_662_920.0),
    Markers("sunflow", [7_558.0, 9_118.0, 19_504.0, 30_936.0, 43_328.0, 55_111.0], 239_384_047.0),
    Markers("tomcat", [5_448.0, 5_473.0, 10_909.0, 16_510.0, 22_926.0, 29_033.0], 3_795_574.0),
    Markers("tradebeans", [7_639.0, 9_102.0, 19_194.0, 31_479.0, 46_423.0, 61_839.0], 39.0),
    Markers("tradesoap", [17_088.0, 19_709.0, 42_154.0, 67_216.0, 94_924.0, 123_100.0], 45.0),
    Markers("xalan", [2_727.0, 3_282.0, 7_250.0, 11_686.0, 17_880.0, 25_037.0], 367_424_093.0),
];

pub(super) fn tables(figures: &Figures) -> Vec<Table> {
    vec![typestate(figures), typestate_calls(figures), markers(figures), marker_calls(figures)]
}

fn typestate_columns(unit: Unit) -> Vec<Column> {
    [
        ("HasNextOnce, adaptive", "typestate:hasnextonce:adaptive"),
        ("HasNextOnce", "typestate:hasnextonce"),
        ("HasNext, adaptive", "typestate:hasnext:adaptive"),
        ("HasNext", "typestate:hasnext"),
    ]
    .into_iter()
    .map(|(title, configuration)| Column { title, configuration, unit })
    .collect()
}

/// Rows of programs, and the mean of theirs.
fn with_mean(figures: &Figures, columns: &[Column], theirs: &[(&str, Vec<Option<f64>>)]) -> Vec<Row> {
    let mut rows: Vec<Row> = theirs.iter().map(|(name, cells)| row(figures, columns, name, cells)).collect();
    let mean = |at: usize| geometric_mean(theirs.iter().filter_map(|(_, cells)| cells.get(at).copied().flatten()));
    let means: Vec<Option<f64>> = (0..columns.len()).map(mean).collect();
    rows.push(mean_row(figures, columns, MEAN, &means));
    rows
}

fn typestate(figures: &Figures) -> Table {
    let columns = typestate_columns(Unit::Ratio);
    let theirs: Vec<_> = TYPESTATE
        .iter()
        .map(|Typestate(name, plain, of)| (*name, of.iter().map(|(ms, _)| Some(ms / plain)).collect()))
        .collect();
    Table {
        id: "mtf-typestate",
        title: "Typestate of iterators (MTF, tables 2.6 and 2.7)",
        source: Some(SOURCE),
        notes: &["Their ratios and the mean of them are worked out from their milliseconds."],
        rows: with_mean(figures, &columns, &theirs),
        columns,
    }
}

fn typestate_calls(figures: &Figures) -> Table {
    let columns = typestate_columns(Unit::Events);
    let theirs = TYPESTATE.iter().map(|Typestate(name, _, of)| {
        let calls: Vec<_> = of.iter().map(|(_, calls)| Some(*calls)).collect();
        row(figures, &columns, name, &calls)
    });
    Table {
        id: "mtf-typestate-calls",
        title: "Events of typestate (MTF, tables 2.6 and 2.7)",
        source: Some(SOURCE),
        notes: &["Theirs are calls of markers; ours are events that were seen."],
        rows: theirs.collect(),
        columns,
    }
}

fn markers(figures: &Figures) -> Table {
    let columns: Vec<Column> = [
        ("0 %", "markers:0"),
        ("10 %", "markers:10"),
        ("25 %", "markers:25"),
        ("50 %", "markers:50"),
        ("75 %", "markers:75"),
        ("100 %", "markers:100"),
    ]
    .into_iter()
    .map(|(title, configuration)| Column { title, configuration, unit: Unit::Ratio })
    .collect();
    let theirs: Vec<_> = MARKERS
        .iter()
        .map(|Markers(name, [plain, shares @ ..], ..)| {
            (*name, [None].into_iter().chain(shares.iter().map(|ms| Some(ms / plain))).collect())
        })
        .collect();
    Table {
        id: "mtf-markers",
        title: "Markers on a share of the executed methods of the application (MTF, table 3.5)",
        source: Some(SOURCE),
        notes: &[
            "Their ratios are worked out from their milliseconds, against their own 0 %, which is why that is absent. Ours \
             are against a plain JVM. They give 6.2 as geometric mean at 100 %; the other means are worked out here.",
            "Some of theirs cannot be explained by the calls: tradebeans takes 8 times as long with 39 of them.",
            "Theirs is DaCapo 9.12, 10 runs until they converge.",
        ],
        rows: with_mean(figures, &columns, &theirs),
        columns,
    }
}

fn marker_calls(figures: &Figures) -> Table {
    let of = |title, unit| Column { title, configuration: "markers:100", unit };
    let columns = vec![of("calls at 100 %", Unit::Events), of("a call", Unit::Nanoseconds)];
    // Only where calls make the difference does their source name the cost of one.
    let cost = |name| match name {
        "h2" => Some(26.0),
        "xalan" => Some(60.0),
        _ => None,
    };
    let rows = MARKERS.iter().map(|Markers(name, _, calls)| row(figures, &columns, name, &[Some(*calls), cost(*name)]));
    Table {
        id: "mtf-marker-calls",
        title: "What the call of a marker costs (MTF, table 3.6)",
        source: Some(SOURCE),
        notes: &["They name the cost of a call for the two programs where calls explain the time."],
        rows: rows.collect(),
        columns,
    }
}

//! Tables against what is printed in their sources, and ours beside them.

use super::{
    mtf::{MARKERS, Markers},
    *,
};
use crate::bench::sample;

fn table(id: &str) -> Table {
    tables(&Figures::new(&sample::results())).into_iter().find(|table| table.id == id).unwrap()
}

fn cell(table: &Table, row: &str, configuration: &str) -> Cell {
    let at = table.columns.iter().position(|column| column.configuration == configuration).unwrap();
    table.rows.iter().find(|of| of.name.starts_with(row)).unwrap().cells[at]
}

fn ratio(cell: &Cell) -> f64 {
    let Some(Ours::Estimate(estimate)) = cell.ours else { panic!("{cell:?}") };
    estimate.value
}

/// What a source prints beside its times guards the times against slips of the pen.
#[test]
fn times_give_the_slowdowns_that_are_printed_beside_them() {
    let printed = [3.4, 6.7, 4.0, 5.8, 5.5, 7.1, 7.7, 5.7, 7.3, 5.3, 8.1, 7.2, 9.2];
    assert_eq!(MARKERS.len(), printed.len());
    for (Markers(name, times, _), printed) in MARKERS.iter().zip(printed) {
        let slowdown = times[5] / times[0];
        assert!((slowdown - printed).abs() <= 0.051, "{name}: {slowdown}, not {printed}");
    }
    let mean = geometric_mean(MARKERS.iter().map(|Markers(_, times, ..)| times[5] / times[0])).unwrap();
    assert!((mean - 6.2).abs() < 0.05, "{mean}");
    let calls = |program| MARKERS.iter().find(|Markers(name, ..)| *name == program).unwrap();
    for (program, printed) in [("h2", 26.0), ("xalan", 60.0)] {
        let Markers(_, times, calls) = calls(program);
        let cost = (times[5] - times[0]) * 1e6 / calls;
        assert!((cost - printed).abs() < 1.0, "{program}: {cost}");
    }
}

#[test]
fn numbers_of_the_sources_are_where_they_belong() {
    let theirs = |id: &str, row: &str, configuration: &str| cell(&table(id), row, configuration).theirs.unwrap();
    let near = |value: f64, expected: f64| assert!((value - expected).abs() < 0.05, "{value} {expected}");
    near(theirs("mtf-typestate", "bloat", "typestate:hasnext"), 4.7);
    near(theirs("mtf-typestate", "bloat", "typestate:hasnextonce:adaptive"), 2.0);
    near(theirs("mtf-typestate-calls", "bloat", "typestate:hasnext"), 149_149_959.0);
    near(theirs("mtf-markers", "h2", "markers:25"), 15_130.0 / 7_159.0);
    near(theirs("mtf-markers", MEAN, "markers:100"), 6.2);
    near(theirs("dyko", "DaCapo", "calls"), 2.01);
    near(theirs("jbinstrace", "ArgoUML", "calls"), 4.9);
    near(theirs("jbinstrace", "ArgoUML", "calls:each"), 21.8);
    near(theirs("jbinstrace", "Ant", "calls:each"), 42.0);
    near(theirs("ocp-memprof", "collections", "attach"), 1.0);
    near(theirs("ocp-memprof", "time", "attach"), 0.993);
}

#[test]
fn ours_stand_beside_the_program_of_the_same_name() {
    let markers = table("mtf-markers");
    assert!((4.1..4.3).contains(&ratio(&cell(&markers, "fop", "markers:100"))));
    assert!((4.1..4.3).contains(&ratio(&cell(&markers, "lusearch", "markers:100"))));
    assert!((4.1..4.3).contains(&ratio(&cell(&markers, MEAN, "markers:100"))));
    assert!((1.75..1.9).contains(&ratio(&cell(&table("dyko"), "DaCapo", "calls"))));
    assert!((1.75..1.9).contains(&ratio(&cell(&table("jbinstrace"), MEAN, "calls"))));
    assert!((1.3..1.4).contains(&ratio(&cell(&table("dtrace-flags"), "fop", "flags:method"))));
    assert_eq!(cell(&table("mtf-typestate-calls"), "h2", "typestate:hasnext").ours, Some(Ours::Count(2e6)));
    // 4.2 times 2 s, less 2 s, over ten million.
    let Some(Ours::Estimate(cost)) =
        table("mtf-marker-calls").rows.iter().find(|row| row.name == "fop").unwrap().cells[1].ours
    else {
        panic!("no cost");
    };
    assert!((600.0..680.0).contains(&cost.value), "{cost:?}");
}

/// A column that named a configuration which nobody can ask for showed nothing of ours for ever.
#[test]
fn every_configuration_of_a_column_is_one_that_can_be_measured() {
    let known = crate::bench::watching::configurations(std::path::Path::new("jtrace"));
    for table in tables(&Figures::new(&sample::results())) {
        for column in &table.columns {
            let name = column.configuration;
            assert!(known.iter().any(|known| known.name == name), "{}: there is no `{name}`", table.id);
        }
    }
}

#[test]
fn what_we_do_not_have_is_absent() {
    let markers = table("mtf-markers");
    assert_eq!(cell(&markers, "fop", "markers:50").ours, None);
    assert_eq!(cell(&markers, "tradesoap", "markers:100").ours, None);
    assert_eq!(cell(&markers, "fop", "markers:0").theirs, None);
    assert_eq!(cell(&table("jbinstrace"), MEAN, "calls:each").ours, None);
    assert_eq!(cell(&table("dtrace-flags"), "fop", "flags:monitor").ours, None);
    assert_eq!(cell(&table("dyko"), "SPECjvm98", "calls").ours, None);
}

#[test]
fn dacapo_itself_goes_before_the_packaged_program() {
    let mut results = sample::results();
    let mut real = results.runs.clone();
    real.retain(|run| run.program == "fop");
    for run in &mut real {
        run.program = "dacapo:fop".into();
    }
    results.runs.extend(real);
    assert_eq!(program(&Figures::new(&results), "fop"), Some("dacapo:fop"));
    assert_eq!(program(&Figures::new(&results), "h2"), Some("h2"));
    assert_eq!(program(&Figures::new(&results), "pmd"), None);
}

#[test]
fn every_row_has_a_cell_a_column() {
    for table in tables(&Figures::new(&sample::results())) {
        assert!(table.rows.iter().all(|row| row.cells.len() == table.columns.len()), "{}", table.id);
        assert!(!table.rows.is_empty() && !table.columns.is_empty());
    }
}

//! What others published, with ours beside it, and a table that nobody published yet.
//!
//! Their numbers stand here as they are printed in the source that each table names; what is worked out from them is said
//! to be. Ours are looked up by the name of the configuration, and are absent where there is none.

mod mtf;

use super::{
    comparison::{Comparison, Figures, Quantity},
    statistics::Estimate,
};

/// What a column counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Times of what it takes plain.
    Ratio,
    /// Events in an iteration.
    Events,
    /// Nanoseconds an event.
    Nanoseconds,
}

/// A number of ours.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Ours {
    /// One that is certain as far as its interval says: a ratio, or nanoseconds an event.
    Estimate(Estimate),
    /// One that was counted.
    Count(f64),
}

/// A column: theirs, and the configuration of ours beside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// What it is with them.
    pub title: &'static str,
    /// Name of our configuration.
    pub configuration: &'static str,
    /// What it counts.
    pub unit: Unit,
}

/// A number of theirs and one of ours.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cell {
    /// Theirs, if there is one.
    pub theirs: Option<f64>,
    /// Ours, if there is one.
    pub ours: Option<Ours>,
}

/// A row of a table: a program, or a mean.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// What it is with them.
    pub name: String,
    /// What we put beside it, where that has another name; absent where we have nothing.
    pub beside: Option<String>,
    /// A cell a column.
    pub cells: Vec<Cell>,
}

/// A table of theirs with ours beside it.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// A short name of the table.
    pub id: &'static str,
    /// What it shows.
    pub title: &'static str,
    /// Where theirs are from; absent where nobody published any.
    pub source: Option<&'static str>,
    /// What must be known to read it.
    pub notes: &'static [&'static str],
    /// Its columns.
    pub columns: Vec<Column>,
    /// Its rows.
    pub rows: Vec<Row>,
}

/// Our name of the row that is a mean over programs.
const MEAN: &str = "geometric mean";

/// All tables.
pub fn tables(figures: &Figures) -> Vec<Table> {
    let mut tables = mtf::tables(figures);
    tables.extend([dyko(figures), jbinstrace(figures), ocp_memprof(figures), dtrace_flags(figures)]);
    tables
}

/// Our program of that name: of DaCapo itself, else of the packaged suite.
fn program<'a>(figures: &'a Figures, theirs: &str) -> Option<&'a str> {
    let is_it = |name: &&str| name.rsplit(':').next() == Some(theirs);
    let all = || figures.programs.iter().map(String::as_str).filter(is_it);
    all().find(|name| name.starts_with("dacapo")).or_else(|| all().next())
}

/// What we have for a column: of a program, or over all where there is none.
fn ours(figures: &Figures, program: Option<&str>, column: &Column) -> Option<Ours> {
    let Column { title: _, configuration, unit } = column;
    let Some(program) = program else {
        let mean = || figures.mean(configuration, Quantity::Wall).map(|mean| Ours::Estimate(mean.ratio));
        return (*unit == Unit::Ratio).then(mean).flatten();
    };
    let Comparison { slowdown, events, ns_per_event, .. } = figures.comparison(program, configuration)?;
    match unit {
        Unit::Ratio => slowdown.map(Ours::Estimate),
        Unit::Events => events.map(Ours::Count),
        Unit::Nanoseconds => ns_per_event.map(Ours::Estimate),
    }
}

/// The row of a program.
fn row(figures: &Figures, columns: &[Column], name: &str, theirs: &[Option<f64>]) -> Row {
    let beside = program(figures, name);
    let of = |column| beside.and_then(|program| ours(figures, Some(program), column));
    let cells = columns.iter().zip(theirs).map(|(column, theirs)| Cell { theirs: *theirs, ours: of(column) });
    let beside = beside.filter(|beside| *beside != name).map(str::to_owned);
    Row { name: name.to_owned(), beside, cells: cells.collect() }
}

/// The row of a mean of theirs, with our geometric mean over all programs.
fn mean_row(figures: &Figures, columns: &[Column], name: &str, theirs: &[Option<f64>]) -> Row {
    let cells = columns
        .iter()
        .zip(theirs)
        .map(|(column, theirs)| Cell { theirs: *theirs, ours: ours(figures, None, column) })
        .collect();
    Row { name: name.to_owned(), beside: (name != MEAN).then(|| format!("our {MEAN}")), cells }
}

/// A row of theirs that we have nothing for.
fn row_of_theirs(name: &str, theirs: &[Option<f64>]) -> Row {
    let cells = theirs.iter().map(|theirs| Cell { theirs: *theirs, ours: None }).collect();
    Row { name: name.to_owned(), beside: None, cells }
}

fn dyko(figures: &Figures) -> Table {
    let columns = vec![Column { title: "slowdown, third version", configuration: "calls", unit: Unit::Ratio }];
    let rows = vec![
        row_of_theirs("SPECjvm98, mean of 8", &[Some(2.16)]),
        row_of_theirs("SPECjvm2008, mean of 10", &[Some(6.42)]),
        mean_row(figures, &columns, "DaCapo 9.12, mean of 11", &[Some(2.01)]),
        row(figures, &columns, "h2", &[Some(3.9)]),
        row(figures, &columns, "lusearch", &[Some(1.2)]),
    ];
    Table {
        id: "dyko",
        title: "Complete call graphs (dyko)",
        source: Some(
            "H. Ikhlef, master's thesis, Université de Montréal, 2011, table 4.V, and section 4.3.1 for h2 and lusearch",
        ),
        notes: &[
            "Theirs is against a run that instruments every class and executes the original: the time to instrument is not \
             in it. Ours is against a plain JVM and has everything in it: HotSpot's probes of methods, and a trap for \
             each call and each return.",
            "Theirs is the better of two runs. Single programs were between 1.0 and 11.1. tomcat, tradebeans and tradesoap \
             did not run.",
        ],
        columns,
        rows,
    }
}

fn jbinstrace(figures: &Figures) -> Table {
    let columns = vec![
        Column { title: "execution", configuration: "calls", unit: Unit::Ratio },
        Column { title: "execution and recording to disk", configuration: "calls:each", unit: Unit::Ratio },
    ];
    // Seconds plain, with the tracer, and with the recording as well.
    let times = [
        ("ArgoUML 0.28", 9.0, 44.0, 152.0),
        ("JEdit 4.3pre17", 6.0, 14.0, 15.0),
        ("Columba 1.0", 7.0, 17.0, 19.0),
        ("Ant 1.8.2", 5.0, 40.0, 170.0),
    ];
    let ratios =
        times.map(|(name, plain, executed, recorded)| (name, [executed / plain, (executed + recorded) / plain]));
    let mean = |at: usize| geometric_mean(ratios.iter().map(|(_, ratios)| ratios[at]));
    let mut rows: Vec<Row> = ratios.iter().map(|(name, ratios)| row_of_theirs(name, &ratios.map(Some))).collect();
    rows.push(mean_row(figures, &columns, MEAN, &[mean(0), mean(1)]));
    Table {
        id: "jbinstrace",
        title: "Every basic block, executed and recorded (JBInsTrace)",
        source: Some("P. Caserta, O. Zendra, Science of Computer Programming, 2012, table 1"),
        notes: &[
            "Their ratios are worked out from the whole seconds of the table, one run each; the three programs with windows \
             were only started. Theirs records basic blocks, ours calls: theirs is finer. Both of ours have a trap a call.",
            "The mean of theirs is worked out here. Ours is over all our programs, which are others.",
        ],
        columns,
        rows,
    }
}

fn ocp_memprof(figures: &Figures) -> Table {
    let columns: Vec<Column> = ["flags:method", "flags:alloc", "flags:monitor", "attach"]
        .into_iter()
        .map(|configuration| Column { title: "identifiers of sites", configuration, unit: Unit::Ratio })
        .collect();
    // With and without the identifiers.
    let rows = [
        ("time", Quantity::Wall, Some((1.598_891_083, 1.609_999_278))),
        ("CPU time", Quantity::Cpu, None),
        ("collections (theirs: 11,444 minor, 8,692 major)", Quantity::Collections, Some((20_136.0, 20_136.0))),
        ("time in collections", Quantity::CollectionTime, None),
        ("peak heap (theirs: words)", Quantity::PeakHeap, Some((126_976.0, 126_976.0))),
        ("allocated (theirs: words, minor)", Quantity::Allocated, Some((3_000_047_456.0, 3_000_045_896.0))),
        ("promoted (theirs: words)", Quantity::Promoted, Some((16_822_755.0, 16_822_395.0))),
    ];
    let rows = rows.into_iter().map(|(name, quantity, theirs)| {
        let cells = columns.iter().map(|column| Cell {
            theirs: theirs.map(|(with, without)| with / without),
            ours: figures.mean(column.configuration, quantity).map(|mean| Ours::Estimate(mean.ratio)),
        });
        Row { name: name.to_owned(), beside: Some(format!("our {MEAN}")), cells: cells.collect() }
    });
    Table {
        id: "ocp-memprof",
        title: "Not disturbing what is measured (ocp-memprof)",
        source: Some("Ç. Bozman, doctoral thesis, ENSTA ParisTech, 2014, figure 5.12"),
        notes: &[
            "Theirs is one micro-program, run once with and once without identifiers of allocation sites, and its equal \
             numbers of collections are the bar; each ratio is worked out from the two numbers.",
            "Ours are geometric means over all programs that have the number; each program is in the table of memory.",
        ],
        rows: rows.collect(),
        columns,
    }
}

fn dtrace_flags(figures: &Figures) -> Table {
    let columns: Vec<Column> = [
        ("DTraceMethodProbes", "flags:method"),
        ("DTraceAllocProbes", "flags:alloc"),
        ("DTraceMonitorProbes", "flags:monitor"),
    ]
    .into_iter()
    .map(|(title, configuration)| Column { title, configuration, unit: Unit::Ratio })
    .collect();
    let mut rows: Vec<Row> = figures
        .programs
        .iter()
        .map(|program| Row {
            name: program.clone(),
            beside: None,
            cells: columns
                .iter()
                .map(|column| Cell { theirs: None, ours: ours(figures, Some(program), column) })
                .collect(),
        })
        .collect();
    rows.push(mean_row(figures, &columns, MEAN, &[None; 3]));
    Table {
        id: "dtrace-flags",
        title: "HotSpot's DTrace flags on Linux, nobody attached",
        source: None,
        notes: &["What it costs to have the probes in the code, as time against a JVM without the flag."],
        columns,
        rows,
    }
}

/// The geometric mean of numbers of theirs.
fn geometric_mean(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let logarithms: Vec<f64> = values.into_iter().map(f64::ln).collect();
    (!logarithms.is_empty()).then(|| (logarithms.iter().sum::<f64>() / logarithms.len() as f64).exp())
}

#[cfg(test)]
mod tests;

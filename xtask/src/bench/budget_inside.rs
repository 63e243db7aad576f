//! The inside lane under its governor: what single marks and symbols cost, which is what the governor reckons with
//! (`source/live/inside/cost.rs`), and what is left of a slowdown that would be twenty times the budget.
//!
//! Speed is work per CPU time of the target, so what else the machine does matters little.

use std::{fs, time::Instant};

use anyhow::{Context as _, Result, ensure};
use tests::{
    expected::Expected,
    jdk::Jdk,
    jtrace::Session,
    jvm::{Jvm, Launch},
};

use super::{
    budget::Figure,
    busy::cpu_s,
    statistics::{Random, interval, median},
};

/// Steps of a call that takes some 3 ns, and of one that takes as long as two marks with times; milliseconds of a piece of work.
const SPIN: [&str; 2] = ["2", "2500"];
const SPIN_AS_LONG: [&str; 2] = ["40", "2500"];
/// So much that nothing is decided.
const ANY: &str = "100000%";
/// Uses of an object: few, for what an object costs, and many, for what a symbol does.
const USES: [&str; 2] = ["2", "1002"];
const MORE_USES: f64 = 1000.0;

const PROPERTY: &str = r#"
name = "Thing"
message = "a thing is used while it is not open, or never closed"
classes = "Symbols$Thing"
regex = "(open use* close)*"

[symbols]
open = "open()"
use = "use()"
close = "close()"
"#;

/// All of it.
pub(crate) fn measure(jdk: &Jdk, rounds: usize) -> Result<Vec<Figure>> {
    let mut figures = marks(jdk, rounds)?;
    figures.extend(symbols(jdk, rounds)?);
    figures.extend(slowdown(jdk, rounds)?);
    Ok(figures)
}

/// A JVM that has worked once, so that its code is compiled.
fn warm(jdk: &Jdk, feature: &str, main: &str, arguments: &[&str]) -> Result<Jvm> {
    let mut jvm = Launch::new(jdk, feature, main).arguments(arguments).start()?;
    jvm.work()?;
    Ok(jvm)
}

/// One piece of work.
struct Worked {
    /// CPU time in ns of the target for each of what it did.
    ns: f64,
    /// CPUs that it had on average.
    cpus: f64,
    /// Whether something was taken out of its code meanwhile.
    taken_out: bool,
}

/// CPU time in ns of the target for each of what it did in one piece of work.
fn ns_each(jvm: &mut Jvm, kind: &str, of: &str, options: Option<&[&str]>) -> Result<f64> {
    Ok(work(jvm, kind, of, options, 1)?.ns)
}

/// The same after some further pieces of work.
fn work(jvm: &mut Jvm, kind: &str, of: &str, options: Option<&[&str]>, pieces_before: usize) -> Result<Worked> {
    let session = match options {
        Some(options) => Some(Session::attach(jvm.pid(), &[&["--inside"], options].concat())?),
        None => None,
    };
    // Weaving makes compiled code invalid; that is no part of what marks cost.
    if session.is_some() {
        (0..pieces_before).try_for_each(|_| jvm.work().map(drop))?;
    }
    let printed = jvm.stdout().text().len();
    let before = cpu_s(jvm.pid())?;
    let began = Instant::now();
    jvm.work()?;
    let seconds = cpu_s(jvm.pid())? - before;
    let cpus = seconds / began.elapsed().as_secs_f64();
    let text = jvm.stdout().text();
    let number = Expected::parse(text.get(printed..).unwrap_or_default())?.one(kind, of)?;
    ensure!(number > 0, "it did nothing");
    let mut taken_out = false;
    if let Some(session) = session {
        let report = session.report()?;
        let decisions = report.0["completeness"]["decisions"].as_array().map(Vec::as_slice).unwrap_or_default();
        taken_out = decisions.iter().any(|decision| decision["action"] == "stopped");
    }
    Ok(Worked { ns: seconds * 1e9 / number as f64, cpus, taken_out })
}

/// What is added to each call of `Spin`, by its two marks.
fn added(jdk: &Jdk, rounds: usize, options: &[&str]) -> Result<Vec<f64>> {
    let mut jvm = warm(jdk, "methods", "Spin", &SPIN)?;
    let mut spin = |options| ns_each(&mut jvm, "calls", "Spin.step", options);
    let pairs = (0..rounds).map(|_| Ok(-spin(None)? + spin(Some(options))?));
    pairs.collect()
}

fn marks(jdk: &Jdk, rounds: usize) -> Result<Vec<Figure>> {
    let ways: [(&str, &[&str]); 3] = [
        ("inside_sent_ns", &["-l", "markers", "--marker", "step=Spin::step", "--each", "--max-overhead", ANY]),
        ("inside_counted_ns", &["-l", "markers", "--marker", "step=Spin::step", "--max-overhead", ANY]),
        ("inside_timed_ns", &["-l", "markers", "--marker", "step=Spin::step+time", "--max-overhead", ANY]),
    ];
    let figure = |(name, options): (&'static str, &[&str])| {
        let each: Vec<f64> = added(jdk, rounds, options)?.into_iter().map(|ns| ns / 2.0).collect();
        Ok(Figure::new(name, median(&each), format!("for each mark, of {rounds} pairs: {each:.2?}")))
    };
    ways.into_iter().map(figure).collect()
}

/// What symbols and objects cost: the first from how much more objects with many uses take, the second is the rest.
fn symbols(jdk: &Jdk, rounds: usize) -> Result<Vec<Figure>> {
    let directory = tempfile::tempdir()?;
    let file = directory.path().join("thing.toml");
    fs::write(&file, PROPERTY)?;
    let path = file.to_str().context("a path")?;
    let ways: [(&str, &str, &[&str]); 3] = [
        ("inside_ignored_ns", "inside_not_tracked_ns", &["--sample", "1/1048576"]),
        ("inside_held_back_ns", "inside_tracked_ns", &[]),
        ("inside_symbol_ns", "inside_tracked_each_ns", &["--no-adaptive"]),
    ];
    let mut figures = Vec::new();
    for (symbol, object, more) in ways {
        let options = [&["-l", "typestate", "-p", path, "--later", "--max-overhead", ANY], more].concat();
        let mut costs = [Vec::new(), Vec::new()];
        for (uses, costs) in USES.into_iter().zip(&mut costs) {
            let mut jvm = warm(jdk, "typestate", "Symbols", &[uses, "1500"])?;
            for _ in 0..rounds {
                let mut make = |options| ns_each(&mut jvm, "objects", "Symbols$Thing", options);
                costs.push(-make(None)? + make(Some(&options))?);
            }
        }
        let [few, many] = costs.map(|costs| median(&costs));
        let each = (many - few) / MORE_USES;
        // Two uses, opening and closing.
        figures.push(Figure::new(symbol, each, format!("for each symbol of {MORE_USES} more")));
        figures.push(Figure::new(object, few - 4.0 * each, "for each object, besides its symbols"));
    }
    Ok(figures)
}

/// What is left under a budget of 5 %, and what there would be without.
fn slowdown(jdk: &Jdk, rounds: usize) -> Result<Vec<Figure>> {
    let ways: [(&str, [&str; 2], &[&str]); 2] = [
        ("inside_budget_slowdown_percent", SPIN_AS_LONG, &["-l", "markers", "--marker", "step=Spin::step+time"]),
        ("inside_budget_each_slowdown_percent", SPIN, &["-l", "markers", "--marker", "step=Spin::step", "--each"]),
    ];
    let mut random = Random::from_clock();
    let mut figures = Vec::new();
    for (name, program, options) in ways {
        let mut jvm = warm(jdk, "methods", "Spin", &program)?;
        let mut spin = |options, pieces_before| work(&mut jvm, "calls", "Spin.step", options, pieces_before);
        // With the least of them it is off after a moment, and its second window, which would tell that it has to be taken out, comes
        // later than this takes: what is left is the test of a switch, and code that was compiled while it was on.
        let [within, without, off] = ["5%", ANY, "0.2%"].map(|budget| [options, &["--max-overhead", budget]].concat());
        let (mut percent, mut tests, mut cpus, mut taken_out) = (Vec::new(), Vec::new(), Vec::new(), 0);
        for _ in 0..rounds {
            let plain = spin(None, 0)?.ns;
            // What is taken out is so by then: the loop that runs meanwhile goes on in the interpreter until it returns.
            let held = spin(Some(&within), 3)?;
            percent.push((held.ns / plain - 1.0) * 100.0);
            cpus.push(held.cpus);
            taken_out += usize::from(held.taken_out);
            let off = spin(Some(&off), 1)?;
            // Where it was seen for long before it went off, the governor needs no second window.
            if !off.taken_out {
                tests.push((off.ns / plain - 1.0) * 100.0);
            }
        }
        let plain = spin(None, 0)?.ns;
        let free = (spin(Some(&without), 1)?.ns / plain - 1.0) * 100.0;
        let (low, high) = interval(&percent, &mut random);
        let off = if tests.is_empty() { "is not known".to_owned() } else { format!("{:.2} %", median(&tests)) };
        let note = format!(
            "of {rounds} pairs, 95 % interval {low:.2} to {high:.2}, taken out in {taken_out}; the target had {:.2} of a CPU; \
             woven and off {off}, without a budget {free:.0} %",
            median(&cpus)
        );
        figures.push(Figure::new(name, median(&percent), note));
    }
    Ok(figures)
}

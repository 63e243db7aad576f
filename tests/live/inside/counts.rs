//! Calls of methods as markers: entries, and exits with and without an exception.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result, ensure};
use tests::{
    expected::Expected,
    jdk,
    report::{Report, cell},
};

use super::{MODES, start, text, watch};

/// Counted in the JVM, and told one by one.
const WAYS: [&[&str]; 2] = [&[], &["--each"]];

/// Programs whose calls are known, and of which classes.
const PROGRAMS: [(&str, &str); 3] = [("Fib", "Fib"), ("NestedLoops", "NestedLoops"), ("Exceptions", "Exceptions")];

/// Half of the pairs of releases and modes. Each release and each mode is met in both ways.
#[test]
fn calls_and_exceptional_exits_are_counted_exactly_in_every_mode() -> Result<()> {
    for (release, jdk) in jdk::all()?.iter().enumerate() {
        for (mode, flags) in MODES.into_iter().enumerate().filter(|(mode, _)| jdk::is_in_turn(release, *mode)) {
            let way = WAYS[(release / 2 + mode / 2) % WAYS.len()];
            let (main, class) = PROGRAMS[(release + mode / 2) % PROGRAMS.len()];
            let place = || format!("{main} {way:?} on JDK {} with {flags:?}", jdk.release);
            // One marker for each method: `class::*` is one of all.
            let marker = format!("all={class}*::*");
            let options = [&["--marker", &marker], way].concat();
            let jvm = start(jdk, "methods", main, &[], flags)?;
            let (report, expected) = watch(jvm, "markers", &options).with_context(place)?;
            agree(&report, &expected).with_context(place)?;
        }
    }
    Ok(())
}

/// Entries, and exits by exceptions, of each method.
fn agree(report: &Report, expected: &Expected) -> Result<()> {
    agree_with(report, expected, |all| all)
}

/// The same where only a part of what a program tells was watched.
pub(super) fn agree_with(report: &Report, expected: &Expected, watched: impl Fn(u64) -> u64) -> Result<()> {
    let mut counted: BTreeMap<String, [u64; 3]> = BTreeMap::new();
    for row in report.table("markers", "marker_places")? {
        let method = text(&row, "method");
        let name = method.split('(').next().unwrap_or(method);
        let of = counted.entry(format!("{}.{name}", text(&row, "class"))).or_default();
        for (sum, key) in of.iter_mut().zip(["entered", "left", "thrown"]) {
            *sum += cell(&row, key)?;
        }
    }
    let mut differences = Vec::new();
    for (of, number) in expected.of("calls")?.into_iter().map(|(of, all)| (of, watched(all))) {
        let [entered, left, thrown] = counted.get(of).copied().unwrap_or_default();
        if entered != number || left + thrown != number {
            differences.push(format!("{of}: {entered} entered, {left} left, {thrown} thrown, not {number}"));
        }
    }
    // Not every program throws.
    for ((_, of), number) in expected.0.iter().filter(|((kind, _), _)| kind == "errors") {
        let [_, _, thrown] = counted.get(of).copied().unwrap_or_default();
        if thrown != watched(*number) {
            differences.push(format!("{of}: {thrown} thrown, not {}", watched(*number)));
        }
    }
    ensure!(differences.is_empty(), "{}", differences.join("; "));
    let events = report.summary("markers", "events")?;
    ensure!(events > 0, "no events");
    // What is only counted has no trap, and is in the cost all the same. Of what is sent, a sample is looked at.
    let (cost, number) = (&report.0["cost"], |key: &str| report.0["cost"][key].as_f64().unwrap_or(0.0));
    ensure!(number("inside_events") > 0.9 * events as f64, "{events} events: {cost}");
    ensure!(number("inside_ns") > 0.0 && number("target_cpu_ns") > number("inside_ns"), "{cost}");
    Ok(())
}

/// The recorder reads texts by methods that are woven themselves: nothing of that is told, and the texts do no harm to what is.
#[test]
fn texts_are_read_by_methods_that_are_woven() -> Result<()> {
    for jdk in jdk::all()? {
        let jvm = start(&jdk, "methods", "Texts", &[], &[])?;
        let options =
            ["--each", "--marker", "greet=Texts::greet+arguments", "--marker", "reads=java.lang.String*::charAt"];
        let (report, expected) = watch(jvm, "markers", &options)?;
        let rows = report.table("markers", "markers")?;
        let greet = rows.iter().find(|row| text(row, "marker") == "greet").context("no row")?;
        let (entered, calls) = (cell(greet, "entered")?, expected.one("calls", "Texts.greet")?);
        ensure!(entered == calls, "{entered} and not {calls} on JDK {}", jdk.release);
        let notes = report.0.to_string();
        ensure!(!notes.contains("could not be read"), "garbage among the marks on JDK {}", jdk.release);
        ensure!(!notes.contains("places that are not defined"), "garbage among the marks on JDK {}", jdk.release);
    }
    Ok(())
}

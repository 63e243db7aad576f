//! Whose calls they are: 64 threads that call the same method at the same time.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result, ensure};
use tests::{jdk, report::cell};

use super::{Run, text};

/// Rows of a table that are shown one by one; the rest is one row.
const ROWS: usize = 50;

/// A lens, and how it is asked for calls by thread: counted in the kernel, and as events.
const WAYS: [(&str, &[&str]); 4] = [
    ("methods", &["--by-thread"]),
    ("methods", &["--each", "--no-stacks"]),
    ("calls", &[]),
    ("calls", &["--each", "--no-stacks"]),
];

/// Names of threads are those that the program gave them, because their starts are seen, too.
#[test]
fn calls_by_thread_are_those_of_each_thread_and_add_up() -> Result<()> {
    let modes = [&["-Xint"], &["-XX:TieredStopAtLevel=1"], &["-XX:-TieredCompilation"], &["-XX:+UseSerialGC"]];
    for (release, (jdk, flags)) in jdk::all()?.iter().zip(modes).enumerate() {
        // Two ways on each release.
        for (lens, way) in WAYS.into_iter().skip(release % 2).step_by(2) {
            let lenses = format!("{lens},threads");
            let options = [&["-l", &lenses, "-I", "ManyThreads$Worker::step"], way].concat();
            let place = || format!("{lens} {way:?} on JDK {} with {flags:?}", jdk.release);
            let (report, expected) =
                Run::new(jdk, "ManyThreads", &options).flags(flags).times(0, 1).report().with_context(place)?;
            let number = expected.one("calls", "ManyThreads$Worker.step")?;
            let rows = report.table(lens, "threads").with_context(place)?;
            let (others, named): (Vec<_>, Vec<_>) = rows.iter().partition(|row| text(row, "thread") == "(others)");
            ensure!((named.len(), others.len()) == (ROWS, 1), "{} rows of {}", rows.len(), place());
            let counted = named.iter().map(|row| Ok((text(row, "thread"), cell(row, "calls")?)));
            let mut of_threads: Vec<(u64, &str)> = Vec::new();
            for (of, number) in expected.of("thread_calls")? {
                of_threads.push((number, of.split_once(':').context("no thread")?.0));
            }
            of_threads.sort_unstable();
            let most = of_threads.iter().rev().take(ROWS).map(|(number, thread)| (*thread, *number));
            ensure!(counted.collect::<Result<BTreeMap<_, _>>>()? == most.collect(), "{}: {named:?}", place());
            let rest: u64 = of_threads.iter().rev().skip(ROWS).map(|(number, _)| number).sum();
            ensure!(cell(others[0], "calls")? == rest, "{}: {others:?}, not {rest}", place());
            ensure!(report.summary(lens, "calls")? == number, "not {number} calls of {}", place());
        }
    }
    Ok(())
}

//! Whose calls they are: 64 threads that call the same method at the same time.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result, ensure};
use tests::{jdk, report::cell};

use super::{Run, text};

/// Threads of the program.
const THREADS: usize = 64;

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
            ensure!(rows.len() == THREADS, "{} rows of {}: {rows:?}", rows.len(), place());
            let counted = rows.iter().map(|row| Ok((text(row, "thread"), cell(row, "calls")?)));
            let mut of_threads: BTreeMap<&str, u64> = BTreeMap::new();
            for (of, number) in expected.of("thread_calls")? {
                of_threads.insert(of.split_once(':').context("no thread")?.0, number);
            }
            ensure!(counted.collect::<Result<BTreeMap<_, _>>>()? == of_threads, "{}: {rows:?}", place());
            ensure!(report.summary(lens, "calls")? == number, "not {number} calls of {}", place());
        }
    }
    Ok(())
}

//! Whose calls they are: 64 threads that call the same method at the same time, and threads that end without end.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result, ensure};
use tests::{jdk, report::cell};

use super::{Run, calls_agree, graph::edges, text};

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

/// 8,000 threads that end have more contexts than are kept by thread: they are one row then, and nothing that was counted is
/// missing there.
#[test]
fn calls_of_threads_that_ended_are_summed_up_and_none_is_missing() -> Result<()> {
    for (jdk, lenses) in jdk::all()?.iter().step_by(3).zip(["methods", "calls"]) {
        let place = || format!("{lenses} on JDK {}", jdk.release);
        let mut options = vec!["-l", lenses, "-I", "Ending$Worker::*"];
        options.extend((lenses == "methods").then_some("--by-thread"));
        let (report, expected) = Run::new(jdk, "Ending", &options).times(0, 1).report().with_context(place)?;
        let number: u64 = expected.of("calls")?.values().sum();
        ensure!(report.summary(lenses, "calls")? == number, "not {number} calls of {}", place());
        if lenses == "calls" {
            let counted = edges(&report)?;
            for (of, calls) in expected.of("edge")? {
                let counted = counted.get(of).map(|(calls, _)| *calls);
                ensure!(counted == Some(calls), "{counted:?} calls of {of} instead of {calls} of {}", place());
            }
        } else {
            calls_agree(&report, &expected).with_context(place)?;
        }
        let rows = report.table(lenses, "threads").with_context(place)?;
        let sum = rows.iter().map(|row| cell(row, "calls")).sum::<Result<u64>>()?;
        let ended = rows.iter().find(|row| text(row, "thread") == "(ended threads)");
        let ended = ended.map(|row| cell(row, "calls")).transpose()?.unwrap_or(0);
        ensure!(sum == number, "{sum} of {number} calls are in the table by thread of {}", place());
        ensure!(ended > number / 2, "{ended} of {number} calls are those of threads that ended, of {}", place());
        let notes = report.section(lenses)?["notes"].to_string();
        ensure!(notes.contains("(ended threads)"), "no note of {}: {notes}", place());
    }
    Ok(())
}

/// No site is at the ends of threads there. jtrace looks for those that ended, so tables by thread do not grow with each.
#[test]
fn threads_that_ended_are_summed_up_where_no_lens_sees_their_ends() -> Result<()> {
    let jdk = &jdk::all()?[1];
    let (report, _) = Run::new(jdk, "Ending", &["-l", "alloc"]).times(0, 3).report()?;
    let notes = report.section("alloc")?["notes"].to_string();
    ensure!(notes.contains("(ended threads)"), "no note: {notes}");
    Ok(())
}

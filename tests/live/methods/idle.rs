//! Contexts in which nothing happens any more leave the kernel, and what was counted in them stays.

use anyhow::{Context as _, Result, ensure};
use rustix::process::Signal;
use tests::{
    jdk,
    jtrace::{self, LIMIT},
    jvm::Launch,
    process::{Finished, Process},
    report::Report,
};

use super::{COMPLETE, Expected, graph::edges};

/// 16,382 contexts of one thread leave the kernel while it waits, and are made anew when it does the same again.
#[test]
fn calls_in_contexts_that_left_the_kernel_are_counted_with_those_after_it() -> Result<()> {
    for jdk in jdk::all()?.iter().step_by(3) {
        let mut jvm = Launch::new(jdk, "methods", "Tree").flags(&["-XX:+DTraceMethodProbes"]).start()?;
        let printed = jvm.stdout().text().len();
        let pid = jvm.pid().to_string();
        let mut words = vec!["attach", &pid, "-l", "calls", "-I", "Tree::left", "-I", "Tree::right", "--json"];
        words.extend(COMPLETE);
        let mut process = Process::spawn(jtrace::command(&words)?.env("JTRACE_LOG", "debug"))?;
        process.stderr.wait_for_line("attached", 0, LIMIT)?;
        jvm.work()?;
        process.stderr.wait_for_line("debug: contexts that leave the kernel", 0, LIMIT).context("none is idle")?;
        jvm.work()?;
        process.signal(Signal::INT)?;
        process.wait(LIMIT)?;
        let finished = Finished::from_process(&process)?;
        let mut expected = Expected::default();
        expected.add(&jvm.stdout().text()[printed..])?;
        jvm.finish()?;
        let report = Report::parse(&finished.stdout)?;
        report.nothing_lost()?;
        let calls: u64 = expected.of("calls")?.values().sum();
        let counted = report.summary("calls", "calls")?;
        ensure!(counted == calls, "{counted} calls instead of {calls} on JDK {}", jdk.release);
        // Each calls each half of the time; the outermost two are called by the lambda.
        let of_left = edges(&report)?.get("Tree.left->Tree.right").map(|(calls, _)| *calls);
        ensure!(of_left == Some(calls / 4 - 1), "{of_left:?} calls of an edge, of {calls} on JDK {}", jdk.release);
    }
    Ok(())
}

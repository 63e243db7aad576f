//! Every object is counted: by class as the programs' closed forms say, and in sum as the JVM's own counter of a thread does.

// Against the JVM's own histogram of its heap.
mod heap;
// What is written and never made.
mod removed;

use std::collections::BTreeMap;

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;
use tests::{
    expected::Expected,
    jdk::{self, Jdk},
    jtrace::Session,
    jvm::Launch,
    report::{Report, cell},
};

/// What the JVM is started with: every object tells of itself, whoever makes it.
const COVERED: &str = "-XX:+DTraceAllocProbes";

/// Every object is counted, and nothing is taken away.
const EXACT: [&str; 8] = ["-l", "alloc", "--exact", "--yes", "--max-overhead", "100000%", "--ring-size", "16m"];

/// The interpreter, C1, C2, and all of them: one on each release.
const WAYS: [&[&str]; 4] = [&["-Xint"], &["-XX:TieredStopAtLevel=1"], &["-XX:-TieredCompilation"], &[]];

/// Lets a program work once while every object is counted.
fn watch(jdk: &Jdk, flags: &[&str], main: &str, options: &[&str]) -> Result<(Report, Expected)> {
    let mut jvm = Launch::new(jdk, "methods", main).flags(&[COVERED]).flags(flags).start()?;
    let session = Session::attach(jvm.pid(), &[&EXACT[..], options].concat())?;
    jvm.work()?;
    let report = session.report()?;
    let expected = Expected::parse(&jvm.stdout().text())?;
    jvm.finish()?;
    ensure!(report.completeness("lost")? == 0, "events were lost");
    Ok((report, expected))
}

/// Objects and bytes by class.
fn classes(report: &Report) -> Result<BTreeMap<String, [u64; 2]>> {
    let rows = report.table("alloc", "objects_by_class")?;
    let sums = rows.iter().map(|row| {
        let class = row.get("class").and_then(Value::as_str).context("no class")?;
        Ok((class.to_owned(), [cell(row, "objects")?, cell(row, "bytes")?]))
    });
    sums.collect()
}

fn objects_agree(report: &Report, expected: &Expected) -> Result<()> {
    let classes = classes(report)?;
    let mut compared = 0;
    for ((kind, of), number) in &expected.0 {
        let index = match kind.as_str() {
            "objects" => 0,
            "bytes" => 1,
            _ => continue,
        };
        let counted = classes.get(of).map_or(0, |sums| sums[index]);
        // Arrays of primitives are made by the JDK, too.
        let agrees = if of.starts_with("Allocations") { counted == *number } else { counted >= *number };
        ensure!(agrees, "{counted} {kind} of {of}, not {number}");
        compared += 1;
    }
    ensure!(compared > 10, "the program expects {compared} numbers");
    Ok(())
}

#[test]
fn objects_and_bytes_of_classes_are_those_of_the_program() -> Result<()> {
    for (jdk, flags) in jdk::all()?.iter().zip(WAYS) {
        let place = || format!("JDK {} with {flags:?}", jdk.release);
        let (report, expected) = watch(jdk, flags, "Allocations", &[]).with_context(place)?;
        objects_agree(&report, &expected).with_context(place)?;
    }
    Ok(())
}

#[test]
fn all_objects_of_a_thread_take_the_bytes_that_the_jvm_has_counted() -> Result<()> {
    for (jdk, flags) in jdk::all()?.iter().zip(WAYS.into_iter().rev()) {
        let place = || format!("JDK {} with {flags:?}", jdk.release);
        let options = ["--where", "thread == \"allocator\""];
        let (report, expected) = watch(jdk, flags, "Allocated", &options).with_context(place)?;
        let bytes = expected.one("bytes_of_thread", "allocator")?;
        let counted = report.summary("alloc", "bytes")?;
        ensure!(counted == bytes, "{counted} bytes, not {bytes}, on {}", place());
    }
    Ok(())
}

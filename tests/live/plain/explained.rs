//! `jtrace explain-call` on a JVM that nobody prepared: what a call costs is what the program does in it.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result, ensure};
use tests::{
    expected::Expected,
    jdk,
    jvm::Launch,
    report::{Report, Row, cell},
};

use super::{session, sums, text, warm, work};

const CHOSEN: [&str; 6] = ["explain-call", "Shop::order", "-I", "Shop::price", "-I", "Shop::check"];

/// A kind that the program counts, a table, and the columns that name and count it there.
type Counted = (&'static str, &'static str, [&'static str; 2]);

/// What marks tell, of whatever thread.
const OF_MARKS: [Counted; 3] = [
    ("calls", "explained", ["method", "calls"]),
    ("thrown", "explained", ["method", "thrown"]),
    ("within", "explained_calls", ["callee", "count"]),
];

/// What happens on a thread of the kernel's.
const OF_THREADS: [Counted; 3] = [
    ("calls", "explained", ["method", "explained_calls"]),
    ("exceptions", "explained_exceptions", ["class", "count"]),
    ("taken", "explained_monitors", ["class", "count"]),
];

/// Sums of a column by another one.
fn by(report: &Report, table: &str, [name, of]: [&str; 2]) -> Result<BTreeMap<String, u64>> {
    sums(report, ["explain", table], |row| text(row, name).to_owned(), of)
}

fn agree(report: &Report, expected: &Expected, counted: &[Counted]) -> Result<()> {
    for (kind, table, columns) in counted {
        let found = by(report, table, *columns)?;
        for (of, number) in expected.of(kind)? {
            ensure!(found.get(of) == Some(&number), "{columns:?}: {found:?}, not {number} of {of}");
        }
    }
    Ok(())
}

#[test]
fn a_calls_cost_is_what_the_program_does_in_it() -> Result<()> {
    for jdk in jdk::builds()? {
        let on = || format!("on {}", jdk.home.display());
        let mut jvm = warm(&jdk, ["explain", "Shop"], 2)?;
        let session = session(&jvm, &CHOSEN)?;
        let expected = work(&mut jvm)?;
        let report = session.report()?;
        jvm.finish()?;
        agree(&report, &expected, &[OF_MARKS, OF_THREADS].concat()).with_context(on)?;
        let arrays = report.table("explain", "explained_allocations")?;
        let is_receipt = |row: &Row| text(row, "class") == "byte[]" && text(row, "site").starts_with("Shop.order:");
        ensure!(arrays.iter().any(is_receipt), "{arrays:?} {}", on());
        // All of the time is somewhere, and none twice.
        let times = report.table("explain", "explained_time")?;
        let all: u64 = times.iter().map(|row| cell(row, "total_ns")).sum::<Result<_>>()?;
        ensure!(all == report.summary("explain", "total_ns")?, "{times:?} {}", on());
        let sleeps = |row: &Row| text(row, "what") == "sleep" && text(row, "site").starts_with("Shop.pause:");
        ensure!(times.iter().any(sleeps), "{times:?} {}", on());
    }
    Ok(())
}

/// What happens on a carrier while a virtual thread waits is none of that thread's: it is not told.
#[test]
fn of_a_virtual_thread_calls_are_told_by_what_marks_say() -> Result<()> {
    for jdk in jdk::all()?.into_iter().filter(|jdk| jdk.release >= 21) {
        let mut jvm = Launch::new(&jdk, "explain", "Shop").arguments(&["virtual"]).start()?;
        let session = session(&jvm, &CHOSEN)?;
        let expected = work(&mut jvm)?;
        let report = session.report()?;
        jvm.finish()?;
        agree(&report, &expected, &OF_MARKS).with_context(|| format!("on JDK {}", jdk.release))?;
        ensure!(report.summary("explain", "explained_calls")? == 0, "on JDK {}", jdk.release);
        let tables = report.tables("explain")?;
        let unseen = ["explained_time", "explained_exceptions", "explained_monitors", "explained_slowest"];
        let [times, thrown, taken, slowest] = unseen.map(|table| tables.get(table).map_or(&[][..], Vec::as_slice));
        ensure!(times.is_empty() && thrown.is_empty() && taken.is_empty(), "{tables:?}");
        ensure!(slowest.iter().all(|row| row.get("running_ns").is_some_and(serde_json::Value::is_null)), "{slowest:?}");
    }
    Ok(())
}

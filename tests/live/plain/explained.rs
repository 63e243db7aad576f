//! `jtrace explain-call` on a JVM that nobody prepared: what a call costs is what the program does in it.

use std::collections::BTreeMap;

use anyhow::{Result, ensure};
use tests::{
    jdk,
    report::{Report, Row, cell},
};

use super::{session, sums, text, warm, work};

/// Sums of a column by another one.
fn by(report: &Report, table: &str, [name, of]: [&str; 2]) -> Result<BTreeMap<String, u64>> {
    sums(report, ["explain", table], |row| text(row, name).to_owned(), of)
}

#[test]
fn a_calls_cost_is_what_the_program_does_in_it() -> Result<()> {
    for jdk in jdk::builds()? {
        let mut jvm = warm(&jdk, ["explain", "Shop"], 2)?;
        let chosen = ["explain-call", "Shop::order", "-I", "Shop::price", "-I", "Shop::check"];
        let session = session(&jvm, &chosen)?;
        let expected = work(&mut jvm)?;
        let report = session.report()?;
        jvm.finish()?;
        let on = jdk.home.display();
        let counted = [
            ("calls", "explained", ["method", "calls"]),
            ("calls", "explained", ["method", "explained_calls"]),
            ("thrown", "explained", ["method", "thrown"]),
            ("within", "explained_calls", ["callee", "count"]),
            ("exceptions", "explained_exceptions", ["class", "count"]),
            ("taken", "explained_monitors", ["class", "count"]),
        ];
        for (kind, table, columns) in counted {
            let found = by(&report, table, columns)?;
            for (of, number) in expected.of(kind)? {
                ensure!(found.get(of) == Some(&number), "{columns:?}: {found:?}, not {number} of {of} on {on}");
            }
        }
        let arrays = report.table("explain", "explained_allocations")?;
        let is_receipt = |row: &Row| text(row, "class") == "byte[]" && text(row, "site").starts_with("Shop.order:");
        ensure!(arrays.iter().any(is_receipt), "{arrays:?} on {on}");
        // All of the time is somewhere, and none twice.
        let times = report.table("explain", "explained_time")?;
        let all: u64 = times.iter().map(|row| cell(row, "total_ns")).sum::<Result<_>>()?;
        ensure!(all == report.summary("explain", "total_ns")?, "{times:?} on {on}");
        let sleeps = |row: &Row| text(row, "what") == "sleep" && text(row, "site").starts_with("Shop.pause:");
        ensure!(times.iter().any(sleeps), "{times:?} on {on}");
    }
    Ok(())
}

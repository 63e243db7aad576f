//! Protocols of threads, monitors and classes are followed with nothing in the JVM: what is told is what the program did.

use std::collections::BTreeSet;

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;
use tests::{
    expected::Expected,
    jdk::{self, Jdk},
    jtrace::{self, Session},
    jvm::Launch,
    report::{Report, cell},
};

/// Nothing is taken away, and a burst of events has room.
const COMPLETE: [&str; 6] = ["--max-overhead", "100000%", "--ring-size", "16m", "-l", "typestate"];

/// Properties, and what the program calls them.
const PROPERTIES: [(&str, &str); 6] = [
    ("jnicritical", "jnicritical"),
    ("jniframes", "jniframes"),
    ("jnimonitor", "jnimonitor"),
    ("waitunnotified", "waitunnotified"),
    (concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/transaction.toml"), "transaction"),
    (concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/registry.toml"), "registry"),
];

/// What is told of a property while the program works, and what must be.
fn watch(jdk: &Jdk, work: &str, property: &str) -> Result<(Report, Expected)> {
    let mut jvm = Launch::new(jdk, "outside", "Outside").arguments(&[work]).start()?;
    let options: Vec<&str> = COMPLETE.into_iter().chain(["-p", property]).collect();
    let before = mapped(jvm.pid())?;
    let session = Session::attach(jvm.pid(), &options)?;
    jvm.work()?;
    let during = mapped(jvm.pid())?;
    let report = session.report()?;
    let expected = Expected::parse(&jvm.stdout().text())?;
    for path in during.union(&mapped(jvm.pid())?).filter(|path| !before.contains(*path)) {
        // Its own name: the folder of the workloads may be called anything.
        let name = path.rsplit('/').next().unwrap_or_default();
        ensure!(!name.contains("jtrace"), "something of jtrace is in the JVM: {path}");
    }
    jvm.finish()?;
    report.nothing_lost()?;
    Ok((report, expected))
}

/// Paths of the files that a process has mapped.
fn mapped(pid: u32) -> Result<BTreeSet<String>> {
    let maps = std::fs::read_to_string(format!("/proc/{pid}/maps"))?;
    // The sixth field is the rest of the line, and may hold spaces.
    let path = |line: &str| line.find('/').and_then(|at| line.get(at..)).map(str::to_owned);
    Ok(maps.lines().filter_map(path).collect())
}

fn agree(report: &Report, expected: &Expected, program: &str) -> Result<()> {
    for (kind, key) in [("illegal", "illegal_transitions"), ("dead", "dead_violations")] {
        let (told, number) = (report.summary("typestate", key)?, expected.one(kind, program)?);
        ensure!(told == number, "{told} {key}, not {number}");
    }
    ensure!(report.summary("typestate", "events")? > 0, "no symbol was seen");
    let rows = report.table("typestate", "violations")?;
    let listed: u64 = rows.iter().map(|row| cell(row, "count")).sum::<Result<u64>>()?;
    let all = expected.one("illegal", program)? + expected.one("dead", program)?;
    ensure!(listed == all, "{listed} violations in the table, not {all}");
    for row in rows {
        let text = |key: &str| row.get(key).and_then(Value::as_str).unwrap_or_default();
        ensure!(!text("class").is_empty() && !text("class").starts_with('<'), "no class: {row:?}");
        ensure!(!text("state").contains(" or "), "the state was not known: {row:?}");
    }
    Ok(())
}

#[test]
fn threads_monitors_and_classes_that_break_a_property_are_found_and_others_are_not() -> Result<()> {
    let jdks = jdk::all()?;
    for (index, (property, program)) in PROPERTIES.into_iter().enumerate() {
        for (turn, work) in ["good", "bad"].into_iter().enumerate() {
            let is_chosen = |release: usize| jdk::is_full() || release == (index + turn) % jdks.len();
            for (_, jdk) in jdks.iter().enumerate().filter(|(release, _)| is_chosen(*release)) {
                let place = || format!("{program}, {work}, on JDK {}", jdk.release);
                let (report, expected) = watch(jdk, work, property).with_context(place)?;
                agree(&report, &expected, program).with_context(place)?;
            }
        }
    }
    Ok(())
}

#[test]
fn what_a_property_needs_cannot_be_left_out() -> Result<()> {
    let said = jtrace::refuse(&["typestate", "1", "-p", "jniframes", "-X", "Pop*"], 2)?;
    ensure!(said.contains("`JniFrames` needs all events") && said.contains("leave out -I"), "{said}");
    Ok(())
}

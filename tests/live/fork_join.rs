//! Queues of `ForkJoinPool`s: as many tasks wait as the program has put there, whoever did it, and parts of tasks are none.

use std::collections::BTreeMap;

use anyhow::{Result, ensure};
use serde_json::Value;
use tests::{
    jdk, jtrace,
    jvm::Launch,
    patience::until,
    report::{Report, cell},
};

#[test]
fn tasks_that_wait_in_a_fork_join_pool_are_counted_and_parts_of_tasks_are_not() -> Result<()> {
    // By pool: its workers, and what waits.
    let expected = BTreeMap::from([("outside-*".to_owned(), (2, 7)), ("inside-*".to_owned(), (1, 3))]);
    for jdk in jdk::builds()? {
        let mut jvm = Launch::new(&jdk, "threads", "ForkJoin").start()?;
        let report = until("threads are looked at", || {
            let words = ["attach", &jvm.pid().to_string(), "-l", "threads", "-d", "1s", "--json"];
            let report = Report::parse(&jtrace::succeed(&words)?.stdout)?;
            Ok(Some(report).filter(|report| report.summary("threads", "looks").is_ok_and(|looks| looks > 0)))
        })?;
        jvm.finish()?;
        let mut found = BTreeMap::new();
        for row in report.table("threads", "executors")? {
            let text = |key: &str| row.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
            found.insert(text("pattern"), (cell(&row, "threads")?, cell(&row, "queued_last")?));
            ensure!(text("site").starts_with("ForkJoin.busy:"), "{row:?} on {}", jdk.home.display());
            ensure!(cell(&row, "looks_full")? == cell(&row, "looks")?, "{row:?} on {}", jdk.home.display());
        }
        ensure!(found == expected, "{found:?} on {}", jdk.home.display());
    }
    Ok(())
}

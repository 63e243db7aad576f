//! Queues of executors: as many tasks wait as the program has put there, in pools of the JDK and of libraries.

use std::collections::BTreeMap;

use anyhow::{Result, ensure};
use serde_json::Value;
use tests::{
    jdk::{self, Jdk},
    jtrace,
    jvm::Launch,
    patience::until,
    report::{Report, cell},
};

/// What the libraries of the test are, in packages of Debian that `cargo xtask setup` installs.
const LIBRARIES: [&str; 4] = ["jetty9-util", "jboss-threads", "jboss-logging", "wildfly-common"];

/// By the names of its threads: how many an executor has, and how many tasks wait. All of its threads are busy at the same place.
fn executors(jdk: &Jdk, program: &str, arguments: &[String]) -> Result<BTreeMap<String, (u64, u64)>> {
    let mut jvm = Launch::new(jdk, "threads", program).arguments(arguments).start()?;
    let report = until("threads are looked at", || {
        let words = ["attach", &jvm.pid().to_string(), "-l", "threads", "-d", "1s", "--json"];
        let report = Report::parse(&jtrace::succeed(&words)?.stdout)?;
        Ok(Some(report).filter(|report| report.summary("threads", "looks").is_ok_and(|looks| looks > 0)))
    })?;
    jvm.finish()?;
    let mut found = BTreeMap::new();
    for row in report.table("threads", "executors")? {
        let text = |key: &str| row.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let (threads, at_site) = (cell(&row, "threads")?, row.get("at_site").and_then(Value::as_f64));
        ensure!(text("site").starts_with(&format!("{program}.busy:")), "{row:?} on {}", jdk.home.display());
        ensure!(at_site == Some(threads as f64), "{row:?} on {}", jdk.home.display());
        ensure!(cell(&row, "looks_full")? == cell(&row, "looks")?, "{row:?} on {}", jdk.home.display());
        found.insert(text("pattern"), (threads, cell(&row, "queued_last")?));
    }
    Ok(found)
}

fn expected(pools: &[(&str, u64, u64)]) -> BTreeMap<String, (u64, u64)> {
    pools.iter().map(|(names, threads, queued)| ((*names).to_owned(), (*threads, *queued))).collect()
}

#[test]
fn tasks_that_wait_in_a_fork_join_pool_are_counted_and_parts_of_tasks_are_not() -> Result<()> {
    for jdk in jdk::builds()? {
        let found = executors(&jdk, "ForkJoin", &[])?;
        ensure!(found == expected(&[("outside-*", 2, 7), ("inside-*", 1, 3)]), "{found:?} on {}", jdk.home.display());
    }
    Ok(())
}

#[test]
fn tasks_that_wait_in_pools_of_libraries_and_of_workers_that_are_wrapped_are_counted() -> Result<()> {
    let libraries = LIBRARIES.map(|name| format!("/usr/share/java/{name}.jar"));
    let expected = expected(&[("jetty-*", 2, 7), ("jboss-*", 2, 3), ("wrapped-*", 2, 5)]);
    for jdk in jdk::builds()? {
        let found = executors(&jdk, "LibraryPools", &libraries)?;
        ensure!(found == expected, "{found:?} on {}", jdk.home.display());
    }
    Ok(())
}

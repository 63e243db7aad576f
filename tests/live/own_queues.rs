//! Queues of threads that work for no executor: each is found where the program has it, with as many things as it has put there.

use std::collections::BTreeMap;

use anyhow::{Result, bail, ensure};
use serde_json::Value;
use tests::{
    jdk, jtrace,
    jvm::Launch,
    patience::until,
    report::{Report, cell},
};

#[test]
fn a_threads_own_queue_is_found_in_its_class_its_task_and_what_a_lambda_has_caught() -> Result<()> {
    let expected = [
        ("OwnQueues$Base.letters", "own", 7),
        ("OwnQueues$Task.parcels", "task", 11),
        ("OwnQueues$Depot.belt", "depot", 13),
        ("java.util.concurrent.PriorityBlockingQueue", "caught", 17),
        ("OwnQueues$Reaper.dead", "reaper", 5),
    ];
    let expected: BTreeMap<_, _> =
        expected.into_iter().map(|(field, name, count)| ((field.to_owned(), name.to_owned()), count)).collect();
    for jdk in jdk::builds()? {
        let mut jvm = Launch::new(&jdk, "threads", "OwnQueues").start()?;
        let report = until("threads are looked at", || {
            let words = ["attach", &jvm.pid().to_string(), "-l", "threads", "-d", "1s", "--json"];
            let report = Report::parse(&jtrace::succeed(&words)?.stdout)?;
            Ok(Some(report).filter(|report| report.summary("threads", "looks").is_ok_and(|looks| looks > 0)))
        })?;
        jvm.finish()?;
        let mut found = BTreeMap::new();
        for row in report.table("threads", "queues")? {
            let text = |key: &str| row.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
            found.insert((text("field"), text("pattern")), cell(&row, "queued_last")?);
            ensure!(text("site").starts_with("OwnQueues.busy:"), "{row:?} on {}", jdk.home.display());
            ensure!(cell(&row, "looks_busy")? == cell(&row, "looks_filled")?, "{row:?} on {}", jdk.home.display());
        }
        ensure!(found == expected, "{found:?} on {}", jdk.home.display());
    }
    Ok(())
}

#[test]
fn a_queue_in_a_static_field_is_that_of_who_is_in_a_method_of_its_class() -> Result<()> {
    for jdk in jdk::builds()? {
        let mut jvm = Launch::new(&jdk, "threads", "StaticQueues").start()?;
        let pid = jvm.pid().to_string();
        let on = jdk.home.display();
        // A look finds the field, and the next one whose it is.
        let report = until("threads are looked at twice", || {
            let words = ["attach", &pid, "-l", "threads", "-d", "3s", "--json"];
            let report = Report::parse(&jtrace::succeed(&words)?.stdout)?;
            Ok(Some(report).filter(|report| report.summary("threads", "looks").is_ok_and(|looks| looks > 1)))
        })?;
        let dump: Value = serde_json::from_slice(&jtrace::succeed(&["threads", &pid, "--json"])?.stdout)?;
        jvm.finish()?;
        let rows = report.table("threads", "queues")?;
        let [row] = &rows[..] else { bail!("{rows:?} on {on}") };
        let text = |key: &str| row.get(key).and_then(Value::as_str).unwrap_or_default();
        ensure!((text("field"), text("pattern")) == ("Post.LETTERS", "clerk"), "{row:?} on {on}");
        ensure!(text("site").starts_with("Post.busy:") && cell(row, "queued_last")? == 7, "{row:?} on {on}");
        let queue = &dump["queues"][0];
        ensure!(queue["field"] == "Post.LETTERS" && queue["queued"] == 7, "{} on {on}", dump["queues"]);
    }
    Ok(())
}

//! Who holds monitors, who waits for whom, and who starts threads: as the workloads know it.

use anyhow::{Context as _, Result};
use serde_json::Value;
use tests::{
    jdk,
    jtrace::{self, Session},
    jvm::{Jvm, Launch},
    patience::until,
    report::{Report, Row, cell},
};

/// Contended enters in a piece of work.
const ENTERS: u64 = 50;

const RIGHT: &str = "Deadlock.takeRight:125";
const LEFT: &str = "Deadlock.takeLeft:119";

fn text<'a>(row: &'a Row, key: &str) -> &'a str {
    row.get(key).and_then(|value| value.as_str()).unwrap_or_default()
}

fn texts<'a, const N: usize>(rows: &'a [Row], keys: [&str; N]) -> Vec<[&'a str; N]> {
    rows.iter().map(|row| keys.map(|key| text(row, key))).collect()
}

/// Attaches, lets the workload work if it is to, and waits until jtrace has seen two threads blocked in two looks at all threads; gives
/// the report, and that of the recording.
fn two_looks(jvm: &mut Jvm, works: bool) -> Result<[Report; 2]> {
    let directory = tempfile::tempdir()?;
    let path = |name: &str| directory.path().join(name).to_string_lossy().into_owned();
    let (json, recording) = (path("r.json"), path("r.jtrace"));
    let mut session = Session::attach(jvm.pid(), &["--events", "-l", "locks", "-o", &json, "-o", &recording])?;
    if works {
        jvm.work()?;
    }
    let (mut read, mut looks) = (0, 0);
    while looks < 2 {
        let (line, next) = session.process().stdout.wait_for_line("{", read, jtrace::LIMIT)?;
        let event: Value = serde_json::from_str(&line)?;
        looks += u32::from(event["event"] == "monitor_look" && event["blocked"] == 2);
        read = next;
    }
    session.stop()?;
    let live = Report::parse(&std::fs::read(&json)?)?;
    Ok([live, Report::parse(&jtrace::succeed(&["report", &recording, "--json"])?.stdout)?])
}

#[test]
fn two_threads_that_wait_for_each_other_are_a_deadlock_with_their_classes_and_lines() -> Result<()> {
    for jdk in jdk::all()? {
        let mut jvm = Launch::new(&jdk, "deadlock", "Deadlock").arguments(&["circle"]).start()?;
        let [report, replayed] = two_looks(&mut jvm, true)?;
        let on = format!("on JDK {}", jdk.release);
        assert_eq!(report.findings().first(), Some(&"deadlock"), "{on}");
        let mut rows = report.table("locks", "deadlocks")?;
        rows.sort_by_key(|row| text(row, "thread").to_owned());
        assert_eq!(
            texts(&rows, ["thread", "class", "site", "holder", "holder_site"]),
            [["left", "Deadlock$Right", RIGHT, "right", LEFT], ["right", "Deadlock$Left", LEFT, "left", RIGHT]],
            "{on}"
        );
        assert_eq!(report.summary("locks", "deadlocked_threads")?, 2, "{on}");
        assert_eq!(replayed.table("locks", "deadlocks")?, report.table("locks", "deadlocks")?, "{on}");
        jvm.process().close_stdin();
    }
    Ok(())
}

#[test]
fn a_deadlock_from_before_jtrace_came_is_found() -> Result<()> {
    for (jdk, collector) in jdk::with_collectors(1)? {
        let on = format!("on JDK {} with {}", jdk.release, collector.name());
        let launch = Launch::new(&jdk, "deadlock", "Deadlock").flags(collector.flags()).arguments(&["circle"]);
        let mut jvm = launch.start()?;
        jvm.work()?;
        let [report, _] = two_looks(&mut jvm, false)?;
        assert_eq!(report.findings().first(), Some(&"deadlock"), "{on}");
        let mut rows = report.table("locks", "deadlocks")?;
        rows.sort_by_key(|row| text(row, "thread").to_owned());
        assert_eq!(
            texts(&rows, ["thread", "class", "holder"]),
            [["left", "Deadlock$Right", "right"], ["right", "Deadlock$Left", "left"]],
            "{on}"
        );
        assert_eq!(report.summary("locks", "contended_enters")?, 0, "{on}");
        jvm.process().close_stdin();
    }
    Ok(())
}

#[test]
fn a_chain_ends_at_the_thread_that_runs_and_is_no_deadlock() -> Result<()> {
    for jdk in jdk::all()? {
        let mut jvm = Launch::new(&jdk, "deadlock", "Deadlock").arguments(&["chain"]).start()?;
        let [report, _] = two_looks(&mut jvm, true)?;
        let on = format!("on JDK {}", jdk.release);
        let mut rows = report.table("locks", "blocked_threads")?;
        rows.sort_by_key(|row| text(row, "thread").to_owned());
        assert_eq!(
            texts(&rows, ["thread", "class", "site", "holder", "holder_site", "chain"]),
            [
                ["last", "Deadlock$Left", LEFT, "middle", RIGHT, "last \u{2192} middle \u{2192} first"],
                ["middle", "Deadlock$Right", RIGHT, "first", "<not blocked on a monitor>", "middle \u{2192} first"]
            ],
            "{on}"
        );
        assert!(!report.findings().contains(&"deadlock"), "{on}");
        jvm.process().close_stdin();
    }
    Ok(())
}

#[test]
fn the_holder_is_known_at_every_contended_enter_of_a_monitor_that_is_held() -> Result<()> {
    for jdk in jdk::all()? {
        let mut jvm = Launch::new(&jdk, "locks", "Locks").arguments(&["contended", &ENTERS.to_string()]).start()?;
        let on = format!("on JDK {}", jdk.release);
        // The partner is seen to be blocked a moment before its site is hit, and by then the monitor can be free. Where the partner has
        // to wait for a CPU in between, that is so each time; then the work is done again.
        let report = until("a holder is known", || {
            let session = Session::attach(jvm.pid(), &["-l", "locks"])?;
            jvm.work()?;
            let report = session.report()?;
            Ok((report.summary("locks", "enters_with_holder")? > 0).then_some(report))
        })?;
        assert_eq!(report.summary("locks", "contended_enters")?, ENTERS, "{on}");
        let known = report.summary("locks", "enters_with_holder")?;
        let notes = report.section("locks")?["notes"].to_string();
        let free = format!("The holder is not known at {0} contended enters: <nobody any more> {0}.", ENTERS - known);
        assert!(known == ENTERS || notes.contains(&free), "{on}: {known} {notes}");
        let rows = report.table("locks", "owners")?;
        let counts: u64 = rows.iter().map(|row| cell(row, "count")).sum::<Result<u64>>()?;
        assert_eq!(counts, known, "{on}");
        assert_eq!(texts(&rows, ["class"]), vec![["Locks$Cart"]; rows.len()], "{on}");
        jvm.finish()?;
    }
    Ok(())
}

#[test]
fn threads_have_the_places_where_they_were_started() -> Result<()> {
    for jdk in jdk::all()? {
        let mut jvm = Launch::new(&jdk, "threads", "Threads").start()?;
        let session = Session::attach(jvm.pid(), &["-l", "threads"])?;
        jvm.work()?;
        let report = session.report()?;
        let on = format!("on JDK {}", jdk.release);
        let rows = report.table("threads", "started_by")?;
        let of =
            |site: &str| rows.iter().find(|row| text(row, "site") == site).context(format!("{site} {on}: {rows:?}"));
        for (site, started, alive) in [("Threads.end:33", 40, 0), ("Threads.main:23", 15, 15)] {
            let row = of(site)?;
            let counts = [cell(row, "started")?, cell(row, "alive")?];
            assert_eq!(counts, [started, alive], "{on}");
        }
        assert!(report.findings().contains(&"thread-leak"), "{on}");
        jvm.finish()?;
    }
    Ok(())
}

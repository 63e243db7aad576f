//! A snapshot that waits for a full collection shows what that could not free, and none is taken before.

use anyhow::{Result, ensure};
use tests::{
    jdk, jtrace,
    patience::PATIENCE,
    process::{Finished, Process, Signal},
};

use super::{ENTRIES, planted};

const WAITS: &str = "waiting for a full collection; ";

#[test]
fn a_snapshot_is_taken_after_the_next_full_collection_where_that_is_asked() -> Result<()> {
    for jdk in jdk::all()? {
        for collector in ["-XX:+UseG1GC", "-XX:+UseSerialGC", "-XX:+UseParallelGC"] {
            let on = format!("JDK {} with {collector}", jdk.release);
            let mut jvm = planted(&jdk, &[collector], 1000)?;
            jvm.jcmd(&["GC.run"])?;
            let asked = ["heap", &jvm.pid().to_string(), "--json", "--after-full-gc"];
            let mut waiting = Process::spawn(&mut jtrace::command(&asked)?)?;
            let (line, _) = waiting.stderr.wait_for_line(WAITS, 0, PATIENCE)?;
            ensure!(line.ends_with("1 was made until now"), "{on}: {line}");
            ensure!(waiting.is_running(), "{on}: it did not wait");
            jvm.jcmd(&["GC.run"])?;
            waiting.wait(PATIENCE)?;
            let finished = Finished::from_process(&waiting)?;
            ensure!(finished.code == 0, "{on}: {}", finished.stderr);
            let snapshot: serde_json::Value = serde_json::from_slice(&finished.stdout)?;
            ensure!(super::told(&snapshot)?["Planted$Entry"].0 == ENTRIES, "{on}");
            jvm.finish()?;
        }
    }
    Ok(())
}

#[test]
fn who_waits_for_a_full_collection_ends_by_a_signal_and_with_the_jvm() -> Result<()> {
    let mut jvm = planted(&jdk::any()?, &[], 1000)?;
    let asked = ["heap", &jvm.pid().to_string(), "--after-full-gc"];
    for by_signal in [true, false] {
        let mut waiting = Process::spawn(&mut jtrace::command(&asked)?)?;
        waiting.stderr.wait_for_line(WAITS, 0, PATIENCE)?;
        if by_signal {
            waiting.signal(Signal::TERM)?;
            waiting.wait(PATIENCE)?;
        } else {
            jvm.finish()?;
            waiting.wait(PATIENCE)?;
            let finished = Finished::from_process(&waiting)?;
            let said = "has ended before it made a full collection";
            ensure!(finished.code == 1 && finished.stderr.contains(said), "{} {}", finished.code, finished.stderr);
        }
    }
    Ok(())
}

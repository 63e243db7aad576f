//! A method that runs while its class is exchanged goes on in the interpreter: the report names it.

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;
use tests::{
    jdk::{self, Jdk},
    jtrace,
    jvm::Launch,
    report::cell,
};

use super::{start, watch};

/// What is woven, and which of its methods wait for a word from the test meanwhile.
const WOVEN: [(&str, Option<&str>); 2] = [("fib=Fib::fib", Some("Fib::main")), ("get=java.util.ArrayList::get", None)];

#[test]
fn methods_that_run_while_their_class_is_exchanged_are_named() -> Result<()> {
    for jdk in jdk::all()? {
        for (marker, running) in WOVEN {
            visit(&jdk, marker, running).with_context(|| format!("{marker} on JDK {}", jdk.release))?;
        }
    }
    Ok(())
}

/// A class in whose method a thread goes round stays as it is: it would be many times as slow for as long as the thread lives. The thread
/// that waits is no reason, and neither are classes that are called. Who says `--yes` gets all.
#[test]
fn a_class_in_which_a_thread_goes_round_is_left_as_it_is_unless_asked_twice() -> Result<()> {
    for jdk in jdk::builds()? {
        let place = || format!("on {}", jdk.home.display());
        let mut jvm = Launch::new(&jdk, "inside", "Turning").start()?;
        for (more, is_left) in [(None, true), (Some("--yes"), false)] {
            let words = ["--inside", "-l", "markers", "--marker", "all=Turning*::*", "--max-overhead", "100000%"];
            let session = jtrace::Session::attach(jvm.pid(), &[&words[..], more.as_slice()].concat())?;
            jvm.work()?;
            let report = session.report()?;
            let skipped = report.tables("markers")?.remove("marker_skipped").unwrap_or_default();
            let left: Vec<_> = skipped.iter().filter_map(|row| row.get("class")?.as_str()).collect();
            ensure!(left == if is_left { &["Turning$Wheel"][..] } else { &[] }, "{skipped:?} {}", place());
            let rows = report.table("markers", "marker_places")?;
            let passed = rows.iter().filter(|row| super::text(row, "class") == "Turning$Count");
            let passed = passed.map(|row| cell(row, "entered")).sum::<Result<u64>>()?;
            ensure!(passed == 1000, "{passed} calls, {}: {rows:?}", place());
        }
        jvm.finish()?;
    }
    Ok(())
}

/// Where such a class is all that was named, nothing is woven.
#[test]
fn a_class_in_which_a_thread_goes_round_is_refused_where_it_is_all() -> Result<()> {
    let mut jvm = Launch::new(&jdk::debian()?, "inside", "Turning").start()?;
    let pid = jvm.pid().to_string();
    let said = jtrace::refuse(&["markers", &pid, "--marker", "all=Turning$Wheel::*", "-d", "1s", "--text"], 1)?;
    ensure!(said.contains("a thread goes round in Turning$Wheel::run") && said.contains("--yes"), "{said}");
    jvm.work()?;
    jvm.finish()?;
    Ok(())
}

fn visit(jdk: &Jdk, marker: &str, running: Option<&str>) -> Result<()> {
    let (report, _) = watch(start(jdk, "methods", "Fib", &[], &[])?, "markers", &["--marker", marker])?;
    let notes = report.section("markers")?["notes"].as_array().cloned().unwrap_or_default();
    let said: Vec<&str> = notes.iter().filter_map(Value::as_str).filter(|note| note.contains("were running")).collect();
    let Some(running) = running else {
        ensure!(said.is_empty(), "{said:?}");
        return Ok(());
    };
    for what in ["weaving", "restoring"] {
        let sentence = format!("When {what} began, these methods of the exchanged classes were running: {running}. ");
        ensure!(said.iter().any(|note| note.starts_with(&sentence)), "{what}: {said:?}");
    }
    ensure!(said.len() == 2, "{said:?}");
    Ok(())
}

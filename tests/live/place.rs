//! JVMs where tools usually stumble: in a container, with a deleted libjvm.so, without notes, without symbols.

use std::{fs, path::Path, process::Command};

use anyhow::{Result, ensure};
use serde_json::Value;
use tests::{
    jdk::{self, Jdk},
    jtrace::{self, Session},
    jvm::Launch,
    patience::until,
    report::Report,
};

use crate::watch::watch;

#[test]
fn a_jvm_in_its_own_namespaces_is_listed_attached_and_named() -> Result<()> {
    for jdk in jdk::all()? {
        let launch = Launch::new(&jdk, "locks", "Locks").arguments(&["contended", "50"]);
        let mut jvm = launch.start_in_container(&jdk)?;
        let list: Value = serde_json::from_slice(&jtrace::succeed(&["list", "--json"])?.stdout)?;
        let text = list.to_string();
        assert!(text.contains(&format!("\"pid\":{}", jvm.pid())), "{} is not listed: {text}", jvm.pid());
        // Some monitors are free again when they are looked at.
        let report = until("a holder is known", || {
            let session = Session::attach(jvm.pid(), &[])?;
            jvm.work()?;
            let report = session.report()?;
            Ok((report.summary("locks", "enters_with_holder")? > 0).then_some(report))
        })?;
        assert_eq!(report.summary("locks", "contended_enters")?, 50, "on JDK {}", jdk.release);
        // Thread ids are the kernel's, not those of the container.
        let holders: Vec<_> = report.table("locks", "owners")?.iter().map(|row| row["tid"].clone()).collect();
        let task = |tid: &Value| Path::new(&format!("/proc/{}/task/{tid}", jvm.pid())).exists();
        assert!(holders.iter().all(task), "{holders:?} on JDK {}", jdk.release);
        assert!(report.texts("locks")?.iter().any(|text| text == "Locks$Cart"));
        assert_eq!(report.target("command"), "Locks contended 50");
        assert_eq!(report.target("container"), true);
        assert_eq!(report.target("pid"), jvm.pid());
        assert_ne!(report.target("namespace_pid"), jvm.pid());
        assert_eq!(report.target("jdk_release"), jdk.release);
        jvm.finish()?;
    }
    Ok(())
}

#[test]
fn a_deleted_libjvm_is_traced_all_the_same() -> Result<()> {
    for jdk in jdk::all()? {
        let directory = tempfile::tempdir()?;
        let copy = jdk.copy_to(directory.path())?;
        let mut jvm = Launch::new(&copy, "locks", "Locks").arguments(&["contended", "50"]).start()?;
        fs::remove_dir_all(&copy.home)?;
        let session = Session::attach(jvm.pid(), &[])?;
        jvm.work()?;
        let report = session.report()?;
        assert_eq!(report.summary("locks", "contended_enters")?, 50, "on JDK {}", jdk.release);
        jvm.process().close_stdin();
    }
    Ok(())
}

/// A JDK whose libjvm.so went through `objcopy` with these arguments.
pub(crate) fn changed(jdk: &Jdk, directory: &Path, arguments: &[&str]) -> Result<Jdk> {
    let copy = jdk.copy_to(directory)?;
    let status = Command::new("objcopy").args(arguments).arg(copy.libjvm()).status()?;
    ensure!(status.success(), "objcopy {arguments:?} failed");
    Ok(copy)
}

#[test]
fn without_notes_the_symbols_give_what_they_can_and_the_report_says_what_is_missing() -> Result<()> {
    for jdk in jdk::all()? {
        let directory = tempfile::tempdir()?;
        let bare = changed(&jdk, directory.path(), &["--remove-section", ".note.stapsdt"])?;
        let mut jvm = Launch::new(&bare, "alloc", "Alloc").start()?;
        let session = Session::attach(jvm.pid(), &[])?;
        jvm.work()?;
        let report = session.report()?;
        assert!(report.summary("alloc", "samples")? > 100, "allocation is sampled by symbols: JDK {}", jdk.release);
        assert!(!report.missing().is_empty(), "the report says nothing about missing notes");
        let doctor = jtrace::run(&["doctor", &jvm.pid().to_string()])?.text();
        assert!(doctor.contains("USDT"), "doctor does not say that there are no notes: {doctor}");
        jvm.finish()?;
    }
    Ok(())
}

#[test]
fn without_symbols_the_notes_give_exact_counts_and_the_report_says_what_is_missing() -> Result<()> {
    for jdk in jdk::all()? {
        let directory = tempfile::tempdir()?;
        let bare = changed(&jdk, directory.path(), &["--strip-all"])?;
        let watched = watch(
            &Launch::new(&bare, "gc", "Gc").arguments(&["system", "7"]).log("gc*,safepoint"),
            "gc,alloc,threads",
        )?;
        watched.agrees("gc", "collections", |truth| truth.gc_safepoints);
        let missing = watched.report.missing().join("\n");
        assert!(missing.contains(".symtab"), "the report does not say that symbols are missing: {missing}");
        assert!(missing.contains("who starts threads"), "the report does not say that starters are missing: {missing}");
    }
    Ok(())
}

#[test]
fn without_symbols_the_monitor_flag_is_found_through_the_exported_tables() -> Result<()> {
    for jdk in jdk::all()? {
        let directory = tempfile::tempdir()?;
        let bare = changed(&jdk, directory.path(), &["--strip-all"])?;
        let watched = watch(&Launch::new(&bare, "locks", "Locks").arguments(&["contended", "50"]), "locks")?;
        assert_eq!(watched.report.summary("locks", "contended_enters")?, 50, "on JDK {}", jdk.release);
    }
    Ok(())
}

/// Sites are found by notes and by the tables for unwinding; what these cannot tell is said.
#[test]
fn without_symbols_calls_are_counted_exactly_and_the_report_says_that_errors_are_not_told() -> Result<()> {
    const COMPLETE: [&str; 4] = ["--max-overhead", "100000%", "--ring-size", "4m"];
    for jdk in jdk::all()? {
        let directory = tempfile::tempdir()?;
        let bare = changed(&jdk, directory.path(), &["--strip-all"])?;
        let mut jvm = Launch::new(&bare, "methods", "Fib").flags(&["-XX:+DTraceMethodProbes"]).start()?;
        let session = Session::attach(jvm.pid(), &[&COMPLETE[..], &["-l", "methods", "-I", "Fib::*"]].concat())?;
        jvm.work()?;
        let report = session.report()?;
        report.nothing_lost()?;
        let rows = report.table("methods", "methods")?;
        let fib = rows.iter().find(|row| row["method"] == "fib").map(|row| row["calls"].clone());
        assert_eq!(fib, Some(Value::from(2 * 10_946 - 1)), "fib(20) on JDK {}", jdk.release);
        let missing = report.missing().join("\n");
        assert!(missing.contains("methods: errors are not told") && !missing.contains("not available"), "{missing}");
        jvm.finish()?;

        // Which of three functions gets its thread as an argument does not show in the code of later releases.
        let mut jvm = Launch::new(&bare, "methods", "Allocations").flags(&["-XX:+DTraceAllocProbes"]).start()?;
        let options = ["-l", "alloc", "--exact", "--where", "class ~ \"Allocations*\""];
        let session = Session::attach(jvm.pid(), &[&COMPLETE[..], &options].concat())?;
        jvm.work()?;
        let report = session.report()?;
        let missing = report.missing().join("\n");
        if jdk.release <= 17 {
            let rows = report.table("alloc", "objects_by_class")?;
            let blobs = rows.iter().find(|row| row["class"] == "Allocations$Blob").map(|row| row["objects"].clone());
            assert_eq!(blobs, Some(Value::from(3000)), "on JDK {}: {missing}", jdk.release);
        } else {
            assert!(missing.contains("all allocations"), "on JDK {}: {missing}", jdk.release);
        }
        jvm.finish()?;
    }
    Ok(())
}

#[test]
fn a_jvm_of_another_user_is_named_with_its_user() -> Result<()> {
    let jdk = jdk::any()?;
    let directory = tempfile::tempdir()?;
    let launch = Launch::new(&jdk, "gc", "Gc").arguments(&["system", "7"]);
    let words = launch.command(directory.path());
    let mut command = Command::new("setpriv");
    command.args(["--reuid", "65534", "--regid", "65534", "--clear-groups"]).args(words).current_dir("/");
    let mut jvm = launch.start_by(&mut command, directory)?;
    let session = Session::attach(jvm.pid(), &["-l", "gc"])?;
    jvm.work()?;
    let report: Report = session.report()?;
    assert_eq!(report.target("user"), "nobody");
    assert_eq!(report.summary("gc", "collections")?, 7);
    jvm.finish()?;
    Ok(())
}

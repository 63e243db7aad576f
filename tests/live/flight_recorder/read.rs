//! Files that the JDK's flight recorder has written, read by `jtrace report`: counts and times are those that the JDK's
//! own `jfr` prints, and what the program did.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;
use tests::{
    jdk::{self, Jdk},
    jtrace,
    jvm::{Jvm, Launch},
    patience::until_true,
    report::{Report, cell},
};

use super::{events, record, summary};

/// Types of events that are recorded each time, with the lens and the keys of their count and their time.
const TYPES: [(&str, &str, &str, Option<&str>); 14] = [
    ("jdk.JavaMonitorEnter", "locks", "contended_enters", Some("blocked_total_ns")),
    ("jdk.JavaMonitorWait", "locks", "waits", Some("wait_total_ns")),
    ("jdk.ThreadPark", "locks", "parks", Some("park_total_ns")),
    ("jdk.ThreadSleep", "threads", "sleeps", Some("sleep_total_ns")),
    ("jdk.ThreadEnd", "threads", "stopped", None),
    ("jdk.GCPhasePause", "gc", "pauses", Some("pause_total_ns")),
    ("jdk.ExecuteVMOperation", "safepoint", "vm_operations", None),
    ("jdk.ClassLoad", "classes", "loaded", None),
    ("jdk.ClassUnload", "classes", "unloaded", None),
    ("jdk.Compilation", "jit", "compilations", Some("compile_total_ns")),
    ("jdk.ObjectAllocationInNewTLAB", "alloc", "samples", None),
    ("jdk.JavaExceptionThrow", "exceptions", "created", None),
    ("jdk.ExecutionSample", "cpu", "samples", None),
    // It is asked for its thread, too: the JVM makes one without.
    ("jdk.ThreadStart", "threads", "started", None),
];
/// Others that are recorded because they say something of these.
const BESIDE: [&str; 6] = [
    "jdk.GarbageCollection",
    "jdk.SafepointBegin",
    "jdk.SafepointEnd",
    "jdk.ActiveSetting",
    "jdk.JVMInformation",
    "jdk.GCConfiguration",
];

/// Settings by which all of these are recorded, whatever they take.
fn settings(directory: &Path) -> Result<PathBuf> {
    let setting = |name: &str, value: &str| format!("<setting name=\"{name}\">{value}</setting>");
    let event = |name: &str| {
        let all = [("enabled", "true"), ("threshold", "0 ns"), ("stackTrace", "true"), ("period", "10 ms")];
        let all: String = all.iter().map(|(name, value)| setting(name, value)).collect();
        format!("<event name=\"{name}\">{all}</event>\n")
    };
    let all: String = TYPES.iter().map(|(name, ..)| *name).chain(BESIDE).map(event).collect();
    let path = directory.join("all.jfc");
    std::fs::write(
        &path,
        format!("<?xml version=\"1.0\"?>\n<configuration version=\"2.0\">\n{all}</configuration>\n"),
    )?;
    Ok(path)
}

/// A JVM whose recorder runs from now on.
fn start(jvm: &Jvm) -> Result<()> {
    let settings = settings(jvm.directory())?;
    jvm.jcmd(&["JFR.start", "name=x", &format!("settings={}", settings.display())])?;
    Ok(())
}

/// What it has recorded since; the recorder begins another chunk.
fn dump(jvm: &Jvm, name: &str) -> Result<PathBuf> {
    let path = jvm.directory().join(name);
    jvm.jcmd(&["JFR.dump", "name=x", &format!("filename={}", path.display())])?;
    Ok(path)
}

fn report(file: &Path) -> Result<Report> {
    Report::parse(&jtrace::succeed(&["report".as_ref(), file.as_os_str(), "--json".as_ref()])?.stdout)
}

/// `PT0.000014191S` and `PT1M2S` in nanoseconds.
fn nanoseconds(text: &str) -> Result<u64> {
    let mut rest = text.strip_prefix("PT").with_context(|| format!("no duration: {text}"))?;
    let mut all = 0;
    for (unit, factor) in [('H', 3_600_000_000_000), ('M', 60_000_000_000), ('S', 1_000_000_000)] {
        let Some((number, after)) = rest.split_once(unit) else { continue };
        let (whole, part) = number.split_once('.').unwrap_or((number, ""));
        all += whole.parse::<u64>()? * factor + format!("{part:0<9}").parse::<u64>()?;
        rest = after;
    }
    ensure!(rest.is_empty(), "a duration: {text}");
    Ok(all)
}

/// What the JDK's tool prints of all types that are compared, by type.
fn printed(tool: &Path, file: &Path) -> Result<BTreeMap<String, Vec<Value>>> {
    let names: Vec<&str> = TYPES.iter().map(|(name, ..)| *name).chain(["jdk.GarbageCollection"]).collect();
    let mut by_type: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for event in events(tool, &names.join(","), file)? {
        let name = event["type"].as_str().context("a type")?.to_owned();
        by_type.entry(name).or_default().push(event);
    }
    Ok(by_type)
}

/// Compares every type with what the JDK's tool prints of it.
fn compare(jdk: &Jdk, file: &Path, report: &Report) -> Result<()> {
    let tool = jdk.home.join("bin/jfr");
    let mut by_type = printed(&tool, file)?;
    for (name, lens, count, time) in TYPES {
        let mut printed = by_type.remove(name).unwrap_or_default();
        if name == "jdk.ThreadStart" {
            printed.retain(|event| !event["values"]["thread"].is_null());
        }
        let of = |key| report.summary(lens, key).with_context(|| format!("{lens} {key} of {}", jdk.release));
        assert_eq!(of(count)?, printed.len() as u64, "{name} of {}", jdk.release);
        if let Some(key) = time {
            let mut all = 0;
            for event in &printed {
                all += nanoseconds(event["values"]["duration"].as_str().context("a duration")?)?;
            }
            assert_eq!(of(key)?, all, "{name} of {}", jdk.release);
        }
    }
    let collections = by_type.remove("jdk.GarbageCollection").unwrap_or_default();
    let is_named = |names: &[&str], event: &Value| names.iter().any(|name| event["values"]["name"] == *name);
    let of = |names: &[&str]| collections.iter().filter(|event| is_named(names, event)).count() as u64;
    // G1's marking collects nothing by itself.
    assert_eq!(report.summary("gc", "collections")?, collections.len() as u64 - of(&["G1Old"]));
    assert_eq!(report.summary("gc", "full_collections")?, of(&["G1Full", "SerialOld", "ParallelOld"]));
    Ok(())
}

/// JDK 17, and the newest.
fn jdks() -> Result<Vec<Jdk>> {
    let mut all: Vec<Jdk> = jdk::all()?.into_iter().filter(|jdk| jdk.release >= 17).collect();
    all.sort_by_key(|jdk| jdk.release);
    let newest = all.pop().context("a JDK")?;
    Ok(all.into_iter().take(1).chain([newest]).collect())
}

/// Those of a JDK's row that are tried.
fn in_turn<T>(row: usize, all: impl IntoIterator<Item = T>) -> impl Iterator<Item = T> {
    (0..).zip(all).filter(move |(column, _)| jdk::is_in_turn(row, *column)).map(|(_, one)| one)
}

#[test]
fn locks_are_those_that_the_program_took_over_several_chunks() -> Result<()> {
    for (row, jdk) in jdks()?.into_iter().enumerate() {
        let kinds =
            [("contended", 100, "monitors", "count"), ("wait", 100, "waits", "count"), ("park", 100, "parks", "count")];
        for (kind, rounds, table, own) in in_turn(row, kinds) {
            let mut jvm = Launch::new(&jdk, "locks", "Locks").arguments(&[kind, "100"]).start()?;
            start(&jvm)?;
            let mut done = Vec::new();
            for name in ["one.jfr", "two.jfr"] {
                let counts = jvm.work()?;
                done.push(if kind == "park" { counts.get("parks")? } else { rounds });
                let (file, all) = (dump(&jvm, name)?, done.iter().sum::<u64>());
                let report = report(&file)?;
                compare(&jdk, &file, &report)?;
                let rows = report.table("locks", table)?;
                let is_own = |row: &&tests::report::Row| {
                    row.get("class").is_some_and(|class| class == "Locks$Cart")
                        || row.get("thread").is_some_and(|thread| thread == "lock-partner")
                };
                let counted = rows.iter().filter(is_own).map(|row| cell(row, own)).sum::<Result<u64>>()?;
                assert_eq!(counted, all, "{kind} of {}: {rows:?}", jdk.release);
            }
            jvm.finish()?;
        }
    }
    Ok(())
}

#[test]
fn collections_are_those_that_the_program_asked_for() -> Result<()> {
    for (row, jdk) in jdks()?.into_iter().enumerate() {
        let collectors = [("G1", "G1"), ("Serial", "Serial"), ("Parallel", "Parallel"), ("Z", "ZGC")];
        for (collector, name) in in_turn(row, collectors) {
            let flag = format!("-XX:+Use{collector}GC");
            let mut jvm = Launch::new(&jdk, "gc", "Gc").flags(&[&flag]).arguments(&["system", "7"]).start()?;
            start(&jvm)?;
            // A thread of the recorder tells of the JVM itself, some time later: a file that is asked for at once may lack that.
            until_true("the recorder has told of the JVM", || {
                Ok(report(&dump(&jvm, "first.jfr")?)?.target("collector") != "")
            })?;
            jvm.work()?;
            let file = dump(&jvm, "x.jfr")?;
            let report = report(&file)?;
            compare(&jdk, &file, &report)?;
            assert_eq!(report.target("collector"), name);
            assert_eq!(report.target("jdk_release"), jdk.release);
            assert_eq!(report.target("pid"), jvm.pid());
            let rows = report.table("gc", "causes")?;
            let asked = rows.iter().filter(|row| row.get("cause").is_some_and(|cause| cause == "System.gc()"));
            let collections = asked.map(|row| cell(row, "collections")).sum::<Result<u64>>()?;
            // A full one of Parallel collects the young part before, which its recorder counts apart.
            let each = if collector == "Parallel" { 2 } else { 1 };
            assert!(collections == 7 || collections == 7 * each, "{name} of {}: {rows:?}", jdk.release);
            jvm.finish()?;
        }
    }
    Ok(())
}

/// With settings of the JDK the recorder leaves most out, and a report says what.
#[test]
fn what_the_recorder_leaves_out_is_said() -> Result<()> {
    for jdk in jdks()? {
        let mut jvm = Launch::new(&jdk, "locks", "Locks").arguments(&["park", "50"]).start()?;
        jvm.jcmd(&["JFR.start", "name=x", "settings=default"])?;
        jvm.work()?;
        let file = dump(&jvm, "x.jfr")?;
        let report = report(&file)?;
        let missing = report.missing().join("\n");
        for sentence in ["locks: recorded from 20 ms on: `jdk.JavaMonitorEnter`", "jit: recorded from 1.0 s on"] {
            assert!(missing.contains(sentence), "{sentence} in {missing}");
        }
        // Each type that is not shown is named with as many events as the JDK's tool finds.
        for (name, count) in summary(&jdk.home.join("bin/jfr"), &file)? {
            let is_own = ["jdk.Metadata", "jdk.CheckPoint", "jdk.Checkpoint"].contains(&name.as_str());
            let is_taken = !report.sites(&name).is_empty() || name == "jdk.GarbageCollection";
            let grouped = tracer_event::text::format::count(count);
            let said = missing.contains(&format!("{name} {grouped}"));
            assert_eq!(said, count > 0 && !is_own && !is_taken, "{name} {count} of {}: {missing}", jdk.release);
        }
        let loads = report.section("classes");
        assert!(loads.is_err(), "the JDK's settings record no loads: {loads:?}");
        jvm.finish()?;
    }
    Ok(())
}

/// jtrace's own file gives back what the session counted.
#[test]
fn a_file_of_jtrace_gives_back_what_it_counted() -> Result<()> {
    for (kind, rounds) in [("contended", "50"), ("wait", "50"), ("park", "50")] {
        let recorded = record(kind, rounds)?;
        let again = report(&recorded.file("x.jfr"))?;
        for (lens, key) in [
            ("locks", "contended_enters"),
            ("locks", "blocked_total_ns"),
            ("locks", "waits"),
            ("locks", "wait_total_ns"),
            ("gc", "pauses"),
            ("safepoint", "safepoints"),
            ("safepoint", "vm_operations"),
            ("classes", "loaded"),
            ("alloc", "samples"),
            ("alloc", "estimated_bytes"),
            ("cpu", "samples"),
        ] {
            let live = recorded.report.summary(lens, key)?;
            // A lens without any site is not in the file.
            let found = again.summary(lens, key).with_context(|| format!("{kind}: {lens} {key}"))?;
            assert_eq!(found, live, "{kind}: {lens} {key}");
        }
        let file = recorded.file("x.jfr");
        let same = jtrace::succeed(&["diff".as_ref(), file.as_os_str(), file.as_os_str()])?;
        ensure!(!same.text().is_empty(), "nothing is said of two files that are the same");
    }
    Ok(())
}

#[test]
fn a_file_that_is_cut_is_one_line_and_a_hint() -> Result<()> {
    let jdk = jdks()?.pop().context("a JDK")?;
    let mut jvm = Launch::new(&jdk, "locks", "Locks").arguments(&["park", "5"]).start()?;
    start(&jvm)?;
    let file = dump(&jvm, "x.jfr")?;
    let bytes = std::fs::read(&file)?;
    for length in [4, 67, 68, bytes.len() / 2, bytes.len() - 1] {
        std::fs::write(&file, &bytes[..length])?;
        let said = jtrace::refuse(&["report".as_ref(), file.as_os_str()], 1)?;
        ensure!(said.contains("ends before its first chunk is complete"), "{said}");
    }
    jvm.finish()?;
    Ok(())
}

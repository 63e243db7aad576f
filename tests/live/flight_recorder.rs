//! Files of the flight recorder's format, as the JDK's own `jfr` reads them: it finds as many events as the program
//! made and the report counts, and a recording gives the same file again.

mod read;

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;
use tests::{
    jdk,
    jtrace::{self, Session},
    jvm::{Counts, Launch},
    patience::PATIENCE,
    process::Finished,
    report::Report,
    workspace,
};
use tracer_source::source::{recording::Recorder, scenario::Scenario};

/// What came out of a session.
struct Recorded {
    directory: tempfile::TempDir,
    counts: Counts,
    report: Report,
}

impl Recorded {
    fn file(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }
}

/// Watches some rounds of a kind of locking with all that says something of it.
fn record(kind: &str, rounds: &str) -> Result<Recorded> {
    let directory = tempfile::tempdir()?;
    let mut jvm = Launch::new(&jdk::debian()?, "locks", "Locks").arguments(&[kind, rounds]).start()?;
    let [jfr, recording] = ["x.jfr", "x.jtrace"].map(|name| directory.path().join(name).display().to_string());
    let lenses = ["-l", "locks,threads,cpu,gc,safepoint,classes,jit,alloc", "--max-overhead", "100000%"];
    let session = Session::attach(jvm.pid(), &[&lenses[..], &["-o", &jfr, "-o", &recording]].concat())?;
    let counts = jvm.work()?;
    let report = session.report()?;
    jvm.finish()?;
    report.nothing_lost()?;
    Ok(Recorded { directory, counts, report })
}

/// The `jfr` of Debian's JDK, and that of the newest.
fn tools() -> Result<Vec<PathBuf>> {
    let newest = jdk::all()?.pop().context("a JDK")?;
    let tools = [jdk::debian()?, newest].map(|jdk| jdk.home.join("bin/jfr"));
    Ok(tools.into_iter().filter(|tool| tool.is_file()).collect())
}

fn jfr(tool: &Path, arguments: &[&str], file: &Path) -> Result<String> {
    let finished = Finished::of(Command::new(tool).args(arguments).arg(file), PATIENCE)?;
    ensure!(finished.code == 0, "{} {arguments:?}: {}{}", tool.display(), finished.text(), finished.stderr);
    Ok(finished.text())
}

/// How many events of each type `jfr summary` finds.
fn summary(tool: &Path, file: &Path) -> Result<BTreeMap<String, u64>> {
    let text = jfr(tool, &["summary"], file)?;
    let row = |line: &str| {
        let mut words = line.split_whitespace();
        Some((words.next()?.to_owned(), words.next()?.parse().ok()?))
    };
    Ok(text.lines().skip_while(|line| !line.starts_with("====")).filter_map(row).collect())
}

fn events(tool: &Path, name: &str, file: &Path) -> Result<Vec<Value>> {
    let text = jfr(tool, &["print", "--json", "--stack-depth", "64", "--events", name], file)?;
    let mut document: Value = text.parse()?;
    let Value::Array(events) = document["recording"]["events"].take() else { anyhow::bail!("no events: {text}") };
    Ok(events)
}

#[test]
fn the_jdks_own_tool_finds_what_the_program_did() -> Result<()> {
    for (kind, rounds, counted, name) in [
        ("contended", "500", "contended_enters", "jdk.JavaMonitorEnter"),
        ("wait", "200", "waits", "jdk.JavaMonitorWait"),
        ("park", "300", "parks", "jdk.ThreadPark"),
    ] {
        let recorded = record(kind, rounds)?;
        let (file, report) = (recorded.file("x.jfr"), &recorded.report);
        for tool in tools()? {
            let found = summary(&tool, &file).with_context(|| format!("{} of {kind}", tool.display()))?;
            let count = |name: &str| found.get(name).copied().unwrap_or(0);
            assert_eq!(count(name), recorded.counts.get(counted)?, "{kind}: {found:?}");
            for (lens, key, name) in [
                ("cpu", "samples", "jdk.ExecutionSample"),
                ("gc", "pauses", "jdk.GCPhasePause"),
                ("safepoint", "safepoints", "jdk.SafepointBegin"),
                ("safepoint", "vm_operations", "jdk.ExecuteVMOperation"),
                ("classes", "loaded", "jdk.ClassLoad"),
                ("alloc", "samples", "jdk.ObjectAllocationSample"),
            ] {
                assert_eq!(count(name), report.summary(lens, key)?, "{kind}: {lens} {key}");
            }
            let printed = events(&tool, "jtrace.Completeness", &file)?;
            assert_eq!(printed[0]["values"]["delivered"].as_u64(), Some(report.completeness("delivered")?));
        }
    }
    Ok(())
}

#[test]
fn its_events_name_classes_threads_and_places() -> Result<()> {
    let recorded = record("contended", "50")?;
    let file = recorded.file("x.jfr");
    for tool in tools()? {
        let entered = events(&tool, "jdk.JavaMonitorEnter", &file)?;
        ensure!(entered.len() == 50, "{} of 50", entered.len());
        for event in entered {
            let values = &event["values"];
            assert_eq!(values["monitorClass"]["name"], "Locks$Cart", "{values}");
            assert_eq!(values["eventThread"]["osName"], "lock-partner", "{values}");
            let frames = values["stackTrace"]["frames"].as_array().context("frames")?;
            assert_eq!(frames[0]["method"]["type"]["name"], "Locks", "{values}");
            assert!(frames[0]["lineNumber"].as_i64().is_some_and(|line| line > 0), "{values}");
        }
        // All that is in the file can be printed.
        jfr(&tool, &["print"], &file)?;
    }
    Ok(())
}

/// `jfr view` came with JDK 21.
#[test]
fn its_views_show_what_the_program_did() -> Result<()> {
    let recorded = record("contended", "50")?;
    let (file, report) = (recorded.file("x.jfr"), &recorded.report);
    let newest = jdk::all()?.pop().context("a JDK")?;
    let view = |name: &str| jfr(&newest.home.join("bin/jfr"), &["view", "--width", "160", name], &file);
    let by_class = view("contention-by-class")?;
    let row = by_class.lines().find(|line| line.starts_with("Locks$Cart ")).context(by_class.clone())?;
    assert_eq!(row.split_whitespace().nth(1), Some("50"), "{by_class}");
    let by_thread = view("contention-by-thread")?;
    ensure!(by_thread.lines().any(|line| line.starts_with("lock-partner ")), "{by_thread}");
    let pauses = view("gc-pauses")?;
    let count = report.summary("gc", "pauses")?;
    ensure!(pauses.contains(&format!("Number of Pauses: {count}\n")) || count == 0, "{count} pauses: {pauses}");
    let operations = view("vm-operations")?;
    let counts = operations.lines().filter_map(|line| line.split_whitespace().rev().nth(2)?.parse::<u64>().ok());
    assert_eq!(counts.sum::<u64>(), report.summary("safepoint", "vm_operations")?, "{operations}");
    Ok(())
}

/// Made-up sessions, those with names that try to do harm among them.
#[test]
fn it_reads_whatever_a_target_calls_its_classes_and_threads() -> Result<()> {
    let directory = tempfile::tempdir()?;
    for entry in std::fs::read_dir(workspace().join("tests/scenarios"))? {
        let path = entry?.path();
        let [recording, file] = ["x.jtrace", "x.jfr"].map(|name| directory.path().join(name));
        let scenario = Scenario::parse(&std::fs::read_to_string(&path)?).context("a scenario")?;
        let mut recorder = Recorder::new(std::fs::File::create(&recording)?)?;
        let mut failed = Ok(());
        scenario.play(&mut |item| {
            if failed.is_ok() {
                failed = recorder.write(&item);
            }
        });
        failed?;
        recorder.flush()?;
        jtrace::succeed(&["report".as_ref(), recording.as_os_str(), "-o".as_ref(), file.as_os_str()])?;
        for tool in tools()? {
            let printed = jfr(&tool, &["print", "--stack-depth", "64"], &file).context(path.display().to_string())?;
            let is_control = |c: char| c.is_control() && c != '\n';
            ensure!(!printed.contains(is_control), "{} prints what a terminal acts upon", path.display());
            ensure!(printed.contains("jtrace.Completeness {"), "{}: {printed}", path.display());
        }
    }
    Ok(())
}

#[test]
fn a_recording_gives_the_same_file_again() -> Result<()> {
    let recorded = record("park", "50")?;
    let (recording, again) = (recorded.file("x.jtrace"), recorded.file("again.jfr"));
    jtrace::succeed(&["report".as_ref(), recording.as_os_str(), "-o".as_ref(), again.as_os_str()])?;
    ensure!(std::fs::read(recorded.file("x.jfr"))? == std::fs::read(again)?, "the files differ");
    Ok(())
}

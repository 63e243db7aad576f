//! `jtrace bench`: what its observers answer equals what the programs know, and nothing stays behind that it started.

use std::{fs, os::unix::fs::PermissionsExt as _, path::Path, process::Command};

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;
use tests::{
    jdk, jtrace,
    jvm::Launch,
    patience::{PATIENCE as LIMIT, until as until_some, until_true as until},
    process::{Finished, Process, Signal},
};

use crate::deaths::left;

/// Configurations of a run with jtrace itself and with another tool.
const BOTH: &str = "plain,every:locks,peer:bpftrace-park";

/// A bench of parks, one run in each configuration, whose results go to a file.
fn parks(size: &str, configurations: &str, results: &Path) -> Result<Command> {
    let java = jdk::any()?.java();
    let mut command = jtrace::command(&["bench", "--suite", "micro", "--programs", "micro:park", "--runs", "1"])?;
    command.args(["--size", size, "--configurations", configurations]);
    command.arg("--java").arg(java).arg("-o").arg(results);
    Ok(command)
}

fn read(results: &Path) -> Result<Value> {
    Ok(serde_json::from_slice(&fs::read(results)?)?)
}

/// The run in a configuration.
fn run<'a>(results: &'a Value, configuration: &str) -> Option<&'a Value> {
    results["runs"].as_array()?.iter().find(|run| run["configuration"] == configuration)
}

fn has_bpftrace() -> bool {
    Command::new("bpftrace").arg("--version").output().is_ok_and(|output| output.status.success())
}

#[test]
fn jtrace_and_its_peer_count_every_park_or_say_what_they_lost() -> Result<()> {
    let directory = tempfile::tempdir()?;
    let path = directory.path().join("results.json");
    let configurations = if has_bpftrace() {
        BOTH
    } else {
        eprintln!("skipped peer:bpftrace-park: no bpftrace");
        "plain,every:locks"
    };
    let finished = Finished::of(&mut parks("small", configurations, &path)?, LIMIT)?;
    assert_eq!(finished.code, 0, "{}", finished.stderr);
    let results = read(&path)?;
    assert_eq!(results["skipped"], serde_json::json!([]));
    for configuration in configurations.split(',') {
        let run = run(&results, configuration).with_context(|| format!("no run of {configuration}"))?;
        let parks = run["counts"]["parks"].as_u64().context("the program knows its parks")?;
        assert!(parks > 0);
        if configuration != "plain" {
            let observed = &run["observed"];
            let answer = observed["answers"]["parks"].as_u64().context("an answer")?;
            let lost = observed["lost"].as_u64().context("a number of losses")?;
            // Where others take the processor, an observer may lose events at this rate, and then it must say so.
            let is_right = if lost == 0 { answer == parks } else { answer < parks && answer + lost >= parks };
            assert!(is_right, "{configuration}: {parks} parks, {observed}");
            assert!(observed["cpu_ns"].is_u64() && observed["peak_rss_bytes"].is_u64(), "{configuration}: {observed}");
        }
    }
    Ok(())
}

/// Stands in for bpftrace: its version, and then what a test wants.
fn stand_in(directory: &Path, script: &str) -> Result<()> {
    let path = directory.join("bpftrace");
    fs::write(&path, format!("#!/bin/sh\n[ \"$1\" = --version ] && {{ echo bpftrace v0; exit 0; }}\n{script}\n"))?;
    Ok(fs::set_permissions(&path, fs::Permissions::from_mode(0o755))?)
}

#[test]
fn a_peer_that_fails_is_named_and_the_rest_goes_on() -> Result<()> {
    let ready = r#"printf '%s\n' '{"type": "printf", "data": "READY\n"}'"#;
    let cases = [
        ("echo 'ERROR: no such probe' >&2; exit 1", "bpftrace ended before it watched: ERROR: no such probe"),
        (&format!("{ready}; exit 0"), "bpftrace ended while it should have watched"),
        (&format!("{ready}; kill -9 $$"), "bpftrace ended while it should have watched"),
        (&format!("trap 'exit 0' INT; {ready}; while :; do sleep 0.1; done"), "bpftrace does not say what it counted"),
    ];
    for (script, expected) in cases {
        let directory = tempfile::tempdir()?;
        let path = directory.path().join("results.json");
        stand_in(directory.path(), script)?;
        let mut command = parks("small", "plain,peer:bpftrace-park", &path)?;
        let search = format!("{}:{}", directory.path().display(), std::env::var("PATH")?);
        let finished = Finished::of(command.env("PATH", search), LIMIT)?;
        assert_eq!(finished.code, 1, "something was skipped: {}", finished.stderr);
        let results = read(&path)?;
        assert!(run(&results, "plain").is_some(), "{script}: {results}");
        let skipped = &results["skipped"][0];
        assert_eq!(skipped["configuration"], "peer:bpftrace-park", "{script}");
        let why = skipped["why"].as_str().context("a reason")?;
        assert!(why.starts_with(expected), "{script}: {why}");
    }
    Ok(())
}

/// The children of a process, with the command of each.
fn children(pid: u32) -> Vec<(u32, String)> {
    let parent = format!("PPid:\t{pid}");
    let child = |entry: fs::DirEntry| {
        let child = entry.file_name().to_str()?.parse().ok()?;
        let status = fs::read_to_string(entry.path().join("status")).ok()?;
        status.lines().any(|line| line == parent).then(|| (child, words(child)))
    };
    fs::read_dir("/proc").into_iter().flatten().flatten().filter_map(child).collect()
}

/// The command of a process; empty where there is none any more.
fn words(pid: u32) -> String {
    String::from_utf8_lossy(&fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default()).replace('\0', " ")
}

#[test]
fn neither_the_jvm_nor_its_observer_outlives_a_bench_that_is_killed() -> Result<()> {
    for (signal, code) in [(Signal::KILL, 128 + 9), (Signal::TERM, 128 + 15)] {
        let directory = tempfile::tempdir()?;
        let mut command = parks("large", "every:locks", &directory.path().join("results.json"))?;
        // What it cannot remove where it is killed is made, and removed, here.
        let mut bench = Process::spawn(command.env("XDG_CACHE_HOME", directory.path()))?;
        let mut started = Vec::new();
        until("the observer runs", || {
            started = children(bench.pid());
            Ok(["jtrace.bench.Micro", "jtrace record"].iter().all(|word| {
                started.iter().any(|(_, command)| command.contains(word) && !command.starts_with("/usr/bin/setpriv"))
            }))
        })?;
        bench.signal(signal)?;
        bench.wait(LIMIT)?;
        assert_eq!(Finished::from_process(&bench)?.code, code);
        for (pid, command) in started {
            until(&format!("{command} is gone"), || Ok(words(pid) != command))?;
        }
    }
    Ok(())
}

/// A JVM of the same build maps the same library as those that are measured.
#[test]
fn a_bench_leaves_other_jvms_alone() -> Result<()> {
    let mut other = Launch::new(&jdk::any()?, "idle", "Idle").start()?;
    let pid = other.pid();
    // A JVM that has started maps no more files.
    let files = || Ok::<_, anyhow::Error>(fs::read_dir(format!("/proc/{pid}/map_files"))?.count());
    let mapped = files()?;
    let directory = tempfile::tempdir()?;
    let mut bench = Process::spawn(&mut parks("large", "every:locks", &directory.path().join("results.json"))?)?;
    let measured = until_some("a JVM that is measured has breakpoints", || {
        let jvms = children(bench.pid()).into_iter().filter(|(_, command)| command.contains("jtrace.bench.Micro"));
        let changed = |pid: u32| left::changed_code(pid).is_ok_and(|changed| !changed.is_empty());
        Ok(jvms.map(|(pid, _)| pid).find(|pid| changed(*pid)))
    })?;
    ensure!(measured != pid && left::changed_code(pid)?.is_empty(), "the other JVM's code is changed");
    ensure!(!left::is_owed(pid) && !left::has_library_thread(pid), "jtrace is in the other JVM");
    bench.signal(Signal::TERM)?;
    bench.wait(LIMIT)?;
    left::is_clean(pid)?;
    ensure!(files()? == mapped, "the other JVM maps other files");
    other.finish().map(drop)
}

/// Woven code: what is off makes no event, a share makes some of those of all, and what nobody can tell the methods of is skipped with the
/// reason.
#[test]
fn markers_are_woven_into_shares_of_a_programs_methods() -> Result<()> {
    let jar = Path::new("/usr/share/java/h2.jar");
    if !jar.is_file() {
        eprintln!("skipped: no {}", jar.display());
        return Ok(());
    }
    let directory = tempfile::tempdir()?;
    let path = directory.path().join("results.json");
    let configurations = "plain,markers:0,markers:10,markers:100,typestate:hasnext,typestate:hasnext:adaptive";
    let mut command = jtrace::command(&["bench", "--suite", "packaged", "--suite", "micro", "--seed", "6"])?;
    command.args(["--programs", "h2,micro:idle", "--runs", "1", "--warm-up", "1", "--size", "small"]);
    command.args(["--configurations", configurations]).arg("--java").arg(jdk::any()?.java()).arg("-o").arg(&path);
    let finished = Finished::of(&mut command, LIMIT)?;
    let results = read(&path)?;
    let skipped = results["skipped"].as_array().context("a list")?;
    let of = |skipped: &Value| (skipped["program"].as_str() == Some("micro:idle")).then(|| skipped["why"].to_string());
    let reasons: Vec<_> = skipped.iter().filter_map(of).collect();
    assert_eq!((finished.code, skipped.len(), reasons.len()), (1, 3, 3), "{results:#}");
    assert!(reasons.iter().all(|why| why.contains("a list of the methods")), "{reasons:?}");
    let events = |configuration: &str| {
        let runs = results["runs"].as_array().into_iter().flatten();
        let mut of = runs.filter(|run| run["program"] == "h2" && run["configuration"] == configuration);
        let observed = &of.next().with_context(|| format!("no run of {configuration}"))?["observed"];
        ensure!(observed["iterations"] == 2, "{configuration}: {observed}");
        observed["events"].as_u64().with_context(|| format!("no events of {configuration}"))
    };
    assert_eq!(events("markers:0")?, 0);
    let (some, all) = (events("markers:10")?, events("markers:100")?);
    assert!(some > 0 && some < all, "{some} of {all}");
    let methods = results["programs"][0]["application_methods"].as_u64().context("methods were counted")?;
    assert!(all > methods, "each of the {methods} methods is executed");
    // The database's own threads iterate, too, so both differ a little from run to run.
    assert!(events("typestate:hasnext")? > 0 && events("typestate:hasnext:adaptive")? > 0);
    Ok(())
}

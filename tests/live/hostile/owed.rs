//! Something is owed to a target that does not answer: nobody waits for it who wants another one.

use std::{fs, os::unix::fs::PermissionsExt as _, process::Command};

use anyhow::{Context as _, Result, ensure};
use serde_json::json;
use tests::{
    jdk, jtrace,
    jvm::Launch,
    patience::until_true,
    process::{Finished, Signal},
};
use tracer_jvm::jvm::find::process::Identity;

use super::held_up::that_holds_up;

/// A journal of its own, in which something is owed to a process: nobody else is at work on that, and nobody else is told of it.
struct Owed {
    journal: tempfile::TempDir,
    name: String,
}

impl Owed {
    /// What a jtrace that was killed would have left of a process.
    fn to(pid: u32) -> Result<Self> {
        let Identity { pid, start_ticks } = Identity::of(pid).context("it runs")?;
        let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id")?;
        let namespace = fs::read_link("/proc/self/ns/pid")?.to_string_lossy().into_owned();
        let change = json!({ "flag": "DTraceMonitorProbes", "address": 0x1000, "original": 0, "armed": 1 });
        let entry = json!({
            "target": { "pid": pid, "start_ticks": start_ticks },
            "boot": boot.trim(), "pid_namespace": namespace, "changes": [change], "owners": [],
        });
        let (journal, name) = (tempfile::tempdir()?, format!("{pid}-{start_ticks}.json"));
        fs::set_permissions(journal.path(), fs::Permissions::from_mode(0o700))?;
        fs::write(journal.path().join(&name), entry.to_string())?;
        Ok(Self { journal, name })
    }

    fn is_left(&self) -> bool {
        self.journal.path().join(&self.name).exists()
    }

    /// Runs a jtrace that has this journal.
    fn run(&self, words: &[&str]) -> Result<Finished> {
        const SCRIPT: &str = "mkdir -p /run/jtrace && mount --bind \"$0\" /run/jtrace && exec \"$@\"";
        let mut command = Command::new("unshare");
        command.args(["--mount", "sh", "-c", SCRIPT]).arg(self.journal.path()).arg(jtrace::binary()?).args(words);
        Finished::of(command.env("NO_COLOR", "1"), jtrace::LIMIT)
    }
}

#[test]
fn a_target_that_something_is_owed_to_and_that_does_not_answer_holds_up_nobody() -> Result<()> {
    let mut jvm = Launch::new(&jdk::any()?, "locks", "Locks").arguments(&["contended", "5"]).start()?;
    let directory = tempfile::tempdir()?;
    let mut process = that_holds_up("memory", directory.path())?;
    let owed = Owed::to(process.pid())?;
    // What has nothing to do with any process does not even look.
    for command in [&["completions", "bash"][..], &["man"], &["typestate", "list"], &["--version"]] {
        let finished = owed.run(command)?;
        assert_eq!((finished.code, finished.stderr.as_str()), (0, ""), "{command:?}");
    }
    assert_eq!(owed.run(&["list"])?.code, 0);
    let pid = jvm.pid().to_string();
    let finished = owed.run(&["attach", &pid, "-l", "locks", "-d", "1s", "--json"])?;
    assert_eq!(finished.code, 0, "{}", finished.stderr);
    assert!(finished.stderr.contains(&format!("process {}", process.pid())), "{}", finished.stderr);
    assert!(owed.is_left(), "it is still owed");
    ensure!(process.is_running(), "{}", process.transcript());
    process.signal(Signal::KILL)?;
    process.wait(jtrace::LIMIT)?;
    until_true("what was owed to a process that is gone is forgotten", || {
        owed.run(&["list"])?;
        Ok(!owed.is_left())
    })?;
    jvm.finish()?;
    Ok(())
}

/// The process that undoes is held up for good. Who only looks says that it goes on, and so does he; who reads files says nothing.
#[test]
fn who_only_looks_says_that_something_is_owed_and_goes_on_and_who_reads_files_does_not_even_look() -> Result<()> {
    let mut jvm = Launch::new(&jdk::any()?, "heap", "Planted").arguments(&["1000", "10", "10"]).start()?;
    let pid = jvm.pid().to_string();
    let own = tempfile::tempdir()?;
    let file = |name: &str| own.path().join(name).to_str().map(str::to_owned).context("UTF-8");
    let (recording, heap, map) = (file("a.jtrace")?, file("a.heap")?, format!("/tmp/perf-{pid}.map"));
    jtrace::succeed(&["record", &pid, "-d", "500ms", "-o", &recording])?;
    jtrace::succeed(&["heap", &pid, "-o", &heap])?;
    let directory = tempfile::tempdir()?;
    let process = that_holds_up("handed", directory.path())?;
    let run = |words: &[&str]| {
        // Who was held up for one command keeps the lock of what it has.
        let finished = Owed::to(process.pid())?.run(words)?;
        ensure!(finished.code == 0, "{words:?}: {}{}", finished.text(), finished.stderr);
        Ok(finished.stderr)
    };
    for words in [
        &["report", &recording][..],
        &["diff", &recording, &recording],
        &["heap", &heap],
        &["heap", "diff", &heap, &heap],
        &["leaks", &heap, &heap],
        &["markers", "check", "--marker", "all=Planted::*"],
        &["typestate", "check", "hasnext"],
    ] {
        let said = run(words)?;
        ensure!(!said.contains("killed jtrace"), "{words:?}: {said}");
    }
    // It may not have come as far as the process. There is no other in its journal.
    let says = |said: &str| {
        let place = [format!("process {}", process.pid()), "some process".to_owned()];
        let sentence = |place| format!("what a killed jtrace may have left in {place} is still being undone");
        place.into_iter().any(|place| said.contains(&sentence(place)))
    };
    for words in [
        &["list"][..],
        &["doctor", &pid],
        &["threads", &pid],
        &["probes", &pid],
        &["perf-map", &pid],
        &["top", "-d", "100ms", "--json"],
        &["heap", &pid],
        &["leaks", &pid, "-d", "100ms", "-n", "2"],
    ] {
        let said = run(words)?;
        ensure!(says(&said), "{words:?} does not say that it goes on: {said}");
    }
    // Who changes something waits until the process that undoes is given up.
    for words in [
        &["attach", &pid, "-l", "locks", "-d", "100ms", "--json"][..],
        &["methods", &pid, "-I", "Planted::*", "-d", "100ms", "--json"],
        &["markers", &pid, "--marker", "all=Planted::*", "-d", "100ms", "--json"],
    ] {
        let said = run(words)?;
        let says = format!("what a killed jtrace left in process {} is not undone yet", process.pid());
        ensure!(said.contains(&says), "{words:?} does not say `{says}`: {said}");
    }
    ensure!(process.is_running(), "{}", process.transcript());
    fs::remove_file(map)?;
    jvm.finish().map(drop)
}

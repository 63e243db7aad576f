//! A process that looks like a JVM and changes what a JVM says of itself, or the file of its library, while it is read.

use std::{os::unix::fs::chown, process::Command};

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;
use tests::{
    jdk::{self, Jdk},
    jtrace,
    jvm::Launch,
    process::{Finished, Process},
    workspace,
};

use super::{UID, as_user};

/// Of memory, what a session may have.
const MOST_BYTES: &str = "--data=1500000000";

/// Each command, again and again: what it reads is another each time, and has never been seen before.
#[test]
fn a_jvm_that_changes_its_own_tables_harms_nobody() -> Result<()> {
    beside(|command, jdk, seed| {
        command.arg(workspace().join("tests/fixtures/scribbles.py")).arg(jdk.libjvm()).arg(seed);
    })
}

/// What it maps is read from its file, which is another one each time; and its name is an attack on terminals.
#[test]
fn a_libjvm_whose_file_is_never_left_alone_harms_nobody() -> Result<()> {
    let directory = tempfile::tempdir()?;
    chown(directory.path(), Some(UID), Some(UID))?;
    beside(|command, jdk, seed| {
        let own = directory.path().join(seed);
        command.arg(workspace().join("tests/fixtures/never_alone.py")).arg(jdk.libjvm()).arg(own).arg(seed);
    })
}

/// Runs commands beside such a program, which is told a release and a seed.
fn beside(attack: impl Fn(&mut Command, &Jdk, &str)) -> Result<()> {
    let mut jvm = Launch::new(&jdk::any()?, "locks", "Locks").arguments(&["contended", "5"]).start()?;
    for (jdk, seed) in jdk::oldest_and_newest()?.into_iter().zip(["1", "2"]) {
        let mut command = as_user();
        attack(command.arg("python3"), &jdk, seed);
        let process = Process::spawn(&mut command)?;
        process.stdout.wait_for_line("READY", 0, jtrace::LIMIT).with_context(|| process.transcript())?;
        for _ in 0..2 {
            let list: Value = serde_json::from_slice(&jtrace::succeed(&["list", "--json"])?.stdout)?;
            let rows = list["jvms"].as_array().context("no list")?;
            ensure!(rows.iter().any(|row| row["pid"] == jvm.pid() && row["problem"].is_null()), "{list}");
            harms_nobody(&process)?;
        }
    }
    jvm.finish().map(drop)
}

/// Each command that looks into a process ends, within its memory, says nothing that steers a terminal, and leaves the process alone.
fn harms_nobody(process: &Process) -> Result<()> {
    let pid = process.pid().to_string();
    for words in [
        &["attach", &pid, "-d", "100ms", "--json"][..],
        &["attach", &pid, "-l", "cpu,wall,threads,exceptions", "-d", "100ms", "--json"],
        &["methods", &pid, "-I", "A::*", "-d", "100ms", "--json"],
        &["doctor", &pid],
        &["threads", &pid],
        &["probes", &pid],
        &["perf-map", "--stdout", &pid],
    ] {
        let mut command = Command::new("prlimit");
        command.arg(MOST_BYTES).arg(jtrace::binary()?).args(words).env("NO_COLOR", "1");
        let finished = Finished::of(&mut command, jtrace::LIMIT)?;
        let said = &finished.stderr;
        ensure!(matches!(finished.code, 0 | 1), "{words:?}: {}, {said}", finished.code);
        ensure!(!said.contains("panicked") && !said.contains("memory allocation"), "{words:?}: {said}");
        let all = finished.text() + said;
        ensure!(!all.chars().any(|c| matches!(c, '\u{1b}' | '\u{7}' | '\u{202e}')), "{words:?}: {all:?}");
        ensure!(process.is_running(), "{words:?} ended the target");
    }
    Ok(())
}

//! A process that looks like a JVM and changes what a JVM says of itself while it is read.

use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;
use tests::{
    jdk, jtrace,
    jvm::Launch,
    process::{Finished, Process},
    workspace,
};

use super::as_user;

/// Of memory, what a session may have.
const MOST_BYTES: &str = "--data=1500000000";

/// Each command, again and again: what it reads is another each time, and has never been seen before.
#[test]
fn a_jvm_that_changes_its_own_tables_harms_nobody() -> Result<()> {
    let mut jvm = Launch::new(&jdk::any()?, "locks", "Locks").arguments(&["contended", "5"]).start()?;
    for (jdk, seed) in jdk::oldest_and_newest()?.into_iter().zip(1..) {
        let mut command = as_user();
        command.arg("python3").arg(workspace().join("tests/fixtures/scribbles.py")).arg(jdk.libjvm());
        let process = Process::spawn(command.arg(seed.to_string()))?;
        process.stdout.wait_for_line("READY", 0, jtrace::LIMIT).with_context(|| process.transcript())?;
        let pid = process.pid().to_string();
        for _ in 0..2 {
            let list: Value = serde_json::from_slice(&jtrace::succeed(&["list", "--json"])?.stdout)?;
            let rows = list["jvms"].as_array().context("no list")?;
            ensure!(rows.iter().any(|row| row["pid"] == jvm.pid() && row["problem"].is_null()), "{list}");
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
                ensure!(process.is_running(), "{words:?} ended the target");
            }
        }
    }
    jvm.finish().map(drop)
}

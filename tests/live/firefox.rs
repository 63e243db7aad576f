//! Profiles for Firefox Profiler: as many samples and markers as the report counts, in tables that hold together, and a recording
//! gives the same file again.

use std::{fs, path::Path, process::Command};

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;
use tests::{
    jdk,
    jtrace::{self, Session},
    jvm::Launch,
    patience::{PATIENCE, until},
    process::Finished,
    workspace,
};

fn read(file: &Path) -> Result<Value> {
    let mut python = Command::new("python3");
    python.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/read_firefox.py")).arg(file);
    let finished = Finished::of(&mut python, PATIENCE)?;
    ensure!(finished.code == 0, "{}", finished.stderr);
    serde_json::from_str(&finished.text()).context("what the script says")
}

/// The profiler's own code, which loads a profile in a process apart and answers questions about it.
struct Profiler {
    sessions: tempfile::TempDir,
}

impl Profiler {
    fn load(file: &Path) -> Result<Self> {
        let profiler = Self { sessions: tempfile::tempdir()? };
        let file = file.display().to_string();
        // It gives its process half a second to begin, which a busy machine does not.
        until("the profiler should load the file", || Ok(profiler.ask(&["load", &file]).ok()))?;
        Ok(profiler)
    }

    fn ask(&self, question: &[&str]) -> Result<String> {
        let program = workspace().join("target/firefox-profiler/dist/profiler-cli.js");
        ensure!(program.is_file(), "no {}: `cargo xtask setup` fetches it", program.display());
        let mut node = Command::new("node");
        node.arg(program).args(question).env("PROFILER_CLI_SESSION_DIR", self.sessions.path());
        let finished = Finished::of(node.env("PROFILER_CLI_NO_SYMBOLICATE", "1"), PATIENCE)?;
        ensure!(finished.code == 0, "{question:?}: {}{}", finished.text(), finished.stderr);
        Ok(finished.text())
    }

    fn json(&self, question: &[&str]) -> Result<Value> {
        let answer = self.ask(&[question, &["--json"]].concat())?;
        serde_json::from_str(&answer).with_context(|| answer)
    }
}

impl Drop for Profiler {
    fn drop(&mut self) {
        // A test that failed says why already.
        _ = self.ask(&["stop", "--all"]);
    }
}

#[test]
fn a_profile_has_each_sample_and_what_the_program_did() -> Result<()> {
    let directory = tempfile::tempdir()?;
    let mut jvm = Launch::new(&jdk::debian()?, "locks", "Locks").arguments(&["contended", "200"]).start()?;
    let file = |name: &str| directory.path().join(name);
    let [profile, recording] = ["x.firefox.json.gz", "x.jtrace"].map(|name| file(name).display().to_string());
    let lenses = ["-l", "locks,threads,cpu,gc,safepoint,exceptions,jit,alloc", "--max-overhead", "100000%"];
    let session = Session::attach(jvm.pid(), &[&lenses[..], &["-o", &profile, "-o", &recording]].concat())?;
    let counts = jvm.work()?;
    let report = session.report()?;
    jvm.finish()?;
    report.nothing_lost()?;

    let found = read(&file("x.firefox.json.gz"))?;
    let sum = |key: &str| found[key].as_object().map(|all| all.values().filter_map(Value::as_u64).sum::<u64>());
    assert_eq!(sum("samples"), Some(report.summary("cpu", "samples")?), "{found}");
    let marked = |name: &str| found["markers"][name].as_u64().unwrap_or(0);
    assert_eq!(marked("blocked on Locks$Cart"), counts.get("contended_enters")?, "{found}");
    assert_eq!(marked("Safepoints"), report.summary("safepoint", "safepoints")?, "{found}");
    let blocked = found["durations_ms"]["blocked on Locks$Cart"].as_f64().context("blocked time")?;
    let expected = report.summary("locks", "blocked_total_ns")? as f64 / 1e6;
    ensure!((blocked - expected).abs() <= expected / 1e6 + 1e-3, "{blocked} of {expected} ms");
    let said = found["texts"].as_array().context("texts")?;
    ensure!(said.iter().any(|text| text.as_str().is_some_and(|text| text.contains(" delivered + 0 lost"))), "{found}");

    let profiler = Profiler::load(&file("x.firefox.json.gz"))?;
    let threads = profiler.json(&["thread", "list"])?;
    let threads = threads["threads"].as_array().context("threads")?;
    let with = |key: &str, value: &str| threads.iter().find(|thread| thread[key] == value).context(key.to_owned());
    with("name", "lock-partner")?;
    let found = profiler.json(&["profile", "markers", "--search", "blocked on Locks$Cart", "--limit", "0"])?;
    let found = found["markers"].as_array().context("markers")?;
    assert_eq!(found.len() as u64, counts.get("contended_enters")?, "the profiler finds as many as there were");
    ensure!(found.iter().all(|marker| marker["threadName"] == "lock-partner"), "{found:?}");

    let again = file("y.firefox.json.gz").display().to_string();
    jtrace::succeed(&["report", &recording, "-o", &again])?;
    ensure!(fs::read(&profile)? == fs::read(&again)?, "the recording gives another profile than the session did");
    Ok(())
}

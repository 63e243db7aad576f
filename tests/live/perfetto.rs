//! Traces for Perfetto, as its own classes read them: as many slices as the program made and the report counts, and a recording
//! gives the same file again.

use std::{fs, process::Command};

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;
use tests::{
    jdk,
    jtrace::{self, Session},
    jvm::Launch,
    patience::PATIENCE,
    process::Finished,
    workspace,
};

/// What the official classes find in a file.
fn read(file: &std::path::Path) -> Result<Value> {
    let classes = workspace().join("target/perfetto");
    ensure!(
        classes.join("perfetto").is_dir(),
        "no classes of Perfetto in target/perfetto: `cargo xtask setup` installs them"
    );
    let mut python = Command::new("python3");
    python.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/read_perfetto.py")).arg(file).env("PYTHONPATH", classes);
    let finished = Finished::of(&mut python, PATIENCE)?;
    ensure!(finished.code == 0, "{}", finished.stderr);
    serde_json::from_str(&finished.text()).context("what the script says")
}

#[test]
fn a_trace_has_what_the_program_did_and_a_recording_gives_it_again() -> Result<()> {
    let directory = tempfile::tempdir()?;
    let mut jvm = Launch::new(&jdk::debian()?, "locks", "Locks").arguments(&["contended", "200"]).start()?;
    let file = |name: &str| directory.path().join(name);
    let [trace, recording] = ["x.perfetto-trace", "x.jtrace"].map(|name| file(name).display().to_string());
    let lenses = ["-l", "locks,threads,cpu,gc,safepoint,exceptions,jit,alloc", "--max-overhead", "100000%"];
    let session = Session::attach(jvm.pid(), &[&lenses[..], &["-o", &trace, "-o", &recording]].concat())?;
    let counts = jvm.work()?;
    let report = session.report()?;
    jvm.finish()?;
    report.nothing_lost()?;

    let found = read(&file("x.perfetto-trace"))?;
    assert_eq!((&found["unknown"], &found["unclosed"]), (&0.into(), &0.into()), "{found}");
    assert_eq!(found["primary_clock"], 3, "CLOCK_MONOTONIC");
    let slices = |name: &str| found["slices"][name].as_u64().unwrap_or(0);
    assert_eq!(slices("blocked on Locks$Cart"), counts.get("contended_enters")?, "{found}");
    assert_eq!(slices("safepoint"), report.summary("safepoint", "safepoints")?, "{found}");
    // Counters are the report's timelines, so they add up to its sums.
    let blocked = found["sums"]["Blocked"].as_f64().context("a counter of blocked time")?;
    let expected = report.summary("locks", "blocked_total_ns")? as f64;
    ensure!((blocked - expected).abs() <= expected / 1e6 + 1.0, "{blocked} of {expected} ns");
    let tracks = found["tracks"].as_array().context("tracks")?;
    for track in ["lock-partner", "GC pauses", "Safepoints", "VM operations"] {
        ensure!(tracks.iter().any(|known| known == track), "no track {track}: {found}");
    }

    let again = file("y.perfetto-trace").display().to_string();
    jtrace::succeed(&["report", &recording, "-o", &again])?;
    ensure!(fs::read(&trace)? == fs::read(&again)?, "a recording gives another trace than its session");
    Ok(())
}

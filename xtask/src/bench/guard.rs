//! `cargo xtask bench guard`: holds jtrace to the ratios of `tests/budgets/guard.txt`, with `jtrace bench` itself.
//!
//! What seems to break a limit is measured more often before it counts as broken, so that noise alone does not fail. Takes
//! less than five minutes.

use std::{fs, io, path::Path, process::Command, time::Instant};

use anyhow::{Context as _, Result, ensure};

use crate::{process, workspace};

/// Runs of each pair at first: fewer give no interval that says much.
const RUNS: &str = "7";
/// The JDK whose JVM is measured.
const JDK: &str = "17";
/// Iterations of a JVM before the one that is timed.
const WARM_UP: &str = "1";

pub(crate) fn run() -> Result<()> {
    let folder = workspace::target().join("guard");
    fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let results = folder.join("results.json");
    match fs::remove_file(&results) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            return Err(error).with_context(|| format!("cannot remove {}", results.display()));
        }
        Ok(()) | Err(_) => {}
    }
    let begun = Instant::now();
    let status = bench(&results).status().context("cannot start jtrace")?;
    eprintln!("guard: {:.0} s, results in {}", begun.elapsed().as_secs_f64(), results.display());
    ensure!(status.success(), "a budget is broken, or was not measured ({status}); the lines above say which");
    Ok(())
}

/// The measurement of everything that the budget names.
fn bench(results: &Path) -> Command {
    let mut command = process::as_root(workspace::jtrace());
    command.args(["bench", "--size", "small", "--runs", RUNS, "--warm-up", WARM_UP, "--budget"]);
    command.arg(workspace::root().join("tests/budgets/guard.txt")).arg("-o").arg(results);
    command.arg("--java").arg(workspace::jdks().join(JDK).join("bin/java"));
    command
}

//! `cargo xtask bench guard`: holds jtrace to the ratios in `tests/budgets/`, with `jtrace bench` itself.
//!
//! What seems to break a limit is measured more often before it counts as broken, so that noise alone does not fail. Takes
//! three to five minutes.

use std::{fs, io, path::Path, process::Command, time::Instant};

use anyhow::{Context as _, Result, bail};

use crate::{process, workspace};

/// The JDK whose JVM is measured.
const JDK: &str = "17";

/// Measurements: the file of the budget, and how it is measured. Programs run from their start, for some seconds: so they
/// also compile while they are watched. Events are made by warm micro-programs for tenths of a second.
const MEASUREMENTS: [(&str, &[&str]); 2] = [
    ("programs.txt", &["--size", "default", "--runs", "5", "--warm-up", "0"]),
    ("events.txt", &["--size", "small", "--runs", "7", "--warm-up", "1"]),
];

pub(crate) fn run() -> Result<()> {
    let folder = workspace::target().join("guard");
    fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let mut broken = Vec::new();
    for (budget, words) in MEASUREMENTS {
        let results = folder.join(budget).with_extension("json");
        remove(&results)?;
        let begun = Instant::now();
        let status = bench(budget, words, &results).status().context("cannot start jtrace")?;
        eprintln!("guard: {budget} took {:.0} s, results in {}", begun.elapsed().as_secs_f64(), results.display());
        if !status.success() {
            broken.push(budget);
        }
    }
    if broken.is_empty() {
        return Ok(());
    }
    bail!("a limit of tests/budgets/{} is broken, or was not measured; the lines above say which", broken.join(", "))
}

/// The measurement of everything that a budget names.
fn bench(budget: &str, words: &[&str], results: &Path) -> Command {
    let mut command = process::as_root(workspace::jtrace());
    command.arg("bench").args(words).arg("-o").arg(results);
    command.arg("--budget").arg(workspace::root().join("tests/budgets").join(budget));
    command.arg("--java").arg(workspace::jdks().join(JDK).join("bin/java"));
    command
}

fn remove(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot remove {}", path.display()))
        }
        Ok(()) | Err(_) => Ok(()),
    }
}

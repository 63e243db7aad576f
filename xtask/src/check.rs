//! `cargo xtask check`: all that can be said about the code without running it. Every step runs even if one before it
//! failed, so that one run shows everything.

use anyhow::{Result, bail};
use clap::Args;

use crate::{audit, claims, dist, process, prose, tidy};

/// Takes no options.
#[derive(Args, Default)]
pub(crate) struct Options {}

/// A step by name.
type Step = (&'static str, fn() -> Result<()>);

const STEPS: &[Step] = &[
    ("format", format),
    ("tidy", tidy::run),
    ("prose", prose::check),
    ("claims", claims::check),
    ("lints", lints),
    ("documentation", documentation),
    ("dependencies", audit::run),
    ("size", dist::check),
];

pub(crate) fn run(_: &Options) -> Result<()> {
    let mut failed = Vec::new();
    for (name, step) in STEPS {
        println!("check: {name}");
        if let Err(error) = step() {
            eprintln!("check: {name}: {error:#}");
            failed.push(*name);
        }
    }
    if !failed.is_empty() {
        bail!("check failed: {}", failed.join(", "));
    }
    println!("check: all {} steps passed", STEPS.len());
    Ok(())
}

fn format() -> Result<()> {
    process::run(process::cargo().args(["fmt", "--all", "--check"]))
}

fn lints() -> Result<()> {
    let workspace = ["clippy", "--workspace", "--all-targets", "--locked", "--quiet"];
    process::run(process::cargo().args(workspace).args(["--", "-D", "warnings"]))
}

fn documentation() -> Result<()> {
    let mut doc = process::cargo();
    doc.args(["doc", "--workspace", "--no-deps", "--locked", "--quiet"]);
    process::run(doc.env("RUSTDOCFLAGS", "-Dwarnings"))
}

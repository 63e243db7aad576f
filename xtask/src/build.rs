//! `cargo xtask build`: one self-contained `target/release/jtrace`, and from it the smaller one that is shipped. The eBPF object inside comes from `crates/tracer-live/build.rs`.

use std::fs;

use anyhow::{Context as _, Result};
use clap::Args;

use crate::{dist, process, workspace};

/// Takes no options.
#[derive(Args, Default)]
pub(crate) struct Options {}

pub(crate) fn run(_: &Options) -> Result<()> {
    process::run(process::cargo().args(["build", "--release", "--locked", "--package", "tracer"]))?;
    let jtrace = workspace::jtrace();
    let size = fs::metadata(&jtrace).with_context(|| format!("the build left no {}", jtrace.display()))?.len();
    println!("build: {} ({} KiB)", jtrace.display(), size / 1024);
    dist::divide()
}

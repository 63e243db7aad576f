//! The static binary: it needs no library of the machine that it runs on, so one file serves every distribution and container.
//!
//! It is linked against glibc, whose static form Debian has; jtrace asks neither for users' names nor for hosts', which is what glibc
//! would load libraries for all the same.

use std::{
    fs,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, ensure};

use super::folder;
use crate::{dist, process, workspace};

/// The one target there is a standard library for.
const TARGET: &str = "x86_64-unknown-linux-gnu";

/// Most bytes of the binary.
const MOST_BYTES: u64 = 20 << 20;

/// How often a start is timed.
const STARTS: usize = 20;

/// Builds `target/package/jtrace`.
pub(super) fn build() -> Result<PathBuf> {
    let target = workspace::target().join("static");
    // With a target named, flags are for jtrace alone and not for what runs while it is built.
    let mut cargo = process::cargo();
    cargo.args(["build", "--release", "--locked", "--package", "tracer", "--bin", "jtrace", "--target", TARGET]);
    cargo.arg("--target-dir").arg(&target);
    cargo.env("CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUSTFLAGS", "-Ctarget-feature=+crt-static");
    process::run(&mut cargo)?;
    let (whole, shipped) = (target.join(TARGET).join("release/jtrace"), folder().join("jtrace"));
    fs::create_dir_all(folder()).with_context(|| format!("cannot make {}", folder().display()))?;
    process::run(process::command("objcopy").arg("--strip-all").arg(&whole).arg(&shipped))?;
    check(&shipped)?;
    Ok(shipped)
}

/// Whether it needs nothing, and how it compares with the one that needs libraries.
fn check(shipped: &Path) -> Result<()> {
    let headers = process::output(process::command("readelf").args(["--program-headers", "--dynamic"]).arg(shipped))?;
    ensure!(!headers.contains("INTERP") && !headers.contains("(NEEDED)"), "{} is not static", shipped.display());
    let bytes = fs::metadata(shipped)?.len();
    ensure!(bytes <= MOST_BYTES, "{} has {bytes} bytes, more than {MOST_BYTES}", shipped.display());
    println!("package: {} has {bytes} bytes and starts in {:.1?}", shipped.display(), shortest_start(shipped)?);
    let dynamic = dist::binary();
    if dynamic.is_file() {
        let (bytes, start) = (fs::metadata(&dynamic)?.len(), shortest_start(&dynamic)?);
        println!(
            "package: {}, which needs the machine's libraries, has {bytes} and starts in {start:.1?}",
            dynamic.display()
        );
    }
    Ok(())
}

/// The shortest time from start to end of a command that does nothing else.
fn shortest_start(jtrace: &Path) -> Result<Duration> {
    let start = || {
        let began = Instant::now();
        process::output(process::command(jtrace).arg("--version"))?;
        Ok(began.elapsed())
    };
    let times: Vec<Duration> = std::iter::repeat_with(start).take(STARTS).collect::<Result<_>>()?;
    times.into_iter().min().context("nothing was started")
}

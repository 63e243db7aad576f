//! `cargo xtask package`: jtrace as people install it, in `target/package`: a static binary, a `.deb` and an `.rpm` with manual page and
//! completions, and an OCI image with nothing but the binary. `--try` installs and runs each of them on this machine.

mod binary;
mod deb;
mod image;
mod rpm;
mod tree;
mod trial;

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;

use crate::{process, setup, workspace};

/// The version of all packages.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// What package managers say of jtrace, in a line.
const SUMMARY: &str = "looks into running HotSpot JVMs from the operating system";

/// The same at length. The first line of each paragraph stands at the margin.
const DESCRIPTION: &str = "jtrace attaches to a running HotSpot JVM, with no restart, agent or flag, and tells what it is\n\
                           doing and what is wrong with it: collections, safepoints, locks, threads, classes, compilation,\n\
                           allocation, CPU profiles. On demand it counts and times methods, objects and JNI calls.";

/// Programs that make packages, and the packages of Debian that have them.
const TOOLS: &[(&str, &str)] = &[("rpmbuild", "rpm"), ("xz", "xz-utils")];

/// The same of those that read them back, and of those that stand in for a container runtime.
const TRIAL: &[(&str, &str)] =
    &[("rpm2cpio", "rpm2cpio"), ("cpio", "cpio"), ("unshare", "util-linux"), ("capsh", "libcap2-bin")];

/// What to do with the packages.
#[derive(Args, Default)]
pub(crate) struct Options {
    /// Install each package on this machine, attach to a JVM with it, and remove it again
    #[arg(long = "try")]
    try_them: bool,
}

/// What was made.
struct Made {
    binary: PathBuf,
    deb: PathBuf,
    rpm: PathBuf,
    image: PathBuf,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    setup::run(&setup::Options { purpose: setup::Purpose::Demo })?;
    let trial = if options.try_them { TRIAL } else { &[] };
    for (tool, package) in TOOLS.iter().chain(trial) {
        if !process::on_path(tool) {
            println!("setup: installing {package} ({tool} makes or reads packages)");
            setup::install(&[package])?;
        }
    }
    let binary = binary::build()?;
    let tree = tree::Tree::fill(&binary)?;
    let made = Made { deb: deb::build(&tree)?, rpm: rpm::build(&tree)?, image: image::build(&binary)?, binary };
    if options.try_them { trial::run(&made) } else { Ok(()) }
}

/// Where packages are made and lie.
fn folder() -> PathBuf {
    workspace::target().join("package")
}

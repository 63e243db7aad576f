//! `cargo xtask test`: all set-up, every check, every test, in rings from the cheapest to the most real. The last line is
//! `N passed, N failed`, over all tests that ran. Nothing in it is decided by how fast the machine is: what measures the
//! machine is `cargo xtask bench`.

pub(crate) mod load;

// The tests against real JVMs, each of which is run again alone where it fails.
mod again;
pub(crate) mod live;
mod slowest;

// What test programs print, and the sum of it.
pub(crate) mod output;
mod tally;

use std::process::{Command, ExitCode};

use anyhow::Result;
use clap::Args;

use self::{
    load::Load,
    output::Count,
    tally::{Part, Tally},
};

use crate::{build, check, jdks, kernels, process, setup, verifier, workloads, workspace};

/// How many inputs the fuzz ring gives to each parser.
const FUZZ_CASES: u32 = 1_000_000;

/// What of it to run; without options, everything.
#[derive(Args)]
pub(crate) struct Options {
    /// Run only the live tests, beside four busy processes and 2,000 runnable threads
    #[arg(long)]
    under_load: bool,

    /// Run only the live tests whose names contain one of these
    names: Vec<String>,
}

pub(crate) fn run(options: &Options) -> ExitCode {
    let mut tally = Tally::default();
    // Each of these needs the ones before it, and every test needs them all.
    let prepared = tally.part("setup", || setup::run(&setup::Options::default()))
        && tally.part("jdks", || jdks::run(&jdks::Options::default()))
        && tally.part("workloads", || workloads::run(&workloads::Options::default()))
        && tally.part("build", || build::run(&build::Options::default()));
    if !prepared {
        return tally.print();
    }
    let only_live = options.under_load || !options.names.is_empty();
    if !only_live {
        tally.part("check", || check::run(&check::Options::default()));
        tally.ring("unit, replay, views", || unit().map(Part::from));
        tally.ring("fuzz", || fuzz().map(Part::from));
        tally.part("verifier", || verifier::run(&verifier::Options::default()));
        tally.ring("weave", || weave().map(Part::from));
        tally.ring("kernels", || Ok(kernels::in_ring()?.map_or_else(Part::not_fetched, Part::from)));
    }
    let name = if options.under_load { "live, under load" } else { "live" };
    tally.ring(name, || {
        let programs = live::Programs::build()?;
        let load = if options.under_load { Some(Load::start()?) } else { None };
        programs.run(&options.names, load)
    });
    tally.print()
}

/// What needs no root, kernel or JVM.
fn unit() -> Result<Count> {
    let mut cargo = cargo_test();
    workspace::choose_units(&mut cargo);
    output::of_cargo(&mut cargo)
}

/// Parsers of hostile input. Those of the weaver and those that are tested beside their parsers run in other rings, with fewer
/// inputs: weaving takes its time, and an optimised build of the crate for its own tests takes minutes. `cargo xtask nightly`
/// gives as many to all.
fn fuzz() -> Result<Count> {
    output::of_cargo(&mut fuzzers(&[], &[], FUZZ_CASES))
}

/// Fuzzers, optimised because of the number of inputs; `more` names further targets. They are known by their names, and listed
/// in `tracer/src/documents/parsers.txt`.
pub(crate) fn fuzzers(more: &[&str], names: &[String], cases: u32) -> Command {
    let mut cargo = cargo_test();
    cargo
        .args([
            "--release",
            "--package",
            "tracer-jvm",
            "--package",
            "tracer-testing",
            "--test",
            "fuzz_*",
            "--test",
            "session",
        ])
        .args(more);
    cargo.arg("--").env("JTRACE_FUZZ_CASES", cases.to_string());
    if names.is_empty() {
        cargo.arg("fuzz_");
    } else {
        cargo.args(names.iter().map(|name| format!("fuzz_{name}")));
    }
    cargo
}

/// Woven programs in real JVMs, under their verifiers, against counts that their sources say. Every class of the JDKs and of
/// some jars is woven by the ignored tests that are not named here: they take minutes, and `cargo xtask nightly` runs them.
fn weave() -> Result<Count> {
    let mut cargo = cargo_test();
    cargo.args(["--package", "tracer-weave", "--package", "tracer-inside"]);
    cargo.env("TRACER_JDKS", workspace::jdks());
    let of_files = output::of_cargo(&mut cargo)?;
    cargo.args(["--test", "jvm", "--", "--ignored", "counts::"]);
    let in_jvms = output::of_cargo(&mut cargo)?;
    Ok([of_files, in_jvms].into_iter().sum())
}

pub(crate) fn cargo_test() -> Command {
    let mut cargo = process::cargo();
    cargo.args(["test", "--locked", "--no-fail-fast"]);
    cargo
}

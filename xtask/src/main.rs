//! `cargo xtask`: set-up, build, checks and tests of jtrace. Two of the commands matter to a newcomer, `demo` and `test`;
//! the others are their parts. Every command can be repeated: what is done already is not done again.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "xtask tells a developer what it does")]

mod demo;
mod nightly;
mod test;

mod bench;
mod builds;
mod incidents;
mod kernels;
mod profile;
mod verifier;

mod build;
mod check;
mod claims;
mod dist;
mod jdks;
mod package;
mod setup;
mod workloads;

mod archive;
mod audit;
mod prose;
mod tidy;

mod ebpf_toolchain;
mod kept;
mod process;
mod workspace;

use std::process::ExitCode;

use clap::Parser;

/// jtrace's set-up, build, checks and tests.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
enum Options {
    /// Do all set-up, build, and show jtrace on a JVM with planted problems.
    Demo(demo::Options),
    /// Do all set-up and run every check and test.
    Test(test::Options),
    /// Run the tests that take too long for every change, and keep what they found in `tests/nightly.txt`.
    Nightly(nightly::Options),
    /// Install what the build and the tests need and this machine lacks.
    Setup(setup::Options),
    /// Build `target/release/jtrace` with the eBPF programs inside.
    Build(build::Options),
    /// Build `target/dist/jtrace`, without symbols, as it is shipped, and hold it to its size.
    Dist(dist::Options),
    /// Make a static binary, a .deb, an .rpm and an OCI image in `target/package`.
    Package(package::Options),
    /// Format, lints, documentation, house rules, dependencies.
    Check(check::Options),
    /// Measure how long the sentences of the documents are, and hold them to their limits.
    Prose(prose::Options),
    /// Measure what jtrace promises: times, growth, rates, cost.
    Bench(bench::Options),
    /// Compare CPU samples of real programs with the JDK's flight recorder.
    Profile(profile::Options),
    /// Compare what the programs cost the kernel's verifier with their budget.
    Verifier(verifier::Options),
    /// Boot other kernels under QEMU and run live tests in them.
    Kernels(kernels::Options),
    /// Run live tests of each lens on further builds of the JVM.
    Builds(builds::Options),
    /// Watch programs with a planted cause, and healthy ones, and say of how many the cause is named.
    Incidents(incidents::Options),
    /// Fetch the JDKs that the live tests use into `target/jdks`.
    Jdks(jdks::Options),
    /// Compile the Java programs of the tests into `target/workloads`.
    Workloads(workloads::Options),
    /// A program of the load of `cargo xtask test --under-load`.
    #[command(hide = true)]
    Load(test::load::Options),
}

fn main() -> ExitCode {
    let result = match Options::parse() {
        Options::Demo(options) => demo::run(&options),
        Options::Test(options) => Ok(test::run(&options)),
        Options::Nightly(options) => nightly::run(&options),
        Options::Setup(options) => setup::run(&options).map(|()| ExitCode::SUCCESS),
        Options::Build(options) => build::run(&options).map(|()| ExitCode::SUCCESS),
        Options::Dist(options) => dist::run(&options).map(|()| ExitCode::SUCCESS),
        Options::Package(options) => package::run(&options).map(|()| ExitCode::SUCCESS),
        Options::Check(options) => check::run(&options).map(|()| ExitCode::SUCCESS),
        Options::Prose(options) => prose::run(&options).map(|()| ExitCode::SUCCESS),
        Options::Bench(options) => bench::run(&options),
        Options::Profile(options) => profile::run(&options),
        Options::Verifier(options) => verifier::run(&options).map(|()| ExitCode::SUCCESS),
        Options::Kernels(options) => kernels::run(&options),
        Options::Builds(options) => builds::run(&options),
        Options::Incidents(options) => incidents::run(&options),
        Options::Jdks(options) => jdks::run(&options).map(|()| ExitCode::SUCCESS),
        Options::Workloads(options) => workloads::run(&options).map(|()| ExitCode::SUCCESS),
        Options::Load(options) => test::load::run(&options),
    };
    result.unwrap_or_else(|error| {
        eprintln!("error: {error:#}");
        ExitCode::FAILURE
    })
}

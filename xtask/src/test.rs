//! `cargo xtask test`: all set-up, every check, every test, in rings from the cheapest to the most real. The last line is
//! `N passed, N failed`, over all tests that cargo ran.

use std::{
    ffi::OsString,
    io::{BufRead as _, BufReader},
    iter::Sum,
    process::{Command, ExitCode, Stdio},
    time::Instant,
};

use anyhow::{Context as _, Result};
use clap::Args;

use crate::{bench, build, check, jdks, process, setup, verifier, workloads, workspace};

/// How many inputs the fuzz ring gives to each parser.
const FUZZ_CASES: &str = "1000000";

/// Live tests that count exactly what their own JVM does, whatever the machine does meanwhile.
const SIDE_BY_SIDE: [&str; 5] = ["inside::", "jni::", "methods::", "objects::", "outside::"];
/// Those of them that are judged by time all the same.
const APART: &str = "inside::budget::";

/// Takes no options.
#[derive(Args)]
pub(crate) struct Options {}

/// Tests that passed and failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Count {
    passed: u64,
    failed: u64,
}

impl Sum for Count {
    fn sum<I: Iterator<Item = Self>>(counts: I) -> Self {
        counts.fold(Self::default(), |all, of| Self { passed: all.passed + of.passed, failed: all.failed + of.failed })
    }
}

/// All rings so far.
#[derive(Default)]
struct Tally {
    total: Count,
    lines: Vec<String>,
}

pub(crate) fn run(_: &Options) -> ExitCode {
    let mut tally = Tally::default();
    // Each of these needs the ones before it, and every test needs them all.
    let prepared = tally.part("setup", || setup::run(&setup::Options::default()))
        && tally.part("jdks", || jdks::run(&jdks::Options::default()))
        && tally.part("workloads", || workloads::run(&workloads::Options::default()))
        && tally.part("build", || build::run(&build::Options::default()));
    if prepared {
        tally.part("check", || check::run(&check::Options::default()));
        tally.ring("unit, replay, views", unit);
        tally.ring("fuzz", fuzz);
        tally.part("verifier", || verifier::run(&verifier::Options::default()));
        tally.ring("weave", weave);
        tally.ring("live", live);
        tally.part("guard", bench::guard);
    }
    tally.print()
}

impl Tally {
    /// Runs a part that is no test. Its failure counts as one.
    fn part(&mut self, name: &str, run: impl FnOnce() -> Result<()>) -> bool {
        self.ring(name, || run().map(|()| Count::default()))
    }

    /// Runs a ring; returns whether all of it passed. A ring that fails without a failed test did not run: that counts as
    /// one failure, so that a test that does not compile is never taken for success.
    fn ring(&mut self, name: &str, run: impl FnOnce() -> Result<Count>) -> bool {
        println!("== {name}");
        let start = Instant::now();
        let (count, outcome) = match run() {
            Ok(count) if count.failed == 0 => (count, "ok"),
            Ok(count) => (count, "FAILED"),
            Err(error) => {
                eprintln!("{name}: {error:#}");
                (Count { passed: 0, failed: 1 }, "FAILED")
            }
        };
        let Count { passed, failed } = count;
        let seconds = start.elapsed().as_secs_f64();
        let line = format!("{name:<20} {outcome:<6} {seconds:>7.1} s {passed:>6} passed {failed:>4} failed");
        println!("== {line}");
        self.lines.push(line);
        self.total.passed += passed;
        self.total.failed += failed;
        failed == 0
    }

    /// Prints all rings and, last of all, the sum.
    fn print(&self) -> ExitCode {
        let Self { total: Count { passed, failed }, lines } = self;
        println!();
        for line in lines {
            println!("{line}");
        }
        println!("{passed} passed, {failed} failed");
        if *failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }
}

/// What needs no root, kernel or JVM.
fn unit() -> Result<Count> {
    let mut cargo = cargo_test();
    counted(cargo.args(["--package", "tracer", "--package", "tracer-common", "--package", "xtask"]))
}

/// Parsers of hostile input, optimised because of the number of inputs.
fn fuzz() -> Result<Count> {
    let mut cargo = cargo_test();
    cargo.args(["--release", "--package", "tracer", "--test", "fuzz_*", "--test", "session"]);
    counted(cargo.env("JTRACE_FUZZ_CASES", FUZZ_CASES))
}

/// Woven programs in real JVMs, under their verifiers, against counts that their sources say. Every class of the JDKs and of some jars is
/// woven by the ignored tests that are not named here: they take minutes.
fn weave() -> Result<Count> {
    let mut cargo = cargo_test();
    cargo.args(["--package", "tracer-weave"]);
    cargo.env("TRACER_JDKS", workspace::jdks());
    let of_files = counted(&mut cargo)?;
    cargo.args(["--test", "jvm", "--", "--ignored", "counts::"]);
    let in_jvms = counted(&mut cargo)?;
    Ok([of_files, in_jvms].into_iter().sum())
}

/// Real JVMs on this kernel. Tests that look at no more than their own JVM run two at a time; where the machine as a whole decides, or
/// what a killed jtrace has left and any other would tidy up, one.
fn live() -> Result<Count> {
    let beside = ["--lib", "--test", "cost", "--test", "report_schema", "--test", "ruler", "--test", "stacks"];
    let alone = ["--test-threads=1"].into_iter().chain(SIDE_BY_SIDE.into_iter().flat_map(|module| ["--skip", module]));
    let parts = [
        counted(cargo_live()?.args(beside).args(["--", "--test-threads=1"]))?,
        counted(cargo_live()?.args(["--test", "live", "--"]).args(alone))?,
        counted(cargo_live()?.args(["--test", "live", "--", "--test-threads=1", APART]))?,
        counted(cargo_live()?.args(["--test", "live", "--", "--test-threads=2", "--skip", APART]).args(SIDE_BY_SIDE))?,
    ];
    Ok(parts.into_iter().sum())
}

fn cargo_live() -> Result<Command> {
    let mut cargo = cargo_test();
    cargo.args(["--package", "tests"]);
    cargo.env("JTRACE_BIN", workspace::jtrace());
    cargo.env("JTRACE_JDKS", workspace::jdks());
    cargo.env("JTRACE_WORKLOADS", workspace::workloads());
    if !process::is_root() {
        // Only the tests run as root; what cargo builds stays the user's.
        let host = process::output(process::cargo().args(["-vV"]))?;
        let host = host.lines().find_map(|line| line.strip_prefix("host: ")).context("cargo names no host")?;
        let host = host.to_uppercase().replace('-', "_");
        cargo.env(format!("CARGO_TARGET_{host}_RUNNER"), OsString::from("sudo -E"));
    }
    Ok(cargo)
}

fn cargo_test() -> Command {
    let mut cargo = process::cargo();
    cargo.args(["test", "--locked", "--no-fail-fast"]);
    cargo
}

/// Runs `cargo test`, shows what it prints and adds up its results.
fn counted(cargo: &mut Command) -> Result<Count> {
    let mut child = cargo.stdout(Stdio::piped()).spawn().context("cannot start cargo")?;
    let stdout = child.stdout.take().context("cargo has no standard output")?;
    let mut count = Count::default();
    for line in BufReader::new(stdout).split(b'\n') {
        // A test may print what is not UTF-8.
        let line = line.context("cannot read what cargo prints")?;
        let line = String::from_utf8_lossy(&line);
        println!("{line}");
        if let Some(Count { passed, failed }) = result(&line) {
            count.passed += passed;
            count.failed += failed;
        }
    }
    let status = child.wait().context("cannot wait for cargo")?;
    if !status.success() && count.failed == 0 {
        eprintln!("cargo test failed ({status}) without a failed test: something did not build, or a test was killed");
        count.failed = 1;
    }
    Ok(count)
}

/// Reads `test result: ok. 12 passed; 0 failed; 1 ignored; ...`.
fn result(line: &str) -> Option<Count> {
    let (_, counts) = line.strip_prefix("test result: ")?.split_once(". ")?;
    let count = |word: &str| {
        let field = counts.split("; ").find_map(|field| field.strip_suffix(word))?;
        field.trim().parse().ok()
    };
    Some(Count { passed: count("passed")?, failed: count("failed")? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn result_lines_are_read() {
        let line = "test result: ok. 12 passed; 0 failed; 1 ignored; 0 measured; 3 filtered out; finished in 0.02s";
        assert_eq!(result(line), Some(Count { passed: 12, failed: 0 }));
        let line = "test result: FAILED. 3 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.02s";
        assert_eq!(result(line), Some(Count { passed: 3, failed: 2 }));
        assert_eq!(result("test fuzz_records ... ok"), None);
        assert_eq!(result("running 12 tests"), None);
    }

    #[test]
    fn a_command_that_fails_without_results_counts_as_a_failure() {
        let count = counted(Command::new("sh").args(["-c", "echo building; exit 101"])).unwrap();
        assert_eq!(count, Count { passed: 0, failed: 1 });
    }

    #[test]
    fn results_of_several_binaries_are_added() {
        let script = "echo 'test result: ok. 2 passed; 0 failed; 0 ignored'; echo 'test result: FAILED. 1 passed; 4 failed; 0 ignored'; exit 101";
        let count = counted(Command::new("sh").args(["-c", script])).unwrap();
        assert_eq!(count, Count { passed: 3, failed: 4 });
    }

    #[test]
    fn a_part_that_fails_is_in_the_sum() {
        let mut tally = Tally::default();
        assert!(tally.part("fine", || Ok(())));
        assert!(!tally.part("broken", || anyhow::bail!("no network")));
        assert_eq!(tally.total, Count { passed: 0, failed: 1 });
    }
}

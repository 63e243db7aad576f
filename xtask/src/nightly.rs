//! `cargo xtask nightly`: the tests that take too long for every change, which are those that `cargo test` ignores: the weaver's
//! verifier over every class of `java.base` and of large jars, the JDKs as they are found and armed, millions of objects. Besides, every
//! fuzzer with ten million inputs, a thousand deaths of jtrace, and an hour at full rate.
//! What the last run found is in `tests/nightly.txt`, with the version that it ran at.

use std::{
    fmt::Write as _,
    fs,
    process::{Command, ExitCode},
    time::Instant,
};

use anyhow::{Context as _, Result, bail};
use clap::Args;

use crate::{
    process,
    test::{self, live::Programs, output},
    workspace,
};

/// Where the last run is kept.
const KEPT: &str = "tests/nightly.txt";

/// Ways to begin a line that is worth keeping: how much was read, what was woven, and what a verifier said of it.
const KEPT_LINES: [&str; 8] = ["fuzz", "methods", "loops", "others", "all", "counted", "deaths", "soak"];

/// Which parts run.
#[derive(Args, Default)]
pub(crate) struct Options {
    /// Parts to run, separated by commas (fuzz, weave, jdks, live, matrix, deaths, soak); the others keep what they found last
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,

    /// Run only these fuzzers, separated by commas; the others keep what they found last
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    fuzzers: Vec<String>,

    /// How many inputs each fuzzer gets
    #[arg(long, value_name = "N", default_value_t = 10_000_000)]
    cases: u32,

    /// How long each fuzzer may take, in seconds: slow ones get fewer inputs then, and the result says how many
    #[arg(long, value_name = "N")]
    seconds: Option<u32>,

    /// How often jtrace is killed
    #[arg(long, value_name = "N", default_value_t = 1000)]
    deaths: u32,

    /// Choose commands, signals and moments of deaths as the run that printed this did
    #[arg(long, value_name = "N")]
    seed: Option<u64>,

    /// How long jtrace runs at full rate, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 3600)]
    soak: u32,
}

/// Where fuzzers are besides those of the usual ring.
const OF_ALL: [&str; 21] = [
    "--lib",
    "--package",
    "tracer-query",
    "--package",
    "tracer-model",
    "--package",
    "tracer-heap",
    "--package",
    "tracer-source",
    "--package",
    "tracer-live",
    "--package",
    "tracer-analysis",
    "--package",
    "tracer-view",
    "--package",
    "tracer-bench",
    "--package",
    "tracer-weave",
    "--test",
    "hostile",
];

/// Tests that are ignored elsewhere.
struct Part {
    name: &'static str,
    command: fn(&Options) -> Result<Command>,
}

const PARTS: [Part; 7] = [
    Part { name: "fuzz", command: fuzz },
    Part { name: "weave", command: weave },
    Part { name: "jdks", command: jdks },
    Part { name: "live", command: live },
    Part { name: "matrix", command: matrix },
    Part { name: "deaths", command: deaths },
    Part { name: "soak", command: soak },
];

pub(crate) fn run(options: &Options) -> Result<ExitCode> {
    if let Some(unknown) = options.only.iter().find(|name| !PARTS.iter().any(|part| part.name == **name)) {
        bail!("`{unknown}` is no part: there are {}", PARTS.map(|part| part.name).join(", "));
    }
    let path = workspace::root().join(KEPT);
    let mut good = true;
    for part in &PARTS {
        if !options.only.is_empty() && !options.only.iter().any(|name| name == part.name) {
            continue;
        }
        println!("== {}", part.name);
        let found = of_part(part, options)?;
        good &= found.is_good;
        // Another run may have written meanwhile what its parts found.
        let before = fs::read_to_string(&path).unwrap_or_default();
        let of_part = if options.fuzzers.is_empty() {
            found.text.clone()
        } else {
            with_fuzzers(section(&before, part.name), &found.text)
        };
        let text = with_section(&before, part.name, &of_part);
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
        print!("{}", found.text);
    }
    Ok(if good { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

const HEAD: &str = "# What the last `cargo xtask nightly` found. Written by that command; a part that did not run keeps what it found before.\n";

/// What a part found.
struct Found {
    text: String,
    is_good: bool,
}

fn of_part(part: &Part, options: &Options) -> Result<Found> {
    let began = Instant::now();
    let version = version()?;
    let commit = version.split([' ', ',']).nth(1).unwrap_or_default();
    let mut text = format!("\n== {}\n{version}", part.name);
    let (mut passed, mut failed) = (0, 0);
    let succeeded = output::lines(&mut (part.command)(options)?, |line| {
        // The name of a test stands before what it prints first.
        let said = line.strip_prefix("test ").and_then(|line| line.split_once(" ... ")).map_or(line, |(_, said)| said);
        if is_kept(said) {
            text.push_str(&said.replace(&workspace::root().display().to_string(), "."));
            if fuzzer(said).is_some() {
                let _: std::fmt::Result = write!(text, ", at {commit}");
            }
            text.push('\n');
        }
        if let Some(count) = output::result(line) {
            passed += count.passed;
            failed += count.failed;
        }
    })?;
    let is_good = succeeded && passed > 0;
    let outcome = if is_good { "ok" } else { "FAILED" };
    writeln!(text, "{outcome}: {passed} passed, {failed} failed in {} s", began.elapsed().as_secs())?;
    Ok(Found { text, is_good })
}

fn is_kept(line: &str) -> bool {
    KEPT_LINES.iter().any(|name| line.strip_prefix(name).is_some_and(|rest| rest.starts_with([':', ' '])))
}

/// What the tests ran at.
fn version() -> Result<String> {
    let git = |arguments: &[&str]| process::output(process::command("git").args(arguments));
    let changed = git(&["status", "--porcelain", "--untracked-files=no", "--", ".", ":!tests/nightly.txt"])?;
    let commit = git(&["rev-parse", "--short=10", "HEAD"])?;
    let date = process::output(process::command("date").args(["-u", "+%F"]))?;
    let kernel = process::output(process::command("uname").arg("-r"))?;
    let changed = if changed.trim().is_empty() { "" } else { ", with changes" };
    Ok(format!("at {}{changed}, {}, Linux {}\n", commit.trim(), date.trim(), kernel.trim()))
}

/// What a file says of a part.
fn section<'a>(text: &'a str, name: &str) -> &'a str {
    let head = format!("\n== {name}\n");
    let Some(at) = text.find(&head) else { return "" };
    let rest = &text[at + head.len()..];
    let end = rest.find("\n== ").map_or(text.len(), |end| at + head.len() + end);
    &text[at..end]
}

/// The text with another section of a part, all in the order of the parts.
fn with_section(before: &str, name: &str, section_of_it: &str) -> String {
    let sections = PARTS.iter().map(|part| if part.name == name { section_of_it } else { section(before, part.name) });
    std::iter::once(HEAD).chain(sections).collect()
}

/// The fuzzer that a line is about.
fn fuzzer(line: &str) -> Option<&str> {
    line.strip_prefix("fuzz: ")?.split_whitespace().next()
}

/// What some fuzzers found, with the lines of those that did not run.
fn with_fuzzers(before: &str, found: &str) -> String {
    let ran: Vec<_> = found.lines().filter_map(fuzzer).collect();
    let others = before.lines().filter(|line| fuzzer(line).is_some_and(|name| !ran.contains(&name)));
    let (head, outcome) = found.trim_end().rsplit_once('\n').unwrap_or(("", found));
    let mut text = head.to_owned();
    for line in others.chain([outcome]) {
        text.push('\n');
        text.push_str(line);
    }
    text.push('\n');
    text
}

#[expect(clippy::unnecessary_wraps, reason = "as the other parts")]
fn fuzz(options: &Options) -> Result<Command> {
    let mut cargo = test::fuzzers(&OF_ALL, &options.fuzzers, options.cases);
    cargo.arg("--nocapture");
    if let Some(seconds) = options.seconds {
        cargo.env("JTRACE_FUZZ_SECONDS", seconds.to_string());
    }
    Ok(cargo)
}

#[expect(clippy::unnecessary_wraps, reason = "as the other parts")]
fn weave(_: &Options) -> Result<Command> {
    let mut cargo = test::cargo_test();
    cargo.env("TRACER_JDKS", workspace::jdks());
    cargo.args(["--release", "--package", "tracer-weave", "--test", "jvm"]);
    cargo.args(["--", "--ignored", "--nocapture", "--test-threads=1"]);
    Ok(cargo)
}

fn jdks(_: &Options) -> Result<Command> {
    let mut homes = vec![workspace::jdk_home()];
    let installed = fs::read_dir(workspace::jdks()).context("no JDKs: run `cargo xtask jdks`")?;
    homes.extend(installed.flatten().map(|entry| entry.path()).filter(|home| home.join("bin/java").exists()));
    let homes: Vec<String> = homes.iter().map(|home| home.display().to_string()).collect();
    let mut cargo = test::cargo_test();
    cargo.env("JTRACE_TEST_JDKS", homes.join(":"));
    cargo.args(["--package", "tracer-jvm", "--package", "tracer-heap", "--lib", "--", "--ignored", "--test-threads=1"]);
    Ok(cargo)
}

fn live(_: &Options) -> Result<Command> {
    let mut tests = Programs::build()?.command("live", 1)?;
    tests.args(["--ignored", "--skip", "soak::"]);
    Ok(tests)
}

/// The tests of the usual ring that take parts of their matrices there, with all of them.
fn matrix(_: &Options) -> Result<Command> {
    let mut tests = Programs::build()?.command("live", 1)?;
    // Deaths have a part of their own.
    tests.args(["--skip", "deaths::"]).env("JTRACE_MATRIX", "full");
    Ok(tests)
}

/// A test of the usual ring, with more deaths, on all releases.
fn deaths(options: &Options) -> Result<Command> {
    let mut tests = Programs::build()?.command("live", 1)?;
    tests.args(["deaths::deaths", "--nocapture"]).env("JTRACE_MATRIX", "full");
    tests.env("JTRACE_DEATHS", options.deaths.to_string());
    if let Some(seed) = options.seed {
        tests.env("JTRACE_DEATHS_SEED", seed.to_string());
    }
    Ok(tests)
}

fn soak(options: &Options) -> Result<Command> {
    let mut tests = Programs::build()?.command("live", 1)?;
    tests.args(["--ignored", "soak::", "--nocapture"]).env("JTRACE_SOAK", options.soak.to_string());
    Ok(tests)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_part_found_before_is_found_again() {
        let text = format!("{HEAD}\n== weave\nat 1\nok: 3 passed\n\n== live\nat 2\nok: 1 passed\n");
        assert_eq!(section(&text, "weave"), "\n== weave\nat 1\nok: 3 passed\n");
        assert_eq!(section(&text, "live"), "\n== live\nat 2\nok: 1 passed\n");
        assert_eq!(section(&text, "jdks"), "");
        let other = "\n== weave\nat 3\nFAILED: 2 passed\n";
        let with_other = with_section(&text, "weave", other);
        assert_eq!(with_other, format!("{HEAD}{other}{}", section(&text, "live")));
        assert_eq!(with_section(&with_other, "weave", section(&text, "weave")), text);
        let new = "\n== fuzz\nat 4\n";
        assert_eq!(with_section(&text, "fuzz", new), text.replacen(HEAD, &format!("{HEAD}{new}"), 1));
    }

    #[test]
    fn fuzzers_that_did_not_run_keep_their_lines() {
        let line = |name: &str, commit: &str| format!("fuzz: {name}   7 of 7 inputs in 1 s, at {commit}\n");
        let before = format!("\n== fuzz\nat a\n{}{}ok: 2 passed\n", line("jar", "a"), line("maps", "a"));
        let found = format!("\n== fuzz\nat b\n{}ok: 1 passed\n", line("maps", "b"));
        let both = format!("\n== fuzz\nat b\n{}{}ok: 1 passed\n", line("maps", "b"), line("jar", "a"));
        assert_eq!(with_fuzzers(&before, &found), both);
    }

    #[test]
    fn what_was_woven_and_verified_is_kept() {
        assert!(is_kept("all: 7000 classes, 6900 woven") && is_kept("counted Jvm { .. }: verified 7 refused 0"));
        assert!(!is_kept("allowed") && !is_kept("running 3 tests"));
    }

    /// A test that nobody runs holds nothing: each that is ignored is in a package that a part runs.
    #[test]
    fn every_ignored_test_is_in_a_part() {
        let parts = ["tracer-weave/tests/jvm", "crates/tracer-jvm/src", "crates/tracer-heap/src", "tests/live"];
        let ignored = process::output(process::command("git").args(["grep", "-l", "^ *#\\[ignore", "--", "*.rs"]));
        let ignored = ignored.expect("some are ignored");
        let others: Vec<_> = ignored.lines().filter(|file| !parts.iter().any(|part| file.starts_with(part))).collect();
        assert!(others.is_empty(), "{others:?}");
    }
}

//! The tests against real JVMs on this kernel. They run as root; what cargo builds stays the user's.

use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, anyhow, ensure};
use serde_json::Value;

use super::{
    again::{Again, Failed},
    load::Load,
    output::{self, Count, Failures},
    slowest::{self, Watch},
    tally::Part,
};
use crate::{process, workspace};

/// Modules of the program `live` that run while nothing else does: they hold up whoever looks at all processes, or fill the machine.
const ALONE: [&str; 3] = ["bench::", "crowd::", "hostile::held_up::"];

/// Modules of it, and single tests, that kill a jtrace, or hold one to the two lines of a refusal, or ask for the last session. What a killed one
/// has left is tidied up, and said, by the next that starts: so they run one at a time, and have the undo journal for themselves.
/// All others look at no more than their own JVM.
const WITH_OWN_JOURNAL: [&str; 8] = [
    "arming::",
    "command::a_session_ends_on_one_screen",
    "deaths::",
    "harmless::",
    "inside::started::a_jtrace_that_is_killed",
    "inside::visits::a_killed_jtrace",
    "refusal::",
    "run::",
];

/// Where the undo journal is.
const JOURNAL: &str = "/run/jtrace";

/// Tests of one program, and how many of them run at a time.
struct Batch {
    program: &'static str,
    /// Modules of the tests; all where there is none.
    only: &'static [&'static str],
    skip: &'static [&'static [&'static str]],
    threads: usize,
    has_own_journal: bool,
}

impl Batch {
    const fn of(program: &'static str, threads: usize) -> Self {
        Self { program, only: &[], skip: &[], threads, has_own_journal: false }
    }
}

/// In this order; those of one step run side by side.
const STEPS: [&[Batch]; 6] = [
    &[Batch::of("tests", 2)],
    &[Batch::of("report_schema", 2)],
    &[Batch::of("ruler", 2)],
    &[Batch::of("stacks", 3)],
    &[Batch { only: &ALONE, ..Batch::of("live", 1) }],
    &[
        Batch { only: &WITH_OWN_JOURNAL, has_own_journal: true, ..Batch::of("live", 1) },
        Batch { skip: &[&ALONE, &WITH_OWN_JOURNAL], ..Batch::of("live", 3) },
    ],
];

/// All of them.
fn batches() -> impl Iterator<Item = &'static Batch> {
    STEPS.iter().copied().flatten()
}

/// The built test programs.
pub(crate) struct Programs(Vec<(String, PathBuf)>);

/// What a batch came to.
#[derive(Debug, Default)]
struct Outcome {
    count: Count,
    times: Vec<(String, Duration)>,
    failed: Vec<Failed>,
}

impl Programs {
    /// Builds them.
    pub(crate) fn build() -> Result<Self> {
        let mut cargo = process::cargo();
        cargo.args(["test", "--locked", "--no-run", "--message-format", "json-render-diagnostics"]);
        let output =
            cargo.args(["--package", "tests"]).stderr(Stdio::inherit()).output().context("cannot run cargo")?;
        ensure!(output.status.success(), "the live tests do not build");
        let programs: Vec<_> = String::from_utf8_lossy(&output.stdout).lines().filter_map(program).collect();
        for Batch { program, .. } in batches() {
            ensure!(programs.iter().any(|(name, _)| name == program), "there is no test program {program}");
        }
        for (name, _) in &programs {
            ensure!(batches().any(|batch| batch.program == name), "nobody runs the test program {name}");
        }
        Ok(Self(programs))
    }

    pub(crate) fn path(&self, program: &str) -> Result<&PathBuf> {
        let found = self.0.iter().find(|(name, _)| name == program);
        found.map(|(_, path)| path).with_context(|| format!("there is no test program {program}"))
    }

    /// Runs the tests with such names, all without any; beside a load where there is one.
    pub(super) fn run(&self, names: &[String], load: Option<Load>) -> Result<Part> {
        let mut all = Outcome::default();
        for step in STEPS {
            for outcome in self.side_by_side(step, names) {
                let Outcome { count, times, failed } = outcome?;
                all.count = [all.count, count].into_iter().sum();
                all.times.extend(times);
                all.failed.extend(failed);
            }
        }
        drop(load);
        let mut again = Again::read()?;
        for failed in &all.failed {
            let mut command = self.command(failed.program, 1)?;
            command.args(["--exact", &failed.test]);
            again.run(failed, &mut command, &mut all.count)?;
        }
        if names.is_empty() {
            again.check_list(&self.all_tests()?)?;
        }
        let remarks = slowest::lines(all.times).into_iter().chain(again.lines()).collect();
        Ok(Part { count: all.count, remarks })
    }

    fn side_by_side(&self, step: &'static [Batch], names: &[String]) -> Vec<Result<Outcome>> {
        thread::scope(|scope| {
            let started: Vec<_> = step.iter().map(|batch| scope.spawn(|| self.batch(batch, names))).collect();
            let ended =
                started.into_iter().map(|batch| batch.join().unwrap_or_else(|_| Err(anyhow!("a batch panicked"))));
            ended.collect()
        })
    }

    fn batch(&self, batch: &Batch, names: &[String]) -> Result<Outcome> {
        let tests = self.chosen(batch, names)?;
        let mut outcome = Outcome::default();
        if tests.is_empty() {
            return Ok(outcome);
        }
        let mut command = if batch.has_own_journal {
            as_of_cargo(with_own_journal(self.path(batch.program)?), batch.threads)
        } else {
            self.command(batch.program, batch.threads)?
        };
        command.arg("--exact").args(&tests);
        let mut watch = Watch::start(&tests, batch.threads, Instant::now());
        let (mut failures, mut failed, mut ended) = (Failures::default(), Vec::new(), false);
        println!("== {} tests of {}, {} at a time", tests.len(), batch.program, batch.threads);
        output::lines(&mut command, |line| {
            failures.take(line);
            if let Some((test, passed)) = output::of_test(line) {
                let name = format!("{} {test}", batch.program);
                outcome.times.extend(watch.ended(test, Instant::now()).map(|took| (name, took)));
                if !passed {
                    failed.push(test.to_owned());
                }
            } else if let Some(count) = output::result(line) {
                outcome.count = count;
                ended = true;
            }
        })?;
        if !ended {
            eprintln!("{} ended in the middle of its tests", batch.program);
            outcome.count.failed += 1;
        }
        let with_output = |test: String| {
            let said = failures.of(&test).to_owned();
            Failed { program: batch.program, test, said }
        };
        outcome.failed = failed.into_iter().map(with_output).collect();
        Ok(outcome)
    }

    /// The tests of a batch, in the order in which the program runs them.
    fn chosen(&self, batch: &Batch, names: &[String]) -> Result<Vec<String>> {
        let mut tests = self.tests(batch.program)?;
        tests.retain(|test| {
            let is_in = |modules: &[&str]| modules.iter().any(|module| test.starts_with(module));
            let is_skipped = batch.skip.iter().any(|modules| is_in(modules));
            let of_batch = (batch.only.is_empty() || is_in(batch.only)) && !is_skipped;
            of_batch && (names.is_empty() || names.iter().any(|name| test.contains(name.as_str())))
        });
        Ok(tests)
    }

    /// Tests of a program that are not ignored.
    fn tests(&self, program: &str) -> Result<Vec<String>> {
        let list = |ignored: &[&str]| -> Result<Vec<String>> {
            let mut command = process::command(self.path(program)?);
            let text = process::output(command.args(["--list", "--format", "terse"]).args(ignored))?;
            Ok(text.lines().filter_map(|line| line.strip_suffix(": test")).map(str::to_owned).collect())
        };
        let ignored = list(&["--ignored"])?;
        let mut tests = list(&[])?;
        tests.retain(|test| !ignored.contains(test));
        Ok(tests)
    }

    /// All of them, with their programs.
    fn all_tests(&self) -> Result<Vec<String>> {
        let mut all = Vec::new();
        for (program, _) in &self.0 {
            all.extend(self.tests(program)?.iter().map(|test| format!("{program} {test}")));
        }
        Ok(all)
    }

    /// A test program as cargo would run it, as root.
    pub(crate) fn command(&self, program: &str, threads: usize) -> Result<Command> {
        Ok(as_of_cargo(process::as_root(self.path(program)?), threads))
    }
}

/// Gives a test program the directory and the variables that it finds its things by.
fn as_of_cargo(mut command: Command, threads: usize) -> Command {
    command.current_dir(workspace::root().join("tests"));
    command.env("CARGO_TARGET_DIR", workspace::target());
    command.env("JTRACE_BIN", workspace::jtrace());
    command.env("JTRACE_JDKS", workspace::jdks());
    command.env("JTRACE_WORKLOADS", workspace::workloads());
    // What a test found stands in its error. A backtrace of the test harness would take its place in the last lines.
    command.env("RUST_BACKTRACE", "0");
    command.arg(format!("--test-threads={threads}"));
    command
}

/// A program in a mount namespace in which the undo journal is empty, and nobody else's.
fn with_own_journal(program: &Path) -> Command {
    let script = format!("mkdir -p {JOURNAL} && mount -t tmpfs -o mode=0700 journal {JOURNAL} && exec \"$@\"");
    let mut command = process::as_root("unshare");
    command.args(["--mount", "--", "sh", "-c", &script, "sh"]).arg(program);
    command
}

/// Reads the name and the path of a test program from a line of cargo's.
fn program(line: &str) -> Option<(String, PathBuf)> {
    let message: Value = serde_json::from_str(line).ok()?;
    let is_test = message["reason"] == "compiler-artifact" && message["profile"]["test"] == true;
    let path = message["executable"].as_str().filter(|_| is_test)?;
    Some((message["target"]["name"].as_str()?.to_owned(), PathBuf::from(path)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_programs_are_found_in_what_cargo_says() {
        let line = r#"{"reason":"compiler-artifact","target":{"name":"live","kind":["test"]},"profile":{"test":true},"executable":"/a b/live-1"}"#;
        assert_eq!(program(line), Some(("live".to_owned(), PathBuf::from("/a b/live-1"))));
        let library = line.replace("\"test\":true", "\"test\":false");
        assert_eq!(program(&library), None);
        assert_eq!(program("warning: something"), None);
    }

    #[test]
    fn every_test_of_the_program_live_is_in_one_batch() {
        let of_live: Vec<_> = batches().filter(|batch| batch.program == "live").collect();
        let [chosen @ .., rest] = &of_live[..] else { panic!("no batches") };
        let named: Vec<_> = chosen.iter().map(|batch| batch.only).collect();
        assert_eq!(rest.skip, named);
        assert!(rest.only.is_empty() && chosen.iter().all(|batch| batch.skip.is_empty() && !batch.only.is_empty()));
    }
}

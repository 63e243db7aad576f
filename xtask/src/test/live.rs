//! The tests against real JVMs on this kernel. They run as root; what cargo builds stays the user's.

use std::{
    path::PathBuf,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use super::{
    again::{Again, Failed},
    load::Load,
    output::{self, Count, Failures},
    slowest::{self, Watch},
    tally::Part,
};
use crate::{process, workspace};

/// Modules of the program `live`, and single tests, which run one at a time: they kill a jtrace, or hold one to the two lines of a refusal, and what
/// a killed one has left is tidied up, and said, by any other that starts; or they hold up whoever looks at all processes; or they ask for the
/// last session, or fill the machine. All others look at no more than their own JVM.
const ALONE: [&str; 11] = [
    "arming::",
    "bench::",
    "command::a_session_ends_on_one_screen",
    "crowd::",
    "deaths::",
    "harmless::",
    "hostile::held_up::",
    "inside::started::a_jtrace_that_is_killed",
    "inside::visits::a_killed_jtrace",
    "refusal::",
    "run::",
];

/// Tests of one program, and how many of them run at a time.
struct Batch {
    program: &'static str,
    /// Modules of the tests; all where there is none.
    only: &'static [&'static str],
    skip: &'static [&'static str],
    threads: usize,
}

/// In this order.
const BATCHES: [Batch; 6] = [
    Batch { program: "tests", only: &[], skip: &[], threads: 2 },
    Batch { program: "report_schema", only: &[], skip: &[], threads: 2 },
    Batch { program: "ruler", only: &[], skip: &[], threads: 2 },
    Batch { program: "stacks", only: &[], skip: &[], threads: 3 },
    Batch { program: "live", only: &ALONE, skip: &[], threads: 1 },
    Batch { program: "live", only: &[], skip: &ALONE, threads: 3 },
];

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
        for Batch { program, .. } in &BATCHES {
            ensure!(programs.iter().any(|(name, _)| name == program), "there is no test program {program}");
        }
        for (name, _) in &programs {
            ensure!(BATCHES.iter().any(|batch| batch.program == name), "nobody runs the test program {name}");
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
        for batch in &BATCHES {
            let Outcome { count, times, failed } = self.batch(batch, names)?;
            all.count = [all.count, count].into_iter().sum();
            all.times.extend(times);
            all.failed.extend(failed);
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

    fn batch(&self, batch: &Batch, names: &[String]) -> Result<Outcome> {
        let tests = self.chosen(batch, names)?;
        let mut outcome = Outcome::default();
        if tests.is_empty() {
            return Ok(outcome);
        }
        let mut command = self.command(batch.program, batch.threads)?;
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
            let of_batch = (batch.only.is_empty() || is_in(batch.only)) && !is_in(batch.skip);
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
        let mut command = process::as_root(self.path(program)?);
        command.current_dir(workspace::root().join("tests"));
        command.env("CARGO_TARGET_DIR", workspace::target());
        command.env("JTRACE_BIN", workspace::jtrace());
        command.env("JTRACE_JDKS", workspace::jdks());
        command.env("JTRACE_WORKLOADS", workspace::workloads());
        command.arg(format!("--test-threads={threads}"));
        Ok(command)
    }
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
        let of_live: Vec<_> = BATCHES.iter().filter(|batch| batch.program == "live").collect();
        let [chosen, rest] = of_live[..] else { panic!("{} batches", of_live.len()) };
        assert_eq!(rest.skip, chosen.only);
        assert!(rest.only.is_empty() && chosen.skip.is_empty());
    }
}

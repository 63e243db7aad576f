//! Reads what test programs print: results of single tests and of whole programs, and the output of tests that failed.

use std::{
    collections::BTreeMap,
    io::{BufRead as _, BufReader},
    iter::Sum,
    process::{Command, Stdio},
};

use anyhow::{Context as _, Result};

/// Tests that passed and failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Count {
    pub(crate) passed: u64,
    pub(crate) failed: u64,
}

impl Sum for Count {
    fn sum<I: Iterator<Item = Self>>(counts: I) -> Self {
        counts.fold(Self::default(), |all, of| Self { passed: all.passed + of.passed, failed: all.failed + of.failed })
    }
}

/// Runs `cargo test`, shows what it prints and adds up its results.
pub(super) fn of_cargo(cargo: &mut Command) -> Result<Count> {
    let mut count = Count::default();
    let succeeded = lines(cargo, |line| {
        if let Some(Count { passed, failed }) = result(line) {
            count.passed += passed;
            count.failed += failed;
        }
    })?;
    if !succeeded && count.failed == 0 {
        eprintln!("cargo test failed without a failed test: something did not build, or a test was killed");
        count.failed = 1;
    }
    Ok(count)
}

/// Runs a command, shows each line that it prints as it comes and passes it on; returns whether the command succeeded.
pub(crate) fn lines(command: &mut Command, mut take: impl FnMut(&str)) -> Result<bool> {
    let program = command.get_program().to_string_lossy().into_owned();
    let mut child = command.stdout(Stdio::piped()).spawn().with_context(|| format!("cannot start {program}"))?;
    let stdout = child.stdout.take().with_context(|| format!("{program} has no standard output"))?;
    for line in BufReader::new(stdout).split(b'\n') {
        // A test may print what is not UTF-8.
        let line = line.with_context(|| format!("cannot read what {program} prints"))?;
        let line = String::from_utf8_lossy(&line);
        println!("{line}");
        take(&line);
    }
    Ok(child.wait().with_context(|| format!("cannot wait for {program}"))?.success())
}

/// Reads `test result: ok. 12 passed; 0 failed; 1 ignored; ...`.
pub(crate) fn result(line: &str) -> Option<Count> {
    let (_, counts) = line.strip_prefix("test result: ")?.split_once(". ")?;
    let count = |word: &str| {
        let field = counts.split("; ").find_map(|field| field.strip_suffix(word))?;
        field.trim().parse().ok()
    };
    Some(Count { passed: count("passed")?, failed: count("failed")? })
}

/// Reads `test NAME ... ok`: the name, and whether the test passed; a test that was ignored counts as passed.
pub(crate) fn of_test(line: &str) -> Option<(&str, bool)> {
    let (name, outcome) = line.strip_prefix("test ")?.split_once(" ... ")?;
    let passed = !outcome.ends_with("FAILED");
    (!passed || outcome.ends_with("ok") || outcome.starts_with("ignored")).then_some((name, passed))
}

/// Collects what failed tests printed, which a test program shows after all of its tests.
#[derive(Debug, Default)]
pub(super) struct Failures {
    texts: BTreeMap<String, String>,
    current: Option<String>,
}

impl Failures {
    pub(super) fn take(&mut self, line: &str) {
        let begins = line.strip_prefix("---- ").and_then(|rest| rest.strip_suffix(" stdout ----"));
        if let Some(name) = begins {
            self.current = Some(name.to_owned());
        } else if line == "failures:" {
            self.current = None;
        } else if let Some(name) = &self.current {
            let text = self.texts.entry(name.clone()).or_default();
            text.push_str(line);
            text.push('\n');
        }
    }

    /// What a test printed.
    pub(super) fn of(&self, name: &str) -> &str {
        self.texts.get(name).map_or("(it printed nothing)", |text| text.trim_end())
    }
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
    fn lines_of_single_tests_are_read() {
        assert_eq!(of_test("test inside::budget::a ... ok"), Some(("inside::budget::a", true)));
        assert_eq!(of_test("test a ... FAILED"), Some(("a", false)));
        assert_eq!(of_test("test a ... ignored, takes minutes"), Some(("a", true)));
        // What a child of the test wrote past the capture stands between them.
        assert_eq!(of_test("test a ... skipped: no tool ok"), Some(("a", true)));
        assert_eq!(of_test("test result: ok. 12 passed; 0 failed"), None);
    }

    #[test]
    fn a_command_that_fails_without_results_counts_as_a_failure() {
        let count = of_cargo(Command::new("sh").args(["-c", "echo building; exit 101"])).unwrap();
        assert_eq!(count, Count { passed: 0, failed: 1 });
    }

    #[test]
    fn results_of_several_programs_are_added() {
        let script = "echo 'test result: ok. 2 passed; 0 failed; 0 ignored'; echo 'test result: FAILED. 1 passed; 4 failed; 0 ignored'; exit 101";
        let count = of_cargo(Command::new("sh").args(["-c", script])).unwrap();
        assert_eq!(count, Count { passed: 3, failed: 4 });
    }

    #[test]
    fn what_failed_tests_printed_is_kept_by_their_names() {
        let mut failures = Failures::default();
        let text = "failures:\n\n---- a::b stdout ----\nleft: 1\n\n---- c stdout ----\nright\n\n\nfailures:\n    a::b\n    c\n";
        text.lines().for_each(|line| failures.take(line));
        assert_eq!((failures.of("a::b"), failures.of("c")), ("left: 1", "right"));
        assert_eq!(failures.of("d"), "(it printed nothing)");
    }
}

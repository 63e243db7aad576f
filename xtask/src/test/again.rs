//! A live test that fails is run again, alone. Where it passes then, something else decided it: that is said, and stays a failure
//! unless the test is on a short written list.

use std::{fs, process::Command};

use anyhow::{Context as _, Result, ensure};

use super::output::{self, Count, Failures};
use crate::workspace;

/// The list.
const LIST: &str = "tests/budgets/flaky.txt";
/// Most lines of what a test printed that are shown again, the last ones.
const MOST_LINES: usize = 60;

/// A test that failed among the others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Failed {
    pub(super) program: &'static str,
    pub(super) test: String,
    /// What it printed.
    pub(super) said: String,
}

/// Tests that ran again.
pub(super) struct Again {
    listed: Vec<String>,
    lines: Vec<String>,
    /// Those of the list that failed.
    seen: Vec<String>,
}

impl Again {
    /// With the list of the workspace.
    pub(super) fn read() -> Result<Self> {
        let path = workspace::root().join(LIST);
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        Ok(Self::of(&text))
    }

    fn of(text: &str) -> Self {
        let names =
            text.lines().filter_map(|line| line.split('#').next()).map(str::trim).filter(|name| !name.is_empty());
        Self { listed: names.map(str::to_owned).collect(), lines: Vec::new(), seen: Vec::new() }
    }

    /// Runs a test alone, and corrects the count where it passes and is on the list.
    pub(super) fn run(&mut self, failed: &Failed, command: &mut Command, count: &mut Count) -> Result<()> {
        println!("== again, alone: {} {}", failed.program, failed.test);
        let (mut failures, mut passed) = (Failures::default(), false);
        output::lines(command, |line| {
            failures.take(line);
            passed |= output::of_test(line) == Some((&failed.test, true));
        })?;
        self.take(failed, passed, failures.of(&failed.test), count);
        Ok(())
    }

    fn take(&mut self, failed: &Failed, passed: bool, said: &str, count: &mut Count) {
        let name = format!("{} {}", failed.program, failed.test);
        let is_listed = self.listed.contains(&name);
        let verdict = match (passed, is_listed) {
            (false, _) => "failed, and failed again alone",
            (true, false) => "failed among the others and passed alone, which is a failure",
            (true, true) => "failed among the others and passed alone; it is listed",
        };
        if passed && is_listed {
            count.failed = count.failed.saturating_sub(1);
            count.passed += 1;
        }
        self.seen.extend(is_listed.then(|| name.clone()));
        self.lines.push(format!("== {name}: {verdict}"));
        self.lines.push("-- among the others:".to_owned());
        self.lines.extend(last_lines(&failed.said));
        let alone = if passed { "it passed" } else { said };
        self.lines.push("-- alone:".to_owned());
        self.lines.extend(last_lines(alone));
    }

    /// A test on the list must be there.
    pub(super) fn check_list(&self, tests: &[String]) -> Result<()> {
        for name in &self.listed {
            ensure!(tests.contains(name), "{LIST} names `{name}`, which is no test");
        }
        Ok(())
    }

    /// What to say at the end.
    pub(super) fn lines(self) -> Vec<String> {
        let Self { listed, mut lines, seen } = self;
        let quiet = listed.iter().filter(|name| !seen.contains(name));
        lines.extend(quiet.map(|name| format!("{LIST}: {name} passed at once; take it out if it keeps doing so")));
        lines
    }
}

fn last_lines(text: &str) -> impl Iterator<Item = String> + '_ {
    let skipped = text.lines().count().saturating_sub(MOST_LINES);
    let remark = (skipped > 0).then(|| format!("({skipped} lines before)"));
    remark.into_iter().chain(text.lines().skip(skipped).map(str::to_owned))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LISTED: &str = "# tests that may fail among others\nlive a::listed # since 2026-11-23: why\n\n";

    fn failed(test: &str) -> Failed {
        Failed { program: "live", test: test.to_owned(), said: "left: 1".to_owned() }
    }

    /// Failures that are left of one, and what is said.
    fn after(test: &str, passes: bool) -> (u64, String) {
        let (mut again, mut count) = (Again::of(LISTED), Count { passed: 3, failed: 1 });
        again.take(&failed(test), passes, "left: 2", &mut count);
        assert_eq!(count.passed + count.failed, 4);
        (count.failed, again.lines().join("\n"))
    }

    #[test]
    fn a_test_that_passes_alone_is_a_failure_unless_it_is_listed() {
        let (failures, said) = after("a::other", true);
        assert_eq!(failures, 1);
        assert!(said.starts_with("== live a::other: failed among the others and passed alone, which is a failure"));
        assert!(said.contains("-- among the others:\nleft: 1\n-- alone:\nit passed"), "{said}");
        assert!(said.ends_with("live a::listed passed at once; take it out if it keeps doing so"), "{said}");
        let (failures, said) = after("a::listed", true);
        assert_eq!(failures, 0);
        assert!(said.contains("it is listed") && !said.contains("take it out"), "{said}");
    }

    #[test]
    fn a_test_that_fails_twice_is_a_failure_even_if_it_is_listed() {
        for test in ["a::listed", "a::other"] {
            let (failures, said) = after(test, false);
            assert_eq!(failures, 1);
            assert!(said.contains("failed again alone") && said.contains("-- alone:\nleft: 2"), "{said}");
        }
    }

    #[test]
    fn a_failed_test_runs_again_by_its_command() {
        let (mut again, mut count) = (Again::of(LISTED), Count { passed: 0, failed: 2 });
        let mut passes = Command::new("sh");
        again.run(&failed("a::listed"), passes.args(["-c", "echo 'test a::listed ... ok'"]), &mut count).unwrap();
        let mut fails = Command::new("sh");
        let script = "printf 'test a::other ... FAILED\\n---- a::other stdout ----\\nright: 3\\n'; exit 101";
        again.run(&failed("a::other"), fails.args(["-c", script]), &mut count).unwrap();
        assert_eq!(count, Count { passed: 1, failed: 1 });
        assert!(again.lines().join("\n").contains("-- alone:\nright: 3"));
    }

    #[test]
    fn a_list_that_names_no_test_is_refused() {
        let again = Again::of(LISTED);
        assert!(again.check_list(&["live a::listed".to_owned()]).is_ok());
        assert!(again.check_list(&["live a::gone".to_owned()]).is_err());
    }

    #[test]
    fn long_output_is_cut_at_its_beginning() {
        let text: Vec<_> = (0..100).map(|number| number.to_string()).collect();
        let lines: Vec<_> = last_lines(&text.join("\n")).collect();
        assert_eq!((lines.len(), lines[0].as_str(), lines[1].as_str()), (MOST_LINES + 1, "(40 lines before)", "40"));
    }
}

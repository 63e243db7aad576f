//! The sum over all rings, and what is printed at the end.

use std::{process::ExitCode, time::Instant};

use anyhow::Result;

use super::output::Count;

/// What a ring came to.
#[derive(Debug, Default)]
pub(super) struct Part {
    pub(super) count: Count,
    /// Lines for the end of everything.
    pub(super) remarks: Vec<String>,
}

impl Part {
    /// Other kernels could not be had.
    pub(super) fn not_fetched() -> Self {
        let remark = "== kernels: NOT BOOTED, as they could not be fetched; its reason is above".to_owned();
        Self { remarks: vec![remark], ..Self::default() }
    }
}

impl From<Count> for Part {
    fn from(count: Count) -> Self {
        Self { count, remarks: Vec::new() }
    }
}

/// All rings so far.
#[derive(Default)]
pub(super) struct Tally {
    total: Count,
    lines: Vec<String>,
    remarks: Vec<String>,
}

impl Tally {
    /// Runs a part that is no test. Its failure counts as one.
    pub(super) fn part(&mut self, name: &str, run: impl FnOnce() -> Result<()>) -> bool {
        self.ring(name, || run().map(|()| Part::default()))
    }

    /// Runs a ring; returns whether all of it passed. A ring that fails without a failed test did not run: that counts as
    /// one failure, so that a test that does not compile is never taken for success.
    pub(super) fn ring(&mut self, name: &str, run: impl FnOnce() -> Result<Part>) -> bool {
        println!("== {name}");
        let start = Instant::now();
        let (part, outcome) = match run() {
            Ok(part) if part.count.failed == 0 => (part, "ok"),
            Ok(part) => (part, "FAILED"),
            Err(error) => {
                eprintln!("{name}: {error:#}");
                (Part::from(Count { passed: 0, failed: 1 }), "FAILED")
            }
        };
        let Part { count: Count { passed, failed }, remarks } = part;
        let seconds = start.elapsed().as_secs_f64();
        let line = format!("{name:<20} {outcome:<6} {seconds:>7.1} s {passed:>6} passed {failed:>4} failed");
        println!("== {line}");
        self.lines.push(line);
        self.remarks.extend(remarks);
        self.total.passed += passed;
        self.total.failed += failed;
        failed == 0
    }

    /// Prints what is to be remarked, all rings and, last of all, the sum.
    pub(super) fn print(&self) -> ExitCode {
        let Self { total: Count { passed, failed }, lines, remarks } = self;
        println!();
        for line in remarks.iter().chain(lines) {
            println!("{line}");
        }
        println!("{passed} passed, {failed} failed");
        if *failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_that_fails_is_in_the_sum() {
        let mut tally = Tally::default();
        assert!(tally.part("fine", || Ok(())));
        assert!(!tally.part("broken", || anyhow::bail!("no network")));
        assert_eq!(tally.total, Count { passed: 0, failed: 1 });
    }
}

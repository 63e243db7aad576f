//! One program on one JDK: it is started, watched from outside, and what was found is held against what was planted.

use std::{fs, process::Command, time::Duration};

use ::tests::{jdk::Jdk, process::Finished, report::Report};
use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use super::{
    flight,
    program::{Cause, Program},
    subject::Subject,
};
use crate::dist;

/// How long a program may take until its incident is under way, and jtrace in all.
pub(super) const PATIENCE: Duration = Duration::from_mins(2);

/// The finding that threads find no CPU.
const OTHERS_CPUS: &str = "cpu-queue";

/// A program and where it runs.
pub(crate) struct Trial<'a> {
    pub(crate) program: &'a Program,
    pub(crate) jdk: Jdk,
    pub(crate) flight: bool,
}

/// What came of it.
pub(crate) struct Outcome {
    /// The last of the places at which its causes were named, from 1; absent where one was not.
    pub(crate) rank: Option<usize>,
    /// When the first finding was said that names one.
    pub(crate) first_s: Option<f64>,
    /// Findings that are warnings or worse.
    pub(crate) warnings: Vec<String>,
    /// All findings, the first ones first, for people.
    pub(crate) said: Vec<String>,
    /// Whether the flight recorder showed it, where it was asked.
    pub(crate) recorded: Option<bool>,
    /// Share of one core that jtrace says it took from the program, in percent.
    pub(crate) cost_percent: Option<f64>,
    /// The same of what it took for itself.
    pub(crate) own_percent: Option<f64>,
}

impl Trial<'_> {
    /// Starts the program, watches it, ends it.
    pub(crate) fn run(&self, duration: &str) -> Result<Outcome> {
        let folder = tempfile::tempdir().context("cannot make a folder for the report")?;
        let subject = Subject::start(self.program, &self.jdk, folder.path())?;
        let report = folder.path().join("report.json");
        let mut jtrace = Command::new(dist::binary());
        jtrace.args(["attach", &subject.jvm().to_string(), "--text", "-d", duration, "-o"]).arg(&report);
        let finished = Finished::of(jtrace.env("NO_COLOR", "1"), PATIENCE)?;
        ensure!(finished.code == 0, "jtrace ended with {}: {}", finished.code, finished.stderr);
        let recorded = if self.flight {
            Some(flight::shows(&self.jdk, self.program, subject.jvm(), folder.path())?)
        } else {
            None
        };
        subject.end()?;
        let report = Report::parse(&fs::read(&report).context("no report")?)?;
        Ok(self.judge(&report.0, &finished.stderr, recorded))
    }

    /// Whether a finding is about the machine, and no such thing was planted.
    fn is_of_the_machine(&self, finding: &Value) -> bool {
        is_of_others(finding) && !self.program.causes.iter().any(|cause| cause.may_be(OTHERS_CPUS))
    }

    fn judge(&self, report: &Value, told: &str, recorded: Option<bool>) -> Outcome {
        let all = report["findings"].as_array().map(Vec::as_slice).unwrap_or_default();
        let findings: Vec<&Value> = all.iter().filter(|finding| !self.is_of_the_machine(finding)).collect();
        let place = |cause: &Cause| findings.iter().position(|finding| cause.is_named_by(finding)).map(|at| at + 1);
        let places: Option<Vec<usize>> = self.program.causes.iter().map(place).collect();
        let line = |finding: &Value| {
            let text = |key: &str| finding[key].as_str().unwrap_or_default().to_owned();
            format!("{} [{}] {}", text("severity"), text("id"), text("title"))
        };
        let is_warning = |finding: &&&Value| finding["severity"] != "info";
        Outcome {
            rank: places.and_then(|places| places.into_iter().max()),
            first_s: told.lines().find_map(|line| first(line, &self.program.causes)),
            warnings: findings.iter().filter(is_warning).map(|finding| line(finding)).collect(),
            said: all.iter().map(line).collect(),
            recorded,
            cost_percent: report["cost"]["target_cpu_percent"].as_f64(),
            own_percent: report["cost"]["own_cpu_percent"].as_f64(),
        }
    }
}

/// What a finding says of the machine and not of the program: that other processes use its CPUs, as those of other trials do.
fn is_of_others(finding: &Value) -> bool {
    finding["id"] == OTHERS_CPUS
        && finding["title"].as_str().is_some_and(|title| title.starts_with("Other processes use"))
}

/// The time in a line `2.3 s: warning: title` that has the text of a cause.
fn first(line: &str, causes: &[Cause]) -> Option<f64> {
    let (time, rest) = line.split_once(" s: ")?;
    let (_, title) = rest.split_once(": ")?;
    let time = time.parse().ok()?;
    causes.iter().any(|cause| cause.is_in(title)).then_some(time)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_other_trials_use_is_not_said_of_a_program() {
        let finding = |title: &str| serde_json::json!({"id": "cpu-queue", "title": title});
        assert!(is_of_others(&finding("Other processes use 2.0 of 2 CPUs: for 90 % of the time")));
        assert!(!is_of_others(&finding("21.6 threads on average were ready to run and waited for one of 2 CPUs")));
    }

    #[test]
    fn the_first_line_that_names_a_cause_has_its_time() {
        let causes = &[Cause::parse("lock-queue A.b").expect("a cause")];
        assert_eq!(first("2.3 s: warning: 4 threads wait at A.b:7", causes), Some(2.3));
        assert_eq!(first("2.3 s: warning: 4 threads wait at A.c:7", causes), None);
        assert_eq!(first("attached to 7", causes), None);
    }
}

//! The rule about threads that sleep within a request, a stream or a job: it is over later for it, and nothing that anybody could speed up is
//! at work.

use super::{
    Evidence,
    looks::{of_kind, place, seen, threads},
    when,
};
use crate::report::{Finding, Severity};

/// Threads on average from which on it is told.
const TOLD: f64 = 1.0;

/// Threads sleep while a server, or what runs a stream or a job, waits for what they do: to try again later, or until something else has happened.
pub(super) fn sleeping(evidence: &Evidence<'_>) -> Option<Finding> {
    let row = of_kind(evidence, |row| row.text("kind") == "sleep" && row.known("served").is_some())?;
    let average = row.number("average").filter(|average| *average >= TOLD)?;
    Some(Finding {
        id: "sleeping-requests",
        // It may be meant: whoever knows the program can tell.
        severity: Severity::Info,
        score: 50.0 * average,
        title: format!(
            "{} sleep at {} while they serve {}",
            threads(evidence, &row, average),
            place(&row),
            row.text("served")
        ),
        shown_in: "threads.waiting",
        when: when::seen(evidence, &row),
        evidence: seen(evidence, &row),
        next_step: format!(
            "Others wait meanwhile: answer with an error, try again elsewhere, or wait for the event itself.{}",
            row.explain_call("site")
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::{super::testing::Case, *};

    fn case(average: f64, served: Option<&'static str>) -> Case {
        let mut cells = vec![
            ("kind", "sleep".into()),
            ("what", "time to pass".into()),
            ("site", "a.Shop.ask:2".into()),
            ("called", "java.lang.Thread.sleep".into()),
            ("average", average.into()),
            ("most", 8_u64.into()),
            ("looks", 8_u64.into()),
        ];
        cells.extend(served.map(|served| ("served", served.into())));
        Case::seconds(8).number("threads", "looks", 8.0).row("threads", "waiting", &cells)
    }

    #[test]
    fn a_request_that_sleeps_is_worth_knowing_and_a_poller_is_not() {
        let (severity, title) = case(8.0, Some("HTTP (a servlet)")).said(sleeping);
        assert_eq!(severity, Severity::Info);
        assert_eq!(title, "8.0 threads on average sleep at a.Shop.ask:2 while they serve HTTP (a servlet)");
        assert!(case(0.9, Some("HTTP (a servlet)")).ask(sleeping).is_none());
        assert!(case(8.0, None).ask(sleeping).is_none());
    }
}

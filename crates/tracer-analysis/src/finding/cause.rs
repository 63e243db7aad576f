//! Causes stand above what follows from them: a finding that another one explains becomes a part of that one.

use super::when::joined;
use crate::report::Finding;

/// Findings by id, each with those that follow from it.
const EXPLAINS: [(&str, &[&str]); 14] = [
    ("cpu-limit", &["cpu-queue", "cpu-run-queue", "slow-stop"]),
    ("cpu-queue", &["cpu-run-queue", "slow-stop"]),
    ("swap", &["page-faults", "gc-long-pause", "gc-share"]),
    ("direct-memory", &["memory-growth", "gc-share", "gc-full", "gc-long-pause", "cpu-gc"]),
    ("gc-explicit", &["gc-share", "gc-long-pause", "cpu-gc"]),
    ("heap-growth", &["heap-nearly-full", "gc-full", "gc-share", "gc-long-pause", "cpu-gc"]),
    ("heap-nearly-full", &["out-of-memory", "allocation-stall", "gc-full", "gc-share", "gc-long-pause", "cpu-gc"]),
    ("allocation-stall", &["gc-share", "gc-long-pause", "cpu-gc"]),
    ("humongous", &["gc-share", "gc-long-pause", "cpu-gc"]),
    ("slow-stop", &["safepoint-long"]),
    ("starved-pool", &["executor-backlog", "slow-task", "parking"]),
    ("executor-backlog", &["slow-task", "parking"]),
    ("class-leak", &["class-storm"]),
    ("not-compiled", &["cpu-hot-method", "cpu-hot-line"]),
];

/// Those that explain another one only where both are about the same thing (the first name in their titles), and a third of it or more: their
/// scores are times by one measure, and a chain is known of those waits alone that have ended.
const SAME_THING: [(&str, &str); 1] = [("lock-chain", "lock-contention")];

/// Takes what is explained into what explains it. A cause is as severe as the worst of what follows from it.
pub(super) fn fold(mut findings: Vec<Finding>) -> Vec<Finding> {
    for (cause, follows) in EXPLAINS {
        findings = below(findings, cause, |finding, _| follows.contains(&finding.id));
    }
    for (cause, follows) in SAME_THING {
        findings = below(findings, cause, |finding, cause| {
            finding.id == follows && thing(finding) == thing(cause) && 3.0 * cause.score >= finding.score
        });
    }
    findings
}

/// Puts findings below the one that is their cause, where there is one.
fn below(mut findings: Vec<Finding>, cause: &str, follows: impl Fn(&Finding, &Finding) -> bool) -> Vec<Finding> {
    let Some(at) = findings.iter().position(|finding| finding.id == cause) else { return findings };
    let mut cause = findings.remove(at);
    let (explained, mut rest): (Vec<_>, Vec<_>) = findings.into_iter().partition(|finding| follows(finding, &cause));
    let of_its_own = !cause.when.is_empty();
    for Finding { severity, score, title, when, .. } in explained {
        cause.severity = cause.severity.max(severity);
        cause.score = cause.score.max(score);
        cause.evidence.push(format!("this explains: {title}"));
        if !of_its_own {
            cause.when.extend(when);
        }
    }
    cause.when = joined(cause.when);
    rest.insert(at.min(rest.len()), cause);
    rest
}

/// What a title is about: the first name in it.
fn thing(finding: &Finding) -> Option<&str> {
    finding.title.split('`').nth(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{Severity, Stretch};

    fn finding(id: &'static str, severity: Severity) -> Finding {
        let (title, next_step) = (id.to_owned(), String::new());
        Finding { id, severity, score: 1.0, title, shown_in: "", when: Vec::new(), evidence: Vec::new(), next_step }
    }

    #[test]
    fn what_follows_stands_below_its_cause_and_makes_it_as_severe() {
        let findings = fold(vec![
            finding("heap-growth", Severity::Info),
            finding("gc-full", Severity::Critical),
            finding("slow-peer", Severity::Warning),
        ]);
        assert_eq!(findings.iter().map(|finding| finding.id).collect::<Vec<_>>(), ["heap-growth", "slow-peer"]);
        assert_eq!(findings[0].severity, Severity::Critical);
        assert_eq!(findings[0].evidence, ["this explains: gc-full"]);
    }

    #[test]
    fn a_cause_without_times_has_those_of_what_follows() {
        let when = vec![Stretch { from_ns: 1, to_ns: 2 }];
        let follows = Finding { when: when.clone(), ..finding("gc-full", Severity::Critical) };
        let cause = finding("heap-growth", Severity::Info);
        assert_eq!(fold(vec![cause.clone(), follows.clone()])[0].when, when);
        let own = vec![Stretch { from_ns: 7, to_ns: 9 }];
        assert_eq!(fold(vec![Finding { when: own.clone(), ..cause }, follows])[0].when, own);
    }

    #[test]
    fn without_its_cause_a_finding_stands_for_itself() {
        let findings = vec![finding("gc-full", Severity::Critical), finding("cpu-gc", Severity::Warning)];
        assert_eq!(fold(findings.clone()), findings);
    }

    #[test]
    fn a_holder_that_waits_explains_who_waits_for_the_same_monitor() {
        let of =
            |id, class: &str| Finding { title: format!("blocked on one `{class}`"), ..finding(id, Severity::Critical) };
        let chain = Finding { severity: Severity::Warning, ..of("lock-chain", "a.Desk") };
        let findings = fold(vec![of("lock-contention", "a.Desk"), chain.clone()]);
        assert_eq!(findings.len(), 1);
        assert_eq!((findings[0].id, findings[0].severity), ("lock-chain", Severity::Critical));
        assert_eq!(fold(vec![of("lock-contention", "a.Cart"), chain.clone()]).len(), 2, "another monitor");
        let much = Finding { score: 30.0, ..of("lock-contention", "a.Desk") };
        assert_eq!(fold(vec![much, chain]).len(), 2, "a small part of it");
    }

    #[test]
    fn nothing_is_its_own_cause_over_others() {
        for (cause, follows) in EXPLAINS {
            assert!(!follows.contains(&cause), "{cause}");
        }
    }
}

//! Causes stand above what follows from them: a finding that another one explains becomes a part of that one.

use crate::report::Finding;

/// Findings by id, each with those that follow from it.
const EXPLAINS: [(&str, &[&str]); 12] = [
    ("cpu-limit", &["cpu-queue", "cpu-run-queue", "slow-stop"]),
    ("cpu-queue", &["cpu-run-queue", "slow-stop"]),
    ("swap", &["page-faults", "gc-long-pause", "gc-share"]),
    ("direct-memory", &["memory-growth", "gc-share", "gc-full", "gc-long-pause", "cpu-gc"]),
    ("gc-explicit", &["gc-share", "gc-long-pause", "cpu-gc"]),
    ("heap-growth", &["heap-nearly-full", "gc-full", "gc-share", "gc-long-pause", "cpu-gc"]),
    ("heap-nearly-full", &["gc-full", "gc-share", "gc-long-pause", "cpu-gc"]),
    ("humongous", &["gc-share", "gc-long-pause", "cpu-gc"]),
    ("slow-stop", &["safepoint-long"]),
    ("starved-pool", &["executor-backlog", "slow-task", "parking"]),
    ("executor-backlog", &["slow-task", "parking"]),
    ("class-leak", &["class-storm"]),
];

/// Takes what is explained into what explains it. A cause is as severe as the worst of what follows from it.
pub(super) fn fold(mut findings: Vec<Finding>) -> Vec<Finding> {
    for (cause, follows) in EXPLAINS {
        if !findings.iter().any(|finding| finding.id == cause) {
            continue;
        }
        let (explained, rest): (Vec<_>, Vec<_>) =
            findings.into_iter().partition(|finding| follows.contains(&finding.id));
        findings = rest;
        if let Some(cause) = findings.iter_mut().find(|finding| finding.id == cause) {
            for Finding { severity, score, title, .. } in explained {
                cause.severity = cause.severity.max(severity);
                cause.score = cause.score.max(score);
                cause.evidence.push(format!("this explains: {title}"));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Severity;

    fn finding(id: &'static str, severity: Severity) -> Finding {
        Finding { id, severity, score: 1.0, title: id.to_owned(), evidence: Vec::new(), next_step: String::new() }
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
    fn without_its_cause_a_finding_stands_for_itself() {
        let findings = vec![finding("gc-full", Severity::Critical), finding("cpu-gc", Severity::Warning)];
        assert_eq!(fold(findings.clone()), findings);
    }

    #[test]
    fn nothing_is_its_own_cause_over_others() {
        for (cause, follows) in EXPLAINS {
            assert!(!follows.contains(&cause), "{cause}");
        }
    }
}

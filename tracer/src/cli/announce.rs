//! Findings of a session that no screen shows, each as it is first seen: an incident does not wait for the end of a session.

use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

use super::attach::say;
use crate::{
    report::{Finding, Severity},
    session::Session,
    text::escape,
};

/// How often findings are looked for at most, at first and later. Who attaches in an incident waits for the first ones.
const EARLY_LEAST: Duration = Duration::from_secs(1);
const LEAST: Duration = Duration::from_secs(2);
/// Until when it is early.
const EARLY: Duration = Duration::from_secs(10);
/// Of the time that looking took, how much must pass until the next time: half a per cent of a core goes into it at first, later a fifth.
const EARLY_REST: u32 = 200;
const REST: u32 = 500;

/// Says what is found once.
pub(super) struct Announcer {
    begun: Instant,
    next: Instant,
    /// How severe a rule's finding was when it was said.
    said: HashMap<&'static str, Severity>,
}

impl Announcer {
    pub(super) fn new() -> Self {
        let begun = Instant::now();
        Self { begun, next: begun + EARLY_LEAST, said: HashMap::new() }
    }

    /// Looks again, where it is time to.
    pub(super) fn look(&mut self, session: &Session) {
        let now = Instant::now();
        if now < self.next {
            return;
        }
        for finding in &session.findings() {
            if let Some(line) = self.line(finding, now.duration_since(self.begun)) {
                say(&line);
            }
        }
        self.next = Instant::now() + rest(now.duration_since(self.begun), now.elapsed());
    }

    /// The line for a finding; none where its rule has said as much.
    fn line(&mut self, finding: &Finding, after: Duration) -> Option<String> {
        let Finding { id, severity, title, .. } = finding;
        if self.said.get(id).is_some_and(|said| said >= severity) {
            return None;
        }
        self.said.insert(id, *severity);
        let word = match severity {
            Severity::Critical => "critical",
            Severity::Warning => "warning",
            Severity::Info => "info",
        };
        let title = escape::terminal(title);
        Some(format!("{:.1} s: {word}: {title}", after.as_secs_f64()))
    }
}

/// How long to rest at an age of the session, after a look that took so long.
fn rest(age: Duration, took: Duration) -> Duration {
    let (rest, least) = if age < EARLY { (EARLY_REST, EARLY_LEAST) } else { (REST, LEAST) };
    took.saturating_mul(rest).max(least)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_rest_longer_once_the_first_findings_are_out() {
        let [quick, slow] = [1, 8].map(Duration::from_millis);
        assert_eq!([rest(Duration::ZERO, quick), rest(Duration::ZERO, slow)], [1000, 1600].map(Duration::from_millis));
        assert_eq!([rest(EARLY, quick), rest(EARLY, slow)], [2000, 4000].map(Duration::from_millis));
    }

    fn finding(severity: Severity, title: &str) -> Finding {
        Finding {
            id: "slow-peer",
            severity,
            score: 1.0,
            title: title.to_owned(),
            shown_in: "gc.causes",
            when: Vec::new(),
            evidence: Vec::new(),
            next_step: String::new(),
        }
    }

    #[test]
    fn a_finding_is_said_once_and_again_where_it_gets_worse() {
        let mut announcer = Announcer::new();
        let mut said = |severity, title| announcer.line(&finding(severity, title), Duration::from_millis(2_345));
        assert_eq!(said(Severity::Info, "slow").as_deref(), Some("2.3 s: info: slow"));
        assert_eq!(said(Severity::Info, "slower"), None);
        assert_eq!(said(Severity::Warning, "very slow").as_deref(), Some("2.3 s: warning: very slow"));
        assert_eq!(said(Severity::Info, "slow again"), None);
    }

    #[test]
    fn a_title_cannot_move_the_cursor() {
        let line = Announcer::new().line(&finding(Severity::Critical, "\x1b[2Jgone"), Duration::ZERO).expect("a line");
        assert!(!line.contains('\x1b'), "{line:?}");
    }
}

//! Follows one JVM: looks again and again, and says what is wrong by the rules of a session.

use std::{collections::VecDeque, time::Duration};

use super::vitals::Vitals;
use crate::{
    finding,
    item::{Item, Start},
    jvm::{
        descriptor::listening::Listening,
        find::{self, Jvm},
    },
    lens::Lens,
    live::{
        definitions::Definitions,
        looks::{Looker, Seen},
    },
    report::{
        Finding, Report, Section, Severity, Summary,
        reading::{Brief, MOST_FINDINGS, Reading},
    },
    session::Session,
    thread_dump::ThreadReader,
};

/// Looks of one session: what is said is about the last minute at most, and nothing grows with time.
const LOOKS: u32 = 30;
/// Looks from which on a new session says more than the one before.
const ENOUGH: u32 = 6;
/// Looks that the part in pauses is about.
const PAST: usize = 10;
/// Shortest time between two looks where threads cannot be looked at.
const LEAST: Duration = Duration::from_secs(1);

/// A JVM that is followed.
pub struct Watch {
    jvm: Jvm,
    looker: Option<Looker>,
    session: Session,
    definitions: Definitions,
    looks: u32,
    past: VecDeque<Vitals>,
    /// What the session before found.
    before: Vec<Finding>,
}

/// Why a JVM cannot be followed any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the process has ended")]
pub struct Gone;

impl Watch {
    /// Begins with a JVM. Where its threads cannot be read, the rest is still told.
    pub fn begin(jvm: Jvm, listening: Option<Listening>) -> Self {
        let reader = ThreadReader::open(&jvm).map(|reader| reader.with_listening(listening));
        let looker =
            reader.inspect_err(|error| log::debug!("threads are not looked at: {error}")).ok().map(Looker::new);
        let session = session(&jvm);
        Self {
            jvm,
            looker,
            session,
            definitions: Definitions::default(),
            looks: 0,
            past: VecDeque::new(),
            before: Vec::new(),
        }
    }

    /// Looks once more; how long to rest until the next time.
    pub fn look(&mut self) -> Result<(Reading, Duration), Gone> {
        let now = Vitals::read(&self.jvm).ok_or(Gone)?;
        let seen = self.looker.as_mut().and_then(|looker| {
            looker.look().inspect_err(|error| log::debug!("threads are not looked at: {error}")).ok()
        });
        // What is kept of the past grows with each look, up to more than are the first ones.
        let looks = u32::try_from(self.past.len() + 1).unwrap_or(u32::MAX);
        let rest = seen.as_ref().map_or(LEAST, |seen| seen.rest(looks));
        if let Some(seen) = seen {
            self.take(&seen);
        }
        let reading = self.reading(&now);
        self.past.push_back(now);
        if self.past.len() > PAST {
            self.past.pop_front();
        }
        Ok((reading, rest))
    }

    fn take(&mut self, seen: &Seen) {
        if self.looks == LOOKS {
            self.before = self.session.report().findings;
            (self.session, self.definitions, self.looks) = (session(&self.jvm), Definitions::default(), 0);
        }
        self.looks += 1;
        let Self { session, definitions, .. } = self;
        let look = seen.told(definitions, &mut |item| {
            session.accept(&item);
        });
        session.accept(&Item::Look(Box::new(look)));
    }

    fn reading(&self, now: &Vitals) -> Reading {
        let pause_percent = self.past.front().and_then(|first| {
            let paused_ns = now.paused_ns?.saturating_sub(first.paused_ns?);
            percent(paused_ns, now.time_ns.saturating_sub(first.time_ns))
        });
        let cpu_percent = self.past.back().and_then(|last| {
            let used_ns = now.process.cpu_ns.saturating_sub(last.process.cpu_ns);
            percent(used_ns, now.time_ns.saturating_sub(last.time_ns))
        });
        Reading {
            cpu_percent,
            pause_percent,
            heap_used_bytes: now.heap_used_bytes,
            heap_max_bytes: self.jvm.target.max_heap_bytes,
            resident_bytes: now.process.resident_bytes,
            threads: now.threads,
            findings: self.findings(pause_percent).iter().take(MOST_FINDINGS).map(Brief::from).collect(),
        }
    }

    /// What is wrong now: by looks at threads, and by the time in pauses.
    fn findings(&self, pause_percent: Option<f64>) -> Vec<Finding> {
        let Report { span, target, mut sections, .. } = self.session.report();
        if let Some(percent) = pause_percent.filter(|_| self.past.len() >= PAST / 2) {
            sections.push(pauses(percent));
        }
        let mut findings = finding::findings(&span, &target, &sections);
        if self.looks < ENOUGH {
            let is_new = |old: &&Finding| findings.iter().all(|finding| finding.id != old.id);
            let old: Vec<Finding> = self.before.iter().filter(is_new).cloned().collect();
            findings.extend(old);
            findings.sort_by(|a, b| b.severity.cmp(&a.severity).then(b.score.total_cmp(&a.score)));
        }
        findings.retain(|finding| finding.severity > Severity::Info);
        findings
    }
}

/// What the JVM's own counters tell in the place of the lens `gc`.
fn pauses(percent: f64) -> Section {
    let summary = Summary::new().float("pause_share_percent", percent);
    Section { id: Lens::Gc.id(), title: String::new(), summary, notes: Vec::new(), shapes: Vec::new() }
}

/// A session without any site.
fn session(jvm: &Jvm) -> Session {
    Session::new(Start {
        target: jvm.target.clone(),
        lenses: vec![Lens::Threads],
        sites: Vec::new(),
        missing: Vec::new(),
        time_ns: crate::clock::read_ns(crate::clock::ClockId::Monotonic),
        wall_ms: 0,
        trap_cost_ps: None,
        attach_ns: 0,
        attach_cpu_ns: 0,
        threads: find::threads(jvm.target.pid).unwrap_or_default(),
    })
}

fn percent(part_ns: u64, of_ns: u64) -> Option<f64> {
    (of_ns > 0).then(|| 100.0 * part_ns as f64 / of_ns as f64)
}

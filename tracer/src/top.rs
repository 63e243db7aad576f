//! What each JVM of a machine does, and the worst that is wrong with it, from what costs next to nothing to know: the JVM's own
//! counters, the kernel's accounts, and looks at its threads. Nothing is attached to it, and nothing is loaded.
//!
//! [`Watch`] follows one JVM and is for a process apart; [`Reading`] is what it says, and [`table`] what many of them look like.

pub mod table;
mod vitals;
mod watch;

use serde::{Deserialize, Serialize};

pub use self::watch::Watch;
use crate::report::{Finding, Severity};

/// Most findings that a reading has.
pub const MOST_FINDINGS: usize = 5;

/// What is known of a JVM at a moment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Reading {
    /// CPU time since the last look, in percent of a core; absent at the first one.
    pub cpu_percent: Option<f64>,
    /// Part of the last seconds in pauses of the collector, by the JVM's own counters, in percent.
    pub pause_percent: Option<f64>,
    /// What is used of the heap, as the JVM counted last.
    pub heap_used_bytes: Option<u64>,
    /// The largest heap.
    pub heap_max_bytes: Option<u64>,
    /// Memory in RAM.
    pub resident_bytes: u64,
    /// Java threads.
    pub threads: Option<u64>,
    /// The worst findings, the worst first.
    pub findings: Vec<Brief>,
}

/// A finding in short.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Brief {
    /// Stable id of the rule.
    pub id: String,
    /// How bad.
    pub severity: Severity,
    /// The sentence.
    pub title: String,
    /// What to do next.
    pub next_step: String,
}

impl From<&Finding> for Brief {
    fn from(finding: &Finding) -> Self {
        let Finding { id, severity, score: _, title, evidence: _, next_step } = finding;
        Self { id: (*id).to_owned(), severity: *severity, title: title.clone(), next_step: next_step.clone() }
    }
}

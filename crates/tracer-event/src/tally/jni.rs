//! What the kernel counted of JNI functions.

use serde::{Deserialize, Serialize};

use super::is_zero;
use crate::{
    event::{NameId, Tid},
    jni::Function,
};

/// Calls, or critical sections, of one thread, function and caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JniTally {
    /// The thread.
    pub tid: Tid,
    /// The function; of a section the one that opened it.
    pub function: Function,
    /// Who called it.
    pub caller: NameId,
    /// Calls, or sections that were closed.
    pub count: u64,
    /// Of these, with a duration.
    pub timed: u64,
    /// Sum of the durations.
    pub total_ns: u64,
    /// Of these, outside of JNI functions further in.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub self_ns: u64,
    /// The longest.
    pub longest_ns: u64,
}

/// A critical section that is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenSection {
    /// The thread.
    pub tid: Tid,
    /// What opened it.
    pub function: Function,
    /// Who did.
    pub caller: NameId,
    /// Since when, on `CLOCK_MONOTONIC`.
    pub since_ns: u64,
}

/// A reading: everything since the session began.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct JniTallies {
    /// Calls.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<JniTally>,
    /// Critical sections that were closed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sections: Vec<JniTally>,
    /// Their durations by bucket ([`tracer_common::tally::bucket`]).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lasted: Vec<(u16, u64)>,
    /// Critical sections that are open at the moment.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub open: Vec<OpenSection>,
    /// Returns whose entry was not seen.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub returns_without_entry: u64,
    /// Entries whose return was missing when another event showed that they were over.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub entries_without_return: u64,
    /// Calls of threads for which the kernel had no room; they are counted nowhere else.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub overflow: u64,
    /// Calls that were nested too deeply to be timed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub too_deep: u64,
    /// Sections that were closed and whose opening was not seen.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub closed_without_opening: u64,
}

impl JniTallies {
    /// Whether nothing was counted.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

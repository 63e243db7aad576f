//! Tallies: what the kernel counted itself, where no event leaves it.
//!
//! A source reads them now and then; each reading has everything since the session began and replaces the one before. Events
//! that the kernel could not decide alone are not in them: they come as events, and analyses add both.

pub mod jni;

use serde::{Deserialize, Serialize};

use self::jni::JniTallies;
use crate::event::{StackId, SubjectId};

/// What was counted of one subject.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// The method, or the class.
    pub subject: u32,
    /// Where it happened, if that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stack: Option<StackId>,
    /// Calls, or objects.
    pub count: u64,
    /// Returns whose entry was seen, so that they have a duration.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub timed: u64,
    /// Calls that an exception ended.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub errors: u64,
    /// Sum of the durations, callees included.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub total_ns: u64,
    /// Of these, outside of other chosen methods.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub self_ns: u64,
    /// Bytes of the objects.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub bytes: u64,
    /// Durations by bucket ([`tracer_common::tally::bucket`]): bucket and how many; only those that are not empty, rising.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub durations: Vec<(u16, u64)>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde wants a reference")]
const fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl Tally {
    /// The method, or the class.
    pub const fn subject(&self) -> SubjectId {
        SubjectId(self.subject)
    }
}

/// A reading.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tallies {
    /// `CLOCK_MONOTONIC`.
    pub time_ns: u64,
    /// Of methods.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub methods: Vec<Tally>,
    /// Of classes of objects.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub objects: Vec<Tally>,
    /// Of JNI functions.
    #[serde(default, skip_serializing_if = "JniTallies::is_empty")]
    pub jni: JniTallies,
    /// Returns whose entry was not seen (the method was under way when the session began).
    #[serde(default, skip_serializing_if = "is_zero")]
    pub returns_without_entry: u64,
    /// Entries whose return was missing when a frame further out showed that they were over.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub entries_without_return: u64,
    /// Events that found no room in the kernel's tables, and are counted nowhere else.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub overflow: u64,
}

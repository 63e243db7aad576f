//! Tallies: what the kernel counted itself, where no event leaves it.
//!
//! A source reads them now and then; each reading has everything since the session began and replaces the one before. Events
//! that the kernel could not decide alone are not in them: they come as events, and analyses add both.

pub mod jni;

use serde::{Deserialize, Serialize};

use self::jni::JniTallies;
use crate::event::{StackId, SubjectId, Tid};

/// What was counted of one subject.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// The method, or the class.
    pub subject: u32,
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
    /// Durations of calls, or lengths of arrays, by bucket ([`tracer_common::tally::bucket`]): bucket and how many; only those
    /// that are not empty, rising.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub buckets: Vec<(u16, u64)>,
}

/// What was counted of one subject on one thread, with one stack, below one other context.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContextTally {
    /// What tells it from others; the same in all readings.
    pub id: u64,
    /// The context around it: 0 where there is none, [`tracer_common::tally::CUT`] where it is not told.
    pub parent: u64,
    /// The method, or the class.
    pub subject: u32,
    /// The thread.
    pub tid: u32,
    /// Where it happened; 0 where no stack was taken.
    pub stack: u64,
    /// Whether the method runs within the frame of the one that called it: a compiler has inlined it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub inlined: bool,
    /// Calls, or objects.
    pub count: u64,
    /// Calls that an exception ended.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub errors: u64,
    /// Sum of the durations, callees included.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub total_ns: u64,
    /// Of these, outside of the contexts below.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub self_ns: u64,
    /// Longest duration, or bytes of the largest object.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub largest: u64,
    /// Bytes of the objects.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub bytes: u64,
}

impl ContextTally {
    /// The method, or the class.
    pub const fn subject(&self) -> SubjectId {
        SubjectId(self.subject)
    }

    /// The thread.
    pub const fn tid(&self) -> Tid {
        Tid(self.tid)
    }

    /// Where it happened.
    pub const fn stack(&self) -> StackId {
        StackId(self.stack)
    }
}

/// What was counted by context.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContextTallies {
    /// Calls of methods.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<ContextTally>,
    /// Objects.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub objects: Vec<ContextTally>,
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
    /// By context; absent where this reading has none, and those of the one before are the latest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contexts: Option<ContextTallies>,
    /// Of JNI functions.
    #[serde(default, skip_serializing_if = "JniTallies::is_empty")]
    pub jni: JniTallies,
    /// Returns whose entry was not seen (the method was under way when the session began).
    #[serde(default, skip_serializing_if = "is_zero")]
    pub returns_without_entry: u64,
    /// Entries whose return was missing when a frame further out showed that they were over.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub entries_without_return: u64,
    /// At the end: calls of whose end nothing has told.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub under_way: u64,
    /// Events that found no room in the kernel's tables, and are counted nowhere else.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub overflow: u64,
}

impl Tallies {
    /// This reading without what is about objects, and with the contexts of an earlier one where it has none.
    #[must_use]
    pub fn methods_after(&self, earlier: &Self) -> Self {
        let contexts = self.contexts.as_ref().or(earlier.contexts.as_ref());
        Self {
            objects: Vec::new(),
            methods: self.methods.clone(),
            contexts: contexts.map(|contexts| ContextTallies { calls: contexts.calls.clone(), objects: Vec::new() }),
            jni: JniTallies::default(),
            ..*self
        }
    }
}

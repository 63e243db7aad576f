//! The shape that flame graphs and call trees are drawn from: amounts by stack.

use serde::{Deserialize, Serialize};

use super::{Unit, Word, read};
use crate::stack::Frame;

/// Amounts by stack, from which flame graphs and call trees are drawn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Profile {
    /// Stable id within the section.
    #[serde(deserialize_with = "read::word")]
    pub id: Word,
    /// Heading.
    pub title: String,
    /// Unit of the amounts.
    pub unit: Unit,
    /// Whether every context has a stack of its own, and `count` is how often it was called; else stacks are samples.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub contexts: bool,
    /// The frames that stacks refer to, each once.
    pub frames: Vec<Frame>,
    /// The threads that stacks refer to, each once.
    pub threads: Vec<ProfileThread>,
    /// The stacks, the largest amount first.
    pub stacks: Vec<ProfileStack>,
    /// When the amounts came, for views in which a range of time can be chosen; no part of the JSON form.
    #[serde(skip)]
    pub steps: Option<ProfileSteps>,
}

/// The amounts of a [`Profile`] by step of time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProfileSteps {
    /// Width of a step; the first one begins at the start of the span.
    pub step_ns: u64,
    /// For each stack of the profile its steps with an amount, in order. What has no step is not in them: where there were
    /// too many pairs of stack and step, and what began before the span.
    pub stacks: Vec<Vec<(u32, u64)>>,
}

/// A thread of a [`Profile`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProfileThread {
    /// Thread id.
    pub tid: u32,
    /// Name.
    pub name: String,
}

/// A stack of a [`Profile`]: one for each thread it was seen on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProfileStack {
    /// Indices into [`Profile::frames`], outermost first.
    pub frames: Vec<u32>,
    /// Index into [`Profile::threads`].
    pub thread: Option<u32>,
    /// Amount.
    pub value: u64,
    /// How often it was seen.
    pub count: u64,
    /// Why it does not begin at the thread's outermost frame; empty where it does.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub cut: String,
}

impl Profile {
    /// The amount of all stacks.
    pub fn total(&self) -> u64 {
        self.stacks.iter().fold(0, |sum, stack| sum.saturating_add(stack.value))
    }

    /// How often all stacks were seen.
    pub fn count(&self) -> u64 {
        self.stacks.iter().fold(0, |sum, stack| sum.saturating_add(stack.count))
    }

    /// The thread of a stack.
    pub fn thread(&self, stack: &ProfileStack) -> Option<&ProfileThread> {
        self.threads.get(usize::try_from(stack.thread?).ok()?)
    }
}

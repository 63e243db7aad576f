//! What events say instead of names: numbers, which other records define.

/// Id of a text that a definition record names; see [`crate::names::Names`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
pub struct NameId(pub u64);

/// Index of a probe site in the session's list of sites.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
pub struct SiteId(pub u16);

/// Id of a stack; see [`crate::stack::Stacks`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
pub struct StackId(pub u64);

/// Number of a method or class that events are about; see [`crate::subject::Subjects`]. Unlike the address it never means two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
pub struct SubjectId(pub u32);

impl SubjectId {
    /// It was not named: there were too many, or the record is damaged.
    pub const UNKNOWN: Self = Self(u32::MAX);
}

/// Thread id in the kernel's initial pid namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
pub struct Tid(pub u32);

impl Tid {
    /// Threads that ended and are no longer told apart. No thread of a process has this number.
    pub const ENDED: Self = Self(0);
}

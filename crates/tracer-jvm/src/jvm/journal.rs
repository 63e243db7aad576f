//! The undo journal: what was changed in a target, written down before it is changed.
//!
//! One file per target lies in a directory that only jtrace's user can enter, and has a lock of its own. The journal knows
//! what to undo and who still needs it. Doing and undoing is the work of [`super::flags`].

mod store;
pub mod watched;

use serde::{Deserialize, Serialize};

pub use self::store::{Error, Journal, Locked};
pub use super::find::process::Identity;

/// The flags that jtrace ever changes. An entry that names another one was not written by jtrace.
pub const FLAGS: [&str; 3] = ["DTraceMonitorProbes", "DTraceMethodProbes", "DTraceAllocProbes"];

/// One changed byte.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// Name of the flag.
    pub flag: String,
    /// Address of its byte in the target.
    pub address: u64,
    /// Value before.
    pub original: u8,
    /// Value that jtrace writes.
    pub armed: u8,
}

/// One arming of one jtrace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Owner {
    /// The jtrace.
    pub process: Identity,
    /// Tells several armings of one jtrace apart.
    pub ticket: u64,
}

/// What was changed in one target, and who needs it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// The target.
    pub target: Identity,
    /// The boot that the start times are relative to.
    pub boot: String,
    /// The pid namespace that the pids belong to.
    pub pid_namespace: String,
    /// Changed bytes.
    pub changes: Vec<Change>,
    /// Classes that were recompiled so that they call probes; their code must be thrown away once more.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub recompiled: Vec<String>,
    /// Who needs them changed; those who died are still in it.
    pub owners: Vec<Owner>,
}

impl Entry {
    /// Takes out the owners that are gone; whether any is left.
    pub fn has_living_owners(&mut self) -> bool {
        self.owners.retain(|owner| owner.process.is_alive());
        !self.owners.is_empty()
    }
}

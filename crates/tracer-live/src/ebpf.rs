//! The only module that names aya: loads the programs, attaches them, reads ring buffers and counters.
//!
//! [`load`] makes maps and programs, as large as [`memory`] says, [`attach`] ties sites to them (through `multi` where the kernel has multi-uprobe
//! links, one perf event a site otherwise) and [`clock`] the sampling clock and the scheduler, [`unwind`] says what is
//! needed to find stacks, [`rings`] reads records, [`calibrate`] measures what a trap costs here, [`runtime`] what all
//! programs cost, [`census`] looks at what is in the kernel, [`trial`] whether it takes the programs (by `verify`, [`stack_depth`] and [`private_stack`]), [`kernel_names`] asks the kernel what its functions are called, and [`judgement`] lets a test ask the predicate's graph there.

pub mod attach;
mod batch;
mod bpf_object;
pub mod calibrate;
pub mod census;
pub mod clock;
mod descriptors;
pub mod floor;
pub mod jni;
pub mod judgement;
pub mod kernel_names;
pub mod load;
pub mod memory;
mod multi;
mod online;
pub mod private_stack;
pub mod programs;
pub mod rings;
pub mod runtime;
pub mod stack_depth;
pub mod tallying;
pub mod trial;
pub mod unwind;
mod verify;
mod wire;

use std::{io, path::PathBuf};

pub use verify::Refusal;

/// Why the kernel side could not be set up.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The object does not load.
    #[error("the eBPF programs cannot be loaded: {0}")]
    Load(String),
    /// No descriptor was left.
    #[error("the eBPF programs cannot be loaded: {0}")]
    Descriptors(String),
    /// A program was refused.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// A map is missing from the object or has another type.
    #[error("eBPF map `{name}`: {reason}")]
    Map {
        /// Name of the map.
        name: String,
        /// What is wrong.
        reason: String,
    },
    /// Sites could not be attached.
    #[error("failed to attach {count} {} of `{group}` in {path}: {source}", if *count == 1 { "site" } else { "sites" })]
    Attach {
        /// Name of the group of sites.
        group: String,
        /// How many sites it has.
        count: usize,
        /// File that holds them.
        path: PathBuf,
        /// What the kernel said.
        source: io::Error,
    },
    /// A system call failed.
    #[error("{call} failed: {source}")]
    System {
        /// Name of the call.
        call: &'static str,
        /// What the kernel said.
        source: io::Error,
    },
}

impl Error {
    /// What may help.
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Descriptors(_) => descriptors::HINT,
            error if descriptors::are_short(error) => descriptors::HINT,
            Self::Load(_) | Self::Refused(_) => {
                "run `jtrace doctor` to see what this kernel and these privileges allow"
            }
            Self::Map { .. } => "jtrace and its eBPF object do not fit together: build both with `cargo xtask build`",
            Self::Attach { .. } => "run `jtrace doctor PID`; uprobes need CAP_PERFMON and CAP_BPF, or CAP_SYS_ADMIN",
            Self::System { .. } => return None,
        };
        Some(hint.to_owned())
    }
}

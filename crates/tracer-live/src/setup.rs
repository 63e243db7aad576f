//! Sets a session up: from what is asked for to sites that are attached.
//!
//! [`SessionConfig`] says what is asked for. [`RunningTarget`] attaches to a JVM that runs, [`StartingTarget`] to one that is about to start.
//! Both give an [`Attached`] session, which also takes back what was changed. Nothing here parses a command line.

mod config;
mod weaving;

mod sites;
mod target;

mod arming;
mod attached;

mod running;
mod starting;

use std::{fmt, io, num::NonZeroU32};

use crate::{
    ebpf::{
        self, calibrate,
        load::{Kernel, KernelOptions},
    },
    ending,
    inside::visit,
    jvm,
};

pub use self::{
    attached::{ArmedTarget, Attached},
    config::{Lane, SessionConfig},
    running::RunningTarget,
    sites::{FEW_SITES, OTHER_JDK},
    starting::{AwaitedTarget, StartingTarget},
    weaving::{Weaving, WeavingOptions},
};

/// Why a session is not set up.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The target does not have what is asked for, or cannot be changed for it.
    #[error("{message}")]
    Refused {
        /// What is refused, and why.
        message: String,
        /// What to do about it.
        hint: Option<String>,
    },
    /// Something is asked for that no target has.
    #[error("{message}")]
    Usage {
        /// What is wrong with it.
        message: String,
        /// What to ask for instead.
        hint: Option<String>,
    },
    /// The programs were not loaded, or the sites not attached.
    #[error(transparent)]
    Ebpf(#[from] ebpf::Error),
    /// The probes of methods were not armed.
    #[error(transparent)]
    Arming(#[from] jvm::arming::Error),
    /// The library in the JVM does not do what it is asked for.
    #[error(transparent)]
    Visit(#[from] visit::Error),
    /// A wait was cut short.
    #[error(transparent)]
    Cut(#[from] ending::Cut),
    /// The system does not say how a child is.
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl Error {
    /// The target does not have what is asked for.
    fn refused(message: impl fmt::Display, hint: impl Into<Option<String>>) -> Self {
        Self::Refused { message: message.to_string(), hint: hint.into() }
    }

    /// Nothing has what is asked for.
    fn usage(message: impl fmt::Display, hint: impl Into<Option<String>>) -> Self {
        Self::Usage { message: message.to_string(), hint: hint.into() }
    }
}

/// A process id that attaching accepts.
pub fn process_id(pid: u32) -> Result<NonZeroU32, Error> {
    NonZeroU32::new(pid)
        .ok_or_else(|| Error::refused("there is no process 0", "`jtrace list` shows the JVMs".to_owned()))
}

/// What a trap costs here, measured on jtrace itself.
pub fn trap_ns(options: KernelOptions) -> Result<f64, Error> {
    let (mut kernel, mut rings) = Kernel::load(options)?;
    let trap_ps = calibrate::hit_cost_ps(&mut kernel, &mut rings)?;
    let trap_ps = trap_ps.ok_or_else(|| Error::refused("the cost of a trap could not be measured", None))?;
    Ok(trap_ps as f64 / 1e3)
}

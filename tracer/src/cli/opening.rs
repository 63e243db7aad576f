//! Opens a JVM by its process id, after a process apart has looked into it.

use super::{Failure, apart};
use crate::jvm::find::Jvm;

/// Opens a JVM that may be changed, after a process apart has looked.
pub(super) fn target(pid: u32) -> Result<Jvm, Failure> {
    apart::look_at(pid)?;
    jvm(pid)
}

/// The same for a command that attaches nothing: what is of no use to it is given up before anything of the JVM is parsed.
pub(super) fn only_to_look(pid: u32) -> Result<Jvm, Failure> {
    apart::look_at(pid)?;
    apart::only_look()?;
    jvm(pid)
}

/// Opens a JVM, which did not hold up the process that looked first.
pub(super) fn jvm(pid: u32) -> Result<Jvm, Failure> {
    Jvm::open(pid).map_err(|error| {
        let hint = error.hint();
        Failure::new(error, hint)
    })
}

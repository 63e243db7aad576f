//! Arming: makes code of a running JVM call HotSpot's DTrace stubs, says which code does, and takes it back.
//!
//! A flag is read when a compilation starts, so code that is there already stays as it is. [`snapshot`] reads all compiled
//! code at a moment, [`coverage`] compares two such moments and names what still runs without calling. [`recompile`] has
//! the JVM throw away the code of chosen classes, where a release can do that. Nothing here writes into code or metadata
//! of the target: flags are bytes of data, and recompilation is the JVM's own work. `docs/arming.md` has what was measured.

mod armed;
mod owed;
mod returning;

pub mod coverage;
pub mod recompile;
pub mod snapshot;
pub mod stubs;
mod untraced;

pub use self::{
    armed::{Armed, Error, Outcome, Wish, arm},
    owed::{Recovered, recover, recover_one, targets as recompiled_targets},
    returning::FLAG_LIMIT,
    untraced::untraced,
};

/// How far arming may go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ArmMode {
    /// Change nothing: only code that calls the stubs already is seen.
    Off,
    /// Set the flag: code that is compiled from then on calls, and up to JDK 23 the interpreter and native methods.
    Flag,
    /// Have the JVM recompile the chosen classes (JDK 25), and set the flag only meanwhile.
    Recompile,
    /// Recompile where that is possible and classes are chosen, else set the flag.
    #[default]
    Auto,
}

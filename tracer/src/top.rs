//! What each JVM of a machine does, and the worst that is wrong with it, from what costs next to nothing to know: the JVM's own
//! counters, the kernel's accounts, and looks at its threads. Nothing is attached to it, and nothing is loaded.
//!
//! [`Watch`] follows one JVM and is for a process apart; what it says, and what many of them look like, is in [`crate::report::reading`].

mod vitals;
mod watch;

pub use self::watch::Watch;

//! Markers: what a user wants marked, and what clients make of the marks.
//!
//! [`spec`] reads markers from a file or from the command line into rules for the weaver; [`check`] says what they would match.
//! When marks come, [`dispatch`] keeps a [`stack`] of open regions for each thread and hands each mark to the [`client`]s that want
//! it. [`clients`] has those that are built in. Nothing here weaves a running JVM.
//!
//! A new analysis is one file that implements [`Client`]; `examples/marker_client.rs` is one to copy.

mod error;
mod name;
mod place;
mod short;

pub mod spec;

pub use error::Error;
pub use spec::{Spec, Wish};

/// Names of the clients that are built in; a marker without subscribers is for all of them.
pub const CLIENTS: &[&str] = &["counts", "contexts"];

#[cfg(test)]
mod tests;

//! Markers: what a user wants marked, and what clients make of the marks.
//!
//! [`spec`] reads markers from a file or from the command line into rules for the weaver; [`check`]
//! says what they would match.
//! When marks come, [`dispatch`] keeps a [`stack`] of open regions for each thread and hands each mark to the [`client`]s that want
//! it. Those that are built in are beside the lens `markers`, which shows what they report. Nothing here weaves a running JVM.
//!
//! A new analysis is one file that implements [`Client`]; `examples/marker_client.rs` is one to copy.

mod error;
mod name;
mod place;
mod short;

pub mod spec;

pub mod check;
pub mod class_path;

pub mod known;
pub mod stack;
pub mod thread;

pub mod client;
pub mod dispatch;
mod gate;

pub use client::{Client, ClientReport, Ending, Exit, Instance, Object, Reporting};
pub use dispatch::Dispatch;
pub use error::Error;
pub use gate::predicate_of;
pub use known::{Known, Place};
pub use spec::{Spec, Wish};
pub use stack::{Entry, Stack};
pub use thread::{Thread, Threads};

/// Names of the clients that are built in; a marker without subscribers is for all of them.
pub const CLIENTS: &[&str] = &["counts", "contexts"];

#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;

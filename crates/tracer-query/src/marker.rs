//! Markers: what a user wants marked.
//!
//! [`spec`] reads markers from a file or from the command line into rules for the weaver; [`check`]
//! says what they would match. Nothing here weaves a running JVM. What is made of the marks is in `client`.

mod error;
mod name;
mod place;
mod short;

pub mod spec;

pub mod check;
pub mod class_path;

pub use error::Error;
pub use spec::{Spec, Wish, predicate_of};

/// Names of the clients that are built in; a marker without subscribers is for all of them.
pub const CLIENTS: &[&str] = &["counts", "contexts"];

#[cfg(test)]
mod tests;

//! Woven classes in real JVMs.
//!
//! These tests need `javac` of JDK 17, and the JDKs that `cargo xtask test` installs, so they are ignored here.

#![expect(
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "tests fail by panicking, and say what they saw"
)]

mod corpus;
mod counts;
mod verifier;

//! Woven classes in real JVMs.
//!
//! These tests need `javac` of JDK 17, and the JDKs that `cargo xtask test` installs, so they are ignored here.

#![expect(clippy::panic, clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod corpus;
mod counts;
mod verifier;

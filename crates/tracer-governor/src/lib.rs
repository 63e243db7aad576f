//! The governor: which group of sites must tell less, or go, and when it may come back. Reads no clock, attaches nothing.

pub mod guard;

// What is used of the crates below; code names it as `crate::MODULE`, wherever it is.
use tracer_event::random;
use tracer_model::item;

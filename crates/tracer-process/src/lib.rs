//! jtrace as a process: its rights, its terminal, its priority, and how it ends.

pub mod privilege;
pub mod standard_error;
pub mod terminal;

pub mod priority;

pub mod ending;
pub mod reserve;

// What is used of the crates below; code names it as `crate::MODULE`, wherever it is.
use tracer_event::clock;

//! From items to a report: analyses and clients of marks fold events into sections, rules find what is wrong. Knows neither a clock nor an output.

pub mod client;

pub mod analysis;
pub mod finding;
pub mod session;

// What is used of the crates below; code names it as `crate::MODULE`, wherever it is.
#[cfg(test)]
use tracer_event::random;
use tracer_event::{coverage, decode, event, group, jni, lens, names, stack, subject, tally, text};
#[cfg(test)]
use tracer_governor::guard;
use tracer_model::{item, report};
use tracer_query::{mark, marker, predicate, typestate};
#[cfg(test)]
use tracer_source::source;
#[cfg(test)]
use tracer_testing as fuzz;

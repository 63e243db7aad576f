//! What sources, analyses and views share: the items of a session, and the shapes of its report.

pub mod item;
pub mod report;

// What is used of the crates below; code names it as `crate::MODULE`, wherever it is.
use tracer_event::{coverage, event, lens, stack, subject, tally, text};
use tracer_query::mark;
#[cfg(test)]
use tracer_testing as fuzz;

//! Reports for people and for programs: text, JSON, pages, the screen, and the difference between two. A view knows shapes and no lens.

pub mod diff;
pub mod view;

// What is used of the crates below; code names it as `crate::MODULE`, wherever it is.
#[cfg(test)]
use tracer_analysis::{finding, session};
use tracer_event::{stack, text};
use tracer_heap::heap;
use tracer_model::{item, report};
use tracer_query::predicate;
#[cfg(test)]
use tracer_source::source;
#[cfg(test)]
use tracer_testing as fuzz;

//! The overhead laboratory: what watching costs real programs, measured in pairs, beside other tools.

pub mod bench;

// What is used of the crates below; code names it as `crate::MODULE`, wherever it is.
use tracer_event::{lens, random, text};
use tracer_jvm::jvm;
#[cfg(test)]
use tracer_query::marker;
#[cfg(test)]
use tracer_testing as fuzz;
#[cfg(test)]
use tracer_view::view;

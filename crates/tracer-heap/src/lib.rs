//! The heap of a JVM as a graph: who holds what, what each thing holds, and what goes on growing.

pub mod heap;

// What is used of the crates below; code names it as `crate::MODULE`, wherever it is.
use tracer_event::text;
use tracer_model::report;
use tracer_query::predicate;
#[cfg(test)]
use tracer_testing as fuzz;

//! What a user asks for: predicates, protocols of objects (typestate), markers. Nothing here attaches anything or weaves a running JVM.

pub mod predicate;
pub mod typestate;

pub mod mark;
pub mod marker;

// What is used of the crates below; code names it as `crate::MODULE`, wherever it is.
use tracer_event::{event, jni, random, subject, text};
#[cfg(test)]
use tracer_testing as fuzz;

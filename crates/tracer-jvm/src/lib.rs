//! Reading and changing a HotSpot JVM from outside: its tables, code, threads and stacks. Knows no eBPF and no report.

pub mod jvm;
pub mod symbol;
pub mod unwind;

pub mod thread_dump;

// What is used of the crates below; code names it as `crate::MODULE`, wherever it is.
use tracer_event::{clock, event, jni, stack, text};
use tracer_model::item;
use tracer_process::{ending, privilege};
#[cfg(test)]
mod fuzz;

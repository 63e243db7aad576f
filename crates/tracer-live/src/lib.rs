//! A JVM while it is watched: which sites a lens needs, the eBPF programs at them, the library in the JVM, the session that brings it all together, and setting it up.

mod packed;
pub mod probe;

pub mod ebpf;
pub mod inside;
pub mod snapshot;

pub mod live;
pub mod setup;

// What is used of the crates below; code names it as `crate::MODULE`, wherever it is.
use tracer_event::{clock, coverage, decode, event, group, jni, lens, stack, subject, tally, text};
use tracer_governor::guard;
use tracer_heap::heap;
use tracer_jvm::{jvm, symbol, thread_dump, unwind};
use tracer_model::item;
use tracer_process::{ending, priority, privilege, standard_error};
use tracer_query::{mark, marker, predicate, typestate};
use tracer_source::source;
#[cfg(test)]
use tracer_testing as fuzz;

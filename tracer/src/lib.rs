//! jtrace: looks into running HotSpot JVMs from the operating system.
//!
//! This crate has the commands. What they do is in the crates below `crates`, which stand in the order of the data.
#![doc = "\n"]
#![doc = include_str!("../ARCHITECTURE.md")]

pub mod top;

pub mod cli;

#[cfg(test)]
mod documents;

// What is used of the crates below; code names it as `crate::MODULE`, wherever it is.
use tracer_analysis::{finding, session};
use tracer_bench::bench;
use tracer_event::{clock, coverage, lens, text};
#[cfg(test)]
use tracer_event::{decode, event};
use tracer_export::export;
use tracer_governor::guard;
use tracer_heap::heap;
use tracer_jvm::{jvm, symbol, thread_dump};
use tracer_live::{ebpf, inside, live, probe, setup, snapshot};
use tracer_model::{item, report};
use tracer_process::{ending, priority, privilege, reserve, standard_error, terminal};
use tracer_query::{mark, marker, predicate, typestate};
use tracer_source::source;
use tracer_view::{diff, view};

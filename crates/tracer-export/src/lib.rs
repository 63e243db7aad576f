//! Events as they pass, for other programs: lines of JSON, flight recordings, time lines.

pub mod export;

// What is used of the crates below; code names it as `crate::MODULE`, wherever it is.
use tracer_analysis::{analysis, session};
use tracer_event::{event, lens, names, stack, subject, text};
use tracer_model::{item, report};
#[cfg(test)]
use tracer_source::source;
use tracer_view::view;

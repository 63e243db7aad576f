//! Where a session's items come from if not from a live target: recordings, files of the JDK's recorder, scenarios of tests.

pub mod source;

// What is used of the crates below; code names it as `crate::MODULE`, wherever it is.
#[cfg(test)]
use tracer_analysis::session;
use tracer_event::{decode, event, jni, lens, stack, subject, tally, text};
#[cfg(test)]
use tracer_export::export;
use tracer_model::item;
#[cfg(test)]
use tracer_model::report;
use tracer_query::mark;
#[cfg(test)]
use tracer_testing as fuzz;
#[cfg(test)]
use tracer_view::view;

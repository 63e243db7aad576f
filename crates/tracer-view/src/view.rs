//! Views: draw a report in a medium. A view knows shapes and no analysis by name.
//!
//! A view takes a [`crate::report::Report`] and nothing else. Texts in a report are as the target gave them, so every view
//! passes each of them through [`escape`] on the way out.

pub mod format;
mod labels;
mod name;
mod order;
mod sentence;

mod calls;
mod graph;
mod heap_way;
mod question;
mod symbol;
mod time;

pub use sentence::head;

pub use symbol::Lines;

use crate::text::escape;

pub mod diff;
pub mod heap_answers;
pub mod heap_diff;
pub mod leaks;
pub mod text;
pub mod top;

pub mod json;
pub mod ndjson;

pub mod html;

pub mod callgrind;
pub mod dot;
pub mod folded;
pub mod pprof;
pub mod speedscope;
pub mod svg;

pub mod hgrm;

pub mod tui;

#[cfg(any(test, feature = "testing"))]
#[doc(hidden)]
pub mod sample;

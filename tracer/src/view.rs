//! Views: draw a report in a medium. A view knows shapes and no analysis by name.
//!
//! A view takes a [`crate::report::Report`] and nothing else. Texts in a report are as the target gave them, so every view
//! passes each of them through [`escape`] on the way out.

pub mod escape;
pub mod format;

pub mod text;

pub mod json;
pub mod ndjson;

#[cfg(test)]
mod sample;

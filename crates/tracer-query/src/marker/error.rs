//! What is wrong with a marker, where, and what was probably meant.

use std::fmt;

pub(super) use crate::predicate::error::Wrong;
use crate::{
    predicate::{
        error::{Line, excerpt},
        tree::Span,
    },
    text::escape,
};

/// A marker that cannot be understood.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Error {
    /// The file, as it was named, or the option.
    pub origin: String,
    /// Line and column (in characters) of the place in a file, from 1.
    pub at: Option<(usize, usize)>,
    /// What is wrong there.
    pub what: String,
    /// What to write instead.
    pub hint: Option<String>,
    /// The line's text; nothing where the file as a whole is wrong.
    text: Option<Box<(String, Span)>>,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { origin, at, what, .. } = self;
        match at {
            Some((line, column)) => write!(f, "{origin}:{line}:{column}: {what}"),
            None => write!(f, "{origin}: {what}"),
        }
    }
}

impl Error {
    /// Of a file, at a place.
    pub(super) fn in_file(file: &str, text: &str, wrong: Wrong) -> Self {
        let Wrong { what, span, hint } = wrong;
        let Line { number, column, text, span } = Line::of(text, &span);
        Self { origin: file.to_owned(), at: Some((number, column)), what, hint, text: Some(Box::new((text, span))) }
    }

    /// Of an option of the command line.
    pub(super) fn in_option(option: &str, text: &str, wrong: Wrong) -> Self {
        let Wrong { what, span, hint } = wrong;
        let span = Span { start: span.start, end: span.end };
        Self { origin: option.to_owned(), at: None, what, hint, text: Some(Box::new((text.to_owned(), span))) }
    }

    /// Of the whole.
    pub(super) fn of(origin: &str, what: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { origin: origin.to_owned(), at: None, what: what.into(), hint: Some(hint.into()), text: None }
    }

    /// The line, and below it a caret at the place; harmless on a terminal.
    pub fn excerpt(&self) -> Vec<String> {
        self.text.as_ref().map_or_else(Vec::new, |shown| excerpt(&shown.0, shown.1).to_vec())
    }

    /// All of it, in lines: what, the excerpt, the hint.
    pub fn render(&self) -> String {
        let mut lines = vec![escape::terminal(&self.to_string()).into_owned()];
        lines.extend(self.excerpt().iter().map(|line| format!("  {line}")));
        lines.extend(self.hint.iter().map(|hint| format!("hint: {}", escape::terminal(hint))));
        lines.join("\n")
    }
}

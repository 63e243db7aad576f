//! What is wrong with a property, where in its file, and what was probably meant.

use std::fmt;

pub(super) use crate::predicate::error::Wrong;
use crate::{
    predicate::{
        error::{Line, excerpt},
        tree::Span,
    },
    text::escape,
};

/// A property that cannot be understood.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Error {
    /// The file, as it was named.
    pub file: String,
    /// Line of the place, from 1.
    pub line: u32,
    /// Column of the place in characters, from 1.
    pub column: u32,
    /// What is wrong there.
    pub what: String,
    /// What to write instead.
    pub hint: Option<String>,
    /// The line's text.
    text: String,
    /// The place in that line.
    span: Span,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, line, column, what, .. } = self;
        write!(f, "{file}:{line}:{column}: {}", escape::terminal(what))
    }
}

impl Error {
    /// Of a file, at a place.
    pub(super) fn new(file: &str, text: &str, wrong: Wrong) -> Self {
        let Wrong { what, span, hint } = wrong;
        let Line { number, column, text, span } = Line::of(text, &span);
        let counted = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        Self { file: file.to_owned(), line: counted(number), column: counted(column), what, hint, text, span }
    }

    /// The line, and below it a caret at the place; harmless on a terminal.
    pub fn excerpt(&self) -> [String; 2] {
        excerpt(&self.text, self.span)
    }

    /// All of it, in lines: what, the excerpt, the hint.
    pub fn render(&self) -> String {
        let [text, under] = self.excerpt();
        let mut lines = format!("{}\n  {text}\n  {under}", escape::terminal(&self.to_string()));
        if let Some(hint) = &self.hint {
            lines.push_str("\nhint: ");
            lines.push_str(&escape::terminal(hint));
        }
        lines
    }
}

//! What is wrong with a property, where in its file, and what was probably meant.

use std::{fmt, ops::Range};

use crate::{
    predicate::{error::excerpt, tree::Span},
    view::escape,
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
        write!(f, "{file}:{line}:{column}: {what}")
    }
}

impl Error {
    /// Finds the line of a place. A place of several lines is shown by its first.
    pub(super) fn new(file: &str, text: &str, wrong: Wrong) -> Self {
        let Wrong { what, span, hint } = wrong;
        let start = text.floor_char_boundary(span.start);
        let end = text.floor_char_boundary(span.end.max(start));
        let from = text[..start].rfind('\n').map_or(0, |at| at + 1);
        let to = text[start..].find('\n').map_or(text.len(), |at| start + at);
        let counted = |count: usize| u32::try_from(count + 1).unwrap_or(u32::MAX);
        let line = counted(text[..from].matches('\n').count());
        let column = counted(text[from..start].chars().count());
        let span = Span { start: start - from, end: end.min(to) - from };
        let text = text[from..to].trim_end_matches('\r').to_owned();
        Self { file: file.to_owned(), line, column, what, hint, text, span }
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

/// Something wrong at a place of a text that is being read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Wrong {
    pub(super) what: String,
    pub(super) span: Range<usize>,
    pub(super) hint: Option<String>,
}

impl Wrong {
    pub(super) fn new(span: Range<usize>, what: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { what: what.into(), span, hint: Some(hint.into()) }
    }
}

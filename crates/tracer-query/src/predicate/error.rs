//! What is wrong with a predicate, where, and what was probably meant.

use std::{fmt, ops::Range};

use super::tree::Span;
use crate::text::escape;

/// Columns of the text that an excerpt shows around the place.
const COLUMNS: usize = 90;

/// A predicate that cannot be understood.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Error {
    /// The option that it was given to.
    pub option: &'static str,
    /// The whole text.
    pub text: String,
    /// The place.
    pub span: Span,
    /// What is wrong there.
    pub what: String,
    /// What to write instead.
    pub hint: Option<String>,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { option, what, .. } = self;
        write!(f, "{option}: {what}")
    }
}

impl Error {
    /// The text around the place, and below it a caret at the place and a line under the rest of it; harmless on a terminal.
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

/// Something wrong at a place of a text that is being read: a file of markers, or of a property.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrong {
    /// What is wrong.
    pub what: String,
    /// Where, in bytes of the text.
    pub span: Range<usize>,
    /// What helps.
    pub hint: Option<String>,
}

impl Wrong {
    /// Something wrong, and what helps.
    pub fn new(span: Range<usize>, what: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { what: what.into(), span, hint: Some(hint.into()) }
    }

    /// In a text of which this was read, from this byte on.
    #[must_use]
    pub fn from(mut self, start: usize) -> Self {
        self.span = self.span.start + start..self.span.end + start;
        self
    }
}

/// The line of a text in which a place lies.
pub struct Line {
    /// Its number, from 1.
    pub number: usize,
    /// Column of the place in characters, from 1.
    pub column: usize,
    /// The line.
    pub text: String,
    /// The place in it.
    pub span: Span,
}

impl Line {
    /// Finds it. A place of several lines is shown by its first.
    pub fn of(text: &str, span: &Range<usize>) -> Self {
        let start = text.floor_char_boundary(span.start);
        let end = text.floor_char_boundary(span.end.max(start));
        let from = text[..start].rfind('\n').map_or(0, |at| at + 1);
        let to = text[start..].find('\n').map_or(text.len(), |at| start + at);
        Self {
            number: text[..from].matches('\n').count() + 1,
            column: text[from..start].chars().count() + 1,
            text: text[from..to].trim_end_matches('\r').to_owned(),
            span: Span { start: start - from, end: end.min(to) - from },
        }
    }
}

/// A line around a place, and below it a caret at the place and a line under the rest of it; harmless on a terminal.
pub fn excerpt(text: &str, span: Span) -> [String; 2] {
    let at = |end: usize| text.floor_char_boundary(end);
    let (start, end) = (at(span.start), at(span.end.max(span.start)));
    let (before, place, after) = (&text[..start], &text[start..end], &text[end..]);
    let (before, place, after) = (escape::terminal(before), escape::terminal(place), escape::terminal(after));
    let mut before = tail(&before, COLUMNS / 2);
    let room = COLUMNS.saturating_sub(escape::width(&before));
    let place = escape::ellipsis(&place, room);
    let marks = escape::width(&place).saturating_sub(1);
    let under = format!("{}^{}", " ".repeat(escape::width(&before)), "~".repeat(marks));
    before.push_str(&place);
    before.push_str(&escape::ellipsis(&after, room.saturating_sub(marks)));
    [before.trim_end().to_owned(), under]
}

/// The end of a text, as much as fits the columns.
fn tail(text: &str, columns: usize) -> String {
    if escape::width(text) <= columns {
        return text.to_owned();
    }
    let mut start = text.len();
    for (at, _) in text.char_indices().rev() {
        if escape::width(&text[at..]) >= columns {
            break;
        }
        start = at;
    }
    format!("…{}", &text[start..])
}

/// The one of some words that a mistyped word most resembles, if it resembles any.
pub fn nearest<'a>(word: &str, words: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.to_lowercase();
    let allowed = (word.chars().count() / 3).clamp(1, 2);
    words
        .into_iter()
        .map(|candidate| (distance(&word, candidate), candidate))
        .filter(|&(distance, candidate)| distance <= allowed && distance < candidate.len())
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, candidate)| candidate)
}

/// How many letters must be put in, left out, replaced or swapped with their neighbour to make one word the other.
fn distance(one: &str, other: &str) -> usize {
    let (one, other): (Vec<char>, Vec<char>) = (one.chars().take(32).collect(), other.chars().take(32).collect());
    let mut rows = vec![vec![0_usize; other.len() + 1]; one.len() + 1];
    for i in 0..=one.len() {
        for j in 0..=other.len() {
            rows[i][j] = if i == 0 || j == 0 {
                i + j
            } else {
                let replaced = rows[i - 1][j - 1] + usize::from(one[i - 1] != other[j - 1]);
                let swapped = i > 1 && j > 1 && one[i - 1] == other[j - 2] && one[i - 2] == other[j - 1];
                let best = replaced.min(rows[i - 1][j] + 1).min(rows[i][j - 1] + 1);
                if swapped { best.min(rows[i - 2][j - 2] + 1) } else { best }
            };
        }
    }
    rows[one.len()][other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_those_of_hand() {
        for (one, other, expected) in
            [("", "", 0), ("size", "size", 0), ("siez", "size", 1), ("durration", "duration", 1), ("a", "xyz", 3)]
        {
            assert_eq!(distance(one, other), expected, "{one} {other}");
        }
    }

    #[test]
    fn a_word_that_resembles_none_gets_no_suggestion() {
        assert_eq!(nearest("methd", ["class", "method"]), Some("method"));
        assert_eq!(nearest("Method", ["class", "method"]), Some("method"));
        assert_eq!(nearest("banana", ["class", "method"]), None);
    }
}

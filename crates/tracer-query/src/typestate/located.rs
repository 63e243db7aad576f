//! Texts of a TOML document with the places of their characters: a mistake inside a text is shown where it stands in the file.

use std::ops::Range;

use toml::{Spanned, de::DeValue};

use super::error::Wrong;

/// A text, and where it stands in the document.
#[derive(Clone, Debug)]
pub(super) struct Located {
    pub(super) text: String,
    /// With its quotes.
    pub(super) span: Range<usize>,
    /// Where each byte of the text comes from, and where the text ends.
    places: Vec<usize>,
}

impl Located {
    /// A value of the document, if it is a text.
    pub(super) fn new(document: &str, value: &Spanned<DeValue<'_>>) -> Option<Self> {
        let text = value.get_ref().as_str()?.to_owned();
        let span = value.span();
        let places = places(document.get(span.clone()).unwrap_or_default(), &text, span.start);
        Some(Self { text, span, places })
    }

    /// Something that is wrong in the text, at its place in the document.
    pub(super) fn wrong(&self, wrong: Wrong) -> Wrong {
        let place = |at: usize| self.places.get(at).copied().unwrap_or(self.span.end);
        let Wrong { what, span, hint } = wrong;
        let start = place(span.start);
        // The end of a character is where it was written to, also where that took more than it is.
        let end = if span.end > span.start { place(span.end).max(start + 1) } else { start };
        Wrong { what, span: start..end, hint }
    }

    /// The whole of it is wrong.
    pub(super) fn whole(&self, what: impl Into<String>, hint: impl Into<String>) -> Wrong {
        Wrong::new(self.span.clone(), what, hint)
    }
}

/// Where each byte of a text stands in what was written, which begins at `start` of the document.
fn places(written: &str, text: &str, start: usize) -> Vec<usize> {
    let quote = ["\"\"\"", "'''", "\"", "'"].into_iter().find(|quote| written.starts_with(quote)).unwrap_or("");
    let mut at = quote.len();
    if quote.len() == 3 {
        // A line break right behind the quotes is no part of the text.
        at += ["\r\n", "\n"].into_iter().find(|end| written[at..].starts_with(end)).map_or(0, str::len);
    }
    let escapes = quote.starts_with('"');
    let mut places = Vec::with_capacity(text.len() + 1);
    for c in text.chars() {
        while escapes && continues(&written[at..]) {
            at += 1;
            at += written[at..].len() - written[at..].trim_start().len();
        }
        places.extend(std::iter::repeat_n(start + at, c.len_utf8()));
        at += if escapes { width(&written[at..]) } else { written[at..].chars().next().map_or(0, char::len_utf8) };
    }
    places.push(start + at);
    places
}

/// Whether the line goes on in the next one.
fn continues(written: &str) -> bool {
    written.strip_prefix('\\').is_some_and(|rest| rest.starts_with(char::is_whitespace))
}

/// Bytes that the first character was written with.
fn width(written: &str) -> usize {
    let mut characters = written.chars();
    match characters.next() {
        Some('\\') => match characters.next() {
            Some('x') => 4,
            Some('u') => 6,
            Some('U') => 10,
            Some(other) => 1 + other.len_utf8(),
            None => 1,
        }
        .min(written.len()),
        Some(c) => c.len_utf8(),
        None => 0,
    }
}

#[cfg(test)]
mod tests {
    use toml::de::DeTable;

    use super::*;

    #[test]
    fn every_character_knows_where_it_was_written() {
        for document in [
            "x = \"abc\"",
            "x = 'a\\c'",
            "x = \"a\\tb\\u0041ü\\\"c\"",
            "x = \"\"\"\nab\nc\"\"\"",
            "x = '''\r\nab'''",
            "x = \"\"\"a\\\n   b\"\"\"",
        ] {
            let table = DeTable::parse(document).unwrap();
            let value = table.get_ref().values().next().unwrap();
            let located = Located::new(document, value).unwrap();
            assert_eq!(located.places.len(), located.text.len() + 1);
            for (at, c) in located.text.char_indices() {
                let written = &document[located.places[at]..];
                assert!(written.starts_with(c) || written.starts_with('\\'), "{document}: {c} at {written}");
            }
            let end = &document[located.places[located.text.len()]..];
            assert!(end.starts_with(['"', '\'']), "{document}: {end}");
        }
    }
}

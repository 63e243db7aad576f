//! Words, texts, numbers and signs of a predicate.

use super::{error::nearest, tree::Span};

/// What a piece of the text is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token<'a> {
    /// A field, a test, `in`, or something that should have been in quotes.
    Word(&'a str),
    /// What stands between quotes.
    Text(String),
    /// Digits, perhaps with a dot.
    Number(&'a str),
    /// An operator, a parenthesis, a comma.
    Sign(&'static str),
    /// The text is over.
    End,
}

/// A token, and where it stands.
pub(super) type Piece<'a> = (Token<'a>, Span);

/// Something that is no token: what, where, what to do.
pub(super) type Wrong = (String, Span, Option<String>);

/// Signs; those of two characters first.
const SIGNS: [&str; 15] = ["&&", "||", "==", "!=", "<=", ">=", "!~", "(", ")", ",", "!", "<", ">", "~", "/"];

/// What others write for a sign.
const FOREIGN: [(&str, &str); 6] = [("=~", "~"), ("=", "=="), ("&", "&&"), ("|", "||"), ("<>", "!="), ("≠", "!=")];

/// Cuts a text into tokens; the last is [`Token::End`].
pub(super) fn tokens(text: &str) -> Result<Vec<Piece<'_>>, Wrong> {
    let mut pieces = Vec::new();
    let mut at = 0;
    loop {
        at += text[at..].len() - text[at..].trim_start().len();
        let rest = &text[at..];
        let (token, length) = next(rest).map_err(|(what, length, hint)| {
            let span = Span { start: at, end: at + length };
            (what, span, hint)
        })?;
        let span = Span { start: at, end: at + length };
        at = span.end;
        let over = token == Token::End;
        pieces.push((token, span));
        if over {
            return Ok(pieces);
        }
    }
}

/// The first token and its length.
fn next(rest: &str) -> Result<(Token<'_>, usize), (String, usize, Option<String>)> {
    let Some(first) = rest.chars().next() else { return Ok((Token::End, 0)) };
    if first == '"' || first == '\'' {
        return quoted(rest, first);
    }
    if first.is_ascii_digit() {
        let length = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        return Ok((Token::Number(&rest[..length]), length));
    }
    let in_word = |c: char| c.is_alphanumeric() || "_.$*?:".contains(c);
    if in_word(first) {
        let length = rest.find(|c: char| !in_word(c)).unwrap_or(rest.len());
        return Ok((Token::Word(&rest[..length]), length));
    }
    let foreign = FOREIGN.iter().find(|(sign, _)| rest.starts_with(sign));
    let sign = SIGNS.into_iter().find(|sign| rest.starts_with(sign));
    match (sign, foreign) {
        (Some(sign), None) => Ok((Token::Sign(sign), sign.len())),
        (Some(sign), Some((other, _))) if sign.len() > 1 || other.len() == 1 => Ok((Token::Sign(sign), sign.len())),
        (_, Some((other, meant))) => {
            Err((format!("{other} is no operator"), other.len(), Some(format!("write {meant}"))))
        }
        (None, None) => {
            let hint = match first {
                '-' => Some("there are no negative numbers and no arithmetic".to_owned()),
                '[' => Some("put the name of an array into quotes: \"byte[]\"".to_owned()),
                _ => None,
            };
            Err((format!("{first} is nothing that a predicate knows"), first.len_utf8(), hint))
        }
    }
}

/// A text in quotes.
fn quoted(rest: &str, quote: char) -> Result<(Token<'_>, usize), (String, usize, Option<String>)> {
    let mut text = String::new();
    let mut characters = rest.char_indices().skip(1);
    while let Some((at, c)) = characters.next() {
        match c {
            _ if c == quote => return Ok((Token::Text(text), at + 1)),
            '\\' => {
                let Some((_, escaped @ ('"' | '\'' | '\\'))) = characters.next() else {
                    let what = "a backslash stands before a quote or a backslash only".to_owned();
                    return Err((what, at + 1, Some("write \\\" for a quote, \\\\ for a backslash".to_owned())));
                };
                text.push(escaped);
            }
            _ if c.is_control() => {
                let hint = "a ? in a pattern stands for any character".to_owned();
                return Err(("a text has a control character".to_owned(), at + c.len_utf8(), Some(hint)));
            }
            _ => text.push(c),
        }
    }
    Err(("the text has no end".to_owned(), rest.len(), Some(format!("put {quote} behind it"))))
}

/// What a word of another language is here.
pub(super) fn foreign_word(word: &str) -> Option<&'static str> {
    Some(match word.to_ascii_lowercase().as_str() {
        "and" => "&&",
        "or" => "||",
        "not" => "!",
        "is" | "eq" | "equals" => "==",
        "ne" => "!=",
        "like" | "matches" | "contains" => "~",
        "lt" => "<",
        "gt" => ">",
        "le" => "<=",
        "ge" => ">=",
        _ => return None,
    })
}

/// The unit that a mistyped unit most resembles.
pub(super) fn nearest_unit(word: &str, units: &[(&'static str, u64)]) -> Option<&'static str> {
    let other_case = units.iter().find(|(unit, _)| unit.eq_ignore_ascii_case(word)).map(|&(unit, _)| unit);
    let short = match word {
        "k" | "K" => Some("KiB"),
        "M" => Some("MiB"),
        "g" | "G" => Some("GiB"),
        "min" | "minutes" => Some("m"),
        "sec" | "seconds" => Some("s"),
        "msec" | "millis" => Some("ms"),
        "usec" | "micros" | "µs" => Some("us"),
        "nanos" => Some("ns"),
        "bytes" | "byte" => Some("B"),
        _ => None,
    };
    other_case
        .or_else(|| short.filter(|short| units.iter().any(|(unit, _)| unit == short)))
        .or_else(|| nearest(word, units.iter().map(|&(unit, _)| unit)))
}

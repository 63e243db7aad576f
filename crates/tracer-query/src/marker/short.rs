//! Markers on the command line: `checkout=com.shop.*::checkout+time`, `scan=com.shop.Cart::*@loop where depth > 1`.
//!
//! ```text
//! short = [name "="] class "::" method ["@" place] ("+" word)* [" where " predicate]
//! word  = "time" | "receiver" | "arguments" | "subclasses" | "point" | "region"
//! ```

use tracer_weave::Sides;

use super::{
    error::Wrong,
    name, place,
    spec::{Draft, Flags},
};
use crate::predicate::error::nearest;

/// Words behind `+`.
const WORDS: [&str; 6] = ["time", "receiver", "arguments", "subclasses", "point", "region"];

/// Reads a short form.
pub(super) fn parse(text: &str) -> Result<Draft, Wrong> {
    let (pattern, predicate) = match text.split_once(" where ") {
        Some((pattern, predicate)) => (pattern, Some((predicate, pattern.len() + " where ".len()))),
        None => (text, None),
    };
    let Some(colons) = pattern.find("::") else { return Err(no_colons(pattern)) };
    let (named, start) = match pattern[..colons].find('=') {
        Some(at) => (Some(0..at), at + 1),
        None => (None, 0),
    };
    let class = name::class_pattern(&pattern[start..colons]).map_err(|wrong| wrong.from(start))?;
    let rest = colons + 2;
    let (method, place_at, mut end) = method_end(pattern, rest);
    let (method, descriptor) = name::method(&pattern[method.clone()]).map_err(|wrong| wrong.from(method.start))?;
    let place = match place_at {
        Some(at) => {
            end = pattern[at..].find('+').map_or(pattern.len(), |plus| at + plus);
            place::parse(&pattern[at..end]).map_err(|wrong| wrong.from(at))?
        }
        None => tracer_weave::Place::Method,
    };
    let flags = flags(pattern, end)?;
    let name_at = named.unwrap_or(start..end);
    Ok(Draft {
        name: (pattern[name_at.clone()].to_owned(), name_at),
        token: None,
        pattern: pattern[start..end].to_owned(),
        class,
        method,
        descriptor,
        also: Vec::new(),
        place,
        place_at: place_at.map_or(start..end, |at| at..end),
        flags,
        predicate: predicate.map(|(text, from)| (text.to_owned(), Some(from), from..from + text.len())),
        inside: Vec::new(),
        not_under: Vec::new(),
        subscribers: Vec::new(),
    })
}

/// Where the method stands and the place, if there is one, and where both end.
fn method_end(text: &str, from: usize) -> (std::ops::Range<usize>, Option<usize>, usize) {
    let end = text[from..].find(['@', '+']).map_or(text.len(), |at| from + at);
    let place = text[end..].starts_with('@').then_some(end + 1);
    (from..end, place, end)
}

/// What stands behind the pattern: `+time+receiver`.
fn flags(text: &str, from: usize) -> Result<Flags, Wrong> {
    let mut flags = Flags::default();
    let mut start = from;
    while let Some(rest) = text.get(start..).and_then(|rest| rest.strip_prefix('+')) {
        let word = &rest[..rest.find('+').unwrap_or(rest.len())];
        let at = start + 1..start + 1 + word.len();
        start = at.end;
        match word {
            "time" => flags.time = Some(at),
            "receiver" => flags.receiver = true,
            "arguments" | "args" => flags.arguments = Some(at),
            "subclasses" => flags.subclasses = true,
            "point" => flags.sides = Some((Sides::Point, at)),
            "region" => flags.sides = Some((Sides::Region, at)),
            other => {
                let hint = nearest(other, WORDS).map_or_else(
                    || format!("words are +{}", WORDS.join(", +")),
                    |meant| format!("did you mean +{meant}?"),
                );
                return Err(Wrong::new(at, format!("there is no `+{other}`"), hint));
            }
        }
    }
    Ok(flags)
}

/// A pattern that does not say where the class ends.
fn no_colons(text: &str) -> Wrong {
    let from = text.find('=').map_or(0, |at| at + 1);
    let end = text[from..].find(['@', '+', '(']).map_or(text.len(), |at| from + at);
    let name = &text[from..end];
    let single = name.rsplit_once(':').filter(|(class, method)| !class.is_empty() && !method.is_empty());
    let hint = match single.or_else(|| name.rsplit_once(['.', '#'])) {
        Some((class, method)) if single.is_some() => format!("write {class}::{method}"),
        Some((class, method)) if !class.is_empty() && !method.is_empty() => {
            format!("write {class}::{method} for this method, or {name}::* for all methods of a class")
        }
        _ if name.is_empty() => "as in checkout=com.shop.*::checkout".to_owned(),
        _ => format!("write *::{name} for a method of all classes, or {name}::* for all methods of a class"),
    };
    Wrong::new(from..end, "what is marked is CLASS::METHOD", hint)
}

//! Places in methods as users write them: `method`, `loop`, `block`, `line:42-57`, `call:java.util.Iterator::next`,
//! `field:com.shop.Cart.total=w`.

use tracer_weave::{Access, Pattern, Place, Sides};

use super::{
    error::Wrong,
    name::{class_pattern, pattern},
};
use crate::predicate::error::nearest;

/// The words that a place begins with.
const WORDS: [&str; 6] = ["method", "loop", "block", "line", "call", "field"];

/// Reads a place.
pub(super) fn parse(text: &str) -> Result<Place, Wrong> {
    let (word, rest) = text.split_once(':').map_or((text, None), |(word, rest)| (word, Some(rest)));
    let whole = 0..text.len();
    let at = word.len() + 1;
    match (word, rest) {
        ("method", None) => Ok(Place::Method),
        ("loop", None) => Ok(Place::Loop),
        ("block", None) => Ok(Place::Block),
        ("line", Some(rest)) => lines(rest).map_err(|wrong| wrong.from(at)),
        ("call", Some(rest)) => call(rest).map_err(|wrong| wrong.from(at)),
        ("field", Some(rest)) => field(rest).map_err(|wrong| wrong.from(at)),
        ("line", None) => Err(Wrong::new(whole, "the line is missing", "write line:42, or line:42-57")),
        ("call", None) => Err(Wrong::new(whole, "what is called is missing", "as in call:java.util.Iterator::next")),
        ("field", None) => Err(Wrong::new(whole, "the field is missing", "as in field:com.shop.Cart.total=w")),
        ("method" | "loop" | "block", Some(_)) => {
            Err(Wrong::new(word.len()..text.len(), format!("nothing follows `{word}`"), "leave it out"))
        }
        _ => {
            let hint = nearest(word, WORDS).map_or_else(
                || "places are method, loop, block, line:42-57, call:CLASS::METHOD, field:CLASS.FIELD=w".to_owned(),
                |meant| format!("did you mean {meant}?"),
            );
            Err(Wrong::new(0..word.len(), format!("there is no place `{word}`"), hint))
        }
    }
}

/// What is told of a place where nothing else is said.
pub(super) const fn usual_sides(place: &Place) -> Sides {
    match place {
        Place::Method | Place::Loop | Place::Lines { .. } | Place::Call { .. } => Sides::Region,
        Place::Block | Place::Field { .. } | Place::Allocation | Place::Exception => Sides::Point,
    }
}

/// Why a place cannot be a region.
pub(super) const fn no_region(place: &Place) -> Option<&'static str> {
    match place {
        Place::Method | Place::Loop | Place::Lines { .. } | Place::Call { .. } => None,
        Place::Block => Some("a block is a point: it has no end of its own"),
        Place::Field { .. } => Some("an access of a field is a point"),
        Place::Allocation => Some("an allocation is a point"),
        Place::Exception => Some("an exception is a point"),
    }
}

/// `42`, `42-57`.
fn lines(text: &str) -> Result<Place, Wrong> {
    let number = |text: &str, start: usize| {
        text.parse::<u32>().ok().filter(|line| (1..=65_535).contains(line)).ok_or_else(|| {
            let what = format!("`{text}` is no line");
            Wrong::new(start..start + text.len(), what, "lines are numbers from 1 to 65535, as in line:42-57")
        })
    };
    let Some((first, last)) = text.split_once('-') else {
        let line = number(text, 0)?;
        return Ok(Place::Lines { first: line, last: line });
    };
    let (from, to) = (number(first, 0)?, number(last, first.len() + 1)?);
    if to < from {
        return Err(Wrong::new(0..text.len(), "the last line is before the first", format!("write {to}-{from}")));
    }
    Ok(Place::Lines { first: from, last: to })
}

/// `java.util.Iterator::next`.
fn call(text: &str) -> Result<Place, Wrong> {
    let Some((class, method)) = text.split_once("::") else {
        let what = "what is called is CLASS::METHOD";
        let hint = match text.rsplit_once('.') {
            Some((class, method)) if !method.is_empty() => format!("write call:{class}::{method}"),
            _ => format!("write call:*::{text}"),
        };
        return Err(Wrong::new(0..text.len(), what, hint));
    };
    if let Some(at) = method.find('(') {
        let start = class.len() + 2 + at;
        let hint = "leave the parameters out: a call is chosen by class and name";
        return Err(Wrong::new(start..text.len(), "a call is not chosen by its parameters", hint));
    }
    let from = class.len() + 2;
    Ok(Place::Call { class: class_pattern(class)?, method: pattern(method).map_err(|wrong| wrong.from(from))? })
}

/// `com.shop.Cart.total`, `com.shop.Cart.total=w`.
fn field(text: &str) -> Result<Place, Wrong> {
    let (name, access) = text.rsplit_once('=').map_or((text, None), |(name, access)| (name, Some(access)));
    let access = match access {
        None | Some("rw" | "wr") => Access::Any,
        Some("r") => Access::Read,
        Some("w") => Access::Write,
        Some(other) => {
            let what = format!("there is no access `{other}`");
            return Err(Wrong::new(name.len() + 1..text.len(), what, "write r (reads), w (writes) or rw (both)"));
        }
    };
    // `::` as for methods is understood, too.
    let split = name.split_once("::").map(|(class, field)| (class, field, 2));
    let split = split.or_else(|| name.rsplit_once('.').map(|(class, field)| (class, field, 1)));
    let Some((class, field, between)) = split else {
        let hint = format!("write field:*.{name} for fields of any class");
        return Err(Wrong::new(0..name.len(), "a field is CLASS.FIELD", hint));
    };
    let from = class.len() + between;
    let field: Pattern = pattern(field).map_err(|wrong| wrong.from(from))?;
    Ok(Place::Field { class: class_pattern(class)?, field, access })
}

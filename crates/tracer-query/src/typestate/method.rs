//! Which methods a symbol stands for: `next()`, `read(byte[], int, int)`, `write(*)`, `<init>(java.io.File)`.
//!
//! Parameters are types as Java's source names them, without their generic part; classes in classes have the `$` of their
//! binary name. A last `*` stands for any further parameters. Return types are not asked for.

use std::fmt;

use serde::{Deserialize, Serialize};
use tracer_weave::Pattern;

use super::error::Wrong;
use crate::text::class_name::PRIMITIVES;

/// Longest pattern. Names in class files are rarely longer than 100 bytes.
const MAX_LENGTH: usize = 1000;

/// Classes of `java.lang` that are written without their package by habit.
const COMMON: [&str; 14] = [
    "String",
    "Object",
    "Class",
    "Thread",
    "Runnable",
    "Iterable",
    "CharSequence",
    "Integer",
    "Long",
    "Boolean",
    "Throwable",
    "StringBuilder",
    "AutoCloseable",
    "Number",
];

/// A pattern of methods.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Method {
    /// Its name; `*` stands for any text.
    pub name: Pattern,
    /// The types of its parameters, as the source has them.
    pub parameters: Vec<String>,
    /// Whether any others may follow.
    pub open: bool,
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, parameters, open } = self;
        let parameters: Vec<&str> = parameters.iter().map(String::as_str).chain(open.then_some("*")).collect();
        write!(f, "{}({})", name.as_str(), parameters.join(", "))
    }
}

impl Method {
    /// Reads a pattern. Places of errors are those in the text.
    pub(super) fn parse(text: &str) -> Result<Self, Wrong> {
        let whole = 0..text.len();
        if text.len() > MAX_LENGTH {
            return Err(Wrong::new(whole, format!("a pattern of more than {MAX_LENGTH} bytes"), "shorten it with *"));
        }
        let Some(bracket) = text.find('(') else {
            let hint = format!("write {text}() for no parameters, {text}(*) for any");
            return Err(Wrong::new(whole, "a method needs its parameters", hint));
        };
        let name = text[..bracket].trim();
        named(name, bracket)?;
        let Some(list) = text[bracket + 1..].trim_end().strip_suffix(')') else {
            return Err(Wrong::new(bracket..text.len(), "the parameters do not end", "close them with )"));
        };
        let mut parameters = Vec::new();
        let mut open = false;
        let mut at = bracket + 1;
        if list.trim().is_empty() {
            return Ok(Self { name: Pattern::new(name), parameters, open });
        }
        for piece in list.split(',') {
            let lead = piece.len() - piece.trim_start().len();
            let written = piece.trim();
            let span = at + lead..at + lead + written.len();
            at += piece.len() + 1;
            if open {
                return Err(Wrong::new(
                    span,
                    "nothing may follow the *",
                    "a * is for all that follow; leave the rest out",
                ));
            }
            if written == "*" {
                open = true;
            } else {
                parameters.push(typed(written).map_err(|(what, hint)| Wrong::new(span, what, hint))?);
            }
        }
        Ok(Self { name: Pattern::new(name), parameters, open })
    }

    /// Its descriptors, as a pattern; nothing where all are meant.
    pub fn descriptor(&self) -> Option<Pattern> {
        if self.open && self.parameters.is_empty() {
            return None;
        }
        let types: String = self.parameters.iter().map(|written| encoded(written)).collect();
        let rest = if self.open { "*" } else { "" };
        Some(Pattern::new(format!("({types}{rest})*")))
    }

    /// Whether there can be a method that both stand for. Exact: there is one if and only if this says so.
    pub fn overlaps(&self, other: &Self) -> bool {
        let shared = self.parameters.len().min(other.parameters.len());
        let fits = |one: &Self, longer: &Self| one.open || one.parameters.len() == longer.parameters.len();
        self.parameters[..shared] == other.parameters[..shared]
            && (if self.parameters.len() <= other.parameters.len() { fits(self, other) } else { fits(other, self) })
            && intersect(self.name.as_str(), other.name.as_str())
    }
}

/// Whether there is a text that both patterns stand for.
pub(super) fn intersect(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    // `below[j]`: whether the rests `one[i + 1..]` and `other[j..]` have a text in common.
    let mut below = vec![false; other.len() + 1];
    for i in (0..=one.len()).rev() {
        let mut row = vec![false; other.len() + 1];
        for j in (0..=other.len()).rev() {
            row[j] = match (one.get(i), other.get(j)) {
                (None, None) => true,
                (Some(b'*'), Some(b'*')) => below[j] || row[j + 1],
                (Some(b'*'), there) => below[j] || (there.is_some() && row[j + 1]),
                (here, Some(b'*')) => row[j + 1] || (here.is_some() && below[j]),
                (Some(here), Some(there)) => here == there && below[j + 1],
                (Some(_), None) | (None, Some(_)) => false,
            };
        }
        below = row;
    }
    below[0]
}

fn named(name: &str, end: usize) -> Result<(), Wrong> {
    let special = name == "<init>";
    let fits = |c: char| c.is_alphanumeric() || "_$*".contains(c);
    if special || (!name.is_empty() && name.chars().all(fits)) {
        return Ok(());
    }
    let hint = if name.is_empty() {
        "write the method's name before ("
    } else if name.contains(' ') {
        "a method is written without modifiers and without the type that it returns: next()"
    } else if name.contains('.') || name.contains(':') {
        "a method is written without its class, which stands in `classes`: next()"
    } else {
        "write a name, * for any text in it, or <init> for constructors"
    };
    Err(Wrong::new(0..end, format!("`{name}` is no name of a method"), hint))
}

/// A type in its canonical form, or what is wrong with it and what to write.
fn typed(written: &str) -> Result<String, (String, String)> {
    let compact: String = written.split_whitespace().collect();
    let base = compact.strip_suffix("...").map(|base| format!("{base}[]")).unwrap_or(compact);
    let element = base.trim_end_matches("[]");
    let wrong = |hint: &str| Err((format!("`{written}` is no type"), hint.to_owned()));
    if element.is_empty() {
        return wrong("write int, byte[], java.lang.String, or one * for all parameters that follow");
    }
    if element.contains('<') {
        return wrong("leave the generic part out: java.util.List");
    }
    if element.contains('*') {
        return wrong("a type is written out; a * of its own stands for all parameters that follow");
    }
    if written.contains(char::is_whitespace) && !written.contains('[') {
        return wrong("a parameter is its type alone, without a name");
    }
    if COMMON.contains(&element) {
        return Err((format!("`{written}` lacks its package"), format!("write java.lang.{written}")));
    }
    let part = |part: &str| {
        part.chars().next().is_some_and(|first| first.is_alphabetic() || "_$".contains(first))
            && part.chars().all(|c| c.is_alphanumeric() || "_$".contains(c))
    };
    if element.split('.').all(part) && element != "void" {
        Ok(base)
    } else {
        wrong("write int, byte[], java.lang.String, or java.util.Map$Entry")
    }
}

fn encoded(written: &str) -> String {
    let element = written.trim_end_matches("[]");
    let dimensions = "[".repeat((written.len() - element.len()) / 2);
    match PRIMITIVES.iter().find(|(name, _)| *name == element) {
        Some((_, letter)) => format!("{dimensions}{letter}"),
        None => format!("{dimensions}L{};", element.replace('.', "/")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn method(text: &str) -> Method {
        Method::parse(text).unwrap()
    }

    #[test]
    fn patterns_become_descriptors() {
        for (text, shown, descriptor) in [
            ("next()", "next()", Some("()*")),
            ("read(*)", "read(*)", None),
            ("read( byte [] ,int, int )", "read(byte[], int, int)", Some("([BII)*")),
            ("put(java.util.Map$Entry, *)", "put(java.util.Map$Entry, *)", Some("(Ljava/util/Map$Entry;*)*")),
            ("<init>(java.lang.String...)", "<init>(java.lang.String[])", Some("([Ljava/lang/String;)*")),
            ("set*(long[][])", "set*(long[][])", Some("([[J)*")),
        ] {
            let method = method(text);
            assert_eq!(method.to_string(), shown);
            assert_eq!(method.descriptor().as_ref().map(Pattern::as_str), descriptor, "{text}");
        }
    }

    #[test]
    fn overlap_is_decided_for_names_and_parameters() {
        for (one, other, expected) in [
            ("read()", "read()", true),
            ("read()", "read(int)", false),
            ("read(*)", "read(int)", true),
            ("read(int, *)", "read(*)", true),
            ("read(int, *)", "read(long, *)", false),
            ("read(int, *)", "read()", false),
            ("read(int, *)", "read(int)", true),
            ("read(int, long)", "read(int, *)", true),
            ("re*()", "*ad()", true),
            ("read*()", "write*()", false),
            ("a*b()", "ab*()", true),
            ("a*b()", "a*c()", false),
            ("*a()", "a*()", true),
            ("*()", "<init>()", true),
            ("read(int[])", "read(int)", false),
        ] {
            assert_eq!(method(one).overlaps(&method(other)), expected, "{one} {other}");
            assert_eq!(method(other).overlaps(&method(one)), expected, "{other} {one}");
        }
    }

    #[test]
    fn globs_intersect_where_a_common_text_is_found_by_trying() {
        let letters = ["", "a", "b", "*"];
        let patterns: Vec<String> =
            (0..256_usize).map(|n| (0..4).map(|place| letters[n >> (2 * place) & 3]).collect()).collect();
        let texts: Vec<String> = (0..9_u32)
            .flat_map(|length| {
                (0..1_u32 << length)
                    .map(move |bits| (0..length).map(|at| if bits >> at & 1 == 0 { 'a' } else { 'b' }).collect())
            })
            .collect();
        let sets: Vec<Vec<bool>> = patterns
            .iter()
            .map(|pattern| texts.iter().map(|text| Pattern::new(pattern.as_str()).matches(text)).collect())
            .collect();
        for (one, of_one) in patterns.iter().zip(&sets) {
            for (other, of_other) in patterns.iter().zip(&sets).step_by(7) {
                let tried = of_one.iter().zip(of_other).any(|(one, other)| *one && *other);
                assert_eq!(intersect(one, other), tried, "{one} {other}");
            }
        }
    }

    #[test]
    fn mistakes_are_explained() {
        for (text, span, what, hint) in [
            ("next", 0..4, "a method needs its parameters", "write next() for no parameters, next(*) for any"),
            ("f(String)", 2..8, "`String` lacks its package", "write java.lang.String"),
            ("f(int", 1..5, "the parameters do not end", "close them with )"),
            ("f(*, int)", 5..8, "nothing may follow the *", "a * is for all that follow; leave the rest out"),
            ("f(int x)", 2..7, "`int x` is no type", "a parameter is its type alone, without a name"),
        ] {
            assert_eq!(Method::parse(text), Err(Wrong::new(span, what, hint)), "{text}");
        }
        for text in ["()", "int f()", "A.f()", "f(java.util.*)", "f(java.util.List<X>)", "f(,)", "f(void)", "f(a..b)"] {
            assert!(Method::parse(text).is_err(), "{text}");
        }
    }
}

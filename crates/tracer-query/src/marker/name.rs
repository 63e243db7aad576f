//! Names of classes and methods as users write them.

use tracer_weave::Pattern;

use super::error::Wrong;
use crate::text::class_name::PRIMITIVES;

/// Longest pattern. Names in class files are rarely longer than 100 bytes.
const MAX_LENGTH: usize = 1000;

/// Classes of `java.lang` that are written without their package by habit.
const COMMON: [&str; 9] =
    ["String", "Object", "Class", "Thread", "Runnable", "CharSequence", "Integer", "Long", "Throwable"];

/// A name or a pattern of names, with `*` for any text.
pub(super) fn pattern(text: &str) -> Result<Pattern, Wrong> {
    if text.is_empty() {
        return Err(Wrong::new(0..0, "a name is missing", "write * for all"));
    }
    if text.len() > MAX_LENGTH {
        return Err(Wrong::new(
            0..text.len(),
            format!("a name of more than {MAX_LENGTH} bytes"),
            "a * can stand for much",
        ));
    }
    let wrong = text.char_indices().find(|(_, c)| c.is_control() || c.is_whitespace() || "?()[;,".contains(*c));
    if let Some((at, c)) = wrong {
        let hint = if c == '?' { "write * for any text" } else { "leave it out, or write * for any text" };
        return Err(Wrong::new(at..at + c.len_utf8(), "no name of Java's has this character", hint));
    }
    Ok(Pattern::new(text))
}

/// A pattern of classes; slashes are understood, too.
pub(super) fn class_pattern(text: &str) -> Result<Pattern, Wrong> {
    pattern(text).map(|pattern| Pattern::new(pattern.as_str().replace('/', ".")))
}

/// `checkout`, `checkout(java.lang.String, *)`, `*`: the name, and the descriptor where there are parameters.
pub(super) fn method(text: &str) -> Result<(Pattern, Option<Pattern>), Wrong> {
    let Some(open) = text.find('(') else { return Ok((pattern(text)?, None)) };
    let (name, rest) = text.split_at(open);
    let Some(parameters) = rest.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')) else {
        return Err(Wrong::new(open..text.len(), "the parameters do not end", "close them with )"));
    };
    Ok((pattern(name)?, descriptor(parameters).map_err(|wrong| wrong.from(open + 1))?))
}

/// A pattern of descriptors for parameters; nothing where any will do.
fn descriptor(parameters: &str) -> Result<Option<Pattern>, Wrong> {
    let mut letters = String::from("(");
    let mut start = 0;
    let mut ends = false;
    for part in parameters.split(',') {
        let word = part.trim();
        let at = start + part.len() - part.trim_start().len();
        start += part.len() + 1;
        if word.is_empty() && parameters.trim().is_empty() {
            break;
        }
        if ends {
            let hint = "* stands for all further parameters: leave out what follows";
            return Err(Wrong::new(at..at + word.len().max(1), "nothing follows * among parameters", hint));
        }
        if word == "*" || word == "..." {
            letters.push('*');
            ends = true;
        } else {
            one(word, &mut letters).map_err(|wrong| wrong.from(at))?;
        }
    }
    letters.push_str(")*");
    Ok((letters != "(*)*").then(|| Pattern::new(letters)))
}

/// A type, as descriptors have it.
fn one(word: &str, letters: &mut String) -> Result<(), Wrong> {
    let element = word.trim_end_matches("[]");
    let dimensions = (word.len() - element.len()) / 2;
    if element.is_empty() {
        return Err(Wrong::new(0..word.len().max(1), "a type is missing", "as in (java.lang.String, int)"));
    }
    if element.contains('*') {
        let hint = "write the whole name, or one * for all further parameters";
        return Err(Wrong::new(0..word.len(), "a parameter's type is no pattern", hint));
    }
    letters.extend(std::iter::repeat_n('[', dimensions));
    if let Some((_, letter)) = PRIMITIVES.iter().find(|(name, _)| *name == element) {
        letters.push(*letter);
        return Ok(());
    }
    if COMMON.contains(&element) {
        let hint = format!("write java.lang.{word}");
        return Err(Wrong::new(0..word.len(), "a class is written with its package", hint));
    }
    let class = class_pattern(element)?;
    letters.push('L');
    letters.push_str(&class.as_str().replace('.', "/"));
    letters.push(';');
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_become_descriptors() {
        for (text, expected) in [
            ("checkout", None),
            ("checkout()", Some("()*")),
            ("checkout( )", Some("()*")),
            ("checkout(*)", None),
            ("add(java.lang.String, int)", Some("(Ljava/lang/String;I)*")),
            ("add(byte[], int[][], a.B$C[])", Some("([B[[I[La/B$C;)*")),
            ("add(long,*)", Some("(J*)*")),
        ] {
            let (_, descriptor) = method(text).unwrap();
            assert_eq!(descriptor.as_ref().map(Pattern::as_str), expected, "{text}");
        }
        let (_, some) = method("add(int, *)").unwrap();
        let some = some.unwrap();
        assert!(some.matches("(I)V") && some.matches("(IJ)Ljava/lang/String;") && !some.matches("([II)V"));
    }

    #[test]
    fn what_is_wrong_is_where_it_stands() {
        for (text, place) in [
            ("", 0..0),
            ("a b", 1..2),
            ("a(int", 1..5),
            ("a(int, String)", 7..13),
            ("a(*, int)", 5..8),
            ("a(int,,int)", 6..7),
            ("a(java.util.*)", 2..13),
            ("a?", 1..2),
        ] {
            let wrong = method(text).unwrap_err();
            assert_eq!(wrong.span, place, "{text}: {}", wrong.what);
        }
    }
}

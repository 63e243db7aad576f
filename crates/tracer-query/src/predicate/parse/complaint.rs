//! What is said of a token that does not belong where it stands.

use super::TESTS;
use crate::predicate::{
    error::nearest,
    field::{Field, Kind, Type},
    token::{self, Token, Wrong},
    tree::Span,
};

/// What is wrong, where, and what to write instead.
pub(super) fn wrong(what: impl Into<String>, span: Span, hint: impl Into<String>) -> Wrong {
    (what.into(), span, Some(hint.into()))
}

/// A word where a field should stand.
pub(super) fn unknown_field(kind: Kind, word: &str, span: Span) -> Wrong {
    if let Some(sign) = token::foreign_word(word) {
        return wrong(format!("{word} is no operator"), span, format!("write {sign}"));
    }
    let known: Vec<&str> = Field::ALL.into_iter().filter(|&field| kind.has(field)).map(Field::name).collect();
    if kind.is_of_heap() {
        if let Some((what, hint)) = not_of_a_heap(word) {
            return wrong(what, span, hint);
        }
        let meant = other_word_of_a_heap(word).or_else(|| nearest(word, known.iter().copied()));
        let hint = match meant {
            Some(meant) => format!("did you mean {meant}?"),
            None => format!("{kind} has {}", known.join(", ")),
        };
        return wrong(format!("there is no field {word}"), span, hint);
    }
    let meant = match word {
        "name" => Some("method"),
        "bytes" => Some("size"),
        "time" | "latency" | "elapsed" => Some("duration"),
        "descriptor" => Some("signature"),
        _ => nearest(word, known.iter().copied().chain(TESTS)),
    };
    let hint = match meant.filter(|meant| known.contains(meant) || TESTS.contains(meant)) {
        Some(meant) => format!("did you mean {meant}?"),
        None => format!("{kind} has {}; tests are sample(1/n), nth(k), first(k)", known.join(", ")),
    };
    wrong(format!("there is no field {word}"), span, hint)
}

/// What stands where a condition should begin; perhaps it is the only token.
pub(super) fn no_condition(kind: Kind, token: &Token<'_>, span: Span, only: bool) -> Wrong {
    let (text, number) = match kind {
        Kind::HeapObject => ("as in class == \"com.shop.Order\"", "as in retained > 1MiB"),
        _ => ("as in method == \"checkout\"", "as in duration > 10ms"),
    };
    match token {
        Token::End if only => wrong("the predicate is empty", span, text),
        Token::End => wrong("a condition is missing at the end", span, text),
        Token::Text(_) | Token::Number(_) => {
            wrong("a condition begins with a field", span, format!("write the field first, {number}"))
        }
        _ => wrong("a condition is missing here", span, text),
    }
}

/// What is wrong where a comparison should stand behind a field.
pub(super) fn no_comparison(field: Field, token: &Token<'_>, span: Span) -> Wrong {
    let operators = if field.holds() == Type::Text { "==, !=, ~, !~, in" } else { "==, !=, <, <=, >, >=, in" };
    let hint = match token {
        Token::Word(word) => token::foreign_word(word).map(|sign| format!("write {field} {sign} ...")),
        _ => None,
    };
    wrong(
        format!("{field} is compared with nothing"),
        span,
        hint.unwrap_or_else(|| format!("operators are {operators}")),
    )
}

/// What stands where `&&`, `||` or the end should.
pub(super) fn no_operator(token: &Token<'_>, span: Span) -> Wrong {
    let hint = match token {
        Token::Word(word) => token::foreign_word(word).map(|sign| format!("write {sign}")),
        Token::Sign("," | "==" | "!=" | "<" | "<=" | ">" | ">=" | "~" | "!~") => {
            Some("a condition ends before this".to_owned())
        }
        _ => None,
    };
    let hint = hint.unwrap_or_else(|| "conditions are joined by && or ||".to_owned());
    wrong("the condition before this is complete", span, hint)
}

/// What a field of a type is, as a noun.
pub(super) const fn noun(holds: Type) -> &'static str {
    match holds {
        Type::Bytes => "a number of bytes",
        Type::Time => "a length of time",
        Type::Number | Type::Text | Type::Flag => "a number",
    }
}

/// How its values are written.
pub(super) const fn example(holds: Type) -> &'static str {
    match holds {
        Type::Bytes => "as in 1MiB or 4096",
        Type::Time => "as in 10ms or 1.5s",
        Type::Number | Type::Text | Type::Flag => "as in 7",
    }
}

/// What stands where a number should be compared.
pub(super) fn no_number_compared(name: &str, token: &Token<'_>, span: Span) -> Wrong {
    let hint = match token {
        Token::Word(word) => token::foreign_word(word).map(|sign| format!("write {name} {sign} ...")),
        _ => None,
    };
    let hint = hint.unwrap_or_else(|| "operators are ==, !=, <, <=, >, >=".to_owned());
    wrong(format!("{name} is compared with nothing"), span, hint)
}

/// What nobody knows of an object, and who does.
fn not_of_a_heap(word: &str) -> Option<(&'static str, &'static str)> {
    Some(match word {
        "site" | "sites" | "place" | "allocated" | "allocator" | "stack" => {
            ("a snapshot does not tell where objects were made", "`jtrace alloc PID` does")
        }
        "age" | "generation" | "created" | "time" => {
            ("a snapshot does not tell how old objects are", "`jtrace leaks PID` says what stays over a while")
        }
        "value" | "values" | "text" | "string" | "content" => {
            ("a snapshot has no values of objects", "ask for class, field, length or size")
        }
        "module" => ("a snapshot does not tell of modules", "ask for package or loader"),
        _ => return None,
    })
}

/// A word that others have for a field of an object.
fn other_word_of_a_heap(word: &str) -> Option<&'static str> {
    Some(match word {
        "shallow" | "own" | "bytes" => "size",
        "name" | "type" => "class",
        "elements" | "len" => "length",
        "refs" | "outgoing" => "references",
        "incoming" | "inbound" => "referrers",
        "duplicates" | "equal" => "copies",
        "dominator" | "owner" | "held" | "held_by" | "by" => "holder",
        "kind" | "gc_root" => "root",
        "classloader" | "class_loader" => "loader",
        _ => return None,
    })
}

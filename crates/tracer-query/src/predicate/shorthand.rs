//! Patterns of `-I` and `-X`: `com.shop.*::checkout`, `Cart::add(I)V`; of classes `com.shop.*`; of JNI functions `Get*`.

use super::{
    error::Error,
    field::{Field, Kind},
    tree::{Condition, Expr, Name, Span, TextTest, Tree},
};

/// Most bytes of a pattern.
pub const MAX_PATTERN: usize = 512;

/// What is wrong with a pattern: what, where, what to do.
type Wrong = (String, Span, Option<String>);

/// Reads a pattern that names things of a kind.
pub(super) fn parse(option: &'static str, text: &str, kind: Kind) -> Result<Expr, Error> {
    let parts = match kind {
        Kind::MethodEntry | Kind::MethodReturn | Kind::Point | Kind::Region => methods(text),
        Kind::Allocation => single(text, Field::Class, "an allocation has no method: a pattern is one of classes"),
        Kind::HeapObject => single(text, Field::Class, "an object has no method: a pattern is one of classes"),
        Kind::Jni => single(text, Field::Method, "a JNI function has no class: a pattern is one of function names"),
    };
    parts.and_then(|parts| joined(text, parts)).map_err(|(what, span, hint)| Error {
        option,
        text: text.to_owned(),
        span,
        what,
        hint,
    })
}

/// A stretch of the text that a field must be like.
type Part = (Field, Span);

/// All parts as one expression.
fn joined(text: &str, parts: Vec<Part>) -> Result<Expr, Wrong> {
    let whole = Span { start: 0, end: text.len() };
    if text.len() > MAX_PATTERN {
        return Err((format!("a pattern has at most {MAX_PATTERN} bytes"), whole, None));
    }
    if let Some((start, control)) = text.char_indices().find(|(_, c)| c.is_control() || c.is_whitespace()) {
        let span = Span { start, end: start + control.len_utf8() };
        return Err((
            "a pattern has no spaces and no control characters".to_owned(),
            span,
            Some("repeat the option for each pattern".to_owned()),
        ));
    }
    let tests = parts.into_iter().map(|(field, span)| {
        let written = &text[span.start..span.end];
        let name = Name::new(field, written);
        let test = if written.contains(['*', '?']) { TextTest::Like(name) } else { TextTest::Is(name) };
        Expr { tree: Tree::Test(Condition::Text { field, wanted: true, test }), span }
    });
    let expr = Expr::all(tests.collect()).ok_or_else(|| ("the pattern is empty".to_owned(), whole, None))?;
    Ok(Expr { span: whole, ..expr })
}

fn single(text: &str, field: Field, no_method: &str) -> Result<Vec<Part>, Wrong> {
    if let Some(start) = text.find("::") {
        return Err((no_method.to_owned(), Span { start, end: text.len() }, None));
    }
    if text.is_empty() {
        let hint = "write * for all".to_owned();
        return Err(("the pattern is empty".to_owned(), Span::default(), Some(hint)));
    }
    Ok(vec![(field, Span { start: 0, end: text.len() })])
}

fn methods(text: &str) -> Result<Vec<Part>, Wrong> {
    let Some(colons) = text.find("::") else { return Err(no_colons(text)) };
    let class = Span { start: 0, end: colons };
    let signature = text[colons + 2..].find('(').map_or(text.len(), |at| colons + 2 + at);
    let method = Span { start: colons + 2, end: signature };
    let place = Span { start: colons, end: colons + 2 };
    let rest = &text[colons + 2..];
    if class.start == class.end {
        return Err(("the class is missing".to_owned(), place, Some(format!("write *::{rest} for all classes"))));
    }
    if method.start == method.end {
        let hint = format!("write {}::*{rest} for all methods", &text[..colons]);
        return Err(("the method is missing".to_owned(), place, Some(hint)));
    }
    if let Some(at) = text[method.start..method.end].find("::") {
        let start = method.start + at;
        let hint = "a class stands before ::, a method behind it".to_owned();
        return Err((":: stands once".to_owned(), Span { start, end: start + 2 }, Some(hint)));
    }
    let mut parts = vec![(Field::Class, class), (Field::Method, method)];
    if signature < text.len() {
        parts.push((Field::Signature, Span { start: signature, end: text.len() }));
    }
    // A part that is * asks nothing, and one of them must ask.
    let asks = |&(_, span): &Part| &text[span.start..span.end] != "*";
    let asking: Vec<Part> = parts.iter().copied().filter(asks).collect();
    Ok(if asking.is_empty() { vec![(Field::Class, class)] } else { asking })
}

/// A pattern of methods that does not say where the class ends.
fn no_colons(text: &str) -> Wrong {
    let span = Span { start: 0, end: text.len() };
    let what = "a pattern of methods is CLASS::METHOD".to_owned();
    let name = &text[..text.find('(').unwrap_or(text.len())];
    let hint = match name.rfind(['.', '#', '/']) {
        Some(at) if text[at..].starts_with('#') => format!("write {}::{}", &text[..at], &text[at + 1..]),
        Some(at) if at > 0 && !text[at + 1..].is_empty() => {
            format!(
                "write {}::{} for this method, or {text}::* for all methods of a class",
                &text[..at],
                &text[at + 1..]
            )
        }
        _ if text.is_empty() => "write *::* for all".to_owned(),
        _ => format!("write {text}::* for all methods of a class, or *::{text} for a method of all classes"),
    };
    (what, span, Some(hint))
}

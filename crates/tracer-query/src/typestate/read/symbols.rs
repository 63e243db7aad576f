//! The symbols of a property file.

use super::{
    At, DeValue, KEYS, Key, Located, MAX_SYMBOLS, Method, Range, Symbol, Value, Wrong, choice, known, named, texts,
};
use crate::{predicate::error::nearest, typestate::outside};

/// Most method patterns of a symbol.
const MAX_METHODS: usize = 64;
/// Most names that a hint shows.
const SHOWN_NAMES: usize = 10;

/// A symbol, and where it and its methods are declared.
pub(super) struct Declared {
    pub(super) symbol: Symbol,
    pub(super) span: Range<usize>,
    methods: Vec<Located>,
}

/// Reads the table of symbols, in the order of the file.
pub(super) fn read(document: &str, value: &Value<'_>, key: Key) -> Result<Vec<Declared>, Wrong> {
    let example = "write [symbols], and below it next = \"next()\"";
    let Some(table) = value.get_ref().as_table() else {
        return Err(Wrong::new(value.span(), "`symbols` is a table", example));
    };
    let mut entries: Vec<_> = table.iter().collect();
    entries.sort_by_key(|(name, _)| name.span().start);
    if entries.is_empty() {
        return Err(Wrong::new(value.span(), "there are no symbols", example));
    }
    if let Some((name, _)) = entries.get(MAX_SYMBOLS) {
        let hint = "let one symbol stand for several methods: use = [\"read(*)\", \"write(*)\"]";
        return Err(Wrong::new(name.span(), format!("more than {MAX_SYMBOLS} symbols"), hint));
    }
    let mut declared: Vec<Declared> = Vec::with_capacity(entries.len());
    for (name, value) in entries {
        let span = name.span();
        let name = named(name.get_ref(), span.clone(), "a symbol")?;
        let (texts, at) = bound(document, value, &name, key)?;
        let methods = texts.iter().map(|text| method(text, key).map_err(|wrong| misplaced(wrong, &name)));
        let methods = methods.collect::<Result<Vec<_>, _>>()?;
        let new = Declared { symbol: Symbol { name, methods, at }, span, methods: texts };
        unambiguous(&declared, &new, key)?;
        declared.push(new);
    }
    Ok(declared)
}

/// Refuses symbols that nothing speaks of.
pub(super) fn unused(declared: &[Declared], used: u32, by: &str) -> Result<(), Wrong> {
    match declared.iter().enumerate().find(|(symbol, _)| used >> symbol & 1 == 0) {
        None => Ok(()),
        Some((_, Declared { symbol, span, .. })) => {
            let what = format!("the symbol `{}` is never used", symbol.name);
            Err(Wrong::new(
                span.clone(),
                what,
                format!("use it in {by}; write never = [\"{}\"] if it is always illegal; or leave it out", symbol.name),
            ))
        }
    }
}

/// The methods of a symbol, and when it happens: a text, a list of texts, or a table of `methods` and `at`.
fn bound(document: &str, value: &Value<'_>, name: &str, key: Key) -> Result<(Vec<Located>, At), Wrong> {
    let DeValue::Table(table) = value.get_ref() else { return Ok((limited(document, value, name)?, At::Entry)) };
    known(table, &["methods", "at"])?;
    let at = match table.get("at") {
        None => At::Entry,
        Some(at) => At::ALL[choice(document, at, "at", words_of_at(key, at)?)?],
    };
    let Some(methods) = table.get("methods") else {
        let hint = format!("write {name} = {{ methods = \"close()\", at = \"return\" }}");
        return Err(Wrong::new(value.span(), format!("the symbol `{name}` has no methods"), hint));
    };
    Ok((limited(document, methods, "methods")?, at))
}

/// When symbols of a key can happen.
fn words_of_at(key: Key, at: &Value<'_>) -> Result<&'static [&'static str], Wrong> {
    const WORDS: [&str; 3] = [At::Entry.word(), At::Return.word(), At::Throw.word()];
    match key {
        Key::Object => Ok(&WORDS),
        // From outside, a return is seen whatever made it.
        Key::Thread | Key::Class => Ok(&WORDS[..2]),
        Key::Monitor | Key::Jni => {
            let hint =
                "leave it out: functions of JNI count when they are over, and what is done with a monitor is a moment";
            Err(Wrong::new(at.span(), "`at` means nothing here", hint))
        }
    }
}

fn limited(document: &str, value: &Value<'_>, key: &str) -> Result<Vec<Located>, Wrong> {
    let texts = texts(document, value, key)?;
    match texts.get(MAX_METHODS) {
        None => Ok(texts),
        Some(text) => {
            Err(text.whole(format!("more than {MAX_METHODS} methods"), "a pattern with * can stand for many"))
        }
    }
}

/// A key of the property below `[symbols]` belongs to that table.
fn misplaced(wrong: Wrong, name: &str) -> Wrong {
    if KEYS.contains(&name) {
        Wrong {
            hint: Some(format!("`{name}` is a symbol here; what is meant for the property stands before [symbols]")),
            ..wrong
        }
    } else {
        wrong
    }
}

/// A method; where symbols are functions or events, the name alone.
fn method(text: &Located, key: Key) -> Result<Method, Wrong> {
    let written = if key.has_methods() { text.text.clone() } else { format!("{}(*)", text.text) };
    let method = Method::parse(&written).map_err(|wrong| text.wrong(wrong))?;
    if method.name.as_str().chars().all(|c| c == '*') {
        return Err(text.whole("all methods are meant", "name those that matter: read*(*)"));
    }
    if let Some(names) = outside::names(key)
        && !names.clone().any(|name| method.name.matches(name))
    {
        let what =
            format!("`{}` is no {}", text.text, if key == Key::Jni { "function of JNI" } else { "event of monitors" });
        let near = nearest(&text.text, names.clone());
        let hint = near.map_or_else(
            || names.take(SHOWN_NAMES).collect::<Vec<_>>().join(", "),
            |near| format!("did you mean {near}?"),
        );
        return Err(text.whole(what, hint));
    }
    Ok(method)
}

/// Whether something can be both. Of functions and events all names are known.
fn overlap(one: &Method, other: &Method, key: Key) -> bool {
    outside::names(key).map_or_else(
        || one.overlaps(other),
        |mut names| names.any(|name| one.name.matches(name) && other.name.matches(name)),
    )
}

/// Refuses a symbol that can happen at the same place as an earlier one, or twice at one place.
fn unambiguous(declared: &[Declared], new: &Declared, key: Key) -> Result<(), Wrong> {
    for (at, (method, text)) in new.symbol.methods.iter().zip(&new.methods).enumerate() {
        if let Some(twin) = new.symbol.methods[..at].iter().find(|other| overlap(other, method, key)) {
            let what = format!("`{twin}` stands for methods of `{method}`, too");
            return Err(text.whole(what, "a call must be one symbol, once; leave out the narrower of them"));
        }
        for Declared { symbol, .. } in declared.iter().filter(|other| other.symbol.at == new.symbol.at) {
            if let Some(other) = symbol.methods.iter().find(|other| overlap(other, method, key)) {
                let at = symbol.at;
                let what = format!(
                    "ambiguous: {at} of one method can be `{}` ({other}) and `{}`",
                    symbol.name, new.symbol.name
                );
                let hint = "write out parameters so that no method fits both, or tell them apart by `at`";
                return Err(text.whole(what, hint));
            }
        }
    }
    Ok(())
}

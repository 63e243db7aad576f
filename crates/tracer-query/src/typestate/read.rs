//! Reads a property file. Every mistake knows its place.

use std::ops::Range;

use toml::{
    Spanned,
    de::{DeTable, DeValue},
};
use tracer_weave::Pattern;

use super::{
    At, Key, Property, Symbol,
    error::Wrong,
    expression::Expression,
    located::Located,
    machine::{MAX_STATES, MAX_SYMBOLS, Machine, Refusal},
    method::Method,
    nfa::{self, Table},
};
use crate::predicate::error::nearest;

mod states;
mod symbols;

/// Largest file.
pub const MAX_BYTES: usize = 64 * 1024;

/// Most class patterns.
const MAX_CLASSES: usize = 64;

/// Longest name of a property, symbol or state.
const MAX_NAME: usize = 40;

/// Longest message.
const MAX_MESSAGE: usize = 400;

const KEYS: [&str; 10] =
    ["name", "message", "classes", "subclasses", "key", "symbols", "regex", "final", "never", "state"];

/// A key or an element of the document.
type Value<'i> = Spanned<DeValue<'i>>;

/// The property that is written in a document.
pub(super) fn property(text: &str) -> Result<Property, Wrong> {
    if text.len() > MAX_BYTES {
        let hint = "a property has at most 32 symbols and 64 states; write one property a file";
        return Err(Wrong::new(0..0, format!("a property file of more than {MAX_BYTES} bytes"), hint));
    }
    let document = DeTable::parse(text).map_err(|error| Wrong {
        what: error.message().to_owned(),
        span: error.span().unwrap_or(0..0),
        hint: Some(
            "property files are TOML; `jtrace typestate check hasnext` shows one, docs/typestate.md explains them"
                .to_owned(),
        ),
    })?;
    Reader { text, table: document.get_ref() }.property()
}

struct Reader<'a, 'i> {
    text: &'a str,
    table: &'a DeTable<'i>,
}

impl<'i> Reader<'_, 'i> {
    fn property(&self) -> Result<Property, Wrong> {
        known(self.table, &KEYS)?;
        let name = self.word("name", "name = \"HasNext\"")?;
        let message = self.message()?;
        let key = self.one_of("key", &Key::ALL.map(Key::word))?.map_or(Key::Object, |at| Key::ALL[at]);
        let classes = self.classes(key)?;
        let subclasses = self.truth("subclasses", true)?;
        let ends_anywhere = self.one_of("final", &["accepting", "any"])? == Some(1);
        let declared = symbols::read(self.text, self.required("symbols", "[symbols]\nnext = \"next()\"")?, key)?;
        let names: Vec<String> = declared.iter().map(|declared| declared.symbol.name.clone()).collect();
        let never = self.never(&names)?;
        let (expression, machine) = match (self.get("regex"), self.get("state")) {
            (Some(regex), None) => {
                let regex = located(self.text, regex, "regex")?;
                let machine = machine(&regex, &declared, names, never, ends_anywhere)?;
                (Some(regex.text), machine)
            }
            (None, Some(state)) => (None, states::machine(self.text, state, &declared, never, ends_anywhere)?),
            (Some(_), Some(state)) => {
                let hint = "leave one of them out; both say what is legal";
                return Err(Wrong::new(state.span(), "a property has a regex or states, not both", hint));
            }
            (None, None) => {
                let hint = "write regex = \"(hasNext+ next)*\", or [[state]] with transitions";
                return Err(Wrong::new(0..0, "nothing says what is legal", hint));
            }
        };
        let symbols = declared.into_iter().map(|declared| declared.symbol).collect();
        Ok(Property { name, message, classes, subclasses, key, symbols, expression, ends_anywhere, machine })
    }

    fn get(&self, key: &str) -> Option<&Value<'i>> {
        self.table.get(key)
    }

    fn required(&self, key: &str, example: &str) -> Result<&Value<'i>, Wrong> {
        let example = example.replace('\n', " ");
        self.get(key).ok_or_else(|| Wrong::new(0..0, format!("`{key}` is missing"), format!("write {example}")))
    }

    fn word(&self, key: &str, example: &str) -> Result<String, Wrong> {
        let name = located(self.text, self.required(key, example)?, key)?;
        named(&name.text, name.span, "a property")
    }

    fn message(&self) -> Result<String, Wrong> {
        let value = self.required("message", "message = \"what a violation means\"")?;
        let message = located(self.text, value, "message")?;
        if message.text.trim().is_empty() || message.text.len() > MAX_MESSAGE || message.text.contains('\n') {
            let what = format!("a message is one line of 1 to {MAX_MESSAGE} bytes");
            return Err(message.whole(what, "say what a violation means, for whoever reads the report"));
        }
        Ok(message.text)
    }

    fn truth(&self, key: &str, default: bool) -> Result<bool, Wrong> {
        let Some(value) = self.get(key) else { return Ok(default) };
        value.get_ref().as_bool().ok_or_else(|| {
            Wrong::new(value.span(), format!("`{key}` is true or false"), format!("write {key} = false"))
        })
    }

    fn one_of(&self, key: &str, words: &[&str]) -> Result<Option<usize>, Wrong> {
        self.get(key).map(|value| choice(self.text, value, key, words)).transpose()
    }

    /// The symbols that are illegal wherever they happen, as bits.
    fn never(&self, names: &[String]) -> Result<u32, Wrong> {
        let Some(value) = self.get("never") else { return Ok(0) };
        let words: Vec<&str> = names.iter().map(String::as_str).collect();
        let mut listed = elements(value).map(|value| choice(self.text, value, "symbol", &words));
        listed.try_fold(0, |set, symbol| Ok(set | 1 << symbol?))
    }

    fn classes(&self, key: Key) -> Result<Vec<Pattern>, Wrong> {
        let Some(value) = self.get("classes") else {
            if !key.has_methods() {
                return Ok(Vec::new());
            }
            return Err(Wrong::new(0..0, "`classes` is missing", "write classes = [\"java.util.Iterator\"]"));
        };
        let texts = texts(self.text, value, "classes")?;
        if texts.len() > MAX_CLASSES {
            let hint = "a pattern with * can stand for many classes";
            return Err(Wrong::new(value.span(), format!("more than {MAX_CLASSES} class patterns"), hint));
        }
        for (at, class) in texts.iter().enumerate() {
            classed(class)?;
            if texts[..at].iter().any(|other| other.text == class.text) {
                return Err(class.whole(format!("`{}` is there twice", class.text), "leave one out"));
            }
        }
        Ok(texts.into_iter().map(|class| Pattern::new(class.text)).collect())
    }
}

/// The machine of an expression.
fn machine(
    regex: &Located,
    declared: &[symbols::Declared],
    names: Vec<String>,
    never: u32,
    any: bool,
) -> Result<Machine, Wrong> {
    let words: Vec<&str> = names.iter().map(String::as_str).collect();
    let expression = Expression::parse(&regex.text, &words).map_err(|wrong| regex.wrong(wrong))?;
    symbols::unused(declared, expression.symbols() | never, "the regex")?;
    let large = |many: Option<usize>| {
        let what = many.map_or_else(
            || format!("the automaton has far more than {MAX_STATES} states"),
            |count| format!("the automaton has {count} states with the dead one; the limit is {MAX_STATES}"),
        );
        regex.whole(what, "shorten what is counted by {n} or mixed by &")
    };
    let table = nfa::table(&expression, names.len()).map_err(|nfa::TooLarge| large(None))?;
    Machine::new(&table, names, any, &[]).map_err(|refusal| match refusal {
        Refusal::TooMany(count) => large(Some(count)),
        Refusal::Empty => regex.whole("no sequence of calls is legal", "write an expression that can be fulfilled"),
    })
}

/// Refuses keys that mean nothing here.
fn known(table: &DeTable<'_>, keys: &[&str]) -> Result<(), Wrong> {
    // In the order of the file, so that the first mistake is told.
    let mut unknown: Vec<_> = table.keys().filter(|key| !keys.contains(&key.get_ref().as_ref())).collect();
    unknown.sort_by_key(|key| key.span().start);
    let Some(key) = unknown.first() else { return Ok(()) };
    let word = key.get_ref().as_ref();
    let hint = nearest(word, keys.iter().copied())
        .map_or_else(|| format!("possible here: {}", keys.join(", ")), |nearest| format!("did you mean {nearest}?"));
    Err(Wrong::new(key.span(), format!("`{word}` means nothing here"), hint))
}

fn located(document: &str, value: &Value<'_>, key: &str) -> Result<Located, Wrong> {
    Located::new(document, value)
        .ok_or_else(|| Wrong::new(value.span(), format!("`{key}` is a text"), "put it in quotes"))
}

/// A text, or a list of at least one.
fn texts(document: &str, value: &Value<'_>, key: &str) -> Result<Vec<Located>, Wrong> {
    let texts = elements(value).map(|value| located(document, value, key)).collect::<Result<Vec<_>, _>>()?;
    if texts.is_empty() {
        return Err(Wrong::new(value.span(), format!("`{key}` is empty"), "name at least one"));
    }
    Ok(texts)
}

/// The elements of a list; what is no list is the only one.
fn elements<'a, 'i>(value: &'a Value<'i>) -> impl Iterator<Item = &'a Value<'i>> {
    let list = value.get_ref().as_array();
    list.into_iter().flat_map(|values| values.iter()).chain(list.is_none().then_some(value))
}

fn choice(document: &str, value: &Value<'_>, key: &str, words: &[&str]) -> Result<usize, Wrong> {
    let text = located(document, value, key)?;
    words.iter().position(|word| *word == text.text).ok_or_else(|| {
        let hint = nearest(&text.text, words.iter().copied())
            .map_or_else(|| format!("possible: {}", words.join(", ")), |nearest| format!("did you mean {nearest}?"));
        text.whole(format!("`{}` is no `{key}`", text.text), hint)
    })
}

fn named(name: &str, span: Range<usize>, of: &str) -> Result<String, Wrong> {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.chars().all(fits) && name.len() <= MAX_NAME {
        return Ok(name.to_owned());
    }
    let hint = format!("a letter, then letters, digits and _, at most {MAX_NAME}");
    Err(Wrong::new(span, format!("`{name}` cannot be the name of {of}"), hint))
}

fn classed(class: &Located) -> Result<(), Wrong> {
    let text = &class.text;
    let fits = |c: char| c.is_alphanumeric() || "_$.*".contains(c);
    if text.contains('/') {
        return Err(class.whole(format!("`{text}` is no name of a class"), format!("write {}", text.replace('/', "."))));
    }
    if text.is_empty() || !text.chars().all(fits) || text.split('.').any(str::is_empty) || text.len() > 1000 {
        let hint = "write it as Java does, with $ before a class in a class: java.util.Map$Entry, com.shop.*";
        return Err(class.whole(format!("`{text}` is no name of a class"), hint));
    }
    if text.chars().all(|c| c == '*') {
        return Err(class.whole("all classes of the JVM are meant", "name a package or a class: com.shop.*"));
    }
    Ok(())
}

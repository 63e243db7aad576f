//! The states of a property file, where there is no expression.
//!
//! ```toml
//! [[state]]
//! name = "open"
//! accepting = false
//! on = { read = "open", close = "closed" }
//! ```
//! The first state is where objects begin; a symbol that `on` does not name is illegal.

use super::{
    DeTable, DeValue, Located, MAX_STATES, Machine, Range, Refusal, Table, Value, Wrong, known, located, named,
    nearest,
    symbols::{self, Declared},
};

/// A state as it is written.
struct Written<'a, 'i> {
    name: String,
    accepting: bool,
    on: Option<&'a DeTable<'i>>,
}

/// The machine of these states.
pub(super) fn machine(
    document: &str,
    value: &Value<'_>,
    declared: &[Declared],
    never: u32,
    any: bool,
) -> Result<Machine, Wrong> {
    let states = states(document, value)?;
    let dead = states.len();
    let mut table = Table { next: vec![vec![dead; declared.len()]; dead + 1], accepting: vec![false; dead + 1] };
    let names: Vec<String> = states.iter().map(|state| state.name.clone()).collect();
    let mut used = never;
    for (at, state) in states.iter().enumerate() {
        table.accepting[at] = state.accepting;
        for (symbol, to) in state.on.into_iter().flatten() {
            let word = symbol.get_ref().as_ref();
            let symbol =
                find(declared.iter().map(|declared| declared.symbol.name.as_str()), word, "symbol", symbol.span())?;
            let to = located(document, to, word)?;
            used |= 1 << symbol;
            table.next[at][symbol] = find(names.iter().map(String::as_str), &to.text, "state", to.span)?;
        }
    }
    symbols::unused(declared, used, "the states")?;
    let symbols = declared.iter().map(|declared| declared.symbol.name.clone()).collect();
    Machine::new(&table, symbols, any, &names).map_err(|refusal| match refusal {
        Refusal::Empty => {
            let hint = "set accepting = true where an object may end, and see that such a state can be reached";
            Wrong::new(first(value), "no sequence of calls is legal", hint)
        }
        Refusal::TooMany(count) => too_many(first(value), count),
    })
}

fn states<'a, 'i>(document: &str, value: &'a Value<'i>) -> Result<Vec<Written<'a, 'i>>, Wrong> {
    let DeValue::Array(values) = value.get_ref() else {
        return Err(Wrong::new(value.span(), "`state` is a list of tables", "write [[state]] before each"));
    };
    if values.len() >= MAX_STATES {
        return Err(too_many(first(value), values.len() + 1));
    }
    let mut states: Vec<Written<'a, 'i>> = Vec::new();
    for value in values {
        let Some(table) = value.get_ref().as_table() else {
            return Err(Wrong::new(value.span(), "a state is a table", "write [[state]] before each"));
        };
        known(table, &["name", "accepting", "on"])?;
        let Some(name) = table.get("name") else {
            return Err(Wrong::new(value.span(), "a state has no name", "write name = \"open\""));
        };
        let Located { text, span, .. } = located(document, name, "name")?;
        let name = named(&text, span.clone(), "a state")?;
        if states.iter().any(|other| other.name == name) {
            return Err(Wrong::new(span, format!("the state `{name}` is there twice"), "give one another name"));
        }
        let accepting = match table.get("accepting").map(|value| (value.get_ref().as_bool(), value.span())) {
            None => false,
            Some((Some(accepting), _)) => accepting,
            Some((None, span)) => {
                return Err(Wrong::new(span, "`accepting` is true or false", "write accepting = true"));
            }
        };
        let on = match table.get("on") {
            None => None,
            Some(on) => Some(on.get_ref().as_table().ok_or_else(|| {
                Wrong::new(on.span(), "`on` is a table of symbols and states", "write on = { close = \"closed\" }")
            })?),
        };
        states.push(Written { name, accepting, on });
    }
    Ok(states)
}

fn find<'a>(
    words: impl Iterator<Item = &'a str> + Clone,
    word: &str,
    of: &str,
    span: Range<usize>,
) -> Result<usize, Wrong> {
    words.clone().position(|other| other == word).ok_or_else(|| {
        let hint = nearest(word, words.clone()).map_or_else(
            || format!("there are {}", words.collect::<Vec<_>>().join(", ")),
            |nearest| format!("did you mean {nearest}?"),
        );
        Wrong::new(span, format!("`{word}` is no {of} of this property"), hint)
    })
}

fn too_many(span: Range<usize>, count: usize) -> Wrong {
    Wrong::new(span, format!("{count} states, with the dead one; the limit is {MAX_STATES}"), "leave some out")
}

/// Where the list of states begins.
fn first(value: &Value<'_>) -> Range<usize> {
    value.get_ref().as_array().and_then(|values| values.iter().next()).map_or_else(|| value.span(), toml::Spanned::span)
}

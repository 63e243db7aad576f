//! What `readelf` says of the same tables.

use std::collections::BTreeMap;

use tracer_common::unwind::{Rule, RuleBase};

/// What `readelf` says about one address: the CFA, where rbp is, where the return address is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Told {
    pub(crate) cfa: String,
    pub(crate) rbp: String,
    pub(crate) ra: String,
}

/// What `readelf` says about one function.
#[derive(Clone, Debug, Default)]
pub(crate) struct Function {
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) signal: bool,
    pub(crate) rows: BTreeMap<u64, Told>,
}

pub(crate) fn hex(text: &str) -> u64 {
    u64::from_str_radix(text, 16).expect("a hexadecimal number")
}

/// The value behind `name=` in a line.
fn value<'line>(line: &'line str, name: &str) -> &'line str {
    let (_, rest) = line.split_once(name).expect("the value's name");
    rest.split(' ').next().unwrap_or_default()
}

/// Reads `readelf --debug-dump=frames-interp`.
pub(crate) fn functions_of_readelf(text: &str) -> Vec<Function> {
    // Common parts by their place: whether they are of signal frames, and the row that functions without rows have.
    let mut common: BTreeMap<u64, Function> = BTreeMap::new();
    let mut common_at = None;
    let mut functions: Vec<Function> = Vec::new();
    let mut columns: Vec<String> = Vec::new();
    for line in text.lines() {
        // A register that is kept in another is shown with two names: `r8 (r8)`.
        let words: Vec<&str> = line.split_whitespace().filter(|word| !word.starts_with('(')).collect();
        if words.get(1) == Some(&"ZERO") {
            // The terminator of the section.
            columns.clear();
        } else if words.get(3) == Some(&"CIE") {
            let at = hex(words[0]);
            let signal = words[4].contains('S');
            common.insert(at, Function { signal, ..Function::default() });
            common_at = Some(at);
        } else if words.get(3) == Some(&"FDE") {
            common_at = None;
            let of = &common[&hex(value(line, "cie="))];
            let (start, end) = value(line, "pc=").split_once("..").expect("two addresses");
            let (start, end) = (hex(start), hex(end));
            // Without rows of its own, what the common part says holds.
            let rows = of.rows.values().map(|told| (start, told.clone())).collect();
            functions.push(Function { start, end, signal: of.signal, rows });
        } else if words.first() == Some(&"LOC") {
            columns = words.iter().map(ToString::to_string).collect();
        } else if words.len() == columns.len() && words.len() > 2 {
            let column = |name: &str| {
                let place = columns.iter().position(|column| column == name);
                place.map_or("u", |place| words[place]).to_owned()
            };
            let told = Told { cfa: column("CFA"), rbp: column("rbp"), ra: column("ra") };
            let function = match common_at {
                Some(at) => common.get_mut(&at),
                None => functions.last_mut(),
            };
            function.expect("a row belongs to something").rows.insert(hex(words[0]), told);
        }
    }
    functions
}

/// The rule that follows from what was told; `None` where that is an expression, which `readelf` does not show here.
pub(crate) fn rule_of(told: &Told) -> Option<Rule> {
    match told.ra.as_str() {
        "u" => return Some(Rule::ROOT),
        "c-8" => {}
        _ => return Some(Rule::UNSUPPORTED),
    }
    if told.cfa == "exp" {
        return None;
    }
    let (register, distance) = told.cfa.split_once('+').unwrap_or(("", "0"));
    let base = match register {
        "rsp" => RuleBase::Rsp,
        "rbp" => RuleBase::Rbp,
        _ => return Some(Rule::UNSUPPORTED),
    };
    let distance: u32 = distance.parse().expect("a number");
    let below: u32 = match told.rbp.strip_prefix("c-") {
        Some(below) => below.parse().expect("a number"),
        None if told.rbp == "u" || told.rbp == "s" => 0,
        None => return Some(Rule::UNSUPPORTED),
    };
    if !distance.is_multiple_of(8) || !below.is_multiple_of(8) {
        return Some(Rule::UNSUPPORTED);
    }
    Some(Rule::new(base, distance / 8, below / 8).unwrap_or(Rule::UNSUPPORTED))
}

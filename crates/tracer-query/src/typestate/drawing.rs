//! A property as text, and its automaton as a graph for Graphviz.

use std::fmt::Write as _;

use super::{Machine, Property, State};
use crate::text::escape;

/// Columns of a description, after which lists of methods go on in a new line.
const COLUMNS: usize = 100;

/// All that is known of a property, in lines.
pub fn describe(property: &Property) -> String {
    let Property { name, message, classes, subclasses, key, symbols, expression, ends_anywhere, machine } = property;
    let mut out = format!("{}: {}\n", escape::terminal(name), escape::terminal(message));
    let classes: Vec<&str> = classes.iter().map(tracer_weave::Pattern::as_str).collect();
    let below = if *subclasses { " and below" } else { "" };
    if !classes.is_empty() {
        entry(&mut out, "classes", &format!("{}{below}", classes.join(", ")));
    }
    entry(&mut out, "a state for", &format!("every {key}"));
    for symbol in symbols {
        let methods: Vec<String> = symbol.methods.iter().map(ToString::to_string).collect();
        entry(&mut out, &symbol.name, &format!("{} of {}", symbol.at, methods.join(", ")));
    }
    if let Some(expression) = expression {
        entry(&mut out, "legal", expression);
    }
    let ends = if *ends_anywhere { "in every state" } else { "in states with a *" };
    entry(&mut out, "may end", ends);
    entry(&mut out, "states", &format!("{}, and the dead one", machine.dead()));
    out.push_str(&table(machine));
    out
}

/// The table of transitions, in lines.
pub fn table(machine: &Machine) -> String {
    let live = 0..machine.dead();
    let label = |state: State| {
        let end = if machine.may_end(state) { "*" } else { "" };
        format!("{state} {}{end}", machine.state(state))
    };
    let labels: Vec<String> = live.clone().map(label).collect();
    let first = labels.iter().map(|label| escape::width(label)).max().unwrap_or(0).max("state".len());
    let mut out = format!("    {:first$}", "state");
    for symbol in &machine.symbols {
        let _ = write!(out, "  {symbol:>3}");
    }
    out.push_str("  off while there\n");
    for (state, label) in live.zip(&labels) {
        let _ = write!(out, "    {label:first$}");
        for (to, symbol) in machine.next[usize::from(state)].iter().zip(&machine.symbols) {
            let to = if *to == machine.dead() { "-".to_owned() } else { to.to_string() };
            let _ = write!(out, "  {to:>width$}", width = escape::width(symbol).max(3));
        }
        let off = machine.names(machine.loops(state));
        let off = if off.is_empty() { "nothing".to_owned() } else { off.join(", ") };
        let _ = writeln!(out, "  {off}");
    }
    out
}

/// The automaton for Graphviz. The dead state is left out: what has no edge is illegal.
pub fn dot(property: &Property) -> String {
    let Property { name, machine, .. } = property;
    let mut out = format!("digraph {} {{\n  rankdir=LR;\n  start [shape=point];\n", quoted(name));
    for state in 0..machine.dead() {
        let shape = if machine.may_end(state) { "doublecircle" } else { "circle" };
        let label = quoted(&format!("{state} {}", machine.state(state)));
        let _ = writeln!(out, "  {state} [shape={shape}, label={label}];");
    }
    let _ = writeln!(out, "  start -> {};", machine.start);
    for state in 0..machine.dead() {
        for to in 0..machine.dead() {
            let set = (0_u8..32).filter(|symbol| usize::from(*symbol) < machine.symbols.len());
            let set = set.filter(|symbol| machine.step(state, *symbol) == to).fold(0, |set, symbol| set | 1 << symbol);
            let names = machine.names(set);
            if !names.is_empty() {
                // What loops is off while an object is there.
                let style = if to == state { ", style=dashed" } else { "" };
                let _ = writeln!(out, "  {state} -> {to} [label={}{style}];", quoted(&names.join(", ")));
            }
        }
    }
    out.push_str("}\n");
    out
}

fn entry(out: &mut String, what: &str, text: &str) {
    let text = escape::terminal(text);
    let mut lines = escape::wrap(&text, COLUMNS).into_iter();
    let _ = writeln!(out, "  {:<12}  {}", escape::terminal(what), lines.next().unwrap_or_default());
    for line in lines {
        let _ = writeln!(out, "  {:<12}  {line}", "");
    }
}

/// A text in quotes of the graph language, harmless on a terminal, too.
fn quoted(text: &str) -> String {
    format!("\"{}\"", escape::terminal(text).replace('\\', "\\\\").replace('"', "\\\""))
}

//! A profile as a graph for Graphviz (`.dot`): a box a function, an arrow a line that calls.

use std::io;

use super::{
    escape, format,
    graph::{Function, Graph},
};
use crate::report::Profile;

/// Writes the graph of a profile.
pub fn write(profile: &Profile, out: &mut dyn io::Write) -> io::Result<()> {
    let graph = Graph::new(profile);
    let what = if profile.contexts { "calls" } else { "samples" };
    writeln!(out, "digraph jtrace {{")?;
    writeln!(out, "  graph [label={}, labelloc=t, fontname=\"sans-serif\"];", quoted(&profile.title))?;
    writeln!(out, "  node [shape=box, fontname=\"sans-serif\"];\n  edge [fontname=\"sans-serif\"];")?;
    for (number, function) in &graph.functions {
        let Function { calls, total, own } = function;
        let own = own.values().fold(0_u64, |sum, value| sum.saturating_add(*value));
        let [own, total] = [own, *total].map(|value| format::int(value, profile.unit));
        let text = format!("{}\n{} {what}\nself {own}, total {total}", graph.label(*number), format::count(*calls));
        writeln!(out, "  n{number} [label={}];", quoted(&text))?;
    }
    for ((caller, line, callee), edge) in &graph.edges {
        let place = if *line > 0 { format!("line {line}: ") } else { String::new() };
        let total = format::int(edge.total, profile.unit);
        let tip = format!("{place}{} {what}, {total}", format::count(edge.calls));
        let label = quoted(&format!("{place}{}", format::count(edge.calls)));
        writeln!(
            out,
            "  n{caller} -> n{callee} [label={label}, weight={}, tooltip={}];",
            weight(edge.calls),
            quoted(&tip)
        )?;
    }
    writeln!(out, "}}")
}

/// How much Graphviz strives to keep an arrow short: it takes small whole numbers.
const fn weight(calls: u64) -> u32 {
    1 + calls.saturating_add(1).ilog2()
}

/// A text between quotes. Within it Graphviz knows backslashes and line breaks.
fn quoted(text: &str) -> String {
    let lines: Vec<String> =
        text.split('\n').map(|line| escape::terminal(line).replace('\\', "\\\\").replace('"', "\\\"")).collect();
    format!("\"{}\"", lines.join("\\n"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::view::sample;

    fn written(profile: &Profile) -> String {
        let mut out = Vec::new();
        write(profile, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn contexts_are_a_graph_of_calls() {
        insta::assert_snapshot!(written(&sample::contexts()));
    }

    #[test]
    fn names_stay_within_their_quotes() {
        assert_eq!(quoted("a\"b\\c"), "\"a\\\"b\\\\c\"");
        assert_eq!(quoted("a\n\x1b[2J"), "\"a\\n\\\\x1b[2J\"");
    }

    proptest! {
        #[test]
        fn every_line_is_whole(profile in sample::any_profile()) {
            let text = written(&profile);
            let lines: Vec<&str> = text.lines().collect();
            prop_assert_eq!((lines.first().copied(), lines.last().copied()), (Some("digraph jtrace {"), Some("}")));
            for line in &lines {
                prop_assert_eq!(escape::terminal(line), *line);
                let bare = line.replace("\\\\", "").replace("\\\"", "");
                prop_assert_eq!(bare.matches('"').count() % 2, 0, "{}", line);
            }
        }
    }
}

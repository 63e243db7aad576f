//! The runs as a table of values separated by commas (RFC 4180): a line a run, in the order of time. A number that was not
//! measured is an empty field.
//!
//! What an observer answered and what the program counted stand side by side: `parks_counted`, `parks_answered`.

use std::collections::BTreeSet;

use super::words;
use crate::{
    bench::results::{Environment, Memory, Method, Observed, Results, Run, Verdict},
    text::escape,
};

/// Most counts that get columns of their own; a file has a dozen, and one that has thousands is not from here.
const MAX_COUNTS: usize = 64;

/// Columns of every run, before those of the counts.
const COLUMNS: [&str; 19] = [
    "program",
    "configuration",
    "round",
    "wall_ns",
    "cpu_ns",
    "settled",
    "collections",
    "collection_ns",
    "peak_heap_bytes",
    "allocated_bytes",
    "promoted_bytes",
    "observer_cpu_ns",
    "observer_peak_rss_bytes",
    "events_seen",
    "events_lost",
    "answer",
    "partial",
    "observer_command",
    "other_counts",
];

/// Columns that are the same in every line, so that tables of several sessions can be put together.
const SESSION: [&str; 17] = [
    "started_s",
    "warm_up_iterations",
    "timed_iterations",
    "settle_ms",
    "size",
    "seed",
    "jtrace",
    "tools",
    "jvm",
    "vendor",
    "collector",
    "max_heap_bytes",
    "flags",
    "kernel",
    "cpu",
    "cpus",
    "memory_bytes",
];

pub(super) fn write(results: &Results) -> String {
    let counts = counts(results);
    let titles = COLUMNS.iter().map(|title| (*title).to_owned());
    let titles = titles.chain(counts.iter().flat_map(|name| [format!("{name}_counted"), format!("{name}_answered")]));
    let titles = titles.chain(SESSION.iter().map(|title| (*title).to_owned()));
    let session = session(results);
    let mut out = line(titles);
    for run in &results.runs {
        out += &line(fields(run, &counts).into_iter().chain(session.iter().cloned()));
    }
    out
}

/// Names of what programs counted and observers answered.
fn counts(results: &Results) -> Vec<&str> {
    let answers = results.runs.iter().filter_map(|run| run.observed.as_ref()).flat_map(|seen| seen.answers.keys());
    let all: BTreeSet<&str> =
        results.runs.iter().flat_map(|run| run.counts.keys()).chain(answers).map(String::as_str).collect();
    all.into_iter().take(MAX_COUNTS).collect()
}

fn fields(run: &Run, counts: &[&str]) -> Vec<String> {
    let Run { program, configuration, round, wall_ns, cpu_ns, settled, memory, observed, counts: counted } = run;
    let Memory { collections, collection_ns, peak_heap_bytes, allocated_bytes, promoted_bytes } = memory;
    let nobody = Observed::default();
    let Observed { command, cpu_ns: observer_cpu_ns, peak_rss_bytes, iterations: _, events, lost, partial, answers } =
        observed.as_ref().unwrap_or(&nobody);
    let answer = run.verdict().map_or("", |verdict| match verdict {
        Verdict::Right => "right",
        Verdict::Partial => "partial",
        Verdict::Wrong => "wrong",
    });
    let others = counted.iter().filter(|(name, _)| counts.binary_search(&name.as_str()).is_err());
    let others = others.map(|(name, count)| format!("{name}={count}")).collect::<Vec<_>>().join(" ");
    let mut fields = vec![program.clone(), configuration.clone(), round.to_string(), wall_ns.to_string()];
    fields.extend([number(*cpu_ns), settled.map_or_else(String::new, |settled| settled.to_string())]);
    fields.extend([*collections, *collection_ns, *peak_heap_bytes].map(number));
    fields.extend([*allocated_bytes, *promoted_bytes, *observer_cpu_ns, *peak_rss_bytes, *events, *lost].map(number));
    fields.extend([answer.to_owned(), partial.clone().unwrap_or_default(), words::command(command), others]);
    fields.extend(counts.iter().flat_map(|name| [counted, answers].map(|all| number(all.get(*name).copied()))));
    fields
}

fn session(results: &Results) -> Vec<String> {
    let Environment { jtrace, kernel, cpu, cpus, memory_bytes, jvm, vendor, collector, max_heap_bytes, flags, tools } =
        &results.environment;
    let Method { runs: _, warm_up, iterations, settle_ms, size, seed } = &results.method;
    // 0 stands for what could not be found out.
    let amount = |bytes: u64| number((bytes > 0).then_some(bytes));
    let tools = tools.iter().map(|(name, version)| format!("{name} {version}")).collect::<Vec<_>>().join("; ");
    vec![
        results.started_s.to_string(),
        warm_up.to_string(),
        iterations.to_string(),
        settle_ms.to_string(),
        size.clone(),
        seed.to_string(),
        jtrace.clone(),
        tools,
        jvm.clone(),
        vendor.clone(),
        collector.clone(),
        amount(*max_heap_bytes),
        words::command(flags),
        kernel.clone(),
        cpu.clone(),
        cpus.to_string(),
        amount(*memory_bytes),
    ]
}

fn number(value: Option<u64>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

fn line(fields: impl Iterator<Item = String>) -> String {
    let fields: Vec<String> = fields.map(|text| field(&text)).collect();
    fields.join(",") + "\r\n"
}

/// A field that a spreadsheet shows and does not work out: what would be a formula begins with an apostrophe.
fn field(text: &str) -> String {
    let text = super::document::cut(escape::terminal(text).into_owned());
    let is_formula = text.trim_start().starts_with(['=', '+', '-', '@', '＝', '＋', '－', '＠']);
    let text = if is_formula { format!("'{text}") } else { text };
    if text.contains([',', '"', ' ', '\'', ';', '|']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_quoted_and_formulas_are_texts() {
        assert_eq!([field(""), field("12"), field("a")], ["", "12", "a"]);
        assert_eq!([field("a,b"), field("a \"b\"")], ["\"a,b\"", "\"a \"\"b\"\"\""]);
        for formula in ["=1+1", "+1", "-1", "@SUM(A1)", " =1", "=cmd|' /C calc'!A0"] {
            assert!(field(formula).starts_with("\"'"), "{formula}");
        }
        assert_eq!(field("a\r\n=1\t\u{202e}"), "a\\r\\n=1\\t\\u{202e}");
    }
}

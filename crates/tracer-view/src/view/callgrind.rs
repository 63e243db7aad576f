//! A profile in callgrind's format (`.callgrind`), for `KCachegrind`, `QCachegrind` and `callgrind_annotate`: own costs by line,
//! and for each call its number and what it costs with everything below.

use std::{
    collections::{BTreeMap, HashMap},
    io,
};

use super::{
    escape,
    graph::{Edge, Graph},
    sentence,
};
use crate::report::{Profile, Report, Unit};

/// Writes a profile of a report.
pub fn write(report: &Report, profile: &Profile, out: &mut dyn io::Write) -> io::Result<()> {
    let graph = Graph::new(profile);
    let mut names = Names::default();
    writeln!(out, "# callgrind format\nversion: 1\ncreator: jtrace")?;
    let (equation, _) = sentence::completeness(&report.completeness);
    for text in [sentence::target(&report.target), sentence::cost(&report.target, &report.cost), equation] {
        writeln!(out, "desc: {}", escape::terminal(&text))?;
    }
    let (event, meaning) = event(profile.unit);
    writeln!(out, "desc: Trigger: {}", escape::terminal(&profile.title))?;
    writeln!(out, "positions: line\nevent: {event} : {meaning}\nevents: {event}\nsummary: {}\n", profile.total())?;
    let mut calls: HashMap<u32, BTreeMap<(u32, u32), Edge>> = HashMap::new();
    for ((caller, line, callee), edge) in &graph.edges {
        calls.entry(*caller).or_default().insert((*line, *callee), *edge);
    }
    for (number, function) in &graph.functions {
        writeln!(out, "fl={}\nfn={}", names.file(&graph, *number), names.function(&graph, *number))?;
        for (line, own) in function.own.iter().filter(|(_, own)| **own > 0) {
            writeln!(out, "{line} {own}")?;
        }
        for ((line, callee), edge) in calls.remove(number).unwrap_or_default() {
            writeln!(out, "cfi={}\ncfn={}", names.file(&graph, callee), names.function(&graph, callee))?;
            // The line on which the callee begins is not known.
            writeln!(out, "calls={} 0\n{line} {}", edge.calls, edge.total)?;
        }
        writeln!(out)?;
    }
    writeln!(out, "totals: {}", profile.total())
}

/// What an amount is called: a word, and what it means.
const fn event(unit: Unit) -> (&'static str, &'static str) {
    match unit {
        Unit::Ns => ("ns", "Time (ns)"),
        Unit::Bytes => ("bytes", "Bytes"),
        Unit::Text | Unit::Count | Unit::Percent | Unit::PerSecond | Unit::BytesPerSecond | Unit::Address => {
            ("count", "Count")
        }
    }
}

/// Names are written once, with a number that stands for them afterwards.
#[derive(Default)]
struct Names {
    files: HashMap<String, usize>,
    functions: HashMap<u32, usize>,
}

impl Names {
    fn file(&mut self, graph: &Graph<'_>, function: u32) -> String {
        let symbol = graph.symbol(function);
        let frame = symbol.and_then(|symbol| symbol.frame);
        let file = frame.and_then(|frame| frame.file.as_deref().or(frame.module.as_deref())).unwrap_or("???");
        let name = line_of(file);
        if let Some(number) = self.files.get(&name) {
            return format!("({number})");
        }
        let number = self.files.len() + 1;
        let text = format!("({number}) {name}");
        self.files.insert(name, number);
        text
    }

    fn function(&mut self, graph: &Graph<'_>, function: u32) -> String {
        if let Some(number) = self.functions.get(&function) {
            return format!("({number})");
        }
        let number = self.functions.len() + 1;
        self.functions.insert(function, number);
        format!("({number}) {}", line_of(&graph.label(function)))
    }
}

/// A name that is one line and not empty.
fn line_of(name: &str) -> String {
    let clean = escape::terminal(name);
    if clean.trim().is_empty() { "<no name>".to_owned() } else { clean.trim().to_owned() }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::view::sample;

    fn written(profile: &Profile) -> String {
        let mut out = Vec::new();
        write(&sample::report(), profile, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn contexts_have_calls_and_inclusive_costs() {
        insta::assert_snapshot!(written(&sample::contexts()));
    }

    /// Own costs, and (calls, inclusive costs) by function, as a reader of the format takes them.
    fn read(text: &str) -> (u64, BTreeMap<String, (u64, u64)>) {
        let (mut own, mut called) = (0, BTreeMap::<String, (u64, u64)>::new());
        let mut names = HashMap::new();
        let mut name = |text: &str| {
            let (number, rest) = text.split_once(')').expect("a number");
            if let Some(name) = rest.strip_prefix(' ') {
                assert!(names.insert(number.to_owned(), name.to_owned()).is_none(), "{text} twice");
            }
            names.get(number).cloned().expect("a name that was given before")
        };
        let mut lines = text.lines().skip_while(|line| !line.starts_with("summary"));
        let mut callee = String::new();
        while let Some(line) = lines.next() {
            if let Some(function) = line.strip_prefix("fn=") {
                name(function);
            } else if let Some(function) = line.strip_prefix("cfn=") {
                callee = name(function);
            } else if let Some(calls) = line.strip_prefix("calls=") {
                let cost = lines.next().and_then(|line| line.split_once(' ')).expect("a cost").1;
                let entry = called.entry(callee.clone()).or_default();
                entry.0 += calls.split_once(' ').expect("a target").0.parse::<u64>().expect("a number");
                entry.1 += cost.parse::<u64>().expect("a number");
            } else if line.starts_with(|first: char| first.is_ascii_digit()) {
                own += line.split_once(' ').expect("a cost").1.parse::<u64>().expect("a number");
            }
        }
        (own, called)
    }

    #[test]
    fn a_reader_finds_every_call() {
        let (own, called) = read(&written(&sample::contexts()));
        assert_eq!((own, called.get("Fib.fib")), (10, Some(&(9, 18))));
    }

    proptest! {
        #[test]
        fn own_costs_are_the_profiles(profile in sample::any_profile()) {
            let text = written(&profile);
            prop_assert!(text.lines().all(|line| escape::terminal(line) == line));
            prop_assert_eq!(read(&text).0, profile.total());
        }
    }
}

//! What is counted of methods equals the closed form that the programs print after each GO, and nothing is lost.
//!
//! The JVMs are started with the flags that make HotSpot tell of every method, so that all is covered from the start.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;
use tests::{
    jdk::{self, Jdk},
    jtrace::Session,
    jvm::{Jvm, Launch},
    report::{Report, Row, cell},
};

/// Its name, and the flags for it.
type Mode = (&'static str, &'static [&'static str]);

/// What runs the code: the interpreter, C1, C2, or all of them in turn.
const MODES: [Mode; 4] = [
    ("the interpreter", &["-Xint"]),
    ("C1", &["-XX:TieredStopAtLevel=1"]),
    ("C2", &["-XX:-TieredCompilation"]),
    ("the default", &[]),
];

/// Nothing is taken away, and a burst of events has room.
const COMPLETE: [&str; 4] = ["--max-overhead", "100000%", "--ring-size", "16m"];

/// What a complete count must be: by kind and what it is of.
#[derive(Debug, Default)]
struct Expected(BTreeMap<(String, String), u64>);

impl Expected {
    /// Adds what a program printed, as in `expected calls Fib.fib 21891`.
    fn add(&mut self, text: &str) -> Result<()> {
        for line in text.lines() {
            let Some(rest) = line.strip_prefix("expected ") else { continue };
            let (kind, rest) = rest.split_once(' ').context("no kind")?;
            let (of, number) = rest.rsplit_once(' ').context("no number")?;
            *self.0.entry((kind.to_owned(), of.to_owned())).or_default() += number.parse::<u64>()?;
        }
        Ok(())
    }

    /// The numbers of a kind; a program that has none would test nothing.
    fn of(&self, kind: &str) -> Result<Vec<(&str, u64)>> {
        let numbers = self.0.iter().filter(|((is, _), _)| is == kind);
        let numbers: Vec<_> = numbers.map(|((_, of), number)| (of.as_str(), *number)).collect();
        ensure!(!numbers.is_empty(), "the program expects no {kind}");
        Ok(numbers)
    }

    fn one(&self, kind: &str, of: &str) -> Option<u64> {
        self.0.get(&(kind.to_owned(), of.to_owned())).copied()
    }
}

/// How a program is run and watched.
struct Run<'a> {
    jdk: &'a Jdk,
    flags: Vec<&'a str>,
    main: &'a str,
    arguments: &'a [&'a str],
    /// How often it works before jtrace attaches, and while it is attached.
    before: usize,
    times: usize,
    options: Vec<&'a str>,
}

impl<'a> Run<'a> {
    fn new(jdk: &'a Jdk, main: &'a str, options: &[&'a str]) -> Self {
        Self {
            jdk,
            flags: vec!["-XX:+DTraceMethodProbes"],
            main,
            arguments: &[],
            before: 0,
            times: 2,
            options: options.to_vec(),
        }
    }

    fn flags(mut self, flags: &[&'a str]) -> Self {
        self.flags.extend(flags);
        self
    }

    fn times(mut self, before: usize, times: usize) -> Self {
        (self.before, self.times) = (before, times);
        self
    }

    fn start(&self) -> Result<Jvm> {
        let launch = Launch::new(self.jdk, "methods", self.main).flags(&self.flags).arguments(self.arguments);
        let mut jvm = launch.start()?;
        for _ in 0..self.before {
            jvm.work()?;
        }
        Ok(jvm)
    }

    /// Lets it work while jtrace is attached; everything must have arrived.
    fn watch(&self) -> Result<(Report, Expected)> {
        let mut jvm = self.start()?;
        let printed = jvm.stdout().text().len();
        let options: Vec<&str> = COMPLETE.into_iter().chain(self.options.iter().copied()).collect();
        let session = Session::attach(jvm.pid(), &options)?;
        for _ in 0..self.times {
            jvm.work()?;
        }
        let report = session.report()?;
        let mut expected = Expected::default();
        expected.add(&jvm.stdout().text()[printed..])?;
        jvm.finish()?;
        ensure!(report.completeness("lost")? == 0, "events were lost");
        Ok((report, expected))
    }
}

/// Calls and errors by method, of all its signatures.
fn methods(report: &Report) -> Result<BTreeMap<String, [u64; 2]>> {
    let mut methods: BTreeMap<String, [u64; 2]> = BTreeMap::new();
    for row in report.table("methods", "methods")? {
        let name = format!("{}.{}", text(&row, "class"), text(&row, "method"));
        let sums = methods.entry(name).or_default();
        sums[0] += cell(&row, "calls")?;
        sums[1] += cell(&row, "errors")?;
    }
    Ok(methods)
}

fn text<'a>(row: &'a Row, key: &str) -> &'a str {
    row.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// Checks every number of calls and of errors; tells all differences at once.
///
/// The call that finds the stack full has begun by the program's own account only where the JVM looks for room after it has told of the call:
/// such calls lie between two numbers, and all end by the exception.
fn calls_agree(report: &Report, expected: &Expected) -> Result<()> {
    let counted = methods(report)?;
    let mut differences = Vec::new();
    for ((kind, of), number) in &expected.0 {
        let [calls, errors] = counted.get(of).copied().unwrap_or_default();
        let (number, agrees) = match kind.as_str() {
            "calls" => (*number, calls == *number),
            "errors" => (*number, errors == *number),
            "calls_from" => (*number, calls >= *number && errors == calls),
            "calls_to" => (*number, calls <= *number),
            _ => continue,
        };
        if !agrees {
            differences.push(format!("{calls} calls and {errors} errors of {of}, not {kind} {number}"));
        }
    }
    expected.of("calls")?;
    ensure!(differences.is_empty(), "{}", differences.join("; "));
    Ok(())
}

/// A program that is counted, and how often it works.
#[derive(Clone, Copy)]
struct Program<'a> {
    main: &'a str,
    arguments: &'a [&'a str],
    patterns: &'a [&'a str],
    /// Before jtrace attaches, and while it is attached.
    times: (usize, usize),
}

impl Program<'_> {
    fn agrees(self, jdk: &Jdk, flags: &[&str]) -> Result<()> {
        let mut options = vec!["-l", "methods"];
        options.extend(self.patterns.iter().flat_map(|pattern| ["-I", *pattern]));
        let mut run = Run::new(jdk, self.main, &options).flags(flags).times(self.times.0, self.times.1);
        run.arguments = self.arguments;
        let (report, expected) = run.watch()?;
        calls_agree(&report, &expected)
    }

    /// Counts it in all ways on all releases.
    fn agrees_everywhere(self) -> Result<()> {
        self.agrees_where(|_, _| true)
    }

    /// Counts it once on each release, each time in another way; the programs differ in `first`, so that together they
    /// have all pairs.
    fn agrees_across(self, first: usize) -> Result<()> {
        self.agrees_where(|release, mode| (release + first) % MODES.len() == mode)
    }

    /// Names every release and way that it is wrong in.
    fn agrees_where(self, chosen: impl Fn(usize, usize) -> bool) -> Result<()> {
        let mut wrong = Vec::new();
        for (release, jdk) in jdk::all()?.iter().enumerate() {
            for (_, (mode, flags)) in MODES.iter().enumerate().filter(|(mode, _)| chosen(release, *mode)) {
                if let Err(error) = self.agrees(jdk, flags) {
                    wrong.push(format!("{} on JDK {} by {mode}: {error:#}", self.main, jdk.release));
                }
            }
        }
        ensure!(wrong.is_empty(), "{}", wrong.join("\n"));
        Ok(())
    }
}

#[test]
fn exceptions_are_counted_where_they_leave_methods() -> Result<()> {
    let program = Program { main: "Exceptions", arguments: &[], patterns: &["Exceptions*::*"], times: (0, 1) };
    program.agrees_everywhere()
}

#[test]
fn a_recursion_of_two_ways_is_counted() -> Result<()> {
    let program = Program { main: "Fib", arguments: &["16"], patterns: &["Fib::*"], times: (0, 4) };
    program.agrees_everywhere()
}

#[test]
fn products_of_loops_are_counted() -> Result<()> {
    let program = Program { main: "NestedLoops", arguments: &[], patterns: &["NestedLoops::*"], times: (0, 2) };
    program.agrees_across(0)
}

#[test]
fn deep_and_mutual_recursions_are_counted() -> Result<()> {
    let program = Program { main: "Recursion", arguments: &[], patterns: &["Recursion::*"], times: (0, 2) };
    program.agrees_across(1)
}

#[test]
fn what_reflection_handles_and_proxies_call_is_counted() -> Result<()> {
    let program = Program { main: "Reflection", arguments: &[], patterns: &["Reflection*::*"], times: (0, 2) };
    program.agrees_across(2)
}

#[test]
fn bodies_of_lambdas_are_counted() -> Result<()> {
    let program = Program { main: "Lambdas", arguments: &[], patterns: &["Lambdas::*"], times: (0, 2) };
    program.agrees_across(3)
}

#[test]
fn sixty_four_threads_are_counted_at_the_same_time() -> Result<()> {
    let program = Program { main: "ManyThreads", arguments: &[], patterns: &["ManyThreads*::*"], times: (0, 2) };
    program.agrees_across(0)
}

#[test]
fn receivers_of_five_classes_are_counted() -> Result<()> {
    let program = Program { main: "Receivers", arguments: &[], patterns: &["Receivers*::*"], times: (0, 2) };
    program.agrees_across(1)
}

#[test]
fn initialisers_are_counted_once() -> Result<()> {
    let program = Program { main: "Initialisers", arguments: &[], patterns: &["Initialisers*::*"], times: (0, 2) };
    program.agrees_across(2)
}

#[test]
fn an_overflow_of_the_stack_ends_every_call_of_it() -> Result<()> {
    let program = Program { main: "Overflow", arguments: &[], patterns: &["Overflow::*"], times: (0, 2) };
    program.agrees_across(3)
}

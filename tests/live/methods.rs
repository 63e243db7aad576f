//! What is counted of methods equals the closed form that the programs print after each GO, and nothing is lost.
//!
//! The JVMs are started with the flags that make HotSpot tell of every method, so that all is covered from the start.

// The numbers of calls and of errors.
mod conditions;
mod counts;
mod inside;
pub(crate) mod programs;
// Who calls whom, and where.
pub(crate) mod graph;
mod opcodes;
// Whose calls they are.
mod threads;
// What the code was that ran.
mod compiled;
// What the JVM does without a call.
mod hidden;
mod idle;
mod records;

use std::collections::BTreeMap;

use anyhow::{Result, ensure};
use serde_json::Value;
use tests::{
    expected::Expected,
    jdk::{self, Jdk},
    jtrace::Session,
    jvm::{Jvm, Launch},
    process::Finished,
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
const COMPLETE: [&str; 4] = ["--max-overhead", "100000%", "--ring-size", "32m"];

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

    /// On a JVM that nobody has told to report.
    fn without_probes(mut self) -> Self {
        self.flags.clear();
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

    /// Lets it work while jtrace is attached.
    fn watch(&self) -> Result<(Finished, Expected)> {
        let mut jvm = self.start()?;
        let printed = jvm.stdout().text().len();
        let options: Vec<&str> = COMPLETE.into_iter().chain(self.options.iter().copied()).collect();
        let session = Session::attach(jvm.pid(), &options)?;
        for _ in 0..self.times {
            jvm.work()?;
        }
        let finished = session.stop()?;
        let mut expected = Expected::default();
        expected.add(&jvm.stdout().text()[printed..])?;
        jvm.finish()?;
        Ok((finished, expected))
    }

    /// As [`Self::watch`]; the report says that everything has arrived.
    fn report(&self) -> Result<(Report, Expected)> {
        let (finished, expected) = self.watch()?;
        let report = Report::parse(&finished.stdout)?;
        report.nothing_lost()?;
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
/// The call that finds the stack full is told of or not, as the JVM looks for room after that or before: such calls lie between
/// two numbers, and all end by the exception.
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
pub(crate) struct Program<'a> {
    pub(crate) main: &'a str,
    pub(crate) arguments: &'a [&'a str],
    pub(crate) patterns: &'a [&'a str],
    /// Before jtrace attaches, and while it is attached.
    times: (usize, usize),
}

impl Program<'_> {
    fn agrees(self, jdk: &Jdk, flags: &[&str]) -> Result<()> {
        let mut options = vec!["-l", "methods"];
        options.extend(self.patterns.iter().flat_map(|pattern| ["-I", *pattern]));
        let mut run = Run::new(jdk, self.main, &options).flags(flags).times(self.times.0, self.times.1);
        run.arguments = self.arguments;
        let (report, expected) = run.report()?;
        calls_agree(&report, &expected)
    }

    /// Counts it in two ways on each release: every way is on two releases, and programs of the other `turn` have the other pairs.
    fn agrees_in_half(self, turn: usize) -> Result<()> {
        self.agrees_where(|release, mode| (release + mode + turn).is_multiple_of(2))
    }

    /// Counts it on two releases, on each in another way; there are eight `turn`s, which together have every release in every way once.
    fn agrees_across(self, turn: usize) -> Result<()> {
        let (first, parity) = (turn % MODES.len(), turn / MODES.len());
        self.agrees_where(|release, mode| {
            (release + parity).is_multiple_of(2) && (release + first) % MODES.len() == mode
        })
    }

    /// Names every release and way that it is wrong in. The whole matrix is all of them.
    fn agrees_where(self, chosen: impl Fn(usize, usize) -> bool) -> Result<()> {
        let mut wrong = Vec::new();
        for (release, jdk) in jdk::all()?.iter().enumerate() {
            for (_, (mode, flags)) in
                MODES.iter().enumerate().filter(|(mode, _)| jdk::is_full() || chosen(release, *mode))
            {
                if let Err(error) = self.agrees(jdk, flags) {
                    wrong.push(format!("{} on JDK {} by {mode}: {error:#}", self.main, jdk.release));
                }
            }
        }
        ensure!(wrong.is_empty(), "{}", wrong.join("\n"));
        Ok(())
    }
}

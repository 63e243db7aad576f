//! The inside lane: what woven code costs, how long weaving takes, and how many events adaptation saves.
//!
//! Everything is measured on the oldest and the newest JDK that have most users. What is compared is of one JVM, and each JVM is a round: so
//! what else the machine does falls on all of them alike. The JVM runs on one CPU and jtrace on another, where there are two.

mod file;
mod hot;
mod iterators;
mod suite;
mod transient;
mod weaving;

use std::path::PathBuf;

pub(super) use self::{iterators::Size as Iterators, suite::Size, transient::measure as transient};

use anyhow::{Context as _, Result, ensure};
use tests::{
    jdk::{self, Jdk},
    jtrace::Session,
    jvm::Jvm,
    report::Report,
};

use super::{
    Effort,
    budget::Figure,
    methods::{CPUS, pin},
    statistics::{median, quartiles},
};

/// The releases that are measured.
const RELEASES: [u32; 2] = [17, 25];

/// Nothing is taken away where it costs much: that is what is measured.
const UNGUARDED: [&str; 2] = ["--max-overhead", "100000%"];

/// What of it is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    Hot,
    Iterators,
    Weaving,
    File,
    Suite,
}

pub(super) fn measure(what: What, effort: &Effort) -> Result<Vec<Figure>> {
    let mut figures = Vec::new();
    for release in RELEASES {
        let known = jdk::all()?.into_iter().find(|jdk| jdk.release == release);
        let jdk = known.with_context(|| format!("there is no JDK {release}: run `cargo xtask jdks`"))?;
        eprintln!("bench: {what:?} on JDK {release}");
        figures.extend(match what {
            What::Hot => hot::measure(&jdk, effort.inside)?,
            What::Iterators => iterators::measure(&jdk, &effort.iterators)?,
            What::Weaving => weaving::measure(&jdk, effort.inside)?,
            What::File => file::measure(&jdk)?,
            What::Suite => suite::measure(&jdk, &effort.suite)?,
        });
    }
    Ok(figures)
}

/// The name of a figure of a release.
fn named(name: &str, jdk: &Jdk) -> String {
    format!("inside_{name}_{}", jdk.release)
}

/// The median of rounds, with their quartiles and something else to say.
fn figure(name: &str, jdk: &Jdk, values: &[f64], unit: &str, note: &str) -> Figure {
    let (low, high) = quartiles(values);
    let rounds = values.len();
    let note = format!("quartiles {low:.3} to {high:.3}{unit}, {rounds} rounds{note}");
    Figure::new(named(name, jdk), median(values), note)
}

/// What a program is asked for.
#[derive(Clone, Copy, Debug)]
struct Work {
    /// Calls or passes.
    units: u64,
    /// Other work between them, where the program knows any.
    other: Option<u32>,
}

/// What a block of work takes, in ns for each unit of work, the best of some after others that nobody times: what was exchanged is
/// compiled meanwhile. What else the machine does makes blocks slower and none faster.
fn best(jvm: &mut Jvm, work: Work, [warm_up, blocks]: [usize; 2]) -> Result<f64> {
    for _ in 0..warm_up {
        block(jvm, work)?;
    }
    let mut best = f64::INFINITY;
    for _ in 0..blocks {
        best = block(jvm, work)?.min(best);
    }
    Ok(best / work.units as f64)
}

fn block(jvm: &mut Jvm, Work { units, other }: Work) -> Result<f64> {
    jvm.process().send_line(&other.map_or(units.to_string(), |other| format!("{units} {other}")))?;
    Ok(jvm.done()?.get("ns")? as f64)
}

/// jtrace in the JVM, with everything woven and switched on.
fn visit(jvm: &Jvm, command: &str, arguments: &[&str]) -> Result<Session> {
    let pid = jvm.pid().to_string();
    let words: Vec<&str> = [command, &pid, "--json"].into_iter().chain(arguments.iter().copied()).collect();
    let mut session = Session::start(&words)?;
    pin(session.process().pid(), CPUS[1])?;
    Ok(session)
}

/// The number of events of a report, which must be some.
fn events(report: &Report, section: &str) -> Result<u64> {
    let events = report.summary(section, "events")?;
    ensure!(events > 0, "nothing was seen: {:?}", report.missing());
    Ok(events)
}

/// The jtrace that is measured.
fn jtrace() -> Result<PathBuf> {
    tests::jtrace::binary()
}

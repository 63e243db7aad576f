//! Two reports against each other: what is new, gone, more and less.
//!
//! Amounts that add up while a session lasts are compared per second, since sessions differ in length. A difference of counts
//! has an interval: that of events which come independently of each other, at 95 %. Events that come in bursts vary more.

mod figures;
mod merged;
mod stacks;

use std::collections::BTreeMap;

use serde::Serialize;

#[cfg(any(test, feature = "testing"))]
#[doc(hidden)]
pub use self::figures::COMPARED_KEYS;
pub use self::{
    figures::{Basis, Figure},
    merged::{Merged, profiles},
    stacks::{Methods, Moved},
};
use crate::report::{Finding, Report, Severity, Word};

/// Version of the JSON form.
pub const SCHEMA: &str = "jtrace-diff/1";

/// What two reports differ in.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Diff {
    /// [`SCHEMA`].
    pub schema: Word,
    /// The report that the other one is compared with.
    pub before: Side,
    /// The other one.
    pub after: Side,
    /// Why differences may have another reason than what the program does.
    pub cautions: Vec<String>,
    /// Findings of either: new and gone ones, those that both have, then those that only one session could have.
    pub findings: Vec<Found>,
    /// One per lens that both have, if anything differs.
    pub lenses: Vec<Lens>,
}

/// One of the sessions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Side {
    /// Process id.
    pub pid: u32,
    /// Main class or jar with arguments.
    pub command: String,
    /// Version of the JVM.
    pub jvm_version: String,
    /// Wall-clock time of the start, in ms since the epoch.
    pub started_at_ms: u64,
    /// Length.
    pub duration_ns: u64,
}

/// What became of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fate {
    /// Only the second report has it.
    New,
    /// Only the first one has it.
    Gone,
    /// Both have it.
    Still,
    /// The first report has it, and the second session did not look at that lens.
    OnlyBefore,
    /// The second report has it, and the first session did not look at that lens.
    OnlyAfter,
}

/// A finding of either report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Found {
    /// What became of it.
    pub fate: Fate,
    /// Its rule.
    pub id: Word,
    /// How bad it is, or was.
    pub severity: Severity,
    /// Its sentence, of the second report where that has it.
    pub title: String,
    /// Its sentence in the first report, where both have it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub was: Option<String>,
}

/// What differs in one lens.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Lens {
    /// Lens (`gc`, `locks`, ...).
    pub id: Word,
    /// Heading.
    pub title: String,
    /// Figures that differ, the largest change first.
    pub figures: Vec<Figure>,
    /// Figures that were compared and do not differ, or by no more than chance makes them.
    pub alike: usize,
    /// Methods that have more or less, by profile.
    pub profiles: Vec<Methods>,
}

impl Diff {
    /// Compares two reports.
    pub fn of(before: &Report, after: &Report) -> Self {
        let seconds = [before, after].map(|report| report.span.duration_ns as f64 / 1e9);
        // Nothing is per second in a session without any length.
        let sections = if seconds.contains(&0.0) { &[][..] } else { &after.sections };
        let both = sections.iter().filter_map(|later| Some((before.section(later.id)?, later)));
        let lenses = both.map(|(earlier, later)| {
            let (figures, alike) = figures::compared(earlier, later, seconds);
            // Amounts of stacks that were seen in windows are no share of the span.
            let are_whole = !earlier.is_of_windows() && !later.is_of_windows();
            let profiles = if are_whole { stacks::compared(earlier, later, seconds) } else { Vec::new() };
            Lens { id: later.id, title: later.title.clone(), figures, alike, profiles }
        });
        Self {
            schema: SCHEMA,
            before: side(before),
            after: side(after),
            cautions: cautions(before, after),
            findings: findings(before, after),
            lenses: lenses.filter(|lens| !lens.figures.is_empty() || !lens.profiles.is_empty()).collect(),
        }
    }
}

/// Of a normal distribution: 95 % lie within so many standard deviations.
const DEVIATIONS: f64 = 1.96;

/// Half the interval at 95 % of what varies so much, were it normally distributed.
fn half_interval(variance: f64) -> f64 {
    DEVIATIONS * variance.sqrt()
}

/// How much that varies of which this is half the interval.
fn variance(half_interval: f64) -> f64 {
    (half_interval / DEVIATIONS).powi(2)
}

fn side(report: &Report) -> Side {
    let Report { target, span, .. } = report;
    Side {
        pid: target.pid,
        command: target.command.clone(),
        jvm_version: target.jvm_version.clone(),
        started_at_ms: span.started_at_ms,
        duration_ns: span.duration_ns,
    }
}

/// Units go with their numbers.
const UNITS: [&str; 12] = ["ns", "us", "ms", "s", "m", "h", "B", "KiB", "MiB", "GiB", "k", "M"];

/// What two findings have in common that say the same: their rule, and their sentence without its numbers.
fn key(finding: &Finding) -> (Word, Vec<&str>) {
    let words = finding.title.split(|letter: char| !letter.is_alphabetic());
    let words = words.filter(|word| !word.is_empty() && !UNITS.contains(word));
    // `1 thread` becomes `2 threads`.
    (finding.id, words.map(|word| word.strip_suffix('s').unwrap_or(word)).collect())
}

fn findings(before: &Report, after: &Report) -> Vec<Found> {
    let mut earlier: BTreeMap<_, Vec<&Finding>> = BTreeMap::new();
    for finding in &before.findings {
        earlier.entry(key(finding)).or_default().push(finding);
    }
    let mut all: Vec<Found> = Vec::new();
    for finding in &after.findings {
        let was = earlier.get_mut(&key(finding)).filter(|left| !left.is_empty()).map(|left| left.remove(0));
        let fate = match was {
            Some(_) => Fate::Still,
            None if looked(before, finding) => Fate::New,
            None => Fate::OnlyAfter,
        };
        all.push(found(fate, finding, was.map(|was| was.title.clone())));
    }
    let gone = before.findings.iter().filter(|finding| {
        earlier.get(&key(finding)).is_some_and(|left| left.iter().any(|other| std::ptr::eq(*other, *finding)))
    });
    let fate = |finding| if looked(after, finding) { Fate::Gone } else { Fate::OnlyBefore };
    all.extend(gone.map(|finding| found(fate(finding), finding, None)));
    all.sort_by_key(|found| found.fate);
    all
}

/// Whether a session looked at what the finding is about: without the lens it could not have it.
fn looked(report: &Report, finding: &Finding) -> bool {
    let (lens, _) = finding.shown_in.split_once('.').unwrap_or((finding.shown_in, ""));
    report.section(lens).is_some()
}

fn found(fate: Fate, finding: &Finding, was: Option<String>) -> Found {
    let Finding { id, severity, title, .. } = finding;
    Found { fate, id, severity: *severity, title: title.clone(), was }
}

/// A number that is 0 where it is not known.
fn known(number: u32) -> String {
    if number == 0 { String::new() } else { number.to_string() }
}

/// Shorter than this, chance and the start of a session decide much.
const SHORT_NS: u64 = 5_000_000_000;

fn cautions(before: &Report, after: &Report) -> Vec<String> {
    let mut said = Vec::new();
    // What one of them does not say may be the same.
    let mut differ = |what: &str, values: [&str; 2]| {
        let [before, after] = values;
        if before != after && !before.is_empty() && !after.is_empty() {
            said.push(format!("{what} differ: {before} before, {after} after"));
        }
    };
    let of = |get: fn(&Report) -> String| [get(before), get(after)];
    for (what, values) in [
        ("the programs", of(|report| report.target.command.clone())),
        ("the JVMs", of(|report| report.target.jvm_version.clone())),
        ("the collectors", of(|report| report.target.collector.clone())),
        ("the machines' CPUs", of(|report| known(report.target.cpus))),
        (
            "the largest heaps",
            of(|report| report.target.max_heap_bytes.map_or_else(String::new, crate::text::format::bytes)),
        ),
        (
            "the highest levels of compilation",
            of(|report| report.target.compiles_to_level.map_or_else(String::new, |level| level.to_string())),
        ),
    ] {
        differ(what, [&values[0], &values[1]]);
    }
    if after.span.started_at_ms < before.span.started_at_ms {
        said.push("the second session is the older one: what is new there was gone later".to_owned());
    }
    for (name, report, other) in [("first", before, after), ("second", after, before)] {
        if report.span.duration_ns < SHORT_NS {
            let lasted = crate::text::format::duration(report.span.duration_ns);
            said.push(format!("the {name} session lasted {lasted} only"));
        }
        let alone = report.sections.iter().filter(|of| other.section(of.id).is_none()).map(|of| of.id);
        let alone: Vec<Word> = alone.collect();
        if !alone.is_empty() {
            said.push(format!("only the {name} session has {}", alone.join(", ")));
        }
        if report.completeness.lost > 0 {
            said.push(format!("{} events of the {name} session were lost", report.completeness.lost));
        }
        let of_windows = report.sections.iter().filter(|of| of.is_of_windows()).map(|of| of.id);
        let of_windows: Vec<Word> = of_windows.collect();
        if !of_windows.is_empty() {
            let lenses = of_windows.join(", ");
            said.push(format!(
                "the {name} session saw {lenses} in windows: rates are its estimates, and stacks are not compared"
            ));
        }
    }
    said
}

#[cfg(test)]
mod tests;

//! What a report is made of: a few shapes and, per section, a flat summary of numbers.
//!
//! Views know only what is in this module; analyses build it and know no view. Everything here is plain data. Texts are
//! as the target gave them (any Unicode, also control characters): escaping for a medium is the view's duty.

mod completeness;
pub mod descriptor;
pub mod profile;
mod read;
pub mod reading;
mod shape;
mod summary;
mod table_steps;

pub use completeness::{Completeness, Decision, SiteCompleteness};
pub use profile::{Profile, ProfileStack, ProfileSteps, ProfileThread};
pub use read::{MAX_DOCUMENT_BYTES, ReadError};
use serde::{Deserialize, Serialize};
pub use shape::{
    Bucket, Cell, Column, CurvePoint, Histogram, Node, Percentile, Series, Shape, Table, Timeline, Tree, Unit,
};
pub use summary::{ESTIMATE, Estimate, Number, Summary};
pub use table_steps::{Gather, RowSteps, StepColumn, TableSteps};

/// Version of the JSON form of a report.
pub const SCHEMA: &str = "jtrace-report/1";

/// A text that jtrace itself gives: an id, a key, a heading. Of a report that was read it is kept as long as the process lives.
pub type Word = &'static str;

/// Everything that one session found out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// [`SCHEMA`].
    #[serde(deserialize_with = "read::schema")]
    pub schema: Word,
    /// What must be known before any number is read, as that part of what was chosen is not seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub headline: Option<String>,
    /// What was looked at.
    pub target: crate::item::Target,
    /// When, and for how long.
    pub span: Span,
    /// What it cost.
    pub cost: Cost,
    /// What was emitted, delivered and lost.
    pub completeness: Completeness,
    /// What the process spends its wall time on; empty where nothing says it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub time: Vec<Doing>,
    /// What is wrong with the target, worst first.
    pub findings: Vec<Finding>,
    /// One per lens.
    pub sections: Vec<Section>,
    /// When the amounts of some tables came, for views in which a range of time can be chosen; no part of the JSON form.
    #[serde(skip)]
    pub table_steps: Vec<TableSteps>,
}

impl Report {
    /// The section of a lens.
    pub fn section(&self, lens: &str) -> Option<&Section> {
        self.sections.iter().find(|section| section.id == lens)
    }

    /// Every profile, with its section.
    pub fn profiles(&self) -> impl Iterator<Item = (&Section, &Profile)> {
        self.sections.iter().flat_map(|section| section.profiles().map(move |profile| (section, profile)))
    }
}

/// The observed stretch of time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Span {
    /// `CLOCK_MONOTONIC` at the start.
    pub start_ns: u64,
    /// Length.
    pub duration_ns: u64,
    /// Wall-clock time of the start, in ms since the epoch.
    pub started_at_ms: u64,
    /// Why observation ended (`duration`, `interrupted`, `target exited`, `running`, ...).
    pub end: String,
}

/// A part of the span.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stretch {
    /// Its beginning, since the start of the span.
    pub from_ns: u64,
    /// Its end.
    pub to_ns: u64,
}

/// What some threads do, on average.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Doing {
    /// `runs`, `stopped` or `waits`.
    #[serde(deserialize_with = "read::word")]
    pub state: Word,
    /// Which code runs, what for all threads were stopped, what they wait for.
    pub what: String,
    /// How many threads, on average; of `stopped` the part of the time.
    #[serde(deserialize_with = "read::float")]
    pub threads: f64,
    /// Where in the program most of them are, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// The names of most of them, with their numbers as `*`, where they are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pool: Option<String>,
}

/// What observation cost the target and the machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Cost {
    /// Traps taken by the target's threads.
    pub traps: u64,
    /// Cost of one trap as calibrated at the start of the session; absent where it was not.
    pub trap_cost_ns: Option<f64>,
    /// The dearest that it was when it was measured again; absent where that was never more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trap_cost_max_ns: Option<f64>,
    /// Time in walks over stacks, on all CPUs, as the programs measured it; absent where they did not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stack_ns: Option<u64>,
    /// Marks and symbols of woven code, sent or counted; absent where nothing is woven.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inside_events: Option<u64>,
    /// What woven code took of the target, traps apart, by what each mark and symbol is reckoned to cost; absent where nothing is
    /// woven.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inside_ns: Option<u64>,
    /// Traps, each at what it cost when it was taken, `stack_ns` and `inside_ns`; the first and the last are estimates.
    pub target_cpu_ns: Option<f64>,
    /// That as a share of one core over the span, in percent.
    pub target_cpu_percent: Option<f64>,
    /// CPU time of jtrace itself, user and system, since the sites were attached.
    pub own_cpu_ns: u64,
    /// That as a share of one core over the span, in percent.
    #[serde(deserialize_with = "read::float")]
    pub own_cpu_percent: f64,
    /// Largest resident size of jtrace.
    pub own_memory_bytes: u64,
    /// From the start of jtrace to the moment when all sites were attached.
    pub attach_ns: u64,
    /// CPU time of jtrace itself until then.
    pub attach_cpu_ns: u64,
    /// Time in the eBPF programs of all kinds, on all CPUs, by the kernel's own account; absent unless it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub program_ns: Option<u64>,
    /// How often they ran.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub program_runs: Option<u64>,
}

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing.
    Info,
    /// Costs performance or will cost it.
    Warning,
    /// Explains an incident.
    Critical,
}

/// One ranked sentence about what is wrong.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// Stable id of the rule (`gc-share`, `lock-contention`, ...).
    #[serde(deserialize_with = "read::word")]
    pub id: Word,
    /// How bad.
    pub severity: Severity,
    /// Rank within a severity: larger is worse.
    #[serde(deserialize_with = "read::float")]
    pub score: f64,
    /// The sentence.
    pub title: String,
    /// Where its numbers stand: ids of a section and of one of its shapes (`locks.monitors`).
    #[serde(default, deserialize_with = "read::word", skip_serializing_if = "str::is_empty")]
    pub shown_in: Word,
    /// When it was so, in order and apart from each other; empty where that is not known, so it is about the whole span.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub when: Vec<Stretch>,
    /// Numbers that support it.
    pub evidence: Vec<String>,
    /// What to do next.
    pub next_step: String,
}

/// What one lens shows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Section {
    /// Lens (`gc`, `locks`, ...).
    #[serde(deserialize_with = "read::word")]
    pub id: Word,
    /// Heading.
    pub title: String,
    /// Flat numbers whose names end in their unit.
    pub summary: Summary,
    /// Sentences about how numbers came about (estimates, gaps, detached sites).
    pub notes: Vec<String>,
    /// Tables, histograms, timelines, trees.
    pub shapes: Vec<Shape>,
}

impl Section {
    /// The number behind a key of the summary.
    pub fn number(&self, key: &str) -> Option<f64> {
        self.summary.get(key).map(Number::as_f64)
    }

    /// Whether some of its sites were there in windows only, so that what it shows is a part (`docs/lenses.md`).
    pub fn is_of_windows(&self) -> bool {
        self.summary.get("attached_percent").is_some()
    }

    /// The shapes that have something in them.
    pub fn shapes_with_content(&self) -> impl Iterator<Item = &Shape> + Clone {
        self.shapes.iter().filter(|shape| !shape.is_empty())
    }

    /// The profiles.
    pub fn profiles(&self) -> impl Iterator<Item = &Profile> {
        self.shapes.iter().filter_map(|shape| match shape {
            Shape::Profile(profile) => Some(profile),
            Shape::Table(_) | Shape::Tree(_) | Shape::Histogram(_) | Shape::Timeline(_) => None,
        })
    }

    /// The profile with this id.
    pub fn profile(&self, id: &str) -> Option<&Profile> {
        self.profiles().find(|profile| profile.id == id)
    }

    /// The table with this id.
    pub fn table(&self, id: &str) -> Option<&Table> {
        self.shapes.iter().find_map(|shape| match shape {
            Shape::Table(table) if table.id == id => Some(table),
            Shape::Table(_) | Shape::Tree(_) | Shape::Histogram(_) | Shape::Timeline(_) | Shape::Profile(_) => None,
        })
    }
}

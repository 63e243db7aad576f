//! What a report is made of: a few shapes and, per section, a flat summary of numbers.
//!
//! Views know only what is in this module; analyses build it and know no view. Everything here is plain data. Texts are
//! as the target gave them (any Unicode, also control characters): escaping for a medium is the view's duty.

pub mod format;
pub mod profile;

pub use profile::{Profile, ProfileStack, ProfileThread};
use serde::{Serialize, Serializer, ser::SerializeMap as _};

/// Version of the JSON form of a report.
pub const SCHEMA: &str = "jtrace-report/1";

/// Everything that one session found out.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// [`SCHEMA`].
    pub schema: &'static str,
    /// What was looked at.
    pub target: crate::session::Target,
    /// When, and for how long.
    pub span: Span,
    /// What it cost.
    pub cost: Cost,
    /// What was emitted, delivered and lost.
    pub completeness: Completeness,
    /// What is wrong with the target, worst first.
    pub findings: Vec<Finding>,
    /// One per lens.
    pub sections: Vec<Section>,
}

/// The observed stretch of time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
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

/// What observation cost the target and the machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Cost {
    /// Traps taken by the target's threads.
    pub traps: u64,
    /// Cost of one trap as calibrated at the start of the session; absent where it was not.
    pub trap_cost_ns: Option<f64>,
    /// Time in walks over stacks, on all CPUs, as the programs measured it; absent where they did not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stack_ns: Option<u64>,
    /// `traps * trap_cost_ns + stack_ns`; the first part is an estimate.
    pub target_cpu_ns: Option<f64>,
    /// That as a share of one core over the span, in percent.
    pub target_cpu_percent: Option<f64>,
    /// CPU time of jtrace itself, user and system, since the sites were attached.
    pub own_cpu_ns: u64,
    /// That as a share of one core over the span, in percent.
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

/// How complete the report is: `emitted = delivered + lost` holds for every site.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Completeness {
    /// Events that the kernel side tried to deliver.
    pub emitted: u64,
    /// Events that arrived.
    pub delivered: u64,
    /// Events that did not fit into a ring buffer.
    pub lost: u64,
    /// Events that arrived and could not be decoded.
    pub undecodable: u64,
    /// Operands and texts that could not be read.
    pub unreadable: u64,
    /// Definitions that did not fit; they are sent again at the next use.
    pub definitions_lost: u64,
    /// Per site.
    pub sites: Vec<SiteCompleteness>,
    /// Sentences about what is missing and why (sites the JDK does not have, sites that were detached, ...).
    pub missing: Vec<String>,
    /// What the governor did so that the session keeps its budget, in its order; the first of them where there are many.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub decisions: Vec<Decision>,
}

/// What the governor did with a group of sites.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Decision {
    /// When, since the start of the span.
    pub at_ns: u64,
    /// Name of the group.
    pub group: String,
    /// Lens whose numbers are affected.
    pub lens: &'static str,
    /// `without_stacks`, `without_times`, `detached`, `attached` or `stopped`; in the inside lane `counted`, `fewer_objects`,
    /// `switched_off`, `switched_on` or `stopped`, and `held` and `released` where somebody asked for it.
    pub action: &'static str,
    /// Of how many new objects one is tracked from then on; 0: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub one_in: Option<u64>,
    /// Hits per second before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hits_per_s: Option<u64>,
    /// What they took of one core.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_percent: Option<f64>,
    /// What they may take.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget_percent: Option<f64>,
    /// Whether that is about jtrace's own CPU time, and not the target's.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub own: bool,
    /// What woven code would take of one core while it is off, where that is why it was taken out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub off_percent: Option<f64>,
    /// The time from when the budget was last seen to be enough until the decision was carried out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub within_ns: Option<u64>,
}

/// Completeness of one site.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SiteCompleteness {
    /// Index of the site.
    pub site: u16,
    /// Probe name, `provider:name` or a symbol.
    pub probe: String,
    /// Lens that the site belongs to.
    pub lens: String,
    /// Offset in the file.
    pub offset: u64,
    /// Times the probe ran.
    pub hits: u64,
    /// Hits turned down by a filter or by sampling.
    pub filtered: u64,
    /// Events that the kernel side tried to deliver.
    pub emitted: u64,
    /// Events that arrived.
    pub delivered: u64,
    /// Events that did not fit.
    pub lost: u64,
    /// `attached`, `detached by the rate guard`, or why it was not attached.
    pub state: String,
}

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
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
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    /// Stable id of the rule (`gc-share`, `lock-contention`, ...).
    pub id: &'static str,
    /// How bad.
    pub severity: Severity,
    /// Rank within a severity: larger is worse.
    pub score: f64,
    /// The sentence.
    pub title: String,
    /// Numbers that support it.
    pub evidence: Vec<String>,
    /// What to do next.
    pub next_step: String,
}

/// What one lens shows.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Section {
    /// Lens (`gc`, `locks`, ...).
    pub id: &'static str,
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

    /// The table with this id.
    pub fn table(&self, id: &str) -> Option<&Table> {
        self.shapes.iter().find_map(|shape| match shape {
            Shape::Table(table) if table.id == id => Some(table),
            Shape::Table(_) | Shape::Tree(_) | Shape::Histogram(_) | Shape::Timeline(_) | Shape::Profile(_) => None,
        })
    }
}

/// A number of a summary.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Number {
    /// A count or an amount.
    Int(u64),
    /// A rate or a share.
    Float(f64),
}

impl Number {
    /// The number as a float.
    pub const fn as_f64(&self) -> f64 {
        match *self {
            Self::Int(value) => value as f64,
            Self::Float(value) => value,
        }
    }
}

/// Keys and numbers in a fixed order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Summary(Vec<(&'static str, Number)>);

impl Summary {
    /// An empty summary.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a count.
    #[must_use]
    pub fn int(mut self, key: &'static str, value: u64) -> Self {
        self.0.push((key, Number::Int(value)));
        self
    }

    /// Adds a rate or a share.
    #[must_use]
    pub fn float(mut self, key: &'static str, value: f64) -> Self {
        self.0.push((key, Number::Float(value)));
        self
    }

    /// Adds the keys of another summary.
    #[must_use]
    pub fn followed_by(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
    }

    /// The number behind a key.
    pub fn get(&self, key: &str) -> Option<&Number> {
        self.0.iter().find(|(name, _)| *name == key).map(|(_, number)| number)
    }

    /// Keys and numbers in order.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, Number)> + '_ {
        self.0.iter().copied()
    }
}

impl Serialize for Summary {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (key, number) in &self.0 {
            map.serialize_entry(key, number)?;
        }
        map.end()
    }
}

/// A piece of a section that a view knows how to draw.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Shape {
    /// Rows and columns.
    Table(Table),
    /// A hierarchy with amounts.
    Tree(Tree),
    /// A distribution.
    Histogram(Histogram),
    /// Values over time.
    Timeline(Timeline),
    /// Amounts by stack.
    Profile(Profile),
}

impl Shape {
    /// Whether there is nothing in it to draw.
    pub fn is_empty(&self) -> bool {
        match self {
            Self::Table(table) => table.rows.is_empty(),
            Self::Tree(tree) => tree.root.children.is_empty(),
            Self::Histogram(histogram) => histogram.count == 0,
            Self::Profile(profile) => profile.stacks.is_empty(),
            Self::Timeline(timeline) => {
                timeline.series.iter().all(|series| series.values.iter().all(|value| *value == 0.0))
            }
        }
    }
}

/// Unit of a column, an axis or an amount; tells a view how to print it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Plain text.
    Text,
    /// A number of things.
    Count,
    /// Nanoseconds.
    Ns,
    /// Bytes.
    Bytes,
    /// Per cent, 0 to 100.
    Percent,
    /// Things per second.
    PerSecond,
    /// Bytes per second.
    BytesPerSecond,
    /// An address, printed in hexadecimal.
    Address,
}

/// Rows and columns; rows come sorted, most important first.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Table {
    /// Stable id within the section.
    pub id: &'static str,
    /// Heading.
    pub title: String,
    /// The columns.
    pub columns: Vec<Column>,
    /// The rows; every row has a cell per column.
    pub rows: Vec<Vec<Cell>>,
}

/// A column of a table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Column {
    /// Stable key (`class`, `count`, `total_ns`, ...), which ends in its unit.
    pub key: &'static str,
    /// Heading.
    pub title: &'static str,
    /// How to print it.
    pub unit: Unit,
}

/// A cell of a table.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Cell {
    /// A text from the target or from jtrace.
    Text(String),
    /// A count or an amount.
    Int(u64),
    /// A rate or a share.
    Float(f64),
    /// Not known.
    Missing,
}

impl From<u64> for Cell {
    fn from(value: u64) -> Self {
        Self::Int(value)
    }
}

impl From<f64> for Cell {
    fn from(value: f64) -> Self {
        Self::Float(value)
    }
}

impl From<String> for Cell {
    fn from(value: String) -> Self {
        Self::Text(value)
    }
}

impl From<&str> for Cell {
    fn from(value: &str) -> Self {
        Self::Text(value.to_owned())
    }
}

impl<T: Into<Self>> From<Option<T>> for Cell {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Missing, Into::into)
    }
}

/// A hierarchy with amounts.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Tree {
    /// Stable id within the section.
    pub id: &'static str,
    /// Heading.
    pub title: String,
    /// Unit of the amounts.
    pub unit: Unit,
    /// The root.
    pub root: Node,
}

/// A node of a [`Tree`].
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Node {
    /// What it stands for.
    pub label: String,
    /// Its amount, with its children's.
    pub value: f64,
    /// Its parts.
    pub children: Vec<Self>,
}

/// A distribution.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Histogram {
    /// Stable id within the section.
    pub id: &'static str,
    /// Heading.
    pub title: String,
    /// Unit of the values.
    pub unit: Unit,
    /// Number of values.
    pub count: u64,
    /// Smallest value.
    pub min: u64,
    /// Largest value.
    pub max: u64,
    /// Mean.
    pub mean: f64,
    /// Values at 50, 90, 99, 99.9 and 100 per cent.
    pub percentiles: Vec<Percentile>,
    /// Buckets of growing width, without the empty ones at both ends.
    pub buckets: Vec<Bucket>,
    /// More points of the distribution, for those who draw its curve; not of every histogram.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub curve: Vec<CurvePoint>,
}

/// A point of a distribution's curve.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CurvePoint {
    /// Largest value up to here.
    pub value: u64,
    /// Share of the values that do not exceed it, 0 to 100.
    pub percent: f64,
    /// Number of values that do not exceed it.
    pub count: u64,
}

/// A point of a distribution.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Percentile {
    /// 0 to 100.
    pub percent: f64,
    /// Value that this share of the values does not exceed.
    pub value: u64,
}

/// A bucket of a distribution.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Bucket {
    /// Largest value that falls into the bucket.
    pub up_to: u64,
    /// Number of values.
    pub count: u64,
}

/// Values over time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Timeline {
    /// Stable id within the section.
    pub id: &'static str,
    /// Heading.
    pub title: String,
    /// Unit of the values.
    pub unit: Unit,
    /// Width of a step.
    pub step_ns: u64,
    /// The series; all have the same number of steps, the first of which begins at the start of the span.
    pub series: Vec<Series>,
}

/// A line of a [`Timeline`].
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Series {
    /// Stable key.
    pub key: &'static str,
    /// Legend.
    pub title: String,
    /// One value a step.
    pub values: Vec<f64>,
}

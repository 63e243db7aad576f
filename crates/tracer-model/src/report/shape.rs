//! The pieces of a section that views draw: tables, trees, distributions, values over time, and amounts by stack.

use serde::{Deserialize, Serialize};

use super::{Profile, Word, read};

/// A piece of a section that a view knows how to draw.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
    /// Its id.
    pub const fn id(&self) -> Word {
        match self {
            Self::Table(Table { id, .. })
            | Self::Tree(Tree { id, .. })
            | Self::Histogram(Histogram { id, .. })
            | Self::Timeline(Timeline { id, .. })
            | Self::Profile(Profile { id, .. }) => id,
        }
    }

    /// Its heading.
    pub fn title(&self) -> &str {
        match self {
            Self::Table(Table { title, .. })
            | Self::Tree(Tree { title, .. })
            | Self::Histogram(Histogram { title, .. })
            | Self::Timeline(Timeline { title, .. })
            | Self::Profile(Profile { title, .. }) => title,
        }
    }

    /// Its heading, to be changed.
    pub const fn title_mut(&mut self) -> &mut String {
        match self {
            Self::Table(Table { title, .. })
            | Self::Tree(Tree { title, .. })
            | Self::Histogram(Histogram { title, .. })
            | Self::Timeline(Timeline { title, .. })
            | Self::Profile(Profile { title, .. }) => title,
        }
    }

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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Table {
    /// Stable id within the section.
    #[serde(deserialize_with = "read::word")]
    pub id: Word,
    /// Heading.
    pub title: String,
    /// The columns.
    pub columns: Vec<Column>,
    /// The rows; every row has a cell per column.
    pub rows: Vec<Vec<Cell>>,
}

impl Table {
    /// Where the cells of a column stand in each row.
    pub fn column(&self, key: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.key == key)
    }
}

/// A column of a table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Column {
    /// Stable key (`class`, `count`, `total_ns`, ...), which ends in its unit.
    #[serde(deserialize_with = "read::word")]
    pub key: Word,
    /// Heading.
    #[serde(deserialize_with = "read::word")]
    pub title: Word,
    /// How to print it.
    pub unit: Unit,
}

/// A cell of a table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tree {
    /// Stable id within the section.
    #[serde(deserialize_with = "read::word")]
    pub id: Word,
    /// Heading.
    pub title: String,
    /// Unit of the amounts.
    pub unit: Unit,
    /// The root.
    pub root: Node,
}

/// A node of a [`Tree`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Node {
    /// What it stands for.
    pub label: String,
    /// Its amount, with its children's.
    #[serde(deserialize_with = "read::float")]
    pub value: f64,
    /// Its parts.
    pub children: Vec<Self>,
}

/// A distribution.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Histogram {
    /// Stable id within the section.
    #[serde(deserialize_with = "read::word")]
    pub id: Word,
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
    #[serde(deserialize_with = "read::float")]
    pub mean: f64,
    /// Values at 50, 90, 99, 99.9 and 100 per cent.
    pub percentiles: Vec<Percentile>,
    /// Buckets of growing width, without the empty ones at both ends.
    pub buckets: Vec<Bucket>,
    /// More points of the distribution, for those who draw its curve; not of every histogram.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub curve: Vec<CurvePoint>,
}

/// A point of a distribution's curve.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CurvePoint {
    /// Largest value up to here.
    pub value: u64,
    /// Share of the values that do not exceed it, 0 to 100.
    #[serde(deserialize_with = "read::float")]
    pub percent: f64,
    /// Number of values that do not exceed it.
    pub count: u64,
}

/// A point of a distribution.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Percentile {
    /// 0 to 100.
    #[serde(deserialize_with = "read::float")]
    pub percent: f64,
    /// Value that this share of the values does not exceed.
    pub value: u64,
}

/// A bucket of a distribution.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bucket {
    /// Largest value that falls into the bucket.
    pub up_to: u64,
    /// Number of values.
    pub count: u64,
}

/// Values over time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Timeline {
    /// Stable id within the section.
    #[serde(deserialize_with = "read::word")]
    pub id: Word,
    /// Heading.
    pub title: String,
    /// Unit of the values.
    pub unit: Unit,
    /// Width of a step.
    pub step_ns: u64,
    /// Whether values are levels at the ends of steps, which do not add up, and not amounts within steps.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub levels: bool,
    /// The series; all have the same number of steps, the first of which begins at the start of the span.
    pub series: Vec<Series>,
}

/// A line of a [`Timeline`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Series {
    /// Stable key.
    #[serde(deserialize_with = "read::word")]
    pub key: Word,
    /// Legend.
    pub title: String,
    /// One value a step.
    #[serde(deserialize_with = "read::floats")]
    pub values: Vec<f64>,
}

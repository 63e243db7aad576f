//! What a report consists of, before anybody knows how it will look. Texts are as they came: whoever draws them escapes them.

use std::collections::BTreeMap;

use super::plot::Plot;
use crate::bench::results::{Results, Run};

/// Most characters of a text: names and words of others have no limit of their own.
const MAX_TEXT: usize = 4_000;

/// The runs of each program in each configuration, in the order of time.
pub(super) type Runs<'a> = BTreeMap<(&'a str, &'a str), Vec<&'a Run>>;

/// All runs, by program and configuration.
pub(super) fn by_pair(results: &Results) -> Runs<'_> {
    let mut runs: Runs<'_> = BTreeMap::new();
    for run in &results.runs {
        runs.entry((&run.program, &run.configuration)).or_default().push(run);
    }
    runs
}

/// A report.
pub(super) struct Document {
    pub(super) title: String,
    pub(super) sections: Vec<Section>,
}

/// A part of it with a heading.
pub(super) struct Section {
    pub(super) title: &'static str,
    pub(super) blocks: Vec<Block>,
}

/// What stands below a heading.
pub(super) enum Block {
    /// A sentence or two.
    Paragraph(String),
    /// Names and values.
    Facts(Vec<(String, String)>),
    /// Rows and columns.
    Table(Table),
    /// A plot, for media that show any.
    Plot(Plot),
    /// Commands, each with what it is.
    Commands(Vec<(String, String)>),
}

/// A table.
pub(super) struct Table {
    /// What it shows.
    pub(super) caption: String,
    /// How many columns at the left name the row.
    pub(super) keys: usize,
    /// How many of the other columns belong together.
    pub(super) together: usize,
    pub(super) columns: Vec<Column>,
    pub(super) rows: Vec<Row>,
    /// What the rows say that are left out where room is scarce.
    pub(super) minor: &'static str,
    /// What must be known to read it.
    pub(super) notes: Vec<String>,
}

/// A column.
pub(super) struct Column {
    pub(super) title: String,
    pub(super) is_numeric: bool,
}

/// A row.
pub(super) struct Row {
    pub(super) kind: Kind,
    pub(super) cells: Vec<Cell>,
}

/// How much a row matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// As much as others.
    Usual,
    /// Less: nothing was found.
    Minor,
    /// It sums up the others.
    Mean,
}

/// What a cell says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Cell {
    pub(super) text: String,
    pub(super) tone: Tone,
}

/// How loud it says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tone {
    /// As others.
    Usual,
    /// Nothing was found, or nothing is there.
    Quiet,
    /// Something is wrong.
    Alarm,
}

impl Section {
    pub(super) const fn new(title: &'static str, blocks: Vec<Block>) -> Self {
        Self { title, blocks }
    }
}

impl Table {
    /// A table without rows, whose first columns name the row.
    pub(super) fn new(caption: impl Into<String>, keys: usize, columns: Vec<Column>) -> Self {
        let caption = cut(caption.into());
        Self { caption, keys, together: 1, columns, rows: Vec::new(), minor: "", notes: Vec::new() }
    }
}

impl Column {
    /// A column of words.
    pub(super) fn words(title: impl Into<String>) -> Self {
        Self { title: cut(title.into()), is_numeric: false }
    }

    /// A column of numbers.
    pub(super) fn numbers(title: impl Into<String>) -> Self {
        Self { title: cut(title.into()), is_numeric: true }
    }
}

impl Row {
    pub(super) const fn new(kind: Kind, cells: Vec<Cell>) -> Self {
        Self { kind, cells }
    }
}

impl Cell {
    /// What is said as others are.
    pub(super) fn usual(text: impl Into<String>) -> Self {
        Self { text: cut(text.into()), tone: Tone::Usual }
    }

    /// What says that there is nothing to say.
    pub(super) fn quiet(text: impl Into<String>) -> Self {
        Self { text: cut(text.into()), tone: Tone::Quiet }
    }

    /// What must not be overlooked.
    pub(super) fn alarm(text: impl Into<String>) -> Self {
        Self { text: cut(text.into()), tone: Tone::Alarm }
    }

    /// A number, or a mark where it is not known.
    pub(super) fn known<T>(value: Option<T>, words: impl FnOnce(T) -> String) -> Self {
        value.map_or_else(|| Self::quiet(crate::text::column::MISSING), |value| Self::usual(words(value)))
    }
}

/// A text that is not longer than a report can bear.
pub(super) fn cut(text: String) -> String {
    match text.char_indices().nth(MAX_TEXT) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}

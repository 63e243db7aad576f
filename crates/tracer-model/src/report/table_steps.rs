//! When the amounts of a table's rows came, beside the table: rows are told apart by their first cells.

use super::{Cell, Word};

/// The amounts of a table by step of time.
#[derive(Clone, Debug, PartialEq)]
pub struct TableSteps {
    /// Id of the section.
    pub section: Word,
    /// Id of the table within it.
    pub table: Word,
    /// Width of a step; the first one begins at the start of the span.
    pub step_ns: u64,
    /// The columns whose amounts are known by step.
    pub columns: Vec<StepColumn>,
    /// The rows that have any.
    pub rows: Vec<RowSteps>,
    /// Amounts that are in no step, as there were too many pairs of row and step.
    pub left_out: u64,
    /// What a [`Gather::Mean`] divides by: of each step that has any.
    pub weights: Vec<(u32, u64)>,
}

/// A column of a table whose amounts are known by step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepColumn {
    /// Its key.
    pub key: Word,
    /// How the amounts of several steps become one.
    pub gather: Gather,
}

/// How the amounts of several steps become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gather {
    /// Their sum.
    Sum,
    /// The largest.
    Max,
    /// Their sum by that of the steps' weights.
    Mean,
}

/// A row's amounts by step.
#[derive(Clone, Debug, PartialEq)]
pub struct RowSteps {
    /// Its first cells.
    pub labels: Vec<Cell>,
    /// Its steps in order, each with an amount for each of the columns.
    pub steps: Vec<(u32, Vec<u64>)>,
}

//! The order of a table's rows that a user chose: by a column, in a direction.

use std::cmp::Ordering;

use super::{format, name::Label};
use crate::report::{Cell, Table};

/// How a table is sorted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::view) struct Sort {
    /// Index of the column.
    pub(in crate::view) column: usize,
    /// Largest first.
    pub(in crate::view) descending: bool,
}

impl Sort {
    /// By this column: the largest number first, and texts from A on.
    pub(in crate::view) fn by(table: &Table, column: usize) -> Option<Self> {
        let unit = table.columns.get(column)?.unit;
        Some(Self { column, descending: format::is_numeric(unit) })
    }

    /// The same in the other direction.
    pub(in crate::view) const fn turned(self) -> Self {
        Self { descending: !self.descending, ..self }
    }
}

/// The order of two cells; what is not known comes last in either direction.
pub(in crate::view) fn compare(a: Option<&Cell>, b: Option<&Cell>, descending: bool) -> Ordering {
    let number = |cell: &Cell| match cell {
        Cell::Int(value) => Some(*value as f64),
        Cell::Float(value) => Some(*value),
        Cell::Text(_) | Cell::Missing => None,
    };
    let order = match (a, b) {
        (Some(Cell::Missing) | None, Some(Cell::Missing) | None) => return Ordering::Equal,
        (Some(Cell::Missing) | None, _) => return Ordering::Greater,
        (_, Some(Cell::Missing) | None) => return Ordering::Less,
        (Some(Cell::Text(a)), Some(Cell::Text(b))) => a.cmp(b),
        (Some(Cell::Int(a)), Some(Cell::Int(b))) => a.cmp(b),
        (Some(a), Some(b)) => match (number(a), number(b)) {
            (Some(a), Some(b)) => a.total_cmp(&b),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (None, None) => Ordering::Equal,
        },
    };
    if descending { order.reverse() } else { order }
}

/// Headings, with a mark at the one that the table is sorted by.
pub(in crate::view) fn titles(table: &Table, sort: Option<Sort>, columns: &[usize]) -> Vec<Label> {
    let mark = |at| match sort {
        Some(Sort { column, descending }) if column == at => {
            if descending {
                "▼"
            } else {
                "▲"
            }
        }
        Some(_) | None => "",
    };
    let title = |at: &usize| table.columns.get(*at).map(|column| Label::new(format!("{}{}", column.title, mark(*at))));
    columns.iter().filter_map(title).collect()
}

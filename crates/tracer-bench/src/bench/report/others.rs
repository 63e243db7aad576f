//! Numbers that others published, with ours beside them.

use super::{
    document::{Block, Cell, Column, Kind, Row, Section, Table},
    words,
};
use crate::{
    bench::{
        comparison::Figures,
        published::{self, Ours, Unit},
    },
    text::{column, format::whole},
};

/// What stands where there is no number.
const ABSENT: &str = "absent";

/// All tables.
pub(super) fn section(figures: &Figures) -> Section {
    let mut blocks = vec![Block::Paragraph(format!(
        "Theirs are as printed in the sources, on their machines; \"{ABSENT}\" is a number that nobody has, not 0."
    ))];
    blocks.extend(published::tables(figures).into_iter().map(|table| Block::Table(self::table(table))));
    Section::new("Published tables", blocks)
}

fn table(table: published::Table) -> Table {
    let published::Table { id: _, title, source, notes, columns, rows } = table;
    let both = columns.iter().flat_map(|column| {
        let published::Column { title, configuration, unit: _ } = column;
        // Where nobody published anything there is no column for it.
        let theirs = source.map(|_| Column::numbers(format!("theirs: {title}")));
        theirs.into_iter().chain([Column::numbers(format!("ours: {configuration}"))])
    });
    let mut out = Table::new(title, 1, [Column::words("program")].into_iter().chain(both).collect());
    out.together = if source.is_some() { 2 } else { 1 };
    out.minor = "nothing of ours stands beside theirs";
    out.notes.extend(source.map(|source| format!("Theirs: {source}.")));
    out.notes.extend(notes.iter().map(|note| (*note).to_owned()));
    out.rows = rows.iter().map(|row| self::row(row, &columns, source.is_some())).collect();
    out
}

fn row(row: &published::Row, columns: &[published::Column], has_theirs: bool) -> Row {
    let published::Row { name, beside, cells } = row;
    let name = match beside {
        Some(beside) => format!("{name} (beside {beside})"),
        None => name.clone(),
    };
    let kind = if cells.iter().any(|cell| cell.ours.is_some()) { Kind::Usual } else { Kind::Minor };
    let both = cells.iter().zip(columns).flat_map(|(published::Cell { theirs, ours }, column)| {
        let theirs = has_theirs.then(|| theirs.map_or_else(absent, |theirs| self::theirs(theirs, column.unit)));
        theirs.into_iter().chain([ours.map_or_else(absent, |ours| self::ours(&ours, column.unit))])
    });
    Row::new(kind, [Cell::usual(name)].into_iter().chain(both).collect())
}

fn absent() -> Cell {
    Cell::quiet(ABSENT)
}

fn theirs(value: f64, unit: Unit) -> Cell {
    Cell::usual(match unit {
        Unit::Ratio => words::their_ratio(value),
        Unit::Events => column::count(whole(value)),
        Unit::Nanoseconds => column::duration(value),
    })
}

fn ours(ours: &Ours, unit: Unit) -> Cell {
    match (ours, unit) {
        (Ours::Count(count), _) => Cell::usual(column::count(whole(*count))),
        (Ours::Estimate(estimate), Unit::Ratio) => words::ratio(estimate),
        (Ours::Estimate(estimate), Unit::Events | Unit::Nanoseconds) => Cell::usual(words::time(estimate)),
    }
}

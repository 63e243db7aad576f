//! What watching changes in the memory of a program: it should be nothing.

use super::{
    document::{Block, Cell, Column, Kind, Row, Section, Table, Tone},
    words,
};
use crate::{
    bench::comparison::{Figures, Perturbation, Quantity},
    text::{column, format::whole},
};

/// A row for each program, configuration and amount.
pub(super) fn section(figures: &Figures) -> Section {
    let columns = vec![
        Column::words("program"),
        Column::words("configuration"),
        Column::words("of what"),
        Column::numbers("plain"),
        Column::numbers("watched"),
        Column::numbers("difference"),
    ];
    let mut table = Table::new("Collections and memory, medians", 3, columns);
    table.minor = "no difference can be told";
    table.rows.extend(figures.perturbations.iter().map(row));
    Section::new("Perturbation of memory", vec![Block::Table(table)])
}

fn row(perturbation: &Perturbation) -> Row {
    let Perturbation { program, configuration, quantity, plain, watched, ratio } = perturbation;
    let difference = match ratio {
        Some(ratio) => words::change(ratio),
        None if *plain <= 0.0 && *watched <= 0.0 => Cell::quiet("none in either"),
        None => Cell::usual("no ratio to nothing"),
    };
    let kind = if difference.tone == Tone::Quiet { Kind::Minor } else { Kind::Usual };
    let cells = vec![
        Cell::usual(program),
        Cell::usual(configuration),
        Cell::usual(quantity.word()),
        Cell::usual(amount(*quantity, *plain)),
        Cell::usual(amount(*quantity, *watched)),
        difference,
    ];
    Row::new(kind, cells)
}

fn amount(quantity: Quantity, value: f64) -> String {
    match quantity {
        Quantity::Wall | Quantity::Cpu | Quantity::CollectionTime => column::duration(value),
        Quantity::Collections => column::count(whole(value)),
        Quantity::PeakHeap | Quantity::Allocated | Quantity::Promoted => column::bytes(value),
    }
}

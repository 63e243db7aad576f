//! The tables of `counts`.

use super::{Counts, NAME, Sums};
use crate::{
    analysis::{
        distribution::Latencies,
        table::{REPORT_ROWS, column},
    },
    client::{ClientReport, Reporting},
    report::{Cell, Column, Shape, Summary, Table, Unit},
};

/// Everything.
pub(super) fn report(counts: &Counts, at: &Reporting<'_>) -> ClientReport {
    let markers = at.known.markers();
    let events = counts.places.iter().fold(0, |sum: u64, place| sum.saturating_add(place.events()));
    let mut shapes = vec![by_marker(counts, at), by_place(counts, at), by_thread(counts, at)];
    shapes.extend(by_class(counts, at));
    shapes.push(nesting(counts, at));
    shapes.extend(counts.nesting.shape(markers));
    let mut notes: Vec<String> = counts.nesting.note().into_iter().collect();
    let cut = shapes.iter().any(|shape| matches!(shape, Shape::Table(table) if table.rows.len() >= REPORT_ROWS));
    if cut {
        notes.push(format!("Tables have the {REPORT_ROWS} largest rows; the sums are of all."));
    }
    // Marks that go to others alone are counted there.
    let is_told = markers.is_empty() || markers.iter().any(|marker| marker.is_told_to(NAME));
    let summary = if is_told { Summary::new().int("events", events) } else { Summary::new() };
    ClientReport { summary, notes, shapes }
}

/// Columns with numbers of marks.
const COUNTS: [Column; 3] = [
    column("entered", "Entered", Unit::Count),
    column("left", "Left", Unit::Count),
    column("thrown", "Thrown", Unit::Count),
];

fn counted(sums: &Sums) -> [Cell; 3] {
    [sums.entered.into(), sums.left.into(), sums.thrown.into()]
}

fn table(id: &'static str, title: &str, columns: Vec<Column>, mut rows: Vec<(u64, Vec<Cell>)>) -> Shape {
    // Stable: among equals the order of their keys decides.
    rows.sort_by_key(|(rank, _)| std::cmp::Reverse(*rank));
    rows.truncate(REPORT_ROWS);
    let rows = rows.into_iter().map(|(_, cells)| cells).collect();
    Shape::Table(Table { id, title: title.to_owned(), columns, rows })
}

/// In the order in which markers were asked for.
fn by_marker(counts: &Counts, at: &Reporting<'_>) -> Shape {
    let markers = at.known.markers();
    let mut sums = vec![(0_u64, Sums::default()); markers.len()];
    for place in at.known.places() {
        let Some((places, sum)) = sums.get_mut(place.marker) else { continue };
        *places += 1;
        if let Some(of_place) = counts.places.get(place.definition.id as usize) {
            sum.add(of_place);
        }
    }
    let mut columns = vec![
        column("marker", "Marker", Unit::Text),
        column("token", "Token", Unit::Text),
        column("places", "Places", Unit::Count),
    ];
    columns.extend(COUNTS);
    let is_timed = sums.iter().any(|(_, sum)| sum.timed > 0);
    if is_timed {
        columns.extend([
            column("total_ns", "Total", Unit::Ns),
            column("self_ns", "Self", Unit::Ns),
            column("p50_ns", "Median", Unit::Ns),
            column("p99_ns", "99 %", Unit::Ns),
            column("longest_ns", "Longest", Unit::Ns),
        ]);
    }
    let row = |(index, (places, sum)): (usize, &(u64, Sums))| {
        let mut row: Vec<Cell> = Vec::new();
        if let Some(marker) = markers.get(index) {
            row.extend([marker.name.clone().into(), marker.token.clone().into(), (*places).into()]);
        }
        let is_ours = markers.get(index).is_some_and(|marker| marker.is_told_to(NAME));
        row.extend(if is_ours { counted(sum) } else { [const { Cell::Missing }; 3] });
        if is_timed {
            row.extend(times(counts, index, sum));
        }
        row
    };
    let rows = sums.iter().enumerate().map(row).collect();
    Shape::Table(Table { id: "markers", title: "Markers".to_owned(), columns, rows })
}

fn times(counts: &Counts, marker: usize, sum: &Sums) -> [Cell; 5] {
    let durations: Option<&Latencies<2>> = counts.durations.get(marker).and_then(Option::as_deref);
    let Some(durations) = durations else { return [const { Cell::Missing }; 5] };
    [
        counts.nesting.total_ns(marker).into(),
        sum.self_ns.into(),
        durations.percentile(50.0).into(),
        durations.percentile(99.0).into(),
        sum.longest_ns.into(),
    ]
}

fn by_place(counts: &Counts, at: &Reporting<'_>) -> Shape {
    let is_timed = counts.places.iter().any(|sums| sums.timed > 0);
    let mut columns = vec![
        column("marker", "Marker", Unit::Text),
        column("class", "Class", Unit::Text),
        column("method", "Method", Unit::Text),
        column("line", "Line", Unit::Count),
        column("bci", "Bytecode", Unit::Count),
    ];
    columns.extend(COUNTS);
    if is_timed {
        columns.extend([column("self_ns", "Self", Unit::Ns), column("longest_ns", "Longest", Unit::Ns)]);
    }
    let mut rows = Vec::new();
    for place in at.known.places() {
        let definition = &place.definition;
        let sums = counts.places.get(definition.id as usize).copied().unwrap_or_default();
        if sums.is_empty() {
            continue;
        }
        let marker = at.known.markers().get(place.marker).map(|marker| marker.name.clone());
        let mut row: Vec<Cell> = vec![
            marker.into(),
            definition.class.clone().into(),
            format!("{}{}", definition.method, definition.descriptor).into(),
            definition.line.map(u64::from).into(),
            u64::from(definition.bci).into(),
        ];
        row.extend(counted(&sums));
        if is_timed {
            let timed = (sums.timed > 0).then_some(sums);
            row.extend([timed.map(|sums| sums.self_ns).into(), timed.map(|sums| sums.longest_ns).into()]);
        }
        rows.push((sums.events(), row));
    }
    table("marker_places", "Places", columns, rows)
}

fn by_thread(counts: &Counts, at: &Reporting<'_>) -> Shape {
    let mut columns = vec![column("thread", "Thread", Unit::Text), column("marker", "Marker", Unit::Text)];
    columns.extend(COUNTS);
    let is_timed = counts.places.iter().any(|sums| sums.timed > 0);
    if is_timed {
        columns.push(column("self_ns", "Self", Unit::Ns));
    }
    let mut rows = Vec::new();
    for (thread, own) in at.threads.all().iter().zip(&counts.threads) {
        for (index, sums) in own.sums.iter().enumerate() {
            if sums.is_empty() {
                continue;
            }
            let marker = at.known.markers().get(index).map(|marker| marker.name.clone());
            let mut row: Vec<Cell> = vec![thread.label(at.names).into(), marker.into()];
            row.extend(counted(sums));
            if is_timed {
                row.push((sums.timed > 0).then_some(sums.self_ns).into());
            }
            rows.push((sums.events(), row));
        }
    }
    table("marker_threads", "Threads", columns, rows)
}

/// Nothing where no receiver was asked for.
fn by_class(counts: &Counts, at: &Reporting<'_>) -> Option<Shape> {
    let columns = vec![
        column("class", "Receiver's class", Unit::Text),
        column("marker", "Marker", Unit::Text),
        column("entered", "Entered", Unit::Count),
    ];
    let mut rows = Vec::new();
    for (class, by_marker) in counts.classes.iter().enumerate() {
        let name = at.known.class_name(class).unwrap_or("(not known)");
        for (index, count) in by_marker.iter().enumerate().filter(|(_, count)| **count > 0) {
            let marker = at.known.markers().get(index).map(|marker| marker.name.clone());
            rows.push((*count, vec![name.into(), marker.into(), (*count).into()]));
        }
    }
    (!rows.is_empty()).then(|| table("marker_receivers", "Receivers", columns, rows))
}

fn nesting(counts: &Counts, at: &Reporting<'_>) -> Shape {
    let rows = counts.nesting.rows(at.known.markers());
    let is_timed = rows.iter().any(|row| row.timed > 0);
    let mut columns = vec![column("nesting", "Nesting", Unit::Text), column("entered", "Entered", Unit::Count)];
    if is_timed {
        columns.extend([column("total_ns", "Total", Unit::Ns), column("self_ns", "Self", Unit::Ns)]);
    }
    let row = |row: super::nesting::Row| {
        let mut cells: Vec<Cell> = vec![row.path.into(), row.count.into()];
        if is_timed {
            let timed = row.timed > 0;
            cells.extend([timed.then_some(row.total_ns).into(), timed.then_some(row.self_ns).into()]);
        }
        cells
    };
    let rows = rows.into_iter().map(row).collect();
    Shape::Table(Table { id: "marker_nesting", title: "Nesting".to_owned(), columns, rows })
}

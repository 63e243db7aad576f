//! Lens `markers`: how often marked points and regions of code are passed, entered and left, and how long regions take.

use std::collections::BTreeMap;

use tracer_common::marks::WordKind;
use tracer_weave::PlaceDefinition;

use super::{Analysis, Context, Lens, table::column};
use crate::{
    event::Event,
    mark::{Asked, Inside, Mark, MarkBatch, Meaning, What, Woven},
    report::{Cell, Section, Shape, Summary, Table, Unit},
};

/// The analysis.
#[derive(Debug, Default)]
pub struct Markers {
    asked: Asked,
    places: BTreeMap<u32, PlaceDefinition>,
    woven: Woven,
    counts: BTreeMap<u32, Counts>,
}

/// What was told of a place.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    entered: u64,
    left: u64,
    thrown: u64,
}

impl Markers {
    fn take(&mut self, mark: &Mark) {
        let counts = self.counts.entry(mark.place).or_default();
        let (of, count) = match mark.what {
            What::Point => (WordKind::Point, 1),
            What::Enter => (WordKind::Enter, 1),
            What::Exit => (WordKind::Exit, 1),
            What::Thrown => (WordKind::Thrown, 1),
            What::Count { of, count } => (of, count),
            _ => return,
        };
        let to = match of {
            WordKind::Point | WordKind::Enter => &mut counts.entered,
            WordKind::Exit => &mut counts.left,
            WordKind::Thrown => &mut counts.thrown,
            _ => return,
        };
        *to = to.saturating_add(count);
    }

    fn by_marker(&self) -> Shape {
        let mut sums: BTreeMap<usize, (u64, Counts)> = BTreeMap::new();
        for (id, place) in &self.places {
            let Some(Meaning::Marker(marker)) = self.asked.meaning(place.marker) else { continue };
            let (places, sum) = sums.entry(marker).or_default();
            let counts = self.counts.get(id).copied().unwrap_or_default();
            *places += 1;
            sum.entered += counts.entered;
            sum.left += counts.left;
            sum.thrown += counts.thrown;
        }
        let rows = self.asked.markers.iter().enumerate().map(|(index, marker)| {
            let (places, sum) = sums.get(&index).copied().unwrap_or_default();
            let cells: Vec<Cell> = vec![
                marker.name.clone().into(),
                marker.token.clone().into(),
                places.into(),
                sum.entered.into(),
                sum.left.into(),
                sum.thrown.into(),
            ];
            cells
        });
        Shape::Table(Table {
            id: "markers",
            title: "Markers".to_owned(),
            columns: vec![
                column("marker", "Marker", Unit::Text),
                column("token", "Token", Unit::Text),
                column("places", "Places", Unit::Count),
                column("entered", "Entered", Unit::Count),
                column("left", "Left", Unit::Count),
                column("thrown", "Thrown", Unit::Count),
            ],
            rows: rows.collect(),
        })
    }
}

impl Analysis for Markers {
    fn lens(&self) -> Lens {
        Lens::Markers
    }

    fn event(&mut self, _event: &Event) {}

    fn inside(&mut self, inside: &Inside) {
        match inside {
            Inside::Asked(asked) => self.asked = asked.clone(),
            Inside::Place(place) => drop(self.places.insert(place.id, place.clone())),
            Inside::Woven(woven) => self.woven = woven.clone(),
            Inside::Class { .. } | Inside::Restored(_) | Inside::Lacks(_) => {}
        }
    }

    fn marks(&mut self, batch: &MarkBatch<'_>) {
        for mark in batch.marks() {
            self.take(&mark);
        }
    }

    fn section(&self, _context: Context<'_>) -> Section {
        let events = self.counts.values().map(|counts| counts.entered + counts.left + counts.thrown).sum();
        let summary = Summary::new()
            .int("markers", self.asked.markers.len() as u64)
            .int("places", self.places.len() as u64)
            .int("events", events)
            .int("skipped_methods", self.woven.skipped_count);
        Section {
            id: Lens::Markers.id(),
            title: "Markers".to_owned(),
            summary,
            notes: Vec::new(),
            shapes: vec![self.by_marker()],
        }
    }
}

//! The lens `calls`.

use super::{Analysis, Context, Lens};
use crate::{
    event::{Edge, Event, Payload},
    report::{Section, Summary},
    tally::Tallies,
};

/// Counts calls.
#[derive(Debug, Default)]
pub struct Calls {
    delivered: u64,
    tallied: u64,
}

impl Analysis for Calls {
    fn lens(&self) -> Lens {
        Lens::Calls
    }

    fn event(&mut self, event: &Event) {
        if let Payload::Method { edge: Edge::Begin, wanted: true, .. } = event.payload {
            self.delivered += 1;
        }
    }

    fn tallies(&mut self, tallies: &Tallies) {
        self.tallied = tallies.methods.iter().map(|tally| tally.count).sum();
    }

    fn section(&self, _context: Context<'_>) -> Section {
        let summary = Summary::new().int("calls", self.delivered + self.tallied);
        Section { id: Lens::Calls.id(), title: "Calls".to_owned(), summary, notes: Vec::new(), shapes: Vec::new() }
    }
}

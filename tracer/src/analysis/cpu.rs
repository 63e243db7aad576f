//! Which code runs.

use super::{Analysis, Context, Lens};
use crate::{
    event::Event,
    report::{Section, Summary},
};

/// State of the lens.
#[derive(Default)]
pub struct Cpu {}

impl Analysis for Cpu {
    fn lens(&self) -> Lens {
        Lens::Cpu
    }

    fn event(&mut self, _event: &Event) {}

    fn section(&self, _context: Context<'_>) -> Section {
        Section { id: "cpu", title: "Cpu".to_owned(), summary: Summary::new(), notes: Vec::new(), shapes: Vec::new() }
    }
}

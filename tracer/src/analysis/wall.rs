//! Where threads spend their time.

use super::{Analysis, Context, Lens};
use crate::{
    event::Event,
    report::{Section, Summary},
};

/// State of the lens.
#[derive(Default)]
pub struct Wall {}

impl Analysis for Wall {
    fn lens(&self) -> Lens {
        Lens::Wall
    }

    fn event(&mut self, _event: &Event) {}

    fn section(&self, _context: Context<'_>) -> Section {
        Section { id: "wall", title: "Wall".to_owned(), summary: Summary::new(), notes: Vec::new(), shapes: Vec::new() }
    }
}

//! Where threads wait.

use super::{Analysis, Context, Lens};
use crate::{
    event::Event,
    report::{Section, Summary},
};

/// State of the lens.
#[derive(Default)]
pub struct Offcpu {}

impl Analysis for Offcpu {
    fn lens(&self) -> Lens {
        Lens::Offcpu
    }

    fn event(&mut self, _event: &Event) {}

    fn section(&self, _context: Context<'_>) -> Section {
        Section {
            id: "offcpu",
            title: "Offcpu".to_owned(),
            summary: Summary::new(),
            notes: Vec::new(),
            shapes: Vec::new(),
        }
    }
}

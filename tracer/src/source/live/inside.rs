//! The library in the JVM, as a part of a live session.

use std::path::Path;

use crate::{
    inside::visit::Visit,
    mark::{Asked, Inside},
    session::Item,
};

/// What is woven, and the library that has done it.
pub struct InsideLane {
    visit: Visit,
    asked: Option<Asked>,
    /// Switches of markers and symbols.
    switches: Vec<(u32, u8)>,
}

impl InsideLane {
    /// A lane whose markers are woven and off.
    pub const fn new(visit: Visit, asked: Asked, switches: Vec<(u32, u8)>) -> Self {
        Self { visit, asked: Some(asked), switches }
    }

    /// Path of the file with its sites.
    pub(super) fn path(&self) -> &Path {
        &self.visit.path
    }

    /// Everything listens: the markers are switched on.
    pub(super) fn switch_on(&mut self, missing: &mut Vec<String>) {
        if let Err(error) = self.visit.switch(self.switches.clone()) {
            missing.push(format!("markers, typestate: {error}"));
        }
    }

    /// Passes on what it tells besides marks.
    pub(super) fn pump(&mut self, sink: &mut dyn FnMut(Item<'_>)) {
        if let Some(asked) = self.asked.take() {
            sink(Item::Inside(Inside::Asked(asked)));
        }
        self.visit.pump(&mut |inside| sink(Item::Inside(inside)));
    }

    /// Switches the markers off, restores every class, and lets the library go. What it gives comes after all marks, which are still
    /// on their way.
    pub(super) fn finish(&mut self, sink: &mut dyn FnMut(Item<'_>)) -> Inside {
        self.pump(sink);
        let left = self.visit.leave();
        self.pump(sink);
        left.map_or_else(|error| Inside::Lacks(error.to_string()), Inside::Restored)
    }
}

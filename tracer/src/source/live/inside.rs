//! The library in the JVM, as a part of a live session.

use std::path::{Path, PathBuf};

use crate::{
    inside::visit::Visit,
    mark::{Asked, Inside},
    session::Item,
};

/// What is woven, and the library that has done it.
pub struct InsideLane {
    path: PathBuf,
    /// Nothing until a JVM that starts with it is up.
    visit: Option<Visit>,
    asked: Option<Asked>,
    /// Switches of markers and symbols.
    switches: Vec<(u32, u8)>,
}

impl InsideLane {
    /// A lane whose markers are woven and off.
    pub fn new(visit: Visit, asked: Asked, switches: Vec<(u32, u8)>) -> Self {
        Self { path: visit.path.clone(), visit: Some(visit), asked: Some(asked), switches }
    }

    /// A lane of a JVM that has not begun; this is the library's file.
    pub const fn coming(path: PathBuf, asked: Asked, switches: Vec<(u32, u8)>) -> Self {
        Self { path, visit: None, asked: Some(asked), switches }
    }

    /// The JVM is up, and what was asked for is woven.
    pub(super) fn arrive(&mut self, visit: Visit, missing: &mut Vec<String>) {
        self.path.clone_from(&visit.path);
        self.visit = Some(visit);
        self.switch_on(missing);
    }

    /// Path of the file with its sites.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Everything listens: the markers are switched on.
    pub(super) fn switch_on(&mut self, missing: &mut Vec<String>) {
        let Some(visit) = &mut self.visit else { return };
        if let Err(error) = visit.switch(self.switches.clone()) {
            missing.push(format!("markers, typestate: {error}"));
        }
    }

    /// Passes on what it tells besides marks.
    pub(super) fn pump(&mut self, sink: &mut dyn FnMut(Item<'_>)) {
        if let Some(asked) = self.asked.take() {
            sink(Item::Inside(Inside::Asked(asked)));
        }
        if let Some(visit) = &mut self.visit {
            visit.pump(&mut |inside| sink(Item::Inside(inside)));
        }
    }

    /// Switches the markers off, restores every class, and lets the library go. What it gives comes after all marks, which are still
    /// on their way.
    pub(super) fn finish(&mut self, sink: &mut dyn FnMut(Item<'_>)) -> Inside {
        self.pump(sink);
        let Some(visit) = &mut self.visit else {
            return Inside::Lacks("the program ended before anything was woven".to_owned());
        };
        let left = visit.leave();
        self.pump(sink);
        left.map_or_else(|error| Inside::Lacks(error.to_string()), Inside::Restored)
    }
}

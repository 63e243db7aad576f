//! What lies outside of the JVM: what its descriptors lead to, and who waits to be accepted. Names are left out where that is asked.

use std::cell::RefCell;

use super::ThreadReader;
use crate::jvm::descriptor::listening::{self, Crowded, Listening};

impl ThreadReader {
    /// Leaves out peers and files, if that is asked.
    #[must_use]
    pub fn redacted(mut self, redacted: bool) -> Self {
        self.redaction = redacted.then(RefCell::default);
        self
    }

    /// Sees where connections wait to be accepted as well.
    #[must_use]
    pub fn with_listening(mut self, listening: Option<Listening>) -> Self {
        self.listening = listening;
        self
    }

    /// The sockets at which connections wait to be accepted, by their names.
    pub fn crowded(&mut self) -> Vec<(String, Crowded)> {
        let Some(listening) = &mut self.listening else { return Vec::new() };
        let crowded = listening.crowded().unwrap_or_else(|error| {
            log::warn!("{}: {error}", listening::UNKNOWN);
            self.listening = None;
            Vec::new()
        });
        let named = |crowded: Crowded| (self.on(format!("TCP {}, listening", crowded.address)), crowded);
        crowded.into_iter().map(named).collect()
    }

    /// The path of a file, or a number in its place.
    pub fn file(&self, path: String) -> String {
        match &self.redaction {
            Some(redaction) => redaction.borrow_mut().file(&path),
            None => path,
        }
    }

    /// What a descriptor leads to, or that without names. Tables of sockets are read once a look.
    pub fn leads_to(&self, descriptor: u32) -> Option<String> {
        self.descriptors.named(descriptor).map(|on| self.on(on))
    }

    /// What a call is about, or that without names.
    pub(super) fn on(&self, on: String) -> String {
        match &self.redaction {
            Some(redaction) => redaction.borrow_mut().on(&on),
            None => on,
        }
    }
}

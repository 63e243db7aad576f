//! What lies outside of the JVM: what its descriptors lead to, and who waits to be accepted. Names are left out where that is asked.

use std::cell::RefCell;

use super::{ThreadReader, waits::Known};
use crate::jvm::{
    descriptor::listening::{self, Crowded, Listening},
    java_threads::{Door, JavaThread},
};

/// A socket at which connections wait to be accepted.
#[derive(Clone, Debug)]
pub struct CrowdedSocket {
    /// `TCP 0.0.0.0:8080, listening`.
    pub name: String,
    /// What waits there.
    pub at: Crowded,
    /// Kernel ids of threads that have the socket in a field: where some have it themselves, of these alone.
    pub held_by: Vec<u32>,
}

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

    /// The sockets at which connections wait to be accepted.
    pub fn crowded(&mut self) -> Vec<CrowdedSocket> {
        let Some(listening) = &mut self.listening else { return Vec::new() };
        let crowded = listening.crowded().unwrap_or_else(|error| {
            log::warn!("{}: {error}", listening::UNKNOWN);
            self.listening = None;
            Vec::new()
        });
        // They are seldom, so threads are asked for their sockets only then.
        let known = if crowded.is_empty() { Vec::new() } else { self.doors() };
        let told = |at: Crowded| {
            let here = || known.iter().filter(|(door, _)| door.port == at.address.port());
            let has_own = here().any(|(door, _)| door.is_own);
            CrowdedSocket {
                name: self.on(format!("TCP {}, listening", at.address)),
                at,
                held_by: here().filter(|(door, _)| door.is_own == has_own).map(|(_, tid)| *tid).collect(),
            }
        };
        crowded.into_iter().map(told).collect()
    }

    /// Sockets that listen, each with the kernel's id of a thread that has it in a field.
    fn doors(&self) -> Vec<(Door, u32)> {
        let (Some(objects), Known { tids, listed, .. }) = (&self.objects, self.known()) else { return Vec::new() };
        let of = |thread: &JavaThread| {
            let tid = tids.get(&thread.os_tid).copied();
            let doors = tid.map(|_| objects.doors_of(thread)).unwrap_or_default();
            doors.into_iter().filter_map(move |door| Some((door, tid?)))
        };
        listed.iter().flat_map(of).collect()
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

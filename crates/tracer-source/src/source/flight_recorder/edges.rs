//! What was taken out of a file so far: beginnings and ends, and what waits for the end of the file.

use std::collections::{HashMap, HashSet};

use tracer_common::record::EventKind;

use super::{
    known::{Known, Thread},
    order::{Edge, WORDS, Within, moment, places},
    values::Object,
};
use crate::event::{NameId, SiteId, StackId, Tid};

/// Most beginnings and ends: some 900 MiB.
const MAX_EDGES: usize = 8 << 20;
/// Most collections and safepoints that are remembered.
const MAX_OPEN: usize = 1 << 20;
/// The site of beginnings. Only ends count: a file has one event for both.
const BEGINNING: SiteId = SiteId(u16::MAX);

/// What was taken.
#[derive(Debug, Default)]
pub(super) struct Edges {
    pub(super) known: Known,
    pub(super) all: Vec<Edge>,
    number: u32,
    /// Events that found no room.
    pub(super) beyond: u64,
    collections: HashMap<i64, Collection>,
    pauses: Vec<Pause>,
    stops: HashMap<i64, (u64, Tid)>,
}

/// A collection, which the pauses with its number belong to.
#[derive(Clone, Copy, Debug)]
struct Collection {
    part: Part,
    cause: NameId,
}

/// Which collector, by the recorder's names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Young,
    Full,
    /// G1's marking, which collects nothing by itself.
    Marking,
    /// A cycle beside the program, with several pauses.
    Cycle,
    Other,
}

impl Part {
    fn of(name: &str) -> Self {
        match name {
            "G1New" | "DefNew" | "ParNew" | "ParallelScavenge" => Self::Young,
            "G1Full" | "SerialOld" | "ParallelOld" | "PSMarkSweep" => Self::Full,
            "G1Old" => Self::Marking,
            "ConcurrentMarkSweep" => Self::Cycle,
            _ if name.starts_with('Z') || name.starts_with("Shenandoah") => Self::Cycle,
            _ => Self::Other,
        }
    }

    /// The word of a pause's beginning: [`crate::event::PauseStep`] above the flag for the whole heap.
    const fn word(self, is_first: bool) -> u64 {
        use crate::event::PauseStep as Step;
        let step = match self {
            Self::Marking => Step::Marking,
            Self::Cycle | Self::Young | Self::Full | Self::Other if !is_first => Step::Continues,
            Self::Cycle => Step::Cycle,
            Self::Young => Step::Young,
            Self::Full | Self::Other => Step::Whole,
        };
        (step as u64) << 8 | matches!(self, Self::Full) as u64
    }
}

/// A pause, whose collection may stand anywhere in the file.
#[derive(Clone, Copy, Debug)]
struct Pause {
    stretch: (u64, u64),
    tid: Tid,
    collection: i64,
    site: SiteId,
}

/// What an event is about, beside its kind.
#[derive(Clone, Copy, Debug)]
pub(super) struct Head {
    pub(super) tid: Tid,
    pub(super) stack: StackId,
    pub(super) site: SiteId,
}

impl Edges {
    /// A thread that an event names, and its stack.
    pub(super) fn head(&mut self, event: &Object<'_, '_>, thread: &str, site: SiteId) -> Head {
        let tid = self.known.thread(event, thread).map_or(Tid(0), |thread| thread.tid);
        Head { tid, stack: self.known.stack(event), site }
    }

    /// The thread that an event is about.
    pub(super) fn thread(&mut self, event: &Object<'_, '_>, field: &str) -> Option<Thread> {
        self.known.thread(event, field)
    }

    fn next_number(&mut self) -> u32 {
        self.number = self.number.saturating_add(1);
        self.number
    }

    fn room(&mut self, edges: usize) -> bool {
        let is_there = self.all.len() + edges <= MAX_EDGES;
        self.beyond += u64::from(!is_there);
        is_there
    }

    /// Something that took no time.
    pub(super) fn add(&mut self, time_ns: u64, head: Head, kind: EventKind, words: &[u64]) {
        let place = moment(time_ns, self.next_number());
        if self.room(1) {
            self.push(time_ns, place, head, kind, words);
        }
    }

    /// What happened because of an event that counts by itself.
    pub(super) fn add_beside(&mut self, time_ns: u64, head: Head, kind: EventKind, words: &[u64]) {
        self.add(time_ns, Head { site: BEGINNING, ..head }, kind, words);
    }

    /// Something from its beginning to its end.
    pub(super) fn add_stretch(
        &mut self,
        stretch: (u64, u64),
        within: Within,
        head: Head,
        [begin, end]: [(EventKind, &[u64]); 2],
    ) {
        let [before, after] = places(stretch, within, self.next_number());
        if self.room(2) {
            self.push(stretch.0, before, Head { site: BEGINNING, ..head }, begin.0, begin.1);
            // What a stack shows is where it began.
            self.push(stretch.1, after, head, end.0, end.1);
        }
    }

    fn push(&mut self, time_ns: u64, place: super::order::Place, head: Head, kind: EventKind, words: &[u64]) {
        let Head { tid, stack, site } = head;
        let mut all = [0; WORDS];
        for (to, from) in all.iter_mut().zip(words) {
            *to = *from;
        }
        self.all.push(Edge { time_ns, place, kind, site, tid, stack, words: all });
    }

    /// A collection is over.
    pub(super) fn collection(&mut self, number: i64, name: &str, cause: NameId) {
        if self.collections.len() < MAX_OPEN || self.collections.contains_key(&number) {
            self.collections.insert(number, Collection { part: Part::of(name), cause });
        }
    }

    /// A pause is over.
    pub(super) fn pause(&mut self, stretch: (u64, u64), head: Head, collection: i64) {
        if self.pauses.len() < MAX_OPEN {
            let Head { tid, site, .. } = head;
            self.pauses.push(Pause { stretch, tid, collection, site });
        } else {
            self.beyond += 1;
        }
    }

    /// The request to stop all threads.
    pub(super) fn stop(&mut self, number: i64, start_ns: u64, tid: Tid) {
        if self.stops.len() < MAX_OPEN {
            self.stops.insert(number, (start_ns, tid));
        }
    }

    /// They were let go; false where nothing is known of the request.
    pub(super) fn go(&mut self, number: i64, end_ns: u64, site: SiteId) -> bool {
        let Some((start_ns, tid)) = self.stops.remove(&number) else { return false };
        let head = Head { tid, stack: StackId::default(), site };
        let edges: [(EventKind, &[u64]); 2] = [(EventKind::SafepointBegin, &[]), (EventKind::SafepointEnd, &[])];
        self.add_stretch((start_ns, end_ns), Within::Safepoint, head, edges);
        true
    }

    /// Adds what was kept until all of the file was known. Gives the number of collections without a pause.
    pub(super) fn finish(&mut self) -> u64 {
        let mut pauses = std::mem::take(&mut self.pauses);
        pauses.sort_by_key(|pause| pause.stretch);
        let mut begun = HashSet::new();
        for Pause { stretch, tid, collection, site } in pauses {
            let of = self.collections.get(&collection).copied();
            let (part, cause) = of.map_or((None, self.known.name_or_none(None)), |of| (Some(of.part), of.cause));
            let is_first = begun.insert(collection);
            let word = part.map_or(0, |part| part.word(is_first));
            let head = Head { tid, stack: StackId::default(), site };
            let end: &[u64] = &[cause.0, cause.0];
            let edges = [(EventKind::GcBegin, &[word, cause.0, cause.0][..]), (EventKind::GcEnd, end)];
            self.add_stretch(stretch, Within::Pause, head, edges);
        }
        self.collections.keys().filter(|number| !begun.contains(number)).count() as u64
    }

    /// Samples of a site stand for this time.
    pub(super) fn set_period(&mut self, site: SiteId, period_ns: u64) {
        for edge in self.all.iter_mut().filter(|edge| edge.site == site) {
            edge.words[0] = period_ns;
        }
    }

    /// The sites that are there get numbers in their order.
    pub(super) fn renumber(&mut self, sites: &[SiteId]) {
        for edge in &mut self.all {
            if let Some(at) = sites.iter().position(|site| *site == edge.site) {
                edge.site = SiteId(u16::try_from(at).unwrap_or(u16::MAX));
            }
        }
    }

    /// Leaves out what was taken of a site after all.
    pub(super) fn drop_site(&mut self, site: SiteId) {
        self.all.retain(|edge| edge.site != site);
    }
}

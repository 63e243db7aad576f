//! What woven code costs: how much it tells, by marker and symbol, and what each of that takes.
//!
//! How many words came out of a buffer stands in every batch, so what was lost counts as well. Which markers they are of is told
//! from the first words of each batch: all of them are read later anyhow, and twice would be too much.

use std::{collections::HashMap, ops::Range};

use tracer_common::marks::{Context, MAX_PLACES, WordKind};

use super::cost::{Costs, Telling, What};
use crate::{
    decode::{Decoded, decode, marks},
    event::Payload,
    guard::lane::{LaneLoad, off::equal_threads},
    mark::{Asked, Inside, Mark, MarkBatch, Meaning, What as Told},
};

/// Words of a batch that are looked at.
const LOOK_WORDS: u32 = 256;
/// Most buffers of which words came lately, twice as many as there are at a time; those before them are forgotten.
const MAX_LATELY: usize = 8192;
/// Most classes of objects of which it is known how many are not tracked.
const MAX_SAID: usize = 1 << 16;
/// Most places of which marks are kept before they are known, and most marks of each.
const MAX_EARLY: usize = 256;
const MAX_EARLY_OF_PLACE: usize = 1024;

/// What a marker or symbol did in a step.
#[derive(Clone, Copy, Debug, Default)]
struct Did {
    /// Of these, sent ones; they are taken from the words that were looked at.
    sent: f64,
    counted: u64,
    /// Marks of regions that were counted in contexts.
    in_contexts: u64,
    held_back: u64,
    moved: u64,
    ignored: u64,
    illegal: u64,
}

/// Which words came out of each buffer so far. A program that makes threads without end has new buffers without end.
#[derive(Debug, Default)]
struct Buffers {
    lately: HashMap<u32, Range<u64>>,
    before: HashMap<u32, Range<u64>>,
}

impl Buffers {
    /// Those of a buffer; none before a first one, where it is not known.
    fn known(&mut self, buffer: u32, first: u64) -> &mut Range<u64> {
        if self.lately.len() >= MAX_LATELY && !self.lately.contains_key(&buffer) {
            self.before = std::mem::take(&mut self.lately);
        }
        let before = &mut self.before;
        self.lately.entry(buffer).or_insert_with(|| before.remove(&buffer).unwrap_or(first..first))
    }
}

/// What everything did since the last step.
pub(super) struct Loads {
    costs: Costs,
    what: Vec<What>,
    /// Property of a marker's or symbol's number; `None` for markers.
    property_of: Vec<Option<usize>>,
    /// Number of the marker or symbol of each place.
    places: Vec<Option<u32>>,
    /// Marks of places that are not known yet: a ring buffer can be faster than the library's words about what it has woven.
    early: HashMap<u32, Vec<(Mark, f64)>>,
    did: Vec<Did>,
    buffers: Buffers,
    /// Words of a buffer that came out before a batch that has none: they are lost, or on their way in the ring buffer of another CPU.
    unexplained: HashMap<u32, u64>,
    /// Words that the kernel kept back: woven code wrote them all the same.
    kept_back: u64,
    /// Marks that came out of each since the last step.
    marks: HashMap<u32, u64>,
    batches: u64,
    bytes: u64,
    /// Objects of each property: the highest number so far, those since the last step, and those that were not tracked.
    highest: Vec<u32>,
    tracked: Vec<u64>,
    not_tracked: Vec<u64>,
    /// What was said of objects that are not tracked, by property and class.
    said: HashMap<(u8, u32), u64>,
    trap_ns: f64,
    /// Marks and symbols so far, and what they cost without traps.
    total: [f64; 2],
}

impl Loads {
    pub(super) fn new(asked: &Asked, telling: &[Telling], costs: Costs) -> Self {
        let number = |index: usize| u32::try_from(index).unwrap_or(u32::MAX);
        let property = |index: usize| match asked.meaning(number(index)) {
            Some(Meaning::Symbol { property, .. }) => Some(property),
            _ => None,
        };
        let properties = asked.properties.len();
        Self {
            costs,
            what: telling.iter().map(|telling| What::of(*telling, &costs)).collect(),
            property_of: (0..telling.len()).map(property).collect(),
            places: Vec::new(),
            early: HashMap::new(),
            did: vec![Did::default(); telling.len()],
            buffers: Buffers::default(),
            unexplained: HashMap::new(),
            kept_back: 0,
            marks: HashMap::new(),
            batches: 0,
            bytes: 0,
            highest: vec![0; properties],
            tracked: vec![0; properties],
            not_tracked: vec![0; properties],
            said: HashMap::new(),
            trap_ns: costs.trap,
            total: [0.0; 2],
        }
    }

    pub(super) fn trap_costs(&mut self, ps: Option<u64>) {
        self.trap_ns = ps.map_or(self.costs.trap, |ps| ps as f64 / 1e3);
    }

    /// Bytes that woven code has told since the last step.
    pub(super) const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Takes notice of what is said besides marks.
    pub(super) fn inside(&mut self, inside: &Inside) {
        match inside {
            Inside::Place(place) if place.id < MAX_PLACES => {
                let at = place.id as usize;
                if self.places.len() <= at {
                    self.places.resize(at + 1, None);
                }
                self.places[at] = Some(place.marker);
                for (mark, scale) in self.early.remove(&place.id).unwrap_or_default() {
                    self.take_mark(&mark, scale);
                }
            }
            Inside::Sampled(sampled) if self.said.len() < MAX_SAID => {
                let before = self.said.insert((sampled.property, sampled.class), sampled.not_tracked).unwrap_or(0);
                let of = usize::from(sampled.property).checked_sub(1).and_then(|at| self.not_tracked.get_mut(at));
                if let Some(of) = of {
                    *of += sampled.not_tracked.saturating_sub(before);
                }
            }
            _ => {}
        }
    }

    fn did(&mut self, place: u32) -> Option<&mut Did> {
        let number = (*self.places.get(place as usize)?)?;
        self.did.get_mut(number as usize)
    }

    /// Takes notice of a record.
    pub(super) fn take(&mut self, record: &[u8]) {
        let Ok(Decoded::Event(event)) = decode(record) else { return };
        match event.payload {
            Payload::Marks { buffer, first, count, kept_back, .. } => {
                self.batches += 1;
                self.bytes += record.len() as u64;
                self.kept_back += u64::from(kept_back);
                self.take_batch(record, buffer, first, count);
                self.buffers.known(buffer, first).end += u64::from(kept_back);
            }
            Payload::IllegalTransition { place, .. } => {
                if let Some(did) = self.did(place) {
                    did.illegal += 1;
                }
            }
            _ => {}
        }
    }

    fn take_batch(&mut self, record: &[u8], buffer: u32, first: u64, count: u32) {
        let end = first.saturating_add(count.into());
        // Batches of two CPUs' ring buffers come in any order.
        let known = self.buffers.known(buffer, first);
        let mut words = end.saturating_sub(known.end) + known.start.saturating_sub(first);
        *known = known.start.min(first)..known.end.max(end);
        if count == 0 {
            if words > 0 {
                *self.unexplained.entry(buffer).or_default() += words;
            }
            return;
        }
        words += self.unexplained.remove(&buffer).unwrap_or(0);
        let counters = [WordKind::Count as u8, WordKind::Context as u8];
        let is_counters = marks(record, 1).first().is_some_and(|byte| counters.contains(&(byte & 0xf)));
        let looked = if is_counters { count } else { count.min(LOOK_WORDS) };
        let batch = MarkBatch::new(0, None, buffer, first, marks(record, looked));
        let scale = words as f64 / f64::from(looked.max(1));
        let mut marks = if is_counters { 0 } else { words };
        for mark in batch.marks() {
            marks = marks.saturating_add(match mark.what {
                Told::Count { of, count } if of != WordKind::Bytes => count,
                Told::Context(told) if told.what == Context::Region => told.calls.saturating_mul(2),
                _ => 0,
            });
            if self.places.get(mark.place as usize).copied().flatten().is_some() {
                self.take_mark(&mark, scale);
            } else {
                self.take_early(mark, scale);
            }
        }
        // The number of a buffer is never used again, so that there are no more of them in a step than there are threads.
        let of = self.marks.entry(buffer).or_default();
        *of = of.saturating_add(marks);
    }

    /// Keeps a mark until its place is known.
    fn take_early(&mut self, mark: Mark, scale: f64) {
        let is_of_place = !matches!(mark.what, Told::Death { .. } | Told::Born { .. } | Told::Argument { .. });
        if is_of_place && (self.early.len() < MAX_EARLY || self.early.contains_key(&mark.place)) {
            let of_place = self.early.entry(mark.place).or_default();
            if of_place.len() < MAX_EARLY_OF_PLACE {
                of_place.push((mark, scale));
            }
        }
    }

    fn take_mark(&mut self, mark: &Mark, scale: f64) {
        match mark.what {
            Told::Symbol { .. } => {
                let Some(number) = self.places.get(mark.place as usize).copied().flatten() else { return };
                if let Some(did) = self.did.get_mut(number as usize) {
                    did.sent += scale;
                }
                if let Some(Some(property)) = self.property_of.get(number as usize).copied()
                    && let Some(highest) = self.highest.get_mut(property)
                    && mark.object > *highest
                {
                    // They are given one after another.
                    self.tracked[property] += u64::from(mark.object - *highest);
                    *highest = mark.object;
                }
            }
            Told::Point | Told::Enter | Told::Exit | Told::Thrown => {
                if let Some(did) = self.did(mark.place) {
                    did.sent += scale;
                }
            }
            Told::Count { of, count } => {
                let Some(number) = self.places.get(mark.place as usize).copied().flatten() else { return };
                let is_symbol = self.property_of.get(number as usize).is_some_and(Option::is_some);
                let Some(did) = self.did.get_mut(number as usize) else { return };
                match of {
                    // What the objects take that were counted besides.
                    WordKind::Bytes => {}
                    WordKind::Symbol => did.held_back += count,
                    // So woven code counts the symbols of objects that are not tracked.
                    WordKind::Enter if is_symbol => did.ignored += count,
                    // And those that change a state.
                    WordKind::Exit if is_symbol => did.moved += count,
                    _ => did.counted += count,
                }
            }
            Told::Context(told) => {
                let Some(number) = self.places.get(mark.place as usize).copied().flatten() else { return };
                let each = self.what.get(number as usize).map_or(0, |what| what.marks_in_context);
                if let Some(did) = self.did.get_mut(number as usize).filter(|_| told.what == Context::Region) {
                    did.in_contexts = did.in_contexts.saturating_add(told.calls.saturating_mul(each));
                }
            }
            Told::Death { .. } | Told::Born { .. } | Told::Argument { .. } => {}
        }
    }

    /// Marks and symbols so far, and what they cost without traps.
    pub(super) const fn total(&self) -> [f64; 2] {
        self.total
    }

    /// By about how many threads marks were made since the last step.
    pub(super) fn threads(&self) -> f64 {
        equal_threads(self.marks.values().copied())
    }

    /// What each marker and symbol did since the last step; `own_ns` is what jtrace took for all of it.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "positive; a cast saturates")]
    pub(super) fn finish_step(&mut self, own_ns: f64) -> Vec<LaneLoad> {
        self.share_kept_back();
        let costs = self.costs;
        let sent: f64 = self.did.iter().map(|did| did.sent).sum();
        let traps_ns = self.batches as f64 * self.trap_ns;
        let mut loads: Vec<LaneLoad> = (0..self.did.len())
            .map(|number| {
                let (did, what) = (self.did[number], self.what[number]);
                let part = if sent > 0.0 { did.sent / sent } else { 0.0 };
                let shared_ns = part * traps_ns;
                let events = did.sent as u64 + did.counted + did.in_contexts + did.held_back + did.moved + did.ignored;
                let (cost_ns, counted_ns, off_ns) = if self.property_of[number].is_some() {
                    let illegal_ns = did.illegal as f64 * (self.trap_ns + costs.stack);
                    let counted_ns = did.held_back as f64 * costs.held_back + did.moved as f64 * costs.moved;
                    let kept_ns = counted_ns + did.sent * costs.symbol;
                    (
                        illegal_ns + kept_ns + did.ignored as f64 * costs.ignored + shared_ns,
                        events as f64 * costs.ignored,
                        // They are never off for a while.
                        0.0,
                    )
                } else {
                    let marks = did.sent + did.counted as f64 + did.in_contexts as f64;
                    let in_jvm_ns = did.counted as f64 * costs.counted + did.in_contexts as f64 * costs.in_context;
                    (did.sent * what.sent + in_jvm_ns + shared_ns, marks * what.counted, marks * what.off)
                };
                LaneLoad { events, cost_ns, counted_ns, off_ns, own_ns: part * own_ns, target_ns: 0.0 }
            })
            .collect();
        self.add_objects(&mut loads);
        let illegal: u64 = self.did.iter().map(|did| did.illegal).sum();
        let illegal_ns = illegal as f64 * (self.trap_ns + costs.stack);
        let shared_ns = if sent > 0.0 { traps_ns } else { 0.0 };
        let sum = |of: fn(&LaneLoad) -> f64| loads.iter().map(of).sum::<f64>();
        self.total[0] += sum(|load| load.events as f64);
        self.total[1] += (sum(|load| load.cost_ns) - illegal_ns - shared_ns).max(0.0);
        self.did.fill(Did::default());
        (self.batches, self.bytes) = (0, 0);
        self.marks.clear();
        loads
    }

    /// Whose words were kept back, or lost, is not known: they are taken to be of the markers that the others are of, or of all.
    fn share_kept_back(&mut self) {
        let unexplained: u64 = self.unexplained.drain().map(|(_, words)| words).sum();
        let words = std::mem::take(&mut self.kept_back).saturating_add(unexplained) as f64;
        let sent: f64 = self.did.iter().map(|did| did.sent).sum();
        let all = self.did.len().max(1) as f64;
        for did in &mut self.did {
            did.sent += words * if sent > 0.0 { did.sent / sent } else { 1.0 / all };
        }
    }

    /// Objects of a property are a cost of its first symbol.
    fn add_objects(&mut self, loads: &mut [LaneLoad]) {
        for property in 0..self.tracked.len() {
            let first = self.property_of.iter().position(|of| *of == Some(property));
            let Some(load) = first.and_then(|number| loads.get_mut(number)) else { continue };
            let tracked = std::mem::take(&mut self.tracked[property]) as f64;
            let not_tracked = std::mem::take(&mut self.not_tracked[property]) as f64;
            load.cost_ns += tracked * self.costs.tracked + not_tracked * self.costs.not_tracked;
            load.counted_ns += (tracked + not_tracked) * self.costs.not_tracked;
        }
    }
}

/// The sum over some numbers.
pub(super) fn sum(loads: &[LaneLoad], numbers: &[u32]) -> LaneLoad {
    let of = |number: &u32| loads.get(*number as usize).copied().unwrap_or_default();
    numbers.iter().map(of).fold(LaneLoad::default(), |sum, load| LaneLoad {
        events: sum.events + load.events,
        cost_ns: sum.cost_ns + load.cost_ns,
        counted_ns: sum.counted_ns + load.counted_ns,
        off_ns: sum.off_ns + load.off_ns,
        own_ns: sum.own_ns + load.own_ns,
        target_ns: 0.0,
    })
}

#[cfg(test)]
mod tests;

//! Reads a recording of jtrace with jtrace's own library, and finds in it the events of the oracle.

use std::{
    collections::{BTreeMap, HashMap},
    path::Path,
};

use anyhow::{Result, ensure};
use tracer_event::{
    decode::{Decoded, decode},
    event::{Edge, Event, MonitorAction, Payload},
    names::Names,
    stack::Stacks,
};
use tracer_model::item::Item;
use tracer_source::source::recording::Recording;

use crate::truth::{Kind, Seen};

/// The class of the monitors that the oracle fights for.
const GATE: &str = "Probe$Gate";

/// What a recording holds.
#[derive(Default)]
pub(crate) struct Recorded {
    pub(crate) events: Vec<Event>,
    pub(crate) names: Names,
    pub(crate) stacks: Stacks,
    /// Events and definitions that did not fit into the ring buffers.
    pub(crate) lost: u64,
    /// Records that could not be decoded.
    pub(crate) undecodable: u64,
    /// What jtrace said is missing.
    pub(crate) missing: Vec<String>,
}

impl Recorded {
    /// Reads a recording.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let mut recorded = Self::default();
        Recording::open(path)?.replay(&mut |item| recorded.accept(item))?;
        Ok(recorded)
    }

    /// Takes an item of a session.
    pub(crate) fn accept(&mut self, item: Item<'_>) {
        match item {
            Item::Record(bytes) => match decode(bytes) {
                Ok(Decoded::Event(event)) => self.events.push(event),
                Ok(Decoded::Definition { id, text, text_bytes }) => self.names.define(id, text, text_bytes),
                Ok(Decoded::Stack(_)) => {}
                Err(_) => self.undecodable += 1,
            },
            Item::Counters(counters) => self.lost = counters.sites.iter().map(|site| site[3] + site[6]).sum(),
            Item::Start(start) => self.missing = start.missing,
            Item::Frame(frame) => self.stacks.define_frame(frame),
            Item::Stack(stack) => self.stacks.define_stack(stack),
            Item::Thread(thread) => self.names.define_thread(thread.tid, thread.name),
            Item::Guard(_)
            | Item::Subject(_)
            | Item::Tallies(_)
            | Item::Coverage(_)
            | Item::Inside(_)
            | Item::Look(_)
            | Item::Ended(_)
            | Item::End(_) => {}
        }
    }

    /// The event of jtrace for each of the oracle's, in their order; `None` where there is none. An event is told by the
    /// number or name that both have, and where there is none of these by its place among those of its thread and kind:
    /// then there must be as many on both sides.
    pub(crate) fn pair(&self, seen: &[Seen]) -> Result<Vec<Option<Event>>> {
        let mut keyed = HashMap::new();
        let mut ordered: BTreeMap<(Kind, u32), Vec<Event>> = BTreeMap::new();
        for event in &self.events {
            if let Some((kind, key)) = self.key(event) {
                let place = ordered.entry((kind, event.tid.0)).or_default();
                place.push(*event);
                // A start is hit on the thread that starts, which the oracle knows by its Java number alone.
                keyed.insert((kind, if kind == Kind::Start { 0 } else { event.tid.0 }, key), *event);
            }
        }
        let mut places: HashMap<(Kind, u32), usize> = HashMap::new();
        let mut pairs = Vec::with_capacity(seen.len());
        for Seen { kind, tid, key, .. } in seen {
            pairs.push(if let Some(key) = key {
                let tid = if *kind == Kind::Start { 0 } else { *tid };
                keyed.get(&(*kind, tid, key.clone())).copied()
            } else {
                let place = places.entry((*kind, *tid)).or_default();
                *place += 1;
                ordered.get(&(*kind, *tid)).and_then(|events| events.get(*place - 1)).copied()
            });
        }
        for ((kind, tid), count) in places {
            let there = ordered.get(&(kind, tid)).map_or(0, Vec::len);
            ensure!(there == count, "{there} events {kind:?} of thread {tid}, and the program made {count}");
        }
        Ok(pairs)
    }

    /// Kind and key of an event that may be one of the oracle's.
    fn key(&self, event: &Event) -> Option<(Kind, String)> {
        Some(match event.payload {
            Payload::ParkBegin { absolute: false, time, .. } if time > 0 => (Kind::Park, time.to_string()),
            Payload::Sleep { edge: Edge::Begin, .. } => (Kind::Sleep, String::new()),
            Payload::Monitor { action: MonitorAction::ContendedEnter { .. }, class, .. }
                if self.names.text(class) == GATE =>
            {
                (Kind::Enter, String::new())
            }
            Payload::ClassLoaded { class, .. } => (Kind::Load, self.names.text(class)),
            Payload::Thread { edge: Edge::Begin, java_tid, .. } => (Kind::Start, java_tid.to_string()),
            _ => return None,
        })
    }
}

//! The client `contexts`: calling contexts of chosen methods as single numbers (selective probabilistic calling contexts).
//!
//! A thread has one number `V`, 0 where no chosen region is open. Entering one at a call site makes it `3 V + site`, leaving brings the
//! former number back; so `V` stands for the chain of chosen regions that are open, and an analysis can remember it instead of a
//! stack. A site's number is a hash of class, method, descriptor and bytecode index, so the same chain has the same number in every
//! session. A dictionary leads from each `V` to the one around it and the last site: that is how it is decoded, and how two chains
//! with one number are found out and counted.
//!
//! With markers on methods a site is the method that is called; with markers on calls it is the call.

use std::collections::HashMap;

use super::super::table::{REPORT_ROWS, column};
use crate::{
    client::{Client, ClientReport, EndedIndices, Exit, Instance, Known, Place, Reporting, Thread},
    mark::Marker,
    report::{Cell, Shape, Summary, Table, Unit},
};
use tracer_weave::PlaceDefinition;

/// Most contexts that can be decoded.
const MAX_CONTEXTS: usize = 1 << 20;
/// Longest chain that is written out.
const MAX_CHAIN: usize = 200;

/// A calling context.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct ContextId(pub(super) u64);

impl ContextId {
    /// The context of a site below this one.
    pub(super) const fn below(self, site: u64) -> Self {
        Self(self.0.wrapping_mul(3).wrapping_add(site))
    }
}

/// How a number came about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Origin {
    around: ContextId,
    place: u32,
    count: u64,
}

/// The client.
#[derive(Debug, Default)]
pub(super) struct Contexts {
    /// By number of the place.
    sites: Vec<u64>,
    /// By index of the thread: the contexts around the present one, and it.
    threads: Vec<Vec<ContextId>>,
    dictionary: HashMap<ContextId, Origin>,
    collisions: u64,
    /// Entries whose context found no room.
    others: u64,
}

/// A site's number: it does not depend on the session.
fn site(place: &PlaceDefinition) -> u64 {
    let bci = place.bci.to_le_bytes();
    let parts = [place.class.as_bytes(), b"\0", place.method.as_bytes(), b"\0", place.descriptor.as_bytes(), &bci];
    let hash =
        parts.iter().copied().flatten().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
        });
    let mixed = (hash ^ hash >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ mixed >> 31
}

impl Contexts {
    /// The context in which a thread is.
    #[cfg(test)]
    fn present(&self, thread: usize) -> ContextId {
        self.threads.get(thread).and_then(|contexts| contexts.last()).copied().unwrap_or_default()
    }

    /// The places that are open in a context, the outermost first; nothing where it is not known.
    pub(super) fn decode(&self, context: ContextId) -> Option<Vec<u32>> {
        let mut places = Vec::new();
        let mut at = context;
        while at != ContextId::default() {
            let origin = self.dictionary.get(&at)?;
            places.push(origin.place);
            at = origin.around;
            // Colliding numbers could make a circle.
            if places.len() > self.dictionary.len() {
                return None;
            }
        }
        places.reverse();
        Some(places)
    }

    /// How many times a number was found to stand for a second chain.
    pub(super) const fn collisions(&self) -> u64 {
        self.collisions
    }

    fn thread(&mut self, index: usize) -> Option<&mut Vec<ContextId>> {
        if self.threads.len() <= index {
            self.threads.resize_with(index + 1, Vec::new);
        }
        self.threads.get_mut(index)
    }

    fn count(&mut self, context: ContextId, around: ContextId, place: u32) {
        if let Some(origin) = self.dictionary.get_mut(&context) {
            origin.count += 1;
            // No region is open at 0, so what comes to 0 collides with that.
            self.collisions += u64::from((origin.around, origin.place) != (around, place));
        } else if context == ContextId::default() {
            self.collisions += 1;
        } else if self.dictionary.len() < MAX_CONTEXTS {
            self.dictionary.insert(context, Origin { around, place, count: 1 });
        } else {
            self.others += 1;
        }
    }

    /// A chain as text: `shop.Main.main > shop.Cart.checkout`.
    fn chain(&self, context: ContextId, known: &Known) -> Option<String> {
        let places = self.decode(context)?;
        let left_out = places.len().saturating_sub(MAX_CHAIN);
        let name = |place: &u32| {
            known.place(*place).map_or_else(
                || "(not known)".to_owned(),
                |place| format!("{}.{}", place.definition.class, place.definition.method),
            )
        };
        let chain = places.iter().skip(left_out).map(name).collect::<Vec<_>>().join(" > ");
        Some(if left_out > 0 { format!("({left_out} more) > {chain}") } else { chain })
    }
}

impl Client for Contexts {
    fn name(&self) -> &'static str {
        "contexts"
    }

    fn subscribe(&mut self, marker: &Marker) -> bool {
        marker.subscribers.iter().any(|name| name == self.name())
    }

    fn method_loaded(&mut self, place: &Place, _marker: &Marker) {
        let number = place.definition.id as usize;
        if self.sites.len() <= number {
            self.sites.resize(number + 1, 0);
        }
        if let Some(known) = self.sites.get_mut(number) {
            *known = site(&place.definition);
        }
    }

    fn marker_enter(&mut self, mark: &Instance<'_>) {
        let Some(site) = self.sites.get(mark.place as usize).copied() else { return };
        let Some(contexts) = self.thread(mark.thread.index) else { return };
        let around = contexts.last().copied().unwrap_or_default();
        let context = around.below(site);
        contexts.push(context);
        self.count(context, around, mark.place);
    }

    fn marker_exit(&mut self, mark: &Instance<'_>, exit: &Exit) {
        if exit.was_entered
            && let Some(contexts) = self.thread(mark.thread.index)
        {
            contexts.pop();
        }
    }

    fn threads_ended(&mut self, ended: &EndedIndices) {
        for index in ended.indices() {
            self.threads.get_mut(index).map(std::mem::take);
        }
    }

    fn stack_lost(&mut self, thread: &Thread) {
        if let Some(contexts) = self.threads.get_mut(thread.index) {
            contexts.clear();
        }
    }

    fn report(&self, at: &Reporting<'_>) -> ClientReport {
        let mut contexts: Vec<(&ContextId, &Origin)> = self.dictionary.iter().collect();
        contexts.sort_by_key(|(context, origin)| (std::cmp::Reverse(origin.count), **context));
        let row = |(context, origin): (&ContextId, &Origin)| {
            let cells: Vec<Cell> =
                vec![format!("{:016x}", context.0).into(), origin.count.into(), self.chain(*context, at.known).into()];
            cells
        };
        let rows = contexts.into_iter().take(REPORT_ROWS).map(row).collect();
        let columns = vec![
            column("context", "Context", Unit::Text),
            column("entered", "Entered", Unit::Count),
            column("chain", "Chain", Unit::Text),
        ];
        let mut notes = Vec::new();
        if self.collisions > 0 {
            notes.push(format!(
                "{} entries came to contexts whose number stands for another chain as well; they are counted at that one.",
                self.collisions
            ));
        }
        if self.others > 0 {
            notes.push(format!(
                "Only the first {MAX_CONTEXTS} contexts can be decoded; {} entries were in further ones.",
                self.others
            ));
        }
        let summary =
            Summary::new().int("contexts", self.dictionary.len() as u64).int("context_collisions", self.collisions());
        let title = "Calling contexts".to_owned();
        ClientReport {
            summary,
            notes,
            shapes: vec![Shape::Table(Table { id: "marker_contexts", title, columns, rows })],
        }
    }
}

#[cfg(test)]
mod tests;

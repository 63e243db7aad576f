//! What new threads run. The start event fires on the new thread before it runs any Java, so the method that a thread begins
//! with is taken from the stacks of the thread's next events, whichever lens they are of.

use super::super::{
    Context,
    pattern::pattern,
    site,
    table::{FastMap, Keyed, column},
};
use crate::{
    event::{Event, NameId, StackId, Tid},
    report::{Shape, Unit},
};

/// Most threads that are followed at a time.
const THREADS: usize = 16_384;
/// Most pairs of name and stack.
const ROWS: usize = 16_384;
/// Events of a thread after which it is followed no more: the first ones can be from before it runs Java.
const EVENTS: u8 = 8;

/// A thread that was started, with the latest stack of its first events.
#[derive(Clone, Copy, Debug)]
struct Started {
    name: NameId,
    stack: Option<StackId>,
    events: u8,
}

/// Threads that were started.
#[derive(Debug)]
pub(super) struct Entries {
    young: FastMap<Tid, Started>,
    rows: Keyed<(NameId, StackId), u64>,
    turned_away: u64,
}

impl Default for Entries {
    fn default() -> Self {
        Self { young: FastMap::default(), rows: Keyed::new(ROWS), turned_away: 0 }
    }
}

impl Entries {
    /// A thread starts.
    pub(super) fn starts(&mut self, tid: Tid, name: NameId) {
        if self.young.len() >= THREADS && !self.young.contains_key(&tid) {
            self.turned_away += 1;
        } else {
            self.young.insert(tid, Started { name, stack: None, events: 0 });
        }
    }

    /// Something happens, to whichever thread.
    pub(super) fn event(&mut self, event: &Event) {
        if self.young.is_empty() || event.stack == StackId::default() {
            return;
        }
        let Some(started) = self.young.get_mut(&event.tid) else { return };
        started.stack = Some(event.stack);
        started.events += 1;
        if started.events >= EVENTS {
            self.stops(event.tid);
        }
    }

    /// A thread stops, or is followed no more.
    pub(super) fn stops(&mut self, tid: Tid) {
        if let Some(Started { name, stack: Some(stack), .. }) = self.young.remove(&tid) {
            *self.rows.entry((name, stack)) += 1;
        }
    }

    /// Sentences about what is not known.
    pub(super) fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.any() {
            notes.push("What new threads run is taken from the stacks of their first events.".to_owned());
        }
        if self.turned_away > 0 {
            notes.push(format!("{} started threads were too many to be followed.", self.turned_away));
        }
        notes.extend(self.rows.note("pairs of thread name and stack"));
        notes
    }

    /// What new threads run; nothing where no stack was asked for.
    pub(super) fn table(&self, context: Context<'_>) -> Option<Shape> {
        let mut rows = self.rows.clone();
        for started in self.young.values() {
            if let Some(stack) = started.stack {
                *rows.entry((started.name, stack)) += 1;
            }
        }
        let label = |(name, stack): &(NameId, StackId)| {
            let entry = site::entry(context.stacks, *stack);
            // The line where it is now says nothing about where it began.
            let entry = entry.map_or_else(|| "<not seen in Java>".to_owned(), |frame| frame.name.to_string());
            Some((pattern(&context.names.text(*name)), entry))
        };
        let table = rows.grouped(label).table(
            "entries",
            "What new threads run",
            vec![
                column("pattern", "Names", Unit::Text),
                column("entry", "Begins with", Unit::Text),
                column("started", "Started", Unit::Count),
            ],
            |started| *started,
            |(pattern, entry)| vec![pattern.into(), entry.into()],
            |started| vec![(*started).into()],
        );
        self.any().then_some(table)
    }

    fn any(&self) -> bool {
        self.rows.iter().next().is_some() || self.young.values().any(|started| started.stack.is_some())
    }
}

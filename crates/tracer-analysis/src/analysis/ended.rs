//! Threads that ended and are no longer told apart: programs start threads without end, and tables by thread must not grow with
//! each.

use super::table::FastSet;
use crate::event::{Edge, Event, NameId, Payload, StackId, Tid};

/// Tables with fewer rows keep each thread, and so do those with fewer than half of their limit.
pub(super) const MANY_ROWS: usize = 4096;
/// So many threads end before tables are looked through.
const AT_A_TIME: usize = 1024;

/// Threads that ended since tables were looked through last.
#[derive(Clone, Debug, Default)]
pub struct EndedThreads {
    lately: FastSet<Tid>,
    /// Those before them: nothing that they did is still on its way.
    before: FastSet<Tid>,
}

impl EndedThreads {
    /// Takes notice of an event; says whether tables should be looked through.
    pub fn hear(&mut self, event: &Event) -> bool {
        match event.payload {
            Payload::Thread { edge: Edge::End, .. } => _ = self.lately.insert(event.tid),
            // Its number was given to another one.
            Payload::Thread { edge: Edge::Begin, .. } => {
                self.lately.remove(&event.tid);
                self.before.remove(&event.tid);
            }
            _ => return false,
        }
        self.are_many()
    }

    /// The same of threads whose ends are no events.
    pub fn hear_of(&mut self, threads: &[Tid]) -> bool {
        self.lately.extend(threads);
        self.are_many()
    }

    fn are_many(&self) -> bool {
        self.lately.len() >= AT_A_TIME
    }

    /// Which ones.
    pub fn iter(&self) -> impl Iterator<Item = Tid> + '_ {
        self.lately.iter().copied()
    }

    /// Tables were looked through.
    pub fn forget(&mut self) {
        self.before = std::mem::take(&mut self.lately);
    }

    /// Whether a thread had ended when tables were looked through last.
    pub fn is_long_gone(&self, tid: Tid) -> bool {
        self.before.contains(&tid)
    }

    /// These.
    #[cfg(test)]
    pub(super) fn of(tids: std::ops::RangeInclusive<u32>) -> Self {
        Self { lately: tids.map(Tid).collect(), before: FastSet::default() }
    }

    pub(super) fn contains(&self, tid: Tid) -> bool {
        self.lately.contains(&tid)
    }
}

/// What tells rows apart, the thread among it.
pub(super) trait OfThread: Copy {
    fn tid(&self) -> Tid;

    #[must_use]
    fn with_tid(self, tid: Tid) -> Self;
}

impl OfThread for Tid {
    fn tid(&self) -> Tid {
        *self
    }

    fn with_tid(self, tid: Tid) -> Self {
        tid
    }
}

impl OfThread for (StackId, Tid) {
    fn tid(&self) -> Tid {
        self.1
    }

    fn with_tid(self, tid: Tid) -> Self {
        (self.0, tid)
    }
}

impl<L: Copy> OfThread for (Tid, L) {
    fn tid(&self) -> Tid {
        self.0
    }

    fn with_tid(self, tid: Tid) -> Self {
        (tid, self.1)
    }
}

impl OfThread for (NameId, StackId, Tid) {
    fn tid(&self) -> Tid {
        self.2
    }

    fn with_tid(self, tid: Tid) -> Self {
        (self.0, self.1, tid)
    }
}

impl<L: Copy> OfThread for (NameId, Tid, L) {
    fn tid(&self) -> Tid {
        self.1
    }

    fn with_tid(self, tid: Tid) -> Self {
        (self.0, tid, self.2)
    }
}

impl<L: Copy> OfThread for (StackId, L, Tid) {
    fn tid(&self) -> Tid {
        self.2
    }

    fn with_tid(self, tid: Tid) -> Self {
        (self.0, self.1, tid)
    }
}

/// A sentence where counts of such threads were summed up.
pub(super) fn note(mut threads: impl Iterator<Item = Tid>) -> Option<String> {
    threads.any(|tid| tid == Tid::ENDED).then(|| {
        "Threads that ended are one row, `(ended threads)`: there were too many to keep the counts of each.".to_owned()
    })
}

#[cfg(test)]
mod tests;

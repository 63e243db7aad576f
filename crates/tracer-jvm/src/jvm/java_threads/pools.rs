//! What waits in pools with many queues, at one look: each of a pool's threads asks for the same, and a target decides how many there are.

use std::{
    cell::{Cell, RefCell},
    collections::HashMap,
};

/// Most queues that are looked at, of all pools of a look: a `ForkJoinPool` has up to four for each of its workers, and few have more
/// workers than the machine has CPUs.
const MAX_QUEUES: u32 = 16_384;

/// What waits in a pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Waiting {
    /// Tasks in all its queues.
    pub(super) queued: u64,
    /// Whether a thread that has nothing to do may begin with one of them.
    pub(super) may_begin: bool,
}

/// The pools of one look.
#[derive(Debug)]
pub struct Pools {
    /// By address; nothing of those that cannot be read.
    known: RefCell<HashMap<u64, Option<Waiting>>>,
    /// Queues that may still be looked at.
    left: Cell<u32>,
}

impl Default for Pools {
    fn default() -> Self {
        Self { known: RefCell::default(), left: Cell::new(MAX_QUEUES) }
    }
}

impl Pools {
    /// What waits in a pool, which is read once.
    pub(super) fn waiting(&self, pool: u64, read: impl FnOnce() -> Option<Waiting>) -> Option<Waiting> {
        let known = self.known.borrow().get(&pool).copied();
        known.unwrap_or_else(|| {
            let waiting = read();
            self.known.borrow_mut().insert(pool, waiting);
            waiting
        })
    }

    /// Allows to look at so many queues more, or not.
    pub(super) fn allow(&self, queues: u32) -> Option<()> {
        self.left.set(self.left.get().checked_sub(queues)?);
        Some(())
    }

    /// Where so many queues may be looked at.
    #[cfg(test)]
    pub(super) fn with_room(left: u32) -> Self {
        Self { left: Cell::new(left), ..Self::default() }
    }
}

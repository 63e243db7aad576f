//! How often looks at all threads have seen one reason to wait, and by whom.

use super::{
    super::super::{library, site, table::Merge},
    HAS_ENDED,
    past::Past,
    pool,
};
use crate::{
    item::look::{LookGroup, ThreadLook},
    stack::Stacks,
};

/// How often a reason was seen.
#[derive(Clone, Debug, Default)]
pub(super) struct Seen {
    pub(super) looks: u64,
    /// When the first and the last look began that saw it.
    pub(super) first_ns: u64,
    pub(super) last_ns: u64,
    /// Number of the last look that saw it, and the threads in that.
    pub(super) last: u64,
    pub(super) now: u64,
    /// Threads, over all looks, and of these virtual ones that were not mounted.
    pub(super) threads: u64,
    pub(super) virtual_threads: u64,
    /// Those of looks that had one before, and of these, those that had run since.
    pub(super) compared: u64,
    pub(super) ran: u64,
    /// Those for which a peer on this machine had bytes that it did not send yet.
    pub(super) held_back: u64,
    pub(super) most: u64,
    /// Most that waited for one object.
    pub(super) together: u64,
    /// Who held it when most waited, and where that was.
    pub(super) holder: Option<(String, Option<String>)>,
    /// How most of them came there.
    pub(super) callers: Option<String>,
    /// The names of most of them, without what tells threads of a pool apart.
    pub(super) pool: Option<String>,
    /// Whom they ask, where a library does that for the program.
    pub(super) asked: Option<&'static str>,
    /// For whom they work, where a library has called the program for that.
    pub(super) served: Option<&'static str>,
    /// Those that may have what they wait for.
    pub(super) past: Past,
}

impl Seen {
    pub(super) fn add(&mut self, number: u64, look: &ThreadLook, group: &LookGroup, stacks: &Stacks) {
        if self.looks == 0 {
            self.first_ns = look.time_ns;
        }
        if self.last != number {
            (self.last, self.now) = (number, 0);
            self.looks += 1;
        }
        self.last_ns = look.time_ns;
        self.asked = self.asked.or_else(|| library::asked(stacks, group.stack));
        self.served = self.served.or_else(|| library::served(stacks, group.stack).map(|(who, _)| who));
        let is_first = look.span_ns == 0;
        self.threads += group.threads;
        self.virtual_threads += if group.is_virtual { group.threads } else { 0 };
        self.compared += if is_first || group.is_virtual { 0 } else { group.threads };
        self.ran += group.ran.saturating_sub(group.seldom);
        self.held_back += group.held_back;
        self.now += group.threads;
        self.together = self.together.max(group.together);
        let most = self.now > self.most;
        if most {
            self.most = self.now;
            self.callers = site::callers(stacks, group.stack);
            self.pool = pool(&group.names);
        }
        // Between two owners a lock has none.
        if let Some(holder) = group.holder.as_ref().filter(|_| most || self.holder.is_none()) {
            let place = holder.stack.map(|stack| site::label(stacks, stack));
            let place = if holder.ended { Some(HAS_ENDED.to_owned()) } else { place };
            self.holder = Some((holder.name.clone(), place));
        }
    }
}

impl Merge for Seen {
    fn merge(&mut self, other: &Self) {
        if self.looks == 0 || (other.looks > 0 && other.first_ns < self.first_ns) {
            self.first_ns = other.first_ns;
        }
        self.last_ns = self.last_ns.max(other.last_ns);
        self.asked = self.asked.or(other.asked);
        self.served = self.served.or(other.served);
        self.looks = self.looks.max(other.looks);
        self.threads += other.threads;
        self.virtual_threads += other.virtual_threads;
        self.compared += other.compared;
        self.ran += other.ran;
        self.held_back += other.held_back;
        if other.most > self.most {
            self.callers.clone_from(&other.callers);
            self.pool.clone_from(&other.pool);
        }
        if self.holder.is_none() || (other.most > self.most && other.holder.is_some()) {
            self.holder.clone_from(&other.holder);
        }
        self.most = self.most.max(other.most);
        self.together = self.together.max(other.together);
        self.past.merge(&other.past);
    }
}

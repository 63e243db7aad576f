//! Memory pools around collections, and how many cycles their managers have begun.

use super::super::table::{FastMap, Keyed, Merge, column};
use crate::{
    event::{Edge, NameId},
    names::Names,
    report::{Shape, Unit},
};

/// Most pairs of manager and pool: real JVMs have about ten.
const POOLS: usize = 256;

/// The pools of all managers.
#[derive(Debug)]
pub(super) struct Pools {
    pools: Keyed<(NameId, NameId), Pool>,
    /// Largest number of beginnings that a pool of each manager has seen.
    rounds: FastMap<NameId, u64>,
}

/// State of a pool that an event gives.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_field_names, reason = "names end in their unit")]
pub(super) struct State {
    /// Bytes in use.
    pub(super) used_bytes: u64,
    /// Bytes that the JVM has from the system.
    pub(super) committed_bytes: u64,
    /// Limit; `u64::MAX` where there is none.
    pub(super) max_bytes: u64,
}

impl Default for Pools {
    fn default() -> Self {
        Self { pools: Keyed::new(POOLS), rounds: FastMap::default() }
    }
}

impl Pools {
    /// Takes an event; true where it is the first sign that its manager has begun another cycle. A manager tells the
    /// state of each of its pools once at the beginning of a cycle and once at the end.
    pub(super) fn event(&mut self, time_ns: u64, edge: Edge, manager: NameId, pool: NameId, state: State) -> bool {
        let pool = self.pools.entry((pool, manager));
        match edge {
            Edge::Begin => {
                pool.before(state.used_bytes);
                let begun = pool.begun;
                if self.rounds.len() >= POOLS && !self.rounds.contains_key(&manager) {
                    return false;
                }
                let rounds = self.rounds.entry(manager).or_default();
                let is_first = begun > *rounds;
                *rounds = begun.max(*rounds);
                is_first
            }
            Edge::End => {
                pool.after(time_ns, state);
                false
            }
        }
    }

    /// A sentence where the limit was reached.
    pub(super) fn note(&self) -> Option<String> {
        self.pools.note("memory pools")
    }

    /// The pools as a table.
    pub(super) fn table(&self, names: &Names) -> Shape {
        let label = |(pool, manager): &(NameId, NameId)| Some((names.text(*pool), names.text(*manager)));
        self.pools.grouped(label).table(
            "pools",
            "Memory pools before and after collections",
            vec![
                column("pool", "Pool", Unit::Text),
                column("manager", "Manager", Unit::Text),
                column("collections", "Collections", Unit::Count),
                column("used_before_bytes", "Before", Unit::Bytes),
                column("used_after_bytes", "After", Unit::Bytes),
                column("committed_bytes", "Committed", Unit::Bytes),
                column("max_bytes", "Max", Unit::Bytes),
                column("freed_bytes", "Freed", Unit::Bytes),
                column("grown_bytes", "Grown", Unit::Bytes),
                column("grown_ns", "Grown in", Unit::Ns),
                column("fell", "Fell", Unit::Count),
            ],
            |pool| pool.freed_bytes,
            |(pool, manager)| vec![pool.into(), manager.into()],
            |pool| {
                vec![
                    pool.collections.into(),
                    pool.used_before_bytes.into(),
                    pool.used_after_bytes.into(),
                    pool.committed_bytes.into(),
                    pool.max_bytes.into(),
                    pool.freed_bytes.into(),
                    pool.grown().map(|(bytes, _)| bytes).into(),
                    pool.grown().map(|(_, ns)| ns).into(),
                    pool.fell.into(),
                ]
            },
        )
    }
}

/// A memory pool under one manager. The states are those of the last collection.
#[derive(Clone, Copy, Debug, Default)]
struct Pool {
    begun: u64,
    collections: u64,
    pending_before: Option<u64>,
    used_before_bytes: Option<u64>,
    used_after_bytes: Option<u64>,
    committed_bytes: Option<u64>,
    max_bytes: Option<u64>,
    freed_bytes: u64,
    /// When the first collection ended, and what was in use then.
    first: Option<(u64, u64)>,
    /// When the last one did.
    last_ns: u64,
    /// Collections after which clearly less was in use than after the one before.
    fell: u64,
}

impl Merge for Pool {
    /// Only totals add up: states of different pools do not.
    fn merge(&mut self, other: &Self) {
        self.begun += other.begun;
        self.collections += other.collections;
        self.freed_bytes = self.freed_bytes.saturating_add(other.freed_bytes);
        self.used_before_bytes = other.used_before_bytes;
        self.used_after_bytes = other.used_after_bytes;
        self.committed_bytes = other.committed_bytes;
        self.max_bytes = other.max_bytes;
        self.first = other.first;
        self.last_ns = other.last_ns;
        self.fell = self.fell.saturating_add(other.fell);
    }
}

impl Pool {
    fn before(&mut self, used_bytes: u64) {
        self.begun += 1;
        self.pending_before = Some(used_bytes);
        self.used_before_bytes = Some(used_bytes);
    }

    /// By how much more is in use after the last collection than after the first, and the time between them.
    fn grown(&self) -> Option<(u64, u64)> {
        let (begin_ns, used) = self.first?;
        Some((self.used_after_bytes?.checked_sub(used)?, self.last_ns.saturating_sub(begin_ns)))
    }

    fn after(&mut self, time_ns: u64, State { used_bytes, committed_bytes, max_bytes }: State) {
        self.collections += 1;
        // A fiftieth is the rounding to regions, and what was promoted too early.
        let fell = self.used_after_bytes.is_some_and(|before| used_bytes < before - before / 50);
        self.fell += u64::from(fell);
        self.first.get_or_insert((time_ns, used_bytes));
        self.last_ns = time_ns;
        self.used_after_bytes = Some(used_bytes);
        self.committed_bytes = Some(committed_bytes);
        self.max_bytes = (max_bytes != u64::MAX).then_some(max_bytes);
        // Freed only where this collection's own beginning was seen; a pool that grew freed nothing.
        let freed = self.pending_before.take().map_or(0, |before| before.saturating_sub(used_bytes));
        self.freed_bytes = self.freed_bytes.saturating_add(freed);
    }
}

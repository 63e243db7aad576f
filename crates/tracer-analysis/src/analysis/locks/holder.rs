//! Who held the monitors that threads waited for, and what holders did meanwhile. Events tell it in part only:
//!
//! - A thread that leaves a monitor while others wait (`contended__exit`) has held it until then: their waiting since the
//!   monitor last changed hands was for this thread. The JVM leaves this event out where a waiter is awake already.
//! - Entering or leaving a monitor that nobody waits for is no event at all.

use super::super::{
    Context,
    distribution::Durations,
    ended::EndedThreads,
    site,
    table::{FastMap, Keyed, Merge, column},
};
use crate::{
    event::{Event, NameId, StackId, Tid},
    report::{Cell, Shape, Unit},
    text::format,
};

/// Most monitors that threads wait for and whose holders are followed.
const MONITORS: usize = 16_384;
/// Most threads that wait for one monitor and are followed.
const WAITERS: usize = 1024;
/// Most threads whose last rest is remembered.
const THREADS: usize = 65_536;
/// Most rows of either table.
const ROWS: usize = 16_384;

/// What a thread did while it did not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Doing {
    /// It was blocked on a monitor.
    Blocked { monitor: u64, class: NameId },
    /// It was in `Object.wait`.
    Waiting { monitor: u64, class: NameId },
    /// It was parked.
    Parked,
    /// It was in `Thread.sleep`.
    Asleep,
}

impl Doing {
    /// As a table says it.
    pub(super) fn text(self, context: Context<'_>) -> String {
        match self {
            Self::Blocked { class, .. } => format!("blocked on {}", context.names.class(class)),
            Self::Waiting { class, .. } => format!("waiting in {}", context.names.class(class)),
            Self::Parked => "parked".to_owned(),
            Self::Asleep => "asleep".to_owned(),
        }
    }
}

/// A stretch of time in which a thread did not run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stretch {
    pub(super) begin_ns: u64,
    pub(super) end_ns: u64,
    pub(super) stack: StackId,
    pub(super) doing: Doing,
}

/// What is known of a monitor.
#[derive(Clone, Debug, Default)]
struct Monitor {
    /// There are some.
    waiters: Vec<(Tid, u64)>,
    /// When it last was seen to change hands.
    changed_ns: u64,
}

/// What waiting for one holder came to.
#[derive(Clone, Copy, Debug, Default)]
struct Held {
    handovers: u64,
    blocked_ns: u64,
    waiters: u64,
}

impl Merge for Held {
    fn merge(&mut self, other: &Self) {
        self.handovers += other.handovers;
        self.blocked_ns = self.blocked_ns.saturating_add(other.blocked_ns);
        self.waiters = self.waiters.max(other.waiters);
    }
}

/// Monitors and their holders.
#[derive(Debug)]
pub(super) struct Holders {
    monitors: FastMap<u64, Monitor>,
    /// The monitor that each waiting thread waits for.
    waiting: FastMap<Tid, u64>,
    turned_away: u64,
    rests: FastMap<Tid, Stretch>,
    held: Keyed<(NameId, Tid, StackId), Held>,
    chains: Keyed<(NameId, Doing, StackId), Durations>,
    known_ns: u64,
}

impl Default for Holders {
    fn default() -> Self {
        Self {
            monitors: FastMap::default(),
            waiting: FastMap::default(),
            turned_away: 0,
            rests: FastMap::default(),
            held: Keyed::new(ROWS),
            chains: Keyed::new(ROWS),
            known_ns: 0,
        }
    }
}

impl Holders {
    /// A thread begins to wait for a monitor.
    pub(super) fn waits(&mut self, tid: Tid, address: u64, time_ns: u64) {
        self.runs(tid);
        let Some(monitor) = self.monitor(address) else { return };
        if monitor.waiters.len() < WAITERS {
            monitor.waiters.push((tid, time_ns));
            self.waiting.insert(tid, address);
        }
    }

    /// A thread does something that a thread cannot do that waits for a monitor: if it did, the event of its getting it is
    /// lost.
    pub(super) fn runs(&mut self, tid: Tid) {
        if self.waiting.is_empty() {
            return;
        }
        let Some(address) = self.waiting.remove(&tid) else { return };
        let Some(monitor) = self.monitors.get_mut(&address) else { return };
        monitor.waiters.retain(|(waiter, _)| *waiter != tid);
        // Whoever waits for it next began later than it changed hands.
        if monitor.waiters.is_empty() {
            self.monitors.remove(&address);
        }
    }

    /// A thread that waited has got the monitor.
    pub(super) fn entered(&mut self, event: &Event, monitor: u64) {
        self.runs(event.tid);
        if let Some(monitor) = self.monitors.get_mut(&monitor) {
            monitor.changed_ns = event.time_ns;
        }
    }

    /// A thread leaves the monitor that others wait for.
    pub(super) fn exit(&mut self, event: &Event, address: u64, class: NameId) {
        let Event { time_ns, tid, stack, .. } = *event;
        self.runs(tid);
        let rest = self.rests.get(&tid).copied();
        let Some(monitor) = self.monitors.get_mut(&address) else { return };
        let changed_ns = monitor.changed_ns;
        monitor.changed_ns = time_ns;
        let (mut blocked_ns, mut indirect_ns) = (0_u64, 0_u64);
        for (_, since_ns) in &monitor.waiters {
            let from_ns = (*since_ns).max(changed_ns);
            blocked_ns = blocked_ns.saturating_add(time_ns.saturating_sub(from_ns));
            if let Some(rest) = rest {
                let overlap = rest.end_ns.min(time_ns).saturating_sub(rest.begin_ns.max(from_ns));
                indirect_ns = indirect_ns.saturating_add(overlap);
            }
        }
        let waiters = monitor.waiters.len() as u64;
        self.known_ns = self.known_ns.saturating_add(blocked_ns);
        self.held.entry((class, tid, stack)).merge(&Held { handovers: 1, blocked_ns, waiters });
        if let Some(Stretch { doing, stack, .. }) = rest
            && indirect_ns > 0
            // Whoever waits for, or in, this monitor does not hold it.
            && !matches!(doing, Doing::Blocked { monitor, .. } | Doing::Waiting { monitor, .. } if monitor == address)
        {
            self.chains.entry((class, doing, stack)).record(indirect_ns);
        }
    }

    /// A thread did not run for a while.
    pub(super) fn rested(&mut self, tid: Tid, stretch: Stretch) {
        if self.rests.len() < THREADS || self.rests.contains_key(&tid) {
            self.rests.insert(tid, stretch);
        }
    }

    /// A thread is gone.
    pub(super) fn stops(&mut self, tid: Tid) {
        self.runs(tid);
        self.rests.remove(&tid);
    }

    /// Threads that ended are one, where there are many.
    pub(super) fn sum_up(&mut self, ended: &EndedThreads) {
        self.held.sum_up(ended);
        self.rests.retain(|tid, _| !ended.contains(*tid));
    }

    /// Blocked time whose cause is known: that of threads that were seen to leave while others waited.
    pub(super) const fn known_ns(&self) -> u64 {
        self.known_ns
    }

    /// Sentences about how holders are known.
    pub(super) fn notes(&self, contended_enters: u64) -> Vec<String> {
        let mut notes = Vec::new();
        if contended_enters > 0 {
            notes.push(format!(
                "Holders are known where they were seen to leave a monitor while others waited: {} of blocked time. \
                 Entering and leaving a monitor that nobody waits for is no event.",
                format::duration(self.known_ns)
            ));
        }
        if self.turned_away > 0 {
            notes.push(format!(
                "Holders were followed for {MONITORS} monitors at a time; {} waits for others say nothing of their \
                 holders.",
                self.turned_away
            ));
        }
        notes.extend(self.held.note("combinations of class, holder and stack"));
        notes.extend(self.chains.note("combinations of class and what its holder did"));
        notes
    }

    /// Who was waited for.
    pub(super) fn holders_table(&self, context: Context<'_>) -> Shape {
        let label = |(class, tid, stack): &(NameId, Tid, StackId)| {
            let site = site::label(context.stacks, *stack);
            Some((context.names.thread(*tid), *tid, context.names.class(*class), site))
        };
        self.held.grouped(label).table(
            "holders",
            "Threads that were waited for, as they left the monitor",
            vec![
                column("holder", "Holder", Unit::Text),
                column("tid", "Thread id", Unit::Count),
                column("class", "Class", Unit::Text),
                column("site", "Place", Unit::Text),
                column("blocked_ns", "Blocked others", Unit::Ns),
                column("handovers", "Times", Unit::Count),
                column("waiters", "Most waiting", Unit::Count),
            ],
            |held| held.blocked_ns,
            |(name, tid, class, site)| vec![name.into(), u64::from(tid.0).into(), class.into(), site.into()],
            |held| vec![held.blocked_ns.into(), held.handovers.into(), held.waiters.into()],
        )
    }

    /// What holders did instead of running while others waited for them.
    pub(super) fn chains_table(&self, context: Context<'_>) -> Shape {
        let label = |(class, doing, stack): &(NameId, Doing, StackId)| {
            let site = (site::label(context.stacks, *stack), site::callers(context.stacks, *stack));
            Some((context.names.class(*class), doing.text(context), site))
        };
        self.chains.grouped(label).table(
            "chains",
            "Waiting for holders that waited themselves",
            vec![
                column("class", "Class", Unit::Text),
                column("holder_was", "Holder was", Unit::Text),
                column("site", "Place", Unit::Text),
                column("callers", "From", Unit::Text),
                column("count", "Times", Unit::Count),
                column("total_ns", "Blocked meanwhile", Unit::Ns),
                column("max_ns", "Max", Unit::Ns),
            ],
            |durations| durations.total_ns,
            |(class, doing, (site, callers))| {
                vec![class.into(), doing.into(), site.into(), callers.map_or(Cell::Missing, Into::into)]
            },
            |durations| vec![durations.count.into(), durations.total_ns.into(), durations.max_ns.into()],
        )
    }

    fn monitor(&mut self, address: u64) -> Option<&mut Monitor> {
        if self.monitors.len() >= MONITORS && !self.monitors.contains_key(&address) {
            self.turned_away += 1;
            return None;
        }
        Some(self.monitors.entry(address).or_default())
    }
}

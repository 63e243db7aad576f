//! The order in which threads take monitors. One that takes A and then B, and another one that takes B and then A, block each
//! other for ever as soon as they come at the same time, even if they did not this time.
//!
//! Events tell of contended monitors alone, so that a thread holds a monitor is known when another one finds it taken. From
//! then on it is held until its holder leaves it, waits in it, or another thread gets it. That the holder took a second one
//! meanwhile is believed when it got that one and the first was still held, or when it never did.

use std::collections::BTreeMap;

use super::super::{
    Context, site,
    table::{FastMap, column},
};
use crate::{
    event::{Event, Holder, MonitorAction, NameId, Payload, StackId, Tid},
    report::{Cell, Shape, Table, Unit},
};

/// Most monitors that are known to be held, most threads that are followed as blocked.
const HELD: usize = 16_384;

/// Most pairs of monitors.
const PAIRS: usize = 16_384;

/// Most rows.
const SHOWN: usize = 100;

/// A thread that is blocked on a monitor, and where.
#[derive(Clone, Copy, Debug)]
struct Wanted {
    monitor: u64,
    class: NameId,
    stack: StackId,
}

/// A thread that took the second of two monitors while it held the first.
#[derive(Clone, Copy, Debug)]
struct Taken {
    tid: Tid,
    stack: StackId,
    classes: [NameId; 2],
}

/// Who took two monitors in an order: two threads tell whether it were different ones.
#[derive(Clone, Debug)]
struct Takers {
    first: Taken,
    other: Option<Taken>,
    count: u64,
}

/// Pairs of monitors, the one that was held first.
type Pairs = BTreeMap<(u64, u64), Takers>;

/// The fold.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct Order {
    /// Who holds a monitor, as far as others met her there.
    held: FastMap<u64, (Tid, NameId)>,
    blocked: FastMap<Tid, Wanted>,
    pairs: Pairs,
    full: bool,
}

impl Order {
    /// Takes an event; most are none of its.
    pub(in super::super) fn event(&mut self, event: &Event) {
        match event.payload {
            Payload::Monitor { action, monitor, class } => self.monitor(event, action, monitor, class),
            Payload::MonitorBlocked { monitor, class, holder } => self.met(event.tid, monitor, class, holder),
            Payload::Thread { edge: crate::event::Edge::End, .. } => {
                self.blocked.remove(&event.tid);
                self.held.retain(|_, (holder, _)| *holder != event.tid);
            }
            _ => {}
        }
    }

    fn monitor(&mut self, event: &Event, action: MonitorAction, monitor: u64, class: NameId) {
        let tid = event.tid;
        match action {
            MonitorAction::ContendedEnter { holder } => {
                self.met(tid, monitor, class, holder);
                if self.blocked.len() < HELD {
                    self.blocked.insert(tid, Wanted { monitor, class, stack: event.stack });
                }
            }
            MonitorAction::ContendedEntered => {
                // Whoever held it has left it.
                self.held.remove(&monitor);
                if let Some(wanted) = self.blocked.remove(&tid).filter(|wanted| wanted.monitor == monitor) {
                    self.full |= !took(&mut self.pairs, &self.held, tid, wanted);
                }
            }
            MonitorAction::ContendedExit | MonitorAction::Wait { .. } => {
                self.held.remove(&monitor);
            }
            MonitorAction::Notify | MonitorAction::NotifyAll | MonitorAction::Waited => {}
        }
    }

    /// A thread has met another one in a monitor.
    fn met(&mut self, tid: Tid, monitor: u64, class: NameId, holder: Holder) {
        let Some(holder) = holder.thread().filter(|holder| *holder != tid) else { return };
        if self.held.len() < HELD || self.held.contains_key(&monitor) {
            self.held.insert(monitor, (holder, class));
        }
    }

    /// Monitors that different threads took in both orders, the most frequent first; nothing where there are none.
    pub(in super::super) fn table(&self, context: Context<'_>) -> Option<Shape> {
        let mut pairs = self.pairs.clone();
        for (tid, wanted) in &self.blocked {
            // Who is blocked still has not left what it holds.
            took(&mut pairs, &self.held, *tid, *wanted);
        }
        let mut found: Vec<(u64, [(u64, Taken); 2])> = Vec::new();
        for ((first, second), one) in pairs.range((0, 0)..).filter(|((first, second), _)| first < second) {
            let Some(other) = pairs.get(&(*second, *first)) else { continue };
            if let Some((taken, back)) = different(one, other) {
                found.push((one.count.saturating_add(other.count), [(*first, taken), (*second, back)]));
            }
        }
        found.sort_by_key(|(count, sides)| (std::cmp::Reverse(*count), sides.map(|(monitor, _)| monitor)));
        let mut rows: Vec<Vec<Cell>> = Vec::new();
        for (number, (count, sides)) in (1_u64..).zip(found).take(SHOWN) {
            let [first, second] = sides.map(|(monitor, _)| monitor);
            rows.extend(sides.into_iter().map(|(held, Taken { tid, stack, classes: [class, wanted_class] })| {
                vec![
                    number.into(),
                    context.names.thread(tid).into(),
                    u64::from(tid.0).into(),
                    context.names.class(class).into(),
                    held.into(),
                    context.names.class(wanted_class).into(),
                    (if held == first { second } else { first }).into(),
                    site::label(context.stacks, stack).into(),
                    count.into(),
                ]
            }));
        }
        let columns = vec![
            column("pair", "Pair", Unit::Count),
            column("thread", "Thread", Unit::Text),
            column("tid", "Thread id", Unit::Count),
            column("held_class", "Held", Unit::Text),
            column("held", "Its monitor", Unit::Address),
            column("taken_class", "And took", Unit::Text),
            column("taken", "Its monitor", Unit::Address),
            column("site", "Place", Unit::Text),
            column("count", "Seen", Unit::Count),
        ];
        let title = "Monitors that threads took in both orders".to_owned();
        (!rows.is_empty()).then_some(Shape::Table(Table { id: "lock_order", title, columns, rows }))
    }

    /// What the table cannot say.
    pub(in super::super) fn note(&self) -> Option<String> {
        self.full.then(|| format!("Orders of monitors: only {PAIRS} pairs were told apart."))
    }
}

/// A thread took a monitor while it held these; whether there was room for all.
fn took(pairs: &mut Pairs, held: &FastMap<u64, (Tid, NameId)>, tid: Tid, wanted: Wanted) -> bool {
    let mut room = true;
    for (monitor, (_, class)) in
        held.iter().filter(|(monitor, (holder, _))| *holder == tid && **monitor != wanted.monitor)
    {
        let taken = Taken { tid, stack: wanted.stack, classes: [*class, wanted.class] };
        let key = (*monitor, wanted.monitor);
        if let Some(takers) = pairs.get_mut(&key) {
            takers.count = takers.count.saturating_add(1);
            if takers.first.tid != tid {
                takers.other.get_or_insert(taken);
            }
        } else if pairs.len() < PAIRS {
            pairs.insert(key, Takers { first: taken, other: None, count: 1 });
        } else {
            room = false;
        }
    }
    room
}

/// A thread of each order, if they are not the same one.
fn different(one: &Takers, other: &Takers) -> Option<(Taken, Taken)> {
    let of = |takers: &Takers| std::iter::once(takers.first).chain(takers.other).collect::<Vec<_>>();
    let others = of(other);
    of(one).into_iter().find_map(|one| others.iter().find(|other| other.tid != one.tid).map(|other| (one, *other)))
}

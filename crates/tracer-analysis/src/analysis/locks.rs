//! Lens `locks`: threads that block on contended monitors, wait in monitors, notify them, and, apart from these, park.
//!
//! A thread is blocked from `contended__enter` to `contended__entered`. Threads that are still blocked at the end of the
//! span have no second edge: their time up to the end of the span is in `blocked_open_ns` and nowhere else. Who held what
//! they waited for is in `owned` and `holder`, who waits for whom in `looks` and `deadlock`.

mod deadlock;
mod holder;
mod lent;
mod looks;
mod owned;
mod rows;
mod section;
mod table;

use super::{
    Analysis, Context, Lens, Scaled,
    distribution::{Durations, Latencies},
    ended::EndedThreads,
    pairing::Open,
    profile::Amounts,
    protocols::order::Order,
    scaled::scaled,
    steps::Steps,
    table::{FastSet, Keyed},
};
use crate::{
    event::{Edge, Event, Holder, MonitorAction, NameId, NoHolder, Payload, StackId, Tid},
    item::GuardAction,
    report::{Section, TableSteps},
};
use holder::{Doing, Holders, Stretch};
use lent::Lent;
use looks::Looks;
use owned::{Holding, Was};
use rows::{Monitor, TimedRows, Waits};

/// Most monitors, classes and threads with rows of their own.
const ROWS: usize = 4096;
/// Most pairs of class and stack with times of their own.
const STACKS: usize = 65_536;
/// Most pairs of monitor and thread that are told apart when a monitor's threads are counted.
const MONITOR_THREADS: usize = 32_768;

/// The analysis.
#[derive(Debug)]
pub struct Locks {
    blocked: Open<Blocked>,
    waiting: Open<Blocked>,
    parked: Open<(u64, StackId)>,
    sleeping: Open<(u64, StackId)>,
    contended_enters: u64,
    waits: u64,
    notifies: u64,
    parks: u64,
    unparks: u64,
    blocked_latencies: Latencies,
    wait_latencies: Latencies,
    park_latencies: Latencies,
    monitors: Keyed<(NameId, u64), Monitor>,
    seen: FastSet<(u64, Tid)>,
    /// Whether there were more of these at a time than are told apart.
    some_unseen: bool,
    threads: Keyed<Tid, Durations>,
    parks_by_thread: Keyed<Tid, Durations>,
    waits_by_class: Keyed<NameId, Waits>,
    waiters: Keyed<(NameId, StackId), Durations>,
    blocked_stacks: Amounts,
    wait_stacks: Amounts,
    park_stacks: Amounts,
    holders: Holders,
    holding: Holding,
    looks: Looks,
    lent: Lent,
    order: Order,
    steps: Steps<1>,
    timed: TimedRows,
}

/// A thread in a monitor since some time.
#[derive(Clone, Copy, Debug)]
struct Blocked {
    time_ns: u64,
    monitor: u64,
    class: NameId,
    stack: StackId,
    /// Who held the monitor then.
    holder: Holder,
    was: Was,
}

impl Default for Locks {
    fn default() -> Self {
        Self {
            blocked: Open::default(),
            waiting: Open::default(),
            parked: Open::default(),
            sleeping: Open::default(),
            contended_enters: 0,
            waits: 0,
            notifies: 0,
            parks: 0,
            unparks: 0,
            blocked_latencies: Latencies::default(),
            wait_latencies: Latencies::default(),
            park_latencies: Latencies::default(),
            monitors: Keyed::new(ROWS),
            seen: FastSet::default(),
            some_unseen: false,
            threads: Keyed::new(ROWS),
            parks_by_thread: Keyed::new(ROWS),
            waits_by_class: Keyed::new(ROWS),
            waiters: Keyed::new(STACKS),
            blocked_stacks: Amounts::default(),
            wait_stacks: Amounts::default(),
            park_stacks: Amounts::default(),
            holders: Holders::default(),
            holding: Holding::default(),
            looks: Looks::default(),
            lent: Lent::default(),
            order: Order::default(),
            steps: Steps::default(),
            timed: TimedRows::default(),
        }
    }
}

impl Locks {
    fn monitor(&mut self, event: &Event, action: MonitorAction, monitor: u64, class: NameId) {
        let Event { time_ns, tid, stack, .. } = *event;
        let blocked = |holder, was| Blocked { time_ns, monitor, class, stack, holder, was };
        match action {
            MonitorAction::ContendedEnter { holder } => {
                let was = holder.thread().and_then(|holder| self.resting(holder));
                self.enter(tid, blocked(holder, was));
            }
            MonitorAction::ContendedEntered => self.entered(event, monitor, class),
            MonitorAction::ContendedExit => self.holders.exit(event, monitor, class),
            MonitorAction::Notify | MonitorAction::NotifyAll => {
                self.notifies += 1;
                self.waits_by_class.entry(class).notifies += 1;
                self.lent.wakes(monitor, stack);
                self.holders.runs(event.tid);
            }
            MonitorAction::Wait { timeout_ms: _ } => {
                self.waits += 1;
                self.waits_by_class.entry(class).begun += 1;
                self.timed.waits.count(class, time_ns, 1);
                self.holders.runs(tid);
                self.lent.waits(monitor, stack);
                self.waiting.begin(tid, blocked(Holder::Unknown(NoHolder::Nobody), None));
            }
            MonitorAction::Waited => self.waited(event, monitor),
        }
    }

    /// What a thread does that does not run, as far as events tell.
    fn resting(&self, tid: Tid) -> Was {
        let of = |open: &Blocked, doing: fn(u64, NameId) -> Doing| (doing(open.monitor, open.class), open.stack);
        let blocked = || self.blocked.get(tid).map(|open| of(open, |monitor, class| Doing::Blocked { monitor, class }));
        let waiting = || self.waiting.get(tid).map(|open| of(open, |monitor, class| Doing::Waiting { monitor, class }));
        let parked = || self.parked.get(tid).map(|(_, stack)| (Doing::Parked, *stack));
        let asleep = || self.sleeping.get(tid).map(|(_, stack)| (Doing::Asleep, *stack));
        blocked().or_else(waiting).or_else(parked).or_else(asleep)
    }

    fn enter(&mut self, tid: Tid, blocked: Blocked) {
        self.contended_enters += 1;
        let key = (blocked.monitor, tid);
        let is_full = self.seen.len() >= MONITOR_THREADS;
        self.some_unseen |= is_full && !self.seen.contains(&key);
        let new = !is_full && self.seen.insert(key);
        let row = self.monitors.entry((blocked.class, blocked.monitor));
        row.enters += 1;
        self.timed.monitors.count((blocked.class, blocked.monitor), blocked.time_ns, 1);
        row.threads += u64::from(new);
        self.holders.waits(tid, blocked.monitor, blocked.time_ns);
        self.holding.enters(&blocked);
        self.blocked.begin(tid, blocked);
    }

    fn entered(&mut self, event: &Event, monitor: u64, class: NameId) {
        let begun = self.blocked.end(event.tid, |begun| begun.monitor == monitor);
        self.holders.entered(event, monitor);
        let Some(begun) = begun else { return };
        let ns = event.time_ns.saturating_sub(begun.time_ns);
        self.blocked_latencies.record(ns);
        self.holding.entered(&begun, ns);
        self.monitors.entry((class, monitor)).durations.record(ns);
        self.threads.entry(event.tid).record(ns);
        self.waiters.entry((class, begun.stack)).record(ns);
        self.timed.monitors.stretch((class, monitor), begun.time_ns, event.time_ns);
        self.timed.threads.record(event.tid, begun.time_ns, event.time_ns);
        self.timed.waiters.record((class, begun.stack), begun.time_ns, event.time_ns);
        self.blocked_stacks.add_stretch(begun.stack, event.tid, begun.time_ns, event.time_ns);
        self.steps.add_stretch(0, begun.time_ns, event.time_ns);
        self.rested(event, begun.time_ns, begun.stack, Doing::Blocked { monitor, class });
    }

    fn waited(&mut self, event: &Event, monitor: u64) {
        let begun = self.waiting.end(event.tid, |begun| begun.monitor == monitor);
        self.holders.runs(event.tid);
        let Some(begun) = begun else { return };
        let ns = event.time_ns.saturating_sub(begun.time_ns);
        self.wait_latencies.record(ns);
        self.lent.waited(monitor, begun.stack, ns);
        self.waits_by_class.entry(begun.class).durations.record(ns);
        self.timed.waits.stretch(begun.class, begun.time_ns, event.time_ns);
        self.wait_stacks.add_stretch(begun.stack, event.tid, begun.time_ns, event.time_ns);
        self.rested(event, begun.time_ns, begun.stack, Doing::Waiting { monitor, class: begun.class });
    }

    fn park_end(&mut self, event: &Event, parker: u64) {
        let Some((begin_ns, stack)) = self.parked.end(event.tid, |_| true) else { return };
        let ns = event.time_ns.saturating_sub(begin_ns);
        self.park_latencies.record(ns);
        self.lent.waited(parker, stack, ns);
        self.parks_by_thread.entry(event.tid).record(ns);
        self.timed.parks.record(event.tid, begin_ns, event.time_ns);
        self.park_stacks.add_stretch(stack, event.tid, begin_ns, event.time_ns);
        self.rested(event, begin_ns, stack, Doing::Parked);
    }

    /// Sleeping is shown by the lens `threads`; here it matters as what the holder of a monitor did.
    fn sleep(&mut self, event: &Event, edge: Edge) {
        match edge {
            Edge::Begin => {
                self.sleeping.begin(event.tid, (event.time_ns, event.stack));
                self.holders.runs(event.tid);
            }
            Edge::End => {
                if let Some((begin_ns, stack)) = self.sleeping.end(event.tid, |_| true) {
                    self.rested(event, begin_ns, stack, Doing::Asleep);
                }
            }
        }
    }

    fn rested(&mut self, event: &Event, begin_ns: u64, stack: StackId, doing: Doing) {
        self.holders.rested(event.tid, Stretch { begin_ns, end_ns: event.time_ns, stack, doing });
    }
}

impl Analysis for Locks {
    fn lens(&self) -> Lens {
        Lens::Locks
    }

    fn threads_ended(&mut self, ended: &EndedThreads) {
        for stacks in [&mut self.blocked_stacks, &mut self.wait_stacks, &mut self.park_stacks] {
            stacks.sum_up(ended);
        }
        self.threads.sum_up(ended);
        self.holders.sum_up(ended);
        self.holding.sum_up(ended);
        self.seen.retain(|(_, tid)| !ended.contains(*tid));
        self.parks_by_thread.sum_up(ended);
    }

    fn start(&mut self, start_ns: u64) {
        self.steps.start(start_ns);
        self.timed.start(start_ns);
        for stacks in [&mut self.blocked_stacks, &mut self.wait_stacks, &mut self.park_stacks] {
            stacks.start(start_ns);
        }
    }

    fn event(&mut self, event: &Event) {
        if matches!(
            event.payload,
            Payload::Monitor { .. }
                | Payload::ParkBegin { .. }
                | Payload::ParkEnd { .. }
                | Payload::Unpark { .. }
                | Payload::Sleep { .. }
                | Payload::Thread { .. }
        ) {
            self.looks.moves(event.tid, event.time_ns);
        }
        self.order.event(event);
        match event.payload {
            Payload::MonitorBlocked { monitor, class, holder } => self.looks.blocked(event, monitor, class, holder),
            Payload::MonitorLook { .. } => self.looks.looked(event.time_ns),
            Payload::Monitor { action, monitor, class } => self.monitor(event, action, monitor, class),
            Payload::ParkBegin { parker, .. } => {
                self.parks += 1;
                self.lent.waits(parker, event.stack);
                self.parked.begin(event.tid, (event.time_ns, event.stack));
                self.holders.runs(event.tid);
            }
            Payload::ParkEnd { parker } => self.park_end(event, parker),
            Payload::Unpark { parker } => {
                self.unparks += 1;
                self.lent.wakes(parker, event.stack);
                self.holders.runs(event.tid);
            }
            Payload::Sleep { edge, .. } => self.sleep(event, edge),
            // A thread that stops is in no monitor any more, and its id will be given to another thread.
            Payload::Thread { edge: Edge::End, .. } => {
                self.blocked.forget(event.tid);
                self.waiting.forget(event.tid);
                self.parked.forget(event.tid);
                self.sleeping.forget(event.tid);
                self.holders.stops(event.tid);
            }
            _ => {}
        }
    }

    fn guard(&mut self, action: &GuardAction) {
        if let Some(one_in) = action.stacks_of() {
            match action.group.as_str() {
                "contended" => self.blocked_stacks.fewer(one_in),
                "wait" => self.wait_stacks.fewer(one_in),
                "park" => self.park_stacks.fewer(one_in),
                _ => {}
            }
        }
        if !action.hides_ends() {
            return;
        }
        match action.group.as_str() {
            "contended" => self.blocked.cut_all(),
            "wait" => self.waiting.cut_all(),
            "park" => self.parked.cut_all(),
            "sleep" => self.sleeping.cut_all(),
            _ => {}
        }
    }

    fn scaled(&self, group: &str) -> Vec<Scaled> {
        match group {
            "contended" => vec![scaled!("contended_enters", "contended enters", self.contended_enters)],
            "wait" => vec![scaled!("waits", "waits", self.waits)],
            "notify" => vec![scaled!("notifies", "notifications", self.notifies)],
            "park" => vec![scaled!("parks", "parks", self.parks)],
            "unpark" => vec![scaled!("unparks", "unparks", self.unparks)],
            _ => Vec::new(),
        }
    }

    fn shows(&self, group: &str, shape: &str) -> bool {
        match shape {
            "waits" | "wait_times" | "wait_stacks" => matches!(group, "wait" | "notify"),
            "parks" | "park_times" | "park_stacks" | "lent" => group == "park",
            _ => group == "contended",
        }
    }

    fn table_steps(&self, context: Context<'_>) -> Vec<TableSteps> {
        table::steps(&self.timed, context)
    }

    fn section(&self, context: Context<'_>) -> Section {
        self.shown(context)
    }
}

#[cfg(test)]
mod tests;

//! The section of the lens `locks`: its numbers, its tables and what must be said of them.

use super::{
    super::{Context, Lens},
    Locks, MONITOR_THREADS, deadlock, table,
};
use crate::{
    report::{Section, Series, Shape, Summary, Timeline, Unit},
    text::format,
};

impl Locks {
    /// What is shown of all of it.
    pub(super) fn shown(&self, context: Context<'_>) -> Section {
        let end_ns = context.span.start_ns.saturating_add(context.span.duration_ns);
        let open_ns =
            self.blocked.iter().fold(0_u64, |sum, (_, open)| sum.saturating_add(end_ns.saturating_sub(open.time_ns)));
        let blocked = self.blocked_latencies.durations;
        let deadlocks = deadlock::Circles::of(&self.looks);
        let summary = Summary::new()
            .int("contended_enters", self.contended_enters)
            .int("blocked_total_ns", blocked.total_ns)
            .int("blocked_max_ns", blocked.max_ns)
            .int("waits", self.waits)
            .int("parks", self.parks)
            .int("park_total_ns", self.park_latencies.durations.total_ns)
            .int("blocked_p99_ns", self.blocked_latencies.percentile(99.0))
            .int("blocked_open_ns", open_ns)
            .int("blocked_open_threads", self.blocked.len())
            .int("wait_total_ns", self.wait_latencies.durations.total_ns)
            .int("notifies", self.notifies)
            .int("unparks", self.unparks)
            .int("park_open_threads", self.parked.len())
            .int("blocked_by_known_ns", self.holders.known_ns())
            .int("enters_with_holder", self.holding.known())
            .int("deadlocked_threads", deadlocks.len());
        // Over time, a thread that is still blocked is not one that runs again.
        let mut steps = self.steps.clone();
        for (_, open) in self.blocked.iter().filter(|(_, open)| open.time_ns < end_ns) {
            // The end of the span itself may be where a further step would begin.
            steps.add_stretch(0, open.time_ns, end_ns - 1);
            steps.add(0, end_ns - 1, 1);
        }
        let (step_ns, [blocked_ns]) = steps.series(context.span);
        let mut shapes = vec![table::monitors(&self.monitors, context), table::classes(&self.monitors, context)];
        shapes.push(table::threads(&self.threads, context, "threads", "Blocked threads"));
        shapes.extend(table::waiters(&self.waiters, context));
        shapes.push(self.holding.table(context));
        shapes.push(self.holders.holders_table(context));
        shapes.push(self.holders.chains_table(context));
        shapes.push(deadlocks.table(&self.blocked, context));
        shapes.extend(self.looks.table(&self.blocked, context));
        shapes.extend(self.order.table(context));
        shapes.extend(self.blocked_latencies.shape("blocked", "Time blocked on a monitor"));
        shapes.push(Shape::Timeline(Timeline {
            id: "blocked_time",
            title: "Blocked time of all threads per step".to_owned(),
            unit: Unit::Ns,
            step_ns,
            levels: false,
            series: vec![Series { key: "blocked_ns", title: "Blocked".to_owned(), values: blocked_ns }],
        }));
        shapes.push(table::waits(&self.waits_by_class, context));
        shapes.extend(self.wait_latencies.shape("wait_times", "Time in Object.wait"));
        shapes.push(table::threads(&self.parks_by_thread, context, "parks", "Parked threads"));
        shapes.extend(self.park_latencies.shape("park_times", "Time parked"));
        let until_end = |begun_ns: u64| end_ns.saturating_sub(begun_ns);
        let parked = self.parked.iter().map(|(_, (begun_ns, stack))| (*stack, until_end(*begun_ns)));
        let waiting = self.waiting.iter().map(|(_, open)| (open.stack, until_end(open.time_ns)));
        shapes.extend(self.lent.table(parked.chain(waiting), context));
        for (stacks, id, title) in [
            (&self.blocked_stacks, "blocked_stacks", "Time blocked on monitors by stack"),
            (&self.wait_stacks, "wait_stacks", "Time in Object.wait by stack"),
            (&self.park_stacks, "park_stacks", "Time parked by stack"),
        ] {
            shapes.extend(stacks.shape(id, title, Unit::Ns, context));
        }
        Section {
            id: Lens::Locks.id(),
            title: "Locks, waits and parking".to_owned(),
            summary,
            notes: self.notes(open_ns),
            shapes,
        }
    }

    fn notes(&self, open_ns: u64) -> Vec<String> {
        let mut notes = Vec::new();
        if self.blocked.len() > 0 {
            notes.push(format!(
                "{} still blocked at the end of the span; the {} up to then are in `blocked_open_ns` and in the timeline, \
                 and in no other number.",
                format::plural(self.blocked.len(), "thread was", "threads were"),
                format::duration(open_ns)
            ));
        }
        notes.extend(self.blocked.unpaired.note("Contended enters"));
        notes.extend(self.waiting.unpaired.note("Waits"));
        notes.extend(self.parked.unpaired.note("Parks"));
        if self.contended_enters > 0 {
            notes.push(
                "A monitor is known by its address, which can serve several objects one after the other.".to_owned(),
            );
        }
        if self.some_unseen {
            notes.push(format!(
                "Numbers of threads are lower bounds: only {MONITOR_THREADS} pairs of monitor and thread were told apart."
            ));
        }
        notes.extend(self.monitors.note("monitors"));
        notes.extend(self.threads.note("blocked threads"));
        notes.extend(self.parks_by_thread.note("parking threads"));
        notes.extend(self.waits_by_class.note("classes with waits"));
        notes.extend(self.waiters.note("pairs of class and stack"));
        for stacks in [&self.blocked_stacks, &self.wait_stacks, &self.park_stacks] {
            notes.extend(stacks.note());
        }
        notes.extend(self.holders.notes(self.contended_enters));
        notes.extend(self.holding.notes());
        notes.extend(self.order.note());
        if self.contended_enters > 0 && self.looks.count() == 0 {
            notes.push("Whether threads are deadlocked is not known: their list could not be looked at.".to_owned());
        }
        notes
    }
}

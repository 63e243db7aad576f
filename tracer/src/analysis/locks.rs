//! Lens `locks`: threads that block on contended monitors, wait in monitors, notify them, and, apart from these, park.
//!
//! A thread is blocked from `contended__enter` to `contended__entered`. Threads that are still blocked at the end of the
//! span have no second edge: their time up to the end of the span is in `blocked_open_ns` and nowhere else.

use super::{
    Analysis, Context, Lens,
    distribution::{Durations, Latencies},
    pairing::Open,
    steps::Steps,
    table::{FastSet, Keyed, Merge, column},
};
use crate::{
    event::{Edge, Event, MonitorAction, NameId, Payload, Tid},
    report::{Column, Section, Series, Shape, Summary, Timeline, Unit, format},
};

/// Most monitors, classes and threads with rows of their own.
const ROWS: usize = 4096;
/// Most pairs of monitor and thread that are told apart when a monitor's threads are counted.
const MONITOR_THREADS: usize = 32_768;

/// The analysis.
#[derive(Debug)]
pub struct Locks {
    blocked: Open<Blocked>,
    waiting: Open<Blocked>,
    parked: Open<u64>,
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
    threads: Keyed<Tid, Durations>,
    parks_by_thread: Keyed<Tid, Durations>,
    waits_by_class: Keyed<NameId, Waits>,
    steps: Steps<1>,
}

/// A thread in a monitor since some time.
#[derive(Clone, Copy, Debug)]
struct Blocked {
    time_ns: u64,
    monitor: u64,
    class: NameId,
}

/// Contention of one monitor, or of all monitors of a class.
#[derive(Clone, Copy, Debug, Default)]
struct Monitor {
    enters: u64,
    durations: Durations,
    threads: u64,
    monitors: u64,
}

impl Merge for Monitor {
    fn merge(&mut self, other: &Self) {
        self.enters += other.enters;
        self.durations.merge(&other.durations);
        self.threads += other.threads;
        self.monitors += other.monitors.max(1);
    }
}

/// Waits and notifications of a class's monitors.
#[derive(Clone, Copy, Debug, Default)]
struct Waits {
    begun: u64,
    durations: Durations,
    notifies: u64,
}

impl Merge for Waits {
    fn merge(&mut self, other: &Self) {
        self.begun += other.begun;
        self.durations.merge(&other.durations);
        self.notifies += other.notifies;
    }
}

impl Default for Locks {
    fn default() -> Self {
        Self {
            blocked: Open::default(),
            waiting: Open::default(),
            parked: Open::default(),
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
            threads: Keyed::new(ROWS),
            parks_by_thread: Keyed::new(ROWS),
            waits_by_class: Keyed::new(ROWS),
            steps: Steps::default(),
        }
    }
}

impl Locks {
    fn monitor(&mut self, event: &Event, action: MonitorAction, monitor: u64, class: NameId) {
        let Event { time_ns, tid, .. } = *event;
        match action {
            MonitorAction::ContendedEnter => self.enter(tid, Blocked { time_ns, monitor, class }),
            MonitorAction::ContendedEntered => self.entered(event, monitor, class),
            MonitorAction::ContendedExit => {}
            MonitorAction::Notify | MonitorAction::NotifyAll => {
                self.notifies += 1;
                self.waits_by_class.entry(class).notifies += 1;
            }
            MonitorAction::Wait { timeout_ms: _ } => {
                self.waits += 1;
                self.waits_by_class.entry(class).begun += 1;
                self.waiting.begin(tid, Blocked { time_ns, monitor, class });
            }
            MonitorAction::Waited => {
                if let Some(begun) = self.waiting.end(tid, |begun| begun.monitor == monitor) {
                    let ns = time_ns.saturating_sub(begun.time_ns);
                    self.wait_latencies.record(ns);
                    self.waits_by_class.entry(begun.class).durations.record(ns);
                }
            }
        }
    }

    fn enter(&mut self, tid: Tid, blocked: Blocked) {
        self.contended_enters += 1;
        let key = (blocked.monitor, tid);
        let new = self.seen.len() < MONITOR_THREADS && self.seen.insert(key);
        let row = self.monitors.entry((blocked.class, blocked.monitor));
        row.enters += 1;
        row.threads += u64::from(new);
        self.blocked.begin(tid, blocked);
    }

    fn entered(&mut self, event: &Event, monitor: u64, class: NameId) {
        let Some(begun) = self.blocked.end(event.tid, |begun| begun.monitor == monitor) else { return };
        let ns = event.time_ns.saturating_sub(begun.time_ns);
        self.blocked_latencies.record(ns);
        self.monitors.entry((class, monitor)).durations.record(ns);
        self.threads.entry(event.tid).record(ns);
        self.steps.add_stretch(0, begun.time_ns, event.time_ns);
    }

    fn park_end(&mut self, event: &Event) {
        if let Some(begin_ns) = self.parked.end(event.tid, |_| true) {
            let ns = event.time_ns.saturating_sub(begin_ns);
            self.park_latencies.record(ns);
            self.parks_by_thread.entry(event.tid).record(ns);
        }
    }

    fn notes(&self, open_ns: u64) -> Vec<String> {
        let mut notes = Vec::new();
        if self.blocked.len() > 0 {
            notes.push(format!(
                "{} still blocked at the end of the span; the {} up to then are in `blocked_open_ns` and in no other \
                 number.",
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
        if self.seen.len() >= MONITOR_THREADS {
            notes.push(format!(
                "Numbers of threads are lower bounds: only {MONITOR_THREADS} pairs of monitor and thread were told apart."
            ));
        }
        notes.extend(self.monitors.note("monitors"));
        notes.extend(self.threads.note("blocked threads"));
        notes.extend(self.parks_by_thread.note("parking threads"));
        notes.extend(self.waits_by_class.note("classes with waits"));
        notes
    }

    fn monitors_table(&self, context: Context<'_>) -> Shape {
        let label = |(class, monitor): &(NameId, u64)| Some((context.names.class(*class), *monitor));
        self.monitors.grouped(label).table(
            "monitors",
            "Contended monitors",
            vec![
                column("class", "Class", Unit::Text),
                column("monitor", "Monitor", Unit::Address),
                column("count", "Enters", Unit::Count),
                column("total_ns", "Blocked", Unit::Ns),
                column("max_ns", "Max", Unit::Ns),
                column("threads", "Threads", Unit::Count),
            ],
            |row| row.durations.total_ns,
            |(class, monitor)| vec![class.into(), monitor.into()],
            |row| {
                let Durations { count: _, total_ns, max_ns } = row.durations;
                vec![row.enters.into(), total_ns.into(), max_ns.into(), row.threads.into()]
            },
        )
    }

    fn classes_table(&self, context: Context<'_>) -> Shape {
        self.monitors.grouped(|(class, _)| Some(context.names.class(*class))).table(
            "classes",
            "Contended monitors by class",
            vec![
                column("class", "Class", Unit::Text),
                column("count", "Enters", Unit::Count),
                column("total_ns", "Blocked", Unit::Ns),
                column("max_ns", "Max", Unit::Ns),
                column("monitors", "Monitors", Unit::Count),
            ],
            |row| row.durations.total_ns,
            |class| vec![class.into()],
            |row| {
                let Durations { count: _, total_ns, max_ns } = row.durations;
                vec![row.enters.into(), total_ns.into(), max_ns.into(), row.monitors.into()]
            },
        )
    }

    fn waits_table(&self, context: Context<'_>) -> Shape {
        self.waits_by_class.grouped(|class| Some(context.names.class(*class))).table(
            "waits",
            "Waits and notifications by class",
            vec![
                column("class", "Class", Unit::Text),
                column("count", "Waits", Unit::Count),
                column("total_ns", "Waited", Unit::Ns),
                column("max_ns", "Max", Unit::Ns),
                column("notifies", "Notifies", Unit::Count),
            ],
            |row| row.durations.total_ns,
            |class| vec![class.into()],
            |row| {
                let Durations { count: _, total_ns, max_ns } = row.durations;
                vec![row.begun.into(), total_ns.into(), max_ns.into(), row.notifies.into()]
            },
        )
    }
}

/// Durations by thread as a table.
fn threads_table(rows: &Keyed<Tid, Durations>, context: Context<'_>, id: &'static str, title: &str) -> Shape {
    let columns: Vec<Column> = vec![
        column("thread", "Thread", Unit::Text),
        column("tid", "Thread id", Unit::Count),
        column("count", "Count", Unit::Count),
        column("total_ns", "Total", Unit::Ns),
        column("max_ns", "Max", Unit::Ns),
    ];
    rows.grouped(|tid| Some((context.names.thread(*tid), *tid))).table(
        id,
        title,
        columns,
        |durations| durations.total_ns,
        |(name, tid)| vec![name.into(), u64::from(tid.0).into()],
        |durations| vec![durations.count.into(), durations.total_ns.into(), durations.max_ns.into()],
    )
}

impl Analysis for Locks {
    fn lens(&self) -> Lens {
        Lens::Locks
    }

    fn start(&mut self, start_ns: u64) {
        self.steps.start(start_ns);
    }

    fn event(&mut self, event: &Event) {
        match event.payload {
            Payload::Monitor { action, monitor, class } => self.monitor(event, action, monitor, class),
            Payload::ParkBegin { .. } => {
                self.parks += 1;
                self.parked.begin(event.tid, event.time_ns);
            }
            Payload::ParkEnd { .. } => self.park_end(event),
            Payload::Unpark { .. } => self.unparks += 1,
            // A thread that stops is in no monitor any more, and its id will be given to another thread.
            Payload::Thread { edge: Edge::End, .. } => {
                self.blocked.forget(event.tid);
                self.waiting.forget(event.tid);
                self.parked.forget(event.tid);
            }
            _ => {}
        }
    }

    fn section(&self, context: Context<'_>) -> Section {
        let end_ns = context.span.start_ns.saturating_add(context.span.duration_ns);
        let open_ns =
            self.blocked.iter().fold(0_u64, |sum, (_, open)| sum.saturating_add(end_ns.saturating_sub(open.time_ns)));
        let blocked = self.blocked_latencies.durations;
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
            .int("park_open_threads", self.parked.len());
        let (step_ns, [stopped]) = self.steps.series(context.span);
        let mut shapes = vec![self.monitors_table(context), self.classes_table(context)];
        shapes.push(threads_table(&self.threads, context, "threads", "Blocked threads"));
        shapes.extend(self.blocked_latencies.shape("blocked", "Time blocked on a monitor"));
        shapes.push(Shape::Timeline(Timeline {
            id: "blocked_time",
            title: "Blocked time of all threads per step".to_owned(),
            unit: Unit::Ns,
            step_ns,
            series: vec![Series { key: "blocked_ns", title: "Blocked".to_owned(), values: stopped }],
        }));
        shapes.push(self.waits_table(context));
        shapes.extend(self.wait_latencies.shape("wait_times", "Time in Object.wait"));
        shapes.push(threads_table(&self.parks_by_thread, context, "parks", "Parked threads"));
        shapes.extend(self.park_latencies.shape("park_times", "Time parked"));
        Section {
            id: Lens::Locks.id(),
            title: "Locks, waits and parking".to_owned(),
            summary,
            notes: self.notes(open_ns),
            shapes,
        }
    }
}

#[cfg(test)]
mod tests;

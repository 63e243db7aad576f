//! Lens `threads`: Java threads that start and stop, grouped by the pattern of their names, sleeping, and what they wait for.
//!
//! Virtual threads have no start event; what they do shows on their carriers. Who started a thread is in `starter`, what
//! it runs in `entry`.

mod collections;
mod crowded;
mod datagrams;
mod entry;
mod executors;
mod initialisers;
mod peers;
mod pools;
mod pressure;
mod queues;
mod reason;
mod starter;
mod starved;
mod taker;
mod unnotified;
mod waiting;

use std::collections::BTreeMap;

use super::{
    Analysis, Context, Lens, Scaled,
    distribution::{Durations, Latencies},
    ended::EndedThreads,
    pairing::Open,
    pattern::{last_number, pattern},
    scaled::scaled,
    site,
    steps::Steps,
    table::{Keyed, Merge, column},
};
use crate::{
    event::{Edge, Event, NameId, Payload, StackId, Tid},
    item::{GuardAction, look::ThreadLook},
    report::{Cell, Section, Series, Shape, Summary, TableSteps, Timeline, Unit},
    stack::Stacks,
};
use entry::Entries;
use pressure::Pressure;
use starter::Starters;
pub use waiting::HAS_ENDED;
use waiting::Waiting;

/// Most names that are told apart before they are grouped.
const NAMES: usize = 16_384;
/// Most threads with a row of their sleeping.
const SLEEPERS: usize = 4096;

/// Most stacks of sleeping threads.
const SLEEP_STACKS: usize = 16_384;

/// The analysis.
#[derive(Debug)]
pub struct Threads {
    started: u64,
    stopped: u64,
    names: Keyed<NameId, Count>,
    entries: Entries,
    starters: Starters,
    sleeping: Open<(u64, StackId)>,
    sleeps: u64,
    interrupted: u64,
    sleep_latencies: Latencies,
    sleepers: Keyed<Tid, Durations>,
    sleep_stacks: Keyed<StackId, Durations>,
    yields: u64,
    steps: Steps<2>,
    waiting: Waiting,
    pressure: Pressure,
}

/// Threads of one name or pattern.
#[derive(Clone, Copy, Debug, Default)]
struct Count {
    started: u64,
    stopped: u64,
    daemons: u64,
}

impl Merge for Count {
    fn merge(&mut self, other: &Self) {
        self.started += other.started;
        self.stopped += other.stopped;
        self.daemons += other.daemons;
    }
}

impl Default for Threads {
    fn default() -> Self {
        Self {
            started: 0,
            stopped: 0,
            names: Keyed::new(NAMES),
            entries: Entries::default(),
            starters: Starters::default(),
            sleeping: Open::default(),
            sleeps: 0,
            interrupted: 0,
            sleep_latencies: Latencies::default(),
            sleepers: Keyed::new(SLEEPERS),
            sleep_stacks: Keyed::new(SLEEP_STACKS),
            yields: 0,
            steps: Steps::default(),
            waiting: Waiting::default(),
            pressure: Pressure::default(),
        }
    }
}

impl Threads {
    fn thread(&mut self, event: &Event, edge: Edge, name: NameId, os_tid: u64, daemon: bool) {
        match edge {
            Edge::Begin => {
                self.started += 1;
                let count = self.names.entry(name);
                count.started += 1;
                count.daemons += u64::from(daemon);
                self.entries.starts(event.tid, name);
                self.starters.started(os_tid);
                self.steps.add(0, event.time_ns, 1);
            }
            Edge::End => {
                self.stopped += 1;
                self.names.entry(name).stopped += 1;
                self.sleeping.forget(event.tid);
                self.entries.stops(event.tid);
                self.starters.stopped(os_tid);
                self.steps.add(1, event.time_ns, 1);
            }
        }
    }

    fn sleep(&mut self, event: &Event, edge: Edge, interrupted: bool) {
        match edge {
            Edge::Begin => {
                self.sleeps += 1;
                self.sleeping.begin(event.tid, (event.time_ns, event.stack));
            }
            Edge::End => {
                self.interrupted += u64::from(interrupted);
                if let Some((begin_ns, stack)) = self.sleeping.end(event.tid, |_| true) {
                    let ns = event.time_ns.saturating_sub(begin_ns);
                    self.sleep_latencies.record(ns);
                    self.sleepers.entry(event.tid).record(ns);
                    self.sleep_stacks.entry(stack).record(ns);
                }
            }
        }
    }

    /// Threads alive at the end of the span, where the JVM said how many there were at its start.
    fn alive(&self, context: Context<'_>) -> Option<u64> {
        context.target.live_threads.map(|live| live.saturating_add(self.started).saturating_sub(self.stopped))
    }

    /// One pool's threads stand under that pool's own pattern (`pool-3-thread-*`) where they are most of what differs in
    /// numbers only; else all pools stand together (`pool-*-thread-*`), as where every request makes a pool of its own.
    fn patterns_table(&self, context: Context<'_>, pools: &BTreeMap<String, Count>) -> Shape {
        let all = self.names.grouped(|name| Some(pattern(&context.names.text(*name)))).rows;
        let threads = |groups: &BTreeMap<String, Count>, of: &str| {
            groups.get(of).map_or(0, |count| count.started.max(count.stopped))
        };
        let label = |name: &NameId| {
            let name = context.names.text(*name);
            let (pool, any) = (last_number(&name), pattern(&name));
            Some(if threads(pools, &pool).saturating_mul(2) >= threads(&all, &any) { pool } else { any })
        };
        self.names.grouped(label).table(
            "patterns",
            "Threads by pattern of their names",
            vec![
                column("pattern", "Names", Unit::Text),
                column("started", "Started", Unit::Count),
                column("stopped", "Stopped", Unit::Count),
                column("alive_change", "Alive, change", Unit::Count),
                column("daemons", "Daemons", Unit::Count),
            ],
            |count| count.started.max(count.stopped),
            |pattern| vec![pattern.into()],
            |count| {
                // Other recorders do not say which are daemons.
                let daemons = context.target.recorder.is_none().then_some(count.daemons);
                vec![count.started.into(), count.stopped.into(), change(*count), daemons.into()]
            },
        )
    }

    fn sleepers_table(&self, context: Context<'_>) -> Shape {
        self.sleepers.grouped(|tid| Some((context.names.thread(*tid), *tid))).table(
            "sleepers",
            "Sleeping threads",
            vec![
                column("thread", "Thread", Unit::Text),
                column("tid", "Thread id", Unit::Count),
                column("count", "Sleeps", Unit::Count),
                column("total_ns", "Total", Unit::Ns),
                column("max_ns", "Max", Unit::Ns),
            ],
            |durations| durations.total_ns,
            |(name, tid)| vec![name.into(), u64::from(tid.0).into()],
            |durations| vec![durations.count.into(), durations.total_ns.into(), durations.max_ns.into()],
        )
    }
}

/// Where threads sleep; nothing where no stack was asked for.
fn sleep_sites(stacks: &Keyed<StackId, Durations>, context: Context<'_>) -> Option<Shape> {
    let table = stacks.grouped(|stack| Some(site::label(context.stacks, *stack))).table(
        "sleep_sites",
        "Places where threads sleep",
        vec![
            column("site", "Place", Unit::Text),
            column("count", "Sleeps", Unit::Count),
            column("total_ns", "Total", Unit::Ns),
            column("max_ns", "Max", Unit::Ns),
        ],
        |durations| durations.total_ns,
        |site| vec![site.into()],
        |durations| vec![durations.count.into(), durations.total_ns.into(), durations.max_ns.into()],
    );
    site::any_asked(stacks.iter().map(|(stack, _)| *stack)).then_some(table)
}

/// Started less stopped; the only amount of this report that can be negative.
fn change(count: Count) -> Cell {
    if count.started >= count.stopped {
        Cell::Int(count.started - count.stopped)
    } else {
        Cell::Float(-((count.stopped - count.started) as f64))
    }
}

impl Analysis for Threads {
    fn lens(&self) -> Lens {
        Lens::Threads
    }

    fn threads_ended(&mut self, ended: &EndedThreads) {
        self.sleepers.sum_up(ended);
        self.starters.sum_up(ended);
    }

    fn start(&mut self, start_ns: u64) {
        self.steps.start(start_ns);
        self.waiting.start(start_ns);
    }

    fn event(&mut self, event: &Event) {
        if !matches!(event.payload, Payload::Thread { .. }) {
            self.entries.event(event);
        }
        match event.payload {
            Payload::Thread { edge, name, daemon, os_tid, java_tid: _ } => {
                self.thread(event, edge, name, os_tid, daemon);
            }
            Payload::ThreadStarting { os_tid } => self.starters.starting(event, os_tid),
            Payload::Sleep { edge, duration_ns: _, interrupted } => self.sleep(event, edge, interrupted),
            Payload::Yield => self.yields += 1,
            _ => {}
        }
    }

    fn look(&mut self, look: &ThreadLook, stacks: &Stacks) {
        self.waiting.look(look, stacks);
        self.pressure.look(look);
    }

    fn guard(&mut self, action: &GuardAction) {
        if !action.hides_ends() {
            return;
        }
        if action.group == "sleep" {
            self.sleeping.cut_all();
        }
    }

    fn scaled(&self, group: &str) -> Vec<Scaled> {
        match group {
            "thread" => vec![
                scaled!("started", "started threads", self.started),
                scaled!("stopped", "stopped threads", self.stopped),
            ],
            "sleep" => vec![scaled!("sleeps", "sleeps", self.sleeps)],
            "yield" => vec![scaled!("yields", "yields", self.yields)],
            _ => Vec::new(),
        }
    }

    fn shows(&self, group: &str, shape: &str) -> bool {
        match shape {
            "sleepers" | "sleep_sites" | "sleep_times" => group == "sleep",
            "waiting" | "executors" | "queues" | "crowded" | "datagrams" | "collections" | "peers"
            | "starved_pools" | "circles" | "unnotified" | "initialisers" | "mapped" | "opened" | "volumes" => false,
            _ => group == "thread",
        }
    }

    fn table_steps(&self, _context: Context<'_>) -> Vec<TableSteps> {
        vec![self.waiting.table_steps()]
    }

    fn section(&self, context: Context<'_>) -> Section {
        let mut summary = Summary::new().int("started", self.started).int("stopped", self.stopped);
        let mut notes = Vec::new();
        if let Some(alive) = self.alive(context) {
            summary = summary.int("alive", alive);
        } else {
            notes.push(
                "How many threads are alive is not known: the JVM did not tell how many there were at the start."
                    .to_owned(),
            );
        }
        let summary = summary
            .int("sleeps", self.sleeps)
            .int("sleep_total_ns", self.sleep_latencies.durations.total_ns)
            .int("sleeps_interrupted", self.interrupted)
            .int("sleeping", self.sleeping.len())
            .int("yields", self.yields)
            .int("started_by_known", self.starters.known());
        let summary = match self.waiting.looks() {
            0 => summary,
            looks => summary
                .int("looks", looks)
                .int("looks_partial", self.waiting.looks_partial())
                .float("waiting_average", self.waiting.average()),
        };
        let summary = self.pressure.summary(summary);
        notes.extend(self.waiting.notes());
        notes.extend(self.sleeping.unpaired.note("Sleeps"));
        notes.extend(self.names.note("thread names"));
        notes.extend(self.sleepers.note("sleeping threads"));
        notes.extend(self.sleep_stacks.note("stacks of sleeping threads"));
        notes.extend(self.entries.notes());
        notes.extend(self.starters.notes(self.started));
        let (step_ns, [started, stopped]) = self.steps.series(context.span);
        let pools = self.names.grouped(|name| Some(last_number(&context.names.text(*name)))).rows;
        let mut shapes = self.waiting.tables(context.span, |names| pools.get(names).is_some_and(|of| of.started > 0));
        shapes.extend(self.pressure.tables());
        shapes.push(self.patterns_table(context, &pools));
        shapes.extend(self.starters.table(context));
        shapes.extend([
            Shape::Timeline(Timeline {
                id: "threads",
                title: "Threads started and stopped per step".to_owned(),
                unit: Unit::Count,
                step_ns,
                levels: false,
                series: vec![
                    Series { key: "started", title: "Started".to_owned(), values: started },
                    Series { key: "stopped", title: "Stopped".to_owned(), values: stopped },
                ],
            }),
            self.sleepers_table(context),
        ]);
        shapes.extend(sleep_sites(&self.sleep_stacks, context));
        shapes.extend(self.entries.table(context));
        shapes.extend(self.sleep_latencies.shape("sleep_times", "Time asleep"));
        shapes.extend(self.starters.profile(context));
        Section { id: Lens::Threads.id(), title: "Threads".to_owned(), summary, notes, shapes }
    }
}

#[cfg(test)]
mod tests;

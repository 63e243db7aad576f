//! Lens `threads`: Java threads that start and stop, grouped by the pattern of their names, and sleeping.
//!
//! Virtual threads have no start event; what they do shows on their carriers.

use std::collections::BTreeMap;

use super::{
    Analysis, Context, Lens,
    distribution::{Durations, Latencies},
    pairing::Open,
    pattern::{last_number, pattern},
    steps::Steps,
    table::{Keyed, Merge, column},
};
use crate::{
    event::{Edge, Event, NameId, Payload, Tid},
    report::{Cell, Section, Series, Shape, Summary, Timeline, Unit},
};

/// Most names that are told apart before they are grouped.
const NAMES: usize = 16_384;
/// Most threads with a row of their sleeping.
const SLEEPERS: usize = 4096;

/// The analysis.
#[derive(Debug)]
pub struct Threads {
    started: u64,
    stopped: u64,
    names: Keyed<NameId, Count>,
    sleeping: Open<u64>,
    sleeps: u64,
    interrupted: u64,
    sleep_latencies: Latencies,
    sleepers: Keyed<Tid, Durations>,
    yields: u64,
    steps: Steps<2>,
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
            sleeping: Open::default(),
            sleeps: 0,
            interrupted: 0,
            sleep_latencies: Latencies::default(),
            sleepers: Keyed::new(SLEEPERS),
            yields: 0,
            steps: Steps::default(),
        }
    }
}

impl Threads {
    fn thread(&mut self, event: &Event, edge: Edge, name: NameId, daemon: bool) {
        match edge {
            Edge::Begin => {
                self.started += 1;
                let count = self.names.entry(name);
                count.started += 1;
                count.daemons += u64::from(daemon);
                self.steps.add(0, event.time_ns, 1);
            }
            Edge::End => {
                self.stopped += 1;
                self.names.entry(name).stopped += 1;
                self.sleeping.forget(event.tid);
                self.steps.add(1, event.time_ns, 1);
            }
        }
    }

    fn sleep(&mut self, event: &Event, edge: Edge, interrupted: bool) {
        match edge {
            Edge::Begin => {
                self.sleeps += 1;
                self.sleeping.begin(event.tid, event.time_ns);
            }
            Edge::End => {
                self.interrupted += u64::from(interrupted);
                if let Some(begin_ns) = self.sleeping.end(event.tid, |_| true) {
                    let ns = event.time_ns.saturating_sub(begin_ns);
                    self.sleep_latencies.record(ns);
                    self.sleepers.entry(event.tid).record(ns);
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
    fn patterns_table(&self, context: Context<'_>) -> Shape {
        let pools = self.names.grouped(|name| Some(last_number(&context.names.text(*name)))).rows;
        let all = self.names.grouped(|name| Some(pattern(&context.names.text(*name)))).rows;
        let threads = |groups: &BTreeMap<String, Count>, of: &str| {
            groups.get(of).map_or(0, |count| count.started.max(count.stopped))
        };
        let label = |name: &NameId| {
            let name = context.names.text(*name);
            let (pool, any) = (last_number(&name), pattern(&name));
            Some(if threads(&pools, &pool).saturating_mul(2) >= threads(&all, &any) { pool } else { any })
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
            |count| vec![count.started.into(), count.stopped.into(), change(*count), count.daemons.into()],
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

    fn start(&mut self, start_ns: u64) {
        self.steps.start(start_ns);
    }

    fn event(&mut self, event: &Event) {
        match event.payload {
            Payload::Thread { edge, name, daemon, java_tid: _, os_tid: _ } => self.thread(event, edge, name, daemon),
            Payload::Sleep { edge, duration_ns: _, interrupted } => self.sleep(event, edge, interrupted),
            Payload::Yield => self.yields += 1,
            _ => {}
        }
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
            .int("yields", self.yields);
        notes.extend(self.sleeping.unpaired.note("Sleeps"));
        notes.extend(self.names.note("thread names"));
        notes.extend(self.sleepers.note("sleeping threads"));
        let (step_ns, [started, stopped]) = self.steps.series(context.span);
        let mut shapes = vec![
            self.patterns_table(context),
            Shape::Timeline(Timeline {
                id: "threads",
                title: "Threads started and stopped per step".to_owned(),
                unit: Unit::Count,
                step_ns,
                series: vec![
                    Series { key: "started", title: "Started".to_owned(), values: started },
                    Series { key: "stopped", title: "Stopped".to_owned(), values: stopped },
                ],
            }),
            self.sleepers_table(context),
        ];
        shapes.extend(self.sleep_latencies.shape("sleep_times", "Time asleep"));
        Section { id: Lens::Threads.id(), title: "Threads".to_owned(), summary, notes, shapes }
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::testing::{MS, Play, cells, first_keys, numbers},
        *,
    };

    fn thread(edge: Edge, name: NameId) -> Payload {
        Payload::Thread { edge, name, java_tid: 1, os_tid: 1, daemon: false }
    }

    #[test]
    fn threads_are_grouped_by_the_pattern_of_their_names() {
        let mut play = Play::default();
        play.target.live_threads = Some(10);
        let mut events = Vec::new();
        for number in 0..41 {
            events.push((number, 100, thread(Edge::Begin, play.name(&format!("pool-{number}-thread-1")))));
        }
        events.push((50, 7, thread(Edge::End, play.name("main"))));
        let section = play.section(&mut Threads::default(), 1000, &events);
        assert_eq!(first_keys(&section, 3), ["started", "stopped", "alive"]);
        assert_eq!(numbers(&section, ["started", "stopped", "alive"]), [41, 1, 50]);
        assert_eq!(
            cells(&section, "patterns", ["pattern", "started", "stopped", "alive_change"]),
            [["pool-*-thread-*", "41", "0", "41"], ["main", "0", "1", "-1.0"]]
        );
    }

    #[test]
    fn a_pool_that_has_most_of_the_threads_is_named() {
        let mut play = Play::default();
        let mut events = Vec::new();
        for number in 0..20 {
            events.push((number, 100, thread(Edge::Begin, play.name(&format!("pool-3-thread-{number}")))));
        }
        for pool in 4..10 {
            events.push((50, 100, thread(Edge::Begin, play.name(&format!("pool-{pool}-thread-1")))));
        }
        let section = play.section(&mut Threads::default(), 1000, &events);
        assert_eq!(
            cells(&section, "patterns", ["pattern", "started"]),
            [["pool-3-thread-*", "20"], ["pool-*-thread-*", "6"]]
        );
    }

    #[test]
    fn alive_is_not_shown_where_it_is_not_known() {
        let section = Play::default().section(&mut Threads::default(), 1000, &[]);
        assert_eq!(section.number("alive"), None);
        assert!(section.notes[0].contains("not known"));
    }

    #[test]
    fn sleep_is_paired_by_thread() {
        let sleep = |edge, interrupted| Payload::Sleep { edge, duration_ns: 0, interrupted };
        let section = Play::default().section(
            &mut Threads::default(),
            1000,
            &[
                (1, 7, sleep(Edge::End, false)),
                (2, 7, sleep(Edge::Begin, false)),
                (5, 8, sleep(Edge::Begin, false)),
                (12, 7, sleep(Edge::End, true)),
                (13, 7, Payload::Yield),
            ],
        );
        let keys = ["sleeps", "sleep_total_ns", "sleeps_interrupted", "sleeping", "yields"];
        assert_eq!(numbers(&section, keys), [2, 10 * MS, 1, 1, 1]);
        assert_eq!(cells(&section, "sleepers", ["thread", "count", "total_ns"]), [["tid 7", "1", "10000000"]]);
        assert!(section.notes.iter().any(|note| note.starts_with("Sleeps: 1 ends without")));
    }
}

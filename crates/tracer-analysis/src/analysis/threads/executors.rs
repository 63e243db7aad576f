//! Executors, from looks at all threads: how many tasks wait in their queues and are at work, how many get done, and where all threads are
//! busy, with what.
//!
//! How long tasks wait and are at work follows from that by Little's law: what is there on average, divided by what goes through in a
//! second.

use std::collections::{BTreeMap, HashMap};

use super::{
    super::{pattern::last_number, site, table::column},
    reason::{Kind, reason},
};
use crate::{
    item::look::{ExecutorLook, ThreadLook},
    report::{Cell, Shape, Table, Unit},
    stack::Stacks,
    text::format,
};

/// Most executors that are told apart, by the pattern of their threads' names.
const EXECUTORS: usize = 1024;
/// Most places of one executor that are told apart.
const PLACES: usize = 64;
/// Most bytes of all places: a target decides how long their names are.
const PLACE_BYTES: usize = 16 << 20;
/// Most that are shown.
const ROWS: usize = 100;

/// What is known of executors with the same names.
#[derive(Debug, Default)]
struct Seen {
    looks: u64,
    threads: u64,
    /// The most threads that one of them may have, by the last that said so.
    may_have: Option<u64>,
    /// The most of them that there were at a look.
    executors: u64,
    busy: u64,
    queued: u64,
    most: u64,
    first: u64,
    last: u64,
    /// Looks in which tasks waited and no thread was idle.
    full: u64,
    /// Looks in a row, up to the last, in which all threads waited for tasks or latches while tasks waited for them.
    stuck: u64,
    /// Tasks that got done between looks, and how long these were apart.
    done: u64,
    done_ns: u64,
    /// Tasks that had got done by the last look.
    completed: Option<u64>,
    /// Looks at all executors of these names together.
    rounds: u64,
    /// How most of its busy threads came to their place, when that was seen last.
    callers: Option<String>,
    /// What most busy threads did then.
    places: HashMap<(String, String), AtPlace>,
}

/// How often most busy threads were at a place, and how many, in all of these looks.
#[derive(Debug, Default)]
struct AtPlace {
    looks: u64,
    threads: u64,
}

impl Seen {
    /// Takes a look; what a new place takes is added to the bytes of all.
    fn add(&mut self, look: &ExecutorLook, stacks: &Stacks, bytes: &mut usize) {
        if self.looks == 0 {
            self.first = look.queued;
        }
        self.may_have = look.may_have;
        self.looks += 1;
        self.threads = self.threads.max(look.threads);
        self.busy += look.threads.saturating_sub(look.idle);
        self.queued = self.queued.saturating_add(look.queued);
        self.most = self.most.max(look.queued);
        self.last = look.queued;
        let is_full = look.idle == 0 && look.queued > 0;
        self.full += u64::from(is_full);
        let Some((stack, alike)) = look.busy.filter(|_| is_full) else {
            self.stuck = 0;
            return;
        };
        self.callers = site::callers(stacks, stack);
        let why = reason(look.waits.as_ref(), stacks, stack);
        let is_stuck = alike == look.threads
            && look.ran == 0
            && matches!(why, Some((Kind::Task | Kind::Latch | Kind::Barrier, _)));
        self.stuck = if is_stuck { self.stuck + 1 } else { 0 };
        let place = (site::label(stacks, stack), why.map(|(_, what)| what).unwrap_or_default());
        let needed = *bytes + place.0.len() + place.1.len();
        if !self.places.contains_key(&place) {
            if self.places.len() >= PLACES || needed > PLACE_BYTES {
                return;
            }
            *bytes = needed;
        }
        let at = self.places.entry(place).or_default();
        at.looks += 1;
        at.threads += alike;
    }

    /// What all executors of these names have got done by now. Where one is gone, or new, nobody knows.
    fn completed(&mut self, now: Option<u64>, span_ns: u64) {
        if let Some(done) =
            self.completed.zip(now).and_then(|(before, now)| now.checked_sub(before)).filter(|_| span_ns > 0)
        {
            self.done += done;
            self.done_ns += span_ns;
        }
        self.completed = now;
        self.rounds += 1;
    }

    /// Tasks that got done in a second.
    fn per_s(&self) -> Option<f64> {
        (self.done > 0).then(|| self.done as f64 * 1e9 / self.done_ns as f64)
    }

    /// How long a task is where so many are on average.
    fn time_ns(&self, there: u64) -> Cell {
        let average = there as f64 / self.rounds.max(1) as f64;
        self.per_s().map_or(Cell::Missing, |per_s| format::whole(average / per_s * 1e9).into())
    }

    fn place(&self) -> Option<(&(String, String), &AtPlace)> {
        self.places.iter().max_by(|a, b| a.1.looks.cmp(&b.1.looks).then(b.0.cmp(a.0)))
    }
}

/// All executors.
#[derive(Debug, Default)]
pub(super) struct Executors {
    by_names: BTreeMap<String, Seen>,
    place_bytes: usize,
}

impl Executors {
    pub(super) fn look(&mut self, look: &ThreadLook, stacks: &Stacks) {
        let mut completed = BTreeMap::<String, Option<u64>>::new();
        let mut executors = BTreeMap::<String, u64>::new();
        for executor in &look.executors {
            let names = last_number(&executor.name);
            let all = completed.entry(names.clone()).or_insert(Some(0));
            *all = all.zip(executor.completed).map(|(all, one)| all.saturating_add(one));
            *executors.entry(names.clone()).or_default() += 1;
            if self.by_names.len() < EXECUTORS || self.by_names.contains_key(&names) {
                self.by_names.entry(names).or_default().add(executor, stacks, &mut self.place_bytes);
            }
        }
        for (names, seen) in &mut self.by_names {
            seen.completed(completed.get(names).copied().flatten(), look.span_ns);
            seen.executors = seen.executors.max(executors.get(names).copied().unwrap_or(0));
        }
    }

    /// Those in which tasks waited or got done, or whose threads have started.
    pub(super) fn table(&self, has_started: impl Fn(&str) -> bool) -> Shape {
        let is_told = |(names, seen): &(&String, &Seen)| seen.most > 0 || seen.done > 0 || has_started(names);
        let mut waited: Vec<_> = self.by_names.iter().filter(is_told).collect();
        waited.sort_by(|a, b| b.1.queued.cmp(&a.1.queued).then(a.0.cmp(b.0)));
        let row = |(names, seen): (&String, &Seen)| {
            let average = |sum: u64| (sum as f64 / seen.looks.max(1) as f64).into();
            let (place, at) = seen.place().unzip();
            let (place, what) = place.cloned().unzip();
            let at_site = at.map(|at| at.threads as f64 / at.looks as f64);
            let text = |text: Option<String>| text.filter(|text| !text.is_empty()).map_or(Cell::Missing, Into::into);
            vec![
                names.clone().into(),
                seen.threads.into(),
                average(seen.busy),
                average(seen.queued),
                seen.most.into(),
                seen.first.into(),
                seen.last.into(),
                seen.looks.into(),
                seen.full.into(),
                seen.stuck.into(),
                text(place),
                text(what),
                seen.per_s().map_or(Cell::Missing, Into::into),
                seen.time_ns(seen.queued),
                seen.time_ns(seen.busy),
                text(seen.callers.clone()),
                at_site.map_or(Cell::Missing, Into::into),
                seen.may_have.into(),
                seen.executors.into(),
            ]
        };
        Shape::Table(Table {
            id: "executors",
            title: "Executors: tasks that wait and that are at work".to_owned(),
            columns: vec![
                column("pattern", "Names", Unit::Text),
                column("threads", "Threads", Unit::Count),
                column("busy", "Busy, average", Unit::Count),
                column("queued", "Queued, average", Unit::Count),
                column("queued_most", "Most", Unit::Count),
                column("queued_first", "First", Unit::Count),
                column("queued_last", "Last", Unit::Count),
                column("looks", "Looks", Unit::Count),
                column("looks_full", "All busy", Unit::Count),
                column("looks_stuck", "All stuck, last looks", Unit::Count),
                column("site", "Place of the busy", Unit::Text),
                column("what", "They wait for", Unit::Text),
                column("per_s", "Done", Unit::PerSecond),
                column("queue_ns", "In the queue", Unit::Ns),
                column("work_ns", "At work", Unit::Ns),
                column("callers", "From", Unit::Text),
                column("at_site", "At that place", Unit::Count),
                column("may_have", "May have", Unit::Count),
                column("executors", "Executors", Unit::Count),
            ],
            rows: waited.into_iter().take(ROWS).map(row).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{super::super::testing::Play, *};
    use crate::{event::StackId, item::look::Waits};

    fn look(idle: u64, queued: u64, stack: StackId, waits: Option<&Waits>) -> ThreadLook {
        let executor = ExecutorLook {
            name: "mail-7".to_owned(),
            threads: 2,
            idle,
            queued,
            ran: 0,
            completed: None,
            may_have: Some(9),
            busy: (idle < 2).then_some((stack, 2 - idle)),
            waits: waits.cloned(),
        };
        ThreadLook { executors: vec![executor], ..ThreadLook::default() }
    }

    fn row(executors: &Executors) -> Vec<Cell> {
        let Shape::Table(table) = executors.table(|_| false) else { panic!("a table") };
        table.rows.into_iter().next().unwrap_or_default()
    }

    #[test]
    fn a_queue_is_counted_and_its_busy_threads_have_a_place() {
        let mut play = Play::default();
        let stack = play.stack(&["java.util.concurrent.ThreadPoolExecutor$Worker.run:630", "a.Mail.send:9"]);
        let mut executors = Executors::default();
        for (idle, queued) in [(2, 0), (0, 4), (1, 2), (0, 6)] {
            executors.look(&look(idle, queued, stack, None), &play.stacks);
        }
        let row = row(&executors);
        assert_eq!(row[0], "mail-*".into());
        assert_eq!(row[1], 2_u64.into());
        assert_eq!(row[3], 3.0.into());
        assert_eq!(row[4..10], [6_u64, 0, 6, 4, 2, 0].map(Cell::from));
        assert_eq!(row[10..12], ["a.Mail.send:9".into(), Cell::Missing]);
        assert_eq!(row[12..15], [Cell::Missing, Cell::Missing, Cell::Missing], "it counts none");
        assert_eq!(row[16..19], [2.0.into(), 9_u64.into(), 1_u64.into()]);
    }

    #[test]
    fn a_pool_that_is_idle_is_told_where_its_threads_have_started() {
        let mut play = Play::default();
        let stack = play.stack(&["java.util.concurrent.ThreadPoolExecutor$Worker.run:630"]);
        let mut executors = Executors::default();
        executors.look(&look(2, 0, stack, None), &play.stacks);
        let rows = |has_started: bool| match executors.table(|names| has_started && names == "mail-*") {
            Shape::Table(table) => table.rows.len(),
            _ => 0,
        };
        assert_eq!((rows(false), rows(true)), (0, 1));
    }

    #[test]
    fn how_long_tasks_wait_and_work_follows_from_how_many_get_done() {
        let mut play = Play::default();
        let stack = play.stack(&["java.util.concurrent.ThreadPoolExecutor$Worker.run:630", "a.Mail.send:9"]);
        let mut executors = Executors::default();
        for (completed, span_ns) in [(100, 0), (120, 1_000_000_000), (140, 1_000_000_000), (10, 1_000_000_000)] {
            let mut look = look(0, 5, stack, None);
            look.span_ns = span_ns;
            look.executors[0].completed = Some(completed);
            executors.look(&look, &play.stacks);
        }
        // 2 threads and 5 tasks on average, 20 done in a second; what is gone does not count.
        assert_eq!(row(&executors)[12..15], [20.0.into(), 250_000_000_u64.into(), 100_000_000_u64.into()]);
    }

    #[test]
    fn an_executor_is_stuck_where_all_wait_for_what_only_its_queue_can_do() {
        let mut play = Play::default();
        let stack = play.stack(&["java.util.concurrent.ThreadPoolExecutor$Worker.run:630", "a.Batch.run:9"]);
        let latch = Waits::Unpark {
            class: "java.util.concurrent.CountDownLatch$Sync".to_owned(),
            address: 1,
            owner: None,
            ended: None,
        };
        let mut executors = Executors::default();
        for _ in 0..3 {
            executors.look(&look(0, 4, stack, Some(&latch)), &play.stacks);
        }
        assert_eq!(row(&executors)[9], 3_u64.into());
        executors.look(&look(0, 4, stack, None), &play.stacks);
        assert_eq!(row(&executors)[9], 0_u64.into(), "one runs");
    }

    #[test]
    fn places_with_long_names_take_no_more_than_their_bytes() {
        let mut play = Play::default();
        let mut executors = Executors::default();
        for executor in 1..40 {
            for place in 0..PLACES {
                let long = format!("a.{}{place}.send:9", "M".repeat(8192));
                let stack = play.stack(&["java.util.concurrent.ThreadPoolExecutor$Worker.run:630", &long]);
                let mut look = look(0, 4, stack, None);
                look.executors[0].name = "e".repeat(executor);
                executors.look(&look, &play.stacks);
            }
        }
        let all = executors.by_names.values().flat_map(|seen| seen.places.keys());
        let bytes: usize = all.map(|(place, what)| place.len() + what.len()).sum();
        assert!(bytes == executors.place_bytes && bytes <= PLACE_BYTES, "{bytes} and {}", executors.place_bytes);
        assert!(bytes > PLACE_BYTES / 2, "{bytes}");
    }

    #[test]
    fn an_executor_without_a_queue_is_not_shown() {
        let play = Play::default();
        let mut executors = Executors::default();
        executors.look(&look(2, 0, StackId::default(), None), &play.stacks);
        assert_eq!(row(&executors), []);
    }
}

//! Who starts threads, and where. A starting thread says so right before the new one runs; the new one's start event follows,
//! and both have the new thread's id. What has no start event is no Java thread, like those of the collector.

use super::super::{
    Context,
    ended::EndedThreads,
    profile::Amounts,
    site,
    table::{FastMap, Keyed, Merge, column},
};
use crate::{
    event::{Event, StackId, Tid},
    report::{Shape, Unit},
};

/// Most threads that are followed at a time.
const THREADS: usize = 65_536;
/// Most pairs of starter and stack.
const ROWS: usize = 16_384;

/// Where a thread was started.
#[derive(Clone, Copy, Debug)]
struct Start {
    starter: Tid,
    stack: StackId,
    /// Whether it runs Java already.
    runs: bool,
}

/// What was started at a place.
#[derive(Clone, Copy, Debug, Default)]
struct Count {
    started: u64,
    stopped: u64,
}

impl Merge for Count {
    fn merge(&mut self, other: &Self) {
        self.started += other.started;
        self.stopped += other.stopped;
    }
}

/// Starts of threads by place.
#[derive(Debug)]
pub(super) struct Starters {
    /// By the new thread's id, as the JVM sees it.
    threads: FastMap<u64, Start>,
    rows: Keyed<(Tid, StackId), Count>,
    stacks: Amounts,
    known: u64,
    turned_away: u64,
}

impl Default for Starters {
    fn default() -> Self {
        Self {
            threads: FastMap::default(),
            rows: Keyed::new(ROWS),
            stacks: Amounts::default(),
            known: 0,
            turned_away: 0,
        }
    }
}

impl Starters {
    /// This event's thread starts another one.
    pub(super) fn starting(&mut self, event: &Event, os_tid: u64) {
        let start = Start { starter: event.tid, stack: event.stack, runs: false };
        if os_tid == 0 || (self.threads.len() >= THREADS && !self.threads.contains_key(&os_tid)) {
            self.turned_away += 1;
        } else {
            self.threads.insert(os_tid, start);
        }
    }

    /// A thread of Java runs.
    pub(super) fn started(&mut self, os_tid: u64) {
        let Some(start) = self.threads.get_mut(&os_tid).filter(|start| !start.runs) else { return };
        start.runs = true;
        self.known += 1;
        self.rows.entry((start.starter, start.stack)).started += 1;
        self.stacks.add(start.stack, start.starter, 1);
    }

    /// A thread of Java is gone.
    pub(super) fn stopped(&mut self, os_tid: u64) {
        if let Some(Start { starter, stack, runs: true }) = self.threads.remove(&os_tid) {
            self.rows.entry((starter, stack)).stopped += 1;
        }
    }

    /// Starters that ended become one where there are many.
    pub(super) fn sum_up(&mut self, ended: &EndedThreads) {
        self.rows.sum_up(ended);
        self.stacks.sum_up(ended);
    }

    /// Threads whose starter is known.
    pub(super) const fn known(&self) -> u64 {
        self.known
    }

    /// Sentences about what is not known.
    pub(super) fn notes(&self, started: u64) -> Vec<String> {
        let mut notes = Vec::new();
        let unknown = started.saturating_sub(self.known);
        if unknown > 0 {
            notes.push(format!(
                "Who started them is not known of {unknown} of {started} started threads: they were on their way when \
                 observation began, or came from native code, or `os::start_thread` could not be watched."
            ));
        }
        if self.turned_away > 0 {
            notes.push(format!("{} started threads were too many to be followed, or had no id.", self.turned_away));
        }
        notes.extend(self.rows.note("pairs of starter and stack"));
        notes
    }

    /// Who started threads where.
    pub(super) fn table(&self, context: Context<'_>) -> Option<Shape> {
        let label = |(starter, stack): &(Tid, StackId)| {
            Some((site::label(context.stacks, *stack), context.names.thread(*starter), *starter))
        };
        let table = self.rows.grouped(label).table(
            "started_by",
            "Places where threads are started",
            vec![
                column("site", "Place", Unit::Text),
                column("starter", "By", Unit::Text),
                column("starter_tid", "Thread id", Unit::Count),
                column("started", "Started", Unit::Count),
                column("alive", "Still alive", Unit::Count),
            ],
            |count| count.started,
            |(place, starter, tid)| vec![place.into(), starter.into(), u64::from(tid.0).into()],
            |count| vec![count.started.into(), count.started.saturating_sub(count.stopped).into()],
        );
        (self.known > 0).then_some(table)
    }

    /// The stacks that started threads.
    pub(super) fn profile(&self, context: Context<'_>) -> Option<Shape> {
        self.stacks.shape("start_stacks", "Threads started by stack", Unit::Count, context)
    }
}

//! The time to stop: from the request to stop all threads until the first operation begins, which needs the last of them; and
//! what ran meanwhile, by samples of the CPU: whoever ran Java then is whom the others waited for.

use super::super::{
    Context,
    distribution::{Latencies, Longest},
    rare::Replaced,
    site,
    table::{Keyed, Merge, column},
};
use crate::{
    event::{Event, StackId, Tid},
    report::{Shape, Unit},
};

/// Most samples that are kept of one stop.
const MAX_RAN: usize = 256;
/// Most stacks and threads that are told apart.
const STOPPERS: usize = 1024;
/// Shorter stops are not asked who ran: a sample in them hit whoever was about to stop.
const LONG_NS: u64 = 5_000_000;

/// A stop that is under way.
#[derive(Debug)]
struct Stopping {
    tid: Tid,
    begin_ns: u64,
    /// Samples since then.
    ran: Vec<(StackId, Tid)>,
}

/// Samples of one stack and thread.
#[derive(Clone, Copy, Debug, Default)]
struct Samples(u64);

impl Merge for Samples {
    fn merge(&mut self, other: &Self) {
        self.0 += other.0;
    }
}

/// What is known of stops.
#[derive(Debug)]
pub(super) struct Stops {
    open: Option<Stopping>,
    pub(super) times: Latencies,
    pub(super) longest: Longest,
    ran: Keyed<(StackId, Tid), Samples>,
}

impl Default for Stops {
    fn default() -> Self {
        Self { open: None, times: Latencies::default(), longest: Longest::default(), ran: Keyed::new(STOPPERS) }
    }
}

impl Stops {
    /// All threads are asked to stop.
    pub(super) fn begin(&mut self, event: &Event) {
        self.open = Some(Stopping { tid: event.tid, begin_ns: event.time_ns, ran: Vec::new() });
    }

    /// A thread was found running.
    pub(super) fn sample(&mut self, event: &Event) {
        if let Some(stopping) = &mut self.open
            && stopping.tid != event.tid
            && stopping.ran.len() < MAX_RAN
        {
            stopping.ran.push((event.stack, event.tid));
        }
    }

    /// An operation begins: all have stopped.
    pub(super) fn operation(&mut self, event: &Event) {
        let Some(Stopping { begin_ns, ran, .. }) = self.open.take_if(|stopping| stopping.tid == event.tid) else {
            return;
        };
        let took_ns = event.time_ns.saturating_sub(begin_ns);
        self.times.record(took_ns);
        self.longest.record(begin_ns, took_ns);
        if took_ns >= LONG_NS {
            for key in ran {
                self.ran.entry(key).0 += 1;
            }
        }
    }

    /// Others take the place of stacks; what is open now ran a moment ago.
    pub(super) fn replace_stacks(&mut self, replaced: &Replaced) {
        self.ran.replace_stacks(replaced);
    }

    /// It ended without an operation, or nothing is seen of it any more.
    pub(super) fn end(&mut self) {
        self.open = None;
    }

    /// Who ran Java while others waited to go on.
    pub(super) fn table(&self, context: Context<'_>) -> Shape {
        let java = |stack: StackId| context.stacks.frames_of(stack).any(|frame| frame.kind.is_java());
        let label = |(stack, tid): &(StackId, Tid)| {
            java(*stack).then(|| {
                let [place, top] = [site::label, site::top_label].map(|label| label(context.stacks, *stack));
                (place, top, *tid)
            })
        };
        self.ran.grouped(label).table(
            "stoppers",
            "Who ran while the others had to wait for it to stop",
            vec![
                column("site", "Place", Unit::Text),
                column("top", "In", Unit::Text),
                column("thread", "Thread", Unit::Text),
                column("tid", "Thread id", Unit::Count),
                column("samples", "Samples", Unit::Count),
            ],
            |samples| samples.0,
            |(place, top, tid)| {
                let thread = context.names.thread(tid);
                vec![place.into(), top.into(), thread.into(), u64::from(tid.0).into()]
            },
            |samples| vec![samples.0.into()],
        )
    }
}

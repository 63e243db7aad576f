//! Lens `gc`: collections by cause and kind, their pauses, and the memory pools around them.
//!
//! A pause is the stretch from `gc__begin` to `gc__end` on one thread. How many collections pauses are depends on the
//! collector, which the VM operation around the pause gives away:
//!
//! - **Serial, Parallel, G1** stop the program for a collection, so each pause is one. What they do within one stop (young,
//!   then the whole heap) the JVM's log can show as two. The pauses of G1's concurrent marking (remark, cleanup) collect
//!   nothing by themselves and are no collections.
//! - **ZGC, Shenandoah** have several pauses a cycle, and the number is not fixed: a mark end can come again, an explicit
//!   collection of generational ZGC marks the young generation twice, minor cycles run inside major ones. So a cycle is
//!   counted where the memory manager (`ZGC Major Cycles`) says that it begins, with the first pause that ends after that:
//!   as often as the log has numbers `GC(n)`. Degenerated and full collections of Shenandoah have numbers of their own and
//!   are counted by pause.
//!
//! `full` is what the probe says: explicit collections of ZGC and Shenandoah are whole cycles and no full collections, other
//! than with `-XX:-ExplicitGCInvokesConcurrent` on Shenandoah.
//!
//! Pauses can begin inside each other (a collector that falls back to a full collection): each counts as a collection, but
//! the time of an inner one is in the outermost already, so durations and `pauses` are those of outermost ones only.

mod live_heap;
pub mod operation;
mod pools;

use std::collections::HashSet;

use super::{
    Analysis, Context, Lens, Scaled,
    distribution::{Latencies, Longest},
    ended::EndedThreads,
    pairing::Stacks,
    request::Requests,
    row_steps::{COUNT_TOTAL_MAX, Timed},
    scaled::scaled,
    steps::Steps,
    table::{Groups, Keyed, Merge, column},
};
use crate::{
    event::{Edge, Event, NameId, PauseStep, Payload, Tid},
    item::GuardAction,
    names::Names,
    report::{Section, Series, Shape, Summary, TableSteps, Timeline, Unit},
    text::format::plural,
};
use live_heap::LiveHeap;
use operation::{Counting, classify_step};
use pools::{Pools, State};

/// Most combinations of causes and operations: real JVMs have a few dozen.
const CAUSES: usize = 256;
/// What HotSpot calls the cause when there is none.
const NO_CAUSE: &str = "No GC";
/// What stands for the cause of pauses that only continue what an earlier collection has begun: the JVM gives none.
const CONTINUED: &str = "concurrent cycle";

/// The analysis.
#[derive(Debug)]
pub struct Gc {
    /// Pauses that began, but for inner ones: of those at the edge of a window the end may not be seen.
    begun: u64,
    open: Stacks<Begun>,
    operations: Stacks<Operation>,
    causes: Keyed<CauseKey, Pauses>,
    pauses: Latencies,
    longest: Longest,
    pools: Pools,
    live_heap: LiveHeap,
    /// Cycles that memory managers have begun since the last pause ended.
    cycles_begun: u64,
    requests: Requests,
    timed: Timed<CauseKey>,
    /// Time in pauses, pauses, and those of full collections.
    steps: Steps<3>,
}

/// A pause under way.
#[derive(Clone, Copy, Debug)]
struct Begun {
    time_ns: u64,
    full: bool,
    step: PauseStep,
    cause: NameId,
    operation: Option<NameId>,
}

/// A VM operation under way, and how many pauses were open on its thread when it began.
#[derive(Clone, Copy, Debug)]
struct Operation {
    name: NameId,
    depth: usize,
}

/// What tells pauses apart; texts are known only when the section is built.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct CauseKey {
    begin_cause: NameId,
    end_cause: NameId,
    end_last_cause: NameId,
    full: bool,
    step: PauseStep,
    nested: bool,
    operation: Option<NameId>,
}

impl CauseKey {
    /// The cause is known to the JVM at the beginning, at the end, or only as the last one, depending on collector and
    /// release.
    fn cause(&self, names: &Names) -> String {
        [self.begin_cause, self.end_cause]
            .into_iter()
            .find(|id| names.get(*id).is_ok_and(|text| text != NO_CAUSE))
            .map_or_else(|| names.text(self.end_last_cause), |id| names.text(id))
    }

    /// What the row of such pauses is called, and how they count.
    fn label(&self, names: &Names) -> (Label, Counting) {
        let operation = self.operation.map(|id| names.text(id));
        let (kind, counting) = classify_step(self.step, operation.as_deref(), self.full);
        let kind = if self.nested { format!("{kind}, inside another") } else { kind.to_owned() };
        let cause = if counting == Counting::Never { CONTINUED.to_owned() } else { self.cause(names) };
        ((cause, kind, operation), counting)
    }
}

/// Cause, kind and operation.
type Label = (String, String, Option<String>);

/// Pauses of one cause and operation.
#[derive(Clone, Debug, Default)]
struct Pauses {
    latencies: Latencies<2>,
    /// Cycles that began with one of these pauses.
    cycles: u64,
    /// Collections that these pauses are; known only when the section is built.
    collections: u64,
    full_collections: u64,
}

impl Pauses {
    /// Counts the collections, where it is known how.
    fn count(&mut self, full: bool, counting: Counting) {
        self.collections = match counting {
            Counting::Whole => self.latencies.durations.count,
            Counting::ByCycle => self.cycles,
            Counting::Never => 0,
        };
        self.full_collections = if full { self.collections } else { 0 };
    }
}

impl Merge for Pauses {
    fn merge(&mut self, other: &Self) {
        self.latencies.merge(&other.latencies);
        self.cycles += other.cycles;
        self.collections += other.collections;
        self.full_collections += other.full_collections;
    }
}

impl Default for Gc {
    fn default() -> Self {
        Self {
            begun: 0,
            open: Stacks::default(),
            operations: Stacks::default(),
            causes: Keyed::new(CAUSES),
            pauses: Latencies::default(),
            longest: Longest::default(),
            pools: Pools::default(),
            live_heap: LiveHeap::default(),
            cycles_begun: 0,
            requests: Requests::default(),
            timed: Timed::default(),
            steps: Steps::default(),
        }
    }
}

impl Gc {
    fn begin(&mut self, event: &Event, full: bool, step: PauseStep, cause: NameId) {
        self.begun += u64::from(self.open.depth(event.tid) == 0);
        let operation = self.operations.innermost(event.tid).map(|operation| operation.name);
        self.open.begin(event.tid, Begun { time_ns: event.time_ns, full, step, cause, operation });
    }

    fn end(&mut self, event: &Event, end_cause: NameId, end_last_cause: NameId) {
        let Some((begun, depth)) = self.open.end(event.tid, |_| true) else { return };
        let Begun { time_ns, full, step, cause, operation } = begun;
        let nested = depth > 0;
        let pause_ns = event.time_ns.saturating_sub(time_ns);
        let key = CauseKey { begin_cause: cause, end_cause, end_last_cause, full, step, nested, operation };
        let cycles = std::mem::take(&mut self.cycles_begun);
        self.timed.record(key, time_ns, event.time_ns);
        let pauses = self.causes.entry(key);
        pauses.latencies.record(pause_ns);
        pauses.cycles += cycles;
        if !nested {
            self.pauses.record(pause_ns);
            self.longest.record(time_ns, pause_ns);
            self.steps.add_stretch(0, time_ns, event.time_ns);
            self.steps.add(1, time_ns, 1);
        }
        self.steps.add(2, time_ns, u64::from(full));
    }

    /// A pause never outlives the VM operation that it is in, so an operation's end also tells which ends of pauses were
    /// lost. Without that, one lost end would make all later pauses look like inner ones.
    fn operation(&mut self, tid: Tid, edge: Edge, name: NameId) {
        match edge {
            Edge::Begin => {
                let depth = self.open.depth(tid);
                self.operations.begin(tid, Operation { name, depth });
            }
            Edge::End => {
                let depth = self.operations.end(tid, |operation| operation.name == name);
                self.open.cut(tid, depth.map_or(0, |(operation, _)| operation.depth));
            }
        }
    }

    fn notes(&self) -> Vec<String> {
        let open = self.open.open();
        let mut notes = Vec::new();
        notes.extend(self.open.unpaired.note("Pauses"));
        if open > 0 {
            let open = plural(open, "pause", "pauses");
            notes.push(format!("Under way at the end of the span and not counted: {open}."));
        }
        notes.extend(self.causes.note("combinations of cause and operation"));
        notes.extend(self.pools.note());
        notes.extend(self.requests.note());
        notes
    }

    /// The pauses by what their rows are called, and those beyond the limit.
    fn causes(&self, names: &Names) -> Groups<Label, Pauses> {
        let mut groups = self.causes.grouped_by(|key, pauses: &mut Pauses| {
            let (label, counting) = key.label(names);
            pauses.count(key.full, counting);
            label
        });
        if let Some(others) = &mut groups.others {
            // Of these nothing is known but their number.
            others.count(false, Counting::Whole);
        }
        groups
    }

    fn causes_table(groups: Groups<Label, Pauses>) -> Shape {
        groups.table(
            "causes",
            "Pauses by cause",
            vec![
                column("cause", "Cause", Unit::Text),
                column("kind", "Kind", Unit::Text),
                column("operation", "VM operation", Unit::Text),
                column("count", "Pauses", Unit::Count),
                column("collections", "Collections", Unit::Count),
                column("total_ns", "Total", Unit::Ns),
                column("max_ns", "Max", Unit::Ns),
                column("p99_ns", "p99", Unit::Ns),
            ],
            |pauses| pauses.latencies.durations.total_ns,
            |(cause, kind, operation)| vec![cause.into(), kind.into(), operation.into()],
            |pauses| {
                let durations = pauses.latencies.durations;
                vec![
                    durations.count.into(),
                    pauses.collections.into(),
                    durations.total_ns.into(),
                    durations.max_ns.into(),
                    pauses.latencies.percentile(99.0).into(),
                ]
            },
        )
    }

    fn timelines(&self, context: Context<'_>) -> [Shape; 2] {
        let (step_ns, [pause, pauses, full]) = self.steps.series(context.span);
        let others = pauses.iter().zip(&full).map(|(all, full)| (all - full).max(0.0)).collect();
        let series = |key, title: &str, values| Series { key, title: title.to_owned(), values };
        let timeline = |id, title: &str, unit, series| {
            Shape::Timeline(Timeline { id, title: title.to_owned(), unit, step_ns, levels: false, series })
        };
        [
            timeline("pause", "Pause per step", Unit::Ns, vec![series("pause_ns", "Pause", pause)]),
            timeline(
                "pause_counts",
                "Pauses per step",
                Unit::Count,
                vec![series("full", "Full collections", full), series("others", "Other pauses", others)],
            ),
        ]
    }
}

impl Analysis for Gc {
    fn lens(&self) -> Lens {
        Lens::Gc
    }

    fn threads_ended(&mut self, ended: &EndedThreads) {
        self.requests.sum_up(ended);
    }

    fn start(&mut self, start_ns: u64) {
        self.steps.start(start_ns);
        self.live_heap.start(start_ns);
        self.timed.start(start_ns);
    }

    fn event(&mut self, event: &Event) {
        match event.payload {
            Payload::GcBegin { full, step, cause, last_cause: _ } => self.begin(event, full, step, cause),
            Payload::GcEnd { cause, last_cause } => self.end(event, cause, last_cause),
            Payload::VmOperation { edge, name, mode: _ } => self.operation(event.tid, edge, name),
            Payload::VmOperationRequest { name, mode: _ } => self.requests.take(event, name),
            Payload::MemPool { edge, manager, pool, init_bytes: _, used_bytes, committed_bytes, max_bytes } => {
                let state = State { used_bytes, committed_bytes, max_bytes };
                if edge == Edge::End {
                    self.live_heap.collected(event.time_ns, pool, used_bytes);
                }
                self.cycles_begun += u64::from(self.pools.event(event.time_ns, edge, manager, pool, state));
            }
            _ => {}
        }
    }

    fn guard(&mut self, action: &GuardAction) {
        if !action.hides_ends() {
            return;
        }
        match action.group.as_str() {
            "gc" => self.open.cut_all(),
            "vm-operation" => self.operations.cut_all(),
            _ => {}
        }
    }

    fn scaled(&self, group: &str) -> Vec<Scaled> {
        if group == "gc" { vec![scaled!("pauses", "pauses", self.begun)] } else { Vec::new() }
    }

    fn shows(&self, _group: &str, shape: &str) -> bool {
        !["pools", "heap_after"].contains(&shape)
    }

    fn table_steps(&self, context: Context<'_>) -> Vec<TableSteps> {
        let label = |key: &CauseKey| Some(key.label(context.names).0);
        let labels = |(cause, kind, operation): Label| vec![cause.into(), kind.into(), operation.into()];
        vec![self.timed.table((Lens::Gc.id(), "causes"), &COUNT_TOTAL_MAX, label, labels)]
    }

    fn section(&self, context: Context<'_>) -> Section {
        let durations = self.pauses.durations;
        let causes = self.causes(context.names);
        let total = causes.total();
        let mut summary = Summary::new()
            .int("collections", total.collections)
            .int("full_collections", total.full_collections)
            .int("pause_total_ns", durations.total_ns)
            .int("pause_max_ns", durations.max_ns)
            .int("pause_p99_ns", self.pauses.percentile(99.0))
            .int("pauses", durations.count);
        if let Some(at_ns) = self.longest.at_ns(context.span) {
            summary = summary.int("pause_max_at_ns", at_ns);
        }
        if context.span.duration_ns > 0 {
            let share = 100.0 * durations.total_ns as f64 / context.span.duration_ns as f64;
            summary = summary.float("pause_share_percent", share);
        }
        let mut shapes = vec![Self::causes_table(causes)];
        // Only operations with a pause inside are the collector's.
        let collecting: HashSet<NameId> = self.causes.iter().filter_map(|(key, _)| key.operation).collect();
        shapes.extend(self.requests.table(Some(&collecting), context));
        shapes.extend(self.pauses.shape("pauses", "Pauses"));
        shapes.extend(self.timelines(context));
        shapes.extend(self.live_heap.shape(context.span, context.names));
        shapes.push(self.pools.table(context.names));
        Section { id: Lens::Gc.id(), title: "Garbage collection".to_owned(), summary, notes: self.notes(), shapes }
    }
}

#[cfg(test)]
mod tests;

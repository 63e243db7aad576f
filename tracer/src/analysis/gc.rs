//! Lens `gc`: collections by cause and kind, their pauses, and the memory pools around them.
//!
//! A collection is the stretch from `gc__begin` to `gc__end` on one thread. Collections can begin inside each other
//! (a collector that falls back to a full one): each counts, but the time of an inner one is in the pause of the outermost
//! already, so pauses are those of outermost collections only.

use super::{
    Analysis, Context, Lens,
    distribution::Latencies,
    pairing::Stacks,
    steps::Steps,
    table::{Keyed, Merge, column},
};
use crate::{
    event::{Edge, Event, NameId, Payload, Tid},
    names::Names,
    report::{Section, Series, Shape, Summary, Timeline, Unit},
};

/// Most combinations of causes and operations: real JVMs have a few dozen.
const CAUSES: usize = 256;
/// Most pairs of manager and pool: real JVMs have about ten.
const POOLS: usize = 256;
/// What HotSpot calls the cause when there is none.
const NO_CAUSE: &str = "No GC";

/// The analysis.
#[derive(Debug)]
pub struct Gc {
    open: Stacks<Begun>,
    operations: Stacks<Operation>,
    causes: Keyed<CauseKey, Latencies<2>>,
    pauses: Latencies,
    collections: u64,
    full_collections: u64,
    pools: Keyed<(NameId, NameId), Pool>,
    steps: Steps<2>,
}

/// A collection under way.
#[derive(Clone, Copy, Debug)]
struct Begun {
    time_ns: u64,
    full: bool,
    cause: NameId,
    operation: Option<NameId>,
}

/// A VM operation under way, and how many collections were open on its thread when it began.
#[derive(Clone, Copy, Debug)]
struct Operation {
    name: NameId,
    depth: usize,
}

/// What tells collections apart; texts are known only when the section is built.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct CauseKey {
    begin_cause: NameId,
    end_cause: NameId,
    end_last_cause: NameId,
    full: bool,
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

    /// All that the probe says, the operation says the rest.
    fn kind(&self) -> &'static str {
        match (self.full, self.nested) {
            (true, false) => "full",
            (true, true) => "full, inside another",
            (false, false) => "other",
            (false, true) => "other, inside another",
        }
    }
}

/// A memory pool under one manager.
#[derive(Clone, Copy, Debug, Default)]
struct Pool {
    collections: u64,
    pending_before: Option<u64>,
    used_before_bytes: Option<u64>,
    used_after_bytes: Option<u64>,
    committed_bytes: Option<u64>,
    max_bytes: Option<u64>,
    freed_bytes: u64,
}

impl Merge for Pool {
    /// Only totals add up: states of different pools do not.
    fn merge(&mut self, other: &Self) {
        self.collections += other.collections;
        self.freed_bytes = self.freed_bytes.saturating_add(other.freed_bytes);
        self.used_before_bytes = other.used_before_bytes;
        self.used_after_bytes = other.used_after_bytes;
        self.committed_bytes = other.committed_bytes;
        self.max_bytes = other.max_bytes;
    }
}

impl Default for Gc {
    fn default() -> Self {
        Self {
            open: Stacks::default(),
            operations: Stacks::default(),
            causes: Keyed::new(CAUSES),
            pauses: Latencies::default(),
            collections: 0,
            full_collections: 0,
            pools: Keyed::new(POOLS),
            steps: Steps::default(),
        }
    }
}

impl Gc {
    fn begin(&mut self, event: &Event, full: bool, cause: NameId) {
        let operation = self.operations.innermost(event.tid).map(|operation| operation.name);
        self.open.begin(event.tid, Begun { time_ns: event.time_ns, full, cause, operation });
    }

    fn end(&mut self, event: &Event, end_cause: NameId, end_last_cause: NameId) {
        let Some((begun, depth)) = self.open.end(event.tid, |_| true) else { return };
        let Begun { time_ns, full, cause, operation } = begun;
        let nested = depth > 0;
        let pause_ns = event.time_ns.saturating_sub(time_ns);
        let key = CauseKey { begin_cause: cause, end_cause, end_last_cause, full, nested, operation };
        self.causes.entry(key).record(pause_ns);
        self.collections += 1;
        self.full_collections += u64::from(full);
        if !nested {
            self.pauses.record(pause_ns);
            self.steps.add_stretch(0, time_ns, event.time_ns);
        }
        self.steps.add(1, event.time_ns, 1);
    }

    /// A collection never outlives the VM operation that it runs in, so an operation's end also tells which ends of
    /// collections were lost. Without that, one lost end would make all later collections look like inner ones.
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
        notes.extend(self.open.unpaired.note("Collections"));
        if open > 0 {
            notes.push(format!("{open} collections were under way at the end of the span and are not counted."));
        }
        notes.extend(self.causes.note("combinations of cause and operation"));
        notes.extend(self.pools.note("memory pools"));
        notes
    }

    fn causes_table(&self, names: &Names) -> Shape {
        let label = |key: &CauseKey| {
            let operation = key.operation.map(|id| names.text(id));
            Some((key.cause(names), key.kind(), operation))
        };
        self.causes.grouped(label).table(
            "causes",
            "Collections by cause",
            vec![
                column("cause", "Cause", Unit::Text),
                column("kind", "Kind", Unit::Text),
                column("operation", "VM operation", Unit::Text),
                column("count", "Count", Unit::Count),
                column("total_ns", "Total", Unit::Ns),
                column("max_ns", "Max", Unit::Ns),
                column("p99_ns", "p99", Unit::Ns),
            ],
            |latencies| latencies.durations.total_ns,
            |(cause, kind, operation)| vec![cause.into(), kind.into(), operation.into()],
            |latencies| {
                let durations = latencies.durations;
                vec![
                    durations.count.into(),
                    durations.total_ns.into(),
                    durations.max_ns.into(),
                    latencies.percentile(99.0).into(),
                ]
            },
        )
    }

    fn pools_table(&self, names: &Names) -> Shape {
        let label = |(pool, manager): &(NameId, NameId)| Some((names.text(*pool), names.text(*manager)));
        self.pools.grouped(label).table(
            "pools",
            "Memory pools before and after collections",
            vec![
                column("pool", "Pool", Unit::Text),
                column("manager", "Manager", Unit::Text),
                column("collections", "Collections", Unit::Count),
                column("used_before_bytes", "Used before (last)", Unit::Bytes),
                column("used_after_bytes", "Used after (last)", Unit::Bytes),
                column("committed_bytes", "Committed", Unit::Bytes),
                column("max_bytes", "Max", Unit::Bytes),
                column("freed_bytes", "Freed", Unit::Bytes),
            ],
            |pool| pool.freed_bytes,
            |(pool, manager)| vec![pool.into(), manager.into()],
            |pool| {
                vec![
                    pool.collections.into(),
                    pool.used_before_bytes.into(),
                    pool.used_after_bytes.into(),
                    pool.committed_bytes.into(),
                    pool.max_bytes.into(),
                    pool.freed_bytes.into(),
                ]
            },
        )
    }

    fn timeline(&self, context: Context<'_>) -> Shape {
        let (step_ns, [pause, _count]) = self.steps.series(context.span);
        Shape::Timeline(Timeline {
            id: "pause",
            title: "Pause per step".to_owned(),
            unit: Unit::Ns,
            step_ns,
            series: vec![Series { key: "pause_ns", title: "Pause".to_owned(), values: pause }],
        })
    }
}

impl Pool {
    fn before(&mut self, used_bytes: u64) {
        self.pending_before = Some(used_bytes);
        self.used_before_bytes = Some(used_bytes);
    }

    fn after(&mut self, used_bytes: u64, committed_bytes: u64, max_bytes: u64) {
        self.collections += 1;
        self.used_after_bytes = Some(used_bytes);
        self.committed_bytes = Some(committed_bytes);
        self.max_bytes = (max_bytes != u64::MAX).then_some(max_bytes);
        // Freed only where this collection's own beginning was seen; a pool that grew freed nothing.
        let freed = self.pending_before.take().map_or(0, |before| before.saturating_sub(used_bytes));
        self.freed_bytes = self.freed_bytes.saturating_add(freed);
    }
}

impl Analysis for Gc {
    fn lens(&self) -> Lens {
        Lens::Gc
    }

    fn start(&mut self, start_ns: u64) {
        self.steps.start(start_ns);
    }

    fn event(&mut self, event: &Event) {
        match event.payload {
            Payload::GcBegin { full, cause, last_cause: _ } => self.begin(event, full, cause),
            Payload::GcEnd { cause, last_cause } => self.end(event, cause, last_cause),
            Payload::VmOperation { edge, name, mode: _ } => self.operation(event.tid, edge, name),
            Payload::MemPool { edge, manager, pool, init_bytes: _, used_bytes, committed_bytes, max_bytes } => {
                let pool = self.pools.entry((pool, manager));
                match edge {
                    Edge::Begin => pool.before(used_bytes),
                    Edge::End => pool.after(used_bytes, committed_bytes, max_bytes),
                }
            }
            _ => {}
        }
    }

    fn section(&self, context: Context<'_>) -> Section {
        let durations = self.pauses.durations;
        let mut summary = Summary::new()
            .int("collections", self.collections)
            .int("full_collections", self.full_collections)
            .int("pause_total_ns", durations.total_ns)
            .int("pause_max_ns", durations.max_ns)
            .int("pause_p99_ns", self.pauses.percentile(99.0));
        if context.span.duration_ns > 0 {
            let share = 100.0 * durations.total_ns as f64 / context.span.duration_ns as f64;
            summary = summary.float("pause_share_percent", share);
        }
        let mut shapes = vec![self.causes_table(context.names)];
        shapes.extend(self.pauses.shape("pauses", "Pauses"));
        shapes.push(self.timeline(context));
        shapes.push(self.pools_table(context.names));
        Section { id: Lens::Gc.id(), title: "Garbage collection".to_owned(), summary, notes: self.notes(), shapes }
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::testing::{MS, Play, cells, first_keys, is_close, numbers, shape_ids},
        *,
    };

    fn begin(full: bool, cause: NameId, last_cause: NameId) -> Payload {
        Payload::GcBegin { full, cause, last_cause }
    }

    fn end(cause: NameId, last_cause: NameId) -> Payload {
        Payload::GcEnd { cause, last_cause }
    }

    fn operation(edge: Edge, name: NameId) -> Payload {
        Payload::VmOperation { edge, name, mode: 0 }
    }

    #[test]
    fn pauses_causes_and_share_are_exact() {
        let mut play = Play::default();
        let (none, system, failure) = (play.name("No GC"), play.name("System.gc()"), play.name("Allocation Failure"));
        let (full, young) = (play.name("G1CollectFull"), play.name("G1CollectForAllocation"));
        let section = play.section(
            &mut Gc::default(),
            1000,
            &[
                (10, 5, operation(Edge::Begin, full)),
                (10, 5, begin(true, none, none)),
                (50, 5, end(system, none)),
                (51, 5, operation(Edge::End, full)),
                (100, 5, operation(Edge::Begin, young)),
                (100, 5, begin(false, failure, system)),
                (110, 5, end(none, failure)),
                (110, 5, operation(Edge::End, young)),
                (200, 5, begin(true, none, none)),
                (250, 5, end(none, system)),
            ],
        );
        assert_eq!(
            first_keys(&section, 5),
            ["collections", "full_collections", "pause_total_ns", "pause_max_ns", "pause_p99_ns"]
        );
        assert_eq!(
            numbers(&section, ["collections", "full_collections", "pause_total_ns", "pause_max_ns", "pause_p99_ns"]),
            [3, 2, 100 * MS, 50 * MS, 50 * MS]
        );
        assert!(is_close(&section, "pause_share_percent", 10.0));
        assert_eq!(
            cells(&section, "causes", ["cause", "kind", "operation", "count", "total_ns", "max_ns"]),
            [
                ["System.gc()", "full", "-", "1", "50000000", "50000000"],
                ["System.gc()", "full", "G1CollectFull", "1", "40000000", "40000000"],
                ["Allocation Failure", "other", "G1CollectForAllocation", "1", "10000000", "10000000"],
            ]
        );
        assert_eq!(shape_ids(&section), ["causes", "pauses", "pause", "pools"]);
        assert!(section.notes.is_empty(), "{:?}", section.notes);
    }

    #[test]
    fn inner_collections_count_but_their_time_counts_once() {
        let mut play = Play::default();
        let cause = play.name("Allocation Failure");
        let section = play.section(
            &mut Gc::default(),
            1000,
            &[
                (0, 5, begin(false, cause, cause)),
                (10, 5, begin(true, cause, cause)),
                (30, 5, end(cause, cause)),
                (40, 5, end(cause, cause)),
            ],
        );
        assert_eq!(
            numbers(&section, ["collections", "full_collections", "pause_total_ns", "pause_max_ns"]),
            [2, 1, 40 * MS, 40 * MS]
        );
        assert_eq!(
            cells(&section, "causes", ["kind", "count", "total_ns"]),
            [["other", "1", "40000000"], ["full, inside another", "1", "20000000"]]
        );
    }

    #[test]
    fn unpaired_edges_are_counted_and_never_guessed() {
        let mut play = Play::default();
        let (cause, name) = (play.name("Allocation Failure"), play.name("G1CollectForAllocation"));
        let section = play.section(
            &mut Gc::default(),
            1000,
            &[
                (5, 5, end(cause, cause)),
                (6, 5, operation(Edge::End, name)),
                (10, 5, operation(Edge::Begin, name)),
                (10, 5, begin(false, cause, cause)),
                // Its end is lost.
                (20, 5, operation(Edge::End, name)),
                (30, 5, begin(false, cause, cause)),
                (32, 5, end(cause, cause)),
                (900, 5, begin(true, cause, cause)),
            ],
        );
        assert_eq!(
            numbers(&section, ["collections", "full_collections", "pause_total_ns"]),
            [1, 0, 2 * MS],
            "the lost end does not make the next collection an inner one"
        );
        assert!(section.notes[0].contains("1 ends without a beginning") && section.notes[0].contains("1 beginnings"));
        assert!(section.notes[1].contains("1 collections were under way"));
    }

    #[test]
    fn pools_keep_the_last_state_and_add_up_what_was_freed() {
        let mut play = Play::default();
        let (manager, old, eden) = (play.name("G1 Young Generation"), play.name("G1 Old Gen"), play.name("G1 Eden"));
        let pool = |edge, pool, used_bytes, max_bytes| Payload::MemPool {
            edge,
            manager,
            pool,
            init_bytes: 0,
            used_bytes,
            committed_bytes: 1000,
            max_bytes,
        };
        let section = play.section(
            &mut Gc::default(),
            1000,
            &[
                (0, 5, pool(Edge::End, eden, 1, u64::MAX)),
                (1, 5, pool(Edge::Begin, eden, 500, u64::MAX)),
                (2, 5, pool(Edge::End, eden, 20, u64::MAX)),
                (3, 5, pool(Edge::Begin, eden, 600, u64::MAX)),
                (4, 5, pool(Edge::End, eden, 10, u64::MAX)),
                (4, 5, pool(Edge::Begin, old, 100, 2000)),
                (4, 5, pool(Edge::End, old, 150, 2000)),
            ],
        );
        let keys = ["pool", "collections", "used_before_bytes", "used_after_bytes", "max_bytes", "freed_bytes"];
        assert_eq!(
            cells(&section, "pools", keys),
            [["G1 Eden", "3", "600", "10", "-", "1070"], ["G1 Old Gen", "1", "100", "150", "2000", "0"]]
        );
    }

    #[test]
    fn nothing_seen_is_zero() {
        let section = Play::default().section(&mut Gc::default(), 1000, &[]);
        assert_eq!(numbers(&section, ["collections", "pause_p99_ns"]), [0; 2]);
        assert!(is_close(&section, "pause_share_percent", 0.0));
    }
}

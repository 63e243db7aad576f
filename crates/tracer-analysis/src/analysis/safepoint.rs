//! Lens `safepoint`: VM operations by name, and how long the JVM's threads were stopped for them.

mod stop;

use self::stop::Stops;
use super::{
    Analysis, Context, Lens, Scaled,
    distribution::Latencies,
    ended::EndedThreads,
    pairing::{Open, Stacks},
    rare::Replaced,
    request::Requests,
    row_steps::{COUNT_TOTAL_MAX, Timed},
    scaled::scaled,
    steps::Steps,
    table::{Keyed, Merge, column},
};
use crate::{
    event::{Edge, Event, NameId, Payload},
    item::GuardAction,
    report::{Section, Series, Shape, Summary, TableSteps, Timeline, Unit},
};

/// Most VM operations: HotSpot has about a hundred.
const OPERATIONS: usize = 256;

/// The analysis.
#[derive(Debug)]
pub struct Safepoint {
    open: Open<u64>,
    /// Safepoints that began: of those at the edge of a window the end may not be seen.
    begun: u64,
    safepoints: Latencies,
    stops: Stops,
    running: Stacks<(NameId, u64)>,
    ended: u64,
    operations: Keyed<NameId, Operation>,
    requests: Requests,
    timed: Timed<NameId>,
    steps: Steps<1>,
}

/// What is known about the operations of one name.
#[derive(Clone, Debug, Default)]
struct Operation {
    requested: u64,
    ended: u64,
    latencies: Latencies<2>,
}

impl Merge for Operation {
    fn merge(&mut self, other: &Self) {
        self.requested += other.requested;
        self.ended += other.ended;
        self.latencies.merge(&other.latencies);
    }
}

impl Default for Safepoint {
    fn default() -> Self {
        Self {
            open: Open::default(),
            begun: 0,
            safepoints: Latencies::default(),
            stops: Stops::default(),
            running: Stacks::default(),
            ended: 0,
            operations: Keyed::new(OPERATIONS),
            requests: Requests::default(),
            timed: Timed::default(),
            steps: Steps::default(),
        }
    }
}

impl Safepoint {
    fn operation(&mut self, event: &Event, edge: Edge, name: NameId) {
        match edge {
            Edge::Begin => {
                self.running.begin(event.tid, (name, event.time_ns));
                self.stops.operation(event);
            }
            Edge::End => {
                self.ended += 1;
                let operation = self.operations.entry(name);
                operation.ended += 1;
                self.timed.count(name, event.time_ns, 1);
                if let Some(((_, begin_ns), _)) = self.running.end(event.tid, |(begun, _)| *begun == name) {
                    operation.latencies.record(event.time_ns.saturating_sub(begin_ns));
                    self.timed.stretch(name, begin_ns, event.time_ns);
                }
            }
        }
    }

    fn safepoint(&mut self, event: &Event, edge: Edge) {
        match edge {
            Edge::Begin => {
                self.begun += 1;
                self.open.begin(event.tid, event.time_ns);
                self.stops.begin(event);
            }
            Edge::End => {
                self.stops.end();
                if let Some(begin_ns) = self.open.end(event.tid, |_| true) {
                    self.safepoints.record(event.time_ns.saturating_sub(begin_ns));
                    self.steps.add_stretch(0, begin_ns, event.time_ns);
                }
            }
        }
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = vec![
            "A safepoint lasts from the request to stop all threads until they are let go; an operation's time lies \
             inside it where the operation needs one. The time to stop is from the request until the first operation \
             begins."
                .to_owned(),
        ];
        notes.extend(self.open.unpaired.note("Safepoints"));
        notes.extend(self.running.unpaired.note("VM operations"));
        if self.open.len() > 0 {
            notes.push("A safepoint was under way at the end of the span and is not counted.".to_owned());
        }
        notes.extend(self.operations.note("VM operations"));
        notes.extend(self.requests.note());
        notes
    }

    fn operations_table(&self, context: Context<'_>) -> Shape {
        self.operations.grouped(|name| Some(context.names.text(*name))).table(
            "operations",
            "VM operations",
            vec![
                column("operation", "Operation", Unit::Text),
                column("count", "Count", Unit::Count),
                column("total_ns", "Total", Unit::Ns),
                column("max_ns", "Max", Unit::Ns),
                column("p99_ns", "p99", Unit::Ns),
                column("requested", "Requested", Unit::Count),
            ],
            |operation| operation.latencies.durations.total_ns,
            |name| vec![name.into()],
            |operation| {
                let durations = operation.latencies.durations;
                vec![
                    operation.ended.into(),
                    durations.total_ns.into(),
                    durations.max_ns.into(),
                    operation.latencies.percentile(99.0).into(),
                    // Other recorders do not tell of requests.
                    context.target.recorder.is_none().then_some(operation.requested).into(),
                ]
            },
        )
    }
}

impl Analysis for Safepoint {
    fn lens(&self) -> Lens {
        Lens::Safepoint
    }

    fn threads_ended(&mut self, ended: &EndedThreads) {
        self.requests.sum_up(ended);
    }

    fn start(&mut self, start_ns: u64) {
        self.steps.start(start_ns);
        self.timed.start(start_ns);
    }

    fn event(&mut self, event: &Event) {
        match event.payload {
            Payload::Safepoint { edge } => self.safepoint(event, edge),
            Payload::VmOperation { edge, name, mode: _ } => self.operation(event, edge, name),
            Payload::VmOperationRequest { name, mode: _ } => {
                self.operations.entry(name).requested += 1;
                self.requests.take(event, name);
            }
            Payload::CpuSample { .. } => self.stops.sample(event),
            _ => {}
        }
    }

    fn replace_stacks(&mut self, replaced: &Replaced, _: &crate::stack::Stacks) {
        self.stops.replace_stacks(replaced);
    }

    fn guard(&mut self, action: &GuardAction) {
        if !action.hides_ends() {
            return;
        }
        self.stops.end();
        match action.group.as_str() {
            "safepoint" => self.open.cut_all(),
            "vm-operation" => self.running.cut_all(),
            _ => {}
        }
    }

    fn scaled(&self, group: &str) -> Vec<Scaled> {
        match group {
            "safepoint" => vec![scaled!("safepoints", "safepoints", self.begun)],
            "vm-operation" => vec![scaled!("vm_operations", "VM operations", self.ended)],
            _ => Vec::new(),
        }
    }

    fn shows(&self, group: &str, shape: &str) -> bool {
        if shape == "operations" { group == "vm-operation" } else { group == "safepoint" }
    }

    fn table_steps(&self, context: Context<'_>) -> Vec<TableSteps> {
        let id = (Lens::Safepoint.id(), "operations");
        let label = |name: &NameId| Some(context.names.text(*name));
        vec![self.timed.table(id, &COUNT_TOTAL_MAX, label, |name| vec![name.into()])]
    }

    fn section(&self, context: Context<'_>) -> Section {
        let durations = self.safepoints.durations;
        let mut summary = Summary::new()
            .int("safepoints", durations.count)
            .int("safepoint_total_ns", durations.total_ns)
            .int("safepoint_max_ns", durations.max_ns)
            .int("vm_operations", self.ended)
            .int("safepoint_p99_ns", self.safepoints.percentile(99.0))
            .int("to_stop_total_ns", self.stops.times.durations.total_ns)
            .int("to_stop_max_ns", self.stops.times.durations.max_ns);
        if let Some(at_ns) = self.stops.longest.at_ns(context.span) {
            summary = summary.int("to_stop_max_at_ns", at_ns);
        }
        if context.span.duration_ns > 0 {
            let share = 100.0 * durations.total_ns as f64 / context.span.duration_ns as f64;
            summary = summary.float("safepoint_share_percent", share);
        }
        let mut shapes = vec![self.operations_table(context)];
        shapes.extend(self.requests.table(None, context));
        shapes.push(self.stops.table(context));
        shapes.extend(self.safepoints.shape("safepoints", "Safepoints"));
        let (step_ns, [stopped]) = self.steps.series(context.span);
        shapes.push(Shape::Timeline(Timeline {
            id: "stopped",
            title: "Safepoint time per step".to_owned(),
            unit: Unit::Ns,
            step_ns,
            levels: false,
            series: vec![Series { key: "stopped_ns", title: "Stopped".to_owned(), values: stopped }],
        }));
        Section {
            id: Lens::Safepoint.id(),
            title: "Safepoints and VM operations".to_owned(),
            summary,
            notes: self.notes(),
            shapes,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::testing::{MS, Play, cells, first_keys, is_close, numbers},
        *,
    };
    use crate::event::StackId;

    fn operation(edge: Edge, name: NameId) -> Payload {
        Payload::VmOperation { edge, name, mode: 0 }
    }

    #[test]
    fn operations_and_safepoints_are_timed_apart() {
        let mut play = Play::default();
        let (collect, dump) = (play.name("G1CollectForAllocation"), play.name("ThreadDump"));
        let section = play.section(
            &mut Safepoint::default(),
            1000,
            &[
                (0, 9, Payload::VmOperationRequest { name: collect, mode: 0 }),
                (1, 5, Payload::Safepoint { edge: Edge::Begin }),
                (2, 5, operation(Edge::Begin, collect)),
                (3, 5, operation(Edge::Begin, dump)),
                (4, 5, operation(Edge::End, dump)),
                (12, 5, operation(Edge::End, collect)),
                (21, 5, Payload::Safepoint { edge: Edge::End }),
            ],
        );
        assert_eq!(first_keys(&section, 4), ["safepoints", "safepoint_total_ns", "safepoint_max_ns", "vm_operations"]);
        assert_eq!(
            numbers(&section, ["safepoints", "safepoint_total_ns", "safepoint_max_ns", "vm_operations"]),
            [1, 20 * MS, 20 * MS, 2]
        );
        assert!(is_close(&section, "safepoint_share_percent", 2.0));
        assert_eq!(
            cells(&section, "operations", ["operation", "count", "total_ns", "max_ns", "p99_ns", "requested"]),
            [
                ["G1CollectForAllocation", "1", "10000000", "10000000", "10000000", "1"],
                ["ThreadDump", "1", "1000000", "1000000", "1000000", "0"]
            ]
        );
        assert_eq!(section.notes.len(), 1);
    }

    #[test]
    fn who_asked_is_the_place_in_the_program() {
        let mut play = Play::default();
        let dump = play.name("ThreadDump");
        let stack = play.stack(&[
            "a.Main.watch:7",
            "sun.management.ThreadImpl.dumpAllThreads:500",
            "libjvm.so VMThread::execute",
        ]);
        let request = Payload::VmOperationRequest { name: dump, mode: 0 };
        let events = [(0, 9, stack, request), (5, 9, stack, request), (6, 3, StackId::default(), request)];
        let section = play.section_of_stacks(&mut Safepoint::default(), 1000, &events);
        assert_eq!(
            cells(&section, "requests", ["operation", "site", "top", "tid", "count"]),
            [
                ["ThreadDump", "a.Main.watch:7", "sun.management.ThreadImpl.dumpAllThreads:500", "9", "2"],
                ["ThreadDump", "<no stack taken>", "<no stack taken>", "3", "1"]
            ]
        );
    }

    #[test]
    fn whoever_runs_while_others_must_wait_is_named() {
        let mut play = Play::default();
        let name = play.name("ThreadDump");
        let counting = play.stack(&["java.lang.Thread.run:840", "a.Sum.count:12"]);
        let native = play.stack(&["libjvm.so CompileBroker::compiler_thread_loop"]);
        let none = StackId::default();
        let sample = Payload::CpuSample { period_ns: 1 };
        let events = [
            (1, 7, counting, sample),
            (5, 5, none, Payload::Safepoint { edge: Edge::Begin }),
            (10, 7, counting, sample),
            (20, 8, native, sample),
            (30, 7, counting, sample),
            (65, 5, none, operation(Edge::Begin, name)),
            (66, 5, none, operation(Edge::End, name)),
            (67, 5, none, Payload::Safepoint { edge: Edge::End }),
            (68, 7, counting, sample),
        ];
        let section = play.section_of_stacks(&mut Safepoint::default(), 1000, &events);
        assert_eq!(numbers(&section, ["to_stop_total_ns", "to_stop_max_ns"]), [60 * MS, 60 * MS]);
        assert_eq!(
            cells(&section, "stoppers", ["site", "top", "tid", "samples"]),
            [["a.Sum.count:12", "a.Sum.count:12", "7", "2"]]
        );
    }

    #[test]
    fn unpaired_edges_have_no_duration() {
        let mut play = Play::default();
        let name = play.name("Cleanup");
        let section = play.section(
            &mut Safepoint::default(),
            1000,
            &[
                (1, 5, operation(Edge::End, name)),
                (2, 5, Payload::Safepoint { edge: Edge::End }),
                (3, 5, Payload::Safepoint { edge: Edge::Begin }),
            ],
        );
        assert_eq!(numbers(&section, ["safepoints", "safepoint_total_ns", "vm_operations"]), [0, 0, 1]);
        assert!(section.notes.iter().any(|note| note.starts_with("Safepoints: 1 end without")));
        assert!(section.notes.iter().any(|note| note.starts_with("VM operations: 1 end without")));
        assert!(section.notes.iter().any(|note| note.contains("under way at the end")));
    }
}

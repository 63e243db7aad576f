//! Lens `wall`: where threads spend their time, running or not: samples of running threads, each for the time that it
//! stands for, and the scheduler's times of threads that do not run.

use std::{cmp::Reverse, collections::BTreeMap};

use super::{
    Analysis, Context, Lens,
    ended::{self, EndedThreads},
    method::{self, Measure},
    offcpu::reason::{Left, reason},
    profile::{self, Amount},
    rare::Replaced,
    stack_steps::StackSteps,
    steps::Steps,
    table::{Groups, Keyed, Merge, column},
};
use crate::{
    event::{Event, Payload, StackId, Tid},
    report::{Section, Series, Shape, Summary, Timeline, Unit},
    stack::{Kind, Stacks},
};

/// Most combinations of stack, cause and thread.
const ROWS: usize = 262_144;

/// State of the lens.
#[derive(Debug)]
pub struct Wall {
    total: Times,
    /// No cause: the thread ran.
    rows: Keyed<(StackId, Option<Left>, Tid), Amount>,
    threads: Keyed<Tid, Times>,
    beside: method::Beside,
    steps: Steps<2>,
    stack_steps: StackSteps,
}

/// Time of a thread, or of all.
#[derive(Clone, Copy, Debug, Default)]
struct Times {
    on: Amount,
    off: Amount,
    run_queue_ns: u64,
}

impl Merge for Times {
    fn merge(&mut self, other: &Self) {
        self.on.merge(&other.on);
        self.off.merge(&other.off);
        self.run_queue_ns = self.run_queue_ns.saturating_add(other.run_queue_ns);
    }
}

impl Times {
    fn sum_ns(&self) -> u64 {
        self.on.value.saturating_add(self.off.value)
    }
}

impl Default for Wall {
    fn default() -> Self {
        Self {
            total: Times::default(),
            rows: Keyed::new(ROWS),
            threads: Keyed::new(ROWS),
            beside: method::Beside::default(),
            steps: Steps::default(),
            stack_steps: StackSteps::default(),
        }
    }
}

impl Wall {
    fn sample(&mut self, event: &Event, period_ns: u64) {
        self.total.on.add(period_ns);
        self.threads.entry(event.tid).on.add(period_ns);
        self.rows.entry((event.stack, None, event.tid)).add(period_ns);
        self.steps.add(0, event.time_ns, period_ns);
        self.stack_steps.add(event.stack, event.tid, event.time_ns, period_ns);
    }

    fn block(&mut self, event: &Event, left: Left, blocked_ns: u64, run_queue_ns: u64) {
        let run_queue_ns = if left.task_state == 0 { blocked_ns } else { run_queue_ns.min(blocked_ns) };
        for times in [&mut self.total, self.threads.entry(event.tid)] {
            times.off.add(blocked_ns);
            times.run_queue_ns = times.run_queue_ns.saturating_add(run_queue_ns);
        }
        self.rows.entry((event.stack, Some(left), event.tid)).add(blocked_ns);
        let begin_ns = event.time_ns.saturating_sub(blocked_ns);
        self.steps.add_stretch(1, begin_ns, event.time_ns);
        self.stack_steps.add_stretch(event.stack, event.tid, begin_ns, event.time_ns);
    }

    /// Running, and not running by reason.
    fn states_table(&self, context: Context<'_>) -> Shape {
        let mut rows: BTreeMap<(&str, &str), Amount> = BTreeMap::new();
        for ((stack, left, _), amount) in self.rows.iter() {
            let label = match left {
                None => ("on", "running"),
                Some(left) => ("off", reason(*left, context.stacks.frames_of(*stack)).title()),
            };
            rows.entry(label).or_default().merge(amount);
        }
        let total = self.total.sum_ns() as f64;
        Groups { rows, others: self.rows.others().copied() }.table(
            "states",
            "Time of all threads by what they did",
            vec![
                column("state", "CPU", Unit::Text),
                column("reason", "Doing", Unit::Text),
                column("count", "Times", Unit::Count),
                column("total_ns", "Total", Unit::Ns),
                column("share_percent", "Share", Unit::Percent),
            ],
            |amount| amount.value,
            |(state, reason)| vec![state.into(), reason.into()],
            |amount| {
                let share = (total > 0.0).then(|| 100.0 * amount.value as f64 / total);
                vec![amount.count.into(), amount.value.into(), share.into()]
            },
        )
    }

    fn threads_table(&self, context: Context<'_>) -> Shape {
        self.threads.grouped(|tid| Some(*tid)).table(
            "threads",
            "Time by thread",
            vec![
                column("thread", "Thread", Unit::Text),
                column("tid", "Thread id", Unit::Count),
                column("on_ns", "On CPU", Unit::Ns),
                column("off_ns", "Off CPU", Unit::Ns),
                column("run_queue_ns", "Run queue", Unit::Ns),
            ],
            Times::sum_ns,
            |tid| vec![context.names.thread(tid).into(), u64::from(tid.0).into()],
            |times| vec![times.on.value.into(), times.off.value.into(), times.run_queue_ns.into()],
        )
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.total.sum_ns() > 0 {
            notes.push(
                "Time on a CPU is an estimate out of samples, time off it is exact; both are sums over all threads. A \
                 thread that was off its CPU when the span ended is not counted from then on."
                    .to_owned(),
            );
        }
        notes.extend(self.rows.note("combinations of stack, cause and thread"));
        notes.extend(self.threads.note("threads"));
        notes.extend(ended::note(self.rows.iter().map(|((.., tid), _)| *tid)));
        notes
    }
}

/// The methods by how long they were the innermost of Java, and functions outside of Java by what is their own. A thread that
/// waits does so in the kernel, always in the same few functions, so those are left out.
fn methods<'a>(
    context: Context<'a>,
    beside: &method::Beside,
    amounts: impl Iterator<Item = (StackId, Amount)>,
) -> Vec<method::Row<'a>> {
    let mut methods = method::rows(context.stacks, beside, amounts);
    methods.retain(|row| row.frame.kind != Kind::Kernel);
    let rank = |row: &method::Row<'_>| {
        let shares = row.shares;
        if row.frame.kind.is_java() { shares.java_own.value } else { shares.own.value }
    };
    // Stable: the order that rows come in decides among equals.
    methods.sort_by_key(|row| Reverse(rank(row)));
    methods
}

impl Analysis for Wall {
    fn lens(&self) -> Lens {
        Lens::Wall
    }

    fn threads_ended(&mut self, ended: &EndedThreads) {
        if self.rows.sum_up(ended) {
            self.stack_steps.sum_up(ended);
        }
        self.threads.sum_up(ended);
    }

    fn stack_amounts(&self) -> Vec<(StackId, u64)> {
        self.rows.stack_amounts(|amount| amount.value)
    }

    fn replace_stacks(&mut self, replaced: &Replaced, stacks: &Stacks) {
        self.beside.replace(stacks, replaced, self.rows.iter().map(|((stack, ..), amount)| (*stack, *amount)));
        self.rows.replace_stacks(replaced);
        self.stack_steps.replace_stacks(replaced);
    }

    fn start(&mut self, start_ns: u64) {
        self.steps.start(start_ns);
        self.stack_steps.start(start_ns);
    }

    fn event(&mut self, event: &Event) {
        match event.payload {
            Payload::CpuSample { period_ns } => self.sample(event, period_ns),
            Payload::OffCpu { blocked_ns, run_queue_ns, task_state, syscall } => {
                self.block(event, Left { task_state, syscall }, blocked_ns, run_queue_ns);
            }
            _ => {}
        }
    }

    fn section(&self, context: Context<'_>) -> Section {
        let Times { on, off, run_queue_ns } = self.total;
        let summary = Summary::new()
            .int("on_cpu_ns", on.value)
            .int("off_cpu_ns", off.value)
            .int("run_queue_ns", run_queue_ns)
            .int("samples", on.count)
            .int("blocks", off.count);
        let (step_ns, [on, off]) = self.steps.series(context.span);
        let amounts = || self.rows.iter().map(|((stack, _, tid), amount)| (*stack, *tid, *amount));
        let methods = methods(context, &self.beside, amounts().map(|(stack, _, amount)| (stack, amount)));
        let mut shapes = vec![
            self.states_table(context),
            self.threads_table(context),
            method::table("methods", "Methods by time", Measure::Time(self.total.sum_ns()), &methods),
            Shape::Timeline(Timeline {
                id: "on_off",
                title: "Time of all threads per step".to_owned(),
                unit: Unit::Ns,
                step_ns,
                levels: false,
                series: vec![
                    Series { key: "on_ns", title: "On CPU".to_owned(), values: on },
                    Series { key: "off_ns", title: "Off CPU".to_owned(), values: off },
                ],
            }),
        ];
        let others = self.rows.others().copied();
        shapes.extend(profile::shape(
            "time",
            "Time by stack",
            Unit::Ns,
            context,
            amounts(),
            others,
            Some(&self.stack_steps),
        ));
        Section { id: Lens::Wall.id(), title: "Wall-clock time".to_owned(), summary, notes: self.notes(), shapes }
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::testing::{MS, Play, cells, first_keys, numbers, profile_rows},
        *,
    };

    #[test]
    fn running_and_waiting_add_up() {
        let mut play = Play::default();
        let stack = play.stack(&["a.Main.main:1", "a.Main.work:2"]);
        let sleep = play.stack(&["a.Main.main:1", "java.lang.Thread.sleep:9", "kernel hrtimer_nanosleep"]);
        let sample = Payload::CpuSample { period_ns: 10 * MS };
        let block = Payload::OffCpu { blocked_ns: 700 * MS, run_queue_ns: 3 * MS, task_state: 1, syscall: 230 };
        let preempted = Payload::OffCpu { blocked_ns: 20 * MS, run_queue_ns: 0, task_state: 0, syscall: u64::MAX };
        let section = play.section_of_stacks(
            &mut Wall::default(),
            2000,
            &[(50, 7, stack, sample), (100, 7, stack, sample), (1200, 7, sleep, block), (1300, 8, stack, preempted)],
        );
        assert_eq!(first_keys(&section, 2), ["on_cpu_ns", "off_cpu_ns"]);
        assert_eq!(
            numbers(&section, ["on_cpu_ns", "off_cpu_ns", "run_queue_ns", "samples", "blocks"]),
            [20 * MS, 720 * MS, 23 * MS, 2, 2]
        );
        assert_eq!(
            cells(&section, "states", ["state", "reason", "count", "total_ns"]),
            [
                ["off", "sleep", "1", "700000000"],
                ["off", "run queue", "1", "20000000"],
                ["on", "running", "2", "20000000"]
            ]
        );
        assert_eq!(
            cells(&section, "threads", ["thread", "on_ns", "off_ns", "run_queue_ns"]),
            [["tid 7", "20000000", "700000000", "3000000"], ["tid 8", "0", "20000000", "20000000"]]
        );
        assert_eq!(
            cells(&section, "methods", ["method", "java_self_ns", "self_ns", "total_ns"]),
            [
                ["java.lang.Thread.sleep", "700000000", "0", "700000000"],
                ["a.Main.work", "40000000", "40000000", "40000000"],
                ["a.Main.main", "0", "0", "740000000"]
            ]
        );
        let rows = profile_rows(&section, "time");
        assert_eq!(
            rows.iter().map(|row| (row.1.as_str(), row.2)).collect::<Vec<_>>(),
            [("tid 7", 700 * MS), ("tid 7", 20 * MS), ("tid 8", 20 * MS)]
        );
    }

    #[test]
    fn without_events_there_is_nothing_to_say() {
        let section = Play::default().section(&mut Wall::default(), 1000, &[]);
        assert!(section.notes.is_empty() && section.shapes.iter().all(Shape::is_empty));
    }
}

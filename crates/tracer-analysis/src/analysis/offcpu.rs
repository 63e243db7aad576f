//! Lens `offcpu`: where threads wait and for what, from the scheduler: each time a thread runs again, how long it did not,
//! with the stack and the system call of the moment when it left its CPU.
//!
//! Blocks are kept by stack; the reason, which the stack's frames tell, is found when the section is built. For the
//! distribution of a reason's durations, durations of a stack are kept in classes that are 3 % wide, until the stack is asked for its
//! reason, every few minutes: a stack would fill hundreds of classes in hours.

pub(super) mod reason;
mod table;

use std::collections::BTreeMap;

use tracer_common::stack::STACK_FIRST;

use super::{
    Analysis, Context, Lens,
    distribution::{Durations, Latencies, class},
    ended::{self, EndedThreads},
    profile::{self, Amount},
    rare::Replaced,
    row_steps, site,
    spread::Spread,
    stack_steps::StackSteps,
    table::{FastMap, Keyed, Merge},
};
use crate::{
    event::{Event, Payload, StackId, Tid},
    report::{Section, Series, Shape, Summary, TableSteps, Timeline, Unit},
    stack::Stacks,
};
use reason::{Left, Reason, reason};

/// Most combinations of stack, cause and thread: some 20 MiB.
const BLOCKS: usize = 262_144;
/// Most combinations of stack, cause and class of duration.
const CLASSES: usize = 262_144;

/// State of the lens.
#[derive(Debug)]
pub struct Offcpu {
    all: Latencies,
    run_queue_ns: u64,
    blocks: Keyed<(StackId, Left, Tid), Block>,
    classes: Keyed<(StackId, Left, u16), Durations>,
    /// Durations of those that are in no class any more.
    latencies: ByReason,
    steps: Spread<(StackId, Left)>,
    stack_steps: StackSteps,
}

/// The distribution of durations by reason.
type ByReason = BTreeMap<Reason, Latencies<2>>;

/// Blocks that are alike.
#[derive(Clone, Copy, Debug, Default)]
struct Block {
    durations: Durations,
    /// The part of it in which the thread was ready and waited for a CPU.
    run_queue_ns: u64,
}

impl Merge for Block {
    fn merge(&mut self, other: &Self) {
        self.durations.merge(&other.durations);
        self.run_queue_ns = self.run_queue_ns.saturating_add(other.run_queue_ns);
    }
}

impl Default for Offcpu {
    fn default() -> Self {
        Self {
            all: Latencies::default(),
            run_queue_ns: 0,
            blocks: Keyed::new(BLOCKS),
            classes: Keyed::new(CLASSES),
            latencies: ByReason::default(),
            steps: Spread::default(),
            stack_steps: StackSteps::default(),
        }
    }
}

/// Reasons of stacks, each found once.
struct Reasons<'a> {
    stacks: &'a Stacks,
    known: FastMap<(StackId, Left), Reason>,
}

impl<'a> Reasons<'a> {
    fn new(stacks: &'a Stacks) -> Self {
        Self { stacks, known: FastMap::default() }
    }

    fn of(&mut self, stack: StackId, left: Left) -> Reason {
        let stacks = self.stacks;
        *self.known.entry((stack, left)).or_insert_with(|| reason(left, stacks.frames_of(stack)))
    }
}

impl Offcpu {
    fn block(&mut self, event: &Event, left: Left, blocked_ns: u64, run_queue_ns: u64) {
        let Event { time_ns, tid, stack, .. } = *event;
        // The time on the run queue is part of the whole; a kernel that says otherwise is not believed.
        let run_queue_ns = if left.task_state == 0 { blocked_ns } else { run_queue_ns.min(blocked_ns) };
        self.all.record(blocked_ns);
        self.run_queue_ns = self.run_queue_ns.saturating_add(run_queue_ns);
        let block = self.blocks.entry((stack, left, tid));
        block.durations.record(blocked_ns);
        block.run_queue_ns = block.run_queue_ns.saturating_add(run_queue_ns);
        self.classes.entry((stack, left, class(blocked_ns))).record(blocked_ns);
        let begin_ns = time_ns.saturating_sub(blocked_ns);
        self.steps.add_stretch((stack, left), begin_ns, time_ns);
        self.stack_steps.add_stretch(stack, tid, begin_ns, time_ns);
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.all.durations.count > 0 {
            notes.push(
                "A block is known when its thread runs again: threads that did not run again before the end of the \
                 span are not in these numbers. Times are sums over all threads, so idle ones make up most of them."
                    .to_owned(),
            );
            notes.push(
                "Reasons are found from the frames below the program's own methods, else from the system call; a \
                 monitor cannot be told from other locks of the JVM where libjvm.so has no symbols."
                    .to_owned(),
            );
        }
        notes.extend(self.blocks.note("combinations of stack, cause and thread"));
        notes.extend(ended::note(self.blocks.iter().map(|((.., tid), _)| *tid)));
        notes.extend(self.classes.note("combinations of stack, cause and class of duration"));
        notes
    }

    fn timeline(&self, context: Context<'_>, reasons: &mut Reasons<'_>) -> Shape {
        const REASONS: usize = Reason::ALL.len();
        let place = |reason: Reason| Reason::ALL.iter().position(|known| *known == reason).unwrap_or(REASONS - 1);
        let (step_ns, values) =
            self.steps.series::<REASONS>(context.span, |(stack, left)| place(reasons.of(stack, left)));
        let series = Reason::ALL
            .into_iter()
            .zip(values)
            .map(|(reason, values)| Series { key: reason.key(), title: reason.title().to_owned(), values })
            .collect();
        Shape::Timeline(Timeline {
            id: "blocked_by_reason",
            title: "Time off CPU of all threads per step".to_owned(),
            unit: Unit::Ns,
            step_ns,
            levels: false,
            series,
        })
    }
}

impl Analysis for Offcpu {
    fn lens(&self) -> Lens {
        Lens::Offcpu
    }

    fn threads_ended(&mut self, ended: &EndedThreads) {
        if self.blocks.sum_up(ended) {
            self.stack_steps.sum_up(ended);
        }
    }

    fn stack_amounts(&self) -> Vec<(StackId, u64)> {
        self.blocks.stack_amounts(|block| block.durations.total_ns)
    }

    fn round_ends(&mut self, stacks: &Stacks) {
        let mut reasons = Reasons::new(stacks);
        for ((stack, left, _), durations) in
            self.classes.take(|(id, ..)| id.0 < STACK_FIRST || stacks.get(*id).is_some())
        {
            self.latencies.entry(reasons.of(stack, left)).or_default().record_alike(&durations);
        }
    }

    fn replace_stacks(&mut self, replaced: &Replaced, _: &Stacks) {
        self.blocks.replace_stacks(replaced);
        self.classes.replace_stacks(replaced);
        self.steps.replace_stacks(replaced);
        self.stack_steps.replace_stacks(replaced);
    }

    fn start(&mut self, start_ns: u64) {
        self.steps.start(start_ns);
        self.stack_steps.start(start_ns);
    }

    fn event(&mut self, event: &Event) {
        if let Payload::OffCpu { blocked_ns, run_queue_ns, task_state, syscall } = event.payload {
            self.block(event, Left { task_state, syscall }, blocked_ns, run_queue_ns);
        }
    }

    fn table_steps(&self, context: Context<'_>) -> Vec<TableSteps> {
        let stacks = context.stacks;
        let [mut reasons, mut reasons_of_sites] = [Reasons::new(stacks), Reasons::new(stacks)];
        let id = |table| (Lens::Offcpu.id(), table);
        let place = |(stack, left)| {
            (site::label(stacks, stack), site::top_label(stacks, stack), reasons_of_sites.of(stack, left).title())
        };
        vec![
            row_steps::of_amounts(
                id("reasons"),
                "total_ns",
                self.steps.entries(),
                |(stack, left)| reasons.of(stack, left).title(),
                |reason| vec![reason.into()],
            ),
            row_steps::of_amounts(id("sites"), "total_ns", self.steps.entries(), place, |(site, top, reason)| {
                vec![site.into(), top.into(), reason.into()]
            }),
        ]
    }

    fn section(&self, context: Context<'_>) -> Section {
        let durations = self.all.durations;
        let summary = Summary::new()
            .int("blocks", durations.count)
            .int("blocked_total_ns", durations.total_ns)
            .int("run_queue_total_ns", self.run_queue_ns)
            .int("longest_ns", durations.max_ns)
            .int("blocked_p99_ns", self.all.percentile(99.0));
        let mut reasons = Reasons::new(context.stacks);
        let mut shapes = vec![
            table::reasons(&self.blocks, self.latencies.clone(), &self.classes, &mut reasons),
            table::threads(&self.blocks, context),
            table::sites(&self.blocks, &mut reasons),
        ];
        shapes.extend(self.all.shape("blocked_times", "Time off CPU"));
        shapes.push(self.timeline(context, &mut reasons));
        let amount = |block: &Block| Amount { value: block.durations.total_ns, count: block.durations.count };
        let amounts = self.blocks.iter().map(|((stack, _, tid), block)| (*stack, *tid, amount(block)));
        let others = self.blocks.others().map(amount);
        shapes.extend(profile::shape(
            "blocked",
            "Time off CPU by stack",
            Unit::Ns,
            context,
            amounts,
            others,
            Some(&self.stack_steps),
        ));
        Section { id: Lens::Offcpu.id(), title: "Off CPU".to_owned(), summary, notes: self.notes(), shapes }
    }
}

#[cfg(test)]
mod tests;

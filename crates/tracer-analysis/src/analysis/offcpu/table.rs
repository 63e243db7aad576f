//! Tables of the lens `offcpu`: by reason, by thread, by place in the program.

use std::collections::BTreeMap;

use super::{
    super::{
        Context,
        distribution::{Durations, Latencies},
        site,
        table::{Groups, Keyed, Merge, column},
    },
    Block, ByReason, Reasons,
    reason::{Left, Reason},
};
use crate::{
    event::{StackId, Tid},
    report::{Shape, Unit},
};

/// Blocks of a reason.
#[derive(Clone, Debug, Default)]
struct Row {
    block: Block,
    /// The durations of those whose classes were told apart.
    latencies: Latencies<2>,
}

impl Merge for Row {
    fn merge(&mut self, other: &Self) {
        self.block.merge(&other.block);
        self.latencies.merge(&other.latencies);
    }
}

/// Blocks by reason, with the distribution of their durations.
pub(super) fn reasons(
    blocks: &Keyed<(StackId, Left, Tid), Block>,
    latencies: ByReason,
    classes: &Keyed<(StackId, Left, u16), Durations>,
    reasons: &mut Reasons<'_>,
) -> Shape {
    let of_reason = |(reason, latencies)| (reason, Row { block: Block::default(), latencies });
    let mut rows: BTreeMap<Reason, Row> = latencies.into_iter().map(of_reason).collect();
    for ((stack, left, _), block) in blocks.iter() {
        rows.entry(reasons.of(*stack, *left)).or_default().block.merge(block);
    }
    for ((stack, left, _), durations) in classes.iter() {
        rows.entry(reasons.of(*stack, *left)).or_default().latencies.record_alike(durations);
    }
    let others = blocks.others().map(|block| Row { block: *block, latencies: Latencies::default() });
    Groups { rows, others }.table(
        "reasons",
        "Time off CPU by reason",
        vec![
            column("reason", "Reason", Unit::Text),
            column("blocks", "Blocks", Unit::Count),
            column("total_ns", "Total", Unit::Ns),
            column("p50_ns", "p50", Unit::Ns),
            column("p99_ns", "p99", Unit::Ns),
            column("max_ns", "Max", Unit::Ns),
            column("run_queue_ns", "Run queue", Unit::Ns),
        ],
        |row| row.block.durations.total_ns,
        |reason| vec![reason.title().into()],
        |row| {
            let Row { block: Block { durations: Durations { count, total_ns, max_ns }, run_queue_ns }, latencies } =
                row;
            let percentile = |percent| (latencies.durations.count > 0).then(|| latencies.percentile(percent));
            vec![
                (*count).into(),
                (*total_ns).into(),
                percentile(50.0).into(),
                percentile(99.0).into(),
                (*max_ns).into(),
                (*run_queue_ns).into(),
            ]
        },
    )
}

/// Blocks by thread.
pub(super) fn threads(blocks: &Keyed<(StackId, Left, Tid), Block>, context: Context<'_>) -> Shape {
    blocks.grouped(|(_, _, tid)| Some(*tid)).table(
        "threads",
        "Time off CPU by thread",
        vec![
            column("thread", "Thread", Unit::Text),
            column("tid", "Thread id", Unit::Count),
            column("blocks", "Blocks", Unit::Count),
            column("total_ns", "Total", Unit::Ns),
            column("max_ns", "Max", Unit::Ns),
            column("run_queue_ns", "Run queue", Unit::Ns),
        ],
        |block| block.durations.total_ns,
        |tid| vec![context.names.thread(tid).into(), u64::from(tid.0).into()],
        |block| {
            let Block { durations: Durations { count, total_ns, max_ns }, run_queue_ns } = *block;
            vec![count.into(), total_ns.into(), max_ns.into(), run_queue_ns.into()]
        },
    )
}

/// Blocks by the program's method, what it was doing, and the reason.
pub(super) fn sites(blocks: &Keyed<(StackId, Left, Tid), Block>, reasons: &mut Reasons<'_>) -> Shape {
    let stacks = reasons.stacks;
    let mut by_stack: BTreeMap<(StackId, Reason), Block> = BTreeMap::new();
    for ((stack, left, _), block) in blocks.iter() {
        by_stack.entry((*stack, reasons.of(*stack, *left))).or_default().merge(block);
    }
    let mut rows: BTreeMap<(String, String, Reason), Block> = BTreeMap::new();
    for ((stack, reason), block) in by_stack {
        rows.entry((site::label(stacks, stack), site::top_label(stacks, stack), reason)).or_default().merge(&block);
    }
    Groups { rows, others: blocks.others().copied() }.table(
        "sites",
        "Time off CPU by place in the program",
        vec![
            column("site", "Place", Unit::Text),
            column("top", "In", Unit::Text),
            column("reason", "Reason", Unit::Text),
            column("blocks", "Blocks", Unit::Count),
            column("total_ns", "Total", Unit::Ns),
            column("max_ns", "Max", Unit::Ns),
        ],
        |block| block.durations.total_ns,
        |(site, top, reason)| vec![site.into(), top.into(), reason.title().into()],
        |block| {
            let Durations { count, total_ns, max_ns } = block.durations;
            vec![count.into(), total_ns.into(), max_ns.into()]
        },
    )
}

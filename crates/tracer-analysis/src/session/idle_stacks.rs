//! Which stacks of samples a session does not keep whole: those that did not come for minutes, and whose amounts are small in
//! every lens. There are new ones as long as a session lasts.
//!
//! Time is that of the events, so a recording gives the report that the session gave.

use std::collections::HashSet;

use tracer_common::stack::STACK_FIRST;

use super::kept::{self, Kept, Kind};
use crate::{
    analysis::{
        Analysis,
        rare::{self, Replaced},
        table::FastMap,
    },
    event::{Event, Payload, StackId},
    stack::{Stack, Stacks, TOLD_AGAIN_NS},
    text::format,
};

/// Fewer stacks are all kept whole.
const MANY: usize = 8192;
/// Stacks that are looked through for an event, so that reading takes linear time whatever the clock of a recording says.
const AN_EVENT: usize = 8;
/// Of each lens the stacks of so many of its largest rows are kept whole.
const LARGEST: usize = 2048;
/// Length of a round, in ns: a stack that did not come in a whole one is idle.
const ROUND_NS: u64 = 150_000_000_000;
const _: () = assert!(ROUND_NS > TOLD_AGAIN_NS, "the source must tell a stack again that comes after it was given up");

/// When the stacks of a session came last.
#[derive(Debug, Default)]
pub(super) struct IdleStacks {
    uses: FastMap<StackId, Use>,
    round: u32,
    ends_ns: u64,
    /// Events that came, less those for which stacks were looked through.
    events: usize,
    /// What took the place of others in this round, and before. A recording of an older version does not tell them again.
    replaced: Replaced,
    before: Replaced,
    count: u64,
}

#[derive(Clone, Copy, Debug)]
struct Use {
    /// The last round in which it came.
    round: u32,
    /// Others than samples have it, or it stands for several.
    lasts: bool,
}

impl IdleStacks {
    /// A stack is told.
    pub(super) fn define(&mut self, id: StackId) {
        let round = self.round;
        self.uses.entry(id).or_insert(Use { round, lasts: false }).round = round;
        self.replaced.remove(id);
        self.before.remove(id);
    }

    /// A stack is kept whole from now on: what has it is no sample.
    pub(super) fn keep(&mut self, id: StackId) {
        if let Some(of_stack) = self.uses.get_mut(&id) {
            of_stack.lasts = true;
        }
    }

    /// An event comes; the stack that it has now.
    pub(super) fn take(&mut self, event: &Event) -> StackId {
        let Event { stack, payload, .. } = *event;
        self.events += 1;
        if stack.0 < STACK_FIRST {
            return stack;
        }
        if let Some(of_stack) = self.uses.get_mut(&stack) {
            of_stack.round = self.round;
            of_stack.lasts |= !matches!(payload, Payload::CpuSample { .. } | Payload::OffCpu { .. });
            return stack;
        }
        self.replaced.get(stack).or_else(|| self.before.get(stack)).unwrap_or(stack)
    }

    /// Whether a round is over; then another one begins.
    pub(super) fn turns(&mut self, time_ns: u64) -> bool {
        if time_ns < self.ends_ns {
            return false;
        }
        let is_first = self.ends_ns == 0;
        self.ends_ns = time_ns.saturating_add(ROUND_NS);
        self.round = self.round.saturating_add(1);
        !is_first
    }

    /// Gives up what was idle in the round that ended, where there are many stacks.
    pub(super) fn give_up(&mut self, stacks: &mut Stacks, analyses: &mut [Box<dyn Analysis>], kept: &mut Kept) {
        let paid = stacks.len() / AN_EVENT;
        if stacks.len() <= MANY || self.events < paid {
            return;
        }
        self.events -= paid;
        self.before = std::mem::take(&mut self.replaced);
        for id in self.idle(analyses) {
            match rare::shorten(stacks, id) {
                Some(by) => self.replace(id, by, stacks, kept),
                // Nothing of it would be left out later either.
                None => self.keep(id),
            }
        }
        for analysis in analyses {
            analysis.replace_stacks(&self.replaced);
        }
    }

    /// What is idle and small, in the order of the ids: two replays number frames alike.
    fn idle(&self, analyses: &[Box<dyn Analysis>]) -> Vec<StackId> {
        let large: HashSet<StackId> = analyses.iter().flat_map(|analysis| analysis.largest_stacks(LARGEST)).collect();
        let ended = self.round.saturating_sub(1);
        let is_idle = |of_stack: &Use| !of_stack.lasts && of_stack.round < ended;
        let idle = self.uses.iter().filter(|(id, of_stack)| is_idle(of_stack) && !large.contains(id));
        let mut idle: Vec<StackId> = idle.map(|(id, _)| *id).collect();
        idle.sort_unstable();
        idle
    }

    fn replace(&mut self, id: StackId, by: StackId, stacks: &mut Stacks, kept: &mut Kept) {
        if let Some(Stack { frames, end }) = stacks.forget(id) {
            kept.gives_back(Kind::Stacks, kept::of_stack(&frames, &end));
        }
        self.uses.remove(&id);
        let is_new = self.uses.insert(by, Use { round: self.round, lasts: true }).is_none();
        if is_new && let Some(Stack { frames, end }) = stacks.get(by) {
            kept.admits(Kind::Stacks, kept::of_stack(frames, end));
        }
        self.replaced.insert(id, by);
        self.count += 1;
    }

    /// A sentence for lenses that count samples, where stacks were given up.
    pub(super) fn note(&self) -> Option<String> {
        (self.count > 0).then(|| {
            format!(
                "{} that came rarely, and not for minutes, are not kept whole: of their machine code `<rarely seen>` is left. \
                 Amounts, threads and Java frames are as they came.",
                format::plural(self.count, "stack", "stacks")
            )
        })
    }
}

#[cfg(test)]
mod tests;

//! Which stacks of samples a session does not keep whole: those that did not come for minutes, and whose amounts are small in
//! every lens. There are new ones as long as a session lasts.
//!
//! Time is that of the events, so a recording gives the report that the session gave.

use std::{
    cmp::Reverse,
    collections::{HashMap, HashSet, hash_map::Entry},
};

use tracer_common::stack::STACK_FIRST;

use super::kept::{self, Kept, Kind};
use crate::{
    analysis::{
        Analysis,
        rare::{self, Left, Replaced},
        table::FastMap,
    },
    event::{Event, Payload, StackId},
    stack::{Stack, Stacks, TOLD_AGAIN_NS},
    text::format,
};

/// Fewer stacks are all kept whole, and of fewer that are not all Java frames.
const MANY: usize = 8192;
/// Of more stacks without machine code, only the largest keep their Java frames: what takes hours to fill is a leak to whoever looks. All
/// tables by stack become twice as large at 14,336 rows, those by stack and duration at twice as many.
const MOST: usize = 10_240;
/// Of each lens so many do then.
const LARGEST_OF_MOST: usize = 4096;
/// With fewer, Java frames are left out of the smallest, as long as these have less than one in so many of a lens's amounts. Samples
/// of the CPU are few, and every other stack comes once; half as many would go on growing for hours.
const ONE_IN: u64 = 3;
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
    /// Stacks of which machine code was left out, and of which Java frames were.
    count: u64,
    count_of_java: u64,
}

#[derive(Clone, Copy, Debug)]
struct Use {
    /// The last round in which it came.
    round: u32,
    /// What stays of it.
    left: Left,
    /// Others than samples have it, or nothing more of it can be left out.
    lasts: bool,
}

/// The stacks of a lens with what they amount to.
type StackAmounts = Vec<(StackId, u64)>;

impl IdleStacks {
    /// A stack is told.
    pub(super) fn define(&mut self, id: StackId) {
        let round = self.round;
        self.uses.entry(id).or_insert(Use { round, left: Left::Whole, lasts: false }).round = round;
        self.replaced.remove(id);
        self.before.remove(id);
    }

    /// A stack is kept as it is from now on: what has it is no sample.
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
        let stack = if self.uses.contains_key(&stack) { stack } else { self.now(stack) };
        if let Some(of_stack) = self.uses.get_mut(&stack) {
            of_stack.round = self.round;
            of_stack.lasts |= !matches!(payload, Payload::CpuSample { .. } | Payload::OffCpu { .. });
        }
        stack
    }

    /// What stands for a stack that was given up, which itself may have been since.
    fn now(&self, stack: StackId) -> StackId {
        let by = self.replaced.get(stack).or_else(|| self.before.get(stack)).unwrap_or(stack);
        if self.uses.contains_key(&by) { by } else { self.replaced.get(by).unwrap_or(by) }
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
        let amounts: Vec<StackAmounts> = analyses.iter().map(|analysis| analysis.stack_amounts()).collect();
        let large = self.largest(&amounts, LARGEST);
        let whole = self.idle(Left::Whole).into_iter().filter(|id| !large.contains(id)).collect();
        self.shorten(whole, Left::Java, stacks, kept);
        self.shorten(self.small(&amounts, &large), Left::Place, stacks, kept);
        for analysis in analyses {
            analysis.replace_stacks(&self.replaced, stacks);
        }
        for id in self.replaced.stacks() {
            stacks.forget(id);
        }
    }

    /// The stacks of so many of the largest rows of each lens. Among equals those stay of which most is left, and then ids decide: two
    /// replays keep the same ones.
    fn largest(&self, amounts: &[StackAmounts], most: usize) -> HashSet<StackId> {
        let left = |id: &StackId| self.uses.get(id).map(|of_stack| Reverse(of_stack.left));
        let of_lens = |amounts: &StackAmounts| {
            let mut ranked: Vec<_> = amounts.iter().map(|(id, amount)| (*amount, left(id), *id)).collect();
            if ranked.len() > most {
                ranked.select_nth_unstable_by(most, |a, b| b.cmp(a));
                ranked.truncate(most);
            }
            ranked
        };
        amounts.iter().flat_map(of_lens).map(|(_, _, id)| id).collect()
    }

    /// Stacks that did not come in a whole round and of which so much is left, in the order of the ids: two replays number frames
    /// alike.
    fn idle(&self, left: Left) -> Vec<StackId> {
        let ended = self.round.saturating_sub(1);
        let is_idle = |of_stack: &Use| of_stack.left == left && !of_stack.lasts && of_stack.round < ended;
        let mut idle: Vec<StackId> = self.uses.iter().filter(|(_, of)| is_idle(of)).map(|(id, _)| *id).collect();
        idle.sort_unstable();
        idle
    }

    /// Stacks of which Java frames are to be left out: those with the smallest amounts of each lens that has them.
    fn small(&self, amounts: &[StackAmounts], large: &HashSet<StackId>) -> Vec<StackId> {
        let many = self.uses.values().filter(|of_stack| of_stack.left == Left::Java).count();
        if many <= MANY {
            return Vec::new();
        }
        let mut idle = self.idle(Left::Java);
        let stay: HashSet<StackId> = if many > MOST {
            self.largest(amounts, LARGEST_OF_MOST)
        } else {
            amounts.iter().flat_map(|of_lens| self.larger(&idle, of_lens)).collect()
        };
        idle.retain(|id| !stay.contains(id) && !large.contains(id));
        idle
    }

    /// Those of these stacks that are not among the smallest of a lens.
    fn larger(&self, idle: &[StackId], amounts: &StackAmounts) -> Vec<StackId> {
        let mut of_idle: HashMap<StackId, u64> = idle.iter().map(|id| (*id, 0)).collect();
        for (id, amount) in amounts {
            if let Some(sum) = of_idle.get_mut(id) {
                *sum = sum.saturating_add(*amount);
            }
        }
        let [given_up, all] = self.without_java(amounts);
        let mut room = (all / ONE_IN).saturating_sub(given_up);
        let mut ranked: Vec<(u64, StackId)> = of_idle.into_iter().map(|(id, sum)| (sum, id)).collect();
        ranked.sort_unstable();
        let mut larger = Vec::new();
        for (amount, id) in ranked {
            let rest = room.checked_sub(amount);
            room = rest.unwrap_or(0);
            larger.extend(rest.is_none().then_some(id));
        }
        larger
    }

    /// What stacks amount to of which Java frames were left out, and all stacks.
    fn without_java(&self, amounts: &StackAmounts) -> [u64; 2] {
        amounts.iter().fold([0, 0], |[without, all], (id, amount)| {
            let is_without = self.uses.get(id).is_some_and(|of_stack| of_stack.left == Left::Place);
            let of_these = if is_without { *amount } else { 0 };
            [u64::saturating_add(without, of_these), u64::saturating_add(all, *amount)]
        })
    }

    /// Others take the place of these stacks, which stay in the table until analyses have been told.
    fn shorten(&mut self, ids: Vec<StackId>, left: Left, stacks: &mut Stacks, kept: &mut Kept) {
        for id in ids {
            if let Some(by) = rare::shorten(stacks, id, left) {
                self.replace([id, by], left, stacks, kept);
            } else if let Some(of_stack) = self.uses.get_mut(&id) {
                // Nothing of it would be left out later either.
                of_stack.left = left;
                of_stack.lasts |= left == Left::Place;
            }
        }
    }

    fn replace(&mut self, [id, by]: [StackId; 2], left: Left, stacks: &Stacks, kept: &mut Kept) {
        // First, so that there is room for the other one.
        if let Some(Stack { frames, end }) = stacks.get(id) {
            kept.gives_back(Kind::Stacks, kept::of_stack(frames, end));
        }
        self.uses.remove(&id);
        let round = self.round;
        match self.uses.entry(by) {
            Entry::Occupied(mut of_stack) => of_stack.get_mut().round = round,
            Entry::Vacant(free) => {
                free.insert(Use { round, left, lasts: left == Left::Place });
                if let Some(Stack { frames, end }) = stacks.get(by) {
                    kept.admits(Kind::Stacks, kept::of_stack(frames, end));
                }
            }
        }
        self.replaced.insert(id, by);
        match left {
            Left::Place => self.count_of_java += 1,
            Left::Java | Left::Whole => self.count += 1,
        }
    }

    /// A sentence for a lens that counts samples, where stacks were given up.
    pub(super) fn note(&self, analysis: &dyn Analysis) -> Option<String> {
        let stacks = |count: u64| format::plural(count, "stack", "stacks");
        let of_java = || {
            let [without, all] = self.without_java(&analysis.stack_amounts());
            let percent = 100.0 * without as f64 / all.max(1) as f64;
            format!(
                " Of {}, with {percent:.2} % of all, `<rarely seen>` stands for Java frames, too: those are left that say where the \
                 program was and what it did there.",
                stacks(self.count_of_java)
            )
        };
        let of_java = if self.count_of_java > 0 { of_java() } else { String::new() };
        (self.count > 0).then(|| {
            format!(
                "{} that came rarely, and not for minutes, are not kept whole: of their machine code `<rarely seen>` is left.{of_java} \
                 Amounts, threads and what methods have are as they came.",
                stacks(self.count)
            )
        })
    }
}

#[cfg(test)]
mod tests;

//! What is left of stacks that came rarely: machine code and the kernel are at ever other places when a thread is sampled or has to
//! leave its CPU, so there is no end of such stacks. Runs of these frames become one, and stacks that are alike then are one.
//!
//! Nothing that an analysis tells from frames changes: Java frames stay, as do functions that mean something, and a frame that
//! stands for several is of the same kind and the same file as they are.
//!
//! Java is at ever other places as well. Of the smallest of these stacks only such Java frames stay as say where a program was and what
//! it did there. Tables of methods keep what the others had (`method`); graphs do not.

use super::{cpu, jit, offcpu, site, state, table::FastMap};
use crate::{
    event::StackId,
    stack::{Frame, Kind, Stack, Stacks},
};

/// Outermost frames that stay: they tell what a thread is for.
const OUTERMOST: usize = 8;

/// What stays of a stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Left {
    /// All.
    Whole,
    /// Java frames, and machine code that means something.
    Java,
    /// Of Java frames those that say where a program was and what it did there.
    Place,
}

/// Stacks and what took their place.
#[derive(Clone, Debug, Default)]
pub struct Replaced(FastMap<StackId, StackId>);

impl Replaced {
    /// Another one takes the place of a stack.
    pub fn insert(&mut self, stack: StackId, by: StackId) {
        self.0.insert(stack, by);
    }

    /// What took the place of a stack.
    pub fn get(&self, stack: StackId) -> Option<StackId> {
        self.0.get(&stack).copied()
    }

    /// A stack has come again, and stands for itself.
    pub fn remove(&mut self, stack: StackId) {
        self.0.remove(&stack);
    }

    /// Those whose place others took, in no order.
    pub fn stacks(&self) -> impl Iterator<Item = StackId> + '_ {
        self.0.keys().copied()
    }

    /// What stands for a stack now.
    pub(super) fn now(&self, stack: StackId) -> StackId {
        self.get(stack).unwrap_or(stack)
    }
}

/// What tells rows apart, a stack among it.
pub(super) trait OfStack: Copy {
    fn stack(&self) -> StackId;

    #[must_use]
    fn with_stack(self, stack: StackId) -> Self;
}

impl OfStack for StackId {
    fn stack(&self) -> StackId {
        *self
    }

    fn with_stack(self, stack: StackId) -> Self {
        stack
    }
}

impl<L: Copy> OfStack for (StackId, L) {
    fn stack(&self) -> StackId {
        self.0
    }

    fn with_stack(self, stack: StackId) -> Self {
        (stack, self.1)
    }
}

impl<L: Copy, M: Copy> OfStack for (StackId, L, M) {
    fn stack(&self) -> StackId {
        self.0
    }

    fn with_stack(self, stack: StackId) -> Self {
        (stack, self.1, self.2)
    }
}

/// The stack that takes the place of one, of which so much is left; nothing where nothing of it would be left out.
pub fn shorten(stacks: &mut Stacks, id: StackId, left: Left) -> Option<StackId> {
    let stack = stacks.get(id)?.clone();
    let mut frames: Vec<u32> = Vec::new();
    for (number, several) in stack.frames.iter().zip(left_out(stacks, &stack, left)) {
        let number = several.map_or(*number, |several| stacks.own_frame(several));
        let is_run = |last: u32| {
            let [last, this] = [last, number].map(|number| stacks.frame(number).filter(|frame| frame.is_of_several()));
            // A run of Java is one frame, of the kind of the innermost: what runs decides what a thread was doing.
            last.zip(this).is_some_and(|(last, this)| last == this || (last.kind.is_java() && this.kind.is_java()))
        };
        if !frames.last().copied().is_some_and(is_run) {
            frames.push(number);
        }
    }
    (*frames != *stack.frames).then(|| stacks.own_stack(Stack { frames: frames.into(), end: stack.end }))
}

/// For each frame of a stack the one that stands for it and others, where it does not stay.
fn left_out(stacks: &Stacks, stack: &Stack, left: Left) -> Vec<Option<Frame>> {
    let unknown = Frame::of_several(Kind::Unknown, None);
    let frames: Vec<&Frame> = stack.frames.iter().map(|number| stacks.frame(*number).unwrap_or(&unknown)).collect();
    let outer = frames.len().saturating_sub(OUTERMOST);
    let stays = match left {
        Left::Whole => return vec![None; frames.len()],
        Left::Java => Vec::new(),
        Left::Place => {
            let deoptimised = jit::depth_of_method(frames.iter().copied());
            [site::told(&frames), cpu::telling(&frames), Vec::from_iter(deoptimised)].concat()
        }
    };
    let stays = |depth: usize, frame: &Frame| match left {
        Left::Java => frame.kind.is_java(),
        Left::Whole | Left::Place => stays.contains(&depth),
    };
    let is_left_out = |depth, frame: &Frame| depth < outer && !means_something(frame) && !stays(depth, frame);
    let standing_for = |frame: &Frame| Frame::of_several(frame.kind, frame.module.clone());
    frames.iter().enumerate().map(|(depth, frame)| is_left_out(depth, frame).then(|| standing_for(frame))).collect()
}

/// Whether an analysis may ask for it: a function that means something, and what is not known for a reason.
fn means_something(frame: &Frame) -> bool {
    frame.kind == Kind::Unknown
        || offcpu::reason::means_something(frame)
        || jit::is_deoptimisation(frame)
        || (!frame.kind.is_java() && (cpu::means_something(frame) || state::means_something(frame)))
}

#[cfg(test)]
mod tests;

//! What is left of stacks that came rarely: machine code and the kernel are at ever other places when a thread is sampled or has to
//! leave its CPU, so there is no end of such stacks. Runs of these frames become one, and stacks that are alike then are one.
//!
//! Nothing that an analysis tells from frames changes: Java frames stay, as do functions that mean something, and a frame that
//! stands for several is of the same kind and the same file as they are.

use super::{cpu, jit, offcpu, state, table::FastMap};
use crate::{
    event::StackId,
    stack::{Frame, Kind, Stack, Stacks},
};

/// What is called so stands for several frames.
const RARE: &str = "<rarely seen>";
/// Outermost frames that stay: they tell what a thread is for.
const OUTERMOST: usize = 8;

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

/// The stack that takes the place of one; nothing where nothing of it would be left out.
pub fn shorten(stacks: &mut Stacks, id: StackId) -> Option<StackId> {
    let stack = stacks.get(id)?.clone();
    let outer = stack.frames.len().saturating_sub(OUTERMOST);
    let mut frames: Vec<u32> = Vec::new();
    for (depth, number) in stack.frames.iter().enumerate() {
        let rare = stacks.frame(*number).filter(|frame| depth < outer && !must_stay(frame)).map(standing_for);
        let number = rare.map_or(*number, |rare| stacks.own_frame(rare));
        let repeats = frames.last() == Some(&number) && stacks.frame(number).is_some_and(|frame| frame.name == RARE);
        if !repeats {
            frames.push(number);
        }
    }
    (*frames != *stack.frames).then(|| stacks.own_stack(Stack { frames: frames.into(), end: stack.end }))
}

/// The frame that stands for this one and others of its kind and file.
fn standing_for(frame: &Frame) -> Frame {
    Frame { module: frame.module.clone(), ..Frame::named(frame.kind, RARE) }
}

/// Whether an analysis may ask for it: a Java method, a function that means something, and what is not known for a reason.
fn must_stay(frame: &Frame) -> bool {
    frame.kind.is_java()
        || frame.kind == Kind::Unknown
        || offcpu::reason::means_something(frame)
        || cpu::means_something(frame)
        || jit::is_deoptimisation(frame)
        || state::means_something(frame)
}

#[cfg(test)]
mod tests;

//! Numbers of frames and stacks: each is put into the flow before what refers to it, a frame once, and a stack once in some minutes.

use std::{
    collections::{HashMap, HashSet},
    hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher},
    sync::Arc,
};

use tracer_common::stack::STACK_FIRST;

use crate::{
    event::StackId,
    item::Item,
    stack::{End, Frame, FrameDefinition, Kind, StackDefinition},
};

/// Distinct frames that a session keeps; later ones have no names.
const MAX_FRAMES: usize = 1 << 20;
/// Most that they take, in bytes: a target can give its classes names of any length.
const MAX_FRAME_BYTES: usize = 96 << 20;
/// Distinct stacks that are told at a time; further ones count as lost.
const MAX_STACKS: usize = 1 << 19;
/// Frames that are known by where they lie: those that name many stacks are the same objects each time.
const MAX_AT_HAND: usize = 1 << 14;
/// Most that they take, in bytes: each can have names of its own, whether or not these found room above.
const MAX_AT_HAND_BYTES: usize = 16 << 20;

/// What has been defined so far.
#[derive(Debug, Default)]
pub struct Definitions {
    frames: HashMap<Arc<Frame>, u32>,
    /// By address; they are held, so that no other frame comes to lie there.
    at_hand: HashMap<*const Frame, (Arc<Frame>, u32)>,
    at_hand_bytes: usize,
    frame_bytes: usize,
    /// Stacks that were told lately, and before.
    young: HashSet<StackId>,
    older: HashSet<StackId>,
}

impl Definitions {
    /// The id of a stack with these frames, which is put into the flow where it is new and there is room for it. The id is a hash of
    /// what the stack says: two of the same frames are one, wherever their code lies.
    pub(super) fn stack(&mut self, frames: Vec<u32>, end: End, sink: &mut dyn FnMut(Item<'_>)) -> StackId {
        let hash = BuildHasherDefault::<DefaultHasher>::default().hash_one((&frames, &end));
        let id = StackId(hash.max(STACK_FIRST));
        if !self.older.contains(&id) && self.young.len() < MAX_STACKS && self.young.insert(id) {
            sink(Item::Stack(StackDefinition { id, frames, end }));
        }
        id
    }

    /// Stacks that were told before the last time will be told again: whoever has them may have given them up. Frames at hand may be of
    /// code that has gone: a JVM that compiles anew makes new ones of the same names all the time.
    pub(super) fn age(&mut self) {
        self.older = std::mem::take(&mut self.young);
        self.let_go();
    }

    /// Frames at hand are found by their content again.
    fn let_go(&mut self) {
        self.at_hand.clear();
        self.at_hand_bytes = 0;
    }

    /// The number of a frame, which is put into the flow where it is new.
    pub(super) fn frame(&mut self, frame: Arc<Frame>, sink: &mut dyn FnMut(Item<'_>)) -> u32 {
        if let Some((_, id)) = self.at_hand.get(&Arc::as_ptr(&frame)) {
            return *id;
        }
        let id = self.frame_by_content(Arc::clone(&frame), sink);
        if self.at_hand.len() >= MAX_AT_HAND || self.at_hand_bytes >= MAX_AT_HAND_BYTES {
            self.let_go();
        }
        self.at_hand_bytes += frame.bytes();
        self.at_hand.insert(Arc::as_ptr(&frame), (frame, id));
        id
    }

    fn frame_by_content(&mut self, frame: Arc<Frame>, sink: &mut dyn FnMut(Item<'_>)) -> u32 {
        if let Some(id) = self.frames.get(&frame) {
            return *id;
        }
        let frame = if self.frames.len() < MAX_FRAMES && self.frame_bytes < MAX_FRAME_BYTES {
            self.frame_bytes += frame.bytes();
            frame
        } else {
            Frame::named(Kind::Unknown, "<too many different frames>").into()
        };
        let next = u32::try_from(self.frames.len()).unwrap_or(u32::MAX);
        let id = *self.frames.entry(Arc::clone(&frame)).or_insert(next);
        if id == next {
            sink(Item::Frame(FrameDefinition { id, frame: Arc::clone(&frame) }));
        }
        id
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_with_long_names_take_no_more_than_their_bytes() {
        let mut definitions = Definitions::default();
        let mut told = 0;
        for number in 0..40_000 {
            let frame = Arc::new(Frame::named(Kind::Interpreted, format!("{number:016384}")));
            definitions.frame(frame, &mut |item| match item {
                Item::Frame(definition) => told += definition.frame.bytes(),
                other => panic!("{other:?}"),
            });
            let at_hand: usize = definitions.at_hand.values().map(|(frame, _)| frame.bytes()).sum();
            assert!(number % 100 > 0 || at_hand <= MAX_AT_HAND_BYTES + 32 * 1024, "{at_hand}");
        }
        let kept: usize = definitions.frames.keys().map(|frame| frame.bytes()).sum();
        assert!(kept <= MAX_FRAME_BYTES + 32 * 1024 && told == kept, "{kept} and {told}");
    }

    #[test]
    fn frames_of_code_that_has_gone_are_not_held_for_long() {
        let mut definitions = Definitions::default();
        for _ in 0..100 {
            definitions.frame(Arc::new(Frame::named(Kind::Compiled, "a.A.a")), &mut |_| {});
        }
        assert_eq!((definitions.frames.len(), definitions.at_hand.len()), (1, 100));
        definitions.age();
        assert_eq!((definitions.frames.len(), definitions.at_hand.len(), definitions.at_hand_bytes), (1, 0, 0));
    }

    #[test]
    fn a_stack_is_told_once_and_again_when_others_may_have_given_it_up() {
        let mut definitions = Definitions::default();
        let tell = |definitions: &mut Definitions| {
            let mut told = Vec::new();
            let end = End { root: true, reason: String::new() };
            let id = definitions.stack(vec![1, 2], end, &mut |item| match item {
                Item::Stack(stack) => told.push(stack.id),
                other => panic!("{other:?}"),
            });
            assert!(told.iter().all(|told| *told == id));
            told.len()
        };
        assert_eq!([tell(&mut definitions), tell(&mut definitions)], [1, 0]);
        definitions.age();
        assert_eq!(tell(&mut definitions), 0, "it was told a moment ago");
        definitions.age();
        assert_eq!([tell(&mut definitions), tell(&mut definitions)], [1, 0]);
    }
}

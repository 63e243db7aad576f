//! Numbers of frames and stacks: each is put into the flow once, before what refers to it.

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
/// Distinct stacks that a session keeps; later ones count as lost.
const MAX_STACKS: usize = 1 << 20;
/// Frames that are known by where they lie: those that name many stacks are the same objects each time.
const MAX_AT_HAND: usize = 1 << 14;

/// What has been defined so far.
#[derive(Debug, Default)]
pub struct Definitions {
    frames: HashMap<Arc<Frame>, u32>,
    /// By address; they are held, so that no other frame comes to lie there.
    at_hand: HashMap<*const Frame, (Arc<Frame>, u32)>,
    frame_bytes: usize,
    stacks: HashSet<StackId>,
}

impl Definitions {
    /// The id of a stack with these frames, which is put into the flow where it is new and there is room for it. The id is a hash of
    /// what the stack says: two of the same frames are one, wherever their code lies.
    pub(super) fn stack(&mut self, frames: Vec<u32>, end: End, sink: &mut dyn FnMut(Item<'_>)) -> StackId {
        let hash = BuildHasherDefault::<DefaultHasher>::default().hash_one((&frames, &end));
        let id = StackId(hash.max(STACK_FIRST));
        if self.stacks.len() < MAX_STACKS && self.stacks.insert(id) {
            sink(Item::Stack(StackDefinition { id, frames, end }));
        }
        id
    }

    /// The number of a frame, which is put into the flow where it is new.
    pub(super) fn frame(&mut self, frame: Arc<Frame>, sink: &mut dyn FnMut(Item<'_>)) -> u32 {
        if let Some((_, id)) = self.at_hand.get(&Arc::as_ptr(&frame)) {
            return *id;
        }
        let id = self.frame_by_content(Arc::clone(&frame), sink);
        if self.at_hand.len() >= MAX_AT_HAND {
            self.at_hand.clear();
        }
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
            sink(Item::Frame(FrameDefinition { id, frame: Frame::clone(&frame) }));
        }
        id
    }
}

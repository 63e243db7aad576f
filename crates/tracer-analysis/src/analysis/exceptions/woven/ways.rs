//! The way of each exception through the chosen code: where it came from, which methods it left, and what took it.
//!
//! Woven code tells each method of it, with its hash: what comes to a method with the hash of one that is under way on the thread is the
//! same one. Two exceptions of a thread that have one hash of 31 bits, one right behind the other, would be taken for one. What a method
//! has caught and throws again goes on. What is thrown again elsewhere is new, as of an exception that a program keeps for all cases. One that
//! the JVM keeps, and that a call in a chosen method ends with, is one as long as only other code catches it.

use std::collections::VecDeque;

use tracer_weave::{Raised, Raiser, handler::Use};

use crate::client::EndedIndices;

/// Methods that are kept of those that an exception came through.
pub(super) const CALLERS: usize = 3;
/// Exceptions of a thread that are under way at a time: within `finally` others come and go.
const UNDER_WAY: usize = 16;
/// Caught ones of a thread that are known again.
const CAUGHT: usize = 16;

/// What was told of an exception: that it came to a place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Told {
    pub(super) place: u32,
    /// Number of its class.
    pub(super) class: u32,
    pub(super) hash: u32,
    /// Frames of the stack trace that the JVM wrote into it; nothing where that is not known.
    pub(super) frames: Option<u32>,
}

/// Where an exception came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Origin {
    /// A method threw it.
    Throw,
    /// The method had caught it, and throws it again.
    Rethrow,
    /// The JVM made it for an instruction.
    Jvm,
    /// A call of other code ended with it.
    Call,
}

impl Origin {
    /// The word for it in tables.
    pub(super) const fn id(self) -> &'static str {
        match self {
            Self::Throw => "throw",
            Self::Rethrow => "rethrow",
            Self::Jvm => "jvm",
            Self::Call => "call",
        }
    }
}

/// Where it is, or where it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum End {
    /// A handler took it, at this place.
    Caught(u32),
    /// Code that throws all again has it, at this place.
    Finally(u32),
    /// It left a chosen method, and did not come to another one.
    Left,
    /// Marks of its thread were lost.
    Unknown,
}

/// What exceptions have in common that are one row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key {
    pub(super) class: u32,
    pub(super) origin: Origin,
    /// Where it was thrown, or came from other code.
    pub(super) place: u32,
    /// Calls that it ended first, the nearest first; 0: none.
    pub(super) through: [u32; CALLERS],
    pub(super) end: End,
}

/// An exception under way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Way {
    pub(super) key: Key,
    hash: u32,
    /// Chosen methods that it left.
    pub(super) unwound: u64,
    pub(super) frames: Option<u32>,
}

impl Way {
    const fn begins(told: Told, origin: Origin) -> Self {
        let Told { place, class, hash, frames } = told;
        Self { key: Key { class, origin, place, through: [0; CALLERS], end: End::Left }, hash, unwound: 0, frames }
    }

    const fn is(&self, told: Told) -> bool {
        self.hash == told.hash && self.key.class == told.class
    }

    fn passes(&mut self, place: u32) {
        // Recursion is one.
        if self.key.through.contains(&place) {
            return;
        }
        if let Some(free) = self.key.through.iter_mut().find(|place| **place == 0) {
            *free = place;
        }
    }
}

/// Exceptions of all threads, by their indices.
#[derive(Debug, Default)]
pub(super) struct Ways(Vec<OfThread>);

#[derive(Debug, Default)]
struct OfThread {
    /// The one that came last is the last.
    under_way: Vec<Way>,
    /// The latest is the last.
    caught: VecDeque<Told>,
}

impl Ways {
    fn thread(&mut self, index: usize) -> &mut OfThread {
        if self.0.len() <= index {
            self.0.resize_with(index + 1, OfThread::default);
        }
        &mut self.0[index]
    }

    /// An exception came to a place; says where it came from if it was not under way. `in_one_method` says of two places whether they
    /// are, and `ended` gets those whose ways are over.
    pub(super) fn take(
        &mut self,
        thread: usize,
        told: Told,
        raised: &Raised,
        in_one_method: impl Fn(u32, u32) -> bool,
        mut ended: impl FnMut(&Way),
    ) -> Option<Origin> {
        let OfThread { under_way, caught } = self.thread(thread);
        // What left the chosen code and is thrown there once more is new, too; what `finally` has is thrown again by its method.
        let goes_on = |way: &Way| match (raised.by, way.key.end) {
            (Raiser::Call, _) => true,
            (Raiser::Throw, End::Finally(place)) => in_one_method(place, told.place),
            (Raiser::Throw | Raiser::Instruction, _) => false,
        };
        let known = under_way.iter().rposition(|way| way.is(told) && goes_on(way));
        let (mut way, begins) = if let Some(at) = known {
            // What came meanwhile ended where nobody saw it.
            under_way.drain(at + 1..).for_each(|way| ended(&way));
            (under_way.pop()?, None)
        } else {
            let is_same = |before: &Told| (before.hash, before.class) == (told.hash, told.class);
            let before = caught.iter().rposition(|before| is_same(before) && in_one_method(before.place, told.place));
            let origin = match (raised.by, before) {
                (Raiser::Throw, Some(before)) => {
                    caught.remove(before);
                    Origin::Rethrow
                }
                (Raiser::Throw, None) => Origin::Throw,
                (Raiser::Instruction, _) => Origin::Jvm,
                (Raiser::Call, _) => Origin::Call,
            };
            (Way::begins(told, origin), Some(origin))
        };
        if begins.is_none() && raised.by == Raiser::Call {
            way.passes(told.place);
        }
        match &raised.handler {
            None => {
                way.unwound += 1;
                way.key.end = End::Left;
            }
            Some(handler) if matches!(handler.does, Use::Rethrows(_)) => way.key.end = End::Finally(told.place),
            Some(_) => {
                way.key.end = End::Caught(told.place);
                ended(&way);
                if caught.len() == CAUGHT {
                    caught.pop_front();
                }
                caught.push_back(told);
                return begins;
            }
        }
        if under_way.len() == UNDER_WAY {
            ended(&under_way.remove(0));
        }
        under_way.push(way);
        begins
    }

    /// Marks of a thread were lost: where its exceptions went is not known.
    pub(super) fn lost(&mut self, thread: usize, mut ended: impl FnMut(&Way)) {
        for mut way in std::mem::take(self.thread(thread)).under_way {
            way.key.end = End::Unknown;
            ended(&way);
        }
    }

    /// Threads that ended are not told apart any more.
    pub(super) fn threads_ended(&mut self, threads: &EndedIndices, mut ended: impl FnMut(&Way)) {
        for index in threads.indices().filter(|index| *index < self.0.len()).collect::<Vec<_>>() {
            std::mem::take(self.thread(index)).under_way.iter().for_each(&mut ended);
        }
    }

    /// Those that are under way, as they stand.
    pub(super) fn under_way(&self) -> impl Iterator<Item = &Way> {
        self.0.iter().flat_map(|of| &of.under_way)
    }
}

//! The client interface: what an analysis of marks implements.
//!
//! When marks come, [`dispatch`] keeps a [`stack`] of open regions for each thread and hands each mark to the clients that want it. Those
//! that are built in are beside the lens `markers`, which shows what they report.
//!
//! A session can have several clients at once; each has its own subscription and, if it wants, its own predicate, and sees the same
//! marks whoever else is there. `tracer/examples/marker_client.rs` is a client to copy.

pub mod dispatch;
mod gate;
pub mod known;
pub mod stack;
#[cfg(test)]
pub(crate) mod testing;
pub mod thread;

use tracer_common::marks::WordKind;

pub use self::{
    dispatch::Dispatch,
    known::{Known, Place},
    stack::{Entry, Stack},
    thread::{EndedIndices, Thread, Threads},
};
use crate::{
    mark::{Argument, InContext, Marker},
    names::Names,
    report::{Shape, Summary},
};

/// An analysis of marks. Only its name and its report are needed; of all else the default does nothing.
pub trait Client: Send {
    /// Its name: markers can have it among their subscribers.
    fn name(&self) -> &str;

    /// Whether it wants the marks of a marker. Asked once for each, at the beginning; of markers that name subscribers only those are
    /// asked.
    fn subscribe(&mut self, marker: &Marker) -> bool {
        let _ = marker;
        true
    }

    /// A place of a marker to which it subscribed has been woven into a method.
    fn method_loaded(&mut self, place: &Place, marker: &Marker) {
        let _ = (place, marker);
    }

    /// A region was entered; it is the innermost of the thread's stack.
    fn marker_enter(&mut self, mark: &Instance<'_>) {
        let _ = mark;
    }

    /// A region was left; it still is the innermost of the thread's stack, if its entry was seen.
    fn marker_exit(&mut self, mark: &Instance<'_>, exit: &Exit) {
        let _ = (mark, exit);
    }

    /// A point was passed.
    fn marker_point(&mut self, mark: &Instance<'_>) {
        let _ = mark;
    }

    /// An argument of the method whose mark was told before.
    fn marker_argument(&mut self, mark: &Instance<'_>, index: u8, value: &Argument) {
        let _ = (mark, index, value);
    }

    /// So many marks of a kind were counted in the JVM and not sent one by one.
    fn marker_count(&mut self, mark: &Instance<'_>, of: WordKind, count: u64) {
        let _ = (mark, of, count);
    }

    /// Marks were counted in the JVM by what is around them, since the last time: in the context with this number, which only its thread
    /// has. Contexts come before those within them.
    fn marker_context(&mut self, mark: &Instance<'_>, context: u32, told: InContext) {
        let _ = context;
        for (of, count) in [(WordKind::Enter, told.calls), (WordKind::Thrown, told.errors)] {
            if count > 0 {
                self.marker_count(mark, of, count);
            }
        }
    }

    /// An object has died. The number can be given to another one from now on.
    fn object_death(&mut self, object: &Object<'_>) {
        let _ = object;
    }

    /// Marks of a thread were lost, or its buffer was given up: none of its regions is known to be open any more.
    fn stack_lost(&mut self, thread: &Thread) {
        let _ = thread;
    }

    /// Threads that ended are no longer told apart: what it keeps by [`Thread::index`] is to become that of one, as their indices are
    /// given to others. One that keeps nothing by threads needs none of this.
    fn threads_ended(&mut self, ended: &EndedIndices) {
        let _ = ended;
    }

    /// Which markers it wants to be off from now on, and which on again, by their indices: asked many times a second while a session is
    /// live, and never of a recording. A marker is off in the JVM when no client is left that subscribed to it and wants it on;
    /// until then its marks come as before. Regions that are open end unseen. Off is not free: the test of a switch took 0.15 ns
    /// a mark and 2.2 ns a mark with a time (JDK 17, `docs/inside.md`), and what the JVM compiled meanwhile stays as it is.
    fn switch(&mut self) -> Vec<(usize, bool)> {
        Vec::new()
    }

    /// How many marks came from a place so far, where it counts them: what is said of sampled markers is estimated from that.
    fn events(&self, place: u32) -> Option<u64> {
        let _ = place;
        None
    }

    /// What it found out so far.
    fn report(&self, at: &Reporting<'_>) -> ClientReport;
}

/// A mark as clients see it.
#[derive(Clone, Copy, Debug)]
pub struct Instance<'a> {
    /// Everything that is defined.
    pub known: &'a Known,
    /// The thread, with its stack of open regions.
    pub thread: &'a Thread,
    /// Index of the marker.
    pub marker_index: usize,
    /// Number of the place.
    pub place: u32,
    /// Number of the receiver; 0: none, or not asked for.
    pub object: u32,
    /// `CLOCK_MONOTONIC`, where it was asked for.
    pub time_ns: Option<u64>,
    /// Whether the region itself is on the stack.
    pub(super) on_stack: bool,
}

impl<'a> Instance<'a> {
    /// The marker: its name, its token, what it is for.
    pub fn marker(&self) -> Option<&'a Marker> {
        self.known.markers().get(self.marker_index)
    }

    /// The place: class, method, line.
    pub fn method(&self) -> Option<&'a Place> {
        self.known.place(self.place)
    }

    /// The receiver, if there is one.
    pub fn receiver(&self) -> Option<Object<'a>> {
        (self.object != 0).then_some(Object { known: self.known, number: self.object })
    }

    /// The regions that are open on the thread.
    pub const fn stack(&self) -> &'a Stack {
        &self.thread.stack
    }

    /// How many regions are open, this one included if it is one.
    pub const fn depth(&self) -> usize {
        self.thread.stack.depth()
    }

    /// Whether it lies inside a region of a marker, other than itself.
    pub fn is_inside(&self, marker: usize) -> bool {
        let own = u32::from(self.on_stack && marker == self.marker_index);
        self.thread.stack.open(marker) > own
    }

    /// Whether it lies outside of all regions of a marker, other than itself.
    pub fn is_not_under(&self, marker: usize) -> bool {
        !self.is_inside(marker)
    }
}

/// An object of the target.
#[derive(Clone, Copy, Debug)]
pub struct Object<'a> {
    pub(super) known: &'a Known,
    /// Its number: the same object has the same number as long as it lives.
    pub number: u32,
}

impl<'a> Object<'a> {
    /// Its class, as Java writes it, where that is known.
    pub fn class(&self) -> Option<&'a str> {
        self.known.class_name(self.class_index())
    }

    /// The index of its class; 0 where that is not known.
    pub fn class_index(&self) -> usize {
        self.known.class_of(self.number)
    }
}

/// How a region ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Control left it.
    Left,
    /// An exception left it.
    Thrown,
    /// A region around it ended, and its own end was not seen: its marker was switched off meanwhile.
    Unseen,
}

/// The end of a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exit {
    /// How it ended.
    pub ending: Ending,
    /// Whether its entry was told. Where it was not, the marker was switched on in the middle, or words were lost.
    pub was_entered: bool,
    /// How long it took, where times were asked for and its entry was seen.
    pub duration_ns: Option<u64>,
    /// Whether its entry was told only now, because the marker's predicate asks for the duration: what lies within came before.
    pub is_late: bool,
}

/// What a client may look at when it reports.
#[derive(Clone, Copy, Debug)]
pub struct Reporting<'a> {
    /// Everything that is defined.
    pub known: &'a Known,
    /// The threads.
    pub threads: &'a Threads,
    /// Names behind ids.
    pub names: &'a Names,
    /// Whether profiles are wanted: what only looks for findings leaves them out.
    pub with_profiles: bool,
}

/// What a client found out: a part of the section `markers` of the report.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClientReport {
    /// Numbers; keys end in their unit.
    pub summary: Summary,
    /// Sentences.
    pub notes: Vec<String>,
    /// Tables and the like.
    pub shapes: Vec<Shape>,
}

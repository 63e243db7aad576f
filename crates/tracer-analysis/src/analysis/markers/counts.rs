//! The client `counts`: how often points are passed and regions entered and left, by marker, place, thread and receiver's class;
//! how long they take, where times were asked for; and which lies inside which.
//!
//! A mark costs additions to arrays: nothing is hashed, and nothing allocated once a place, a thread and a nesting have been seen.

mod nesting;
mod tables;

use tracer_common::marks::WordKind;

use self::nesting::{Nesting, NodeId};
use super::super::distribution::Latencies;
use crate::{
    client::{Client, ClientReport, EndedIndices, Ending, Exit, Instance, Reporting, Thread},
    mark::Marker,
};

/// Its name among the subscribers of a marker.
const NAME: &str = "counts";

/// What was told of something.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Sums {
    /// Points passed and regions entered.
    entered: u64,
    /// Regions that control left.
    left: u64,
    /// Regions that an exception left.
    thrown: u64,
    /// Of these, the ones with a duration.
    timed: u64,
    /// Their time, but for what lies in regions within.
    self_ns: u64,
    longest_ns: u64,
}

impl Sums {
    const fn add(&mut self, other: &Self) {
        self.entered = self.entered.saturating_add(other.entered);
        self.left = self.left.saturating_add(other.left);
        self.thrown = self.thrown.saturating_add(other.thrown);
        self.timed = self.timed.saturating_add(other.timed);
        self.self_ns = self.self_ns.saturating_add(other.self_ns);
        if other.longest_ns > self.longest_ns {
            self.longest_ns = other.longest_ns;
        }
    }

    #[inline]
    const fn end(&mut self, ending: Ending) {
        match ending {
            Ending::Left => self.left += 1,
            Ending::Thrown => self.thrown += 1,
            Ending::Unseen => {}
        }
    }

    #[inline]
    const fn time(&mut self, duration_ns: u64, self_ns: u64) {
        self.timed += 1;
        self.self_ns = self.self_ns.saturating_add(self_ns);
        if duration_ns > self.longest_ns {
            self.longest_ns = duration_ns;
        }
    }

    const fn is_empty(&self) -> bool {
        self.entered == 0 && self.left == 0 && self.thrown == 0
    }

    const fn events(&self) -> u64 {
        self.entered.saturating_add(self.left).saturating_add(self.thrown)
    }
}

/// An open region, as this client follows it.
#[derive(Clone, Copy, Debug)]
struct Frame {
    node: NodeId,
    /// Time in regions directly within.
    inner_ns: u64,
    /// Whether another region of the same node is open around it: then its time is in that one's.
    is_recursive: bool,
}

/// What is kept of a thread.
#[derive(Clone, Debug, Default)]
struct Own {
    frames: Vec<Frame>,
    /// How many open regions each node has.
    active: Vec<u32>,
    /// By marker.
    sums: Vec<Sums>,
}

/// The client.
#[derive(Default)]
pub(super) struct Counts {
    /// By number of the place.
    places: Vec<Sums>,
    /// By index of the thread.
    threads: Vec<Own>,
    /// By index of the class and marker: marks with a receiver of the class.
    classes: Vec<Vec<u64>>,
    nesting: Nesting,
    /// By marker.
    durations: Vec<Option<Box<Latencies<2>>>>,
}

/// The element, after making room for it.
#[inline]
fn at<T: Default>(list: &mut Vec<T>, index: usize) -> Option<&mut T> {
    if list.len() <= index {
        list.resize_with(index + 1, T::default);
    }
    list.get_mut(index)
}

impl Counts {
    /// Counts an entry or a point; the node in which it lies, and its thread.
    #[inline]
    fn begin(&mut self, mark: &Instance<'_>) -> Option<(NodeId, &mut Own)> {
        let marker = mark.marker_index;
        at(&mut self.places, mark.place as usize)?.entered += 1;
        if mark.object != 0 {
            let class = at(&mut self.classes, mark.known.class_of(mark.object))?;
            *at(class, marker)? += 1;
        }
        let own = at(&mut self.threads, mark.thread.index)?;
        at(&mut own.sums, marker)?.entered += 1;
        let around = match own.frames.last() {
            Some(frame) => frame.node,
            None => NodeId::root(mark.stack().nesting_is_known()),
        };
        let node = self.nesting.child(around, marker);
        self.nesting.count(node);
        Some((node, own))
    }

    fn leave(&mut self, mark: &Instance<'_>, exit: &Exit) -> Option<()> {
        let marker = mark.marker_index;
        at(&mut self.places, mark.place as usize)?.end(exit.ending);
        let own = at(&mut self.threads, mark.thread.index)?;
        let sums = at(&mut own.sums, marker)?;
        sums.end(exit.ending);
        if !exit.was_entered {
            return None;
        }
        let frame = own.frames.pop()?;
        if let Some(active) = own.active.get_mut(frame.node.index()) {
            *active = active.saturating_sub(1);
        }
        // Of a region without times only what lies within is known; what is told late has come after that, which has added its
        // time there already.
        let seen_ns = if exit.is_late { 0 } else { exit.duration_ns.unwrap_or(frame.inner_ns) };
        if let Some(around) = own.frames.last_mut() {
            around.inner_ns = around.inner_ns.saturating_add(seen_ns);
        }
        let duration_ns = exit.duration_ns?;
        let self_ns = duration_ns.saturating_sub(frame.inner_ns);
        sums.time(duration_ns, self_ns);
        at(&mut self.places, mark.place as usize)?.time(duration_ns, self_ns);
        self.nesting.time(frame.node, if frame.is_recursive { 0 } else { duration_ns }, self_ns);
        at(&mut self.durations, marker)?.get_or_insert_default().record(duration_ns);
        Some(())
    }
}

impl Client for Counts {
    fn name(&self) -> &'static str {
        NAME
    }

    fn subscribe(&mut self, _marker: &Marker) -> bool {
        true
    }

    #[inline]
    fn marker_enter(&mut self, mark: &Instance<'_>) {
        let Some((node, own)) = self.begin(mark) else { return };
        let Some(active) = at(&mut own.active, node.index()) else { return };
        own.frames.push(Frame { node, inner_ns: 0, is_recursive: *active > 0 });
        *active += 1;
    }

    #[inline]
    fn marker_exit(&mut self, mark: &Instance<'_>, exit: &Exit) {
        self.leave(mark, exit);
    }

    #[inline]
    fn marker_point(&mut self, mark: &Instance<'_>) {
        self.begin(mark);
    }

    fn marker_count(&mut self, mark: &Instance<'_>, of: WordKind, count: u64) {
        let sums = match of {
            WordKind::Point | WordKind::Enter => Sums { entered: count, ..Sums::default() },
            WordKind::Exit => Sums { left: count, ..Sums::default() },
            WordKind::Thrown => Sums { thrown: count, ..Sums::default() },
            WordKind::Symbol
            | WordKind::Death
            | WordKind::Born
            | WordKind::Count
            | WordKind::Time
            | WordKind::Thread
            | WordKind::Argument
            | WordKind::Bytes
            | WordKind::Context => return,
        };
        if let Some(place) = at(&mut self.places, mark.place as usize) {
            place.add(&sums);
        }
        if let Some(own) = at(&mut self.threads, mark.thread.index)
            && let Some(marker) = at(&mut own.sums, mark.marker_index)
        {
            marker.add(&sums);
        }
    }

    fn stack_lost(&mut self, thread: &Thread) {
        if let Some(own) = self.threads.get_mut(thread.index) {
            own.frames.clear();
            own.active.clear();
        }
    }

    fn threads_ended(&mut self, ended: &EndedIndices) {
        let mut sums = at(&mut self.threads, ended.into).map(std::mem::take).unwrap_or_default().sums;
        for index in ended.indices() {
            let own = self.threads.get_mut(index).map(std::mem::take).unwrap_or_default();
            for (marker, of) in own.sums.iter().enumerate() {
                if let Some(sum) = at(&mut sums, marker) {
                    sum.add(of);
                }
            }
        }
        if let Some(own) = self.threads.get_mut(ended.into) {
            own.sums = sums;
        }
    }

    fn events(&self, place: u32) -> Option<u64> {
        Some(self.places.get(place as usize).map_or(0, Sums::events))
    }

    fn report(&self, at: &Reporting<'_>) -> ClientReport {
        tables::report(self, at)
    }
}

//! The client: finds calls that have ended, with what was called within them.

use std::{collections::BTreeMap, sync::mpsc::Sender};

use super::parts::Amount;
use crate::{
    client::{Client, ClientReport, EndedIndices, Ending, Exit, Instance, Reporting, Thread},
    event::Tid,
    mark::{EXPLAINED, Marker, WITHIN},
};

/// Most methods within a call that are told apart.
const MAX_WITHIN: usize = 256;

/// A call that has ended.
#[derive(Debug)]
pub(super) struct Finished {
    /// Number of the place.
    pub(super) place: u32,
    /// The thread, if it is one of the kernel's.
    pub(super) tid: Option<Tid>,
    pub(super) begin_ns: u64,
    pub(super) end_ns: u64,
    pub(super) thrown: bool,
    /// Whether no other one that asks for what happened is open around it.
    pub(super) is_outermost: bool,
    /// Numbers of places of further markers, with how often they were entered and their own time.
    pub(super) within: Vec<(u32, Amount)>,
}

/// A region that is open.
#[derive(Debug)]
struct Open {
    is_explained: bool,
    /// Time in regions directly within.
    inner_ns: u64,
}

/// Regions that are open on a thread, the outermost first.
#[derive(Debug, Default)]
struct OfThread {
    open: Vec<Open>,
    /// Of the outermost call that is explained.
    within: BTreeMap<u32, Amount>,
}

/// The client.
#[derive(Debug)]
pub(super) struct Calls {
    sender: Sender<Finished>,
    /// By index of the thread.
    threads: Vec<OfThread>,
}

impl Calls {
    pub(super) const fn new(sender: Sender<Finished>) -> Self {
        Self { sender, threads: Vec::new() }
    }

    fn thread(&mut self, index: usize) -> &mut OfThread {
        if self.threads.len() <= index {
            self.threads.resize_with(index + 1, OfThread::default);
        }
        &mut self.threads[index]
    }
}

impl OfThread {
    /// A region ends that lasted so long; gives what was within where it is the outermost call that is explained.
    fn end(&mut self, place: u32, duration_ns: u64) -> Option<Vec<(u32, Amount)>> {
        let Open { is_explained, inner_ns } = self.open.pop()?;
        if let Some(around) = self.open.last_mut() {
            around.inner_ns = around.inner_ns.saturating_add(duration_ns);
        }
        if self.open.iter().any(|open| open.is_explained) {
            // A call within another one of those that are explained is a part of that.
            if self.within.len() < MAX_WITHIN || self.within.contains_key(&place) {
                self.within.entry(place).or_default().add(duration_ns.saturating_sub(inner_ns));
            }
            return None;
        }
        is_explained.then(|| std::mem::take(&mut self.within).into_iter().collect())
    }
}

impl Client for Calls {
    fn name(&self) -> &'static str {
        EXPLAINED
    }

    fn subscribe(&mut self, marker: &Marker) -> bool {
        marker.is_of_explained()
    }

    fn marker_enter(&mut self, mark: &Instance<'_>) {
        let is_explained = mark.marker().is_some_and(|marker| marker.token != WITHIN);
        self.thread(mark.thread.index).open.push(Open { is_explained, inner_ns: 0 });
    }

    fn marker_exit(&mut self, mark: &Instance<'_>, exit: &Exit) {
        let of = self.thread(mark.thread.index);
        if !exit.was_entered {
            return;
        }
        let duration_ns = exit.duration_ns.unwrap_or(0);
        let Some(within) = of.end(mark.place, duration_ns) else { return };
        let is_outermost = !exit.is_late;
        let (Some(_), Some(end_ns)) = (exit.duration_ns, mark.time_ns) else { return };
        if exit.ending == Ending::Unseen {
            return;
        }
        // Where nobody receives any more, nobody asks.
        let _: Result<(), _> = self.sender.send(Finished {
            place: mark.place,
            tid: mark.thread.tid.filter(|_| mark.thread.java.is_none()),
            begin_ns: end_ns.saturating_sub(duration_ns),
            end_ns,
            thrown: exit.ending == Ending::Thrown,
            is_outermost,
            within,
        });
    }

    fn stack_lost(&mut self, thread: &Thread) {
        *self.thread(thread.index) = OfThread::default();
    }

    fn threads_ended(&mut self, ended: &EndedIndices) {
        for index in ended.indices() {
            self.threads.get_mut(index).map(std::mem::take);
        }
    }

    fn report(&self, _at: &Reporting<'_>) -> ClientReport {
        ClientReport::default()
    }
}

//! When the JVM had stopped all threads, so that a call may have lasted longer.

use std::collections::VecDeque;

use super::parts::{Amount, Part, Parts};
use crate::event::{Edge, Event, Payload};

/// Most stops that are kept: those of an hour of a busy JVM.
const MAX_KEPT: usize = 8192;

/// The stops, and the one that is under way.
#[derive(Debug, Default)]
pub(super) struct Stops {
    over: VecDeque<Stop>,
    begun: Option<Stop>,
}

#[derive(Clone, Copy, Debug)]
struct Stop {
    begin_ns: u64,
    end_ns: u64,
    /// The collector did something in it.
    by_gc: bool,
}

impl Stops {
    /// Takes an event of the thread that stops others.
    pub(super) fn event(&mut self, event: &Event) {
        match event.payload {
            Payload::Safepoint { edge: Edge::Begin } => {
                self.begun = Some(Stop { begin_ns: event.time_ns, end_ns: 0, by_gc: false });
            }
            Payload::GcBegin { .. } => {
                if let Some(stop) = &mut self.begun {
                    stop.by_gc = true;
                }
            }
            Payload::Safepoint { edge: Edge::End } => {
                if let Some(stop) = self.begun.take() {
                    if self.over.len() >= MAX_KEPT {
                        self.over.pop_front();
                    }
                    self.over.push_back(Stop { end_ns: event.time_ns, ..stop });
                }
            }
            _ => {}
        }
    }

    /// Adds those that overlap a stretch of time.
    pub(super) fn add_to(&self, parts: &mut Parts, (begin_ns, end_ns): (u64, u64)) {
        let lately = self.over.iter().rev().take_while(|stop| stop.end_ns > begin_ns);
        let open = self.begun.map(|stop| Stop { end_ns: u64::MAX, ..stop });
        for stop in lately.copied().chain(open) {
            let overlap_ns = stop.end_ns.min(end_ns).saturating_sub(stop.begin_ns.max(begin_ns));
            if overlap_ns > 0 {
                let amount: &mut Amount = parts.entry(Part::Stopped { by_gc: stop.by_gc }).or_default();
                amount.add(overlap_ns);
            }
        }
    }
}

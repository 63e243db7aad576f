//! Lens `explain`: what chosen calls cost. A call is a region of woven code with the times of its beginning and end; what other sites of the
//! session tell of its thread in between is what it cost: where it waited and for what, what it threw and allocated, which monitors it
//! found taken, and when the JVM had stopped it.
//!
//! Events of each thread are kept for a while (`recent`), because marks come later than they. When a call has ended (`calls`), what
//! lies within becomes its `parts`, and these are added up (`sums`): over all calls, over those around the median, and of the slowest.

mod calls;
mod parts;
mod recent;
mod rows;
mod stops;
mod sums;
mod table;
mod words;

use std::sync::mpsc::{Receiver, channel};

use self::{
    calls::{Calls, Finished},
    parts::{Labels, Part, Parts},
    recent::Recent,
    stops::Stops,
    sums::Sums,
};
use super::{Analysis, Context, EndedThreads, Lens, Scaled, table::Merge as _, woven::Woven};
use crate::{
    event::Event,
    item::{GuardAction, GuardDecision},
    mark::{Inside, MarkBatch, Marker},
    report::{Section, Shape, Summary},
    stack::Stacks,
    text::format::plural,
};

/// The analysis.
#[derive(Debug)]
pub struct Explain {
    woven: Woven,
    /// Calls that ended in the batch that was handed on last.
    finished: Receiver<Finished>,
    recent: Recent,
    stops: Stops,
    labels: Labels,
    sums: Sums,
    /// Groups of sites that were away for a while.
    away: Vec<String>,
    in_windows: bool,
    /// Not every event has a stack.
    has_fewer_stacks: bool,
}

/// Names of groups that were away that are kept.
const MAX_AWAY: usize = 16;

impl Default for Explain {
    fn default() -> Self {
        let (sender, finished) = channel();
        Self {
            woven: Woven::of(Box::new(Calls::new(sender)), Marker::is_of_explained, Scaled::calls),
            finished,
            recent: Recent::default(),
            stops: Stops::default(),
            labels: Labels::default(),
            sums: Sums::default(),
            away: Vec::new(),
            in_windows: false,
            has_fewer_stacks: false,
        }
    }
}

impl Explain {
    /// Adds up what came of the calls that have ended.
    fn take_finished(&mut self, stacks: &Stacks) {
        let finished: Vec<Finished> = self.finished.try_iter().collect();
        for call in finished {
            let Some(place) = self.woven.known().place(call.place) else { continue };
            let method = self.labels.method(call.place, place);
            let span = (call.begin_ns, call.end_ns);
            let seen = call.tid.and_then(|tid| self.recent.within(tid, span));
            let is_whole = seen.is_some();
            let mut parts = seen.map_or_else(Parts::new, |events| parts::of(events, span, &mut self.labels, stacks));
            self.stops.add_to(&mut parts, span);
            for (place, amount) in &call.within {
                let callee = self.woven.known().place(*place).map(|known| self.labels.method(*place, known));
                parts.entry(Part::Called(callee.unwrap_or_default())).or_default().merge(amount);
            }
            if let Some(tid) = call.tid.filter(|_| call.is_outermost) {
                self.recent.forget_before(tid, call.end_ns);
            }
            self.sums.add(method, &call, parts, is_whole);
        }
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        let [calls, whole] = self.sums.counts();
        if calls > whole {
            notes.push(format!(
                "Of {} only durations and calls within are known: they ran on virtual threads, or began so long ago or so busily that not all \
                 that happened in them was kept.",
                plural(calls - whole, "call", "calls")
            ));
        }
        if !self.away.is_empty() {
            notes.push(format!(
                "The budget took sites away for a while ({}): what they tell of calls is a lower bound, or missing.",
                self.away.join(", ")
            ));
        }
        if self.has_fewer_stacks {
            notes.push(
                "To stay within the budget not every event had a stack: the others have no place, and some of them no reason."
                    .to_owned(),
            );
        }
        if self.in_windows {
            notes.push(
                "The marker was on in windows only, so not all calls were seen; table `marker_windows` has the windows."
                    .to_owned(),
            );
        }
        notes.extend(self.woven.incomplete());
        notes.extend(self.sums.notes());
        notes.extend(self.recent.note());
        notes
    }
}

impl Analysis for Explain {
    fn lens(&self) -> Lens {
        Lens::Explain
    }

    fn event(&mut self, event: &Event) {
        self.stops.event(event);
        self.recent.event(event);
    }

    fn inside(&mut self, inside: &Inside) {
        self.woven.inside(inside);
    }

    fn marks(&mut self, batch: &MarkBatch<'_>) {
        self.woven.marks(batch);
    }

    fn marks_end(&mut self, stacks: &Stacks) {
        self.take_finished(stacks);
    }

    fn threads_ended(&mut self, ended: &EndedThreads) {
        self.woven.threads_ended(ended);
        self.recent.threads_ended(ended);
    }

    fn guard(&mut self, action: &GuardAction) {
        self.woven.guard(action);
        self.has_fewer_stacks |= action.stacks_of().is_some_and(|one_in| one_in > 1);
        let is_away = match action.action {
            GuardDecision::Detach { .. } | GuardDecision::Stop { .. } => true,
            GuardDecision::Attach => false,
            _ => return,
        };
        match action.lens {
            Lens::Markers => self.in_windows |= self.woven.marker(&action.group).is_some(),
            // Without the scheduler's sites nobody knows how long a call ran.
            Lens::Offcpu => self.recent.blind(is_away, action.time_ns),
            Lens::Alloc => self.recent.forget_buffers(),
            _ => {}
        }
        if is_away && action.lens != Lens::Markers && !self.away.contains(&action.group) && self.away.len() < MAX_AWAY {
            self.away.push(action.group.clone());
        }
    }

    fn section(&self, context: Context<'_>) -> Section {
        let [calls, whole] = self.sums.counts();
        let summary = Summary::new()
            .int("calls", calls)
            .int("explained_calls", whole)
            .int("methods", self.sums.methods() as u64)
            .int("total_ns", self.sums.total_ns());
        let tables = table::Tables { methods: self.sums.by_time(), labels: &self.labels, context };
        let mut notes: Vec<String> = self.woven.code_before().into_iter().chain(tables.sentences()).collect();
        notes.extend(self.notes());
        let shapes = tables.all().into_iter().filter(|shape| !Shape::is_empty(shape)).collect();
        Section { id: Lens::Explain.id(), title: "What calls cost".to_owned(), summary, notes, shapes }
    }
}

#[cfg(test)]
mod tests;

//! Calls that woven code told of, where a library in the JVM counts them (`--lane inside`): the places of one marker are the chosen
//! methods. What is shown is what the other lane shows, in the same tables.

use tracer_common::marks::WordKind;

use super::{
    super::{
        Context, Lens, Scaled, covered,
        shadow::{How, Left},
        table::Keyed,
    },
    Labels, PAIRS, by_thread,
    by_thread::ThreadLabel,
    counted::{Rows, Sums},
    slow::Slowest,
};
use crate::{
    event::SubjectId,
    item::GuardAction,
    mark::{CALLS, Inside, MarkBatch, Marker, Switched},
    marker::{Client, ClientReport, Dispatch, Ending, Exit, Instance, Known, Reporting, Thread},
    report::{Section, Summary},
    text::format::plural,
};

/// What comes of marks.
#[derive(Debug)]
pub(super) struct WovenCalls {
    dispatch: Dispatch,
    /// Whether methods were chosen for this lane.
    is_asked: bool,
    /// Markers that are on and off together.
    switched: Vec<Switched>,
}

impl WovenCalls {
    /// Nothing yet, of a span that begins then.
    pub(super) fn new(span_start_ns: u64) -> Self {
        let mut dispatch = Dispatch::default();
        let client = Calls { span_start_ns, ..Calls::default() };
        dispatch.add(Box::new(client)).expect("it is the first one");
        Self { dispatch, is_asked: false, switched: Vec::new() }
    }

    /// Takes what is said of the session.
    pub(super) fn inside(&mut self, inside: &Inside) {
        if let Inside::Asked(asked) = inside {
            self.is_asked = asked.markers.iter().any(Marker::is_of_calls);
            self.switched = asked.switched();
        }
        if self.is_asked {
            self.dispatch.inside(inside);
        }
    }

    /// Takes marks.
    pub(super) fn marks(&mut self, batch: &MarkBatch<'_>) {
        if self.is_asked {
            self.dispatch.marks(batch);
        }
    }

    /// What was told before it was decided lies in the batches before.
    pub(super) fn guard(&mut self, action: &GuardAction) {
        if let Some(of) = self.switched.iter().find(|of| of.name == action.group) {
            self.dispatch.switched(&of.markers);
        }
    }

    /// Calls so far, of a group that holds the marker of chosen methods.
    pub(super) fn scaled(&self, group: &str) -> Vec<Scaled> {
        let known = self.dispatch.known();
        let of = self.switched.iter().find(|of| of.name == group);
        let marker = of.and_then(|of| of.markers.iter().find(|marker| is_calls(known, **marker)));
        marker.map(|marker| Scaled::calls(self.dispatch.events(*marker))).into_iter().collect()
    }

    /// The section; nothing where the other lane counts.
    pub(super) fn section(&self, context: Context<'_>) -> Option<Section> {
        if !self.is_asked {
            return None;
        }
        let mut summary = Summary::new();
        let (mut notes, mut shapes) = (Vec::new(), Vec::new());
        for (_, report) in self.dispatch.reports(context.names) {
            summary = summary.followed_by(report.summary);
            notes.extend(report.notes);
            shapes.extend(report.shapes);
        }
        notes.extend(self.dispatch.notes());
        Some(Section { id: Lens::Methods.id(), title: "Methods".to_owned(), summary, notes, shapes })
    }
}

fn is_calls(known: &Known, marker: usize) -> bool {
    known.markers().get(marker).is_some_and(Marker::is_of_calls)
}

/// What is kept of a thread.
#[derive(Clone, Debug, Default)]
struct Open {
    /// Calls under way, the outermost first: the time in chosen methods directly within each.
    inner_ns: Vec<u64>,
    /// Calls whose ends were not seen, since the last mark.
    unseen: Vec<SubjectId>,
}

/// The client: counts calls by method and thread. The number of a place stands for its method.
#[derive(Default)]
struct Calls {
    rows: Rows,
    /// By index of the thread.
    pairs: Pairs,
    threads: Vec<Open>,
    slowest: Slowest<usize>,
    span_start_ns: u64,
}

/// Calls by index of the thread and by method.
struct Pairs(Keyed<(usize, SubjectId), Sums>);

impl Default for Pairs {
    fn default() -> Self {
        Self(Keyed::new(PAIRS))
    }
}

impl Calls {
    fn thread(&mut self, thread: usize) -> &mut Open {
        if self.threads.len() <= thread {
            self.threads.resize_with(thread + 1, Open::default);
        }
        &mut self.threads[thread]
    }

    fn add(&mut self, (thread, method): (usize, SubjectId), calls: u64, errors: u64) {
        for sums in [&mut self.rows.entry(method).sums, self.pairs.0.entry((thread, method))] {
            sums.calls = sums.calls.saturating_add(calls);
            sums.errors = sums.errors.saturating_add(errors);
        }
    }

    fn leave(&mut self, (thread, method): (usize, SubjectId), mark: &Instance<'_>, exit: &Exit) {
        let open = self.thread(thread);
        let inner_ns = open.inner_ns.pop().unwrap_or(0);
        let seen_ns = if exit.is_late { 0 } else { exit.duration_ns.unwrap_or(inner_ns) };
        if let Some(around_ns) = open.inner_ns.last_mut() {
            *around_ns = around_ns.saturating_add(seen_ns);
        }
        let (Some(total_ns), Some(end_ns)) = (exit.duration_ns, mark.time_ns) else { return };
        let how = if exit.ending == Ending::Thrown { How::Unwound } else { How::Returned };
        let left = Left { how, ..Left::timed(method, end_ns, total_ns, inner_ns, thread) };
        self.rows.record(method, left.total_ns, left.self_ns);
        self.pairs.0.entry((thread, method)).record(left.total_ns, left.self_ns);
        self.slowest.offer(&left, self.span_start_ns);
    }
}

impl Client for Calls {
    fn name(&self) -> &'static str {
        CALLS
    }

    fn subscribe(&mut self, marker: &Marker) -> bool {
        marker.is_of_calls()
    }

    fn marker_enter(&mut self, mark: &Instance<'_>) {
        let of = (mark.thread.index, SubjectId(mark.place));
        self.add(of, 1, 0);
        let open = self.thread(of.0);
        open.unseen.clear();
        open.inner_ns.push(0);
    }

    fn marker_exit(&mut self, mark: &Instance<'_>, exit: &Exit) {
        let of = (mark.thread.index, SubjectId(mark.place));
        // As in the other lane: an end whose call was not seen says nothing.
        if !exit.was_entered {
            self.thread(of.0).unseen.clear();
            return;
        }
        match exit.ending {
            Ending::Thrown => self.add(of, 0, 1),
            Ending::Left => {}
            Ending::Unseen => self.thread(of.0).unseen.push(of.1),
        }
        if exit.ending != Ending::Unseen {
            // A call within this one ended before, and did not say so: the stack was so full that no mark could be made of the
            // exception. Where a marker was switched off, no end of a call around it follows.
            for method in std::mem::take(&mut self.thread(of.0).unseen) {
                self.add((of.0, method), 0, 1);
            }
        }
        self.leave(of, mark, exit);
    }

    fn marker_count(&mut self, mark: &Instance<'_>, of: WordKind, count: u64) {
        let call = (mark.thread.index, SubjectId(mark.place));
        match of {
            WordKind::Enter => self.add(call, count, 0),
            WordKind::Thrown => self.add(call, 0, count),
            WordKind::Point
            | WordKind::Exit
            | WordKind::Symbol
            | WordKind::Death
            | WordKind::Born
            | WordKind::Count
            | WordKind::Time
            | WordKind::Thread
            | WordKind::Argument => {}
        }
    }

    fn stack_lost(&mut self, thread: &Thread) {
        *self.thread(thread.index) = Open::default();
    }

    fn events(&self, place: u32) -> Option<u64> {
        Some(self.rows.calls(SubjectId(place)))
    }

    fn report(&self, at: &Reporting<'_>) -> ClientReport {
        let sums = self.rows.total();
        let summary =
            Summary::new().int("calls", sums.calls).int("errors", sums.errors).int("methods", self.rows.called());
        let label = |method: SubjectId| label(at.known, method);
        let thread = |index: usize| thread_label(at, index);
        let mut shapes = vec![self.rows.table(label)];
        shapes.push(by_thread::threads(self.pairs.0.grouped(|(index, _)| Some(thread(*index)))));
        let both = |(index, method): &(usize, SubjectId)| Some((thread(*index), label(*method), *method));
        shapes.push(by_thread::methods(self.pairs.0.grouped(both)));
        shapes.extend(self.slowest.table(label, thread, None));
        shapes.extend(self.rows.shape());
        let mut notes = self.rows.notes();
        notes.extend(self.pairs.0.note("pairs of thread and method"));
        if sums.timed > 0 && sums.timed < sums.calls {
            notes.push(format!(
                "{} without a time: not over yet, or counted without one.",
                plural(sums.calls - sums.timed, "call", "calls")
            ));
        }
        notes.extend(covered::not_entered(self.rows.classes(label)));
        ClientReport { summary, notes, shapes }
    }
}

fn label(known: &Known, method: SubjectId) -> Labels {
    let unknown = || ("<method not named>".to_owned(), "<method not named>".to_owned(), String::new());
    known.place(method.0).map_or_else(unknown, |place| {
        let of = &place.definition;
        (of.class.clone(), of.method.clone(), of.descriptor.clone())
    })
}

fn thread_label(at: &Reporting<'_>, index: usize) -> ThreadLabel {
    let unknown = || ("<thread not named>".to_owned(), None);
    let known = at.threads.all().get(index);
    known.map_or_else(unknown, |thread| (thread.label(at.names), thread.tid.filter(|_| thread.java.is_none())))
}

#[cfg(test)]
mod tests;

//! Calls of chosen methods in the lane inside. What is shown is what the other lane shows, in the same tables.

use super::{
    super::{
        covered,
        shadow::{How, Left},
        table::Keyed,
        woven::{Counts, Ended, Woven, thread_label},
    },
    Labels, PAIRS, by_thread,
    counted::{Rows, Sums},
    slow::Slowest,
};
use crate::{
    client::{ClientReport, EndedIndices, Known, Reporting},
    event::SubjectId,
    report::Summary,
    text::format::plural,
};

/// Counts the calls of a span that begins then.
pub(super) fn woven(span_start_ns: u64) -> Woven {
    Woven::new(Calls { span_start_ns, ..Calls::default() })
}

/// Calls by method and thread.
#[derive(Default)]
struct Calls {
    rows: Rows,
    /// By index of the thread.
    pairs: Pairs,
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

impl Counts for Calls {
    type Kept = SubjectId;

    fn begin(&mut self, thread: usize, method: SubjectId, _: Option<SubjectId>) -> SubjectId {
        self.counted(thread, method, 1, 0);
        method
    }

    fn end(&mut self, thread: usize, method: SubjectId, ended: Ended) {
        match ended {
            Ended::Error => self.counted(thread, method, 0, 1),
            Ended::Timed { total_ns, inner_ns, end_ns, thrown } => {
                let how = if thrown { How::Unwound } else { How::Returned };
                let left = Left { how, ..Left::timed(method, end_ns, total_ns, inner_ns, thread) };
                self.rows.record(method, left.total_ns, left.self_ns);
                self.pairs.0.entry((thread, method)).record(left.total_ns, left.self_ns);
                self.slowest.offer(&left, self.span_start_ns);
            }
        }
    }

    fn counted(&mut self, thread: usize, method: SubjectId, calls: u64, errors: u64) {
        for sums in [&mut self.rows.entry(method).sums, self.pairs.0.entry((thread, method))] {
            sums.calls = sums.calls.saturating_add(calls);
            sums.errors = sums.errors.saturating_add(errors);
        }
    }

    fn threads_ended(&mut self, ended: &EndedIndices) -> Box<dyn Fn(SubjectId) -> SubjectId> {
        self.pairs.0.change_keys(|(thread, method)| (ended.now(thread), method));
        self.slowest.change_data(|thread| ended.now(thread));
        Box::new(|method| method)
    }

    fn calls(&self, method: SubjectId) -> u64 {
        self.rows.calls(method)
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

#[cfg(test)]
mod tests;

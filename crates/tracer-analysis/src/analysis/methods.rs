//! Lens `methods`: how often chosen methods are called, how long they take, and how they end.
//!
//! What the kernel counted itself and what came as events are added up: no call is in both.

mod by_thread;
mod counted;
mod slow;
mod woven;

use super::{
    Analysis, Context, Lens, Scaled,
    covered::{self, Covered},
    ended::{self, EndedThreads},
    profile::Amounts,
    rare::Replaced,
    shadow::{Left, Outcome, Shadow},
    site,
    table::Keyed,
    woven::Woven,
};
use crate::{
    coverage::Coverage,
    event::{Edge, Event, Payload, StackId, SubjectId, Tid},
    group::METHODS_GROUP,
    item::GuardAction,
    mark::{Inside, MarkBatch},
    report::{Section, Summary},
    tally::{ContextTally, Tallies},
};
use counted::{Counted, Rows, Sums};
use slow::Slowest;
use woven::woven;

/// Class, method and signature.
type Labels = (String, String, String);

/// Most pairs of thread and method.
const PAIRS: usize = 65_536;

/// The analysis.
#[derive(Debug)]
pub struct Methods {
    shadow: Shadow<Kept>,
    seen: Seen,
    tallies: Tallies,
    covered: Covered,
    woven: Woven,
}

/// What is kept with a call under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Kept {
    tid: Tid,
    stack: StackId,
}

/// What came as events.
#[derive(Clone, Debug)]
struct Seen {
    rows: Rows,
    pairs: Keyed<(Tid, SubjectId), Sums>,
    slowest: Slowest<Kept>,
    stacks: Amounts,
    span_start_ns: u64,
}

impl Default for Methods {
    fn default() -> Self {
        Self {
            shadow: Shadow::default(),
            seen: Seen {
                rows: Rows::default(),
                pairs: Keyed::new(PAIRS),
                slowest: Slowest::default(),
                stacks: Amounts::default(),
                span_start_ns: 0,
            },
            tallies: Tallies::default(),
            covered: Covered::default(),
            woven: woven(0),
        }
    }
}

impl Seen {
    fn call(&mut self, tid: Tid, method: SubjectId) {
        self.rows.entry(method).sums.calls += 1;
        self.pairs.entry((tid, method)).calls += 1;
    }

    fn outcome(&mut self, outcome: Outcome<Kept>) {
        match outcome {
            Outcome::Left(left) => self.left(&left),
            Outcome::Threw(left) => {
                self.error(&left);
                self.slowest.threw(&left);
            }
        }
    }

    fn left(&mut self, left: &Left<Kept>) {
        let Kept { tid, stack } = left.data;
        self.rows.record(left.method, left.total_ns, left.self_ns);
        self.pairs.entry((tid, left.method)).record(left.total_ns, left.self_ns);
        if left.how != super::shadow::How::Returned {
            self.error(left);
        }
        self.slowest.offer(left, self.span_start_ns);
        if stack != StackId::default() {
            self.stacks.add(stack, tid, left.self_ns);
        }
    }

    fn error(&mut self, left: &Left<Kept>) {
        self.rows.entry(left.method).sums.errors += 1;
        self.pairs.entry((left.data.tid, left.method)).errors += 1;
    }
}

/// Class, method and signature of a subject.
pub(super) fn labels(context: Context<'_>, id: SubjectId) -> Labels {
    let unknown = || "<method not named>".to_owned();
    context.subjects.get(id).map_or_else(
        || (unknown(), unknown(), String::new()),
        |subject| match &subject.method {
            Some(method) => (subject.class.clone(), method.name.clone(), method.signature.clone()),
            None => (subject.class.clone(), unknown(), String::new()),
        },
    )
}

impl Methods {
    /// What the kernel counted by thread.
    fn thread_tallies(&self) -> &[ContextTally] {
        self.tallies.contexts.as_ref().map_or(&[], |contexts| &contexts.calls)
    }

    fn notes(&self, counted: &Counted<'_>) -> Vec<String> {
        let Tallies { returns_without_entry, entries_without_return, under_way, overflow, .. } = &self.tallies;
        let mut notes = self.shadow.notes();
        if !self.tallies.methods.is_empty() {
            let threads = if self.thread_tallies().is_empty() {
                ", and they are in no table by thread (--by-thread)"
            } else {
                ""
            };
            notes.push(format!(
                "Counted in the kernel: percentiles and maxima of these calls are within 1/16 of their value{threads}."
            ));
        }
        if (*returns_without_entry, *entries_without_return) != (0, 0) {
            notes.push(format!(
                "In the kernel: {returns_without_entry} returns without a call (under way when observation began), and \
                 {entries_without_return} calls whose return was missing, as where an exception leaves code of C1; neither \
                 has a duration."
            ));
        }
        if *under_way > 0 {
            notes.push(format!(
                "{under_way} calls had not ended, as far as is known: they are under way, or an exception has ended them within \
                 compiled code and their thread has called no chosen method since. They have no duration and are no errors, and \
                 with a condition on `duration` they are not counted."
            ));
        }
        if *overflow > 0 {
            notes.push(format!("{overflow} events found no room in the kernel's tables and are counted nowhere else."));
        }
        notes.extend(ended::note(self.thread_tallies().iter().map(ContextTally::tid)));
        notes.extend(counted.rows.notes());
        notes.extend(self.seen.pairs.note("pairs of thread and method"));
        notes.extend(self.seen.stacks.note());
        notes
    }
}

impl Analysis for Methods {
    fn lens(&self) -> Lens {
        Lens::Methods
    }

    fn replace_stacks(&mut self, replaced: &Replaced, _: &crate::stack::Stacks) {
        self.covered.replace_stacks(replaced);
    }

    fn threads_ended(&mut self, ended: &EndedThreads) {
        self.seen.pairs.sum_up(ended);
        self.woven.threads_ended(ended);
        self.seen.stacks.sum_up(ended);
        self.shadow.forget(ended);
    }

    fn start(&mut self, start_ns: u64) {
        self.seen.span_start_ns = start_ns;
        self.woven = woven(start_ns);
    }

    fn event(&mut self, event: &Event) {
        self.covered.event(event);
        let Self { shadow, seen, tallies: _, covered: _, woven: _ } = self;
        let (tid, time_ns) = (event.tid, event.time_ns);
        match event.payload {
            // The kernel times it, and tells when it is over.
            Payload::Method { edge: Edge::Begin, method, sp: 0, wanted: true } => seen.call(tid, method),
            Payload::Method { edge: Edge::Begin, method, sp, wanted: true } => {
                seen.call(tid, method);
                let kept = Kept { tid, stack: event.stack };
                shadow.enter((tid, method, sp, time_ns), |_| kept, &mut |outcome| seen.outcome(outcome));
            }
            Payload::Method { edge: Edge::End, method, sp, .. } => {
                shadow.leave((tid, method, sp, time_ns), &mut |outcome| seen.outcome(outcome));
            }
            Payload::MethodTimed { method, total_ns, inner_ns, exceptional, uncounted, wanted: true } => {
                if uncounted {
                    seen.call(tid, method);
                }
                let kept = Kept { tid, stack: event.stack };
                let left = Left::timed(method, time_ns, total_ns, inner_ns, kept);
                seen.outcome(Outcome::Left(left));
                if exceptional {
                    seen.outcome(Outcome::Threw(left));
                }
                shadow.timed(tid, left);
            }
            // An exception that leaves a frame now has left this one.
            Payload::MethodTimed { wanted: false, .. } => shadow.forget_returned(tid),
            Payload::FrameUnwound { sp } => shadow.unwind(tid, sp, time_ns, &mut |outcome| seen.outcome(outcome)),
            Payload::Thread { edge: Edge::End, .. } => {
                shadow.end_thread(tid, time_ns, &mut |outcome| seen.outcome(outcome));
            }
            _ => {}
        }
    }

    fn tallies(&mut self, tallies: &Tallies) {
        self.tallies = tallies.methods_after(&self.tallies);
    }

    fn guard(&mut self, action: &GuardAction) {
        if action.group == METHODS_GROUP && action.hides_ends() {
            self.shadow.cut();
        }
        self.woven.guard(action);
    }

    fn inside(&mut self, inside: &Inside) {
        self.woven.inside(inside);
    }

    fn marks(&mut self, batch: &MarkBatch<'_>) {
        self.woven.marks(batch);
    }

    fn scaled(&self, group: &str) -> Vec<Scaled> {
        if group != METHODS_GROUP {
            return self.woven.scaled(group);
        }
        let tallied = self.tallies.methods.iter().fold(0_u64, |sum, tally| sum.saturating_add(tally.count));
        vec![Scaled::calls(self.seen.rows.total().calls.saturating_add(tallied))]
    }

    fn headline(&self, context: Context<'_>) -> Option<String> {
        self.covered.headline(Lens::Methods, context)
    }

    fn coverage(&mut self, coverage: &Coverage) {
        if !coverage.objects {
            self.covered.take(coverage);
        }
    }

    fn section(&self, context: Context<'_>) -> Section {
        if let Some(section) = self.woven.section(Lens::Methods, "Methods", context) {
            return section;
        }
        let counted = Counted::of(&self.seen.rows, &self.tallies.methods);
        let sums = counted.rows.total();
        let mut summary =
            Summary::new().int("calls", sums.calls).int("errors", sums.errors).int("methods", counted.rows.called());
        if self.tallies.under_way > 0 {
            summary = summary.int("under_way", self.tallies.under_way);
        }
        if let Some(methods) = self.covered.not_covered() {
            summary = summary.int("not_covered_methods", methods);
        }
        let label = |method| labels(context, method);
        let thread = |tid: Tid| (context.names.thread(tid), Some(tid));
        let mut shapes = vec![counted.rows.table(label)];
        if self.seen.pairs.iter().next().is_some() || !self.thread_tallies().is_empty() {
            let (pairs, tallies) = (&self.seen.pairs, self.thread_tallies());
            shapes.push(by_thread::threads(counted::by_thread(pairs, tallies, |tid, _| thread(tid))));
            let both = |tid, method| (thread(tid), label(method), method);
            shapes.push(by_thread::methods(counted::by_thread(pairs, tallies, both)));
        }
        let with_places = site::any_asked(self.seen.slowest.data().map(|kept| kept.stack));
        let caller = |Kept { stack, .. }| (stack != StackId::default()).then(|| slow::frames(context, stack));
        shapes.extend(self.seen.slowest.table(label, |kept| thread(kept.tid), with_places.then_some(&caller)));
        shapes.extend(counted.rows.shape());
        shapes.extend(counted::stacks_shape(&self.seen.stacks, context));
        let mut notes = self.notes(&counted);
        notes.extend(covered::not_entered(counted.rows.classes(label)));
        shapes.extend(self.covered.shape(context, &mut notes));
        Section { id: Lens::Methods.id(), title: "Methods".to_owned(), summary, notes, shapes }
    }
}

#[cfg(test)]
mod tests;

//! Who calls whom in the lane inside. What is shown is what the other lane shows without stacks, in the same tables.

use tracer_common::marks::WordKind;

use super::{
    super::{
        covered,
        woven::{Ended, UnderWay, Woven, thread_label},
    },
    contexts::{Call, ContextId, Contexts},
    figures,
    graph::{Graph, Lookup},
    shapes,
};
use crate::{
    event::{StackId, SubjectId, Tid},
    mark::{CALLS, Marker},
    marker::{Client, ClientReport, Exit, Instance, Known, Reporting, Thread},
    stack::Stacks,
    subject::{MethodPart, Subject, SubjectDefinition, Subjects},
    text::format::plural,
};

/// Counts calls by context.
pub(super) fn woven() -> Woven {
    Woven::new(Box::new(Calls::default()))
}

/// The client. The number of a place stands for its method, the index of a thread for its number.
#[derive(Default)]
struct Calls {
    contexts: Contexts,
    under_way: UnderWay<ContextId>,
    /// Calls that came without what is around them.
    alone: u64,
}

impl Client for Calls {
    fn name(&self) -> &'static str {
        CALLS
    }

    fn subscribe(&mut self, marker: &Marker) -> bool {
        marker.is_of_calls()
    }

    fn marker_enter(&mut self, mark: &Instance<'_>) {
        let thread = mark.thread.index;
        let call = Call { method: SubjectId(mark.place), stack: StackId::default(), inlined: false };
        let context = self.contexts.call(number(thread), self.under_way.innermost(thread), call);
        self.under_way.enter(thread, context);
    }

    fn marker_exit(&mut self, mark: &Instance<'_>, exit: &Exit) {
        let Self { contexts, under_way, alone: _ } = self;
        under_way.exit(mark.thread.index, exit, mark.time_ns, |context, ended| match ended {
            Ended::Error => contexts.error(context),
            Ended::Timed { total_ns, inner_ns, .. } => {
                contexts.left(context, total_ns, total_ns.saturating_sub(inner_ns), false);
            }
        });
    }

    fn marker_count(&mut self, mark: &Instance<'_>, of: WordKind, count: u64) {
        let (calls, errors) = match of {
            WordKind::Enter => (count, 0),
            WordKind::Thrown => (0, count),
            WordKind::Point
            | WordKind::Exit
            | WordKind::Symbol
            | WordKind::Death
            | WordKind::Born
            | WordKind::Count
            | WordKind::Time
            | WordKind::Thread
            | WordKind::Argument => return,
        };
        self.alone = self.alone.saturating_add(calls);
        self.contexts.counted_alone(number(mark.thread.index), SubjectId(mark.place), calls, errors);
    }

    fn stack_lost(&mut self, thread: &Thread) {
        self.under_way.forget(thread.index);
    }

    fn report(&self, at: &Reporting<'_>) -> ClientReport {
        let (stacks, subjects) = (Stacks::default(), subjects(at.known, &self.contexts));
        let lookup = Lookup { stacks: &stacks, subjects: &subjects };
        let thread = |tid: Tid| thread_label(at, usize::try_from(tid.0).unwrap_or(usize::MAX));
        let graph = Graph::of(&self.contexts, lookup, &thread);
        let mut notes = Vec::new();
        if graph.calls() > 0 {
            notes.push(
                "A caller is the innermost chosen method under way on the thread; no place of a call is known."
                    .to_owned(),
            );
        }
        if self.alone > 0 {
            notes.push(format!(
                "{} counted within the budget, without a caller or a time.",
                plural(self.alone, "call was", "calls were")
            ));
        }
        notes.extend(self.contexts.note().filter(|_| self.alone == 0));
        let called = self.contexts.nodes().iter().filter_map(|node| subjects.get(node.method));
        notes.extend(covered::not_entered(called.map(|subject| subject.class.as_str())));
        ClientReport { summary: figures(&graph), notes, shapes: shapes::all(&graph, &self.contexts, lookup) }
    }
}

fn number(thread: usize) -> Tid {
    Tid(u32::try_from(thread).unwrap_or(u32::MAX))
}

/// The methods of all places, by the numbers of these.
fn subjects(known: &Known, contexts: &Contexts) -> Subjects {
    let most = contexts.nodes().iter().map(|node| node.method.0).max();
    let mut subjects = Subjects::default();
    for number in 0..most.map_or(0, |most| most.saturating_add(1)) {
        let subject = known.place(number).map_or_else(
            || Subject { class: "<class not named>".to_owned(), method: None },
            |place| {
                let of = &place.definition;
                let part = MethodPart { name: of.method.clone(), signature: of.descriptor.clone(), native: false };
                Subject { class: of.class.clone(), method: Some(part) }
            },
        );
        subjects.define(SubjectDefinition { id: SubjectId(number), subject });
    }
    subjects
}

#[cfg(test)]
mod tests;

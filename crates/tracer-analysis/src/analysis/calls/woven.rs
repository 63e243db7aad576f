//! Who calls whom in the lane inside. What is shown is what the other lane shows without stacks, in the same tables.

use super::{
    super::{
        covered,
        table::FastMap,
        woven::{CountedIn, Counts, Ended, Woven, thread_label},
    },
    contexts::{CONTEXTS, Call, ContextId, Contexts, Within},
    figures,
    graph::{Graph, Lookup},
    shapes,
};
use crate::{
    client::{ClientReport, EndedIndices, Known, Reporting},
    event::{StackId, SubjectId, Tid},
    stack::Stacks,
    subject::{MethodPart, Subject, SubjectDefinition, Subjects},
    text::format::plural,
};

/// Counts calls by context.
pub(super) fn woven() -> Woven {
    Woven::new(Calls::default())
}

/// Calls by context. The index of a thread stands for its number.
#[derive(Default)]
struct Calls {
    contexts: Contexts,
    /// By method: contexts are many.
    by_method: FastMap<SubjectId, u64>,
    /// Calls that came without what is around them.
    alone: u64,
    /// Calls that woven code counted in contexts, which have no times.
    counted: u64,
    /// What calls are within that woven code counts in a context, by thread and number of that.
    trees: FastMap<(usize, u32), Within>,
}

impl Calls {
    fn called(&mut self, method: SubjectId, calls: u64) {
        let of_method = self.by_method.entry(method).or_default();
        *of_method = of_method.saturating_add(calls);
    }
}

/// A call of a method: here no place of it is known.
fn call(method: SubjectId) -> Call {
    Call { method, stack: StackId::default(), inlined: false }
}

impl Counts for Calls {
    type Kept = ContextId;

    fn begin(&mut self, thread: usize, method: SubjectId, around: Option<ContextId>) -> ContextId {
        self.called(method, 1);
        self.contexts.call(number(thread), around, call(method))
    }

    fn end(&mut self, _: usize, context: ContextId, ended: Ended) {
        match ended {
            Ended::Error => self.contexts.error(context),
            Ended::Timed { total_ns, inner_ns, .. } => {
                self.contexts.left(context, total_ns, total_ns.saturating_sub(inner_ns), false);
            }
        }
    }

    fn counted(&mut self, thread: usize, method: SubjectId, calls: u64, errors: u64) {
        self.called(method, calls);
        self.alone = self.alone.saturating_add(calls);
        self.contexts.counted_in(number(thread), Within::NotKnown, call(method), calls, errors);
    }

    fn counted_in(&mut self, at: CountedIn<ContextId>, method: SubjectId, calls: u64, errors: u64) {
        let key = (at.thread, at.number);
        let around = match at.around {
            // What was around everything when counting began is known, unless calls under way were given up.
            0 => at.begun_in.map_or(Within::Thread, Within::Context),
            number => self.trees.get(&(at.thread, number)).copied().unwrap_or(Within::NotKnown),
        };
        let within = if at.left {
            let Within::Context(ended) = around else { return };
            self.contexts.around(ended)
        } else {
            self.called(method, calls);
            self.counted = self.counted.saturating_add(calls);
            if let Some(Within::Context(known)) = self.trees.get(&key).copied()
                && self.contexts.counted_again(known, calls, errors)
            {
                return;
            }
            Within::Context(self.contexts.counted_in(number(at.thread), around, call(method), calls, errors))
        };
        if self.trees.len() < CONTEXTS {
            self.trees.insert(key, within);
        }
    }

    fn threads_ended(&mut self, ended: &EndedIndices) -> Box<dyn Fn(ContextId) -> ContextId> {
        let numbers = self.contexts.change_threads(|tid| number(ended.now(index(tid))));
        self.trees.retain(|(thread, _), _| ended.now(*thread) == *thread);
        for within in self.trees.values_mut() {
            if let Within::Context(context) = within {
                *context = context.renumbered(&numbers);
            }
        }
        Box::new(move |context| context.renumbered(&numbers))
    }

    fn calls(&self, method: SubjectId) -> u64 {
        self.by_method.get(&method).copied().unwrap_or(0)
    }

    fn report(&self, at: &Reporting<'_>) -> ClientReport {
        let (stacks, subjects) = (Stacks::default(), subjects(at.known, &self.contexts));
        let lookup = Lookup { stacks: &stacks, subjects: &subjects };
        let thread = |tid: Tid| thread_label(at, index(tid));
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
        if self.counted > 0 {
            notes.push(format!(
                "{} counted in the JVM, with callers and without a time.",
                plural(self.counted, "call was", "calls were")
            ));
        }
        notes.extend(self.contexts.note_of_limit());
        let called = self.contexts.nodes().iter().filter_map(|node| subjects.get(node.method));
        notes.extend(covered::not_entered(called.map(|subject| subject.class.as_str())));
        let shapes = shapes::all(&graph, &self.contexts, lookup, at.with_profiles);
        ClientReport { summary: figures(&graph), notes, shapes }
    }
}

fn number(thread: usize) -> Tid {
    Tid(u32::try_from(thread).unwrap_or(u32::MAX))
}

fn index(tid: Tid) -> usize {
    usize::try_from(tid.0).unwrap_or(usize::MAX)
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

//! Who calls whom in the lane inside. What is shown is what the other lane shows without stacks, in the same tables.

use super::{
    super::{
        alloc::Counted,
        covered,
        table::{FastMap, Keyed, Merge as _},
        woven::{CountedIn, Counts, Ended, Woven, thread_label},
    },
    contexts::{CONTEXTS, Call, ContextId, Contexts, Within},
    figures,
    graph::{Graph, Lookup, Place},
    shapes::{self, MadeIn},
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
    /// What is made, by number of the context and of the place. Absent where the context is not known.
    made: Keyed<(Option<u32>, u32), Counted>,
}

impl Default for Calls {
    fn default() -> Self {
        Self {
            contexts: Contexts::default(),
            by_method: FastMap::default(),
            alone: 0,
            counted: 0,
            trees: FastMap::default(),
            made: Keyed::new(CONTEXTS),
        }
    }
}

impl Calls {
    /// What a context that woven code counts in is within.
    fn around(&self, at: &CountedIn<ContextId>) -> Within {
        match at.around {
            // What was around everything when counting began is known, unless calls under way were given up.
            0 => at.begun_in.map_or(Within::Thread, Within::Context),
            number => self.trees.get(&(at.thread, number)).copied().unwrap_or(Within::NotKnown),
        }
    }

    /// What was made in each context, with sizes as far as they are known; nothing where no context is known.
    fn made_in(&self, known: &Known) -> Vec<MadeIn> {
        if self.made.iter().all(|((context, _), _)| context.is_none()) {
            return Vec::new();
        }
        let of = |(context, place): (Option<u32>, u32), counted: &Counted| {
            let place = &known.place(place)?.definition;
            let (made, _, class) = counted.made(known, place)?;
            let place = Place { bci: Some(place.bci.into()), line: place.line.map(Into::into), opcode: None };
            Some(MadeIn { context, class, place, objects: made.objects, bytes: made.bytes })
        };
        self.made.iter().filter_map(|(key, counted)| of(*key, counted)).collect()
    }

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

    const TAKES_OBJECTS: bool = true;

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
        let around = self.around(&at);
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

    fn made(&mut self, at: Option<CountedIn<ContextId>>, place: u32, objects: u64, bytes: u64) {
        let context = match at.map(|at| self.around(&at)) {
            Some(Within::Context(ContextId::At(context))) => Some(context),
            Some(Within::Context(ContextId::Beyond(_)) | Within::Thread | Within::NotKnown) | None => None,
        };
        self.made.entry((context, place)).merge(&Counted { objects, bytes });
    }

    fn threads_ended(&mut self, ended: &EndedIndices) -> Box<dyn Fn(ContextId) -> ContextId> {
        let numbers = self.contexts.change_threads(|tid| number(ended.now(index(tid))));
        let now = |at: u32| usize::try_from(at).ok().and_then(|at| numbers.get(at)).copied();
        self.made.change_keys(|(context, place)| (context.and_then(now), place));
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
        notes.extend(self.made.note("pairs of context and place of what is made"));
        let called = self.contexts.nodes().iter().filter_map(|node| subjects.get(node.method));
        notes.extend(covered::not_entered(called.map(|subject| subject.class.as_str())));
        let made = self.made_in(at.known);
        let sum = |of: fn(&MadeIn) -> u64| made.iter().map(of).fold(0, u64::saturating_add);
        let mut summary = figures(&graph);
        if !made.is_empty() {
            summary = summary.int("objects", sum(|made| made.objects)).int("bytes", sum(|made| made.bytes));
        }
        let shapes = shapes::all(&graph, &self.contexts, &made, lookup, at.with_profiles);
        ClientReport { summary, notes, shapes }
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

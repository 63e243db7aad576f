//! Lens `calls`: who calls whom, from where, how often, and in which contexts, among chosen methods.
//!
//! Each call of a chosen method belongs to a context: the chosen methods under way around it, with the place of each call
//! where stacks were taken. The graph of calls is the contexts seen without their past, so both always agree. The caller is
//! the Java frame right below the called method on the stack, where there is a stack: it may be a method that nobody chose,
//! and a native one; else the innermost chosen method under way on the thread.

mod contexts;
mod graph;
mod shapes;
mod woven;

use super::{
    Analysis, Context, Lens, Scaled,
    covered::{self, Covered},
    ended::{self, EndedThreads},
    rare::Replaced,
    shadow::{How, Left, Outcome, Shadow},
    woven::Woven,
};
use crate::{
    coverage::Coverage,
    event::{Edge, Event, Payload},
    group::METHODS_GROUP,
    item::GuardAction,
    mark::{Inside, MarkBatch},
    report::{Section, Summary},
    tally::{ContextTally, Tallies},
};
use contexts::{Call, ContextId, Contexts};
use graph::{Graph, Lookup};

/// The analysis.
#[derive(Debug)]
pub struct Calls {
    shadow: Shadow<ContextId>,
    /// Of calls that came as events.
    contexts: Contexts,
    /// What the kernel counted.
    tallies: Tallies,
    covered: Covered,
    /// Of calls in the lane inside.
    woven: Woven,
}

impl Default for Calls {
    fn default() -> Self {
        Self {
            shadow: Shadow::default(),
            contexts: Contexts::default(),
            tallies: Tallies::default(),
            covered: Covered::default(),
            woven: woven::woven(),
        }
    }
}

fn take(contexts: &mut Contexts, outcome: Outcome<ContextId>) {
    match outcome {
        Outcome::Left(Left { how, total_ns, self_ns, data, .. }) => {
            contexts.left(data, total_ns, self_ns, how != How::Returned);
        }
        Outcome::Threw(left) => contexts.error(left.data),
    }
}

/// The graph in numbers.
fn figures(graph: &Graph<'_>) -> Summary {
    Summary::new()
        .int("nodes", graph.nodes())
        .int("edges", graph.edges())
        .int("call_sites", graph.sites())
        .int("contexts", graph.contexts())
        .int("calls", graph.calls())
}

impl Calls {
    fn notes(&self, graph: &Graph<'_>, contexts: &Contexts) -> Vec<String> {
        let mut notes = self.shadow.notes();
        if graph.has_places() {
            notes.push(
                "A caller is the Java frame below the called method, chosen or not; a method between two contexts that \
                 nobody chose is in no context. Where a compiler has inlined the called method, the JVM may not know the \
                 place of the call: then none is shown, and the caller is the innermost chosen method of that frame, or \
                 the method that was compiled."
                    .to_owned(),
            );
        } else if graph.calls() > 0 {
            notes.push(
                "Without stacks a caller is the innermost chosen method under way on the thread, and no place of a call is \
                 known."
                    .to_owned(),
            );
        }
        if self.tallies.overflow > 0 {
            notes.push(format!(
                "{} events found no room in the kernel's tables and are counted nowhere else.",
                self.tallies.overflow
            ));
        }
        notes.extend(ended::note(contexts.nodes().iter().map(|node| node.tid)));
        notes.extend(contexts.note());
        notes
    }

    /// What the kernel counted by context.
    fn counted(&self) -> &[ContextTally] {
        self.tallies.contexts.as_ref().map_or(&[], |contexts| &contexts.calls)
    }
}

impl Analysis for Calls {
    fn lens(&self) -> Lens {
        Lens::Calls
    }

    fn event(&mut self, event: &Event) {
        self.covered.event(event);
        let Self { shadow, contexts, tallies: _, covered: _, woven: _ } = self;
        let (tid, time_ns, stack) = (event.tid, event.time_ns, event.stack);
        match event.payload {
            Payload::Method { edge: Edge::Begin, method, sp, wanted: true } => {
                // What the entry shows of earlier calls comes before its own context, and both change the contexts.
                let contexts = std::cell::RefCell::new(contexts);
                shadow.enter(
                    (tid, method, sp, time_ns),
                    |around| {
                        let inlined = around.is_some_and(|frame| frame.sp == sp);
                        let call = Call { method, stack, inlined };
                        contexts.borrow_mut().call(tid, around.map(|frame| frame.data), call)
                    },
                    &mut |outcome| take(&mut contexts.borrow_mut(), outcome),
                );
            }
            Payload::Method { edge: Edge::End, method, sp, .. } => {
                shadow.leave((tid, method, sp, time_ns), &mut |outcome| take(contexts, outcome));
            }
            Payload::FrameUnwound { sp } => shadow.unwind(tid, sp, time_ns, &mut |outcome| take(contexts, outcome)),
            Payload::Thread { edge: Edge::End, .. } => {
                shadow.end_thread(tid, time_ns, &mut |outcome| take(contexts, outcome));
            }
            _ => {}
        }
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
        let counted = self.counted().iter().fold(0_u64, |sum, tally| sum.saturating_add(tally.count));
        vec![Scaled::calls(self.contexts.calls().saturating_add(counted))]
    }

    fn replace_stacks(&mut self, replaced: &Replaced, _: &crate::stack::Stacks) {
        self.covered.replace_stacks(replaced);
    }

    fn threads_ended(&mut self, ended: &EndedThreads) {
        self.woven.threads_ended(ended);
        self.shadow.forget(ended);
        if let Some(numbers) = self.contexts.sum_up(ended) {
            self.shadow.change_data(|context| context.renumbered(&numbers));
        }
    }

    fn tallies(&mut self, tallies: &Tallies) {
        self.tallies = tallies.methods_after(&self.tallies);
    }

    fn headline(&self, context: Context<'_>) -> Option<String> {
        self.covered.headline(Lens::Calls, context)
    }

    fn coverage(&mut self, coverage: &Coverage) {
        if !coverage.objects {
            self.covered.take(coverage);
        }
    }

    fn section(&self, context: Context<'_>) -> Section {
        if let Some(section) = self.woven.section(Lens::Calls, "Calls", context) {
            return section;
        }
        // The kernel counts all calls or none.
        let counted = (!self.counted().is_empty()).then(|| Contexts::counted(self.counted()));
        let contexts = counted.as_ref().unwrap_or(&self.contexts);
        let thread = |tid| (context.names.thread(tid), Some(tid));
        let lookup = Lookup { stacks: context.stacks, subjects: context.subjects };
        let graph = Graph::of(contexts, lookup, &thread);
        let summary = figures(&graph);
        let mut notes = self.notes(&graph, contexts);
        let called = contexts.nodes().iter().filter_map(|node| context.subjects.get(node.method));
        notes.extend(covered::not_entered(called.map(|subject| subject.class.as_str())));
        let mut shapes = shapes::all(&graph, contexts, &[], lookup, context.with_profiles);
        shapes.extend(self.covered.shape(context, &mut notes));
        Section { id: Lens::Calls.id(), title: "Calls".to_owned(), summary, notes, shapes }
    }
}

#[cfg(test)]
mod tests;

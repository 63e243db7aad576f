//! Lens `calls`: who calls whom, from where, how often, and in which contexts, among chosen methods.
//!
//! Each call of a chosen method belongs to a context: the chosen methods under way around it, with the place of each call
//! where stacks were taken. The graph of calls is the contexts seen without their past, so both always agree. The caller is
//! the Java frame right below the called method on the stack, where there is a stack: it may be a method that nobody chose,
//! and a native one; else the innermost chosen method under way on the thread.

mod contexts;
mod graph;
mod shapes;

use super::{
    Analysis, Context, Lens, Scaled,
    shadow::{How, Left, Outcome, Shadow},
};
use crate::{
    event::{Edge, Event, Payload},
    probe::catalog::METHODS_GROUP,
    report::{Section, Summary},
    session::GuardAction,
    tally::Tallies,
};
use contexts::{ContextId, Contexts};
use graph::Graph;

/// The analysis.
#[derive(Debug, Default)]
pub struct Calls {
    shadow: Shadow<ContextId>,
    contexts: Contexts,
    tallies: Tallies,
}

fn take(contexts: &mut Contexts, outcome: Outcome<ContextId>) {
    match outcome {
        Outcome::Left(Left { how, total_ns, self_ns, data, .. }) => {
            contexts.left(data, total_ns, self_ns, how != How::Returned);
        }
        Outcome::Threw(left) => contexts.error(left.data),
    }
}

impl Calls {
    fn notes(&self, graph: &Graph<'_>) -> Vec<String> {
        let mut notes = self.shadow.notes();
        if graph.has_places() {
            notes.push(
                "A caller is the Java frame below the called method, chosen or not; a method between two contexts that \
                 nobody chose is in no context."
                    .to_owned(),
            );
        } else if graph.calls() > 0 {
            notes.push(
                "Without stacks a caller is the innermost chosen method under way on the thread, and no place of a call is \
                 known."
                    .to_owned(),
            );
        }
        if !self.tallies.methods.is_empty() {
            notes.push(
                "Calls that the kernel counted have a caller where their stack was taken, and are in no thread's graph."
                    .to_owned(),
            );
        }
        if self.tallies.overflow > 0 {
            notes.push(format!(
                "{} events found no room in the kernel's tables and are counted nowhere else.",
                self.tallies.overflow
            ));
        }
        notes.extend(self.contexts.note());
        notes
    }
}

impl Analysis for Calls {
    fn lens(&self) -> Lens {
        Lens::Calls
    }

    fn event(&mut self, event: &Event) {
        let Self { shadow, contexts, tallies: _ } = self;
        let (tid, time_ns, stack) = (event.tid, event.time_ns, event.stack);
        match event.payload {
            Payload::Method { edge: Edge::Begin, method, sp, wanted: true } => {
                // What the entry shows of earlier calls comes before its own context, and both change the contexts.
                let contexts = std::cell::RefCell::new(contexts);
                shadow.enter(
                    (tid, method, sp, time_ns),
                    |around| contexts.borrow_mut().call(tid, around.map(|frame| frame.data), method, stack),
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
    }

    fn scaled(&self, group: &str) -> Vec<Scaled> {
        if group != METHODS_GROUP {
            return Vec::new();
        }
        let tallied = self.tallies.methods.iter().fold(0_u64, |sum, tally| sum.saturating_add(tally.count));
        vec![Scaled::calls(self.contexts.calls().saturating_add(tallied))]
    }

    fn tallies(&mut self, tallies: &Tallies) {
        self.tallies = Tallies { objects: Vec::new(), ..tallies.clone() };
    }

    fn section(&self, context: Context<'_>) -> Section {
        let graph = Graph::of(&self.contexts, &self.tallies.methods, context);
        let summary = Summary::new()
            .int("nodes", graph.nodes())
            .int("edges", graph.edges())
            .int("call_sites", graph.sites())
            .int("contexts", graph.contexts())
            .int("calls", graph.calls());
        let shapes = shapes::all(&graph, &self.contexts, &self.tallies.methods, context);
        Section { id: Lens::Calls.id(), title: "Calls".to_owned(), summary, notes: self.notes(&graph), shapes }
    }
}

#[cfg(test)]
mod tests;

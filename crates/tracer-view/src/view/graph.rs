//! A profile as a graph: which function calls which, from which line, and how much that costs.
//!
//! Where the stacks are contexts ([`Profile::contexts`]) an edge has as many calls as there were; else it has as many as there
//! are samples in which it was under way. A function that is on a stack several times counts once a stack.

use std::collections::{BTreeMap, BTreeSet};

use super::symbol::{Lines, Symbol, Symbols};
use crate::report::Profile;

/// A function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Function {
    /// Calls, or samples that it is innermost in.
    pub(super) calls: u64,
    /// Amount of the stacks that it is on.
    pub(super) total: u64,
    /// Amount of those in which it is innermost, by line; 0 where no line is known.
    pub(super) own: BTreeMap<u32, u64>,
}

/// A call from a line of one function to another one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Edge {
    /// Calls, or samples.
    pub(super) calls: u64,
    /// Amount of the stacks that it is on.
    pub(super) total: u64,
}

/// The graph. Functions are numbers of symbols.
#[derive(Debug)]
pub(super) struct Graph<'a> {
    symbols: Symbols<'a>,
    pub(super) functions: BTreeMap<u32, Function>,
    /// By caller, line in it (0: not known) and callee.
    pub(super) edges: BTreeMap<(u32, u32, u32), Edge>,
}

impl<'a> Graph<'a> {
    /// The graph of a profile.
    pub(super) fn new(profile: &'a Profile) -> Self {
        let symbols = Symbols::new(profile, Lines::Merged);
        let mut functions = BTreeMap::<u32, Function>::new();
        let mut edges = BTreeMap::<(u32, u32, u32), Edge>::new();
        for stack in &profile.stacks {
            let mut path: Vec<(u32, u32)> = symbols.stack(stack).map(|symbol| (symbol, 0)).collect();
            // A reason may stand before the first frame, so lines are counted from the innermost one.
            for ((_, line), frame) in path.iter_mut().rev().zip(stack.frames.iter().rev()) {
                let frame = usize::try_from(*frame).ok().and_then(|at| profile.frames.get(at));
                *line = frame.and_then(|frame| frame.line).unwrap_or(0);
            }
            let Some((innermost, line)) = path.last().copied() else { continue };
            let function = functions.entry(innermost).or_default();
            function.calls = function.calls.saturating_add(stack.count);
            let own = function.own.entry(line).or_default();
            *own = own.saturating_add(stack.value);
            for symbol in path.iter().map(|(symbol, _)| *symbol).collect::<BTreeSet<u32>>() {
                let total = &mut functions.entry(symbol).or_default().total;
                *total = total.saturating_add(stack.value);
            }
            let pairs = path.windows(2).filter_map(|pair| match pair {
                [(caller, line), (callee, _)] => Some((*caller, *line, *callee)),
                _ => None,
            });
            let last = pairs.clone().next_back();
            for pair in pairs.collect::<BTreeSet<_>>() {
                let edge = edges.entry(pair).or_default();
                edge.total = edge.total.saturating_add(stack.value);
                if !profile.contexts || Some(pair) == last {
                    edge.calls = edge.calls.saturating_add(stack.count);
                }
            }
        }
        Self { symbols, functions, edges }
    }

    /// What a function is called.
    pub(super) fn symbol(&self, function: u32) -> Option<&Symbol<'a>> {
        self.symbols.all().get(usize::try_from(function).ok()?)
    }

    /// Its label, unescaped.
    pub(super) fn label(&self, function: u32) -> String {
        self.symbol(function).map_or_else(|| "?".to_owned(), Symbol::label)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::view::sample;

    #[test]
    fn calls_of_contexts_are_those_of_their_innermost_frames() {
        let profile = sample::contexts();
        let graph = Graph::new(&profile);
        let named: Vec<_> = graph
            .edges
            .iter()
            .map(|((from, line, to), edge)| (graph.label(*from), *line, graph.label(*to), edge.calls, edge.total))
            .collect();
        let fib = || "Fib.fib".to_owned();
        assert_eq!(
            named,
            [("Fib.start".to_owned(), 12, fib(), 1, 9), (fib(), 23, fib(), 5, 6), (fib(), 24, fib(), 3, 3)]
        );
        let of = |name: &str| {
            let found = graph.functions.iter().find(|(function, _)| graph.label(**function) == name);
            found.map(|(_, function)| (function.calls, function.total))
        };
        assert_eq!((of("Fib.fib"), of("Fib.start")), (Some((9, 9)), Some((1, 10))));
    }

    proptest! {
        #[test]
        fn own_amounts_are_the_profiles_and_no_edge_is_more(profile in sample::any_profile()) {
            let graph = Graph::new(&profile);
            let own: u64 = graph.functions.values().flat_map(|function| function.own.values()).sum();
            prop_assert_eq!(own, profile.total());
            for ((caller, _, callee), edge) in &graph.edges {
                for end in [caller, callee] {
                    prop_assert!(edge.total <= graph.functions[end].total);
                }
            }
        }
    }
}

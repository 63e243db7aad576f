//! Whatever is called: the graph is the contexts without their past, and every entry is one call of each.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::*;

/// A call with the calls that it makes.
#[derive(Clone, Debug)]
struct Tree {
    method: u32,
    calls: Vec<Self>,
}

fn tree() -> impl Strategy<Value = Tree> {
    let leaf = (0_u32..5).prop_map(|method| Tree { method, calls: Vec::new() });
    leaf.prop_recursive(6, 40, 4, |inner| {
        (0_u32..5, prop::collection::vec(inner, 0..4)).prop_map(|(method, calls)| Tree { method, calls })
    })
}

/// What a recursive walk over the calls finds.
#[derive(Default)]
struct Truth {
    calls: u64,
    edges: BTreeMap<(Option<u32>, u32), u64>,
    /// Thread and path.
    contexts: BTreeMap<(u32, Vec<u32>), u64>,
}

impl Truth {
    fn walk(&mut self, tid: u32, path: &mut Vec<u32>, tree: &Tree) {
        self.calls += 1;
        *self.edges.entry((path.last().copied(), tree.method)).or_default() += 1;
        path.push(tree.method);
        *self.contexts.entry((tid, path.clone())).or_default() += 1;
        for call in &tree.calls {
            self.walk(tid, path, call);
        }
        path.pop();
    }
}

fn play(script: &mut Script, tid: u32, tree: &Tree, depth: u64) {
    script.enter(tid, NONE, SubjectId(tree.method), depth);
    for call in &tree.calls {
        play(script, tid, call, depth + 1);
    }
    script.leave(tid, SubjectId(tree.method), depth);
}

proptest! {
    #[test]
    fn graph_and_contexts_are_those_of_the_calls(
        trees in prop::collection::vec((7_u32..10, tree()), 1..6)
    ) {
        let mut session = Play::default();
        for method in 0..5 {
            session.method("R", &format!("m{method}"), "()V");
        }
        let (mut script, mut truth) = (Script::default(), Truth::default());
        for (tid, tree) in &trees {
            play(&mut script, *tid, tree, 0);
            truth.walk(*tid, &mut Vec::new(), tree);
        }
        let section = script.section(&session);
        let nodes: BTreeSet<u32> = truth.edges.keys().map(|edge| edge.1).collect();
        prop_assert_eq!(
            numbers(&section, SUMMARY),
            [nodes.len() as u64, truth.edges.len() as u64, 0, truth.contexts.len() as u64, truth.calls]
        );
        let name = |method: &u32| format!("R.m{method}");
        let caller = |method: &Option<u32>| method.as_ref().map_or_else(|| "<root>".to_owned(), name);
        let mut edges = cells(&section, "edges", ["caller", "callee", "calls"]);
        edges.sort_unstable();
        let mut expected: Vec<_> = truth
            .edges
            .iter()
            .map(|((from, to), calls)| [caller(from), name(to), calls.to_string()])
            .collect();
        expected.sort_unstable();
        prop_assert_eq!(edges, expected);
        let mut contexts: Vec<_> =
            profile_rows(&section, "calls").into_iter().map(|row| (row.1, row.0, row.2, row.3)).collect();
        contexts.sort_unstable();
        let mut expected: Vec<_> = truth
            .contexts
            .iter()
            .map(|((tid, path), calls)| {
                let path: Vec<String> = path.iter().map(name).collect();
                (format!("tid {tid}"), path.join(";"), *calls, *calls)
            })
            .collect();
        expected.sort_unstable();
        prop_assert_eq!(contexts, expected);
    }
}

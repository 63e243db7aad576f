//! The contexts of all threads together as a tree, cut down to what a person can read.

use super::super::{
    super::table::FastMap,
    contexts::{Amounts, Contexts},
    graph::{Graph, Place},
};
use crate::{
    event::SubjectId,
    report::{Node, Shape, Tree, Unit},
};

/// Most nodes of the tree.
const NODES: usize = 2000;
/// Most levels: views draw a tree from within itself, and in JSON each level is two, of which many readers take 128.
const LEVELS: usize = 50;

/// A context of all threads.
struct Merged {
    method: SubjectId,
    place: Place,
    amounts: Amounts,
    /// With everything below.
    calls: u64,
    parent: Option<usize>,
    children: Vec<usize>,
    level: usize,
}

/// The tree, by number of calls.
pub(super) fn tree(graph: &Graph<'_>, contexts: &Contexts) -> Shape {
    let mut all = merged(graph, contexts);
    for at in (0..all.len()).rev() {
        let calls = all[at].calls;
        if let Some(parent) = all[at].parent {
            all[parent].calls = all[parent].calls.saturating_add(calls);
            all[parent].children.push(at);
        }
    }
    let shown = shown(&all);
    let mut roots: Vec<usize> = (0..all.len()).filter(|at| all[*at].parent.is_none()).collect();
    let value = roots.iter().fold(0_u64, |sum, at| sum.saturating_add(all[*at].calls));
    let root = Node {
        label: "all threads".to_owned(),
        value: value as f64,
        children: children(graph, &all, &shown, &mut roots, value),
    };
    Shape::Tree(Tree { id: "contexts", title: "Calls by context".to_owned(), unit: Unit::Count, root })
}

/// Parents come before their children.
fn merged(graph: &Graph<'_>, contexts: &Contexts) -> Vec<Merged> {
    let mut all: Vec<Merged> = Vec::new();
    let mut known: FastMap<(Option<usize>, u32, Place), usize> = FastMap::default();
    let mut of_node: Vec<usize> = Vec::with_capacity(contexts.nodes().len());
    for (node, place) in contexts.nodes().iter().zip(&graph.places) {
        let parent = node.parent.and_then(|at| of_node.get(usize::try_from(at).ok()?)).copied();
        let at = *known.entry((parent, node.method.0, *place)).or_insert_with(|| {
            all.push(Merged {
                method: node.method,
                place: *place,
                amounts: Amounts::default(),
                calls: 0,
                parent,
                children: Vec::new(),
                level: parent.map_or(0, |parent| all[parent].level + 1),
            });
            all.len() - 1
        });
        all[at].amounts.add(&node.amounts);
        all[at].calls = all[at].calls.saturating_add(node.amounts.calls);
        of_node.push(at);
    }
    all
}

/// The contexts with most calls; with one, everything around it has at least as many.
fn shown(all: &[Merged]) -> Vec<bool> {
    let mut order: Vec<usize> = (0..all.len()).filter(|at| all[*at].level < LEVELS).collect();
    order.sort_by_key(|at| (std::cmp::Reverse(all[*at].calls), *at));
    let mut shown = vec![false; all.len()];
    for at in order.into_iter().take(NODES) {
        shown[at] = true;
    }
    shown
}

/// The nodes below one, and one for what is not shown.
fn children(graph: &Graph<'_>, all: &[Merged], shown: &[bool], among: &mut [usize], below: u64) -> Vec<Node> {
    among.sort_by_key(|at| (std::cmp::Reverse(all[*at].calls), *at));
    let mut nodes = Vec::new();
    let mut told = 0_u64;
    for at in among.iter().filter(|at| shown[**at]) {
        let Merged { method, place, amounts, calls, children: inner, .. } = &all[*at];
        told = told.saturating_add(*calls);
        let name = graph.resolver.title(*method);
        let label = match place.line {
            Some(line) => format!("{name} ({} calls, from line {line})", amounts.calls),
            None => format!("{name} ({} calls)", amounts.calls),
        };
        let mut inner = inner.clone();
        let children = children(graph, all, shown, &mut inner, calls.saturating_sub(amounts.calls));
        nodes.push(Node { label, value: *calls as f64, children });
    }
    if below > told {
        nodes.push(Node { label: "(others)".to_owned(), value: (below - told) as f64, children: Vec::new() });
    }
    nodes
}

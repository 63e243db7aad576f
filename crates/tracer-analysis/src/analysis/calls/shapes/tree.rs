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
pub(super) struct Merged {
    pub(super) method: SubjectId,
    pub(super) place: Place,
    pub(super) amounts: Amounts,
    pub(super) parent: Option<usize>,
}

/// The tree, by number of calls.
pub(super) fn tree(graph: &Graph<'_>, contexts: &Contexts) -> Shape {
    let (all, _) = merged(graph, contexts);
    let whole = Whole::of(all.iter().map(|context| (context.parent, context.amounts.calls)));
    whole.shape("contexts", "Calls by context", Unit::Count, &|at| {
        let Merged { method, place, amounts, .. } = &all[at];
        let name = graph.resolver.title(*method);
        match place.line {
            Some(line) => format!("{name} ({} calls, from line {line})", amounts.calls),
            None => format!("{name} ({} calls)", amounts.calls),
        }
    })
}

/// Parents come before their children; and which of them each context is.
pub(super) fn merged(graph: &Graph<'_>, contexts: &Contexts) -> (Vec<Merged>, Vec<usize>) {
    let mut all: Vec<Merged> = Vec::new();
    let mut known: FastMap<(Option<usize>, u32, Place), usize> = FastMap::default();
    let mut of_node: Vec<usize> = Vec::with_capacity(contexts.nodes().len());
    for (node, place) in contexts.nodes().iter().zip(&graph.places) {
        let parent = node.parent.and_then(|at| of_node.get(usize::try_from(at).ok()?)).copied();
        let at = *known.entry((parent, node.method.0, *place)).or_insert_with(|| {
            all.push(Merged { method: node.method, place: *place, amounts: Amounts::default(), parent });
            all.len() - 1
        });
        all[at].amounts.add(&node.amounts);
        of_node.push(at);
    }
    (all, of_node)
}

/// A tree before it is cut down.
pub(super) struct Whole(Vec<Entry>);

struct Entry {
    own: u64,
    /// With everything below.
    value: u64,
    parent: Option<usize>,
    children: Vec<usize>,
    level: usize,
}

impl Whole {
    /// Out of parents and values; parents come before their children.
    pub(super) fn of(entries: impl Iterator<Item = (Option<usize>, u64)>) -> Self {
        let mut all: Vec<Entry> = Vec::new();
        for (parent, own) in entries {
            let level = parent.map_or(0, |parent| all[parent].level + 1);
            all.push(Entry { own, value: own, parent, children: Vec::new(), level });
        }
        for at in (0..all.len()).rev() {
            let value = all[at].value;
            if let Some(parent) = all[at].parent {
                all[parent].value = all[parent].value.saturating_add(value);
                all[parent].children.push(at);
            }
        }
        Self(all)
    }

    /// What of it can be read. `label` says what stands at each place.
    pub(super) fn shape(&self, id: &'static str, title: &str, unit: Unit, label: &dyn Fn(usize) -> String) -> Shape {
        let shown = self.shown();
        let mut roots: Vec<usize> = (0..self.0.len()).filter(|at| self.0[*at].parent.is_none()).collect();
        let value = roots.iter().fold(0_u64, |sum, at| sum.saturating_add(self.0[*at].value));
        let children = self.children(&shown, &mut roots, value, label);
        let root = Node { label: "all threads".to_owned(), value: value as f64, children };
        Shape::Tree(Tree { id, title: title.to_owned(), unit, root })
    }

    /// Those with the highest values; with one, everything around it has at least as much.
    fn shown(&self) -> Vec<bool> {
        let all = &self.0;
        let mut order: Vec<usize> = (0..all.len()).filter(|at| all[*at].level < LEVELS).collect();
        order.sort_by_key(|at| (std::cmp::Reverse(all[*at].value), *at));
        let mut shown = vec![false; all.len()];
        for at in order.into_iter().take(NODES) {
            shown[at] = all[at].value > 0;
        }
        shown
    }

    /// The nodes below one, and one for what is not shown.
    fn children(&self, shown: &[bool], among: &mut [usize], below: u64, label: &dyn Fn(usize) -> String) -> Vec<Node> {
        among.sort_by_key(|at| (std::cmp::Reverse(self.0[*at].value), *at));
        let mut nodes = Vec::new();
        let mut told = 0_u64;
        for at in among.iter().copied().filter(|at| shown[*at]) {
            let Entry { own, value, children: inner, .. } = &self.0[at];
            told = told.saturating_add(*value);
            let children = self.children(shown, &mut inner.clone(), value.saturating_sub(*own), label);
            nodes.push(Node { label: label(at), value: *value as f64, children });
        }
        if below > told {
            nodes.push(Node { label: "(others)".to_owned(), value: (below - told) as f64, children: Vec::new() });
        }
        nodes
    }
}

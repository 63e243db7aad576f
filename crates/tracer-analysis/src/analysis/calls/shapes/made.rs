//! What the contexts make: the tree of calls, with objects as its leaves.

use std::collections::BTreeMap;

use super::{
    super::{
        contexts::Contexts,
        graph::{Graph, Place},
    },
    tree::{Whole, merged},
};
use crate::{
    report::{Shape, Unit},
    text::format::plural,
};

/// Objects of a class that a line makes in a context.
#[derive(Clone, Debug)]
pub(in super::super) struct MadeIn {
    /// Number of the context; absent where it is not known.
    pub(in super::super) context: Option<u32>,
    pub(in super::super) class: String,
    /// Where the method of the context makes them.
    pub(in super::super) place: Place,
    pub(in super::super) objects: u64,
    /// As they are laid out; of classes whose size is not known 0.
    pub(in super::super) bytes: u64,
}

/// Objects and bytes.
type Sum = (u64, u64);

/// The tree, by bytes; nothing where nothing was made.
pub(super) fn tree(graph: &Graph<'_>, contexts: &Contexts, made: &[MadeIn]) -> Option<Shape> {
    // Each redrawing of a screen comes here, also in sessions that ask for no objects.
    if made.is_empty() {
        return None;
    }
    let (all, of_node) = merged(graph, contexts);
    let mut leaves: BTreeMap<(Option<usize>, &str, Option<u32>), Sum> = BTreeMap::new();
    for MadeIn { context, class, place: Place { line, .. }, objects, bytes } in made {
        let context = context.and_then(|at| of_node.get(usize::try_from(at).ok()?)).copied();
        let (sum, sum_bytes) = leaves.entry((context, class, *line)).or_default();
        *sum = sum.saturating_add(*objects);
        *sum_bytes = sum_bytes.saturating_add(*bytes);
    }
    let leaves: Vec<_> = leaves.into_iter().filter(|(_, (objects, _))| *objects > 0).collect();
    let contexts = all.iter().map(|context| (context.parent, 0));
    let whole = Whole::of(contexts.chain(leaves.iter().map(|((context, ..), (_, bytes))| (*context, *bytes))));
    let label = |at: usize| match at.checked_sub(all.len()) {
        None => graph.resolver.title(all[at].method),
        Some(leaf) => {
            let ((context, class, line), (objects, _)) = &leaves[leaf];
            let where_not = if context.is_some() { "" } else { "<not known>: " };
            let line = line.map_or_else(String::new, |line| format!(", line {line}"));
            format!("{where_not}new {class} ({}{line})", plural(*objects, "object", "objects"))
        }
    };
    (!leaves.is_empty()).then(|| whole.shape("made", "What is made, by context", Unit::Bytes, &label))
}

//! The shortest way from a root to each object, by strong references.

use super::graph::{Graph, Label, NOBODY, Node, Root, RootKind, Via};

/// Longest path that is shown.
const MAX_STEPS: usize = 1 << 20;

/// A step of a path: the object that refers, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The object that refers.
    pub from: Node,
    /// How.
    pub label: Label,
}

/// A way from a root to an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path {
    /// The root; `None` where only weak references lead there, or nothing that was told of.
    pub root: Option<Root>,
    /// The object at the beginning.
    pub start: Node,
    /// The steps from it to the object.
    pub steps: Vec<Step>,
}

/// Ways to all objects.
#[derive(Debug)]
pub struct Paths {
    /// The object before each one; itself: it is a root; [`NOBODY`]: nothing leads there.
    before: Vec<Node>,
    /// The reference by which it refers, by its place in the graph's rows; [`CLASS`]: as to its class.
    by: Vec<u32>,
    /// A root of each object that has one, in the order of their numbers.
    roots: Vec<(Node, Root)>,
}

/// In place of a reference.
const CLASS: u32 = u32::MAX;

/// Which root says most: a frame's variable is a better answer than that the thread lives.
fn rank(kind: RootKind) -> u8 {
    match kind {
        RootKind::StackLocal => 0,
        RootKind::JniLocal => 1,
        RootKind::Thread => 2,
        RootKind::Monitor => 3,
        RootKind::JniGlobal => 4,
        RootKind::SystemClass => 5,
        RootKind::Other => 6,
        RootKind::OnlyWeak | RootKind::Unreached => 7,
    }
}

impl Paths {
    /// Finds the shortest ones.
    pub fn of(graph: &Graph) -> Self {
        Self::found(graph, rank, |_| false, |_| true)
    }

    /// Finds the shortest ones that go no further than to some objects.
    pub fn no_further_than(graph: &Graph, is_end: impl Fn(Node) -> bool) -> Self {
        Self::found(graph, rank, |_| false, |node| !is_end(node))
    }

    /// Finds the shortest ones from what lasts, and from frames only to what nothing else leads to. A thread that happens to use a map
    /// does not become its holder by that.
    pub fn lasting(graph: &Graph) -> Self {
        Self::found(graph, |kind| rank(kind) + if kind.is_passing() { 8 } else { 0 }, RootKind::is_passing, |_| true)
    }

    fn found(
        graph: &Graph,
        rank: impl Fn(RootKind) -> u8,
        is_late: impl Fn(RootKind) -> bool,
        goes_on: impl Fn(Node) -> bool,
    ) -> Self {
        let mut roots: Vec<(Node, Root)> = graph.roots.iter().map(|root| (root.node, *root)).collect();
        roots.sort_by_key(|(node, root)| (*node, rank(root.kind)));
        roots.dedup_by_key(|(node, _)| *node);
        let mut paths = Self { before: vec![NOBODY; graph.len()], by: vec![CLASS; graph.len()], roots };
        for late in [false, true] {
            let mut row: Vec<Node> = Vec::new();
            for (node, root) in &paths.roots {
                let place = paths.before.get_mut(*node as usize).filter(|place| **place == NOBODY);
                if let Some(place) = place.filter(|_| is_late(root.kind) == late) {
                    *place = *node;
                    row.push(*node);
                }
            }
            paths.follow(graph, row, &goes_on);
        }
        paths
    }

    /// Follows references, row by row, to what was not reached before.
    fn follow(&mut self, graph: &Graph, mut row: Vec<Node>, goes_on: impl Fn(Node) -> bool) {
        let Self { before, by, .. } = self;
        let mut next = Vec::new();
        while !row.is_empty() {
            for node in row.drain(..).filter(|node| goes_on(*node)) {
                let mut visit = |to: Node, reference: u32| {
                    if let Some(place) = before.get_mut(to as usize).filter(|place| **place == NOBODY) {
                        *place = node;
                        by[to as usize] = reference;
                        next.push(to);
                    }
                };
                let first = u32::try_from(graph.row(node).start).unwrap_or(CLASS);
                for ((to, label), reference) in graph.references(node).zip(first..) {
                    if !label.is_weak() {
                        visit(to, reference);
                    }
                }
                if let Some(class) = graph.class_object(node) {
                    visit(class, CLASS);
                }
            }
            std::mem::swap(&mut row, &mut next);
        }
    }

    /// Whether a way leads to an object.
    pub fn reaches(&self, node: Node) -> bool {
        self.before.get(node as usize).is_some_and(|before| *before != NOBODY)
    }

    /// The root that an object is.
    pub fn root(&self, node: Node) -> Option<Root> {
        let at = self.roots.binary_search_by_key(&node, |(node, _)| *node).ok()?;
        self.roots.get(at).map(|(_, root)| *root)
    }

    /// The object before one, and how it refers.
    pub fn step(&self, graph: &Graph, node: Node) -> Option<Step> {
        let from = self.before.get(node as usize).copied().filter(|from| *from != NOBODY && *from != node)?;
        let label = self.by.get(node as usize).and_then(|reference| graph.label.get(*reference as usize));
        Some(Step { from, label: label.copied().unwrap_or_else(|| Label::new(Via::Class)) })
    }

    /// The way to an object.
    pub fn to(&self, graph: &Graph, node: Node) -> Path {
        let (mut steps, mut start) = (Vec::new(), node);
        while let Some(step) = self.step(graph, start).filter(|_| steps.len() < MAX_STEPS) {
            start = step.from;
            steps.push(step);
        }
        steps.reverse();
        Path { root: self.root(start), start, steps }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::heap::build::Builder;

    #[test]
    fn the_shortest_way_is_told_with_its_fields_and_the_root_that_says_most() {
        let mut builder = Builder::new();
        let class = builder.class("A".to_owned());
        let [next, all] = ["next", "all"].map(|name| builder.name(name));
        for at in 0..5 {
            builder.object(at * 8, class, 2, None);
        }
        // 0 -> 1 -> 2 -> 3, and 0 -> 3 by an element; 4 only weakly.
        for (from, to, via) in [
            (0, 1, Via::Field(next)),
            (0, 3, Via::Element(7)),
            (0, 4, Via::Referent(all)),
            (1, 2, Via::Field(next)),
            (2, 3, Via::Field(next)),
        ] {
            builder.from(Some(from));
            builder.reference(to, via);
        }
        let root = |kind| Root { node: 0, kind, thread: 1, frame: 1, method: 0 };
        builder.root(root(RootKind::Other));
        builder.root(root(RootKind::StackLocal));
        let graph = builder.finish();
        let paths = Paths::of(&graph);
        let to = paths.to(&graph, 3);
        assert_eq!(to.root.map(|root| root.kind), Some(RootKind::StackLocal));
        assert_eq!(to.steps, [Step { from: 0, label: Label::new(Via::Element(7)) }]);
        assert_eq!(paths.to(&graph, 2).steps.len(), 2);
        assert_eq!(paths.to(&graph, 4), Path { root: None, start: 4, steps: Vec::new() });
    }

    #[test]
    fn what_lasts_holds_and_not_the_frame_that_happens_to_use_it() {
        let mut builder = Builder::new();
        let class = builder.class("A".to_owned());
        let next = builder.name("next");
        for at in 0..4 {
            builder.object(at * 8, class, 2, None);
        }
        // 0 -> 1 -> 2 from what lasts, and a frame holds 2, which leads to 3, and 1.
        for (from, to) in [(0, 1), (1, 2), (2, 3)] {
            builder.from(Some(from));
            builder.reference(to, Via::Field(next));
        }
        let root = |node, kind| Root { node, kind, thread: 1, frame: 1, method: 0 };
        builder.root(root(0, RootKind::JniGlobal));
        builder.root(root(2, RootKind::StackLocal));
        builder.root(root(1, RootKind::Monitor));
        let graph = builder.finish();
        assert_eq!(Paths::of(&graph).to(&graph, 3).steps.len(), 1);
        let lasting = Paths::lasting(&graph).to(&graph, 3);
        assert_eq!((lasting.start, lasting.steps.len()), (0, 3));
    }
}

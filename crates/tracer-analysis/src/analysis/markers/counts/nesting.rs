//! Which marker lies inside which: a tree of markers with counts and times.
//!
//! A marker stands on a path once: where it is entered again inside of itself, with others in between or not, that counts at the node
//! where it stands already. So the tree is no deeper than there are markers, whatever recursion does.

use crate::{
    mark::Marker,
    report::{Node as Drawn, Shape, Tree, Unit},
};

/// Most nodes; what would need more is counted at the node around it.
const MAX_NODES: usize = 1 << 14;

/// Most rows of the table.
const MAX_ROWS: usize = 2000;

/// What stands for regions that nobody knows, because words were lost.
const LOST_LABEL: &str = "(after a loss)";

/// A path with its numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) path: String,
    pub(super) count: u64,
    pub(super) timed: u64,
    pub(super) total_ns: u64,
    pub(super) self_ns: u64,
}

/// A node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NodeId(u32);

impl NodeId {
    /// What lies inside no region.
    const ROOT: Self = Self(0);
    /// What lies inside of nobody knows what, because words were lost.
    const LOST: Self = Self(1);

    /// The node of what has no region around it.
    #[inline]
    pub(super) const fn root(is_known: bool) -> Self {
        if is_known { Self::ROOT } else { Self::LOST }
    }

    #[inline]
    pub(super) const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A marker inside of others.
#[derive(Clone, Debug, Default)]
struct Node {
    marker: Option<usize>,
    parent: u32,
    /// Where each marker leads that was entered here; the one of last time first.
    edges: Vec<(usize, NodeId)>,
    /// Of those, the ones that stand here, and not further out.
    children: Vec<NodeId>,
    count: u64,
    timed: u64,
    total_ns: u64,
    self_ns: u64,
}

/// The tree.
#[derive(Clone, Debug)]
pub(super) struct Nesting {
    nodes: Vec<Node>,
    is_full: bool,
}

impl Default for Nesting {
    fn default() -> Self {
        Self { nodes: vec![Node::default(), Node::default()], is_full: false }
    }
}

impl Nesting {
    /// The node of a marker inside a node.
    #[inline]
    pub(super) fn child(&mut self, around: NodeId, marker: usize) -> NodeId {
        let Some(node) = self.nodes.get(around.index()) else { return NodeId::ROOT };
        match node.edges.first() {
            Some((first, child)) if *first == marker => *child,
            _ => self.search(around, marker),
        }
    }

    fn search(&mut self, around: NodeId, marker: usize) -> NodeId {
        let Some(node) = self.nodes.get_mut(around.index()) else { return NodeId::ROOT };
        if let Some(index) = node.edges.iter().position(|(other, _)| *other == marker) {
            // Loops come back to the same few markers.
            node.edges.swap(0, index);
            return node.edges.first().map_or(NodeId::ROOT, |(_, child)| *child);
        }
        let child = self.further_out(around, marker).or_else(|| self.grow(around, marker)).unwrap_or(around);
        if let Some(node) = self.nodes.get_mut(around.index()) {
            node.edges.push((marker, child));
        }
        child
    }

    /// The node of a marker on the path to a node.
    fn further_out(&self, from: NodeId, marker: usize) -> Option<NodeId> {
        let mut at = from;
        loop {
            let node = self.nodes.get(at.index())?;
            if node.marker? == marker {
                return Some(at);
            }
            at = NodeId(node.parent);
        }
    }

    fn grow(&mut self, around: NodeId, marker: usize) -> Option<NodeId> {
        if self.nodes.len() >= MAX_NODES {
            self.is_full = true;
            return None;
        }
        let id = NodeId(u32::try_from(self.nodes.len()).ok()?);
        self.nodes.push(Node { marker: Some(marker), parent: around.0, ..Node::default() });
        self.nodes.get_mut(around.index())?.children.push(id);
        Some(id)
    }

    #[inline]
    pub(super) fn count(&mut self, node: NodeId) {
        if let Some(node) = self.nodes.get_mut(node.index()) {
            node.count += 1;
        }
    }

    #[inline]
    pub(super) fn time(&mut self, node: NodeId, total_ns: u64, self_ns: u64) {
        if let Some(node) = self.nodes.get_mut(node.index()) {
            node.timed += 1;
            node.total_ns = node.total_ns.saturating_add(total_ns);
            node.self_ns = node.self_ns.saturating_add(self_ns);
        }
    }

    /// The time in regions of a marker, that of those within others of the same marker once.
    pub(super) fn total_ns(&self, marker: usize) -> u64 {
        let of_marker = self.nodes.iter().filter(|node| node.marker == Some(marker));
        of_marker.fold(0, |sum: u64, node| sum.saturating_add(node.total_ns))
    }

    /// The paths with their numbers: what has no region around it first, then by count.
    pub(super) fn rows(&self, markers: &[Marker]) -> Vec<Row> {
        let mut rows = Vec::new();
        for (root, path) in [(NodeId::ROOT, ""), (NodeId::LOST, LOST_LABEL)] {
            for child in self.ordered(root) {
                self.walk(child, path, markers, &mut rows);
            }
        }
        rows
    }

    /// Recursion here is no deeper than there are markers.
    fn walk(&self, at: NodeId, path: &str, markers: &[Marker], rows: &mut Vec<Row>) {
        let Some(node) = self.nodes.get(at.index()) else { return };
        let between = if path.is_empty() { "" } else { " > " };
        let path = format!("{path}{between}{}", label(node, markers));
        let Node { count, total_ns, self_ns, timed, .. } = node;
        rows.push(Row { path: path.clone(), count: *count, timed: *timed, total_ns: *total_ns, self_ns: *self_ns });
        for child in self.ordered(at) {
            if rows.len() >= MAX_ROWS {
                return;
            }
            self.walk(child, &path, markers, rows);
        }
    }

    /// The nodes within, most often entered first.
    fn ordered(&self, at: NodeId) -> Vec<NodeId> {
        let mut children = self.nodes.get(at.index()).map(|node| node.children.clone()).unwrap_or_default();
        let count = |child: &NodeId| self.nodes.get(child.index()).map_or(0, |node| node.count);
        children.sort_by_key(|child| std::cmp::Reverse(count(child)));
        children
    }

    /// A sentence where there was no room.
    pub(super) fn note(&self) -> Option<String> {
        self.is_full.then(|| format!("Only the first {MAX_NODES} nestings of markers are told apart."))
    }

    /// The times as a tree; nothing where there are none.
    pub(super) fn shape(&self, markers: &[Marker]) -> Option<Shape> {
        let mut root = Drawn { label: "all regions".to_owned(), value: 0.0, children: Vec::new() };
        for start in [NodeId::ROOT, NodeId::LOST] {
            let children = self.ordered(start).into_iter().map(|child| self.draw(child, markers));
            let mut children: Vec<Drawn> = children.filter(|child| child.value > 0.0).collect();
            if start == NodeId::LOST && !children.is_empty() {
                let value = children.iter().map(|child| child.value).sum();
                children = vec![Drawn { label: LOST_LABEL.to_owned(), value, children }];
            }
            root.children.extend(children);
        }
        root.value = root.children.iter().map(|child| child.value).sum();
        let title = "Time in regions, by nesting".to_owned();
        (root.value > 0.0).then_some(Shape::Tree(Tree { id: "nesting_times", title, unit: Unit::Ns, root }))
    }

    fn draw(&self, at: NodeId, markers: &[Marker]) -> Drawn {
        let Some(node) = self.nodes.get(at.index()) else {
            return Drawn { label: String::new(), value: 0.0, children: Vec::new() };
        };
        let children = self.ordered(at).into_iter().map(|child| self.draw(child, markers));
        let children: Vec<Drawn> = children.filter(|child| child.value > 0.0).collect();
        // A region without times is as long as what is known to lie in it.
        let inner: f64 = children.iter().map(|child| child.value).sum();
        Drawn { label: label(node, markers), value: inner.max(node.total_ns as f64), children }
    }
}

fn label(node: &Node, markers: &[Marker]) -> String {
    let marker = node.marker.and_then(|marker| markers.get(marker));
    marker.map_or_else(String::new, |marker| marker.name.clone())
}

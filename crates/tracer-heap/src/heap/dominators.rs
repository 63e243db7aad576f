//! Dominators: which object everything on the way to an object has to pass, and so what would be freed with each.
//!
//! Semi-NCA (Georgiadis 2005, after Lengauer and Tarjan): a depth-first walk numbers the objects, each gets a semidominator by looking at
//! what refers to it, and its dominator lies above on the walk's tree. Nothing here recurses: lists of ten million links are walked with
//! stacks of their own.

use std::collections::HashSet;

use super::graph::{Graph, NOBODY, Node};

/// Numbers of the walk: 0 is nothing, 1 is the root of all, objects follow.
type Order = u32;
/// The root of all.
pub const ROOT: Order = 1;

/// Dominators of a graph.
#[derive(Debug)]
pub struct Dominators {
    /// The object of each number; [`NOBODY`] for the first two.
    node: Vec<Node>,
    /// The number of each object; 0: nothing leads to it.
    order: Vec<Order>,
    /// The dominator of each number.
    dominator: Vec<Order>,
    /// Bytes that would be freed with it.
    retained: Vec<u64>,
    weak: HashSet<Node>,
    /// Objects that only weak references lead to, and objects that nothing leads to.
    pub only_weak: Vec<Node>,
    /// See above.
    pub unreached: Vec<Node>,
}

/// Where each object leads to: its references, unless collectors may cut them, and its class.
fn successor(graph: &Graph, node: Node, at: usize) -> Next {
    let row = graph.row(node);
    let index = row.start + at;
    if index >= row.end {
        return match graph.class_object(node) {
            Some(class) if index == row.end => Next::To(class),
            _ => Next::End,
        };
    }
    let is_weak = graph.label.get(index).is_some_and(|label| label.is_weak());
    graph.to.get(index).filter(|_| !is_weak).map_or(Next::Nowhere, |to| Next::To(*to))
}

enum Next {
    To(Node),
    /// Collectors may cut it.
    Nowhere,
    End,
}

/// A walk that is under way.
struct Walk<'a> {
    graph: &'a Graph,
    node: Vec<Node>,
    order: Vec<Order>,
    parent: Vec<Order>,
    stack: Vec<(Node, u32)>,
}

impl<'a> Walk<'a> {
    /// One that has not begun.
    fn new(graph: &'a Graph) -> Self {
        let count = graph.len();
        let (mut node, mut parent) = (Vec::with_capacity(count + 2), Vec::with_capacity(count + 2));
        node.extend([NOBODY, NOBODY]);
        parent.extend([0, 0]);
        Self { graph, node, order: vec![0; count], parent, stack: Vec::new() }
    }

    /// Walks from an object that the root of all leads to.
    fn from(&mut self, node: Node) {
        self.enter(node, ROOT);
        while let Some((node, at)) = self.stack.last_mut() {
            let (from, next) = (*node, *at as usize);
            *at += 1;
            match successor(self.graph, from, next) {
                Next::End => drop(self.stack.pop()),
                Next::Nowhere => {}
                Next::To(to) => {
                    let parent = self.order[from as usize];
                    self.enter(to, parent);
                }
            }
        }
    }

    fn enter(&mut self, node: Node, parent: Order) {
        let Some(order) = self.order.get_mut(node as usize).filter(|order| **order == 0) else { return };
        *order = u32::try_from(self.node.len()).unwrap_or(0);
        self.node.push(node);
        self.parent.push(parent);
        self.stack.push((node, 0));
    }
}

/// Of each object whether some lead to it, or it is one of them, by what no collector may cut.
pub(super) fn led_to(graph: &Graph, from: impl Iterator<Item = Node>) -> Vec<bool> {
    let mut walk = Walk::new(graph);
    from.for_each(|node| walk.from(node));
    walk.order.iter().map(|order| *order != 0).collect()
}

impl Dominators {
    /// Finds them.
    pub fn of(graph: &Graph) -> Self {
        let count = graph.len();
        let mut walk = Walk::new(graph);
        let mut starts = Vec::new();
        for root in &graph.roots {
            starts.push(root.node);
            walk.from(root.node);
        }
        // What only weak references lead to is freed at some time, and is there now: it hangs at the root of all by those.
        let (mut only_weak, mut unreached) = (Vec::new(), Vec::new());
        for node in 0..u32::try_from(count).unwrap_or(NOBODY) {
            if walk.order[node as usize] == 0 {
                continue;
            }
            for (to, label) in graph.references(node) {
                if label.is_weak() && walk.order.get(to as usize) == Some(&0) {
                    only_weak.push(to);
                }
            }
        }
        only_weak.sort_unstable();
        only_weak.dedup();
        // What one of them holds is not held by weak references alone, in any order of looking: those that others hold are no starts.
        let mut at = 0;
        while let Some(node) = only_weak.get(at).copied() {
            at += 1;
            starts.push(node);
            let before = walk.node.len();
            walk.from(node);
            for new in before..walk.node.len() {
                for (to, label) in graph.references(walk.node[new]) {
                    if label.is_weak() && walk.order.get(to as usize) == Some(&0) {
                        only_weak.push(to);
                    }
                }
            }
        }
        for node in 0..u32::try_from(count).unwrap_or(NOBODY) {
            if walk.order[node as usize] == 0 {
                unreached.push(node);
                starts.push(node);
                walk.from(node);
            }
        }
        let Walk { node, order, parent, .. } = walk;
        let dominator = dominators(graph, &node, &order, parent, &starts);
        let mut retained = vec![0; node.len()];
        for at in (2..node.len()).rev() {
            retained[at] += graph.bytes(node[at]);
            retained[dominator[at] as usize] += retained[at];
        }
        let weak = only_weak.iter().copied().collect();
        Self { node, order, dominator, retained, weak, only_weak, unreached }
    }

    /// Bytes that would be freed with an object, itself included.
    pub fn retained(&self, node: Node) -> u64 {
        self.order.get(node as usize).and_then(|order| self.retained.get(*order as usize)).copied().unwrap_or(0)
    }

    /// The object that everything on the way to an object passes last; `None`: there is none.
    pub fn dominator(&self, node: Node) -> Option<Node> {
        let order = *self.order.get(node as usize)?;
        let above = self.dominator.get(order as usize).copied().filter(|above| *above > ROOT)?;
        self.node.get(above as usize).copied()
    }

    /// Whether an object hangs at the root of all by weak references only.
    pub fn is_only_weak(&self, node: Node) -> bool {
        self.dominator(node).is_none() && self.weak.contains(&node)
    }

    /// Whether not even weak references of what is reached lead to an object.
    pub fn is_unreached(&self, node: Node) -> bool {
        let order = |node: Node| self.order.get(node as usize);
        // These were walked through last.
        self.unreached.first().is_some_and(|first| order(node) >= order(*first))
    }

    /// Bytes of all.
    pub fn total(&self) -> u64 {
        self.retained.get(ROOT as usize).copied().unwrap_or(0)
    }

    /// All objects in an order in which dominators come first, with the place of each one's dominator in that order; those whose
    /// dominator is the root of all have none.
    pub fn top_down(&self) -> impl DoubleEndedIterator<Item = (Node, Option<Node>)> + '_ {
        self.node.iter().zip(&self.dominator).skip(2).map(|(node, above)| {
            let above = (*above > ROOT).then(|| self.node.get(*above as usize).copied()).flatten();
            (*node, above)
        })
    }
}

impl Dominators {
    /// Bytes that the objects of each group retain, without what one of the same group retains already. Groups are numbered from 0.
    pub fn retained_by(&self, group: &[u32], groups: usize) -> Vec<u64> {
        // The tree of dominators, as rows of what each one dominates.
        let (mut first, mut next) = (vec![NOBODY; group.len()], vec![NOBODY; group.len()]);
        let mut tops = Vec::new();
        for (node, above) in self.top_down() {
            match above {
                Some(above) => next[node as usize] = std::mem::replace(&mut first[above as usize], node),
                None => tops.push(node),
            }
        }
        let mut retained = vec![0; groups];
        let mut within = vec![0_u32; groups];
        let mut stack: Vec<(Node, bool)> = Vec::new();
        for top in tops {
            stack.push((top, false));
            while let Some((node, is_left)) = stack.pop() {
                let of = group[node as usize] as usize;
                if is_left {
                    within[of] -= 1;
                    continue;
                }
                if within[of] == 0 {
                    retained[of] += self.retained(node);
                }
                within[of] += 1;
                stack.push((node, true));
                let mut below = first[node as usize];
                while below != NOBODY {
                    stack.push((below, false));
                    below = next[below as usize];
                }
            }
        }
        retained
    }
}

/// The dominator of each number.
fn dominators(graph: &Graph, node: &[Node], order: &[Order], parent: Vec<Order>, starts: &[Node]) -> Vec<Order> {
    let count = node.len();
    let (first, referrers) = referrers(graph, node, order, starts);
    let mut semi: Vec<Order> = (0..).take(count).collect();
    let mut label = semi.clone();
    let mut dominator = parent.clone();
    // Paths in it are shortened as they are walked.
    let mut ancestor = parent;
    let mut stack = Vec::new();
    for at in (2..count).rev() {
        let linked = u32::try_from(at + 1).unwrap_or(u32::MAX);
        let mut least = dominator[at];
        for from in &referrers[first[at] as usize..first[at + 1] as usize] {
            let found = eval(*from, linked, &semi, &mut label, &mut ancestor, &mut stack);
            least = least.min(semi[found as usize]);
        }
        semi[at] = least;
    }
    for at in 2..count {
        let mut above = dominator[at];
        while above > semi[at] {
            above = dominator[above as usize];
        }
        dominator[at] = above;
    }
    dominator
}

/// The number with the least semidominator on the way up to what was not linked yet.
fn eval(
    from: Order,
    linked: Order,
    semi: &[Order],
    label: &mut [Order],
    ancestor: &mut [Order],
    stack: &mut Vec<Order>,
) -> Order {
    if ancestor[from as usize] < linked {
        return label[from as usize];
    }
    let mut top = from;
    while ancestor[top as usize] >= linked {
        stack.push(top);
        top = ancestor[top as usize];
    }
    let mut least = label[top as usize];
    while let Some(below) = stack.pop() {
        ancestor[below as usize] = ancestor[top as usize];
        let own = label[below as usize];
        if semi[least as usize] < semi[own as usize] {
            label[below as usize] = least;
        } else {
            least = own;
        }
        top = below;
    }
    label[from as usize]
}

/// What refers to each number, in rows.
fn referrers(graph: &Graph, node: &[Node], order: &[Order], starts: &[Node]) -> (Vec<u32>, Vec<Order>) {
    let mut first = vec![0_u32; node.len() + 1];
    let each = |tell: &mut dyn FnMut(Order, Order)| {
        for start in starts {
            tell(ROOT, order[*start as usize]);
        }
        for (from, number) in node.iter().zip(0..).skip(2) {
            let mut at = 0;
            loop {
                match successor(graph, *from, at) {
                    Next::To(to) => tell(number, order[to as usize]),
                    Next::Nowhere => {}
                    Next::End => break,
                }
                at += 1;
            }
        }
    };
    each(&mut |_, to| first[to as usize] += 1);
    let mut sum = 0;
    for place in &mut first {
        sum += std::mem::replace(place, sum);
    }
    let mut next = first.clone();
    let mut referrers = vec![0; sum as usize];
    each(&mut |from, to| {
        let place = &mut next[to as usize];
        referrers[*place as usize] = from;
        *place += 1;
    });
    (first, referrers)
}

#[cfg(test)]
pub(super) mod tests;

//! What views make of a profile: a call tree.

use std::collections::HashMap;

use super::{Node, Profile, Tree};

impl Profile {
    /// The stacks merged into a tree of calls, outermost frame first, the largest amount first on every level.
    pub fn tree(&self) -> Tree {
        let mut nodes = vec![Branch::default()];
        for stack in &self.stacks {
            let mut at = 0;
            nodes[at].value = nodes[at].value.saturating_add(stack.value);
            for frame in &stack.frames {
                let next = nodes.len();
                let child = *nodes[at].children.entry(*frame).or_insert(next);
                if child == next {
                    nodes.push(Branch::default());
                }
                nodes[child].value = nodes[child].value.saturating_add(stack.value);
                at = child;
            }
        }
        Tree { id: self.id, title: self.title.clone(), unit: self.unit, root: self.node("all".to_owned(), 0, &nodes) }
    }

    fn node(&self, label: String, at: usize, nodes: &[Branch]) -> Node {
        let branch = &nodes[at];
        let mut children: Vec<Node> = branch
            .children
            .iter()
            .map(|(frame, child)| {
                let label = usize::try_from(*frame).ok().and_then(|frame| self.frames.get(frame));
                self.node(label.map_or_else(|| "?".to_owned(), ToString::to_string), *child, nodes)
            })
            .collect();
        children.sort_by(|a, b| b.value.total_cmp(&a.value).then_with(|| a.label.cmp(&b.label)));
        Node { label, value: branch.value as f64, children }
    }
}

#[derive(Default)]
struct Branch {
    value: u64,
    children: HashMap<u32, usize>,
}

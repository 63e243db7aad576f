//! The tree of dominators for a picture: what would be freed with what. Objects of one class that the same objects hold are one node, and so are
//! links of a list and parts of a tree.

use std::collections::HashMap;

use super::{
    graph::{NOBODY, Node, Via, is_own},
    summary::Analysis,
};
use crate::text::class_name::is_of_jdk;

/// Most nodes, and most levels; what is beyond is counted with what holds it.
const MAX_NODES: usize = 1 << 16;
const MAX_DEPTH: u32 = 64;
/// Objects with more references are collections, whose fields say nothing.
const MAX_FIELDS: usize = 64;
/// Set in the number of a class for objects that stand for one.
const STANDS_FOR: u32 = 1 << 31;

/// Objects that are held by the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeNode {
    /// What would have to be gone for them to be freed; nothing but the roots above the first level. It stands before them.
    pub above: Option<u32>,
    /// Their class, behind the field that leads to them where the program has given it: `entries: java.util.HashMap`.
    pub label: String,
    /// Whether it is a class of the program.
    pub is_own: bool,
    /// How many they are.
    pub objects: u64,
    /// Their own bytes, without what they hold.
    pub bytes: u64,
}

/// What makes a node: what is above, the class, and the field plus 1.
type Key = (u32, u32, u32);

struct Draft {
    key: Key,
    depth: u32,
    objects: u64,
    bytes: u64,
}

impl Analysis {
    /// The tree; all bytes of the heap are in it once.
    pub fn tree(&self) -> Vec<TreeNode> {
        let mut drafts: Vec<Draft> = Vec::new();
        let mut numbers: HashMap<Key, u32> = HashMap::new();
        let mut of = vec![NOBODY; self.graph.len()];
        for (node, above) in self.dominators.top_down() {
            let over = above.map_or(NOBODY, |above| of[above as usize]);
            let class = self.class_or_what_it_stands_for(node);
            let holder = drafts.get(over as usize);
            let is_link = holder.is_some_and(|holder| holder.key.1 == class);
            let depth = holder.map_or(0, |holder| holder.depth + 1);
            let key = (over, class, above.map_or(0, |above| self.field_to(above, node)));
            let number = match numbers.get(&key) {
                _ if is_link => over,
                Some(number) => *number,
                None if over != NOBODY && (drafts.len() >= MAX_NODES || depth >= MAX_DEPTH) => over,
                None => {
                    let number = u32::try_from(drafts.len()).unwrap_or(NOBODY);
                    drafts.push(Draft { key, depth, objects: 0, bytes: 0 });
                    numbers.insert(key, number);
                    number
                }
            };
            of[node as usize] = number;
            let draft = &mut drafts[number as usize];
            draft.objects += 1;
            draft.bytes += self.graph.bytes(node);
        }
        drafts.into_iter().map(|draft| self.told(&draft)).collect()
    }

    fn class_or_what_it_stands_for(&self, node: Node) -> u32 {
        let class = || self.graph.class.get(node as usize).copied().unwrap_or(0);
        self.stands_for(node).map_or_else(class, |class| class | STANDS_FOR)
    }

    /// The field by which an object leads to another one, plus 1; 0 where it is the JDK's, or there is none.
    fn field_to(&self, from: Node, to: Node) -> u32 {
        let is_own = self.stands_for(from).is_some() || !is_of_jdk(&self.graph.class_of(from).name);
        if !is_own || self.graph.row(from).len() > MAX_FIELDS {
            return 0;
        }
        let mut references = self.graph.references(from);
        match references.find(|(other, _)| *other == to).map(|(_, label)| label.via()) {
            Some(Via::Field(name) | Via::Static(name)) => name + 1,
            _ => 0,
        }
    }

    fn told(&self, draft: &Draft) -> TreeNode {
        let (above, class, field) = draft.key;
        let name = self.graph.classes.get((class & !STANDS_FOR) as usize).map_or("?", |class| class.name.as_str());
        let class_itself = if class & STANDS_FOR == 0 { "" } else { "class " };
        let field = field.checked_sub(1).map_or_else(String::new, |field| format!("{}: ", self.graph.name(field)));
        TreeNode {
            above: (above != NOBODY).then_some(above),
            label: format!("{field}{class_itself}{name}"),
            is_own: is_own(name),
            objects: draft.objects,
            bytes: draft.bytes,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::heap::sample::{Shop, frames, shop};

    fn retained(tree: &[TreeNode], label: &str) -> Vec<(u64, u64)> {
        let mut bytes: Vec<u64> = tree.iter().map(|node| node.bytes).collect();
        for at in (0..tree.len()).rev() {
            if let Some(above) = tree[at].above {
                bytes[above as usize] += bytes[at];
            }
        }
        let all = tree.iter().zip(bytes).filter(|(node, _)| node.label == label);
        all.map(|(node, bytes)| (node.objects, bytes)).collect()
    }

    #[test]
    fn bytes_of_a_node_with_all_below_are_what_its_objects_retain() {
        let graph = shop(Shop { orders: 100, cached: 50, soft: 3, plugins: 4 });
        let total = graph.total_bytes();
        let tree = Analysis::of(graph).tree();
        assert_eq!(tree.iter().map(|node| node.bytes).sum::<u64>(), total);
        assert!(tree.iter().enumerate().all(|(at, node)| node.above.is_none_or(|above| (above as usize) < at)));
        // The map is a variable as well, so nothing but it holds it.
        assert_eq!(retained(&tree, "java.util.HashMap"), [(1, 48 + 64 + 100 * 56)]);
        assert_eq!(retained(&tree, "com.shop.Order"), [(100, 2400), (3, 72)]);
        assert_eq!(retained(&tree, "all: java.lang.Object[]"), [(1, 64 + 50 * 16)]);
        let cache = tree.iter().position(|node| node.label == "class com.shop.Cache").expect("a class");
        let all = tree.iter().find(|node| node.label == "all: java.lang.Object[]").expect("its field");
        assert_eq!(all.above, u32::try_from(cache).ok());
        assert!(tree[cache].is_own && !all.is_own);
    }

    #[test]
    fn a_list_of_any_length_is_one_node() {
        let tree = Analysis::of(frames(1, 16, 100_000)).tree();
        assert_eq!(retained(&tree, "Link"), [(100_001, 100_001 * 16)]);
    }
}

//! A profile's stacks as a tree of calls, or of callers, one level at a time.
//!
//! A tree of 100,000 stacks has millions of nodes of which a person sees a hundred. So a node is no more than the stacks that
//! go through it, and its children are found when somebody unfolds it.

use std::collections::HashMap;

use super::symbol::{Lines, Symbols};
use crate::{
    report::{Profile, Unit},
    stack::Kind,
};

/// Which end of the stacks the tree begins at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Direction {
    /// At the outermost frames; below each what it called.
    #[default]
    Callees,
    /// At the innermost frames; below each who called it.
    Callers,
}

/// The stacks of a profile, ready to be walked.
#[derive(Debug)]
pub(super) struct Calls {
    labels: Vec<String>,
    kinds: Vec<Kind>,
    stacks: Vec<Walk>,
    unit: Unit,
}

/// A stack in the order of the tree.
#[derive(Debug)]
struct Walk {
    symbols: Box<[u32]>,
    value: u64,
}

/// A node of the tree.
#[derive(Clone, Debug)]
pub(super) struct Call {
    /// Its symbol; the root has none.
    symbol: Option<u32>,
    /// How many frames are above it.
    pub(super) depth: usize,
    /// Amount of all stacks that go through it.
    pub(super) value: u64,
    /// Amount of those that end in it.
    pub(super) own: u64,
    stacks: Vec<usize>,
}

impl Calls {
    /// The stacks of a profile in one of the two orders.
    pub(super) fn new(profile: &Profile, lines: Lines, direction: Direction) -> Self {
        let symbols = Symbols::new(profile, lines);
        let walk = |stack| match direction {
            Direction::Callees => symbols.stack(stack).collect(),
            Direction::Callers => symbols.stack(stack).rev().collect(),
        };
        Self {
            stacks: profile.stacks.iter().map(|stack| Walk { symbols: walk(stack), value: stack.value }).collect(),
            labels: symbols.all().iter().map(super::symbol::Symbol::label).collect(),
            kinds: symbols.all().iter().map(|symbol| symbol.kind).collect(),
            unit: profile.unit,
        }
    }

    /// Unit of the amounts.
    pub(super) const fn unit(&self) -> Unit {
        self.unit
    }

    /// The root: all stacks.
    pub(super) fn root(&self) -> Call {
        let value = self.stacks.iter().fold(0_u64, |sum, stack| sum.saturating_add(stack.value));
        Call { symbol: None, depth: 0, value, own: 0, stacks: (0..self.stacks.len()).collect() }
    }

    /// What a node is called, unescaped.
    pub(super) fn label(&self, call: &Call) -> &str {
        let label = |symbol| self.labels.get(usize::try_from(symbol).ok()?);
        call.symbol.map_or("all", |symbol| label(symbol).map_or("?", String::as_str))
    }

    /// How a node's frame runs.
    pub(super) fn kind(&self, call: &Call) -> Kind {
        let kind = call.symbol.and_then(|symbol| self.kinds.get(usize::try_from(symbol).ok()?));
        kind.copied().unwrap_or(Kind::Unknown)
    }

    /// What is below a node, the largest amount first.
    pub(super) fn children(&self, call: &Call) -> Vec<Call> {
        let mut children: Vec<Call> = Vec::new();
        let mut places: HashMap<u32, usize> = HashMap::new();
        // The root stands above the first frame, and every other node on the one that its depth counts from 1.
        let depth = call.depth + usize::from(call.symbol.is_some());
        for at in &call.stacks {
            let Walk { symbols, value } = &self.stacks[*at];
            let Some(symbol) = symbols.get(depth) else { continue };
            let place = *places.entry(*symbol).or_insert_with(|| {
                children.push(Call { symbol: Some(*symbol), depth, value: 0, own: 0, stacks: Vec::new() });
                children.len() - 1
            });
            let child = &mut children[place];
            child.value = child.value.saturating_add(*value);
            if symbols.len() == depth + 1 {
                child.own = child.own.saturating_add(*value);
            }
            child.stacks.push(*at);
        }
        children.sort_by(|a, b| b.value.cmp(&a.value).then_with(|| self.label(a).cmp(self.label(b))));
        children
    }

    /// Whether anything is below a node.
    pub(super) fn has_children(&self, call: &Call) -> bool {
        let depth = call.depth + usize::from(call.symbol.is_some());
        call.stacks.iter().any(|at| self.stacks[*at].symbols.len() > depth)
    }

    /// Which symbols a text filter lets through.
    pub(super) fn matching(&self, lets_through: impl Fn(&str) -> bool) -> Vec<bool> {
        self.labels.iter().map(|label| lets_through(label)).collect()
    }

    /// Whether a node or anything below it is among the matching symbols.
    pub(super) fn holds_match(&self, call: &Call, matching: &[bool]) -> bool {
        let is_match = |symbol: &u32| usize::try_from(*symbol).is_ok_and(|at| matching.get(at) == Some(&true));
        call.stacks.iter().any(|at| self.stacks[*at].symbols.iter().skip(call.depth).any(is_match))
    }

    /// Whether a node is among the matching symbols.
    pub(super) fn is_match(call: &Call, matching: &[bool]) -> bool {
        call.symbol.is_some_and(|symbol| usize::try_from(symbol).is_ok_and(|at| matching.get(at) == Some(&true)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::sample;

    fn level(calls: &Calls, nodes: &[Call]) -> Vec<(String, u64, u64)> {
        nodes.iter().map(|node| (calls.label(node).to_owned(), node.value, node.own)).collect()
    }

    #[test]
    fn amounts_of_children_and_own_add_up_on_every_node() {
        let profile = sample::profile();
        for direction in [Direction::Callees, Direction::Callers] {
            for lines in [Lines::Shown, Lines::Merged] {
                let calls = Calls::new(&profile, lines, direction);
                assert_eq!(calls.root().value, profile.total());
                let mut pending = vec![calls.root()];
                while let Some(node) = pending.pop() {
                    let children = calls.children(&node);
                    assert_eq!(node.value, node.own + children.iter().map(|child| child.value).sum::<u64>());
                    assert_eq!(calls.has_children(&node), !children.is_empty());
                    pending.extend(children);
                }
            }
        }
    }

    #[test]
    fn callers_begin_at_the_innermost_frame() {
        let calls = Calls::new(&sample::profile(), Lines::Shown, Direction::Callers);
        let top = calls.children(&calls.root());
        let (label, value, own) = level(&calls, &top).swap_remove(0);
        assert_eq!((label.as_str(), value, own), ("com.shop.Cart.price:42", 990_000_000, 0));
        assert_eq!(calls.label(&calls.children(&top[0])[0]), "com.shop.Cart.add:12");
    }

    #[test]
    fn a_match_is_found_from_above() {
        let calls = Calls::new(&sample::profile(), Lines::Shown, Direction::Callees);
        let matching = calls.matching(|label| label.contains("futex"));
        let top = calls.children(&calls.root());
        let holding: Vec<_> = top.iter().filter(|node| calls.holds_match(node, &matching)).collect();
        assert_eq!(holding.len(), 1);
        assert!(!Calls::is_match(holding[0], &matching));
    }
}

//! The tree of calling contexts, in bounded memory.

use super::super::table::{FastMap, Keyed};
use crate::{
    event::{StackId, SubjectId, Tid},
    tally::Tally,
};

/// Most contexts: some 30 MiB.
const CONTEXTS: usize = 262_144;
/// Most pairs of caller and callee among calls without a context.
const PAIRS: usize = 65_536;

/// A context of the tree, or the method of one that found no room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ContextId {
    At(u32),
    Beyond(SubjectId),
}

/// What was counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Amounts {
    pub(super) calls: u64,
    pub(super) errors: u64,
    /// Of calls that are over.
    pub(super) total_ns: u64,
    /// Of these, outside of the contexts below.
    pub(super) self_ns: u64,
}

impl Amounts {
    pub(super) fn add(&mut self, other: &Self) {
        self.calls = self.calls.saturating_add(other.calls);
        self.errors = self.errors.saturating_add(other.errors);
        self.total_ns = self.total_ns.saturating_add(other.total_ns);
        self.self_ns = self.self_ns.saturating_add(other.self_ns);
    }
}

impl From<&Tally> for Amounts {
    fn from(tally: &Tally) -> Self {
        let Tally { count, errors, total_ns, self_ns, .. } = *tally;
        Self { calls: count, errors, total_ns, self_ns }
    }
}

impl super::super::table::Merge for Amounts {
    fn merge(&mut self, other: &Self) {
        self.add(other);
    }
}

/// A node of the tree. Its parent has a smaller number.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    /// Absent where the call is the thread's first of a chosen method.
    pub(super) parent: Option<u32>,
    pub(super) tid: Tid,
    pub(super) method: SubjectId,
    /// Stack at the call, which tells its place.
    pub(super) stack: StackId,
    pub(super) amounts: Amounts,
}

/// What tells a context from its siblings; a thread's outermost ones have the thread instead of a parent.
type Key = (Result<u32, Tid>, SubjectId, StackId);

/// The tree.
#[derive(Clone, Debug)]
pub(super) struct Contexts {
    nodes: Vec<Node>,
    known: FastMap<Key, u32>,
    limit: usize,
    beyond: Keyed<(Option<SubjectId>, SubjectId), Amounts>,
}

impl Default for Contexts {
    fn default() -> Self {
        Self { nodes: Vec::new(), known: FastMap::default(), limit: CONTEXTS, beyond: Keyed::new(PAIRS) }
    }
}

impl Contexts {
    /// A call in the context of another one, or of a thread; tells its own context.
    pub(super) fn call(&mut self, tid: Tid, around: Option<ContextId>, method: SubjectId, stack: StackId) -> ContextId {
        let parent = match around {
            None => Ok(None),
            Some(ContextId::At(parent)) => Ok(Some(parent)),
            Some(ContextId::Beyond(caller)) => Err(Some(caller)),
        };
        let found = parent.and_then(|parent| {
            self.context(tid, parent, method, stack).ok_or_else(|| parent.and_then(|at| self.method(at)))
        });
        match found {
            Ok(at) => {
                if let Some(node) = self.node_mut(at) {
                    node.amounts.calls += 1;
                }
                ContextId::At(at)
            }
            Err(caller) => {
                self.beyond.entry((caller, method)).calls += 1;
                ContextId::Beyond(method)
            }
        }
    }

    fn context(&mut self, tid: Tid, parent: Option<u32>, method: SubjectId, stack: StackId) -> Option<u32> {
        let key = (parent.ok_or(tid), method, stack);
        if let Some(at) = self.known.get(&key) {
            return Some(*at);
        }
        let at = u32::try_from(self.nodes.len()).ok().filter(|_| self.nodes.len() < self.limit)?;
        self.nodes.push(Node { parent, tid, method, stack, amounts: Amounts::default() });
        self.known.insert(key, at);
        Some(at)
    }

    /// A call in this context is over.
    pub(super) fn left(&mut self, id: ContextId, total_ns: u64, self_ns: u64, error: bool) {
        if let ContextId::At(at) = id
            && let Some(Node { amounts, .. }) = self.node_mut(at)
        {
            amounts.total_ns = amounts.total_ns.saturating_add(total_ns);
            amounts.self_ns = amounts.self_ns.saturating_add(self_ns);
            amounts.errors += u64::from(error);
        }
    }

    /// The call in this context that ended last had ended by an exception.
    pub(super) fn error(&mut self, id: ContextId) {
        self.left(id, 0, 0, true);
    }

    /// The contexts, parents first.
    pub(super) fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Calls without a context, by caller and callee.
    pub(super) fn beyond(&self) -> impl Iterator<Item = (Option<SubjectId>, SubjectId, &Amounts)> {
        self.beyond.iter().map(|((caller, callee), amounts)| (*caller, *callee, amounts))
    }

    /// Calls of which not even the caller was kept.
    pub(super) fn uncounted(&self) -> u64 {
        self.beyond.others().map_or(0, |others| others.calls)
    }

    /// A sentence where there was no room for all contexts.
    /// All calls.
    pub(super) fn calls(&self) -> u64 {
        let nodes = self.nodes().iter().map(|node| node.amounts.calls);
        nodes.chain(self.beyond().map(|(.., amounts)| amounts.calls)).fold(self.uncounted(), u64::saturating_add)
    }

    pub(super) fn note(&self) -> Option<String> {
        let calls = self.beyond.iter().map(|(_, amounts)| amounts.calls).sum::<u64>() + self.uncounted();
        (calls > 0).then(|| {
            format!(
                "Only the first {} contexts were told apart: {calls} calls in others are counted by caller and callee, \
                 without times.",
                self.limit
            )
        })
    }

    fn method(&self, at: u32) -> Option<SubjectId> {
        self.nodes.get(usize::try_from(at).ok()?).map(|node| node.method)
    }

    fn node_mut(&mut self, at: u32) -> Option<&mut Node> {
        self.nodes.get_mut(usize::try_from(at).ok()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contexts_beyond_the_limit_keep_caller_and_callee() {
        let mut contexts = Contexts { limit: 2, ..Contexts::default() };
        let none = StackId::default();
        let outer = contexts.call(Tid(1), None, SubjectId(0), none);
        let inner = contexts.call(Tid(1), Some(outer), SubjectId(1), none);
        for _ in 0..3 {
            let beyond = contexts.call(Tid(1), Some(inner), SubjectId(2), none);
            assert_eq!(beyond, ContextId::Beyond(SubjectId(2)));
            assert_eq!(contexts.call(Tid(1), Some(beyond), SubjectId(0), none), ContextId::Beyond(SubjectId(0)));
        }
        assert_eq!(contexts.call(Tid(1), None, SubjectId(0), none), outer);
        let mut beyond: Vec<_> =
            contexts.beyond().map(|(caller, callee, amounts)| (caller, callee, amounts.calls)).collect();
        beyond.sort_unstable();
        assert_eq!(beyond, [(Some(SubjectId(1)), SubjectId(2), 3), (Some(SubjectId(2)), SubjectId(0), 3)]);
        assert!(contexts.note().is_some_and(|note| note.contains("first 2 contexts") && note.contains("6 calls")));
    }
}

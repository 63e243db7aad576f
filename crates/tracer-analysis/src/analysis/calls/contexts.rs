//! The tree of calling contexts, in bounded memory.

use tracer_common::tally::MAX_CONTEXTS;

use super::super::{
    ended::{EndedThreads, MANY_ROWS},
    table::{FastMap, Keyed},
};
use crate::{
    event::{StackId, SubjectId, Tid},
    tally::ContextTally,
};

/// Most contexts: some 30 MiB.
pub(super) const CONTEXTS: usize = 262_144;
/// Most pairs of caller and callee among calls without a context.
const PAIRS: usize = 65_536;

/// A context of the tree, or the method of one that found no room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ContextId {
    At(u32),
    Beyond(SubjectId),
}

impl ContextId {
    /// The same context after all have got these numbers.
    pub(super) fn renumbered(self, numbers: &[u32]) -> Self {
        match self {
            Self::At(at) => Self::At(numbers.get(at as usize).copied().unwrap_or(at)),
            beyond @ Self::Beyond(_) => beyond,
        }
    }
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

impl From<&ContextTally> for Amounts {
    fn from(tally: &ContextTally) -> Self {
        let ContextTally { count, errors, total_ns, self_ns, .. } = *tally;
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
    /// Absent where the call is the thread's first of a chosen method, or cut.
    pub(super) parent: Option<u32>,
    /// Whether what is around it was not told, because there were too many contexts.
    pub(super) cut: bool,
    /// Whether the method runs within the frame of its caller: a compiler has inlined it.
    pub(super) inlined: bool,
    pub(super) tid: Tid,
    pub(super) method: SubjectId,
    /// Stack at the call, which tells its place.
    pub(super) stack: StackId,
    pub(super) amounts: Amounts,
}

/// What is called.
#[derive(Clone, Copy, Debug)]
pub(super) struct Call {
    pub(super) method: SubjectId,
    pub(super) stack: StackId,
    pub(super) inlined: bool,
}

/// What calls that were counted are within.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Within {
    Context(ContextId),
    /// Nothing but their thread.
    Thread,
    NotKnown,
}

/// What is around a context.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Around {
    Thread(Tid),
    Context(u32),
    /// It was not told.
    Cut(Tid),
}

/// What tells a context from its siblings.
type Key = (Around, SubjectId, StackId);

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
    pub(super) fn call(&mut self, tid: Tid, around: Option<ContextId>, call: Call) -> ContextId {
        let method = call.method;
        let parent = match around {
            None => Ok(None),
            Some(ContextId::At(parent)) => Ok(Some(parent)),
            Some(ContextId::Beyond(caller)) => Err(Some(caller)),
        };
        let found = parent.and_then(|parent| {
            let around = parent.map_or(Around::Thread(tid), Around::Context);
            self.context(tid, around, call).ok_or_else(|| parent.and_then(|at| self.method(at)))
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

    /// The contexts that the kernel counted. Of those that stand for one after all (a method got its number meanwhile) one is
    /// made.
    pub(super) fn counted(tallies: &[ContextTally]) -> Self {
        let mut contexts = Self { limit: usize::MAX, ..Self::default() };
        let by_id: FastMap<u64, &ContextTally> = tallies.iter().map(|tally| (tally.id, tally)).collect();
        let mut numbers: FastMap<u64, u32> = FastMap::default();
        for tally in tallies {
            let mut path = vec![tally];
            // Parents first; a circle, which no kernel makes, ends as well.
            while let Some(parent) = path.last().and_then(|inner| by_id.get(&inner.parent))
                && !numbers.contains_key(&parent.id)
                && path.len() <= tallies.len()
            {
                path.push(parent);
            }
            while let Some(tally) = path.pop() {
                if numbers.contains_key(&tally.id) {
                    continue;
                }
                let around = match numbers.get(&tally.parent) {
                    Some(parent) => Around::Context(*parent),
                    None if tally.parent == 0 => Around::Thread(tally.tid()),
                    None => Around::Cut(tally.tid()),
                };
                let call = Call { method: tally.subject(), stack: tally.stack(), inlined: tally.inlined };
                let Some(at) = contexts.context(tally.tid(), around, call) else { continue };
                numbers.insert(tally.id, at);
                if let Some(node) = contexts.node_mut(at) {
                    node.amounts.add(&Amounts::from(tally));
                }
            }
        }
        contexts
    }

    /// Calls that woven code counted, and so many that an exception has ended; tells their context.
    pub(super) fn counted_in(&mut self, tid: Tid, within: Within, call: Call, calls: u64, errors: u64) -> ContextId {
        let method = call.method;
        let (at, caller) = match within {
            Within::Context(ContextId::At(around)) => {
                (self.context(tid, Around::Context(around), call), self.method(around))
            }
            Within::Context(ContextId::Beyond(caller)) => (None, Some(caller)),
            Within::Thread => (self.context(tid, Around::Thread(tid), call), None),
            Within::NotKnown => (self.context(tid, Around::Cut(tid), call), None),
        };
        let amounts = match at.and_then(|at| self.node_mut(at)) {
            Some(node) => &mut node.amounts,
            None => self.beyond.entry((caller, method)),
        };
        amounts.add(&Amounts { calls, errors, ..Amounts::default() });
        at.map_or(ContextId::Beyond(method), ContextId::At)
    }

    /// Further calls in a context; whether it is one.
    pub(super) fn counted_again(&mut self, context: ContextId, calls: u64, errors: u64) -> bool {
        let ContextId::At(at) = context else { return false };
        let Some(node) = self.node_mut(at) else { return false };
        node.amounts.add(&Amounts { calls, errors, ..Amounts::default() });
        true
    }

    /// What a context is within.
    pub(super) fn around(&self, context: ContextId) -> Within {
        let ContextId::At(at) = context else { return Within::NotKnown };
        let node = usize::try_from(at).ok().and_then(|at| self.nodes.get(at));
        match node.filter(|node| !node.cut) {
            Some(node) => node.parent.map_or(Within::Thread, |parent| Within::Context(ContextId::At(parent))),
            None => Within::NotKnown,
        }
    }

    fn context(&mut self, tid: Tid, around: Around, call: Call) -> Option<u32> {
        let Call { method, stack, inlined } = call;
        let key = (around, method, stack);
        if let Some(at) = self.known.get(&key) {
            return Some(*at);
        }
        let at = u32::try_from(self.nodes.len()).ok().filter(|_| self.nodes.len() < self.limit)?;
        let (parent, cut) = match around {
            Around::Context(parent) => (Some(parent), false),
            Around::Thread(_) => (None, false),
            Around::Cut(_) => (None, true),
        };
        self.nodes.push(Node { parent, cut, inlined, tid, method, stack, amounts: Amounts::default() });
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

    /// Contexts of threads that ended become those of [`Tid::ENDED`], where there are many; tells what number each has now.
    pub(super) fn sum_up(&mut self, ended: &EndedThreads) -> Option<Vec<u32>> {
        let now = |tid| if ended.contains(tid) { Tid::ENDED } else { tid };
        (self.nodes.len() > MANY_ROWS).then(|| self.change_threads(now))
    }

    /// Threads become others, and equal contexts one; tells what number each has now.
    pub(super) fn change_threads(&mut self, change: impl Fn(Tid) -> Tid) -> Vec<u32> {
        let before = std::mem::take(&mut self.nodes);
        self.known.clear();
        let mut numbers: Vec<u32> = Vec::with_capacity(before.len());
        for node in before {
            let Node { parent, cut, inlined, tid, method, stack, amounts } = node;
            let tid = change(tid);
            // Parents come first.
            let parent = parent.and_then(|parent| numbers.get(usize::try_from(parent).ok()?).copied());
            let around = match parent {
                Some(parent) => Around::Context(parent),
                None if cut => Around::Cut(tid),
                None => Around::Thread(tid),
            };
            // There are not more than before.
            let at = self.context(tid, around, Call { method, stack, inlined }).unwrap_or_default();
            if let Some(node) = self.node_mut(at) {
                node.amounts.add(&amounts);
            }
            numbers.push(at);
        }
        numbers
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

    /// All calls.
    pub(super) fn calls(&self) -> u64 {
        let nodes = self.nodes().iter().map(|node| node.amounts.calls);
        nodes.chain(self.beyond().map(|(.., amounts)| amounts.calls)).fold(self.uncounted(), u64::saturating_add)
    }

    /// A sentence where there was no room for all contexts.
    pub(super) fn note(&self) -> Option<String> {
        self.note_of_limit().or_else(|| self.note_of_cut())
    }

    /// That here was no room.
    pub(super) fn note_of_limit(&self) -> Option<String> {
        let calls = self.beyond.iter().map(|(_, amounts)| amounts.calls).fold(self.uncounted(), u64::saturating_add);
        (calls > 0).then(|| {
            format!(
                "Only the first {} contexts were told apart: {calls} calls in others are counted by caller and callee, \
                 without times.",
                self.limit
            )
        })
    }

    /// That the kernel had none.
    fn note_of_cut(&self) -> Option<String> {
        let cut =
            self.nodes.iter().filter(|node| node.cut).fold(0_u64, |sum, node| sum.saturating_add(node.amounts.calls));
        (cut > 0).then(|| {
            format!(
                "Only the first {MAX_CONTEXTS} contexts were told apart: {cut} calls in others are counted by the place of \
                 the call, without what is around it."
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
mod tests;

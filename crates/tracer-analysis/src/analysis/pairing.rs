//! Pairs beginnings with ends on the same thread. What has no partner is counted and never guessed: observation can begin
//! or stop in the middle of anything, and events can be lost.

use super::table::FastMap;
use crate::{event::Tid, text::format::plural};

/// Most threads whose open beginnings are remembered.
const THREADS: usize = 65_536;

/// Most beginnings that are open inside each other on one thread.
const DEPTH: usize = 64;

/// Beginnings and ends without a partner.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unpaired {
    /// Beginnings that another beginning replaced: their ends were not seen.
    pub begins: u64,
    /// Ends whose beginnings were not seen.
    pub ends: u64,
}

impl Unpaired {
    /// A sentence where there are any.
    pub fn note(self, what: &str) -> Option<String> {
        (self != Self::default()).then(|| {
            format!(
                "{what}: {} without a beginning (under way when observation began, or lost) and {} without an end \
                 are in no duration.",
                plural(self.ends, "end", "ends"),
                plural(self.begins, "beginning", "beginnings")
            )
        })
    }
}

/// What has begun on threads, at most one a thread.
#[derive(Clone, Debug)]
pub struct Open<T> {
    slots: FastMap<Tid, T>,
    /// What had no partner.
    pub unpaired: Unpaired,
}

impl<T> Default for Open<T> {
    fn default() -> Self {
        Self { slots: FastMap::default(), unpaired: Unpaired::default() }
    }
}

impl<T> Open<T> {
    /// Something begins on a thread.
    pub fn begin(&mut self, tid: Tid, value: T) {
        let full = self.slots.len() >= THREADS && !self.slots.contains_key(&tid);
        if full || self.slots.insert(tid, value).is_some() {
            self.unpaired.begins += 1;
        }
    }

    /// What is open on a thread, to be completed.
    pub fn get_mut(&mut self, tid: Tid) -> Option<&mut T> {
        self.slots.get_mut(&tid)
    }

    /// It ends; the beginning where it was seen and `matches`.
    pub fn end(&mut self, tid: Tid, matches: impl Fn(&T) -> bool) -> Option<T> {
        match self.slots.remove(&tid) {
            Some(value) if matches(&value) => Some(value),
            Some(_) => {
                self.unpaired.begins += 1;
                self.unpaired.ends += 1;
                None
            }
            None => {
                self.unpaired.ends += 1;
                None
            }
        }
    }

    /// What is open on a thread.
    pub fn get(&self, tid: Tid) -> Option<&T> {
        self.slots.get(&tid)
    }

    /// The thread is gone: nothing on it can end any more.
    pub fn forget(&mut self, tid: Tid) {
        if !self.slots.is_empty() && self.slots.remove(&tid).is_some() {
            self.unpaired.begins += 1;
        }
    }

    /// Nobody will see how what is open ends.
    pub fn cut_all(&mut self) {
        self.unpaired.begins += self.slots.len() as u64;
        self.slots.clear();
    }

    /// What is open, in no order.
    pub fn iter(&self) -> impl Iterator<Item = (&Tid, &T)> {
        self.slots.iter()
    }

    /// Number of threads on which something is open.
    pub(crate) fn len(&self) -> u64 {
        self.slots.len() as u64
    }
}

/// What has begun on threads, inside each other.
#[derive(Clone, Debug)]
pub struct Stacks<T> {
    stacks: FastMap<Tid, Vec<T>>,
    /// What had no partner.
    pub unpaired: Unpaired,
}

impl<T> Default for Stacks<T> {
    fn default() -> Self {
        Self { stacks: FastMap::default(), unpaired: Unpaired::default() }
    }
}

impl<T> Stacks<T> {
    /// Something begins on a thread.
    pub fn begin(&mut self, tid: Tid, value: T) {
        if self.stacks.len() >= THREADS && !self.stacks.contains_key(&tid) {
            // Stacks are kept when they become empty, so that most events allocate nothing.
            self.stacks.retain(|_, stack| !stack.is_empty());
            if self.stacks.len() >= THREADS {
                self.unpaired.begins += 1;
                return;
            }
        }
        let stack = self.stacks.entry(tid).or_default();
        if stack.len() >= DEPTH {
            stack.remove(0);
            self.unpaired.begins += 1;
        }
        stack.push(value);
    }

    /// The innermost one that `matches` ends, with the number of those around it. Those inside it have lost their ends.
    pub fn end(&mut self, tid: Tid, matches: impl Fn(&T) -> bool) -> Option<(T, usize)> {
        let found = self.stacks.get_mut(&tid).and_then(|stack| {
            let depth = stack.iter().rposition(matches)?;
            self.unpaired.begins += (stack.len() - depth - 1) as u64;
            stack.truncate(depth + 1);
            stack.pop().map(|value| (value, depth))
        });
        self.unpaired.ends += u64::from(found.is_none());
        found
    }

    /// Only the outermost `depth` can still be open on this thread: the others have lost their ends.
    pub fn cut(&mut self, tid: Tid, depth: usize) {
        if let Some(stack) = self.stacks.get_mut(&tid) {
            self.unpaired.begins += stack.len().saturating_sub(depth) as u64;
            stack.truncate(depth);
        }
    }

    /// Nobody will see how what is open ends.
    pub fn cut_all(&mut self) {
        self.unpaired.begins += self.open();
        self.stacks.clear();
    }

    /// The innermost open one.
    pub fn innermost(&self, tid: Tid) -> Option<&T> {
        self.stacks.get(&tid)?.last()
    }

    /// Number of open ones on a thread.
    pub fn depth(&self, tid: Tid) -> usize {
        self.stacks.get(&tid).map_or(0, Vec::len)
    }

    /// Number of open ones on all threads.
    pub fn open(&self) -> u64 {
        self.stacks.values().map(|stack| stack.len() as u64).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const T: Tid = Tid(1);

    #[test]
    fn a_replaced_beginning_and_a_foreign_end_are_counted() {
        let mut open = Open::default();
        open.begin(T, 'a');
        open.begin(T, 'b');
        assert_eq!(open.end(T, |value| *value == 'c'), None);
        assert_eq!(open.end(T, |_| true), None);
        assert_eq!(open.unpaired, Unpaired { begins: 2, ends: 2 });
        open.begin(T, 'd');
        assert_eq!(open.end(T, |_| true), Some('d'));
    }

    #[test]
    fn what_is_cut_ends_without_a_beginning() {
        let (mut open, mut stacks) = (Open::default(), Stacks::default());
        open.begin(T, 'a');
        open.cut_all();
        assert_eq!((open.end(T, |_| true), open.unpaired), (None, Unpaired { begins: 1, ends: 1 }));
        stacks.begin(T, 'a');
        stacks.begin(T, 'b');
        stacks.cut_all();
        assert_eq!((stacks.end(T, |_| true), stacks.unpaired), (None, Unpaired { begins: 2, ends: 1 }));
    }

    #[test]
    fn an_outer_end_drops_what_is_inside() {
        let mut stacks = Stacks::default();
        stacks.begin(T, 'a');
        stacks.begin(T, 'b');
        stacks.begin(T, 'c');
        assert_eq!(stacks.end(T, |value| *value == 'b'), Some(('b', 1)));
        assert_eq!(stacks.end(T, |value| *value == 'x'), None);
        assert_eq!(stacks.end(T, |_| true), Some(('a', 0)));
        assert_eq!(stacks.unpaired, Unpaired { begins: 1, ends: 1 });
    }

    #[test]
    fn depth_is_bounded() {
        let mut stacks = Stacks::default();
        for _ in 0..1000 {
            stacks.begin(T, ());
        }
        assert_eq!((stacks.depth(T), stacks.unpaired.begins), (DEPTH, 1000 - DEPTH as u64));
    }
}

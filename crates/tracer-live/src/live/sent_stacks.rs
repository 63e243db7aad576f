//! Stacks as the kernel knows them, and as they are told. The kernel's ids are made of addresses: a class that is loaded again has
//! others, though its stacks have the same names. So many ids can be of one stack, and new ones come as long as a session lasts.

use std::collections::HashMap;

use tracer_common::stack::STACK_FIRST;

use crate::event::StackId;

/// So many ids are young at most, and for some minutes; the kernel remembers as many.
const MAX_YOUNG: usize = 65_536;

/// Ids of the kernel, and under which ones their stacks are told.
#[derive(Debug, Default)]
pub(super) struct SentStacks {
    /// Those that came, or were used, last.
    young: HashMap<StackId, StackId>,
    /// Those that were young before them.
    older: HashMap<StackId, StackId>,
    /// Those that the kernel is to send again: records that are under way can still have them.
    oldest: HashMap<StackId, StackId>,
    /// What the kernel is to forget.
    forgotten: Vec<StackId>,
}

impl SentStacks {
    /// Whether a stack is to be named.
    pub(super) fn is_new(&self, sent: StackId) -> bool {
        !self.young.contains_key(&sent) && !self.older.contains_key(&sent)
    }

    /// A stack is told under this id.
    pub(super) fn keep(&mut self, sent: StackId, told: StackId) {
        if self.young.len() >= MAX_YOUNG && !self.young.contains_key(&sent) {
            self.age();
        }
        self.young.insert(sent, told);
    }

    /// The id under which a stack is told; its own where it is not.
    pub(super) fn told(&mut self, sent: StackId) -> StackId {
        if sent.0 < STACK_FIRST {
            return sent;
        }
        if let Some(told) = self.young.get(&sent) {
            return *told;
        }
        let Some(told) = self.older.get(&sent).or_else(|| self.oldest.get(&sent)).copied() else { return sent };
        self.keep(sent, told);
        told
    }

    /// What the kernel is to forget from now on.
    pub(super) fn take_forgotten(&mut self) -> Vec<StackId> {
        std::mem::take(&mut self.forgotten)
    }

    /// What is young becomes older, and what was older and not used meanwhile is to be sent again.
    pub(super) fn age(&mut self) {
        let Self { young, older, oldest, forgotten } = self;
        *oldest = std::mem::replace(older, std::mem::take(young));
        let is_used = |sent: &&StackId| older.contains_key(sent);
        forgotten.extend(oldest.keys().filter(|sent| !is_used(sent)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn id(number: usize) -> StackId {
        StackId(STACK_FIRST + number as u64)
    }

    #[test]
    fn what_is_not_used_is_sent_again_and_what_is_used_stays() {
        let mut stacks = SentStacks::default();
        let (used, unused) = (id(0), id(1));
        stacks.keep(used, id(7));
        stacks.keep(unused, id(7));
        for number in 10..2 * MAX_YOUNG + 10 {
            assert!(stacks.is_new(id(number)));
            stacks.keep(id(number), id(8));
            assert_eq!(stacks.told(used), id(7));
        }
        assert_eq!((stacks.is_new(used), stacks.is_new(unused)), (false, true));
        let forgotten = stacks.take_forgotten();
        assert!(forgotten.contains(&unused) && !forgotten.contains(&used), "{}", forgotten.len());
        assert!(stacks.take_forgotten().is_empty());
        // Records with its old id may still come.
        assert_eq!(stacks.told(unused), id(7));
    }

    #[test]
    fn a_target_cannot_make_us_keep_any_number() {
        let mut stacks = SentStacks::default();
        for number in 0..4 * MAX_YOUNG {
            stacks.keep(id(number), id(1));
            stacks.take_forgotten();
        }
        assert!(stacks.young.len() + stacks.older.len() + stacks.oldest.len() <= 3 * MAX_YOUNG);
    }

    #[test]
    fn what_is_no_stack_or_was_lost_stays_what_it_is() {
        let mut stacks = SentStacks::default();
        assert_eq!((stacks.told(StackId(2)), stacks.told(id(5))), (StackId(2), id(5)));
    }
}

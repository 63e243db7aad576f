//! What came within a step of time, by key. There are many steps and few of them still change, so most entries lie close together and
//! in order; only what came since has a table.

use std::hash::Hash;

use super::super::table::FastMap;

/// So many entries may lie apart, and a quarter of the others besides.
const APART: usize = 16;

/// Amounts by key.
#[derive(Clone, Debug)]
pub(super) struct Step<K> {
    /// In the order of their keys.
    settled: Box<[(K, u64)]>,
    /// Keys that came since.
    fresh: FastMap<K, u64>,
    /// What has no key.
    pub(super) others: u64,
}

impl<K> Default for Step<K> {
    fn default() -> Self {
        Self { settled: Box::default(), fresh: FastMap::default(), others: 0 }
    }
}

impl<K: Copy + Ord + Hash> Step<K> {
    /// How many keys it has.
    pub(super) fn len(&self) -> usize {
        self.settled.len() + self.fresh.len()
    }

    /// The keys and their amounts, in no order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (K, u64)> + '_ {
        self.settled.iter().copied().chain(self.fresh.iter().map(|(key, amount)| (*key, *amount)))
    }

    /// Adds to a key that it has; says whether it has it.
    pub(super) fn add(&mut self, key: K, amount: u64) -> bool {
        let known = match self.settled.binary_search_by(|(known, _)| known.cmp(&key)) {
            Ok(at) => self.settled.get_mut(at).map(|(_, known)| known),
            Err(_) => self.fresh.get_mut(&key),
        };
        let is_known = known.is_some();
        if let Some(known) = known {
            *known = known.saturating_add(amount);
        }
        is_known
    }

    /// Adds a key that it does not have.
    pub(super) fn insert(&mut self, key: K, amount: u64) {
        self.fresh.insert(key, amount);
        if self.fresh.len() > APART + self.settled.len() / 4 {
            self.replace(|key| key);
        }
    }

    /// Takes in another step.
    pub(super) fn merge(&mut self, other: &Self) {
        self.others = self.others.saturating_add(other.others);
        self.settled = in_order(self.iter().chain(other.iter()).collect());
        self.fresh = FastMap::default();
    }

    /// Keys become others, and amounts of equal ones are added up.
    pub(super) fn change_keys(&mut self, change: &impl Fn(K) -> K) {
        if self.iter().any(|(key, _)| change(key) != key) {
            self.replace(change);
        }
    }

    fn replace(&mut self, change: impl Fn(K) -> K) {
        self.settled = in_order(self.iter().map(|(key, amount)| (change(key), amount)).collect());
        self.fresh = FastMap::default();
    }
}

/// In the order of keys, each of them once.
fn in_order<K: Copy + Ord>(mut entries: Vec<(K, u64)>) -> Box<[(K, u64)]> {
    entries.sort_unstable_by_key(|(key, _)| *key);
    entries.dedup_by(|(later, more), (key, amount)| {
        let is_same = later == key;
        if is_same {
            *amount = amount.saturating_add(*more);
        }
        is_same
    });
    entries.into_boxed_slice()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// A step that gets these in turn, and what it should have then.
    fn step(pairs: impl Iterator<Item = (u64, u64)>) -> (Step<u64>, BTreeMap<u64, u64>) {
        let (mut step, mut expected) = (Step::default(), BTreeMap::new());
        for (key, amount) in pairs {
            if !step.add(key, amount) {
                step.insert(key, amount);
            }
            *expected.entry(key).or_default() += amount;
        }
        (step, expected)
    }

    fn sums(step: &Step<u64>) -> BTreeMap<u64, u64> {
        let sums: BTreeMap<u64, u64> = step.iter().collect();
        assert_eq!(sums.len(), step.len(), "a key is there twice");
        sums
    }

    /// Keys in an order that is none, many of them more than once.
    fn mixed(count: u64, factor: u64) -> impl Iterator<Item = (u64, u64)> {
        (0..count).map(move |number| (number * factor % 1009, number))
    }

    #[test]
    fn each_key_has_its_sum_wherever_it_lies() {
        let (step, expected) = step(mixed(3000, 37));
        assert_eq!(sums(&step), expected);
        assert!(step.settled.is_sorted() && step.fresh.len() <= APART + step.settled.len() / 4, "{}", step.fresh.len());
    }

    #[test]
    fn two_steps_are_one() {
        let ((mut first, mut expected), (mut second, more)) = (step(mixed(700, 5)), step(mixed(900, 11)));
        (first.others, second.others) = (1, 2);
        first.merge(&second);
        for (key, amount) in more {
            *expected.entry(key).or_default() += amount;
        }
        assert_eq!((sums(&first), first.others), (expected, 3));
    }

    #[test]
    fn keys_that_become_one_add_up() {
        let (mut step, _) = step([(1, 10), (2, 20), (12, 5)].into_iter());
        step.change_keys(&|key| key % 10);
        assert_eq!(sums(&step), BTreeMap::from([(1, 10), (2, 25)]));
    }
}

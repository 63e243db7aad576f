//! A map that forgets what was not asked for lately, so that it never takes more than a fixed number of bytes.
//!
//! There are two halves, young and old. When the young one is full, or time has passed, the old one is dropped and the young one
//! grows old; what is found among the old becomes young again.

use std::{collections::HashMap, hash::Hash};

/// What an entry takes beside its own weight: key, place in the table, reference counts.
const ENTRY_BYTES: usize = 64;

/// The map.
#[derive(Debug)]
pub(super) struct Bounded<K, V> {
    young: HashMap<K, (V, usize)>,
    old: HashMap<K, (V, usize)>,
    young_bytes: usize,
    /// Most bytes of either half.
    half_bytes: usize,
}

impl<K: Eq + Hash, V: Clone> Bounded<K, V> {
    pub(super) fn new(bytes: usize) -> Self {
        Self { young: HashMap::new(), old: HashMap::new(), young_bytes: 0, half_bytes: bytes / 2 }
    }

    pub(super) fn get(&mut self, key: &K) -> Option<V> {
        if let Some((value, _)) = self.young.get(key) {
            return Some(value.clone());
        }
        let (key, (value, bytes)) = self.old.remove_entry(key)?;
        self.put(key, value.clone(), bytes);
        Some(value)
    }

    /// Keeps a value that takes about `bytes` of memory. One that would fill half of the map alone is not kept.
    pub(super) fn insert(&mut self, key: K, value: V, bytes: usize) {
        self.old.remove(&key);
        self.put(key, value, bytes.saturating_add(ENTRY_BYTES));
    }

    pub(super) fn clear(&mut self) {
        *self = Self::new(self.half_bytes * 2);
    }

    /// Drops what was not asked for since this was called last.
    pub(super) fn age(&mut self) {
        self.old = std::mem::take(&mut self.young);
        self.young_bytes = 0;
    }

    fn put(&mut self, key: K, value: V, bytes: usize) {
        if let Some((_, before)) = self.young.remove(&key) {
            self.young_bytes -= before;
        }
        if bytes > self.half_bytes {
            return;
        }
        if self.young_bytes + bytes > self.half_bytes {
            self.age();
        }
        self.young_bytes += bytes;
        self.young.insert(key, (value, bytes));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_asked_for_stays_and_the_rest_goes() {
        let mut map = Bounded::new(20 * (ENTRY_BYTES + 10));
        map.insert(0, 'a', 10);
        for key in 1..1000 {
            map.insert(key, 'b', 10);
            assert_eq!(map.get(&0), Some('a'));
        }
        assert_eq!(map.get(&1), None);
        assert_eq!(map.get(&999), Some('b'));
    }

    #[test]
    fn what_is_not_asked_for_between_two_times_is_dropped() {
        let mut map = Bounded::new(1 << 20);
        map.insert(1, 'a', 10);
        map.insert(2, 'b', 10);
        map.age();
        assert_eq!(map.get(&1), Some('a'));
        map.age();
        assert_eq!((map.get(&1), map.get(&2)), (Some('a'), None));
    }

    #[test]
    fn what_is_too_large_is_not_kept_and_replaces_nothing_else() {
        let mut map = Bounded::new(1000);
        map.insert(1, 'a', 10);
        map.insert(2, 'b', 400);
        map.insert(3, 'c', usize::MAX);
        assert_eq!([map.get(&1), map.get(&2), map.get(&3)], [Some('a'), Some('b'), None]);
    }

    proptest! {
        #[test]
        fn it_never_takes_more_than_its_bytes(steps in prop::collection::vec((0_u8..40, 0_usize..600, any::<bool>()), 0..300)) {
            let mut map = Bounded::new(2000);
            for (key, bytes, ask) in steps {
                if ask { map.get(&key); } else { map.insert(key, key, bytes); }
                let sum = |half: &HashMap<u8, (u8, usize)>| half.values().map(|(_, bytes)| bytes).sum::<usize>();
                prop_assert_eq!(sum(&map.young), map.young_bytes);
                prop_assert!(sum(&map.young) + sum(&map.old) <= 2000);
                prop_assert!(map.young.keys().all(|key| !map.old.contains_key(key)));
            }
        }
    }
}

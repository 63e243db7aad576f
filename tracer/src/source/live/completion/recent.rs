//! Names of classes that were looked up a moment ago.

use std::collections::HashMap;

/// A class that is unloaded leaves its place to another one, so what was read is believed for this long.
const BELIEVED_NS: u64 = 50_000_000;
/// Most classes that are remembered.
const MAX_CLASSES: usize = 4096;

/// Ids of names by what headers of objects say of their classes.
#[derive(Debug, Default)]
pub(super) struct Recent {
    since_ns: u64,
    ids: HashMap<u64, u64>,
}

impl Recent {
    /// The id for a word that was read at a moment, looked up where it is not known.
    pub(super) fn get(&mut self, word: u64, time_ns: u64, look_up: impl FnOnce() -> u64) -> u64 {
        // Records of different CPUs come in any order.
        if time_ns.abs_diff(self.since_ns) > BELIEVED_NS || self.ids.len() >= MAX_CLASSES {
            self.ids.clear();
            self.since_ns = time_ns;
        }
        *self.ids.entry(word).or_insert_with(look_up)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_looked_up_again_after_a_moment() {
        let (mut recent, mut looks) = (Recent::default(), 0);
        for time_ns in [0, 1, BELIEVED_NS, BELIEVED_NS + 1, BELIEVED_NS + 2] {
            let id = recent.get(7, time_ns, || {
                looks += 1;
                40 + looks
            });
            assert_eq!(id, 40 + looks);
        }
        assert_eq!(looks, 2);
    }

    #[test]
    fn few_are_remembered() {
        let mut recent = Recent::default();
        for word in 0..3 * MAX_CLASSES as u64 {
            assert_eq!(recent.get(word, 1, || word), word);
        }
        assert!(recent.ids.len() <= MAX_CLASSES);
    }
}

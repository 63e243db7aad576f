//! Threads that do the same stand together.

use std::collections::HashMap;

use super::Thread;
use crate::item::look::Waits;

/// Threads with the same state, stack and reason to wait, in the order of the first of each; with `each`, every thread by itself.
pub fn groups(threads: &[Thread], each: bool) -> Vec<Vec<&Thread>> {
    let mut groups: Vec<Vec<&Thread>> = Vec::new();
    let mut known: HashMap<_, usize> = HashMap::new();
    for thread in threads {
        // What was not seen whole may differ.
        let alone = each || thread.incomplete.is_some() || (thread.frames.is_empty() && thread.waits.is_some());
        let key = (&thread.frames, thread.waits.as_ref().map(Waits::same), thread.state);
        let next = groups.len();
        let index = if alone { next } else { *known.entry(key).or_insert(next) };
        match groups.get_mut(index) {
            Some(group) => group.push(thread),
            None => groups.push(vec![thread]),
        }
    }
    groups
}

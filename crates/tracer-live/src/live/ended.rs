//! Threads that ended: what the kernel counted of each is summed up as one, so that a program that makes threads without end
//! does not fill its tables, nor ours.

use std::collections::{BTreeMap, HashSet};

use tracer_common::jni::{Count, CountKey, MAX_COUNTS};

use super::in_initial_pid_namespace;
use crate::event::Tid;

/// So many contexts, and of so many threads, are kept by thread before those of threads that ended are summed up.
pub(super) const MANY_ENTRIES: usize = 8192;
const MANY_THREADS: usize = 1024;

/// Which of the threads that were met have ended.
#[derive(Debug, Default)]
pub(super) struct EndedThreads {
    /// Had ended when it was asked last.
    ended: HashSet<u32>,
}

impl EndedThreads {
    /// Of the threads whose entries were read before this is asked: those whose entries are complete, since they had ended before
    /// that. A number that was given to a new thread meanwhile is none of them. `is_last` where nothing was counted any more
    /// while the entries were read.
    pub(super) fn complete(&mut self, pid: u32, met: HashSet<u32>, is_last: bool) -> HashSet<u32> {
        if met.len() <= MANY_THREADS {
            return HashSet::new();
        }
        alive(pid).map_or_else(HashSet::new, |alive| self.complete_beside(&alive, met, is_last))
    }

    fn complete_beside(&mut self, alive: &HashSet<u32>, met: HashSet<u32>, is_last: bool) -> HashSet<u32> {
        let ended = met.into_iter().filter(|tid| !alive.contains(tid));
        let (complete, fresh) = ended.partition(|tid| is_last || self.ended.contains(tid));
        self.ended = fresh;
        complete
    }
}

/// The threads of a process; nothing where they are counted in another way than the kernel's programs count them, or where the
/// process itself has ended.
pub(super) fn alive(pid: u32) -> Option<HashSet<u32>> {
    if !in_initial_pid_namespace() {
        return None;
    }
    let names = std::fs::read_dir(format!("/proc/{pid}/task")).ok()?.flatten();
    Some(names.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect())
}

/// JNI calls, or critical sections, of threads that ended.
#[derive(Debug, Default)]
pub(super) struct EndedCounts(BTreeMap<CountKey, Count>);

impl EndedCounts {
    pub(super) fn add(&mut self, key: CountKey, count: Count) {
        let mut key = CountKey { tid: Tid::ENDED.0, ..key };
        if self.0.len() >= MAX_COUNTS && !self.0.contains_key(&key) {
            // Whom nobody is told of: 0 stands for no caller.
            key.caller = 0;
        }
        let sum = self.0.entry(key).or_default();
        sum.calls = sum.calls.saturating_add(count.calls);
        sum.timed = sum.timed.saturating_add(count.timed);
        sum.total_ns = sum.total_ns.saturating_add(count.total_ns);
        sum.inner_ns = sum.inner_ns.saturating_add(count.inner_ns);
        sum.longest_ns = sum.longest_ns.max(count.longest_ns);
    }

    /// What was summed up.
    pub(super) fn all(&self) -> impl Iterator<Item = (CountKey, Count)> {
        self.0.iter().map(|(key, count)| (*key, *count))
    }
}

#[cfg(test)]
mod tests;

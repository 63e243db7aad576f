//! Collections that the program keeps, from look to look: which have grown since they were seen first, and whether they ever shrank.

use std::{cmp::Reverse, collections::HashMap};

use crate::{
    clock::{self, ClockId},
    item::look::CollectionLook,
    jvm::java_threads::Kept,
    thread_dump::ThreadReader,
};

/// Looks in the beginning that read collections, whatever that costs: four of them are needed to say anything.
const FIRST: u32 = 4;
/// Of the CPU time that this took, how much must pass until it is done again: a tenth of a percent of a core, beside what looks take.
const REST: u64 = 1000;

/// Most collections that are followed.
const MAX_FOLLOWED: usize = 4096;
/// Most that a look tells of.
const MAX_TOLD: usize = 64;
/// How many entries more are told.
const LEAST: u64 = 20;

/// What has been seen of a collection.
#[derive(Debug)]
struct Seen {
    class: String,
    first: (u64, u64),
    last: (u64, u64),
    times: u64,
    rose: u64,
    fell: u64,
}

/// Those that are followed, by the static field that leads to them and the one that has them.
#[derive(Debug, Default)]
pub(super) struct Collections {
    followed: HashMap<(Option<String>, String), Seen>,
    looks: u32,
    /// When they are read again.
    due_ns: u64,
}

impl Collections {
    /// What a look at a time finds, and the CPU time that it took.
    pub(super) fn look(&mut self, time_ns: u64, reader: &mut ThreadReader) -> (Vec<CollectionLook>, u64) {
        let began = clock::read_ns(ClockId::ThreadCPUTime);
        let is_due = self.looks < FIRST || time_ns >= self.due_ns;
        self.looks = self.looks.saturating_add(1);
        let kept = if is_due { reader.kept() } else { Vec::new() };
        let grown = self.grown(time_ns, kept);
        let cpu_ns = clock::read_ns(ClockId::ThreadCPUTime).saturating_sub(began);
        if is_due {
            self.due_ns = time_ns.saturating_add(cpu_ns.saturating_mul(REST));
        }
        (grown, cpu_ns)
    }

    /// Those that have more entries than at first, with what a look has found at a time.
    fn grown(&mut self, time_ns: u64, kept: Vec<Kept>) -> Vec<CollectionLook> {
        for Kept { field, root, class, entries } in kept {
            let now = (time_ns, entries);
            let field = (root, field);
            if let Some(seen) = self.followed.get_mut(&field) {
                seen.add(class, now);
            } else if self.followed.len() < MAX_FOLLOWED {
                self.followed.insert(field, Seen::new(class, now));
            }
        }
        let mut grown: Vec<_> = self.followed.iter().filter(|(_, seen)| seen.growth() >= LEAST).collect();
        grown.sort_by_key(|(field, seen)| (Reverse(seen.growth()), *field));
        let told = |((root, field), seen): (&(Option<String>, String), &Seen)| CollectionLook {
            field: field.clone(),
            root: root.clone(),
            class: seen.class.clone(),
            first: seen.first.1,
            last: seen.last.1,
            span_ns: seen.last.0.saturating_sub(seen.first.0),
            seen: seen.times,
            rose: seen.rose,
            fell: seen.fell,
        };
        grown.into_iter().take(MAX_TOLD).map(told).collect()
    }
}

impl Seen {
    const fn new(class: String, now: (u64, u64)) -> Self {
        Self { class, first: now, last: now, times: 1, rose: 0, fell: 0 }
    }

    fn add(&mut self, class: String, now: (u64, u64)) {
        if self.class != class {
            // It is another one.
            return *self = Self::new(class, now);
        }
        self.times += 1;
        self.rose += u64::from(now.1 > self.last.1);
        self.fell += u64::from(now.1 < self.last.1);
        self.last = now;
    }

    const fn growth(&self) -> u64 {
        self.last.1.saturating_sub(self.first.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(field: &str, class: &str, entries: u64) -> Kept {
        Kept { field: field.to_owned(), root: None, class: class.to_owned(), entries }
    }

    #[test]
    fn what_has_grown_is_told_with_how_often_it_rose_and_fell() {
        let mut collections = Collections::default();
        let mut told = Vec::new();
        for (at, entries) in (1..).zip([100, 150, 120, 120, 400]) {
            let found = vec![kept("a.B.map", "java.util.HashMap", entries), kept("a.B.list", "java.util.ArrayList", 7)];
            told = collections.grown(at * 1_000, found);
        }
        let [only] = &told[..] else { panic!("one: {told:?}") };
        assert_eq!((only.field.as_str(), only.first, only.last, only.span_ns), ("a.B.map", 100, 400, 4_000));
        assert_eq!((only.seen, only.rose, only.fell), (5, 2, 1));
        // A look that does not come to it says nothing new of it.
        assert_eq!(collections.grown(6_000, Vec::new()), told);
        assert_eq!(collections.grown(7_000, vec![kept("a.B.map", "java.util.TreeMap", 900)]), [], "it is another one");
    }

    #[test]
    fn a_target_makes_up_as_many_as_it_likes() {
        let mut collections = Collections::default();
        let all = |entries: u64| (0..2 * MAX_FOLLOWED).map(|at| kept(&format!("a.B.f{at}"), "C", entries)).collect();
        assert_eq!(collections.grown(1, all(1)), []);
        assert_eq!(collections.grown(2, all(100)).len(), MAX_TOLD);
        assert_eq!(collections.followed.len(), MAX_FOLLOWED);
    }
}

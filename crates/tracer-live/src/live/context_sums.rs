//! Sums of contexts by what they say. The kernel's ids are made of addresses and threads: a class that is loaded again, or a thread
//! of many that ended, has other ones. What the kernel holds no more is kept here, so that nothing of it is lost.

use std::collections::HashMap;

use tracer_common::tally::{CUT, MAX_CONTEXTS, context_id};

use super::contexts::Met;

/// Where a context is summed up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    id: u64,
    /// Place of the context around it.
    parent: u64,
}

/// Places of all contexts that were read at one time, in their order: equal ones where subject, stack and thread are the same all
/// the way out. What is around a context and was not read is not told.
pub(super) fn places(met: &[Met]) -> Vec<Place> {
    let index: HashMap<u64, usize> = met.iter().enumerate().map(|(at, met)| (met.tally.id, at)).collect();
    let mut places: Vec<Option<Place>> = vec![None; met.len()];
    for at in 0..met.len() {
        let mut path = vec![at];
        // Outer ones first; a circle, which no kernel makes, ends as well.
        while let Some(outer) = path.last().and_then(|inner| index.get(&met[*inner].tally.parent))
            && places[*outer].is_none()
            && path.len() <= met.len()
        {
            path.push(*outer);
        }
        while let Some(at) = path.pop() {
            let tally = &met[at].tally;
            let around = index.get(&tally.parent).and_then(|outer| places[*outer]);
            let parent = match tally.parent {
                0 => 0,
                _ => around.map_or(CUT, |around| around.id),
            };
            let id = context_id(parent, u64::from(tally.subject), tally.stack, tally.tid);
            places[at].get_or_insert(Place { id, parent });
        }
    }
    places.into_iter().map(|place| place.unwrap_or(Place { id: CUT, parent: CUT })).collect()
}

/// Contexts by their places.
#[derive(Debug)]
pub(super) struct ContextSums {
    sums: HashMap<u64, Met>,
    /// Most that are told apart by what is around them.
    limit: usize,
}

impl Default for ContextSums {
    fn default() -> Self {
        Self { sums: HashMap::new(), limit: MAX_CONTEXTS }
    }
}

impl ContextSums {
    /// Adds a context at its place.
    pub(super) fn add(&mut self, met: &Met, Place { id, parent }: Place) {
        if let Some(sum) = self.sums.get_mut(&id) {
            return sum.add(met);
        }
        let (mut place, mut stack) = (Place { id, parent }, met.tally.stack);
        if self.sums.len() >= self.limit {
            // There are not more of these than methods and classes.
            stack = 0;
            place = Place { id: context_id(CUT, u64::from(met.tally.subject), stack, met.tally.tid), parent: CUT };
        }
        let new = || met.without_counts(place.id, place.parent, stack);
        self.sums.entry(place.id).or_insert_with(new).add(met);
    }

    /// These and others.
    pub(super) fn and(&self, mut others: Self) -> Vec<Met> {
        for (id, met) in &self.sums {
            others.add(met, Place { id: *id, parent: met.tally.parent });
        }
        others.sums.into_values().collect()
    }
}

#[cfg(test)]
mod tests {
    use tracer_common::tally::Context;

    use super::*;
    use crate::event::SubjectId;

    fn met(id: u64, parent: u64, subject: u32, tid: u32, count: u64) -> Met {
        let context =
            Context { parent, stack: 7, tid, count, total_ns: 10 * count, largest: count, ..Context::default() };
        Met::new(id, &context, SubjectId(subject), true, true)
    }

    fn add(sums: &mut ContextSums, all: &[Met]) {
        for (met, place) in all.iter().zip(places(all)) {
            sums.add(met, place);
        }
    }

    fn told(sums: &ContextSums) -> Vec<(u32, u32, u64, u64, u64)> {
        let tuple = |met: &Met| {
            let tally = &met.tally;
            (tally.subject, tally.tid, tally.count, tally.total_ns, tally.largest)
        };
        let mut told: Vec<_> = sums.sums.values().map(tuple).collect();
        told.sort_unstable();
        told
    }

    #[test]
    fn contexts_that_say_the_same_are_one_and_no_call_is_lost() {
        let mut sums = ContextSums::default();
        // Inner ones first: the kernel's table has no order.
        add(&mut sums, &[met(11, 10, 2, 5, 3), met(10, 0, 1, 5, 1), met(12, 0, 2, 5, 9)]);
        add(&mut sums, &[met(20, 0, 1, 5, 1), met(21, 20, 2, 5, 4)]);
        assert_eq!(told(&sums), [(1, 5, 2, 20, 1), (2, 5, 7, 70, 4), (2, 5, 9, 90, 9)]);
        let outer = sums.sums.values().find(|met| met.tally.subject == 1).map(|met| met.tally.id);
        let inner = sums.sums.values().find(|met| met.tally.count == 7).map(|met| met.tally.parent);
        assert_eq!(outer, inner, "what is around a context stays so");
    }

    #[test]
    fn contexts_of_two_threads_or_below_others_are_two() {
        let mut sums = ContextSums::default();
        add(&mut sums, &[met(1, 0, 1, 5, 1), met(2, 0, 1, 6, 1), met(3, 1, 2, 5, 1), met(4, 2, 2, 6, 1)]);
        assert_eq!(told(&sums).len(), 4);
    }

    #[test]
    fn sums_of_before_and_of_now_are_told_together() {
        let (mut before, mut now) = (ContextSums::default(), ContextSums::default());
        add(&mut before, &[met(10, 0, 1, 5, 1), met(11, 10, 2, 5, 3)]);
        add(&mut now, &[met(20, 0, 1, 5, 2), met(21, 20, 2, 5, 5)]);
        let mut counts: Vec<_> = before.and(now).iter().map(|met| met.tally.count).collect();
        counts.sort_unstable();
        assert_eq!(counts, [3, 8]);
    }

    #[test]
    fn without_room_contexts_lose_what_is_around_them_and_no_call() {
        let mut sums = ContextSums { limit: 1, ..ContextSums::default() };
        add(&mut sums, &[met(10, 0, 1, 5, 1), met(11, 10, 2, 5, 3), met(12, 11, 3, 5, 1), met(13, 12, 2, 5, 5)]);
        assert_eq!(told(&sums).iter().map(|one| (one.0, one.2)).collect::<Vec<_>>(), [(1, 1), (2, 8), (3, 1)]);
        assert!(sums.sums.values().all(|met| met.tally.subject == 1 || met.tally.parent == CUT));
    }

    #[test]
    fn a_circle_ends() {
        let mut sums = ContextSums::default();
        add(&mut sums, &[met(5, 6, 1, 1, 1), met(6, 5, 2, 1, 1)]);
        assert_eq!(told(&sums).iter().map(|one| one.2).sum::<u64>(), 2);
    }
}

//! The contexts that the kernel counted, without those that turned out not to be wanted.
//!
//! Where the kernel meets a method that nobody has named yet, it counts the call all the same. Once the method is named, its
//! contexts may be found not to be wanted: then what lies below them belongs to what lies above them.

use std::collections::HashMap;

use tracer_common::tally::{CUT, Context};

use crate::{
    event::SubjectId,
    tally::{ContextTallies, ContextTally},
};

/// A context as it was read.
#[derive(Clone, Debug)]
pub(super) struct Met {
    pub(super) tally: ContextTally,
    is_method: bool,
    wanted: bool,
}

impl Met {
    pub(super) const fn new(id: u64, context: &Context, subject: SubjectId, is_method: bool, wanted: bool) -> Self {
        let Context { parent, subject: _, stack, tid, inlined, count, errors, total_ns, inner_ns, largest, bytes } =
            *context;
        let tally = ContextTally {
            id,
            parent,
            subject: subject.0,
            tid,
            stack,
            inlined: inlined != 0,
            count,
            errors,
            total_ns,
            self_ns: total_ns.saturating_sub(inner_ns),
            largest,
            bytes,
        };
        Self { tally, is_method, wanted }
    }

    /// One with nothing counted yet.
    pub(super) fn without_counts(&self, id: u64, parent: u64, stack: u64) -> Self {
        let ContextTally { subject, tid, inlined, .. } = self.tally;
        let tally = ContextTally { id, parent, subject, tid, stack, inlined, ..ContextTally::default() };
        Self { tally, is_method: self.is_method, wanted: self.wanted }
    }

    /// The same with the latest counts.
    pub(super) fn counting(&self, last: &Context) -> Self {
        let Context { count, errors, total_ns, inner_ns, largest, bytes, .. } = *last;
        let self_ns = total_ns.saturating_sub(inner_ns);
        let tally = ContextTally { count, errors, total_ns, self_ns, largest, bytes, ..self.tally };
        Self { tally, ..*self }
    }

    /// Adds what was counted of another one.
    pub(super) fn add(&mut self, other: &Self) {
        let ContextTally { count, errors, total_ns, self_ns, largest, bytes, .. } = &mut self.tally;
        *count = count.saturating_add(other.tally.count);
        *errors = errors.saturating_add(other.tally.errors);
        *total_ns = total_ns.saturating_add(other.tally.total_ns);
        *self_ns = self_ns.saturating_add(other.tally.self_ns);
        *largest = other.tally.largest.max(*largest);
        *bytes = bytes.saturating_add(other.tally.bytes);
    }
}

/// Leaves out what is not wanted. Time of its own belongs to what called it, as with methods that were never followed.
pub(super) fn wanted_contexts(mut met: Vec<Met>) -> ContextTallies {
    let index: HashMap<u64, usize> = met.iter().enumerate().map(|(at, met)| (met.tally.id, at)).collect();
    let around: Vec<u64> = met.iter().map(|one| wanted_around(&met, &index, one.tally.parent)).collect();
    for (at, around) in around.iter().enumerate() {
        let self_ns = met[at].tally.self_ns;
        if !met[at].wanted
            && let Some(above) = index.get(around)
        {
            let above = &mut met[*above].tally.self_ns;
            *above = above.saturating_add(self_ns);
        }
        met[at].tally.parent = *around;
    }
    let (calls, objects): (Vec<Met>, Vec<Met>) =
        met.into_iter().filter(|one| one.wanted).partition(|one| one.is_method);
    let tallies = |list: Vec<Met>| list.into_iter().map(|one| one.tally).collect();
    ContextTallies { calls: tallies(calls), objects: tallies(objects) }
}

/// The nearest wanted context from this one outwards; one that was not read is not told.
fn wanted_around(met: &[Met], index: &HashMap<u64, usize>, mut id: u64) -> u64 {
    for _ in 0..=met.len() {
        if id == 0 {
            return id;
        }
        let Some(one) = index.get(&id).and_then(|at| met.get(*at)) else { return CUT };
        if one.wanted {
            return id;
        }
        id = one.tally.parent;
    }
    CUT
}

#[cfg(test)]
mod tests {
    use super::*;

    fn met(id: u64, parent: u64, wanted: bool, total_ns: u64, inner_ns: u64) -> Met {
        let context = Context { parent, count: 1, total_ns, inner_ns, ..Context::default() };
        Met::new(id, &context, SubjectId(0), true, wanted)
    }

    #[test]
    fn what_lies_below_an_unwanted_context_belongs_to_what_lies_above_it() {
        // 10 calls 11, which is not wanted and calls 12; 13 is below something that was not read.
        let list =
            vec![met(12, 11, true, 3, 0), met(11, 10, false, 5, 3), met(10, 0, true, 9, 5), met(13, 99, true, 1, 0)];
        let told: Vec<_> =
            wanted_contexts(list).calls.iter().map(|tally| (tally.id, tally.parent, tally.self_ns)).collect();
        assert_eq!(told, [(12, 10, 3), (10, 0, 6), (13, CUT, 1)]);
        assert_eq!(told.iter().map(|told| told.2).sum::<u64>(), 9 + 1, "no time is lost");
    }

    #[test]
    fn a_circle_ends() {
        let told = wanted_contexts(vec![met(5, 6, false, 1, 0), met(6, 5, false, 1, 0), met(7, 5, true, 1, 0)]);
        assert_eq!(told.calls.iter().map(|tally| tally.parent).collect::<Vec<_>>(), [CUT]);
    }
}

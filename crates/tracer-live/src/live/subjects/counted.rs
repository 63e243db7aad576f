//! What the kernel has counted of methods and objects: read, named, and summed up.

use std::collections::HashSet;

use tracer_common::tally::{CUT, Cell, Context, Demand};

use super::{
    super::{
        contexts::{Met, wanted_contexts},
        ended::MANY_ENTRIES,
        now_ns,
    },
    Counted, Subjects,
};
use crate::{
    ebpf::{Error, tallying::Tallying},
    event::SubjectId,
    tally::{ContextTallies, Tallies, Tally},
};

/// The share of one core that reading the contexts may take is one in so many.
const READING_SHARE: u64 = 200;

impl Subjects {
    /// What the kernel has counted so far. The contexts are in it only now and then where they are many, and at the end.
    pub fn tallies(&mut self, tallying: &mut Tallying, time_ns: u64, at_end: bool) -> Result<Tallies, Error> {
        let mut buckets = tallying.buckets();
        let [returns_without_entry, entries_without_return, overflow] = tallying.outcomes()?;
        let mut tallies =
            Tallies { time_ns, returns_without_entry, entries_without_return, overflow, ..Tallies::default() };
        if at_end && self.asked.demand.timed != 0 {
            let (methods, deeper) = tallying.calls_under_way(self.asked.demand.epoch);
            let is_wanted = |method: &&u64| self.known.get(method).is_some_and(|id| !self.is_never_wanted(*id));
            tallies.under_way = methods.iter().filter(is_wanted).count() as u64 + deeper;
        }
        for (index, counted) in (0..).zip(&self.cells).skip(1) {
            let Cell { count, timed, errors, total_ns, inner_ns, bytes } = tallying.cell(index)?;
            let Counted { subject, is_method } = counted;
            if count == 0 && timed == 0 {
                continue;
            }
            let tally = Tally {
                subject: subject.0,
                count,
                timed,
                errors,
                total_ns,
                self_ns: total_ns.saturating_sub(inner_ns),
                bytes,
                buckets: buckets.remove(&index).unwrap_or_default(),
            };
            if *is_method { tallies.methods.push(tally) } else { tallies.objects.push(tally) }
        }
        let Demand { contexts, places, by_thread, .. } = self.asked.demand;
        if contexts + places + by_thread > 0 && (at_end || time_ns >= self.contexts_ns) {
            tallies.contexts = Some(self.contexts(tallying, at_end)?);
            let took_ns = now_ns().saturating_sub(time_ns);
            self.contexts_ns = time_ns + READING_SHARE * took_ns;
        }
        Ok(tallies)
    }

    /// The contexts of wanted subjects.
    fn contexts(&mut self, tallying: &mut Tallying, at_end: bool) -> Result<ContextTallies, Error> {
        let mut read = tallying.contexts();
        if read.len() > MANY_ENTRIES {
            let threads: HashSet<u32> = read.iter().map(|(_, context)| context.tid).collect();
            let ended = self.ended.complete(self.pid, threads, at_end);
            self.take_ended(&ended, &mut read, tallying)?;
        }
        let mut met = self.met(read, tallying);
        met.extend(self.ended_contexts.all().cloned());
        Ok(wanted_contexts(met))
    }

    /// Takes the contexts of threads that ended out of the kernel and of what was read, and sums them up.
    fn take_ended(
        &mut self,
        ended: &HashSet<u32>,
        read: &mut Vec<(u64, Context)>,
        tallying: &mut Tallying,
    ) -> Result<(), Error> {
        let mut taken = Vec::new();
        read.retain(|(id, context)| {
            let now = Some(()).filter(|()| ended.contains(&context.tid)).and_then(|()| tallying.take_context(*id));
            taken.extend(now.map(|now| (*id, now)));
            now.is_none()
        });
        // Those without what is around them are beyond the number that the kernel holds itself to.
        self.taken += taken.iter().filter(|(_, context)| context.parent != CUT).count() as u64;
        tallying.set_taken(self.taken)?;
        let met = self.met(taken, tallying);
        self.ended_contexts.add(&met);
        for tid in ended {
            tallying.forget_thread(*tid);
        }
        self.unwanted.retain(|(tid, _)| !ended.contains(tid));
        Ok(())
    }

    fn met(&mut self, read: Vec<(u64, Context)>, tallying: &mut Tallying) -> Vec<Met> {
        let met = read.into_iter().map(|(id, context)| {
            let (subject, is_method, wanted) = self.subject_of(context.subject, tallying);
            Met::new(id, &context, subject, is_method, wanted)
        });
        met.collect()
    }

    /// What a context's subject stands for: a cell, or an address where the kernel did not know it yet.
    fn subject_of(&mut self, word: u64, tallying: &mut Tallying) -> (SubjectId, bool, bool) {
        let cell = usize::try_from(word).ok().and_then(|index| self.cells.get(index));
        if let Some(Counted { subject, is_method }) = cell {
            return (*subject, *is_method, true);
        }
        let id = self.known.get(&word).copied().unwrap_or_else(|| self.meet(word, true, tallying));
        (id, true, !self.is_never_wanted(id))
    }
}

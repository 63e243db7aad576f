//! What the kernel has counted of methods and objects: read, named, and summed up.

use std::collections::{HashMap, HashSet};

use tracer_common::tally::{CUT, Cell, Context, Demand};

use super::{
    super::{
        context_sums::{self, ContextSums},
        contexts::{Met, wanted_contexts},
        ended::MANY_ENTRIES,
        idle_contexts::{AT_A_TIME, Sleeping},
        now_ns,
    },
    Counted, Subjects,
};
use crate::{
    ebpf::{Error, tallying::Tallying},
    event::{StackId, SubjectId, Tid},
    tally::{ContextTallies, Tallies, Tally},
};

/// The share of one core that reading the contexts may take is one in so many.
const READING_SHARE: u64 = 200;

impl Subjects {
    /// What the kernel has counted so far. The contexts are in it only now and then where they are many, and at the end.
    pub fn tallies(
        &mut self,
        tallying: &mut Tallying,
        stacks: &mut dyn FnMut(StackId) -> StackId,
        time_ns: u64,
        at_end: bool,
    ) -> Result<Tallies, Error> {
        let mut buckets = tallying.buckets();
        let [returns_without_entry, entries_without_return, overflow] = tallying.outcomes()?;
        let mut tallies =
            Tallies { time_ns, returns_without_entry, entries_without_return, overflow, ..Tallies::default() };
        tallies.overflow += self.unsure;
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
            tallies.contexts = Some(self.contexts(tallying, stacks, at_end)?);
            let took_ns = now_ns().saturating_sub(time_ns);
            self.contexts_ns = time_ns + READING_SHARE * took_ns;
        }
        Ok(tallies)
    }

    /// The contexts of wanted subjects.
    fn contexts(
        &mut self,
        tallying: &mut Tallying,
        stacks: &mut dyn FnMut(StackId) -> StackId,
        at_end: bool,
    ) -> Result<ContextTallies, Error> {
        let read = tallying.contexts();
        let (mut ended, mut idle) = (HashSet::new(), HashMap::new());
        if read.len() > MANY_ENTRIES {
            let threads: HashSet<u32> = read.iter().map(|(_, context)| context.tid).collect();
            ended = self.ended.complete(self.pid, threads, at_end);
            if !at_end {
                let under_way = tallying.contexts_under_way();
                idle = self.idle.of(&read, &under_way, now_ns());
            }
        }
        let met: Vec<Met> = read.iter().map(|(id, context)| self.met(*id, context, &ended, stacks, tallying)).collect();
        let places = context_sums::places(&met);
        let gone = self.take_out(&read, &ended, idle, tallying)?;
        let mut now = ContextSums::default();
        for ((met, place), (id, _)) in met.iter().zip(places).zip(&read) {
            match gone.get(id) {
                Some(last) => self.sums.add(&met.counting(last), place),
                None => now.add(met, place),
            }
        }
        Ok(wanted_contexts(self.sums.and(now)))
    }

    /// Takes the contexts of threads that ended out of the kernel, and those that are idle; gives them as they were last.
    fn take_out(
        &mut self,
        read: &[(u64, Context)],
        ended: &HashSet<u32>,
        idle: HashMap<u32, Vec<u64>>,
        tallying: &mut Tallying,
    ) -> Result<HashMap<u64, Context>, Error> {
        let mut gone = HashMap::new();
        for (id, _) in read.iter().filter(|(_, context)| ended.contains(&context.tid)) {
            gone.extend(tallying.take_context(*id).map(|last| (*id, last)));
        }
        for tid in ended {
            tallying.forget_thread(*tid);
        }
        self.unwanted.retain(|(tid, _)| !ended.contains(tid));
        for (tid, ids) in idle.into_iter().filter(|(tid, _)| !ended.contains(tid)) {
            for some in ids.chunks(AT_A_TIME) {
                let Some(sleeping) = Sleeping::look(self.pid, tid) else { break };
                gone.extend(some.iter().filter_map(|id| Some((*id, tallying.take_context(*id)?))));
                if !sleeping.still() {
                    self.unsure += some.len() as u64;
                }
            }
        }
        // Those without what is around them are beyond the number that the kernel holds itself to.
        if !gone.is_empty() {
            log::debug!(
                "contexts that leave the kernel: {}; something may have been missed in {}",
                gone.len(),
                self.unsure
            );
        }
        self.taken += gone.values().filter(|last| last.parent != CUT).count() as u64;
        tallying.set_taken(self.taken)?;
        Ok(gone)
    }

    fn met(
        &mut self,
        id: u64,
        context: &Context,
        ended: &HashSet<u32>,
        stacks: &mut dyn FnMut(StackId) -> StackId,
        tallying: &mut Tallying,
    ) -> Met {
        let (subject, is_method, wanted) = self.subject_of(context.subject, tallying);
        let stack = stacks(StackId(context.stack)).0;
        let tid = if ended.contains(&context.tid) { Tid::ENDED.0 } else { context.tid };
        Met::new(id, &Context { stack, tid, ..*context }, subject, is_method, wanted)
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

//! What the kernel has counted of JNI calls, with what is under way.

use std::collections::HashSet;

use tracer_common::{
    jni::{Count, CountKey, JniDemand, MAX_DEPTH, Outcome, Thread as Under, Wanted},
    tally::Verdict,
};

use super::{JniCalls, function_of, subject};
use crate::{
    ebpf::{Error, load::Kernel},
    event::{NameId, Tid},
    jni::Function,
    live::judge::Facts,
    tally::jni::{JniTallies, JniTally, OpenSection},
};

/// So many entries of the kernel's tables are kept by thread before those of threads that ended are summed up.
const MANY_ENTRIES: usize = 4096;

impl JniCalls {
    /// What the kernel has counted so far; at the end nothing comes any more.
    pub fn reading(&mut self, kernel: &mut Kernel, at_end: bool) -> Result<JniTallies, Error> {
        let mut threads = kernel.jni().threads();
        threads.sort_unstable_by_key(|(tid, _)| *tid);
        let (mut calls, mut sections) = (kernel.jni().counts(), kernel.jni().sections());
        if threads.len() + calls.len() + sections.len() > MANY_ENTRIES {
            let of_counts = calls.iter().chain(&sections).map(|(key, _)| key.tid);
            let met = threads.iter().map(|(tid, _)| *tid).chain(of_counts);
            let ended = self.ended.complete(self.pid, met.collect(), at_end);
            self.take_ended(&ended, &mut calls, &mut sections, kernel);
            // They have nothing under way.
            threads.retain(|(tid, _)| !ended.contains(tid));
        }
        calls.extend(self.ended_calls.all());
        sections.extend(self.ended_sections.all());
        let outcomes = kernel.jni().outcomes()?;
        let of = |outcome: Outcome| outcomes[outcome as usize];
        let mut tallies = JniTallies {
            calls: self.tallies(calls),
            sections: self.tallies(sections),
            lasted: kernel.jni().lasted()?,
            returns_without_entry: of(Outcome::ReturnWithoutEntry),
            entries_without_return: of(Outcome::EntryWithoutReturn),
            overflow: of(Outcome::Overflow),
            too_deep: of(Outcome::TooDeep),
            closed_without_opening: of(Outcome::CloseWithoutOpen),
            ..JniTallies::default()
        };
        for (tid, under) in threads {
            self.add_under_way(tid, &under, &mut tallies, kernel);
        }
        Ok(tallies)
    }

    /// Takes what was counted of threads that ended out of the kernel, and sums it up.
    fn take_ended(
        &mut self,
        ended: &HashSet<u32>,
        calls: &mut Vec<(CountKey, Count)>,
        sections: &mut Vec<(CountKey, Count)>,
        kernel: &mut Kernel,
    ) {
        let is_of_ended = |key: &CountKey| ended.contains(&key.tid);
        calls.retain(|(key, _)| {
            let count = Some(key).filter(|key| is_of_ended(key)).and_then(|key| kernel.jni().take_count(*key));
            count.inspect(|count| self.ended_calls.add(*key, *count)).is_none()
        });
        sections.retain(|(key, _)| {
            let count = Some(key).filter(|key| is_of_ended(key)).and_then(|key| kernel.jni().take_section(*key));
            count.inspect(|count| self.ended_sections.add(*key, *count)).is_none()
        });
        for tid in ended {
            kernel.jni().forget_thread(*tid);
            self.openers.remove(tid);
        }
    }

    fn tallies(&self, counts: Vec<(CountKey, Count)>) -> Vec<JniTally> {
        let tally = |(key, count): (CountKey, Count)| {
            let CountKey { tid, function, caller, reserved: _ } = key;
            let Count { calls, timed, total_ns, inner_ns, longest_ns } = count;
            let number = usize::try_from(caller).unwrap_or(0);
            JniTally {
                tid: Tid(tid),
                function: function_of(function),
                caller: self.numbered.get(number).copied().unwrap_or(NameId(tracer_common::record::NAME_ABSENT)),
                count: calls,
                timed,
                total_ns,
                self_ns: total_ns.saturating_sub(inner_ns),
                longest_ns,
            }
        };
        counts.into_iter().map(tally).collect()
    }

    /// Adds the calls that a thread has under way, and its open critical section.
    fn add_under_way(&mut self, tid: u32, under: &Under, tallies: &mut JniTallies, kernel: &mut Kernel) {
        let Under { depth, open, since_ns, opener, section, section_epoch, section_wanted, frames, .. } = under;
        let epoch_of = |function: Function, demand: &JniDemand| {
            demand.epochs.get(function.family() as usize).copied().unwrap_or(0)
        };
        let function = function_of(*section);
        if *open > 0
            && *section_epoch == epoch_of(function, &self.demand)
            && *section_wanted != Wanted::No as u64
            && self.openers.get(&tid).copied().unwrap_or(true)
        {
            let caller = self.meet(*opener, kernel);
            tallies.open.push(OpenSection { tid: Tid(tid), function, caller, since_ns: *since_ns });
        }
        let depth = usize::try_from(*depth).unwrap_or(0).min(MAX_DEPTH);
        for (below, frame) in (1..).zip(&frames[..depth]) {
            let function = function_of(frame.function);
            if frame.epoch != epoch_of(function, &self.demand)
                || !self.is_wanted_before_its_end(tid, function, below, frame.caller, kernel)
            {
                continue;
            }
            let caller = self.meet(frame.caller, kernel);
            let tally = JniTally {
                tid: Tid(tid),
                function,
                caller,
                count: 1,
                timed: 0,
                total_ns: 0,
                self_ns: 0,
                longest_ns: 0,
            };
            tallies.calls.push(tally);
        }
    }

    /// Whether a call under way is wanted, where that does not depend on its end, or on how many came before.
    fn is_wanted_before_its_end(
        &mut self,
        tid: u32,
        function: Function,
        depth: u64,
        caller: u64,
        kernel: &mut Kernel,
    ) -> bool {
        match self.judge.subject(&subject(function)) {
            (_, Some(Verdict::Always)) => true,
            (_, Some(Verdict::Depends)) if !self.lasts => {
                self.meet(caller, kernel);
                let facts = Facts { tid, depth, ..Facts::default() };
                self.is_wanted(function, caller, &facts, kernel)
            }
            _ => false,
        }
    }
}

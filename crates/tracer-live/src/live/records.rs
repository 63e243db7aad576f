//! What a session takes out of the ring buffers, and passes on.

use super::{Live, host::now_ns, subjects::Taken, unwinding::Unwinding};
use crate::{
    decode::{Header, set_stack},
    ebpf::Error,
    event::StackId,
    item::Item,
    mark::Inside,
    probe::clock::Source,
    tally::Tallies,
};

/// Records that are taken from one ring buffer before the others get their turn.
const DRAIN_LIMIT: usize = 5000;
/// How often that is done before records are passed on, also where they never end: taking them is what must not be late.
const DRAIN_ROUNDS: usize = 40;
/// How often at most where stacks wait for their names: a JVM that starts sends thousands, and naming them takes longer than a
/// ring buffer holds.
const NAMING_ROUNDS: usize = 1000;

/// The ids under which stacks are told.
pub(super) fn told(unwinding: &mut Option<Unwinding>) -> impl FnMut(StackId) -> StackId {
    |sent| unwinding.as_mut().map_or(sent, |unwinding| unwinding.told(sent))
}

impl Live {
    /// What is asked for comes before all that is told of it, also where a session ends before it was pumped.
    pub(super) fn tell_asked(&mut self, sink: &mut dyn FnMut(Item<'_>)) {
        if let Some(asked) = self.asked.take() {
            sink(Item::Inside(Inside::Asked(asked)));
        }
    }

    /// Passes on what the kernel has counted itself.
    pub(super) fn tell_tallies(&mut self, sink: &mut dyn FnMut(Item<'_>), at_end: bool) -> Result<(), Error> {
        let Self { subjects, jni, kernel, unwinding, .. } = self;
        let mut tallies = match subjects.as_mut().filter(|subjects| subjects.has_tallies(at_end)) {
            Some(subjects) => {
                let tallies = subjects.tallies(kernel.tallying(), &mut told(unwinding), now_ns(), at_end)?;
                subjects.define(sink);
                tallies
            }
            None if jni.is_none() => return Ok(()),
            None => Tallies { time_ns: now_ns(), ..Tallies::default() },
        };
        if let Some(jni) = jni {
            tallies.jni = jni.reading(kernel, at_end)?;
            jni.define(sink);
        }
        sink(Item::Tallies(tallies));
        Ok(())
    }

    pub(super) fn release(&mut self, until_ns: u64, sink: &mut dyn FnMut(Item<'_>)) {
        let Self { merge, threads, completion, unwinding, .. } = self;
        merge.release(until_ns, |record| {
            let mut completed = completion.as_mut().and_then(|completion| completion.in_order(record));
            let record = completed.as_deref_mut().unwrap_or(record);
            if let Ok(header) = Header::read(record) {
                set_stack(record, told(unwinding)(header.stack));
            }
            for name in [threads.name(record), threads.holder_name(record)].into_iter().flatten() {
                sink(Item::Thread(name));
            }
            if let Some(ended) = threads.take_ended() {
                sink(Item::Ended(ended));
            }
            sink(Item::Record(record));
        });
    }

    /// Index of a clock's group and id of its site.
    pub(super) fn clock(&self, source: Source) -> Option<(usize, u16)> {
        let group = self.groups.iter().position(|state| state.clock() == Some(source))?;
        Some((group, *self.groups[group].sites().first()?))
    }

    /// Takes what is in the ring buffers, and names stacks before their code can go away; says whether there may be more. It
    /// does something else in between, however long it takes.
    pub(super) fn drain(
        &mut self,
        between: impl Fn(&mut Self) -> Result<(), Error>,
        sink: &mut dyn FnMut(Item<'_>),
    ) -> Result<bool, Error> {
        let mut more = self.take_records(sink);
        for round in 1.. {
            // Names can take long, and what is too much should be away before.
            between(self)?;
            let named = self.name_stacks(sink);
            let may_take = round < if named { NAMING_ROUNDS } else { DRAIN_ROUNDS };
            if !(named || more && may_take) {
                break;
            }
            if may_take {
                more = self.take_records(sink);
            }
        }
        Ok(more)
    }

    fn name_stacks(&mut self, sink: &mut dyn FnMut(Item<'_>)) -> bool {
        self.unwinding.as_mut().is_some_and(|unwinding| unwinding.name_some(sink))
    }

    fn take_records(&mut self, sink: &mut dyn FnMut(Item<'_>)) -> bool {
        let Self {
            rings,
            merge,
            governor,
            group_of_site,
            drained_bytes,
            step_bytes,
            inside,
            unwinding,
            holders,
            completion,
            subjects,
            jni,
            kernel,
            threads,
            ..
        } = self;
        let loads = &mut governor.loads;
        if let Some(holders) = holders {
            holders.forget();
        }
        if let Some(completion) = completion {
            completion.look_again();
        }
        if let Some(unwinding) = unwinding {
            unwinding.look_again();
        }
        if let Some(jni) = jni {
            jni.look_again();
        }
        let more = rings.drain(DRAIN_LIMIT, |record| {
            *drained_bytes += record.len() as u64;
            *step_bytes += record.len() as u64;
            if let Some(unwinding) = unwinding
                && unwinding.take(record)
            {
                return;
            }
            if let Ok(header) = Header::read(record)
                && !header.is_definition()
                && let Some(group) = group_of_site.get(usize::from(header.site.0))
            {
                loads[*group].hits += 1;
                loads[*group].delivered += 1;
            }
            if subjects.as_mut().is_some_and(|subjects| subjects.holds_back(record)) {
                return;
            }
            match subjects.as_mut().map_or(Taken::Other, |subjects| subjects.take(record, kernel.tallying())) {
                Taken::Filled(filled) => return merge.push(filled.record()),
                Taken::Counted => return,
                Taken::Other => {}
            }
            if let Some(filled) = jni.as_mut().and_then(|jni| jni.take(record, kernel)) {
                merge.push(&filled);
                return;
            }
            if let Some(inside) = inside {
                inside.take(record);
            }
            let completed =
                completion.as_mut().and_then(|completion| completion.fill(record, &mut |named| merge.push(named)));
            let record = completed.as_deref().unwrap_or(record);
            match holders.as_mut().and_then(|holders| holders.fill(record)) {
                Some(filled) => merge.push(&filled),
                None => merge.push(record),
            }
        });
        if let Some(subjects) = subjects {
            if !more {
                for filled in subjects.take_held(kernel.tallying()) {
                    merge.push(filled.record());
                }
            }
            subjects.define(sink);
        }
        if let Some(jni) = jni {
            jni.define(sink);
        }
        if let Some(inside) = inside.as_mut().filter(|_| !more) {
            for name in inside.decide(kernel) {
                threads.named(name.tid);
                sink(Item::Thread(name));
            }
        }
        more
    }

    /// Looks at all threads of the JVM: who is blocked, and who holds what they wait for.
    pub(super) fn look(&mut self, time_ns: u64) {
        self.looked_ns = time_ns;
        for record in self.holders.iter_mut().flat_map(|holders| holders.look(time_ns)) {
            self.merge.push(&record);
        }
    }
}

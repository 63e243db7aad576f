//! The end of a session: everything is detached, and what is left delivered.

use std::time::Instant;

use tracer_common::site::TargetLayout;

use super::{InsideLane, Live, away::Returns, groups::GroupState, host::now_ns, usage::own_usage};
use crate::{
    coverage::Coverage,
    ebpf::{
        Error,
        attach::{NOBODY, detach_all},
        calibrate::Calibration,
        load::Readings,
        runtime::{Runs, Statistics},
    },
    item::{Counters, End, Item},
    mark::Inside,
    probe::clock::Source,
};

impl Live {
    /// Detaches everything, delivers the rest, and ends the session.
    ///
    /// `coverage` is what could not be seen; it is found out before, while the target still is as it was.
    pub fn finish(
        mut self,
        reason: &str,
        coverage: Vec<Coverage>,
        sink: &mut dyn FnMut(Item<'_>),
    ) -> Result<(), Error> {
        let began = Instant::now();
        self.tell_asked(sink);
        // While its sites still hear what it has left to say.
        let left = self.leave(sink)?;
        self.look(now_ns());
        // All sites fall silent at once, and go away one group after another.
        self.kernel.set_target(TargetLayout { tgid: NOBODY, ..self.layout })?;
        let time_ns = now_ns();
        let scheduler = self.clock(Source::Scheduler).filter(|(group, _)| self.groups[*group].is_attached());
        let calibration = self.calibration.take().map(Calibration::into_attached);
        let attached = self.groups.iter_mut().flat_map(GroupState::take).chain(calibration).collect();
        detach_all(attached);
        log::info!("detached in {:.3} s", began.elapsed().as_secs_f64());
        while self.drain(|_| Ok(()), sink)? {}
        let returns = scheduler.map(|(_, site)| {
            let away = self.kernel.away(time_ns);
            (site, Returns::of(&away, site, time_ns, self.kernel.clocks().min_block_ns))
        });
        for record in returns.iter().flat_map(|(_, returns)| &returns.records) {
            self.merge.push(record);
        }
        self.release_decided(u64::MAX, true, sink);
        // A JVM that has ended had no more to say.
        let is_gone = |left: &Inside| reason == "target exited" && matches!(left, Inside::Lacks(_));
        if let Some(left) = left.filter(|left| !is_gone(left)) {
            sink(Item::Inside(left));
        }
        if let Some(messages) = &mut self.messages {
            messages.flush();
        }
        if let Some(inside) = &mut self.inside {
            inside.settle();
        }
        let mut counters = self.counters()?;
        if let Some((site, returns)) = returns {
            returns.count(&mut counters.sites[usize::from(site)]);
        }
        sink(Item::Counters(counters));
        self.tell_tallies(sink, true)?;
        for coverage in coverage {
            sink(Item::Coverage(coverage));
        }
        sink(Item::End(End { time_ns, reason: reason.to_owned(), counters_final: true }));
        Ok(())
    }

    /// Lets the library in the JVM go, and takes what it has left to say.
    fn leave(&mut self, sink: &mut dyn FnMut(Item<'_>)) -> Result<Option<Inside>, Error> {
        if let Some(inside) = &mut self.inside {
            inside.begin_leaving(sink);
        }
        while let Some(inside) = &mut self.inside {
            if let Some((left, followed)) = inside.has_left(now_ns(), sink) {
                self.governor.has_followed(followed);
                return Ok(Some(left));
            }
            self.drain(|_| Ok(()), sink)?;
        }
        Ok(None)
    }

    pub(super) fn counters(&mut self) -> Result<Counters, Error> {
        let usage = own_usage();
        let programs = self.statistics.as_mut().map(Statistics::read);
        for Runs { program, run_ns, runs } in programs.iter().flatten() {
            log::debug!("`{program}` ran {runs} times for {run_ns} ns");
        }
        let sum = |of: fn(&Runs) -> u64| programs.as_ref().map(|programs| programs.iter().map(of).sum());
        let Readings { sites, refused, stack_ns } = self.kernel.readings(self.group_of_site.len())?;
        Ok(Counters {
            time_ns: now_ns(),
            refused,
            trap_cost_ps: self.trap_cost_now_ps(),
            inside: self.inside.as_ref().map(InsideLane::cost),
            sites,
            stack_ns: Some(stack_ns),
            own_cpu_ns: usage.cpu_ns,
            own_memory_bytes: usage.memory_bytes,
            program_ns: sum(|program| program.run_ns),
            program_runs: sum(|program| program.runs),
        })
    }
}

//! Carries out decisions about probe sites: takes them away, gives them back, or has them tell less.

use std::collections::BTreeMap;

use tracer_common::{site::SiteSpec, tally::Demand};

use super::super::{
    Live,
    groups::{GroupState, site_id},
    now_ns,
    records::told,
};
use crate::{
    ebpf::{Error, attach::detach_all},
    group::{CODE_GROUP, METHODS_GROUP, OBJECTS_GROUP},
    guard::{Decision, Reason, to_whole},
    item::{GuardAction, GuardDecision, GuardReason, Narrowing},
};

impl Live {
    pub(super) fn obey(&mut self, decision: Decision, gone_ns: Option<u64>) -> Result<(), Error> {
        let rate = |reason: &Reason| to_whole(reason.rate_per_s);
        let (group, action, reason) = match &decision {
            Decision::Detach { group, reason } => {
                (*group, GuardDecision::Detach { rate_per_s: rate(reason) }, Some(*reason))
            }
            Decision::Stop { group, reason } => {
                (*group, GuardDecision::Stop { rate_per_s: rate(reason) }, Some(*reason))
            }
            Decision::Narrow { group, what, reason } => {
                (*group, GuardDecision::Narrow { what: *what, rate_per_s: rate(reason) }, Some(*reason))
            }
            Decision::Attach { group, .. } => (*group, GuardDecision::Attach, None),
            Decision::Look { group } => (*group, GuardDecision::Look, None),
        };
        let pause_ns = match &decision {
            Decision::Attach { pause_ns, .. } => Some(*pause_ns),
            Decision::Detach { .. } | Decision::Stop { .. } | Decision::Narrow { .. } | Decision::Look { .. } => None,
        };
        let time_ns = match action {
            GuardDecision::Attach => match self.bring_back(group)? {
                Some(time_ns) => time_ns,
                None => return Ok(()),
            },
            GuardDecision::Look => now_ns(),
            GuardDecision::Detach { .. } | GuardDecision::Stop { .. } => gone_ns.unwrap_or_else(now_ns),
            GuardDecision::Narrow { what, .. } => self.narrow(group, what)?,
            // Only markers are.
            GuardDecision::Hold | GuardDecision::Release => return Ok(()),
        };
        let reason = reason.map(|reason| reason.in_flow(now_ns()));
        self.announce(group, time_ns, action, reason, pause_ns)
    }

    /// Puts a decision into the flow, behind the events before it.
    fn announce(
        &mut self,
        group: usize,
        time_ns: u64,
        action: GuardDecision,
        reason: Option<GuardReason>,
        pause_ns: Option<u64>,
    ) -> Result<(), Error> {
        let Some(state) = self.groups.get(group) else { return Ok(()) };
        let name = state.name().to_owned();
        match action {
            GuardDecision::Attach => log::debug!("`{name}` {action}"),
            GuardDecision::Detach { .. } | GuardDecision::Stop { .. } | GuardDecision::Narrow { .. } => {
                log::info!("`{name}` {action}");
            }
            GuardDecision::Look | GuardDecision::Hold | GuardDecision::Release => {}
        }
        let counts = paused_by(state) != 0;
        let action =
            GuardAction { time_ns, group: name, sites: state.sites(), lens: state.lens, action, reason, pause_ns };
        let tallies = match &mut self.subjects {
            Some(subjects) if counts && subjects.tallied() => {
                let whole = subjects.counts_calls_by_context();
                Some(subjects.tallies(self.kernel.tallying(), &mut told(&mut self.unwinding), time_ns, whole)?)
            }
            _ => None,
        };
        self.governor.pending.push_back((action, tallies));
        Ok(())
    }

    /// Detaches groups; gives the moment from which on each is not seen.
    pub(super) fn take_away(&mut self, leaving: &[usize]) -> Result<BTreeMap<usize, u64>, Error> {
        let Self { kernel, groups, subjects, jni, .. } = self;
        let (mut links, mut gone) = (Vec::new(), BTreeMap::new());
        for index in leaving {
            let Some(state) = groups.get_mut(*index) else { continue };
            if let Some(jni) = jni {
                jni.switch(state.name(), kernel);
            }
            let paused = paused_by(state);
            if paused != 0
                && let Some(subjects) = subjects
            {
                subjects.pause(paused, kernel.tallying())?;
                gone.insert(*index, now_ns());
            }
            links.extend(state.take());
        }
        if !links.is_empty() {
            detach_all(links);
        }
        let detached_ns = now_ns();
        for index in leaving {
            gone.entry(*index).or_insert(detached_ns);
            self.code_is_seen(*index, false);
        }
        Ok(gone)
    }

    /// Attaches a group again; gives the moment from which on it is seen, or nothing where that cannot be done: then the
    /// target is about to exit, most likely.
    fn bring_back(&mut self, group: usize) -> Result<Option<u64>, Error> {
        let Self { kernel, groups, place, subjects, jni, governor, .. } = self;
        let Some(state) = groups.get_mut(group) else { return Ok(None) };
        if let Err(error) = state.attach(kernel, place) {
            log::warn!("{error}");
            detach_all(state.take());
            governor.guard.gave_up(group);
            return Ok(None);
        }
        if let Some(jni) = jni {
            jni.switch(state.name(), kernel);
        }
        let paused = paused_by(state);
        if paused != 0
            && let Some(subjects) = subjects
        {
            subjects.resume(paused, kernel.tallying())?;
        }
        let time_ns = now_ns();
        governor.guard.came_back(group, time_ns);
        self.code_is_seen(group, true);
        Ok(Some(time_ns))
    }

    /// Leaves something out; gives the moment from which on that holds.
    fn narrow(&mut self, group: usize, what: Narrowing) -> Result<u64, Error> {
        match what {
            Narrowing::Stacks => {
                self.leave_stacks(group, 0)?;
                Ok(now_ns())
            }
            Narrowing::FewerStacks { one_in } => {
                self.leave_stacks(group, u16::try_from(one_in).unwrap_or(u16::MAX))?;
                Ok(now_ns())
            }
            // The inside lane's own.
            Narrowing::Each | Narrowing::Objects { .. } => Ok(now_ns()),
            Narrowing::Times => {
                let Self { kernel, groups, subjects, .. } = self;
                if let Some(subjects) = subjects {
                    subjects.drop_times(kernel.tallying())?;
                }
                let time_ns = now_ns();
                detach_all(groups.get_mut(group).and_then(GroupState::take_ends).into_iter().collect());
                Ok(time_ns)
            }
        }
    }

    /// From now on one event of so many of a group gets a stack; 0: none does.
    fn leave_stacks(&mut self, group: usize, one_in: u16) -> Result<(), Error> {
        if let Some(stacks_of) = self.governor.stacks_of.get_mut(group) {
            *stacks_of = one_in;
        }
        self.tell_sites()
    }

    /// Tells the programs where the words of every site are, and which get stacks.
    pub(in crate::live) fn tell_sites(&mut self) -> Result<(), Error> {
        let Self { kernel, specs, group_of_site, governor, unwinding, .. } = self;
        for (site, (spec, group)) in specs.iter().zip(group_of_site).enumerate() {
            let stack = match governor.stacks_of(*group) {
                one_in if unwinding.is_some() && one_in > 0 => spec.stack_of_one_in(one_in),
                _ => 0,
            };
            kernel.set_site(site_id(site), SiteSpec { stack, ..*spec })?;
        }
        Ok(())
    }

    /// The unwinder must know whether it sees code come and go.
    fn code_is_seen(&mut self, group: usize, seen: bool) {
        let Self { kernel, groups, unwinding, .. } = self;
        if groups.get(group).is_some_and(|state| state.name() == CODE_GROUP)
            && let Some(unwinding) = unwinding
            && let Err(error) = unwinding.install(kernel, seen)
        {
            log::warn!("{error}");
        }
    }
}

/// The bits of [`Demand::paused`] that silence a group; 0 where nothing does.
fn paused_by(state: &GroupState) -> u32 {
    match state.name() {
        METHODS_GROUP => Demand::METHODS,
        OBJECTS_GROUP => Demand::OBJECTS,
        _ => 0,
    }
}

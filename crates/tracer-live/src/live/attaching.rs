//! The beginning of a live session: programs are loaded, and groups of sites are attached one after another.
//!
//! The governor acts from the first group on: on a target that leaves jtrace little CPU, attaching takes long, and all that is
//! attached already is hit meanwhile.

use std::time::Instant;

use tracer_common::site::{SiteSpec, TargetLayout};

use super::{
    Live, Prepared,
    completion::Completion,
    governor::{Governor, fewer_stacks, means},
    groups::{groups, site_id, sites},
    host::{known_tgid, now_ns},
    merge::Merge,
    sees_code,
    subjects::Subjects,
    threads::Threads,
    unwinding::Unwinding,
    usage::own_usage,
};
use crate::{
    ebpf::{Error, attach::NOBODY, calibrate::Calibration, load::Kernel, runtime::Statistics},
    group::INSIDE_GROUP,
    guard,
    probe::clock::Source,
};

impl Live {
    /// Loads the programs and attaches the sites.
    pub fn attach(prepared: Prepared) -> Result<Self, Error> {
        let budget = prepared.budget;
        let layout = prepared.layout;
        let mut live = Self::load(prepared)?;
        live.attach_groups()?;
        let sees_code = sees_code(&live.groups, &live.sites);
        if let Some(unwinding) = &mut live.unwinding {
            unwinding.install(&mut live.kernel, sees_code)?;
            live.missing.extend(unwinding.missing().iter().cloned());
        }
        let tgid = known_tgid(live.place.pid);
        if tgid == 0 && live.groups.iter().any(|state| state.clock().is_some()) {
            live.missing.push(
                "cpu, offcpu, wall: not available, because jtrace runs in a pid namespace of its own, and the kernel counts \
                 the target's threads by other numbers"
                    .to_owned(),
            );
        }
        live.govern_attaching()?;
        let time_ns = now_ns();
        live.kernel.set_target(TargetLayout { tgid, ..layout })?;
        live.governor.begin(time_ns, tgid != 0);
        if let Some(inside) = &mut live.inside {
            inside.allow(budget.share, live.calibration.as_ref().map(Calibration::cost_ps));
            inside.switch_on(time_ns, &mut live.missing);
        }
        live.start_ns = time_ns;
        live.watermark_ns = time_ns;
        live.counters_ns = time_ns;
        live.attached_at = Instant::now();
        live.attach_cpu_ns = own_usage().cpu_ns;
        live.expect_usual_stacks();
        Ok(live)
    }

    /// Loads the programs and tells them what they must know; nothing is attached but to jtrace itself.
    fn load(prepared: Prepared) -> Result<Self, Error> {
        let Prepared { place, plan, layout, mut kernel, budget, .. } = prepared;
        let Prepared { mut unwinding, holders, reader, mut subjects, mut jni, inside, asked, .. } = prepared;
        kernel.rows = unwinding.as_ref().map_or(kernel.rows, Unwinding::rows);
        kernel.remember_away = plan.clocks.iter().any(|planned| planned.clock.source == Source::Scheduler);
        kernel.sites = plan.sites.len() + plan.clocks.len();
        let statistics = kernel.statistics;
        // While the kernel checks the programs; it is over when the cost of a trap is measured, and when the session begins.
        if let Some(unwinding) = &mut unwinding {
            unwinding.read_symbols();
        }
        let (mut kernel, mut rings) = Kernel::load(kernel)?;
        if let Some(unwinding) = &mut unwinding {
            unwinding.wait_for_symbols();
        }
        let calibration = Calibration::begin(&mut kernel, &mut rings).unwrap_or_else(|error| {
            log::warn!("the cost of a trap could not be calibrated: {error}");
            None
        });
        let trap_cost_ps = calibration.as_ref().map(Calibration::cost_ps);
        kernel.set_target(TargetLayout { tgid: NOBODY, ..layout })?;
        kernel.allow_hits(guard::most_hits(budget, trap_cost_ps))?;
        if let Some(subjects) = &mut subjects {
            subjects.install(kernel.tallying())?;
        }
        if let Some(jni) = &mut jni {
            jni.install(&mut kernel)?;
        }
        let wanted = u32::from(unwinding.is_some());
        let specs: Vec<SiteSpec> = plan.sites.iter().map(|planned| planned.spec).collect();
        for (site, spec) in specs.iter().enumerate() {
            kernel.set_site(site_id(site), SiteSpec { stack: spec.stack * wanted, ..*spec })?;
        }
        let mut completion = Completion::new(&plan);
        if let Some(completion) = &mut completion {
            completion.know(reader);
        }
        let (groups, group_of_site) = groups(&plan);
        let sites = sites(&plan);
        let can_drop_times = subjects.as_ref().is_some_and(Subjects::can_drop_times);
        let means = means(&groups, &plan, unwinding.is_some(), can_drop_times);
        let fewer = fewer_stacks(&groups, &plan, unwinding.is_some());
        Ok(Self {
            unwinding,
            holders,
            looks: None,
            completion,
            subjects,
            jni,
            inside,
            asked,
            looked_ns: 0,
            layout,
            threads: Threads::new((known_tgid(place.pid) != 0).then_some(place.pid)),
            statistics: if statistics { Some(Statistics::enable()?) } else { None },
            messages: kernel.take_messages(),
            kernel,
            rings,
            merge: Merge::default(),
            place,
            sites,
            missing: plan.missing,
            calibration,
            drained_bytes: 0,
            step_bytes: 0,
            governor: Governor::new(&means, trap_cost_ps, budget).with_fewer_stacks(&fewer),
            groups,
            specs,
            group_of_site,
            start_ns: 0,
            attached_at: Instant::now(),
            attach_cpu_ns: 0,
            watermark_ns: 0,
            counters_ns: 0,
        })
    }

    /// Attaches all groups; what cannot be is said. An error where that is everything.
    fn attach_groups(&mut self) -> Result<(), Error> {
        let mut attached = self.groups.is_empty();
        for index in 0..self.groups.len() {
            let Self { groups, kernel, place, inside, missing, .. } = self;
            let Some(state) = groups.get_mut(index) else { continue };
            if let Some(inside) = inside.as_ref().filter(|_| state.name() == INSIDE_GROUP) {
                state.set_path(inside.path());
            }
            match state.attach(kernel, place) {
                Ok(()) => attached = true,
                Err(error) => missing.push(error.to_string()),
            }
            self.govern_attaching()?;
        }
        match self.missing.last() {
            Some(error) if !attached => Err(Error::Load(error.clone())),
            _ => Ok(()),
        }
    }
}

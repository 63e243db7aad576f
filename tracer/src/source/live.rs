//! A live target: attaches the planned sites, delivers items while the target runs, and leaves nothing behind.
//!
//! The caller decides when to [`Live::pump`] (a timer, or [`Live::descriptor`] becoming readable) and when to
//! [`Live::finish`].

pub mod book;
pub mod holders;
pub mod inside;
pub mod jni;
pub mod judge;
pub mod subjects;
pub mod thread_gate;
pub mod unwinding;

mod away;
mod contexts;
mod end;
mod governor;
mod groups;
mod host;
mod prepared;
mod records;
mod threads;
mod usage;

use std::{os::fd::OwnedFd, time::Instant};

use tracer_common::site::{SiteSpec, TargetLayout};

use self::{
    holders::Holders, inside::InsideLane, jni::JniCalls, subjects::Subjects, thread_gate::ThreadGate,
    unwinding::Unwinding,
};
use crate::{
    ebpf::{
        Error,
        attach::Place,
        calibrate,
        load::{Kernel, Messages},
        rings::Rings,
        runtime::Statistics,
    },
    inside::visit::Visit,
    jvm::{find::Jvm, java_threads::Layout},
    mark::Asked,
    probe::{
        catalog::{CODE_GROUP, INSIDE_GROUP},
        clock::Source,
        plan::Plan,
    },
    session::{Item, Site, Start, Wish},
    source::merge::Merge,
};

use self::{
    governor::{Governor, loads_of_groups, means},
    groups::{GroupState, groups, site_id, sites},
    host::{known_tgid, wall_ms},
    threads::Threads,
    usage::own_usage,
};
pub use self::{
    host::{exit_descriptor, in_initial_pid_namespace, now_ns},
    prepared::{Description, Prepared},
};

/// How often counters are put into the flow.
const COUNTERS_EVERY_NS: u64 = 1_000_000_000;

/// How often all threads are looked at.
const LOOK_EVERY_NS: u64 = 1_000_000_000;

/// An attached session.
pub struct Live {
    kernel: Kernel,
    rings: Rings,
    messages: Option<Messages>,
    merge: Merge,
    threads: Threads,
    statistics: Option<Statistics>,
    place: Place,
    layout: TargetLayout,
    sites: Vec<Site>,
    missing: Vec<String>,
    trap_cost_ps: Option<u64>,
    groups: Vec<GroupState>,
    group_of_site: Vec<usize>,
    specs: Vec<SiteSpec>,
    start_ns: u64,
    attached_at: Instant,
    attach_cpu_ns: u64,
    governor: Governor,
    drained_bytes: u64,
    /// Bytes that were drained since the governor looked.
    step_bytes: u64,
    watermark_ns: u64,
    counters_ns: u64,
    unwinding: Option<Unwinding>,
    holders: Option<Holders>,
    subjects: Option<Subjects>,
    jni: Option<JniCalls>,
    inside: Option<InsideLane>,
    /// Until it has been told.
    asked: Option<Asked>,
    /// When all threads were looked at last.
    looked_ns: u64,
}

/// A thread group id that no process has. While it is the target's, sites count their hits and emit nothing: so a session
/// begins and ends for all sites at one moment, though they are attached and detached one group after another. Else a pause
/// could come without its safepoint.
const NOBODY: u32 = u32::MAX;

impl Live {
    /// Loads the programs and attaches the sites.
    pub fn attach(prepared: Prepared) -> Result<Self, Error> {
        let Prepared {
            place,
            plan,
            layout,
            mut kernel,
            budget,
            mut unwinding,
            holders,
            mut subjects,
            mut jni,
            mut inside,
            asked,
        } = prepared;
        kernel.rows = unwinding.as_ref().map_or(kernel.rows, Unwinding::rows);
        kernel.remember_away = plan.clocks.iter().any(|planned| planned.clock.source == Source::Scheduler);
        let statistics = kernel.statistics;
        let (mut kernel, mut rings) = Kernel::load(kernel)?;
        let trap_cost_ps = calibrate::hit_cost_ps(&mut kernel, &mut rings).unwrap_or_else(|error| {
            log::warn!("the cost of a trap could not be calibrated: {error}");
            None
        });
        kernel.set_target(TargetLayout { tgid: NOBODY, ..layout })?;
        if let Some(unwinding) = &mut unwinding {
            unwinding.read_symbols();
        }
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
        let (mut groups, group_of_site) = groups(&plan);
        let sites = sites(&plan);
        let can_drop_times = subjects.as_ref().is_some_and(Subjects::can_drop_times);
        let means = means(&groups, &plan, unwinding.is_some(), can_drop_times);
        let mut missing = plan.missing;
        attach_groups(&mut groups, &mut kernel, &place, inside.as_ref(), &mut missing)?;
        if let Some(unwinding) = &mut unwinding {
            unwinding.install(&mut kernel, sees_code(&groups))?;
            missing.extend(unwinding.missing().iter().cloned());
        }
        let statistics = if statistics { Some(Statistics::enable()?) } else { None };
        let tgid = known_tgid(place.pid);
        if tgid == 0 && !plan.clocks.is_empty() {
            missing.push(
                "cpu, offcpu, wall: not available, because jtrace runs in a pid namespace of its own, and the kernel counts \
                 the target's threads by other numbers"
                    .to_owned(),
            );
        }
        // What the first groups were hit by while the others were attached was turned down, and is past.
        let told = loads_of_groups(&kernel, &groups, &group_of_site)?;
        let time_ns = now_ns();
        kernel.set_target(TargetLayout { tgid, ..layout })?;
        if let Some(inside) = &mut inside {
            inside.allow(budget, trap_cost_ps);
            inside.switch_on(time_ns, &mut missing);
        }
        let mut live = Self {
            unwinding,
            holders,
            subjects,
            jni,
            inside,
            asked,
            looked_ns: 0,
            layout,
            threads: Threads::new((tgid != 0).then_some(place.pid)),
            statistics,
            messages: kernel.take_messages(),
            kernel,
            rings,
            merge: Merge::default(),
            place,
            sites,
            missing,
            trap_cost_ps,
            drained_bytes: 0,
            step_bytes: 0,
            governor: Governor::new(&means, trap_cost_ps, budget, told),
            groups,
            specs,
            group_of_site,
            start_ns: time_ns,
            attached_at: Instant::now(),
            attach_cpu_ns: own_usage().cpu_ns,
            watermark_ns: time_ns,
            counters_ns: time_ns,
        };
        live.expect_usual_stacks();
        Ok(live)
    }

    /// The first item of the session, which begins when everything was attached.
    pub fn start(&self, description: Description) -> Start {
        let Description { target, lenses, mut missing, threads, began } = description;
        missing.extend(self.missing.iter().cloned());
        let attach = self.attached_at.saturating_duration_since(began);
        Start {
            target,
            lenses,
            sites: self.sites.clone(),
            missing,
            time_ns: self.start_ns,
            wall_ms: wall_ms(),
            trap_cost_ps: self.trap_cost_ps,
            attach_ns: u64::try_from(attach.as_nanos()).unwrap_or(u64::MAX),
            attach_cpu_ns: self.attach_cpu_ns,
            threads,
        }
    }

    /// Tells the programs what became known about the JVM after attaching: the layout of its structures, and where the
    /// words of the sites are.
    pub fn refine(
        &mut self,
        layout: TargetLayout,
        plan: &Plan,
        unwinding: Option<Unwinding>,
        holders: Option<Holders>,
        subjects: Option<Subjects>,
    ) -> Result<(), Error> {
        self.layout = layout;
        self.holders = holders;
        if let Some(mut subjects) = subjects {
            subjects.install(self.kernel.tallying())?;
            self.subjects = Some(subjects);
        }
        if let Some(mut unwinding) = unwinding {
            unwinding.read_symbols();
            unwinding.install(&mut self.kernel, sees_code(&self.groups))?;
            self.missing.extend(unwinding.missing().iter().cloned());
            self.unwinding = Some(unwinding);
        }
        self.kernel.set_target(TargetLayout { tgid: known_tgid(self.place.pid), ..layout })?;
        for (spec, planned) in self.specs.iter_mut().zip(&plan.sites) {
            *spec = planned.spec;
        }
        let can_drop_times = self.subjects.as_ref().is_some_and(Subjects::can_drop_times);
        self.governor.allow(&means(&self.groups, plan, self.unwinding.is_some(), can_drop_times));
        self.tell_sites()
    }

    /// The library of a JVM that has started with it is there, and has woven: the markers are switched on.
    pub fn inside_arrives(&mut self, visit: Visit, gate: Option<ThreadGate>, missing: &mut Vec<String>) {
        if let Some(inside) = &mut self.inside {
            inside.arrive(visit, gate, now_ns(), missing);
            // The library's file is gone, but for those that have mapped it.
            for state in self.groups.iter_mut().filter(|state| state.name() == INSIDE_GROUP) {
                state.set_path(inside.path());
            }
        }
    }

    /// Finds and names callers of JNI functions in a JVM that has become known after attaching.
    pub fn look_into_jni(
        &mut self,
        jvm: &Jvm,
        threads: Option<Layout>,
        missing: &mut Vec<String>,
    ) -> Result<(), Error> {
        let Some(jni) = &mut self.jni else { return Ok(()) };
        jni.look_into(jvm, threads, true, missing);
        missing.push(
            "jni: until the JVM's tables could be read, some ms after its start, callers were not known".to_owned(),
        );
        jni.install(&mut self.kernel)
    }

    /// Switches a marker off, or on again, as soon as the library follows; what is decided is a part of the flow. Says whether that
    /// changes anything: a marker that the governor has taken out of the code stays away.
    pub fn switch(&mut self, wish: &Wish) -> bool {
        self.inside.as_mut().is_some_and(|inside| inside.ask(now_ns(), wish))
    }

    /// Name of what is switched together with a marker.
    pub fn group_of(&self, marker: &str) -> Option<&str> {
        self.inside.as_ref()?.group_of(marker)
    }

    /// Becomes readable when much has arrived before the caller's timer.
    pub const fn descriptor(&self) -> &OwnedFd {
        self.rings.descriptor()
    }

    /// Delivers what has arrived, lets the rate guard look, and now and then reads the counters.
    pub fn pump(&mut self, sink: &mut dyn FnMut(Item<'_>)) -> Result<(), Error> {
        let began_ns = now_ns();
        self.begin_work();
        if began_ns.saturating_sub(self.looked_ns) >= LOOK_EVERY_NS {
            self.look(began_ns);
        }
        self.tell_asked(sink);
        if let Some(inside) = &mut self.inside {
            inside.pump(sink);
        }
        let rest = self.drain(Self::govern, sink)?;
        self.release_decided(self.watermark_ns, !rest, sink);
        // What is older than this drain's beginning has arrived now, and is passed on in the next round.
        self.watermark_ns = began_ns;
        self.govern()?;
        if began_ns.saturating_sub(self.counters_ns) >= COUNTERS_EVERY_NS {
            self.counters_ns = began_ns;
            let counters = self.counters()?;
            self.expect(&counters);
            sink(Item::Counters(counters));
            if !self.governor.is_waiting() {
                self.tell_tallies(sink, false)?;
            }
            if let Some(subjects) = &mut self.subjects {
                subjects.refresh(self.kernel.tallying());
            }
            if let Some(jni) = &mut self.jni {
                jni.refresh(&mut self.kernel);
            }
            if let Some(unwinding) = &mut self.unwinding {
                unwinding.refresh(&mut self.kernel)?;
            }
        }
        if let Some(messages) = &mut self.messages {
            messages.flush();
        }
        self.end_work();
        Ok(())
    }
}

/// Attaches all groups; what cannot be is said. An error where that is everything.
fn attach_groups(
    groups: &mut [GroupState],
    kernel: &mut Kernel,
    place: &Place,
    inside: Option<&InsideLane>,
    missing: &mut Vec<String>,
) -> Result<(), Error> {
    for state in groups.iter_mut() {
        if let Some(inside) = inside.filter(|_| state.name() == INSIDE_GROUP) {
            state.set_path(inside.path());
        }
        if let Err(error) = state.attach(kernel, place) {
            missing.push(error.to_string());
        }
    }
    match missing.last() {
        Some(error) if !groups.is_empty() && !groups.iter().any(GroupState::is_attached) => {
            Err(Error::Load(error.clone()))
        }
        _ => Ok(()),
    }
}

/// Whether every unloading of code will be seen.
fn sees_code(groups: &[GroupState]) -> bool {
    groups.iter().any(|state| state.name() == CODE_GROUP && state.is_attached())
}

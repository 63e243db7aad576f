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
pub mod unwinding;

mod away;
mod contexts;
mod governor;
mod groups;
mod threads;
mod usage;

use std::{
    num::NonZeroU32,
    os::{fd::OwnedFd, unix::fs::MetadataExt as _},
    time::Instant,
};

use rustix::{process::Pid, time::ClockId};
use tracer_common::site::{SiteSpec, TargetLayout};

use self::{
    holders::Holders,
    inside::InsideLane,
    jni::JniCalls,
    subjects::{Subjects, Taken},
    unwinding::Unwinding,
};
use crate::{
    analysis::Lens,
    coverage::Coverage,
    decode::Header,
    ebpf::{
        Error,
        attach::{Place, detach_all},
        calibrate,
        load::{Kernel, KernelOptions, Messages},
        rings::Rings,
        runtime::{Runs, Statistics},
    },
    event::Tid,
    inside::visit::Visit,
    jvm::{find::Jvm, java_threads::Layout},
    mark::{Asked, Inside},
    probe::{
        catalog::{CODE_GROUP, INSIDE_GROUP},
        clock::Source,
        plan::Plan,
    },
    session::{Counters, End, Item, Site, Start, Target, Wish},
    source::merge::Merge,
    tally::Tallies,
};

use self::{
    away::Returns,
    governor::{Governor, loads_of_groups, means},
    groups::{GroupState, groups, site_id, sites},
    threads::Threads,
    usage::own_usage,
};

/// Records that are taken from one ring buffer before the others get their turn.
const DRAIN_LIMIT: usize = 5000;
/// How often that is done before records are passed on, also where they never end: taking them is what must not be late.
const DRAIN_ROUNDS: usize = 40;
/// How often at most where stacks wait for their names: a JVM that starts sends thousands, and naming them takes longer than a
/// ring buffer holds.
const NAMING_ROUNDS: usize = 1000;

/// How often counters are put into the flow.
const COUNTERS_EVERY_NS: u64 = 1_000_000_000;

/// How often all threads are looked at.
const LOOK_EVERY_NS: u64 = 1_000_000_000;

/// Which sites to attach, and where.
pub struct Prepared {
    /// The file with the sites, and the process.
    pub place: Place,
    /// The sites.
    pub plan: Plan,
    /// Offsets in the JVM's structures; all 0 where they are not known yet.
    pub layout: TargetLayout,
    /// What the kernel side shall be like.
    pub kernel: KernelOptions,
    /// Share of one core that the target may lose to traps.
    pub budget: f64,
    /// What is known about the target's code; nothing where stacks are not wanted.
    pub unwinding: Option<Unwinding>,
    /// What finds the holders of monitors; nothing where they are not wanted.
    pub holders: Option<Holders>,
    /// What names methods and classes of objects; nothing where nobody asks for them.
    pub subjects: Option<Subjects>,
    /// What names callers of JNI functions; nothing where nobody asks for them.
    pub jni: Option<JniCalls>,
    /// The library in the JVM; nothing where it is not wanted.
    pub inside: Option<InsideLane>,
    /// Properties, where all are followed without that library.
    pub outside: Option<Asked>,
}

impl Prepared {
    /// With properties that are followed by events alone.
    #[must_use]
    pub fn with_outside(mut self, outside: Option<Asked>) -> Self {
        self.outside = outside;
        self
    }

    /// With the library in the JVM, where it is wanted.
    #[must_use]
    pub fn with_inside(mut self, inside: Option<InsideLane>) -> Self {
        self.kernel.marks = inside.is_some();
        self.inside = inside;
        self
    }

    /// With JNI calls, where they are wanted.
    #[must_use]
    pub fn with_jni(mut self, jni: Option<JniCalls>) -> Self {
        self.kernel.jni = jni.is_some();
        self.jni = jni;
        self
    }
}

/// What a session's first item says besides what attaching found out.
pub struct Description {
    /// The JVM.
    pub target: Target,
    /// Lenses that are shown.
    pub lenses: Vec<Lens>,
    /// What is missing besides what the plan says.
    pub missing: Vec<String>,
    /// Threads that live already.
    pub threads: Vec<(Tid, String)>,
    /// When jtrace began.
    pub began: Instant,
}

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
    outside: Option<Asked>,
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
            outside,
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
            outside,
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
    pub fn inside_arrives(&mut self, visit: Visit, missing: &mut Vec<String>) {
        if let Some(inside) = &mut self.inside {
            inside.arrive(visit, now_ns(), missing);
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
        if let Some(outside) = self.outside.take() {
            sink(Item::Inside(Inside::Asked(outside)));
        }
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

    /// Passes on what the kernel has counted itself.
    fn tell_tallies(&mut self, sink: &mut dyn FnMut(Item<'_>), at_end: bool) -> Result<(), Error> {
        let Self { subjects, jni, kernel, .. } = self;
        let mut tallies = match subjects.as_mut().filter(|subjects| subjects.tallied()) {
            Some(subjects) => {
                let tallies = subjects.tallies(kernel.tallying(), now_ns(), at_end)?;
                subjects.define(sink);
                tallies
            }
            None if jni.is_none() => return Ok(()),
            None => Tallies { time_ns: now_ns(), ..Tallies::default() },
        };
        if let Some(jni) = jni {
            tallies.jni = jni.reading(kernel)?;
            jni.define(sink);
        }
        sink(Item::Tallies(tallies));
        Ok(())
    }

    fn release(&mut self, until_ns: u64, sink: &mut dyn FnMut(Item<'_>)) {
        let Self { merge, threads, .. } = self;
        merge.release(until_ns, |record| {
            for name in [threads.name(record), threads.holder_name(record)].into_iter().flatten() {
                sink(Item::Thread(name));
            }
            sink(Item::Record(record));
        });
    }

    /// Index of a clock's group and id of its site.
    fn clock(&self, source: Source) -> Option<(usize, u16)> {
        let group = self.groups.iter().position(|state| state.clock() == Some(source))?;
        Some((group, *self.groups[group].sites().first()?))
    }

    /// Takes what is in the ring buffers, and names stacks before their code can go away; says whether there may be more. It
    /// does something else in between, however long it takes.
    fn drain(
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
            subjects,
            jni,
            kernel,
            ..
        } = self;
        let loads = &mut governor.loads;
        if let Some(holders) = holders {
            holders.forget();
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
        more
    }

    /// Looks at all threads of the JVM: who is blocked, and who holds what they wait for.
    fn look(&mut self, time_ns: u64) {
        self.looked_ns = time_ns;
        for record in self.holders.iter_mut().flat_map(|holders| holders.look(time_ns)) {
            self.merge.push(&record);
        }
    }

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
        // While its sites still hear what it has left to say.
        let left = self.inside.take().map(|mut inside| {
            let (left, followed) = inside.finish(now_ns(), sink);
            self.governor.has_followed(followed);
            left
        });
        self.look(now_ns());
        // All sites fall silent at once, and go away one group after another.
        self.kernel.set_target(TargetLayout { tgid: NOBODY, ..self.layout })?;
        let time_ns = now_ns();
        let scheduler = self.clock(Source::Scheduler).filter(|(group, _)| self.groups[*group].is_attached());
        let attached = self.groups.iter_mut().flat_map(GroupState::take).collect();
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

    fn counters(&mut self) -> Result<Counters, Error> {
        let usage = own_usage();
        let programs = self.statistics.as_mut().map(Statistics::read);
        for Runs { program, run_ns, runs } in programs.iter().flatten() {
            log::debug!("`{program}` ran {runs} times for {run_ns} ns");
        }
        let sum = |of: fn(&Runs) -> u64| programs.as_ref().map(|programs| programs.iter().map(of).sum());
        Ok(Counters {
            time_ns: now_ns(),
            sites: self.kernel.stats(self.group_of_site.len())?,
            stack_ns: Some(self.kernel.stack_ns(self.group_of_site.len())?),
            own_cpu_ns: usage.cpu_ns,
            own_memory_bytes: usage.memory_bytes,
            program_ns: sum(|program| program.run_ns),
            program_runs: sum(|program| program.runs),
        })
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

/// The inode of the initial pid namespace, which the kernel gives a fixed number.
const INITIAL_PID_NAMESPACE: u64 = 0xefff_fffc;

/// Whether this process counts pids as the kernel's programs see them.
pub fn in_initial_pid_namespace() -> bool {
    std::fs::metadata("/proc/self/ns/pid").is_ok_and(|namespace| namespace.ino() == INITIAL_PID_NAMESPACE)
}

/// What the programs compare pids with; in another pid namespace the process has another number, which is not known.
fn known_tgid(pid: NonZeroU32) -> u32 {
    if in_initial_pid_namespace() { pid.get() } else { 0 }
}

/// Whether every unloading of code will be seen.
fn sees_code(groups: &[GroupState]) -> bool {
    groups.iter().any(|state| state.name() == CODE_GROUP && state.is_attached())
}

/// `CLOCK_MONOTONIC`, the clock of the records.
pub fn now_ns() -> u64 {
    let time = rustix::time::clock_gettime(ClockId::Monotonic);
    u64::try_from(time.tv_sec).unwrap_or(0) * 1_000_000_000 + u64::try_from(time.tv_nsec).unwrap_or(0)
}

fn wall_ms() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// A descriptor that becomes readable when the process ends.
pub fn exit_descriptor(pid: NonZeroU32) -> rustix::io::Result<OwnedFd> {
    let pid = i32::try_from(pid.get()).ok().and_then(Pid::from_raw).ok_or(rustix::io::Errno::SRCH)?;
    rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::NONBLOCK)
}

//! A live target: attaches the planned sites, delivers items while the target runs, and leaves nothing behind.
//!
//! The caller decides when to [`Live::pump`] (a timer, or [`Live::descriptor`] becoming readable) and when to
//! [`Live::finish`].

pub mod book;
pub mod completion;
pub mod definitions;
pub mod holders;
pub mod inside;
pub mod jni;
pub mod judge;
pub mod subjects;
pub mod thread_gate;
pub mod unwinding;

mod attaching;
mod away;
mod context_sums;
mod contexts;
mod end;
mod ended;
mod governor;
mod groups;
mod host;
mod idle_contexts;
mod known_frames;
pub mod looks;
mod machine;
mod mapped;
mod merge;
mod opened;
mod prepared;
mod records;
mod sent_stacks;
mod threads;
mod usage;
mod volume;

use std::{num::NonZeroU32, os::fd::OwnedFd, time::Instant};

use tracer_common::{
    record::EventKind,
    site::{SiteSpec, TargetLayout},
};

use self::{
    completion::{Completion, Reader},
    holders::Holders,
    inside::InsideLane,
    jni::JniCalls,
    subjects::Subjects,
    thread_gate::ThreadGate,
    unwinding::Unwinding,
};
use crate::{
    ebpf::{
        Error,
        attach::Place,
        calibrate::Calibration,
        load::{Kernel, Messages},
        rings::Rings,
        runtime::Statistics,
    },
    group::{CODE_GROUP, INSIDE_GROUP},
    inside::visit::Visit,
    item::{Item, Site, Start, Wish},
    jvm::{find::Jvm, java_threads::Layout},
    mark::Asked,
    probe::plan::Plan,
    thread_dump::ThreadReader,
};

use self::{
    governor::{Governor, fewer_stacks, means},
    groups::GroupState,
    host::{known_tgid, wall_ms},
    looks::Looks,
    merge::Merge,
    threads::Threads,
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
    calibration: Option<Calibration>,
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
    looks: Option<Looks>,
    completion: Option<Completion>,
    subjects: Option<Subjects>,
    jni: Option<JniCalls>,
    inside: Option<InsideLane>,
    /// Until it has been told.
    asked: Option<Asked>,
    /// When all threads were looked at last.
    looked_ns: u64,
}

impl Live {
    /// The first item of the session, which begins when everything was attached.
    pub fn start(&mut self, description: Description) -> Start {
        let Description { target, lenses, mut missing, threads, named, began } = description;
        for tid in named {
            self.threads.named(tid);
        }
        missing.extend(self.missing.iter().cloned());
        let attach = self.attached_at.saturating_duration_since(began);
        Start {
            target,
            lenses,
            sites: self.sites.clone(),
            missing,
            time_ns: self.start_ns,
            wall_ms: wall_ms(),
            trap_cost_ps: self.calibration.as_ref().map(Calibration::cost_ps),
            attach_ns: u64::try_from(attach.as_nanos()).unwrap_or(u64::MAX),
            attach_cpu_ns: self.attach_cpu_ns,
            threads,
        }
    }

    /// The process that is watched.
    pub const fn pid(&self) -> NonZeroU32 {
        self.place.pid
    }

    /// Tells the programs what became known about the JVM after attaching: the layout of its structures, and where the
    /// words of the sites are.
    pub fn refine(
        &mut self,
        layout: TargetLayout,
        plan: &Plan,
        unwinding: Option<Unwinding>,
        holders: Option<Holders>,
        reader: Option<Reader>,
        subjects: Option<Subjects>,
    ) -> Result<(), Error> {
        self.layout = layout;
        self.holders = holders;
        if let Some(completion) = &mut self.completion {
            completion.know(reader);
        }
        if let Some(mut subjects) = subjects {
            subjects.install(self.kernel.tallying())?;
            self.subjects = Some(subjects);
        }
        if let Some(mut unwinding) = unwinding {
            unwinding.read_symbols();
            unwinding.install(&mut self.kernel, sees_code(&self.groups, &self.sites))?;
            self.missing.extend(unwinding.missing().iter().cloned());
            self.unwinding = Some(unwinding);
        }
        self.kernel.set_target(TargetLayout { tgid: known_tgid(self.place.pid), ..layout })?;
        for (spec, planned) in self.specs.iter_mut().zip(&plan.sites) {
            *spec = planned.spec;
        }
        let can_drop_times = self.subjects.as_ref().is_some_and(Subjects::can_drop_times);
        self.governor.allow(&means(&self.groups, plan, self.unwinding.is_some(), can_drop_times));
        self.governor.allow_fewer_stacks(&fewer_stacks(&self.groups, plan, self.unwinding.is_some()));
        self.tell_sites()
    }

    /// Looks at all threads from now on.
    pub fn look_at_threads(&mut self, reader: Option<ThreadReader>) {
        self.looks = reader.and_then(Looks::begin);
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
        if let (Some(looks), Some(unwinding)) = (&self.looks, &mut self.unwinding) {
            looks.tell(unwinding.definitions(), &mut self.threads, sink);
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
}

/// Whether every unloading of code will be seen.
fn sees_code(groups: &[GroupState], sites: &[Site]) -> bool {
    groups.iter().any(|state| state.name() == CODE_GROUP && state.is_attached())
        && sites.iter().any(|site| site.kind == EventKind::CodeUnloaded as u16)
}

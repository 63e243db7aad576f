//! Attaches to a JVM that is about to start: sites are attached to the file that it will load, and the rest follows as soon as the JVM
//! can be looked into.
//!
//! What can only be read from the running JVM is the layout of its structures, the addresses of its counters, and its flags. They are
//! there some milliseconds after its start.

use std::{
    ffi::OsString,
    io,
    path::Path,
    process::{Child, ExitStatus},
    time::{Duration, Instant},
};

use tracer_common::site::TargetLayout;

use super::{
    Attached, Error, SessionConfig, Weaving,
    arming::ArmedProbes,
    attached::journal_entry,
    sites,
    target::{CodeHeaps, TargetInfo},
    weaving::WeavingAtStart,
};
use crate::{
    ebpf::{attach::Place, load::KernelOptions, memory::RingSize},
    ending::{self, Patience, Until},
    inside::visit::Visit,
    jvm::{
        find::{Jvm, process::Identity},
        journal::watched::Watched,
    },
    lens::Lens,
    live::{
        Live, Prepared,
        inside::InsideLane,
        thread_gate::{Questions, ThreadGate},
    },
    mark::Asked,
    probe::{
        catalog::Flag,
        plan::{Facts, Libjvm, Plan},
    },
};

/// How long a JVM may take to make its tables and counters.
const LEARN_AT_MOST: Duration = Duration::from_secs(5);

/// How long before that it may be seen to be on its way: it has tables and no code heaps yet. A busy machine takes seconds there.
const START_AT_MOST: Duration = Duration::from_mins(1);

/// How long to wait before looking for the JVM's tables again.
const LOOK_AGAIN: Duration = Duration::from_micros(200);

/// They hold what a JVM calls until it can be looked into.
const RINGS_OF_CALLS: RingSize = RingSize::Share { all: 128 << 20, most: 16 << 20 };

/// What other lenses need: a JVM that starts loads thousands of classes within a moment, each with texts and a stack, on a machine
/// that may have no CPU left for the reader. Less for each CPU where there are many.
const RINGS_OF_A_START: RingSize = RingSize::Share { all: RINGS_OF_A_START_BYTES, most: 8 << 20 };
const RINGS_OF_A_START_BYTES: u32 = 64 << 20;

/// Room for the unwinding tables of a JVM that has not loaded its libraries yet; 21 and 25 need about half.
const ROWS_OF_A_JVM: usize = 1 << 20;

/// A JVM that is about to start, and the sites of its library.
pub struct StartingTarget {
    config: SessionConfig,
    libjvm: Libjvm,
    plan: Plan,
    asked: Option<Asked>,
    questions: Option<Questions>,
    weaving: Option<WeavingAtStart>,
    lane: Option<InsideLane>,
}

impl StartingTarget {
    /// Plans the sites of the library that the JVM will load. What such a JVM would not take, or could not show, is refused.
    pub fn read(library: &Path, mut config: SessionConfig) -> Result<Self, Error> {
        let libjvm = sites::read_libjvm(library)?;
        let mut plan = sites::planned(&libjvm, Facts::default(), &config);
        takes_flags(&plan)?;
        if config.weaving.is_none() {
            sites::something_to_see(&plan)?;
        }
        let asked = config.weaving.as_ref().map(Weaving::asked);
        let weaving = config.weaving.take().filter(Weaving::is_woven);
        let questions = weaving.as_ref().and_then(Weaving::questions);
        if questions.is_some() {
            sites::add_thread_starts(&mut plan, &libjvm, Lens::Markers);
        }
        let weaving = weaving.map(|weaving| weaving.at_start(&mut plan, &config.lenses)).transpose()?;
        let (weaving, lane) = weaving.unzip();
        Ok(Self { config, libjvm, plan, asked, questions, weaving, lane })
    }

    /// Options that the JVM is to be started with: flags without which some of the sites are silent, and what loads the library. So
    /// all of the JVM's code reports, from its first instruction on.
    pub fn java_options(&self) -> Vec<OsString> {
        // Monitors are armed as they are in a running JVM: that needs no flag at the start.
        let flags = self.plan.flags.iter().filter(|flag| **flag != Flag::Monitor);
        let flags = flags.map(|flag| OsString::from(format!("-XX:+{}", flag.name())));
        flags.chain(self.weaving.as_ref().map(WeavingAtStart::option)).collect()
    }

    /// Attaches the sites, before the JVM begins.
    pub fn attach(self, place: Place) -> Result<AwaitedTarget, Error> {
        let Self { config, libjvm, plan, asked, questions, weaving, lane } = self;
        let pid = place.pid;
        let prepared = Prepared {
            place,
            layout: TargetLayout::default(),
            kernel: kernel(&plan, &config),
            budget: config.budget,
            unwinding: None,
            holders: None,
            reader: None,
            subjects: None,
            jni: sites::jni_calls(&plan, &config, pid.get()),
            inside: None,
            asked: None,
            plan,
        };
        let journal_entry = Identity::of(pid.get()).and_then(journal_entry);
        let live = Live::attach(prepared.with_asked(asked, lane))?;
        Ok(AwaitedTarget { live, config, libjvm, questions, weaving, journal_entry })
    }
}

/// A JVM whose sites are attached, and which has not begun.
pub struct AwaitedTarget {
    live: Live,
    config: SessionConfig,
    libjvm: Libjvm,
    questions: Option<Questions>,
    weaving: Option<WeavingAtStart>,
    /// The last, so that all is detached before it goes.
    journal_entry: Option<Watched>,
}

impl AwaitedTarget {
    /// Follows the JVM's start: weaves, and tells the programs what becomes known of it.
    pub fn complete(self, child: &mut Child) -> Result<Attached, Error> {
        // Of what is bound here the first goes last.
        let Self { journal_entry, mut live, config, libjvm, questions, weaving } = self;
        // First, so that what is read of the JVM then has the library in it. The JVM waits.
        let visit = weaving.map(|weaving| arrive(weaving, child)).transpose()?;
        let Learned { jvm, mut info, probes, gate } = learn(&mut live, child, &libjvm, &config, questions.as_ref())?;
        if let Some(visit) = visit {
            live.inside_arrives(visit, gate, &mut info.missing);
        }
        Ok(Attached::begin(live, jvm, info, probes.unwrap_or_default(), config, journal_entry))
    }
}

/// Refuses what such a JVM would refuse at its start: built without notes, it does not know the flags.
fn takes_flags(plan: &Plan) -> Result<(), Error> {
    match plan.flags.iter().find(|flag| **flag != Flag::Monitor) {
        Some(flag) if !plan.usdt => Err(Error::refused(
            format!("libjvm.so has no USDT notes, and such a JVM does not start with -XX:+{}", flag.name()),
            "start it, and attach to it; or use `jtrace run --marker ...`, which needs no flag".to_owned(),
        )),
        _ => Ok(()),
    }
}

/// What the kernel side must be like before anything is known of the JVM.
fn kernel(plan: &Plan, config: &SessionConfig) -> KernelOptions {
    let tallying = plan.flags.iter().any(|flag| *flag != Flag::Monitor);
    // Until methods can be named, some ten ms after the start, every call comes as an event.
    let ring = match config.kernel.ring {
        RingSize::Share { .. } if tallying => RINGS_OF_CALLS,
        RingSize::Share { all, .. } if all <= RINGS_OF_A_START_BYTES => RINGS_OF_A_START,
        ring => ring,
    };
    let jni = config.lenses.contains(&Lens::Jni);
    KernelOptions { rows: ROWS_OF_A_JVM, tallying, jni, ring, ..config.kernel }
}

/// What could not be known before the JVM ran.
struct Learned {
    jvm: Jvm,
    info: TargetInfo,
    probes: Option<ArmedProbes>,
    gate: Option<ThreadGate>,
}

/// Waits until the JVM's library is mapped, its tables can be read and its counters are there, and tells the programs.
///
/// There is no event for any of that; the looks come in quick succession, because every one that comes late costs names.
fn learn(
    live: &mut Live,
    child: &mut Child,
    libjvm: &Libjvm,
    config: &SessionConfig,
    questions: Option<&Questions>,
) -> Result<Learned, Error> {
    let began = Instant::now();
    let mut waits_since = began;
    let mut probes = None;
    loop {
        let opened = Jvm::open(child.id());
        let heaps = opened.as_ref().ok().map(TargetInfo::code_heaps);
        if heaps == Some(CodeHeaps::Coming) && began.elapsed() < START_AT_MOST {
            waits_since = Instant::now();
        }
        let late = waits_since.elapsed() >= LEARN_AT_MOST;
        if let Ok(jvm) = opened {
            let mut info = TargetInfo::read(&jvm, libjvm, config);
            if probes.is_none() && jvm.flags.is_ok() {
                probes = Some(ArmedProbes::started(&info.plan, &jvm, &mut info.missing));
            }
            if info.has_layout() {
                live.refine(info.layout, &info.plan, None, None, info.reader(&jvm, libjvm), None)?;
            }
            if (heaps == Some(CodeHeaps::There) && info.is_complete(&jvm, config)) || late {
                refine(live, &jvm, libjvm, config, &mut info)?;
                let gate = questions.map(|questions| info.thread_gate(&jvm, questions));
                info.missing.push(
                    "until the JVM's tables could be read, some ms after its start, monitors were not seen, and causes of \
                     collections and names of allocated classes are unknown"
                        .to_owned(),
                );
                return Ok(Learned { jvm, info, probes, gate });
            }
        } else if late {
            return Err(Error::refused(
                format!("process {} has not started a JVM in {} s", child.id(), LEARN_AT_MOST.as_secs()),
                "it runs on; `jtrace doctor PID` says what can be seen of it".to_owned(),
            ));
        }
        if let Some(status) = child.try_wait()? {
            return Err(ended_early(status));
        }
        ending::pause(
            LOOK_AGAIN,
            Until { deadline: began + START_AT_MOST + LEARN_AT_MOST, patience: Patience::First },
        )?;
    }
}

/// Tells the programs all that is known of a JVM that is up.
fn refine(
    live: &mut Live,
    jvm: &Jvm,
    libjvm: &Libjvm,
    config: &SessionConfig,
    info: &mut TargetInfo,
) -> Result<(), Error> {
    let holders = info.holders(jvm, &config.lenses);
    let reader = info.reader(jvm, libjvm);
    let subjects = info.subjects(jvm, config);
    live.refine(info.layout, &info.plan, config.unwinding(jvm), holders, reader, subjects)?;
    live.look_at_threads(TargetInfo::thread_reader(jvm, config));
    Ok(live.look_into_jni(jvm, info.threads, &mut info.missing)?)
}

/// Waits until the JVM is up, and weaves. A program of which that is refused does not begin.
fn arrive(weaving: WeavingAtStart, child: &mut Child) -> Result<Visit, Error> {
    let began = Instant::now();
    let jvm = loop {
        match Jvm::open(child.id()) {
            Ok(jvm) => break jvm,
            Err(error) if began.elapsed() > LEARN_AT_MOST => return Err(Error::refused(error, None)),
            Err(_) => {}
        }
        if let Some(status) = child.try_wait()? {
            return Err(ended_early(status));
        }
        ending::pause(LOOK_AGAIN, Until::within(LEARN_AT_MOST, Patience::First))?;
    };
    let woven = weaving.weave(&jvm);
    if woven.is_err() {
        if let Some(status) = child.try_wait()? {
            return Err(ended_early(status));
        }
        let _: io::Result<()> = child.kill();
        let _: io::Result<_> = child.wait();
    }
    woven
}

fn ended_early(status: ExitStatus) -> Error {
    Error::refused(
        format!("the program ended before its JVM could be looked into ({status})"),
        "run it without jtrace to see what is wrong with it".to_owned(),
    )
}

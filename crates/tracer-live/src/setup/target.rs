//! Everything about a running JVM that attaching needs, and how far a JVM is that starts.

use std::num::NonZeroU32;

use tracer_common::{record::EventKind, site::TargetLayout, tally::Demand};

use super::{SessionConfig, sites};
use crate::{
    ebpf::{attach::Place, load::KernelOptions},
    jvm::{
        code_cache::{self, CodeCache},
        descriptor::listening::Listening,
        find::Jvm,
        java_threads::{self, ThreadNames},
        jni_env, objects,
        vmstructs::layout,
    },
    lens::Lens,
    live::{
        Prepared,
        book::ThreadBook,
        completion::{Completion, Reader},
        holders::{Holders, Namespace},
        judge::Judge,
        subjects::{Asked, Subjects},
        thread_gate::{Questions, ThreadGate},
    },
    predicate::Field,
    probe::plan::{Facts, Libjvm, Plan},
    thread_dump::ThreadReader,
};

/// Methods on the stack that a call gets where it is asked who calls: the method, and its caller.
const CALL_SITE_FRAMES: u32 = 2;

/// What only a running JVM can tell about the words of some sites.
fn facts(jvm: &Jvm, threads: Option<&java_threads::Layout>) -> Facts {
    let address = |name| jvm.counters.as_ref().ok()?.string_address(name).map(|(address, _)| address);
    let narrow = |offset: u64| u32::try_from(offset).ok();
    let field = |owners: &[&str], name| owners.iter().find_map(|owner| narrow(jvm.tables.offset(owner, name)?));
    Facts {
        cause_address: address("sun.gc.cause"),
        last_cause_address: address("sun.gc.lastCause"),
        monitor_owner: threads.and_then(|layout| narrow(layout.owner)),
        os_thread_id: threads.and_then(|layout| Some((narrow(layout.os_thread)?, narrow(layout.thread_id)?))),
        monitor_class: threads
            .and_then(java_threads::Layout::class_word)
            .and_then(|(object, class)| Some((narrow(object)?, narrow(class)?))),
        object_class: threads.and_then(|layout| narrow(layout.object_class()?)),
        task: field(&["CompileTask"], "_method").zip(field(&["CompileTask"], "_comp_level")),
        nmethod_method: field(&["nmethod", "CompiledMethod"], "_method"),
    }
}

/// Offsets in a JVM's structures, or why they are not known.
fn target_layout(jvm: &Jvm) -> Result<TargetLayout, String> {
    let layout = layout::TargetLayout::from_tables(&jvm.tables)?;
    let narrow = |offset: u64| u32::try_from(offset).map_err(|_| format!("the offset {offset} is absurd"));
    Ok(TargetLayout {
        klass_name: narrow(layout.klass_name)?,
        symbol_length: narrow(layout.symbol_length)?,
        symbol_body: narrow(layout.symbol_body)?,
        ..TargetLayout::default()
    })
}

/// Everything about a running JVM that attaching needs.
pub(super) struct TargetInfo {
    pub(super) layout: TargetLayout,
    pub(super) plan: Plan,
    pub(super) missing: Vec<String>,
    pub(super) threads: Option<java_threads::Layout>,
}

impl TargetInfo {
    /// Reads it, and plans the sites of the session.
    pub(super) fn read(jvm: &Jvm, libjvm: &Libjvm, config: &SessionConfig) -> Self {
        let mut missing = Vec::new();
        let layout = target_layout(jvm).unwrap_or_else(|reason| {
            missing.push(format!("classes of allocations cannot be named: {reason} is unknown"));
            TargetLayout::default()
        });
        if let Err(error) = &jvm.counters {
            missing
                .push(format!("the JVM's own counters cannot be read, so causes of collections are unknown: {error}"));
        }
        let threads = java_threads::Layout::from_tables(&jvm.memory, &jvm.tables, jvm.flags.as_ref().ok())
            .map_err(|error| missing.push(format!("who holds monitors and who starts threads is unknown: {error}")))
            .ok();
        let mut plan = sites::planned(libjvm, facts(jvm, threads.as_ref()), config);
        if config.predicate.asks_for(&[Field::Thread, Field::Daemon])
            && let Some(lens) = plan.sites.iter().find(|site| site.flag.is_some()).map(|site| site.lens)
        {
            sites::add_thread_starts(&mut plan, libjvm, lens);
        }
        if !config.timed {
            plan.sites.retain(|site| !matches!(site.kind, EventKind::MethodReturn | EventKind::FrameUnwound));
        }
        Self { layout, plan, missing, threads }
    }

    /// What to attach, and with what.
    pub(super) fn prepared(&mut self, jvm: &Jvm, libjvm: &Libjvm, pid: NonZeroU32, config: &SessionConfig) -> Prepared {
        let holders = self.holders(jvm, &config.lenses);
        let subjects = self.subjects(jvm, config);
        let mut jni = sites::jni_calls(&self.plan, config, pid.get());
        if let Some(jni) = &mut jni {
            jni.look_into(jvm, self.threads, false, &mut self.missing);
        }
        let prepared = Prepared {
            place: Place { path: jvm.library.attach_path.clone(), pid },
            plan: self.plan.clone(),
            layout: self.layout,
            kernel: KernelOptions { tallying: subjects.is_some(), ..config.kernel },
            budget: config.budget,
            unwinding: config.unwinding(jvm),
            holders,
            reader: self.reader(jvm, libjvm),
            subjects,
            jni: None,
            inside: None,
            asked: None,
        };
        prepared.with_jni(jni)
    }

    /// What names and judges methods and objects, where they are wanted and that is possible.
    pub(super) fn subjects(&mut self, jvm: &Jvm, config: &SessionConfig) -> Option<Subjects> {
        let wanted = |kind| self.plan.sites.iter().any(|site| site.kind == kind);
        let (objects, methods) = (wanted(EventKind::ObjectAlloc), wanted(EventKind::MethodEntry));
        if !objects && !methods {
            return None;
        }
        let asks_threads = config.predicate.asks_for(&[Field::Thread, Field::Daemon]);
        let names = asks_threads.then(|| self.thread_names(jvm)).flatten();
        let book = ThreadBook::new(jvm.target.pid, Namespace::of(jvm), names);
        let judge = Judge::new(config.predicate.clone(), book);
        let lasts = config.predicate.asks_for(&[Field::Duration]);
        let calls = config.lenses.contains(&Lens::Calls);
        // Only a kernel that follows calls knows these.
        let follows = config.predicate.asks_for(&[
            Field::Duration,
            Field::Depth,
            Field::Caller,
            Field::CallerClass,
            Field::CallerMethod,
        ]);
        // The kernel follows contexts of what it knows by name. Else who calls whom is folded from single calls and returns.
        let contexts = calls
            && !config.one_by_one
            && config.timed
            && !config.lenses.contains(&Lens::Methods)
            && config.predicate.asks_for_names_alone();
        let one_by_one = config.one_by_one || (calls && !contexts);
        // Those that last as long as that are few, and where they come from is what is asked.
        let tallied = !one_by_one && !lasts;
        for site in &mut self.plan.sites {
            site.spec.stack = match site.kind {
                EventKind::MethodEntry if calls => CALL_SITE_FRAMES,
                EventKind::MethodEntry if tallied || lasts => 0,
                EventKind::MethodReturn if !lasts || calls => 0,
                _ => site.spec.stack,
            };
        }
        let mut demand = Demand {
            timed: u32::from(methods && config.timed && (!one_by_one || follows && !calls)),
            untimed: u32::from(!config.timed),
            at_return: u32::from(lasts),
            callers: u32::from(config.predicate.asks_for(&[Field::Caller, Field::CallerClass, Field::CallerMethod])),
            threads: u32::from(asks_threads),
            contexts: u32::from(contexts),
            places: u32::from(tallied && objects),
            by_thread: u32::from(tallied && methods && config.by_thread && !contexts),
            ..Demand::default()
        };
        if objects {
            let layout = jvm
                .flags
                .as_ref()
                .map_err(|_| "the JVM's table of flags")
                .and_then(|flags| objects::layout(&jvm.memory, &jvm.tables, flags));
            match layout {
                Ok(layout) => demand.object = layout,
                Err(what) => self.missing.push(format!("objects have no classes and sizes: {what} is unknown")),
            }
        }
        let can_drop_times = methods && config.timed && !calls && !follows;
        let names = [Field::Class, Field::Method, Field::Signature, Field::Package];
        let names_decide = methods && config.predicate.asks_for(&names);
        Subjects::open(jvm, Asked { demand, tallied, judge, can_drop_times, names_decide })
            .map_err(|error| self.missing.push(format!("methods and objects have no names: {error}")))
            .ok()
    }

    /// What reads whole names of threads, where that is possible.
    fn thread_names(&mut self, jvm: &Jvm) -> Option<ThreadNames> {
        let names = self.threads.ok_or_else(|| "the list of threads".to_owned());
        names
            .and_then(|layout| ThreadNames::open(jvm, layout))
            .map_err(|what| {
                self.missing.push(format!(
                    "threads that were there before have the names that the kernel knows, cut at 15 bytes, and none of them \
                     counts as a daemon: {what} is unknown"
                ));
            })
            .ok()
    }

    /// What judges the threads of marks, where markers ask for them.
    pub(super) fn thread_gate(&mut self, jvm: &Jvm, questions: &Questions) -> ThreadGate {
        let names = self.thread_names(jvm);
        ThreadGate::new(questions.clone(), ThreadBook::new(jvm.target.pid, Namespace::of(jvm), names))
    }

    /// What finds the holders of monitors, where that is wanted and possible.
    pub(super) fn holders(&self, jvm: &Jvm, lenses: &[Lens]) -> Option<Holders> {
        let layout = self.threads.filter(|_| lenses.contains(&Lens::Locks))?;
        Holders::open(jvm, layout).map_err(|error| log::warn!("who holds monitors is unknown: {error}")).ok()
    }

    /// What reads all threads, where that is wanted and possible.
    pub(super) fn thread_reader(jvm: &Jvm, config: &SessionConfig) -> Option<ThreadReader> {
        let is_wanted = config.stacks && config.lenses.contains(&Lens::Threads);
        let opened = is_wanted.then(|| ThreadReader::open(jvm))?;
        let opened = opened.map_err(|error| log::warn!("what threads wait for is unknown: {error}")).ok();
        let listening = || Listening::opened(jvm.target.pid);
        opened.map(|reader| reader.redacted(config.redacted).with_listening(listening()))
    }

    /// What reads what functions point to, where the plan has any.
    pub(super) fn reader(&self, jvm: &Jvm, libjvm: &Libjvm) -> Option<Reader> {
        Completion::new(&self.plan)?;
        Reader::open(jvm, self.threads, &libjvm.operations)
            .map_err(|error| log::warn!("names that functions do not tell are unknown: {error}"))
            .ok()
    }

    /// Whether the names of allocated classes can be read.
    pub(super) const fn has_layout(&self) -> bool {
        self.layout.symbol_body != 0
    }

    /// Whether callers of JNI functions can be found, where these are wanted.
    fn tells_jni(&self, jvm: &Jvm, config: &SessionConfig) -> bool {
        let known = || self.threads.is_some_and(|layout| jni_env::read(jvm, layout, true).is_ok());
        !config.lenses.contains(&Lens::Jni) || known()
    }

    /// Whether all is known that this JVM will ever tell, once it has its code heaps; one that starts makes its tables and counters
    /// little by little.
    pub(super) fn is_complete(&self, jvm: &Jvm, config: &SessionConfig) -> bool {
        let counters_off = || Self::flag_is_off(jvm, "UsePerfData");
        self.has_layout()
            && jvm.flags.is_ok()
            && (jvm.counters.is_ok() || counters_off())
            && self.tells_jni(jvm, config)
    }

    fn flag_is_off(jvm: &Jvm, name: &str) -> bool {
        jvm.flags.as_ref().is_ok_and(|flags| flags.bool(&jvm.memory, name) == Some(false))
    }

    /// How far the JVM is with its code heaps, which it makes some ms after its counters. Who does not wait for them has no Java
    /// frame for as long as the session lasts.
    pub(super) fn code_heaps(jvm: &Jvm) -> CodeHeaps {
        match CodeCache::read(&jvm.memory, &jvm.tables) {
            Err(code_cache::Error::NotReady) => CodeHeaps::Coming,
            Err(code_cache::Error::Absurd { .. } | code_cache::Error::Memory(_)) => CodeHeaps::HalfMade,
            Err(code_cache::Error::Missing(_)) => CodeHeaps::There,
            Ok(mut heaps) => {
                heaps.find_continuations(&jvm.memory, &jvm.library);
                let never = || Self::flag_is_off(jvm, "VMContinuations");
                if !heaps.lacks_continuations() || never() {
                    CodeHeaps::There
                } else if heaps.has_symbols_of_continuations() {
                    CodeHeaps::Coming
                } else {
                    CodeHeaps::HalfMade
                }
            }
        }
    }
}

/// How far a JVM is with its code heaps.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum CodeHeaps {
    /// It has not got to them yet, or not to what leads to callers of virtual threads.
    Coming,
    /// They make no sense, or what leads to callers of virtual threads is missing: the JVM may be writing them just now, or has a
    /// layout that is not known.
    HalfMade,
    /// They can be read, or never will be.
    There,
}

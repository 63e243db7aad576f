//! What comes before attaching: look into the JVM, plan the sites, arm the flag.

use std::{
    fs,
    num::NonZeroU32,
    path::{Path, PathBuf},
    time::Instant,
};

use tracer_common::{
    record::EventKind,
    site::{SiteSpec, TargetLayout},
    tally::Demand,
};

use super::{Failure, apart, lane::Lane};
use crate::{
    ebpf::{attach::Place, load::KernelOptions},
    guard::Budget,
    item::redaction,
    jvm::{
        code_cache::{self, CodeCache},
        find::{self, Jvm},
        flags::{arm::Armed, located::JvmTables},
        java_threads::{self, ThreadNames},
        jni_env,
        journal::{self, Identity, Journal},
        objects, since_start,
        vmstructs::layout,
    },
    lens::Lens,
    live::{
        Description, Prepared,
        book::ThreadBook,
        completion::{Completion, Reader},
        holders::{Holders, Namespace},
        in_initial_pid_namespace,
        jni::JniCalls,
        judge::Judge,
        subjects::{Asked, Subjects},
        thread_gate::{Questions, ThreadGate},
        unwinding::Unwinding,
    },
    predicate::{Field, Predicate},
    probe::plan::{self, Facts, Libjvm, Plan, PlannedSite, plan as plan_of},
    thread_dump::ThreadReader,
};

/// A flag that stays armed while this lives.
pub(super) type ArmedFlag = Armed<JvmTables>;

/// Methods on the stack that a call gets where it is asked who calls: the method, and its caller.
const CALL_SITE_FRAMES: u32 = 2;

/// A session that is about to begin.
#[expect(clippy::struct_excessive_bools, reason = "each is an option of its own")]
pub(super) struct Watched {
    pub(super) lenses: Vec<Lens>,
    pub(super) kernel: KernelOptions,
    /// What the target may lose to traps.
    pub(super) budget: Budget,
    pub(super) began: Instant,
    /// Whether events get stacks.
    pub(super) stacks: bool,
    /// Whether peers, files and arguments are left out.
    pub(super) redacted: bool,
    /// Whether every object is wanted, and not only samples.
    pub(super) exact: bool,
    /// Whether events are wanted one by one, where the kernel could count.
    pub(super) one_by_one: bool,
    /// Whether calls are followed to their end.
    pub(super) timed: bool,
    /// Whether calls are counted by thread as well.
    pub(super) by_thread: bool,
    /// Where calls are counted.
    pub(super) lane: Lane,
    /// Which methods or objects are wanted.
    pub(super) predicate: Predicate,
    /// What was included, as it was written.
    pub(super) included: Vec<String>,
}

impl Watched {
    /// The lenses that need sites of their own.
    pub(super) fn seen_from_outside(&self) -> Vec<Lens> {
        let is_inside = |lens: Lens| self.lane == Lane::Inside && matches!(lens, Lens::Methods | Lens::Calls);
        self.lenses.iter().copied().filter(|lens| !is_inside(*lens)).collect()
    }

    /// What is known about the code of a JVM, where stacks are wanted.
    pub(super) fn unwinding(&self, jvm: &Jvm) -> Option<Unwinding> {
        let opened = self.stacks.then(|| Unwinding::open(jvm))?;
        opened.map_err(|error| log::warn!("events have no stacks: {error}")).ok()
    }
}

/// Looks into the JVM with this pid, after a process apart has.
pub(super) fn open(pid: u32) -> Result<Jvm, Failure> {
    apart::look_at(pid)?;
    opened(pid)
}

/// The same for a command that attaches nothing: what is of no use to it is given up before anything of the JVM is parsed.
pub(super) fn open_to_look(pid: u32) -> Result<Jvm, Failure> {
    apart::look_at(pid)?;
    apart::only_look()?;
    opened(pid)
}

/// Looks into the JVM, which did not hold up the process that looked first.
pub(super) fn opened(pid: u32) -> Result<Jvm, Failure> {
    Jvm::open(pid).map_err(|error| {
        let hint = error.hint();
        Failure::new(error, hint)
    })
}

/// A pid that attaching accepts.
pub(super) fn nonzero(pid: u32) -> Result<NonZeroU32, Failure> {
    NonZeroU32::new(pid).ok_or_else(|| Failure::new("there is no process 0", "`jtrace list` shows the JVMs".to_owned()))
}

/// Writes down that this jtrace has sites in a process, so that another one looks after them should it die. Where that cannot be
/// written there is no journal for this user, and `doctor` says so.
pub(super) fn watched(target: Identity) -> Option<journal::watched::Watched> {
    let written = Journal::for_this_user().and_then(|journal| journal::watched::Watched::begin(&journal, target));
    written.unwrap_or_else(|error| {
        log::debug!("{error}");
        None
    })
}

/// Reads the sites and functions of a libjvm.so.
pub(super) fn read_libjvm(path: &Path) -> Result<Libjvm, Failure> {
    Libjvm::open(path)
        .map_err(|error| Failure::new(error, "run `jtrace doctor PID` to see what can be read of this JVM".to_owned()))
}

/// What `attach` says of lenses that have no site at all in a JVM.
pub(super) const NO_SITES: &str = "libjvm.so has neither USDT nor symbols";
/// What `doctor` says of such a JVM.
pub(super) const FEW_SITES: &str =
    "libjvm.so has neither USDT nor symbols: only cpu, offcpu, wall, exceptions, markers, typestate, and sleeps";
/// And what helps.
pub(super) const OTHER_JDK: &str = "use a JDK with USDT (Temurin, Debian, Fedora, RHEL); `-l cpu,offcpu` need none";

/// Refuses a JVM of which nothing that is asked for can be seen: an empty report would look like an idle program.
pub(super) fn something_to_see(plan: &Plan) -> Result<(), Failure> {
    if plan.usdt || plan.symtab || !plan.sites.is_empty() || !plan.clocks.is_empty() {
        return Ok(());
    }
    Err(Failure::new(NO_SITES, OTHER_JDK.to_owned()))
}

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
pub(super) struct Known {
    pub(super) layout: TargetLayout,
    pub(super) plan: Plan,
    pub(super) missing: Vec<String>,
    pub(super) threads: Option<java_threads::Layout>,
}

impl Known {
    /// Reads it.
    pub(super) fn read(jvm: &Jvm, libjvm: &Libjvm, watched: &Watched) -> Self {
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
        let mut plan = plan_of(libjvm, &watched.seen_from_outside(), facts(jvm, threads.as_ref()), watched.exact);
        choose_jni(&mut plan, watched);
        if watched.predicate.asks_for(&[Field::Thread, Field::Daemon])
            && let Some(lens) = plan.sites.iter().find(|site| site.flag.is_some()).map(|site| site.lens)
        {
            add_starts(&mut plan, libjvm, lens);
        }
        if !watched.timed {
            plan.sites.retain(|site| !matches!(site.kind, EventKind::MethodReturn | EventKind::FrameUnwound));
        }
        Self { layout, plan, missing, threads }
    }

    /// What names and judges methods and objects, where they are wanted and that is possible.
    pub(super) fn subjects(&mut self, jvm: &Jvm, watched: &Watched) -> Option<Subjects> {
        let wanted = |kind| self.plan.sites.iter().any(|site| site.kind == kind);
        let (objects, methods) = (wanted(EventKind::ObjectAlloc), wanted(EventKind::MethodEntry));
        if !objects && !methods {
            return None;
        }
        let asks_threads = watched.predicate.asks_for(&[Field::Thread, Field::Daemon]);
        let names = asks_threads.then(|| self.thread_names(jvm)).flatten();
        let book = ThreadBook::new(jvm.target.pid, Namespace::of(jvm), names);
        let judge = Judge::new(watched.predicate.clone(), book);
        let lasts = watched.predicate.asks_for(&[Field::Duration]);
        let calls = watched.lenses.contains(&Lens::Calls);
        // Only a kernel that follows calls knows these.
        let follows = watched.predicate.asks_for(&[
            Field::Duration,
            Field::Depth,
            Field::Caller,
            Field::CallerClass,
            Field::CallerMethod,
        ]);
        // The kernel follows contexts of what it knows by name. Else who calls whom is folded from single calls and returns.
        let contexts = calls
            && !watched.one_by_one
            && watched.timed
            && !watched.lenses.contains(&Lens::Methods)
            && watched.predicate.asks_for_names_alone();
        let one_by_one = watched.one_by_one || (calls && !contexts);
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
            timed: u32::from(methods && watched.timed && (!one_by_one || follows && !calls)),
            untimed: u32::from(!watched.timed),
            at_return: u32::from(lasts),
            callers: u32::from(watched.predicate.asks_for(&[Field::Caller, Field::CallerClass, Field::CallerMethod])),
            threads: u32::from(asks_threads),
            contexts: u32::from(contexts),
            places: u32::from(tallied && objects),
            by_thread: u32::from(tallied && methods && watched.by_thread && !contexts),
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
        let can_drop_times = methods && watched.timed && !calls && !follows;
        let names = [Field::Class, Field::Method, Field::Signature, Field::Package];
        let names_decide = methods && watched.predicate.asks_for(&names);
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
    pub(super) fn thread_reader(jvm: &Jvm, watched: &Watched) -> Option<ThreadReader> {
        let is_wanted = watched.stacks && watched.lenses.contains(&Lens::Threads);
        let opened = is_wanted.then(|| ThreadReader::open(jvm))?;
        let opened = opened.map_err(|error| log::warn!("what threads wait for is unknown: {error}")).ok();
        opened.map(|reader| reader.redacted(watched.redacted))
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
    fn tells_jni(&self, jvm: &Jvm, watched: &Watched) -> bool {
        let known = || self.threads.is_some_and(|layout| jni_env::read(jvm, layout, true).is_ok());
        !watched.lenses.contains(&Lens::Jni) || known()
    }

    /// Whether all is known that this JVM will ever tell, once it has its code heaps; one that starts makes its tables and counters
    /// little by little.
    pub(super) fn is_complete(&self, jvm: &Jvm, watched: &Watched) -> bool {
        let counters_off = || Self::flag_is_off(jvm, "UsePerfData");
        self.has_layout()
            && jvm.flags.is_ok()
            && (jvm.counters.is_ok() || counters_off())
            && self.tells_jni(jvm, watched)
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

/// Leaves JNI functions out that are not wanted, and stacks of their calls where these are counted in the kernel.
pub(super) fn choose_jni(plan: &mut Plan, watched: &Watched) {
    plan::jni::choose(plan, &watched.predicate);
    if !jni_one_by_one(watched) {
        for site in plan.sites.iter_mut().filter(|site| site.kind == EventKind::JniReturn) {
            site.spec.stack = 0;
        }
    }
}

/// Whether JNI calls come as events: those that last are few, and where they come from is what is asked.
fn jni_one_by_one(watched: &Watched) -> bool {
    watched.one_by_one || watched.predicate.asks_for(&[Field::Duration])
}

/// What names and judges JNI calls, where they are wanted.
pub(super) fn jni(plan: &Plan, watched: &Watched, pid: u32) -> Option<JniCalls> {
    let functions = plan::jni::functions(plan);
    (!functions.is_empty()).then(|| JniCalls::new(&watched.predicate, pid, functions, jni_one_by_one(watched)))
}

/// Adds the sites at which new threads tell their names, for a lens that judges by them, where these are missing.
pub(super) fn add_starts(plan: &mut Plan, libjvm: &Libjvm, lens: Lens) {
    let starts = |site: &PlannedSite| site.kind == EventKind::ThreadStart;
    if plan.sites.iter().any(starts) {
        return;
    }
    let of_threads = plan_of(libjvm, &[Lens::Threads], Facts::default(), false).sites;
    let wanted = of_threads.into_iter().filter(starts);
    plan.sites.extend(wanted.map(|site| PlannedSite { lens, spec: SiteSpec { stack: 0, ..site.spec }, ..site }));
}

/// What is said about a JVM in the session's first item.
pub(super) fn describe(
    jvm: &Jvm,
    watched: &Watched,
    missing: Vec<String>,
    layout: Option<java_threads::Layout>,
) -> Description {
    let mut missing = missing;
    let mut threads = find::threads(jvm.target.pid).unwrap_or_default();
    let mut named = Vec::new();
    if !in_initial_pid_namespace() {
        missing.push(
            "jtrace runs in a pid namespace of its own: thread ids are the host's, and threads that were there before \
             have no names"
                .to_owned(),
        );
        threads.clear();
    } else if threads.len() <= MOST_NAMED {
        named = java_names(jvm, layout).map(|book| book.name_all(&mut threads)).unwrap_or_default();
    }
    let mut target = jvm.target.clone();
    target.since_start = Some(since_start::read(jvm));
    if watched.redacted {
        target.command = redaction::command(&target.command);
    }
    Description { target, lenses: watched.lenses.clone(), missing, threads, named, began: watched.began }
}

/// Most threads whose whole names are read before a session begins: each takes some 30 us.
const MOST_NAMED: usize = 4096;

/// What reads the names that Java has for its threads. Of a pool the kernel's names, cut at 15 bytes, are often all the same.
fn java_names(jvm: &Jvm, layout: Option<java_threads::Layout>) -> Option<ThreadBook> {
    let layout = layout.ok_or_else(|| "the list of threads".to_owned());
    let names = layout.and_then(|layout| ThreadNames::open(jvm, layout));
    let names =
        names.inspect_err(|what| log::debug!("threads have the names that the kernel knows: {what} is unknown"));
    Some(ThreadBook::new(jvm.target.pid, Namespace::of(jvm), Some(names.ok()?)))
}

/// What to attach, and where.
pub(super) fn prepared(
    known: &Known,
    path: PathBuf,
    pid: NonZeroU32,
    watched: &Watched,
    unwinding: Option<Unwinding>,
    holders: Option<Holders>,
    subjects: Option<Subjects>,
) -> Prepared {
    Prepared {
        place: Place { path, pid },
        plan: known.plan.clone(),
        layout: known.layout,
        kernel: KernelOptions { tallying: subjects.is_some(), ..watched.kernel },
        budget: watched.budget,
        unwinding,
        holders,
        reader: None,
        subjects,
        jni: None,
        inside: None,
        asked: None,
    }
}

/// Says whether a process still runs the program whose library was found at `path`. One that is dying runs nothing any
/// more and has replaced nothing: it has no memory, and so no executable, for a while before it has ended.
pub(super) fn same_program(pid: NonZeroU32, path: PathBuf) -> Box<dyn Fn() -> bool> {
    let executable = format!("/proc/{pid}/exe");
    Box::new(move || fs::symlink_metadata(&path).is_ok() || fs::read_link(&executable).is_err())
}

//! What comes before attaching: look into the JVM, plan the sites, arm the flag.

mod known;

use std::{
    fs,
    num::NonZeroU32,
    path::{Path, PathBuf},
    time::Instant,
};

use tracer_common::{record::EventKind, site::SiteSpec};

pub(super) use self::known::{CodeHeaps, Known};
use super::{Failure, lane::Lane};
use crate::{
    ebpf::{attach::Place, load::KernelOptions},
    guard::Budget,
    item::redaction,
    jvm::{
        find::{self, Jvm},
        flags::{arm::Armed, located::JvmTables},
        java_threads::{self, ThreadNames},
        journal::{self, Identity, Journal},
        since_start,
    },
    lens::Lens,
    live::{
        Description, Prepared,
        book::ThreadBook,
        holders::{Holders, Namespace},
        in_initial_pid_namespace,
        jni::JniCalls,
        subjects::Subjects,
        unwinding::Unwinding,
    },
    predicate::{Field, Predicate},
    probe::plan::{self, Facts, Libjvm, Plan, PlannedSite, plan as plan_of},
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

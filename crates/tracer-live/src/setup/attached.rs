//! A session that is attached: its first item, what delivers the others, and what is given back when it ends.

use std::fs;

use super::{SessionConfig, arming::ArmedProbes, target::TargetInfo};
use crate::{
    coverage::Coverage,
    item::{Start, redaction},
    jvm::{
        find::{self, Jvm},
        java_threads::{self, ThreadNames},
        journal::{Identity, Journal, watched::Watched},
        since_start,
    },
    live::{Description, Live, book::ThreadBook, holders::Namespace, in_initial_pid_namespace},
    predicate::Predicate,
};

/// Most threads whose whole names are read before a session begins: each takes some 30 us.
const MOST_NAMED: usize = 4096;

/// A session whose sites are attached.
pub struct Attached {
    /// Delivers what happens.
    pub live: Live,
    /// The session's first item.
    pub start: Start,
    /// What was changed, which has to be taken back once the sites are gone.
    pub target: ArmedTarget,
    /// Says to others that this jtrace has sites in the target; to be kept until all is detached.
    pub journal_entry: Option<Watched>,
}

impl Attached {
    /// Begins the session: its first item says all that is known by now.
    pub(super) fn begin(
        mut live: Live,
        jvm: Jvm,
        info: TargetInfo,
        probes: ArmedProbes,
        config: SessionConfig,
        journal_entry: Option<Watched>,
    ) -> Self {
        let start = live.start(describe(&jvm, &config, info.missing, info.threads));
        let target = ArmedTarget { probes, jvm, predicate: config.predicate, included: config.included };
        Self { live, start, target, journal_entry }
    }
}

/// A JVM with what was changed in it for a session.
pub struct ArmedTarget {
    probes: ArmedProbes,
    jvm: Jvm,
    predicate: Predicate,
    included: Vec<String>,
}

impl ArmedTarget {
    /// What could not be seen until now.
    pub fn coverage(&mut self) -> Vec<Coverage> {
        let mut found = self.probes.coverage(&self.jvm, &self.predicate);
        for coverage in &mut found {
            coverage.included.clone_from(&self.included);
        }
        found
    }

    /// Leaves the JVM as it was found.
    pub fn restore(self) {
        self.probes.disarm(&self.jvm);
    }

    /// Says whether the process still runs the program whose library was found. One that is dying runs nothing any
    /// more and has replaced nothing: it has no memory, and so no executable, for a while before it has ended.
    pub fn same_program(&self) -> Box<dyn Fn() -> bool> {
        let path = self.jvm.library.attach_path.clone();
        let executable = format!("/proc/{}/exe", self.jvm.target.pid);
        Box::new(move || fs::symlink_metadata(&path).is_ok() || fs::read_link(&executable).is_err())
    }
}

/// Writes down that this jtrace has sites in a process, so that another one looks after them should it die. Where that cannot be
/// written there is no journal for this user, and `doctor` says so.
pub(super) fn journal_entry(target: Identity) -> Option<Watched> {
    let written = Journal::for_this_user().and_then(|journal| Watched::begin(&journal, target));
    written.unwrap_or_else(|error| {
        log::debug!("{error}");
        None
    })
}

/// What is said about a JVM in the session's first item.
fn describe(
    jvm: &Jvm,
    config: &SessionConfig,
    mut missing: Vec<String>,
    layout: Option<java_threads::Layout>,
) -> Description {
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
    if config.redacted {
        target.command = redaction::command(&target.command);
    }
    Description { target, lenses: config.lenses.clone(), missing, threads, named, began: config.began }
}

/// What reads the names that Java has for its threads. Of a pool the kernel's names, cut at 15 bytes, are often all the same.
fn java_names(jvm: &Jvm, layout: Option<java_threads::Layout>) -> Option<ThreadBook> {
    let layout = layout.ok_or_else(|| "the list of threads".to_owned());
    let names = layout.and_then(|layout| ThreadNames::open(jvm, layout));
    let names =
        names.inspect_err(|what| log::debug!("threads have the names that the kernel knows: {what} is unknown"));
    Some(ThreadBook::new(jvm.target.pid, Namespace::of(jvm), Some(names.ok()?)))
}

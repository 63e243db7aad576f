//! Who holds the monitors that threads of a live target block on.
//!
//! The kernel side reads a monitor's owner at the hit. What it stands for (a thread, an address in a thread's stack, an id)
//! is found here as the record comes out of its ring buffer, and written into the record. Now and then all threads are
//! looked at, so that those are known too that blocked before jtrace came; these looks are records of their own.

use std::{
    collections::{HashMap, HashSet},
    fs,
};

use tracer_common::record::{EventKind, HEADER_BYTES, NAME_UNREADABLE};

use super::in_initial_pid_namespace;
use crate::{
    clock::{self, ClockId},
    decode::Header,
    event::{Holder, NameId, NoHolder, SiteId, Tid},
    jvm::{
        find::Jvm,
        java_threads::{JavaThread, JavaThreads, Layout, Owner},
        memory::{self, Memory},
        os_thread,
    },
    source::encode::{encode_definition, encode_event, name_id},
};

/// The site of records that come from no site.
const NO_SITE: SiteId = SiteId(u16::MAX);
/// Most blocked threads that one look tells of.
const MAX_BLOCKED: usize = 4096;
/// Most names of classes that are remembered as defined.
const MAX_NAMES: usize = 16_384;
/// Most owners and threads that are remembered between two drains.
const MAX_KNOWN: usize = 65_536;

/// How the JVM's thread ids become the kernel's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Namespace {
    /// They are the same.
    Initial,
    /// The target has a pid namespace of its own; `/proc` says both.
    Own,
    /// jtrace itself is in one, and cannot know the kernel's ids.
    Hidden,
}

impl Namespace {
    /// That of a JVM.
    pub fn of(jvm: &Jvm) -> Self {
        match (in_initial_pid_namespace(), jvm.target.pid == jvm.target.namespace_pid) {
            (false, _) => Self::Hidden,
            (true, true) => Self::Initial,
            (true, false) => Self::Own,
        }
    }
}

/// Finds holders.
pub struct Holders {
    threads: JavaThreads<Memory>,
    pid: u32,
    namespace: Namespace,
    /// Whether the list of threads was read since [`Self::forget`].
    fresh: bool,
    /// Whether every thread may be read for a holder that is not found: once between two looks, because threads end all the time.
    may_read_all: bool,
    /// By the monitor's owner, and for anonymous ones by the monitor.
    known: HashMap<(u64, u64), Holder>,
    tids: HashMap<u32, Tid>,
    /// When threads began, in ns of the records' clock.
    began: HashMap<Tid, Option<u64>>,
    defined: HashSet<NameId>,
}

impl Holders {
    /// Prepares looking into a JVM.
    pub fn open(jvm: &Jvm, layout: Layout) -> Result<Self, memory::Error> {
        Ok(Self {
            threads: JavaThreads::new(Memory::open(jvm.target.pid)?, layout),
            pid: jvm.target.pid,
            namespace: Namespace::of(jvm),
            fresh: false,
            may_read_all: true,
            known: HashMap::new(),
            tids: HashMap::new(),
            began: HashMap::new(),
            defined: HashSet::new(),
        })
    }

    /// Time passes: what was found is to be looked for again.
    pub(super) fn forget(&mut self) {
        self.fresh = false;
        self.known.clear();
    }

    /// The same record with the holder in it, where it is one of a thread that blocks.
    pub(super) fn fill(&mut self, record: &[u8]) -> Option<Vec<u8>> {
        let header =
            Header::read(record).ok().filter(|header| header.kind == EventKind::MonitorContendedEnter as u16)?;
        let (words, _) = record.get(HEADER_BYTES..)?.as_chunks::<8>();
        let [monitor, _, owner, _, ..] = *words else { return None };
        let (monitor, owner) = (u64::from_le_bytes(monitor), u64::from_le_bytes(owner));
        let holder = self.at(owner, monitor, header.time_ns);
        let mut filled = record.to_vec();
        filled.get_mut(HEADER_BYTES + 24..HEADER_BYTES + 32)?.copy_from_slice(&holder.word().to_le_bytes());
        Some(filled)
    }

    /// The holder at an earlier moment, whose thread may be gone and another one be in its place.
    fn at(&mut self, owner: u64, monitor: u64, time_ns: u64) -> Holder {
        let holder = self.holder(owner, monitor);
        match holder {
            // Ids are given once.
            Holder::Thread(tid) if !self.threads.layout().owners_are_ids() && !self.lived_at(tid, time_ns) => {
                Holder::Unknown(NoHolder::Gone)
            }
            _ => holder,
        }
    }

    fn holder(&mut self, owner: u64, monitor: u64) -> Holder {
        let key = (owner, monitor);
        if let Some(holder) = self.known.get(&key) {
            return *holder;
        }
        if let Err(error) = self.refresh() {
            log::debug!("the list of threads cannot be read: {error}");
            return Holder::Unknown(NoHolder::Unreadable);
        }
        let mut found = self.threads.owner(owner, monitor);
        if matches!(found, Owner::Unknown(NoHolder::Gone | NoHolder::Virtual)) && std::mem::take(&mut self.may_read_all)
        {
            self.threads.read_all();
            found = self.threads.owner(owner, monitor);
        }
        let holder = match found {
            Owner::Thread(thread) => self.tid(thread).map_or(Holder::Unknown(self.no_tid()), Holder::Thread),
            Owner::Unknown(reason) => Holder::Unknown(reason),
        };
        if self.known.len() < MAX_KNOWN {
            self.known.insert(key, holder);
        }
        holder
    }

    fn refresh(&mut self) -> Result<(), memory::Error> {
        if !self.fresh {
            if self.threads.refresh_list()? {
                // Another thread can have the id of one that is gone.
                self.began.clear();
                self.tids.clear();
            }
            self.fresh = true;
        }
        Ok(())
    }

    const fn no_tid(&self) -> NoHolder {
        match self.namespace {
            Namespace::Hidden => NoHolder::Namespace,
            Namespace::Initial | Namespace::Own => NoHolder::Gone,
        }
    }

    /// The kernel's id of a thread.
    fn tid(&mut self, thread: JavaThread) -> Option<Tid> {
        match self.namespace {
            Namespace::Initial => Some(Tid(thread.os_tid)).filter(|tid| tid.0 != 0),
            Namespace::Hidden => None,
            Namespace::Own => {
                if !self.tids.contains_key(&thread.os_tid) {
                    self.tids = os_thread::tids_of(self.pid);
                }
                self.tids.get(&thread.os_tid).copied()
            }
        }
    }

    /// Whether a thread had begun by then. The kernel gives its beginning in ticks of 10 ms, rounded down.
    fn lived_at(&mut self, tid: Tid, time_ns: u64) -> bool {
        if self.began.len() >= MAX_KNOWN {
            self.began.clear();
        }
        let pid = self.pid;
        let began_ns = *self.began.entry(tid).or_insert_with(|| began_ns(pid, tid));
        began_ns.is_some_and(|began_ns| began_ns <= time_ns)
    }

    /// Looks at all threads: a record for each blocked one, and one that ends the look.
    pub(super) fn look(&mut self, time_ns: u64) -> Vec<Vec<u8>> {
        self.forget();
        if self.namespace == Namespace::Hidden || self.refresh().is_err() {
            return Vec::new();
        }
        self.threads.read_all();
        self.may_read_all = true;
        let all: Vec<JavaThread> = self.threads.listed().collect();
        let mut records = Vec::new();
        let mut blocked = 0_u64;
        for thread in all.iter().filter(|thread| thread.pending_monitor != 0).take(MAX_BLOCKED) {
            let monitor = thread.pending_monitor;
            let Ok(owner) = self.threads.owner_of(monitor) else { continue };
            let (Some(tid), holder) = (self.tid(*thread), self.holder(owner, monitor)) else { continue };
            let class = self.class(monitor, &mut records);
            // It went on meanwhile, and what was read of the monitor is of another moment.
            let still = self.threads.is_blocked_on(thread.address, monitor);
            if !still || self.threads.owner_of(monitor).ok() != Some(owner) || holder == Holder::Thread(tid) {
                continue;
            }
            blocked += 1;
            let words = [monitor, class.0, holder.word()];
            records.push(encode_event(EventKind::MonitorBlocked, NO_SITE, tid, time_ns, &words));
        }
        let words = [blocked, all.len() as u64];
        records.push(encode_event(EventKind::MonitorLook, NO_SITE, Tid(self.pid), time_ns, &words));
        records
    }

    /// The name of the class of a monitor's object, with its definition where it is new.
    fn class(&mut self, monitor: u64, records: &mut Vec<Vec<u8>>) -> NameId {
        let Some(name) = self.threads.class_of(monitor) else { return NameId(NAME_UNREADABLE) };
        let id = name_id(&name);
        if self.defined.len() >= MAX_NAMES {
            self.defined.clear();
        }
        if self.defined.insert(id) {
            records.push(encode_definition(id, &name));
        }
        id
    }
}

/// The latest moment at which a thread can have begun, in `CLOCK_MONOTONIC`.
fn began_ns(pid: u32, tid: Tid) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/task/{}/stat", tid.0)).ok()?;
    // The second field is the thread's name in parentheses, and can hold any of these.
    let (_, fields) = stat.rsplit_once(')')?;
    let ticks: u64 = fields.split_whitespace().nth(19)?.parse().ok()?;
    let tick_ns = 1_000_000_000 / rustix::param::clock_ticks_per_second().max(1);
    let asleep_ns = clock::read_ns(ClockId::Boottime).saturating_sub(clock::read_ns(ClockId::Monotonic));
    Some((ticks + 1).saturating_mul(tick_ns).saturating_sub(asleep_ns))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_began_before_now_and_not_before_its_process() {
        let pid = std::process::id();
        let (began, now) = std::thread::spawn(move || {
            let tid = Tid(rustix::thread::gettid().as_raw_nonzero().get().cast_unsigned());
            (began_ns(pid, tid), super::super::now_ns())
        })
        .join()
        .expect("the thread ends");
        let first = began_ns(pid, Tid(pid)).expect("the first thread lives");
        let began = began.expect("it was alive");
        assert!(first <= began && began <= now + 20_000_000, "{first} {began} {now}");
        assert_eq!(began_ns(pid, Tid(u32::MAX)), None);
    }

    #[test]
    fn ids_are_found_by_those_of_the_inner_namespace() {
        let pid = std::process::id();
        let tid = Tid(rustix::thread::gettid().as_raw_nonzero().get().cast_unsigned());
        // A thread that ends while the kernel lists them can hide another one, and other tests end threads.
        assert!((0..100).any(|_| os_thread::tids_of(pid).values().any(|known| *known == tid)));
    }
}

//! Names of threads as the kernel knows them, read when a thread's first record arrives. Those whose whole names are known already keep
//! them.
//!
//! Samples and switches come from threads that no `thread__start` announces, like those of the collector.

use std::{collections::HashMap, fs::File, io::Read as _, num::NonZeroU32};

use tracer_common::record::EventKind;

use super::ended::alive;
use crate::{
    decode::{Decoded, Header, decode},
    event::{MonitorAction, Payload, Tid},
    item::ThreadName,
};

/// Most threads that are remembered as named; then all are forgotten, and named again as they come.
const MAX_THREADS: usize = 65_536;
/// So many are remembered before those that have ended are forgotten.
const MANY_THREADS: usize = 4096;

/// Longest name that is read. The kernel's own limit is 16 bytes; it is a file of the target's process all the same.
const MAX_COMM_BYTES: u64 = 64;

/// Threads whose names were read.
pub(super) struct Threads {
    /// `None` where thread ids are those of another pid namespace than jtrace's, so that their files are not there.
    pid: Option<NonZeroU32>,
    seen: HashMap<Tid, Named>,
    /// How many are remembered when it is looked next which of them have ended.
    look_at: usize,
    /// Those that were found to have ended, and are not told yet.
    ended: Vec<Tid>,
}

/// Whose name a thread has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Named {
    /// The kernel's.
    Cut,
    /// Its own at its start, where the JVM says that; and when it started.
    AtStart(u64),
    /// Java's.
    Whole,
}

impl Threads {
    pub(super) fn new(pid: Option<NonZeroU32>) -> Self {
        Self { pid, seen: HashMap::new(), look_at: MANY_THREADS, ended: Vec::new() }
    }

    /// The name of the thread that a record comes from, where it is new: to be put before the record. A start says that
    /// an id has another thread now; the start's own, longer name follows then.
    pub(super) fn name(&mut self, record: &[u8]) -> Option<ThreadName> {
        let pid = self.pid?;
        let header = Header::read(record).ok().filter(|header| !header.is_definition())?;
        let begins = header.kind == EventKind::ThreadStart as u16;
        self.first_name(pid, header.tid, begins.then_some(header.time_ns))
    }

    /// The name of the thread that holds the monitor that a record is about, where it is new: it may have no record itself.
    pub(super) fn holder_name(&mut self, record: &[u8]) -> Option<ThreadName> {
        let pid = self.pid?;
        let Ok(Decoded::Event(event)) = decode(record) else { return None };
        let (Payload::MonitorBlocked { holder, .. }
        | Payload::Monitor { action: MonitorAction::ContendedEnter { holder }, .. }) = event.payload
        else {
            return None;
        };
        self.first_name(pid, holder.thread()?, None)
    }

    /// A thread has been named by what knows its whole name.
    pub(super) fn named(&mut self, tid: Tid) {
        self.see(tid, Named::Whole);
    }

    fn see(&mut self, tid: Tid, named: Named) {
        if self.seen.len() >= self.look_at && !self.seen.contains_key(&tid) {
            self.forget_ended();
        }
        self.seen.insert(tid, named);
    }

    /// Forgets threads that have ended, and all where too many live.
    fn forget_ended(&mut self) {
        match self.pid.and_then(|pid| alive(pid.get())) {
            Some(alive) => {
                self.ended.extend(self.seen.extract_if(|tid, _| !alive.contains(&tid.0)).map(|(tid, _)| tid));
            }
            None => self.seen.clear(),
        }
        if self.seen.len() >= MAX_THREADS {
            self.seen.clear();
        }
        self.seen.shrink_to(MANY_THREADS);
        self.look_at = (2 * self.seen.len()).clamp(MANY_THREADS, MAX_THREADS);
    }

    /// Threads that ended since the last time this was asked. They are looked for where many came, and not at once.
    pub(super) fn take_ended(&mut self) -> Option<Vec<Tid>> {
        (!self.ended.is_empty()).then(|| std::mem::take(&mut self.ended))
    }

    /// The whole name of a thread as it was at a moment, where that is news. Whoever has its id since then has another name.
    pub(super) fn learn(&mut self, tid: Tid, name: &str, read_ns: u64) -> Option<ThreadName> {
        self.pid?;
        let is_old = match self.seen.get(&tid) {
            Some(Named::Whole) => true,
            Some(Named::AtStart(started_ns)) => *started_ns >= read_ns,
            Some(Named::Cut) | None => false,
        };
        if is_old || name.is_empty() || self.seen.len() >= MAX_THREADS {
            return None;
        }
        self.named(tid);
        Some(ThreadName { tid, name: name.to_owned() })
    }

    fn first_name(&mut self, pid: NonZeroU32, tid: Tid, started_ns: Option<u64>) -> Option<ThreadName> {
        if started_ns.is_none() && self.seen.contains_key(&tid) {
            return None;
        }
        self.see(tid, started_ns.map_or(Named::Cut, Named::AtStart));
        Some(ThreadName { tid, name: comm(pid, tid)? })
    }
}

/// The kernel's name of a thread; `None` where the thread is gone.
fn comm(pid: NonZeroU32, tid: Tid) -> Option<String> {
    let mut bytes = Vec::new();
    let file = File::open(format!("/proc/{pid}/task/{}/comm", tid.0)).ok()?;
    file.take(MAX_COMM_BYTES).read_to_end(&mut bytes).ok()?;
    let name = String::from_utf8_lossy(&bytes);
    Some(name.strip_suffix('\n').unwrap_or(&name).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{event::SiteId, source::encode::encode_event};

    fn own() -> (NonZeroU32, Tid) {
        let tid = rustix::thread::gettid().as_raw_nonzero().get();
        (NonZeroU32::new(std::process::id()).unwrap(), Tid(tid.cast_unsigned()))
    }

    #[test]
    fn a_thread_is_named_at_its_first_record_and_again_when_its_id_starts_anew() {
        let (pid, tid) = own();
        let mut threads = Threads::new(Some(pid));
        let sample = encode_event(EventKind::CpuSample, SiteId(0), tid, 1, &[1]);
        let named = threads.name(&sample).unwrap();
        let comm = std::fs::read_to_string(format!("/proc/self/task/{}/comm", tid.0)).unwrap();
        assert_eq!((named.tid, named.name.as_str()), (tid, comm.trim_end_matches('\n')));
        assert_eq!(threads.name(&sample), None);
        let start = encode_event(EventKind::ThreadStart, SiteId(0), tid, 2, &[0; 4]);
        assert_eq!(threads.name(&start), Some(named));
    }

    #[test]
    fn a_thread_whose_whole_name_is_known_keeps_it() {
        let (pid, tid) = own();
        let mut threads = Threads::new(Some(pid));
        threads.named(tid);
        assert_eq!(threads.name(&encode_event(EventKind::CpuSample, SiteId(0), tid, 1, &[1])), None);
        // Whoever has its id next has another name.
        assert!(threads.name(&encode_event(EventKind::ThreadStart, SiteId(0), tid, 2, &[0; 4])).is_some());
    }

    #[test]
    fn what_a_look_has_read_is_told_once_and_not_of_a_thread_that_started_since() {
        let (pid, tid) = own();
        let mut threads = Threads::new(Some(pid));
        let told =
            |threads: &mut Threads, read_ns| threads.learn(tid, "http-nio-8080-exec-1", read_ns).map(|told| told.name);
        let start = encode_event(EventKind::ThreadStart, SiteId(0), tid, 20, &[0; 4]);
        threads.name(&encode_event(EventKind::CpuSample, SiteId(0), tid, 1, &[1]));
        assert_eq!(told(&mut threads, 10).as_deref(), Some("http-nio-8080-exec-1"));
        assert_eq!(told(&mut threads, 11), None);
        threads.name(&start);
        assert_eq!(told(&mut threads, 19), None);
        assert!(told(&mut threads, 21).is_some());
        // Ids of threads are those of another namespace than what looks read.
        assert_eq!(Threads::new(None).learn(tid, "main", 1), None);
    }

    #[test]
    fn threads_without_end_are_not_remembered_without_end() {
        let (pid, own) = own();
        let mut threads = Threads::new(Some(pid));
        threads.named(own);
        for number in 0..200_000 {
            // Numbers that no thread has: there is nothing to read.
            let tid = Tid(u32::MAX - number);
            match number % 3 {
                0 => drop(threads.name(&encode_event(EventKind::CpuSample, SiteId(0), tid, 1, &[1]))),
                1 => threads.named(tid),
                _ => drop(threads.learn(tid, "name", 1)),
            }
            assert!(threads.seen.len() <= MANY_THREADS, "none of them lives");
        }
        let ended = threads.take_ended().expect("none of them lives");
        assert!(ended.len() > 150_000 && !ended.contains(&own), "{}", ended.len());
        assert_eq!(threads.take_ended(), None, "they are told once");
        assert_eq!(threads.seen.get(&own), Some(&Named::Whole), "it lives");
    }

    #[test]
    fn a_thread_that_is_gone_and_a_record_that_is_none_have_no_name() {
        let (pid, _) = own();
        let mut threads = Threads::new(Some(pid));
        let record = encode_event(EventKind::CpuSample, SiteId(0), Tid(u32::MAX), 1, &[1]);
        assert_eq!(threads.name(&record), None);
        assert_eq!(threads.name(&record[..7]), None);
        assert_eq!(Threads::new(None).name(&encode_event(EventKind::CpuSample, SiteId(0), own().1, 1, &[1])), None);
    }
}

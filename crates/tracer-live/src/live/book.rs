//! The threads of a live target as a predicate asks for them: their names, whole, and whether they are daemons.
//!
//! Threads that live already are read from the JVM's list; those that start tell their names themselves, before they run
//! anything. What is in neither has the name that the kernel knows, cut at 15 bytes, if it still lives.

mod texts;

use std::{
    collections::{HashMap, HashSet},
    fs,
};

use self::texts::Texts;
use super::{ended::alive, holders::Namespace};
use crate::{
    decode::{Decoded, decode},
    event::{Edge, NameId, Payload, Tid},
    jvm::{java_threads::ThreadNames, os_thread},
    predicate::Thread,
};

/// Largest number of threads that are kept.
const MAX_KEPT: usize = 65_536;
/// Most that names of threads take: those of the JVM's list can have thousands of letters.
const MAX_NAME_BYTES: usize = 64 << 20;

/// What is known of threads.
pub struct ThreadBook {
    pid: u32,
    namespace: Namespace,
    names: Option<ThreadNames>,
    threads: HashMap<u32, Thread>,
    name_bytes: usize,
    /// Threads of which the kernel was not told yet.
    fresh: HashSet<u32>,
    texts: Texts,
    /// Starts since the last look: thread, name, and whether it is a daemon.
    starts: Vec<(u32, NameId, bool)>,
}

impl ThreadBook {
    /// A book of the threads of a process; `names` is what reads those that live already.
    pub fn new(pid: u32, namespace: Namespace, names: Option<ThreadNames>) -> Self {
        let mut book = Self {
            pid,
            namespace,
            names,
            threads: HashMap::new(),
            name_bytes: 0,
            fresh: HashSet::new(),
            texts: Texts::default(),
            starts: Vec::new(),
        };
        book.look();
        book
    }

    /// Takes notice of texts, and of threads that start.
    pub fn hear(&mut self, record: &[u8]) {
        match decode(record) {
            Ok(Decoded::Definition { id, text, .. }) => {
                self.texts.keep(id, String::from_utf8_lossy(text).into_owned());
            }
            Ok(Decoded::Event(event)) => {
                if let Payload::Thread { edge: Edge::Begin, name, daemon, .. } = event.payload {
                    // Nobody may have asked for long.
                    if self.starts.len() >= MAX_KEPT {
                        self.take_starts();
                    }
                    self.starts.push((event.tid.0, name, daemon));
                }
            }
            _ => {}
        }
    }

    /// Whether something is known of a thread.
    pub fn has(&self, tid: u32) -> bool {
        self.threads.contains_key(&tid)
    }

    /// Reads what is new: threads that have started, and those of the JVM's list.
    pub fn look(&mut self) {
        self.take_starts();
        let listed = match self.names.as_mut().map(ThreadNames::changed) {
            Some(Ok(Some(listed))) => listed,
            Some(Err(error)) => {
                log::debug!("the list of threads cannot be read: {error}");
                return;
            }
            Some(Ok(None)) | None => return,
        };
        let tids = match self.namespace {
            Namespace::Initial => None,
            Namespace::Own => Some(os_thread::tids_of(self.pid)),
            Namespace::Hidden => return,
        };
        for named in listed {
            let tid = tids.as_ref().map_or(Some(named.os_tid), |tids| tids.get(&named.os_tid).map(|tid| tid.0));
            if let Some(tid) = tid
                && !self.has(tid)
            {
                self.keep(tid, Thread { name: named.name, daemon: named.daemon });
            }
        }
    }

    fn take_starts(&mut self) {
        for (tid, name, daemon) in std::mem::take(&mut self.starts) {
            if let Some(name) = self.texts.get(name) {
                let thread = Thread { name: name.to_owned(), daemon };
                self.keep(tid, thread);
            }
        }
    }

    /// Gives threads the names that are known here; which ones.
    pub fn name_all(&self, threads: &mut [(Tid, String)]) -> Vec<Tid> {
        let known = threads.iter_mut().filter_map(|(tid, name)| {
            let thread = self.threads.get(&tid.0).filter(|thread| !thread.name.is_empty())?;
            name.clone_from(&thread.name);
            Some(*tid)
        });
        known.collect()
    }

    /// A thread; one of which nothing is known has the kernel's name, or none where it is gone.
    pub fn thread(&mut self, tid: u32) -> &Thread {
        if !self.has(tid) {
            let path = format!("/proc/{}/task/{tid}/comm", self.pid);
            let name = fs::read_to_string(path).unwrap_or_default().trim_end().to_owned();
            self.keep(tid, Thread { name, daemon: false });
        }
        self.threads.entry(tid).or_default()
    }

    /// Threads of which the kernel was not told yet.
    pub fn take_fresh(&mut self) -> Vec<u32> {
        self.fresh.drain().collect()
    }

    fn keep(&mut self, tid: u32, thread: Thread) {
        if self.is_full(&thread.name) {
            self.forget_ended();
        }
        let before = self.threads.insert(tid, thread);
        let length = self.threads.get(&tid).map_or(0, |thread| thread.name.len());
        self.name_bytes = self.name_bytes + length - before.map_or(0, |before| before.name.len());
        if self.fresh.len() < MAX_KEPT {
            self.fresh.insert(tid);
        }
    }

    fn is_full(&self, next: &str) -> bool {
        self.threads.len() >= MAX_KEPT || self.name_bytes + next.len() > MAX_NAME_BYTES
    }

    /// Makes room: threads that have ended go, and all where that is not half of them. They are asked for anew.
    fn forget_ended(&mut self) {
        let before = (self.threads.len(), self.name_bytes);
        if let Some(alive) = alive(self.pid) {
            self.threads.retain(|tid, _| alive.contains(tid));
        }
        self.name_bytes = self.threads.values().map(|thread| thread.name.len()).sum();
        if self.threads.len() > before.0 / 2 || self.name_bytes > before.1 / 2 {
            self.threads.clear();
            self.name_bytes = 0;
        }
        self.fresh.retain(|tid| self.threads.contains_key(tid));
    }
}

#[cfg(test)]
mod tests {
    use tracer_common::record::EventKind;

    use super::*;
    use crate::{
        event::SiteId,
        source::encode::{encode_definition, encode_event, name_id},
    };

    fn book() -> ThreadBook {
        ThreadBook::new(std::process::id(), Namespace::Initial, None)
    }

    #[test]
    fn threads_get_the_names_that_are_known_and_others_keep_theirs() {
        let mut book = book();
        book.keep(7, Thread { name: "http-nio-8080-exec-1".to_owned(), daemon: true });
        book.keep(8, Thread { name: String::new(), daemon: false });
        let mut threads: Vec<_> = [7, 8, 9].map(|tid| (Tid(tid), "http-nio-8080-e".to_owned())).into_iter().collect();
        assert_eq!(book.name_all(&mut threads), [Tid(7)]);
        let names: Vec<_> = threads.iter().map(|(_, name)| name.as_str()).collect();
        assert_eq!(names, ["http-nio-8080-exec-1", "http-nio-8080-e", "http-nio-8080-e"]);
    }

    #[test]
    fn a_thread_that_starts_has_its_whole_name_also_when_it_is_gone() {
        let mut book = book();
        let name = "a-name-that-is-longer-than-15-bytes";
        let id = name_id(name.as_bytes());
        // Of another CPU's ring buffer, and so perhaps after the start.
        book.hear(&encode_event(EventKind::ThreadStart, SiteId(0), Tid(u32::MAX), 1, &[id.0, 1, 2, 1]));
        book.hear(&encode_definition(id, name.as_bytes()));
        assert!(!book.has(u32::MAX));
        book.look();
        assert_eq!(book.thread(u32::MAX), &Thread { name: name.to_owned(), daemon: true });
        assert_eq!(book.take_fresh(), [u32::MAX]);
        assert_eq!(book.take_fresh(), [0; 0]);
    }

    #[test]
    fn a_target_cannot_make_us_keep_any_number_of_threads_and_those_that_live_stay() {
        let mut book = book();
        let own = rustix::thread::gettid().as_raw_nonzero().get().cast_unsigned();
        book.keep(own, Thread { name: "lives".to_owned(), daemon: false });
        for number in 0..100_000 {
            // Numbers that no thread has.
            let tid = u32::MAX - number;
            book.keep(tid, Thread { name: format!("made-up-{number}"), daemon: false });
            assert!(book.threads.len() <= MAX_KEPT && book.fresh.len() <= MAX_KEPT, "{}", book.threads.len());
            assert!(book.has(tid), "the latest is known");
        }
        assert_eq!(book.thread(own).name, "lives");
    }

    /// Whoever decides by threads only now and then, and does not ask for those that nobody knows, is told of starts all the same.
    #[test]
    fn starts_that_nobody_asks_for_and_long_names_do_not_fill_the_memory() {
        let mut book = book();
        for tid in 0..200_000 {
            book.hear(&encode_event(EventKind::ThreadStart, SiteId(0), Tid(tid), 1, &[7, 1, 2, 1]));
        }
        assert!(book.starts.len() <= MAX_KEPT, "{}", book.starts.len());
        for tid in 0..60_000 {
            book.keep(tid, Thread { name: "n".repeat(4096), daemon: false });
        }
        let bytes: usize = book.threads.values().map(|thread| thread.name.len()).sum();
        assert!(bytes <= MAX_NAME_BYTES && bytes == book.name_bytes, "{bytes} and {}", book.name_bytes);
        book.thread(u32::MAX);
        assert!(book.has(u32::MAX), "there is room for who is asked for");
    }

    #[test]
    fn another_thread_with_the_same_number_has_its_own_name() {
        let mut book = book();
        for name in ["first", "second"] {
            let id = name_id(name.as_bytes());
            book.hear(&encode_definition(id, name.as_bytes()));
            book.hear(&encode_event(EventKind::ThreadStart, SiteId(0), Tid(7), 1, &[id.0, 1, 2, 0]));
            book.look();
            assert_eq!(book.thread(7).name, name);
        }
    }

    #[test]
    fn a_thread_that_nobody_named_has_the_kernels_name_or_none() {
        let mut book = book();
        let own = rustix::thread::gettid().as_raw_nonzero().get().cast_unsigned();
        let comm = fs::read_to_string(format!("/proc/self/task/{own}/comm")).unwrap();
        assert_eq!(book.thread(own).name, comm.trim_end());
        assert_eq!(book.thread(u32::MAX), &Thread::default());
    }
}

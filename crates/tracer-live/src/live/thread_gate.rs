//! Which threads' marks the kernel keeps back, because the predicates of all markers turn these threads down.
//!
//! The kernel sees whole batches, and each is of one thread: it can decide by the thread alone. What virtual threads wrote is never
//! kept back here, because such a batch may hold marks of several of them.

use std::collections::HashSet;

use tracer_common::record::EventKind;

use super::book::ThreadBook;
use crate::{
    decode::{Decoded, Header, decode},
    ebpf::load::Kernel,
    event::{Payload, Tid},
    item::ThreadName,
    mark::Asked,
    marker::predicate_of,
    predicate::{self, Field, Known, Outlook, Predicate},
};

/// Most buffers that are remembered as decided.
const MAX_BUFFERS: usize = 65_536;

/// Judges threads by what markers ask of them.
pub struct ThreadGate {
    book: ThreadBook,
    questions: Questions,
    decided: HashSet<u32>,
    /// Buffers that were not decided yet, and whose they are.
    waiting: Vec<(u32, Tid)>,
}

/// What markers ask of threads.
#[derive(Clone, Debug, PartialEq)]
pub struct Questions {
    /// Predicate of each marker; nothing where one of them, or a property, wants every thread.
    predicates: Option<Vec<Predicate>>,
}

impl Questions {
    /// The questions, where there are any; `tells_objects` where marks name objects, whose classes may be told in any thread's.
    pub fn of(asked: &Asked, tells_objects: bool) -> Option<Self> {
        let asks = |predicate: Predicate| predicate.asks_for(&[Field::Thread, Field::Tid]);
        if !asked.markers.iter().filter_map(predicate_of).any(asks) {
            return None;
        }
        let all: Option<Vec<Predicate>> = asked.markers.iter().map(predicate_of).collect();
        Some(Self { predicates: all.filter(|_| asked.properties.is_empty() && !tells_objects) })
    }

    /// Whether no marker wants anything of a thread.
    fn turn_down(&self, thread: &predicate::Thread, tid: Tid) -> bool {
        let known = Known::ThreadOf { thread, tid: tid.0.into() };
        let is_never = |predicate: &Predicate| predicate.outlook(known) == Outlook::Never;
        self.predicates.as_ref().is_some_and(|predicates| predicates.iter().all(is_never))
    }
}

impl ThreadGate {
    /// A gate that asks these questions of the threads in a book.
    pub fn new(questions: Questions, book: ThreadBook) -> Self {
        Self { book, questions, decided: HashSet::new(), waiting: Vec::new() }
    }

    /// Takes notice of names, of threads that start, and of whose a buffer is.
    pub fn take(&mut self, record: &[u8]) {
        let Ok(header) = Header::read(record) else { return };
        if header.is_definition() || header.kind == EventKind::ThreadStart as u16 {
            self.book.hear(record);
            return;
        }
        if header.kind != EventKind::Marks as u16 {
            return;
        }
        if let Ok(Decoded::Event(event)) = decode(record)
            && let Payload::Marks { buffer, is_owner: true, .. } = event.payload
            && self.decided.len() < MAX_BUFFERS
            && self.decided.insert(buffer)
        {
            self.waiting.push((buffer, event.tid));
        }
    }

    /// Once the ring buffers are empty: decides about new threads, tells the kernel, and gives their whole names.
    pub fn decide(&mut self, kernel: &mut Kernel) -> Vec<ThreadName> {
        if self.waiting.is_empty() {
            return Vec::new();
        }
        self.book.look();
        let mut names = Vec::new();
        for (buffer, tid) in std::mem::take(&mut self.waiting) {
            let thread = self.book.thread(tid.0).clone();
            if self.questions.turn_down(&thread, tid)
                && let Err(error) = kernel.keep_back(buffer)
            {
                // Its marks come, and are turned down where they come to.
                log::debug!("{error}");
            }
            if !thread.name.is_empty() {
                names.push(ThreadName { tid, name: thread.name });
            }
        }
        names
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mark::testing::marker;

    fn questions(predicates: &[Option<&str>], tells_objects: bool) -> Option<Questions> {
        let mut asked = Asked { markers: vec![marker("a"); predicates.len()], ..Asked::default() };
        for (marker, predicate) in asked.markers.iter_mut().zip(predicates) {
            marker.predicate = predicate.map(str::to_owned);
        }
        Questions::of(&asked, tells_objects)
    }

    fn turned_down(questions: &Questions, name: &str, tid: u32) -> bool {
        questions.turn_down(&predicate::Thread { name: name.to_owned(), daemon: false }, Tid(tid))
    }

    #[test]
    fn a_thread_is_turned_down_where_no_marker_can_want_it() {
        let asked = [Some("thread ~ \"http-*\" && depth < 3"), Some("tid == 7 || method == \"main\" && tid == 8")];
        let questions = questions(&asked, false).unwrap();
        let wanted = [("http-1", 1), ("other", 7), ("other", 8)];
        assert_eq!(wanted.map(|(name, tid)| turned_down(&questions, name, tid)), [false; 3]);
        assert!(turned_down(&questions, "other", 9));
    }

    #[test]
    fn none_is_turned_down_where_one_marker_wants_all_or_counts() {
        let of_threads = Some("thread == \"x\"");
        assert_eq!(questions(&[None, Some("depth < 3")], false), None, "nobody asks for threads");
        for (predicates, tells_objects) in [
            (vec![of_threads, None], false),
            (vec![of_threads], true),
            (vec![of_threads, Some("depth < 3")], false),
            (vec![Some("nth(3) && thread == \"x\"")], false),
        ] {
            let questions = questions(&predicates, tells_objects).unwrap();
            assert!(!turned_down(&questions, "other", 9), "{predicates:?}");
        }
    }
}

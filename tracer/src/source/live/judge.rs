//! The predicate of a live session: what the kernel is told of it, and what it says of events that the kernel could not decide.
//!
//! The kernel knows a subject or thread only after its first event. Such an event comes undecided, and the whole predicate is
//! applied to it here. Where a predicate counts events (`nth`, `first`), all that reach a subject whose names do not decide
//! come undecided, so that only one side counts.

use std::{
    collections::HashMap,
    fs,
    hash::{BuildHasher as _, Hasher as _, RandomState},
};

use tracer_common::{filter::Filter, tally::Verdict};

use crate::{
    predicate::{Counters, Event, Known, Outlook, Predicate, Split, Subject as Named, Thread},
    subject::Subject,
};

/// Largest number of threads whose names are kept.
const MAX_NAMES: usize = 65_536;

/// What is known of an event besides its subject.
#[derive(Clone, Copy, Debug, Default)]
pub struct Facts {
    /// The thread.
    pub tid: u32,
    /// The CPU.
    pub cpu: u16,
    /// Bytes of the object.
    pub size: u64,
    /// Duration of the call.
    pub duration_ns: u64,
    /// Calls under way.
    pub depth: u64,
}

/// Judges events.
pub struct Judge {
    predicate: Predicate,
    split: Split,
    counters: Counters,
    random: RandomState,
    drawn: u64,
    pid: u32,
    threads: HashMap<u32, Thread>,
}

impl Judge {
    /// A judge of the events of a process.
    pub fn new(predicate: Predicate, pid: u32) -> Self {
        let split = predicate.split();
        Self {
            predicate,
            split,
            counters: Counters::default(),
            random: RandomState::new(),
            drawn: 0,
            pid,
            threads: HashMap::new(),
        }
    }

    /// The graph for the kernel.
    pub const fn filter(&self) -> Filter {
        self.split.filter
    }

    /// The graph that the kernel asks at entry, where the other one is asked at return.
    pub fn entry_filter(&self) -> Filter {
        self.split.entry.unwrap_or(Filter::ALL)
    }

    /// Whether all events that their subject does not decide must come here.
    fn counts(&self) -> bool {
        !self.split.counters.is_empty() || !self.split.left.is_empty()
    }

    /// What the kernel is told of a subject: its mask, and the verdict, where it may decide.
    pub fn subject(&self, subject: &Subject) -> (u64, Option<Verdict>) {
        let named = named(subject);
        let verdict = match self.predicate.outlook(Known::Subject(&named)) {
            Outlook::Always => Some(Verdict::Always),
            Outlook::Never => Some(Verdict::Never),
            Outlook::Depends => (!self.counts()).then_some(Verdict::Depends),
        };
        (self.split.names.subject(&named), verdict)
    }

    /// Mask of a thread.
    pub fn thread(&mut self, tid: u32) -> u64 {
        let mask = |split: &Split, thread: &Thread| split.names.thread(thread);
        if let Some(thread) = self.threads.get(&tid) {
            return mask(&self.split, thread);
        }
        // A thread that is gone by now has no name, and no more events.
        let name = fs::read_to_string(format!("/proc/{}/task/{tid}/comm", self.pid)).unwrap_or_default();
        let thread = Thread { name: name.trim_end().to_owned(), daemon: false };
        let mask = mask(&self.split, &thread);
        if self.threads.len() < MAX_NAMES {
            self.threads.insert(tid, thread);
        }
        mask
    }

    fn draw(&mut self) -> u32 {
        self.drawn += 1;
        let mut hasher = self.random.build_hasher();
        hasher.write_u64(self.drawn);
        (hasher.finish() & u64::from(u32::MAX)).try_into().unwrap_or(0)
    }

    /// Whether an event is wanted that came undecided.
    pub fn is_wanted(&mut self, subject: &Subject, caller: Option<&Subject>, facts: &Facts) -> bool {
        self.thread(facts.tid);
        let nobody = Thread::default();
        let (subject, caller) = (named(subject), caller.map(named));
        let Facts { tid, cpu, size, duration_ns, depth } = *facts;
        let random = self.draw();
        let event = Event {
            subject: &subject,
            caller: caller.as_ref(),
            thread: self.threads.get(&tid).unwrap_or(&nobody),
            tid: u64::from(tid),
            cpu: u64::from(cpu),
            size,
            duration: duration_ns,
            depth,
            line: None,
            random,
        };
        self.predicate.eval(&event, &mut self.counters)
    }
}

fn named(subject: &Subject) -> Named {
    match &subject.method {
        Some(method) => Named::method(&subject.class, &method.name, &method.signature),
        None => Named::class(&subject.class),
    }
}

//! The predicate of a live session: what the kernel is told of it, and what it says of events that the kernel could not decide.
//!
//! The kernel knows a subject or thread only after its first event. Such an event comes undecided, and the whole predicate is
//! applied to it here. Where a predicate counts events (`nth`, `first`), all that reach a subject whose names do not decide
//! come undecided, so that only one side counts.

use std::hash::{BuildHasher as _, Hasher as _, RandomState};

use tracer_common::{filter::Filter, tally::Verdict};

use super::book::ThreadBook;
use crate::{
    predicate::{Counters, Event, Known, Outlook, Predicate, Split, Subject as Named},
    subject::Subject,
};

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
    threads: ThreadBook,
}

impl Judge {
    /// A judge of the events of a process with these threads.
    pub fn new(predicate: Predicate, threads: ThreadBook) -> Self {
        let split = predicate.split();
        Self { predicate, split, counters: Counters::default(), random: RandomState::new(), drawn: 0, threads }
    }

    /// The graph for the kernel.
    pub const fn filter(&self) -> Filter {
        self.split.filter
    }

    /// The graph that the kernel asks at entry, where the other one is asked at return.
    pub fn entry_filter(&self) -> Filter {
        self.split.entry.unwrap_or(Filter::ALL)
    }

    /// What is known of threads.
    pub const fn threads(&mut self) -> &mut ThreadBook {
        &mut self.threads
    }

    /// What the kernel is told of a subject: its mask, and the verdict, where it may decide.
    pub fn subject(&self, subject: &Subject) -> (u64, Option<Verdict>) {
        let named = named(subject);
        let verdict = match self.predicate.outlook(Known::Subject(&named)) {
            Outlook::Always => Some(Verdict::Always),
            Outlook::Never => Some(Verdict::Never),
            Outlook::Depends => (!self.split.is_left_whole()).then_some(Verdict::Depends),
        };
        (self.split.names.subject(&named), verdict)
    }

    /// Mask of a caller.
    pub fn caller(&self, caller: Option<&Subject>) -> u64 {
        self.split.names.caller(caller.map(named).as_ref())
    }

    /// Mask of a thread.
    pub fn thread(&mut self, tid: u32) -> u64 {
        self.split.names.thread(self.threads.thread(tid))
    }

    fn draw(&mut self) -> u32 {
        self.drawn += 1;
        let mut hasher = self.random.build_hasher();
        hasher.write_u64(self.drawn);
        (hasher.finish() & u64::from(u32::MAX)).try_into().unwrap_or(0)
    }

    /// Whether an event is wanted that came undecided.
    pub fn is_wanted(&mut self, subject: &Subject, caller: Option<&Subject>, facts: &Facts) -> bool {
        let (subject, caller) = (named(subject), caller.map(named));
        let Facts { tid, cpu, size, duration_ns, depth } = *facts;
        let random = self.draw();
        let thread = self.threads.thread(tid);
        let event = Event {
            subject: &subject,
            caller: caller.as_ref(),
            thread,
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

//! Hands marks to clients: finds the thread, keeps its stack, decides who wants the mark, and tells them.
//!
//! Marks come by tens of millions a second, so a mark costs a few loads and stores here: places are an array, the thread is looked
//! up once a batch, and predicates are asked only where names alone did not decide already when the place was woven.

mod books;
mod decide;
mod passes;
mod sites;

use std::collections::HashMap;

use tracer_weave::PlaceDefinition;

use self::{
    books::Books,
    passes::{for_each, instance},
    sites::{Site, Tap},
};
use super::{
    Client, ClientReport, Object, Reporting,
    gate::Gate,
    known::Known,
    thread::{Arrival, Threads},
};
use crate::{
    event::Tid,
    mark::{Inside, Mark, MarkBatch, What},
    names::Names,
    predicate::{self, Predicate},
};

/// Most clients: each is a bit.
pub const MAX_CLIENTS: usize = 64;

/// Most buffers of which the last mark is remembered.
const MAX_LASTS: usize = 65_536;

/// There are [`MAX_CLIENTS`] clients already.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a session has at most {MAX_CLIENTS} clients")]
pub struct TooManyClients;

/// The clients of a session, and what is known of its marks.
#[derive(Default)]
pub struct Dispatch {
    known: Known,
    threads: Threads,
    taps: Vec<Tap>,
    /// Of each marker.
    gates: Vec<Gate>,
    /// Of each place, by its number.
    sites: Vec<Site>,
    /// Names of the places whose marks are asked for their names.
    subjects: Vec<predicate::Subject>,
    last: Last,
    /// Of buffers that were handed over between a mark and its arguments.
    lasts: HashMap<u32, Last>,
    books: Books,
}

/// The mark that was told last: arguments behind it belong to it.
#[derive(Clone, Copy, Debug, Default)]
struct Last {
    told: u64,
    place: u32,
    object: u32,
    time_ns: Option<u64>,
}

/// Where a mark is from.
#[derive(Clone, Copy)]
struct From<'a> {
    thread: usize,
    name: &'a predicate::Thread,
    tid: Option<Tid>,
}

impl std::fmt::Debug for Dispatch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names: Vec<&str> = self.taps.iter().map(|tap| tap.client.name()).collect();
        f.debug_struct("Dispatch").field("clients", &names).field("books", &self.books).finish_non_exhaustive()
    }
}

impl Dispatch {
    /// Adds a client that gets what it subscribes to.
    pub fn add(&mut self, client: Box<dyn Client>) -> Result<(), TooManyClients> {
        self.add_for(client, None)
    }

    /// Adds a client that gets, of what it subscribes to, only what its own predicate wants.
    pub fn add_for(&mut self, client: Box<dyn Client>, predicate: Option<Predicate>) -> Result<(), TooManyClients> {
        if self.taps.len() >= MAX_CLIENTS {
            return Err(TooManyClients);
        }
        let gate = predicate.map(|predicate| Gate::of(Some(predicate)));
        let mut tap = Tap::new(client, gate);
        tap.subscribe(self.known.asked());
        self.taps.push(tap);
        let places: Vec<PlaceDefinition> = self.known.places().iter().map(|place| place.definition.clone()).collect();
        let newest = self.taps.len() - 1;
        for place in places {
            self.settle(&place, newest);
        }
        Ok(())
    }

    /// What is defined so far.
    pub const fn known(&self) -> &Known {
        &self.known
    }

    /// The threads whose marks came so far.
    pub const fn threads(&self) -> &Threads {
        &self.threads
    }

    /// Takes what is said of the session.
    pub fn inside(&mut self, inside: &Inside) {
        match inside {
            Inside::Asked(asked) => self.ask(asked),
            Inside::Place(place) => {
                if self.known.define(place).is_some() {
                    self.settle(place, 0);
                }
            }
            Inside::Class { number, name } => self.known.define_class(*number, name),
            Inside::Size { class, bytes } => self.known.define_size(class, *bytes),
            Inside::Restored(_) => {
                for thread in self.threads.all_mut() {
                    let given_up = thread.stack.clear();
                    if given_up > 0 {
                        self.taps.iter_mut().for_each(|tap| tap.client.stack_lost(thread));
                    }
                }
            }
            Inside::Woven(_) | Inside::Unwoven(_) | Inside::Lacks(_) | Inside::Sampled(_) => {}
        }
    }

    /// Takes notice of threads that ended.
    pub fn threads_ended(&mut self, ended: impl Iterator<Item = Tid>) {
        if let Some(ended) = self.threads.sum_up(ended) {
            self.lasts.retain(|buffer, _| self.threads.has_told(*buffer));
            self.taps.iter_mut().for_each(|tap| tap.client.threads_ended(&ended));
        }
    }

    /// Takes marks.
    pub fn marks(&mut self, batch: &MarkBatch<'_>) {
        let owner = self.threads.owner(batch);
        self.arrive(batch, owner);
        self.books.kept_back += u64::from(batch.kept_back);
        let name = predicate::Thread { name: batch.thread_name.unwrap_or_default().to_owned(), daemon: false };
        let mut from = From { thread: owner, name: &name, tid: batch.tid };
        let mut java = None;
        self.last = self.lasts.remove(&batch.buffer).unwrap_or_default();
        let before = self.threads.carried(batch.buffer);
        let mut marks = batch.marks_from(before);
        loop {
            if marks.thread != java {
                java = marks.thread;
                from.thread = java.map_or(owner, |java| self.threads.index(batch, Some(java)));
                self.threads.moved(from.thread, batch.buffer);
            }
            while let Some(pass) = marks.next_pass() {
                self.pass(from, pass);
            }
            match marks.next_rare() {
                Some(mark) => self.take(from, &mark),
                None if marks.is_empty() => break,
                // A word that is no mark: a thread's number, or damage.
                None => {}
            }
        }
        if marks.thread != before {
            self.threads.carry(batch.buffer, marks.thread);
        }
        if self.last.told != 0 && self.lasts.len() < MAX_LASTS {
            self.lasts.insert(batch.buffer, self.last);
        }
        self.books.undecodable += marks.undecodable;
    }

    /// Gives up the stacks of threads whose marks are missing.
    fn arrive(&mut self, batch: &MarkBatch<'_>, owner: usize) {
        let lost = match self.threads.arrival(batch) {
            Arrival::Next if self.threads.shared => 0,
            Arrival::Next => return,
            Arrival::Lost(words) => words,
            Arrival::Back => {
                self.books.out_of_order += 1;
                0
            }
        };
        // What comes now can belong to a mark that did not arrive.
        self.lasts.remove(&batch.buffer);
        if lost > 0 {
            self.books.lost_words = self.books.lost_words.saturating_add(lost);
            self.books.gaps += 1;
        }
        let mut threads = self.threads.of_buffer(batch.buffer);
        if !threads.contains(&owner) {
            threads.push(owner);
        }
        for index in threads {
            let Some(thread) = self.threads.get_mut(index) else { continue };
            self.books.given_up += thread.stack.give_up() as u64;
            self.taps.iter_mut().for_each(|tap| tap.client.stack_lost(thread));
        }
    }

    fn take(&mut self, from: From<'_>, mark: &Mark) {
        match &mark.what {
            What::Born { class } => self.known.born(mark.object, *class),
            What::Death { class, .. } => {
                // Of an object from before the first mark this is all that is told.
                self.known.born(mark.object, *class);
                let object = Object { known: &self.known, number: mark.object };
                self.taps.iter_mut().for_each(|tap| tap.client.object_death(&object));
            }
            What::Count { of, count } => {
                let Some(site) = self.site(mark.place) else { return };
                let Self { known, threads, taps, .. } = self;
                let Some(thread) = threads.get_mut(from.thread) else { return };
                let instance = instance(known, thread, site, (mark.place, mark.object, mark.time_ns), false);
                for_each(site.sure, taps, |tap| tap.client.marker_count(&instance, *of, *count));
            }
            What::Context(told) => {
                let Some(site) = self.site(mark.place) else { return };
                let Self { known, threads, taps, .. } = self;
                let Some(thread) = threads.get_mut(from.thread) else { return };
                // Where marks have a receiver, there is a context's number.
                let instance = instance(known, thread, site, (mark.place, 0, None), false);
                for_each(site.sure, taps, |tap| tap.client.marker_context(&instance, mark.object, *told));
            }
            What::Argument { index, value } => {
                let Last { told, place, object, time_ns } = self.last;
                if told == 0 {
                    return;
                }
                let Some(site) = self.site(place) else { return };
                let Self { known, threads, taps, .. } = self;
                let Some(thread) = threads.get_mut(from.thread) else { return };
                let instance = instance(known, thread, site, (place, object, time_ns), true);
                for_each(told, taps, |tap| tap.client.marker_argument(&instance, *index, value));
            }
            // A symbol is of a property, and not of a marker; the others are no rare marks.
            What::Symbol { .. } | What::Point | What::Enter | What::Exit | What::Thrown => {}
        }
    }

    /// What each client has to say, by its name.
    pub fn reports(&self, names: &Names, with_profiles: bool) -> Vec<(String, ClientReport)> {
        let at = Reporting { known: &self.known, threads: &self.threads, names, with_profiles };
        self.taps.iter().map(|tap| (tap.client.name().to_owned(), tap.client.report(&at))).collect()
    }

    /// How many marks of a marker came so far, where a client counts them.
    pub fn events(&self, marker: usize) -> u64 {
        let places = self.known.places().iter().filter(|place| place.marker == marker);
        let counted = |place: u32| self.taps.iter().find_map(|tap| tap.client.events(place)).unwrap_or(0);
        places.map(|place| counted(place.definition.id)).sum()
    }

    /// Words that the kernel kept back, because no marker wants marks of their threads.
    pub const fn kept_back_words(&self) -> u64 {
        self.books.kept_back
    }

    /// Words that were lost before they came here.
    pub const fn lost_words(&self) -> u64 {
        self.books.lost_words
    }

    /// What could not be told to clients, as sentences.
    pub fn notes(&self) -> Vec<String> {
        self.books.notes(self.threads.shared)
    }
}

#[cfg(test)]
mod tests;

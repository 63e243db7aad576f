//! Hands marks to clients: finds the thread, keeps its stack, decides who wants the mark, and tells them.
//!
//! Marks come by tens of millions a second, so a mark costs a few loads and stores here: places are an array, the thread is looked
//! up once a batch, and predicates are asked only where names alone did not decide already when the place was woven.

mod books;
mod decide;

use tracer_weave::PlaceDefinition;

use self::{
    books::Books,
    decide::{decide, decide_late},
};
use super::{
    client::{Client, ClientReport, Ending, Exit, Instance, Object, Reporting},
    gate::{Asking, Gate},
    known::Known,
    stack::{Closes, Entry},
    thread::{Arrival, Thread, Threads},
};
use crate::{
    event::Tid,
    mark::{Asked, Inside, Mark, MarkBatch, Pass, Way, What},
    names::Names,
    predicate::{self, Outlook, Predicate},
};

/// Most clients: each is a bit.
pub const MAX_CLIENTS: usize = 64;

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
    books: Books,
}

/// A client.
struct Tap {
    client: Box<dyn Client>,
    gate: Option<Gate>,
    /// Markers to which it subscribed.
    markers: Vec<bool>,
    /// Those of them that it wants to be on.
    wants: Vec<bool>,
}

/// What happens to the marks of a place.
#[derive(Clone, Copy, Debug, Default)]
struct Site {
    marker: u32,
    passage: Passage,
    /// Clients that want them, as bits.
    clients: u64,
    /// Of these, the ones that want all, whatever gates say.
    sure: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Passage {
    /// There is no such place.
    #[default]
    None,
    /// All pass.
    Open,
    /// Gates decide; the index of the place's names.
    Gated(u32),
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
        let mut tap = Tap { client, gate, markers: Vec::new(), wants: Vec::new() };
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

    fn ask(&mut self, asked: &Asked) {
        self.sites.clear();
        self.subjects.clear();
        self.gates.clear();
        for marker in &asked.markers {
            let (gate, note) = Gate::of_marker(marker, &asked.markers);
            self.books.sentences.extend(note);
            self.gates.push(gate);
        }
        self.taps.iter_mut().for_each(|tap| tap.subscribe(asked));
        self.known.ask(asked.clone());
    }

    /// Decides what happens to the marks of a place, and tells the clients from `first` on that it is there.
    fn settle(&mut self, definition: &PlaceDefinition, first: usize) {
        let Some(place) = self.known.place(definition.id) else { return };
        let (number, marker) = (definition.id as usize, place.marker);
        let subject = predicate::Subject::method(&definition.class, &definition.method, &definition.descriptor);
        let gate = self.gates.get(marker);
        let outlook = gate.map_or(Outlook::Always, |gate| gate.outlook(&subject));
        let (mut clients, mut sure) = (0, 0);
        for (bit, tap) in self.taps.iter_mut().enumerate() {
            if !tap.markers.get(marker).copied().unwrap_or(false) {
                continue;
            }
            if let Some(marker) = self.known.markers().get(marker)
                && bit >= first
            {
                tap.client.method_loaded(place, marker);
            }
            match tap.gate.as_ref().map_or(Outlook::Always, |gate| gate.outlook(&subject)) {
                Outlook::Never => continue,
                Outlook::Always => sure |= 1 << bit,
                Outlook::Depends => {}
            }
            clients |= 1 << bit;
        }
        match outlook {
            Outlook::Never => (clients, sure) = (0, 0),
            Outlook::Always => {}
            Outlook::Depends => sure = 0,
        }
        if self.sites.len() <= number {
            self.sites.resize(number + 1, Site::default());
        }
        let passage = if outlook == Outlook::Depends || sure != clients {
            self.subjects.push(subject);
            Passage::Gated(u32::try_from(self.subjects.len() - 1).unwrap_or(u32::MAX))
        } else {
            Passage::Open
        };
        if let Some(site) = self.sites.get_mut(number) {
            *site = Site { marker: u32::try_from(marker).unwrap_or(u32::MAX), passage, clients, sure };
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
        self.last = Last::default();
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

    #[inline]
    fn pass(&mut self, from: From<'_>, pass: Pass) {
        match pass.way {
            Way::Enter => self.enter(from, pass),
            Way::Exit => self.exit(from, pass, Ending::Left),
            Way::Thrown => self.exit(from, pass, Ending::Thrown),
            Way::Point => self.point(from, pass),
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

    #[inline]
    fn site(&mut self, place: u32) -> Option<Site> {
        match self.sites.get(place as usize) {
            Some(site) if site.passage != Passage::None => Some(*site),
            _ => {
                self.books.unknown_places += 1;
                None
            }
        }
    }

    #[inline]
    fn point(&mut self, from: From<'_>, mark: Pass) {
        let Some(site) = self.site(mark.place) else { return };
        let Self { known, threads, taps, gates, subjects, .. } = self;
        let Some(thread) = threads.get_mut(from.thread) else { return };
        let instance = instance(known, thread, site, of(mark), false);
        let told = match site.passage {
            Passage::Gated(subject) => {
                let (told, pending) = decide(gates, taps, site, &asking(instance, subjects, subject, from), false);
                told | pending
            }
            Passage::Open | Passage::None => site.clients,
        };
        for_each(told, taps, |tap| tap.client.marker_point(&instance));
        self.last = Last { told, place: mark.place, object: mark.object, time_ns: mark.time_ns };
    }

    #[inline]
    fn enter(&mut self, from: From<'_>, mark: Pass) {
        let Some(site) = self.site(mark.place) else { return };
        let Self { known, threads, taps, gates, subjects, .. } = self;
        let Some(thread) = threads.get_mut(from.thread) else { return };
        let (place, object) = (mark.place, mark.object);
        let entered_ns = mark.time_ns;
        let entry = Entry {
            place,
            marker: site.marker,
            object,
            entered_ns,
            told: site.clients,
            pending: 0,
            is_reopened: false,
        };
        if !thread.stack.push(entry) {
            self.books.too_deep += 1;
            self.last = Last::default();
            return;
        }
        let mut told = site.clients;
        if let Passage::Gated(subject) = site.passage {
            let asking = asking(instance(known, thread, site, of(mark), true), subjects, subject, from);
            let pending;
            (told, pending) = decide(gates, taps, site, &asking, true);
            thread.stack.settle(told, pending);
        }
        let instance = instance(known, thread, site, of(mark), true);
        for_each(told, taps, |tap| tap.client.marker_enter(&instance));
        self.last = Last { told, place, object, time_ns: mark.time_ns };
    }

    #[inline]
    fn exit(&mut self, from: From<'_>, mark: Pass, ending: Ending) {
        let Some(site) = self.site(mark.place) else { return };
        let Some(thread) = self.threads.get_mut(from.thread) else { return };
        match thread.stack.closes(mark.place) {
            Closes::Innermost => self.end(from, mark.time_ns, ending),
            Closes::Within(within) => {
                self.books.unseen_ends += within as u64;
                for _ in 0..within {
                    self.end(from, None, Ending::Unseen);
                }
                self.end(from, mark.time_ns, ending);
            }
            Closes::Beyond => thread.stack.pop_beyond(),
            Closes::Nothing => {
                thread.stack.left_unknown(mark.place);
                self.books.unseen_beginnings += 1;
                let exit = Exit { ending, was_entered: false, duration_ns: None, is_late: false };
                let instance = instance(&self.known, thread, site, of(mark), false);
                for_each(site.sure, &mut self.taps, |tap| tap.client.marker_exit(&instance, &exit));
            }
        }
        self.last.told = 0;
    }

    /// Ends the innermost region of a thread.
    #[inline]
    fn end(&mut self, from: From<'_>, time_ns: Option<u64>, ending: Ending) {
        let Self { known, threads, taps, gates, subjects, sites, .. } = self;
        let Some(thread) = threads.get_mut(from.thread) else { return };
        let Some(entry) = thread.stack.innermost().copied() else { return };
        let duration_ns = match (time_ns, entry.entered_ns) {
            (Some(left), Some(entered)) => Some(left.saturating_sub(entered)),
            _ => None,
        };
        let instance = Instance {
            known,
            thread,
            marker_index: entry.marker as usize,
            place: entry.place,
            object: entry.object,
            time_ns,
            on_stack: true,
        };
        let exit = Exit { ending, was_entered: !entry.is_reopened, duration_ns, is_late: false };
        for_each(entry.told, taps, |tap| tap.client.marker_exit(&instance, &exit));
        if entry.pending != 0
            && ending != Ending::Unseen
            && let Some(site) = sites.get(entry.place as usize)
            && let Passage::Gated(subject) = site.passage
        {
            let asking = Asking { duration_ns, ..asking(instance, subjects, subject, from) };
            let wanted = decide_late(gates, taps, entry, &asking);
            let entered = Instance { time_ns: entry.entered_ns, ..instance };
            let exit = Exit { is_late: true, ..exit };
            for_each(wanted, taps, |tap| {
                tap.client.marker_enter(&entered);
                tap.client.marker_exit(&instance, &exit);
            });
        }
        thread.stack.pop();
    }

    /// Markers were switched off, on again, or from telling to counting: what they had open on any thread is not known from here on.
    ///
    /// Such a region ends unseen, so that no later exit closes it and nothing later seems to lie in it. Clients are told of ends from
    /// the innermost region outwards, so those of other markers within it end unseen for them, too; these stay on the
    /// stack, and their own end comes as one whose entry was not seen.
    pub fn switched(&mut self, markers: &[usize]) {
        let no_name = predicate::Thread { name: String::new(), daemon: false };
        let is_switched = |marker: u32| markers.contains(&(marker as usize));
        for thread in 0..self.threads.all().len() {
            let Self { threads, sites, .. } = self;
            let Some(of) = threads.get_mut(thread) else { continue };
            of.stack.forget_suspects(|place| sites.get(place as usize).is_some_and(|site| is_switched(site.marker)));
            let Some(around) = of.stack.entries().iter().position(|entry| is_switched(entry.marker)) else { continue };
            let within = of.stack.entries().get(around..).unwrap_or_default().to_vec();
            for entry in within.iter().rev() {
                self.books.switched += u64::from(is_switched(entry.marker));
                self.end(From { thread, name: &no_name, tid: None }, None, Ending::Unseen);
            }
            let Some(of) = self.threads.get_mut(thread) else { continue };
            for entry in within.iter().filter(|entry| !is_switched(entry.marker)) {
                of.stack.push(Entry { is_reopened: true, entered_ns: None, pending: 0, ..*entry });
            }
        }
        self.last = Last::default();
    }

    /// Of each marker, whether any client wants it to be on; so it is where nobody subscribed to it, as others can ask for what lies in it.
    pub fn wanted(&mut self) -> Vec<bool> {
        let is_nobodys = |marker: usize| !self.taps.iter().any(|tap| tap.markers.get(marker) == Some(&true));
        let mut wanted: Vec<bool> = (0..self.known.markers().len()).map(is_nobodys).collect();
        for tap in &mut self.taps {
            for (marker, on) in tap.client.switch() {
                if let (Some(wants), Some(true)) = (tap.wants.get_mut(marker), tap.markers.get(marker)) {
                    *wants = on;
                }
            }
            wanted.iter_mut().zip(&tap.wants).for_each(|(wanted, wants)| *wanted |= wants);
        }
        wanted
    }

    /// What each client has to say, by its name.
    pub fn reports(&self, names: &Names) -> Vec<(String, ClientReport)> {
        let at = Reporting { known: &self.known, threads: &self.threads, names };
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

impl Tap {
    fn subscribe(&mut self, asked: &Asked) {
        let client = &mut self.client;
        let wants = |marker: &crate::mark::Marker| {
            let is_asked = marker.subscribers.is_empty() || marker.subscribers.iter().any(|name| name == client.name());
            is_asked && client.subscribe(marker)
        };
        self.markers = asked.markers.iter().map(wants).collect();
        self.wants.clone_from(&self.markers);
    }
}

/// Where and when a mark was made.
type Made = (u32, u32, Option<u64>);

#[inline]
const fn of(pass: Pass) -> Made {
    (pass.place, pass.object, pass.time_ns)
}

#[inline]
const fn instance<'a>(known: &'a Known, thread: &'a Thread, site: Site, made: Made, on_stack: bool) -> Instance<'a> {
    let (place, object, time_ns) = made;
    Instance { known, thread, marker_index: site.marker as usize, place, object, time_ns, on_stack }
}

fn asking<'a>(instance: Instance<'a>, subjects: &'a [predicate::Subject], subject: u32, from: From<'a>) -> Asking<'a> {
    static NOBODY: std::sync::LazyLock<predicate::Subject> = std::sync::LazyLock::new(predicate::Subject::default);
    let subject = subjects.get(subject as usize).unwrap_or(&NOBODY);
    Asking { instance, subject, thread: from.name, tid: from.tid, duration_ns: None }
}

#[inline]
fn for_each(clients: u64, taps: &mut [Tap], mut tell: impl FnMut(&mut Tap)) {
    let mut left = clients;
    while left != 0 {
        if let Some(tap) = taps.get_mut(left.trailing_zeros() as usize) {
            tell(tap);
        }
        left &= left - 1;
    }
}

#[cfg(test)]
mod tests;

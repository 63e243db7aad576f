//! Marks that are passed by tens of millions a second: points, and the beginnings and ends of regions.

use super::{
    Dispatch, From, Last,
    decide::{decide, decide_late},
    sites::{Passage, Site, Tap},
};
use crate::{
    client::{
        Ending, Exit, Instance,
        gate::Asking,
        known::Known,
        stack::{Closes, Entry},
        thread::Thread,
    },
    mark::{Pass, Way},
    predicate,
};

impl Dispatch {
    #[inline]
    pub(super) fn pass(&mut self, from: From<'_>, pass: Pass) {
        match pass.way {
            Way::Enter => self.enter(from, pass),
            Way::Exit => self.exit(from, pass, Ending::Left),
            Way::Thrown => self.exit(from, pass, Ending::Thrown),
            Way::Point => self.point(from, pass),
        }
    }

    #[inline]
    pub(super) fn site(&mut self, place: u32) -> Option<Site> {
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
}

/// Where and when a mark was made.
pub(super) type Made = (u32, u32, Option<u64>);

#[inline]
const fn of(pass: Pass) -> Made {
    (pass.place, pass.object, pass.time_ns)
}

#[inline]
pub(super) const fn instance<'a>(
    known: &'a Known,
    thread: &'a Thread,
    site: Site,
    made: Made,
    on_stack: bool,
) -> Instance<'a> {
    let (place, object, time_ns) = made;
    Instance { known, thread, marker_index: site.marker as usize, place, object, time_ns, on_stack }
}

fn asking<'a>(instance: Instance<'a>, subjects: &'a [predicate::Subject], subject: u32, from: From<'a>) -> Asking<'a> {
    static NOBODY: std::sync::LazyLock<predicate::Subject> = std::sync::LazyLock::new(predicate::Subject::default);
    let subject = subjects.get(subject as usize).unwrap_or(&NOBODY);
    Asking { instance, subject, thread: from.name, tid: from.tid, duration_ns: None }
}

#[inline]
pub(super) fn for_each(clients: u64, taps: &mut [Tap], mut tell: impl FnMut(&mut Tap)) {
    let mut left = clients;
    while left != 0 {
        if let Some(tap) = taps.get_mut(left.trailing_zeros() as usize) {
            tell(tap);
        }
        left &= left - 1;
    }
}

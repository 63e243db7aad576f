//! What threads of the program wait for, from looks at all threads: how many on average, for what, from which line, and who holds it.
//!
//! Threads without a frame of the program are left out: pools without work, and what the JDK keeps for itself.

mod past;
mod requests;
mod seen;
mod texts;

use std::{
    borrow::Cow,
    collections::{BTreeMap, HashMap},
};

use self::{
    past::past,
    requests::Requests,
    seen::Seen,
    texts::{TEXTS, Texts},
};
use super::super::{
    distribution::Durations,
    pattern::last_number,
    row_steps::{Amount, Timed},
    site,
    table::{Keyed, Merge as _, column},
};
use super::{
    collections::Collections,
    crowded::Crowded,
    datagrams::Datagrams,
    executors::Executors,
    initialisers::Initialisers,
    peers::Peers,
    queues::Queues,
    reason::{Kind, reason, words},
    starved::StarvedPools,
    unnotified::Unnotified,
};
use crate::{
    item::look::{Circled, Holding, LookGroup, ThreadLook},
    lens::Lens,
    report::{Cell, Shape, Span, Table, TableSteps, Unit},
    stack::Stacks,
    text::format,
};

/// In the place of what a holder does: why it does nothing.
pub const HAS_ENDED: &str = "<it has ended>";
/// Most reasons that are told apart.
const REASONS: usize = 4096;
/// Most threads of circles that are shown.
const ROWS: usize = 100;

/// A reason to wait: its kind, and the numbers of what it waits for, of the place, and of what that called.
type Reason = (Kind, usize, usize, usize);

/// How reasons end whose calls force data to the disk: what runs there is a part of that, and the program waits for all of it.
const FORCED: [&str; 2] = ["(fsync)", "(msync)"];

/// Those of a group that wait. Who was not seen in a call for a file may run in the kernel on its behalf, as who writes byte by byte does.
fn waiting<'a>(kind: Kind, what: &str, group: &'a LookGroup) -> Option<Cow<'a, LookGroup>> {
    let is_forced = FORCED.iter().any(|forced| what.ends_with(forced));
    if kind != Kind::File || is_forced || group.waits.is_some() || group.running == 0 {
        return Some(Cow::Borrowed(group));
    }
    let threads = group.threads.checked_sub(group.running).filter(|threads| *threads > 0)?;
    let [ran, seldom] = [group.ran, group.seldom].map(|number| number.min(threads));
    Some(Cow::Owned(LookGroup { threads, ran, seldom, running: 0, ..group.clone() }))
}

/// What looks have told.
#[derive(Debug)]
pub(super) struct Waiting {
    looks: u64,
    looks_partial: u64,
    reasons: Keyed<Reason, Seen>,
    reason_steps: Timed<Reason>,
    look_steps: Timed<()>,
    texts: Texts,
    /// Files by the place that waits for them.
    files: HashMap<usize, usize>,
    starved: StarvedPools,
    circles: Vec<Vec<Cell>>,
    requests: Requests,
    executors: Executors,
    queues: Queues,
    crowded: Crowded,
    datagrams: Datagrams,
    collections: Collections,
    peers: Peers,
    unnotified: Unnotified,
    initialisers: Initialisers,
}

impl Default for Waiting {
    fn default() -> Self {
        Self {
            looks: 0,
            looks_partial: 0,
            reasons: Keyed::new(REASONS),
            reason_steps: Timed::default(),
            look_steps: Timed::default(),
            texts: Texts::default(),
            files: HashMap::new(),
            starved: StarvedPools::default(),
            circles: Vec::new(),
            requests: Requests::default(),
            executors: Executors::default(),
            queues: Queues::default(),
            crowded: Crowded::default(),
            datagrams: Datagrams::default(),
            collections: Collections::default(),
            peers: Peers::default(),
            unnotified: Unnotified::default(),
            initialisers: Initialisers::default(),
        }
    }
}

impl Waiting {
    pub(super) fn look(&mut self, look: &ThreadLook, stacks: &Stacks) {
        self.looks += 1;
        self.look_steps.count((), look.time_ns, 1);
        self.looks_partial += u64::from(look.virtual_more);
        let mut reasons = Vec::with_capacity(look.groups.len());
        for (number, group) in look.groups.iter().enumerate() {
            let Some((kind, what)) = reason(group.waits.as_ref(), stacks, group.stack) else { continue };
            let Some(group) = waiting(kind, &what, group) else { continue };
            let group = &*group;
            let Some(place) = place(kind, group, stacks) else { continue };
            let what = group.holder.as_ref().and_then(|holder| ended(kind, holder)).unwrap_or(what);
            let called = site::top_label(stacks, group.stack);
            let [what, place, called] = [what, place, called].map(|text| self.texts.number(text));
            let what = if kind == Kind::File { self.file(place, what) } else { what };
            let reason = (kind, what, place, called);
            let seen = self.reasons.entry(reason);
            let looks = seen.looks;
            seen.add(self.looks, look, group, stacks);
            let amounts = Durations { count: seen.looks - looks, total_ns: group.threads, max_ns: seen.now };
            self.reason_steps.add(reason, look.time_ns, amounts);
            reasons.push((number, reason));
        }
        for (reason, found) in past(look, &reasons, stacks) {
            self.reasons.entry(reason).past.merge(&found);
        }
        self.requests.look(look, stacks, &mut self.texts);
        self.starved.look(look, stacks);
        self.circles = circles(look, stacks);
        self.executors.look(look, stacks);
        self.queues.look(look, stacks);
        self.crowded.look(look, stacks);
        self.datagrams.look(look, stacks);
        self.collections.look(look);
        self.peers.look(look);
        self.unnotified.look(look, stacks);
        self.initialisers.look(look, stacks);
    }

    /// What a place waits for: the file is known only while a thread is in the call.
    fn file(&mut self, place: usize, what: usize) -> usize {
        if self.texts.of(what).starts_with('/') {
            if self.files.len() < TEXTS {
                self.files.insert(place, what);
            }
            return what;
        }
        self.files.get(&place).copied().unwrap_or(what)
    }

    pub(super) fn start(&mut self, start_ns: u64) {
        self.reason_steps.start(start_ns);
        self.look_steps.start(start_ns);
    }

    /// When rows of the table of reasons were seen.
    pub(super) fn table_steps(&self) -> TableSteps {
        let columns = [("average", Amount::Mean), ("most", Amount::Max), ("looks", Amount::Count)];
        let id = (Lens::Threads.id(), "waiting");
        let all = self.look_steps.table(id, &[("looks", Amount::Count)], |()| Some(()), |()| Vec::new());
        let looks = all.rows.into_iter().flat_map(|row| row.steps);
        let weights = looks.filter_map(|(step, looks)| Some((step, *looks.first()?))).collect();
        let table = self.reason_steps.table(id, &columns, |reason| Some(self.label(reason)), labels);
        TableSteps { weights, ..table }
    }

    fn label(&self, (kind, what, place, called): &Reason) -> Label {
        (*kind, self.texts.of(*what), self.texts.of(*place), self.texts.of(*called))
    }

    pub(super) const fn looks(&self) -> u64 {
        self.looks
    }

    /// Looks that left virtual threads out.
    pub(super) const fn looks_partial(&self) -> u64 {
        self.looks_partial
    }

    pub(super) fn notes(&self) -> impl Iterator<Item = String> {
        let partial = (self.looks_partial > 0).then(|| {
            format!(
                "{} at threads read some of the virtual threads that were not mounted, and left the others out: their numbers are \
                 the least that there were.",
                format::plural(self.looks_partial, "look", "looks")
            )
        });
        partial.into_iter().chain(self.reasons.note("reasons to wait"))
    }

    /// Threads of the program that waited, on average.
    pub(super) fn average(&self) -> f64 {
        let waits = self.reasons.iter().filter(|((kind, ..), _)| *kind != Kind::Sleep);
        let threads: u64 = waits.map(|(_, seen)| seen.threads).sum();
        threads as f64 / self.looks.max(1) as f64
    }

    /// `has_started` says of names whether threads with such have started.
    pub(super) fn tables(&self, span: &Span, has_started: impl Fn(&str) -> bool) -> Vec<Shape> {
        if self.looks == 0 {
            return Vec::new();
        }
        vec![
            self.reasons_table(span),
            self.requests.table(self.looks, &self.texts),
            self.executors.table(has_started),
            self.queues.table(),
            self.crowded.table(),
            self.datagrams.table(),
            self.collections.table(),
            self.peers.table(),
            self.starved.table(),
            self.circles_table(),
            self.unnotified.table(),
            self.initialisers.table(),
        ]
    }

    fn reasons_table(&self, span: &Span) -> Shape {
        let looks = self.looks as f64;
        let amounts = |seen: &Seen| {
            let (holder, place) = seen.holder.clone().unzip();
            let text = |text: Option<String>| text.map_or(Cell::Missing, Cell::from);
            let [average, of_virtual] =
                [seen.threads, seen.virtual_threads].map(|threads| Cell::Float(threads as f64 / looks));
            let (holder, place, callers) = (text(holder), text(place.flatten()), text(seen.callers.clone()));
            let ran = match seen.compared {
                0 => Cell::Missing,
                compared => Cell::Float(100.0 * seen.ran as f64 / compared as f64),
            };
            let held_back = match seen.held_back {
                0 => Cell::Missing,
                of => Cell::Float(100.0 * of as f64 / seen.threads.max(1) as f64),
            };
            let [first, last] = [seen.first_ns, seen.last_ns].map(|ns| Cell::Int(ns.saturating_sub(span.start_ns)));
            vec![
                average,
                of_virtual,
                seen.most.into(),
                seen.looks.into(),
                ran,
                held_back,
                holder,
                place,
                callers,
                seen.together.into(),
                first,
                last,
                text(seen.pool.clone()),
                seen.asked.map_or(Cell::Missing, Cell::from),
                seen.served.map_or(Cell::Missing, Cell::from),
            ]
            .into_iter()
            .chain(seen.past.cells(looks))
            .collect()
        };
        self.reasons.grouped(|reason| Some(self.label(reason))).table(
            "waiting",
            "What threads of the program wait for",
            vec![
                column("kind", "Kind", Unit::Text),
                column("what", "What for", Unit::Text),
                column("site", "Place", Unit::Text),
                column("called", "In", Unit::Text),
                column("average", "Threads, average", Unit::Count),
                column("virtual_average", "Of these virtual", Unit::Count),
                column("most", "Most", Unit::Count),
                column("looks", "Looks", Unit::Count),
                column("ran_percent", "Had run", Unit::Percent),
                column("held_back_percent", "Held back", Unit::Percent),
                column("holder", "Held by", Unit::Text),
                column("holder_site", "Holder's place", Unit::Text),
                column("callers", "From", Unit::Text),
                column("together", "Most for one object", Unit::Count),
                column("first_ns", "First seen", Unit::Ns),
                column("last_ns", "Last seen", Unit::Ns),
                column("pool", "Names", Unit::Text),
                column("asked", "Asked", Unit::Text),
                column("served", "Served", Unit::Text),
                column("past", "Went on, average", Unit::Count),
                column("past_site", "Most of them at", Unit::Text),
                column("past_what", "Waiting for", Unit::Text),
                column("past_callers", "From", Unit::Text),
                column("past_through", "All through", Unit::Text),
            ],
            |seen| seen.threads,
            labels,
            amounts,
        )
    }

    fn circles_table(&self) -> Shape {
        Shape::Table(Table {
            id: "circles",
            title: "Threads that wait for each other".to_owned(),
            columns: vec![
                column("circle", "Circle", Unit::Count),
                column("thread", "Thread", Unit::Text),
                column("site", "Place", Unit::Text),
                column("kind", "Kind", Unit::Text),
                column("what", "Waits for", Unit::Text),
                column("holder", "Held by", Unit::Text),
            ],
            rows: self.circles.clone(),
        })
    }
}

/// The line of the program that waits; none where it is none of the program's.
fn place(kind: Kind, group: &LookGroup, stacks: &Stacks) -> Option<String> {
    let own = || site::frame(stacks, group.stack).filter(|frame| site::is_app(frame));
    let place = match kind {
        // What objects do that nothing holds any more is told by the method that was called for them.
        Kind::References => own().map(|own| site::entry(stacks, group.stack).unwrap_or(own)),
        // Who ended the JVM, which may be a signal, matters less than what keeps it.
        Kind::Shutdown => group.holder.as_ref().and_then(|hook| site::frame(stacks, hook.stack?)),
        _ => own(),
    };
    Some(place?.to_string())
}

/// The thread whose end is waited for, without what tells threads of a pool apart.
fn ended(kind: Kind, thread: &Holding) -> Option<String> {
    let name = last_number(&thread.name);
    match kind {
        Kind::Join => Some(format!("the end of `{name}`")),
        Kind::Shutdown => Some(format!("the shutdown hook `{name}`")),
        _ => None,
    }
}

/// The pattern of most of these names.
fn pool(names: &[String]) -> Option<String> {
    let mut patterns: BTreeMap<String, u64> = BTreeMap::new();
    for name in names {
        *patterns.entry(last_number(name)).or_default() += 1;
    }
    patterns.into_iter().max_by(|a, b| a.1.cmp(&b.1).then(b.0.cmp(&a.0))).map(|(pattern, _)| pattern)
}

/// A reason in words.
type Label = (Kind, String, String, String);

fn labels((kind, what, site, called): Label) -> Vec<Cell> {
    vec![kind.key().into(), what.into(), site.into(), called.into()]
}

/// A row for each thread of a circle.
fn circles(look: &ThreadLook, stacks: &Stacks) -> Vec<Vec<Cell>> {
    let row = |(circle, one): (usize, &Circled)| {
        let Circled { name, stack, waits, holder } = one;
        vec![
            (circle as u64 + 1).into(),
            name.clone().into(),
            site::label(stacks, *stack).into(),
            Kind::of(waits).key().into(),
            words(waits, || None).into(),
            holder.clone().into(),
        ]
    };
    let all = look.circles.iter().enumerate().flat_map(|(index, circle)| circle.iter().map(move |one| (index, one)));
    all.take(ROWS).map(row).collect()
}

#[cfg(test)]
mod tests;

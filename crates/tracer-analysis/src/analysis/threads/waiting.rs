//! What threads of the program wait for, from looks at all threads: how many on average, for what, from which line, and who holds it.
//!
//! Threads without a frame of the program are left out: pools without work, and what the JDK keeps for itself. So are those whose
//! reason says nothing: a thread that sleeps.

use std::{
    borrow::Cow,
    collections::{BTreeMap, HashMap},
};

use super::super::{
    distribution::Durations,
    pattern::last_number,
    row_steps::{Amount, Timed},
    site,
    table::{Keyed, Merge, OTHERS, column},
};
use super::{
    executors::Executors,
    initialisers::Initialisers,
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
/// Most texts that are told apart.
const TEXTS: usize = 16_384;
/// Most bytes of them, which are kept twice: a target decides how long they are.
const TEXT_BYTES: usize = 16 << 20;
/// Most threads of circles that are shown.
const ROWS: usize = 100;

/// A reason to wait: its kind, and the numbers of what it waits for, of the place, and of what that called.
type Reason = (Kind, usize, usize, usize);

/// How often a reason was seen.
#[derive(Clone, Debug, Default)]
struct Seen {
    looks: u64,
    /// When the first and the last look began that saw it.
    first_ns: u64,
    last_ns: u64,
    /// Number of the last look that saw it, and the threads in that.
    last: u64,
    now: u64,
    /// Threads, over all looks, and of these virtual ones that were not mounted.
    threads: u64,
    virtual_threads: u64,
    /// Those of looks that had one before, and of these, those that had run since.
    compared: u64,
    ran: u64,
    /// Those for which a peer on this machine had bytes that it did not send yet.
    held_back: u64,
    most: u64,
    /// Most that waited for one object.
    together: u64,
    /// Who held it when most waited, and where that was.
    holder: Option<(String, Option<String>)>,
    /// How most of them came there.
    callers: Option<String>,
    /// The names of most of them, without what tells threads of a pool apart.
    pool: Option<String>,
}

impl Seen {
    fn add(&mut self, number: u64, look: &ThreadLook, group: &LookGroup, stacks: &Stacks) {
        if self.looks == 0 {
            self.first_ns = look.time_ns;
        }
        if self.last != number {
            (self.last, self.now) = (number, 0);
            self.looks += 1;
        }
        self.last_ns = look.time_ns;
        let is_first = look.span_ns == 0;
        self.threads += group.threads;
        self.virtual_threads += if group.is_virtual { group.threads } else { 0 };
        self.compared += if is_first || group.is_virtual { 0 } else { group.threads };
        self.ran += group.ran.saturating_sub(group.seldom);
        self.held_back += group.held_back;
        self.now += group.threads;
        self.together = self.together.max(group.together);
        let most = self.now > self.most;
        if most {
            self.most = self.now;
            self.callers = site::callers(stacks, group.stack);
            self.pool = pool(&group.names);
        }
        // Between two owners a lock has none.
        if let Some(holder) = group.holder.as_ref().filter(|_| most || self.holder.is_none()) {
            let place = holder.stack.map(|stack| site::label(stacks, stack));
            let place = if holder.ended { Some(HAS_ENDED.to_owned()) } else { place };
            self.holder = Some((holder.name.clone(), place));
        }
    }
}

impl Merge for Seen {
    fn merge(&mut self, other: &Self) {
        if self.looks == 0 || (other.looks > 0 && other.first_ns < self.first_ns) {
            self.first_ns = other.first_ns;
        }
        self.last_ns = self.last_ns.max(other.last_ns);
        self.looks = self.looks.max(other.looks);
        self.threads += other.threads;
        self.virtual_threads += other.virtual_threads;
        self.compared += other.compared;
        self.ran += other.ran;
        self.held_back += other.held_back;
        if other.most > self.most {
            self.callers.clone_from(&other.callers);
            self.pool.clone_from(&other.pool);
        }
        if self.holder.is_none() || (other.most > self.most && other.holder.is_some()) {
            self.holder.clone_from(&other.holder);
        }
        self.most = self.most.max(other.most);
        self.together = self.together.max(other.together);
    }
}

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

/// Texts by number; what comes above the bound has one number together.
#[derive(Debug)]
struct Texts {
    all: Vec<String>,
    numbers: HashMap<String, usize>,
    bytes: usize,
}

impl Default for Texts {
    fn default() -> Self {
        Self { all: vec![OTHERS.to_owned()], numbers: HashMap::new(), bytes: 0 }
    }
}

impl Texts {
    fn number(&mut self, text: String) -> usize {
        if let Some(known) = self.numbers.get(&text) {
            return *known;
        }
        if self.all.len() > TEXTS || self.bytes + text.len() > TEXT_BYTES {
            return 0;
        }
        self.bytes += text.len();
        self.all.push(text.clone());
        self.numbers.insert(text, self.all.len() - 1);
        self.all.len() - 1
    }

    fn of(&self, number: usize) -> String {
        self.all.get(number).cloned().unwrap_or_default()
    }
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
    executors: Executors,
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
            executors: Executors::default(),
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
        for group in &look.groups {
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
        }
        self.starved.look(look, stacks);
        self.circles = circles(look, stacks);
        self.executors.look(look, stacks);
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
        let threads: u64 = self.reasons.iter().map(|(_, seen)| seen.threads).sum();
        threads as f64 / self.looks.max(1) as f64
    }

    pub(super) fn tables(&self, span: &Span) -> Vec<Shape> {
        if self.looks == 0 {
            return Vec::new();
        }
        vec![
            self.reasons_table(span),
            self.executors.table(),
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
            ]
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
            words(waits).into(),
            holder.clone().into(),
        ]
    };
    let all = look.circles.iter().enumerate().flat_map(|(index, circle)| circle.iter().map(move |one| (index, one)));
    all.take(ROWS).map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::{super::super::testing::Play, *};
    use crate::{
        event::StackId,
        item::look::{Holding, Waits},
    };

    /// A thread that waits to be notified, or for the end of one.
    fn one(stack: StackId, joined: Option<u32>, holder: Option<Holding>) -> LookGroup {
        LookGroup {
            stack,
            threads: 1,
            ran: 0,
            seldom: 0,
            running: 0,
            held_back: 0,
            together: 1,
            is_virtual: false,
            names: Vec::new(),
            waits: Some(Waits::Notify { class: None, address: 1, joined }),
            holder,
        }
    }

    /// The table of reasons after looks that each saw one group, so long after the look before.
    fn reasons<const N: usize>(looks: [(u64, LookGroup); N], stacks: &Stacks) -> Table {
        let mut waiting = Waiting::default();
        for (span_ns, group) in looks {
            waiting.look(&ThreadLook { span_ns, groups: vec![group], ..ThreadLook::default() }, stacks);
        }
        let Some(Shape::Table(table)) = waiting.tables(&Span::default()).into_iter().next() else { panic!("a table") };
        table
    }

    #[test]
    fn long_texts_take_no_more_than_their_bytes_and_the_rest_has_one_number() {
        let mut texts = Texts::default();
        let numbers: Vec<usize> = (0..4096).map(|number| texts.number(format!("{number:08192}"))).collect();
        let kept: usize = texts.numbers.keys().map(String::len).sum();
        assert!(kept <= TEXT_BYTES && kept > TEXT_BYTES / 2, "{kept}");
        assert_eq!((numbers[0], numbers[4095], texts.of(0)), (1, 0, OTHERS.to_owned()));
    }

    #[test]
    fn a_lock_has_its_holder_and_those_who_wait_their_callers() {
        let mut play = Play::default();
        let park = "jdk.internal.misc.Unsafe.park";
        let waits =
            play.stack(&["a.Shop.serve:3", "a.Stock.take:9", "java.util.concurrent.locks.LockSupport.park:1", park]);
        let holds = play.stack(&["a.Shop.audit:7", "a.Stock.count:20", "java.lang.Thread.sleep"]);
        let class = "java.util.concurrent.locks.ReentrantReadWriteLock$NonfairSync".to_owned();
        let group = |threads, ran, holder| LookGroup {
            threads,
            ran,
            together: threads,
            waits: Some(Waits::Unpark { class: class.clone(), address: 1, owner: Some(7), ended: None }),
            ..one(waits, None, holder)
        };
        let holder = Holding { name: "auditor".to_owned(), stack: Some(holds), ended: false };
        // Nobody is known to have run before the first look.
        let looks = [(0, group(4, 0, None)), (1, group(3, 2, Some(holder))), (1, group(1, 0, None))];
        let table = reasons(looks, &play.stacks);
        let cell = |key: &str| {
            let column = table.column(key).expect(key);
            table.rows[0][column].clone()
        };
        assert_eq!(cell("site"), "a.Stock.take:9".into());
        assert_eq!(cell("most"), 4_u64.into());
        assert_eq!(cell("ran_percent"), 50.0.into());
        assert_eq!(cell("callers"), "a.Shop.serve:3".into());
        assert_eq!((cell("holder"), cell("holder_site")), ("auditor".into(), "a.Stock.count:20".into()));
    }

    /// Who writes byte by byte is in the kernel all the time, and runs there.
    #[test]
    fn who_runs_in_the_kernel_for_a_file_does_not_wait_for_it() {
        let mut play = Play::default();
        let stack =
            play.stack(&["a.Export.write:26", "java.io.FileOutputStream.write:313", "java.io.FileOutputStream.write"]);
        let group = |running| LookGroup { threads: 3, ran: 3, running, waits: None, ..one(stack, None, None) };
        let most = |running| {
            let table = reasons([(0, group(running)), (1, group(running))], &play.stacks);
            table.rows.first().map(|row| row[table.column("most").expect("most")].clone())
        };
        assert_eq!([0, 1, 3].map(most), [Some(3_u64.into()), Some(2_u64.into()), None]);
        // Whoever has data forced to the disk waits for what the kernel does for that, too.
        let force = play.stack(&["a.Log.add:12", "sun.nio.ch.FileDispatcherImpl.force0"]);
        let forced = LookGroup { threads: 3, running: 3, waits: None, ..one(force, None, None) };
        assert_eq!(reasons([(0, forced)], &play.stacks).rows.len(), 1);
    }

    #[test]
    fn cleaners_without_work_wait_for_nothing_of_the_programs() {
        let mut play = Play::default();
        let run = "jdk.internal.ref.CleanerImpl.run:148";
        let stack =
            play.stack(&["jdk.internal.misc.InnocuousThread.run:162", run, "java.lang.ref.ReferenceQueue.remove:155"]);
        let table = reasons([(0, one(stack, None, None))], &play.stacks);
        assert!(table.rows.is_empty(), "{:?}", table.rows);
    }

    /// A signal asked for the end, so no line of the program is on the stack that waits.
    #[test]
    fn the_end_of_the_jvm_waits_where_its_hook_stands() {
        let mut play = Play::default();
        let hooks = "java.lang.ApplicationShutdownHooks.runHooks:107";
        let stack = play.stack(&["java.lang.Shutdown.exit:173", hooks, "java.lang.Thread.join:1300"]);
        let flush = play.stack(&["a.Metrics.flush:16", "java.lang.Thread.sleep"]);
        let hook = Holding { name: "flush-3".to_owned(), stack: Some(flush), ended: false };
        let table = reasons([(0, one(stack, Some(7), Some(hook)))], &play.stacks);
        let cells = ["kind", "what", "site"].map(|key| table.rows[0][table.column(key).expect(key)].clone());
        let expected = ["shutdown", "the shutdown hook `flush-*`", "a.Metrics.flush:16"];
        assert_eq!(cells, expected.map(Cell::from));
    }
}

//! Exact mode: every object that is made, by class, place, thread and package, by the length of arrays, and by collection.

mod cycles;
mod lengths;
mod sites;
mod woven;

pub(in crate::analysis) use self::woven::Counted;
pub(super) use self::woven::woven;
use self::{
    cycles::Cycles,
    lengths::Lengths,
    sites::{Sites, cells, columns},
};
use super::super::{
    Context, Scaled,
    ended::{self, EndedThreads},
    profile,
    profile::{Amount, Amounts},
    scaled::scaled,
    steps::Steps,
    table::{Keyed, Merge, column},
};
use crate::{
    event::{Event, Payload, StackId, SubjectId, Tid},
    report::{Section, Series, Shape, Summary, Timeline, Unit},
    tally::{ContextTally, Tallies, Tally},
};

/// Most pairs of class and stack, and of class and thread.
const PAIRS: usize = 65_536;
/// Objects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::analysis) struct Made {
    pub(in crate::analysis) objects: u64,
    pub(in crate::analysis) bytes: u64,
    /// The largest one; not known of those that the kernel counted without a context, nor of arrays that woven code counts.
    largest_bytes: Option<u64>,
    /// Objects whose bytes are not known; they are not in the sum.
    not_sized: u64,
}

impl Made {
    fn add(&mut self, bytes: u64) {
        self.merge(&Self { objects: 1, bytes, largest_bytes: Some(bytes), not_sized: 0 });
    }
}

impl From<&ContextTally> for Made {
    fn from(tally: &ContextTally) -> Self {
        let ContextTally { count, bytes, largest, .. } = *tally;
        Self { objects: count, bytes, largest_bytes: Some(largest), not_sized: 0 }
    }
}

impl Merge for Made {
    fn merge(&mut self, other: &Self) {
        if self.objects == 0 {
            *self = *other;
        } else if other.objects > 0 {
            self.largest_bytes = self.largest_bytes.zip(other.largest_bytes).map(|(a, b)| a.max(b));
            self.objects = self.objects.saturating_add(other.objects);
            self.bytes = self.bytes.saturating_add(other.bytes);
            self.not_sized = self.not_sized.saturating_add(other.not_sized);
        }
    }
}

/// What was seen of each object.
#[derive(Debug)]
pub(super) struct Exact {
    total: Made,
    sites: Keyed<(SubjectId, StackId), Made>,
    threads: Keyed<(Tid, SubjectId), Made>,
    stacks: Amounts,
    steps: Steps<2>,
    lengths: Lengths,
    cycles: Cycles,
    tallies: Vec<Tally>,
    /// What the kernel counted by thread and stack; the latest that was read.
    contexts: Vec<ContextTally>,
    /// Objects and bytes of the tallies.
    tallied: (u64, u64),
    overflow: u64,
}

impl Default for Exact {
    fn default() -> Self {
        Self {
            total: Made::default(),
            sites: Keyed::new(PAIRS),
            threads: Keyed::new(PAIRS),
            stacks: Amounts::default(),
            steps: Steps::default(),
            lengths: Lengths::default(),
            cycles: Cycles::default(),
            tallies: Vec::new(),
            contexts: Vec::new(),
            tallied: (0, 0),
            overflow: 0,
        }
    }
}

impl Exact {
    pub(super) fn start(&mut self, start_ns: u64) {
        self.steps.start(start_ns);
        self.cycles.start(start_ns);
    }

    pub(super) fn event(&mut self, event: &Event) {
        match event.payload {
            Payload::ObjectAlloc { class, bytes, length, wanted: true } => {
                self.total.add(bytes);
                self.sites.entry((class, event.stack)).add(bytes);
                self.threads.entry((event.tid, class)).add(bytes);
                self.stacks.add(event.stack, event.tid, bytes);
                if let Some(length) = length {
                    self.lengths.add(class, length, bytes);
                }
                self.over_time(event.time_ns, 1, bytes);
            }
            Payload::GcBegin { .. } => self.cycles.begin(event.time_ns),
            _ => {}
        }
    }

    /// Takes notice of threads that ended.
    pub(super) fn threads_ended(&mut self, ended: &EndedThreads) {
        self.threads.sum_up(ended);
        self.stacks.sum_up(ended);
    }

    /// A reading has everything since the session began, so its time is that of what is new in it.
    pub(super) fn tallies(&mut self, tallies: &Tallies) {
        let sum =
            |of: fn(&Tally) -> u64| tallies.objects.iter().fold(0_u64, |sum, tally| sum.saturating_add(of(tally)));
        let (objects, bytes) = (sum(|tally| tally.count), sum(|tally| tally.bytes));
        self.over_time(tallies.time_ns, objects.saturating_sub(self.tallied.0), bytes.saturating_sub(self.tallied.1));
        self.tallied = (objects, bytes);
        self.tallies.clone_from(&tallies.objects);
        if let Some(contexts) = &tallies.contexts {
            self.contexts.clone_from(&contexts.objects);
        }
        self.overflow = tallies.overflow;
    }

    fn over_time(&mut self, time_ns: u64, objects: u64, bytes: u64) {
        self.steps.add(0, time_ns, bytes);
        self.steps.add(1, time_ns, objects);
        self.cycles.add(objects, bytes);
    }

    /// All objects, and their bytes.
    pub(super) fn scaled(&self) -> Vec<Scaled> {
        let (objects, bytes) = self.tallied;
        vec![
            scaled!("objects", "objects", self.total.objects.saturating_add(objects)),
            scaled!("bytes", "Objects", self.total.bytes.saturating_add(bytes)).in_bytes(),
        ]
    }

    /// Whether any object was seen one by one.
    pub(super) fn is_on(&self) -> bool {
        self.total.objects > 0 || !self.tallies.is_empty()
    }

    /// Adds numbers, notes and shapes to the section of the estimate.
    pub(super) fn add_to(&self, section: &mut Section, context: Context<'_>) {
        let mut total = self.total;
        total.merge(&Made { objects: self.tallied.0, bytes: self.tallied.1, largest_bytes: None, not_sized: 0 });
        let sites = Sites::of(self, context);
        let summary = std::mem::take(&mut section.summary);
        section.summary = Summary::new()
            .int("objects", total.objects)
            .int("bytes", total.bytes)
            .int("classes", sites.classes().len() as u64)
            .int("sites", sites.places())
            .followed_by(summary);
        let mut shapes = vec![sites.classes_table(total.bytes)];
        let with_places = sites.places() > 0;
        if with_places {
            shapes.push(sites.sites_table(total.bytes));
        }
        shapes.push(sites.packages_table(total.bytes));
        if self.threads.iter().next().is_some() || !self.contexts.is_empty() {
            shapes.push(self.threads_table(total.bytes, context));
        }
        shapes.extend(self.lengths.shapes(&self.tallies, context));
        shapes.extend(self.cycles.shape(context.span));
        shapes.push(self.timeline(context));
        shapes.push(sites.tree(total.bytes, with_places));
        shapes.extend(self.stacks_shape(context));
        shapes.append(&mut section.shapes);
        section.shapes = shapes;
        let mut notes = self.notes();
        notes.append(&mut section.notes);
        section.notes = notes;
    }

    /// Objects that the kernel counted by class alone: since it read the contexts last, or for want of room.
    fn objects_without_context(&self) -> u64 {
        let told = self.contexts.iter().fold(0_u64, |sum, tally| sum.saturating_add(tally.count));
        self.tallied.0.saturating_sub(told)
    }

    fn threads_table(&self, total: u64, context: Context<'_>) -> Shape {
        let label = |tid: Tid| (context.names.thread(tid), tid);
        let mut groups = self.threads.grouped(|(tid, _)| Some(label(*tid)));
        for tally in &self.contexts {
            groups.rows.entry(label(tally.tid())).or_default().merge(&tally.into());
        }
        groups.table(
            "objects_by_thread",
            "Objects by thread",
            columns(vec![column("thread", "Thread", Unit::Text), column("tid", "Thread id", Unit::Count)]),
            |made| made.bytes,
            |(thread, tid)| vec![thread.into(), u64::from(tid.0).into()],
            |made| cells(made, total),
        )
    }

    fn timeline(&self, context: Context<'_>) -> Shape {
        let (step_ns, [bytes, _]) = self.steps.series(context.span);
        let series = vec![Series { key: "bytes", title: "Allocated".to_owned(), values: bytes }];
        Shape::Timeline(Timeline {
            id: "objects_over_time",
            title: "Allocation per step".to_owned(),
            unit: Unit::Bytes,
            step_ns,
            levels: false,
            series,
        })
    }

    fn stacks_shape(&self, context: Context<'_>) -> Option<Shape> {
        let amount = |tally: &ContextTally| Amount { value: tally.bytes, count: tally.count };
        let with_stack = self.contexts.iter().filter(|tally| tally.stack() != StackId::default());
        let tallied = with_stack.map(|tally| (tally.stack(), tally.tid(), amount(tally)));
        let amounts = self.stacks.iter().chain(tallied);
        let others = self.stacks.others().copied();
        profile::shape("object_stacks", "Bytes by stack", Unit::Bytes, context, amounts, others, None)
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = vec![
            "Every object that reached the heap. A compiler leaves out objects that nobody else can see, so fewer can be \
             made than are written; of classes whose code was compiled while the lenses `methods` or `calls` were armed, \
             all that are written are here."
                .to_owned(),
        ];
        if !self.tallies.is_empty() {
            let untold = self.objects_without_context();
            let places = if untold == 0 {
                String::new()
            } else {
                format!("; of {untold} the thread and the place were not kept")
            };
            notes.push(format!(
                "Counted in the kernel: lengths above 15 are within 1/16 of their value, and the time of these objects is that \
                 of a reading{places}."
            ));
        }
        if self.overflow > 0 {
            notes.push(format!(
                "{} objects found no room in the kernel's tables and are counted nowhere else.",
                self.overflow
            ));
        }
        notes.extend(ended::note(self.contexts.iter().map(ContextTally::tid)));
        notes.extend(self.sites.note("pairs of class and stack"));
        notes.extend(self.threads.note("pairs of thread and class"));
        notes.extend(self.stacks.note());
        notes.extend(self.lengths.note());
        notes.extend(self.cycles.note());
        notes
    }
}

#[cfg(test)]
mod tests;

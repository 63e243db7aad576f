//! What woven code told of, where a library in the JVM counts (`--lane inside`): the places of one marker are the chosen methods, or the
//! allocations in them. What the lenses share: which marks are theirs; of calls, which are under way, and what a mark says of them.

use tracer_common::marks::{Context, WordKind};
use tracer_weave::PlaceDefinition;

use super::{EndedThreads, Lens, Scaled};
use crate::{
    client::{Client, ClientReport, Dispatch, EndedIndices, Ending, Exit, Instance, Known, Reporting, Thread},
    event::{SubjectId, Tid},
    item::GuardAction,
    mark::{CALLS, InContext, Inside, MarkBatch, Marker, Switched},
    report::{Section, Summary},
    text::format::plural,
};

/// What comes of marks.
#[derive(Debug)]
pub(super) struct Woven {
    dispatch: Dispatch,
    /// Which marker is theirs.
    is_theirs: fn(&Marker) -> bool,
    /// What is said of a session with gaps.
    scaled: fn(u64) -> Scaled,
    /// Whether code was chosen for this lane.
    pub(super) is_asked: bool,
    /// Markers that are on and off together.
    switched: Vec<Switched>,
    /// Methods and classes that were left as they were.
    left_out: u64,
    /// What became of code that was compiled before.
    code_before: Option<String>,
}

impl Woven {
    /// Nothing yet.
    pub(super) fn new(counts: impl Counts + 'static) -> Self {
        Self::of(Box::new(Counting::new(counts)), Marker::is_of_calls, Scaled::calls)
    }

    /// The same for a client of another marker.
    pub(super) fn of(client: Box<dyn Client>, is_theirs: fn(&Marker) -> bool, scaled: fn(u64) -> Scaled) -> Self {
        let mut dispatch = Dispatch::default();
        dispatch.add(client).expect("it is the first one");
        Self { dispatch, is_theirs, scaled, is_asked: false, switched: Vec::new(), left_out: 0, code_before: None }
    }

    /// Takes what is said of the session.
    pub(super) fn inside(&mut self, inside: &Inside) {
        if let Inside::Asked(asked) = inside {
            self.is_asked = asked.markers.iter().any(self.is_theirs);
            self.switched = asked.switched();
        }
        if let Inside::Woven(woven) = inside {
            self.left_out = self.left_out.saturating_add(woven.skipped_count);
            self.code_before = self.code_before.take().or_else(|| woven.code_before.as_ref()?.sentence());
        }
        if self.is_asked {
            self.dispatch.inside(inside);
        }
    }

    /// Takes notice of threads that ended.
    pub(super) fn threads_ended(&mut self, ended: &EndedThreads) {
        self.dispatch.threads_ended(ended.iter());
    }

    /// What must be known of code that was compiled before.
    pub(super) fn code_before(&self) -> Option<String> {
        self.code_before.clone()
    }

    /// A sentence where not all of what was chosen could be woven.
    pub(super) fn incomplete(&self) -> Option<String> {
        (self.left_out > 0).then(|| {
            format!(
                "{} of what was chosen could not be woven and {} not counted: the table `marker_skipped` has the reasons.",
                plural(self.left_out, "method or class", "methods and classes"),
                if self.left_out == 1 { "is" } else { "are" },
            )
        })
    }

    /// Takes marks.
    pub(super) fn marks(&mut self, batch: &MarkBatch<'_>) {
        if self.is_asked {
            self.dispatch.marks(batch);
        }
    }

    /// What was told before it was decided lies in the batches before.
    pub(super) fn guard(&mut self, action: &GuardAction) {
        if let Some(of) = self.switched.iter().find(|of| of.name == action.group) {
            self.dispatch.switched(&of.markers);
        }
    }

    /// Calls so far, of a group that holds the marker of chosen methods.
    pub(super) fn scaled(&self, group: &str) -> Vec<Scaled> {
        self.marker(group).map(|marker| (self.scaled)(self.dispatch.events(marker))).into_iter().collect()
    }

    /// Their marker, where it is in this group.
    pub(super) fn marker(&self, group: &str) -> Option<usize> {
        let markers = self.dispatch.known().markers();
        let of = self.switched.iter().find(|of| of.name == group)?;
        of.markers.iter().copied().find(|marker| markers.get(*marker).is_some_and(self.is_theirs))
    }

    /// The section of a lens; nothing where the other lane counts.
    pub(super) fn section(&self, lens: Lens, title: &str, context: super::Context<'_>) -> Option<Section> {
        let ClientReport { summary, notes, shapes } = self.report(context)?;
        Some(Section { id: lens.id(), title: title.to_owned(), summary, notes, shapes })
    }

    /// What is defined so far.
    pub(super) const fn known(&self) -> &Known {
        self.dispatch.known()
    }

    /// What comes of it; nothing where the other lane counts.
    pub(super) fn report(&self, context: super::Context<'_>) -> Option<ClientReport> {
        if !self.is_asked {
            return None;
        }
        let mut summary = Summary::new();
        let (mut notes, mut shapes) = (Vec::new(), Vec::new());
        for (_, report) in self.dispatch.reports(context.names, context.with_profiles) {
            summary = summary.followed_by(report.summary);
            notes.extend(report.notes);
            shapes.extend(report.shapes);
        }
        notes.extend(self.dispatch.notes());
        Some(ClientReport { summary, notes, shapes })
    }
}

/// A thread's name, and its number for the kernel where it has one of its own.
pub(super) type ThreadLabel = (String, Option<Tid>);

/// What a thread of marks is called. A virtual thread has no number of the kernel.
pub(super) fn thread_label(at: &Reporting<'_>, index: usize) -> ThreadLabel {
    let unknown = || ("<thread not named>".to_owned(), None);
    let known = at.threads.all().get(index);
    known.map_or_else(unknown, |thread| (thread.label(at.names), thread.tid.filter(|_| thread.java.is_none())))
}

/// The method of a place, with a line of it where that is known.
pub(super) fn place_label(of: &PlaceDefinition, line: Option<u16>) -> String {
    let line = line.map_or_else(String::new, |line| format!(":{line}"));
    format!("{}.{}{line}", of.class, of.method)
}

/// What a lens counts of calls. The index of a thread stands for it, and the number of a place for its method.
pub(super) trait Counts: Send {
    /// What is kept with a call under way.
    type Kept: Copy + Send;

    /// Whether it asks what the contexts of calls make.
    const TAKES_OBJECTS: bool = false;

    /// A call begins within another one, if one is under way; gives what to keep with it.
    fn begin(&mut self, thread: usize, method: SubjectId, around: Option<Self::Kept>) -> Self::Kept;

    /// A call has ended, or has been found to have.
    fn end(&mut self, thread: usize, kept: Self::Kept, ended: Ended);

    /// So many calls, and ends by an exception, were counted in the JVM and not told one by one.
    fn counted(&mut self, thread: usize, method: SubjectId, calls: u64, errors: u64);

    /// The same, in a context.
    fn counted_in(&mut self, at: CountedIn<Self::Kept>, method: SubjectId, calls: u64, errors: u64) {
        self.counted(at.thread, method, calls, errors);
    }

    /// So many objects were made at a place, or so many bytes of arrays: in a context, where one was told.
    fn made(&mut self, _at: Option<CountedIn<Self::Kept>>, _place: u32, _objects: u64, _bytes: u64) {}

    /// Threads that ended are one from now on. Gives what becomes of what is kept with calls under way.
    fn threads_ended(&mut self, ended: &EndedIndices) -> Box<dyn Fn(Self::Kept) -> Self::Kept>;

    /// Calls of a method so far.
    fn calls(&self, method: SubjectId) -> u64;

    /// What comes of it.
    fn report(&self, at: &Reporting<'_>) -> ClientReport;
}

/// A context that woven code counts in.
#[derive(Clone, Copy, Debug)]
pub(super) struct CountedIn<T> {
    pub(super) thread: usize,
    /// Its number, which only its thread has.
    pub(super) number: u32,
    /// Number of the context around it; 0: what was around all when counting began.
    pub(super) around: u32,
    /// It stands for the end of a call that was under way then: what it is around is what was around that call.
    pub(super) left: bool,
    /// What is kept with the innermost call that was under way then.
    pub(super) begun_in: Option<T>,
}

/// The client: turns marks into calls.
pub(super) struct Counting<C: Counts> {
    counts: C,
    under_way: UnderWay<C::Kept>,
}

impl<C: Counts> Counting<C> {
    pub(super) fn new(counts: C) -> Self {
        Self { counts, under_way: UnderWay(Vec::new()) }
    }
}

impl<C: Counts> Client for Counting<C> {
    fn name(&self) -> &'static str {
        CALLS
    }

    fn subscribe(&mut self, marker: &Marker) -> bool {
        marker.is_of_calls() || C::TAKES_OBJECTS && marker.is_of_objects()
    }

    fn marker_enter(&mut self, mark: &Instance<'_>) {
        let thread = mark.thread.index;
        let kept = self.counts.begin(thread, SubjectId(mark.place), self.under_way.innermost(thread));
        self.under_way.enter(thread, kept);
    }

    fn marker_exit(&mut self, mark: &Instance<'_>, exit: &Exit) {
        let (thread, Self { counts, under_way }) = (mark.thread.index, self);
        under_way.exit(thread, exit, mark.time_ns, |kept, ended| counts.end(thread, kept, ended));
    }

    fn marker_count(&mut self, mark: &Instance<'_>, of: WordKind, count: u64) {
        if mark.marker().is_some_and(Marker::is_of_objects) {
            let [objects, bytes] = [WordKind::Enter, WordKind::Bytes].map(|kind| if of == kind { count } else { 0 });
            self.counts.made(None, mark.place, objects, bytes);
            return;
        }
        let (calls, errors) = match of {
            WordKind::Enter => (count, 0),
            WordKind::Thrown => (0, count),
            WordKind::Point
            | WordKind::Exit
            | WordKind::Symbol
            | WordKind::Death
            | WordKind::Born
            | WordKind::Count
            | WordKind::Time
            | WordKind::Thread
            | WordKind::Argument
            | WordKind::Bytes
            | WordKind::Context => return,
        };
        self.counts.counted(mark.thread.index, SubjectId(mark.place), calls, errors);
    }

    fn marker_context(&mut self, mark: &Instance<'_>, context: u32, told: InContext) {
        let (thread, number) = (mark.thread.index, context);
        let begun_in = self.under_way.around_counted(thread);
        let at = CountedIn { thread, number, around: told.around, left: told.what == Context::Left, begun_in };
        match told.what {
            Context::Bytes => self.counts.made(Some(at), mark.place, 0, told.calls),
            Context::Region if mark.marker().is_some_and(Marker::is_of_objects) => {
                self.counts.made(Some(at), mark.place, told.calls, 0);
            }
            Context::Region | Context::Left => {
                self.counts.counted_in(at, SubjectId(mark.place), told.calls, told.errors);
            }
        }
    }

    fn stack_lost(&mut self, thread: &Thread) {
        self.under_way.forget(thread.index);
    }

    fn threads_ended(&mut self, ended: &EndedIndices) {
        ended.indices().for_each(|index| self.under_way.forget(index));
        self.under_way.change(self.counts.threads_ended(ended));
    }

    fn events(&self, place: u32) -> Option<u64> {
        Some(self.counts.calls(SubjectId(place)))
    }

    fn report(&self, at: &Reporting<'_>) -> ClientReport {
        self.counts.report(at)
    }
}

/// What the end of a call shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    /// An exception has ended this call.
    Error,
    /// This call is over and has a time.
    Timed {
        /// From its call to its end.
        total_ns: u64,
        /// Of these, in chosen methods that it called.
        inner_ns: u64,
        end_ns: u64,
        thrown: bool,
    },
}

/// Calls under way, by index of the thread. `T` is what is kept with each.
struct UnderWay<T>(Vec<OfThread<T>>);

struct OfThread<T> {
    /// The outermost first: what is kept, and the time in chosen methods directly within each.
    calls: Vec<(T, u64)>,
    /// Calls whose ends were not seen, since the last mark.
    unseen: Vec<T>,
}

impl<T: Copy> UnderWay<T> {
    fn thread(&mut self, thread: usize) -> &mut OfThread<T> {
        if self.0.len() <= thread {
            self.0.resize_with(thread + 1, || OfThread { calls: Vec::new(), unseen: Vec::new() });
        }
        &mut self.0[thread]
    }

    /// What is kept with the innermost call.
    fn innermost(&self, thread: usize) -> Option<T> {
        self.0.get(thread)?.calls.last().map(|(kept, _)| *kept)
    }

    /// The same, of calls that are counted from now on: none of those under way before is told to end.
    fn around_counted(&self, thread: usize) -> Option<T> {
        self.innermost(thread).or_else(|| self.0.get(thread)?.unseen.first().copied())
    }

    /// A call begins.
    fn enter(&mut self, thread: usize, kept: T) {
        let of = self.thread(thread);
        of.unseen.clear();
        of.calls.push((kept, 0));
    }

    /// A call ends at a time, where it has one.
    fn exit(&mut self, thread: usize, exit: &Exit, end_ns: Option<u64>, mut sink: impl FnMut(T, Ended)) {
        let of = self.thread(thread);
        // As in the other lane: an end whose call was not seen says nothing.
        if !exit.was_entered {
            of.unseen.clear();
            return;
        }
        let Some((kept, inner_ns)) = of.calls.pop() else { return };
        match exit.ending {
            Ending::Thrown => sink(kept, Ended::Error),
            Ending::Left => {}
            Ending::Unseen => of.unseen.push(kept),
        }
        if exit.ending != Ending::Unseen {
            // A call within this one ended before, and did not say so: the stack was so full that no mark could be made of the
            // exception. Where a marker was switched off, no end of a call around it follows.
            for within in std::mem::take(&mut of.unseen) {
                sink(within, Ended::Error);
            }
        }
        let seen_ns = if exit.is_late { 0 } else { exit.duration_ns.unwrap_or(inner_ns) };
        if let Some((_, around_ns)) = of.calls.last_mut() {
            *around_ns = around_ns.saturating_add(seen_ns);
        }
        if let (Some(total_ns), Some(end_ns)) = (exit.duration_ns, end_ns) {
            sink(kept, Ended::Timed { total_ns, inner_ns, end_ns, thrown: exit.ending == Ending::Thrown });
        }
    }

    /// What is kept with each call becomes something else.
    fn change(&mut self, change: impl Fn(T) -> T) {
        for of in &mut self.0 {
            of.calls.iter_mut().for_each(|(kept, _)| *kept = change(*kept));
            of.unseen.iter_mut().for_each(|kept| *kept = change(*kept));
        }
    }

    /// None of its calls is known to be under way any more.
    fn forget(&mut self, thread: usize) {
        let of = self.thread(thread);
        of.calls.clear();
        of.unseen.clear();
    }
}

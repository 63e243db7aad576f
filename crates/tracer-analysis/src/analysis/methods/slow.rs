//! The slowest calls, one by one.

use super::{
    super::{
        Context,
        shadow::{How, Left},
        site,
        table::column,
    },
    Labels,
};
use crate::{
    event::{StackId, SubjectId, Tid},
    report::{Cell, Shape, Table, Unit},
};

/// How many are kept.
const KEPT: usize = 50;

/// A call.
#[derive(Clone, Copy, Debug)]
struct Slow<T> {
    left: Left<T>,
    /// Since the start of the span.
    start_ns: u64,
    threw: bool,
}

/// The slowest calls, the slowest first; among equals the earliest.
#[derive(Clone, Debug)]
pub(super) struct Slowest<T>(Vec<Slow<T>>);

impl<T> Default for Slowest<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T: Copy + PartialEq> Slowest<T> {
    /// Takes a call that is over, if it is among the slowest.
    pub(super) fn offer(&mut self, left: &Left<T>, span_start_ns: u64) {
        let is_full = self.0.len() >= KEPT;
        if is_full && self.0.last().is_some_and(|last| last.left.total_ns >= left.total_ns) {
            return;
        }
        let at = self.0.partition_point(|slow| slow.left.total_ns >= left.total_ns);
        self.0.truncate(KEPT - 1);
        let start_ns = left.begin_ns.saturating_sub(span_start_ns);
        self.0.insert(at.min(self.0.len()), Slow { left: *left, start_ns, threw: left.how != How::Returned });
    }

    /// A call that was taken had ended by an exception.
    pub(super) fn threw(&mut self, left: &Left<T>) {
        let is_it = |slow: &&mut Slow<T>| {
            slow.left.data == left.data
                && slow.left.begin_ns == left.begin_ns
                && slow.left.method == left.method
                && slow.left.total_ns == left.total_ns
        };
        if let Some(slow) = self.0.iter_mut().find(is_it) {
            slow.threw = true;
        }
    }

    /// What was kept with the calls becomes something else.
    pub(super) fn change_data(&mut self, change: impl Fn(T) -> T) {
        self.0.iter_mut().for_each(|slow| slow.left.data = change(slow.left.data));
    }

    /// What was kept with the calls.
    pub(super) fn data(&self) -> impl Iterator<Item = &T> {
        self.0.iter().map(|slow| &slow.left.data)
    }

    /// The log; nothing where no call is over. `caller` says where a call came from, where that is known of some.
    pub(super) fn table(
        &self,
        labels: impl Fn(SubjectId) -> Labels,
        thread: impl Fn(T) -> (String, Option<Tid>),
        caller: Option<&dyn Fn(T) -> Option<String>>,
    ) -> Option<Shape> {
        if self.0.is_empty() {
            return None;
        }
        let row = |slow: &Slow<T>| {
            let Left { method, total_ns, self_ns, how, data, .. } = slow.left;
            let (class, name, signature) = labels(method);
            let (thread, tid) = thread(data);
            let outcome = match how {
                _ if !slow.threw => "returned",
                How::Returned | How::Unwound => "exception",
                How::Missing => "exception, end not seen",
            };
            let mut cells: Vec<Cell> = vec![
                class.into(),
                name.into(),
                signature.into(),
                total_ns.into(),
                self_ns.into(),
                slow.start_ns.into(),
                thread.into(),
                tid.map(|tid| u64::from(tid.0)).into(),
                outcome.into(),
            ];
            if let Some(caller) = caller {
                cells.push(caller(data).into());
            }
            cells
        };
        let mut columns = vec![
            column("class", "Class", Unit::Text),
            column("method", "Method", Unit::Text),
            column("signature", "Signature", Unit::Text),
            column("duration_ns", "Duration", Unit::Ns),
            column("self_ns", "Self", Unit::Ns),
            column("start_ns", "At", Unit::Ns),
            column("thread", "Thread", Unit::Text),
            column("tid", "Thread id", Unit::Count),
            column("outcome", "Outcome", Unit::Text),
        ];
        if caller.is_some() {
            columns.push(column("stack", "Called from", Unit::Text));
        }
        let rows = self.0.iter().map(row).collect();
        Some(Shape::Table(Table { id: "slowest", title: "Slowest calls".to_owned(), columns, rows }))
    }
}

/// The Java frames of a stack, innermost first, as far as a person reads on.
pub(super) fn frames(context: Context<'_>, stack: StackId) -> String {
    const FRAMES: usize = 12;
    let mut frames = context.stacks.frames_of(stack).filter(|frame| frame.kind.is_java());
    let shown: Vec<String> = frames.by_ref().take(FRAMES).map(ToString::to_string).collect();
    match (shown.is_empty(), frames.count()) {
        (true, _) => site::label(context.stacks, stack),
        (false, 0) => shown.join(" < "),
        (false, more) => format!("{} < ... {more} more", shown.join(" < ")),
    }
}

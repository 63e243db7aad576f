//! A shadow stack for each thread: which of the chosen methods are under way, from their entries, their returns and their
//! stack pointers.
//!
//! Returns are missing of what C1 has inlined, where an exception leaves it and goes on within the same frame; where events
//! were lost, and for what was under way when observation began. So stack pointers decide: stacks grow downwards, and a frame
//! below the pointer of a new entry is gone. A return just above the innermost frame can be its own all the same: a loop that is
//! compiled while it runs goes on in a frame of another size. At the same pointer it is one frame of C1's code with what that has inlined. Such a frame was left by an exception. Its end is the time of the last exception that was seen to leave a frame
//! since, else that of the event that showed it.

use super::{ended::EndedThreads, table::FastMap};
use crate::event::{SubjectId, Tid};

/// Most threads whose frames are remembered.
const THREADS: usize = 65_536;
/// Most frames on all threads: some 32 MiB.
const FRAMES: usize = 524_288;
/// An event that far from all frames of its thread is of another stack: a virtual thread has moved to this carrier.
const FAR_BYTES: u64 = 8 << 20;
/// How far below its entry an interpreted method can return: pushed results, monitors, alignment. Less than two frames of one
/// method with a few arguments need.
const RETURN_BYTES: u64 = 512;
/// How far above its entry a call can return whose frame became smaller while it ran (OSR).
const MOVED_BYTES: u64 = tracer_common::tally::RETURN_BYTES;

/// A call under way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame<T> {
    /// The method.
    pub(super) method: SubjectId,
    /// The stack pointer at its entry.
    pub(super) sp: u64,
    begin_ns: u64,
    /// Time in chosen methods that it called.
    inner_ns: u64,
    /// What the analysis keeps with it.
    pub(super) data: T,
}

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum How {
    /// The method said so; by an exception, if [`Outcome::Threw`] follows.
    Returned,
    /// By an exception, whose time is known.
    Unwound,
    /// By an exception, or its return was lost: a later event of the thread showed it, and gave it its time.
    Missing,
}

/// A call that is over.
#[derive(Clone, Copy, Debug)]
pub(super) struct Left<T> {
    /// The method.
    pub(super) method: SubjectId,
    /// When it was called.
    pub(super) begin_ns: u64,
    /// From its call to its end.
    pub(super) total_ns: u64,
    /// Of these, outside of chosen methods that it called.
    pub(super) self_ns: u64,
    /// How it ended.
    pub(super) how: How,
    /// What the analysis kept with it.
    pub(super) data: T,
}

impl<T> Left<T> {
    /// A call that the kernel has followed.
    pub(super) const fn timed(method: SubjectId, end_ns: u64, total_ns: u64, inner_ns: u64, data: T) -> Self {
        let (begin_ns, self_ns) = (end_ns.saturating_sub(total_ns), total_ns.saturating_sub(inner_ns));
        Self { method, begin_ns, total_ns, self_ns, how: How::Returned, data }
    }
}

/// What an event says about earlier ones.
#[derive(Clone, Copy, Debug)]
pub(super) enum Outcome<T> {
    /// A call is over.
    Left(Left<T>),
    /// The call that returned last, and was told so, had been ended by an exception.
    Threw(Left<T>),
}

/// What did not fit together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    /// Returns of calls whose entry was not seen.
    pub(super) returns_without_entry: u64,
    /// Calls that ended without a return.
    pub(super) missing_returns: u64,
    /// Of these, those whose end is only known to have been before some event.
    pub(super) inexact_ends: u64,
    /// Times that a thread went on with another stack.
    pub(super) moves: u64,
    /// Calls that were under way then, whose ends cannot be told any more.
    pub(super) abandoned: u64,
    /// Calls under way when the sites were taken away for a while: nobody knows their ends.
    pub(super) cut: u64,
    /// Entries that found no room.
    pub(super) beyond: u64,
}

/// The frames of one thread, outermost first; their stack pointers never rise.
#[derive(Clone, Debug)]
struct Thread<T> {
    frames: Vec<Frame<T>>,
    /// The last event was the return of this call, at this stack pointer.
    returned: Option<(u64, Left<T>)>,
    /// When an exception left a frame last, if no call or return came after it.
    unwound_ns: Option<u64>,
    /// Stack pointer of the outermost frame that found no room.
    beyond: Option<u64>,
}

impl<T> Default for Thread<T> {
    fn default() -> Self {
        Self { frames: Vec::new(), returned: None, unwound_ns: None, beyond: None }
    }
}

/// The calls under way on all threads.
#[derive(Clone, Debug)]
pub(super) struct Shadow<T> {
    threads: FastMap<Tid, Thread<T>>,
    frames: usize,
    limit: usize,
    /// What did not fit together.
    pub(super) counts: Counts,
}

impl<T> Default for Shadow<T> {
    fn default() -> Self {
        Self { threads: FastMap::default(), frames: 0, limit: FRAMES, counts: Counts::default() }
    }
}

impl<T: Copy> Shadow<T> {
    /// A method is called. `data` is asked for what to keep, and gets what was kept with the innermost call around it.
    pub(super) fn enter(
        &mut self,
        (tid, method, sp, time_ns): (Tid, SubjectId, u64, u64),
        data: impl FnOnce(Option<&Frame<T>>) -> T,
        sink: &mut impl FnMut(Outcome<T>),
    ) {
        if self.threads.len() >= THREADS && !self.threads.contains_key(&tid) {
            // Threads stay when their last call is over, so that most events allocate nothing.
            self.threads.retain(|_, thread| !thread.frames.is_empty());
            if self.threads.len() >= THREADS {
                self.counts.beyond += 1;
                data(None);
                return;
            }
        }
        let Self { threads, frames, limit, counts } = self;
        let thread = threads.entry(tid).or_default();
        *frames -= thread.begin_afresh_if_far(sp, counts);
        let (end_ns, how) = thread.end_of_missing(time_ns);
        while thread.frames.last().is_some_and(|frame| frame.sp < sp) {
            *frames -= thread.lose(end_ns, how, counts, sink);
        }
        (thread.returned, thread.unwound_ns) = (None, None);
        thread.beyond = thread.beyond.filter(|beyond| sp < *beyond);
        let data = data(thread.frames.last());
        if *frames < *limit && thread.beyond.is_none() {
            thread.frames.push(Frame { method, sp, begin_ns: time_ns, inner_ns: 0, data });
            *frames += 1;
        } else {
            thread.beyond.get_or_insert(sp);
            counts.beyond += 1;
        }
    }

    /// A method returns.
    pub(super) fn leave(
        &mut self,
        (tid, method, sp, time_ns): (Tid, SubjectId, u64, u64),
        sink: &mut impl FnMut(Outcome<T>),
    ) {
        let Self { threads, frames, limit: _, counts } = self;
        let Some(thread) = threads.get_mut(&tid) else {
            counts.returns_without_entry += 1;
            return;
        };
        *frames -= thread.begin_afresh_if_far(sp, counts);
        if thread.beyond.is_some_and(|beyond| sp <= beyond) {
            // One of those without room, which are counted.
            (thread.returned, thread.unwound_ns) = (None, None);
            return;
        }
        thread.beyond = None;
        let Some(at) = thread.frame_of(method, sp) else {
            counts.returns_without_entry += 1;
            (thread.returned, thread.unwound_ns) = (None, None);
            return;
        };
        let (end_ns, how) = thread.end_of_missing(time_ns);
        while thread.frames.len() > at + 1 {
            *frames -= thread.lose(end_ns, how, counts, sink);
        }
        thread.unwound_ns = None;
        if let Some(left) = thread.pop(time_ns, How::Returned) {
            *frames -= 1;
            thread.returned = Some((sp, left));
            sink(Outcome::Left(left));
        }
    }

    /// An exception has left a frame.
    ///
    /// That of the call that returned last, unless a frame still known lies below: then that is the one that was left.
    pub(super) fn unwind(&mut self, tid: Tid, sp: u64, time_ns: u64, sink: &mut impl FnMut(Outcome<T>)) {
        let Self { threads, frames, limit: _, counts } = self;
        let Some(thread) = threads.get_mut(&tid) else { return };
        let is_below = |thread: &Thread<T>| thread.frames.last().is_some_and(|frame| frame.sp < sp);
        if thread.is_far(sp) {
            return;
        }
        if let Some((returned_sp, left)) = thread.returned.take()
            && sp >= returned_sp
            && !is_below(thread)
        {
            sink(Outcome::Threw(left));
            return;
        }
        if !is_below(thread) {
            thread.unwound_ns = Some(time_ns);
        }
        while is_below(thread) {
            *frames -= thread.lose(time_ns, How::Unwound, counts, sink);
        }
    }

    /// A call is over that the kernel has followed.
    pub(super) fn timed(&mut self, tid: Tid, left: Left<T>) {
        if self.threads.len() < THREADS || self.threads.contains_key(&tid) {
            self.threads.entry(tid).or_default().returned = Some((0, left));
        }
    }

    /// What returned last is none of the calls that are followed.
    pub(super) fn forget_returned(&mut self, tid: Tid) {
        if let Some(thread) = self.threads.get_mut(&tid) {
            thread.returned = None;
        }
    }

    /// What the analysis keeps with calls stands for something else now.
    pub(super) fn change_data(&mut self, change: impl Fn(T) -> T) {
        for thread in self.threads.values_mut() {
            for frame in &mut thread.frames {
                frame.data = change(frame.data);
            }
            if let Some((_, left)) = &mut thread.returned {
                left.data = change(left.data);
            }
        }
    }

    /// The sites go away, or tell no ends any more: of what is under way the end will not be seen.
    pub(super) fn cut(&mut self) {
        self.counts.cut += self.frames as u64;
        self.frames = 0;
        self.threads.clear();
    }

    /// A thread ends; what it had under way, an exception has ended.
    pub(super) fn end_thread(&mut self, tid: Tid, time_ns: u64, sink: &mut impl FnMut(Outcome<T>)) {
        let Some(mut thread) = self.threads.remove(&tid) else { return };
        let (end_ns, how) = thread.end_of_missing(time_ns);
        while !thread.frames.is_empty() {
            self.frames -= thread.lose(end_ns, how, &mut self.counts, sink);
        }
    }

    /// Threads that ended are forgotten, unless a call is under way there whose end was lost.
    pub(super) fn forget(&mut self, ended: &EndedThreads) {
        self.threads.retain(|tid, thread| !thread.frames.is_empty() || !ended.is_long_gone(*tid));
    }

    /// Number of calls under way.
    #[cfg(test)]
    pub(super) const fn open(&self) -> u64 {
        self.frames as u64
    }

    /// Sentences about what did not fit together.
    pub(super) fn notes(&self) -> Vec<String> {
        let Counts { returns_without_entry, missing_returns, inexact_ends, moves, abandoned, cut, beyond } =
            self.counts;
        let mut notes = Vec::new();
        if returns_without_entry > 0 || self.frames > 0 {
            notes.push(format!(
                "{returns_without_entry} returns without a call (under way when observation began, or lost) and {} calls \
                 that were not over at its end are in no duration.",
                self.frames
            ));
        }
        if missing_returns > 0 {
            notes.push(format!(
                "{missing_returns} calls ended without a return, as exceptions do in code of C1, and count as errors; the \
                 end of {inexact_ends} of them is the time of the thread's next event."
            ));
        }
        if moves > 0 {
            notes.push(format!(
                "{moves} times a thread went on with another stack, as carriers of virtual threads do; {abandoned} calls \
                 were under way then, whose ends are not known."
            ));
        }
        if cut > 0 {
            notes.push(format!(
                "{cut} calls were under way when the governor took their sites or their ends away: they are counted, and in no \
                 duration."
            ));
        }
        if beyond > 0 {
            notes.push(format!(
                "{beyond} calls were too deep or on too many threads to be remembered: they are counted, and in no \
                 duration."
            ));
        }
        notes
    }
}

impl<T: Copy> Thread<T> {
    /// The innermost frame of a method that can return at this stack pointer. In compiled code it is the entry's.
    fn frame_of(&self, method: SubjectId, sp: u64) -> Option<usize> {
        let above = self.frames.partition_point(|frame| frame.sp >= sp);
        let near = self.frames.iter().enumerate().take(above).rev();
        near.take_while(|(_, frame)| frame.sp - sp <= RETURN_BYTES)
            .find(|(_, frame)| frame.method == method)
            .map(|(at, _)| at)
            .or_else(|| self.moved(method, sp))
    }

    /// The innermost frame, if it is one of this method and lies just below.
    fn moved(&self, method: SubjectId, sp: u64) -> Option<usize> {
        let is_near = |frame: &Frame<T>| frame.method == method && frame.sp < sp && sp - frame.sp <= MOVED_BYTES;
        self.frames.last().filter(|frame| is_near(frame)).map(|_| self.frames.len() - 1)
    }

    fn is_far(&self, sp: u64) -> bool {
        let (Some(outermost), Some(innermost)) = (self.frames.first(), self.frames.last()) else { return false };
        sp.saturating_sub(outermost.sp) > FAR_BYTES || innermost.sp.saturating_sub(sp) > FAR_BYTES
    }

    /// Forgets all frames where an event is of another stack; tells how many.
    fn begin_afresh_if_far(&mut self, sp: u64, counts: &mut Counts) -> usize {
        if !self.is_far(sp) {
            return 0;
        }
        let abandoned = self.frames.len();
        counts.moves += 1;
        counts.abandoned += abandoned as u64;
        *self = Self { frames: std::mem::take(&mut self.frames), ..Self::default() };
        self.frames.clear();
        abandoned
    }

    /// The best that is known of the end of a frame of which an event at this time shows that it is over.
    fn end_of_missing(&self, time_ns: u64) -> (u64, How) {
        self.unwound_ns.map_or((time_ns, How::Missing), |unwound_ns| (unwound_ns, How::Unwound))
    }

    /// The innermost frame is over without a return; tells how many frames went.
    fn lose(&mut self, end_ns: u64, how: How, counts: &mut Counts, sink: &mut impl FnMut(Outcome<T>)) -> usize {
        let Some(left) = self.pop(end_ns, how) else { return 0 };
        counts.missing_returns += 1;
        counts.inexact_ends += u64::from(how == How::Missing);
        sink(Outcome::Left(left));
        1
    }

    fn pop(&mut self, end_ns: u64, how: How) -> Option<Left<T>> {
        let Frame { method, sp: _, begin_ns, inner_ns, data } = self.frames.pop()?;
        let total_ns = end_ns.saturating_sub(begin_ns);
        if let Some(caller) = self.frames.last_mut() {
            caller.inner_ns = caller.inner_ns.saturating_add(total_ns);
        }
        Some(Left { method, begin_ns, total_ns, self_ns: total_ns.saturating_sub(inner_ns), how, data })
    }
}

#[cfg(test)]
mod tests;

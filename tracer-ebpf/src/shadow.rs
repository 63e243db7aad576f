//! The calls of a thread that are under way, so that a return finds its entry.
//!
//! Frames are told apart by their stack pointers. An entry or a return at `sp` shows that what lies at lower addresses is
//! over, whether or not its return was seen. But a loop that is compiled while it runs goes on in a frame of another size (OSR), so
//! what lies just below can be under way unless an exception has left a frame meanwhile. Frames with one stack pointer are one frame of C1's code and what it has inlined:
//! of that no return is sent where an exception ends it and goes on within the frame. Code that has said before in the same frame
//! that this method begins says it again only when the call of before is over.
#![expect(unsafe_code, reason = "map values are raw pointers")]

use core::{ffi::c_void, mem::offset_of, ptr::null_mut};

use aya_ebpf::{
    bindings::BPF_NOEXIST,
    helpers::{
        bpf_probe_read_user,
        generated::{bpf_ktime_get_ns, bpf_loop},
    },
};
use tracer_common::{
    record::{EventKind, Timed},
    stack::STACK_ABSENT,
    stats::SiteStats,
    tally::{
        CALL_CELL, CALL_METHOD, CALL_WORDS, CALLS_INLINE as INLINE, CALLS_WORDS, NO_CONTEXT, Outcome, RETURN_BYTES,
        bucket, bucket_key, context_id,
    },
};

use crate::{
    contexts,
    emit::{self, Hit, add, count},
    maps::{BUCKETS, CELLS, CHUNKS, DEMAND, EMPTY_CHUNK, EMPTY_THREAD, OUTCOMES, TARGET, THREADS},
};

/// Frames of a further chunk.
const CHUNK: usize = 64;
/// Deepest stack of chosen methods.
const MAX_DEPTH: u64 = 1 << 20;
/// Frames that one event can show to be over.
const MOST_OVER: u32 = 1 << 20;

/// A call under way.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Frame {
    pub(crate) sp: u64,
    pub(crate) method: u64,
    pub(crate) entered_ns: u64,
    /// Time in chosen methods that it called.
    pub(crate) inner_ns: u64,
    /// Cell of its method, or its context where calls are counted by that; 0 where user space counts, all bits where nobody does.
    pub(crate) cell: u64,
    /// `Method*` of the one that called it, where the filter asks for it; 0 where there is none.
    pub(crate) caller: u64,
    /// Where the code goes on that has said that it begins; 0 where that could not be read.
    pub(crate) pc: u64,
}

/// A call that is over.
#[derive(Clone, Copy)]
pub(crate) struct Over {
    pub(crate) cell: u64,
    pub(crate) caller: u64,
    pub(crate) total_ns: u64,
    pub(crate) inner_ns: u64,
}

/// A thread's calls.
#[repr(C)]
pub(crate) struct Thread {
    pub(crate) depth: u64,
    /// What returned last, if nothing has happened since: its cell and 1 more; 0 where something has.
    pub(crate) returned: u64,
    /// The stack pointer at that return.
    returned_sp: u64,
    /// 1 where an exception has left a frame since calls were last looked through.
    unwound: u64,
    /// [`tracer_common::tally::Demand::epoch`] of its calls.
    epoch: u64,
    frames: [Frame; INLINE],
}

// User space reads them.
const _: () = assert!(size_of::<Thread>() == 8 * CALLS_WORDS && size_of::<Frame>() == 8 * CALL_WORDS);
const _: () = assert!(offset_of!(Frame, method) == 8 * CALL_METHOD && offset_of!(Frame, cell) == 8 * CALL_CELL);

/// Further frames of a deep thread.
#[repr(C)]
pub(crate) struct Chunk([Frame; CHUNK]);

/// The calls of a thread, and what it has hit.
pub(crate) struct Calls {
    thread: *mut Thread,
    hit: *const Hit,
}

/// State of the loop that takes away what is over.
struct Sweep {
    /// The site that shows it, in whose name user space is told.
    site: u64,
    stats: *mut SiteStats,
    thread: *mut Thread,
    tid: u64,
    /// Frames below this stack pointer are over.
    sp: u64,
    /// Frames from this depth on are over, whatever their stack pointer.
    depth: u64,
    now_ns: u64,
}

/// State of the loop that looks for the call that returns.
struct Search {
    thread: *mut Thread,
    tid: u64,
    method: u64,
    /// Highest stack pointer that its entry can have had.
    most_sp: u64,
    /// What its entry must have come from; 0 where that does not matter.
    pc: u64,
    /// The depth that is looked at next, from 1; what was found in the end, or 0.
    depth: u64,
}

/// Frames that are looked at for the one that returns.
const MOST_LOOKS: u32 = 4096;
/// Calls that are looked at for one that the same code has begun: more than are inlined into each other.
const MOST_INLINED: u32 = 64;

#[inline(always)]
pub(crate) fn now_ns() -> u64 {
    // SAFETY: the helper has no precondition.
    unsafe { bpf_ktime_get_ns() }
}

#[inline(always)]
pub(crate) fn outcome(outcome: Outcome) {
    if let Some(counter) = OUTCOMES.get_ptr_mut(outcome as u32) {
        count(counter);
    }
}

impl Calls {
    /// The calls of a thread, if it has any. Of those that were under way when the sites went away for a while nobody knows
    /// the end.
    #[inline(always)]
    pub(crate) fn find(hit: &Hit, epoch: u32) -> Option<Self> {
        let thread = THREADS.get_ptr_mut(hit.tid)?;
        // SAFETY: `thread` points into a map value of this thread, which nobody else writes.
        unsafe {
            if (*thread).epoch != u64::from(epoch) {
                (*thread).epoch = u64::from(epoch);
                (*thread).depth = 0;
                (*thread).returned = 0;
            }
        }
        Some(Self { thread, hit })
    }

    /// The calls of a thread, which may be new.
    #[inline(always)]
    pub(crate) fn of(hit: &Hit, epoch: u32) -> Option<Self> {
        if let Some(calls) = Self::find(hit, epoch) {
            return Some(calls);
        }
        let empty = EMPTY_THREAD.get(0)?;
        let _: Result<(), _> = THREADS.insert(hit.tid, empty, u64::from(BPF_NOEXIST));
        let calls = Self::find(hit, epoch);
        if calls.is_none() {
            outcome(Outcome::Overflow);
        }
        calls
    }

    #[inline(always)]
    fn tid(&self) -> u32 {
        // SAFETY: the program's own hit outlives what is done about it.
        unsafe { (*self.hit).tid }
    }

    /// Nothing returned last any more.
    #[inline(always)]
    pub(crate) fn forget_returned(&self) {
        // SAFETY: `thread` points into a map value of this thread, which nobody else writes.
        unsafe { (*self.thread).returned = 0 };
    }

    /// What returned last, if the frame that an exception has left at `sp` can have been its own; it is then forgotten: its cell, or
    /// its context. What lies below that return is a later call, of code that does not report.
    #[inline(always)]
    pub(crate) fn take_thrown(&self, sp: u64) -> Option<u64> {
        // SAFETY: as above.
        let (returned, returned_sp) = unsafe { ((*self.thread).returned, (*self.thread).returned_sp) };
        self.forget_returned();
        if returned == 0 || sp < returned_sp { None } else { Some(returned - 1) }
    }

    #[inline(always)]
    pub(crate) fn depth(&self) -> u64 {
        // SAFETY: as above.
        unsafe { (*self.thread).depth }
    }

    /// The innermost call.
    #[inline(always)]
    pub(crate) fn top(&self) -> Option<*mut Frame> {
        frame(self.thread, u64::from(self.tid()), self.depth().wrapping_sub(1))
    }

    /// Whether the innermost call is one of this method.
    #[inline(always)]
    pub(crate) fn is_in(&self, method: u64) -> bool {
        // SAFETY: `frame` points into a map value of this thread.
        self.top().is_some_and(|frame| unsafe { (*frame).method == method })
    }

    /// An exception has left a frame: what lies below the next event is over.
    #[inline(always)]
    pub(crate) fn note_unwound(&self) {
        // SAFETY: as above.
        unsafe { (*self.thread).unwound = 1 };
    }

    /// Ends what a return of a method at `sp` shows to be over; its own call is not among that.
    #[inline(never)]
    pub(crate) fn sweep_below_return(&self, method: u64, sp: u64, now_ns: u64) {
        let Some(top) = self.top() else { return };
        // SAFETY: as above.
        let (top_method, top_sp) = unsafe { ((*top).method, (*top).sp) };
        if top_method != method || top_sp.wrapping_add(RETURN_BYTES) < sp {
            self.sweep(sp, now_ns);
        }
    }

    /// Ends what an event at `sp` shows to be over.
    #[inline(always)]
    pub(crate) fn sweep(&self, sp: u64, now_ns: u64) {
        let Some(top) = self.top() else { return };
        // SAFETY: as above.
        let (top_sp, unwound) = unsafe { ((*top).sp, (*self.thread).unwound) };
        let limit = if unwound != 0 { sp } else { sp.wrapping_sub(RETURN_BYTES) };
        // SAFETY: as above.
        unsafe { (*self.thread).unwound = 0 };
        if top_sp < limit {
            self.end_without_return(limit, u64::MAX, now_ns);
        }
    }

    /// Ends what an entry at `sp` shows to be over: all below, and a call that the same code has begun in the same frame. Gives
    /// where that code goes on.
    #[inline(never)]
    pub(crate) fn sweep_at_entry(&self, method: u64, sp: u64, now_ns: u64) -> u64 {
        self.sweep(sp, now_ns);
        // SAFETY: the helper fails where nothing can be read.
        let pc = unsafe { bpf_probe_read_user(sp as *const u64) }.unwrap_or(0);
        let Some(top) = self.top() else { return pc };
        // SAFETY: `frame` points into a map value of this thread.
        if pc != 0 && unsafe { (*top).sp } == sp {
            let mut search = Search {
                thread: self.thread,
                tid: u64::from(self.tid()),
                method,
                most_sp: sp,
                pc,
                depth: self.depth(),
            };
            // SAFETY: as in `end_without_return`.
            let looked = unsafe { bpf_loop(MOST_INLINED, look_at_one as *mut c_void, (&raw mut search).cast(), 0) };
            if looked < i64::from(MOST_INLINED) && search.depth != 0 {
                self.end_without_return(0, search.depth.wrapping_sub(1), now_ns);
            }
        }
        pc
    }

    #[inline(always)]
    fn end_without_return(&self, sp: u64, depth: u64, now_ns: u64) {
        // SAFETY: as in `tid`.
        let (site, stats) = unsafe { ((*self.hit).site, (*self.hit).stats) };
        let state =
            Sweep { site: u64::from(site), stats, thread: self.thread, tid: u64::from(self.tid()), sp, depth, now_ns };
        // SAFETY: the callback takes a pointer to the state, which lives longer than the loop.
        let _: i64 = unsafe { bpf_loop(MOST_OVER, sweep_one as *mut c_void, (&raw const state).cast_mut().cast(), 0) };
    }

    /// A call begins: where it is to be written, or null where there is no room. It is written there at once, as it would take
    /// much of a program's stack.
    #[inline(never)]
    pub(crate) fn push(&self) -> *mut Frame {
        let depth = self.depth();
        if depth >= INLINE as u64 && depth < MAX_DEPTH && (depth - INLINE as u64) % CHUNK as u64 == 0 {
            add_chunk(self.tid(), depth);
        }
        let Some(to) = frame(self.thread, u64::from(self.tid()), depth) else {
            outcome(Outcome::Overflow);
            return null_mut();
        };
        // SAFETY: as above.
        unsafe { (*self.thread).depth = depth + 1 };
        to
    }

    /// The innermost call of this method is over, if its entry was near this stack pointer; its time counts as inner time of
    /// the one that called it. Calls further in are over, too: they were inlined, and an exception has ended them.
    #[inline(never)]
    pub(crate) fn pop(&self, method: u64, sp: u64, now_ns: u64) -> Option<Over> {
        let mut top = self.top()?;
        // SAFETY: as above.
        if unsafe { (*top).method } != method {
            let depth = self.find_method(method, sp);
            if depth == 0 {
                return None;
            }
            self.end_without_return(0, depth, now_ns);
            top = self.top()?;
        }
        let over = end(self.thread, u64::from(self.tid()), top, now_ns);
        // SAFETY: as above.
        unsafe {
            (*self.thread).returned = if over.cell == NO_CONTEXT { 0 } else { over.cell + 1 };
            (*self.thread).returned_sp = sp;
        }
        Some(over)
    }

    /// Depth of the innermost call of a method, from 1; 0 where there is none.
    #[inline(always)]
    fn find_method(&self, method: u64, sp: u64) -> u64 {
        let mut search = Search {
            thread: self.thread,
            tid: u64::from(self.tid()),
            method,
            most_sp: sp.wrapping_add(RETURN_BYTES),
            pc: 0,
            depth: self.depth(),
        };
        // SAFETY: as in `end_without_return`.
        let looked = unsafe { bpf_loop(MOST_LOOKS, look_at_one as *mut c_void, (&raw mut search).cast(), 0) };
        if looked >= i64::from(MOST_LOOKS) { 0 } else { search.depth }
    }
}

unsafe extern "C" fn look_at_one(_index: u64, search: *mut c_void) -> i64 {
    // SAFETY: the loop passes its own state.
    let search = unsafe { &mut *search.cast::<Search>() };
    let Some(frame) = frame(search.thread, search.tid, search.depth.wrapping_sub(1)) else {
        search.depth = 0;
        return 1;
    };
    // SAFETY: `frame` points into a map value of this thread.
    let (method, sp) = unsafe { ((*frame).method, (*frame).sp) };
    if sp > search.most_sp {
        search.depth = 0;
        return 1;
    }
    // SAFETY: as above.
    if method == search.method && (search.pc == 0 || search.pc == unsafe { (*frame).pc }) {
        return 1;
    }
    search.depth -= 1;
    0
}

/// Ends the innermost call.
#[inline(always)]
fn end(thread: *mut Thread, tid: u64, top: *mut Frame, now_ns: u64) -> Over {
    // SAFETY: both point into map values of this thread, which nobody else writes.
    let (frame_of, depth) = unsafe { (top.read(), (*thread).depth) };
    let total_ns = now_ns.wrapping_sub(frame_of.entered_ns);
    // SAFETY: as above.
    unsafe { (*thread).depth = depth.wrapping_sub(1) };
    if let Some(caller) = frame(thread, tid, depth.wrapping_sub(2)) {
        // SAFETY: as above.
        unsafe { (*caller).inner_ns += total_ns };
    }
    Over { cell: frame_of.cell, caller: frame_of.caller, total_ns, inner_ns: frame_of.inner_ns }
}

/// Takes one call away that is over without a return: an exception has ended it.
unsafe extern "C" fn sweep_one(_index: u64, state: *mut c_void) -> i64 {
    // SAFETY: the loop passes its own state.
    let state = unsafe { &*state.cast::<Sweep>() };
    // SAFETY: `thread` points into a map value.
    let depth = unsafe { (*state.thread).depth };
    let Some(top) = frame(state.thread, state.tid, depth.wrapping_sub(1)) else { return 1 };
    // SAFETY: as above.
    if unsafe { (*top).sp } >= state.sp && depth <= state.depth {
        return 1;
    }
    // SAFETY: as above.
    let method = unsafe { (*top).method };
    let over = end(state.thread, state.tid, top, state.now_ns);
    outcome(Outcome::EntryWithoutReturn);
    if over.cell == 0 {
        tell(state, method, &over);
    } else {
        record(&over, true, state.tid as u32);
    }
    0
}

/// Tells user space, which counts the method, of a call that an exception has ended.
#[inline(always)]
fn tell(state: &Sweep, method: u64, over: &Over) {
    let (Some(target), Some(demand)) = (TARGET.get(0), DEMAND.get(0)) else { return };
    let (mut flags, mut inner) = (Timed::EXCEPTIONAL, over.inner_ns);
    if demand.at_return != 0 {
        // SAFETY: `thread` points into a map value; what ended stands no more in its depth.
        let depth = unsafe { (*state.thread).depth } + 1;
        flags |= Timed::UNCOUNTED | Timed::UNDECIDED | depth << Timed::DEPTH_BIT;
        if demand.callers != 0 {
            inner = over.caller;
        }
    }
    let hit = Hit { site: state.site as u16, stats: state.stats, target, tid: state.tid as u32, stack: STACK_ABSENT };
    emit::event(EventKind::MethodTimed, &[method, over.total_ns, inner, flags], &hit);
}

/// Counts a call that is over, where the kernel does.
#[inline(always)]
pub(crate) fn record(over: &Over, exceptional: bool, tid: u32) {
    let Some(demand) = DEMAND.get(0) else { return };
    if demand.contexts != 0 {
        contexts::leave(over.cell, over.total_ns, over.inner_ns, exceptional);
        return;
    }
    // 0 and all bits are no cells.
    if over.cell == 0 || over.cell > u64::from(u32::MAX) {
        return;
    }
    if demand.by_thread != 0 {
        contexts::leave(context_id(0, over.cell, 0, tid), over.total_ns, over.inner_ns, exceptional);
    }
    let index = over.cell as u32;
    let Some(cell) = CELLS.get_ptr_mut(index) else { return };
    // SAFETY: `cell` points into a map value of this CPU.
    unsafe {
        add(&raw mut (*cell).timed, 1);
        add(&raw mut (*cell).total_ns, over.total_ns);
        add(&raw mut (*cell).inner_ns, over.inner_ns);
        if exceptional {
            add(&raw mut (*cell).errors, 1);
        }
    }
    add_to_bucket(index, over.total_ns);
}

/// Counts a duration, or an array's length.
#[inline(always)]
pub(crate) fn add_to_bucket(cell: u32, amount: u64) {
    let key = bucket_key(cell, bucket(amount));
    if let Some(counter) = BUCKETS.get_ptr_mut(key) {
        count(counter);
    } else if BUCKETS.insert(key, 1, u64::from(BPF_NOEXIST)).is_err() {
        match BUCKETS.get_ptr_mut(key) {
            Some(counter) => count(counter),
            None => outcome(Outcome::Overflow),
        }
    }
}

/// The call that returned last had ended by an exception: the cell, or the context, that counted it.
#[inline(always)]
pub(crate) fn threw(counted: u64, tid: u32) {
    let Some(demand) = DEMAND.get(0) else { return };
    if demand.contexts != 0 {
        contexts::threw(counted);
        return;
    }
    if demand.by_thread != 0 {
        contexts::threw(context_id(0, counted, 0, tid));
    }
    if let Some(cell) = CELLS.get_ptr_mut(counted as u32) {
        // SAFETY: `cell` points into a map value of this CPU.
        unsafe { add(&raw mut (*cell).errors, 1) };
    }
}

#[inline(always)]
fn add_chunk(tid: u32, depth: u64) {
    let key = chunk_key(u64::from(tid), depth);
    if CHUNKS.get_ptr(key).is_none()
        && let Some(empty) = EMPTY_CHUNK.get(0)
    {
        let _: Result<(), _> = CHUNKS.insert(key, empty, u64::from(BPF_NOEXIST));
    }
}

#[inline(always)]
const fn chunk_key(tid: u64, depth: u64) -> u64 {
    (tid << 32) | ((depth - INLINE as u64) / CHUNK as u64)
}

/// The frame at a depth, from 0.
#[inline(always)]
fn frame(thread: *mut Thread, tid: u64, depth: u64) -> Option<*mut Frame> {
    if depth < INLINE as u64 {
        // SAFETY: the index is in bounds.
        return Some(unsafe { (&raw mut (*thread).frames).cast::<Frame>().add(depth as usize) });
    }
    if depth >= MAX_DEPTH {
        return None;
    }
    let chunk = CHUNKS.get_ptr_mut(chunk_key(tid, depth))?;
    let index = (depth - INLINE as u64) as usize % CHUNK;
    // SAFETY: the index is in bounds.
    Some(unsafe { (&raw mut (*chunk).0).cast::<Frame>().add(index) })
}

//! JNI calls of a thread that are under way, so that a return finds its entry.
//!
//! A JNI function always returns, and calls nest: native code calls Java, which calls native code, which calls JNI. Entries and
//! returns are missing only where the rate guard took sites away meanwhile. Stack pointers tell what is over, as a call
//! lies below the one that it is nested in, and epochs tell what began before sites were away.
#![expect(unsafe_code, reason = "map values are raw pointers")]

use core::{ffi::c_void, ptr::null_mut};

use aya_ebpf::{bindings::BPF_NOEXIST, helpers::generated::bpf_loop};
use tracer_common::jni::{Frame, MAX_DEPTH, Outcome, Thread};

use super::maps::{JNI_NO_CALLS, JNI_OUTCOMES, JNI_THREADS};
use crate::{emit::count, shadow::now_ns};

/// How far apart the stack pointers of a function's sites can be: both lie in its frame.
const SAME_FRAME_BYTES: u64 = 512;

/// A thread's calls.
pub(super) struct Calls(pub(super) *mut Thread);

/// A call that is over.
#[derive(Clone, Copy)]
pub(super) struct Over {
    pub(super) caller: u64,
    pub(super) total_ns: u64,
    pub(super) inner_ns: u64,
    /// Calls under way, this one included.
    pub(super) depth: u64,
    pub(super) timed: bool,
}

/// State of the loop that takes away what is over: frames below a stack pointer.
struct Sweep {
    thread: *mut Thread,
    sp: u64,
}

#[inline(always)]
pub(super) fn outcome(outcome: Outcome) {
    if let Some(counter) = JNI_OUTCOMES.get_ptr_mut(outcome as u32) {
        count(counter);
    }
}

impl Calls {
    #[inline(always)]
    pub(super) fn find(tid: u32) -> Option<Self> {
        JNI_THREADS.get_ptr_mut(tid).map(Self)
    }

    /// The calls of a thread, which may be new.
    #[inline(always)]
    pub(super) fn of(tid: u32) -> Option<Self> {
        if let Some(calls) = Self::find(tid) {
            return Some(calls);
        }
        let empty = JNI_NO_CALLS.get(0)?;
        let _: Result<(), _> = JNI_THREADS.insert(tid, empty, u64::from(BPF_NOEXIST));
        let calls = Self::find(tid);
        if calls.is_none() {
            outcome(Outcome::Overflow);
        }
        calls
    }

    #[inline(always)]
    fn top(&self) -> Option<*mut Frame> {
        // SAFETY: the pointer is a map value of this thread, which nobody else writes.
        let depth = unsafe { (*self.0).depth };
        frame(self.0, depth.wrapping_sub(1))
    }

    /// Ends what an event at this stack pointer shows to be over.
    #[inline(always)]
    fn sweep(&self, sp: u64) {
        let Some(top) = self.top() else { return };
        // SAFETY: as above.
        if unsafe { (*top).sp } >= sp {
            return;
        }
        let state = Sweep { thread: self.0, sp };
        // SAFETY: the callback takes a pointer to the state, which lives longer than the loop.
        let _: i64 =
            unsafe { bpf_loop(MAX_DEPTH as u32, sweep_one as *mut c_void, (&raw const state).cast_mut().cast(), 0) };
    }

    /// A call begins: where it is to be written, or null where there is no room. It is written there at once, as it would take
    /// much of a program's stack.
    #[inline(never)]
    pub(super) fn push(&self, sp: u64) -> *mut Frame {
        // A frame at the same pointer is over as well: one lies below the other.
        self.sweep(sp + 1);
        // SAFETY: as above.
        let depth = unsafe { (*self.0).depth };
        let Some(to) = frame(self.0, depth) else {
            // SAFETY: as above.
            unsafe { (*self.0).beyond += 1 };
            return null_mut();
        };
        // SAFETY: as above.
        unsafe {
            (*self.0).depth = depth + 1;
            (*self.0).beyond = 0;
        }
        to
    }

    /// A call of this function is over: says whether its entry was seen, and what is known of it. The caller of one that is not
    /// timed was not kept. A function of its own: a call takes much of a program's stack.
    #[inline(never)]
    pub(super) fn pop(&self, function: u32, epoch: u32, sp: u64, over: &mut Over) -> bool {
        self.sweep(sp.wrapping_sub(SAME_FRAME_BYTES));
        let Some(top) = self.top() else { return false };
        // SAFETY: as above.
        let (thread, frame_of) = unsafe { (self.0, top.read()) };
        // SAFETY: as above.
        let (depth, beyond) = unsafe { ((*thread).depth, (*thread).beyond) };
        if beyond > 0 {
            if frame_of.sp > sp + SAME_FRAME_BYTES {
                outcome(Outcome::TooDeep);
                // SAFETY: as above.
                unsafe { (*thread).beyond = beyond - 1 };
                over.depth = depth + beyond;
                return true;
            }
            // SAFETY: as above.
            unsafe { (*thread).beyond = 0 };
        }
        if frame_of.function != function || frame_of.epoch != epoch || frame_of.sp > sp + SAME_FRAME_BYTES {
            return false;
        }
        let total_ns = now_ns().wrapping_sub(frame_of.entered_ns);
        // SAFETY: as above.
        unsafe { (*thread).depth = depth - 1 };
        if let Some(outer) = frame(thread, depth.wrapping_sub(2)) {
            // SAFETY: as above.
            unsafe { (*outer).inner_ns += total_ns };
        }
        *over = Over { caller: frame_of.caller, total_ns, inner_ns: frame_of.inner_ns, depth, timed: true };
        true
    }
}

/// Takes one call away that is over without a return.
unsafe extern "C" fn sweep_one(_index: u64, state: *mut c_void) -> i64 {
    // SAFETY: the loop passes its own state.
    let state = unsafe { &*state.cast::<Sweep>() };
    // SAFETY: `thread` points into a map value.
    let depth = unsafe { (*state.thread).depth };
    let Some(top) = frame(state.thread, depth.wrapping_sub(1)) else { return 1 };
    // SAFETY: as above.
    if unsafe { (*top).sp } >= state.sp {
        return 1;
    }
    outcome(Outcome::EntryWithoutReturn);
    // SAFETY: as above.
    unsafe { (*state.thread).depth = depth - 1 };
    0
}

/// The frame at a depth, from 0.
#[inline(always)]
fn frame(thread: *mut Thread, depth: u64) -> Option<*mut Frame> {
    if depth >= MAX_DEPTH as u64 {
        return None;
    }
    // SAFETY: the index is in bounds.
    Some(unsafe { (&raw mut (*thread).frames).cast::<Frame>().add(depth as usize) })
}

//! Contexts: what is counted of a subject on a thread, at a stack, below another context.
#![expect(unsafe_code, reason = "map values are raw pointers")]

use aya_ebpf::bindings::BPF_NOEXIST;
use tracer_common::tally::{self, CUT, Context, MAX_CONTEXTS, NO_CONTEXT, Outcome, context_id};

use crate::{
    emit::count,
    maps::{CONTEXTS, CONTEXTS_MADE},
    shadow::outcome,
};

/// Beside the number of a thread: the call was inlined into the one around it.
pub(crate) const INLINED: u64 = 1 << 32;

/// Counts a call, or an object, in its context, whose id this is; [`NO_CONTEXT`] where there is no room for it. `thread` can say
/// [`INLINED`]. A function of its own: a context takes much of a program's stack.
#[inline(never)]
pub(crate) fn enter(parent: u64, subject: u64, stack: u64, thread: u64, is_new: &mut bool) -> u64 {
    let tid = thread as u32;
    let id = context_id(parent, subject, stack, tid);
    if let Some(context) = CONTEXTS.get_ptr_mut(id) {
        return counted(context, id, subject, stack);
    }
    let Some(made) = CONTEXTS_MADE.get_ptr_mut(tally::CONTEXTS_MADE) else { return NO_CONTEXT };
    let Some(taken) = CONTEXTS_MADE.get_ptr_mut(tally::CONTEXTS_TAKEN) else { return NO_CONTEXT };
    // SAFETY: both point into a map value.
    let is_full = unsafe { made.read_volatile() >= taken.read_volatile() + MAX_CONTEXTS as u64 };
    let (parent, id) = if is_full { (CUT, context_id(CUT, subject, stack, tid)) } else { (parent, id) };
    if is_full && let Some(context) = CONTEXTS.get_ptr_mut(id) {
        return counted(context, id, subject, stack);
    }
    let new = Context {
        parent,
        subject,
        stack,
        tid,
        inlined: u32::from(thread & INLINED != 0),
        count: 1,
        errors: 0,
        total_ns: 0,
        inner_ns: 0,
        largest: 0,
        bytes: 0,
    };
    if CONTEXTS.insert(id, new, u64::from(BPF_NOEXIST)).is_err() {
        outcome(Outcome::Overflow);
        return NO_CONTEXT;
    }
    if !is_full {
        count(made);
    }
    *is_new = true;
    id
}

/// Counts in a context that is there, if it is the one and not another with the same hash.
#[inline(always)]
fn counted(context: *mut Context, id: u64, subject: u64, stack: u64) -> u64 {
    // SAFETY: `context` points into a map value that only this thread writes.
    unsafe {
        if (*context).subject != subject || (*context).stack != stack {
            outcome(Outcome::Overflow);
            return NO_CONTEXT;
        }
        (*context).count += 1;
    }
    id
}

/// A call in a context is over.
#[inline(always)]
pub(crate) fn leave(id: u64, total_ns: u64, inner_ns: u64, exceptional: bool) {
    if let Some(context) = CONTEXTS.get_ptr_mut(id) {
        // SAFETY: `context` points into a map value that only this thread writes.
        unsafe {
            (*context).total_ns += total_ns;
            (*context).inner_ns += inner_ns;
            (*context).errors += u64::from(exceptional);
            if (*context).largest < total_ns {
                (*context).largest = total_ns;
            }
        }
    }
}

/// The call in this context that returned last had ended by an exception.
#[inline(always)]
pub(crate) fn threw(id: u64) {
    leave(id, 0, 0, true);
}

/// An object was counted in a context: its size.
#[inline(always)]
pub(crate) fn add_bytes(id: u64, bytes: u64) {
    if let Some(context) = CONTEXTS.get_ptr_mut(id) {
        // SAFETY: as above.
        unsafe {
            (*context).bytes += bytes;
            if (*context).largest < bytes {
                (*context).largest = bytes;
            }
        }
    }
}

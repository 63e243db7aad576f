//! One step of a walk: names the frame that it has come to by its address, and goes on to the caller.
#![expect(unsafe_code, reason = "the loop helper hands the walk over as a raw pointer")]

use core::ffi::c_void;

use tracer_common::{
    stack::{FRAME_RETURN_ADDRESS, FrameKind, RawFrame, StackEnd},
    unwind::{CodeLayout, Rule, RuleBase},
};

use super::{
    frozen, incomplete, interpreter,
    place::{self, INTERPRETER, Place, RETURN_BARRIER},
    scratch::{Scratch, Slot},
};
use crate::{
    args::{read, word},
    maps::CODE,
};

/// What the loop helper wants: 0 goes on, 1 ends the loop.
pub(super) unsafe extern "C" fn step(_index: u64, slot: *mut c_void) -> i64 {
    // SAFETY: the walk passes its own slot.
    let walk = unsafe { &mut *(*slot.cast::<Slot>()).scratch() };
    let Some(layout) = CODE.get(0) else {
        return 1;
    };
    let mut passed = frame(walk, layout);
    if passed.is_err() && walk.entry != 0 {
        passed = frozen::skip(walk, layout);
    }
    match passed {
        Ok(()) => 0,
        Err(end) => {
            walk.stop(end);
            1
        }
    }
}

#[inline(always)]
fn frame(walk: &mut Scratch, layout: &CodeLayout) -> Result<(), StackEnd> {
    let pc = walk.pc;
    if frozen::at_end(walk, layout) {
        return frozen::next(walk, layout);
    }
    if pc == 0 {
        return Err(StackEnd::Root);
    }
    if walk.count >= walk.most {
        return Err(StackEnd::TooDeep);
    }
    let place = place::find(pc, walk.interrupted, layout)?;
    if place.kind == RETURN_BARRIER {
        return frozen::enter(walk, layout);
    }
    if place.kind == INTERPRETER {
        return interpreter::pass(walk, layout);
    }
    let flag = if walk.interrupted == 0 { FRAME_RETURN_ADDRESS } else { 0 };
    let mut address = pc;
    if place.original_pc != 0
        && let Ok(original) = word(walk.sp.wrapping_add(u64::from(place.original_pc) - 1))
    {
        address = original;
    }
    walk.push(RawFrame { tag: u64::from(place.kind) | flag | u64::from(place.compile_id) << 32, address });
    if walk.entry != 0 {
        return frozen::to_caller(walk, place.rule);
    }
    if frozen::fetches(walk, layout) {
        return frozen::pass_fetching(walk, layout);
    }
    let rule = rule(walk, place);
    walk.below = u64::from(place.kind);
    if rule.0 == incomplete::NO_FRAME.0 {
        return interpreter::without_frame(walk).ok_or(StackEnd::UnknownCode);
    }
    to_caller(walk, rule)
}

/// The place's rule; but the code of the JVM has rules for return addresses only, and its innermost frame may not be
/// complete.
#[inline(always)]
fn rule(walk: &Scratch, place: Place) -> Rule {
    if walk.interrupted == 0 {
        let pushes = walk.below == FrameKind::Stub as u64 && place.kind == FrameKind::Compiled as u32;
        return if pushes { incomplete::caller_of_stub(walk.sp, place.rule) } else { place.rule };
    }
    if place.kind == FrameKind::Native as u32 {
        return place.rule;
    }
    incomplete::rule(walk.pc, walk.sp, walk.fp, place)
}

#[inline(always)]
fn to_caller(walk: &mut Scratch, rule: Rule) -> Result<(), StackEnd> {
    let base = rule.base();
    let distance = u64::from(rule.cfa_words()) * 8;
    if base == RuleBase::Root as u8 {
        return Err(StackEnd::Root);
    }
    if base == RuleBase::Signal as u8 {
        return out_of_signal(walk);
    }
    let mut saved = u64::from(rule.rbp_words()) * 8;
    let cfa = if base == RuleBase::Rsp as u8 {
        walk.sp.wrapping_add(distance)
    } else if base == RuleBase::Rbp as u8 {
        walk.fp.wrapping_add(distance)
    } else if base == RuleBase::Plt as u8 {
        walk.sp.wrapping_add(if walk.pc & 15 >= 11 { 16 } else { 8 })
    } else if base == RuleBase::BelowRbpDeref as u8 {
        // A function that realigned its stack keeps the CFA in its frame, and the caller's rbp where rbp points.
        let cfa = word(walk.fp.wrapping_sub(distance)).map_err(|_| StackEnd::UnreadableStack)?;
        saved = cfa.wrapping_sub(walk.fp);
        cfa
    } else {
        // No table covers the code: a frame pointer, if it is one, leads on.
        if walk.fp < walk.sp || walk.fp.wrapping_sub(walk.sp) > MAX_GUESSED_FRAME || walk.fp & 7 != 0 {
            return Err(StackEnd::NoTable);
        }
        saved = 16;
        walk.fp.wrapping_add(16)
    };
    if cfa <= walk.sp {
        return Err(StackEnd::NotRising);
    }
    let unreadable = |_| StackEnd::UnreadableStack;
    // Nearly every function saves rbp right below its return address, and both words cost one read as one word does.
    let mut caller = if saved == 16 {
        read((&raw mut walk.words).cast(), 16, cfa.wrapping_sub(16)).map_err(unreadable)?;
        walk.fp = walk.words[0];
        saved = 0;
        walk.words[1]
    } else {
        word(cfa.wrapping_sub(8)).map_err(unreadable)?
    };
    walk.sp = cfa;
    if caller == ENTRY_BARRIER_COOKIE {
        caller = word(cfa).map_err(|_| StackEnd::UnreadableStack)?;
        walk.sp = cfa.wrapping_add(8);
    }
    if saved != 0 {
        walk.fp = word(cfa.wrapping_sub(saved)).map_err(|_| StackEnd::UnreadableStack)?;
    }
    walk.pc = caller;
    walk.interrupted = 0;
    Ok(())
}

/// The stub that a compiled method calls at its entry (17 and later) keeps a word of its own between its return address
/// and its frame, which begins as this.
const ENTRY_BARRIER_COOKIE: u64 = u64::MAX;

/// Largest frame that is believed where only a frame pointer leads on.
const MAX_GUESSED_FRAME: u64 = 64 << 10;

/// Offsets of rbp, rsp and rip in the `ucontext` to which rsp points when a handler has returned (x86-64).
const UCONTEXT_RBP: u64 = 120;
const UCONTEXT_RSP: u64 = 160;
const UCONTEXT_RIP: u64 = 168;

#[inline(always)]
fn out_of_signal(walk: &mut Scratch) -> Result<(), StackEnd> {
    let at = |offset| word(walk.sp.wrapping_add(offset)).map_err(|_| StackEnd::UnreadableStack);
    let (fp, sp, pc) = (at(UCONTEXT_RBP)?, at(UCONTEXT_RSP)?, at(UCONTEXT_RIP)?);
    walk.fp = fp;
    walk.sp = sp;
    walk.pc = pc;
    // The next instruction of what was interrupted, not a return address.
    walk.interrupted = 1;
    Ok(())
}

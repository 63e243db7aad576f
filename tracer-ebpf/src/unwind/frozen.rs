//! Frames of a virtual thread that lie in the heap. While such a thread runs, only its innermost frames stand on its
//! carrier's stack. The others are copies of stack in objects (`StackChunk`), which are chained; behind the last one the
//! stack goes on with the carrier's own frames.
//!
//! A thread cannot run its virtual thread's frames and have them moved at once, but it can be in native code while a
//! collector moves the chunks. What is read then may be stale, so nothing in a chunk is believed unless it leads on.

use tracer_common::{
    stack::{FRAME_RETURN_ADDRESS, FrameKind, RawFrame, StackEnd},
    unwind::{CodeLayout, Rule, RuleBase},
};

use super::{blob::u32_at, incomplete, scratch::Scratch};
use crate::{args::word, maps::CODE};

/// Places in which the continuation's entry is looked for: the bottom frame on the stack has up to twice as many words of
/// arguments on it.
const SEARCHED: usize = 64;
/// Most bytes of frames that are fetched from the heap at once.
const MAX_FETCHED_BYTES: u64 = 1 << 20;
/// Largest chunk that is believed, in words.
const MAX_CHUNK_WORDS: u32 = 1 << 24;
/// What stands for an object that could not be found; no object lies there.
const UNREADABLE: u64 = 1;
/// Words of a saved rbp and a return address.
const LINKAGE_BYTES: u64 = 16;

/// Goes on behind the frame that returns to the barrier: into the heap, or past it where chunks cannot be followed.
#[inline(always)]
pub(super) fn enter(walk: &mut Scratch, layout: &CodeLayout) -> Result<(), StackEnd> {
    let entry = unwind_entry(walk.sp);
    if entry == 0 {
        push_marker(walk, layout);
        return Err(StackEnd::InHeap);
    }
    walk.entry_return = word(layout.continuation_return).map_err(|_| StackEnd::InHeap)?;
    walk.entry = entry;
    if layout.entry_continuation == 0 {
        return skip(walk, layout);
    }
    let Ok(continuation) = word(entry.wrapping_add(u64::from(layout.entry_continuation))) else {
        return skip(walk, layout);
    };
    open(walk, continuation, layout.continuation_tail, layout)
}

/// Whether the code that is run fetches frames from the heap: its own frame is taken then, and the fetched ones are left out
/// with a mark, because they are neither here nor there.
#[inline(always)]
pub(super) fn fetches(walk: &Scratch, layout: &CodeLayout) -> bool {
    if walk.pc < layout.fetching[0] || walk.pc >= layout.fetching[1] {
        return false;
    }
    let entry = entry_at(walk.fp, layout);
    entry >= walk.sp && entry.wrapping_sub(walk.sp) <= MAX_FETCHED_BYTES && is_frame(entry, layout)
}

/// Goes from code that fetches frames to the carrier's frames.
#[inline(always)]
pub(super) fn pass_fetching(walk: &mut Scratch, layout: &CodeLayout) -> Result<(), StackEnd> {
    walk.entry_return = word(layout.continuation_return).map_err(|_| StackEnd::InHeap)?;
    walk.entry = entry_at(walk.fp, layout);
    skip(walk, layout)
}

/// Whether the walk is in the heap and has come to the end of a chunk.
#[inline(always)]
pub(super) fn at_end(walk: &Scratch, layout: &CodeLayout) -> bool {
    walk.entry != 0
        && (walk.pc == 0
            || walk.pc == layout.return_barrier
            || walk.pc == walk.entry_return
            || walk.sp >= walk.chunk_end)
}

/// Goes on to the chunk that holds the callers of this one's frames, or to the carrier's frames.
#[inline(always)]
pub(super) fn next(walk: &mut Scratch, layout: &CodeLayout) -> Result<(), StackEnd> {
    open(walk, walk.chunk, layout.chunk_parent, layout)
}

/// Gives the frames in the heap up, with a mark, and goes on with the carrier's.
#[inline(always)]
pub(super) fn skip(walk: &mut Scratch, layout: &CodeLayout) -> Result<(), StackEnd> {
    push_marker(walk, layout);
    leave(walk);
    Ok(())
}

/// From a compiled frame in a chunk to its caller.
#[inline(always)]
pub(super) fn to_caller(walk: &mut Scratch, rule: Rule) -> Result<(), StackEnd> {
    if rule.base() != RuleBase::Rsp as u8 {
        return Err(StackEnd::InHeap);
    }
    let above = walk.sp.wrapping_add(u64::from(rule.cfa_words()) * 8);
    if above <= walk.sp || above > walk.chunk_end {
        return Err(StackEnd::InHeap);
    }
    called_below(walk, above)
}

/// An address in a chunk: the word at `at` says how many words from there it is.
#[inline(always)]
pub(super) const fn relative(from: u64, words: u64) -> u64 {
    from.wrapping_add(words.wrapping_mul(8))
}

/// Goes to the frame at `sp`, below which lies where it goes on. The saved rbp there matters to interpreted frames only, and
/// is relative for those.
#[inline(always)]
fn called_below(walk: &mut Scratch, sp: u64) -> Result<(), StackEnd> {
    let link = sp.wrapping_sub(LINKAGE_BYTES);
    walk.pc = word(sp.wrapping_sub(8)).map_err(|_| StackEnd::InHeap)?;
    walk.fp = relative(link, word(link).map_err(|_| StackEnd::InHeap)?);
    walk.sp = sp;
    walk.interrupted = 0;
    Ok(())
}

/// Goes to the top of the chunk that a field of an object refers to; where there is none, to the carrier's frames.
#[inline(always)]
fn open(walk: &mut Scratch, holder: u64, field: u32, layout: &CodeLayout) -> Result<(), StackEnd> {
    let chunk = unwind_object(holder.wrapping_add(u64::from(field)));
    if chunk == 0 {
        leave(walk);
        return Ok(());
    }
    let (Some(sp), Some(bottom)) = (u32_at(chunk, layout.chunk_sp), u32_at(chunk, layout.chunk_bottom)) else {
        return Err(StackEnd::InHeap);
    };
    if chunk == UNREADABLE || chunk & 7 != 0 || bottom > MAX_CHUNK_WORDS || sp > bottom {
        return Err(StackEnd::InHeap);
    }
    let stack = chunk.wrapping_add(u64::from(layout.chunk_stack));
    walk.chunk = chunk;
    walk.chunk_end = relative(stack, u64::from(bottom));
    if sp == bottom {
        // It is empty: the next step goes on from here.
        walk.pc = 0;
        return Ok(());
    }
    called_below(walk, relative(stack, u64::from(sp)))
}

/// Goes to the frame in which the carrier entered the continuation.
#[inline(always)]
fn leave(walk: &mut Scratch) {
    walk.pc = walk.entry_return;
    walk.sp = walk.entry;
    walk.interrupted = 0;
    walk.entry = 0;
}

#[inline(always)]
fn push_marker(walk: &mut Scratch, layout: &CodeLayout) {
    walk.push(RawFrame { tag: FrameKind::Stub as u64 | FRAME_RETURN_ADDRESS, address: layout.return_barrier });
}

/// Address of the entry of the continuation whose bottom frame on the stack returns to `sp`, or 0.
///
/// It lies there, above the bottom frame's arguments, whose number it holds. Above it is a return address. The saved rbp
/// does not lead there: it may be of another carrier.
#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn unwind_entry(sp: u64) -> u64 {
    let Some(layout) = CODE.get(0) else { return 0 };
    if layout.continuation_return == 0 {
        return 0;
    }
    let first = sp.wrapping_add(15) & !15;
    for index in 0..SEARCHED {
        let entry = first.wrapping_add(index as u64 * 16);
        let Some(words) = u32_at(entry, layout.entry_argument_words) else { return 0 };
        let arguments = entry.wrapping_sub(u64::from(words) * 8) & !15;
        if arguments == first && incomplete::returns_to(above(entry, layout)) {
            return entry;
        }
    }
    0
}

/// Whether a frame of the entry's size at this address has a return address.
#[inline(always)]
fn is_frame(entry: u64, layout: &CodeLayout) -> bool {
    layout.continuation_return != 0 && entry & 15 == 0 && incomplete::returns_to(above(entry, layout))
}

/// Where the return address lies above an entry.
#[inline(always)]
fn above(entry: u64, layout: &CodeLayout) -> u64 {
    entry.wrapping_add(u64::from(layout.entry_bytes)).wrapping_sub(8)
}

/// The entry of the continuation at whose frame rbp points: so does the saved rbp of the bottom frame on the stack, and rbp
/// itself in the code that fetches frames.
#[inline(always)]
fn entry_at(fp: u64, layout: &CodeLayout) -> u64 {
    fp.wrapping_add(LINKAGE_BYTES).wrapping_sub(u64::from(layout.entry_bytes))
}

/// The object that a field refers to, 0 for none, or [`UNREADABLE`].
#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn unwind_object(field: u64) -> u64 {
    let Some(layout) = CODE.get(0) else { return UNREADABLE };
    if layout.object_bytes == 4 {
        return match u32_at(field, 0) {
            Some(0) => 0,
            Some(narrow) => layout.object_base.wrapping_add(u64::from(narrow) << (layout.object_shift & 31)),
            None => UNREADABLE,
        };
    }
    match word(field) {
        Ok(address) => address,
        Err(_) => UNREADABLE,
    }
}

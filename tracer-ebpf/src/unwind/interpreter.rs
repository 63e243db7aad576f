//! Frames of the bytecode interpreter. They are chained by rbp and hold their method and its bytecode pointer.
//!
//! The offsets (`frame_x86.hpp`, `interpreter_frame_*_offset`) are the same from JDK 9 to 25. In 8 no mirror lies between the method
//! and the bytecode pointer.

use tracer_common::{
    stack::{FRAME_BYTECODE_POINTER, FRAME_RETURN_ADDRESS, FrameKind, NO_BCI, RawFrame, StackEnd},
    unwind::CodeLayout,
};

use super::{
    Kept, frozen, incomplete,
    scratch::{Scratch, WORDS},
};
use crate::args::{read, word};

/// Where the words from the saved bytecode pointer up to the return address lie, counted from the lowest one that is read, which is 8 words below rbp.
const BYTECODE_POINTER: usize = 0;
const BYTECODE_POINTER_8: usize = 1;
const METHOD: usize = 5;
const SENDER_SP: usize = 7;
const LINK: usize = 8;
const RETURN: usize = 9;

/// Farthest that rsp can have moved while the frame of a called method is being built.
const MAX_ENTRY_BYTES: u64 = 1 << 20;

/// From rbp down to the lowest word of a whole frame that is read.
const FRAME_BYTES: u64 = 8 * 8;
/// Where the method lies, below rbp.
const METHOD_BYTES: u64 = 3 * 8;

/// Takes the interpreter's frame and goes on to its caller.
#[inline(always)]
pub(super) fn pass(walk: &mut Scratch, layout: &CodeLayout) -> Result<(), StackEnd> {
    if walk.interrupted == 1 && walk.fp.wrapping_sub(walk.sp) < FRAME_BYTES {
        return half_a_frame(walk, layout);
    }
    let below = walk.fp.wrapping_sub(8 * 8);
    if walk.fp & 7 != 0 || walk.fp < walk.sp || read((&raw mut walk.words).cast(), 8 * WORDS as u32, below).is_err() {
        return before_the_frame(walk);
    }
    let pointer =
        if layout.bytecode_pointer_words == 7 { walk.words[BYTECODE_POINTER_8] } else { walk.words[BYTECODE_POINTER] };
    let method = walk.words[METHOD];
    let mut found = None;
    if walk.interrupted != 0 || calls_a_leaf(walk, pointer) {
        found = bytecode_index(method, walk.kept.r13, pointer, layout).map(tag);
    }
    if found.is_none() && walk.interrupted == 0 {
        found = called_another(method, pointer);
    }
    let Some(tag) = found else {
        return before_the_frame(walk);
    };
    // In the heap, addresses in the stack are counted from rbp.
    let (link, sender) = if walk.entry == 0 {
        (walk.words[LINK], walk.words[SENDER_SP])
    } else {
        (frozen::relative(walk.fp, walk.words[LINK]), frozen::relative(walk.fp, walk.words[SENDER_SP]))
    };
    if sender <= walk.fp {
        return Err(StackEnd::BadInterpreterFrame);
    }
    walk.push(RawFrame { tag, address: method });
    walk.below = FrameKind::Interpreted as u64;
    walk.pc = walk.words[RETURN];
    walk.fp = link;
    walk.sp = sender;
    walk.interrupted = 0;
    Ok(())
}

/// Most functions of the JVM, one in another, that the interpreter calls without saving its bytecode pointer.
const LEAVES: u64 = 2;

/// Whether the frame has called what the walk began in, and may not have saved its pointer before: the interpreter does not where the
/// JVM only takes notice of something (`InterpreterMacroAssembler::call_VM_leaf_base`), as of an object that it has made itself. The
/// register has the pointer then, and what the frame has is where it called last.
#[inline(always)]
fn calls_a_leaf(walk: &Scratch, pointer: u64) -> bool {
    walk.below == FrameKind::Native as u64 && walk.count <= LEAVES && walk.kept.r13 != pointer
}

/// The tag of a frame that has called another: its own pointer is the right one. User space asks the method which index
/// that is, which saves reading the method here.
#[inline(always)]
fn called_another(method: u64, pointer: u64) -> Option<u64> {
    if method & 7 != 0 || pointer >> 48 != 0 {
        return None;
    }
    Some(FrameKind::Interpreted as u64 | FRAME_RETURN_ADDRESS | FRAME_BYTECODE_POINTER | pointer << 16)
}

/// The tag of a frame whose index is known.
#[inline(always)]
fn tag((bci, check): (u16, u32)) -> u64 {
    FrameKind::Interpreted as u64 | u64::from(bci) << 16 | u64::from(check) << 32
}

/// The index of a bytecode pointer in its method, and what tells the method from a later one at the same address.
///
/// `register` is the pointer that is tried first; where it points elsewhere (a call is being prepared), the frame's own is
/// the right one. `None` where this is no method.
#[inline(always)]
fn bytecode_index(method: u64, register: u64, saved: u64, layout: &CodeLayout) -> Option<(u16, u32)> {
    if method & 7 != 0 {
        return None;
    }
    let const_method = word(method.wrapping_add(u64::from(layout.method_const_method))).ok()?;
    if const_method & 7 != 0 {
        return None;
    }
    let mut size = 0u16;
    let size_at = const_method.wrapping_add(u64::from(layout.const_method_code_size));
    read((&raw mut size).cast(), 2, size_at).ok()?;
    let check = (const_method >> 3) as u32;
    let code = const_method.wrapping_add(u64::from(layout.const_method_bytes));
    let index = register.wrapping_sub(code);
    if index < u64::from(size) {
        return Some((index as u16, check));
    }
    let index = saved.wrapping_sub(code);
    if index < u64::from(size) {
        return Some((index as u16, check));
    }
    // A native method has no bytecode, and its frame no pointer to it.
    if size == 0 || saved == 0 { Some((NO_BCI, check)) } else { None }
}

/// The interpreter was interrupted while it built a frame: rbp points to it, and what was not pushed yet is what another
/// frame has left there.
#[inline(always)]
fn half_a_frame(walk: &mut Scratch, layout: &CodeLayout) -> Result<(), StackEnd> {
    let at = |address| word(address).map_err(|_| StackEnd::UnreadableStack);
    let (link, caller) = (at(walk.fp)?, at(walk.fp.wrapping_add(8))?);
    let sender = if walk.sp < walk.fp { at(walk.fp.wrapping_sub(8))? } else { walk.kept.r13 };
    if sender <= walk.fp || !incomplete::is_return(caller) {
        return Err(StackEnd::BadInterpreterFrame);
    }
    let mut tag = FrameKind::Stub as u64;
    let mut address = walk.pc;
    if walk.fp.wrapping_sub(walk.sp) >= METHOD_BYTES {
        let method = at(walk.fp.wrapping_sub(METHOD_BYTES))?;
        if let Some(found) = bytecode_index(method, walk.kept.r13, walk.kept.r13, layout) {
            tag = self::tag(found);
            address = method;
        }
    }
    walk.push(RawFrame { tag, address });
    walk.pc = caller;
    walk.fp = link;
    walk.sp = sender;
    walk.interrupted = 0;
    Ok(())
}

/// The interpreter was interrupted at the entry of a method, before its frame was there, or at its exit, when it was gone:
/// rbp is the caller's.
#[inline(always)]
fn before_the_frame(walk: &mut Scratch) -> Result<(), StackEnd> {
    if walk.interrupted == 0 {
        return Err(StackEnd::BadInterpreterFrame);
    }
    walk.push(RawFrame { tag: FrameKind::Stub as u64, address: walk.pc });
    without_frame(walk).ok_or(StackEnd::BadInterpreterFrame)
}

/// Goes on to the caller of code that has no frame: its return address is on top of the stack or in a register.
#[inline(always)]
pub(super) fn without_frame(walk: &mut Scratch) -> Option<()> {
    let above = walk.sp.wrapping_add(8);
    let Kept { r13, rax, rdi, rbx } = walk.kept;
    let (caller, kept_sp) = match word(walk.sp) {
        Ok(caller) if incomplete::is_return(caller) => (caller, r13),
        _ if incomplete::is_return(rax) => (rax, r13),
        _ if incomplete::is_return(rdi) => (rdi, rbx),
        _ => return None,
    };
    walk.sp = if kept_sp.wrapping_sub(walk.sp) < MAX_ENTRY_BYTES { kept_sp } else { above };
    walk.pc = caller;
    walk.interrupted = 0;
    Some(())
}

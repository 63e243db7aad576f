//! The innermost frame of interrupted JIT code: it may not have been built yet, or be gone already.
//!
//! JIT code has no tables. What the next instructions are tells where in the prologue or epilogue it stands (x86-64 code of
//! C1, C2 and the stub generators, JDK 11 to 25).
#![expect(unsafe_code, reason = "code bytes are read into a buffer")]

use core::mem::MaybeUninit;

use tracer_common::{
    stack::FrameKind,
    unwind::{CodeLayout, Rule, RuleBase},
};

use super::{
    blob,
    place::{self, Place},
};
use crate::{
    args::{read, word, word_or_0},
    maps::CODE,
};

/// Bytes that are read, the first of which stands before the next instruction.
const BYTES: usize = 16;

const fn rsp(words: u32, rbp_words: u32) -> Rule {
    match Rule::new(RuleBase::Rsp, words, rbp_words) {
        Some(rule) => rule,
        None => Rule::NONE,
    }
}

/// Only the return address is on the stack.
const BARE: Rule = rsp(1, 0);
/// The caller's rbp was pushed, or is about to be popped.
const PUSHED: Rule = rsp(2, 2);
/// The code has no frame, and its return address may be in a register.
pub(super) const NO_FRAME: Rule = Rule::UNSUPPORTED;
/// A frame that rbp points to.
const FRAME_POINTER: Rule = match Rule::new(RuleBase::Rbp, 2, 2) {
    Some(rule) => rule,
    None => Rule::NONE,
};

/// The rule for a frame that was interrupted at `pc`.
#[inline(always)]
pub(super) fn rule(pc: u64, sp: u64, fp: u64, place: Place) -> Rule {
    Rule(unwind_incomplete(pc, sp, fp, u64::from(place.kind), u64::from(place.rule.0)) as u32)
}

#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn unwind_incomplete(pc: u64, sp: u64, fp: u64, kind: u64, rule: u64) -> u64 {
    let place = Place { kind: kind as u32, rule: Rule(rule as u32), compile_id: 0, original_pc: 0 };
    match CODE.get(0) {
        Some(layout) => u64::from(guess(pc, sp, fp, place, layout).0),
        None => rule,
    }
}

#[inline(always)]
fn guess(pc: u64, sp: u64, fp: u64, place: Place, layout: &CodeLayout) -> Rule {
    if blob::name(pc, layout) == Some(ADAPTERS) {
        return NO_FRAME;
    }
    let mut room = MaybeUninit::<[u8; BYTES]>::uninit();
    if read(room.as_mut_ptr().cast(), BYTES as u32, pc.wrapping_sub(1)).is_err() {
        return place.rule;
    }
    // SAFETY: all bytes were read.
    let code = unsafe { room.assume_init_ref() };
    if let Some(rule) = epilogue(code) {
        return rule;
    }
    if place.rule.base() != RuleBase::Rsp as u8 {
        return stub(sp, fp, code);
    }
    if let Some(rule) = prologue(pc, code, place, layout) {
        return rule;
    }
    sized(sp, fp, code, place)
}

/// Words that code may push below its frame: intrinsics save registers so.
const PUSHED_WORDS: u32 = 8;

/// The rule of a compiled method that called a stub, for which it may have pushed arguments.
#[inline(always)]
pub(super) fn caller_of_stub(sp: u64, rule: Rule) -> Rule {
    Rule(unwind_pushed(sp, u64::from(rule.0)) as u32)
}

#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn unwind_pushed(sp: u64, rule: u64) -> u64 {
    u64::from(pushed(sp, Rule(rule as u32)).0)
}

#[inline(always)]
fn pushed(sp: u64, rule: Rule) -> Rule {
    let words = rule.cfa_words();
    for pushed in 0..PUSHED_WORDS {
        if returns_to(sp.wrapping_add(8 * u64::from(words + pushed)).wrapping_sub(8)) {
            return rsp(words + pushed, 2);
        }
    }
    rule
}

/// A frame of known size, if the word above it is a return address. If it is none, more was pushed.
#[inline(always)]
fn sized(sp: u64, fp: u64, code: &[u8; BYTES], place: Place) -> Rule {
    // Not the function of numbers: that would be one frame too many for older kernels.
    let rule = pushed(sp, place.rule);
    if returns_to(sp.wrapping_add(8 * u64::from(rule.cfa_words())).wrapping_sub(8)) {
        return rule;
    }
    if place.kind == FrameKind::Compiled as u32 { place.rule } else { stub(sp, fp, code) }
}

/// `code[1..]` are the next instructions.
#[inline(always)]
fn epilogue(code: &[u8; BYTES]) -> Option<Rule> {
    // `cmp rsp, [r15 + n]` and a jump, with a displacement of 32 or 8 bits; then the jump itself.
    let poll = (code[1] == 0x49 && code[2] == 0x3b)
        && ((code[3] == 0xa7 && code[8] == 0x0f && code[9] == 0x87)
            || (code[3] == 0x67 && code[5] == 0x0f && code[6] == 0x87));
    let jump = code[1] == 0x0f && code[2] == 0x87 && code[7] == 0xc3;
    // JDK 11: `test` of a page, by its address or by one that the thread has.
    let page = (code[1] == 0x85 && code[2] == 0x05 && code[7] == 0xc3)
        || (code[1] == 0x4d
            && code[2] == 0x8b
            && code[3] == 0x97
            && code[8] == 0x41
            && code[9] == 0x85
            && code[11] == 0xc3)
        || (code[1] == 0x41 && code[2] == 0x85 && code[4] == 0xc3);
    // Behind the code: the way from a poll to the safepoint's stub.
    let way = (code[1] == 0x4c && code[2] == 0x8d && code[3] == 0x15 && code[8] == 0x4d && code[9] == 0x89)
        || (code[1] == 0x4d && code[2] == 0x89 && code[3] == 0x97 && code[8] == 0xe9)
        || (code[1] == 0x4d && code[2] == 0x89 && code[3] == 0x57 && code[5] == 0xe9);
    // The frame was taken down for a jump out of the method.
    let leaves = code[0] == 0x5d && code[1] == 0xe9;
    let poll_and_return = poll || jump || page || way || leaves;
    if code[1] == 0xc3 || code[1] == 0xc2 || poll_and_return {
        Some(BARE)
    } else if code[1] == 0x5d {
        Some(PUSHED)
    } else {
        None
    }
}

#[inline(always)]
fn prologue(pc: u64, code: &[u8; BYTES], place: Place, layout: &CodeLayout) -> Option<Rule> {
    let blob = blob::find(pc, layout)?;
    let begin = blob::code_begin(blob.address, layout)?;
    let complete =
        blob::at_or_offset(blob.address, begin, layout.blob_frame_complete, layout.blob_frame_complete_bytes)?;
    if pc >= complete || complete.wrapping_sub(begin) >= 0xffff {
        return None;
    }
    if place.kind == FrameKind::Compiled as u32 {
        let entry = blob::at_or_offset(
            blob.address,
            begin,
            layout.nmethod_verified_entry,
            layout.nmethod_verified_entry_bytes,
        )?;
        if pc <= entry {
            return Some(BARE);
        }
        // `cmp dword [r15 + n], imm` and a jump: the entry barrier, for which the frame is complete.
        let barrier = code[1] == 0x41 && code[2] == 0x81 && (code[3] == 0x7f || code[3] == 0xbf);
        let jump = code[1] == 0x0f && (code[2] == 0x84 || code[2] == 0x85);
        if barrier || jump {
            return None;
        }
    }
    // `sub rsp, n` after `push rbp`, or `mov rbp, rsp`.
    let subtracts = code[1] == 0x48 && (code[2] == 0x83 || code[2] == 0x81) && code[3] == 0xec;
    let links = code[1] == 0x48 && ((code[2] == 0x8b && code[3] == 0xec) || (code[2] == 0x89 && code[3] == 0xe5));
    if links || (subtracts && (code[0] == 0x55 || code[0] == 0xec || code[0] == 0xe5)) {
        return Some(PUSHED);
    }
    // `mov [rsp + n], rbp`: rsp has moved, rbp is not saved yet.
    if code[1] == 0x48 && code[2] == 0x89 && (code[3] == 0x6c || code[3] == 0xac) && code[4] == 0x24 {
        return Some(rsp(place.rule.cfa_words(), 0));
    }
    Some(BARE)
}

/// Words above rsp among which the return address of a stub without frame is looked for.
const SEARCHED_WORDS: u32 = 16;

/// A stub of which nothing is known: its frame pointer leads on, or a return address near the top of the stack.
#[inline(always)]
fn stub(sp: u64, fp: u64, code: &[u8; BYTES]) -> Rule {
    if code[1] == 0x55 {
        return BARE;
    }
    if code[0] == 0x55 {
        return PUSHED;
    }
    // The lowest return address is the stub's own. rbp may still be that of a frame farther out, which it would skip to.
    for words in 0..SEARCHED_WORDS {
        let at = sp.wrapping_add(8 * u64::from(words));
        if returns_to(at) {
            return if at == fp.wrapping_add(8) { FRAME_POINTER } else { rsp(words + 1, 0) };
        }
    }
    FRAME_POINTER
}

/// First bytes of the name of the adapters between compiled and interpreted code.
const ADAPTERS: u64 = u64::from_le_bytes(*b"I2C/C2I ");

/// Whether a word of the stack is a return address.
#[inline(always)]
pub(super) fn returns_to(at: u64) -> bool {
    // 0 is no return address, and no case of its own for the verifier.
    is_return(word_or_0(at))
}

/// Whether an address lies in known code behind a call, or is one of the interpreter or the barrier of virtual threads,
/// which go on elsewhere than behind calls.
#[inline(always)]
pub(super) fn is_return(address: u64) -> bool {
    unwind_is_return(address) != 0
}

#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn unwind_is_return(address: u64) -> u64 {
    let Some(layout) = CODE.get(0) else { return 0 };
    let is_barrier = layout.return_barrier != 0 && address == layout.return_barrier;
    if is_barrier || (address >= layout.interpreter[0] && address < layout.interpreter[1]) {
        return 1;
    }
    if place::region(address).is_none() {
        return 0;
    }
    let Ok(before) = word(address.wrapping_sub(8)) else { return 0 };
    let before = before.to_le_bytes();
    let direct = before[3] == 0xe8;
    let register = before[6] == 0xff && before[7] & 0xf8 == 0xd0;
    let memory = (before[5] == 0xff && before[6] & 0xf8 == 0x50) || (before[2] == 0xff && before[3] & 0xf8 == 0x90);
    u64::from(direct || register || memory)
}

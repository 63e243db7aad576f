//! The program of jtrace's own test of the predicate's graph; no session loads it.
//!
//! Site: a function of jtrace's own.
//! Arguments: the address of an [`Asked`] in rdi.
//! Event: none; the answer lies in a map.
//! Cost: no target pays it.
#![expect(unsafe_code, reason = "the context and map values are raw pointers")]

use core::mem::{offset_of, size_of};

use aya_ebpf::{macros::uprobe, programs::ProbeContext};
use tracer_common::filter::{Asked, INPUTS, MAX_TALLIES};

use crate::{
    args::{Unreadable, read},
    filter::Question,
    maps::{ANSWER, TALLIES},
    shared_stack,
};

#[uprobe]
fn judgement(ctx: ProbeContext) -> u32 {
    let _: Option<()> = try_judgement(&ctx);
    0
}

#[inline(always)]
fn try_judgement(ctx: &ProbeContext) -> Option<()> {
    // SAFETY: the kernel passes a valid context.
    let asked = unsafe { (*ctx.regs).rdi };
    let _: u16 = shared_stack::site(ctx)?;
    let mut question = Question::NONE;
    let inputs = asked.wrapping_add(offset_of!(Asked, inputs) as u64);
    read(question.inputs.as_mut_ptr().cast(), size_of::<[u64; INPUTS]>() as u32, inputs).ok()?;
    for tally in 0..MAX_TALLIES {
        let before = asked.wrapping_add((offset_of!(Asked, tallies) + size_of::<u64>() * tally) as u64);
        let counter = TALLIES.get_ptr_mut(tally as u32)?;
        let read: Result<(), Unreadable> = read(counter.cast(), size_of::<u64>() as u32, before);
        read.ok()?;
    }
    let wanted = question.is_wanted();
    let answer = ANSWER.get_ptr_mut(0)?;
    // SAFETY: `answer` points into a map value, which only this program writes, for one thread.
    unsafe {
        (*answer).number += 1;
        (*answer).wanted = u64::from(wanted);
    }
    for tally in 0..MAX_TALLIES {
        // SAFETY: as above; the counter lies in a map value.
        unsafe { (*answer).tallies[tally] = *TALLIES.get_ptr_mut(tally as u32)? };
    }
    Some(())
}

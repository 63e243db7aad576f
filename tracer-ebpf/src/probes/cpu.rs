//! The program of the sampling clock.
//!
//! Site: a timer on every CPU (`PERF_COUNT_SW_CPU_CLOCK`).
//! Arguments: the interrupted registers.
//! Event: `CpuSample`, where a thread of the target was running.
//! Cost: an interrupt, about 0.1 us where another process was running; in the target the record and the stack.
#![expect(unsafe_code, reason = "the context and map values are raw pointers")]

use core::{ffi::c_void, ptr::null_mut};

use aya_ebpf::{EbpfContext as _, helpers::bpf_get_current_pid_tgid, macros::perf_event, programs::PerfEventContext};
use tracer_common::{
    record::EventKind,
    stack::{MAX_FRAMES, STACK_ABSENT, STACK_BUSY, STACK_NO_REGISTERS},
};

use crate::{
    emit::{self, Hit, count},
    maps::{STATS, TARGET},
    unwind::{self, Kept, scratch::Slot},
    user,
};

/// Bits of the code segment that are set in user mode.
const USER_MODE: u64 = 3;

#[perf_event]
fn cpu_sample(ctx: PerfEventContext) -> u32 {
    let _: Option<()> = try_cpu_sample(&ctx);
    0
}

#[inline(always)]
fn try_cpu_sample(ctx: &PerfEventContext) -> Option<()> {
    let target = TARGET.get(0)?;
    let thread = bpf_get_current_pid_tgid();
    // Where the target's number is not known, nothing else keeps other processes away.
    if target.tgid == 0 || (thread >> 32) as u32 != target.tgid {
        return None;
    }
    let site = target.cpu_site;
    let stats = STATS.get_ptr_mut(u32::from(site))?;
    // SAFETY: `stats` points into a map value.
    count(unsafe { &raw mut (*stats).hits });
    let mut hit = Hit { site, stats, target, tid: thread as u32, stack: STACK_ABSENT };
    hit.stack = stack(ctx, &hit);
    emit::event(EventKind::CpuSample, &[target.sample_period_ns, 0, 0, 0], &hit);
    Some(())
}

/// Id of the stack of the interrupted thread. A function of its own, so that little lies below the frames of a walk.
#[inline(never)]
fn stack(ctx: &PerfEventContext, hit: &Hit) -> u64 {
    let Some(slot) = Slot::take() else { return STACK_BUSY };
    // SAFETY: the slot is this program's alone until it is given back.
    let walk = unsafe { &mut *slot.scratch() };
    // SAFETY: the kernel passes a valid context. It allows no pointer into it, so all is read here, field by field.
    let cs = unsafe {
        let regs = &raw const (*ctx.ctx).regs;
        walk.pc = (*regs).rip;
        walk.sp = (*regs).rsp;
        walk.fp = (*regs).rbp;
        walk.kept = Kept { r13: (*regs).r13, rax: (*regs).rax, rdi: (*regs).rdi, rbx: (*regs).rbx };
        (*regs).cs
    };
    let mut kernel: *mut c_void = null_mut();
    if cs & USER_MODE != USER_MODE {
        user::registers(walk);
        kernel = ctx.as_ptr();
    }
    if walk.pc == 0 {
        slot.give_back();
        return STACK_NO_REGISTERS;
    }
    unwind::stack(slot, MAX_FRAMES as u64, kernel, hit)
}

//! The programs of the scheduler: who leaves a CPU and why, when it becomes ready again, and when it runs again.
//!
//! Site: the tracepoints `sched_switch` and `sched_wakeup`.
//! Arguments: the threads, whether the first was preempted, and its state.
//! Event: `OffCpu`, when a thread of the target runs again.
//! Cost: a look-up for each of the two threads of a switch, and for each wake-up, of any process; in the target the stack
//! when it leaves and the record when it returns.
//!
//! Both run with the lock of a run queue held and without interrupts. A thread is known by the address of its
//! `task_struct`, so no offsets in the kernel's structures are needed. A thread that has never run has no entry, so its
//! first wake-up needs no program.
#![expect(unsafe_code, reason = "map values are raw pointers")]

use aya_ebpf::{
    EbpfContext as _,
    helpers::{bpf_get_current_pid_tgid, generated::bpf_ktime_get_ns},
    macros::raw_tracepoint,
    programs::RawTracePointContext,
};
use tracer_common::{
    clock::{Away, TASK_DEAD, TASK_STATES},
    record::EventKind,
    site::TargetLayout,
    stack::{MAX_FRAMES, STACK_ABSENT, STACK_BUSY, STACK_NO_REGISTERS},
};

use crate::{
    emit::{self, Hit, count},
    maps::{OFFCPU, STATS, TARGET},
    unwind::{self, scratch::Slot},
    user::{self, NO_SYSCALL},
};

/// The arguments are: whether the thread was preempted, the thread that leaves, the one that comes, the first one's state.
///
/// Minimum kernel: 5.18. Before, the state is no argument, and attaching is refused.
#[raw_tracepoint(tracepoint = "sched_switch")]
fn sched_switch(ctx: RawTracePointContext) -> i32 {
    if let Some(target) = TARGET.get(0)
        && target.tgid != 0
    {
        let now_ns = now_ns();
        let thread = bpf_get_current_pid_tgid();
        if (thread >> 32) as u32 == target.tgid {
            let _: Option<()> = leave(&ctx, target, thread as u32, now_ns);
        }
        let _: Option<()> = arrive(ctx.arg::<u64>(2), target, now_ns);
    }
    0
}

/// The argument is the thread that becomes ready.
#[raw_tracepoint(tracepoint = "sched_wakeup")]
fn sched_wakeup(ctx: RawTracePointContext) -> i32 {
    if let Some(away) = OFFCPU.get_ptr_mut(ctx.arg::<u64>(0)) {
        // SAFETY: `away` points into a map value. Nobody else writes this entry meanwhile: the thread's own lock is held.
        unsafe {
            if (*away).since_ns != 0 && (*away).runnable_ns == 0 {
                (*away).runnable_ns = now_ns();
            }
        }
    }
    0
}

/// The current thread leaves its CPU.
#[inline(always)]
fn leave(ctx: &RawTracePointContext, target: &'static TargetLayout, tid: u32, now_ns: u64) -> Option<()> {
    let key = ctx.arg::<u64>(1);
    let state = ctx.arg::<u64>(3) as u32;
    if state & TASK_DEAD != 0 {
        let _: Result<(), i32> = OFFCPU.remove(key);
        return None;
    }
    let preempted = ctx.arg::<u64>(0) as u8 != 0;
    let task_state = if preempted { 0 } else { state & TASK_STATES };
    let stats = STATS.get_ptr_mut(u32::from(target.sched_site))?;
    let hit = Hit { site: target.sched_site, stats, target, tid, stack: STACK_ABSENT };
    let mut syscall = NO_SYSCALL;
    let stack = stack(ctx, &hit, &mut syscall);
    let away = Away {
        since_ns: now_ns,
        runnable_ns: if task_state == 0 { now_ns } else { 0 },
        stack,
        syscall,
        tid,
        task_state,
        epoch: target.sched_epoch,
        tgid: target.tgid,
    };
    if let Some(known) = OFFCPU.get_ptr_mut(key) {
        // SAFETY: `known` points into a map value. Nobody else writes this entry meanwhile: the run queue's lock is held.
        let before = unsafe { (*known).since_ns != 0 && (*known).epoch == away.epoch && (*known).tgid == away.tgid };
        if before {
            // It ran since, and the kernel did not say that it came back: some switches are not traced.
            // SAFETY: `stats` points into a map value.
            count(unsafe { &raw mut (*stats).unreadable });
        }
        // SAFETY: as for `before`.
        unsafe { known.write(away) };
    } else if OFFCPU.insert(key, away, 0).is_err() {
        // SAFETY: `stats` points into a map value.
        count(unsafe { &raw mut (*stats).unreadable });
    }
    Some(())
}

/// Id of the stack of the thread that leaves, and the system call that it is in. A function of its own, so that little lies below
/// the frames of a walk.
#[inline(never)]
fn stack(ctx: &RawTracePointContext, hit: &Hit, syscall: &mut u64) -> u64 {
    let Some(slot) = Slot::take() else {
        *syscall = user::syscall();
        return STACK_BUSY;
    };
    // SAFETY: the slot is this program's alone until it is given back.
    let walk = unsafe { &mut *slot.scratch() };
    *syscall = user::registers(walk);
    if walk.pc == 0 {
        slot.give_back();
        return STACK_NO_REGISTERS;
    }
    unwind::stack(slot, MAX_FRAMES as u64, ctx.as_ptr(), hit)
}

/// A thread gets the CPU: an event, if it is one that was remembered. A function of its own: what was remembered takes much of
/// the program's stack.
#[inline(never)]
fn arrive(thread: u64, target: &'static TargetLayout, now_ns: u64) -> Option<()> {
    let away = OFFCPU.get_ptr_mut(thread)?;
    // SAFETY: `away` points into a map value. Nobody else writes this entry meanwhile: the run queue's lock is held.
    let left = unsafe { away.read() };
    if left.since_ns == 0 || left.epoch != target.sched_epoch || left.tgid != target.tgid {
        return None;
    }
    // SAFETY: as above.
    unsafe { (*away).since_ns = 0 };
    let site = target.sched_site;
    let stats = STATS.get_ptr_mut(u32::from(site))?;
    // SAFETY: `stats` points into a map value.
    count(unsafe { &raw mut (*stats).hits });
    let blocked_ns = now_ns.saturating_sub(left.since_ns);
    if blocked_ns < target.min_block_ns {
        // SAFETY: as above.
        count(unsafe { &raw mut (*stats).filtered });
        return None;
    }
    let run_queue_ns = if left.runnable_ns == 0 { 0 } else { now_ns.saturating_sub(left.runnable_ns) };
    let words = [blocked_ns, run_queue_ns, u64::from(left.task_state), left.syscall];
    let hit = Hit { site, stats, target, tid: left.tid, stack: left.stack };
    emit::event(EventKind::OffCpu, &words, &hit);
    Some(())
}

#[inline(always)]
fn now_ns() -> u64 {
    // SAFETY: the helper has no precondition.
    unsafe { bpf_ktime_get_ns() }
}

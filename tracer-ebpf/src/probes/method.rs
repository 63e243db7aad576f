//! The programs at entries and returns of methods.
//!
//! Site: the functions of HotSpot that its code calls where a method begins and ends (`SharedRuntime::dtrace_method_entry`,
//! `dtrace_method_exit`), and those that look for a handler when an exception has left a frame.
//! Arguments: `JavaThread*` in rdi and `Method*` in rsi; the method is the key, no text is read.
//! Event: `MethodEntry`, `MethodReturn`, `FrameUnwound`, `MethodTimed`; none where the kernel counts itself.
//! Cost: a trap (about 0.57 us); some 30 ns for a method that is not wanted, 50 to count, 100 to time or to send.
#![expect(unsafe_code, reason = "the context and map values are raw pointers")]

use aya_ebpf::{
    EbpfContext as _,
    helpers::{
        bpf_get_attach_cookie, bpf_get_current_pid_tgid,
        generated::{bpf_get_prandom_u32, bpf_get_smp_processor_id},
    },
    macros::uprobe,
    programs::ProbeContext,
};
use tracer_common::{
    filter::Input,
    record::{EventKind, SubjectState, Unwound},
    stack::STACK_ABSENT,
    stats::SiteStats,
    tally::{Demand, Subject, Verdict},
};

use super::site::stack_at;
use crate::{
    args::word_or_0,
    emit::{self, Hit, add, count},
    filter::Question,
    maps::{CELLS, DEMAND, SITES, STATS, SUBJECTS, TARGET},
    shadow::{self, Calls, Frame, now_ns},
};

#[uprobe]
fn method_entry(ctx: ProbeContext) -> u32 {
    let _: Option<()> = try_method_entry(&ctx);
    0
}

#[uprobe]
fn method_return(ctx: ProbeContext) -> u32 {
    let _: Option<()> = try_method_return(&ctx);
    0
}

#[uprobe]
fn frame_unwound(ctx: ProbeContext) -> u32 {
    let _: Option<()> = try_frame_unwound(&ctx);
    0
}

/// A hit that belongs to the target.
struct Arrival {
    site: u16,
    stats: *mut SiteStats,
    tid: u32,
    sp: u64,
}

impl Arrival {
    #[inline(always)]
    fn of(ctx: &ProbeContext) -> Option<Self> {
        // SAFETY: the helper takes the program's own context.
        let site = unsafe { bpf_get_attach_cookie(ctx.as_ptr()) } as u16;
        let stats = STATS.get_ptr_mut(u32::from(site))?;
        let target = TARGET.get(0)?;
        let thread = bpf_get_current_pid_tgid();
        if target.tgid != 0 && (thread >> 32) as u32 != target.tgid {
            // SAFETY: `stats` points into a map value.
            count(unsafe { &raw mut (*stats).filtered });
            return None;
        }
        // SAFETY: the kernel passes a valid context.
        let sp = unsafe { (*ctx.regs).rsp };
        Some(Self { site, stats, tid: thread as u32, sp })
    }

    #[inline(always)]
    fn reject(&self) {
        // SAFETY: `stats` points into a map value.
        count(unsafe { &raw mut (*self.stats).filtered });
    }

    #[inline(always)]
    fn counted(&self) {
        // SAFETY: as above.
        count(unsafe { &raw mut (*self.stats).counted });
    }

    #[inline(always)]
    fn hit(&self) -> Option<Hit> {
        Some(Hit { site: self.site, stats: self.stats, target: *TARGET.get(0)?, tid: self.tid, stack: STACK_ABSENT })
    }
}

/// What is known about a subject; its verdict is 0 where that is nothing.
#[inline(always)]
pub(crate) fn subject(address: u64) -> Subject {
    // SAFETY: a subject is copied at once; should it be removed at this moment, it is a class that was unloaded.
    match unsafe { SUBJECTS.get(address) } {
        Some(subject) => *subject,
        None => Subject { mask: 0, cell: 0, verdict: 0 },
    }
}

/// Whether the filter wants the event of a subject whose names do not decide.
#[inline(always)]
pub(crate) fn is_wanted(subject: &Subject, tid: u32, depth: u64, size: u64, duration_ns: u64) -> bool {
    if subject.verdict != Verdict::Depends as u32 {
        return subject.verdict != Verdict::Never as u32;
    }
    let mut question = Question::NONE;
    question.set(Input::Subject, subject.mask);
    question.set(Input::Tid, u64::from(tid));
    // SAFETY: the helpers have no precondition.
    question.set(Input::Cpu, unsafe { bpf_get_smp_processor_id() } as u64);
    // SAFETY: as above.
    question.set(Input::Random, u64::from(unsafe { bpf_get_prandom_u32() }));
    question.set(Input::Depth, depth);
    question.set(Input::Size, size);
    question.set(Input::Duration, duration_ns);
    question.is_wanted()
}

#[inline(always)]
fn method(ctx: &ProbeContext) -> u64 {
    // SAFETY: the kernel passes a valid context.
    unsafe { (*ctx.regs).rsi }
}

#[inline(always)]
fn try_method_entry(ctx: &ProbeContext) -> Option<()> {
    let arrival = Arrival::of(ctx)?;
    let address = method(ctx);
    let demand = DEMAND.get(0)?;
    let found = subject(address);
    if found.verdict == Verdict::Never as u32 {
        arrival.reject();
        return None;
    }
    if demand.aggregate != 0 && demand.timed == 0 && found.verdict == Verdict::Always as u32 && found.cell != 0 {
        tally(found.cell);
        arrival.counted();
        return None;
    }
    enter(ctx, &arrival, demand, address, &found)
}

/// A call that is not simply counted.
#[inline(always)]
fn enter(ctx: &ProbeContext, arrival: &Arrival, demand: &Demand, address: u64, found: &Subject) -> Option<()> {
    let cell = found.cell;
    if demand.aggregate != 0 && demand.timed != 0 {
        let calls = Calls::of(arrival.tid)?;
        calls.forget_returned();
        let entered_ns = now_ns();
        calls.sweep(arrival.sp, true, entered_ns);
        if demand.at_return == 0 && !is_wanted(found, arrival.tid, calls.depth() + 1, 0, 0) {
            arrival.reject();
            return None;
        }
        calls.push(Frame { sp: arrival.sp, method: address, entered_ns, inner_ns: 0, cell: u64::from(cell) });
    } else if demand.at_return == 0 && !is_wanted(found, arrival.tid, 0, 0, 0) {
        arrival.reject();
        return None;
    }
    if demand.aggregate != 0 && cell != 0 {
        // Where the duration decides, the call is counted when it is known.
        if demand.at_return == 0 {
            tally(cell);
        }
        arrival.counted();
        return None;
    }
    let mut hit = arrival.hit()?;
    if SITES.get(u32::from(arrival.site))?.stack != 0 {
        hit.stack = stack_at(ctx, &hit);
    }
    emit::event(EventKind::MethodEntry, &[address, arrival.sp, state(found), 0], &hit);
    Some(())
}

#[inline(always)]
pub(crate) fn state(found: &Subject) -> u64 {
    if found.verdict == 0 { SubjectState::Undecided as u64 } else { SubjectState::Wanted as u64 }
}

#[inline(always)]
pub(crate) fn tally(cell: u32) {
    if let Some(cell) = CELLS.get_ptr_mut(cell) {
        // SAFETY: `cell` points into a map value of this CPU.
        count(unsafe { &raw mut (*cell).count });
    }
}

#[inline(always)]
fn try_method_return(ctx: &ProbeContext) -> Option<()> {
    let arrival = Arrival::of(ctx)?;
    let address = method(ctx);
    let demand = DEMAND.get(0)?;
    let found = subject(address);
    if found.verdict == Verdict::Never as u32 {
        // What an exception leaves next is this frame, and not the one that returned before.
        if demand.aggregate != 0
            && let Some(calls) = Calls::find(arrival.tid)
        {
            calls.forget_returned();
        }
        arrival.reject();
        return None;
    }
    // SAFETY: the kernel passes a valid context.
    let thread = unsafe { (*ctx.regs).rdi };
    let exceptional = demand.vm_result != 0 && word_or_0(thread.wrapping_add(u64::from(demand.vm_result))) != 0;
    if demand.aggregate == 0 {
        let hit = arrival.hit()?;
        let words = [address, arrival.sp, state(&found), exceptional as u64];
        emit::event(EventKind::MethodReturn, &words, &hit);
        return Some(());
    }
    leave(&arrival, demand, address, &found, exceptional)
}

/// The end of a call that the kernel times.
#[inline(always)]
fn leave(arrival: &Arrival, demand: &Demand, address: u64, found: &Subject, exceptional: bool) -> Option<()> {
    let now_ns = now_ns();
    let calls = Calls::of(arrival.tid)?;
    calls.sweep(arrival.sp, false, now_ns);
    let depth = calls.depth();
    let Some(over) = calls.pop(address, now_ns) else {
        calls.forget_returned();
        shadow::outcome(tracer_common::tally::Outcome::ReturnWithoutEntry);
        arrival.reject();
        return None;
    };
    if over.cell == 0 {
        let words = [address, over.total_ns, over.inner_ns, exceptional as u64];
        emit::event(EventKind::MethodTimed, &words, &arrival.hit()?);
        return Some(());
    }
    if demand.at_return != 0 {
        if !is_wanted(found, arrival.tid, depth, 0, over.total_ns) {
            calls.forget_returned();
            arrival.reject();
            return None;
        }
        tally(over.cell);
    }
    arrival.counted();
    shadow::record(&over, exceptional);
    Some(())
}

#[inline(always)]
fn try_frame_unwound(ctx: &ProbeContext) -> Option<()> {
    let arrival = Arrival::of(ctx)?;
    let demand = DEMAND.get(0)?;
    let rethrown = SITES.get(u32::from(arrival.site))?.fields[1].a.displacement as u64;
    if demand.aggregate == 0 {
        emit::event(EventKind::FrameUnwound, &[arrival.sp, rethrown, 0, 0], &arrival.hit()?);
        return Some(());
    }
    let Some(calls) = Calls::find(arrival.tid) else {
        arrival.reject();
        return None;
    };
    let returned = calls.take_returned();
    if rethrown != Unwound::Rethrown as u64 {
        calls.sweep(arrival.sp, true, now_ns());
        arrival.counted();
        return Some(());
    }
    match returned {
        // User space counts it, and must hear of this.
        Some(0) => emit::event(EventKind::FrameUnwound, &[arrival.sp, rethrown, 0, 0], &arrival.hit()?),
        Some(cell) => {
            if let Some(cell) = CELLS.get_ptr_mut(cell) {
                // SAFETY: `cell` points into a map value of this CPU.
                unsafe { add(&raw mut (*cell).errors, 1) };
            }
            arrival.counted();
        }
        None => arrival.reject(),
    }
    Some(())
}

//! The programs at entries and returns of methods.
//!
//! Site: the functions of HotSpot that its code calls where a method begins and ends (`SharedRuntime::dtrace_method_entry`,
//! `dtrace_method_exit`), and those that look for a handler when an exception has left a frame.
//! Arguments: `JavaThread*` in rdi and `Method*` in rsi; the method is the key, no text is read.
//! Event: `MethodEntry`, `MethodReturn`, `FrameUnwound`, `MethodTimed`; none where the kernel counts itself.
//! Cost: a trap (about 0.57 us); some 30 ns for a method that is not wanted, 50 to count, 100 to time or to send.
#![expect(unsafe_code, reason = "the context and map values are raw pointers")]

use aya_ebpf::{
    helpers::{
        bpf_get_current_pid_tgid,
        generated::{bpf_get_prandom_u32, bpf_get_smp_processor_id},
    },
    macros::uprobe,
    programs::ProbeContext,
};
use tracer_common::{
    filter::{ENTRY_GRAPH, Input, WHOLE_GRAPH},
    record::{EventKind, SubjectState, Timed},
    stack::STACK_ABSENT,
    tally::{Demand, NO_CONTEXT, Outcome, Subject, Verdict},
};

use super::site::stack_at;
use crate::{
    contexts,
    emit::{self, Hit, count},
    filter::Question,
    maps::{CELLS, DEMAND, MASKS, SITES, STATS, SUBJECTS, TARGET},
    shadow::{self, Calls, Frame, now_ns},
    shared_stack,
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
    hit: Hit,
    sp: u64,
}

impl Arrival {
    #[inline(always)]
    fn of(ctx: &ProbeContext) -> Option<Self> {
        let site = shared_stack::site(ctx)?;
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
        Some(Self { hit: Hit { site, stats, target, tid: thread as u32, stack: STACK_ABSENT }, sp })
    }

    #[inline(always)]
    fn reject(&self) {
        // SAFETY: `stats` points into a map value.
        count(unsafe { &raw mut (*self.hit.stats).filtered });
    }

    #[inline(always)]
    fn counted(&self) {
        // SAFETY: as above.
        count(unsafe { &raw mut (*self.hit.stats).counted });
    }

    /// Counts a call by its method, and by its thread where that is wanted.
    #[inline(always)]
    fn tally(&self, demand: &Demand, cell: u32) {
        tally(cell);
        if demand.by_thread != 0 {
            contexts::enter(0, u64::from(cell), 0, u64::from(self.hit.tid), &mut false);
        }
        self.counted();
    }

    #[inline(always)]
    fn calls(&self, demand: &Demand) -> Option<Calls> {
        Calls::of(&self.hit, demand.epoch)
    }

    #[inline(always)]
    fn known_calls(&self, demand: &Demand) -> Option<Calls> {
        Calls::find(&self.hit, demand.epoch)
    }

    /// Finds the stack of the thread, where the site wants it.
    #[inline(always)]
    fn find_stack(&mut self, ctx: &ProbeContext) -> Option<()> {
        let wanted = SITES.get(u32::from(self.hit.site))?.stack;
        if wanted != 0 {
            self.hit.stack = stack_at(ctx, &self.hit, wanted);
        }
        Some(())
    }
}

/// What is known about a subject; its verdict is 0 where that is nothing.
#[inline(always)]
pub(crate) fn known(address: u64) -> Subject {
    // SAFETY: a subject is copied at once; should it be removed at this moment, it is a class that was unloaded.
    match unsafe { SUBJECTS.get(address) } {
        Some(subject) => *subject,
        None => Subject { mask: 0, cell: 0, verdict: 0 },
    }
}

/// What the kernel makes of an event.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Judgement {
    Unwanted,
    Wanted,
    /// Something about it is not known yet: user space decides.
    Open,
}

/// What an event has that its subject does not tell.
pub(crate) struct Facts {
    pub(crate) tid: u32,
    pub(crate) caller: u64,
    pub(crate) depth: u64,
    pub(crate) size: u64,
    pub(crate) duration_ns: u64,
}

/// Whether an event is wanted, by one of the graphs. A function of its own: the question takes much of a program's stack.
#[inline(never)]
pub(crate) fn judge(subject: &Subject, demand: &Demand, graph: u32, facts: &Facts) -> Judgement {
    if subject.verdict == 0 {
        return Judgement::Open;
    }
    if subject.verdict != Verdict::Depends as u32 {
        return if subject.verdict == Verdict::Never as u32 { Judgement::Unwanted } else { Judgement::Wanted };
    }
    let mut question = Question::NONE;
    question.graph = u64::from(graph);
    if demand.threads != 0 {
        let Some(mask) = MASKS.get_ptr(facts.tid) else { return Judgement::Open };
        // SAFETY: `mask` points into a map value.
        question.set(Input::Thread, unsafe { *mask });
    }
    question.set(Input::Subject, subject.mask);
    if facts.caller != 0 {
        let caller = known(facts.caller);
        // It was called a moment ago for the first time, and has no name yet.
        if caller.verdict == 0 {
            return Judgement::Open;
        }
        question.set(Input::Caller, caller.mask);
    }
    question.set(Input::Tid, u64::from(facts.tid));
    // SAFETY: the helpers have no precondition.
    question.set(Input::Cpu, unsafe { bpf_get_smp_processor_id() } as u64);
    // SAFETY: as above.
    question.set(Input::Random, u64::from(unsafe { bpf_get_prandom_u32() }));
    question.set(Input::Depth, facts.depth);
    question.set(Input::Size, facts.size);
    question.set(Input::Duration, facts.duration_ns);
    if question.is_wanted() { Judgement::Wanted } else { Judgement::Unwanted }
}

#[inline(always)]
fn method(ctx: &ProbeContext) -> u64 {
    // SAFETY: the kernel passes a valid context.
    unsafe { (*ctx.regs).rsi }
}

/// Cell of a call that is followed only because it calls others, or returns as others do.
const UNWANTED: u64 = NO_CONTEXT;

#[inline(always)]
fn try_method_entry(ctx: &ProbeContext) -> Option<()> {
    let mut arrival = Arrival::of(ctx)?;
    let address = method(ctx);
    let demand = DEMAND.get(0)?;
    let found = known(address);
    let is_paused = demand.paused & Demand::METHODS != 0;
    if is_paused || found.verdict == Verdict::Never as u32 && demand.callers == 0 {
        arrival.reject();
        return None;
    }
    if demand.contexts != 0 {
        return enter_context(ctx, &mut arrival, demand, address, &found);
    }
    if demand.timed == 0 && found.verdict == Verdict::Always as u32 && found.cell != 0 {
        arrival.tally(demand, found.cell);
        return None;
    }
    enter(ctx, &mut arrival, demand, address, &found)
}

/// A call that is not simply counted.
#[inline(always)]
fn enter(ctx: &ProbeContext, arrival: &mut Arrival, demand: &Demand, address: u64, found: &Subject) -> Option<()> {
    let mut facts = Facts { tid: arrival.hit.tid, caller: 0, depth: 0, size: 0, duration_ns: 0 };
    let judgement;
    if demand.timed == 0 {
        judgement = judge(found, demand, WHOLE_GRAPH, &facts);
    } else {
        let calls = arrival.calls(demand)?;
        calls.forget_returned();
        let entered_ns = now_ns();
        let pc = calls.sweep_at_entry(address, arrival.sp, entered_ns);
        facts.depth = calls.depth() + 1;
        facts.caller = if demand.callers != 0 { caller_of(&calls) } else { 0 };
        // Where the duration decides, what can be asked now is asked by a graph of its own.
        let graph = if demand.at_return == 0 { WHOLE_GRAPH } else { ENTRY_GRAPH };
        judgement = judge(found, demand, graph, &facts);
        // It is followed all the same: a call below it has its depth, and its return must not be taken for another's.
        let cell = if judgement == Judgement::Unwanted { UNWANTED } else { u64::from(found.cell) };
        let (sp, caller) = (arrival.sp, facts.caller);
        begin(&calls, &Frame { sp, method: address, entered_ns, inner_ns: 0, cell, caller, pc });
        // Where the duration decides, the call is counted or sent when it is known.
        if demand.at_return != 0 && judgement != Judgement::Unwanted {
            arrival.counted();
            return None;
        }
    }
    if judgement == Judgement::Unwanted {
        arrival.reject();
        return None;
    }
    if judgement == Judgement::Wanted && found.cell != 0 {
        arrival.tally(demand, found.cell);
        return None;
    }
    arrival.find_stack(ctx)?;
    let asks_caller = demand.callers != 0 && judgement == Judgement::Open;
    let last = if asks_caller { facts.caller } else { facts.depth };
    // Without a stack pointer no return is waited for; user space takes the depth away that stands in its place.
    let sp = if demand.timed == 0 && demand.untimed == 0 {
        arrival.sp
    } else if asks_caller {
        facts.depth
    } else {
        0
    };
    emit::event(EventKind::MethodEntry, &[address, sp, state(judgement), last], &arrival.hit);
    Some(())
}

/// A call that is counted in its context: the call around it, the place of the call, the thread. One of a method that is not
/// known yet is, too: user space leaves it out if the method turns out not to be wanted.
#[inline(always)]
fn enter_context(
    ctx: &ProbeContext,
    arrival: &mut Arrival,
    demand: &Demand,
    address: u64,
    found: &Subject,
) -> Option<()> {
    let calls = arrival.calls(demand)?;
    calls.forget_returned();
    let entered_ns = now_ns();
    let pc = calls.sweep_at_entry(address, arrival.sp, entered_ns);
    let (around, around_sp) = match calls.top() {
        // SAFETY: `frame` points into a map value of this thread.
        Some(frame) => unsafe { ((*frame).cell, (*frame).sp) },
        None => (0, 0),
    };
    arrival.find_stack(ctx)?;
    let subject = if found.cell != 0 { u64::from(found.cell) } else { address };
    let inlined = if around_sp == arrival.sp { contexts::INLINED } else { 0 };
    let mut is_new = false;
    let cell = contexts::enter(around, subject, arrival.hit.stack, u64::from(arrival.hit.tid) | inlined, &mut is_new);
    begin(&calls, &Frame { sp: arrival.sp, method: address, entered_ns, inner_ns: 0, cell, caller: 0, pc });
    arrival.counted();
    if found.verdict == 0 && is_new {
        emit::notice(EventKind::MethodEntry, &[address, 0, SubjectState::Counted as u64, 0], &arrival.hit);
    }
    Some(())
}

#[inline(always)]
fn begin(calls: &Calls, call: &Frame) {
    let to = calls.push();
    if !to.is_null() {
        // SAFETY: `to` points into a map value of this thread.
        unsafe { to.write(*call) };
    }
}

/// The method that is under way.
#[inline(always)]
fn caller_of(calls: &Calls) -> u64 {
    match calls.top() {
        // SAFETY: `frame` points into a map value of this thread.
        Some(frame) => unsafe { (*frame).method },
        None => 0,
    }
}

#[inline(always)]
pub(crate) const fn state(judgement: Judgement) -> u64 {
    match judgement {
        Judgement::Open => SubjectState::Undecided as u64,
        Judgement::Wanted => SubjectState::Wanted as u64,
        Judgement::Unwanted => SubjectState::Unwanted as u64,
    }
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
    let mut arrival = Arrival::of(ctx)?;
    let address = method(ctx);
    let demand = DEMAND.get(0)?;
    if demand.paused & Demand::METHODS != 0 || demand.untimed != 0 {
        arrival.reject();
        return None;
    }
    let calls = if demand.timed != 0 { arrival.known_calls(demand) } else { None };
    // Most returns end the call that is under way, and what is wanted of that was said when it began.
    let ends_last = demand.at_return == 0 && calls.as_ref().is_some_and(|calls| calls.is_in(address));
    if !ends_last {
        let found = known(address);
        if found.verdict == Verdict::Never as u32 && demand.callers == 0 {
            // What an exception leaves next is this frame, and not the one that returned before.
            if let Some(calls) = &calls {
                calls.forget_returned();
            }
            arrival.reject();
            return None;
        }
        if demand.timed == 0 {
            let known = if found.verdict == 0 { Judgement::Open } else { Judgement::Wanted };
            let words = [address, arrival.sp, state(known), 0];
            emit::event(EventKind::MethodReturn, &words, &arrival.hit);
            return Some(());
        }
    }
    let Some(calls) = calls else {
        shadow::outcome(Outcome::ReturnWithoutEntry);
        arrival.reject();
        return None;
    };
    leave(ctx, &mut arrival, demand, address, &calls)
}

/// The end of a call that the kernel times.
#[inline(always)]
fn leave(ctx: &ProbeContext, arrival: &mut Arrival, demand: &Demand, address: u64, calls: &Calls) -> Option<()> {
    let now_ns = now_ns();
    calls.sweep_below_return(address, arrival.sp, now_ns);
    let Some(over) = calls.pop(address, arrival.sp, now_ns) else {
        calls.forget_returned();
        shadow::outcome(Outcome::ReturnWithoutEntry);
        arrival.reject();
        return None;
    };
    if over.cell == UNWANTED {
        calls.forget_returned();
        arrival.reject();
        return None;
    }
    let mut flags = 0;
    if demand.at_return != 0 {
        let facts = Facts {
            tid: arrival.hit.tid,
            caller: over.caller,
            depth: calls.depth() + 1,
            size: 0,
            duration_ns: over.total_ns,
        };
        let judgement = judge(&known(address), demand, WHOLE_GRAPH, &facts);
        if judgement == Judgement::Unwanted {
            calls.forget_returned();
            arrival.reject();
            return None;
        }
        flags |= Timed::UNCOUNTED;
        if judgement == Judgement::Open {
            // What user space must know to decide.
            flags |= Timed::UNDECIDED | facts.depth << Timed::DEPTH_BIT;
        } else if over.cell != 0 {
            tally(over.cell as u32);
            if demand.by_thread != 0 {
                contexts::enter(0, over.cell, 0, u64::from(arrival.hit.tid), &mut false);
            }
        }
    }
    if over.cell == 0 {
        arrival.find_stack(ctx)?;
        let inner = if demand.callers != 0 && flags & Timed::UNDECIDED != 0 { over.caller } else { over.inner_ns };
        emit::event(EventKind::MethodTimed, &[address, over.total_ns, inner, flags], &arrival.hit);
        return Some(());
    }
    arrival.counted();
    shadow::record(&over, false, arrival.hit.tid);
    Some(())
}

#[inline(always)]
fn try_frame_unwound(ctx: &ProbeContext) -> Option<()> {
    let arrival = Arrival::of(ctx)?;
    let demand = DEMAND.get(0)?;
    if demand.paused & Demand::METHODS != 0 || demand.untimed != 0 {
        arrival.reject();
        return None;
    }
    if demand.timed == 0 {
        emit::event(EventKind::FrameUnwound, &[arrival.sp, 0, 0, 0], &arrival.hit);
        return Some(());
    }
    let Some(calls) = arrival.known_calls(demand) else {
        arrival.reject();
        return None;
    };
    calls.note_unwound();
    match calls.take_thrown(arrival.sp) {
        // User space counts it, and must hear of this.
        Some(0) => emit::event(EventKind::FrameUnwound, &[arrival.sp, 0, 0, 0], &arrival.hit),
        Some(counted) => {
            shadow::threw(counted, arrival.hit.tid);
            arrival.counted();
        }
        None => arrival.reject(),
    }
    Some(())
}

//! The program at entries and returns of JNI functions: one for both, so that a group of sites comes and goes as a whole.
//!
//! Site: HotSpot's notes `hotspot_jni:NAME__entry` and `NAME__return`.
//! Arguments: the function's number and role, its `JNIEnv*`, and what a function returns that opens a critical section, as the
//! specification says ([`tracer_common::jni`]).
//! Event: `JniReturn`, `JniSection`, `JniEntry`; none where the kernel counts itself.
//! Cost: two traps a call (about 0.57 us each), and some 0.4 us to find the caller and to count.
#![expect(unsafe_code, reason = "the context and map values are raw pointers")]

mod caller;
mod calls;
mod maps;

use aya_ebpf::{
    bindings::BPF_NOEXIST,
    helpers::{
        bpf_get_current_pid_tgid,
        generated::{bpf_get_prandom_u32, bpf_get_smp_processor_id},
    },
    macros::uprobe,
    programs::ProbeContext,
};
use tracer_common::{
    filter::Input,
    jni::{
        Caller, Count, CountKey, FIELD_ENV, FIELD_FAMILY, FIELD_FUNCTION, FIELD_RESULT, FIELD_ROLE, Flags, Frame,
        JniDemand, MAX_FAMILIES, Outcome, Role, Wanted,
    },
    record::EventKind,
    site::SiteSpec,
    stack::STACK_ABSENT,
    stats::SiteStats,
    tally::{Verdict, bucket},
};

use self::{
    caller::caller,
    calls::{Calls, Over, outcome},
    maps::{JNI_CALLERS, JNI_COUNTS, JNI_DEMAND, JNI_FUNCTIONS, JNI_LASTED, JNI_SECTIONS},
};
use super::site::stack_at;
use crate::{
    args::operand,
    emit::{self, Hit, count},
    filter::Question,
    maps::{MASKS, SITES, STATS, TARGET},
    shadow::now_ns,
    shared_stack,
};

#[uprobe]
fn jni_hit(ctx: ProbeContext) -> u32 {
    let _: Option<()> = try_jni_hit(&ctx);
    0
}

/// A hit that belongs to the target.
struct Arrival {
    hit: Hit,
    spec: &'static SiteSpec,
    demand: &'static JniDemand,
    sp: u64,
    function: u32,
    role: u8,
    epoch: u32,
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
        let spec = SITES.get(u32::from(site))?;
        let demand = JNI_DEMAND.get(0)?;
        // SAFETY: the kernel passes a valid context.
        let sp = unsafe { (*ctx.regs).rsp };
        let family = constant(spec, FIELD_FAMILY) as usize % MAX_FAMILIES;
        Some(Self {
            hit: Hit { site, stats, target, tid: thread as u32, stack: STACK_ABSENT },
            spec,
            demand,
            sp,
            function: constant(spec, FIELD_FUNCTION) as u32,
            role: constant(spec, FIELD_ROLE) as u8,
            epoch: demand.epochs[family],
        })
    }

    #[inline(always)]
    const fn stats(&self) -> *mut SiteStats {
        self.hit.stats
    }

    #[inline(always)]
    fn rejected(&self) {
        // SAFETY: `stats` points into a map value.
        count(unsafe { &raw mut (*self.stats()).filtered });
    }

    #[inline(always)]
    fn counted(&self) {
        // SAFETY: as above.
        count(unsafe { &raw mut (*self.stats()).counted });
    }

    #[inline(always)]
    const fn is(&self, role: Role) -> bool {
        self.role == role as u8
    }

    /// The word of an event that says what it is about.
    #[inline(always)]
    const fn word(&self, function: u32, wanted: Wanted, over: &Over) -> u64 {
        let undecided = if wanted as u64 == Wanted::Undecided as u64 { Flags::UNDECIDED } else { 0 };
        let untimed = if over.timed { 0 } else { Flags::UNTIMED };
        function as u64 | undecided | untimed | over.depth << 32
    }
}

/// The value of a constant word of a specification.
#[inline(always)]
const fn constant(spec: &SiteSpec, field: usize) -> u64 {
    spec.fields[field].a.displacement as u64
}

#[inline(always)]
fn try_jni_hit(ctx: &ProbeContext) -> Option<()> {
    let mut arrival = Arrival::of(ctx)?;
    if arrival.epoch & 1 == 1 {
        arrival.rejected();
        return None;
    }
    if arrival.spec.kind == EventKind::JniEntry as u16 {
        let env = operand(&arrival.spec.fields[FIELD_ENV].a, ctx.regs).unwrap_or(0);
        enter(ctx, &mut arrival, env)
    } else {
        let result = operand(&arrival.spec.fields[FIELD_RESULT].a, ctx.regs).unwrap_or(0);
        leave(ctx, &mut arrival, result)
    }
}

#[inline(always)]
fn enter(ctx: &ProbeContext, arrival: &mut Arrival, env: u64) -> Option<()> {
    let caller = caller(ctx, arrival.demand, env);
    if arrival.is(Role::NeverReturns) {
        return never_returns(ctx, arrival, caller);
    }
    let Some(calls) = Calls::of(arrival.hit.tid) else {
        arrival.rejected();
        return None;
    };
    let sent = arrival.is(Role::Closes) && close(arrival, &calls);
    // SAFETY: the pointer is a map value of this thread, which nobody else writes.
    unsafe { (*calls.0).env = env };
    let to = calls.push(arrival.sp);
    if !to.is_null() {
        let (sp, function, epoch) = (arrival.sp, arrival.function, arrival.epoch);
        // SAFETY: `to` points into a map value of this thread.
        unsafe { to.write(Frame { sp, entered_ns: now_ns(), inner_ns: 0, caller, function, epoch }) };
    }
    if !sent {
        arrival.counted();
    }
    Some(())
}

/// A call whose end nothing will tell: all that is known of it is known now.
#[inline(always)]
fn never_returns(ctx: &ProbeContext, arrival: &mut Arrival, caller: u64) -> Option<()> {
    let over = Over { caller, total_ns: 0, inner_ns: 0, depth: 1, timed: false };
    let known = known(caller);
    let wanted = judge(arrival, &over, &known);
    if wanted == Wanted::No {
        arrival.rejected();
        return None;
    }
    if arrival.spec.stack != 0 {
        arrival.hit.stack = stack_at(ctx, &arrival.hit, arrival.spec.stack);
    }
    send(arrival, EventKind::JniEntry, wanted, &over);
    Some(())
}

#[inline(always)]
fn leave(ctx: &ProbeContext, arrival: &mut Arrival, result: u64) -> Option<()> {
    let demand = arrival.demand;
    let mut over = Over { caller: 0, total_ns: 0, inner_ns: 0, depth: 0, timed: false };
    let calls = Calls::find(arrival.hit.tid);
    let Some(calls) = calls.filter(|calls| calls.pop(arrival.function, arrival.epoch, arrival.sp, &mut over)) else {
        outcome(Outcome::ReturnWithoutEntry);
        arrival.rejected();
        return None;
    };
    if !over.timed {
        // SAFETY: the pointer is a map value of this thread, which nobody else writes.
        over.caller = caller(ctx, demand, unsafe { (*calls.0).env });
    }
    let known = known(over.caller);
    let wanted = judge(arrival, &over, &known);
    if arrival.is(Role::Opens) && result != 0 {
        open(arrival, &calls, &over, wanted);
    }
    if wanted == Wanted::No {
        arrival.rejected();
        return None;
    }
    let counts = wanted == Wanted::Yes && known.number != 0 && demand.each == 0;
    if counts && tally(arrival, &over, known.number) {
        arrival.counted();
        return Some(());
    }
    if arrival.spec.stack != 0 {
        arrival.hit.stack = stack_at(ctx, &arrival.hit, arrival.spec.stack);
    }
    send(arrival, EventKind::JniReturn, wanted, &over);
    Some(())
}

/// Sends a call as an event.
#[inline(never)]
fn send(arrival: &Arrival, kind: EventKind, wanted: Wanted, over: &Over) -> u64 {
    let words = [arrival.word(arrival.function, wanted, over), over.caller, over.total_ns, over.inner_ns];
    emit::event(kind, &words, &arrival.hit);
    0
}

/// What is known of a caller; its number is 0 where that is nothing.
#[inline(always)]
fn known(caller: u64) -> Caller {
    // SAFETY: it is copied at once; should it be removed at this moment, its class was unloaded.
    match unsafe { JNI_CALLERS.get(caller) } {
        Some(known) => *known,
        None => Caller { mask: 0, number: 0, reserved: 0 },
    }
}

/// Whether a call is wanted. A function of its own: the question takes much of a program's stack.
#[inline(never)]
fn judge(arrival: &Arrival, over: &Over, caller: &Caller) -> Wanted {
    let Some(function) = JNI_FUNCTIONS.get(arrival.function) else { return Wanted::Undecided };
    if function.verdict == Verdict::Always as u32 {
        return Wanted::Yes;
    }
    if function.verdict == Verdict::Never as u32 {
        return Wanted::No;
    }
    // The predicate may ask for the caller, and must know its name then.
    if function.verdict == 0 || caller.number == 0 {
        return Wanted::Undecided;
    }
    let mut question = Question::NONE;
    if arrival.demand.threads != 0 {
        let Some(mask) = MASKS.get_ptr(arrival.hit.tid) else { return Wanted::Undecided };
        // SAFETY: `mask` points into a map value.
        question.set(Input::Thread, unsafe { *mask });
    }
    question.set(Input::Subject, function.mask);
    question.set(Input::Caller, caller.mask);
    question.set(Input::Tid, u64::from(arrival.hit.tid));
    // SAFETY: the helpers have no precondition.
    question.set(Input::Cpu, unsafe { bpf_get_smp_processor_id() } as u64);
    // SAFETY: as above.
    question.set(Input::Random, u64::from(unsafe { bpf_get_prandom_u32() }));
    question.set(Input::Depth, over.depth);
    question.set(Input::Duration, over.total_ns);
    if question.is_wanted() { Wanted::Yes } else { Wanted::No }
}

/// Counts a call; says whether there was room.
#[inline(never)]
fn tally(arrival: &Arrival, over: &Over, caller: u32) -> bool {
    let key = CountKey { tid: arrival.hit.tid, function: arrival.function, caller, reserved: 0 };
    let timed = over.timed as u64;
    if let Some(known) = JNI_COUNTS.get_ptr_mut(key) {
        // SAFETY: `known` points into a map value that only this thread writes.
        unsafe { add(known, timed, over.total_ns, over.inner_ns) };
        return true;
    }
    let first = Count { calls: 1, timed, total_ns: over.total_ns, inner_ns: over.inner_ns, longest_ns: over.total_ns };
    JNI_COUNTS.insert(key, first, u64::from(BPF_NOEXIST)).is_ok()
}

#[inline(always)]
unsafe fn add(to: *mut Count, timed: u64, total_ns: u64, inner_ns: u64) {
    // SAFETY: callers pass a map value that only this thread writes.
    unsafe {
        (*to).calls += 1;
        (*to).timed += timed;
        (*to).total_ns += total_ns;
        (*to).inner_ns += inner_ns;
        if total_ns > (*to).longest_ns {
            (*to).longest_ns = total_ns;
        }
    }
}

/// A critical section begins; one within another is part of it.
#[inline(never)]
fn open(arrival: &Arrival, calls: &Calls, over: &Over, wanted: Wanted) {
    let thread = calls.0;
    // SAFETY: the pointer is a map value of this thread, which nobody else writes.
    unsafe {
        if (*thread).open == 0 || (*thread).section_epoch != arrival.epoch {
            (*thread).open = 0;
            (*thread).since_ns = now_ns();
            (*thread).opener = over.caller;
            (*thread).section = arrival.function;
            (*thread).section_epoch = arrival.epoch;
            (*thread).section_wanted = wanted as u64;
        }
        (*thread).open += 1;
    }
}

/// A critical section ends; says whether user space was told.
#[inline(never)]
fn close(arrival: &Arrival, calls: &Calls) -> bool {
    let thread = calls.0;
    // SAFETY: as above.
    let (open, since_ns, opener, function, epoch, wanted) = unsafe {
        (
            (*thread).open,
            (*thread).since_ns,
            (*thread).opener,
            (*thread).section,
            (*thread).section_epoch,
            (*thread).section_wanted,
        )
    };
    if open == 0 || epoch != arrival.epoch {
        outcome(Outcome::CloseWithoutOpen);
        // SAFETY: as above.
        unsafe { (*thread).open = 0 };
        return false;
    }
    // SAFETY: as above.
    unsafe { (*thread).open = open - 1 };
    if open > 1 || wanted == Wanted::No as u64 {
        return false;
    }
    let lasted_ns = now_ns().wrapping_sub(since_ns);
    let number = known(opener).number;
    if wanted == Wanted::Yes as u64
        && number != 0
        && arrival.demand.each == 0
        && section(arrival, function, number, lasted_ns)
    {
        return false;
    }
    let undecided = if wanted == Wanted::Undecided as u64 { Flags::UNDECIDED } else { 0 };
    let words = [u64::from(function) | undecided, opener, lasted_ns, 0];
    emit::event(EventKind::JniSection, &words, &arrival.hit);
    true
}

/// Counts a critical section; says whether there was room.
#[inline(always)]
fn section(arrival: &Arrival, function: u32, caller: u32, lasted_ns: u64) -> bool {
    let key = CountKey { tid: arrival.hit.tid, function, caller, reserved: 0 };
    if let Some(known) = JNI_SECTIONS.get_ptr_mut(key) {
        // SAFETY: as in `tally`.
        unsafe { add(known, 1, lasted_ns, 0) };
    } else {
        let first = Count { calls: 1, timed: 1, total_ns: lasted_ns, inner_ns: 0, longest_ns: lasted_ns };
        if JNI_SECTIONS.insert(key, first, u64::from(BPF_NOEXIST)).is_err() {
            return false;
        }
    }
    if let Some(counter) = JNI_LASTED.get_ptr_mut(bucket(lasted_ns)) {
        count(counter);
    }
    true
}

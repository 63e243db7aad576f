//! The program for sites whose arguments a [`SiteSpec`] describes: all probes of HotSpot, and entries of named functions.
//!
//! Site: any; the cookie is the site's id, an index into `SITES` and `STATS`.
//! Arguments: up to eight fields, read as the specification says.
//! Event: the kind of the specification, with a word per field.
//! Cost: a trap (about 0.57 us), then about 0.1 us, and as much again for each name.
#![expect(unsafe_code, reason = "the context and map values are raw pointers")]

use core::mem::MaybeUninit;

use aya_ebpf::{
    helpers::{bpf_get_current_pid_tgid, generated::bpf_get_prandom_u32},
    macros::uprobe,
    programs::ProbeContext,
};
use aya_log_ebpf::warn;
use tracer_common::{
    record::{EventKind, HEADER_BYTES, LARGE_EVENT_BYTES, SMALL_EVENT_BYTES, SMALL_EVENT_WORDS},
    site::{Field, MAX_FIELDS, SiteSpec, Treat},
    stack::{MAX_FRAMES, STACK_ABSENT, STACK_BUSY},
};

use crate::{
    args::{Unreadable, forget, operand, word, zero},
    define,
    emit::{Hit, Reservation, count, refuses},
    maps::{GENERATION, SITES, STATS, TARGET},
    shared_stack,
    unwind::{self, Kept, scratch::Slot},
};

#[uprobe]
fn site_hit(ctx: ProbeContext) -> u32 {
    let _: Option<()> = try_site_hit(&ctx);
    0
}

#[inline(always)]
fn try_site_hit(ctx: &ProbeContext) -> Option<()> {
    let site = shared_stack::site(ctx)?;
    let stats = STATS.get_ptr_mut(u32::from(site))?;
    // SAFETY: `stats` points into a map value.
    count(unsafe { &raw mut (*stats).hits });
    let spec = SITES.get(u32::from(site))?;
    let target = TARGET.get(0)?;
    let thread = bpf_get_current_pid_tgid();
    let tgid = (thread >> 32) as u32;
    if spec.kind == 0 || (target.tgid != 0 && tgid != target.tgid) {
        // SAFETY: as above.
        count(unsafe { &raw mut (*stats).filtered });
        return None;
    }
    if spec.kind == EventKind::CodeUnloaded as u16 {
        forget_code();
    }
    if refuses(stats, target) {
        // SAFETY: as above.
        count(unsafe { &raw mut (*stats).refused });
        return None;
    }
    let mut hit = Hit { site, stats, target, tid: thread as u32, stack: STACK_ABSENT };
    if spec.stack != 0 {
        hit.stack = stack_at(ctx, &hit, spec.stack);
    }
    emit(ctx, spec, &hit);
    Some(())
}

/// Reads the words of an event and sends it. A function of its own: its stack is not needed while the target's is walked.
#[inline(never)]
fn emit(ctx: &ProbeContext, spec: &SiteSpec, hit: &Hit) -> u64 {
    let mut room = MaybeUninit::<[u64; MAX_FIELDS]>::uninit();
    let words = zero(&mut room);
    read_fields(ctx, spec, hit, words);
    // SAFETY: `stats` points into a map value.
    count(unsafe { &raw mut (*hit.stats).emitted });
    let sent = if usize::from(spec.field_count) <= SMALL_EVENT_WORDS {
        send::<SMALL_EVENT_BYTES>(spec, words, hit)
    } else {
        send::<LARGE_EVENT_BYTES>(spec, words, hit)
    };
    if !sent {
        // SAFETY: as above.
        count(unsafe { &raw mut (*hit.stats).lost });
    }
    0
}

/// Id of the stack of the thread that hit a site. A function of its own, so that little lies below the frames of a walk.
#[inline(never)]
pub(super) fn stack_at(ctx: &ProbeContext, hit: &Hit, wanted: u32) -> u64 {
    let one_in = wanted >> SiteSpec::STACK_BITS;
    // SAFETY: the helper takes nothing.
    if one_in > 1 && unsafe { bpf_get_prandom_u32() } % one_in != 0 {
        return STACK_ABSENT;
    }
    let Some(slot) = slot_at(ctx) else { return STACK_BUSY };
    unwind::stack(slot, most(wanted & STACK_FRAMES), core::ptr::null_mut(), hit)
}

/// A slot that holds the registers of a hit.
#[inline(always)]
fn slot_at(ctx: &ProbeContext) -> Option<Slot> {
    let slot = Slot::take()?;
    // SAFETY: the slot is this program's alone until it is given back, and the kernel passes a valid context.
    let (walk, regs) = unsafe { (&mut *slot.scratch(), &*ctx.regs) };
    walk.pc = regs.rip;
    walk.sp = regs.rsp;
    walk.fp = regs.rbp;
    walk.kept = Kept { r13: regs.r13, rax: regs.rax, rdi: regs.rdi, rbx: regs.rbx };
    Some(slot)
}

/// Return address into the native code that called the function which the thread is in; 0 where it is not known.
#[inline(never)]
pub(super) fn native_caller(ctx: &ProbeContext) -> u64 {
    match slot_at(ctx) {
        Some(slot) => unwind::caller(slot),
        None => 0,
    }
}

/// The part of what a site wants of stacks that says how many frames.
const STACK_FRAMES: u32 = (1 << SiteSpec::STACK_BITS) - 1;

/// Number of methods that a specification asks for; other frames do not count.
#[inline(always)]
const fn most(wanted: u32) -> u64 {
    if wanted > 1 && (wanted as usize) < MAX_FRAMES { wanted as u64 } else { MAX_FRAMES as u64 }
}

/// What unwinding remembers about addresses of code may be wrong from now on.
#[inline(always)]
fn forget_code() {
    if let Some(generation) = GENERATION.get_ptr_mut(0) {
        count(generation);
    }
}

#[inline(always)]
fn read_fields(ctx: &ProbeContext, spec: &SiteSpec, hit: &Hit, words: &mut [u64; MAX_FIELDS]) {
    for (index, word) in words.iter_mut().enumerate() {
        if index >= usize::from(spec.field_count) {
            break;
        }
        let value = match field(ctx, &spec.fields[index], hit) {
            Ok(value) => value,
            Err(Unreadable) => {
                // SAFETY: `stats` points into a map value.
                let unreadable = unsafe { &raw mut (*hit.stats).unreadable };
                // SAFETY: as above. Only the first of a CPU is told: a hostile target must not flood the log.
                if unsafe { unreadable.read_volatile() } == 0 {
                    warn!(ctx, "site {}: argument {} is unreadable", hit.site, index);
                }
                count(unreadable);
                0
            }
        };
        // What stands for no value must not be another case for each field.
        *word = forget(value, spec.fields[index].a.displacement as u64);
    }
}

#[inline(always)]
fn field(ctx: &ProbeContext, field: &Field, hit: &Hit) -> Result<u64, Unreadable> {
    let a = operand(&field.a, ctx.regs)?;
    if field.treat == Treat::Word as u8 {
        return Ok(a);
    }
    if field.treat == Treat::Pointee as u8 {
        let first = word(a.wrapping_add(field.b.displacement as u64))?;
        return if field.then == 0 { Ok(first) } else { word(first.wrapping_add(u64::from(field.then))) };
    }
    // A constant where the treatment needs one operand only.
    let b = operand(&field.b, ctx.regs)?;
    Ok(define::text(a, b, field.treat, hit))
}

#[inline(always)]
fn send<const BYTES: usize>(spec: &SiteSpec, words: &[u64; MAX_FIELDS], hit: &Hit) -> bool {
    let Some(mut record) = Reservation::new::<BYTES>() else {
        return false;
    };
    record.write_header(spec.kind, spec.field_count, hit);
    // SAFETY: the record has room for this many words behind its header, which is a multiple of 8 long.
    let to = unsafe { record.as_mut_ptr().add(HEADER_BYTES).cast::<u64>() };
    for (index, word) in words.iter().enumerate().take((BYTES - HEADER_BYTES) / 8) {
        // SAFETY: as above.
        unsafe { to.add(index).write(*word) };
    }
    let goes_away = spec.kind == EventKind::CodeUnloaded as u16 || spec.kind == EventKind::ClassUnloaded as u16;
    record.submit_waking::<BYTES>(hit, goes_away && unwind::hurry());
    true
}

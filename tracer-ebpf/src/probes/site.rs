//! The program for sites whose arguments a [`SiteSpec`] describes: all probes of HotSpot, and entries of named functions.
//!
//! Site: any; the cookie is the site's id, an index into `SITES` and `STATS`.
//! Arguments: up to eight fields, read as the specification says.
//! Event: the kind of the specification, with a word per field.
//! Cost: a trap (about 0.57 us), then about 0.1 us, and as much again for each name.
#![expect(unsafe_code, reason = "the context and map values are raw pointers")]

use core::mem::MaybeUninit;

use aya_ebpf::{
    EbpfContext as _,
    helpers::{bpf_get_attach_cookie, bpf_get_current_pid_tgid},
    macros::uprobe,
    programs::ProbeContext,
};
use aya_log_ebpf::warn;
use tracer_common::{
    record::{EventKind, HEADER_BYTES, LARGE_EVENT_BYTES, SMALL_EVENT_BYTES, SMALL_EVENT_WORDS},
    site::{Field, MAX_FIELDS, SiteSpec, Treat},
    stack::{MAX_FRAMES, STACK_ABSENT},
};

use crate::{
    args::{Registers, Unreadable, operand, word, zero},
    define,
    emit::{Hit, Reservation, count},
    maps::{GENERATION, SITES, STATS, TARGET},
    unwind::{self, Kept, Start},
};

#[uprobe]
fn site_hit(ctx: ProbeContext) -> u32 {
    let _: Option<()> = try_site_hit(&ctx);
    0
}

#[inline(always)]
fn try_site_hit(ctx: &ProbeContext) -> Option<()> {
    // SAFETY: the helper takes the program's own context.
    let site = unsafe { bpf_get_attach_cookie(ctx.as_ptr()) } as u16;
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
    let mut hit = Hit { site, stats, target, tid: thread as u32, stack: STACK_ABSENT };
    if spec.stack != 0 {
        hit.stack = stack_at(ctx, &hit, spec.stack);
    }
    if spec.kind == EventKind::CodeUnloaded as u16 {
        forget_code();
    }
    let mut room = MaybeUninit::<[u64; MAX_FIELDS]>::uninit();
    let words = zero(&mut room);
    read_fields(ctx, spec, &hit, words);
    // SAFETY: as above.
    count(unsafe { &raw mut (*stats).emitted });
    let sent = if usize::from(spec.field_count) <= SMALL_EVENT_WORDS {
        send::<SMALL_EVENT_BYTES>(spec, words, &hit)
    } else {
        send::<LARGE_EVENT_BYTES>(spec, words, &hit)
    };
    if !sent {
        // SAFETY: as above.
        count(unsafe { &raw mut (*stats).lost });
    }
    Some(())
}

#[inline(always)]
pub(super) fn stack_at(ctx: &ProbeContext, hit: &Hit, wanted: u32) -> u64 {
    // SAFETY: the kernel passes a valid context.
    let regs = unsafe { &*ctx.regs };
    let kept = Kept { r13: regs.r13, rax: regs.rax, rdi: regs.rdi, rbx: regs.rbx };
    let start =
        Start { pc: regs.rip, sp: regs.rsp, fp: regs.rbp, kept, kernel: core::ptr::null_mut(), most: most(wanted) };
    unwind::stack(&start, hit)
}

/// Return address into the native code that called the function which the thread is in; 0 where it is not known.
#[inline(always)]
pub(super) fn native_caller(ctx: &ProbeContext) -> u64 {
    // SAFETY: the kernel passes a valid context.
    let regs = unsafe { &*ctx.regs };
    let kept = Kept { r13: regs.r13, rax: regs.rax, rdi: regs.rdi, rbx: regs.rbx };
    unwind::caller(&Start { pc: regs.rip, sp: regs.rsp, fp: regs.rbp, kept, kernel: core::ptr::null_mut(), most: 1 })
}

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
    let registers = Registers::new(ctx.regs);
    for (index, word) in words.iter_mut().enumerate() {
        if index >= usize::from(spec.field_count) {
            break;
        }
        match field(&spec.fields[index], &registers, hit) {
            Ok(value) => *word = value,
            Err(Unreadable) => {
                // SAFETY: `stats` points into a map value.
                let unreadable = unsafe { &raw mut (*hit.stats).unreadable };
                // SAFETY: as above. Only the first of a CPU is told: a hostile target must not flood the log.
                if unsafe { unreadable.read_volatile() } == 0 {
                    warn!(ctx, "site {}: argument {} is unreadable", hit.site, index);
                }
                count(unreadable);
            }
        }
    }
}

#[inline(always)]
fn field(field: &Field, registers: &Registers, hit: &Hit) -> Result<u64, Unreadable> {
    let a = operand(&field.a, registers)?;
    if field.treat == Treat::Word as u8 {
        return Ok(a);
    }
    if field.treat == Treat::Pointee as u8 {
        let first = word(a.wrapping_add(field.b.displacement as u64))?;
        return if field.then == 0 { Ok(first) } else { word(first.wrapping_add(u64::from(field.then))) };
    }
    // A constant where the treatment needs one operand only.
    let b = operand(&field.b, registers)?;
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
    record.submit::<BYTES>(hit);
    true
}

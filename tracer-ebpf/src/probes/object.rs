//! The program where an object was made.
//!
//! Site: the functions of HotSpot that its code calls for each object (`SharedRuntime::dtrace_object_alloc`).
//! Arguments: the object, in rdi or rsi. Its size is computed from its class, because what the JVM passes is wrong up to 17
//! where compiled or interpreted code made the object (JDK-8276209).
//! Event: `ObjectAlloc`; none where the kernel counts itself.
//! Cost: a trap (about 0.57 us), three reads of the target's memory (0.1 us), then as for methods.
#![expect(unsafe_code, reason = "the context and map values are raw pointers")]

use aya_ebpf::{
    EbpfContext as _,
    helpers::{bpf_get_attach_cookie, bpf_get_current_pid_tgid},
    macros::uprobe,
    programs::ProbeContext,
};
use tracer_common::{
    record::EventKind,
    site::Register,
    stack::STACK_ABSENT,
    tally::{ObjectLayout, Verdict},
};

use super::{
    method::{is_wanted, state, subject},
    site::stack_at,
};
use crate::{
    args::{Unreadable, read, word},
    emit::{self, Hit, add, count},
    maps::{CELLS, DEMAND, SITES, STATS, TARGET},
};

/// No array.
const NO_LENGTH: u64 = u64::MAX;

#[uprobe]
fn object_alloc(ctx: ProbeContext) -> u32 {
    let _: Option<()> = try_object_alloc(&ctx);
    0
}

#[inline(always)]
fn try_object_alloc(ctx: &ProbeContext) -> Option<()> {
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
    let spec = SITES.get(u32::from(site))?;
    let demand = DEMAND.get(0)?;
    // SAFETY: the kernel passes a valid context.
    let (rdi, rsi) = unsafe { ((*ctx.regs).rdi, (*ctx.regs).rsi) };
    let object = if spec.fields[0].a.base == Register::Rdi as u8 { rdi } else { rsi };
    let mut hit = Hit { site, stats, target: *target, tid: thread as u32, stack: STACK_ABSENT };
    let Ok(made) = made(object, &demand.object) else {
        // SAFETY: `stats` points into a map value.
        count(unsafe { &raw mut (*stats).unreadable });
        emit::event(EventKind::ObjectAlloc, &[0, 0, NO_LENGTH, 0], &hit);
        return None;
    };
    let found = subject(made.klass);
    if let Some(subject) = &found {
        if subject.verdict == Verdict::Never as u32 || !is_wanted(subject, hit.tid, 0, made.bytes, 0) {
            // SAFETY: `stats` points into a map value.
            count(unsafe { &raw mut (*stats).filtered });
            return None;
        }
        if demand.aggregate != 0
            && subject.cell != 0
            && let Some(cell) = CELLS.get_ptr_mut(subject.cell)
        {
            // SAFETY: both point into map values of this CPU.
            unsafe {
                add(&raw mut (*cell).count, 1);
                add(&raw mut (*cell).bytes, made.bytes);
                count(&raw mut (*stats).counted);
            }
            return Some(());
        }
    }
    if spec.stack != 0 {
        hit.stack = stack_at(ctx, &hit);
    }
    emit::event(EventKind::ObjectAlloc, &[made.klass, made.bytes, made.length, state(found.as_ref())], &hit);
    Some(())
}

/// An object.
struct Made {
    klass: u64,
    bytes: u64,
    length: u64,
}

#[inline(always)]
fn made(object: u64, layout: &ObjectLayout) -> Result<Made, Unreadable> {
    if layout.layout_helper == 0 {
        return Err(Unreadable);
    }
    let header = word(object.wrapping_add(u64::from(layout.klass_offset)))?;
    let klass = if layout.klass_bytes == 8 {
        header
    } else if layout.klass_low_bit != 0 {
        layout.klass_base.wrapping_add((header >> (layout.klass_low_bit & 63)) << (layout.klass_shift & 63))
    } else {
        layout.klass_base.wrapping_add((header & 0xffff_ffff) << (layout.klass_shift & 63))
    };
    let mut helper = 0i32;
    read((&raw mut helper).cast(), 4, klass.wrapping_add(u64::from(layout.layout_helper)))?;
    if helper > 0 {
        let bytes = if layout.mirror_klass == klass && layout.mirror_size != 0 {
            let mut words = 0u32;
            read((&raw mut words).cast(), 4, object.wrapping_add(u64::from(layout.mirror_size)))?;
            u64::from(words) * 8
        } else {
            // The lowest bit says that the JVM must make it itself.
            (helper & !1) as u64
        };
        return Ok(Made { klass, bytes, length: NO_LENGTH });
    }
    let mut length = 0u32;
    read((&raw mut length).cast(), 4, object.wrapping_add(u64::from(layout.length)))?;
    let helper = helper as u32;
    let elements = u64::from(length) << (helper & 0x3f);
    let bytes = u64::from((helper >> 16) & 0xff) + elements;
    let mask = u64::from(layout.alignment).wrapping_sub(1);
    Ok(Made { klass, bytes: (bytes + mask) & !mask, length: u64::from(length) })
}

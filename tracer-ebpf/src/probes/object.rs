//! The program where an object was made.
//!
//! Site: the functions of HotSpot that its code calls for each object (`SharedRuntime::dtrace_object_alloc`).
//! Arguments: the object, in rdi or rsi. Its size is computed from its class, because what the JVM passes is wrong up to 17
//! where compiled or interpreted code made the object (JDK-8276209).
//! Event: `ObjectAlloc`; none where the kernel counts itself.
//! Cost: a trap (about 0.57 us), three reads of the target's memory (0.1 us), then as for methods.
#![expect(unsafe_code, reason = "the context and map values are raw pointers")]

use aya_ebpf::{helpers::bpf_get_current_pid_tgid, macros::uprobe, programs::ProbeContext};
use tracer_common::{
    filter::WHOLE_GRAPH,
    record::EventKind,
    site::Register,
    stack::STACK_ABSENT,
    tally::{Demand, ObjectLayout},
};

use super::{
    method::{Facts, Judgement, judge, known, state},
    site::stack_at,
};
use crate::{
    args::{half_or_0, word_or_0},
    contexts,
    emit::{self, Hit, add, count},
    maps::{CELLS, DEMAND, SITES, STATS, TARGET},
    shadow::add_to_bucket,
    shared_stack,
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
    let demand = DEMAND.get(0)?;
    if demand.paused & Demand::OBJECTS != 0 {
        // SAFETY: `stats` points into a map value.
        count(unsafe { &raw mut (*stats).filtered });
        return None;
    }
    // SAFETY: the kernel passes a valid context. Both are read at once: it allows no address that depends on a choice.
    let (rdi, rsi) =
        unsafe { ((&raw const (*ctx.regs).rdi).read_volatile(), (&raw const (*ctx.regs).rsi).read_volatile()) };
    let object = if spec.fields[0].a.base == Register::Rdi as u8 { rdi } else { rsi };
    let mut hit = Hit { site, stats, target, tid: thread as u32, stack: STACK_ABSENT };
    let made = made(object, &demand.object);
    if made.klass == 0 {
        // SAFETY: `stats` points into a map value.
        count(unsafe { &raw mut (*stats).unreadable });
        emit::event(EventKind::ObjectAlloc, &[0, 0, NO_LENGTH, 0], &hit);
        return None;
    }
    let found = known(made.klass);
    let facts = Facts { tid: hit.tid, caller: 0, depth: 0, size: made.bytes, duration_ns: 0 };
    let judgement = judge(&found, demand, WHOLE_GRAPH, &facts);
    if judgement == Judgement::Unwanted {
        // SAFETY: `stats` points into a map value.
        count(unsafe { &raw mut (*stats).filtered });
        return None;
    }
    if judgement == Judgement::Wanted
        && found.cell != 0
        && let Some(cell) = CELLS.get_ptr_mut(found.cell)
    {
        // SAFETY: both point into map values of this CPU.
        unsafe {
            add(&raw mut (*cell).count, 1);
            add(&raw mut (*cell).bytes, made.bytes);
            count(&raw mut (*stats).counted);
        }
        if made.length != NO_LENGTH {
            add_to_bucket(found.cell, made.length);
        }
        if demand.places != 0 {
            if spec.stack != 0 {
                hit.stack = stack_at(ctx, &hit, spec.stack);
            }
            let context = contexts::enter(0, u64::from(found.cell), hit.stack, u64::from(hit.tid), &mut false);
            contexts::add_bytes(context, made.bytes);
        }
        return Some(());
    }
    if spec.stack != 0 {
        hit.stack = stack_at(ctx, &hit, spec.stack);
    }
    emit::event(EventKind::ObjectAlloc, &[made.klass, made.bytes, made.length, state(judgement)], &hit);
    Some(())
}

/// An object; its class is 0 where it could not be read.
struct Made {
    klass: u64,
    bytes: u64,
    length: u64,
}

#[inline(always)]
fn made(object: u64, layout: &ObjectLayout) -> Made {
    let mut made = Made { klass: 0, bytes: 0, length: NO_LENGTH };
    if layout.layout_helper == 0 {
        return made;
    }
    let header = word_or_0(object.wrapping_add(u64::from(layout.klass_offset)));
    let narrow = if layout.klass_low_bit != 0 { header >> (layout.klass_low_bit & 63) } else { header & 0xffff_ffff };
    let klass = if layout.klass_bytes == 8 {
        header
    } else {
        layout.klass_base.wrapping_add(narrow << (layout.klass_shift & 63))
    };
    // What makes instances and what arrays; 0 is nothing.
    let helper = half_or_0(klass.wrapping_add(u64::from(layout.layout_helper)));
    if helper == 0 {
        return made;
    }
    made.klass = klass;
    if (helper as i32) > 0 {
        made.bytes = if layout.mirror_klass == klass && layout.mirror_size != 0 {
            u64::from(half_or_0(object.wrapping_add(u64::from(layout.mirror_size)))) * 8
        } else {
            // The lowest bit says that the JVM must make it itself.
            u64::from(helper & !1)
        };
        return made;
    }
    made.length = u64::from(half_or_0(object.wrapping_add(u64::from(layout.length))));
    let bytes = u64::from((helper >> 16) & 0xff) + (made.length << (helper & 0x3f));
    let mask = u64::from(layout.alignment).wrapping_sub(1);
    made.bytes = (bytes + mask) & !mask;
    made
}

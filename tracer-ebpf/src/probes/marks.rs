//! The program where the library in the JVM hands over what woven code has told.
//!
//! Site: a function of that library that does nothing and begins with a five-byte `nop`.
//! Arguments: address of the words in rdi, how many in rsi, the buffer's number and who hands it over in rdx, words before in rcx.
//! Event: `Marks` with the words behind it, in the smallest of three sizes that has room; without them where user space has said that
//! nobody wants this buffer's.
//! Cost: about 0.3 us for each hit, and 0.1 ns for each byte.
#![expect(unsafe_code, reason = "the context, map values and records are raw pointers")]

use aya_ebpf::{
    helpers::{bpf_get_current_pid_tgid, generated::bpf_probe_read_user},
    macros::uprobe,
    programs::ProbeContext,
};
use tracer_common::{
    marks::{MARKS_BYTES, MARKS_HEADER_BYTES, MAX_MARKS_WORDS, MarksHeader, hand},
    record::{EventKind, HEADER_BYTES},
    stack::STACK_ABSENT,
};

use crate::{
    args::at_most,
    emit::{Hit, Reservation, count},
    maps::{STATS, TARGET, UNWANTED},
    shared_stack,
};

#[uprobe]
fn marks_flushed(ctx: ProbeContext) -> u32 {
    let _: Option<()> = try_marks_flushed(&ctx);
    0
}

#[inline(always)]
fn try_marks_flushed(ctx: &ProbeContext) -> Option<()> {
    let site = shared_stack::site(ctx)?;
    let stats = STATS.get_ptr_mut(u32::from(site))?;
    // SAFETY: `stats` points into a map value.
    count(unsafe { &raw mut (*stats).hits });
    let target = TARGET.get(0)?;
    let thread = bpf_get_current_pid_tgid();
    if target.tgid != 0 && (thread >> 32) as u32 != target.tgid {
        // SAFETY: as above.
        count(unsafe { &raw mut (*stats).filtered });
        return None;
    }
    // SAFETY: the kernel passes a valid context.
    let regs = unsafe { &*ctx.regs };
    let hit = Hit { site, stats, target, tid: thread as u32, stack: STACK_ABSENT };
    let buffer = regs.rdx as u32;
    let by = (regs.rdx >> 32) as u32;
    let all = at_most::<MAX_MARKS_WORDS>(regs.rsi) as u32;
    // Whether a virtual thread is wanted is not known here.
    // SAFETY: the value is not looked at.
    let is_unwanted = by & hand::CARRIER == 0 && unsafe { UNWANTED.get(&buffer) }.is_some();
    let (words, kept_back) = if is_unwanted { (0, all) } else { (all, 0) };
    let header = MarksHeader { buffer, hand: by, first: regs.rcx, words, kept_back };
    // SAFETY: as above.
    count(unsafe { &raw mut (*stats).emitted });
    const SMALL: usize = MARKS_BYTES[0];
    const MIDDLE: usize = MARKS_BYTES[1];
    const LARGE: usize = MARKS_BYTES[2];
    let sent = if words as usize * 8 <= SMALL {
        send::<SMALL, { SMALL + MARKS_HEADER_BYTES }>(regs.rdi, header, &hit)
    } else if words as usize * 8 <= MIDDLE {
        send::<MIDDLE, { MIDDLE + MARKS_HEADER_BYTES }>(regs.rdi, header, &hit)
    } else {
        send::<LARGE, { LARGE + MARKS_HEADER_BYTES }>(regs.rdi, header, &hit)
    };
    if !sent {
        // SAFETY: as above.
        count(unsafe { &raw mut (*stats).lost });
    }
    Some(())
}

/// Sends a batch in a record of `BYTES` bytes, with room for `ROOM` bytes of words.
#[inline(always)]
fn send<const ROOM: usize, const BYTES: usize>(from: u64, mut header: MarksHeader, hit: &Hit) -> bool {
    let Some(mut record) = Reservation::new::<BYTES>() else { return false };
    record.write_header(EventKind::Marks as u16, EventKind::Marks.words() as u16, hit);
    let bytes = at_most::<ROOM>(u64::from(header.words) * 8) as u32;
    // SAFETY: the record has room for both headers and `ROOM` bytes of words, and no more than that are read.
    unsafe {
        let body = record.as_mut_ptr().add(HEADER_BYTES);
        let words = body.add(size_of::<MarksHeader>());
        if bytes > 0 && bpf_probe_read_user(words.cast(), bytes, from as *const _) != 0 {
            count(&raw mut (*hit.stats).unreadable);
            header.words = 0;
        }
        body.cast::<MarksHeader>().write(header);
    }
    record.submit::<BYTES>(hit);
    true
}

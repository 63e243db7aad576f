//! Which site was hit; and the programs' stack, which must be the thread's.
//!
//! Since Linux 6.13 a program of the type of uprobes gets one stack for each CPU, as if it ended before another could begin
//! there. At uprobes that is not so where the kernel preempts itself: two threads would write to the same frames, and the kernel
//! would follow pointers out of them. A program that can make a tail call keeps its frames on the thread's stack, so
//! each has one, behind a condition that never holds.
//! <https://github.com/torvalds/linux/blob/v6.13/kernel/bpf/verifier.c>
#![expect(unsafe_code, reason = "the helpers take the program's own context")]

use aya_ebpf::{EbpfContext as _, helpers::bpf_get_attach_cookie, programs::ProbeContext};

use crate::maps::NO_PROGRAM;

/// Id of the site, which is its cookie. None is as large as this lets pass.
#[inline(always)]
pub(crate) fn site(ctx: &ProbeContext) -> Option<u16> {
    // SAFETY: the helper takes the program's own context.
    let cookie = unsafe { bpf_get_attach_cookie(ctx.as_ptr()) };
    if cookie > u64::from(u16::MAX) {
        // SAFETY: the array is empty, so that nothing is called should a cookie be as large after all.
        unsafe { NO_PROGRAM.tail_call(ctx, 0) };
        return None;
    }
    Some(cookie as u16)
}

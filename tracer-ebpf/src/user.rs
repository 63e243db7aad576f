//! The registers that the current thread had in user space when it last entered the kernel.
#![expect(unsafe_code, reason = "the kernel's helpers are unsafe functions")]

use aya_ebpf::{
    bindings::pt_regs,
    helpers::generated::{bpf_get_current_task_btf, bpf_task_pt_regs},
};

use crate::{
    args::read,
    unwind::{Kept, scratch::Scratch},
};

/// No system call.
pub(crate) const NO_SYSCALL: u64 = u64::MAX;

/// The byte of a breakpoint, with which the kernel makes sites of uprobes.
const BREAKPOINT: u8 = 0xcc;

/// A thread in the trap of a site has the breakpoint behind it, and its instruction still to come.
#[inline(always)]
fn before_breakpoint(pc: u64) -> u64 {
    let mut byte = 0u8;
    match read(&raw mut byte, 1, pc.wrapping_sub(1)) {
        Ok(()) if byte == BREAKPOINT => pc - 1,
        _ => pc,
    }
}

/// Puts those of the current thread where a walk begins, and gives the number of the system call. Its program counter is 0
/// where the thread does not run in user space at all: those that the kernel makes for a process (for `io_uring`) do not.
///
/// A function of its own: beside other reads of registers the compiler would make one instruction of both, which the
/// verifier refuses for pointers of two kinds.
///
/// Minimum kernel: 5.15.
#[inline(never)]
pub(crate) fn registers(walk: &mut Scratch) -> u64 {
    // SAFETY: the helpers have no precondition, and what they return is known to the verifier.
    let regs = unsafe { bpf_task_pt_regs(bpf_get_current_task_btf()) as *const pt_regs };
    // SAFETY: as above; every access is one of a field.
    let (pc, sp, fp, entry) = unsafe { ((*regs).rip, (*regs).rsp, (*regs).rbp, (*regs).orig_rax) };
    // SAFETY: as above.
    walk.kept = unsafe { Kept { r13: (*regs).r13, rax: (*regs).rax, rdi: (*regs).rdi, rbx: (*regs).rbx } };
    let syscall = number(entry);
    walk.pc = if syscall == NO_SYSCALL { before_breakpoint(pc) } else { pc };
    walk.sp = sp;
    walk.fp = fp;
    syscall
}

/// The number of the system call alone.
#[inline(never)]
pub(crate) fn syscall() -> u64 {
    // SAFETY: as in `registers`.
    unsafe { number((*(bpf_task_pt_regs(bpf_get_current_task_btf()) as *const pt_regs)).orig_rax) }
}

/// Exceptions and interrupts leave a negative number.
#[inline(always)]
const fn number(entry: u64) -> u64 {
    if (entry as i64) < 0 { NO_SYSCALL } else { entry }
}

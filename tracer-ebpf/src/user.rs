//! The registers that the current thread had in user space when it last entered the kernel.
#![expect(unsafe_code, reason = "the kernel's helpers are unsafe functions")]

use aya_ebpf::{
    bindings::pt_regs,
    helpers::generated::{bpf_get_current_task_btf, bpf_task_pt_regs},
};

use crate::args::read;

/// The registers that unwinding starts from, and the system call.
pub(crate) struct UserRegisters {
    pub(crate) pc: u64,
    pub(crate) sp: u64,
    pub(crate) fp: u64,
    pub(crate) r13: u64,
    /// Number of the system call; `u64::MAX` for none.
    pub(crate) syscall: u64,
}

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

impl UserRegisters {
    /// Registers of a thread that has none.
    pub(crate) const NONE: Self = Self { pc: 0, sp: 0, fp: 0, r13: 0, syscall: u64::MAX };

    /// Whether the thread runs in user space at all: those that the kernel makes for a process (for `io_uring`) do not.
    #[inline(always)]
    pub(crate) const fn exist(&self) -> bool {
        self.pc != 0
    }

    /// Reads those of the current thread.
    ///
    /// A function of its own: beside other reads of registers the compiler would make one instruction of both, which the
    /// verifier refuses for pointers of two kinds.
    ///
    /// Minimum kernel: 5.15.
    #[inline(never)]
    pub(crate) fn read(to: &mut Self) -> i32 {
        // SAFETY: the helpers have no precondition, and what they return is known to the verifier.
        let regs = unsafe { bpf_task_pt_regs(bpf_get_current_task_btf()) as *const pt_regs };
        // SAFETY: as above; every access is one of a field.
        let (pc, sp, fp, r13, entry) =
            unsafe { ((*regs).rip, (*regs).rsp, (*regs).rbp, (*regs).r13, (*regs).orig_rax) };
        // Exceptions and interrupts leave a negative number.
        let syscall = if (entry as i64) < 0 { u64::MAX } else { entry };
        let pc = if syscall == u64::MAX { before_breakpoint(pc) } else { pc };
        *to = Self { pc, sp, fp, r13, syscall };
        0
    }
}

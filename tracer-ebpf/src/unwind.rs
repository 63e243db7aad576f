//! Where the stacks of threads will come from; until then no event has one.
#![expect(dead_code, reason = "the unwinder reads what its callers give")]

use core::ffi::c_void;

use tracer_common::stack::STACK_ABSENT;

use crate::emit::Hit;

/// Registers from which unwinding starts.
pub(crate) struct Start {
    pub(crate) pc: u64,
    pub(crate) sp: u64,
    pub(crate) fp: u64,
    pub(crate) r13: u64,
    /// Context for the kernel's frames, or null where none are wanted.
    pub(crate) kernel: *mut c_void,
}

/// Id of the current thread's stack.
#[inline(always)]
pub(crate) fn stack(_start: &Start, _hit: &Hit) -> u64 {
    STACK_ABSENT
}

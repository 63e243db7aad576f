//! The sites at which eBPF programs look: functions that do nothing.
//!
//! Each begins with the five-byte `nop` that the kernel (6.18 and later) replaces by a call instead of a trap.
#![expect(unsafe_code, reason = "functions that are only an address")]

/// Words of a buffer are handed over: their address, how many, the buffer's number and (from bit 32 on) whether it is this
/// thread's own, and how many words came out of it before.
#[unsafe(no_mangle)]
#[unsafe(naked)]
pub(crate) extern "C" fn jtrace_marks_flushed(_words: *const u64, _count: u64, _buffer: u64, _first: u64) {
    core::arch::naked_asm!(".byte 0x0f, 0x1f, 0x44, 0x00, 0x00", "ret")
}

/// A property does not allow a symbol: place and state as in a word, number of the object, of its class, history.
#[unsafe(no_mangle)]
#[unsafe(naked)]
pub(crate) extern "C" fn jtrace_illegal_transition(_at: u64, _object: u64, _class: u64, _history: u64) {
    core::arch::naked_asm!(".byte 0x0f, 0x1f, 0x44, 0x00, 0x00", "ret")
}

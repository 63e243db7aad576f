//! Reads the operands of a site: registers as they were at the hit, constants, and the target's memory.
#![expect(unsafe_code, reason = "the kernel's helpers are unsafe functions")]

use core::mem::MaybeUninit;

use aya_ebpf::{bindings::pt_regs, helpers::generated::bpf_probe_read_user};
use tracer_common::site::{Operand, Place, REGISTERS};

/// The target's memory could not be read.
pub(crate) struct Unreadable;

/// Copy of the registers on the program's stack, where a variable index is allowed; into the context it is not.
pub(crate) struct Registers([u64; REGISTERS]);

impl Registers {
    /// Copies the registers in the order of [`tracer_common::site::Register`].
    #[inline(always)]
    pub(crate) fn new(regs: *const pt_regs) -> Self {
        // SAFETY: the kernel passes a valid context, and every access has a constant offset.
        unsafe {
            Self([
                (*regs).rax,
                (*regs).rcx,
                (*regs).rdx,
                (*regs).rbx,
                (*regs).rsp,
                (*regs).rbp,
                (*regs).rsi,
                (*regs).rdi,
                (*regs).r8,
                (*regs).r9,
                (*regs).r10,
                (*regs).r11,
                (*regs).r12,
                (*regs).r13,
                (*regs).r14,
                (*regs).r15,
                (*regs).rip,
                0,
            ])
        }
    }

    #[inline(always)]
    fn get(&self, register: u8) -> u64 {
        match self.0.get(register as usize) {
            Some(value) => *value,
            None => 0,
        }
    }
}

/// Value of an operand, extended to 64 bits as its sign says.
#[inline(always)]
pub(crate) fn operand(operand: &Operand, registers: &Registers) -> Result<u64, Unreadable> {
    if operand.place == Place::Constant as u8 {
        return Ok(operand.displacement as u64);
    }
    let base = registers.get(operand.base);
    let value = if operand.place == Place::Register as u8 {
        base >> (operand.displacement as u64 & 63)
    } else {
        let index = registers.get(operand.index).wrapping_mul(operand.scale as u64);
        word(base.wrapping_add(index).wrapping_add(operand.displacement as u64))?
    };
    Ok(extend(value, operand.width, operand.signed))
}

#[inline(always)]
fn extend(value: u64, width: u8, signed: u8) -> u64 {
    let unused = 64 - 8 * (width as u32 & 15).min(8);
    let shifted = value << (unused & 63);
    if signed == 0 { shifted >> (unused & 63) } else { ((shifted as i64) >> (unused & 63)) as u64 }
}

/// Eight bytes of the target's memory.
#[inline(always)]
pub(crate) fn word(address: u64) -> Result<u64, Unreadable> {
    let mut value = 0u64;
    read((&raw mut value).cast(), 8, address)?;
    Ok(value)
}

/// Eight bytes of the target's memory; 0 where they cannot be read.
#[inline(always)]
pub(crate) fn word_or_0(address: u64) -> u64 {
    let mut value = 0u64;
    // The helper fills with 0 what it cannot read.
    let _: Result<(), Unreadable> = read((&raw mut value).cast(), 8, address);
    value
}

/// Four bytes of the target's memory; 0 where they cannot be read.
#[inline(always)]
pub(crate) fn half_or_0(address: u64) -> u32 {
    let mut value = 0u32;
    let _: Result<(), Unreadable> = read((&raw mut value).cast(), 4, address);
    value
}

/// Copies `bytes` bytes of the target's memory to `to`, which must have room for them.
#[inline(always)]
pub(crate) fn read(to: *mut u8, bytes: u32, address: u64) -> Result<(), Unreadable> {
    // SAFETY: callers pass room for `bytes` bytes; the helper checks the address in user space.
    let failed = unsafe { bpf_probe_read_user(to.cast(), bytes, address as *const _) };
    if failed == 0 { Ok(()) } else { Err(Unreadable) }
}

/// An array of zeros, written word by word: the compiler's own way is a loop over bytes, which costs the verifier dearly.
#[inline(always)]
pub(crate) fn zero<const WORDS: usize>(room: &mut MaybeUninit<[u64; WORDS]>) -> &mut [u64; WORDS] {
    let start = room.as_mut_ptr().cast::<u64>();
    for index in 0..WORDS {
        // SAFETY: `room` has this many words.
        unsafe { start.add(index).write_volatile(0) };
    }
    // SAFETY: every word was written.
    unsafe { room.assume_init_mut() }
}

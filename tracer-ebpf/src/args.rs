//! Reads the operands of a site: registers as they were at the hit, constants, and the target's memory.
#![expect(unsafe_code, reason = "the kernel's helpers are unsafe functions")]

use core::{arch::asm, mem::MaybeUninit};

use aya_ebpf::{bindings::pt_regs, helpers::generated::bpf_probe_read_user};
use tracer_common::site::{Operand, Place, REGISTERS};

/// The target's memory could not be read.
pub(crate) struct Unreadable;

/// Copy of the registers on the program's stack, where a variable index is allowed; into the context it is not.
struct Registers([u64; REGISTERS]);

impl Registers {
    /// Copies the registers in the order of [`tracer_common::site::Register`].
    #[inline(always)]
    fn new(regs: *const pt_regs) -> Self {
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
pub(crate) fn operand(operand: &Operand, regs: *const pt_regs) -> Result<u64, Unreadable> {
    if operand.place == Place::Constant as u8 {
        return Ok(operand.displacement as u64);
    }
    let mut value = 0u64;
    if variable(operand, regs, &mut value) == 0 { Ok(value) } else { Err(Unreadable) }
}

/// Puts the value of an operand that is no constant to `to`; 1 where it is unreadable. A function of its own: the copy of the
/// registers takes much of a program's stack, and older verifiers would follow each kind of operand through all that comes after.
#[inline(never)]
fn variable(operand: &Operand, regs: *const pt_regs, to: &mut u64) -> u64 {
    let registers = Registers::new(regs);
    let base = registers.get(operand.base);
    let value = if operand.place == Place::Register as u8 {
        base >> (operand.displacement as u64 & 63)
    } else {
        let index = registers.get(operand.index).wrapping_mul(operand.scale as u64);
        match word(base.wrapping_add(index).wrapping_add(operand.displacement as u64)) {
            Ok(value) => value,
            Err(Unreadable) => return 1,
        }
    };
    *to = extend(value, operand.width, operand.signed);
    0
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

/// The same value, of which the verifier does not know the range any more.
///
/// It would walk through all that follows once for each range that it can tell apart: for each number of chunks that a
/// text has, for instance.
#[inline(always)]
pub(crate) fn forget(value: u64, any: u64) -> u64 {
    let mut value = value;
    // SAFETY: two exclusive ors with the same number, which leave the value as it is.
    unsafe { asm!("{0} ^= {1}", "{0} ^= {1}", inout(reg) value, in(reg) any) };
    value
}

/// The smaller of a number and a limit.
///
/// In one register from comparing to use: verifiers before 6.8 do not know that two registers, or a register and a place on the
/// stack, hold the same number, and would not learn a limit of the one from the other.
#[inline(always)]
pub(crate) fn at_most<const LIMIT: usize>(number: u64) -> u64 {
    let mut number = number;
    // SAFETY: a comparison and a move.
    unsafe { asm!("if {0} < {1} goto +1", "{0} = {1}", inout(reg) number, const LIMIT) };
    number
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

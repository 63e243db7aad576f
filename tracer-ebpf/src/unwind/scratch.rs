//! Room for one walk. It is too large for the stack of a program, so each CPU has a few of them.
#![expect(unsafe_code, reason = "map values are raw pointers")]

use core::arch::asm;

use tracer_common::{
    record::RecordHeader,
    stack::{MAX_FRAMES, RawFrame, StackHeader},
};

use super::Kept;
use crate::maps::SCRATCH;

/// Walks that can be under way on one CPU: a program of a thread, those that preempt it, and the clock's.
pub(crate) const SLOTS: usize = 4;

/// Most frames of the kernel that are taken.
pub(crate) const KERNEL_FRAMES: usize = 64;

/// Words that are read at once.
pub(crate) const WORDS: usize = 10;

/// State of a walk, and the record that it becomes.
#[repr(C)]
pub(crate) struct Scratch {
    busy: u64,
    /// Registers of the frame that is looked at.
    pub(crate) pc: u64,
    pub(crate) sp: u64,
    pub(crate) fp: u64,
    pub(crate) kept: Kept,
    /// 1 where `pc` is the next instruction, 0 where it is a return address.
    pub(crate) interrupted: u64,
    /// Kind of the frame below, which this one called.
    pub(crate) below: u64,
    /// Most frames that are wanted.
    pub(crate) most: u64,
    /// Frames so far.
    pub(crate) count: u64,
    /// Hash of them.
    pub(crate) hash: u64,
    /// `StackEnd` and its address.
    pub(crate) end: u64,
    pub(crate) end_pc: u64,
    /// Where the carrier entered the virtual thread, while the walk is among the latter's frames in the heap; else 0.
    pub(crate) entry: u64,
    /// What the frame of that entry goes on with.
    pub(crate) entry_return: u64,
    /// The chunk of frames in the heap, and the first address behind them.
    pub(crate) chunk: u64,
    pub(crate) chunk_end: u64,
    /// Words of the frame that is passed, which would take much of a program's stack.
    pub(crate) words: [u64; WORDS],
    pub(crate) kernel: [u64; KERNEL_FRAMES],
    pub(crate) header: RecordHeader,
    pub(crate) stack: StackHeader,
    pub(crate) frames: [RawFrame; MAX_FRAMES],
}

/// One of the CPU's scratch areas, taken.
pub(crate) struct Slot(*mut Scratch);

impl Slot {
    /// Takes a free one.
    #[inline(always)]
    pub(crate) fn take() -> Option<Self> {
        for index in 0..SLOTS as u32 {
            let scratch = SCRATCH.get_ptr_mut(index)?;
            let mut taken = 1u64;
            // SAFETY: the flag is in a map value. Whoever swaps the 0 out owns the area, also where one program preempts
            // another between any two instructions.
            unsafe { asm!("{0} = xchg_64({1} + 0, {0})", inout(reg) taken, in(reg) &raw mut (*scratch).busy) };
            if taken == 0 {
                return Some(Self(scratch));
            }
        }
        None
    }

    #[inline(always)]
    pub(crate) const fn scratch(&self) -> *mut Scratch {
        self.0
    }

    #[inline(always)]
    pub(crate) fn give_back(self) {
        // SAFETY: as above.
        unsafe { (&raw mut (*self.0).busy).write_volatile(0) };
    }
}

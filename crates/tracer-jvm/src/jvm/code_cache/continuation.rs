//! Where the frames of virtual threads lie while they do not stand on their carrier's stack.
//!
//! The tables say nothing of it, but the library's symbols lead to the variables in which the JVM itself keeps these
//! offsets. Seen in 21.0.8 and 25.0.2, x86-64.

use std::collections::HashMap;

use tracer_common::unwind::CodeLayout;

use super::super::{memory::library::Library, peek::Peek};

const RETURN_BARRIER: &str = "_ZN12StubRoutines19_cont_returnBarrierE";
const CONTINUATION_RETURN: &str = "_ZN17ContinuationEntry10_return_pcE";
const TAIL: &str = "_ZN28jdk_internal_vm_Continuation12_tail_offsetE";
const PARENT: &str = "_ZN26jdk_internal_vm_StackChunk14_parent_offsetE";
const SP: &str = "_ZN26jdk_internal_vm_StackChunk10_sp_offsetE";
const BOTTOM: &str = "_ZN26jdk_internal_vm_StackChunk14_bottom_offsetE";
const STACK: &str = "_ZN23InstanceStackChunkKlass16_offset_of_stackE";
const COMPRESSED: &str = "UseCompressedOops";
/// Base and shift of references: one structure, or (23 and later) two variables.
const NARROW: &str = "_ZN14CompressedOops11_narrow_oopE";
const BASE: &str = "_ZN14CompressedOops5_baseE";
const SHIFT: &str = "_ZN14CompressedOops6_shiftE";
/// Collectors that move objects while threads run: a reference need not lead to the object as it is now.
const MOVING: [&str; 2] = ["UseZGC", "UseShenandoahGC"];

const SYMBOLS: [&str; 13] = [
    RETURN_BARRIER,
    CONTINUATION_RETURN,
    TAIL,
    PARENT,
    SP,
    BOTTOM,
    STACK,
    COMPRESSED,
    NARROW,
    BASE,
    SHIFT,
    MOVING[0],
    MOVING[1],
];

/// Words of the frame at whose lower end a `ContinuationEntry` lies: 8 of that, the saved rbp, and the return address.
const ENTRY_FRAME_WORDS: u32 = 10;
/// Offsets in a `ContinuationEntry` of that size.
const ENTRY_CONTINUATION: u32 = 16;
const ENTRY_ARGUMENT_WORDS: u32 = 36;
/// Largest offset in an object that is believed.
const MAX_OFFSET: u32 = 4096;
/// Objects are aligned to 256 bytes at most.
const MAX_SHIFT: u32 = 8;

/// What the symbols lead to.
pub(super) struct Known<'a, P> {
    peek: &'a P,
    addresses: HashMap<String, u64>,
}

impl<'a, P: Peek> Known<'a, P> {
    pub(super) fn read(peek: &'a P, libjvm: &Library) -> Self {
        Self { peek, addresses: libjvm.symbols(&SYMBOLS).unwrap_or_default() }
    }

    /// Where the bottom frame on the stack returns to while its callers lie in the heap.
    pub(super) fn return_barrier(&self) -> Option<u64> {
        self.word(RETURN_BARRIER)
    }

    /// Fills in how to pass the frame from which a virtual thread is entered, and how to follow frames in the heap where that
    /// can be done. `size_of` tells the size of the frame at an address; it must be the known one, once there is such code.
    pub(super) fn fill(&self, layout: &mut CodeLayout, size_of: impl Fn(u64) -> Option<u32>) {
        let Some(&continuation_return) = self.addresses.get(CONTINUATION_RETURN) else { return };
        let known = self.word(CONTINUATION_RETURN);
        if known.is_some_and(|pc| size_of(pc) != Some(ENTRY_FRAME_WORDS)) {
            return;
        }
        layout.continuation_return = continuation_return;
        layout.entry_bytes = ENTRY_FRAME_WORDS * 8;
        layout.entry_argument_words = ENTRY_ARGUMENT_WORDS;
        if let Some(filled) = self.chunks(*layout) {
            *layout = filled;
        }
    }

    fn chunks(&self, layout: CodeLayout) -> Option<CodeLayout> {
        // Whoever follows the stack of a thread that runs reads once. What stands still can be read until two reads are the same.
        let moves = MOVING.iter().any(|flag| self.flag(flag) != Some(false));
        let (base, shift) = match (self.addresses.get(NARROW), self.addresses.get(BASE), self.addresses.get(SHIFT)) {
            (Some(&both), ..) => (both, both.wrapping_add(8)),
            (None, Some(&base), Some(&shift)) => (base, shift),
            _ => return None,
        };
        Some(CodeLayout {
            entry_continuation: if moves { 0 } else { ENTRY_CONTINUATION },
            continuation_tail: self.offset(TAIL)?,
            chunk_parent: self.offset(PARENT)?,
            chunk_sp: self.offset(SP)?,
            chunk_bottom: self.offset(BOTTOM)?,
            chunk_stack: self.offset(STACK)?,
            object_bytes: if self.flag(COMPRESSED)? { 4 } else { 8 },
            object_base: self.peek.u64(base).ok()?,
            object_shift: self.peek.u32(shift).ok().filter(|&shift| shift <= MAX_SHIFT)?,
            ..layout
        })
    }

    fn word(&self, symbol: &str) -> Option<u64> {
        self.peek.u64(*self.addresses.get(symbol)?).ok().filter(|&word| word != 0)
    }

    fn offset(&self, symbol: &str) -> Option<u32> {
        let offset = self.peek.u32(*self.addresses.get(symbol)?).ok()?;
        Some(offset).filter(|offset| (1..=MAX_OFFSET).contains(offset))
    }

    fn flag(&self, symbol: &str) -> Option<bool> {
        match self.peek.u8(*self.addresses.get(symbol)?).ok()? {
            0 => Some(false),
            1 => Some(true),
            2.. => None,
        }
    }
}

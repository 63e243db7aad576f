//! Frames of a virtual thread that lie in the heap. While such a thread is mounted only its innermost frames stand on its carrier's
//! stack; the others are copies of stack in objects (`StackChunk`), which are chained. Behind the last one the stack goes on with the
//! carrier's own frames.
//!
//! A collector may move the chunks meanwhile, so what they say is believed only where it leads on.

use std::mem;

use super::{End, Peek, WORD, Walk};
use crate::jvm::objects::address_in;

/// Most chunks of a virtual thread.
const MAX_CHUNKS: usize = 1024;
/// Largest chunk that is believed, in words.
const MAX_CHUNK_WORDS: u32 = 1 << 20;
/// Places in which the continuation's entry is looked for: the bottom frame on the stack may have arguments on it.
const SEARCHED: u64 = 64;
/// Words of a saved rbp and a return address.
const LINKAGE_BYTES: u64 = 16;

impl<M: Peek, C: Peek> Walk<'_, M, C> {
    /// Goes on behind the frame that returns to the barrier: through the heap, and then to the carrier's frames.
    pub(super) fn frozen(&mut self) -> Result<(), End> {
        let layout = self.stacks.layout;
        let entry = self.entry_of_continuation().ok_or(End::InHeap)?;
        if layout.entry_continuation == 0 {
            return Err(End::InHeap);
        }
        let heap = |_| End::InHeap;
        let continuation = self.memory.u64(entry.wrapping_add(layout.entry_continuation.into())).map_err(heap)?;
        let entry_return = self.memory.u64(layout.continuation_return).map_err(heap)?;
        let carrier = mem::take(&mut self.copy);
        self.chunks(continuation, entry_return)?;
        self.copy = carrier;
        (self.pc, self.sp, self.relative) = (entry_return, entry, false);
        Ok(())
    }

    /// All frames of a continuation that runs on no carrier.
    pub(super) fn unmounted(&mut self, continuation: u64) -> Result<(), End> {
        let layout = self.stacks.layout;
        if layout.continuation_return == 0 || layout.continuation_tail == 0 {
            return Err(End::InHeap);
        }
        // Where that has been written once it stays.
        let entry_return = self.code.u64(layout.continuation_return).map_err(|_| End::InHeap)?;
        self.chunks(continuation, entry_return)
    }

    /// The frames in all chunks of a continuation.
    fn chunks(&mut self, continuation: u64, entry_return: u64) -> Result<(), End> {
        let layout = self.stacks.layout;
        let mut chunk = self.reference(continuation.wrapping_add(layout.continuation_tail.into()))?;
        for _ in 0..MAX_CHUNKS {
            if chunk == 0 {
                return Ok(());
            }
            if self.open(chunk)? {
                let end = self.copy.0.wrapping_add(self.copy.1.len() as u64);
                while self.pc != 0 && self.pc != layout.return_barrier && self.pc != entry_return && self.sp < end {
                    if self.places.len() >= super::MAX_FRAMES {
                        return Err(End::TooDeep);
                    }
                    self.step_within().map_err(|_| End::InHeap)?;
                }
            }
            chunk = self.reference(chunk.wrapping_add(layout.chunk_parent.into()))?;
        }
        Err(End::TooDeep)
    }

    /// Goes to the innermost frame of a chunk; false where it has none.
    fn open(&mut self, chunk: u64) -> Result<bool, End> {
        let layout = &self.stacks.layout;
        let field = |offset: u32| self.memory.u32(chunk.wrapping_add(offset.into())).map_err(|_| End::InHeap);
        let (sp, bottom) = (field(layout.chunk_sp)?, field(layout.chunk_bottom)?);
        if !chunk.is_multiple_of(WORD) || bottom > MAX_CHUNK_WORDS || sp > bottom {
            return Err(End::InHeap);
        }
        if sp == bottom {
            return Ok(false);
        }
        let stack = chunk.wrapping_add(layout.chunk_stack.into());
        let first = stack.wrapping_add(u64::from(sp) * WORD).wrapping_sub(LINKAGE_BYTES);
        let bytes = LINKAGE_BYTES + u64::from(bottom - sp) * WORD;
        let bytes = usize::try_from(bytes).map_err(|_| End::InHeap)?;
        self.copy = (first, self.memory.bytes(first, bytes).map_err(|_| End::InHeap)?);
        self.sp = first.wrapping_add(LINKAGE_BYTES);
        self.pc = self.word(self.sp.wrapping_sub(WORD))?;
        self.fp = relative(first, self.word(first)?);
        (self.relative, self.below_is_stub) = (true, false);
        Ok(true)
    }

    /// Address of the entry of the continuation whose bottom frame on the stack ends at rsp. It lies there, above that frame's
    /// arguments, whose number it holds, and ends with a return address.
    fn entry_of_continuation(&self) -> Option<u64> {
        let layout = &self.stacks.layout;
        let first = self.sp.next_multiple_of(16);
        let fits = |entry: &u64| {
            let words = self.memory.u32(entry.wrapping_add(layout.entry_argument_words.into()));
            let arguments = words.map(|words| entry.wrapping_sub(u64::from(words) * WORD) & !15);
            let caller = self.word(entry.wrapping_add(layout.entry_bytes.into()).wrapping_sub(WORD));
            arguments.is_ok_and(|arguments| arguments == first) && caller.is_ok_and(|caller| self.is_code(caller))
        };
        if layout.continuation_return == 0 {
            return None;
        }
        (0..SEARCHED).map(|index| first.wrapping_add(index * 16)).find(fits)
    }

    /// The object that a field of an object leads to, or 0.
    fn reference(&self, field: u64) -> Result<u64, End> {
        let layout = &self.stacks.layout;
        if layout.object_bytes != 4 {
            return self.memory.u64(field).map(address_in).map_err(|_| End::InHeap);
        }
        let narrow = u64::from(self.memory.u32(field).map_err(|_| End::InHeap)?);
        Ok(if narrow == 0 { 0 } else { layout.object_base.wrapping_add(narrow << (layout.object_shift & 31)) })
    }
}

/// An address in a chunk: so many words from where that is written.
pub(super) const fn relative(from: u64, words: u64) -> u64 {
    from.wrapping_add(words.wrapping_mul(WORD))
}

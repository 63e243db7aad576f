//! Memory of a target in cached blocks, so that thousands of small reads cost a few hundred system calls at most.
//!
//! Good only for what does not change while it is read: the constant tables of a library and the strings they point to.

use std::collections::HashMap;

use super::{super::peek::Peek, MAX_NAME_BYTES};

const BLOCK_BYTES: u64 = 64 << 10;
const PAGE_BYTES: u64 = 4 << 10;
/// Most blocks that are read; the constant data of libjvm.so fills about 100.
const MAX_BLOCKS: usize = 1024;

/// Cached memory.
pub(super) struct Blocks<'a> {
    memory: &'a dyn Peek,
    /// Blocks of either size by their address; an empty one could not be read.
    large: HashMap<u64, Vec<u8>>,
    small: HashMap<u64, Vec<u8>>,
}

impl<'a> Blocks<'a> {
    pub(super) fn new(memory: &'a dyn Peek) -> Self {
        Self { memory, large: HashMap::new(), small: HashMap::new() }
    }

    pub(super) fn memory(&self) -> &'a dyn Peek {
        self.memory
    }

    pub(super) fn u32(&mut self, address: u64) -> Option<u32> {
        Some(u32::from_ne_bytes(self.array(address)?))
    }

    pub(super) fn u64(&mut self, address: u64) -> Option<u64> {
        Some(u64::from_ne_bytes(self.array(address)?))
    }

    /// The name that the pointer at an address leads to.
    pub(super) fn name_at(&mut self, address: u64) -> Option<String> {
        let pointer = self.u64(address)?;
        self.name(pointer)
    }

    /// A name; absent where the pointer is null or leads to nothing that can be one.
    pub(super) fn name(&mut self, address: u64) -> Option<String> {
        let mut name = Vec::new();
        while name.len() < MAX_NAME_BYTES {
            let tail = self.tail(address.checked_add(name.len() as u64)?)?;
            let piece = &tail[..tail.len().min(MAX_NAME_BYTES)];
            if let Some(end) = memchr::memchr(0, piece) {
                name.extend_from_slice(&piece[..end]);
                return String::from_utf8(name).ok().filter(|name| !name.is_empty());
            }
            name.extend_from_slice(piece);
        }
        None
    }

    fn array<const N: usize>(&mut self, address: u64) -> Option<[u8; N]> {
        let mut bytes = [0; N];
        let tail = self.tail(address)?;
        if let Some(whole) = tail.get(..N) {
            bytes.copy_from_slice(whole);
            return Some(bytes);
        }
        // It crosses into the next block.
        self.memory.peek(address, &mut bytes).ok()?;
        Some(bytes)
    }

    /// What the cache has from `address` on: at least one byte.
    fn tail(&mut self, address: u64) -> Option<&[u8]> {
        let large = address & !(BLOCK_BYTES - 1);
        if address < PAGE_BYTES || self.large.len() + self.small.len() >= MAX_BLOCKS {
            return None;
        }
        let memory = self.memory;
        let read = |start: u64, len: u64| memory.bytes(start, usize::try_from(len).ok()?).ok();
        let block = self.large.entry(large).or_insert_with(|| read(large, BLOCK_BYTES).unwrap_or_default());
        if !block.is_empty() {
            return block.get(usize::try_from(address - large).ok()?..);
        }
        // A block at the edge of a mapping is readable only in part.
        let small = address & !(PAGE_BYTES - 1);
        let page = self.small.entry(small).or_insert_with(|| read(small, PAGE_BYTES).unwrap_or_default());
        page.get(usize::try_from(address - small).ok()?..).filter(|tail| !tail.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jvm::memory::Memory;

    #[test]
    fn names_end_at_their_nul_and_have_a_limit() {
        let memory = Memory::open(std::process::id()).unwrap();
        let mut blocks = Blocks::new(&memory);
        let name = b"Klass\0rest";
        assert_eq!(blocks.name(name.as_ptr() as u64).as_deref(), Some("Klass"));
        let endless = vec![b'x'; 4 * MAX_NAME_BYTES];
        assert_eq!(blocks.name(endless.as_ptr() as u64), None);
        assert_eq!(blocks.name(0), None);
        assert_eq!(blocks.name(u64::MAX), None);
    }

    #[test]
    fn a_number_across_two_blocks_is_read_whole() {
        let memory = Memory::open(std::process::id()).unwrap();
        let bytes: Vec<u8> = (0..=255).cycle().take(3 * 65_536).collect();
        let start = bytes.as_ptr() as u64;
        let edge = (start + BLOCK_BYTES) & !(BLOCK_BYTES - 1);
        let at = usize::try_from(edge - 3 - start).unwrap();
        let expected = u64::from_ne_bytes(bytes[at..at + 8].try_into().unwrap());
        assert_eq!(Blocks::new(&memory).u64(edge - 3), Some(expected));
    }
}

//! A code heap: blocks of whole segments, and a map of one byte a segment that leads from any of them to its block.

use super::{
    super::peek::{Peek, at},
    Error,
    blob::{Blob, Reason},
    layout::{BlobLayout, HeapLayout},
};

/// Largest code heap; HotSpot's own limit is 2 GiB for the whole cache.
const MAX_HEAP_BYTES: u64 = 4 << 30;
/// In the segment map: no block holds the segment.
const FREE: u8 = 0xff;
/// How much of the segment map is read at once when looking for the start of a block.
const MAP_CHUNK: u64 = 1024;
/// Most chunks that are read then: a block of `MAX_BLOB_BYTES` takes far fewer.
const MAX_CHUNKS: usize = 4096;
/// How much of the segment map is read at once when all blobs are looked for.
const WALK_CHUNK: u64 = 1 << 20;

/// A code heap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heap {
    /// First address.
    pub low: u64,
    /// First address behind all that is reserved for it.
    pub high_boundary: u64,
    /// Address of its segment map.
    pub segment_map: u64,
    /// log2 of the size of a segment.
    pub segment_shift: u32,
    /// Address of the variable that says how far the heap is in use.
    high_at: u64,
}

impl Heap {
    pub(super) fn read(peek: &impl Peek, layout: &HeapLayout, address: u64) -> Result<Self, Error> {
        let pointer = |offset: u64| peek.u64(address.wrapping_add(offset));
        let low = pointer(layout.memory + layout.space_low)?;
        let high_boundary = pointer(layout.memory + layout.space_high_boundary)?;
        let segment_map = pointer(layout.segment_map + layout.space_low)?;
        let segment_shift = peek.u32(address.wrapping_add(layout.log2_segment_size))?;
        // It stands among the others before its memory is reserved.
        if low == 0 && high_boundary == 0 {
            return Err(Error::NotReady);
        }
        if low == 0 || high_boundary <= low || high_boundary - low > MAX_HEAP_BYTES {
            return Err(Error::Absurd { field: "CodeHeap::_memory".to_owned(), value: high_boundary });
        }
        if segment_map == 0 {
            return Err(Error::Absurd { field: "CodeHeap::_segmap".to_owned(), value: segment_map });
        }
        if !(4..=16).contains(&segment_shift) {
            return Err(Error::Absurd {
                field: "CodeHeap::_log2_segment_size".to_owned(),
                value: segment_shift.into(),
            });
        }
        let high_at = address.wrapping_add(layout.memory + layout.space_high);
        Ok(Self { low, high_boundary, segment_map, segment_shift, high_at })
    }

    /// Whether the address lies in what is reserved for the heap.
    pub fn contains(&self, address: u64) -> bool {
        (self.low..self.high_boundary).contains(&address)
    }

    /// The blob in whose block the address lies.
    pub(super) fn blob_at(&self, peek: &impl Peek, layout: &BlobLayout, pc: u64) -> Result<Blob, Reason> {
        let segment = self.block_of(peek, (pc - self.low) >> self.segment_shift)?;
        let blob = self.blob_in(peek, layout, segment)?;
        // The rest of a block behind its blob belongs to nobody.
        if pc < blob.address.saturating_add(blob.size) { Ok(blob) } else { Err(Reason::Free) }
    }

    /// First segment of the block that holds a segment: the map says how far to go back, perhaps in several steps.
    fn block_of(&self, peek: &impl Peek, mut segment: u64) -> Result<u64, Reason> {
        for _ in 0..MAX_CHUNKS {
            let start = segment.saturating_sub(MAP_CHUNK - 1);
            let len = usize::try_from(segment - start + 1).unwrap_or(0);
            let map = peek.bytes(self.segment_map.wrapping_add(start), len).map_err(|_| Reason::Unreadable)?;
            let mut index = len - 1;
            loop {
                let back = map[index];
                match back {
                    0 => return Ok(start + index as u64),
                    FREE => return Err(Reason::Free),
                    _ => {}
                }
                match index.checked_sub(usize::from(back)) {
                    Some(before) => index = before,
                    None => break,
                }
            }
            let here = start + index as u64;
            segment = here.checked_sub(map[index].into()).ok_or(Reason::Nonsense("CodeHeap::_segmap"))?;
        }
        Err(Reason::Nonsense("CodeHeap::_segmap"))
    }

    /// The blob of the block that starts with a segment.
    fn blob_in(&self, peek: &(impl Peek + ?Sized), layout: &BlobLayout, segment: u64) -> Result<Blob, Reason> {
        let block = self.low.wrapping_add(segment << self.segment_shift);
        let len = |bytes: u64| usize::try_from(bytes).unwrap_or(usize::MAX);
        // With the blob behind it, which is hardly ever not wanted.
        let room = self.high_boundary.saturating_sub(block).min(layout.heap_block + layout.nmethod_bytes);
        let least = len(layout.heap_block);
        let header = peek.bytes_up_to(block, len(room).max(least), least).map_err(|_| Reason::Unreadable)?;
        if at::u8(&header, layout.block_used).ok_or(Reason::Nonsense("HeapBlock::Header::_used"))? == 0 {
            return Err(Reason::Free);
        }
        let length = layout.block_length.read(&header).filter(|&length| length <= MAX_HEAP_BYTES >> self.segment_shift);
        let length = length.ok_or(Reason::Nonsense("HeapBlock::Header::_length"))?;
        let end = block.saturating_add(length << self.segment_shift).min(self.high_boundary);
        let behind = header.get(least..).unwrap_or_default();
        Blob::read(peek, layout, block.saturating_add(layout.heap_block), behind, end)
    }

    /// What is where a blob was.
    pub(super) fn again(&self, peek: &impl Peek, layout: &BlobLayout, blob: &Blob) -> Result<Blob, Reason> {
        let block = blob.address.checked_sub(layout.heap_block).and_then(|block| block.checked_sub(self.low));
        self.blob_in(peek, layout, block.ok_or(Reason::NoHeap)? >> self.segment_shift)
    }

    /// Calls `take` with the blob of every block in use, in the order of addresses, until it says stop.
    pub(super) fn each_blob(
        &self,
        peek: &impl Peek,
        layout: &BlobLayout,
        take: &mut impl FnMut(Result<Blob, Reason>) -> bool,
    ) -> Result<(), Error> {
        let high = peek.u64(self.high_at)?;
        if !(self.low..=self.high_boundary).contains(&high) {
            return Err(Error::Absurd { field: "VirtualSpace::_high".to_owned(), value: high });
        }
        let segments = (high - self.low) >> self.segment_shift;
        let mut first = 0;
        while first < segments {
            let len = (segments - first).min(WALK_CHUNK);
            let map = peek.bytes(self.segment_map.wrapping_add(first), usize::try_from(len).unwrap_or(0))?;
            // The first segment of a block, and only that, is 0 in the map.
            for segment in memchr::memchr_iter(0, &map) {
                let blob = self.blob_in(peek, layout, first + segment as u64);
                if !matches!(blob, Err(Reason::Free)) && !take(blob) {
                    return Ok(());
                }
            }
            first += len;
        }
        Ok(())
    }
}

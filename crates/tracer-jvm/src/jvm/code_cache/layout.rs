//! Offsets in code heaps and code blobs, from the JVM's tables, for 8 and every release from 11 on.
//!
//! From 9 to 22 a blob holds the addresses of its code, before and since their offsets; which of both is seen by the names of the
//! fields, not by the release.

use super::{
    Error,
    blob::MethodNames,
    fields::{Fields, Slot},
};

/// Where a blob says that a part of its code begins or ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bound {
    /// An address.
    Address(Slot),
    /// An offset from the blob.
    FromBlob(Slot),
    /// An offset from where the code begins.
    FromCode(Slot),
}

impl Bound {
    pub(super) const fn slot(self) -> Slot {
        match self {
            Self::Address(slot) | Self::FromBlob(slot) | Self::FromCode(slot) => slot,
        }
    }

    /// The address that it stands for, given the blob's and its code's.
    pub(super) fn address(self, structure: &[u8], blob: u64, code: u64) -> Option<u64> {
        let value = self.slot().read(structure)?;
        match self {
            Self::Address(_) => Some(value),
            Self::FromBlob(_) => blob.checked_add(value),
            Self::FromCode(_) => code.checked_add(value),
        }
    }
}

/// Offsets that lead from a code heap to what a blob is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct BlobLayout {
    /// `sizeof(HeapBlock)`, which stands before each blob.
    pub(super) heap_block: u64,
    /// `HeapBlock::Header::_length`, in segments.
    pub(super) block_length: Slot,
    /// `HeapBlock::Header::_used`.
    pub(super) block_used: u64,
    pub(super) name: u64,
    pub(super) size: u64,
    pub(super) frame_size: u64,
    pub(super) frame_complete: Slot,
    pub(super) code_begin: Bound,
    pub(super) code_end: Bound,
    pub(super) compile_id: u64,
    pub(super) level: u64,
    pub(super) entry_bci: u64,
    pub(super) method: u64,
    pub(super) orig_pc_offset: u64,
    pub(super) deopt_handler: Bound,
    pub(super) verified_entry: Bound,
    /// `sizeof(CodeBlob)`, which every blob has.
    pub(super) blob_bytes: u64,
    /// `sizeof(nmethod)`.
    pub(super) nmethod_bytes: u64,
    pub(super) names: MethodNames,
}

impl BlobLayout {
    pub(super) fn from_tables(fields: Fields<'_>) -> Result<Self, Error> {
        let blob = |name| fields.offset(&[("CodeBlob", name)]);
        let nmethod = |name| fields.offset(&[("nmethod", name), ("CompiledMethod", name)]);
        let block_length = fields.offset(&[("HeapBlock::Header", "_length")])?;
        let block_used = fields.offset(&[("HeapBlock::Header", "_used")])?;
        let frame_complete = blob("_frame_complete_offset")?;
        // The field before it has the same width in every release.
        let frame_complete_bytes = if frame_complete.checked_sub(blob("_header_size")?) == Some(2) { 2 } else { 4 };
        Ok(Self {
            names: MethodNames::default(),
            heap_block: fields.size("HeapBlock")?,
            // A number of 64 bits until 22, of 32 bits since.
            block_length: Slot::new(block_length, if block_used.checked_sub(block_length) == Some(4) { 4 } else { 8 }),
            block_used,
            name: blob("_name")?,
            size: blob("_size")?,
            frame_size: blob("_frame_size")?,
            frame_complete: Slot::new(frame_complete, frame_complete_bytes),
            code_begin: match fields.optional(&[("CodeBlob", "_code_begin")])? {
                Some(offset) => Bound::Address(Slot::new(offset, 8)),
                None => Bound::FromBlob(Slot::new(blob("_code_offset")?, 4)),
            },
            code_end: match fields.optional(&[("CodeBlob", "_code_end")])? {
                Some(offset) => Bound::Address(Slot::new(offset, 8)),
                // Data follows the code.
                None => Bound::FromBlob(Slot::new(blob("_data_offset")?, 4)),
            },
            compile_id: nmethod("_compile_id")?,
            level: nmethod("_comp_level")?,
            entry_bci: nmethod("_entry_bci")?,
            method: nmethod("_method")?,
            orig_pc_offset: nmethod("_orig_pc_offset")?,
            deopt_handler: match fields
                .optional(&[("CompiledMethod", "_deopt_handler_begin"), ("nmethod", "_deopt_handler_begin")])?
            {
                Some(offset) => Bound::Address(Slot::new(offset, 8)),
                None => Bound::FromBlob(Slot::new(
                    fields.offset(&[
                        ("nmethod", "_deopt_handler_offset"),
                        // Since 26, where the handler begins before its entry.
                        ("nmethod", "_deopt_handler_entry_offset"),
                        ("nmethod", "_deoptimize_offset"),
                    ])?,
                    4,
                )),
            },
            verified_entry: if let Some(offset) = fields.optional(&[("nmethod", "_verified_entry_point")])? {
                Bound::Address(Slot::new(offset, 8))
            } else {
                let offset = nmethod("_verified_entry_offset")?;
                let bytes = if offset.checked_sub(nmethod("_entry_offset")?) == Some(2) { 2 } else { 4 };
                Bound::FromCode(Slot::new(offset, bytes))
            },
            blob_bytes: fields.size("CodeBlob")?,
            nmethod_bytes: fields.size("nmethod")?,
        })
    }
}

/// Offsets that lead to the code heaps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct HeapLayout {
    /// Length of the array of heaps.
    pub(super) array_length: u64,
    /// Its elements.
    pub(super) array_data: u64,
    /// `CodeHeap::_memory`, a `VirtualSpace`.
    pub(super) memory: u64,
    /// `CodeHeap::_segmap`, a `VirtualSpace`.
    pub(super) segment_map: u64,
    pub(super) log2_segment_size: u64,
    pub(super) space_low: u64,
    pub(super) space_high: u64,
    pub(super) space_high_boundary: u64,
}

impl HeapLayout {
    pub(super) fn from_tables(fields: Fields<'_>) -> Result<Self, Error> {
        let space = |name| fields.offset(&[("VirtualSpace", name)]);
        let heap = |name| fields.offset(&[("CodeHeap", name)]);
        Ok(Self {
            array_length: fields.offset(&[("GrowableArrayBase", "_len"), ("GenericGrowableArray", "_len")])?,
            // The layout of all pointers and numbers is the same, and the tables describe only this one.
            array_data: fields.offset(&[("GrowableArray<int>", "_data")])?,
            memory: heap("_memory")?,
            segment_map: heap("_segmap")?,
            log2_segment_size: heap("_log2_segment_size")?,
            space_low: space("_low")?,
            space_high: space("_high")?,
            space_high_boundary: space("_high_boundary")?,
        })
    }
}

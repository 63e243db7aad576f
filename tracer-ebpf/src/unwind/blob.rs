//! Code blobs: from an address in a code heap to the blob that holds it, by the heap's segment map, and to its frame's size.
#![expect(unsafe_code, reason = "narrow fields are read through raw pointers")]

use tracer_common::{
    stack::{FrameKind, StackEnd},
    unwind::{CodeLayout, RegionKind, Rule, RuleBase},
};

use super::place::{self, INTERPRETER, Place, RETURN_BARRIER};
use crate::{
    args::{read, word},
    maps::CODE,
};

/// Most hops through the segment map. A hop takes up to 253 segments; merged free blocks make some shorter.
const MAX_HOPS: usize = 64;
/// Entry of a segment that belongs to no block.
const FREE: u8 = 0xff;

/// First bytes of the names of compiled methods and of native methods' wrappers.
const NMETHOD: u64 = u64::from_le_bytes(*b"nmethod\0");
const NATIVE_NMETHOD: u64 = u64::from_le_bytes(*b"native n");

/// A code blob, as far as unwinding needs it.
pub(super) struct Blob {
    pub(super) address: u64,
    pub(super) frame_bytes: u64,
    pub(super) is_method: bool,
}

/// The place of an address in a code heap.
#[inline(always)]
pub(super) fn place(pc: u64, layout: &CodeLayout) -> Result<Place, StackEnd> {
    if layout.known == 0 {
        return Err(StackEnd::UnknownLayout);
    }
    let stub = Place { kind: FrameKind::Stub as u32, rule: FRAME_POINTER, compile_id: 0, original_pc: 0 };
    if pc >= layout.interpreter[0] && pc < layout.interpreter[1] {
        return Ok(Place { kind: INTERPRETER, ..stub });
    }
    if pc == layout.call_stub_return {
        return Ok(stub);
    }
    if layout.return_barrier != 0 && pc == layout.return_barrier {
        return Ok(Place { kind: RETURN_BARRIER, ..stub });
    }
    let blob = find(pc, layout).ok_or(StackEnd::NoCodeBlob)?;
    let rule = match Rule::new(RuleBase::Rsp, (blob.frame_bytes / 8) as u32 & 0x7fff, 2) {
        Some(rule) if blob.frame_bytes != 0 => rule,
        // Stubs without a size of their own keep a frame pointer where they call.
        _ => FRAME_POINTER,
    };
    if !blob.is_method {
        return Ok(Place { rule, ..stub });
    }
    let compile_id = u32_at(blob.address, layout.nmethod_compile_id).ok_or(StackEnd::NoCodeBlob)?;
    let mut original_pc = 0;
    if pc == deopt_handler(&blob, layout) {
        original_pc = match u32_at(blob.address, layout.nmethod_orig_pc_offset) {
            // Often it is the lowest word of the frame, so 0 cannot say that there is none.
            Some(offset) => offset.wrapping_add(1),
            None => 0,
        };
    }
    Ok(Place { kind: FrameKind::Compiled as u32, rule, compile_id, original_pc })
}

/// A frame that rbp points to.
const FRAME_POINTER: Rule = match Rule::new(RuleBase::Rbp, 2, 2) {
    Some(rule) => rule,
    None => Rule::NONE,
};

/// The blob that holds an address.
#[inline(always)]
pub(super) fn find(pc: u64, layout: &CodeLayout) -> Option<Blob> {
    let address = unwind_blob(pc);
    if address == 0 {
        return None;
    }
    let frame_words = u32_at(address, layout.blob_frame_size)?;
    let name = word(word(address.wrapping_add(u64::from(layout.blob_name))).ok()?).ok()?;
    Some(Blob {
        address,
        frame_bytes: u64::from(frame_words) * 8,
        is_method: name == NMETHOD || name == NATIVE_NMETHOD,
    })
}

/// First bytes of the name of the blob that holds an address.
#[inline(always)]
pub(super) fn name(pc: u64, layout: &CodeLayout) -> Option<u64> {
    let address = unwind_blob(pc);
    if address == 0 {
        return None;
    }
    word(word(address.wrapping_add(u64::from(layout.blob_name))).ok()?).ok()
}

/// Address of the blob that holds an address in a code heap, or 0.
#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn unwind_blob(pc: u64) -> u64 {
    let Some(region) = place::region(pc) else { return 0 };
    if region.kind != RegionKind::CodeHeap as u32 {
        return 0;
    }
    let mut segment = (pc - region.start) >> (region.segment_shift & 31);
    let mut hops = FREE;
    for _ in 0..MAX_HOPS {
        if read(&raw mut hops, 1, region.bias.wrapping_add(segment)).is_err() || hops == FREE {
            return 0;
        }
        if hops == 0 {
            break;
        }
        segment = segment.wrapping_sub(u64::from(hops));
    }
    if hops != 0 {
        return 0;
    }
    // Not before: it would have to be kept on the stack meanwhile.
    let Some(layout) = CODE.get(0) else { return 0 };
    let block = region.start.wrapping_add(segment << (region.segment_shift & 31));
    block.wrapping_add(u64::from(layout.heap_block_bytes))
}

#[inline(always)]
fn deopt_handler(blob: &Blob, layout: &CodeLayout) -> u64 {
    let at = blob.address.wrapping_add(u64::from(layout.nmethod_deopt_handler));
    if layout.nmethod_deopt_handler_bytes == 8 {
        word(at).unwrap_or(0)
    } else {
        match u32_at(blob.address, layout.nmethod_deopt_handler) {
            Some(offset) => blob.address.wrapping_add(u64::from(offset)),
            None => 0,
        }
    }
}

/// First address of a blob's instructions.
#[inline(always)]
pub(super) fn code_begin(address: u64, layout: &CodeLayout) -> Option<u64> {
    at_or_offset(address, address, layout.blob_code_begin, layout.blob_code_begin_bytes)
}

/// A field that holds an address (8 bytes) or an offset from `from` (2 or 4).
#[inline(always)]
pub(super) fn at_or_offset(blob: u64, from: u64, offset: u32, bytes: u32) -> Option<u64> {
    let at = blob.wrapping_add(u64::from(offset));
    let mut value = 0u64;
    if bytes == 8 {
        return word(at).ok();
    }
    if bytes == 4 {
        read((&raw mut value).cast(), 4, at).ok()?;
    } else {
        read((&raw mut value).cast(), 2, at).ok()?;
    }
    Some(from.wrapping_add(value))
}

/// A field of 32 bits.
#[inline(always)]
pub(super) fn u32_at(address: u64, offset: u32) -> Option<u32> {
    let mut value = 0u32;
    read((&raw mut value).cast(), 4, address.wrapping_add(u64::from(offset))).ok()?;
    Some(value)
}

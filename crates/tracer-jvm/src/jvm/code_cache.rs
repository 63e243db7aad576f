//! The JVM's code cache, from outside: its heaps, and what stands at an address.
//!
//! A heap's segment map leads from an address to a block, and the block to a [`Blob`]. What the code of an `nmethod` was
//! compiled from is read by [`super::nmethod`], names by [`super::metadata`].

mod barrier;

mod blob;

mod continuation;

mod heap;

mod layout;

pub(super) mod fields;

use tracer_common::unwind::{CodeLayout, Region, RegionKind};

pub use self::{
    blob::{Blob, BlobKind, Compiled, Reason},
    heap::Heap,
};
use self::{
    continuation::Known,
    fields::Fields,
    layout::{BlobLayout, HeapLayout},
};
use super::{
    memory::{self, library::Library},
    peek::Peek,
    vmstructs::VmStructs,
};

/// Most code heaps; there are 1 or 3, and 4 in some releases.
const MAX_HEAPS: u32 = 16;
/// Most blobs of a snapshot: a code cache of 2 GiB, all of the smallest adapters, would hold a few more.
const MAX_BLOBS: usize = 1 << 20;
/// How many compiled methods are looked at to see whether the layout is right.
const SAMPLES: usize = 200;
/// The type of the objects that hold frames of virtual threads.
const CHUNK: &str = "InstanceStackChunkKlass";
/// How many blobs are looked at for the stubs of continuations.
const MAX_STUBS: usize = 4096;
/// Largest code of the interpreter that is believed.
const MAX_INTERPRETER_BYTES: u32 = 64 << 20;

/// Why Java frames of a JVM cannot be unwound or named.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The tables do not have a field under any of its known names.
    #[error("the JVM's tables have no `{0}`")]
    Missing(String),
    /// A field has a value that it cannot have.
    #[error("the JVM's tables give {value:#x} for `{field}`, which cannot be")]
    Absurd {
        /// Name of the field.
        field: String,
        /// Its value.
        value: u64,
    },
    /// The JVM has not yet made its code cache.
    #[error("the JVM has no code heaps yet")]
    NotReady,
    /// The target's memory could not be read.
    #[error(transparent)]
    Memory(#[from] memory::Error),
}

impl Error {
    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Missing(_) | Self::Absurd { .. } => Some(
                "this release of the JVM is laid out in a way that jtrace does not know: events come without Java frames"
                    .to_owned(),
            ),
            Self::NotReady => Some("try again when the JVM has started".to_owned()),
            Self::Memory(_) => None,
        }
    }
}

/// The code cache of a JVM.
#[derive(Clone, Debug)]
pub struct CodeCache {
    heaps: Vec<Heap>,
    blobs: BlobLayout,
    layout: CodeLayout,
    /// Whether this release has virtual threads whose frames are moved to the heap (21 and later, and 19 as a preview).
    moves_frames: bool,
}

impl CodeCache {
    /// Reads where the code heaps lie, and checks the layout of blobs on those that are there.
    pub fn read(peek: &impl Peek, tables: &VmStructs) -> Result<Self, Error> {
        let fields = Fields(tables);
        let blobs = BlobLayout::from_tables(fields)?;
        let heaps = heaps(peek, fields)?;
        let layout = code_layout(peek, fields, &blobs, heaps.len())?;
        let moves_frames = tables.type_size(CHUNK).is_some();
        let cache = Self { heaps, blobs, layout, moves_frames };
        cache.check(peek)?;
        Ok(cache)
    }

    /// Finds what the tables do not have: what virtual threads return to, and where their frames in the heap lie. By the
    /// library's symbols, or, where it is stripped, by the code itself; it stays 0 where neither knows, as before 21.
    pub fn find_continuations(&mut self, peek: &impl Peek, libjvm: &Library) {
        // Where there is nothing to find, all symbols and all stubs would be looked at.
        if !self.moves_frames {
            return;
        }
        let known = Known::read(peek, libjvm);
        let barrier = known.return_barrier().filter(|&address| self.heap_of(address).is_some());
        if let Some(barrier) = barrier.or_else(|| self.return_barrier_by_code(peek)) {
            self.layout.return_barrier = barrier;
            if let Ok(blob) = self.blob_at(peek, barrier) {
                self.layout.fetching = [blob.code_begin, blob.code_end];
            }
        }
        let mut layout = self.layout;
        known.fill(&mut layout, |pc| self.blob_at(peek, pc).ok().map(|blob| blob.frame_size));
        self.layout = layout;
    }

    /// What virtual threads return to, by the code alone.
    pub fn return_barrier_by_code(&self, peek: &impl Peek) -> Option<u64> {
        // All stubs are made in one heap when the JVM starts.
        let heap = self.heap_of(self.layout.call_stub_return)?;
        let (mut found, mut left) = (None, MAX_STUBS);
        let searched = heap.each_blob(peek, &self.blobs, &mut |blob| {
            let stubs = blob.ok().filter(|blob| blob.name.starts_with(barrier::BLOB));
            found = stubs.and_then(|blob| barrier::find(peek, blob.code_begin, blob.code_end));
            left -= 1;
            found.is_none() && left > 0
        });
        searched.ok().and(found)
    }

    /// Whether it has virtual threads and what leads to their callers is not there. A JVM that starts makes that last: what they
    /// return to, and then, where symbols lead to them, the offsets in what holds their frames.
    pub const fn lacks_continuations(&self) -> bool {
        let layout = &self.layout;
        self.moves_frames && (layout.return_barrier == 0 || layout.continuation_return != 0 && layout.chunk_sp == 0)
    }

    /// Whether symbols lead to what is told of continuations: then what is not there is not made yet.
    pub const fn has_symbols_of_continuations(&self) -> bool {
        self.layout.continuation_return != 0
    }

    /// The heaps.
    pub fn heaps(&self) -> &[Heap] {
        &self.heaps
    }

    /// What the kernel side needs to know.
    pub const fn layout(&self) -> CodeLayout {
        self.layout
    }

    /// The heaps as the kernel side looks them up.
    pub fn regions(&self) -> Vec<Region> {
        let region = |heap: &Heap| Region {
            start: heap.low,
            end: heap.high_boundary,
            bias: heap.segment_map,
            kind: RegionKind::CodeHeap as u32,
            segment_shift: heap.segment_shift,
            ..Region::default()
        };
        self.heaps.iter().map(region).collect()
    }

    /// The blob at an address.
    pub fn blob_at(&self, peek: &impl Peek, pc: u64) -> Result<Blob, Reason> {
        self.heap_of(pc).ok_or(Reason::NoHeap)?.blob_at(peek, &self.blobs, pc)
    }

    /// What is where a blob was: itself, if it still is there.
    pub fn again(&self, peek: &impl Peek, blob: &Blob) -> Result<Blob, Reason> {
        self.heap_of(blob.address).ok_or(Reason::NoHeap)?.again(peek, &self.blobs, blob)
    }

    /// All blobs of all heaps, in the order of addresses, and how many more there were that made no sense. Code comes and
    /// goes meanwhile, so a few of those are no cause for alarm.
    pub fn snapshot(&self, peek: &impl Peek) -> Result<(Vec<Blob>, usize), Error> {
        let (mut all, mut wrong) = (Vec::new(), 0);
        for heap in &self.heaps {
            heap.each_blob(peek, &self.blobs, &mut |blob| {
                match blob {
                    Ok(blob) => all.push(blob),
                    Err(_) => wrong += 1,
                }
                all.len() < MAX_BLOBS
            })?;
        }
        Ok((all, wrong))
    }

    fn heap_of(&self, address: u64) -> Option<&Heap> {
        self.heaps.iter().find(|heap| heap.contains(address))
    }

    /// Looks at some compiled methods that are there: a layout that is wrong makes nonsense of most of them.
    fn check(&self, peek: &impl Peek) -> Result<(), Error> {
        let (mut seen, mut wrong, mut last) = (0_usize, 0_usize, ("CodeBlob", 0));
        for heap in &self.heaps {
            heap.each_blob(peek, &self.blobs, &mut |blob| {
                let problem = match &blob {
                    Ok(blob) => implausible(blob),
                    Err(Reason::Nonsense(field)) => Some((*field, 0)),
                    Err(_) => None,
                };
                seen += 1;
                wrong += usize::from(problem.is_some());
                last = problem.unwrap_or(last);
                seen < SAMPLES
            })?;
            if wrong * 10 > seen {
                return Err(Error::Absurd { field: last.0.to_owned(), value: last.1 });
            }
            (seen, wrong) = (0, 0);
        }
        Ok(())
    }
}

/// The field of a blob that has a value it cannot have, with that value.
fn implausible(blob: &Blob) -> Option<(&'static str, u64)> {
    let code_bytes = i64::try_from(blob.code_end - blob.code_begin).unwrap_or(i64::MAX);
    if i64::from(blob.frame_complete) > code_bytes {
        return Some(("CodeBlob::_frame_complete_offset", u64::from(blob.frame_complete.unsigned_abs())));
    }
    // Code whose class was unloaded has no method any more, and other fields may be cleared with it.
    let compiled = blob.compiled.as_ref().filter(|compiled| compiled.method != 0)?;
    let end = blob.address.saturating_add(blob.size);
    if !blob.has_code_at(compiled.verified_entry) {
        return Some(("nmethod::_verified_entry_point", compiled.verified_entry));
    }
    if blob.kind == BlobKind::Method && !(blob.code_begin..end).contains(&compiled.deopt_handler) {
        return Some(("nmethod::_deopt_handler_begin", compiled.deopt_handler));
    }
    if !compiled.method.is_multiple_of(8) {
        return Some(("nmethod::_method", compiled.method));
    }
    if compiled.level > 4 {
        return Some(("nmethod::_comp_level", compiled.level.into()));
    }
    // The natives behind method handles have no frames.
    (blob.frame_size == 0 && blob.kind == BlobKind::Method).then_some(("CodeBlob::_frame_size", 0))
}

fn heaps(peek: &impl Peek, fields: Fields<'_>) -> Result<Vec<Heap>, Error> {
    let layout = HeapLayout::from_tables(fields)?;
    // 8 has one heap, and no array of them.
    if let Ok(only) = fields.address("CodeCache", "_heap") {
        let address = peek.u64(only)?;
        return if address == 0 { Err(Error::NotReady) } else { Ok(vec![Heap::read(peek, &layout, address)?]) };
    }
    let array = peek.u64(fields.address("CodeCache", "_heaps")?)?;
    if array == 0 {
        return Err(Error::NotReady);
    }
    let count = peek.u32(array.wrapping_add(layout.array_length))?;
    let data = peek.u64(array.wrapping_add(layout.array_data))?;
    if count == 0 || data == 0 {
        return Err(Error::NotReady);
    }
    if count > MAX_HEAPS {
        return Err(Error::Absurd { field: "CodeCache::_heaps".to_owned(), value: count.into() });
    }
    let mut heaps = Vec::new();
    for index in 0..u64::from(count) {
        let address = peek.u64(data.wrapping_add(index * 8))?;
        if address == 0 {
            return Err(Error::NotReady);
        }
        heaps.push(Heap::read(peek, &layout, address)?);
    }
    heaps.sort_by_key(|heap| heap.low);
    Ok(heaps)
}

/// Puts together what the kernel side needs.
fn code_layout(peek: &impl Peek, fields: Fields<'_>, blobs: &BlobLayout, heaps: usize) -> Result<CodeLayout, Error> {
    let small = |value: u64| u32::try_from(value).unwrap_or(u32::MAX);
    Ok(CodeLayout {
        known: 1,
        regions: u32::try_from(heaps).unwrap_or(u32::MAX),
        places: 0,
        heap_block_bytes: small(blobs.heap_block),
        blob_name: small(blobs.name),
        blob_frame_size: small(blobs.frame_size),
        blob_frame_complete: small(blobs.frame_complete.offset),
        blob_frame_complete_bytes: small(blobs.frame_complete.bytes),
        blob_code_begin: small(blobs.code_begin.slot().offset),
        blob_code_begin_bytes: small(blobs.code_begin.slot().bytes),
        blob_code_end: small(blobs.code_end.slot().offset),
        blob_code_end_bytes: small(blobs.code_end.slot().bytes),
        nmethod_compile_id: small(blobs.compile_id),
        nmethod_orig_pc_offset: small(blobs.orig_pc_offset),
        nmethod_deopt_handler: small(blobs.deopt_handler.slot().offset),
        nmethod_deopt_handler_bytes: small(blobs.deopt_handler.slot().bytes),
        nmethod_verified_entry: small(blobs.verified_entry.slot().offset),
        nmethod_verified_entry_bytes: small(blobs.verified_entry.slot().bytes),
        nmethod_method: small(blobs.method),
        method_const_method: small(fields.offset(&[("Method", "_constMethod")])?),
        const_method_bytes: small(fields.size("ConstMethod")?),
        const_method_code_size: small(fields.offset(&[("ConstMethod", "_code_size")])?),
        remember: 0,
        // The class's mirror lies between since 9, which was when heaps became several.
        bytecode_pointer_words: if fields.address("CodeCache", "_heap").is_ok() { 7 } else { 8 },
        interpreter: interpreter(peek, fields)?,
        call_stub_return: peek.u64(fields.address("StubRoutines", "_call_stub_return_address")?)?,
        return_barrier: match fields.address("StubRoutines", "_cont_returnBarrier") {
            Ok(address) => peek.u64(address)?,
            Err(_) => 0,
        },
        // Not in the tables of any release.
        continuation_return: 0,
        fetching: [0; 2],
        entry_bytes: 0,
        entry_argument_words: 0,
        entry_continuation: 0,
        continuation_tail: 0,
        chunk_parent: 0,
        chunk_sp: 0,
        chunk_bottom: 0,
        chunk_stack: 0,
        object_bytes: 0,
        object_shift: 0,
        object_base: 0,
    })
}

/// First address of the interpreter's code and first one behind it.
fn interpreter(peek: &impl Peek, fields: Fields<'_>) -> Result<[u64; 2], Error> {
    let queue = peek.u64(fields.address("AbstractInterpreter", "_code")?)?;
    if queue == 0 {
        return Err(Error::NotReady);
    }
    let start = peek.u64(queue.wrapping_add(fields.offset(&[("StubQueue", "_stub_buffer")])?))?;
    let len = peek.u32(queue.wrapping_add(fields.offset(&[("StubQueue", "_buffer_limit")])?))?;
    if start == 0 || len == 0 || len > MAX_INTERPRETER_BYTES {
        return Err(Error::Absurd { field: "StubQueue::_buffer_limit".to_owned(), value: len.into() });
    }
    Ok([start, start.saturating_add(len.into())])
}

#[cfg(test)]
mod tests;

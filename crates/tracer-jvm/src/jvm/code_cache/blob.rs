//! One code blob: an `nmethod`, or code that the JVM made for itself.

use std::{cell::Cell, fmt};

use super::{
    super::peek::{Peek, at},
    layout::BlobLayout,
};

/// Largest blob that is believed.
const MAX_BLOB_BYTES: u64 = 256 << 20;
/// Largest frame in words that is believed.
const MAX_FRAME_WORDS: u32 = 1 << 20;
/// Longest name of a blob that is read.
const MAX_NAME_BYTES: usize = 128;
/// `InvocationEntryBci`: the method is entered at its beginning.
const WHOLE_METHOD: u32 = u32::MAX;

/// Names of blobs with compiled methods.
const METHOD: &str = "nmethod";
const NATIVE_METHOD: &str = "native nmethod";

/// Where the names of blobs with compiled methods lie, once they were met: constants of libjvm.so, so that they need not be read again.
/// Other blobs have names of their own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct MethodNames {
    method: Cell<Option<u64>>,
    native_method: Cell<Option<u64>>,
}

impl MethodNames {
    fn known(&self, address: u64) -> Option<&'static str> {
        let is_at = |name: &Cell<Option<u64>>| name.get() == Some(address);
        if is_at(&self.method) {
            return Some(METHOD);
        }
        is_at(&self.native_method).then_some(NATIVE_METHOD)
    }

    fn learn(&self, kind: BlobKind, address: u64) {
        match kind {
            BlobKind::Method => self.method.set(Some(address)),
            BlobKind::NativeMethod => self.native_method.set(Some(address)),
            BlobKind::Other => {}
        }
    }
}

/// What a blob is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlobKind {
    /// A compiled method.
    Method,
    /// The wrapper of a native method.
    NativeMethod,
    /// A stub, an adapter, a buffer.
    Other,
}

/// A code blob.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blob {
    /// Where it lies.
    pub address: u64,
    /// Its size with header and data.
    pub size: u64,
    /// The name that the JVM gave it.
    pub name: String,
    /// What it is.
    pub kind: BlobKind,
    /// First address of its code.
    pub code_begin: u64,
    /// First address behind its code.
    pub code_end: u64,
    /// Size of its frames in words, return address included; 0 where it has none of a fixed size.
    pub frame_size: u32,
    /// From this offset in the code on the frame is complete; negative where it never is.
    pub frame_complete: i32,
    /// What only an `nmethod` has.
    pub compiled: Option<Compiled>,
}

/// What an `nmethod` says of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compiled {
    /// Number of the compilation.
    pub compile_id: u32,
    /// Level: 1 to 3 are C1's, 4 is C2's, 0 a native wrapper's.
    pub level: u8,
    /// Bytecode index of the loop by which it is entered (on-stack replacement).
    pub osr_bci: Option<u32>,
    /// `Method*`.
    pub method: u64,
    /// Entry for callers that have checked the receiver.
    pub verified_entry: u64,
    /// Where deoptimised frames return to.
    pub deopt_handler: u64,
}

/// Why there is no blob at an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reason {
    /// The address lies in no code heap.
    NoHeap,
    /// Nothing is, or nothing is any more, at the address.
    Free,
    /// The target's memory could not be read.
    Unreadable,
    /// What is there cannot be a blob; it says which part of it.
    Nonsense(&'static str),
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoHeap => f.write_str("<no code heap at the address>"),
            Self::Free => f.write_str("<no code at the address>"),
            Self::Unreadable => f.write_str("<code unreadable>"),
            Self::Nonsense(field) => write!(f, "<code damaged: {field}>"),
        }
    }
}

impl Blob {
    /// Whether the address lies in the blob's code.
    pub fn has_code_at(&self, address: u64) -> bool {
        (self.code_begin..self.code_end).contains(&address)
    }

    /// Reads the blob at an address, of which these bytes are known; it must end at `limit` at the latest.
    pub(super) fn read(
        peek: &(impl Peek + ?Sized),
        layout: &BlobLayout,
        address: u64,
        bytes: &[u8],
        limit: u64,
    ) -> Result<Self, Reason> {
        let room = limit.saturating_sub(address);
        let wanted = usize::try_from(layout.nmethod_bytes.min(room)).unwrap_or(0);
        let least = usize::try_from(layout.blob_bytes).unwrap_or(usize::MAX);
        if wanted < least {
            return Err(Reason::Nonsense("CodeBlob"));
        }
        let bytes = bytes.get(..wanted).unwrap_or(bytes);
        if bytes.len() < least {
            return Err(Reason::Unreadable);
        }
        let field = |value: Option<u32>, name| value.ok_or(Reason::Nonsense(name));
        let size = u64::from(field(at::u32(bytes, layout.size), "CodeBlob::_size")?);
        if size < layout.blob_bytes || size > room.min(MAX_BLOB_BYTES) {
            return Err(Reason::Nonsense("CodeBlob::_size"));
        }
        let code_begin =
            layout.code_begin.address(bytes, address, 0).ok_or(Reason::Nonsense("CodeBlob::_code_begin"))?;
        let code_end = layout.code_end.address(bytes, address, 0).ok_or(Reason::Nonsense("CodeBlob::_code_end"))?;
        if code_begin < address || code_end < code_begin || code_end > address.saturating_add(size) {
            return Err(Reason::Nonsense("CodeBlob::_code_begin"));
        }
        let frame_size = field(at::u32(bytes, layout.frame_size), "CodeBlob::_frame_size")?;
        // A frame of no fixed size is -1 in some releases.
        let frame_size = if frame_size.cast_signed() < 0 { 0 } else { frame_size };
        if frame_size > MAX_FRAME_WORDS {
            return Err(Reason::Nonsense("CodeBlob::_frame_size"));
        }
        let frame_complete =
            layout.frame_complete.read(bytes).ok_or(Reason::Nonsense("CodeBlob::_frame_complete_offset"))?;
        let name_at = at::u64(bytes, layout.name).ok_or(Reason::Nonsense("CodeBlob::_name"))?;
        let name = match layout.names.known(name_at) {
            Some(name) => name.to_owned(),
            None => peek.text(name_at, MAX_NAME_BYTES).map_err(|_| Reason::Nonsense("CodeBlob::_name"))?,
        };
        let kind = match name.as_str() {
            METHOD => BlobKind::Method,
            NATIVE_METHOD => BlobKind::NativeMethod,
            _ => BlobKind::Other,
        };
        layout.names.learn(kind, name_at);
        let mut blob = Self {
            address,
            size,
            name,
            kind,
            code_begin,
            code_end,
            frame_size,
            frame_complete: signed(frame_complete, layout.frame_complete.bytes),
            compiled: None,
        };
        if kind != BlobKind::Other {
            blob.compiled = Some(blob.compiled(layout, bytes).ok_or(Reason::Nonsense("nmethod"))?);
        }
        Ok(blob)
    }

    fn compiled(&self, layout: &BlobLayout, bytes: &[u8]) -> Option<Compiled> {
        let method = at::u64(bytes, layout.method)?;
        Some(Compiled {
            compile_id: at::u32(bytes, layout.compile_id)?,
            level: at::u8(bytes, layout.level)?,
            osr_bci: at::u32(bytes, layout.entry_bci).filter(|&bci| bci != WHOLE_METHOD),
            method,
            verified_entry: layout.verified_entry.address(bytes, self.address, self.code_begin)?,
            deopt_handler: layout.deopt_handler.address(bytes, self.address, self.code_begin)?,
        })
    }
}

/// A number of 2 or 4 bytes with its sign.
fn signed(value: u64, bytes: u64) -> i32 {
    let low = value.to_le_bytes();
    if bytes == 2 {
        i32::from(i16::from_le_bytes([low[0], low[1]]))
    } else {
        i32::from_le_bytes([low[0], low[1], low[2], low[3]])
    }
}

//! What compiled code was compiled from: the methods and bytecode indices at an address, inlined ones included.
//!
//! An `nmethod` carries two tables. One has a row (`PcDesc`) for each place where the JVM itself must know this;
//! the other holds the scopes that the rows lead to, each with the scope that called it, as compressed numbers. Where the
//! tables lie has changed three times since JDK 11.

mod layout;

use std::ops::Range;

pub use self::layout::NmethodLayout;
use super::{
    code_cache::{Blob, BlobKind},
    metadata::unsigned5::Reader,
    peek::{MAX_BYTES, Peek, at},
};

/// Most methods that are inlined into each other; compilers stop at 15 by default, and scopes only lead to earlier ones.
const MAX_DEPTH: usize = 256;
/// Largest tables of one `nmethod` that are read.
const MAX_TABLE_BYTES: u64 = 8 << 20;
/// `PcDesc`'s size in every release: three numbers and flags.
const ROW_BYTES: usize = 16;

/// Why nothing is known of what compiled code was compiled from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reason {
    /// The target's memory could not be read.
    Unreadable,
    /// What is there makes no sense; the field says which.
    Nonsense(&'static str),
}

/// A place in a method.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Scope {
    /// `Method*`.
    pub method: u64,
    /// Bytecode index; absent where the JVM has none, or for native methods.
    pub bci: Option<u32>,
}

/// One row of the table of addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Row {
    /// Offset in the code, of what follows the instruction.
    pc_offset: i32,
    /// Where its scope is described; 0 for none.
    scope: u32,
}

/// The tables of one `nmethod`, kept so that they still answer when it is gone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DebugInfo {
    /// Number of the compilation.
    pub compile_id: u32,
    /// First address of the code.
    pub code_begin: u64,
    /// First address behind it.
    pub code_end: u64,
    /// The method that was compiled.
    pub method: u64,
    /// Whether it is the wrapper of a native method.
    pub native: bool,
    rows: Box<[Row]>,
    scopes: Box<[u8]>,
    /// `Method*`s and other metadata that scopes name by their numbers, counted from 1.
    metadata: Box<[u64]>,
    excluded: u8,
}

impl DebugInfo {
    /// What the blob itself tells, where its tables cannot be read. Absent for a blob that is no `nmethod`.
    pub fn without_tables(blob: &Blob) -> Option<Self> {
        let compiled = blob.compiled?;
        Some(Self {
            compile_id: compiled.compile_id,
            code_begin: blob.code_begin,
            code_end: blob.code_end,
            method: compiled.method,
            native: blob.kind == BlobKind::NativeMethod,
            rows: Box::default(),
            scopes: Box::default(),
            metadata: Box::default(),
            excluded: 0,
        })
    }

    /// Reads the tables of the `nmethod` in a blob.
    pub fn read(peek: &impl Peek, layout: &NmethodLayout, blob: &Blob) -> Result<Self, Reason> {
        let mut info = Self::without_tables(blob).ok_or(Reason::Nonsense("nmethod"))?;
        if info.native {
            return Ok(info);
        }
        info.excluded = layout.excluded;
        let tables = layout.tables(peek, blob)?;
        let whole = tables.whole().filter(|whole| whole.end - whole.start <= MAX_TABLE_BYTES);
        let whole = whole.and_then(|whole| {
            let len = usize::try_from(whole.end - whole.start).ok()?;
            Some((whole.start, peek.bytes(whole.start, len.min(MAX_BYTES)).ok()?))
        });
        let read = |range: &Range<u64>, field| {
            let len = range.end.checked_sub(range.start).filter(|&len| len <= MAX_TABLE_BYTES);
            let len = usize::try_from(len.ok_or(Reason::Nonsense(field))?).map_err(|_| Reason::Nonsense(field))?;
            let within = whole.as_ref().and_then(|(start, bytes)| {
                let from = usize::try_from(range.start.checked_sub(*start)?).ok()?;
                Some(bytes.get(from..from.checked_add(len)?)?.to_vec())
            });
            match within {
                Some(bytes) => Ok(bytes),
                None => peek.bytes(range.start, len.min(MAX_BYTES)).map_err(|_| Reason::Unreadable),
            }
        };
        let rows = read(&tables.rows, "nmethod::_scopes_pcs_offset")?;
        let row = |bytes: &[u8]| {
            let scope = at::u32(bytes, layout.scope_decode_offset)?;
            Some(Row { pc_offset: at::u32(bytes, layout.pc_offset)?.cast_signed(), scope })
        };
        info.rows = rows.chunks_exact(ROW_BYTES).filter_map(row).collect();
        if !info.rows.is_sorted_by_key(|row| row.pc_offset) {
            return Err(Reason::Nonsense("PcDesc::_pc_offset"));
        }
        info.scopes = read(&tables.scopes, "nmethod::_scopes_data_offset")?.into();
        let metadata = read(&tables.metadata, "nmethod::_metadata_offset")?;
        info.metadata = metadata.chunks_exact(8).filter_map(|bytes| at::u64(bytes, 0)).collect();
        Ok(info)
    }

    /// The places at an address of the code, innermost first; the last one is in the method that was compiled. An address
    /// that follows a call is found exactly, as the JVM needs it itself; any other one is taken for the next place after
    /// it, of which the JVM knows.
    pub fn scopes_at(&self, pc: u64, return_address: bool) -> Vec<Scope> {
        let outermost = Scope { method: self.method, bci: None };
        let row = self.row_at(pc, return_address);
        let scopes = row.map(|row| self.chain(self.rows[row].scope)).unwrap_or_default();
        if scopes.last().is_none_or(|last| last.method != self.method) { vec![outermost] } else { scopes }
    }

    /// Number of the row for an address: a key under which what [`Self::scopes_at`] answers can be kept.
    pub fn row_at(&self, pc: u64, return_address: bool) -> Option<usize> {
        let offset = i32::try_from(pc.checked_sub(self.code_begin)?).ok()?;
        // The row at a sampled address belongs to the instruction before it, which is a call.
        let wanted = if return_address { offset } else { offset.checked_add(1)? };
        let index = self.rows.partition_point(|row| row.pc_offset < wanted);
        // The last row only marks the end.
        (index + 1 < self.rows.len()).then_some(index)
    }

    /// Every method that the tables name, each once.
    pub fn methods(&self) -> Vec<u64> {
        let mut methods = vec![self.method];
        let mut last = 0;
        for row in self.rows.iter().filter(|row| row.scope != 0) {
            // Rows of one scope mostly follow one another.
            if std::mem::replace(&mut last, row.scope) != row.scope {
                methods.extend(self.chain(row.scope).iter().map(|scope| scope.method));
            }
        }
        methods.sort_unstable();
        methods.dedup();
        methods
    }

    /// All metadata that the code names: methods, classes, profiles.
    pub fn metadata(&self) -> &[u64] {
        &self.metadata
    }

    /// What it takes in memory, about.
    pub fn weight(&self) -> usize {
        size_of::<Self>() + size_of_val(&*self.rows) + self.scopes.len() + size_of_val(&*self.metadata)
    }

    /// A scope and those that called it. Each one is described before those that it calls, so that offsets only fall.
    fn chain(&self, mut offset: u32) -> Vec<Scope> {
        let mut scopes = Vec::new();
        while offset != 0 && scopes.len() < MAX_DEPTH {
            let Some((caller, scope)) = self.scope(offset) else { return Vec::new() };
            scopes.push(scope);
            if caller >= offset {
                return Vec::new();
            }
            offset = caller;
        }
        scopes
    }

    /// The scope that is described at an offset, and where its caller is.
    fn scope(&self, offset: u32) -> Option<(u32, Scope)> {
        let mut reader = Reader::new(self.scopes.get(usize::try_from(offset).ok()?..)?, self.excluded);
        let caller = reader.unsigned()?;
        let method = usize::try_from(reader.unsigned()?).ok()?.checked_sub(1)?;
        // 0 stands for the moment before the first bytecode (locking a synchronised method).
        let bci = reader.unsigned()?.saturating_sub(1);
        Some((caller, Scope { method: *self.metadata.get(method)?, bci: Some(bci) }))
    }
}

#[cfg(test)]
mod tests;

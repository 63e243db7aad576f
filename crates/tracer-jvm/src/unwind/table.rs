//! Makes rows of rules from the `.eh_frame` of an ELF file, or from its code.
//!
//! The file comes from the target: whatever its bytes say, the work and the rows stay within bounds, and what cannot be
//! read is counted.

use gimli::{
    BaseAddresses, CieOrFde, CommonInformationEntry, EhFrame, EhFrameHdr, EndianSlice, FrameDescriptionEntry,
    LittleEndian, Pointer, UnwindContext, UnwindSection as _,
};
use object::{
    ReadRef,
    elf::{self, FileHeader64, ProgramHeader64},
    read::elf::{FileHeader as _, ProgramHeader as _, SectionHeader as _},
};
use tracer_common::unwind::{Row, Rule};

use super::{
    code,
    rule::{Bytes, Room, pack},
};
use crate::jvm::elf::named;

/// Most rows of one file; a libjvm.so has a tenth of that.
pub const MAX_ROWS: usize = 4 << 20;
/// Largest `.eh_frame` that is read.
const MAX_SECTION_BYTES: u64 = 128 << 20;
/// Longest common part (CIE): it is evaluated for each function anew, so its length must not multiply with their number.
pub(super) const MAX_COMMON_BYTES: usize = 512;
/// How often as many bytes as the section has may be read of common parts: functions that take turns with two of them read each anew.
pub(super) const MAX_COMMON_READS: usize = 4;
/// Length of the code at a program's entry point, which the C library brings along: 34 to 42 bytes in all of its releases, and
/// what follows is aligned to 4 at least.
const ENTRY_POINT_BYTES: u32 = 44;
/// Of a file with a table for less than one in so many bytes of its code, the code itself says the rules.
const MOST_PARTS: u64 = 4;
const ADDRESS_BYTES: u8 = 8;
const ENDIAN: object::LittleEndian = object::LittleEndian;

/// Why a file has no table.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Its headers are no ELF headers.
    #[error("its ELF headers are damaged: {0}")]
    NotElf(#[from] object::Error),
    /// It has neither `.eh_frame` nor a segment that leads there, and no code whose functions are known.
    #[error("it has no .eh_frame, and no code that could be followed")]
    Absent,
    /// Those of other files were too much already.
    #[error("the unwinding tables of the files before it have too many bytes")]
    TooMuch,
    /// `.eh_frame` lies outside of the file, or is larger than what is read.
    #[error("its .eh_frame of {bytes} bytes cannot be read")]
    Unreadable {
        /// Its size.
        bytes: u64,
    },
}

/// The rules of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    /// Rows with rising addresses, neighbours with different rules.
    pub rows: Vec<Row>,
    /// Functions whose addresses do not fit 32 bits, that overlap others, or that are too many.
    pub dropped: u64,
    /// Entries that make no sense.
    pub damaged: u64,
    /// Bytes that were read for it.
    pub read_bytes: u64,
}

/// Bytes of `.eh_frame`, and the addresses that its pointers are relative to.
pub(super) struct Section<'data> {
    pub(super) bytes: &'data [u8],
    pub(super) bases: BaseAddresses,
}

/// One function: its addresses, and its rows among those of all functions.
#[derive(Clone, Copy)]
struct Function {
    start: u32,
    end: u32,
    rows: (usize, usize),
}

/// Reads the table of an ELF file. Where most of its code has none, the code says the rules: musl has a table of a few functions.
///
/// # Errors
/// As [`Error`] says.
pub fn read<'data, R: ReadRef<'data>>(file: R) -> Result<Table, Error> {
    let mut told = match find(file) {
        Ok(section) => table(section.bytes, &section.bases, entry_point(file)),
        Err(Error::Absent) => Table::default(),
        Err(error) => return Err(error),
    };
    let code_bytes = code::bytes(file)?;
    if covered(&told.rows) < code_bytes / MOST_PARTS {
        told.rows = filled(&told.rows, &code::rows(file)?);
        told.read_bytes += code_bytes;
    }
    if told.rows.is_empty() { Err(Error::Absent) } else { Ok(told) }
}

/// Bytes that have a rule.
fn covered(rows: &[Row]) -> u64 {
    let ends = rows.iter().skip(1).map(|row| row.address);
    let with_rule = rows.iter().zip(ends).filter(|(row, _)| row.rule != Rule::NONE);
    with_rule.map(|(row, end)| u64::from(end - row.address)).sum()
}

/// Rows with those of `others` wherever there is no rule.
fn filled(rows: &[Row], others: &[Row]) -> Vec<Row> {
    let mut all = Vec::with_capacity(rows.len() + others.len());
    let (mut told, mut other) = (rows.iter().peekable(), others.iter().peekable());
    let (mut rule, mut other_rule) = (Rule::NONE, Rule::NONE);
    while let Some(address) = told.peek().into_iter().chain(other.peek()).map(|row| row.address).min() {
        rule = told.next_if(|row| row.address == address).map_or(rule, |row| row.rule);
        other_rule = other.next_if(|row| row.address == address).map_or(other_rule, |row| row.rule);
        push(&mut all, Row { address, rule: if rule == Rule::NONE { other_rule } else { rule } });
    }
    all
}

/// Where a program begins. Libraries, for which nobody is called to load others, have no such place, whatever their header says.
fn entry_point<'data, R: ReadRef<'data>>(file: R) -> Option<u32> {
    let header = FileHeader64::<object::LittleEndian>::parse(file).ok()?;
    let segments = header.program_headers(ENDIAN, file).ok()?;
    let program = segments.iter().any(|segment| segment.p_type(ENDIAN) == elf::PT_INTERP);
    u32::try_from(header.e_entry(ENDIAN)).ok().filter(|entry| program && *entry != 0)
}

/// Finds the section, by the file's sections or by its segments.
pub(super) fn find<'data, R: ReadRef<'data>>(file: R) -> Result<Section<'data>, Error> {
    let header = FileHeader64::<object::LittleEndian>::parse(file)?;
    let mut bases = BaseAddresses::default();
    // A file without usable sections may still have segments.
    if let Some(text) = named(file, b".text") {
        bases = bases.set_text(text.sh_addr(ENDIAN));
    }
    if let Some(section) = named(file, b".eh_frame")
        && let Some((offset, bytes)) = section.file_range(ENDIAN)
    {
        let bytes = bounded(file, offset, bytes)?;
        return Ok(Section { bytes, bases: bases.set_eh_frame(section.sh_addr(ENDIAN)) });
    }
    let segments = header.program_headers(ENDIAN, file)?;
    let address = segments.iter().find_map(|segment| header_points_to(segment, file)).ok_or(Error::Absent)?;
    let loaded = segments.iter().filter(|segment| segment.p_type(ENDIAN) == elf::PT_LOAD);
    let (offset, bytes) = loaded
        .filter_map(|segment| {
            let within = address.checked_sub(segment.p_vaddr(ENDIAN))?;
            let left = segment.p_filesz(ENDIAN).checked_sub(within)?;
            Some((segment.p_offset(ENDIAN).checked_add(within)?, left))
        })
        .find(|(_, left)| *left != 0)
        .ok_or(Error::Absent)?;
    // Where it ends is said by a terminator only; it is never longer than the rest of its segment.
    Ok(Section { bytes: bounded(file, offset, bytes)?, bases: bases.set_eh_frame(address) })
}

fn bounded<'data, R: ReadRef<'data>>(file: R, offset: u64, bytes: u64) -> Result<&'data [u8], Error> {
    let unreadable = Error::Unreadable { bytes };
    if bytes > MAX_SECTION_BYTES {
        return Err(unreadable);
    }
    file.read_bytes_at(offset, bytes).map_err(|()| unreadable)
}

/// Address of `.eh_frame` as `.eh_frame_hdr` has it, where this segment is that header.
fn header_points_to<'data, R: ReadRef<'data>>(segment: &ProgramHeader64<object::LittleEndian>, file: R) -> Option<u64> {
    if segment.p_type(ENDIAN) != elf::PT_GNU_EH_FRAME {
        return None;
    }
    let bytes = bounded(file, segment.p_offset(ENDIAN), segment.p_filesz(ENDIAN)).ok()?;
    let bases = BaseAddresses::default().set_eh_frame_hdr(segment.p_vaddr(ENDIAN));
    match EhFrameHdr::new(bytes, LittleEndian).parse(&bases, ADDRESS_BYTES).ok()?.eh_frame_ptr() {
        Pointer::Direct(address) => Some(address),
        Pointer::Indirect(_) => None,
    }
}

/// The rows of all functions of a section.
fn table(bytes: &[u8], bases: &BaseAddresses, entry: Option<u32>) -> Table {
    let mut reader = FunctionReader {
        section: EhFrame::new(bytes, LittleEndian),
        bases,
        context: UnwindContext::new_in(),
        common: None,
        common_bytes: bytes.len().saturating_mul(MAX_COMMON_READS),
        rows: Vec::new(),
        functions: Vec::new(),
        table: Table { read_bytes: bytes.len() as u64, ..Table::default() },
    };
    reader.read();
    if let Some(entry) = entry {
        reader.add_entry_point(entry);
    }
    let FunctionReader { rows, mut functions, mut table, .. } = reader;
    functions.sort_by_key(|function| function.start);
    let mut end = 0;
    for function in functions {
        if function.start < end {
            table.dropped += 1;
            continue;
        }
        if function.start > end && end != 0 {
            push(&mut table.rows, Row { address: end, rule: Rule::NONE });
        }
        let (first, behind) = function.rows;
        rows[first..behind].iter().for_each(|row| push(&mut table.rows, *row));
        end = function.end;
    }
    if end != 0 {
        push(&mut table.rows, Row { address: end, rule: Rule::NONE });
    }
    table
}

/// Appends a row; one that says nothing new is left out.
fn push(rows: &mut Vec<Row>, row: Row) {
    if rows.last().is_none_or(|last| last.rule != row.rule) {
        rows.push(row);
    }
}

/// Goes through the functions in the order of the section, which need not be the order of addresses.
struct FunctionReader<'data, 'bases> {
    section: EhFrame<Bytes<'data>>,
    bases: &'bases BaseAddresses,
    context: UnwindContext<usize, Room>,
    /// The latest common part and where it lies: almost always the next function's as well.
    common: Option<(usize, CommonInformationEntry<Bytes<'data>>)>,
    /// How many bytes of common parts may be read.
    common_bytes: usize,
    rows: Vec<Row>,
    functions: Vec<Function>,
    table: Table,
}

impl FunctionReader<'_, '_> {
    fn read(&mut self) {
        let mut entries = self.section.entries(self.bases);
        let mut left = self.common_bytes;
        loop {
            let entry = match entries.next() {
                Ok(Some(CieOrFde::Fde(entry))) => entry,
                Ok(Some(CieOrFde::Cie(_))) => continue,
                Ok(None) => return,
                // What follows is out of step.
                Err(_) => {
                    self.table.damaged += 1;
                    return;
                }
            };
            let common = &mut self.common;
            let function = entry.parse(|section, bases, offset| match common {
                Some((at, entry)) if *at == offset.0 => Ok(entry.clone()),
                _ => {
                    let entry = section.cie_from_offset(bases, offset)?;
                    left = left.checked_sub(entry.entry_len()).ok_or(gimli::Error::TooManyRegisterRules)?;
                    *common = Some((offset.0, entry.clone()));
                    Ok(entry)
                }
            });
            match function {
                Ok(function) if function.cie().entry_len() <= MAX_COMMON_BYTES => self.add(&function),
                Ok(_) | Err(_) => self.table.damaged += 1,
            }
        }
    }

    fn add(&mut self, function: &FrameDescriptionEntry<EndianSlice<'_, LittleEndian>>) {
        let start = u32::try_from(function.initial_address());
        let end = function.initial_address().checked_add(function.len()).and_then(|end| u32::try_from(end).ok());
        let (Ok(start), Some(end)) = (start, end) else {
            self.table.dropped += 1;
            return;
        };
        // The linker leaves functions of no length at 0 where it threw their code away.
        if start >= end {
            return;
        }
        let first = self.rows.len();
        if first >= MAX_ROWS {
            self.table.dropped += 1;
            return;
        }
        if function.is_signal_trampoline() {
            self.rows.push(Row { address: start, rule: Rule::SIGNAL });
        } else if self.add_rows(function, end).is_none() {
            // From where it makes no sense on, it leads nowhere; and so does all of it, if its first row does not.
            self.table.damaged += 1;
            let address = self.rows[first..].last().map_or(start, |row| row.address);
            self.set(first, Row { address, rule: Rule::UNSUPPORTED });
        }
        self.functions.push(Function { start, end, rows: (first, self.rows.len()) });
    }

    /// Where a program begins there is no caller. Older C libraries do not say so, and have no entry for that code at all.
    fn add_entry_point(&mut self, start: u32) {
        if self.functions.iter().any(|function| (function.start..function.end).contains(&start)) {
            return;
        }
        let next = self.functions.iter().map(|function| function.start).filter(|next| *next > start).min();
        let end = start.saturating_add(ENTRY_POINT_BYTES).min(next.unwrap_or(u32::MAX));
        if start < end {
            let first = self.rows.len();
            self.rows.push(Row { address: start, rule: Rule::ROOT });
            self.functions.push(Function { start, end, rows: (first, first + 1) });
        }
    }

    /// Adds the rows of one function; `None` where its instructions make no sense.
    fn add_rows(&mut self, function: &FrameDescriptionEntry<EndianSlice<'_, LittleEndian>>, end: u32) -> Option<()> {
        let first = self.rows.len();
        let Self { section, bases, context, rows, .. } = self;
        let mut table = function.rows(section, bases, context).ok()?;
        while let Some(row) = table.next_row().ok()? {
            let address = u32::try_from(row.start_address()).ok()?;
            if address >= end {
                break;
            }
            if rows.len() >= MAX_ROWS {
                return None;
            }
            set(rows, first, Row { address, rule: pack(section, row) });
        }
        Some(())
    }

    fn set(&mut self, first: usize, row: Row) {
        set(&mut self.rows, first, row);
    }
}

/// Appends a row of the function whose rows begin at `first`; of two at one address the later one holds.
fn set(rows: &mut Vec<Row>, first: usize, row: Row) {
    match rows[first..].last_mut() {
        Some(last) if last.address == row.address => *last = row,
        Some(last) if last.rule == row.rule => {}
        _ => rows.push(row),
    }
}

#[cfg(test)]
mod tests;

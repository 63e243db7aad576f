//! Makes rules of machine code that has no unwinding table, by following how each function moves the stack pointer: musl, the C
//! library of Alpine, is built without tables, and every wait of a JVM there ends in it.
//!
//! Functions are followed from their entries, along all branches: from symbols, from what is called, and from addresses that code
//! takes. What lies behind a jump through a table is taken to have the jump's frame. `tests/unwound_code.rs` compares the rules with
//! the tables of files that have them.
//!
//! The code is the target's: each of its bytes is followed at most once in each of two passes.

mod frame;
mod walk;

use object::{
    ReadRef,
    elf::{self, FileHeader64},
    read::elf::{FileHeader as _, ProgramHeader as _, Rela as _, SectionHeader as _, Sym as _},
};
use tracer_common::unwind::Row;

use self::walk::{Pass, Walk};

/// Most code of one file that is followed: musl has 600 KiB.
const MAX_CODE_BYTES: u64 = 2 << 20;
/// Most pieces of it.
const MAX_PIECES: usize = 64;
/// Most functions of one file.
const MAX_FUNCTIONS: usize = 1 << 18;
const ENDIAN: object::LittleEndian = object::LittleEndian;
/// Functions of C libraries that do not come back.
const NEVER: [&[u8]; 12] = [
    b"abort",
    b"exit",
    b"_exit",
    b"_Exit",
    b"quick_exit",
    b"pthread_exit",
    b"thrd_exit",
    b"longjmp",
    b"_longjmp",
    b"siglongjmp",
    b"__assert_fail",
    b"__stack_chk_fail",
];

/// What a file says of its functions.
#[derive(Default)]
struct Known {
    /// Where they begin, in rising order.
    entries: Vec<u32>,
    /// Those that do not come back, likewise.
    never: Vec<u32>,
    /// Addresses that data holds: of functions, most of them.
    taken: Vec<u32>,
}

/// Machine code at its addresses.
#[derive(Clone, Copy, Debug)]
struct Segment<'data> {
    /// Address of the first byte.
    address: u32,
    /// The code.
    bytes: &'data [u8],
}

impl Segment<'_> {
    /// Address of the first byte behind it.
    fn end(&self) -> u32 {
        self.address.saturating_add(u32::try_from(self.bytes.len()).unwrap_or(u32::MAX))
    }
}

/// How many bytes of code a file has, without what is too much.
///
/// # Errors
/// The file's headers are damaged.
pub fn bytes<'data, R: ReadRef<'data>>(file: R) -> Result<u64, object::Error> {
    let places = places(FileHeader64::parse(file)?, file)?;
    Ok(places.iter().map(|(_, (_, bytes))| *bytes).sum())
}

/// The rows of all functions that the file names, and that these lead to.
///
/// # Errors
/// The file's headers are damaged.
pub fn rows<'data, R: ReadRef<'data>>(file: R) -> Result<Vec<Row>, object::Error> {
    let header = FileHeader64::parse(file)?;
    let (segments, mut known) = (segments(header, file)?, known(header, file)?);
    let mut rows = Vec::new();
    // Once to find out which functions there are, and once more because none may be taken for the rest of the one before it.
    for pass in [Pass::Functions, Pass::Rules] {
        known.entries.sort_unstable();
        known.entries.dedup();
        let mut found = Vec::new();
        for segment in &segments {
            let mut walk = Walk::new(segment, &known, pass);
            walk.run();
            found.append(&mut walk.found);
            if pass == Pass::Rules {
                walk.push_rows(&mut rows);
            }
        }
        found.truncate(MAX_FUNCTIONS);
        known.entries.append(&mut found);
    }
    Ok(rows)
}

type Header = FileHeader64<object::LittleEndian>;

/// An address, and offset and length in the file.
type Place = (u32, (u64, u64));

/// Sections of code; without sections the segments, in which other things can lie as well.
fn places<'data, R: ReadRef<'data>>(header: &Header, file: R) -> Result<Vec<Place>, object::Error> {
    let sections = header.sections(ENDIAN, file)?;
    let code = sections.iter().filter(|section| section.sh_flags(ENDIAN) & u64::from(elf::SHF_EXECINSTR) != 0);
    let places = code.filter_map(|section| Some((section.sh_addr(ENDIAN), section.file_range(ENDIAN)?)));
    let mut places: Vec<_> = places.take(MAX_PIECES).collect();
    if places.is_empty() {
        let loaded = header.program_headers(ENDIAN, file)?.iter();
        let code =
            loaded.filter(|segment| segment.p_type(ENDIAN) == elf::PT_LOAD && segment.p_flags(ENDIAN) & elf::PF_X != 0);
        places.extend(code.map(|segment| (segment.p_vaddr(ENDIAN), segment.file_range(ENDIAN))).take(MAX_PIECES));
    }
    // They can lie on each other, as often as a header says.
    let mut left = MAX_CODE_BYTES.min(file.len().unwrap_or(0));
    let mut fits = |bytes: u64| left.checked_sub(bytes).map(|rest| left = rest).is_some();
    let places = places.into_iter().filter(|(_, (_, bytes))| fits(*bytes));
    Ok(places.filter_map(|(address, range)| Some((u32::try_from(address).ok()?, range))).collect())
}

fn segments<'data, R: ReadRef<'data>>(header: &Header, file: R) -> Result<Vec<Segment<'data>>, object::Error> {
    let read = |(address, (offset, bytes)): Place| {
        file.read_bytes_at(offset, bytes).ok().map(|bytes| Segment { address, bytes })
    };
    let mut segments: Vec<_> = places(header, file)?.into_iter().filter_map(read).collect();
    segments.sort_by_key(|segment| segment.address);
    // One that lies on another has no code of its own.
    let mut end = 0;
    segments.retain(|segment| {
        let (begin, length) = (u64::from(segment.address), segment.bytes.len() as u64);
        let is_apart = begin >= end && begin + length < u64::from(u32::MAX);
        end = if is_apart { begin + length } else { end };
        is_apart
    });
    Ok(segments)
}

fn known<'data, R: ReadRef<'data>>(header: &Header, file: R) -> Result<Known, object::Error> {
    let mut known = Known::default();
    known.entries.extend(u32::try_from(header.e_entry(ENDIAN)).ok().filter(|entry| *entry != 0));
    let sections = header.sections(ENDIAN, file)?;
    // Tables of functions: the loader writes their addresses into data.
    for (relocations, _) in sections.iter().filter_map(|section| section.rela(ENDIAN, file).ok().flatten()) {
        let relative =
            relocations.iter().filter(|relocation| relocation.r_type(ENDIAN, false) == elf::R_X86_64_RELATIVE);
        let addresses = relative.filter_map(|relocation| u32::try_from(relocation.r_addend(ENDIAN)).ok());
        known.taken.extend(addresses.take(MAX_FUNCTIONS - known.taken.len()));
    }
    for kind in [elf::SHT_SYMTAB, elf::SHT_DYNSYM] {
        let Ok(symbols) = sections.symbols(ENDIAN, file, kind) else { continue };
        let is_function = |kind| matches!(kind, elf::STT_FUNC | elf::STT_GNU_IFUNC);
        let functions = symbols.iter().filter(|symbol| is_function(symbol.st_type()) && symbol.st_shndx(ENDIAN) != 0);
        for symbol in functions.take(MAX_FUNCTIONS) {
            let Ok(address) = u32::try_from(symbol.st_value(ENDIAN)) else { continue };
            known.entries.push(address);
            if symbol.name(ENDIAN, symbols.strings()).is_ok_and(|name| NEVER.contains(&name)) {
                known.never.push(address);
            }
        }
    }
    known.never.sort_unstable();
    Ok(known)
}

#[cfg(test)]
mod tests {
    use tracer_common::unwind::{Rule, RuleBase};

    use super::*;

    /// Whatever a file says: rows have rising addresses, and the rules between are others.
    #[test]
    fn fuzz_code_without_tables() {
        let mut with_rules = 0;
        crate::fuzz::samples("code_without_tables", |bytes| {
            let Ok(rows) = rows(bytes) else { return };
            assert!(rows.is_sorted_by(|row, next| row.address < next.address && row.rule != next.rule), "{rows:x?}");
            with_rules += usize::from(rows.len() > 2);
        });
        assert!(with_rules > 100, "{with_rules} had code that could be followed");
    }

    #[test]
    fn a_function_has_a_rule_for_each_push_and_none_behind_its_end() {
        let code: &[u8] = &[
            0x55, // push rbp
            0x53, // push rbx
            0x48, 0x83, 0xec, 0x18, // sub rsp, 24
            0x74, 0x06, // je +6
            0x48, 0x83, 0xc4, 0x18, // add rsp, 24
            0x5b, 0x5d, // pop rbx; pop rbp
            0xc3, // ret
            0x90, // nop
        ];
        let segment = Segment { address: 0x1000, bytes: code };
        let known = Known { entries: vec![0x1000], ..Known::default() };
        let mut walk = Walk::new(&segment, &known, Pass::Rules);
        walk.run();
        let mut rows = Vec::new();
        walk.push_rows(&mut rows);
        let rule = |cfa, rbp| Rule::new(RuleBase::Rsp, cfa, rbp).unwrap();
        let expected = [
            (0x1000, rule(1, 0)),
            (0x1001, rule(2, 2)),
            (0x1002, rule(3, 2)),
            (0x1006, rule(6, 2)),
            (0x100c, rule(3, 2)),
            (0x100d, rule(2, 2)),
            (0x100e, rule(1, 0)),
            (0x100f, Rule::NONE),
        ];
        assert_eq!(rows, expected.map(|(address, rule)| Row { address, rule }));
    }
}

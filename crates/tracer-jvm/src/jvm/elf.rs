//! Reads what jtrace needs from an ELF file: notes, symbols, load segments.
//!
//! It does not interpret notes ([`super::usdt`] does) and does not know HotSpot. The file comes from the target, so one bound holds
//! for all of it: how much is read, how many segments, sections and symbols are looked at, and how many bytes of names. A
//! damaged table yields less, never a panic, never endless work, and none that grows faster than the file.

mod file;
mod sections;

use std::{collections::BTreeMap, io, path::PathBuf};

pub use file::{read_at, read_file, read_tables};
pub use sections::{MAX_SECTIONS, named, names};

use memchr::memchr;
use object::{
    LittleEndian,
    elf::{self, FileHeader64, ProgramHeader64, SectionHeader64, Sym64},
    read::elf::{FileHeader as _, NoteIterator, ProgramHeader as _, SectionHeader as _, SectionTable, Sym as _},
};

/// Largest file that is read: a libjvm.so with all debug information is a tenth of it.
pub const MAX_FILE_BYTES: u64 = 1 << 30;
/// Most that is read of a file: the tables of a libjvm.so with all debug information have a fifth of it.
pub const MAX_READ_BYTES: u64 = 256 << 20;
/// Longest symbol name that is compared; mangled names of HotSpot stay far below.
const MAX_SYMBOL_NAME_BYTES: usize = 4096;
/// Most symbols of one table; a libjvm.so with all of them has some 150,000.
pub const MAX_SYMBOLS: usize = 4 << 20;
/// Most segments; a library has some ten.
const MAX_SEGMENTS: usize = 128;

/// Why a file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file cannot be opened or read.
    #[error("cannot read `{path}`")]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system says.
        #[source]
        source: io::Error,
    },
    /// A directory, device, pipe or socket.
    #[error("`{path}` is not a regular file")]
    NotRegular {
        /// The path.
        path: PathBuf,
    },
    /// The file is larger than any libjvm.so.
    #[error("`{path}` has {bytes} bytes, more than the {limit} that are read", limit = MAX_FILE_BYTES)]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Its size.
        bytes: u64,
    },
    /// No ELF magic.
    #[error("not an ELF file")]
    NotElf,
    /// A 32-bit file.
    #[error("a 32-bit ELF file; only 64-bit x86-64 is supported")]
    Not64Bit,
    /// Another processor.
    #[error("an ELF file for machine {machine} ({name}); only x86-64 is supported", name = machine_name(*.machine))]
    Machine {
        /// `e_machine`.
        machine: u16,
    },
    /// The headers are cut or contradict themselves.
    #[error("a damaged ELF file: {what}")]
    Damaged {
        /// What is wrong.
        what: String,
    },
}

/// The names of the machines on which HotSpot runs.
const fn machine_name(machine: u16) -> &'static str {
    match machine {
        elf::EM_386 => "x86",
        elf::EM_AARCH64 => "aarch64",
        elf::EM_ARM => "arm",
        elf::EM_PPC64 => "ppc64",
        elf::EM_RISCV => "riscv",
        elf::EM_S390 => "s390x",
        _ => "unknown",
    }
}

/// The symbol table in which a symbol was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SymbolTable {
    /// `.symtab`: everything, gone after `strip`.
    Static,
    /// `.dynsym`: what is exported.
    Dynamic,
}

/// A defined symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// Virtual address, before relocation by the load address.
    pub address: u64,
    /// Size in bytes; 0 where the table does not say.
    pub size: u64,
    /// Where it was found.
    pub table: SymbolTable,
}

/// One note of a note section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Note<'data> {
    /// Owner, without the final NUL.
    pub owner: &'data [u8],
    /// Type; its meaning depends on the owner.
    pub note_type: u32,
    /// Content.
    pub desc: &'data [u8],
}

/// A 64-bit x86-64 ELF file.
#[derive(Clone, Copy, Debug)]
pub struct Elf<'data> {
    data: &'data [u8],
    segments: &'data [ProgramHeader64<LittleEndian>],
    sections: SectionTable<'data, FileHeader64<LittleEndian>>,
    /// Where the names of sections lie.
    texts: u64,
}

impl<'data> Elf<'data> {
    /// Looks at the headers of the file in `data`.
    ///
    /// # Errors
    /// Everything of [`Error`] that is not about opening files.
    pub fn parse(data: &'data [u8]) -> Result<Self, Error> {
        if !data.starts_with(&elf::ELFMAG) {
            return Err(Error::NotElf);
        }
        if data.get(4) == Some(&elf::ELFCLASS32) {
            return Err(Error::Not64Bit);
        }
        let damaged = |error: object::read::Error| Error::Damaged { what: error.to_string() };
        // The machine is looked at first, in its own byte order, so that a foreign file is refused by its name.
        let big_endian = data.get(5) == Some(&elf::ELFDATA2MSB);
        if let Some(&[first, second]) = data.get(18..20) {
            let order = if big_endian { u16::from_be_bytes } else { u16::from_le_bytes };
            let machine = order([first, second]);
            if machine != elf::EM_X86_64 {
                return Err(Error::Machine { machine });
            }
        }
        if big_endian {
            return Err(Error::Damaged { what: "x86-64 in big-endian byte order".to_owned() });
        }
        let header = FileHeader64::<LittleEndian>::parse(data).map_err(damaged)?;
        let segments = header.program_headers(LittleEndian, data).map_err(damaged)?;
        let sections = header.sections(LittleEndian, data).map_err(damaged)?;
        if segments.len() > MAX_SEGMENTS || sections.len() > MAX_SECTIONS {
            let what = format!("{} segments and {} sections", segments.len(), sections.len());
            return Err(Error::Damaged { what });
        }
        let texts = sections::texts(header, &sections);
        Ok(Self { data, segments, sections, texts })
    }

    fn section(&self, name: &str) -> Option<&'data SectionHeader64<LittleEndian>> {
        self.sections.iter().find(|section| sections::is_named(self.data, self.texts, section, name.as_bytes()))
    }

    /// Virtual address of a section.
    pub fn section_address(&self, name: &str) -> Option<u64> {
        self.section(name).map(|section| section.sh_addr(LittleEndian))
    }

    /// Content of a section; `None` where it does not exist or reaches beyond the file.
    pub fn section_data(&self, name: &str) -> Option<&'data [u8]> {
        self.section(name)?.data(LittleEndian, self.data).ok()
    }

    /// Whether the file has a `.symtab` with symbols.
    pub fn has_symtab(&self) -> bool {
        self.table(SymbolTable::Static).is_some_and(|(symbols, _)| symbols.len() > 1)
    }

    /// Offset in the file of the byte at a virtual address.
    pub fn file_offset(&self, address: u64) -> Option<u64> {
        self.offset_in(address, 0)
    }

    /// Offset in the file of the instruction at a virtual address; `None` outside of executable segments.
    pub fn code_offset(&self, address: u64) -> Option<u64> {
        self.offset_in(address, elf::PF_X)
    }

    fn offset_in(&self, address: u64, flags: u32) -> Option<u64> {
        self.segments
            .iter()
            .filter(|segment| segment.p_type(LittleEndian) == elf::PT_LOAD)
            .filter(|segment| segment.p_flags(LittleEndian) & flags == flags)
            .find_map(|segment| {
                let within = address.checked_sub(segment.p_vaddr(LittleEndian))?;
                let inside = within < segment.p_filesz(LittleEndian);
                let offset = segment.p_offset(LittleEndian).checked_add(within)?;
                (inside && offset < self.data.len() as u64).then_some(offset)
            })
    }

    /// The symbols of one table, and the text in which their names are.
    fn table(&self, table: SymbolTable) -> Option<(&'data [Sym64<LittleEndian>], &'data [u8])> {
        let section_type = match table {
            SymbolTable::Static => elf::SHT_SYMTAB,
            SymbolTable::Dynamic => elf::SHT_DYNSYM,
        };
        let section = self.sections.iter().find(|section| section.sh_type(LittleEndian) == section_type)?;
        let strings = self.sections.section(section.link(LittleEndian)).ok()?;
        let names = strings.data(LittleEndian, self.data).ok()?;
        let symbols = section.data_as_array(LittleEndian, self.data).ok()?;
        Some((symbols, names))
    }

    /// Every defined symbol with its name, `.symtab` first, then `.dynsym`.
    pub fn symbols(&self) -> impl Iterator<Item = (&'data [u8], Symbol)> + use<'data> {
        let tables = [SymbolTable::Static, SymbolTable::Dynamic].map(|table| (table, self.table(table)));
        tables.into_iter().flat_map(|(table, found)| {
            let (symbols, names) = found.unwrap_or((&[], &[]));
            // Names share their ends at most, so all of them together are hardly longer than their table.
            let mut left = names.len().saturating_mul(2).saturating_add(MAX_SYMBOL_NAME_BYTES);
            let symbol = move |symbol: &Sym64<LittleEndian>| {
                (left > 0).then(|| {
                    let rest = names.get(usize::try_from(symbol.st_name(LittleEndian)).ok()?..)?;
                    let text = &rest[..rest.len().min(MAX_SYMBOL_NAME_BYTES)];
                    let end = memchr(0, text);
                    left = left.saturating_sub(end.unwrap_or(text.len()));
                    if symbol.is_undefined(LittleEndian) || symbol.st_type() == elf::STT_TLS {
                        return None;
                    }
                    let address = symbol.st_value(LittleEndian);
                    let found = Symbol { address, size: symbol.st_size(LittleEndian), table };
                    end.filter(|end| *end > 0).map(|end| (&text[..end], found))
                })
            };
            symbols.iter().take(MAX_SYMBOLS).map_while(symbol).flatten()
        })
    }

    /// Looks up a set of names in one pass over both tables. Where a name is defined more than once, the first in
    /// `.symtab` counts.
    pub fn find_symbols<'name>(&self, names: &[&'name str]) -> BTreeMap<&'name str, Symbol> {
        // Most symbols are turned down by their length, without a hash or a comparison.
        let mut by_length: BTreeMap<usize, Vec<&'name str>> = BTreeMap::new();
        for name in names {
            by_length.entry(name.len()).or_default().push(name);
        }
        let mut found = BTreeMap::new();
        for (name, symbol) in self.symbols() {
            let Some(candidates) = by_length.get(&name.len()) else { continue };
            if let Some(wanted) = candidates.iter().find(|candidate| candidate.as_bytes() == name) {
                found.entry(*wanted).or_insert(symbol);
            }
        }
        found
    }

    /// The notes of all note sections of this name, in file order; an `Err` says why the rest of a section is unreadable.
    pub fn notes(&self, section_name: &str) -> impl Iterator<Item = Result<Note<'data>, Error>> + use<'data> {
        let Self { data, sections, texts, segments: _ } = *self;
        let section_name = section_name.to_owned();
        sections
            .iter()
            .filter(move |section| sections::is_named(data, texts, section, section_name.as_bytes()))
            .flat_map(move |section| match section.data(LittleEndian, data) {
                Ok(bytes) => notes_in(bytes, section.sh_addralign(LittleEndian)),
                Err(error) => Notes::Unreadable(Some(error.to_string())),
            })
    }
}

/// The notes in the bytes of a note section with this alignment.
pub fn notes_in(bytes: &[u8], align: u64) -> Notes<'_> {
    match NoteIterator::new(LittleEndian, align, bytes) {
        Ok(notes) => Notes::Readable(notes),
        Err(error) => Notes::Unreadable(Some(error.to_string())),
    }
}

/// Iterator over the notes of one section.
#[derive(Debug)]
pub enum Notes<'data> {
    /// The section's notes.
    Readable(NoteIterator<'data, FileHeader64<LittleEndian>>),
    /// The section cannot be read at all, which is said once.
    Unreadable(Option<String>),
}

impl<'data> Iterator for Notes<'data> {
    type Item = Result<Note<'data>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Self::Readable(notes) => notes.next().transpose().map(|note| match note {
                Ok(note) => Ok(Note { owner: note.name(), note_type: note.n_type(LittleEndian), desc: note.desc() }),
                Err(error) => Err(Error::Damaged { what: error.to_string() }),
            }),
            Self::Unreadable(reason) => reason.take().map(|what| Err(Error::Damaged { what })),
        }
    }
}

#[cfg(test)]
pub(crate) mod hostile;

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn header(class: u8, encoding: u8, machine: u16) -> Vec<u8> {
        let mut bytes = vec![0; 64];
        bytes[..4].copy_from_slice(b"\x7fELF");
        bytes[4] = class;
        bytes[5] = encoding;
        bytes[6] = 1;
        bytes[18..20].copy_from_slice(&machine.to_le_bytes());
        bytes
    }

    fn refusal(bytes: &[u8]) -> String {
        Elf::parse(bytes).expect_err("refused").to_string()
    }

    #[test]
    fn other_files_are_refused_by_name() {
        assert_eq!(refusal(b"#!/bin/sh"), "not an ELF file");
        assert_eq!(refusal(b""), "not an ELF file");
        assert_eq!(refusal(&header(1, 1, 3)), "a 32-bit ELF file; only 64-bit x86-64 is supported");
        assert_eq!(refusal(&header(2, 1, 183)), "an ELF file for machine 183 (aarch64); only x86-64 is supported");
        assert!(refusal(&header(2, 2, 22_u16.swap_bytes())).starts_with("an ELF file for machine 22 (s390x)"));
        assert!(refusal(&header(2, 1, 62)[..40]).starts_with("a damaged ELF file: "));
    }

    #[test]
    fn a_header_without_tables_has_nothing() {
        let bytes = header(2, 1, 62);
        let elf = Elf::parse(&bytes).expect("parses");
        assert_eq!((elf.has_symtab(), elf.file_offset(0), elf.section_address(".text")), (false, None, None));
        assert_eq!(elf.symbols().count() + elf.notes(".note.stapsdt").count(), 0);
    }

    #[test]
    fn every_prefix_of_a_file_is_harmless() {
        let own = read_file(Path::new("/proc/self/exe")).expect("own file");
        let step = own.len() / 199 + 1;
        for length in (0..own.len().min(8192)).step_by(7).chain((0..own.len()).step_by(step)) {
            if let Ok(elf) = Elf::parse(&own[..length]) {
                let _: usize = elf.symbols().count() + elf.notes(".note.gnu.build-id").count();
            }
        }
    }

    #[test]
    fn own_symbols_notes_and_offsets_are_found() {
        let own = read_file(Path::new("/proc/self/exe")).expect("own file");
        let elf = Elf::parse(&own).expect("parses");
        assert!(elf.has_symtab());
        let found = elf.find_symbols(&["main", "no_such_symbol"]);
        let main = found["main"];
        assert_eq!((found.len(), main.table), (1, SymbolTable::Static));
        let offset = elf.code_offset(main.address).expect("main is code");
        let address = elf.section_address(".text").expect("text");
        let text = elf.section_data(".text").expect("text");
        let within = usize::try_from(main.address - address).expect("small");
        let offset = usize::try_from(offset).expect("small");
        assert_eq!(own[offset..offset + 16], text[within..within + 16]);
        assert!(elf.notes(".note.gnu.build-id").all(|note| note.is_ok_and(|note| note.owner == b"GNU")));
    }
}

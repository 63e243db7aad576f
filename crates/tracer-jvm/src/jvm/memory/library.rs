//! A library as it is mapped in a target: which file it really is, where it was loaded, what it exports.
//!
//! Probe notes are read elsewhere ([`super::super::usdt`]); this knows only segments and symbols.
//!
//! [`super::super::elf`] reads a file as a whole, which is right where all of its sites and symbols are wanted. Here a few
//! headers and one table are, of every JVM of the machine in turn, so they are read where they lie: that is why there are
//! two readers of ELF files. Both rest on the same crate, which does the parsing.

use std::{
    collections::HashMap,
    fs::File,
    io,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

use object::{
    LittleEndian, ReadCache,
    elf::{self, FileHeader64, Sym64},
    read::elf::{FileHeader, ProgramHeader, SectionHeader, Sym},
};

use super::{
    super::elf::{self as tables, MAX_FILE_BYTES, MAX_SECTIONS},
    file_system::{Refused, open_regular},
    maps::Mapping,
};

/// Largest symbol or string table that is read.
const MAX_TABLE_BYTES: u64 = 64 << 20;
/// Most segments that are kept.
const MAX_SEGMENTS: usize = 64;
const PAGE_BYTES: u64 = 4096;

type Header = FileHeader64<LittleEndian>;

/// Why a mapped library could not be looked into.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file could not be opened.
    #[error("cannot open {path}")]
    Open {
        /// What was opened.
        path: PathBuf,
        /// What the kernel said.
        source: io::Error,
    },
    /// It is no regular file, or not the one that is mapped.
    #[error("{path} is not the file that is mapped")]
    Replaced {
        /// What was opened.
        path: PathBuf,
    },
    /// It lies where its user could have it served by a program of her own.
    #[error("{path} is not read: it lies on a file system that its user may serve herself, and that need not answer")]
    Untrusted {
        /// What was asked for.
        path: PathBuf,
    },
    /// It is larger than any libjvm.so.
    #[error("{path} has {bytes} bytes, more than {MAX_FILE_BYTES}")]
    TooLarge {
        /// What was opened.
        path: PathBuf,
        /// Its size.
        bytes: u64,
    },
    /// It is not a 64-bit little-endian ELF file.
    #[error("{path} is not a 64-bit ELF library: {reason}")]
    NotElf {
        /// What was opened.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// None of its segments is the one that is mapped executable.
    #[error("no segment of {path} belongs to its mapping at {address:#x}")]
    NotMapped {
        /// What was opened.
        path: PathBuf,
        /// The mapping.
        address: u64,
    },
}

/// A loaded segment, at the addresses of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// First address before relocation.
    pub address: u64,
    /// Size in memory.
    pub size: u64,
    /// Offset in the file.
    pub offset: u64,
    /// Part that comes from the file.
    pub file_size: u64,
    /// The program writes to it.
    pub writable: bool,
    /// It holds code.
    pub executable: bool,
}

/// A library that a target has mapped.
#[derive(Clone, Debug)]
pub struct Library {
    /// Path as the target sees it.
    pub path: PathBuf,
    /// Whether that path does not lead to it any more.
    pub deleted: bool,
    /// Path by which jtrace reaches exactly the mapped file, while the target lives.
    pub attach_path: PathBuf,
    /// What must be added to an address in the file to get the address in the target.
    pub bias: u64,
    /// Loaded segments.
    pub segments: Vec<Segment>,
}

impl Library {
    /// Looks into the file behind an executable mapping of a process.
    pub fn open(pid: u32, mapping: &Mapping) -> Result<Self, Error> {
        let (attach_path, file) = open_mapped(pid, mapping)?;
        let cache = ReadCache::new(file);
        let header = header(&cache, &attach_path)?;
        let segments = segments(header, &cache, &attach_path)?;
        let bias = bias(&segments, mapping)
            .ok_or_else(|| Error::NotMapped { path: attach_path.clone(), address: mapping.start })?;
        Ok(Self { path: mapping.path.clone(), deleted: mapping.deleted, attach_path, bias, segments })
    }

    /// Address in the target of an address in the file.
    pub fn in_target(&self, address: u64) -> u64 {
        self.bias.wrapping_add(address)
    }

    /// Whether an address of the target lies in data of the library that the program itself writes to.
    pub fn is_writable_data(&self, address: u64) -> bool {
        let address = address.wrapping_sub(self.bias);
        self.segments.iter().any(|segment| segment.writable && address.wrapping_sub(segment.address) < segment.size)
    }

    /// Addresses in the target of exported symbols. Names that are not exported are absent.
    pub fn exported(&self, names: &[&str]) -> Result<HashMap<String, u64>, Error> {
        self.symbols_in(elf::SHT_DYNSYM, names)
    }

    /// Addresses in the target of symbols of `.symtab`, which a stripped library does not have.
    pub fn symbols(&self, names: &[&str]) -> Result<HashMap<String, u64>, Error> {
        self.symbols_in(elf::SHT_SYMTAB, names)
    }

    /// Names of all sections.
    pub fn sections(&self) -> Result<Vec<String>, Error> {
        section_names(&self.attach_path)
    }

    fn symbols_in(&self, kind: u32, names: &[&str]) -> Result<HashMap<String, u64>, Error> {
        let cache = ReadCache::new(open_checked(&self.attach_path)?);
        let wrong = |error: object::Error| Error::NotElf { path: self.attach_path.clone(), reason: error.to_string() };
        let header = header(&cache, &self.attach_path)?;
        let sections = header.sections(LittleEndian, &cache).map_err(wrong)?;
        let mut found = HashMap::new();
        // A file has one such table. Of one that was made with many, each in a hole of the file, the first is read.
        if let Some(section) = sections.iter().find(|section| section.sh_type(LittleEndian) == kind) {
            let link = object::SectionIndex(section.sh_link(LittleEndian) as usize);
            let strings = sections.section(link).map_err(wrong)?;
            if section.sh_size(LittleEndian).max(strings.sh_size(LittleEndian)) > MAX_TABLE_BYTES {
                let reason = format!("a symbol table of more than {MAX_TABLE_BYTES} bytes");
                return Err(Error::NotElf { path: self.attach_path.clone(), reason });
            }
            let strings = strings.data(LittleEndian, &cache).map_err(wrong)?;
            let symbols: &[Sym64<LittleEndian>] = section.data_as_array(LittleEndian, &cache).map_err(wrong)?;
            for symbol in symbols.iter().filter(|symbol| !symbol.is_undefined(LittleEndian)) {
                let name = strings.get(symbol.st_name(LittleEndian) as usize..).unwrap_or_default();
                let matches =
                    |wanted: &&&str| name.get(wanted.len()) == Some(&0) && name.starts_with(wanted.as_bytes());
                if let Some(wanted) = names.iter().find(matches) {
                    found.insert((*wanted).to_owned(), self.in_target(symbol.st_value(LittleEndian)));
                }
            }
        }
        Ok(found)
    }
}

/// Names of all sections of a library's file.
pub fn section_names(path: &Path) -> Result<Vec<String>, Error> {
    let cache = ReadCache::new(open_checked(path)?);
    header(&cache, path)?;
    let reason = || "it has no sections, or far too many".to_owned();
    tables::names(&cache).ok_or_else(|| Error::NotElf { path: path.to_path_buf(), reason: reason() })
}

/// Opens exactly the mapped file: through `map_files`. Who lacks the capability for that goes through the target's root
/// directory, where the path may lead to another file by now (an upgraded package). Nobody else does: the way there leads
/// through directories that the target's user may serve herself, and looking a name up there can take for ever.
fn open_mapped(pid: u32, mapping: &Mapping) -> Result<(PathBuf, File), Error> {
    let exact = PathBuf::from(format!("/proc/{pid}/map_files/{:x}-{:x}", mapping.start, mapping.end));
    match open_checked(&exact) {
        Ok(file) => return Ok((exact, file)),
        Err(Error::Open { source, .. }) if source.kind() == io::ErrorKind::PermissionDenied => {}
        Err(error) => return Err(error),
    }
    let mut path = PathBuf::from(format!("/proc/{pid}/root"));
    path.push(mapping.path.strip_prefix("/").unwrap_or(&mapping.path));
    let file = open_checked(&path)?;
    // Devices differ legitimately between overlayfs and the file below it; inodes do not.
    let same = file.metadata().is_ok_and(|metadata| metadata.ino() == mapping.inode);
    if same && !mapping.deleted { Ok((path, file)) } else { Err(Error::Replaced { path }) }
}

/// Opens a regular file of bounded size, see [`open_regular`].
pub(crate) fn open_checked(path: &Path) -> Result<File, Error> {
    let failed = |source| Error::Open { path: path.to_path_buf(), source };
    let file = open_regular(path).map_err(|refused| match refused {
        Refused::Io(source) => failed(source),
        Refused::NotRegular => Error::Replaced { path: path.to_path_buf() },
        Refused::Untrusted => Error::Untrusted { path: path.to_path_buf() },
    })?;
    let metadata = file.metadata().map_err(failed)?;
    if metadata.len() > MAX_FILE_BYTES {
        return Err(Error::TooLarge { path: path.to_path_buf(), bytes: metadata.len() });
    }
    Ok(file)
}

fn header<'a>(cache: &'a ReadCache<File>, path: &Path) -> Result<&'a Header, Error> {
    let wrong = |reason: String| Error::NotElf { path: path.to_path_buf(), reason };
    let header = Header::parse(cache).map_err(|error| wrong(error.to_string()))?;
    // Asked for first: the table of so many would be read as a whole.
    let sections = header.shnum(LittleEndian, cache).map_err(|error| wrong(error.to_string()))?;
    if sections > MAX_SECTIONS {
        return Err(wrong(format!("it has {sections} sections")));
    }
    if header.is_little_endian() { Ok(header) } else { Err(wrong("it is big-endian".to_owned())) }
}

fn segments(header: &Header, cache: &ReadCache<File>, path: &Path) -> Result<Vec<Segment>, Error> {
    let headers = header
        .program_headers(LittleEndian, cache)
        .map_err(|error| Error::NotElf { path: path.to_path_buf(), reason: error.to_string() })?;
    let loaded = headers.iter().filter(|header| header.p_type(LittleEndian) == elf::PT_LOAD);
    Ok(loaded
        .take(MAX_SEGMENTS)
        .map(|header| Segment {
            address: header.p_vaddr(LittleEndian),
            size: header.p_memsz(LittleEndian),
            offset: header.p_offset(LittleEndian),
            file_size: header.p_filesz(LittleEndian),
            writable: header.p_flags(LittleEndian) & elf::PF_W != 0,
            executable: header.p_flags(LittleEndian) & elf::PF_X != 0,
        })
        .collect())
}

/// The segment whose bytes the mapping shows says how far the file was moved. Neighbours can share a page of the file, so
/// only a segment of code counts for a mapping of code.
fn bias(segments: &[Segment], mapping: &Mapping) -> Option<u64> {
    let page = |value: u64| value & !(PAGE_BYTES - 1);
    let segment = segments.iter().find(|segment| {
        let end = segment.offset.saturating_add(segment.file_size);
        segment.executable == mapping.executable && (page(segment.offset)..end).contains(&mapping.offset)
    })?;
    let address = page(segment.address).wrapping_add(mapping.offset - page(segment.offset));
    Some(mapping.start.wrapping_sub(address))
}

#[cfg(test)]
mod tests {
    use super::{super::maps, *};

    fn mapping(offset: u64) -> Mapping {
        let text = format!("7f0000001000-7f0000009000 r-xp {offset:08x} fe:00 42 /x/libjvm.so\n");
        maps::parse(text.as_bytes()).remove(0)
    }

    fn segment(address: u64, size: u64, offset: u64) -> Segment {
        Segment { address, size, offset, file_size: size, writable: false, executable: false }
    }

    #[test]
    fn bias_follows_the_segment_that_is_mapped() {
        let read_only = segment(0, 0x1100, 0);
        let code = Segment { executable: true, ..segment(0x40_1100, 0x8000, 0x1100) };
        let all = [read_only, code, segment(0x60_0000, 0x10, 0x1_0000)];
        assert_eq!(bias(&all, &mapping(0x1000)), Some(0x7f00_0000_1000 - 0x40_1000));
        assert_eq!(bias(&all, &mapping(0x10_0000)), None);
    }

    #[test]
    fn only_writable_segments_are_writable_data() {
        let library = Library {
            path: PathBuf::new(),
            deleted: false,
            attach_path: PathBuf::new(),
            bias: 0x7f00_0000_0000,
            segments: vec![
                segment(0, 0x1000, 0),
                Segment { writable: true, file_size: 0x10, ..segment(0x2000, 0x1000, 0x1000) },
            ],
        };
        assert!(library.is_writable_data(0x7f00_0000_2000) && library.is_writable_data(0x7f00_0000_2fff));
        assert!(!library.is_writable_data(0x7f00_0000_3000) && !library.is_writable_data(0x7f00_0000_0000));
        assert!(!library.is_writable_data(0) && !library.is_writable_data(u64::MAX));
    }

    #[test]
    fn a_file_that_is_not_elf_is_named_in_the_error() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        io::Write::write_all(&mut file, b"#!/bin/sh\necho no library\n").unwrap();
        let cache = ReadCache::new(open_checked(file.path()).unwrap());
        let error = header(&cache, file.path()).unwrap_err();
        assert!(matches!(&error, Error::NotElf { path, .. } if path == file.path()));
    }

    /// A user who unmaps her library between two looks has jtrace look for its name nowhere.
    #[test]
    fn a_mapping_that_is_gone_is_not_looked_for_by_its_name() {
        let pid = std::process::id();
        let here = a_mapping_that_is_gone_is_not_looked_for_by_its_name as fn() as usize as u64;
        let own = maps::read(pid).unwrap().into_iter().find(|mapping| mapping.contains(here)).unwrap();
        assert!(open_mapped(pid, &own).is_ok());
        let gone = Mapping { start: PAGE_BYTES, end: 2 * PAGE_BYTES, ..own };
        let error = open_mapped(pid, &gone).unwrap_err();
        assert!(matches!(&error, Error::Open { source, .. } if source.kind() == io::ErrorKind::NotFound), "{error:?}");
    }

    #[test]
    fn the_test_itself_can_be_looked_into() {
        let pid = std::process::id();
        let here = the_test_itself_can_be_looked_into as fn() as usize as u64;
        let all = maps::read(pid).unwrap();
        let library = Library::open(pid, all.iter().find(|mapping| mapping.contains(here)).unwrap()).unwrap();
        let found = library.symbols(&["main"]).unwrap();
        assert!(all.iter().any(|mapping| mapping.executable && mapping.contains(found["main"])));
        assert!(library.sections().unwrap().iter().any(|name| name == ".text"));
    }
}

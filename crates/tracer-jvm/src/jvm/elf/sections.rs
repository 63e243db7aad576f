//! Sections by their names, with as few bytes of the names as it takes: whoever made a file can let thousands of sections
//! have one name of many megabytes, and a reader that looks for its end reads it as often.

use object::{
    LittleEndian,
    elf::{self, FileHeader64, SectionHeader64},
    read::{
        ReadRef,
        elf::{FileHeader as _, SectionHeader as _, SectionTable},
    },
};

/// Most sections that a file may have; a libjvm.so has some forty.
pub const MAX_SECTIONS: usize = 4096;
/// Longest name of a section that is given.
const MAX_NAME_BYTES: u64 = 64;

type Header = SectionHeader64<LittleEndian>;
type Table<'data, R> = SectionTable<'data, FileHeader64<LittleEndian>, R>;

/// Where the names of sections begin in the file; 0 where there are none.
pub(super) fn texts<'data, R: ReadRef<'data>>(header: &FileHeader64<LittleEndian>, sections: &Table<'data, R>) -> u64 {
    let index = match header.e_shstrndx.get(LittleEndian) {
        // It stands in the first section where it does not fit.
        elf::SHN_XINDEX => sections.iter().next().map_or(0, |first| first.sh_link(LittleEndian)),
        index => index.into(),
    };
    let section = sections.iter().nth(usize::try_from(index).unwrap_or(usize::MAX));
    section.filter(|_| index != 0).map_or(0, |section| section.sh_offset(LittleEndian))
}

/// Whether a section has a name.
pub(super) fn is_named<'data, R: ReadRef<'data>>(file: R, texts: u64, section: &Header, name: &[u8]) -> bool {
    let bytes = texts
        .checked_add(section.sh_name(LittleEndian).into())
        .and_then(|start| file.read_bytes_at(start, name.len() as u64 + 1).ok());
    texts != 0 && bytes.and_then(|bytes| bytes.strip_prefix(name)) == Some(&[0])
}

/// The sections, and where their names begin, of a file with few enough.
fn few<'data, R: ReadRef<'data>>(file: R) -> Option<(Table<'data, R>, u64)> {
    let header = FileHeader64::<LittleEndian>::parse(file).ok()?;
    // Asked for first: the table of so many would be read as a whole.
    if header.shnum(LittleEndian, file).ok()? > MAX_SECTIONS {
        return None;
    }
    let sections = header.sections(LittleEndian, file).ok()?;
    let texts = texts(header, &sections);
    Some((sections, texts))
}

/// The first section of a name, of a file with a bearable number of them.
pub fn named<'data, R: ReadRef<'data>>(file: R, name: &[u8]) -> Option<&'data Header> {
    let (sections, texts) = few(file)?;
    sections.iter().find(|section| is_named(file, texts, section, name))
}

/// Names of all sections, as far as they are no longer than any that somebody would look for.
pub fn names<'data, R: ReadRef<'data>>(file: R) -> Option<Vec<String>> {
    let (sections, texts) = few(file)?;
    let length = file.len().ok()?;
    let name = |section: &Header| {
        let start = texts.checked_add(section.sh_name(LittleEndian).into())?;
        let bytes = file.read_bytes_at(start, MAX_NAME_BYTES.min(length.checked_sub(start)?)).ok()?;
        let end = memchr::memchr(0, bytes)?;
        Some(String::from_utf8_lossy(&bytes[..end]).into_owned())
    };
    Some(sections.iter().filter_map(name).collect())
}

//! ELF files that were made to cost much: what is looked at of them is bounded. Bounds are shown by what is not found any more
//! behind them, and not by time.

use super::*;
use crate::jvm::memory::library::Library;

pub(crate) const NAMES: u32 = elf::SHT_STRTAB;

/// A section of a made file: name, type, link, content.
pub(crate) type Made<'a> = (&'a str, u32, u32, Vec<u8>);

/// A file with these sections, from 1 on; the names of sections are in the last one, which is added.
pub(crate) fn file(sections: &[Made<'_>]) -> Vec<u8> {
    let mut texts = vec![0];
    let (mut bytes, mut table) = (vec![0; 64], vec![0; 64]);
    let all = sections.iter().cloned().chain([(".shstrtab", NAMES, 0, Vec::new())]);
    for (index, (name, kind, link, content)) in all.enumerate() {
        let at = u32::try_from(texts.len()).expect("small");
        texts.extend_from_slice(name.as_bytes());
        texts.push(0);
        let content = if index == sections.len() { texts.clone() } else { content };
        let mut header = [0; 64];
        header[..4].copy_from_slice(&at.to_le_bytes());
        header[4..8].copy_from_slice(&kind.to_le_bytes());
        header[24..32].copy_from_slice(&(bytes.len() as u64).to_le_bytes());
        header[32..40].copy_from_slice(&(content.len() as u64).to_le_bytes());
        header[40..44].copy_from_slice(&link.to_le_bytes());
        header[56..64].copy_from_slice(&24_u64.to_le_bytes());
        table.extend_from_slice(&header);
        bytes.extend_from_slice(&content);
        bytes.resize(bytes.len().next_multiple_of(8), 0);
    }
    let count = u16::try_from(sections.len() + 2).expect("few");
    bytes[..7].copy_from_slice(b"\x7fELF\x02\x01\x01");
    bytes[16..20].copy_from_slice(&[3, 0, 62, 0]);
    let at = bytes.len() as u64;
    bytes[40..48].copy_from_slice(&at.to_le_bytes());
    bytes[52..64].copy_from_slice(&[64, 0, 56, 0, 0, 0, 64, 0, 0, 0, 0, 0]);
    bytes[60..62].copy_from_slice(&count.to_le_bytes());
    bytes[62..64].copy_from_slice(&(count - 1).to_le_bytes());
    bytes.extend_from_slice(&table);
    bytes
}

/// Symbols whose names begin at these places.
pub(crate) fn symbols(names: &[u32]) -> Vec<u8> {
    let symbol = |name: &u32| {
        let mut symbol = [0; 24];
        symbol[..4].copy_from_slice(&name.to_le_bytes());
        (symbol[4], symbol[6], symbol[8]) = (0x12, 1, 0x10);
        symbol
    };
    names.iter().flat_map(symbol).collect()
}

fn names(texts: &[&str]) -> Vec<u8> {
    texts.iter().flat_map(|text| text.bytes().chain([0])).collect()
}

#[test]
fn a_made_file_is_read_as_it_was_made() {
    let bytes = file(&[
        (".strtab", NAMES, 0, names(&["", "main", "other"])),
        (".symtab", elf::SHT_SYMTAB, 1, symbols(&[1, 6])),
        (".note.x", elf::SHT_NOTE, 0, Vec::new()),
    ]);
    let elf = Elf::parse(&bytes).expect("parses");
    let found: Vec<&[u8]> = elf.symbols().map(|(name, _)| name).collect();
    assert_eq!(found, [&b"main"[..], b"other"]);
    assert!(elf.section_data(".note.x").is_some() && elf.section_data(".note").is_none());
    assert_eq!(super::names(&bytes[..]).expect("few"), ["", ".strtab", ".symtab", ".note.x", ".shstrtab"]);
    assert!(named(&bytes[..], b".symtab").is_some() && named(&bytes[..], b"symtab2").is_none());
}

/// 70 MB of names without an end, to which each symbol points, were read again for each.
#[test]
fn symbols_whose_names_have_no_end_are_not_looked_at_for_ever() {
    let mut texts = vec![b'x'; MAX_SYMBOL_NAME_BYTES];
    let main = u32::try_from(texts.len() + 1).expect("small");
    texts.extend_from_slice(b"\0main\0");
    let found = |endless: usize| {
        let all: Vec<u32> = std::iter::repeat_n(0, endless).chain([main]).collect();
        let bytes = file(&[(".strtab", NAMES, 0, texts.clone()), (".symtab", elf::SHT_SYMTAB, 1, symbols(&all))]);
        Elf::parse(&bytes).expect("parses").find_symbols(&["main"]).len()
    };
    assert_eq!(found(2), 1, "some are borne");
    assert_eq!(found(1000), 0, "behind more than the table could hold, nothing is looked at");
}

#[test]
fn files_with_far_too_many_sections_or_segments_are_refused() {
    let many: Vec<Made<'_>> = std::iter::repeat_n(("", elf::SHT_NULL, 0, Vec::new()), MAX_SECTIONS).collect();
    let bytes = file(&many);
    assert!(matches!(Elf::parse(&bytes), Err(Error::Damaged { what }) if what.contains("sections")));
    assert_eq!(super::names(&bytes[..]), None);
    assert!(named(&bytes[..], b"").is_none());
    let mut bytes = file(&[]);
    bytes[32..40].copy_from_slice(&64_u64.to_le_bytes());
    bytes[54..58].copy_from_slice(&[56, 0, 255, 0]);
    bytes.resize(64 + 255 * 56, 0);
    assert!(Elf::parse(&bytes).is_err());
    // The number stands in the first section where it does not fit, and can be anything.
    let mut bytes = file(&[]);
    bytes[60..62].copy_from_slice(&[0, 0]);
    let table = bytes.len() - 128;
    bytes[table + 32..table + 40].copy_from_slice(&u64::MAX.to_le_bytes());
    assert!(Elf::parse(&bytes).is_err() && super::names(&bytes[..]).is_none());
}

/// 48 tables in holes of a file of 8 KiB took 2.9 GiB: each was read. Now it is the first.
#[test]
fn of_many_tables_of_symbols_the_first_is_read() {
    let bytes = file(&[
        (".a", NAMES, 0, names(&["", "first", "second"])),
        (".dynsym", elf::SHT_DYNSYM, 1, symbols(&[1])),
        (".dynsym", elf::SHT_DYNSYM, 1, symbols(&[7])),
    ]);
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("libjvm.so");
    std::fs::write(&path, bytes).expect("written");
    let library = Library { path: path.clone(), deleted: false, attach_path: path, bias: 0, segments: Vec::new() };
    let exported = library.exported(&["first", "second"]).expect("read");
    assert_eq!(exported.keys().collect::<Vec<_>>(), ["first"]);
}

/// A file of 1 GiB with nothing in it, whose tables are said to fill it.
#[test]
fn of_a_file_with_holes_no_more_is_read_than_of_any_other() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("libjvm.so");
    let mut bytes = file(&[(".a", NAMES, 0, Vec::new()), (".b", NAMES, 0, Vec::new())]);
    let table = bytes.len() - 3 * 64;
    for section in [table, table + 64] {
        bytes[section + 32..section + 40].copy_from_slice(&(MAX_READ_BYTES / 4 * 3).to_le_bytes());
    }
    std::fs::write(&path, &bytes).expect("written");
    std::fs::File::options().write(true).open(&path).expect("there").set_len(MAX_FILE_BYTES).expect("holes");
    let read: u64 = file::section_ranges(&bytes_of(&bytes)).iter().map(|(_, size)| size).sum();
    assert_eq!(read, MAX_READ_BYTES / 4 * 3, "the second one is too much");
    assert!(matches!(read_file(&path), Err(Error::TooLarge { .. })));
}

/// The same bytes in as much room as the file claims; what is not touched takes no memory.
fn bytes_of(bytes: &[u8]) -> Vec<u8> {
    let mut all = vec![0; usize::try_from(MAX_FILE_BYTES).expect("64 bits")];
    all[..bytes.len()].copy_from_slice(bytes);
    all
}

/// Whatever bytes of a file are changed, reading it ends and gives no more than the file could hold.
#[test]
fn fuzz_elf() {
    crate::fuzz::each_of("elf", 2_000, 1 << 20, |dice| {
        let texts = names(&["", "main", "other", "JVM_Clone"]);
        let mut bytes = file(&[
            (".strtab", NAMES, 0, texts),
            (".symtab", elf::SHT_SYMTAB, 1, symbols(&[1, 6, 12, 1, 6, 12])),
            (".dynsym", elf::SHT_DYNSYM, 1, symbols(&[12])),
            (
                ".note.stapsdt",
                elf::SHT_NOTE,
                0,
                vec![8, 0, 0, 0, 4, 0, 0, 0, 3, 0, 0, 0, 115, 116, 97, 112, 115, 100, 116, 0, 1, 2, 3, 4],
            ),
        ]);
        for _ in 0..=dice.below(19) {
            let at = dice.below(bytes.len());
            bytes[at] = dice.byte();
        }
        bytes.truncate(bytes.len() - dice.below(bytes.len()) / 8);
        if let Ok(elf) = Elf::parse(&bytes) {
            assert!(elf.symbols().count() <= bytes.len() / 12);
            assert!(elf.notes(".note.stapsdt").count() <= bytes.len());
            assert!(elf.find_symbols(&["main", "other"]).len() <= 2);
        }
        if let Some(names) = super::names(&bytes[..]) {
            assert!(names.len() <= MAX_SECTIONS && names.iter().all(|name| name.len() <= 3 * 64));
        }
        let read: u64 = file::section_ranges(&bytes).iter().map(|(_, size)| size).sum();
        assert!(read <= bytes.len() as u64);
    });
}

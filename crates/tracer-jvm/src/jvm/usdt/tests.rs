//! Notes built by hand: sound, moved, guarded and damaged ones.

use super::*;
use crate::jvm::elf::notes_in;

/// The bytes of one note.
fn note(owner: &[u8], note_type: u32, desc: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for word in [u32::try_from(owner.len()).unwrap(), u32::try_from(desc.len()).unwrap(), note_type] {
        bytes.extend(word.to_le_bytes());
    }
    for part in [owner, desc] {
        bytes.extend(part);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
    }
    bytes
}

fn desc(pc: u64, base: u64, semaphore: u64, texts: &[u8]) -> Vec<u8> {
    let mut bytes: Vec<u8> = [pc, base, semaphore].iter().flat_map(|word| word.to_le_bytes()).collect();
    bytes.extend(texts);
    bytes
}

fn sound(texts: &[u8]) -> Vec<u8> {
    note(b"stapsdt\0", 3, &desc(0x1000, 0, 0, texts))
}

fn read_bytes(bytes: &[u8], moved_to: Option<u64>) -> Sites {
    let notes = notes_in(bytes, 4).map(|note| note.map_err(|error| error.to_string()));
    read_notes(notes, moved_to, |address| (address < 0x10_0000).then_some(address + 0x40))
}

#[test]
fn a_note_becomes_a_site() {
    let bytes = sound(b"hotspot\0class__loaded\08@%rdx -4@%eax 8@152(%rdi) 1@%cl\0");
    let sites = read_bytes(&bytes, None);
    assert_eq!((sites.sites.len(), sites.error_count), (1, 0));
    let site = &sites.sites[0];
    assert_eq!((site.provider.as_str(), site.name.as_str()), ("hotspot", "class__loaded"));
    assert_eq!((site.address, site.file_offset), (0x1000, Ok(0x1040)));
    let operands: Vec<_> = site.operands.iter().map(|operand| arg::format(operand.as_ref().unwrap())).collect();
    assert_eq!(operands, ["8@%rdx", "-4@%eax", "8@152(%rdi)", "1@%cl"]);
}

#[test]
fn every_location_of_a_name_is_kept() {
    let bytes = [sound(b"hotspot\0gc__end\0\0"), sound(b"hotspot\0gc__begin\0\0"), sound(b"hotspot\0gc__end\0\0")];
    assert_eq!(read_bytes(&bytes.concat(), None).locations("hotspot", "gc__end").count(), 2);
}

#[test]
fn a_moved_file_moves_its_sites() {
    let bytes = note(b"stapsdt\0", 3, &desc(0x1000, 0x8000, 0, b"p\0n\0\0"));
    assert_eq!(read_bytes(&bytes, Some(0x9000)).sites[0].address, 0x2000);
    assert_eq!(read_bytes(&bytes, Some(0x7800)).sites[0].address, 0x800);
    assert_eq!(read_bytes(&bytes, None).sites[0].address, 0x1000);
    assert_eq!(read_bytes(&sound(b"p\0n\0\0"), Some(0x9000)).sites[0].address, 0x1000, "a base of 0 says nothing");
}

#[test]
fn a_semaphore_and_a_foreign_address_are_refused_with_a_reason() {
    let bytes = [
        note(b"stapsdt\0", 3, &desc(0x1000, 0, 0x5000, b"p\0guarded\0\0")),
        note(b"stapsdt\0", 3, &desc(0x20_0000, 0, 0, b"p\0elsewhere\0\0")),
        sound(b"p\0good\0\0"),
    ];
    let sites = read_bytes(&bytes.concat(), None);
    let reasons: Vec<_> = sites.refused().map(|(site, why)| format!("{}: {why}", site.name)).collect();
    assert_eq!(
        reasons,
        ["guarded: it is guarded by a semaphore at 0x5000", "elsewhere: its address 0x200000 is not code of the file"]
    );
    assert_eq!(sites.sites[2].file_offset, Ok(0x1040));
}

#[test]
fn damaged_notes_are_counted_and_the_rest_is_read() {
    let bytes = [
        sound(b"p\0first\0\0"),
        note(b"GNU\0", 3, b"build id"),
        note(b"stapsdt\0", 4, &desc(0, 0, 0, b"p\0n\0\0")),
        note(b"stapsdt\0", 3, &[0; 23]),
        sound(b"no end"),
        sound(b"p\0"),
        sound(b"p\0n\0no end"),
        sound(b"p\0bad\x1b[2Jname\0\0"),
        sound(b"p\0\xff\xfe\0\0"),
        sound(b"\0n\0\0"),
        sound(&[b"p\0".as_slice(), &[b'n'; 300], b"\0\0"].concat()),
        sound(&[b"p\0n\0".as_slice(), &b"1@$0 ".repeat(13), b"\0"].concat()),
        sound(b"p\0odd\08f@%xmm0 8@%rax\0"),
    ];
    let sites = read_bytes(&bytes.concat(), None);
    let names: Vec<_> = sites.sites.iter().map(|site| site.name.as_str()).collect();
    assert_eq!(names, ["first", "odd"]);
    assert_eq!((sites.error_count, sites.errors.len()), (11, 11));
    assert_eq!(sites.errors[0].to_string(), "note 1 has owner `GNU` and type 3, not `stapsdt` and 3");
    assert_eq!(sites.errors[2].to_string(), "note 3 has 23 bytes, too few for its addresses");
    assert_eq!(sites.errors[10].to_string(), "note 11 has more than 12 arguments");
    let operands: Vec<_> = sites.refused_operands().map(|(_, why)| why.to_string()).collect();
    assert_eq!(operands, ["operand `8f@%xmm0` is a floating-point value"]);
}

#[test]
fn a_cut_section_keeps_what_stands_before_the_cut() {
    let whole = [sound(b"p\0first\0\0"), sound(b"p\0second\0\0")].concat();
    let cut = read_bytes(&whole[..whole.len() - 8], None);
    assert_eq!((cut.sites.len(), cut.error_count), (1, 1));
    assert!(cut.errors[0].to_string().starts_with("after 1 notes the rest of `.note.stapsdt` is unreadable"));
}

#[test]
fn errors_and_sites_are_bounded() {
    let foreign = note(b"x\0", 3, b"").repeat(MAX_ERRORS * 3);
    let sites = read_bytes(&foreign, None);
    assert_eq!((sites.errors.len(), sites.error_count), (MAX_ERRORS, MAX_ERRORS * 3));
    let many = sound(b"p\0n\0\0").repeat(MAX_SITES + 5);
    let sites = read_bytes(&many, None);
    assert_eq!((sites.sites.len(), &sites.errors[..]), (MAX_SITES, &[Error::TooMany][..]));
}

#[test]
fn spaces_within_parentheses_do_not_split() {
    assert_eq!(split("  8@(%rax, %rcx, 4)  1@$0 ").collect::<Vec<_>>(), ["8@(%rax, %rcx, 4)", "1@$0"]);
    assert_eq!(split(")) a ( b").collect::<Vec<_>>(), ["))", "a", "( b"]);
}

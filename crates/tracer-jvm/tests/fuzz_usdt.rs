//! Hostile notes and operands: whatever the bytes are, reading them ends, panics never and gives bounded results.
//!
//! `JTRACE_FUZZ_CASES` sets the number of inputs of each test; a plain run takes fewer so that it is quick.

use tracer_common::site::{Operand, Register};
use tracer_jvm::jvm::{
    elf::{Elf, notes_in},
    usdt::{self, Sites, arg},
};
use tracer_testing::{Dice, each_of};

/// Memory that one input may take.
const ROOM: usize = 1 << 20;

/// Most inputs of a plain test run.
const USUAL: u64 = 20_000;

fn read(bytes: &[u8], align: u64, moved_to: Option<u64>) -> Sites {
    let notes = notes_in(bytes, align).map(|note| note.map_err(|error| error.to_string()));
    usdt::read_notes(notes, moved_to, |address| (address % 3 != 0).then_some(address))
}

/// What must hold for every result, whatever it was read from.
fn check_bounds(sites: &Sites, input_bytes: usize) {
    // A note has a header of 12 bytes, so there cannot be more of them; one more error may say that the rest is cut.
    assert!(sites.sites.len() + sites.error_count <= input_bytes / 12 + 1);
    assert!(sites.errors.len() <= usdt::MAX_ERRORS && sites.errors.len() <= sites.error_count);
    for site in &sites.sites {
        assert!(!site.name.is_empty() && site.name.len() <= usdt::MAX_NAME_BYTES);
        assert!(!site.provider.is_empty() && site.provider.len() <= usdt::MAX_NAME_BYTES);
        assert!(site.arguments.len() <= usdt::MAX_ARGUMENTS_BYTES && site.operands.len() <= usdt::MAX_ARGUMENTS);
        for text in [&site.provider, &site.name, &site.arguments] {
            assert!(text.bytes().all(|byte| (b' '..=b'~').contains(&byte)), "{text:?} goes to a terminal");
        }
        assert!(site.semaphore == 0 || site.file_offset.is_err());
        for operand in &site.operands {
            match operand {
                Ok(operand) => check_operand(operand),
                Err(error) => assert!(error.to_string().len() < 3 * arg::MAX_OPERAND_BYTES + 200),
            }
        }
    }
}

/// What a program relies on when it reads an operand.
fn check_operand(operand: &Operand) {
    let Operand { displacement, place, base, index, scale, width, signed, reserved } = *operand;
    assert!(place <= 2 && matches!(width, 1 | 2 | 4 | 8) && matches!(scale, 1 | 2 | 4 | 8) && signed <= 1);
    assert!(base != Register::Rip as u8 && base <= Register::None as u8 && index <= Register::None as u8);
    assert_eq!(reserved, [0; 2]);
    match place {
        1 => assert!(displacement == 0 || (displacement == 8 && width == 1 && base < 4)),
        2 => assert!(i32::try_from(displacement).is_ok()),
        _ => {}
    }
}

/// Text from pieces of operands, so that most of it is nearly one.
fn operand_text(dice: &mut Dice) -> String {
    const PIECES: [&str; 40] = [
        "1",
        "2",
        "4",
        "8",
        "-",
        "@",
        "%",
        "$",
        "(",
        ")",
        ",",
        " ",
        ":",
        "+",
        "f",
        "0x",
        "-4@",
        "8@",
        "1@$",
        "%rax",
        "%eax",
        "%ah",
        "%r15b",
        "%r9d",
        "%rip",
        "%xmm0",
        "%fs:",
        "%rsp",
        "(%rbp)",
        "(%rax,%rcx,",
        "4)",
        "sym",
        "18446744073709551615",
        "9223372036854775808",
        "4294967296",
        "-2147483648",
        "ffff",
        "\u{e4}",
        "\u{1f600}",
        "\0",
    ];
    if dice.once_in(4) {
        return arg::format(&valid_operand(dice));
    }
    if dice.once_in(8) {
        return String::from_utf8_lossy(&dice.bytes(40)).into_owned();
    }
    let start = dice.pick(&["", "8@", "-4@", "1@$", "8@%", "4@16("]).to_owned();
    (0..dice.below(10)).fold(start, |text, _| text + dice.pick(&PIECES))
}

/// An operand as a compiler could have written it.
fn valid_operand(dice: &mut Dice) -> Operand {
    const REGISTERS: [Register; 16] = [
        Register::Rax,
        Register::Rcx,
        Register::Rdx,
        Register::Rbx,
        Register::Rsp,
        Register::Rbp,
        Register::Rsi,
        Register::Rdi,
        Register::R8,
        Register::R9,
        Register::R10,
        Register::R11,
        Register::R12,
        Register::R13,
        Register::R14,
        Register::R15,
    ];
    let (width, scale) = (dice.pick(&[1, 2, 4, 8]), dice.pick(&[1, 2, 4, 8]));
    let signed = dice.pick(&[0, 1]);
    let base = dice.pick(&REGISTERS);
    let index = match dice.pick(&REGISTERS) {
        Register::Rsp => Register::Rbp,
        other => other,
    };
    let displacement = dice.number().cast_signed() << 32 >> 32;
    let operand = match dice.below(6) {
        0 => Operand::constant(fit(dice.number().cast_signed(), width, signed)),
        1 => Operand::register(base),
        // The first four registers also have a name for their second byte.
        2 if (base as u8) < 4 && width == 1 => Operand { displacement: 8, ..Operand::register(base) },
        2 | 3 => Operand::memory(base, displacement),
        4 => Operand { index: index as u8, scale, ..Operand::memory(base, displacement) },
        _ => Operand { index: index as u8, scale, ..Operand::memory(Register::None, displacement) },
    };
    Operand { width, signed, ..operand }
}

fn word(dice: &mut Dice) -> Vec<u8> {
    match dice.below(12) {
        0 => dice.bytes(200),
        1 => Vec::new(),
        _ => (0..=dice.below(12)).map(|_| dice.pick(b"abcxyz_09")).collect(),
    }
}

/// A note whose parts sometimes lie about themselves.
fn note(dice: &mut Dice) -> Vec<u8> {
    let owner = if dice.once_in(10) { dice.bytes(12) } else { b"stapsdt\0".to_vec() };
    let semaphore = if dice.once_in(4) { dice.number() } else { 0 };
    let addresses = [dice.number(), dice.number(), semaphore];
    let mut desc: Vec<u8> = addresses.iter().flat_map(|address| address.to_le_bytes()).collect();
    let arguments = (0..dice.below(15)).map(|_| operand_text(dice)).collect::<Vec<_>>().join(" ");
    for text in [word(dice), word(dice), arguments.into_bytes()] {
        desc.extend(text);
        desc.push(0);
    }
    let mut length = |bytes: &[u8]| {
        let lie = if dice.once_in(25) { dice.pick(&[1, 4, 0x40, 0x8000_0000, u32::MAX]) } else { 0 };
        u32::try_from(bytes.len()).unwrap_or(u32::MAX) ^ lie
    };
    let words = [length(&owner), length(&desc), if dice.once_in(20) { 4 } else { 3 }];
    let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    for part in [owner, desc] {
        bytes.extend(part);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
    }
    bytes
}

/// Notes with a few wrong bytes, sometimes cut.
fn section(dice: &mut Dice) -> Vec<u8> {
    let mut bytes: Vec<u8> = (0..dice.below(4)).flat_map(|_| note(dice)).collect();
    for _ in 0..dice.below(3) {
        if !bytes.is_empty() {
            let place = dice.below(bytes.len());
            bytes[place] ^= dice.byte();
        }
    }
    if dice.once_in(3) {
        bytes.truncate(dice.below(bytes.len() + 1));
    }
    bytes
}

/// A file with an ELF header whose tables are somewhere near, and often make no sense.
fn file(dice: &mut Dice) -> Vec<u8> {
    let mut bytes = [b"\x7fELF\x02\x01\x01".as_slice(), &[0; 57]].concat();
    bytes.resize_with(700 + dice.below(300), || if dice.once_in(3) { dice.byte() % 12 } else { 0 });
    bytes[18..20].copy_from_slice(&62_u16.to_le_bytes());
    bytes[20..24].copy_from_slice(&1_u32.to_le_bytes());
    for (place, size) in [(52, 64_u16), (54, 56), (58, 64)] {
        bytes[place..place + 2].copy_from_slice(&size.to_le_bytes());
    }
    for table in [32, 40] {
        let offset = if dice.once_in(10) { dice.number() } else { 64 + dice.any() % 8 * 8 };
        bytes[table..table + 8].copy_from_slice(&offset.to_le_bytes());
    }
    let (segments, sections) = (dice.below(4), dice.below(6));
    for (place, count) in [(56, segments), (60, sections), (62, dice.below(sections.max(1)))] {
        bytes[place] = count.to_le_bytes()[0];
        bytes[place + 1] = 0;
    }
    // Sections of the types that are read, somewhere in the file.
    let headers = usize::from(bytes[40]).min(128);
    for section in 0..sections {
        let start = headers + 64 * section;
        bytes[start + 4] = dice.pick(&[2, 3, 7, 11]);
        bytes[start + 24] = dice.byte();
        bytes[start + 32] = dice.pick(&[24, 48, 120, 240]);
        bytes[start + 40] = dice.pick(&[0, 1, 2, 3]);
    }
    bytes
}

/// A value as an operand of this width can hold it.
fn fit(value: i64, width: u8, signed: u8) -> i64 {
    match (width, signed) {
        (1, 0) => value & 0xff,
        (2, 0) => value & 0xffff,
        (4, 0) => value & 0xffff_ffff,
        (1, _) => value << 56 >> 56,
        (2, _) => value << 48 >> 48,
        (4, _) => value << 32 >> 32,
        _ => value,
    }
}

#[test]
fn fuzz_operands() {
    each_of("operands", USUAL, ROOM, |dice| {
        let text = operand_text(dice);
        match arg::parse(&text) {
            Ok(operand) => {
                check_operand(&operand);
                // What was understood can be written down and understood again.
                assert_eq!(arg::parse(&arg::format(&operand)), Ok(operand), "{text}");
            }
            Err(error) => assert!(error.to_string().len() < 3 * arg::MAX_OPERAND_BYTES + 200),
        }
    });
}

#[test]
fn fuzz_operands_that_are_valid() {
    each_of("operands_that_are_valid", USUAL, ROOM, |dice| {
        let operand = valid_operand(dice);
        assert_eq!(arg::parse(&arg::format(&operand)), Ok(operand));
    });
}

#[test]
fn fuzz_notes_of_any_bytes() {
    each_of("notes_of_any_bytes", USUAL, ROOM, |dice| {
        let bytes = dice.bytes(120);
        let align = if dice.once_in(4) { dice.number() } else { 4 };
        let moved_to = dice.once_in(2).then(|| dice.number());
        check_bounds(&read(&bytes, align, moved_to), bytes.len());
    });
}

#[test]
fn fuzz_notes() {
    each_of("notes", USUAL, ROOM, |dice| {
        let bytes = section(dice);
        let moved_to = dice.once_in(2).then(|| dice.number());
        check_bounds(&read(&bytes, 4, moved_to), bytes.len());
    });
}

#[test]
fn fuzz_elf_headers() {
    each_of("elf_headers", USUAL, ROOM, |dice| {
        let bytes = file(dice);
        if let Ok(elf) = Elf::parse(&bytes) {
            check_bounds(&usdt::read(&elf), 4 * bytes.len());
            assert!(elf.symbols().count() <= 2 * bytes.len() / 24);
            assert!(elf.file_offset(0).is_none_or(|offset| offset < bytes.len() as u64));
        }
    });
}

#[test]
fn inputs_reach_every_outcome() {
    let (mut parsed, mut refused, mut sites, mut errors, mut files) = (0, 0, 0, 0, 0);
    for seed in 0..5_000 {
        let mut dice = Dice(seed);
        match arg::parse(&operand_text(&mut dice)) {
            Ok(_) => parsed += 1,
            Err(_) => refused += 1,
        }
        let read = read(&section(&mut dice), 4, None);
        sites += read.sites.len();
        errors += read.error_count;
        files += usize::from(Elf::parse(&file(&mut dice)).is_ok());
    }
    let reached = [parsed, refused, sites, errors, files];
    assert!(
        reached.iter().all(|count| *count > 500),
        "an input generator that reaches nothing tests nothing: {reached:?}"
    );
}

//! Hostile notes and operands: whatever the bytes are, reading them ends, panics never and gives bounded results.
//!
//! `JTRACE_FUZZ_CASES` sets the number of inputs of each test; a plain run takes fewer so that it is quick. An input is
//! made from a seed by a few lines of arithmetic, because a million inputs from proptest's own combinators take hours in
//! an unoptimised build; a failure prints the seed.

use proptest::prelude::*;
use tracer_common::site::{Operand, Register};
use tracer_jvm::jvm::{
    elf::{Elf, notes_in},
    usdt::{self, Sites, arg},
};
use tracer_testing::{configured, metered};

/// Memory that one input may take.
const ROOM: usize = 1 << 20;

fn config() -> ProptestConfig {
    configured(20_000)
}

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

/// Makes an input from a seed.
struct Dice(u64);

impl Dice {
    /// The next number of a splitmix64 sequence.
    fn any(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.any() % limit as u64).expect("small")
    }

    fn byte(&mut self) -> u8 {
        self.any().to_le_bytes()[0]
    }

    fn bytes(&mut self, limit: usize) -> Vec<u8> {
        (0..self.below(limit)).map(|_| self.byte()).collect()
    }

    fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }

    /// True once in `n` times.
    fn once_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    /// A number that is often at an edge.
    fn number(&mut self) -> u64 {
        let any = self.any();
        self.pick(&[0, u64::MAX, any % 0x200, any, any >> 32])
    }

    /// Text from pieces of operands, so that most of it is nearly one.
    fn operand_text(&mut self) -> String {
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
        if self.once_in(4) {
            return arg::format(&self.valid_operand());
        }
        if self.once_in(8) {
            return String::from_utf8_lossy(&self.bytes(40)).into_owned();
        }
        let start = self.pick(&["", "8@", "-4@", "1@$", "8@%", "4@16("]).to_owned();
        (0..self.below(10)).fold(start, |text, _| text + self.pick(&PIECES))
    }

    /// An operand as a compiler could have written it.
    fn valid_operand(&mut self) -> Operand {
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
        let (width, scale) = (self.pick(&[1, 2, 4, 8]), self.pick(&[1, 2, 4, 8]));
        let signed = self.pick(&[0, 1]);
        let base = self.pick(&REGISTERS);
        let index = match self.pick(&REGISTERS) {
            Register::Rsp => Register::Rbp,
            other => other,
        };
        let displacement = self.number().cast_signed() << 32 >> 32;
        let operand = match self.below(6) {
            0 => Operand::constant(fit(self.number().cast_signed(), width, signed)),
            1 => Operand::register(base),
            // The first four registers also have a name for their second byte.
            2 if (base as u8) < 4 && width == 1 => Operand { displacement: 8, ..Operand::register(base) },
            2 | 3 => Operand::memory(base, displacement),
            4 => Operand { index: index as u8, scale, ..Operand::memory(base, displacement) },
            _ => Operand { index: index as u8, scale, ..Operand::memory(Register::None, displacement) },
        };
        Operand { width, signed, ..operand }
    }

    fn word(&mut self) -> Vec<u8> {
        match self.below(12) {
            0 => self.bytes(200),
            1 => Vec::new(),
            _ => (0..=self.below(12)).map(|_| self.pick(b"abcxyz_09")).collect(),
        }
    }

    /// A note whose parts sometimes lie about themselves.
    fn note(&mut self) -> Vec<u8> {
        let owner = if self.once_in(10) { self.bytes(12) } else { b"stapsdt\0".to_vec() };
        let semaphore = if self.once_in(4) { self.number() } else { 0 };
        let addresses = [self.number(), self.number(), semaphore];
        let mut desc: Vec<u8> = addresses.iter().flat_map(|address| address.to_le_bytes()).collect();
        let arguments = (0..self.below(15)).map(|_| self.operand_text()).collect::<Vec<_>>().join(" ");
        for text in [self.word(), self.word(), arguments.into_bytes()] {
            desc.extend(text);
            desc.push(0);
        }
        let mut length = |bytes: &[u8]| {
            let lie = if self.once_in(25) { self.pick(&[1, 4, 0x40, 0x8000_0000, u32::MAX]) } else { 0 };
            u32::try_from(bytes.len()).unwrap_or(u32::MAX) ^ lie
        };
        let words = [length(&owner), length(&desc), if self.once_in(20) { 4 } else { 3 }];
        let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        for part in [owner, desc] {
            bytes.extend(part);
            bytes.resize(bytes.len().next_multiple_of(4), 0);
        }
        bytes
    }

    /// Notes with a few wrong bytes, sometimes cut.
    fn section(&mut self) -> Vec<u8> {
        let mut bytes: Vec<u8> = (0..self.below(4)).flat_map(|_| self.note()).collect();
        for _ in 0..self.below(3) {
            if !bytes.is_empty() {
                let place = self.below(bytes.len());
                bytes[place] ^= self.byte();
            }
        }
        if self.once_in(3) {
            bytes.truncate(self.below(bytes.len() + 1));
        }
        bytes
    }

    /// A file with an ELF header whose tables are somewhere near, and often make no sense.
    fn file(&mut self) -> Vec<u8> {
        let mut bytes = [b"\x7fELF\x02\x01\x01".as_slice(), &[0; 57]].concat();
        bytes.resize_with(700 + self.below(300), || if self.once_in(3) { self.byte() % 12 } else { 0 });
        bytes[18..20].copy_from_slice(&62_u16.to_le_bytes());
        bytes[20..24].copy_from_slice(&1_u32.to_le_bytes());
        for (place, size) in [(52, 64_u16), (54, 56), (58, 64)] {
            bytes[place..place + 2].copy_from_slice(&size.to_le_bytes());
        }
        for table in [32, 40] {
            let offset = if self.once_in(10) { self.number() } else { 64 + self.any() % 8 * 8 };
            bytes[table..table + 8].copy_from_slice(&offset.to_le_bytes());
        }
        let (segments, sections) = (self.below(4), self.below(6));
        for (place, count) in [(56, segments), (60, sections), (62, self.below(sections.max(1)))] {
            bytes[place] = count.to_le_bytes()[0];
            bytes[place + 1] = 0;
        }
        // Sections of the types that are read, somewhere in the file.
        let headers = usize::from(bytes[40]).min(128);
        for section in 0..sections {
            let start = headers + 64 * section;
            bytes[start + 4] = self.pick(&[2, 3, 7, 11]);
            bytes[start + 24] = self.byte();
            bytes[start + 32] = self.pick(&[24, 48, 120, 240]);
            bytes[start + 40] = self.pick(&[0, 1, 2, 3]);
        }
        bytes
    }
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

proptest! {
    #![proptest_config(config())]

    #[test]
    fn fuzz_operands(seed in any::<u64>()) {
        let text = Dice(seed).operand_text();
        match metered(ROOM, || arg::parse(&text)) {
            Ok(operand) => {
                check_operand(&operand);
                // What was understood can be written down and understood again.
                prop_assert_eq!(arg::parse(&arg::format(&operand)), Ok(operand), "{}", text);
            }
            Err(error) => prop_assert!(error.to_string().len() < 3 * arg::MAX_OPERAND_BYTES + 200),
        }
    }

    #[test]
    fn fuzz_operands_that_are_valid(seed in any::<u64>()) {
        let operand = Dice(seed).valid_operand();
        prop_assert_eq!(metered(ROOM, || arg::parse(&arg::format(&operand))), Ok(operand));
    }

    #[test]
    fn fuzz_notes_of_any_bytes(seed in any::<u64>()) {
        let mut dice = Dice(seed);
        let bytes = dice.bytes(120);
        let align = if dice.once_in(4) { dice.number() } else { 4 };
        let moved_to = dice.once_in(2).then(|| dice.number());
        check_bounds(&metered(ROOM, || read(&bytes, align, moved_to)), bytes.len());
    }

    #[test]
    fn fuzz_notes(seed in any::<u64>()) {
        let mut dice = Dice(seed);
        let bytes = dice.section();
        let moved_to = dice.once_in(2).then(|| dice.number());
        check_bounds(&metered(ROOM, || read(&bytes, 4, moved_to)), bytes.len());
    }

    #[test]
    fn fuzz_elf_headers(seed in any::<u64>()) {
        let bytes = Dice(seed).file();
        metered(ROOM, || {
            if let Ok(elf) = Elf::parse(&bytes) {
                let sites = usdt::read(&elf);
                check_bounds(&sites, 4 * bytes.len());
                prop_assert!(elf.symbols().count() <= 2 * bytes.len() / 24);
                prop_assert!(elf.file_offset(0).is_none_or(|offset| offset < bytes.len() as u64));
            }
            Ok(())
        })?;
    }
}

#[test]
fn inputs_reach_every_outcome() {
    let (mut parsed, mut refused, mut sites, mut errors, mut files) = (0, 0, 0, 0, 0);
    for seed in 0..5_000 {
        let mut dice = Dice(seed);
        match arg::parse(&dice.operand_text()) {
            Ok(_) => parsed += 1,
            Err(_) => refused += 1,
        }
        let read = read(&dice.section(), 4, None);
        sites += read.sites.len();
        errors += read.error_count;
        files += usize::from(Elf::parse(&dice.file()).is_ok());
    }
    let reached = [parsed, refused, sites, errors, files];
    assert!(
        reached.iter().all(|count| *count > 500),
        "an input generator that reaches nothing tests nothing: {reached:?}"
    );
}

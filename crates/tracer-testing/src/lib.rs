//! What fuzzers share: inputs that a number determines, limits of the work and the memory of each input, and
//! samples that are damaged. `tracer/src/documents/parsers.rs` compares a list of all parsers with the code.
//!
//! A fuzzer is a test whose name begins with `fuzz_`. `JTRACE_FUZZ_CASES` sets the number of inputs of each, and
//! `JTRACE_FUZZ_SECONDS` how long it may take. Samples lie in `corpus`, a folder for each fuzzer; what a fuzzer has found is put there and stays.

mod allocator;
mod dice;
mod inputs;
mod meter;
mod watch;

use std::path::Path;

pub use self::{allocator::held, dice::Dice, inputs::inputs, meter::metered};
use self::{meter::limited, watch::Watch};

/// Most inputs of a plain test run.
const USUAL_CASES: u64 = 3_000;
/// Memory that any input may take while it is read, beside what is counted by its length.
const ROOM_BYTES: usize = 1 << 20;
/// Memory that each byte of an input may take: texts become trees of some words for each byte.
const ROOM_PER_BYTE: usize = 256;
/// Longest input.
const MAX_INPUT_BYTES: usize = 16 << 10;

/// Texts that mean something to one parser or another.
const TOKENS: [&[u8]; 24] = [
    b"\0",
    b"\n",
    b" ",
    b"\t",
    b"\"",
    b"'",
    b"\\",
    b"(",
    b")",
    b"[[",
    b"]",
    b"{",
    b"}",
    b"=",
    b":",
    b";",
    b",",
    b"-",
    b"*",
    b"#",
    b"/",
    b"\xff\xfe",
    "\u{1b}[2J\u{202e}é".as_bytes(),
    b"L;",
];
/// Numbers at the edges of what fits.
const NUMBERS: [&[u8]; 8] =
    [b"0", b"-1", b"255", b"65536", b"2147483648", b"18446744073709551615", b"18446744073709551616", b"1e999"];

/// Gives every number of an input to `case`, which makes the input and reads it. `room` is the most memory that one may take.
pub fn each(name: &str, room: usize, case: impl FnMut(&mut Dice)) {
    each_of(name, USUAL_CASES, room, case);
}

/// The same with another number of inputs in a plain test run.
pub fn each_of(name: &str, usual: u64, room: usize, mut case: impl FnMut(&mut Dice)) {
    let watch = Watch::begin(name);
    for seed in inputs(name, usual) {
        watch.next(seed);
        limited(room, || case(&mut Dice(seed)));
    }
}

/// Gives the samples of a fuzzer to `read`, as they are and then damaged.
pub fn samples(name: &str, mut read: impl FnMut(&[u8])) {
    let corpus = corpus(name);
    let mut read = |bytes: &[u8]| limited(ROOM_BYTES + ROOM_PER_BYTE * bytes.len(), || read(bytes));
    for sample in &corpus {
        read(sample);
    }
    each(name, usize::MAX, |dice| read(&damaged(dice, &corpus)));
}

/// The same for parsers of text.
pub fn texts(name: &str, mut read: impl FnMut(&str)) {
    samples(name, |bytes| read(&String::from_utf8_lossy(bytes)));
}

/// The samples of a fuzzer.
///
/// # Panics
///
/// Where there are none.
pub fn corpus(name: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(name);
    let mut paths: Vec<_> =
        std::fs::read_dir(&folder).expect("a folder of samples").map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    assert!(!paths.is_empty(), "no samples in {}", folder.display());
    paths.iter().map(|path| std::fs::read(path).expect("a sample")).collect()
}

/// A sample with a few faults, or nothing like one.
pub fn damaged(dice: &mut Dice, samples: &[Vec<u8>]) -> Vec<u8> {
    if dice.once_in(50) {
        return dice.bytes(200);
    }
    let mut bytes = samples[dice.below(samples.len())].clone();
    for _ in 0..=dice.below(4) {
        fault(dice, &mut bytes, samples);
    }
    bytes.truncate(MAX_INPUT_BYTES);
    bytes
}

fn fault(dice: &mut Dice, bytes: &mut Vec<u8>, samples: &[Vec<u8>]) {
    if bytes.is_empty() {
        *bytes = dice.bytes(16);
        return;
    }
    let at = dice.below(bytes.len());
    let piece = at..at + 1 + dice.below((bytes.len() - at).min(40));
    match dice.below(10) {
        0 => bytes[at] = dice.byte(),
        1 => bytes[at] ^= 1 << dice.below(8),
        2 => bytes.truncate(at),
        3 => drop(bytes.drain(piece)),
        4 => {
            let copy = bytes[piece].to_vec();
            for _ in 0..=dice.below(8) {
                bytes.splice(at..at, copy.iter().copied());
            }
        }
        5 => drop(bytes.splice(at..at, dice.pick(&TOKENS).iter().copied())),
        6 => {
            // A number as a text becomes another one.
            let digits = bytes[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
            bytes.splice(at..at + digits, dice.pick(&NUMBERS).iter().copied());
        }
        7 => {
            let number = dice.number().to_le_bytes();
            let width = dice.pick(&[2, 4, 8]).min(bytes.len() - at);
            bytes[at..at + width].copy_from_slice(&number[..width]);
        }
        8 => {
            let other = &samples[dice.below(samples.len())];
            if !other.is_empty() {
                let from = dice.below(other.len());
                bytes.splice(at.., other[from..].iter().copied());
            }
        }
        _ => drop(bytes.splice(at..at, dice.bytes(24))),
    }
}

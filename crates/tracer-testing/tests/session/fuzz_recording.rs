//! Hostile recordings: whatever a file holds, reading it ends, panics never, takes no more memory than the file has bytes,
//! and gives the items of a session in their order.
//!
//! `JTRACE_FUZZ_CASES` sets the number of inputs.

use std::sync::LazyLock;

use crate::shared::{Fold, recording, replay, scenarios};
use tracer_model::item::Item;
use tracer_source::source::recording::Error;
use tracer_testing::{Dice, each_of, metered};
use tracer_view::view;

/// Whole recordings to damage. Flushed often, so that there are many sections.
static WHOLE: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let of = |every| scenarios().into_iter().map(move |(_, scenario)| recording(&scenario, every));
    of(4).chain(of(usize::MAX)).filter(|bytes| bytes.len() < 16 << 10).collect()
});

/// Offsets of the sections of a whole recording.
fn sections(bytes: &[u8]) -> Vec<usize> {
    let mut offsets = vec![16];
    while let Some(head) = bytes.get(offsets[offsets.len() - 1] + 4..).and_then(|rest| rest.first_chunk()) {
        offsets.push(offsets[offsets.len() - 1] + 8 + u32::from_le_bytes(*head) as usize);
    }
    offsets
}

/// A recording whose bytes, lengths or order are wrong somewhere, or nothing like one.
fn file(dice: &mut Dice) -> Vec<u8> {
    let whole = &WHOLE[dice.below(WHOLE.len())];
    let mut bytes = whole.clone();
    let offsets = sections(whole);
    match dice.below(8) {
        0 => bytes.truncate(dice.below(bytes.len() + 1)),
        1 => {
            // A section's tag or length lies.
            let at = dice.pick(&offsets[..offsets.len() - 1]) + dice.below(8);
            bytes[at] = dice.pick(&[0, 1, 2, 3, 4, 5, 6, 0x40, 0xff]);
        }
        2 => {
            // Sections in another order, some twice, some never.
            bytes.truncate(16);
            for _ in 0..dice.below(12) {
                let index = dice.below(offsets.len() - 1);
                bytes.extend_from_slice(&whole[offsets[index]..offsets[index + 1]]);
            }
        }
        3 => {
            // Something is missing, so what follows is read at the wrong places.
            let at = dice.below(bytes.len());
            let gone = dice.below((bytes.len() - at).min(64)) + 1;
            bytes.drain(at..at + gone);
        }
        4 => {
            let at = dice.below(bytes.len() + 1);
            let noise = dice.bytes(64);
            bytes.splice(at..at, noise);
        }
        5 if dice.once_in(4) => bytes = dice.bytes(200),
        6 if dice.once_in(8) => bytes[8] = dice.byte(),
        _ => {}
    }
    for _ in 0..dice.below(4) {
        if !bytes.is_empty() {
            let place = dice.below(bytes.len());
            bytes[place] = if dice.once_in(2) { dice.byte() } else { bytes[place] ^ (1 << dice.below(8)) };
        }
    }
    bytes
}

/// What was read of a file.
#[derive(Default)]
struct Read {
    fold: Fold,
    record_bytes: usize,
    items: usize,
    ended: bool,
}

impl Read {
    fn take(&mut self, item: Item<'_>) {
        assert!(!self.ended, "nothing comes after the end");
        assert_eq!(self.items == 0, matches!(item, Item::Start(_)), "the start is the first item, and only that");
        self.items += 1;
        self.ended = matches!(item, Item::End(_));
        if let Item::Record(record) = item {
            self.record_bytes += 2 + record.len();
        }
        self.fold.take(item);
    }
}

/// Memory that one recording may take, and its report. Classes of objects are kept by their numbers, up to 2^24 of four bytes.
const ROOM: usize = 96 << 20;

#[test]
fn fuzz_recordings() {
    each_of("recordings", 1_500, usize::MAX, |dice| {
        let bytes = file(dice);
        let mut read = Read::default();
        match metered(ROOM, || replay(&bytes, &mut |item| read.take(item))) {
            Ok(()) => assert!(read.ended),
            Err(
                Error::Foreign { .. }
                | Error::Nothing { .. }
                | Error::Packed { .. }
                | Error::Newer { .. }
                | Error::Older { .. }
                | Error::Empty { .. },
            ) => assert_eq!(read.items, 0),
            Err(Error::Damaged { at, reason, .. }) => {
                assert!(at <= bytes.len() as u64 && reason.len() < 4096, "{at} {reason}");
            }
            Err(error @ Error::Io { .. }) => panic!("memory can be read: {error}"),
        }
        assert!(read.record_bytes <= bytes.len());
        // A report costs a hundred times more than reading, so only some are built.
        if dice.once_in(64)
            && let Some(report) = metered(ROOM, || read.fold.report())
        {
            let mut out = Vec::new();
            metered(ROOM, || view::json::write(&report, &mut out).expect("memory takes everything"));
            assert!(serde_json::from_slice::<serde_json::Value>(&out).is_ok());
        }
    });
}

#[test]
fn inputs_reach_every_outcome() {
    let [mut whole, mut cut, mut foreign, mut newer, mut empty, mut damaged] = [0; 6];
    for seed in 0..2_000 {
        let mut read = Read::default();
        let bytes = file(&mut Dice(seed));
        match replay(&bytes, &mut |item| read.take(item)) {
            Ok(()) if read.fold.report().is_some_and(|report| report.span.end.starts_with("recording cut")) => cut += 1,
            Ok(()) => whole += 1,
            Err(Error::Foreign { .. } | Error::Nothing { .. } | Error::Packed { .. }) => foreign += 1,
            Err(Error::Newer { .. } | Error::Older { .. }) => newer += 1,
            Err(Error::Empty { .. }) => empty += 1,
            Err(Error::Damaged { .. }) => damaged += 1,
            Err(error @ Error::Io { .. }) => panic!("{error}"),
        }
    }
    let reached = [whole, cut, foreign, newer, empty, damaged];
    assert!(reached.iter().all(|count| *count > 5), "inputs that reach nothing test nothing: {reached:?}");
}

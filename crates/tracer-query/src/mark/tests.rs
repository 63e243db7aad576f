//! Marks are read as Java code writes them, and whatever else stands there does no harm.

use proptest::prelude::*;

use tracer_common::marks::{Argument as ArgumentKind, Context, Word, WordKind};

use super::*;

fn batch(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

fn word(kind: WordKind, state: u8, place: u32, value: u32) -> u64 {
    Word::new(kind, state, place, value).0
}

#[test]
fn every_kind_is_read() {
    let text = u64::from_le_bytes([b'h', 0, b'i', 0, 0, 0, 0, 0]);
    let words = batch(&[
        word(WordKind::Enter, 0, 7, 9),
        word(WordKind::Time, 0, 0, 0),
        123_456,
        word(WordKind::Argument, 2, ArgumentKind::Text as u32, 4),
        text,
        word(WordKind::Argument, 3, ArgumentKind::Float as u32, 0),
        1.5_f64.to_bits(),
        word(WordKind::Thread, 0, 0, 0),
        77,
        word(WordKind::Symbol, 3, 0xf_ffff, u32::MAX),
        word(WordKind::Born, 0, 0, 5),
        4,
        word(WordKind::Count, WordKind::Thrown as u8, 8, 0),
        1 << 40,
        word(WordKind::Context, Context::Left as u8, 8, 6),
        5,
        3,
        1,
        word(WordKind::Context, 9, 8, 6),
    ]);
    let batch = MarkBatch::new(0, None, 1, 0, &words);
    let mark = |place, object, thread, time_ns, what| Mark { place, object, thread, time_ns, what };
    let expected = [
        mark(7, 9, None, Some(123_456), What::Enter),
        mark(0, 0, None, None, What::Argument { index: 2, value: Argument::Text("hi".to_owned()) }),
        mark(0, 0, None, None, What::Argument { index: 3, value: Argument::Float(1.5) }),
        mark(0xf_ffff, u32::MAX, Some(77), None, What::Symbol { state: 3 }),
        mark(0, 5, Some(77), None, What::Born { class: 4 }),
        mark(8, 0, Some(77), None, What::Count { of: WordKind::Thrown, count: 1 << 40 }),
        mark(8, 6, Some(77), None, What::Context(InContext { what: Context::Left, around: 5, calls: 3, errors: 1 })),
    ];
    assert_eq!(batch.marks().collect::<Vec<_>>(), expected);
}

#[test]
fn markers_are_switched_together_with_those_that_ask_for_them() {
    use super::testing::marker;
    let asking = Marker { inside: vec!["a".to_owned()], not_under: vec!["d".to_owned()], ..marker("c") };
    let asked = Asked { markers: vec![marker("a"), marker("b"), asking, marker("d")], ..Asked::default() };
    let groups: Vec<_> = asked.switched().into_iter().map(|of| (of.name, of.markers)).collect();
    assert_eq!(groups, [("markers a, c, d".to_owned(), vec![0, 2, 3]), ("marker b".to_owned(), vec![1])]);
}

proptest! {
    #[test]
    fn any_words_end(words in prop::collection::vec(any::<u8>(), 0..200)) {
        let mut marks = MarkBatch::new(0, None, 0, 0, &words).marks();
        let read = marks.by_ref().count();
        prop_assert!(read as u64 + marks.undecodable <= words.len() as u64 / 8);
    }
}

#[test]
fn methods_that_were_running_are_named_and_the_others_counted() {
    let running = |times: u64| Running {
        class: format!("a.B{times}"),
        method: "run".to_owned(),
        descriptor: "()V".to_owned(),
        times,
    };
    assert_eq!(Woven::default().still_running("weaving"), None);
    let one = Woven { running: vec![running(1)], running_count: 1, ..Woven::default() };
    let said = one.still_running("weaving").unwrap();
    assert!(
        said.starts_with("When weaving began, these methods of the exchanged classes were running: a.B1::run. "),
        "{said}"
    );
    let many = Woven { running: (1..=20).rev().map(running).collect(), running_count: 31, ..Woven::default() };
    let said = many.still_running("restoring").unwrap();
    assert!(
        said.contains(": a.B20::run (20 frames), ") && said.contains("a.B16::run (16 frames), 26 further. "),
        "{said}"
    );
    assert!(!said.contains("a.B15::run"), "{said}");
}

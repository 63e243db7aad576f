//! Marks of made-up batches, and what they come to.

use tracer_common::{
    marks::{MARKS_HEADER_BYTES, MarksHeader, Word, switch},
    record::{EventKind, HEADER_BYTES},
};
use tracer_weave::control::Sampled;

use super::*;
use crate::mark::testing::{marker, place};

/// A record of a batch, as the kernel writes it.
fn record(buffer: u32, first: u64, words: &[u64]) -> Vec<u8> {
    let mut record = vec![0; MARKS_HEADER_BYTES];
    record[..2].copy_from_slice(&(EventKind::Marks as u16).to_le_bytes());
    let count = u16::try_from((size_of::<MarksHeader>()) / 8).expect("few");
    record[4..6].copy_from_slice(&count.to_le_bytes());
    record[HEADER_BYTES..HEADER_BYTES + 4].copy_from_slice(&buffer.to_le_bytes());
    record[HEADER_BYTES + 8..HEADER_BYTES + 16].copy_from_slice(&first.to_le_bytes());
    let number = u32::try_from(words.len()).expect("few");
    record[HEADER_BYTES + 16..HEADER_BYTES + 20].copy_from_slice(&number.to_le_bytes());
    record.extend(words.iter().flat_map(|word| word.to_le_bytes()));
    record
}

fn loads() -> Loads {
    let mut asked = Asked { markers: vec![marker("a"), marker("b")], ..Asked::default() };
    let entry = crate::typestate::library::Entry::find("hasnextonce").expect("it is there");
    asked.properties.push(crate::typestate::Property::parse(entry.file, entry.text).expect("it is right"));
    let symbols = asked.properties[0].machine.symbols.len();
    let telling = vec![Telling { switch: switch::ON, ..Telling::default() }; 2 + symbols];
    let mut loads = Loads::new(&asked, &telling, Costs::REFERENCE);
    for (number, marker) in [(1, 0), (2, 1), (3, 2)] {
        loads.inside(&Inside::Place(place(number, marker)));
    }
    loads
}

fn enter(place: u32) -> u64 {
    Word::new(WordKind::Enter, 0, place, 0).0
}

#[test]
fn marks_that_the_kernel_keeps_back_cost_what_others_cost() {
    let mut loads = loads();
    let words: Vec<u64> = [1, 1, 1, 2].iter().map(|place| enter(*place)).cycle().take(1000).collect();
    loads.take(&record(7, 0, &words));
    let mut kept_back = record(8, 0, &[]);
    kept_back[HEADER_BYTES + 20..HEADER_BYTES + 24].copy_from_slice(&4000_u32.to_le_bytes());
    loads.take(&kept_back);
    let done = loads.finish_step(0.0);
    assert_eq!((done[0].events, done[1].events), (3750, 1250));
    // What comes out of that buffer next was not lost before.
    loads.take(&record(8, 4000, &[enter(2)]));
    assert_eq!(loads.finish_step(0.0)[1].events, 1);
}

#[test]
fn marks_are_counted_with_those_that_were_lost_and_by_marker() {
    let mut loads = loads();
    let words: Vec<u64> = [1, 1, 1, 2].iter().map(|place| enter(*place)).cycle().take(1000).collect();
    loads.take(&record(7, 0, &words));
    // A batch of 1,000 words before this one never came.
    loads.take(&record(7, 2000, &words));
    let step = loads.finish_step(1e6);
    assert_eq!([step[0].events, step[1].events], [2250, 750]);
    assert!(step[0].cost_ns > 2250.0 * Costs::REFERENCE.sent && step[0].cost_ns > step[0].counted_ns);
    assert!((step[0].own_ns - 0.75e6).abs() < 1.0, "{}", step[0].own_ns);
    assert_eq!(loads.finish_step(0.0)[0], LaneLoad::default());
}

#[test]
fn marks_count_once_in_whatever_order_their_batches_come() {
    let words: Vec<u64> = [1, 1, 1, 2].iter().map(|place| enter(*place)).cycle().take(1000).collect();
    let (none, end) = (record(7, 0, &[]), record(7, 2000, &[]));
    let batches = [none, record(7, 0, &words), record(7, 1000, &words), end];
    for order in [[0, 1, 2, 3], [1, 0, 3, 2], [1, 0, 2, 3], [3, 0, 1, 2], [2, 0, 3, 1], [3, 2, 1, 0]] {
        let mut loads = loads();
        for batch in order {
            loads.take(&batches[batch]);
        }
        let step = loads.finish_step(0.0);
        assert_eq!([step[0].events, step[1].events], [1500, 500], "{order:?}");
    }
}

#[test]
fn marks_that_come_before_their_place_is_known_count_once_it_is() {
    let mut loads = loads();
    loads.take(&record(7, 0, &[enter(9), enter(9), enter(1)]));
    loads.inside(&Inside::Place(place(9, 1)));
    let done = loads.finish_step(0.0);
    assert_eq!((done[0].events, done[1].events), (1, 2));
    loads.inside(&Inside::Place(place(9, 1)));
    assert_eq!(loads.finish_step(0.0)[1].events, 0, "they count once");
}

/// The numbers of buffers and places are words that the target writes.
#[test]
fn made_up_buffers_and_places_are_not_kept_without_end() {
    let mut loads = loads();
    for number in 0..200_000 {
        loads.take(&record(number, 0, &[enter(number % 60_000 + 100)]));
    }
    for _ in 0..3 * MAX_EARLY_OF_PLACE {
        loads.take(&record(1, 0, &[enter(100)]));
    }
    let buffers = loads.buffers.lately.len() + loads.buffers.before.len();
    assert!(buffers <= 2 * MAX_LATELY, "{buffers}");
    let most = loads.early.values().map(Vec::len).max();
    assert!(loads.early.len() <= MAX_EARLY && most <= Some(MAX_EARLY_OF_PLACE), "{} and {most:?}", loads.early.len());
}

#[test]
fn bytes_of_objects_are_no_marks() {
    let mut loads = loads();
    let count = |of: WordKind, number| [Word::new(WordKind::Count, of as u8, 1, 0).0, number];
    let words = [count(WordKind::Enter, 1000), count(WordKind::Bytes, 5_000_000_000)];
    loads.take(&record(1, 0, &words.concat()));
    let step = loads.finish_step(0.0);
    assert_eq!(step[0].events, 1000);
    assert!((step[0].cost_ns - 1000.0 * Costs::REFERENCE.counted).abs() < 1.0, "{}", step[0].cost_ns);
}

#[test]
fn counters_are_exact_and_objects_are_a_cost_of_their_property() {
    let mut loads = loads();
    let count = |of: WordKind, place, number| [Word::new(WordKind::Count, of as u8, place, 0).0, number];
    let words = [count(WordKind::Exit, 1, 5_000_000), count(WordKind::Symbol, 3, 300), count(WordKind::Enter, 3, 40)];
    loads.take(&record(1, 0, &words.concat()));
    loads.take(&record(1, 6, &[Word::new(WordKind::Symbol, 0, 3, 10).0]));
    let sampled = Sampled { property: 1, class: 4, tracked: 10, not_tracked: 6, one_in: 2 };
    loads.inside(&Inside::Sampled(sampled.clone()));
    let step = loads.finish_step(0.0);
    assert_eq!([step[0].events, step[2].events], [5_000_000, 341]);
    let objects = 10.0 * Costs::REFERENCE.tracked + 6.0 * Costs::REFERENCE.not_tracked;
    let symbols = 300.0 * Costs::REFERENCE.held_back
        + 40.0 * Costs::REFERENCE.ignored
        + Costs::REFERENCE.symbol
        + 2.0 * Costs::REFERENCE.trap;
    assert!((step[2].cost_ns - objects - symbols).abs() < 1.0, "{}", step[2].cost_ns);
    // What was said before is no news.
    loads.inside(&Inside::Sampled(sampled));
    assert!(loads.finish_step(0.0)[2].cost_ns.abs() < 1e-9);
}

//! Recordings: what they give back is what was recorded, also when they were cut anywhere, are foreign, newer or damaged.

use crate::shared::{Fold, live_report, recording, replay, scenario, scenarios};
use tracer_model::{item::Item, report::Report};
use tracer_source::source::recording::Error;
use tracer_view::view;

const HEADER_BYTES: usize = 16;

/// Every view that a file can get.
fn written(report: &Report) -> [Vec<u8>; 4] {
    let [mut json, mut ndjson, mut text, mut html] = [const { Vec::new() }; 4];
    view::json::write(report, &mut json).expect("memory takes everything");
    view::ndjson::write(report, &mut ndjson).expect("memory takes everything");
    view::text::write(report, &view::text::TextOptions::default(), &mut text).expect("memory takes everything");
    view::html::write(report, &mut html).expect("memory takes everything");
    [json, ndjson, text, html]
}

fn replayed(bytes: &[u8]) -> Result<Report, Error> {
    let mut fold = Fold::default();
    replay(bytes, &mut |item| fold.take(item))?;
    Ok(fold.report().expect("a replay that succeeds begins with a start"))
}

fn items(bytes: &[u8]) -> (Vec<String>, Result<(), Error>) {
    let mut items = Vec::new();
    let outcome = replay(bytes, &mut |item| items.push(format!("{item:?}")));
    (items, outcome)
}

/// Offsets of the sections, and of the end.
fn sections(bytes: &[u8]) -> Vec<usize> {
    let mut offsets = vec![HEADER_BYTES];
    while let Some(head) = bytes.get(offsets[offsets.len() - 1] + 4..).and_then(|rest| rest.first_chunk()) {
        let at = offsets[offsets.len() - 1];
        offsets.push(at + 8 + u32::from_le_bytes(*head) as usize);
    }
    assert_eq!(offsets.last(), Some(&bytes.len()), "a whole recording ends with a whole section");
    offsets
}

fn section(tag: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).expect("short");
    [&tag.to_le_bytes(), &length.to_le_bytes(), payload].concat()
}

#[test]
fn live_equals_replay_byte_for_byte_in_every_view() {
    for (name, scenario) in scenarios() {
        let live = written(&live_report(&scenario));
        for flush_every in [1, 7, usize::MAX] {
            let bytes = recording(&scenario, flush_every);
            let report = replayed(&bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert!(written(&report) == live, "{name}, flushed every {flush_every} items");
        }
    }
}

#[test]
fn a_recording_of_a_replay_is_the_recording() {
    let bytes = recording(&scenario("incident"), usize::MAX);
    let mut again = Vec::new();
    let mut recorder = tracer_source::source::recording::Recorder::new(&mut again).expect("memory takes everything");
    replay(&bytes, &mut |item| recorder.write(&item).expect("memory takes everything")).expect("it is whole");
    recorder.flush().expect("memory takes everything");
    drop(recorder);
    assert!(again == bytes);
}

#[test]
fn a_recording_that_is_cut_anywhere_is_readable_up_to_the_cut() {
    for (name, flush_every) in [("middle", 3), ("quiet", 2)] {
        let bytes = recording(&scenario(name), flush_every);
        let (whole, outcome) = items(&bytes);
        outcome.expect("it is whole");
        let start_ends = sections(&bytes)[1];
        let mut longest = 0;
        for cut in 0..bytes.len() {
            let (read, outcome) = items(&bytes[..cut]);
            match outcome {
                Err(Error::Nothing { .. }) => assert_eq!(cut, 0, "{name}"),
                Err(Error::Foreign { .. }) => assert!(cut < 8, "{name} cut at {cut}"),
                Err(Error::Empty { .. }) => assert!((8..start_ends).contains(&cut), "{name} cut at {cut}"),
                Err(error) => panic!("{name} cut at {cut}: {error}"),
                Ok(()) => {
                    assert!(cut >= start_ends, "{name} cut at {cut}");
                    let (end, items) = read.split_last().expect("at least an end");
                    assert!(end.starts_with("End(") && end.contains("recording cut at byte"), "{end}");
                    assert_eq!(items, &whole[..items.len()], "{name} cut at {cut}");
                    assert!(items.len() >= longest, "a later cut never gives less");
                    longest = items.len();
                }
            }
        }
        assert_eq!(longest, whole.len() - 1, "all but the end is there when only the end is cut");
    }
}

#[test]
fn every_record_before_the_cut_is_there() {
    let bytes = recording(&scenario("middle"), usize::MAX);
    let is_record = |item: &&String| item.starts_with("Record(");
    let whole = items(&bytes).0.iter().filter(is_record).count();
    let offsets = sections(&bytes);
    let records = offsets.windows(2).find(|pair| bytes[pair[0]] == 2).expect("a section of records");
    let mut at = records[0] + 8;
    for complete in 1..=whole {
        at += 2 + usize::from(u16::from_le_bytes([bytes[at], bytes[at + 1]]));
        for (cut, expected) in [(at, complete), (at - 1, complete - 1)] {
            assert_eq!(items(&bytes[..cut]).0.iter().filter(is_record).count(), expected, "cut at {cut}");
        }
    }
    assert_eq!(at, records[1]);
}

#[test]
fn a_report_of_a_cut_recording_says_so_and_its_books_balance() {
    let bytes = recording(&scenario("incident"), 5);
    let start_ends = sections(&bytes)[1];
    for cut in (start_ends..bytes.len()).step_by(97) {
        let report = replayed(&bytes[..cut]).unwrap_or_else(|error| panic!("cut at {cut}: {error}"));
        assert!(report.span.end.starts_with("recording cut at byte"), "{}", report.span.end);
        let whole = &report.completeness;
        assert_eq!(whole.emitted, whole.delivered + whole.lost, "cut at {cut}");
    }
}

#[test]
fn foreign_and_newer_files_are_refused_by_name() {
    let bytes = recording(&scenario("quiet"), usize::MAX);
    for foreign in [&b"JTRACE"[..], b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\0\0", b"{\"schema\":\"jtrace-report/1\"}"] {
        assert!(matches!(replayed(foreign), Err(Error::Foreign { .. })), "{foreign:?}");
    }
    let mut newer = bytes.clone();
    newer[8] = 3;
    let error = replayed(&newer).expect_err("it is newer");
    assert_eq!(error.to_string(), "x.jtrace has recording version 3, and this jtrace reads up to 2");
    assert!(error.hint().contains("newer"));
    let mut older = bytes;
    older[8] = 1;
    let error = replayed(&older).expect_err("its records have shorter headers");
    assert_eq!(error.to_string(), "x.jtrace has recording version 1, and this jtrace reads from 2 on");
}

#[test]
fn sections_of_a_later_version_are_skipped() {
    let bytes = recording(&scenario("incident"), 9);
    let plain = items(&bytes).0;
    let mut mixed = bytes[..HEADER_BYTES].to_vec();
    for pair in sections(&bytes).windows(2) {
        mixed.extend(section(77, b"what a later version knows"));
        mixed.extend_from_slice(&bytes[pair[0]..pair[1]]);
        mixed.extend(section(u32::MAX, b""));
    }
    let (read, outcome) = items(&mixed);
    outcome.expect("unknown sections are no damage");
    assert_eq!(read, plain);
}

#[test]
fn damage_is_named_with_its_place() {
    let bytes = recording(&scenario("quiet"), usize::MAX);
    let (header, rest) = bytes.split_at(HEADER_BYTES);
    let start = &bytes[HEADER_BYTES..sections(&bytes)[1]];
    let long = [1_u32.to_le_bytes(), u32::MAX.to_le_bytes()].concat();
    for (damaged, place, reason) in [
        ([header, start, rest].concat(), HEADER_BYTES + start.len(), "a second start"),
        ([header, &section(2, b"xx"), rest].concat(), HEADER_BYTES, "the first section is not the start"),
        ([header, &section(1, b"no json"), rest].concat(), HEADER_BYTES, "expected"),
        ([header, start, &long].concat(), HEADER_BYTES + start.len(), "a section of 4294967295 bytes"),
    ] {
        let error = replayed(&damaged).expect_err(reason).to_string();
        assert!(error.contains(&format!("damaged at byte {place}: ")) && error.contains(reason), "{error}");
    }
}

#[test]
fn items_after_the_end_are_not_read() {
    let bytes = recording(&scenario("quiet"), usize::MAX);
    let plain = items(&bytes).0;
    let more = [&bytes[..], b"anything at all, which is no section"].concat();
    assert_eq!(items(&more).0, plain);
    let mut ends = 0;
    replay(&more, &mut |item| ends += usize::from(matches!(item, Item::End(_)))).expect("it is whole");
    assert_eq!(ends, 1);
}

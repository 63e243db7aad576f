//! Hostile records: whatever the bytes are, decoding ends, panics never, believes no length, and the books balance.
//!
//! `JTRACE_FUZZ_CASES` sets the number of inputs of each test.

use tracer_analysis::session::Session;
use tracer_common::{
    record::{DEFINITION_HEADER_BYTES, HEADER_BYTES, KIND_DEFINITION, MAX_TEXT_BYTES},
    stack::{KIND_STACK, MAX_FRAMES, RawFrame, STACK_HEADER_BYTES},
};
use tracer_event::{
    decode::{Decoded, Error, Header, decode},
    event::{EventKind, NameId, SiteId, Tid},
    lens::Lens,
};
use tracer_model::item::{Counters, End, Item, Site, Start, Taken, Target};
use tracer_source::source::encode::{encode_definition, encode_event, name_id};
use tracer_testing::{Dice, each_of, inputs, metered};
use tracer_view::view;

/// Sites of the session that the records go to.
const SITES: u16 = 4;

/// Few texts, so that records refer to each other.
const TEXTS: [&[u8]; 6] = [b"G1CollectFull", b"System.gc()", b"[B", b"worker-1", b"\x1b[2J<script>\xff\0", b""];

/// A record as the kernel could have written it.
fn whole(dice: &mut Dice) -> Vec<u8> {
    if dice.once_in(4) {
        let text = if dice.once_in(3) { dice.bytes(1500) } else { dice.pick(&TEXTS).to_vec() };
        let id = if dice.once_in(8) { NameId(dice.number()) } else { name_id(&text) };
        return encode_definition(id, &text);
    }
    let words: Vec<u64> =
        (0..8).map(|_| if dice.once_in(2) { name_id(dice.pick(&TEXTS)).0 } else { dice.number() }).collect();
    let (site, tid) = (SiteId(u16::from(dice.byte() % 6)), Tid(u32::from(dice.byte() % 5)));
    // Times that mostly rise, and sometimes do anything.
    let time_ns = if dice.once_in(16) { dice.number() } else { 1_000_000 + dice.any() % 1_000_000_000 };
    encode_event(dice.pick(EventKind::ALL), site, tid, time_ns, &words)
}

/// A record with a few wrong bytes, sometimes cut, sometimes longer, sometimes nothing but noise.
fn any_record(dice: &mut Dice) -> Vec<u8> {
    if dice.once_in(10) {
        return dice.bytes(120);
    }
    let mut record = whole(dice);
    // The header decides most, so it is hit more often than the rest.
    for _ in 0..dice.below(3) {
        let limit = if dice.once_in(2) { DEFINITION_HEADER_BYTES.min(record.len()) } else { record.len() };
        let place = dice.below(limit);
        record[place] = if dice.once_in(2) { dice.byte() } else { dice.pick(&[0, 0xff, 0x80]) };
    }
    if dice.once_in(6) {
        record.truncate(dice.below(record.len() + 1));
    } else if dice.once_in(10) {
        record.extend(dice.bytes(64));
    }
    record
}

fn check(record: &[u8]) {
    match decode(record) {
        Ok(Decoded::Event(event)) => {
            let header = Header::read(record).expect("an event has a header");
            let kind = EventKind::from_number(header.kind).expect("an event has a kind");
            assert!(kind.words() <= header.words && HEADER_BYTES + 8 * kind.words() <= record.len());
            assert_eq!((event.time_ns, event.tid, event.site), (header.time_ns, header.tid, header.site));
        }
        Ok(Decoded::Definition { id: _, text, text_bytes }) => {
            assert!(text.len() <= MAX_TEXT_BYTES && DEFINITION_HEADER_BYTES + text.len() <= record.len());
            assert!(u32::try_from(text_bytes).is_ok());
        }
        Ok(Decoded::Stack(stack)) => {
            assert!(stack.frames().len() <= MAX_FRAMES);
            assert!(STACK_HEADER_BYTES + stack.frames().len() * size_of::<RawFrame>() <= record.len());
        }
        Err(Error::Short { bytes, needed }) => assert!(bytes == record.len() && needed > bytes),
        Err(Error::UnknownKind { kind }) => {
            assert!(EventKind::from_number(kind).is_none() && kind != KIND_DEFINITION && kind != KIND_STACK);
        }
        Err(Error::FewWords { kind, words, needed }) => {
            assert!(words < needed && EventKind::from_number(kind).is_some_and(|kind| kind.words() == needed));
        }
    }
}

fn session() -> Session {
    let site = |index: u16| Site {
        probe: format!("hotspot:site{index}"),
        lens: Lens::Gc,
        kind: EventKind::ALL[usize::from(index)] as u16,
        offset: u64::from(index),
    };
    Session::new(Start {
        target: Target::default(),
        lenses: Lens::ALL.to_vec(),
        sites: (0..SITES).map(site).collect(),
        missing: Vec::new(),
        time_ns: 1_000_000,
        wall_ms: 0,
        trap_cost_ps: None,
        attach_ns: 0,
        attach_cpu_ns: 0,
        threads: Vec::new(),
    })
}

/// Most inputs of a plain test run.
const USUAL: u64 = 20_000;

#[test]
fn fuzz_records() {
    each_of("records", USUAL, ROOM, |dice| check(&any_record(dice)));
}

#[test]
fn fuzz_records_that_are_cut() {
    each_of("records_that_are_cut", USUAL, ROOM, |dice| {
        let record = whole(dice);
        assert!(decode(&record).is_ok());
        let cut = &record[..dice.below(record.len())];
        check(cut);
        if let (Ok(Decoded::Event(event)), Ok(Decoded::Event(of_cut))) = (decode(&record), decode(cut)) {
            assert_eq!(event, of_cut, "the padding that is cut carries nothing");
        }
    });
}

/// Records of a session, and the memory that it may take with its report.
const RECORDS: u64 = 1000;
const ROOM_OF_SESSION: usize = 64 << 20;
/// Memory that one record may take.
const ROOM: usize = 1 << 20;

/// Sessions take all of it, in any order; each has 1000 records, so that things open, close and overflow.
#[test]
fn fuzz_sessions() {
    for seed in inputs("records_of_sessions", USUAL).step_by(usize::try_from(RECORDS).expect("a thousand")) {
        metered(ROOM_OF_SESSION, || one_session(seed));
    }
}

fn one_session(seed: u64) {
    let mut session = session();
    let (mut delivered, mut undecodable, mut events) = (0_u64, 0_u64, 0_u64);
    let mut dice = Dice(seed);
    for _ in 0..RECORDS {
        let record = any_record(&mut dice);
        let of_site = |header: &Header| !header.is_definition() && header.site.0 < SITES;
        delivered += u64::from(Header::read(&record).is_ok_and(|header| of_site(&header)));
        undecodable += u64::from(decode(&record).is_err());
        events += u64::from(matches!(session.accept(&Item::Record(&record)), Taken::Event(_)));
    }
    assert!(events > 300 && undecodable > 50 && delivered > 300, "seed {seed}: {events} {undecodable} {delivered}");
    if dice.once_in(2) {
        let sites = (0..dice.below(6)).map(|_| std::array::from_fn(|_| dice.number() >> 8)).collect();
        session.accept(&Item::Counters(Counters { time_ns: dice.number(), sites, ..Counters::default() }));
    }
    session.accept(&Item::End(End { time_ns: dice.number(), reason: "fuzz".to_owned(), counters_final: false }));
    let report = session.report();
    let whole = &report.completeness;
    assert_eq!((whole.delivered, whole.undecodable), (delivered, undecodable), "seed {seed}");
    assert!(whole.emitted >= whole.delivered + whole.lost, "seed {seed}");
    harmless(&report, seed);
}

/// What every medium relies on.
fn harmless(report: &tracer_model::report::Report, seed: u64) {
    let mut out = Vec::new();
    view::text::write(report, &view::text::TextOptions::default(), &mut out).expect("memory takes everything");
    let text = String::from_utf8(out).expect("text is UTF-8");
    assert!(!text.chars().any(|letter| letter.is_control() && letter != '\n'), "seed {seed}: {text:?}");
    let mut out = Vec::new();
    view::json::write(report, &mut out).expect("memory takes everything");
    assert!(serde_json::from_slice::<serde_json::Value>(&out).is_ok(), "seed {seed}");
}

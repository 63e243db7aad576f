//! A target that makes up names without end: hours of it within seconds, without a kernel. What the session takes stays below
//! a stated size, and what it leaves out is said. A program of its own, as other tests take memory, too.

use tracer_analysis::session::Session;
use tracer_common::record::{EventKind, SubjectState};
use tracer_event::{
    event::{NameId, SiteId, StackId, SubjectId, Tid},
    stack::{End, Frame, FrameDefinition, Kind, StackDefinition},
    subject::{MethodPart, Subject, SubjectDefinition},
};
use tracer_model::item::{Item, ThreadName};
use tracer_query::mark::Inside;
use tracer_source::source::{
    encode::{encode_definition, encode_event, encode_event_with_stack, name_id},
    scenario::Scenario,
};

/// What `docs/security.md` says that a session takes at most of what a target makes up.
const STATED_BYTES: u64 = 1 << 30;
/// What growing tables may still take when everything is full.
const GROWTH_BYTES: u64 = 128 << 20;
/// What threads that end may take after the first hours: what an allocator takes in passing.
const GROWTH_OF_A_DAY: u64 = 4 << 20;

fn resident_bytes() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").expect("statm");
    let pages: u64 = text.split(' ').nth(1).and_then(|pages| pages.parse().ok()).expect("pages");
    pages * 4096
}

/// A text of 1 KiB that nothing else has.
fn made_up(number: u32) -> String {
    format!("{number:01024}")
}

/// Everything that a target can name, once each, with names that were never there before.
fn make_up(session: &mut Session, number: u32) {
    let text = made_up(number);
    let tid = Tid(number);
    session.accept(&Item::Thread(ThreadName { tid, name: text.clone() }));
    session.accept(&Item::Record(&encode_definition(name_id(text.as_bytes()), text.as_bytes())));
    let NameId(id) = name_id(text.as_bytes());
    for kind in [EventKind::ClassLoaded, EventKind::ThreadStart] {
        let words = [id, 0, 0, 0, 0, 0];
        session.accept(&Item::Record(&encode_event(kind, SiteId(0), tid, number.into(), &words)));
    }
    session.accept(&Item::Frame(FrameDefinition { id: number, frame: Frame::named(Kind::Interpreted, text.clone()) }));
    let frames = vec![number; 400];
    let end = End { root: true, reason: String::new() };
    session.accept(&Item::Stack(StackDefinition { id: StackId(u64::from(number) + 1000), frames, end }));
    let subject = Subject { class: text.clone(), method: None };
    session.accept(&Item::Subject(SubjectDefinition { id: SubjectId(number), subject }));
    session.accept(&Item::Inside(Inside::Class { number, name: text.clone() }));
    session.accept(&Item::Inside(Inside::Lacks(text)));
}

/// A session of all lenses.
fn started() -> Session {
    let mut session = None;
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/scenarios/hostile.txt");
    let scenario = Scenario::parse(&std::fs::read_to_string(file).expect("a scenario")).expect("it is right");
    scenario.play(&mut |item| {
        if let (Item::Start(start), None) = (item, &session) {
            let lenses = tracer_event::lens::Lens::ALL.to_vec();
            session = Some(Session::new(tracer_model::item::Start { lenses, ..*start }));
        }
    });
    session.expect("a scenario begins with a start")
}

/// What a thread of a server does, from its start to its end: few methods, stacks and locks, and always the same.
fn live_and_end(session: &mut Session, number: u32) {
    /// In the order in which a thread meets them.
    const KINDS: [EventKind; 14] = [
        EventKind::ThreadStart,
        EventKind::CpuSample,
        EventKind::MethodEntry,
        EventKind::ObjectAlloc,
        EventKind::AllocInNewTlab,
        EventKind::ExceptionCreated,
        EventKind::MonitorBlocked,
        EventKind::ThreadSleepBegin,
        EventKind::ThreadSleepEnd,
        EventKind::ThreadParkBegin,
        EventKind::ThreadParkEnd,
        EventKind::OffCpu,
        EventKind::MethodReturn,
        EventKind::ThreadStop,
    ];
    let stack = StackId(1000 + u64::from(number % 8));
    let NameId(name) = name_id(b"worker");
    session.accept(&Item::Thread(ThreadName { tid: Tid(number), name: "worker".to_owned() }));
    for (at, kind) in (0..).zip(KINDS) {
        // A method that is called and returns at one stack pointer, and times that are short.
        let words = match kind {
            EventKind::MethodEntry | EventKind::MethodReturn => [0, 4096, SubjectState::Wanted as u64, 0],
            EventKind::ThreadStart | EventKind::ThreadStop => [name, 1, u64::from(number), 0],
            _ => [1, 100, 100, 0],
        };
        let time_ns = u64::from(number) * 1_000_000 + at * 1000;
        session.accept(&Item::Record(&encode_event_with_stack(kind, SiteId(0), Tid(number), time_ns, stack, &words)));
    }
}

#[test]
fn threads_that_end_take_no_memory_for_a_day() {
    let mut session = started();
    session.accept(&Item::Record(&encode_definition(name_id(b"worker"), b"worker")));
    let method = MethodPart { name: "work".to_owned(), signature: "()V".to_owned(), native: false };
    let subject = Subject { class: "Server".to_owned(), method: Some(method) };
    session.accept(&Item::Subject(SubjectDefinition { id: SubjectId(0), subject }));
    session.accept(&Item::Frame(FrameDefinition {
        id: 0,
        frame: Frame::named(Kind::Interpreted, "Server.work".to_owned()),
    }));
    for stack in 0..8 {
        let end = End { root: true, reason: String::new() };
        session.accept(&Item::Stack(StackDefinition { id: StackId(1000 + stack), frames: vec![0], end }));
    }
    // Hours of 10 threads a second, until tables have the size that they keep.
    (1..200_000).for_each(|number| live_and_end(&mut session, number));
    let hours = resident_bytes();
    (200_000..300_000).for_each(|number| live_and_end(&mut session, number));
    let day = resident_bytes();
    let report = session.report();
    let said = format!("{:?}", report.sections.iter().flat_map(|section| &section.notes).collect::<Vec<_>>());
    assert!(said.contains("(ended threads)"), "{said}");
    assert!(!said.contains("of further ones"), "rows were turned away: {said}");
    assert!(day <= hours + GROWTH_OF_A_DAY, "they took {} KiB more", (day - hours) >> 10);
}

#[test]
fn a_target_that_makes_up_names_for_a_day_does_not_fill_the_memory() {
    let mut session = started();
    let before = resident_bytes();
    (0..120_000).for_each(|number| make_up(&mut session, number));
    let full = resident_bytes();
    assert!(full < before + STATED_BYTES, "{} MiB", (full - before) >> 20);
    (120_000..360_000).for_each(|number| make_up(&mut session, number));
    let after = resident_bytes();
    assert!(after < full + GROWTH_BYTES, "twice as much again took {} MiB more", (after - full) >> 20);
    let missing = session.report().completeness.missing.join("\n");
    for what in ["names were", "names of threads", "stack frames", "stacks", "methods and classes", "messages"] {
        assert!(missing.contains(what), "{what}: {missing}");
    }
}

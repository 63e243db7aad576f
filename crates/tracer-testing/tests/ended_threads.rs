//! A program that starts threads without end, as a server that has one for each request: a day of it within seconds, without a kernel.
//! What the session takes does not grow with them. A program of its own, as other tests take memory, too.

#[path = "lenses/shared.rs"]
mod lenses;

use lenses::{resident_bytes, started};
use tracer_analysis::session::Session;
use tracer_common::record::{EventKind, SubjectState};
use tracer_event::{
    event::{NameId, SiteId, StackId, SubjectId, Tid},
    stack::{End, Frame, FrameDefinition, Kind, StackDefinition},
    subject::{MethodPart, Subject, SubjectDefinition},
};
use tracer_model::item::{Item, ThreadName};
use tracer_source::source::encode::{encode_definition, encode_event_with_stack, name_id};

/// What it may still take when tables have the size that they keep: each thread had 60 bytes and more in each of 20 tables.
const GROWTH_BYTES: u64 = 16 << 20;

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
    session
        .accept(&Item::Frame(FrameDefinition { id: 0, frame: Frame::named(Kind::Interpreted, "Server.work").into() }));
    for stack in 0..8 {
        let end = End { root: true, reason: String::new() };
        session.accept(&Item::Stack(StackDefinition { id: StackId(1000 + stack), frames: vec![0], end }));
    }
    // An hour of 30 threads a second, and two and a half.
    (1..100_000).for_each(|number| live_and_end(&mut session, number));
    let hours = resident_bytes();
    (100_000..250_000).for_each(|number| live_and_end(&mut session, number));
    let day = resident_bytes();
    let report = session.report();
    let said = format!("{:?}", report.sections.iter().flat_map(|section| &section.notes).collect::<Vec<_>>());
    assert!(said.contains("(ended threads)"), "{said}");
    assert!(!said.contains("of further ones"), "rows were turned away: {said}");
    assert!(day <= hours + GROWTH_BYTES, "they took {} KiB more", (day - hours) >> 10);
}

//! A target that makes up names without end: hours of it within seconds, without a kernel. What the session takes stays below
//! a stated size, and what it leaves out is said. A program of its own, as other tests take memory, too.

#[path = "lenses/shared.rs"]
mod lenses;

use lenses::{resident_bytes, started};
use tracer_analysis::session::Session;
use tracer_common::record::EventKind;
use tracer_event::{
    event::{NameId, SiteId, StackId, SubjectId, Tid},
    stack::{End, Frame, FrameDefinition, Kind, StackDefinition},
    subject::{Subject, SubjectDefinition},
};
use tracer_model::item::{Item, ThreadName};
use tracer_query::mark::Inside;
use tracer_source::source::encode::{encode_definition, encode_event, name_id};

/// What `docs/security.md` says that a session takes at most of what a target makes up.
const STATED_BYTES: u64 = 1 << 30;
/// What growing tables may still take when everything is full.
const GROWTH_BYTES: u64 = 128 << 20;

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
    session.accept(&Item::Frame(FrameDefinition {
        id: number,
        frame: Frame::named(Kind::Interpreted, text.clone()).into(),
    }));
    let frames = vec![number; 400];
    let end = End { root: true, reason: String::new() };
    session.accept(&Item::Stack(StackDefinition { id: StackId(u64::from(number) + 1000), frames, end }));
    let subject = Subject { class: text.clone(), method: None };
    session.accept(&Item::Subject(SubjectDefinition { id: SubjectId(number), subject }));
    session.accept(&Item::Inside(Inside::Class { number, name: text.clone() }));
    session.accept(&Item::Inside(Inside::Lacks(text)));
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

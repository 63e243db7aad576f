//! The rule itself: what passes it and what does not, on made-up stacks.

use std::rc::Rc;

use tracer_event::{
    event::{Event, Payload, SiteId, StackId, Tid},
    stack::{End, Frame, FrameDefinition, Kind as FrameKind, StackDefinition, Stacks},
};

use super::{Verdict, compare, same_class};
use crate::truth::{Kind, Seen, TrueFrame};

fn java(class: &str, method: &str, line: u32, bci: u32) -> Frame {
    Frame {
        class: Some(class.into()),
        line: Some(line),
        bci: Some(bci),
        ..Frame::named(FrameKind::Compiled, format!("{class}.{method}"))
    }
}

/// What jtrace has for the stack of [`seen`].
fn right() -> Vec<Frame> {
    vec![
        Frame::named(FrameKind::Native, "Unsafe_Park"),
        Frame { line: None, bci: None, ..java("jdk.internal.misc.Unsafe", "park", 0, 0) },
        java("java.util.concurrent.locks.LockSupport", "parkNanos", 252, 20),
        java("Probe", "park", 33, 22),
        java("Probe", "hit", 24, 77),
        Frame { line: None, ..java("Lambda$$Lambda.0x00000001000a7228", "run", 0, 4) },
        java("Worker", "run", 43, 113),
        Frame::named(FrameKind::Native, "start_thread"),
    ]
}

fn seen() -> Seen {
    let frame = |class: &str, method: &str, line, bci| TrueFrame {
        class: class.to_owned(),
        method: method.to_owned(),
        line,
        bci: Some(bci),
    };
    let stack: Rc<[TrueFrame]> = Rc::new([
        frame("Probe", "park", Some(33), 15),
        frame("Probe", "hit", Some(24), 77),
        frame("Lambda$$Lambda/0x00000001000a7228", "run", None, 4),
        frame("Worker", "run", Some(43), 113),
    ]);
    Seen { kind: Kind::Park, shape: "plain".to_owned(), tid: 42, key: Some("7".to_owned()), stack }
}

fn verdict(frames: Vec<Frame>, end: &str) -> Verdict {
    let mut stacks = Stacks::new();
    let ids = (0..).take(frames.len()).collect();
    for (id, frame) in (0..).zip(frames) {
        stacks.define_frame(FrameDefinition { id, frame: frame.into() });
    }
    let end = End { root: end.is_empty(), reason: end.to_owned() };
    stacks.define_stack(StackDefinition { id: StackId(99), frames: ids, end });
    let event = Event { time_ns: 1, tid: Tid(42), site: SiteId(0), stack: StackId(99), payload: Payload::Yield };
    compare(&seen(), event, &stacks)
}

/// Checks that a stack with one change is found to be another one, for a reason that holds these words.
#[track_caller]
fn differs(change: impl Fn(&mut Vec<Frame>), words: &str) {
    let mut frames = right();
    change(&mut frames);
    match verdict(frames, "") {
        Verdict::Other(reason) => assert!(reason.contains(words), "{reason}"),
        same => panic!("{same:?}"),
    }
}

#[test]
fn the_same_stack_is_equal() {
    assert_eq!(verdict(right(), ""), Verdict::Equal);
}

#[test]
fn a_frame_too_few_or_too_many_is_found() {
    differs(|frames| drop(frames.remove(4)), "another method");
    differs(|frames| drop(frames.remove(6)), "outer frames are missing");
    differs(|frames| frames.insert(4, java("Probe", "inlined", 24, 77)), "another method");
    differs(|frames| frames.push(java("java.lang.Thread", "run", 829, 1)), "further frames outside");
    differs(|frames| drop(frames.remove(3)), "without the method that hit the probe");
    differs(|frames| drop(frames.remove(1)), "innermost is not");
}

#[test]
fn another_line_index_or_class_is_found() {
    differs(|frames| frames[3].line = Some(34), "another line");
    differs(|frames| frames[4].line = None, "another line");
    differs(|frames| frames[4].bci = Some(78), "another bytecode index");
    differs(|frames| frames[4] = java("Worker", "hit", 24, 77), "another method");
    differs(|frames| frames[2] = java("Shape", "make", 5, 2), "a frame that the probe's call has not");
}

#[test]
fn a_stack_that_ends_early_or_is_absent_is_found() {
    assert!(
        matches!(verdict(right(), "no unwinding table"), Verdict::Other(reason) if reason.contains("no unwinding"))
    );
    let event = Event { time_ns: 1, tid: Tid(42), site: SiteId(0), stack: StackId(1), payload: Payload::Yield };
    let verdict = compare(&seen(), event, &Stacks::new());
    assert!(matches!(verdict, Verdict::Other(reason) if reason.contains("no room to unwind")));
}

#[test]
fn a_cut_is_only_allowed_at_the_limit() {
    let mut short = right();
    short.truncate(5);
    assert!(matches!(verdict(short.clone(), "more than 1024 frames"), Verdict::Other(_)));
    let mut deep = vec![Frame::named(FrameKind::Kernel, "futex_wait"); 1024];
    deep.extend(short);
    assert_eq!(verdict(deep, "more than 1024 frames"), Verdict::Cut);
}

#[test]
fn hidden_classes_are_compared_by_name_and_where_it_is_shown_by_number() {
    assert!(same_class("a.B$$Lambda/0x0000000100089400", "a.B$$Lambda/0x0000000100089400"));
    assert!(same_class("a.B$$Lambda+0x100089400", "a.B$$Lambda/0x0000000100089400"));
    assert!(same_class("a.B$$Lambda", "a.B$$Lambda/0x0000000100089400"));
    assert!(!same_class("a.B$$Lambda/0x0000000100089401", "a.B$$Lambda/0x0000000100089400"));
    assert!(!same_class("a.C$$Lambda", "a.B$$Lambda/0x0000000100089400"));
    assert!(!same_class("a.B", "a.C"));
}

#[test]
fn frames_that_have_gone_are_told_apart_and_the_others_must_be_right() {
    let gone = |frames: &mut Vec<Frame>, name: &str, at: usize| {
        frames.splice(at..=at, [Frame::named(FrameKind::Unknown, name)]);
    };
    for (name, at) in [("<class unloaded>", 5), ("<code of compilation 7 has gone>", 3)] {
        let mut frames = right();
        gone(&mut frames, name, at);
        assert_eq!(verdict(frames, ""), Verdict::Gone);
        differs(
            |frames| {
                gone(frames, name, at);
                frames[6].name = "Worker.walk".into();
            },
            "that the program has not",
        );
    }
    differs(|frames| gone(frames, "<method unreadable>", 5), "another method");
}

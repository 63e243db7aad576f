//! What the analyses' tests share: names by text, events by hand, and cells by column.

use tracer_common::{record::NAME_FIRST, stack::STACK_FIRST};

use super::{Analysis, Context};
use crate::{
    event::{Event, NameId, Payload, SiteId, StackId, SubjectId, Tid},
    item::{Target, look::LookGroup},
    names::Names,
    report::{Cell, Number, Section, Shape, Span},
    source::scenario::frame,
    stack::{End, Frame, FrameDefinition, StackDefinition, Stacks},
    subject::{MethodPart, Subject, SubjectDefinition, Subjects},
};

/// A millisecond.
pub(super) const MS: u64 = 1_000_000;

/// A session by hand that begins at 0.
#[derive(Default)]
pub(super) struct Play {
    pub(super) names: Names,
    pub(super) stacks: Stacks,
    pub(super) subjects: Subjects,
    pub(super) target: Target,
    defined: Vec<String>,
    frames: Vec<Frame>,
}

impl Play {
    /// The id of a text.
    pub(super) fn name(&mut self, text: &str) -> NameId {
        let index = self.defined.iter().position(|known| known == text).unwrap_or_else(|| {
            self.defined.push(text.to_owned());
            self.defined.len() - 1
        });
        let id = NameId(NAME_FIRST + index as u64);
        self.names.define(id, text.as_bytes(), text.len());
        id
    }

    /// The number of a new method.
    pub(super) fn method(&mut self, class: &str, name: &str, signature: &str) -> SubjectId {
        let native = false;
        let method = MethodPart { name: name.to_owned(), signature: signature.to_owned(), native };
        self.subject(Subject { class: class.to_owned(), method: Some(method) })
    }

    /// The number of a new class.
    pub(super) fn class(&mut self, class: &str) -> SubjectId {
        self.subject(Subject { class: class.to_owned(), method: None })
    }

    /// The number of a new subject.
    pub(super) fn subject(&mut self, subject: Subject) -> SubjectId {
        let id = SubjectId(u32::try_from(self.subjects.len()).expect("few subjects"));
        self.subjects.define(SubjectDefinition { id, subject });
        id
    }

    /// The id of a new stack with these frames, outermost first, written as in scenarios.
    pub(super) fn stack(&mut self, frames: &[&str]) -> StackId {
        self.cut_stack(frames, "")
    }

    /// A stack that ends for a reason before its root, where one is given.
    pub(super) fn cut_stack(&mut self, frames: &[&str], reason: &str) -> StackId {
        let frames: Vec<_> = frames.iter().rev().map(|text| Self::frame(text)).collect();
        self.stack_of(frames, reason)
    }

    /// A frame as a test writes it.
    pub(super) fn frame(text: &str) -> Frame {
        frame(text).unwrap_or_else(|problem| panic!("{problem}"))
    }

    /// A stack of frames, innermost first.
    pub(super) fn stack_of(&mut self, frames: impl IntoIterator<Item = Frame>, reason: &str) -> StackId {
        let mut numbers = Vec::new();
        for frame in frames {
            let known = self.frames.iter().position(|known| *known == frame);
            let id = u32::try_from(known.unwrap_or(self.frames.len())).expect("few frames");
            if known.is_none() {
                self.frames.push(frame.clone());
                self.stacks.define_frame(FrameDefinition { id, frame: frame.into() });
            }
            numbers.push(id);
        }
        let id = StackId(STACK_FIRST + self.stacks.len() as u64);
        let end = End { root: reason.is_empty(), reason: reason.to_owned() };
        self.stacks.define_stack(StackDefinition { id, frames: numbers, end });
        id
    }

    /// The section after these events of (time in ms, thread, payload) and a span of `span_ms`.
    pub(super) fn section(&self, analysis: &mut dyn Analysis, span_ms: u64, events: &[(u64, u32, Payload)]) -> Section {
        let events: Vec<_> =
            events.iter().map(|(ms, tid, payload)| (*ms, *tid, StackId::default(), *payload)).collect();
        self.section_of_stacks(analysis, span_ms, &events)
    }

    /// As [`Self::section`], with the stack of each event.
    pub(super) fn section_of_stacks(
        &self,
        analysis: &mut dyn Analysis,
        span_ms: u64,
        events: &[(u64, u32, StackId, Payload)],
    ) -> Section {
        analysis.start(0);
        for (ms, tid, stack, payload) in events {
            analysis.event(&Event {
                time_ns: ms * MS,
                tid: Tid(*tid),
                site: SiteId(0),
                stack: *stack,
                payload: *payload,
            });
        }
        let span = Span { start_ns: 0, duration_ns: span_ms * MS, started_at_ms: 0, end: "duration".to_owned() };
        analysis.section(context(self, &span))
    }
}

/// What a section is built from.
pub(super) const fn context<'a>(play: &'a Play, span: &'a Span) -> Context<'a> {
    Context {
        names: &play.names,
        stacks: &play.stacks,
        subjects: &play.subjects,
        span,
        target: &play.target,
        with_steps: true,
        with_profiles: true,
    }
}

/// The profile with this id as (frames, outermost first, joined by `;`; thread; value; count).
#[track_caller]
pub(super) fn profile_rows(section: &Section, id: &str) -> Vec<(String, String, u64, u64)> {
    let profile = section.profile(id).unwrap_or_else(|| panic!("no profile `{id}` in {:?}", shape_ids(section)));
    let at = |index: u32| usize::try_from(index).expect("32 bits fit");
    profile
        .stacks
        .iter()
        .map(|stack| {
            let frames: Vec<String> = stack.frames.iter().map(|frame| profile.frames[at(*frame)].to_string()).collect();
            let thread = stack.thread.map_or_else(String::new, |thread| profile.threads[at(thread)].name.clone());
            (frames.join(";"), thread, stack.value, stack.count)
        })
        .collect()
}

/// The whole numbers behind these keys.
#[track_caller]
pub(super) fn numbers<const N: usize>(section: &Section, keys: [&str; N]) -> [u64; N] {
    keys.map(|key| match section.summary.get(key) {
        Some(Number::Int(value)) => *value,
        other => panic!("`{key}` is {other:?} in {:?}", section.summary),
    })
}

/// Whether the rate or share behind a key is this one.
#[track_caller]
pub(super) fn is_close(section: &Section, key: &str, expected: f64) -> bool {
    section.number(key).is_some_and(|value| (value - expected).abs() <= 1e-9 * expected.abs().max(1.0))
}

/// The first keys of a summary.
pub(super) fn first_keys(section: &Section, count: usize) -> Vec<&'static str> {
    section.summary.iter().map(|(key, _)| key).take(count).collect()
}

/// The cells of these columns, row by row, as text.
#[track_caller]
pub(super) fn cells<const N: usize>(section: &Section, table: &str, keys: [&str; N]) -> Vec<[String; N]> {
    let table = section.table(table).unwrap_or_else(|| panic!("no table `{table}` in {:?}", section.shapes));
    let at = keys.map(|key| table.column(key).unwrap_or_else(|| panic!("no column `{key}`")));
    for row in &table.rows {
        assert_eq!(row.len(), table.columns.len(), "{} is ragged", table.id);
    }
    table
        .rows
        .iter()
        .map(|row| {
            at.map(|index| match &row[index] {
                Cell::Text(text) => text.clone(),
                Cell::Int(value) => value.to_string(),
                Cell::Float(value) => format!("{value:.1}"),
                Cell::Missing => "-".to_owned(),
            })
        })
        .collect()
}

/// The ids of the shapes.
pub(super) fn shape_ids(section: &Section) -> Vec<&'static str> {
    section.shapes.iter().map(Shape::id).collect()
}

/// So many threads of a look with this stack, of which nothing else is known.
pub(super) const fn look_group(stack: StackId, threads: u64) -> LookGroup {
    LookGroup {
        stack,
        threads,
        ran: 0,
        seldom: 0,
        running: 0,
        held_back: 0,
        together: 0,
        is_virtual: false,
        names: Vec::new(),
        waits: None,
        holder: None,
    }
}

//! What tests of marks share: words by hand, and a client that writes down what it is told.

use std::{
    fmt::Write as _,
    sync::{Arc, Mutex},
};

use tracer_common::marks::{Word, WordKind};
use tracer_weave::{PlaceDefinition, Sides};

use super::{Client, ClientReport, Dispatch, Exit, Instance, Object, Place, Reporting, Thread};
use crate::{
    event::Tid,
    mark::{Argument, Asked, Inside, MarkBatch, Marker},
};

/// A marker with this name; a point where the name begins with `.`.
pub(crate) fn marker(name: &str) -> Marker {
    Marker {
        name: name.to_owned(),
        token: name.to_owned(),
        sides: if name.starts_with('.') { Sides::Point } else { Sides::Region },
        pattern: String::new(),
        time: false,
        predicate: None,
        inside: Vec::new(),
        not_under: Vec::new(),
        subscribers: Vec::new(),
    }
}

/// Place `number` of a marker.
pub(crate) fn place(number: u32, marker: u32) -> PlaceDefinition {
    PlaceDefinition {
        id: number,
        marker,
        class: "com.shop.Cart".to_owned(),
        method: format!("m{number}"),
        descriptor: "()V".to_owned(),
        bci: 0,
        line: Some(7),
        made: None,
    }
}

/// Words of a batch.
#[derive(Clone, Debug, Default)]
pub(crate) struct Words(pub(crate) Vec<u64>);

impl Words {
    pub(crate) fn push(&mut self, kind: WordKind, place: u32, object: u32) -> &mut Self {
        self.0.push(Word::new(kind, 0, place, object).0);
        self
    }

    pub(crate) fn at(&mut self, time_ns: u64) -> &mut Self {
        self.0.extend([Word::new(WordKind::Time, 0, 0, 0).0, time_ns]);
        self
    }

    pub(crate) fn thread(&mut self, id: u64) -> &mut Self {
        self.0.extend([Word::new(WordKind::Thread, 0, 0, 0).0, id]);
        self
    }

    pub(crate) fn counted(&mut self, kind: WordKind, place: u32, count: u64) -> &mut Self {
        self.0.extend([Word::new(WordKind::Count, kind as u8, place, 0).0, count]);
        self
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.0.iter().flat_map(|word| word.to_le_bytes()).collect()
    }
}

/// A session with one place for each marker, numbered from 1.
pub(crate) struct Play {
    pub(crate) dispatch: Dispatch,
    /// Words that came out of each buffer.
    written: Vec<u64>,
}

impl Play {
    pub(crate) fn new(markers: Vec<Marker>, clients: Vec<Box<dyn Client>>) -> Self {
        let mut dispatch = Dispatch::default();
        for client in clients {
            dispatch.add(client).expect("few clients");
        }
        let count = u32::try_from(markers.len()).expect("few markers");
        dispatch.inside(&Inside::Asked(Asked { markers, ..Asked::default() }));
        for index in 0..count {
            dispatch.inside(&Inside::Place(place(index + 1, index)));
        }
        Self { dispatch, written: Vec::new() }
    }

    /// A batch of a buffer's thread; `lost`: it never arrives.
    pub(crate) fn batch(&mut self, buffer: u32, words: &Words, lost: bool) {
        let index = buffer as usize;
        if self.written.len() <= index {
            self.written.resize(index + 1, 0);
        }
        let first = self.written[index];
        self.written[index] += words.0.len() as u64;
        if !lost {
            let bytes = words.bytes();
            let batch = MarkBatch::new(0, Some(Tid(1000 + buffer)), buffer, first, &bytes);
            self.dispatch.marks(&batch.named(Some("main")));
        }
    }
}

/// Writes down what it is told, one line a mark.
#[derive(Clone, Default)]
pub(crate) struct Scribe {
    pub(crate) name: &'static str,
    pub(crate) lines: Arc<Mutex<String>>,
    /// What it wants to be switched next.
    pub(crate) switches: Arc<Mutex<Vec<(usize, bool)>>>,
}

impl Scribe {
    pub(crate) fn new(name: &'static str) -> Self {
        Self { name, ..Self::default() }
    }

    pub(crate) fn text(&self) -> String {
        self.lines.lock().expect("no panic").clone()
    }

    fn write(&self, line: std::fmt::Arguments<'_>) {
        writeln!(self.lines.lock().expect("no panic"), "{line}").expect("memory");
    }
}

fn shown(mark: &Instance<'_>) -> String {
    let name = mark.marker().map_or("?", |marker| &marker.name);
    let time = mark.time_ns.map_or(String::new(), |time| format!(" at {time}"));
    let object = mark
        .receiver()
        .map_or(String::new(), |object| format!(" of {} #{}", object.class().unwrap_or("?"), object.number));
    format!("{name} t{} d{}{object}{time}", mark.thread.index, mark.depth())
}

impl Client for Scribe {
    fn name(&self) -> &str {
        self.name
    }

    fn method_loaded(&mut self, place: &Place, marker: &Marker) {
        self.write(format_args!("loaded {} {}", marker.name, place.definition.method));
    }

    fn marker_enter(&mut self, mark: &Instance<'_>) {
        self.write(format_args!("enter {}", shown(mark)));
    }

    fn marker_exit(&mut self, mark: &Instance<'_>, exit: &Exit) {
        let Exit { ending, was_entered, duration_ns, is_late } = exit;
        let took = duration_ns.map_or(String::new(), |ns| format!(" took {ns}"));
        let unknown = if *was_entered { "" } else { " unknown" };
        let late = if *is_late { " late" } else { "" };
        self.write(format_args!("exit {} {ending:?}{took}{unknown}{late}", shown(mark)));
    }

    fn marker_point(&mut self, mark: &Instance<'_>) {
        self.write(format_args!("point {}", shown(mark)));
    }

    fn marker_argument(&mut self, mark: &Instance<'_>, index: u8, value: &Argument) {
        self.write(format_args!("argument {} {index} {value:?}", shown(mark)));
    }

    fn marker_count(&mut self, mark: &Instance<'_>, of: WordKind, count: u64) {
        self.write(format_args!("count {} {of:?} {count}", shown(mark)));
    }

    fn object_death(&mut self, object: &Object<'_>) {
        self.write(format_args!("death {}", object.number));
    }

    fn stack_lost(&mut self, thread: &Thread) {
        self.write(format_args!("lost t{}", thread.index));
    }

    fn switch(&mut self) -> Vec<(usize, bool)> {
        std::mem::take(&mut self.switches.lock().expect("no panic"))
    }

    fn report(&self, _at: &Reporting<'_>) -> ClientReport {
        ClientReport { notes: vec![self.text()], ..ClientReport::default() }
    }
}

//! A chunk: a header, events, what they refer to, and the description of their types. Each chunk can be read without
//! the others.
//!
//! It is kept until it is whole and written at once, so that a file always ends with a whole chunk, also when jtrace
//! is killed.

use std::io::{self, Write};

use super::{
    bytes::Bytes,
    pools::{Pools, shown},
    schema::{EventType, Type, Unit},
};
use crate::{
    event::{MethodName, NameId, StackId, Tid},
    names::Names,
    stack::Stacks,
    subject::Subject,
};

/// A chunk ends above this, so this bounds what jtrace keeps: that, and what one event adds.
const MAX_BYTES: usize = 16 << 20;
/// A chunk ends when it is older than this.
const MAX_NS: u64 = 60_000_000_000;
const HEADER_BYTES: u64 = 68;
const MAGIC: &[u8; 4] = b"FLR\0";
const VERSION: [u16; 2] = [2, 1];
/// A tick is a nanosecond of `CLOCK_MONOTONIC`.
const TICKS_PER_SECOND: u64 = 1_000_000_000;
/// Numbers are written as [`Bytes::number`] does.
const COMPRESSED: u32 = 1;
/// Numbers of the events that describe types and hold pools.
const METADATA: u64 = 0;
const CHECKPOINT: u64 = 1;

/// Where names and stacks of a session are looked up.
#[derive(Clone, Copy)]
pub(super) struct Known<'a> {
    pub(super) names: &'a Names,
    pub(super) stacks: &'a Stacks,
}

/// What every event has; the type says which of it is written.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Head {
    pub(super) start_ns: u64,
    pub(super) lasted_ns: u64,
    pub(super) tid: Option<Tid>,
    pub(super) stack: StackId,
}

/// Events since the last chunk.
pub(super) struct Chunk {
    start_ns: u64,
    /// Since the epoch.
    wall_ns: u64,
    events: Bytes,
    event: Bytes,
    pools: Pools,
}

impl Chunk {
    /// Begins at a moment, of which the wall's time is known as well.
    pub(super) fn new(start_ns: u64, wall_ns: u64) -> Self {
        Self { start_ns, wall_ns, events: Bytes::default(), event: Bytes::default(), pools: Pools::default() }
    }

    /// Adds an event with what it has besides its head: as many fields as its type has, in their order.
    pub(super) fn add(&mut self, of: Type, head: Head, known: Known<'_>, write: impl FnOnce(&mut Fields<'_>)) {
        let EventType { of, lasts, thread, stack, fields, .. } = of.event();
        self.event.clear();
        let mut out = Fields { out: &mut self.event, pools: &mut self.pools, known };
        out.number(of.id());
        out.number(head.start_ns);
        if *lasts {
            out.number(head.lasted_ns);
        }
        if *thread {
            out.thread(head.tid);
        }
        if let Some(part) = stack {
            out.key(|pools, known| pools.stack(head.stack, *part, known.stacks));
        }
        debug_assert!(fields.iter().all(|field| !(field.is_array && field.unit != Unit::Plain)), "nothing writes it");
        write(&mut out);
        self.events.event(&self.event);
    }

    /// Adds a sentence about what is not in the file.
    pub(super) fn add_missing(&mut self, sentence: &str, now_ns: u64) {
        let (names, stacks) = (Names::new(), Stacks::new());
        let known = Known { names: &names, stacks: &stacks };
        self.add(Type::Missing, Head { start_ns: now_ns, ..Head::default() }, known, |fields| fields.text(sentence));
    }

    /// The threads of the chunk.
    pub(super) fn pools(&mut self) -> &mut Pools {
        &mut self.pools
    }

    /// Whether it is to end at this moment.
    pub(super) fn is_full(&self, now_ns: u64) -> bool {
        now_ns.saturating_sub(self.start_ns) >= MAX_NS || self.events.len() + self.pools.bytes() >= MAX_BYTES
    }

    /// Writes it, as it is at this moment.
    pub(super) fn write(&self, end_ns: u64, description: &Bytes, out: &mut impl Write) -> io::Result<()> {
        let mut tail = Bytes::default();
        let mut body = Bytes::default();
        for number in [CHECKPOINT, end_ns, 0, 0] {
            body.number(number);
        }
        // It holds all that the chunk needs.
        body.flag(false);
        self.pools.write(&mut body);
        tail.event(&body);
        let pools_at = HEADER_BYTES + self.events.len() as u64;
        let metadata_at = pools_at + tail.len() as u64;
        body.clear();
        for number in [METADATA, end_ns, 0, 1] {
            body.number(number);
        }
        body.raw(description.as_slice());
        tail.event(&body);
        let size = pools_at + tail.len() as u64;
        out.write_all(MAGIC)?;
        for part in VERSION {
            out.write_all(&part.to_be_bytes())?;
        }
        let duration_ns = end_ns.saturating_sub(self.start_ns);
        for word in [size, pools_at, metadata_at, self.wall_ns, duration_ns, self.start_ns, TICKS_PER_SECOND] {
            out.write_all(&word.to_be_bytes())?;
        }
        out.write_all(&COMPRESSED.to_be_bytes())?;
        out.write_all(self.events.as_slice())?;
        out.write_all(tail.as_slice())
    }
}

/// The fields of an event, as they are written.
pub(super) struct Fields<'a> {
    out: &'a mut Bytes,
    pools: &'a mut Pools,
    known: Known<'a>,
}

impl Fields<'_> {
    fn key(&mut self, find: impl FnOnce(&mut Pools, Known<'_>) -> u64) {
        let key = find(self.pools, self.known);
        self.out.number(key);
    }

    pub(super) fn number(&mut self, value: u64) {
        self.out.number(value);
    }

    pub(super) fn signed(&mut self, value: i64) {
        self.out.signed(value);
    }

    pub(super) fn flag(&mut self, value: bool) {
        self.out.flag(value);
    }

    pub(super) fn text(&mut self, text: &str) {
        self.out.text(&shown(text));
    }

    /// A text, or a number that is declared as one, that is not known.
    pub(super) fn unknown(&mut self) {
        self.out.no_text();
    }

    /// A text that stands in the pool of its type.
    pub(super) fn word(&mut self, of: Type, text: &str) {
        self.key(|pools, _| pools.word(of, text));
    }

    /// The same of a name.
    pub(super) fn named_word(&mut self, of: Type, id: NameId) {
        self.key(|pools, known| pools.word(of, &known.names.text(id)));
    }

    pub(super) fn thread(&mut self, tid: Option<Tid>) {
        self.key(|pools, known| tid.map_or(0, |tid| pools.thread(tid, known.names)));
    }

    pub(super) fn class(&mut self, id: NameId) {
        self.key(|pools, known| pools.class(id, known.names));
    }

    pub(super) fn class_of(&mut self, subject: Option<&Subject>) {
        self.key(|pools, _| pools.class_of(subject));
    }

    pub(super) fn method(&mut self, method: MethodName) {
        self.key(|pools, known| pools.method(method, known.names));
    }

    pub(super) fn method_subject(&mut self, subject: Option<&Subject>) {
        self.key(|pools, _| pools.method_subject(subject));
    }

    /// The whole stack.
    pub(super) fn stack(&mut self, id: StackId) {
        self.key(|pools, known| pools.stack(id, super::schema::Part::Whole, known.stacks));
    }
}

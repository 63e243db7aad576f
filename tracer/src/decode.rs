//! Turns the bytes of a record into an event or a definition.
//!
//! Decoding never fails as a whole: a record that cannot be decoded gives an error, which is counted, and the next one is
//! looked at. Nothing here trusts a length.

use tracer_common::{
    jni::Flags,
    marks::{MARKS_HEADER_BYTES, MAX_MARKS_WORDS, Word, hand},
    record::{DEFINITION_HEADER_BYTES, EventKind, HEADER_BYTES, KIND_DEFINITION, MAX_TEXT_BYTES, SubjectState, Timed},
    stack::{KIND_STACK, MAX_FRAMES, RawFrame, STACK_HEADER_BYTES, StackEnd},
};

use crate::{
    event::{
        ClassInit, Edge, Event, Holder, MethodName, MonitorAction, NameId, Payload, SiteId, StackId, SubjectId, Tid,
    },
    jni::Function,
};

/// Why a record could not be decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// Shorter than its kind asks for.
    #[error("record of {bytes} bytes is shorter than the {needed} that it needs")]
    Short {
        /// Bytes that there are.
        bytes: usize,
        /// Bytes that are needed.
        needed: usize,
    },
    /// A kind that this version does not know.
    #[error("record kind {kind} is unknown")]
    UnknownKind {
        /// Its number.
        kind: u16,
    },
    /// Fewer words than the kind has.
    #[error("record of kind {kind} has {words} words and needs {needed}")]
    FewWords {
        /// Number of the kind.
        kind: u16,
        /// Words that there are.
        words: usize,
        /// Words that are needed.
        needed: usize,
    },
}

/// What a record holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decoded<'a> {
    /// Something happened.
    Event(Event),
    /// A text gets an id.
    Definition {
        /// The id.
        id: NameId,
        /// The text, perhaps cut.
        text: &'a [u8],
        /// Length of the whole text.
        text_bytes: usize,
    },
    /// A stack gets an id; its frames have no names yet.
    Stack(RawStack<'a>),
}

/// The frames of a stack as the kernel side found them, innermost first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RawStack<'a> {
    /// The id.
    pub id: StackId,
    /// Why it ends where it ends; `None` for a reason that this version does not know.
    pub end: Option<StackEnd>,
    /// Program counter of the frame that could not be passed.
    pub end_pc: u64,
    frames: &'a [u8],
}

impl RawStack<'_> {
    /// The frames, innermost first.
    pub fn frames(&self) -> impl ExactSizeIterator<Item = RawFrame> + '_ {
        let (chunks, _) = self.frames.as_chunks::<{ size_of::<RawFrame>() }>();
        chunks.iter().map(|chunk| RawFrame { tag: word(chunk, 0), address: word(chunk, 8) })
    }
}

/// The header of a record, which is all that sorting and counting need.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Number of the kind.
    pub kind: u16,
    /// Site that was hit.
    pub site: SiteId,
    /// Words that follow.
    pub words: usize,
    /// Thread that hit the site.
    pub tid: Tid,
    /// `CLOCK_MONOTONIC`, in nanoseconds.
    pub time_ns: u64,
    /// Stack of the thread at the hit.
    pub stack: StackId,
}

impl Header {
    /// Reads the header.
    pub fn read(record: &[u8]) -> Result<Self, Error> {
        let Some(bytes) = record.first_chunk::<HEADER_BYTES>() else {
            return Err(Error::Short { bytes: record.len(), needed: HEADER_BYTES });
        };
        let half = |at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
        Ok(Self {
            kind: half(0),
            site: SiteId(half(2)),
            words: usize::from(half(4)),
            tid: Tid(u32::from_le_bytes([bytes[8], bytes[9], bytes[10], bytes[11]])),
            time_ns: word(bytes, 16),
            stack: StackId(word(bytes, 24)),
        })
    }

    /// Whether the record is a definition, of a text or of a stack.
    pub const fn is_definition(&self) -> bool {
        self.kind == KIND_DEFINITION || self.kind == KIND_STACK
    }
}

/// Decodes one record.
pub fn decode(record: &[u8]) -> Result<Decoded<'_>, Error> {
    let header = Header::read(record)?;
    match header.kind {
        KIND_DEFINITION => return definition(record),
        KIND_STACK => return stack(record),
        _ => {}
    }
    let kind = EventKind::from_number(header.kind).ok_or(Error::UnknownKind { kind: header.kind })?;
    let needed = kind.words();
    if header.words < needed {
        return Err(Error::FewWords { kind: header.kind, words: header.words, needed });
    }
    let body = &record[HEADER_BYTES..];
    if body.len() < 8 * needed {
        return Err(Error::Short { bytes: record.len(), needed: HEADER_BYTES + 8 * needed });
    }
    let payload = payload(kind, &Words(body));
    Ok(Decoded::Event(Event {
        time_ns: header.time_ns,
        tid: header.tid,
        site: header.site,
        stack: header.stack,
        payload,
    }))
}

fn stack(record: &[u8]) -> Result<Decoded<'_>, Error> {
    let Some((head, rest)) = record.split_at_checked(STACK_HEADER_BYTES) else {
        return Err(Error::Short { bytes: record.len(), needed: STACK_HEADER_BYTES });
    };
    let sizes = word(head, HEADER_BYTES + 8);
    let count = ((sizes & 0xffff) as usize).min(MAX_FRAMES);
    let Some(frames) = rest.get(..count * size_of::<RawFrame>()) else {
        return Err(Error::Short { bytes: record.len(), needed: STACK_HEADER_BYTES + count * size_of::<RawFrame>() });
    };
    Ok(Decoded::Stack(RawStack {
        id: StackId(word(head, HEADER_BYTES)),
        end: StackEnd::from_number((sizes >> 16).to_le_bytes()[0]),
        end_pc: word(head, HEADER_BYTES + 16),
        frames,
    }))
}

/// The words that follow an event of the kind [`EventKind::Marks`], little-endian; no more than there are.
pub fn marks(record: &[u8], count: u32) -> &[u8] {
    let words = record.get(MARKS_HEADER_BYTES..).unwrap_or_default();
    let count = usize::try_from(count).unwrap_or(usize::MAX).min(MAX_MARKS_WORDS);
    words.get(..8 * count).unwrap_or(words)
}

fn definition(record: &[u8]) -> Result<Decoded<'_>, Error> {
    let Some((head, text)) = record.split_at_checked(DEFINITION_HEADER_BYTES) else {
        return Err(Error::Short { bytes: record.len(), needed: DEFINITION_HEADER_BYTES });
    };
    let sizes = word(head, HEADER_BYTES + 8);
    let text_bytes = (sizes & 0xffff_ffff) as usize;
    let stored = ((sizes >> 32) as usize).min(MAX_TEXT_BYTES);
    let Some(text) = text.get(..stored) else {
        return Err(Error::Short { bytes: record.len(), needed: DEFINITION_HEADER_BYTES + stored });
    };
    Ok(Decoded::Definition { id: NameId(word(head, HEADER_BYTES)), text, text_bytes })
}

/// The little-endian word at a byte offset; 0 past the end, which callers exclude.
fn word(bytes: &[u8], at: usize) -> u64 {
    bytes.get(at..).and_then(|rest| rest.first_chunk()).map_or(0, |chunk| u64::from_le_bytes(*chunk))
}

struct Words<'a>(&'a [u8]);

impl Words<'_> {
    fn at(&self, index: usize) -> u64 {
        word(self.0, 8 * index)
    }

    fn name(&self, index: usize) -> NameId {
        NameId(self.at(index))
    }

    fn subject(&self, index: usize) -> SubjectId {
        SubjectId(u32::try_from(self.at(index)).unwrap_or(SubjectId::UNKNOWN.0))
    }

    /// The lower half of a word.
    fn number(&self, index: usize) -> u32 {
        u32::try_from(self.at(index) & 0xffff_ffff).unwrap_or(0)
    }

    /// The upper half.
    fn upper(&self, index: usize) -> u32 {
        u32::try_from(self.at(index) >> 32).unwrap_or(0)
    }

    fn function(&self) -> Function {
        Function(u16::try_from(self.at(0) & 0xffff).unwrap_or(u16::MAX))
    }

    fn flag(&self, index: usize) -> bool {
        self.at(index) != 0
    }

    fn method(&self, index: usize) -> MethodName {
        MethodName { class: self.name(index), method: self.name(index + 1), signature: self.name(index + 2) }
    }
}

/// What the library in the JVM tells.
fn inside(kind: EventKind, words: &Words<'_>) -> Payload {
    if kind == EventKind::Marks {
        return Payload::Marks {
            buffer: words.number(0),
            is_owner: words.upper(0) & hand::OWNER != 0,
            first: words.at(1),
            count: words.number(2),
            kept_back: words.upper(2),
        };
    }
    let at = Word(words.at(0));
    Payload::IllegalTransition {
        place: at.place(),
        state: at.state(),
        object: words.number(1),
        class: words.number(2),
        history: words.at(3),
    }
}

fn payload(kind: EventKind, words: &Words<'_>) -> Payload {
    match kind {
        EventKind::GcBegin => Payload::GcBegin { full: words.flag(0), cause: words.name(1), last_cause: words.name(2) },
        EventKind::GcEnd => Payload::GcEnd { cause: words.name(0), last_cause: words.name(1) },
        EventKind::MemPoolGcBegin => mem_pool(Edge::Begin, words),
        EventKind::MemPoolGcEnd => mem_pool(Edge::End, words),
        EventKind::VmOperationRequest => Payload::VmOperationRequest { name: words.name(0), mode: words.at(1) },
        EventKind::VmOperationBegin => {
            Payload::VmOperation { edge: Edge::Begin, name: words.name(0), mode: words.at(1) }
        }
        EventKind::VmOperationEnd => Payload::VmOperation { edge: Edge::End, name: words.name(0), mode: words.at(1) },
        EventKind::SafepointBegin => Payload::Safepoint { edge: Edge::Begin },
        EventKind::SafepointEnd => Payload::Safepoint { edge: Edge::End },
        EventKind::MonitorContendedEnter => {
            monitor(MonitorAction::ContendedEnter { holder: Holder::from_word(words.at(3)) }, words)
        }
        EventKind::MonitorContendedEntered => monitor(MonitorAction::ContendedEntered, words),
        EventKind::MonitorContendedExit => monitor(MonitorAction::ContendedExit, words),
        EventKind::MonitorNotify => monitor(MonitorAction::Notify, words),
        EventKind::MonitorNotifyAll => monitor(MonitorAction::NotifyAll, words),
        EventKind::MonitorWait => monitor(MonitorAction::Wait { timeout_ms: words.at(2) }, words),
        EventKind::MonitorWaited => monitor(MonitorAction::Waited, words),
        EventKind::MonitorBlocked => Payload::MonitorBlocked {
            monitor: words.at(0),
            class: words.name(1),
            holder: Holder::from_word(words.at(2)),
        },
        EventKind::MonitorLook => Payload::MonitorLook { blocked: words.at(0), threads: words.at(1) },
        EventKind::ThreadParkBegin => {
            Payload::ParkBegin { parker: words.at(0), absolute: words.flag(1), time: words.at(2) }
        }
        EventKind::ThreadParkEnd => Payload::ParkEnd { parker: words.at(0) },
        EventKind::ThreadUnpark => Payload::Unpark { parker: words.at(0) },
        EventKind::ThreadStart => thread(Edge::Begin, words),
        EventKind::ThreadStop => thread(Edge::End, words),
        EventKind::ThreadSleepBegin => {
            // All releases give milliseconds, those after 20 by dividing.
            let duration_ns = words.at(0).saturating_mul(1_000_000);
            Payload::Sleep { edge: Edge::Begin, duration_ns, interrupted: false }
        }
        EventKind::ThreadSleepEnd => Payload::Sleep { edge: Edge::End, duration_ns: 0, interrupted: words.flag(0) },
        EventKind::ThreadYield => Payload::Yield,
        EventKind::ThreadStarting => Payload::ThreadStarting { os_tid: words.at(0) & 0xffff_ffff },
        EventKind::ClassLoaded => {
            Payload::ClassLoaded { class: words.name(0), loader: words.at(1), shared: words.flag(2) }
        }
        EventKind::ClassUnloaded => Payload::ClassUnloaded { class: words.name(0), loader: words.at(1) },
        EventKind::ClassInitRequired => class_init(ClassInit::Required, words),
        EventKind::ClassInitRecursive => class_init(ClassInit::Recursive, words),
        EventKind::ClassInitErroneous => class_init(ClassInit::Erroneous, words),
        EventKind::ClassInitConcurrent => class_init(ClassInit::Concurrent, words),
        EventKind::ClassInitSuperFailed => class_init(ClassInit::SuperFailed, words),
        EventKind::ClassInitClinit => class_init(ClassInit::Clinit, words),
        EventKind::ClassInitError => class_init(ClassInit::Error, words),
        EventKind::ClassInitEnd => class_init(ClassInit::End, words),
        EventKind::CompileBegin => {
            Payload::Compile { edge: Edge::Begin, compiler: words.name(0), method: words.method(1), success: true }
        }
        EventKind::CompileEnd => Payload::Compile {
            edge: Edge::End,
            compiler: words.name(0),
            method: words.method(1),
            success: words.flag(4),
        },
        EventKind::CodeLoaded => {
            Payload::CodeLoaded { method: words.method(0), start: words.at(3), bytes: words.at(4) }
        }
        EventKind::CodeUnloaded => Payload::CodeUnloaded { method: words.method(0) },
        EventKind::AllocInNewTlab => {
            Payload::AllocInNewTlab { class: words.name(0), tlab_bytes: words.at(1), object_bytes: words.at(2) }
        }
        EventKind::AllocOutsideTlab => Payload::AllocOutsideTlab { class: words.name(0), object_bytes: words.at(1) },
        EventKind::VmShutdown => Payload::VmShutdown,
        EventKind::CpuSample => Payload::CpuSample { period_ns: words.at(0) },
        EventKind::OffCpu => Payload::OffCpu {
            blocked_ns: words.at(0),
            run_queue_ns: words.at(1),
            task_state: words.at(2),
            syscall: words.at(3),
        },
        EventKind::MethodEntry => method_edge(Edge::Begin, words),
        EventKind::MethodReturn => method_edge(Edge::End, words),
        EventKind::FrameUnwound => Payload::FrameUnwound { sp: words.at(0) },
        EventKind::MethodTimed => Payload::MethodTimed {
            method: words.subject(0),
            total_ns: words.at(1),
            inner_ns: words.at(2),
            exceptional: words.at(3) & Timed::EXCEPTIONAL != 0,
            uncounted: words.at(3) & Timed::UNCOUNTED != 0,
            wanted: words.at(3) & Timed::UNWANTED == 0,
        },
        EventKind::IllegalTransition | EventKind::Marks => inside(kind, words),
        EventKind::JniEntry | EventKind::JniReturn | EventKind::JniSection => jni(kind, words),
        EventKind::ObjectAlloc => Payload::ObjectAlloc {
            class: words.subject(0),
            bytes: words.at(1),
            length: Some(words.at(2)).filter(|&length| length != u64::MAX),
            wanted: words.at(3) != SubjectState::Unwanted as u64,
        },
    }
}

fn method_edge(edge: Edge, words: &Words<'_>) -> Payload {
    let wanted = words.at(2) != SubjectState::Unwanted as u64;
    Payload::Method { edge, method: words.subject(0), sp: words.at(1), wanted }
}

fn jni(kind: EventKind, words: &Words<'_>) -> Payload {
    let first = words.at(0);
    let (function, caller, wanted) = (words.function(), words.name(1), first & Flags::UNWANTED == 0);
    if kind == EventKind::JniSection {
        return Payload::JniSection { function, caller, lasted_ns: words.at(2), wanted };
    }
    let timed = kind == EventKind::JniReturn && first & Flags::UNTIMED == 0;
    Payload::JniCall {
        function,
        caller,
        total_ns: timed.then(|| words.at(2)),
        inner_ns: if timed { words.at(3) } else { 0 },
        depth: first >> 32,
        wanted,
    }
}

fn mem_pool(edge: Edge, words: &Words<'_>) -> Payload {
    Payload::MemPool {
        edge,
        manager: words.name(0),
        pool: words.name(1),
        init_bytes: words.at(2),
        used_bytes: words.at(3),
        committed_bytes: words.at(4),
        max_bytes: words.at(5),
    }
}

fn monitor(action: MonitorAction, words: &Words<'_>) -> Payload {
    Payload::Monitor { action, monitor: words.at(0), class: words.name(1) }
}

fn thread(edge: Edge, words: &Words<'_>) -> Payload {
    Payload::Thread { edge, name: words.name(0), java_tid: words.at(1), os_tid: words.at(2), daemon: words.flag(3) }
}

fn class_init(step: ClassInit, words: &Words<'_>) -> Payload {
    Payload::ClassInitialization { step, class: words.name(0), loader: words.at(1) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_truncated_record_is_an_error_and_not_a_panic() {
        for length in 0..HEADER_BYTES {
            assert!(matches!(decode(&vec![1; length]), Err(Error::Short { .. })));
        }
        let mut record = vec![0; HEADER_BYTES + 8];
        record[0] = 1;
        record[4] = 3;
        assert_eq!(decode(&record), Err(Error::Short { bytes: 40, needed: 56 }));
    }

    #[test]
    fn every_kind_decodes_from_exactly_its_words() {
        for kind in EventKind::ALL {
            let mut record = vec![0; HEADER_BYTES + 8 * kind.words()];
            record[..2].copy_from_slice(&(*kind as u16).to_le_bytes());
            record[4..6].copy_from_slice(&u16::try_from(kind.words()).expect("at most 8").to_le_bytes());
            assert!(matches!(decode(&record), Ok(Decoded::Event(_))), "{kind:?}");
        }
    }

    #[test]
    fn a_definition_cannot_claim_more_text_than_it_has() {
        let mut record = vec![0; DEFINITION_HEADER_BYTES + 4];
        record[..2].copy_from_slice(&KIND_DEFINITION.to_le_bytes());
        record[44..48].copy_from_slice(&5u32.to_le_bytes());
        assert_eq!(decode(&record), Err(Error::Short { bytes: 52, needed: 53 }));
    }
}

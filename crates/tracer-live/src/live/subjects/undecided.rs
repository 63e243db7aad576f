//! Records about subjects, and those to which the kernel could not apply the predicate yet.

use tracer_common::record::{EventKind, HEADER_BYTES, SMALL_EVENT_BYTES, SubjectState, Timed};

use crate::live::judge::Facts;

/// Room for an event of up to four words, as all about subjects are.
const FILLED_BYTES: usize = SMALL_EVENT_BYTES;

/// A record with the number of its subject.
pub struct Filled {
    record: [u8; FILLED_BYTES],
    bytes: usize,
}

impl Filled {
    pub(super) fn copy(record: &[u8]) -> Self {
        let mut copy = [0; FILLED_BYTES];
        let bytes = record.len().min(FILLED_BYTES);
        copy[..bytes].copy_from_slice(&record[..bytes]);
        Self { record: copy, bytes }
    }

    /// The record.
    pub fn record(&self) -> &[u8] {
        &self.record[..self.bytes]
    }

    pub(super) fn cpu(&self) -> u16 {
        u16::from_le_bytes([self.record[6], self.record[7]])
    }

    pub(super) fn word(&self, index: usize) -> u64 {
        let at = HEADER_BYTES + 8 * index;
        self.record.get(at..).and_then(|rest| rest.first_chunk()).map_or(0, |bytes| u64::from_le_bytes(*bytes))
    }

    pub(super) fn set_word(&mut self, index: usize, value: u64) {
        let at = HEADER_BYTES + 8 * index;
        if let Some(to) = self.record.get_mut(at..at + 8) {
            to.copy_from_slice(&value.to_le_bytes());
        }
    }
}

/// What the kernel follows of calls.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Follows {
    /// Who calls whom.
    Callers,
    /// At most how deep they are.
    Depths,
}

/// An event to which the predicate was not applied yet.
pub(super) struct Undecided {
    pub(super) facts: Facts,
    /// `Method*` of the caller, where the predicate asks for it; else 0.
    pub(super) caller: u64,
    /// Where the verdict goes, and what is written there for either.
    index: usize,
    wanted: u64,
    unwanted: u64,
    /// Whether the second word has a depth that is to be taken away.
    has_depth: bool,
}

/// The flags of a call that the kernel has timed; above stands a depth, while it is undecided.
const FLAGS: u64 = (1 << Timed::DEPTH_BIT) - 1;

impl Undecided {
    pub(super) fn of(kind: EventKind, follows: Follows, record: &Filled) -> Option<Self> {
        let state = |index: usize, facts: Facts, caller: u64| {
            (record.word(index) == SubjectState::Undecided as u64).then_some(Self {
                facts,
                caller,
                index,
                wanted: SubjectState::Wanted as u64,
                unwanted: SubjectState::Unwanted as u64,
                has_depth: kind == EventKind::MethodEntry && follows == Follows::Callers,
            })
        };
        match kind {
            // Where the kernel has put the caller at the end, the depth stands in the place of the stack pointer.
            EventKind::MethodEntry => {
                let depth = record.word(if follows == Follows::Callers { 1 } else { 3 });
                state(2, Facts { depth, ..Facts::default() }, record.word(3))
            }
            EventKind::ObjectAlloc => state(3, Facts { size: record.word(1), ..Facts::default() }, 0),
            EventKind::MethodTimed => {
                let (flags, depth) = (record.word(3) & FLAGS, record.word(3) >> Timed::DEPTH_BIT);
                (flags & Timed::UNDECIDED != 0).then_some(Self {
                    facts: Facts { duration_ns: record.word(1), depth, ..Facts::default() },
                    caller: record.word(2),
                    index: 3,
                    wanted: flags & !Timed::UNDECIDED,
                    unwanted: (flags & !Timed::UNDECIDED) | Timed::UNWANTED,
                    has_depth: false,
                })
            }
            // What returns was decided when it was called.
            _ => None,
        }
    }

    pub(super) fn decide(&self, record: &mut Filled, wanted: bool) {
        if self.has_depth {
            record.set_word(1, 0);
        }
        record.set_word(self.index, if wanted { self.wanted } else { self.unwanted });
    }
}

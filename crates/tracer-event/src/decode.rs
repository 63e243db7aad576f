//! Turns the bytes of a record into an event or a definition.
//!
//! Decoding never fails as a whole: a record that cannot be decoded gives an error, which is counted, and the next one is
//! looked at. Nothing here trusts a length.

mod payload;

use tracer_common::{
    marks::{MARKS_HEADER_BYTES, MAX_MARKS_WORDS},
    record::{DEFINITION_HEADER_BYTES, EventKind, HEADER_BYTES, KIND_DEFINITION, MAX_TEXT_BYTES},
    stack::{KIND_STACK, MAX_FRAMES, RawFrame, STACK_HEADER_BYTES, StackEnd},
};

use self::payload::{Words, payload, word};
use crate::event::{Event, NameId, SiteId, StackId, Tid};

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

/// Gives a record another stack.
pub fn set_stack(record: &mut [u8], stack: StackId) {
    if let Some(word) = record.get_mut(24..HEADER_BYTES) {
        word.copy_from_slice(&stack.0.to_le_bytes());
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

//! Writes records as the kernel side would: for what user space itself finds out in a live session, for scenarios, tests
//! and benchmarks.

use tracer_common::{
    marks::MARKS_HEADER_BYTES,
    record::{
        DEFINITION_HEADER_BYTES, DEFINITION_TEXT_BYTES, EventKind, HEADER_BYTES, KIND_DEFINITION, LARGE_EVENT_BYTES,
        MAX_TEXT_BYTES, NAME_CHUNK_BYTES, SMALL_EVENT_BYTES, SMALL_EVENT_WORDS, name_hash_finish, name_hash_start,
        name_hash_step,
    },
};

use crate::event::{NameId, SiteId, StackId, Tid};

/// The id that the kernel side gives to a text: a hash of its length and its first [`MAX_TEXT_BYTES`] bytes.
pub fn name_id(text: &[u8]) -> NameId {
    let mut hash = name_hash_start(text.len() as u64);
    for chunk in text.get(..MAX_TEXT_BYTES).unwrap_or(text).chunks(NAME_CHUNK_BYTES) {
        let mut padded = [0_u8; NAME_CHUNK_BYTES];
        for (to, from) in padded.iter_mut().zip(chunk) {
            *to = *from;
        }
        let (words, _) = padded.as_chunks::<8>();
        for word in words {
            hash = name_hash_step(hash, u64::from_le_bytes(*word));
        }
    }
    NameId(name_hash_finish(hash))
}

/// A record of an event. Words that the kind has and `words` does not give are 0; further ones are left out.
pub fn encode_event(kind: EventKind, site: SiteId, tid: Tid, time_ns: u64, words: &[u64]) -> Vec<u8> {
    encode_event_with_stack(kind, site, tid, time_ns, StackId::default(), words)
}

/// The same, of an event with a stack.
pub fn encode_event_with_stack(
    kind: EventKind,
    site: SiteId,
    tid: Tid,
    time_ns: u64,
    stack: StackId,
    words: &[u64],
) -> Vec<u8> {
    let count = kind.words();
    let bytes = if count <= SMALL_EVENT_WORDS { SMALL_EVENT_BYTES } else { LARGE_EVENT_BYTES };
    let mut record = Vec::with_capacity(bytes);
    header(&mut record, kind as u16, site, count, tid, time_ns, stack);
    for word in words.iter().take(count) {
        record.extend_from_slice(&word.to_le_bytes());
    }
    record.resize(bytes, 0);
    record
}

/// Puts the words of marks behind the record of their batch.
pub fn append_marks(record: &mut Vec<u8>, words: &[u64]) {
    record.resize(MARKS_HEADER_BYTES, 0);
    record.extend(words.iter().flat_map(|word| word.to_le_bytes()));
}

/// A record that gives a text its id. A text above [`MAX_TEXT_BYTES`] is cut, as in the kernel.
pub fn encode_definition(id: NameId, text: &[u8]) -> Vec<u8> {
    let stored = text.get(..MAX_TEXT_BYTES).unwrap_or(text);
    let room = DEFINITION_TEXT_BYTES.into_iter().find(|room| *room >= stored.len()).unwrap_or(MAX_TEXT_BYTES);
    let mut record = Vec::with_capacity(DEFINITION_HEADER_BYTES + room);
    header(&mut record, KIND_DEFINITION, SiteId(0), 0, Tid(0), 0, StackId::default());
    record.extend_from_slice(&id.0.to_le_bytes());
    for length in [text.len(), stored.len()] {
        record.extend_from_slice(&u32::try_from(length).unwrap_or(u32::MAX).to_le_bytes());
    }
    record.extend_from_slice(stored);
    record.resize(DEFINITION_HEADER_BYTES + room, 0);
    record
}

fn header(record: &mut Vec<u8>, kind: u16, site: SiteId, words: usize, tid: Tid, time_ns: u64, stack: StackId) {
    record.extend_from_slice(&kind.to_le_bytes());
    record.extend_from_slice(&site.0.to_le_bytes());
    record.extend_from_slice(&u16::try_from(words).unwrap_or(0).to_le_bytes());
    record.extend_from_slice(&[0; 2]);
    record.extend_from_slice(&tid.0.to_le_bytes());
    record.extend_from_slice(&[0; 4]);
    record.extend_from_slice(&time_ns.to_le_bytes());
    record.extend_from_slice(&stack.0.to_le_bytes());
    debug_assert_eq!(record.len(), HEADER_BYTES);
}

#[cfg(test)]
mod tests {
    use tracer_common::record::NAME_FIRST;

    use super::*;
    use crate::{
        decode::{Decoded, decode},
        event::{Edge, Event, Payload},
    };

    #[test]
    fn events_decode_to_what_was_encoded() {
        let words = [7, 1, 2, 1];
        let record = encode_event(EventKind::ThreadStart, SiteId(3), Tid(42), 99, &words);
        assert_eq!(record.len(), SMALL_EVENT_BYTES);
        let payload = Payload::Thread { edge: Edge::Begin, name: NameId(7), java_tid: 1, os_tid: 2, daemon: true };
        let expected = Event { time_ns: 99, tid: Tid(42), site: SiteId(3), stack: StackId::default(), payload };
        assert_eq!(decode(&record), Ok(Decoded::Event(expected)));
        for kind in EventKind::ALL {
            let record = encode_event(*kind, SiteId(0), Tid(1), 1, &[1; 8]);
            assert!(matches!(decode(&record), Ok(Decoded::Event(_))), "{kind:?}");
        }
    }

    #[test]
    fn definitions_decode_and_long_texts_are_cut() {
        for length in [0, 1, 64, 65, 1024, 5000] {
            let text = vec![b'x'; length];
            let id = name_id(&text);
            let record = encode_definition(id, &text);
            let stored = text.get(..MAX_TEXT_BYTES).unwrap_or(&text);
            assert_eq!(decode(&record), Ok(Decoded::Definition { id, text: stored, text_bytes: length }));
        }
    }

    #[test]
    fn ids_depend_on_the_text_and_are_not_reserved() {
        assert_eq!(name_id(b"G1 Old Gen"), name_id(b"G1 Old Gen"));
        assert_ne!(name_id(b"a"), name_id(b"a\0"), "padding is no text");
        assert!(name_id(b"").0 >= NAME_FIRST);
    }
}

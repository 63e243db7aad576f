//! Events of `--events`: their names and fields, as the code writes them and as `docs/events.md` lists them.

use std::collections::{BTreeMap, BTreeSet};

use tracer_common::record::{EventKind, HEADER_BYTES};

use super::{assert_same, read};
use crate::{
    decode::{self, Decoded},
    event::fields::fields,
};

/// Values of an event's words that show every field that some events have and others do not.
const WORDS: [[u64; 8]; 6] = [
    [0; 8],
    [1; 8],
    [u64::MAX; 8],
    [1, 1, 1, 0, 0, 0, 0, 0],
    [1, 2, 3, 4, 5, 6, 7, 8],
    [1, 0x1000, u64::MAX, 1, u64::MAX, 0, 0, 0],
];

/// A record as the kernel sends it.
fn record(kind: EventKind, words: &[u64]) -> Vec<u8> {
    let mut bytes = vec![0; HEADER_BYTES];
    bytes[..2].copy_from_slice(&(kind as u16).to_le_bytes());
    let count = u16::try_from(kind.words()).unwrap();
    bytes[4..6].copy_from_slice(&count.to_le_bytes());
    bytes.extend(words.iter().take(kind.words()).flat_map(|word| word.to_le_bytes()));
    bytes
}

/// Every event with all of its fields.
fn of_code() -> BTreeMap<String, BTreeSet<String>> {
    let mut all: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for kind in EventKind::ALL {
        let known = all.len();
        let mut names = BTreeSet::new();
        for words in &WORDS {
            let Ok(Decoded::Event(event)) = decode::decode(&record(*kind, words)) else { continue };
            let (name, fields) = fields(&event.payload);
            names.insert(name.to_owned());
            all.entry(name.to_owned()).or_default().extend(fields.iter().map(|(key, _)| (*key).to_owned()));
        }
        assert!(!names.is_empty(), "{kind:?} is decoded from none of these words ({known} events so far)");
    }
    all
}

/// The texts between backquotes.
fn codes(cell: &str) -> Vec<String> {
    cell.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

/// Every event of the table below `## By lens`, with its fields.
fn of_document() -> BTreeMap<String, BTreeSet<String>> {
    let text = read("docs/events.md");
    let table = text.split("## By lens").nth(1).unwrap_or_default().to_owned();
    let mut all = BTreeMap::new();
    for line in table.lines().filter(|line| line.starts_with("| `")) {
        let cells: Vec<&str> = line.split(" | ").collect();
        let [names, fields, ..] = cells[..] else { panic!("not a row of events: {line}") };
        for name in codes(names) {
            assert!(
                all.insert(name.clone(), codes(fields).into_iter().collect()).is_none(),
                "{name} stands there twice"
            );
        }
    }
    all
}

#[test]
fn every_event_and_every_field_is_documented() {
    let (code, documented) = (of_code(), of_document());
    assert_same("events", &code.keys().cloned().collect(), &documented.keys().cloned().collect());
    for (event, fields) in &code {
        let none = BTreeSet::new();
        let written = documented.get(event).unwrap_or(&none);
        assert_eq!(fields, written, "fields of {event}: the code, and docs/events.md");
    }
}

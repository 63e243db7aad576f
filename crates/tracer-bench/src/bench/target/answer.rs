//! What a program answers to `GO`: `DONE ns=N valid=true name=number ...`, or `FAILED` and why.

use std::collections::BTreeMap;

use crate::{bench::results::Memory, text::escape};

/// Most words of an answer.
const MAX_WORDS: usize = 256;
/// Most characters of a word's name.
const MAX_NAME: usize = 64;
/// Most characters that are quoted of what is wrong.
const MAX_QUOTED: usize = 200;

/// An iteration by the program's own account.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Answer {
    /// Its time.
    pub(super) wall_ns: u64,
    /// Memory of the JVM.
    pub(super) memory: Memory,
    /// All other words.
    pub(super) counts: BTreeMap<String, u64>,
}

/// Reads the line; the error continues a sentence that begins with the program's name.
pub(super) fn parse(line: &str) -> Result<Answer, String> {
    let mut words = line.split_ascii_whitespace();
    match words.next() {
        Some("DONE") => {}
        Some("FAILED") => return Err(format!("says that its result is wrong: {}", quote(line))),
        _ => return Err(format!("answers `{}`", quote(line))),
    }
    let mut answer = Answer::default();
    let (mut timed, mut valid) = (false, None);
    for (index, word) in words.enumerate() {
        let (name, value) = word.split_once('=').ok_or_else(|| format!("answers `{}`", quote(word)))?;
        if index >= MAX_WORDS || name.is_empty() || name.len() > MAX_NAME {
            return Err(format!("answers too much: `{}`", quote(word)));
        }
        if name == "valid" {
            valid = Some(value == "true");
            continue;
        }
        let number = value.parse().map_err(|_| format!("answers `{}`, which is no number", quote(word)))?;
        match memory(&mut answer.memory, name) {
            Some(field) => *field = Some(number),
            None if name == "ns" => (answer.wall_ns, timed) = (number, true),
            None => drop(answer.counts.insert(name.to_owned(), number)),
        }
    }
    match (valid, timed && answer.wall_ns > 0) {
        (Some(true), true) => Ok(answer),
        (Some(false), _) => Err("says that its result is not valid".to_owned()),
        (None, _) => Err(format!("does not say whether its result is valid: `{}`", quote(line))),
        (Some(true), false) => Err(format!("does not say how long it took: `{}`", quote(line))),
    }
}

fn memory<'m>(memory: &'m mut Memory, name: &str) -> Option<&'m mut Option<u64>> {
    let Memory { collections, collection_ns, peak_heap_bytes, allocated_bytes, promoted_bytes } = memory;
    match name.strip_prefix("memory.")? {
        "collections" => Some(collections),
        "collection_ns" => Some(collection_ns),
        "peak_heap_bytes" => Some(peak_heap_bytes),
        "allocated_bytes" => Some(allocated_bytes),
        "promoted_bytes" => Some(promoted_bytes),
        _ => None,
    }
}

fn quote(text: &str) -> String {
    let cut: String = text.chars().take(MAX_QUOTED).collect();
    escape::terminal(&cut).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_time_memory_and_counts() {
        let answer = parse("DONE ns=1200 valid=true parks=7 memory.collections=2 memory.promoted_bytes=0").unwrap();
        assert_eq!(answer.wall_ns, 1200);
        assert_eq!(answer.counts, BTreeMap::from([("parks".to_owned(), 7)]));
        let memory = Memory { collections: Some(2), promoted_bytes: Some(0), ..Memory::default() };
        assert_eq!(answer.memory, memory, "what is not told is absent, and 0 is not");
    }

    #[test]
    fn what_is_not_as_agreed_is_an_error_and_quoted_harmlessly() {
        let many = format!("DONE ns=1 valid=true{}", " a=1".repeat(MAX_WORDS));
        for (line, expected) in [
            ("FAILED 3 rows, not 4", "3 rows, not 4"),
            ("DONE ns=1 valid=false", "not valid"),
            ("DONE ns=1", "valid"),
            ("DONE valid=true", "how long"),
            ("DONE ns=0 valid=true", "how long"),
            ("DONE ns=-1 valid=true", "no number"),
            ("DONE ns=99999999999999999999 valid=true", "no number"),
            ("DONE 12", "`12`"),
            ("DONE =1 valid=true", "too much"),
            ("DONE \u{1b}[2J", "\\x1b"),
            ("DONER ns=1 valid=true", "DONER"),
            (many.as_str(), "too much"),
        ] {
            let error = parse(line).unwrap_err();
            assert!(error.contains(expected) && !error.contains('\u{1b}'), "{line}: {error}");
        }
    }

    #[test]
    fn fuzz_answer() {
        crate::fuzz::texts("answer", |line| match parse(line) {
            Ok(answer) => assert!(answer.wall_ns > 0 && answer.counts.len() <= MAX_WORDS),
            Err(error) => assert!(!error.contains('\u{1b}')),
        });
    }
}

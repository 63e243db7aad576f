//! Texts that can be names of threads: those that were heard or asked for last.
//!
//! A text is told once, and threads can start with it hours later. So what is asked for stays, and what nobody asks for goes first.

use std::collections::HashMap;

use crate::event::NameId;

/// Most texts of a half, and most bytes of them.
const MAX_TEXTS: usize = 32_768;
const MAX_BYTES: usize = 16 << 20;

/// Texts by their numbers, in two halves: where the younger one is full, it becomes the older, and the one before is gone.
#[derive(Debug, Default)]
pub(super) struct Texts {
    young: HashMap<NameId, String>,
    young_bytes: usize,
    old: HashMap<NameId, String>,
}

impl Texts {
    /// A text; it is among the younger ones then.
    pub(super) fn get(&mut self, id: NameId) -> Option<&str> {
        if let Some(text) = self.old.remove(&id) {
            self.keep(id, text);
        }
        self.young.get(&id).map(String::as_str)
    }

    /// Takes notice of a text.
    pub(super) fn keep(&mut self, id: NameId, text: String) {
        if self.young.len() >= MAX_TEXTS || self.young_bytes + text.len() > MAX_BYTES {
            self.old = std::mem::take(&mut self.young);
            self.young_bytes = 0;
        }
        self.young_bytes += text.len();
        if let Some(before) = self.young.insert(id, text) {
            self.young_bytes -= before.len();
        }
    }

    #[cfg(test)]
    fn held(&self) -> (usize, usize) {
        let all = || self.young.values().chain(self.old.values());
        (all().count(), all().map(String::len).sum())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_for_stays_while_others_come_without_end() {
        let mut texts = Texts::default();
        texts.keep(NameId(1), "http-nio-8080-exec".to_owned());
        texts.keep(NameId(2), "nobody asks for it".to_owned());
        for number in 3..200_000 {
            texts.keep(NameId(number), format!("request-{number}"));
            if number % 10_000 == 0 {
                assert_eq!(texts.get(NameId(1)), Some("http-nio-8080-exec"), "after {number}");
            }
        }
        assert_eq!(texts.get(NameId(2)), None);
        assert_eq!(texts.get(NameId(199_999)), Some("request-199999"));
    }

    #[test]
    fn a_target_cannot_make_us_keep_any_number_of_texts_and_bytes() {
        for (number, length) in [(100_000_u64, 5), (3_000, 60_000)] {
            let mut texts = Texts::default();
            for id in 0..number {
                texts.keep(NameId(id), "n".repeat(length));
                texts.keep(NameId(id), "n".repeat(length));
            }
            let (held, bytes) = texts.held();
            assert!(held > 0 && held <= 2 * MAX_TEXTS && bytes <= 2 * MAX_BYTES, "{held} texts, {bytes} bytes");
            assert_eq!(texts.young_bytes, texts.young.values().map(String::len).sum::<usize>());
        }
    }
}

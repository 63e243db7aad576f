//! Texts that a target makes up, by number: in bounded memory.

use std::collections::HashMap;

use super::super::super::table::OTHERS;

/// Most texts that are told apart.
pub(super) const TEXTS: usize = 16_384;
/// Most bytes of them, which are kept twice: a target decides how long they are.
const TEXT_BYTES: usize = 16 << 20;

/// Texts by number; what comes above the bound has one number together.
#[derive(Debug)]
pub(super) struct Texts {
    all: Vec<String>,
    numbers: HashMap<String, usize>,
    bytes: usize,
}

impl Default for Texts {
    fn default() -> Self {
        Self { all: vec![OTHERS.to_owned()], numbers: HashMap::new(), bytes: 0 }
    }
}

impl Texts {
    pub(super) fn number(&mut self, text: String) -> usize {
        if let Some(known) = self.numbers.get(&text) {
            return *known;
        }
        if self.all.len() > TEXTS || self.bytes + text.len() > TEXT_BYTES {
            return 0;
        }
        self.bytes += text.len();
        self.all.push(text.clone());
        self.numbers.insert(text, self.all.len() - 1);
        self.all.len() - 1
    }

    pub(super) fn of(&self, number: usize) -> String {
        self.all.get(number).cloned().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_take_no_more_than_their_bytes_and_the_rest_has_one_number() {
        let mut texts = Texts::default();
        let numbers: Vec<usize> = (0..4096).map(|number| texts.number(format!("{number:08192}"))).collect();
        let kept: usize = texts.numbers.keys().map(String::len).sum();
        assert!(kept <= TEXT_BYTES && kept > TEXT_BYTES / 2, "{kept}");
        assert_eq!((numbers[0], numbers[4095], texts.of(0)), (1, 0, OTHERS.to_owned()));
    }
}

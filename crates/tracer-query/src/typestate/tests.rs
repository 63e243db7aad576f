//! Properties and machines as a whole.

mod language;
mod mistakes;
mod rules;
mod verdicts;

use super::*;

/// Numbers that look random and are the same in every run (Steele's `SplitMix64`).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((z ^ (z >> 31)) >> 33).unwrap() % limit
    }
}

/// A property of symbols that are named by letters, with this expression.
fn lettered(letters: &str, regex: &str, more: &str) -> Result<Property, Error> {
    let symbols = letters.chars().map(|c| format!("{c} = \"{c}()\"")).collect::<Vec<_>>().join("\n");
    let text =
        format!("name = \"P\"\nmessage = \"m\"\nclasses = \"A\"\nregex = \"{regex}\"\n{more}\n[symbols]\n{symbols}");
    Property::parse("p.toml", &text)
}

#[test]
fn fuzz_property() {
    crate::fuzz::texts("property", |text| match Property::parse("p.toml", text) {
        Ok(property) => drop(property.rules(1)),
        Err(error) => assert!(!error.to_string().contains('\u{1b}') && !error.render().contains('\u{1b}')),
    });
}

#[test]
fn what_a_text_says_by_escapes_is_harmless_in_a_message() {
    let error = lettered("a", "a", "key = \"thr\\ead\"").expect_err("no key");
    assert!(!error.to_string().contains('\u{1b}'), "{error:?}");
}

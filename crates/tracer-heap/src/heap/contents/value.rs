//! What an array holds, as people read it.

/// The first bytes of what an array holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Value {
    /// As many as were told.
    pub first: Vec<u8>,
    /// How many bytes it holds.
    pub bytes: u64,
}

impl Value {
    /// `"DE"` where it is one of a text, or printable; else in hexadecimal digits: `0x00ff10`.
    pub fn text(&self, class: &str, is_of_string: bool) -> String {
        let more = if self.bytes > self.first.len() as u64 { "…" } else { "" };
        // The JDK keeps texts in bytes of Latin-1 where all letters are of it, and in UTF-16 else.
        let text = match class {
            "char[]" => utf16(&self.first),
            "byte[]" if is_of_string => latin1(&self.first).or_else(|| utf16(&self.first)),
            "byte[]" if self.first.is_ascii() => latin1(&self.first),
            _ => None,
        };
        let digits = || self.first.iter().flat_map(|byte| [byte >> 4, byte & 0xf]);
        let digits = || digits().filter_map(|digit| char::from_digit(digit.into(), 16)).collect::<String>();
        text.map_or_else(|| format!("0x{}{more}", digits()), |text| format!("\"{}{more}\"", text.escape_debug()))
    }
}

fn is_of_texts(letter: char) -> bool {
    !letter.is_control() || matches!(letter, '\t' | '\n' | '\r')
}

fn latin1(bytes: &[u8]) -> Option<String> {
    let text: String = bytes.iter().map(|byte| char::from(*byte)).collect();
    text.chars().all(is_of_texts).then_some(text)
}

fn utf16(bytes: &[u8]) -> Option<String> {
    let (units, _) = bytes.as_chunks::<2>();
    let mut units: Vec<u16> = units.iter().map(|unit| u16::from_le_bytes(*unit)).collect();
    // The second half of the last letter may not have been told.
    if units.last().is_some_and(|unit| (0xd800..0xdc00).contains(unit)) {
        units.pop();
    }
    let text = String::from_utf16(&units).ok()?;
    text.chars().all(is_of_texts).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(first: &[u8]) -> Value {
        Value { first: first.to_vec(), bytes: first.len() as u64 }
    }

    fn units(text: &str) -> Vec<u8> {
        text.encode_utf16().flat_map(u16::to_le_bytes).collect()
    }

    #[test]
    fn texts_are_read_in_both_forms_that_the_jdk_has() {
        assert_eq!(value(b"DE").text("byte[]", true), "\"DE\"");
        assert_eq!(value(b"M\xfcnchen").text("byte[]", true), "\"München\"");
        assert_eq!(value(&units("Привет")).text("byte[]", true), "\"Привет\"");
        assert_eq!(value(&units("Graz 🎿")).text("char[]", false), "\"Graz 🎿\"");
        let cut = Value { first: units("a🎿")[..4].to_vec(), bytes: 6 };
        assert_eq!(cut.text("char[]", false), "\"a…\"", "half a letter");
        assert_eq!(value(b"").text("byte[]", true), "\"\"");
    }

    #[test]
    fn fuzz_values() {
        crate::fuzz::each("values", 1 << 20, |dice| {
            let value = Value { first: dice.bytes(96), bytes: dice.number() };
            let text = value.text(dice.pick(&["byte[]", "char[]", "short[]"]), dice.once_in(2));
            assert!(!text.chars().any(char::is_control), "{text:?}");
        });
    }

    #[test]
    fn what_is_no_text_is_shown_as_digits_and_nothing_escapes() {
        assert_eq!(value(&[0, 255, 16]).text("byte[]", false), "0x00ff10");
        assert_eq!(value(b"M\xfcnchen").text("byte[]", false), "0x4dfc6e6368656e");
        assert_eq!(value(b"HTTP/1.1").text("byte[]", false), "\"HTTP/1.1\"");
        assert_eq!(value(&[1, 2]).text("short[]", false), "0x0102");
        assert_eq!(value(b"a\"b\n\x1b[2J").text("byte[]", false), "0x6122620a1b5b324a", "an escape is no text");
        assert_eq!(value(b"a\"b\n").text("byte[]", false), "\"a\\\"b\\n\"");
        let long = Value { first: b"<html>".to_vec(), bytes: 6000 };
        assert_eq!(long.text("byte[]", true), "\"<html>…\"");
    }
}

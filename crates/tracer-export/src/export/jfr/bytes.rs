//! How the format writes numbers, texts and events. It knows no type.

/// Bytes of one event, of one pool, or of all events of a chunk.
#[derive(Clone, Debug, Default)]
pub(super) struct Bytes(Vec<u8>);

impl Bytes {
    /// A number: 7 bits a byte, the lowest first, and all 8 bits of a ninth byte.
    pub(super) fn number(&mut self, mut value: u64) {
        for _ in 0..8 {
            let [low, ..] = value.to_le_bytes();
            value >>= 7;
            if value == 0 && low < 0x80 {
                self.0.push(low);
                return;
            }
            self.0.push(low | 0x80);
        }
        self.0.push(value.to_le_bytes()[0]);
    }

    /// A signed number, by its bits.
    pub(super) fn signed(&mut self, value: i64) {
        self.number(value.cast_unsigned());
    }

    /// A number that Java reads as an `int`; what is not known is -1, what does not fit is the largest.
    pub(super) fn int(&mut self, value: Option<u32>) {
        self.number(value.map_or(u64::from(u32::MAX), |value| u64::from(value.min(i32::MAX.cast_unsigned()))));
    }

    /// Yes or no.
    pub(super) fn flag(&mut self, value: bool) {
        self.0.push(u8::from(value));
    }

    /// A text where it stands, in UTF-8.
    pub(super) fn text(&mut self, text: &str) {
        if text.is_empty() {
            self.0.push(1);
            return;
        }
        self.0.push(3);
        self.number(text.len() as u64);
        self.0.extend_from_slice(text.as_bytes());
    }

    /// No text.
    pub(super) fn no_text(&mut self) {
        self.0.push(0);
    }

    /// An event, with its size before it. The size counts its own bytes.
    pub(super) fn event(&mut self, body: &Self) {
        let body = &body.0;
        let mut size = body.len() as u64;
        // It gets longer by a byte at most once more.
        for _ in 0..2 {
            size = body.len() as u64 + length(size);
        }
        self.number(size);
        self.0.extend_from_slice(body);
    }

    /// Bytes as they are.
    pub(super) fn raw(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    /// All bytes.
    pub(super) fn as_slice(&self) -> &[u8] {
        &self.0
    }

    /// How many there are.
    pub(super) const fn len(&self) -> usize {
        self.0.len()
    }

    /// Forgets them, and keeps the memory.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}

/// How many bytes a number takes.
const fn length(value: u64) -> u64 {
    match (u64::BITS - value.leading_zeros()).div_ceil(7) {
        0 => 1,
        bytes if bytes > 9 => 9,
        bytes => bytes as u64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(value: u64) -> Vec<u8> {
        let mut bytes = Bytes::default();
        bytes.number(value);
        assert_eq!(bytes.len() as u64, length(value), "{value:#x}");
        bytes.0
    }

    #[test]
    fn numbers_take_as_many_bytes_as_they_need_and_nine_at_most() {
        assert_eq!(number(0), [0]);
        assert_eq!(number(0x7f), [0x7f]);
        assert_eq!(number(0x80), [0x80, 1]);
        assert_eq!(number(u64::from(u32::MAX)), [0xff, 0xff, 0xff, 0xff, 0x0f]);
        assert_eq!(number((1 << 56) - 1), [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f]);
        assert_eq!(number(1 << 56), [0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 1]);
        assert_eq!(number(u64::MAX), [0xff; 9]);
    }

    #[test]
    fn the_size_of_an_event_counts_its_own_bytes() {
        for body in [1_usize, 125, 126, 127, 128, 16_380, 16_381, 16_382, 16_383, 16_384] {
            let mut bytes = Bytes::default();
            bytes.event(&Bytes(vec![7; body]));
            let written = bytes.len() as u64;
            assert_eq!(bytes.0[..bytes.len() - body], number(written), "a body of {body}");
        }
    }
}

//! How the format writes numbers and texts. It knows no type, and believes no length.

use std::borrow::Cow;

/// What cannot be so in a file that a flight recorder wrote.
pub(super) type Damage = &'static str;

/// Longest text that is read; the JVM cuts what it writes long before.
const MAX_TEXT_BYTES: usize = 1 << 20;

/// Bytes of a chunk, from a place on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Input<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Whether numbers take as many bytes as they need.
    compressed: bool,
}

/// A text, or the key of one.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Text<'a> {
    Null,
    Here(Cow<'a, str>),
    Pooled(i64),
}

impl<'a> Input<'a> {
    pub(super) const fn new(bytes: &'a [u8], compressed: bool) -> Self {
        Self { bytes, at: 0, compressed }
    }

    /// The same bytes from another place on.
    pub(super) const fn from(self, at: usize) -> Self {
        Self { at, ..self }
    }

    /// Where it stands.
    pub(super) const fn at(&self) -> usize {
        self.at
    }

    /// How many bytes are left.
    pub(super) const fn left(&self) -> usize {
        self.bytes.len().saturating_sub(self.at)
    }

    /// The next event: its bytes after its size, and the place behind it.
    pub(super) fn event(self) -> Result<(Self, usize), Damage> {
        let mut body = self;
        let size = usize::try_from(body.int()?).unwrap_or(usize::MAX);
        let end = self.at.checked_add(size).filter(|end| *end <= self.bytes.len()).ok_or("an event is cut")?;
        if end <= body.at {
            return Err("an event is smaller than its size");
        }
        Ok((Self { bytes: &self.bytes[..end], ..body }, end))
    }

    pub(super) fn take(&mut self, count: usize) -> Result<&'a [u8], Damage> {
        let end = self.at.checked_add(count).filter(|end| *end <= self.bytes.len());
        let end = end.ok_or("it ends in the middle of a value")?;
        let taken = &self.bytes[self.at..end];
        self.at = end;
        Ok(taken)
    }

    pub(super) fn byte(&mut self) -> Result<u8, Damage> {
        self.take(1).map(|bytes| bytes[0])
    }

    /// A number with its highest byte first, of at most eight bytes.
    pub(super) fn plain(&mut self, bytes: usize) -> Result<u64, Damage> {
        Ok(self.take(bytes)?.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }

    /// 7 bits a byte, the lowest first, and all 8 bits of a ninth byte.
    fn packed(&mut self) -> Result<u64, Damage> {
        let mut number = 0;
        for shift in (0..56).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Ok(number | u64::from(self.byte()?) << 56)
    }

    pub(super) fn long(&mut self) -> Result<i64, Damage> {
        if self.compressed { self.packed() } else { self.plain(8) }.map(u64::cast_signed)
    }

    pub(super) fn int(&mut self) -> Result<i32, Damage> {
        let number = if self.compressed { self.packed() } else { self.plain(4) }?;
        Ok(u32::try_from(number & 0xffff_ffff).unwrap_or(0).cast_signed())
    }

    pub(super) fn short(&mut self) -> Result<i16, Damage> {
        let number = if self.compressed { self.packed() } else { self.plain(2) }?;
        Ok(u16::try_from(number & 0xffff).unwrap_or(0).cast_signed())
    }

    /// How many values follow that take a byte each at least.
    pub(super) fn count(&mut self) -> Result<usize, Damage> {
        usize::try_from(self.int()?).ok().filter(|count| *count <= self.left()).ok_or("more values than bytes")
    }

    pub(super) fn text(&mut self) -> Result<Text<'a>, Damage> {
        Ok(match self.byte()? {
            0 => Text::Null,
            1 => Text::Here(Cow::Borrowed("")),
            2 => Text::Pooled(self.long()?),
            3 => Text::Here(String::from_utf8_lossy(self.text_bytes()?)),
            4 => Text::Here(self.utf16()?.into()),
            5 => Text::Here(self.text_bytes()?.iter().copied().map(char::from).collect::<String>().into()),
            _ => return Err("a text of no known kind"),
        })
    }

    fn text_bytes(&mut self) -> Result<&'a [u8], Damage> {
        let count = self.count()?;
        if count > MAX_TEXT_BYTES {
            return Err("a text is too long");
        }
        self.take(count)
    }

    fn utf16(&mut self) -> Result<String, Damage> {
        let count = self.count()?;
        if count > MAX_TEXT_BYTES {
            return Err("a text is too long");
        }
        let units: Vec<u16> = (0..count).map(|_| self.short().map(i16::cast_unsigned)).collect::<Result<_, _>>()?;
        Ok(String::from_utf16_lossy(&units))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_both_forms_write_them() {
        let mut packed = Input::new(&[0xff, 0xff, 0xff, 0xff, 0x0f, 0x80, 1, 5], true);
        assert_eq!((packed.int(), packed.long(), packed.short()), (Ok(-1), Ok(128), Ok(5)));
        assert_eq!(Input::new(&[0xff; 9], true).long(), Ok(-1));
        let mut plain = Input::new(&[0, 0, 1, 0, 0xff, 0xfe, 0, 0, 0, 0, 0, 0, 0, 9], false);
        assert_eq!((plain.int(), plain.short(), plain.long()), (Ok(256), Ok(-2), Ok(9)));
        assert!(plain.byte().is_err());
    }

    #[test]
    fn texts_have_six_kinds() {
        let here = |text: &'static str| Ok(Text::Here(Cow::Borrowed(text)));
        for (bytes, expected) in [
            (&[0][..], Ok(Text::Null)),
            (&[1], here("")),
            (&[2, 7], Ok(Text::Pooled(7))),
            (&[3, 2, 0xc3, 0xa9], here("é")),
            (&[4, 2, b'a', 0xe9, 1], here("aé")),
            (&[5, 1, 0xe9], here("é")),
            (&[3, 9, b'a'], Err("more values than bytes")),
            (&[6], Err("a text of no known kind")),
        ] {
            assert_eq!(Input::new(bytes, true).text(), expected, "{bytes:?}");
        }
    }

    #[test]
    fn an_event_lies_in_its_chunk_and_is_never_empty() {
        for (bytes, is_whole) in
            [(&[3, 9, 9][..], true), (&[3, 9], false), (&[0, 9], false), (&[1], false), (&[], false)]
        {
            assert_eq!(Input::new(bytes, true).event().is_ok(), is_whole, "{bytes:?}");
        }
    }
}

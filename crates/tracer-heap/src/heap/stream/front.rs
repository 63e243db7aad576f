//! Numbers, bytes and texts off the front of what has come of a stream.

use tracer_weave::walk;

/// Longest name.
const MAX_NAME: usize = 4096;

/// What a piece of a stream is not: whole.
pub(super) struct Cut;

/// Takes numbers off the front.
pub(super) struct Front<'a>(pub(super) &'a [u8]);

impl Front<'_> {
    pub(super) fn byte(&mut self) -> Result<u8, Cut> {
        let (first, rest) = self.0.split_first().ok_or(Cut)?;
        self.0 = rest;
        Ok(*first)
    }

    pub(super) fn number(&mut self) -> Result<u64, Cut> {
        let (number, len) = walk::get(self.0).ok_or(Cut)?;
        self.0 = self.0.get(len..).ok_or(Cut)?;
        Ok(number)
    }

    pub(super) fn eight(&mut self) -> Result<u64, Cut> {
        let (first, rest) = self.0.split_first_chunk().ok_or(Cut)?;
        self.0 = rest;
        Ok(u64::from_le_bytes(*first))
    }

    /// So many bytes at most, behind their number; nothing where there are more.
    pub(super) fn bytes(&mut self, most: usize) -> Result<Option<Vec<u8>>, Cut> {
        let Some(len) = usize::try_from(self.number()?).ok().filter(|len| *len <= most) else { return Ok(None) };
        let bytes = self.0.get(..len).ok_or(Cut)?;
        self.0 = self.0.get(len..).ok_or(Cut)?;
        Ok(Some(bytes.to_vec()))
    }

    pub(super) fn text(&mut self) -> Result<String, Cut> {
        let len = usize::try_from(self.number()?).unwrap_or(usize::MAX);
        if len > MAX_NAME {
            return Err(Cut);
        }
        let text = self.0.get(..len).ok_or(Cut)?;
        self.0 = self.0.get(len..).ok_or(Cut)?;
        Ok(String::from_utf8_lossy(text).into_owned())
    }
}

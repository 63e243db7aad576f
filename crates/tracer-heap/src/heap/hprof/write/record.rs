//! The bytes of a dump's records, and how they are written: segments of many, and long arrays without a copy.

use std::io::{self, Read as _, Write};

/// Segments are so long, or hold one object.
const SEGMENT: usize = 1 << 20;

/// Bytes of a record.
#[derive(Default)]
pub(super) struct Record(pub(super) Vec<u8>);

impl Record {
    pub(super) fn one(&mut self, byte: u8) -> &mut Self {
        self.0.push(byte);
        self
    }

    pub(super) fn two(&mut self, number: usize) -> &mut Self {
        self.bytes(&u16::try_from(number).unwrap_or(u16::MAX).to_be_bytes())
    }

    pub(super) fn four(&mut self, number: u32) -> &mut Self {
        self.bytes(&number.to_be_bytes())
    }

    pub(super) fn eight(&mut self, number: u64) -> &mut Self {
        self.bytes(&number.to_be_bytes())
    }

    pub(super) fn bytes(&mut self, bytes: &[u8]) -> &mut Self {
        self.0.extend_from_slice(bytes);
        self
    }

    /// Writes it as a record, and is empty then.
    pub(super) fn write(&mut self, tag: u8, out: &mut dyn Write) -> io::Result<()> {
        head(tag, self.0.len() as u64, out)?;
        out.write_all(&self.0)?;
        self.0.clear();
        Ok(())
    }

    pub(super) fn write_if_long(&mut self, out: &mut dyn Write) -> io::Result<()> {
        if self.0.len() < SEGMENT { Ok(()) } else { self.write(0x1c, out) }
    }

    /// An array: in this segment, or in one of its own where it is long.
    pub(super) fn array(
        &mut self,
        start: &Self,
        length: u64,
        out: &mut dyn Write,
        elements: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> io::Result<()> {
        if length < SEGMENT as u64 {
            self.bytes(&start.0);
            return elements(&mut self.0);
        }
        self.write(0x1c, out)?;
        head(0x1c, start.0.len() as u64 + length, out)?;
        out.write_all(&start.0)?;
        elements(out)
    }
}

pub(super) fn zeros(count: u64, out: &mut dyn Write) -> io::Result<()> {
    io::copy(&mut io::repeat(0).take(count), out).map(drop)
}

fn head(tag: u8, length: u64, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(&[tag, 0, 0, 0, 0])?;
    let length = u32::try_from(length).map_err(|_| io::Error::other("a record is too long"))?;
    out.write_all(&length.to_be_bytes())
}

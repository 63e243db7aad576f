//! A chunk's header, and its events one after the other.

use std::io::{self, Read};

use super::input::{Damage, Input};

/// How a file begins, and each of its chunks.
pub const MAGIC: [u8; 4] = *b"FLR\0";
pub(super) const HEADER_BYTES: usize = 68;
/// The only major version that was ever written since the format was opened.
pub(super) const VERSION: u16 = 2;
/// No recorder lets a chunk grow to this; the JDK's ends one at 12 MiB.
const MAX_BYTES: u64 = 1 << 30;

/// What a chunk's header says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Header {
    pub(super) major: u16,
    pub(super) bytes: usize,
    pub(super) metadata: usize,
    /// Since the epoch.
    pub(super) start_ns: u64,
    pub(super) duration_ns: u64,
    start_ticks: i64,
    ticks_per_ns: f64,
    pub(super) compressed: bool,
}

impl Header {
    /// Reads it. Its version is not checked: in another one, the rest may be anything.
    pub(super) fn read(bytes: &[u8; HEADER_BYTES]) -> Result<Self, Damage> {
        let mut input = Input::new(bytes, false);
        if input.take(MAGIC.len())? != MAGIC {
            return Err("a chunk begins with another word");
        }
        let major = u16::try_from(input.plain(2)?).unwrap_or(u16::MAX);
        let _minor = input.plain(2)?;
        let [size, _pools, metadata, start_ns, duration_ns, start_ticks, per_second] = {
            let mut words = [0; 7];
            for word in &mut words {
                *word = input.plain(8)?;
            }
            words
        };
        let flags = input.plain(4)?;
        if major == VERSION && (size < HEADER_BYTES as u64 || size > MAX_BYTES) {
            return Err("a chunk has an impossible size");
        }
        if major == VERSION && per_second == 0 {
            return Err("a chunk has no clock");
        }
        Ok(Self {
            major,
            bytes: usize::try_from(size).unwrap_or(usize::MAX),
            metadata: usize::try_from(metadata).unwrap_or(usize::MAX),
            start_ns,
            duration_ns,
            start_ticks: start_ticks.cast_signed(),
            ticks_per_ns: per_second as f64 / 1e9,
            compressed: flags & 1 != 0,
        })
    }

    /// A moment of the recorder's clock, since the epoch. It is computed as the JDK's own reader does.
    #[expect(clippy::cast_possible_truncation, reason = "a conversion from a float stops at the ends of what fits")]
    pub(super) fn moment_ns(&self, ticks: i64) -> u64 {
        let since = ((i128::from(ticks) - i128::from(self.start_ticks)) as f64 / self.ticks_per_ns) as i64;
        self.start_ns.saturating_add_signed(since)
    }

    /// A time of the recorder's clock; none where it is negative.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a conversion stops at the ends of what fits"
    )]
    pub(super) fn span_ns(&self, ticks: i64) -> u64 {
        // A conversion from a float stops at the ends of what fits.
        (ticks as f64 / self.ticks_per_ns) as u64
    }

    /// When it ended, where its recorder came so far as to say it.
    pub(super) fn end_ns(&self) -> u64 {
        self.start_ns.saturating_add(self.duration_ns)
    }
}

/// Why a file cannot be read any further.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Torn {
    Cut,
    Version(u16),
    Damaged(Damage),
}

/// Reads the next chunk into `bytes`; nothing at the end of the file.
pub(super) fn next(input: &mut impl Read, bytes: &mut Vec<u8>) -> io::Result<Result<Option<Header>, Torn>> {
    bytes.clear();
    input.by_ref().take(HEADER_BYTES as u64).read_to_end(bytes)?;
    if bytes.is_empty() {
        return Ok(Ok(None));
    }
    let Some(head) = bytes.first_chunk() else { return Ok(Err(Torn::Cut)) };
    let header = match Header::read(head) {
        Ok(header) if header.major == VERSION => header,
        Ok(header) => return Ok(Err(Torn::Version(header.major))),
        Err(damage) => return Ok(Err(Torn::Damaged(damage))),
    };
    // Grows with what is really there, not with what a damaged size claims.
    input.take((header.bytes - HEADER_BYTES) as u64).read_to_end(bytes)?;
    Ok(if bytes.len() < header.bytes { Err(Torn::Cut) } else { Ok(Some(header)) })
}

/// Gives the number of each event's type, and the event behind that.
pub(super) fn events<'a>(
    input: Input<'a>,
    mut each: impl FnMut(i64, Input<'a>) -> Result<(), Damage>,
) -> Result<(), Damage> {
    let mut next = input.from(HEADER_BYTES);
    while next.left() > 0 {
        let (mut event, end) = next.event()?;
        next = next.from(end);
        each(event.long()?, event)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(size: u64, per_second: u64) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        bytes[..8].copy_from_slice(b"FLR\0\0\x02\0\x01");
        for (index, word) in [size, 0, 100, 5_000_000_000, 3, 1_000, per_second].into_iter().enumerate() {
            bytes[8 + 8 * index..16 + 8 * index].copy_from_slice(&word.to_be_bytes());
        }
        bytes[67] = 1;
        bytes
    }

    #[test]
    fn ticks_become_nanoseconds_since_the_epoch() {
        let header = Header::read(&header(200, 500_000_000)).unwrap();
        assert_eq!((header.major, header.bytes, header.metadata, header.compressed), (2, 200, 100, true));
        assert_eq!((header.moment_ns(1_004), header.moment_ns(999)), (5_000_000_008, 4_999_999_998));
        assert_eq!((header.span_ns(7), header.span_ns(-7), header.end_ns()), (14, 0, 5_000_000_003));
        assert_eq!(header.moment_ns(i64::MIN), 0, "a moment before the epoch is none");
    }

    #[test]
    fn impossible_headers_are_damage() {
        for (size, per_second) in [(67, 1), (u64::MAX, 1), (200, 0)] {
            assert!(Header::read(&header(size, per_second)).is_err(), "{size} {per_second}");
        }
        assert!(Header::read(&[0; HEADER_BYTES]).is_err());
    }
}

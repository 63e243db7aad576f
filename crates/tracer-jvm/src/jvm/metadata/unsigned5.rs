//! HotSpot's compressed numbers of 1 to 5 bytes, in which line tables and the scopes of compiled code are written.
//!
//! A byte below 192 ends a number; each further byte counts 64 times as much as the one before. Since JDK 20 the byte 0
//! is left out and never part of a number, so that all others count one less.

/// Bytes from this one on are followed by another.
const CONTINUED: u8 = 192;
/// Bits that each further byte is worth.
const BITS: u32 = 6;
/// Most bytes of a number.
const MAX_BYTES: u32 = 5;

/// Reads one number after the other; absent at the end, and where a byte stands that cannot be part of a number.
#[derive(Clone, Debug)]
pub(in super::super) struct Reader<'a> {
    bytes: &'a [u8],
    position: usize,
    /// Number of byte values that are left out: 1 since JDK 20, else 0.
    excluded: u8,
}

impl<'a> Reader<'a> {
    pub(in super::super) const fn new(bytes: &'a [u8], excluded: u8) -> Self {
        Self { bytes, position: 0, excluded }
    }

    /// How many bytes were read.
    pub(in super::super) const fn position(&self) -> usize {
        self.position
    }

    /// One byte as it is.
    pub(in super::super) fn byte(&mut self) -> Option<u8> {
        let byte = *self.bytes.get(self.position)?;
        self.position += 1;
        Some(byte)
    }

    /// A number.
    pub(in super::super) fn unsigned(&mut self) -> Option<u32> {
        let mut sum = 0_u32;
        for index in 0..MAX_BYTES {
            let byte = self.byte()?;
            let digit = u32::from(byte.checked_sub(self.excluded)?);
            sum = sum.wrapping_add(digit.wrapping_shl(BITS * index));
            if byte < CONTINUED {
                break;
            }
        }
        Some(sum)
    }

    /// A number with a sign, which is its lowest bit.
    pub(in super::super) fn signed(&mut self) -> Option<i32> {
        let number = self.unsigned()?;
        Some((number >> 1).cast_signed() ^ -((number & 1).cast_signed()))
    }
}

/// Writes a number the way HotSpot does.
#[cfg(any(test, feature = "testing"))]
pub(in super::super) fn encode(mut value: u32, excluded: u8, out: &mut Vec<u8>) {
    let limit = u32::from(CONTINUED - excluded);
    for _ in 1..MAX_BYTES {
        if value < limit {
            break;
        }
        value -= limit;
        out.push(u8::try_from(limit + value % 64).expect("a byte") + excluded);
        value /= 64;
    }
    out.push(u8::try_from(value).expect("a byte") + excluded);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn numbers_written_by_hand_are_read() {
        // 192 + 64 * 1 in the old form, (193 - 1) + 64 * (2 - 1) in the new one.
        assert_eq!(Reader::new(&[0, 191, 192, 1], 0).unsigned(), Some(0));
        let mut old = Reader::new(&[191, 192, 1], 0);
        assert_eq!((old.unsigned(), old.unsigned(), old.unsigned()), (Some(191), Some(256), None));
        assert_eq!(old.position(), 3);
        let mut new = Reader::new(&[1, 191, 193, 2], 1);
        assert_eq!((new.unsigned(), new.unsigned(), new.unsigned()), (Some(0), Some(190), Some(256)));
    }

    #[test]
    fn a_number_that_is_cut_or_has_an_excluded_byte_is_none() {
        assert_eq!(Reader::new(&[255, 255], 0).unsigned(), None);
        assert_eq!(Reader::new(&[0], 1).unsigned(), None);
        assert_eq!(Reader::new(&[255, 0, 1], 1).unsigned(), None);
        assert_eq!(Reader::new(&[255; 9], 0).unsigned().map(|_| ()), Some(()));
    }

    #[test]
    fn signs_are_the_lowest_bit() {
        let signed: Vec<_> = [0, 1, 2, 3, 4].map(|byte| Reader::new(&[byte], 0).signed().unwrap()).into();
        assert_eq!(signed, [0, -1, 1, -2, 2]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(3_000))]

        #[test]
        fn every_number_comes_back(value: u32, new: bool) {
            let mut bytes = Vec::new();
            encode(value, u8::from(new), &mut bytes);
            let mut reader = Reader::new(&bytes, u8::from(new));
            prop_assert_eq!(reader.unsigned(), Some(value));
            prop_assert_eq!(reader.position(), bytes.len());
        }
    }

    #[test]
    fn fuzz_unsigned5() {
        crate::fuzz::each("unsigned5", usize::MAX, |dice| {
            let (bytes, excluded) = (dice.bytes(100), dice.byte() % 2);
            let count = crate::fuzz::metered(0, || {
                let mut reader = Reader::new(&bytes, excluded);
                std::iter::from_fn(|| reader.signed()).count()
            });
            assert!(count <= bytes.len());
        });
    }
}

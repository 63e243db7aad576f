//! What arrays and boxed numbers hold, in two numbers: one that is the same for equal contents, and how much of the end is zeros.
//!
//! The library in the JVM and the reader of dumps use it. Nothing here makes room, because the library looks where nothing may be
//! allocated. Contents themselves go nowhere: of 64 bits, made with keys that nobody else has, none can be guessed.

pub mod frequent;

use std::hash::{BuildHasher as _, RandomState};

/// Bytes that are taken together. All pieces but the last have a multiple of them.
pub const STEP_BYTES: usize = 16;
/// 2⁶⁴ divided by the golden ratio.
pub const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// Contents that are being looked at, piece by piece.
#[derive(Clone, Copy, Debug)]
pub struct Content {
    mask: u64,
    state: u64,
    bytes: u64,
    zeros: u64,
}

/// Both halves of a product: each bit of the result depends on all bits of both numbers.
#[expect(clippy::cast_possible_truncation, reason = "the halves are what is wanted")]
pub const fn folded(a: u64, b: u64) -> u64 {
    let product = (a as u128) * (b as u128);
    (product as u64) ^ ((product >> u64::BITS) as u64)
}

/// Keys that nobody else has; others each time.
pub fn keys() -> [u64; 2] {
    let random = RandomState::new();
    [0, 1].map(|number| random.hash_one(number))
}

impl Content {
    /// Nothing yet. Two contents can be equal where keys and kind are: the kind is the number of a class.
    pub const fn new(keys: [u64; 2], kind: u64) -> Self {
        let [mask, state] = keys;
        Self { mask, state: folded(state ^ kind, GOLDEN), bytes: 0, zeros: 0 }
    }

    /// Takes a piece in.
    pub fn add(&mut self, piece: &[u8]) {
        let (steps, rest) = piece.as_chunks::<STEP_BYTES>();
        let mut is_zero = true;
        for step in steps {
            is_zero &= self.step(step);
        }
        if !rest.is_empty() {
            let mut step = [0; STEP_BYTES];
            for (to, from) in step.iter_mut().zip(rest) {
                *to = *from;
            }
            is_zero &= self.step(&step);
        }
        let len = piece.len() as u64;
        self.bytes = self.bytes.wrapping_add(len);
        self.zeros = if is_zero {
            self.zeros.wrapping_add(len)
        } else {
            piece.iter().rev().take_while(|byte| **byte == 0).count() as u64
        };
    }

    /// Mixes a step in; says whether it is zero.
    const fn step(&mut self, step: &[u8; STEP_BYTES]) -> bool {
        let both = u128::from_le_bytes(*step);
        #[expect(clippy::cast_possible_truncation, reason = "one half after the other")]
        let (low, high) = (both as u64, (both >> u64::BITS) as u64);
        self.state = folded(low ^ self.mask, high ^ self.state);
        both == 0
    }

    /// The number of these contents.
    pub const fn digest(&self) -> u64 {
        folded(self.state ^ self.bytes, self.mask ^ GOLDEN)
    }

    /// Bytes at the end that are zero.
    pub const fn zeros(&self) -> u64 {
        self.zeros
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    const KEYS: [u64; 2] = [0x0123_4567_89ab_cdef, 0xfedc_ba98_7654_3210];

    fn of(kind: u64, bytes: &[u8]) -> (u64, u64) {
        let mut content = Content::new(KEYS, kind);
        content.add(bytes);
        (content.digest(), content.zeros())
    }

    #[test]
    fn contents_are_told_apart_and_pieces_make_no_difference() {
        let mut known: HashMap<u64, Vec<u8>> = HashMap::new();
        for length in 0..200_usize {
            for kind in [0_u8, 1, 0xff] {
                for place in 0..=length {
                    let mut bytes = vec![kind; length];
                    if let Some(byte) = bytes.get_mut(place) {
                        *byte ^= 0x40;
                    }
                    let digest = of(7, &bytes).0;
                    let before = known.insert(digest, bytes.clone());
                    assert!(before.is_none_or(|before| before == bytes), "{length} {kind} {place}");
                    for piece in [16, 32, 64] {
                        let mut content = Content::new(KEYS, 7);
                        bytes.chunks(piece).for_each(|piece| content.add(piece));
                        assert_eq!((content.digest(), content.zeros()), of(7, &bytes), "{length} in pieces of {piece}");
                    }
                }
            }
        }
    }

    #[test]
    fn arrays_of_two_classes_are_never_equal() {
        assert_ne!(of(1, &[1, 2, 3]).0, of(2, &[1, 2, 3]).0);
        assert_ne!(of(1, &[0; 8]).0, of(1, &[0; 9]).0);
    }

    #[test]
    fn zeros_are_counted_from_the_end() {
        for (bytes, zeros) in [
            (&[][..], 0),
            (&[0, 0, 0], 3),
            (&[0, 1, 0], 1),
            (&[0; 100], 100),
            (&[&[0; 16][..], &[1], &[0; 80]].concat(), 80),
            (&[&[0; 15][..], &[1], &[0; 32]].concat(), 32),
            (&[&[1; 48][..]].concat(), 0),
        ] {
            assert_eq!(of(1, bytes).1, zeros, "{bytes:?}");
        }
    }
}

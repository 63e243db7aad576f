//! Makes inputs from a seed by a few lines of arithmetic, because a million inputs from proptest's own combinators take
//! hours in an unoptimised build.

/// A sequence of numbers that a seed determines.
pub struct Dice(pub u64);

impl Dice {
    /// The next number of a splitmix64 sequence.
    pub fn any(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below a limit.
    ///
    /// # Panics
    ///
    /// Where the limit is 0.
    pub fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.any() % limit as u64).expect("below a usize")
    }

    /// Any byte.
    pub fn byte(&mut self) -> u8 {
        self.any().to_le_bytes()[0]
    }

    /// Up to `limit` bytes, which is not 0.
    pub fn bytes(&mut self, limit: usize) -> Vec<u8> {
        (0..self.below(limit)).map(|_| self.byte()).collect()
    }

    /// One of these.
    pub fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }

    /// True once in `n` times.
    pub fn once_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    /// A number that is often at an edge.
    pub fn number(&mut self) -> u64 {
        let any = self.any();
        self.pick(&[0, 1, u64::MAX, any % 0x200, any, any >> 32])
    }
}

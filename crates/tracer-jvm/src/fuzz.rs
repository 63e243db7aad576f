//! What fuzzers of memories share: one that is damaged, and one that counts what is read of it. Work is judged by that count, and not by time.

use std::cell::Cell;

pub(crate) use tracer_testing::*;

use crate::jvm::{
    memory::Error,
    peek::{Peek, copy::Copy},
};

/// A memory with a limit. More reads than that fail the test, so that a loop without end is no test without end.
#[derive(Clone, Debug)]
pub(crate) struct Metered {
    copy: Copy,
    /// Bytes that may still be read; each read counts for [`READ_BYTES`] more.
    left: Cell<u64>,
}

/// What a read costs beside its bytes: it is a system call.
const READ_BYTES: u64 = 64;

impl Metered {
    pub(crate) fn new(copy: Copy, limit: u64) -> Self {
        Self { copy, left: Cell::new(limit) }
    }
}

impl Peek for Metered {
    fn peek(&self, address: u64, buffer: &mut [u8]) -> Result<(), Error> {
        let left = self.left.get().checked_sub(buffer.len() as u64 + READ_BYTES);
        self.left.set(left.expect("more is read than any sound memory needs"));
        self.copy.peek(address, buffer)
    }
}

/// Damages a memory where something is written: pointers lead elsewhere, also back; lengths are at an edge; bytes are any.
pub(crate) fn damage(dice: &mut Dice, copy: &mut Copy) {
    let words = copy.words();
    for _ in 0..=dice.below(6) {
        let at = dice.pick(&words).wrapping_add(if dice.once_in(4) { dice.number() % 16 } else { 0 });
        match dice.below(6) {
            0 | 1 => {
                let other = dice.pick(&words);
                let value = copy.u64(other).unwrap_or(other);
                copy.overwrite(at, &value.to_ne_bytes());
            }
            2 => copy.overwrite(at, &dice.pick(&words).to_ne_bytes()),
            3 => copy.overwrite(at, &dice.number().to_ne_bytes()),
            4 => copy.overwrite(at, &dice.number().to_ne_bytes()[..dice.pick(&[1, 2, 4])]),
            _ => copy.overwrite(at, &[dice.byte()]),
        }
    }
}

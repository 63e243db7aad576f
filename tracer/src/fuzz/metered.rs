//! A memory that counts what is read of it: work is judged by this, and not by time.

use std::cell::Cell;

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

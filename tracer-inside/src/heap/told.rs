//! Records on their way to jtrace, through a buffer that is made beforehand.

use std::os::fd::{BorrowedFd, RawFd};

use rustix::{
    io::Errno,
    net::{SendFlags, send},
};
use tracer_weave::walk::{self, MAX_NUMBER_BYTES};

/// Bytes of the buffer.
const BUFFER_BYTES: usize = 256 << 10;
/// Most bytes that are told of one reference: of the object that refers, of that it leads to, of what that holds, and how. The first bytes
/// of an array, with what belongs to them, are fewer.
const RECORD_BYTES: usize = 16 * MAX_NUMBER_BYTES;

/// The connection, and what waits for it.
pub(super) struct Out {
    socket: RawFd,
    buffer: Vec<u8>,
    len: usize,
    /// jtrace does not take any more.
    failed: bool,
}

impl Out {
    pub(super) fn new(socket: RawFd) -> Self {
        Self { socket, buffer: vec![0; BUFFER_BYTES], len: 0, failed: false }
    }

    pub(super) const fn socket(&self) -> RawFd {
        self.socket
    }

    /// Whether jtrace takes no more.
    pub(super) const fn failed(&self) -> bool {
        self.failed
    }

    /// Makes room for one record; says whether something was sent for it.
    pub(super) fn room(&mut self) -> bool {
        let is_full = self.buffer.len() - self.len < RECORD_BYTES;
        if is_full {
            self.flush();
        }
        is_full
    }

    pub(super) fn byte(&mut self, byte: u8) {
        if let Some(place) = self.buffer.get_mut(self.len) {
            *place = byte;
            self.len += 1;
        }
    }

    pub(super) fn number(&mut self, number: u64) {
        if let Some(rest) = self.buffer.get_mut(self.len..) {
            self.len += walk::put(rest, number);
        }
    }

    pub(super) fn eight(&mut self, number: u64) {
        for byte in number.to_le_bytes() {
            self.byte(byte);
        }
    }

    /// Sends what waits. Where jtrace does not take it in time, nothing is sent any more.
    pub(super) fn flush(&mut self) {
        let mut rest = self.buffer.get(..self.len).unwrap_or_default();
        self.len = 0;
        // SAFETY is not needed: the number is only used while the session holds the descriptor, or in the copy, which owns its own.
        let socket = borrowed(self.socket);
        while !rest.is_empty() && !self.failed {
            match send(socket, rest, SendFlags::NOSIGNAL) {
                Ok(sent) => rest = rest.get(sent..).unwrap_or_default(),
                Err(Errno::INTR) => {}
                Err(_) => self.failed = true,
            }
        }
    }
}

fn borrowed(socket: RawFd) -> BorrowedFd<'static> {
    super::copy::borrowed(socket)
}

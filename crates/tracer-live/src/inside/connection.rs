//! Both directions of the connection with the library, in bytes: messages are cut out of what arrives, and nothing here waits
//! without an end. What a message means is the business of [`super::visit`].
//!
//! Whoever runs the JVM can read and write its end, take ours out of it as well, and change the flags that both share. So no
//! call relies on those flags, and nothing that the other side says about a length makes room before the bytes are there.

use std::{
    io,
    os::fd::{AsFd as _, OwnedFd},
};

use rustix::{
    event::PollFlags,
    io::Errno,
    net::{RecvFlags, SendFlags, recv, send},
};
use serde::Serialize;
use tracer_weave::control::{self, MAX_TOLD_BYTES, Told};

use crate::{
    ending::{self, Until},
    jvm::forked::is_local_stream,
};

/// How much is read at a time.
const PIECE_BYTES: usize = 64 << 10;
/// Most that waits until the library takes it: the largest order, and some switches behind it.
const MAX_OUTGOING_BYTES: usize = control::MAX_MESSAGE_BYTES + (1 << 20);
/// Length in front of a message.
const HEAD_BYTES: usize = 4;

/// One end of the connection.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) socket: OwnedFd,
    incoming: Vec<u8>,
    /// Where the next message begins in what has arrived.
    taken: usize,
    outgoing: Vec<u8>,
}

impl Connection {
    /// A connection over a descriptor that was taken out of the JVM.
    pub(super) fn new(socket: OwnedFd) -> io::Result<Self> {
        if !is_local_stream(socket.as_fd()) {
            return Err(io::Error::other("it is no stream of this machine"));
        }
        Ok(Self { socket, incoming: Vec::new(), taken: 0, outgoing: Vec::new() })
    }

    /// Puts a message behind what waits to be sent, and sends what the other side takes at once.
    pub(super) fn give(&mut self, message: &impl Serialize) -> io::Result<()> {
        control::write(&mut self.outgoing, message)?;
        if self.outgoing.len() > MAX_OUTGOING_BYTES {
            return Err(io::Error::other("it takes no orders"));
        }
        self.push()
    }

    /// Sends what the other side takes at once.
    pub(super) fn push(&mut self) -> io::Result<()> {
        let mut sent = 0;
        let pushed = loop {
            let Some(rest) = self.outgoing.get(sent..).filter(|rest| !rest.is_empty()) else { break Ok(()) };
            match send(&self.socket, rest, SendFlags::DONTWAIT | SendFlags::NOSIGNAL) {
                Ok(count) => sent += count,
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => break Ok(()),
                Err(errno) => break Err(errno.into()),
            }
        };
        self.outgoing.drain(..sent);
        pushed
    }

    /// The next message that is there as a whole, and its length; nothing where it is still to come.
    pub(super) fn take(&mut self) -> io::Result<Option<(Told, usize)>> {
        loop {
            if let Some(message) = self.cut()? {
                return Ok(Some(message));
            }
            // What is left is the beginning of one message, so this holds no more than one and a piece.
            self.incoming.drain(..std::mem::take(&mut self.taken));
            let had = self.incoming.len();
            self.incoming.resize(had + PIECE_BYTES, 0);
            let got = recv(&self.socket, &mut self.incoming[had..], RecvFlags::DONTWAIT);
            self.incoming.truncate(had + got.as_ref().map_or(0, |(_, count)| *count));
            match got {
                Ok((_, 0)) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(_) | Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return Ok(None),
                Err(errno) => return Err(errno.into()),
            }
        }
    }

    /// Cuts a message out of what has arrived.
    fn cut(&mut self) -> io::Result<Option<(Told, usize)>> {
        let arrived = self.incoming.get(self.taken..).unwrap_or_default();
        let Some((head, rest)) = arrived.split_first_chunk::<HEAD_BYTES>() else { return Ok(None) };
        let length = usize::try_from(u32::from_le_bytes(*head)).unwrap_or(usize::MAX);
        if length > MAX_TOLD_BYTES {
            return Err(io::Error::other(format!("it announces a message of {length} bytes")));
        }
        let Some(text) = rest.get(..length) else { return Ok(None) };
        let told = serde_json::from_slice(text).map_err(io::Error::other)?;
        self.taken += HEAD_BYTES + length;
        Ok(Some((told, length)))
    }

    /// Waits until something has arrived, or what waits to be sent can be.
    pub(super) fn wait(&mut self, until: Until) -> io::Result<()> {
        let how = if self.outgoing.is_empty() { PollFlags::IN } else { PollFlags::IN | PollFlags::OUT };
        ending::wait(self.socket.as_fd(), how, until)?;
        self.push()
    }
}

#[cfg(test)]
mod tests {
    use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
    use tracer_weave::control::Order;

    use super::*;

    /// What a JVM's user can write in the library's place, and what a jtrace's could in jtrace's.
    #[test]
    fn fuzz_told() {
        crate::fuzz::samples("told", |bytes| {
            let (near, far) = socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None).unwrap();
            send(&far, bytes, SendFlags::NOSIGNAL).unwrap();
            drop(far);
            let mut connection = Connection::new(near).unwrap();
            let mut lengths = 0;
            while let Ok(Some((_, length))) = connection.take() {
                lengths += HEAD_BYTES + length;
            }
            assert!(lengths <= bytes.len());
            let mut rest = bytes;
            while control::read::<Order>(&mut rest).is_ok() {}
        });
    }
}

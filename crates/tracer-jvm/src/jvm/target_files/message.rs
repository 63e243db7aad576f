//! What jtrace and the child that is the target's user say to each other: a length of words and of bytes, both bounded, then
//! words as JSON and the bytes. Every wait has an end.

use std::{
    io::{self, IoSlice, IoSliceMut},
    mem::MaybeUninit,
    os::{
        fd::{AsFd, BorrowedFd, OwnedFd},
        unix::net::UnixStream,
    },
    time::Instant,
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
    net::{
        RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags,
        recvmsg, sendmsg,
    },
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use super::{At, MAX_WRITTEN_BYTES};

/// Most bytes of words.
const MAX_WORDS: usize = 64 << 10;
/// Lengths of words and of bytes.
const HEADER_BYTES: usize = 8;
/// How much is received at a time.
const PIECE_BYTES: usize = 64 << 10;

/// A file by its directory and name.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Place {
    pub(super) directory: String,
    pub(super) name: String,
}

impl From<At<'_>> for Place {
    fn from(At { directory, name }: At<'_>) -> Self {
        Self { directory: directory.to_owned(), name: name.to_owned() }
    }
}

/// What the child is asked for.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Request {
    Examine(Place),
    /// The content comes as bytes.
    Create {
        at: Place,
        mode: u32,
        is_temporary: bool,
    },
    Rename {
        at: Place,
        to: String,
    },
    Remove(Place),
    Read {
        at: Place,
        most: usize,
    },
    Connect(Place),
}

/// What it answers.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Answer {
    /// Content that was asked for comes as bytes, a socket as a descriptor.
    Done,
    Examined(Examined),
}

/// What lies under a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Examined {
    /// What it is.
    pub kind: Kind,
    /// Whose it is.
    pub uid: u32,
    /// How many names it has.
    pub links: u64,
    /// Device and number of the file.
    pub file: (u64, u64),
}

/// What a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Kind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A socket.
    Socket,
    /// Something else, a link among them.
    Other,
}

/// Why something was not done: what the kernel said, or a text where it was not the kernel.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Refusal {
    errno: Option<i32>,
    text: String,
}

impl From<&io::Error> for Refusal {
    fn from(error: &io::Error) -> Self {
        Self { errno: error.raw_os_error(), text: error.to_string() }
    }
}

impl From<Refusal> for io::Error {
    fn from(Refusal { errno, text }: Refusal) -> Self {
        errno.map_or_else(|| Self::new(io::ErrorKind::PermissionDenied, text), Self::from_raw_os_error)
    }
}

/// An answer that fits no question.
pub(super) fn wrong() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "the process that reaches the target's files answers something else")
}

/// Sends words, bytes and perhaps a descriptor.
pub(super) fn send<T: Serialize>(
    stream: &UnixStream,
    words: &T,
    bytes: &[u8],
    descriptor: Option<BorrowedFd<'_>>,
    deadline: Instant,
) -> io::Result<()> {
    let words = serde_json::to_vec(words)?;
    let length = |length: usize| u32::try_from(length).map(u32::to_le_bytes).map_err(|_| wrong());
    let header = [length(words.len())?, length(bytes.len())?].concat();
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    let descriptors: Vec<_> = descriptor.into_iter().collect();
    if !descriptors.is_empty() && !control.push(SendAncillaryMessage::ScmRights(&descriptors)) {
        return Err(wrong());
    }
    // The descriptor goes with the first bytes, which the socket takes at once or not at all.
    wait(stream.as_fd(), PollFlags::OUT, deadline)?;
    let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
    if sendmsg(stream, &[IoSlice::new(&header)], &mut control, flags)? != HEADER_BYTES {
        return Err(wrong());
    }
    for part in [words.as_slice(), bytes] {
        let mut sent = 0;
        while sent < part.len() {
            wait(stream.as_fd(), PollFlags::OUT, deadline)?;
            match sendmsg(stream, &[IoSlice::new(&part[sent..])], &mut SendAncillaryBuffer::default(), flags) {
                Ok(count) => sent += count,
                Err(Errno::AGAIN | Errno::INTR) => {}
                Err(errno) => return Err(errno.into()),
            }
        }
    }
    Ok(())
}

/// Receives what [`send`] sends.
pub(super) fn receive<T: DeserializeOwned>(
    stream: &UnixStream,
    deadline: Instant,
) -> io::Result<(T, Vec<u8>, Option<OwnedFd>)> {
    let mut header = [0; HEADER_BYTES];
    let descriptor = fill(stream, &mut header, deadline)?;
    let length = |at: usize| {
        let bytes = [header[at], header[at + 1], header[at + 2], header[at + 3]];
        usize::try_from(u32::from_le_bytes(bytes)).unwrap_or(usize::MAX)
    };
    let (words, bytes) = (length(0), length(4));
    if words > MAX_WORDS || bytes > MAX_WRITTEN_BYTES {
        return Err(wrong());
    }
    let (words, bytes) = (arrived(stream, words, deadline)?, arrived(stream, bytes, deadline)?);
    Ok((serde_json::from_slice(&words)?, bytes, descriptor))
}

/// So many bytes. Room is made as they come, and not because a length announces them.
fn arrived(stream: &UnixStream, length: usize, deadline: Instant) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    while bytes.len() < length {
        let had = bytes.len();
        bytes.resize(length.min(had + PIECE_BYTES), 0);
        fill(stream, &mut bytes[had..], deadline)?;
    }
    Ok(bytes)
}

/// Fills a buffer; gives the descriptor that came with it.
fn fill(stream: &UnixStream, buffer: &mut [u8], deadline: Instant) -> io::Result<Option<OwnedFd>> {
    let mut descriptor = None;
    let mut filled = 0;
    while filled < buffer.len() {
        wait(stream.as_fd(), PollFlags::IN, deadline)?;
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let flags = RecvFlags::CMSG_CLOEXEC | RecvFlags::DONTWAIT;
        match recvmsg(stream, &mut [IoSliceMut::new(&mut buffer[filled..])], &mut control, flags) {
            Ok(received) if received.bytes == 0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(received) => filled += received.bytes,
            Err(Errno::AGAIN | Errno::INTR) => continue,
            Err(errno) => return Err(errno.into()),
        }
        for message in control.drain() {
            if let RecvAncillaryMessage::ScmRights(descriptors) = message {
                descriptor = descriptors.last().or(descriptor.take());
            }
        }
    }
    Ok(descriptor)
}

/// Waits until the socket can be read from or written to.
fn wait(stream: BorrowedFd<'_>, flags: PollFlags, deadline: Instant) -> io::Result<()> {
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        let timeout = Timespec { tv_sec: left.as_secs().cast_signed(), tv_nsec: i64::from(left.subsec_nanos()) };
        match poll(&mut [PollFd::from_borrowed_fd(stream, flags)], Some(&timeout)) {
            Ok(0) | Err(Errno::INTR) => {}
            Ok(_) => return Ok(()),
            Err(errno) => return Err(errno.into()),
        }
    }
}

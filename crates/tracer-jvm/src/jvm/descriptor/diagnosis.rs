//! The kernel's diagnosis of sockets (`sock_diag`), as `ss` asks for it.
//!
//! It is asked in the target's network namespace: a socket belongs to the one in which it was made, so that is entered once, by a
//! thread that ends. <https://man7.org/linux/man-pages/man7/sock_diag.7.html>

use std::{
    fs::{self, File},
    io,
    net::{IpAddr, SocketAddr},
    os::fd::{AsFd as _, OwnedFd},
    thread,
};

use rustix::{
    net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, netlink, recv, send, socket_with},
    thread::{LinkNameSpaceType, move_into_link_name_space},
};

/// Addresses of IP version 4 and of version 6, as the kernel numbers them.
pub(super) const FAMILIES: [u8; 2] = [2, 10];
const TCP: u8 = 6;

/// A message begins with its length, its kind, flags, a number and a port (`struct nlmsghdr`).
pub(super) const HEADER: usize = 16;
/// Asks for sockets of a family (`SOCK_DIAG_BY_FAMILY`): for one (`NLM_F_REQUEST`), or for all (`NLM_F_DUMP` as well).
pub(super) const BY_FAMILY: u16 = 20;
const REQUEST: u16 = 1;
const REQUEST_ALL: u16 = 0x301;
/// Length of what is asked (`struct inet_diag_req_v2`).
const ASKED: usize = 56;
/// Kinds of the last messages.
pub(super) const FAILED: u16 = 2;
pub(super) const DONE: u16 = 3;
/// In the place of a socket's own mark: whichever it has (`INET_DIAG_NOCOOKIE`).
const ANY_MARK: u64 = u64::MAX;
const NO_SUCH_SOCKET: i32 = 2;

/// Bytes of one answer of the kernel's, which are at most 32 KiB; and most answers to one question.
const BUFFER: usize = 64 << 10;
const MAX_ANSWERS: usize = 256;

/// What is asked for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Question {
    /// All TCP sockets of a family in one of these states, as bits.
    All { family: u8, states: u32 },
    /// The TCP socket with these ends, its own one first, and more about it, as bits.
    One { ends: [SocketAddr; 2], more: u8 },
}

/// Asks.
#[derive(Debug)]
pub(super) struct Diagnosis {
    kernel: OwnedFd,
    /// Number of the last question.
    asked: u32,
    buffer: Vec<u8>,
}

impl Diagnosis {
    /// Nothing is asked yet.
    pub(super) fn open(pid: u32) -> io::Result<Self> {
        let theirs = format!("/proc/{pid}/ns/net");
        let is_own = fs::read_link(&theirs)? == fs::read_link("/proc/self/ns/net")?;
        let kernel = if is_own { diagnosis()? } else { within(File::open(theirs)?)? };
        Ok(Self { kernel, asked: 0, buffer: vec![0; BUFFER] })
    }

    /// Hands each socket of the answer to `take`.
    pub(super) fn ask(&mut self, question: Question, mut take: impl FnMut(&[u8])) -> io::Result<()> {
        self.asked = self.asked.wrapping_add(1);
        send(&self.kernel, &question.bytes(self.asked), SendFlags::DONTWAIT)?;
        let is_one = matches!(question, Question::One { .. });
        for _ in 0..MAX_ANSWERS {
            // The answer is there when the question has been sent, and each further part when the one before was read.
            let (bytes, _) = recv(&self.kernel, &mut self.buffer[..], RecvFlags::DONTWAIT)?;
            let answer = self.buffer.get(..bytes).unwrap_or_default();
            let mut taken = false;
            let told = read(answer, self.asked, |socket| {
                taken = true;
                take(socket);
            });
            match told {
                // It has gone meanwhile.
                Err(error) if is_one && error.raw_os_error() == Some(NO_SUCH_SOCKET) => return Ok(()),
                Err(error) => return Err(error),
                Ok(is_last) if is_last || (is_one && taken) => return Ok(()),
                Ok(_) => {}
            }
        }
        Err(io::Error::other("there are too many such sockets"))
    }
}

/// A socket for questions about the sockets of the namespace that the calling thread is in.
fn diagnosis() -> io::Result<OwnedFd> {
    let flags = SocketFlags::CLOEXEC;
    Ok(socket_with(AddressFamily::NETLINK, SocketType::DGRAM, flags, Some(netlink::SOCK_DIAG))?)
}

/// The same in another one.
fn within(namespace: File) -> io::Result<OwnedFd> {
    let enters = thread::Builder::new().spawn(move || {
        move_into_link_name_space(namespace.as_fd(), Some(LinkNameSpaceType::Network))?;
        diagnosis()
    })?;
    enters.join().map_err(|_| io::Error::other("the thread that entered the network namespace has failed"))?
}

impl Question {
    fn bytes(self, number: u32) -> [u8; HEADER + ASKED] {
        let mut bytes = [0; HEADER + ASKED];
        let mut put = |at: usize, value: &[u8]| bytes[at..at + value.len()].copy_from_slice(value);
        let flags = if matches!(self, Self::All { .. }) { REQUEST_ALL } else { REQUEST };
        put(0, &u32::try_from(HEADER + ASKED).unwrap_or_default().to_ne_bytes());
        put(4, &BY_FAMILY.to_ne_bytes());
        put(6, &flags.to_ne_bytes());
        put(8, &number.to_ne_bytes());
        put(HEADER + 1, &[TCP]);
        match self {
            Self::All { family, states } => {
                put(HEADER, &[family]);
                put(HEADER + 4, &states.to_ne_bytes());
            }
            Self::One { ends, more } => {
                put(HEADER, &[FAMILIES[usize::from(ends[0].is_ipv6())]]);
                put(HEADER + 2, &[more]);
                put(HEADER + 4, &u32::MAX.to_ne_bytes());
                for (end, (port, address)) in ends.iter().zip([(8, 12), (10, 28)]) {
                    put(HEADER + port, &end.port().to_be_bytes());
                    match end.ip() {
                        IpAddr::V4(ip) => put(HEADER + address, &ip.octets()),
                        IpAddr::V6(ip) => put(HEADER + address, &ip.octets()),
                    }
                }
                put(HEADER + 48, &ANY_MARK.to_ne_bytes());
            }
        }
        bytes
    }
}

/// Takes the sockets of one answer to a question; whether it is the last one.
pub(super) fn read(mut answer: &[u8], number: u32, mut take: impl FnMut(&[u8])) -> io::Result<bool> {
    while let Some(message) = next(&mut answer) {
        // What is left of an earlier question is none of this one's.
        if word(message, 8) != Some(number) {
            continue;
        }
        let body = message.get(HEADER..).unwrap_or_default();
        match half(message, 4) {
            Some(DONE) => return Ok(true),
            Some(FAILED) => {
                let errno = word(body, 0).map_or(0, u32::cast_signed).wrapping_neg();
                return Err(io::Error::from_raw_os_error(errno));
            }
            Some(BY_FAMILY) => take(body),
            _ => {}
        }
    }
    Ok(false)
}

/// Splits off the next message. They begin at multiples of four bytes.
fn next<'a>(answer: &mut &'a [u8]) -> Option<&'a [u8]> {
    let length = usize::try_from(word(answer, 0)?).ok().filter(|length| *length >= HEADER)?;
    let message = answer.get(..length)?;
    *answer = answer.get(length.next_multiple_of(4)..).unwrap_or_default();
    Some(message)
}

pub(super) fn word(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

pub(super) fn half(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_ne_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

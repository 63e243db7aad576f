//! Sockets at which a process waits for connections, and how many connections wait there until it accepts them.
//!
//! The kernel's diagnosis of sockets lists those alone that listen. Its tables in `/proc` list all sockets, which takes it milliseconds.
//! It is asked in the target's network namespace: a socket belongs to the one in which it was made, so that is entered once, by a
//! thread that ends. <https://man7.org/linux/man-pages/man7/sock_diag.7.html>

use std::{
    collections::{BTreeMap, HashMap},
    fs::{self, File},
    io,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    os::fd::{AsFd as _, OwnedFd},
    thread,
};

use rustix::{
    net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, netlink, recv, send, socket_with},
    thread::{LinkNameSpaceType, move_into_link_name_space},
};

use super::open;

/// Addresses of IP version 4 and of version 6, as the kernel numbers them.
const FAMILIES: [u8; 2] = [2, 10];
/// The protocol, and the state of a socket that listens (`TCP_LISTEN`).
const TCP: u8 = 6;
const LISTENING: u32 = 10;

/// A message begins with its length, its kind, flags, a number and a port (`struct nlmsghdr`).
const HEADER: usize = 16;
/// Asks for sockets of a family (`SOCK_DIAG_BY_FAMILY`), all of them (`NLM_F_REQUEST`, `NLM_F_DUMP`).
const BY_FAMILY: u16 = 20;
const REQUEST_ALL: u16 = 0x301;
/// Length of what is asked (`struct inet_diag_req_v2`) and of each answer (`struct inet_diag_msg`).
const ASKED: usize = 56;
const ANSWERED: usize = 72;
/// Kinds of the last messages.
const FAILED: u16 = 2;
const DONE: u16 = 3;

/// Bytes of one answer of the kernel's, which are at most 32 KiB; and most answers to one question.
const BUFFER: usize = 64 << 10;
const MAX_ANSWERS: usize = 256;
/// Most sockets of which it is kept whether they are the target's.
const MAX_KEPT: usize = 4096;

/// What is said where the kernel does not answer.
pub const UNKNOWN: &str = "how many connections wait to be accepted is not known";

/// A socket at which connections wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Crowded {
    /// Where others connect to.
    pub address: SocketAddr,
    /// Connections that wait to be accepted.
    pub waiting: u32,
    /// How many may wait. The kernel lets one more, and answers none that comes then.
    pub most: u32,
}

/// A socket that listens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Listener {
    at: Crowded,
    inode: u32,
}

/// Asks for the sockets at which one process listens.
#[derive(Debug)]
pub struct Listening {
    kernel: OwnedFd,
    pid: u32,
    /// Number of the last question.
    asked: u32,
    buffer: Vec<u8>,
    /// Whether a socket is the target's, by inode.
    own: HashMap<u32, bool>,
}

impl Listening {
    /// Nothing is asked yet. Later it cannot be opened any more: a session gives up what that takes.
    ///
    /// # Errors
    /// The target has ended; its namespace may not be entered; the kernel has no such diagnosis.
    pub fn open(pid: u32) -> io::Result<Self> {
        let theirs = format!("/proc/{pid}/ns/net");
        let is_own = fs::read_link(&theirs)? == fs::read_link("/proc/self/ns/net")?;
        let kernel = if is_own { diagnosis()? } else { within(File::open(theirs)?)? };
        Ok(Self { kernel, pid, asked: 0, buffer: vec![0; BUFFER], own: HashMap::new() })
    }

    /// The same, where that can be had.
    pub fn opened(pid: u32) -> Option<Self> {
        Self::open(pid).inspect_err(|error| log::warn!("{UNKNOWN}: {error}")).ok()
    }

    /// Those of the process at which connections wait. Several with one address, which share what comes there (`SO_REUSEPORT`), are one.
    ///
    /// # Errors
    /// The kernel does not answer as it should. It is no use to ask again.
    pub fn crowded(&mut self) -> io::Result<Vec<Crowded>> {
        let mut listeners = Vec::new();
        for family in FAMILIES {
            self.ask(family, &mut listeners)?;
        }
        let mut crowded = BTreeMap::<SocketAddr, Crowded>::new();
        for Listener { at, inode } in listeners {
            if at.waiting == 0 || !self.has(inode) {
                continue;
            }
            let Crowded { address, waiting, most } = at;
            let known = crowded.entry(address).or_insert(Crowded { address, waiting: 0, most: 0 });
            known.waiting = known.waiting.saturating_add(waiting);
            known.most = known.most.saturating_add(most);
        }
        Ok(crowded.into_values().collect())
    }

    fn ask(&mut self, family: u8, listeners: &mut Vec<Listener>) -> io::Result<()> {
        self.asked = self.asked.wrapping_add(1);
        send(&self.kernel, &question(family, self.asked), SendFlags::DONTWAIT)?;
        for _ in 0..MAX_ANSWERS {
            // The answer is there when the question has been sent, and each further part when the one before was read.
            let (bytes, _) = recv(&self.kernel, &mut self.buffer[..], RecvFlags::DONTWAIT)?;
            let answer = self.buffer.get(..bytes).unwrap_or_default();
            if read(answer, self.asked, |socket| listeners.extend(listener(socket)))? {
                return Ok(());
            }
        }
        Err(io::Error::other("there are too many sockets that listen"))
    }

    /// Whether a socket is one of the process.
    fn has(&mut self, inode: u32) -> bool {
        if let Some(known) = self.own.get(&inode) {
            return *known;
        }
        if self.own.len() >= MAX_KEPT {
            self.own.clear();
        }
        let has = open::sockets(self.pid).any(|own| own == u64::from(inode));
        self.own.insert(inode, has);
        has
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

/// Asks for all sockets of a family that listen.
fn question(family: u8, number: u32) -> [u8; HEADER + ASKED] {
    let mut bytes = [0; HEADER + ASKED];
    let length = u32::try_from(bytes.len()).unwrap_or_default();
    bytes[0..4].copy_from_slice(&length.to_ne_bytes());
    bytes[4..6].copy_from_slice(&BY_FAMILY.to_ne_bytes());
    bytes[6..8].copy_from_slice(&REQUEST_ALL.to_ne_bytes());
    bytes[8..12].copy_from_slice(&number.to_ne_bytes());
    bytes[HEADER] = family;
    bytes[HEADER + 1] = TCP;
    bytes[HEADER + 4..HEADER + 8].copy_from_slice(&(1_u32 << LISTENING).to_ne_bytes());
    bytes
}

/// Takes the sockets of one answer to a question; whether it is the last one.
fn read(mut answer: &[u8], number: u32, mut take: impl FnMut(&[u8])) -> io::Result<bool> {
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

fn listener(body: &[u8]) -> Option<Listener> {
    let body: &[u8; ANSWERED] = body.get(..ANSWERED)?.try_into().ok()?;
    let port = u16::from_be_bytes([body[4], body[5]]);
    let source: [u8; 16] = body[8..24].try_into().ok()?;
    let ip = if body[0] == FAMILIES[0] {
        IpAddr::V4(Ipv4Addr::new(source[0], source[1], source[2], source[3]))
    } else {
        IpAddr::V6(Ipv6Addr::from(source)).to_canonical()
    };
    let [waiting, most, inode] = [56, 60, 68].map(|at| word(body, at).unwrap_or_default());
    Some(Listener { at: Crowded { address: SocketAddr::new(ip, port), waiting, most }, inode })
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn half(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_ne_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

#[cfg(test)]
mod tests;

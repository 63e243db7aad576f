//! Sockets at which a process waits for connections, and how many connections wait there until it accepts them.
//!
//! The kernel's diagnosis of sockets lists those alone that listen. Its tables in `/proc` list all sockets, which takes it milliseconds.

use std::{
    collections::BTreeMap,
    io,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
};

use super::{
    diagnosis::{Diagnosis, FAMILIES, Question, word},
    own::Own,
};

/// The state of a socket that listens (`TCP_LISTEN`).
const LISTENING: u32 = 10;
/// Length of each answer (`struct inet_diag_msg`).
pub(super) const ANSWERED: usize = 72;

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
    pub(super) kernel: Diagnosis,
    own: Own,
}

impl Listening {
    /// Nothing is asked yet. Later it cannot be opened any more: a session gives up what that takes.
    ///
    /// # Errors
    /// The target has ended; its namespace may not be entered; the kernel has no such diagnosis.
    pub fn open(pid: u32) -> io::Result<Self> {
        Ok(Self { kernel: Diagnosis::open(pid)?, own: Own::new(pid) })
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
            let question = Question::All { family, states: 1 << LISTENING };
            self.kernel.ask(question, |socket| listeners.extend(listener(socket)))?;
        }
        let mut crowded = BTreeMap::<SocketAddr, Crowded>::new();
        for Listener { at, inode } in listeners {
            if at.waiting == 0 || !self.own.has(u64::from(inode)) {
                continue;
            }
            let Crowded { address, waiting, most } = at;
            let known = crowded.entry(address).or_insert(Crowded { address, waiting: 0, most: 0 });
            known.waiting = known.waiting.saturating_add(waiting);
            known.most = known.most.saturating_add(most);
        }
        Ok(crowded.into_values().collect())
    }
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

#[cfg(test)]
mod tests;

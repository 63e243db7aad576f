//! What lies outside of the JVM: what its descriptors lead to, and who waits to be accepted. Names are left out where that is asked.

use std::{cell::RefCell, collections::BTreeMap, net::SocketAddr};

use super::{super::Thread, ThreadReader, waits::Known};
use crate::{
    item::look::{Waits, peer},
    jvm::{
        descriptor::{
            connection::Connection,
            datagrams::Dropping,
            listening::{self, Crowded, Listening},
        },
        java_threads::{Door, JavaThread},
    },
};

/// Most peers of whose connections a look asks.
const MAX_PEERS: usize = 16;

/// A socket at which connections wait to be accepted.
#[derive(Clone, Debug)]
pub struct CrowdedSocket {
    /// `TCP 0.0.0.0:8080, listening`.
    pub name: String,
    /// What waits there.
    pub at: Crowded,
    /// Kernel ids of threads that have the socket in a field: where some have it themselves, of these alone.
    pub held_by: Vec<u32>,
}

/// A connection for whose other side threads wait.
#[derive(Clone, Debug)]
pub struct AskedConnection {
    /// `TCP 10.0.0.7:5432`.
    pub peer: String,
    /// Both ends, that of the target first.
    pub ends: [SocketAddr; 2],
    /// What the kernel knows of it.
    pub known: Connection,
}

/// The ends of a connection that the target has made, of its name; none where that leaves them out.
fn ends(on: &str) -> Option<[SocketAddr; 2]> {
    let (peer, own) = on.strip_prefix("TCP ")?.split_once(" (from ")?;
    let peer = peer.split(' ').next()?.parse().ok()?;
    Some([own.strip_suffix(')')?.parse().ok()?, peer])
}

/// The threads that have the socket of a port: where some have it themselves, these alone.
fn held_by(known: &[(Door, u32)], port: u16, is_of_datagrams: bool) -> Vec<u32> {
    let here = || known.iter().filter(|(door, _)| (door.port, door.is_of_datagrams) == (port, is_of_datagrams));
    let has_own = here().any(|(door, _)| door.is_own);
    here().filter(|(door, _)| door.is_own == has_own).map(|(_, tid)| *tid).collect()
}

impl ThreadReader {
    /// Leaves out peers and files, if that is asked.
    #[must_use]
    pub fn redacted(mut self, redacted: bool) -> Self {
        self.redaction = redacted.then(RefCell::default);
        self
    }

    /// Sees where connections wait to be accepted as well.
    #[must_use]
    pub fn with_listening(mut self, listening: Option<Listening>) -> Self {
        self.listening = listening;
        self
    }

    /// The sockets at which connections wait to be accepted.
    pub fn crowded(&mut self) -> Vec<CrowdedSocket> {
        let Some(listening) = &mut self.listening else { return Vec::new() };
        let crowded = listening.crowded().unwrap_or_else(|error| {
            log::warn!("{}: {error}", listening::UNKNOWN);
            self.listening = None;
            Vec::new()
        });
        // They are seldom, so threads are asked for their sockets only then.
        let known = if crowded.is_empty() { Vec::new() } else { self.doors() };
        let told = |at: Crowded| {
            let name = self.on(format!("TCP {}, listening", at.address));
            CrowdedSocket { name, at, held_by: held_by(&known, at.address.port(), false) }
        };
        crowded.into_iter().map(told).collect()
    }

    /// The UDP sockets at which datagrams were thrown away, each with the threads that have it as [`CrowdedSocket::held_by`] says.
    pub fn dropping(&mut self) -> Vec<(Dropping, Vec<u32>)> {
        let dropping = self.datagrams.dropping();
        let known = if dropping.is_empty() { Vec::new() } else { self.doors() };
        let told = |socket: Dropping| {
            let held_by = held_by(&known, socket.address.port(), true);
            (Dropping { name: self.on(socket.name), ..socket }, held_by)
        };
        dropping.into_iter().map(told).collect()
    }

    /// Connections for whose other side some of these threads wait, one for each peer.
    pub fn connections(&mut self, threads: &[Thread]) -> Vec<AskedConnection> {
        let mut asked = BTreeMap::<&str, [SocketAddr; 2]>::new();
        for thread in threads {
            if let Some(Waits::SystemCall { on: Some(on), .. }) = &thread.waits
                && asked.len() < MAX_PEERS
                && let Some(ends) = ends(on)
            {
                asked.entry(peer(on)).or_insert(ends);
            }
        }
        let mut found = Vec::new();
        for (peer, ends) in asked {
            let Some(listening) = &mut self.listening else { break };
            match listening.connection(ends) {
                Ok(known) => {
                    found.extend(known.map(|known| AskedConnection { peer: peer.to_owned(), ends, known }));
                }
                Err(error) => {
                    log::warn!("what the network does is not known: {error}");
                    self.listening = None;
                }
            }
        }
        found
    }

    /// Sockets at which something comes, each with the kernel's id of a thread that has it in a field.
    fn doors(&self) -> Vec<(Door, u32)> {
        let (Some(objects), Known { tids, listed, .. }) = (&self.objects, self.known()) else { return Vec::new() };
        let of = |thread: &JavaThread| {
            let tid = tids.get(&thread.os_tid).copied();
            let doors = tid.map(|_| objects.doors_of(thread)).unwrap_or_default();
            doors.into_iter().filter_map(move |door| Some((door, tid?)))
        };
        listed.iter().flat_map(of).collect()
    }

    /// The path of a file, or a number in its place.
    pub fn file(&self, path: String) -> String {
        match &self.redaction {
            Some(redaction) => redaction.borrow_mut().file(&path),
            None => path,
        }
    }

    /// What a descriptor leads to, or that without names. Tables of sockets are read once a look.
    pub fn leads_to(&self, descriptor: u32) -> Option<String> {
        self.descriptors.named(descriptor).map(|on| self.on(on))
    }

    /// What a call is about, or that without names.
    pub(super) fn on(&self, on: String) -> String {
        match &self.redaction {
            Some(redaction) => redaction.borrow_mut().on(&on),
            None => on,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_that_the_target_has_made_has_both_ends_in_its_name() {
        let found = |on: &str| ends(on).map(|ends| ends.map(|end| end.to_string()));
        let told = |own: &str, peer: &str| Some([own.to_owned(), peer.to_owned()]);
        assert_eq!(found("TCP 10.0.0.7:5432 (from 10.0.0.3:41456)"), told("10.0.0.3:41456", "10.0.0.7:5432"));
        assert_eq!(found("TCP [::1]:80 of this JVM (from [::1]:9000)"), told("[::1]:9000", "[::1]:80"));
        for other in [
            "TCP 10.0.0.7:5432 (to 10.0.0.3:80)",
            "TCP peer-3 (from TCP own)",
            "UDP 10.0.0.7:53 (from 10.0.0.3:4)",
            "/a",
        ] {
            assert_eq!(found(other), None, "{other}");
        }
    }
}

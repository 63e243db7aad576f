//! UDP sockets of a process at which the kernel has thrown datagrams away, most often because nobody read them in time.
//!
//! The kernel counts them by socket, from the moment at which it was made: column `drops` of `/proc/PID/net/udp`
//! ([`udp4_format_sock`](https://github.com/torvalds/linux/blob/v6.12/net/ipv4/udp.c)).

use std::{collections::HashMap, net::SocketAddr};

use super::{
    own::Own,
    sockets::{Line, text},
};

/// Most sockets that are told of.
const MAX_SOCKETS: usize = 256;

/// A socket at which datagrams were thrown away.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dropping {
    /// `UDP 0.0.0.0:8125`.
    pub name: String,
    /// Where others send to.
    pub address: SocketAddr,
    /// Datagrams that were thrown away since it was made.
    pub dropped: u64,
    /// Bytes that wait to be read.
    pub unread_bytes: u64,
}

/// Asks for the UDP sockets of one process.
#[derive(Debug)]
pub struct Datagrams {
    pid: u32,
    own: Own,
}

impl Datagrams {
    /// Nothing is asked yet.
    pub fn new(pid: u32) -> Self {
        Self { pid, own: Own::new(pid) }
    }

    /// Sockets of the process at which datagrams were thrown away. A table that cannot be read has none.
    pub fn dropping(&mut self) -> Vec<Dropping> {
        let mut found = Vec::new();
        for table in ["udp", "udp6"] {
            let table = text(self.pid, table);
            self.own.learn(lines(&table).map(|(line, _)| line.inode));
            found.extend(dropping(&table, |inode| self.own.has(inode)));
        }
        found.truncate(MAX_SOCKETS);
        found
    }
}

/// Those of a table that are somebody's own.
fn dropping(table: &str, mut is_own: impl FnMut(u64) -> bool) -> Vec<Dropping> {
    let own = lines(table).filter(|(line, _)| is_own(line.inode));
    let told = |(line, dropped): (Line<'_>, u64)| Dropping {
        name: line.named("UDP", &HashMap::new()).name,
        address: line.ends[0],
        dropped,
        unread_bytes: u64::from(line.unread),
    };
    own.map(told).collect()
}

/// Lines of sockets that have thrown something away, with how much.
fn lines(table: &str) -> impl Iterator<Item = (Line<'_>, u64)> {
    let all = table.lines().skip(1).filter_map(|line| Line::parse(line).zip(dropped(line)));
    all.filter(|(_, dropped)| *dropped > 0)
}

/// The last column.
fn dropped(line: &str) -> Option<u64> {
    line.split_ascii_whitespace().nth(12)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use std::net::UdpSocket;

    use super::*;
    use crate::fuzz;

    const TABLE: &str = "   sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode ref pointer drops
 9000: 0100007F:C2E8 00000000:0000 07 00000000:00033B00 00:00000000 00000000     0        0 68177 2 00000000d6bd3ad8 4711
 9001: 00000000:1F90 0700000A:0035 01 00000000:00000000 00:00000000 00000000     0        0 68178 2 00000000d6bd3ad8 1
 9002: 00000000:1F91 00000000:0000 07 00000000:00000000 00:00000000 00000000     0        0 68179 2 00000000d6bd3ad8 0
 9003: 00000000:1F92 00000000:0000 07
";

    #[test]
    fn what_was_thrown_away_is_told_of_own_sockets() {
        let socket = |name: &str, address: &str, dropped, unread_bytes| Dropping {
            name: name.to_owned(),
            address: address.parse().unwrap(),
            dropped,
            unread_bytes,
        };
        let all = [
            socket("UDP 127.0.0.1:49896", "127.0.0.1:49896", 4711, 211_712),
            socket("UDP 10.0.0.7:53 (from 0.0.0.0:8080)", "0.0.0.0:8080", 1, 0),
        ];
        assert_eq!(dropping(TABLE, |_| true), all);
        assert_eq!(dropping(TABLE, |inode| inode == 68178), all[1..]);
    }

    #[test]
    fn a_socket_that_nobody_reads_throws_away() {
        let (reader, writer) = (UdpSocket::bind("127.0.0.1:0").unwrap(), UdpSocket::bind("127.0.0.1:0").unwrap());
        let address = reader.local_addr().unwrap();
        let mut datagrams = Datagrams::new(std::process::id());
        let name = format!("UDP {address}");
        let mut here = || datagrams.dropping().into_iter().find(|socket| socket.name == name);
        assert_eq!(here(), None);
        for _ in 0..10_000 {
            writer.send_to(&[0; 8192], address).unwrap();
        }
        let told = here().expect("its buffer is full");
        assert!(told.dropped > 1000 && told.dropped < 10_000 && told.unread_bytes > 0, "{told:?}");
    }

    #[test]
    fn fuzz_datagrams() {
        fuzz::texts("sockets", |text| drop(dropping(text, |_| true)));
    }
}

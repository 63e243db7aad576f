//! The sockets of a network namespace, as the kernel lists them, by inode.

use std::{
    cell::OnceCell,
    collections::{HashMap, HashSet},
    fs::File,
    io::{self, Read},
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
};

/// Most of a table that is read.
const MAX_BYTES: u64 = 8 << 20;
/// State of a TCP socket that waits for connections.
const LISTENING: &str = "0A";

/// Sockets of a process's namespace, by inode. A table that cannot be read leaves its sockets out.
#[derive(Debug)]
pub(super) struct Sockets {
    pid: u32,
    unix: OnceCell<Names>,
    internet: OnceCell<Names>,
}

type Names = HashMap<u64, String>;

impl Sockets {
    /// Nothing is read yet.
    pub(super) const fn new(pid: u32) -> Self {
        Self { pid, unix: OnceCell::new(), internet: OnceCell::new() }
    }

    /// Those of the internet are asked for last: the kernel looks through a table of all that there could be, however few there are.
    pub(super) fn named(&self, inode: u64) -> Option<String> {
        let unix = self.unix.get_or_init(|| named(&text(self.pid, "unix"), of_unix).collect());
        let name = unix.get(&inode);
        name.or_else(|| self.internet.get_or_init(|| internet(self.pid)).get(&inode)).cloned()
    }
}

fn internet(pid: u32) -> Names {
    let tables = [("tcp", "TCP"), ("tcp6", "TCP"), ("udp", "UDP"), ("udp6", "UDP")]
        .map(|(file, protocol)| (text(pid, file), protocol));
    let listening = tables.iter().flat_map(|(table, _)| table.lines().skip(1)).filter_map(listens).collect();
    let mut names = Names::default();
    for (table, protocol) in &tables {
        names.extend(named(table, |line| of_internet(line, protocol, &listening)));
    }
    names
}

fn named(table: &str, one: impl Fn(&str) -> Option<(u64, String)>) -> impl Iterator<Item = (u64, String)> {
    table.lines().skip(1).filter_map(one)
}

fn text(pid: u32, file: &str) -> String {
    File::open(format!("/proc/{pid}/net/{file}")).map(bounded).unwrap_or_default()
}

fn bounded(table: impl Read) -> String {
    let mut bytes = Vec::new();
    // What was read before an error is a part of the table.
    let _: io::Result<usize> = table.take(MAX_BYTES).read_to_end(&mut bytes);
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The port at which a line's socket waits for connections.
fn listens(line: &str) -> Option<u16> {
    let mut words = line.split_ascii_whitespace().skip(1);
    let local = address(words.next()?)?;
    (words.nth(1)? == LISTENING).then(|| local.port())
}

/// A line of `/proc/PID/net/tcp`, or one of its like. A socket at a port where others can connect was connected to.
fn of_internet(line: &str, protocol: &str, listening: &HashSet<u16>) -> Option<(u64, String)> {
    let mut words = line.split_ascii_whitespace().skip(1);
    let (local, remote, state) = (address(words.next()?)?, address(words.next()?)?, words.next()?);
    let inode = words.nth(5)?.parse().ok()?;
    let name = match state {
        LISTENING => format!("{protocol} {local}, listening"),
        _ if remote.port() == 0 => format!("{protocol} {local}"),
        _ if listening.contains(&local.port()) => format!("{protocol} {remote} (to {local})"),
        _ => format!("{protocol} {remote} (from {local})"),
    };
    Some((inode, name))
}

/// `0100007F:1538`: words of 32 bits in the machine's order, and a port.
fn address(text: &str) -> Option<SocketAddr> {
    let (address, port) = text.split_once(':')?;
    let word = |index: usize| u32::from_str_radix(address.get(8 * index..8 * index + 8)?, 16).ok();
    let ip = match address.len() {
        8 => IpAddr::V4(Ipv4Addr::from(word(0)?.to_ne_bytes())),
        32 => {
            let mut bytes = [0; 16];
            for (index, chunk) in bytes.chunks_exact_mut(4).enumerate() {
                chunk.copy_from_slice(&word(index)?.to_ne_bytes());
            }
            IpAddr::V6(Ipv6Addr::from(bytes)).to_canonical()
        }
        _ => return None,
    };
    Some(SocketAddr::new(ip, u16::from_str_radix(port, 16).ok()?))
}

/// A line of `/proc/PID/net/unix`; its path can hold anything.
fn of_unix(line: &str) -> Option<(u64, String)> {
    let (mut inode, mut rest) = ("", line);
    for _ in 0..7 {
        // Numbers are padded.
        (inode, rest) = rest.trim_start().split_once(' ').unwrap_or((rest.trim_start(), ""));
    }
    let name = if rest.is_empty() { "a Unix socket".to_owned() } else { format!("Unix socket {rest}") };
    Some((inode.parse().ok()?, name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fuzz;

    fn sample(name: &str) -> String {
        String::from_utf8(fuzz::corpus("sockets").into_iter().find(|text| text.ends_with(name.as_bytes())).unwrap())
            .unwrap()
    }

    #[test]
    fn peers_are_read_in_both_families() {
        let line =
            "1: 0100007F:A1F0 0100007F:1538 01 00000000:00000000 00:00000000 00000000  0  0 4711 1 0 20 4 30 10 -1";
        let named = |line: &str| of_internet(line, "TCP", &HashSet::new()).expect("a line");
        assert_eq!(named(line), (4711, "TCP 127.0.0.1:5432 (from 127.0.0.1:41456)".to_owned()));
        let mapped = line.replace("0100007F:1538", "0000000000000000FFFF00000100007F:1538");
        assert_eq!(named(&mapped).1, "TCP 127.0.0.1:5432 (from 127.0.0.1:41456)");
        let six = line.replace("0100007F:1538", "B80D0120000000000000000002000000:01BB");
        assert_eq!(named(&six).1, "TCP [2001:db8::2]:443 (from 127.0.0.1:41456)");
        let listening = line.replace("0100007F:1538 01", "00000000:0000 0A");
        assert_eq!(named(&listening).1, "TCP 127.0.0.1:41456, listening");
        let ports = [&listening].into_iter().filter_map(|line| listens(line)).collect();
        let served = of_internet(line, "TCP", &ports).expect("a line");
        assert_eq!(served.1, "TCP 127.0.0.1:5432 (to 127.0.0.1:41456)");
    }

    /// A user can have as many sockets as she likes, and names for them.
    #[test]
    fn of_a_table_a_bounded_part_is_read() {
        let endless = io::repeat(b'x').take(MAX_BYTES + 4096);
        assert_eq!(bounded(endless).len() as u64, MAX_BYTES);
    }

    #[test]
    fn paths_of_unix_sockets_may_have_spaces() {
        let names: Names = named(&sample("/run/a b.sock\n"), of_unix).collect();
        assert_eq!(names[&4714], "Unix socket /run/a b.sock");
    }

    #[test]
    fn fuzz_sockets() {
        fuzz::texts("sockets", |text| {
            let ports = text.lines().filter_map(listens).collect();
            let names: Names =
                named(text, |line| of_internet(line, "TCP", &ports)).chain(named(text, of_unix)).collect();
            assert!(names.len() <= 2 * text.lines().count());
        });
    }
}

//! The sockets of a network namespace, as the kernel lists them, by inode.

use std::{
    cell::{OnceCell, RefCell},
    collections::{HashMap, HashSet},
    fs::File,
    io::{self, Read},
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
};

use super::{Leads, open};
use crate::item::look::OF_THIS_JVM;

/// Most of a table that is read.
const MAX_BYTES: u64 = 8 << 20;
/// State of a TCP socket that waits for connections.
const LISTENING: &str = "0A";
/// State of one that is connected.
const ESTABLISHED: &str = "01";

/// Most sockets whose names are kept from moment to moment: a target makes as many as it likes.
const MAX_KEPT: usize = 16_384;

/// Sockets of a process's namespace, by inode. A table that cannot be read leaves its sockets out.
#[derive(Debug)]
pub(super) struct Sockets {
    pid: u32,
    unix: OnceCell<HashMap<u64, String>>,
    /// Those of IPv6, and those of IPv4: a JVM uses the first for both, unless it was told otherwise.
    six: OnceCell<Family>,
    four: OnceCell<Family>,
    /// Those whose names stay as they are, as long as there are such sockets. The kernel takes milliseconds for a table.
    kept: RefCell<HashMap<u64, String>>,
    /// Those of the process itself, once a peer is on the same machine.
    own: OnceCell<HashSet<u64>>,
}

/// Sockets of a protocol of the internet.
#[derive(Debug, Default)]
struct Family {
    sockets: HashMap<u64, Named>,
    /// Connections within this machine by their ends, this one first.
    near: HashMap<[SocketAddr; 2], Side>,
    /// Those that listen, by port.
    listening: HashMap<u16, u64>,
}

/// One side of a connection within this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Side {
    /// Of a connection that was not accepted yet there is none: 0.
    inode: u64,
    /// Whether there are bytes that the other side has not acknowledged.
    has_unsent: bool,
}

/// A socket of a table.
#[derive(Debug)]
pub(super) struct Named {
    pub(super) name: String,
    /// Whether that stays so.
    stays: bool,
    /// Both ends, where the other one is on this machine.
    near: Option<[SocketAddr; 2]>,
    /// Whether something is left to be read.
    has_unread: bool,
}

impl Sockets {
    /// Nothing is read yet.
    pub(super) fn new(pid: u32) -> Self {
        let (unix, six, four) = (OnceCell::new(), OnceCell::new(), OnceCell::new());
        Self { pid, unix, six, four, kept: RefCell::default(), own: OnceCell::new() }
    }

    /// Another moment: tables are read again, for what they may say otherwise.
    pub(super) fn look_again(&mut self) {
        *self = Self { kept: self.kept.take().into(), ..Self::new(self.pid) };
    }

    /// Those of the internet are asked for last: the kernel looks through a table of all that there could be, however few there are.
    pub(super) fn named(&self, inode: u64) -> Option<Leads> {
        if let Some(name) = self.kept.borrow().get(&inode) {
            return Some(Leads::named(name.clone()));
        }
        let unix = self.unix.get_or_init(|| text(self.pid, "unix").lines().skip(1).filter_map(of_unix).collect());
        if let Some(name) = unix.get(&inode) {
            return Some(Leads::named(name.clone()));
        }
        let socket = self.six().sockets.get(&inode).or_else(|| self.four().sockets.get(&inode))?;
        if socket.stays {
            let mut kept = self.kept.borrow_mut();
            if kept.len() >= MAX_KEPT {
                kept.clear();
            }
            kept.insert(inode, socket.name.clone());
        }
        let other = socket.near.and_then(|[local, remote]| self.side([remote, local]));
        let held_back = !socket.has_unread && other.is_some_and(|side| side.has_unsent);
        let is_own = other.is_some_and(|side| self.is_own(side, socket.near));
        Some(Leads { name: if is_own { of_this_jvm(&socket.name) } else { socket.name.clone() }, held_back })
    }

    /// The side with these ends of a connection within this machine.
    fn side(&self, ends: [SocketAddr; 2]) -> Option<Side> {
        self.six().near.get(&ends).or_else(|| self.four().near.get(&ends)).copied()
    }

    /// Whether the other side of a socket with these ends is one of the same process, or waits for it to be accepted.
    fn is_own(&self, other: Side, ends: Option<[SocketAddr; 2]>) -> bool {
        let own = self.own.get_or_init(|| open::sockets(self.pid).collect());
        let port = ends.filter(|_| other.inode == 0).map(|[_, remote]| remote.port());
        let listens = |family: &Family| port.and_then(|port| family.listening.get(&port).copied());
        let listener = || listens(self.six()).or_else(|| listens(self.four()));
        own.contains(&other.inode) || listener().is_some_and(|inode| own.contains(&inode))
    }

    fn six(&self) -> &Family {
        self.six.get_or_init(|| Family::of(&text(self.pid, "tcp6"), &text(self.pid, "udp6")))
    }

    fn four(&self) -> &Family {
        self.four.get_or_init(|| Family::of(&text(self.pid, "tcp"), &text(self.pid, "udp")))
    }
}

impl Family {
    fn of(tcp: &str, udp: &str) -> Self {
        let lines = |table| str::lines(table).skip(1).filter_map(Line::parse);
        let listening = lines(tcp).filter(|line| line.state == LISTENING);
        let listening = listening.map(|line| (line.ends[0].port(), line.inode)).collect();
        let side = |line: Line<'_>| (line.ends, Side { inode: line.inode, has_unsent: line.unsent > 0 });
        let near = lines(tcp).filter(Line::is_near).map(side).collect();
        let mut sockets = HashMap::new();
        for (table, protocol) in [(tcp, "TCP"), (udp, "UDP")] {
            sockets.extend(lines(table).map(|line| (line.inode, line.named(protocol, &listening))));
        }
        Self { sockets, near, listening }
    }
}

/// A table of the process's network namespace; nothing where it cannot be read.
pub(super) fn text(pid: u32, file: &str) -> String {
    File::open(format!("/proc/{pid}/net/{file}")).map(bounded).unwrap_or_default()
}

fn bounded(table: impl Read) -> String {
    let mut bytes = Vec::new();
    // What was read before an error is a part of the table.
    let _: io::Result<usize> = table.take(MAX_BYTES).read_to_end(&mut bytes);
    String::from_utf8_lossy(&bytes).into_owned()
}

/// A line of `/proc/PID/net/tcp`, or one of its like (<https://www.kernel.org/doc/html/v6.12/networking/proc_net_tcp.html>).
pub(super) struct Line<'a> {
    /// This side, and the other one.
    pub(super) ends: [SocketAddr; 2],
    state: &'a str,
    /// Bytes that were written here and are not acknowledged, and those that have come and are not read.
    unsent: u32,
    pub(super) unread: u32,
    pub(super) inode: u64,
}

impl<'a> Line<'a> {
    pub(super) fn parse(line: &'a str) -> Option<Self> {
        let mut words = line.split_ascii_whitespace().skip(1);
        let ends = [address(words.next()?)?, address(words.next()?)?];
        let state = words.next()?;
        let (unsent, unread) = words.next()?.split_once(':')?;
        let [unsent, unread] = [unsent, unread].map(|number| u32::from_str_radix(number, 16).ok());
        Some(Self { ends, state, unsent: unsent?, unread: unread?, inode: words.nth(4)?.parse().ok()? })
    }

    /// Whether the other side is on this machine.
    fn is_near(&self) -> bool {
        let [local, remote] = self.ends;
        self.state == ESTABLISHED && (remote.ip().is_loopback() || remote.ip() == local.ip())
    }

    /// A socket at a port where others can connect was connected to. Of what comes from the same machine both sides are in the tables:
    /// bytes that wait on one side while nothing is left to be read on the other one are not on their way, where there is none.
    pub(super) fn named(&self, protocol: &str, listening: &HashMap<u16, u64>) -> Named {
        let [local, remote] = self.ends;
        let is_listening = self.state == LISTENING;
        let name = match self.state {
            LISTENING => format!("{protocol} {local}, listening"),
            _ if remote.port() == 0 => format!("{protocol} {local}"),
            _ if listening.contains_key(&local.port()) => format!("{protocol} {remote} (to {local})"),
            _ => format!("{protocol} {remote} (from {local})"),
        };
        // What is not connected may be later, and a peer on the same machine may hold something back at another moment.
        let stays = is_listening || (remote.port() != 0 && self.state == ESTABLISHED && !self.is_near());
        Named { name, stays, near: self.is_near().then_some(self.ends), has_unread: self.unread > 0 }
    }
}

/// A name of a connection whose other side is the JVM's as well.
fn of_this_jvm(name: &str) -> String {
    match [" (from ", " (to "].into_iter().find_map(|way| name.find(way)) {
        Some(at) => format!("{}{OF_THIS_JVM}{}", &name[..at], &name[at..]),
        None => format!("{name}{OF_THIS_JVM}"),
    }
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

    fn named(line: &str) -> (u64, Named) {
        let line = Line::parse(line).expect("a line");
        (line.inode, line.named("TCP", &HashMap::new()))
    }

    #[test]
    fn peers_are_read_in_both_families() {
        let line =
            "1: 0100007F:A1F0 0100007F:1538 01 00000000:00000000 00:00000000 00000000  0  0 4711 1 0 20 4 30 10 -1";
        let (inode, socket) = named(line);
        assert_eq!((inode, socket.name.as_str()), (4711, "TCP 127.0.0.1:5432 (from 127.0.0.1:41456)"));
        let mapped = line.replace("0100007F:1538", "0000000000000000FFFF00000100007F:1538");
        assert_eq!(named(&mapped).1.name, "TCP 127.0.0.1:5432 (from 127.0.0.1:41456)");
        let six = line.replace("0100007F:1538", "B80D0120000000000000000002000000:01BB");
        assert_eq!(named(&six).1.name, "TCP [2001:db8::2]:443 (from 127.0.0.1:41456)");
        let listening = line.replace("0100007F:1538 01", "00000000:0000 0A").replace("4711", "4712");
        let family = Family::of(&format!("head\n{line}\n{listening}\n"), "");
        assert_eq!(family.sockets[&4712].name, "TCP 127.0.0.1:41456, listening");
        assert_eq!(family.sockets[&4711].name, "TCP 127.0.0.1:5432 (to 127.0.0.1:41456)");
    }

    #[test]
    fn what_waits_on_the_other_side_of_the_same_machine_is_held_back() {
        let line = |local: &str, remote: &str, queues: &str, inode: u64| {
            format!("head\n1: {local} {remote} 01 {queues} 00:00000000 00000000  0  0 {inode} 1 0 20 4 30 10 -1\n")
        };
        let (client, server) = ("0100007F:A1F0", "0100007F:1538");
        let mapped = "0000000000000000FFFF00000100007F";
        let (mapped_client, mapped_server) = (format!("{mapped}:A1F0"), format!("{mapped}:1538"));
        let waits = |of_client: &str, of_server: &str| {
            let sockets = Sockets::new(std::process::id());
            let six = Family::of(&line(&mapped_server, &mapped_client, of_server, 2), "");
            sockets.six.set(six).expect("not read yet");
            sockets.four.set(Family::of(&line(client, server, of_client, 1), "")).expect("not read yet");
            [1, 2].map(|inode| sockets.named(inode).expect("a socket").held_back)
        };
        assert_eq!(waits("00000000:00000000", "0000003F:00000000"), [true, false]);
        assert_eq!(waits("00000000:00000000", "00000000:00000000"), [false, false]);
        assert_eq!(waits("00000000:00000010", "0000003F:00000000"), [false, false], "some of it can be read");
    }

    /// A server that calls itself waits for its own threads, which is worth to know wherever they wait.
    #[test]
    fn a_connection_to_the_process_itself_says_so_before_and_after_it_was_accepted() {
        let server = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = server.local_addr().expect("an address");
        let client = std::net::TcpStream::connect(address).expect("it is heard");
        let named = |socket: &dyn std::os::fd::AsFd| {
            let link = rustix::fs::readlink(
                format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&socket.as_fd())),
                Vec::new(),
            );
            let link = link.expect("it is open").into_string().expect("plain letters");
            Sockets::new(std::process::id())
                .named(super::super::of_socket(&link).expect("a socket"))
                .expect("known")
                .name
        };
        let from = client.local_addr().expect("an address");
        let expected = format!("TCP {address} of this JVM (from {from})");
        // Who has connected need not be in the other side's queue at once.
        let begun = std::time::Instant::now();
        while named(&client) != expected {
            assert!(begun.elapsed() < std::time::Duration::from_mins(1), "{}", named(&client));
        }
        let (accepted, _) = server.accept().expect("one waits");
        assert_eq!(named(&client), expected);
        assert_eq!(named(&accepted), format!("TCP {from} of this JVM (to {address})"));
    }

    #[test]
    fn names_are_kept_where_nothing_about_a_socket_changes() {
        let stays = |local: &str, remote: &str, state: &str| {
            named(&format!(
                "1: {local} {remote} {state} 00000000:00000000 00:00000000 00000000  0  0 7 1 0 20 4 30 10 -1"
            ))
            .1
            .stays
        };
        let (here, there, nowhere) = ("0300000A:A1F0", "0700000A:1538", "00000000:0000");
        assert!(stays(here, there, "01") && stays(here, nowhere, "0A"));
        // Not connected yet, and two ways to this machine.
        assert!(!stays(here, nowhere, "07") && !stays(here, there, "02") && !stays(here, "0300000A:1538", "01"));
        assert!(!stays("0100007F:A1F0", "0100007F:1538", "01"));
        let mut sockets = Sockets::new(std::process::id());
        let server = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let link = std::fs::read_link(format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&server)));
        let inode = super::super::of_socket(&link.expect("it is open").to_string_lossy()).expect("a socket");
        let first = sockets.named(inode);
        sockets.look_again();
        assert_eq!((sockets.named(inode), sockets.four.get().is_none()), (first, true));
    }

    /// A user can have as many sockets as she likes, and names for them.
    #[test]
    fn of_a_table_a_bounded_part_is_read() {
        let endless = io::repeat(b'x').take(MAX_BYTES + 4096);
        assert_eq!(bounded(endless).len() as u64, MAX_BYTES);
    }

    #[test]
    fn paths_of_unix_sockets_may_have_spaces() {
        let names: HashMap<u64, String> = sample("/run/a b.sock\n").lines().skip(1).filter_map(of_unix).collect();
        assert_eq!(names[&4714], "Unix socket /run/a b.sock");
    }

    #[test]
    fn fuzz_sockets() {
        fuzz::texts("sockets", |text| {
            let family = Family::of(text, text);
            let unix = text.lines().filter_map(of_unix).count();
            let of_tcp = family.near.len() + family.listening.len();
            assert!(family.sockets.len() + of_tcp + unix <= 4 * text.lines().count());
        });
    }
}

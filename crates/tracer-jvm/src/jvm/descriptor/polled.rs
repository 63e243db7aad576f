//! Sockets from which virtual threads wait to read. They leave their carriers meanwhile, and one thread waits for all of them
//! (`sun.nio.ch.Poller`, by `epoll`): the kernel lists which sockets that are, once each until something comes.

use std::{
    collections::HashMap,
    fs,
    sync::atomic::{AtomicBool, Ordering},
};

use super::{super::forked, Descriptors};

/// Most descriptors among which lists of `epoll` are looked for.
const MAX_DESCRIPTORS: usize = 4096;
/// Most of all lists that is read.
const MAX_BYTES: usize = 4 << 20;
/// What the descriptor of such a list leads to.
const LIST: &str = "anon_inode:[eventpoll]";
/// Bits of what is waited for, from the kernel's `eventpoll.h`: something to read, and once.
const READABLE: u32 = 1;
const ONCE: u32 = 1 << 30;

impl Descriptors {
    /// What the virtual threads wait for that read from a socket; nothing where some wait for a peer that the program connected to
    /// and others for one that has connected to it: who waits for which is not known.
    pub fn polled(&self) -> Option<String> {
        let lists = self.lists();
        common(lists.lines().filter_map(awaited).filter_map(|inode| Some(self.sockets.named(inode)?.name)))
    }

    /// The kernel's words on each list of `epoll`. For them it takes the list's lock, which the target's user can keep: by adding a file
    /// of a file system that she serves, and that never says whether there is something to read.
    fn lists(&self) -> String {
        if HELD_UP.load(Ordering::Relaxed) {
            return String::new();
        }
        let folder = format!("/proc/{}/fd", self.pid);
        let open = fs::read_dir(&folder).into_iter().flatten().flatten().take(MAX_DESCRIPTORS);
        let is_list = |entry: &fs::DirEntry| fs::read_link(entry.path()).is_ok_and(|to| to.as_os_str() == LIST);
        let number = |entry: fs::DirEntry| entry.file_name().into_string().ok();
        let lists = open.filter(is_list).filter_map(number).map(|number| format!("/proc/{}/fdinfo/{number}", self.pid));
        let lists: Vec<String> = lists.collect();
        if lists.is_empty() {
            return String::new();
        }
        match forked::read(&lists, MAX_BYTES) {
            Ok(text) => String::from_utf8_lossy(&text).into_owned(),
            Err(error) => {
                HELD_UP.store(true, Ordering::Relaxed);
                log::warn!("it is not known which sockets virtual threads of process {} read from: {error}", self.pid);
                String::new()
            }
        }
    }
}

/// Whether somebody has kept such a list from being read: then no more of them are, as each leaves a process behind.
static HELD_UP: AtomicBool = AtomicBool::new(false);

/// The inode in a line of a list (`tfd: 14 events: 40000019 data: 60000000e pos:0 ino:55c7e9 sdev:9`) that still waits to read.
fn awaited(line: &str) -> Option<u64> {
    let (_, rest) = line.strip_prefix("tfd:")?.split_once("events:")?;
    let mut words = rest.split_ascii_whitespace();
    let events = u32::from_str_radix(words.next()?, 16).ok()?;
    let inode = u64::from_str_radix(words.find_map(|word| word.strip_prefix("ino:"))?, 16).ok()?;
    (events & (READABLE | ONCE) == READABLE | ONCE).then_some(inode)
}

/// What all of these sockets have in common.
fn common(sockets: impl Iterator<Item = String>) -> Option<String> {
    let (mut served, mut peers) = (None, HashMap::<String, (u64, String)>::new());
    for name in sockets {
        if name.contains(" (to ") {
            served = Some(name);
        } else if let Some((peer, _)) = name.split_once(" (from ") {
            peers.entry(peer.to_owned()).or_insert_with(|| (0, name.clone())).0 += 1;
        }
    }
    let all: u64 = peers.values().map(|(count, _)| count).sum();
    let several = peers.len();
    let most = peers.into_iter().max_by(|a, b| a.1.0.cmp(&b.1.0).then_with(|| b.0.cmp(&a.0)));
    match (served, most) {
        (Some(served), None) => Some(served),
        (None, Some((_, (count, name)))) if 2 * count >= all => Some(name),
        (None, Some(_)) => Some(format!("TCP, {several} peers (from here)")),
        (Some(_), Some(_)) | (None, None) => None,
    }
}

#[cfg(test)]
mod tests {
    use std::{
        net::{TcpListener, TcpStream},
        os::fd::AsFd as _,
    };

    use rustix::event::epoll;

    use super::{super::of_socket, *};
    use crate::fuzz;

    fn on(sockets: &[&str]) -> Option<String> {
        common(sockets.iter().map(|&name| name.to_owned()))
    }

    #[test]
    fn what_all_wait_for_is_told_and_what_differs_is_not() {
        let (stock, bank) = ("TCP 10.0.0.7:1 (from 10.0.0.3:5)", "TCP 10.0.0.8:1 (from 10.0.0.3:6)");
        assert_eq!(on(&[stock, stock, bank]).as_deref(), Some(stock));
        assert_eq!(on(&["TCP 1.1.1.1:5 (to 10.0.0.3:80)"]).as_deref(), Some("TCP 1.1.1.1:5 (to 10.0.0.3:80)"));
        assert_eq!(on(&[stock, "TCP 1.1.1.1:5 (to 10.0.0.3:80)"]), None, "who waits for which?");
        assert_eq!(on(&["TCP 0.0.0.0:80, listening"]), None);
        let three = [stock, bank, "TCP 10.0.0.9:1 (from 10.0.0.3:7)"];
        assert_eq!(on(&three).as_deref(), Some("TCP, 3 peers (from here)"));
    }

    #[test]
    fn only_what_still_waits_to_be_read_counts() {
        assert_eq!(awaited("tfd:       14 events: 40000019 data:        60000000e  pos:0 ino:ff sdev:9"), Some(255));
        assert_eq!(awaited("tfd:       14 events: 40000000 data: 60000000e pos:0 ino:ff sdev:9"), None, "it has come");
        assert_eq!(awaited("tfd:       14 events: 19 data: 60000000e pos:0 ino:ff sdev:9"), None, "an event loop");
    }

    #[test]
    fn fuzz_polled() {
        fuzz::texts("polled", |text| assert!(text.lines().filter_map(awaited).count() <= text.len()));
    }

    #[test]
    fn a_list_of_this_process_is_read() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let client = TcpStream::connect(listener.local_addr().expect("it has one")).expect("it listens");
        let list = epoll::create(epoll::CreateFlags::CLOEXEC).expect("a list");
        let flags = epoll::EventFlags::IN | epoll::EventFlags::ONESHOT;
        epoll::add(list.as_fd(), client.as_fd(), epoll::EventData::new_u64(0), flags).expect("it is added");
        let inode = fs::read_link(format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&client))).expect("open");
        let inode = of_socket(&inode.to_string_lossy()).expect("a socket");
        let lists = Descriptors::new(std::process::id()).lists();
        assert!(lists.lines().filter_map(awaited).any(|known| known == inode));
    }
}

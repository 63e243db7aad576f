//! What a descriptor of the target leads to: a file with its path, a socket with its peer, a pipe.
//!
//! Sockets are looked up in the tables of the target's network namespace, by their inode. Nothing is opened that the target has open.

pub mod connection;
pub mod datagrams;
mod diagnosis;
pub mod listening;
pub mod open;
mod own;
mod polled;
mod sockets;

use std::fs;

use rustix::fs::{AtFlags, CWD, FileType, StatxFlags, statx};

use self::sockets::Sockets;

/// What a descriptor leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leads {
    /// In words.
    pub name: String,
    /// Whether it is a socket for which the other side, on this machine, has bytes that it does not send yet.
    pub held_back: bool,
}

impl Leads {
    /// It is called so, and nothing is held back.
    pub const fn named(name: String) -> Self {
        Self { name, held_back: false }
    }
}

/// What the first descriptors are called.
const STANDARD: [&str; 3] = ["standard input", "standard output", "standard error"];

/// Descriptors of one process, at one moment.
#[derive(Debug)]
pub struct Descriptors {
    pid: u32,
    sockets: Sockets,
}

impl Descriptors {
    /// Nothing is read yet.
    pub fn new(pid: u32) -> Self {
        Self { pid, sockets: Sockets::new(pid) }
    }

    /// The same process at another moment.
    pub fn look_again(&mut self) {
        self.sockets.look_again();
    }

    /// What a descriptor leads to, in words; absent where there is none, or none any more.
    pub fn named(&self, descriptor: u32) -> Option<String> {
        self.leads_to(descriptor).map(|leads| leads.name)
    }

    /// What a descriptor leads to, likewise.
    pub fn leads_to(&self, descriptor: u32) -> Option<Leads> {
        let target = fs::read_link(format!("/proc/{}/fd/{descriptor}", self.pid)).ok()?;
        let target = target.to_string_lossy();
        let Some(inode) = of_socket(&target) else {
            let known = STANDARD.get(usize::try_from(descriptor).ok()?);
            let standard = known.filter(|_| self.has_another_end(descriptor, &target));
            return Some(Leads::named(standard.map_or_else(|| words(&target), |name| (*name).to_owned())));
        };
        Some(self.sockets.named(inode).unwrap_or_else(|| Leads::named("a socket".to_owned())))
    }

    /// Whether a descriptor is something at whose other end somebody writes, or reads, when they like: a pipe, with a name or without, or a
    /// terminal.
    fn has_another_end(&self, descriptor: u32, target: &str) -> bool {
        if target.starts_with("pipe:") || target.starts_with("/dev/pts/") {
            return true;
        }
        // A file system of the target's user need not answer, so it is not asked: what the kernel knows is enough.
        let path = format!("/proc/{}/fd/{descriptor}", self.pid);
        let known = statx(CWD, path, AtFlags::STATX_DONT_SYNC, StatxFlags::TYPE);
        known.is_ok_and(|known| FileType::from_raw_mode(known.stx_mode.into()) == FileType::Fifo)
    }
}

fn of_socket(target: &str) -> Option<u64> {
    target.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok()
}

fn words(target: &str) -> String {
    match target.split_once(':') {
        Some(("pipe", _)) => "a pipe".to_owned(),
        Some(("anon_inode", kind)) => kind.trim_matches(['[', ']']).to_owned(),
        _ => target.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::{fs::File, io::Write as _, net::TcpListener, os::fd::AsRawFd as _};

    use super::*;

    #[test]
    fn files_pipes_and_sockets_have_their_names() {
        let descriptors = Descriptors::new(std::process::id());
        let named = |fd: i32| descriptors.named(fd.cast_unsigned()).expect("it is open");
        let file = File::open("/proc/self/exe").expect("it can be opened");
        assert_eq!(named(file.as_raw_fd()), std::env::current_exe().expect("a path").to_string_lossy());
        let (pipe, mut writer) = std::io::pipe().expect("a pipe");
        writer.write_all(b"x").expect("room");
        assert_eq!(named(pipe.as_raw_fd()), "a pipe");
        let server = TcpListener::bind("127.0.0.1:0").expect("a port");
        let client = std::net::TcpStream::connect(server.local_addr().expect("an address")).expect("it is heard");
        let (peer, own) = (client.peer_addr().expect("a peer"), client.local_addr().expect("an address"));
        assert_eq!(named(client.as_raw_fd()), format!("TCP {peer} of this JVM (from {own})"));
        assert_eq!(named(server.as_raw_fd()), format!("TCP {peer}, listening"));
        assert_eq!(descriptors.named(1 << 20), None);
    }

    /// Whoever writes there waits for a reader that nobody has named: a log driver, or what follows in a pipeline.
    #[test]
    fn pipes_that_others_read_are_standard_output_and_error() {
        let mut sleep = std::process::Command::new("sleep");
        sleep.arg("600").stdin(std::process::Stdio::null()).stdout(std::process::Stdio::piped());
        let mut waits = sleep.stderr(std::process::Stdio::piped()).spawn().expect("it starts");
        let named = [0, 1, 2].map(|descriptor| Descriptors::new(waits.id()).named(descriptor));
        waits.kill().expect("it is there");
        waits.wait().expect("it ends");
        let named = named.each_ref().map(|name| name.as_deref().unwrap_or_default());
        assert_eq!(named, ["/dev/null", "standard output", "standard error"]);
    }

    /// A server that waits for commands at a FIFO waits for nothing that is slow.
    #[test]
    fn a_pipe_with_a_name_is_standard_input() {
        let folder = tempfile::tempdir().expect("a folder");
        let fifo = folder.path().join("commands");
        rustix::fs::mkfifoat(CWD, &fifo, rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR).expect("a FIFO");
        let input = File::options().read(true).write(true).open(&fifo).expect("it opens for both at once");
        let mut waits = std::process::Command::new("sleep").arg("600").stdin(input).spawn().expect("it starts");
        let named = Descriptors::new(waits.id()).named(0);
        waits.kill().expect("it is there");
        waits.wait().expect("it ends");
        assert_eq!(named.as_deref(), Some("standard input"));
    }
}

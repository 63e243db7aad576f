//! What the kernel says about a process: that it lives, since when, whose it is. Knows nothing about JVMs.

use std::{
    fs::{self, File},
    io::{self, Read},
    os::unix::fs::MetadataExt,
};

use serde::{Deserialize, Serialize};

use crate::event::Tid;

/// Most bytes read from a file of `/proc` that describes a process.
const MAX_BYTES: u64 = 64 << 10;
/// Most threads that are listed.
const MAX_THREADS: usize = 65_536;

/// Names a process for as long as the machine is up: pids are used again, but not with the same start time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Identity {
    /// Process id.
    pub pid: u32,
    /// Start time in clock ticks since boot.
    pub start_ticks: u64,
}

impl Identity {
    /// Identity of a living process; absent where it is gone or a zombie.
    pub fn of(pid: u32) -> Option<Self> {
        let stat = Stat::read(pid).ok()?;
        (!stat.is_dead()).then_some(Self { pid, start_ticks: stat.start_ticks })
    }

    /// Whether this very process still runs.
    pub fn is_alive(self) -> bool {
        Self::of(self.pid) == Some(self)
    }
}

/// The part of `/proc/PID/stat` that jtrace uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stat {
    /// State (`R`, `S`, `Z`, ...).
    pub state: char,
    /// CPU time of all threads that live or lived, user and system, in clock ticks.
    pub cpu_ticks: u64,
    /// Start time in clock ticks since boot.
    pub start_ticks: u64,
    /// Where the command line lies in its memory; zeros where the kernel does not tell.
    pub arguments: (u64, u64),
}

impl Stat {
    /// Reads it.
    pub fn read(pid: u32) -> io::Result<Self> {
        let text = read_bounded(&format!("/proc/{pid}/stat"))?;
        Self::parse(&text).ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "stat is not understood"))
    }

    /// Whether somebody has stopped it, a debugger included: it answers nothing.
    pub fn is_stopped(self) -> bool {
        matches!(self.state, 'T' | 't')
    }

    /// Whether it has ended, though its parent has not noticed.
    pub fn is_dead(self) -> bool {
        matches!(self.state, 'Z' | 'X' | 'x')
    }

    /// The name in parentheses can hold anything, parentheses too.
    fn parse(text: &[u8]) -> Option<Self> {
        let behind_name = memchr::memrchr(b')', text)? + 1;
        let mut fields = std::str::from_utf8(&text[behind_name..]).ok()?.split_ascii_whitespace();
        let state = fields.next()?.chars().next()?;
        // Fields 14, 15 and 22 of the line; the state is field 3.
        let user: u64 = fields.nth(10)?.parse().ok()?;
        let system = fields.next()?.parse().ok()?;
        let start_ticks = fields.nth(6)?.parse().ok()?;
        // Fields 48 and 49.
        let mut number = |skip| fields.nth(skip).and_then(|word| word.parse().ok()).unwrap_or(0);
        let arguments = (number(25), number(0));
        Some(Self { state, cpu_ticks: user.saturating_add(system), start_ticks, arguments })
    }
}

/// The part of `/proc/PID/status` that jtrace uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Status {
    /// Effective user id.
    pub uid: u32,
    /// Process id in the innermost pid namespace.
    pub namespace_pid: u32,
    /// How many pid namespaces, as seen from jtrace, the process is in.
    pub namespace_depth: usize,
    /// Effective capabilities, a bit each.
    pub capabilities: u64,
}

impl Status {
    /// Reads it; `pid` may be `self`.
    pub fn read(pid: &str) -> io::Result<Self> {
        Ok(Self::parse(&String::from_utf8_lossy(&read_bounded(&format!("/proc/{pid}/status"))?)))
    }

    fn parse(text: &str) -> Self {
        let mut status = Self::default();
        for (key, value) in text.lines().filter_map(|line| line.split_once(':')) {
            let mut words = value.split_ascii_whitespace();
            match key {
                "Uid" => status.uid = words.nth(1).and_then(|word| word.parse().ok()).unwrap_or(u32::MAX),
                "NSpid" => {
                    status.namespace_depth = words.clone().count();
                    status.namespace_pid = words.next_back().and_then(|word| word.parse().ok()).unwrap_or(0);
                }
                "CapEff" => {
                    let mask = words.next().and_then(|word| u64::from_str_radix(word, 16).ok());
                    status.capabilities = mask.unwrap_or(0);
                }
                _ => {}
            }
        }
        status
    }
}

/// The signals that a process has handlers for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signals {
    caught: u64,
}

impl Signals {
    /// Reads them from `/proc/PID/status`.
    pub fn read(pid: u32) -> io::Result<Self> {
        let text = read_bounded(&format!("/proc/{pid}/status"))?;
        Ok(Self::parse(&String::from_utf8_lossy(&text)))
    }

    /// Whether it has a handler for a signal.
    pub fn catches(self, signal: rustix::process::Signal) -> bool {
        u32::try_from(signal.as_raw() - 1).is_ok_and(|bit| bit < 64 && self.caught & 1 << bit != 0)
    }

    fn parse(text: &str) -> Self {
        let mask = text.lines().find_map(|line| line.strip_prefix("SigCgt:"));
        Self { caught: mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0) }
    }
}

/// Whether the mount or pid namespace of a process differs from jtrace's; absent where the kernel does not tell.
pub fn in_container(pid: u32) -> Option<bool> {
    let id = |pid: &str, kind: &str| fs::metadata(format!("/proc/{pid}/ns/{kind}")).map(|data| data.ino()).ok();
    let pid = pid.to_string();
    let differs = |kind| Some(id("self", kind)? != id(&pid, kind)?);
    Some(differs("mnt")? || differs("pid")?)
}

/// The process that a thread id belongs to; absent where it is gone.
pub fn thread_group(tid: u32) -> Option<u32> {
    let text = read_bounded(&format!("/proc/{tid}/status")).ok()?;
    let text = String::from_utf8_lossy(&text);
    text.lines().find_map(|line| line.strip_prefix("Tgid:")?.trim().parse().ok())
}

/// Threads of a process with the names that the kernel knows, by id. A thread that ends meanwhile is left out.
pub fn threads(pid: u32) -> io::Result<Vec<(Tid, String)>> {
    let entries = fs::read_dir(format!("/proc/{pid}/task"))?.filter_map(Result::ok);
    let tids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let mut threads: Vec<_> = tids
        .take(MAX_THREADS)
        .filter_map(|tid| {
            let name = read_bounded(&format!("/proc/{pid}/task/{tid}/comm")).ok()?;
            Some((Tid(tid), String::from_utf8_lossy(name.trim_ascii_end()).into_owned()))
        })
        .collect();
    threads.sort_unstable_by_key(|(tid, _)| *tid);
    Ok(threads)
}

/// The name that the kernel has for a process. Its command line lies in its memory, which not everything should read.
pub(super) fn name(pid: u32) -> String {
    let name = read_bounded(&format!("/proc/{pid}/comm")).unwrap_or_default();
    String::from_utf8_lossy(name.trim_ascii_end()).into_owned()
}

/// Reads a file of `/proc`, cut at a fixed length.
pub(in crate::jvm) fn read_bounded(path: &str) -> io::Result<Vec<u8>> {
    // Such files have no size, and most fit into this.
    let mut text = Vec::with_capacity(4096);
    File::open(path)?.take(MAX_BYTES).read_to_end(&mut text)?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use rustix::process::Signal;

    use super::*;

    #[test]
    fn a_name_with_parentheses_does_not_shift_the_fields() {
        let line = b"42 (a) R 1 (b) S 1 42 42 0 -1 4 5 6 7 8 9 10 11 12 20 0 13 0 987654 15 16";
        assert_eq!(
            Stat::parse(line),
            Some(Stat { state: 'S', cpu_ticks: 19, start_ticks: 987_654, arguments: (0, 0) })
        );
        assert_eq!(Stat::parse(b"42 (a) S 1 2 3"), None);
        assert_eq!(Stat::parse(b"(((("), None);
    }

    #[test]
    fn status_gives_user_namespace_and_capabilities() {
        let text = "Name:\tjava\nUid:\t1\t1000\t3\t4\nNSpid:\t500\t7\nCapEff:\t000000c000280000\n";
        let expected = Status { uid: 1000, namespace_pid: 7, namespace_depth: 2, capabilities: 0xc0_0028_0000 };
        assert_eq!(Status::parse(text), expected);
    }

    #[test]
    fn a_signal_is_caught_where_its_bit_says_so() {
        let signals = Signals::parse("SigIgn:\t0000000000000004\nSigCgt:\t0000000000000005\n");
        assert!(signals.catches(Signal::QUIT) && signals.catches(Signal::HUP) && !signals.catches(Signal::INT));
        assert!(!Signals::parse("").catches(Signal::QUIT));
    }

    #[test]
    fn a_process_is_itself_and_no_other() {
        let own = Identity::of(std::process::id()).unwrap();
        assert!(own.is_alive());
        assert!(!Identity { start_ticks: own.start_ticks + 1, ..own }.is_alive());
    }

    #[test]
    fn a_zombie_is_not_alive() {
        let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
        let identity = Identity::of(child.id()).unwrap();
        drop(child.stdin.take());
        while !Stat::read(child.id()).unwrap().is_dead() {
            std::thread::yield_now();
        }
        assert!(!identity.is_alive());
        child.wait().unwrap();
    }

    #[test]
    fn threads_are_listed_with_their_names() {
        let (stop, wait) = std::sync::mpsc::channel::<()>();
        let (say, named) = std::sync::mpsc::channel();
        let thread = std::thread::Builder::new().name("named-thread".to_owned()).spawn(move || {
            say.send(()).unwrap();
            let _ = wait.recv();
        });
        named.recv().unwrap();
        let all = threads(std::process::id()).unwrap();
        drop(stop);
        thread.unwrap().join().unwrap();
        assert!(all.iter().any(|(_, name)| name == "named-thread"), "{all:?}");
        let tid = all.iter().map(|(tid, _)| tid.0).find(|&tid| tid != std::process::id()).unwrap();
        assert!(all.windows(2).all(|pair| pair[0].0 < pair[1].0) && tid != 0);
    }

    #[test]
    fn the_test_is_not_in_another_container_than_itself() {
        assert_eq!(in_container(std::process::id()), Some(false));
    }

    #[test]
    fn fuzz_process_text() {
        crate::fuzz::texts("process", |text| {
            let _: Option<Stat> = Stat::parse(text.as_bytes());
            let _: Status = Status::parse(text);
            let _: bool = Signals::parse(text).catches(Signal::QUIT);
        });
    }
}

//! What the kernel says of a thread of the target: whether it runs, how often it has, and the system call that it is in.

use std::{collections::HashMap, fs, io};

use super::{find::process::read_bounded, peek::Peek};
use crate::event::Tid;

/// Most of a path that is read: whole words.
const MAX_PATH_BYTES: usize = 256;
/// Most threads whose ids are looked at.
const MAX_THREADS: usize = 65_536;

/// A thread at a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OsThread {
    /// `R` where it runs or could, `S` and `D` where it waits, ...
    pub state: char,
    /// How often it has left a CPU.
    pub switches: u64,
}

impl OsThread {
    /// Reads `/proc/PID/task/TID/status`.
    pub fn read(pid: u32, tid: u32) -> io::Result<Self> {
        let text = read_bounded(&format!("/proc/{pid}/task/{tid}/status"))?;
        let invalid = || io::Error::new(io::ErrorKind::InvalidData, "status is not understood");
        Self::parse(&String::from_utf8_lossy(&text)).ok_or_else(invalid)
    }

    /// Whether it did not run between two looks at it.
    pub fn stood_still(self, later: Self) -> bool {
        self == later && self.state != 'R'
    }

    fn parse(text: &str) -> Option<Self> {
        let value = |key: &str| text.lines().find_map(|line| line.strip_prefix(key)).map(str::trim);
        let count = |key| value(key)?.parse::<u64>().ok();
        let switches = count("voluntary_ctxt_switches:")?.saturating_add(count("nonvoluntary_ctxt_switches:")?);
        Some(Self { state: value("State:")?.chars().next()?, switches })
    }
}

/// What the scheduler says of a thread (`/proc/PID/task/TID/schedstat`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scheduled {
    /// CPU time that it has used, in nanoseconds.
    pub ran_ns: u64,
    /// How long it was ready to run and waited for a CPU, in nanoseconds.
    pub queued_ns: u64,
    /// How often it came to a CPU: as long as this stays, a thread that did not run then has not run since.
    pub times: u64,
}

impl Scheduled {
    /// Reads it; none where the thread has ended, or the kernel does not tell.
    pub fn of(pid: u32, tid: u32) -> Option<Self> {
        Self::parse(std::str::from_utf8(&read_bounded(&format!("/proc/{pid}/task/{tid}/schedstat")).ok()?).ok()?)
    }

    fn parse(text: &str) -> Option<Self> {
        let mut words = text.split_ascii_whitespace().map(|word| word.parse().ok());
        Some(Self { ran_ns: words.next()??, queued_ns: words.next()??, times: words.next()?? })
    }
}

/// The kernel's ids of the threads of a process, by those in its own pid namespace.
pub fn tids_of(pid: u32) -> HashMap<u32, Tid> {
    let entries = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    if has_one_id(pid) {
        let ids = entries.take(MAX_THREADS).filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        return ids.map(|id| (id, Tid(id))).collect();
    }
    let ids = entries.take(MAX_THREADS).filter_map(|entry| {
        // The kernel cuts names after 15 bytes, in the middle of a letter, too.
        let status = read_bounded(entry.path().join("status").to_str()?).ok()?;
        let status = String::from_utf8_lossy(&status);
        let ids = status.lines().find_map(|line| line.strip_prefix("NSpid:"))?;
        let mut ids = ids.split_whitespace().filter_map(|id| id.parse::<u32>().ok());
        let outer = ids.next()?;
        Some((ids.next_back().unwrap_or(outer), Tid(outer)))
    });
    ids.collect()
}

/// Whether a process is in no other pid namespace than that of this `/proc`. Its threads are in the same.
fn has_one_id(pid: u32) -> bool {
    let Ok(status) = read_bounded(&format!("/proc/{pid}/status")) else { return false };
    let status = String::from_utf8_lossy(&status);
    let ids = status.lines().find_map(|line| line.strip_prefix("NSpid:"));
    ids.is_some_and(|ids| ids.split_whitespace().count() == 1)
}

/// The kernel's name of a thread.
pub fn name(pid: u32, tid: u32) -> Option<String> {
    let name = read_bounded(&format!("/proc/{pid}/task/{tid}/comm")).ok()?;
    Some(String::from_utf8_lossy(name.trim_ascii_end()).into_owned())
}

/// A system call that a thread is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SystemCall {
    /// Its number.
    pub number: u32,
    /// Its arguments.
    pub arguments: [u64; 6],
}

impl SystemCall {
    /// The one that a waiting thread is in; none where it runs, or waits elsewhere in the kernel.
    pub fn of(pid: u32, tid: u32) -> Option<Self> {
        Self::parse(std::str::from_utf8(&read_bounded(&format!("/proc/{pid}/task/{tid}/syscall")).ok()?).ok()?)
    }

    /// `number arguments stack-pointer program-counter`, or `running`, or -1 for a number.
    fn parse(text: &str) -> Option<Self> {
        let mut words = text.split_ascii_whitespace();
        let number = words.next()?.parse().ok()?;
        let mut arguments = [0; 6];
        for argument in &mut arguments {
            *argument = u64::from_str_radix(words.next()?.strip_prefix("0x")?, 16).ok()?;
        }
        Some(Self { number, arguments })
    }

    /// Its name, if it is one in which Java programs wait (x86-64).
    pub const fn name(self) -> Option<&'static str> {
        Some(match self.number {
            READ => "read",
            WRITE => "write",
            POLL => "poll",
            PREAD => "pread64",
            PWRITE => "pwrite64",
            READV => "readv",
            WRITEV => "writev",
            SELECT => "select",
            NANOSLEEP => "nanosleep",
            SENDFILE => "sendfile",
            CONNECT => "connect",
            ACCEPT => "accept",
            SENDTO => "sendto",
            RECVFROM => "recvfrom",
            SENDMSG => "sendmsg",
            RECVMSG => "recvmsg",
            WAIT4 => "wait4",
            FCNTL => "fcntl",
            FLOCK => "flock",
            FSYNC => "fsync",
            FDATASYNC => "fdatasync",
            FTRUNCATE => "ftruncate",
            FUTEX => "futex",
            CLOCK_NANOSLEEP => "clock_nanosleep",
            EPOLL_WAIT => "epoll_wait",
            WAITID => "waitid",
            OPENAT => "openat",
            PPOLL => "ppoll",
            EPOLL_PWAIT => "epoll_pwait",
            ACCEPT4 => "accept4",
            PREADV => "preadv",
            PWRITEV => "pwritev",
            EPOLL_PWAIT2 => "epoll_pwait2",
            _ => return None,
        })
    }

    /// Whether it only waits for another thread, which says nothing that the JVM does not say better.
    pub const fn is_futex(self) -> bool {
        self.number == FUTEX
    }

    /// Whether its first argument is the descriptor that it is about.
    pub const fn has_descriptor(self) -> bool {
        !matches!(self.number, POLL | PPOLL | SELECT | NANOSLEEP | CLOCK_NANOSLEEP | WAIT4 | WAITID | FUTEX | OPENAT)
            && self.name().is_some()
    }

    /// The path of the file that it opens, where that is a whole one.
    pub fn path<P: Peek>(self, memory: &P) -> Option<String> {
        if self.number != OPENAT {
            return None;
        }
        let mut bytes = Vec::new();
        // It may end right before memory that cannot be read.
        while bytes.len() < MAX_PATH_BYTES {
            let word = memory.u64(self.arguments[1].wrapping_add(bytes.len() as u64)).ok()?.to_ne_bytes();
            bytes.extend(word.iter().take_while(|byte| **byte != 0));
            if word.contains(&0) {
                break;
            }
        }
        Some(String::from_utf8_lossy(&bytes).into_owned()).filter(|path| path.starts_with('/'))
    }

    /// Where the list of its only descriptor lies, if it waits for one.
    pub const fn polled(self) -> Option<u64> {
        if matches!(self.number, POLL | PPOLL) && self.arguments[1] == 1 { Some(self.arguments[0]) } else { None }
    }
}

const READ: u32 = 0;
const WRITE: u32 = 1;
const POLL: u32 = 7;
const PREAD: u32 = 17;
const PWRITE: u32 = 18;
const READV: u32 = 19;
const WRITEV: u32 = 20;
const SELECT: u32 = 23;
const NANOSLEEP: u32 = 35;
const SENDFILE: u32 = 40;
const CONNECT: u32 = 42;
const ACCEPT: u32 = 43;
const SENDTO: u32 = 44;
const RECVFROM: u32 = 45;
const SENDMSG: u32 = 46;
const RECVMSG: u32 = 47;
const WAIT4: u32 = 61;
const FCNTL: u32 = 72;
const FLOCK: u32 = 73;
const FSYNC: u32 = 74;
const FDATASYNC: u32 = 75;
const FTRUNCATE: u32 = 77;
const FUTEX: u32 = 202;
const CLOCK_NANOSLEEP: u32 = 230;
const EPOLL_WAIT: u32 = 232;
const WAITID: u32 = 247;
const OPENAT: u32 = 257;
const PPOLL: u32 = 271;
const EPOLL_PWAIT: u32 = 281;
const ACCEPT4: u32 = 288;
const PREADV: u32 = 295;
const PWRITEV: u32 = 296;
const EPOLL_PWAIT2: u32 = 441;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{fuzz, jvm::memory::Memory};

    #[test]
    fn a_thread_that_ran_did_not_stand_still() {
        let text = "Name:\tjava\nState:\tS (sleeping)\nvoluntary_ctxt_switches:\t7\nnonvoluntary_ctxt_switches:\t2\n";
        let waiting = OsThread::parse(text).expect("a status");
        assert_eq!(waiting, OsThread { state: 'S', switches: 9 });
        assert!(waiting.stood_still(waiting));
        assert!(!waiting.stood_still(OsThread { switches: 10, ..waiting }));
        let running = OsThread { state: 'R', ..waiting };
        assert!(!running.stood_still(running));
    }

    #[test]
    fn system_calls_are_read_and_running_threads_are_in_none() {
        let call = SystemCall::parse("0 0x5 0x7f00 0x400 0x0 0x0 0x0 0x7ffd 0x7fff\n").expect("a call");
        assert_eq!((call.number, call.arguments[0], call.name()), (0, 5, Some("read")));
        assert!(call.has_descriptor());
        let poll = SystemCall::parse("7 0x7ffe 0x1 0x3e8 0x0 0x0 0x0 0x7ffd 0x7fff\n").expect("a call");
        assert_eq!((poll.polled(), poll.has_descriptor()), (Some(0x7ffe), false));
        assert_eq!(SystemCall::parse("running\n"), None);
        assert_eq!(SystemCall::parse("-1 0x7ffd 0x7fff\n"), None);
    }

    #[test]
    fn a_file_that_is_opened_has_its_path() {
        let memory = Memory::open(std::process::id()).expect("its own");
        let path = |text: &str, number: u32| {
            let text: Vec<u8> = text.bytes().chain([0]).collect();
            SystemCall { number, arguments: [0, text.as_ptr() as u64, 0, 0, 0, 0] }.path(&memory)
        };
        assert_eq!(path("/data/counters", OPENAT).as_deref(), Some("/data/counters"));
        assert_eq!(path("/data/1", OPENAT).as_deref(), Some("/data/1"), "a whole word with its end");
        assert_eq!(path("counters", OPENAT), None, "of a folder that is not known");
        assert_eq!(path("/data/counters", READ), None);
        let long = format!("/{}", "x".repeat(2 * MAX_PATH_BYTES));
        assert_eq!(path(&long, OPENAT).map(|path| path.len()), Some(MAX_PATH_BYTES));
    }

    #[test]
    fn fuzz_os_threads() {
        fuzz::texts("os_threads", |text| {
            let call = SystemCall::parse(text);
            assert!(call.is_none_or(|call| call.polled().is_none() || !call.has_descriptor()));
            let _: Option<OsThread> = OsThread::parse(text);
        });
    }
}

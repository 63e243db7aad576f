//! The conversation with the library in a JVM.
//!
//! jtrace loads it by the attach protocol and takes one end of a pair of sockets out of the JVM, by the number that stands in a
//! variable of the library: so it needs no name that both would have to see. When that end is closed, by jtrace or by the kernel
//! after jtrace's death, the library restores everything.

use std::{
    collections::VecDeque,
    ffi::OsString,
    io,
    num::NonZeroU32,
    os::{fd::OwnedFd, unix::net::UnixStream},
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    process::{Pid, PidfdFlags, PidfdGetfdFlags, pidfd_getfd, pidfd_open},
};
use tracer_weave::control::{self, ACTIVE_SYMBOL, Done, MAX_RUNNING, Matched, Order, PEER_SYMBOL, Told, VERSION};

use super::{
    library,
    place::{self, PREFIX},
};
use crate::{
    jvm::{attach_protocol, find::Jvm},
    mark::{Inside, Woven},
};

/// How long loading may take.
const LOAD_LIMIT: Duration = Duration::from_secs(20);
/// How long an order may take: weaving thousands of classes takes seconds.
const ORDER_LIMIT: Duration = Duration::from_mins(2);
/// How often it is looked whether the library has begun.
const POLL: Duration = Duration::from_millis(2);
/// How long the library of another visit may take to leave: one whose jtrace was killed notices within a second, and restores first.
const LEAVE_LIMIT: Duration = Duration::from_secs(2);
/// How long it may take to begin once it is loaded.
const BEGIN_LIMIT: Duration = Duration::from_secs(5);
/// How long a JVM that starts may take until it is up.
const START_LIMIT: Duration = Duration::from_secs(30);

/// Why the library is not there, or does not do what it is asked for.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The JVM was not reached.
    #[error(transparent)]
    Attach(#[from] attach_protocol::Error),
    /// No directory could hold it.
    #[error("the library cannot be put where process {pid} reads it: {reason}")]
    Place {
        /// The target.
        pid: u32,
        /// What was tried.
        reason: String,
    },
    /// The JVM did not load it, or it did not begin.
    #[error("process {pid} did not take the library in: {reason}")]
    Load {
        /// The target.
        pid: u32,
        /// What the JVM said.
        reason: String,
    },
    /// Only one jtrace at a time can be inside.
    #[error("another jtrace is inside process {pid}")]
    Taken {
        /// The target.
        pid: u32,
    },
    /// The library refuses.
    #[error("the library in the JVM refuses: {0}")]
    Refused(String),
    /// The connection broke.
    #[error("the library in the JVM does not answer: {0}")]
    Silent(String),
}

impl Error {
    /// What to do about it.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Attach(error) => error.hint(),
            Self::Place { .. } => {
                Some("/tmp, /var/tmp or /dev/shm, as the JVM sees them, must take a file that can be run")
            }
            Self::Taken { .. } => Some("end the other one, then try again; without --inside several can watch"),
            Self::Load { .. } => Some("the JVM's own output may say why"),
            Self::Refused(_) | Self::Silent(_) => None,
        }
    }
}

/// The library for a JVM that is to start with it. Its file goes when this does.
#[derive(Debug)]
pub struct Coming(place::Placed);

impl Coming {
    /// Writes the library's file.
    pub fn place() -> Result<Self, Error> {
        let failed = |error: io::Error| Error::Place { pid: std::process::id(), reason: error.to_string() };
        place::put_here(library::BYTES).map(Self).map_err(failed)
    }

    /// The file, with its sites.
    pub fn path(&self) -> &Path {
        &self.0.path
    }

    /// The JVM's option that loads it.
    pub fn option(&self) -> OsString {
        let mut option = OsString::from("-agentpath:");
        option.push(self.path());
        option.push(format!("={},", std::process::id()));
        option.push(self.path());
        option
    }

    /// Waits until the JVM is up: its program has not begun then, and does not before markers are switched on.
    pub fn arrive(self, jvm: &Jvm) -> Result<Visit, Error> {
        Visit::meet(jvm, START_LIMIT)
    }
}

/// The library in a JVM. It restores everything when this goes.
#[derive(Debug)]
pub struct Visit {
    stream: UnixStream,
    /// Path of the library's file for uprobes.
    pub path: PathBuf,
    told: VecDeque<Inside>,
    /// Orders that were given without waiting, and when those were followed that were since that was asked.
    waiting: u32,
    followed: Vec<u64>,
}

impl Visit {
    /// Loads the library and begins.
    pub fn begin(jvm: &Jvm) -> Result<Self, Error> {
        let pid = jvm.target.pid;
        let began = Instant::now();
        while is_taken(jvm).map_err(|reason| Error::Load { pid, reason })? {
            if began.elapsed() > LEAVE_LIMIT {
                return Err(Error::Taken { pid });
            }
            std::thread::sleep(POLL);
        }
        let attachment = attach_protocol::Attachment::open(jvm)?;
        let mut reasons = Vec::new();
        for directory in place::directories() {
            let placed = match place::put(pid, directory, library::BYTES) {
                Ok(placed) => placed,
                Err(error) => {
                    reasons.push(format!("{}: {error}", directory.display()));
                    continue;
                }
            };
            match attachment.load(&placed.path, &VERSION.to_string(), LOAD_LIMIT) {
                Ok(()) => {
                    drop(placed);
                    return Self::meet(jvm, BEGIN_LIMIT);
                }
                Err(attach_protocol::Error::Refused { text, .. }) if is_place(&text) => {
                    reasons.push(format!("{}: {text}", directory.display()));
                }
                Err(attach_protocol::Error::Refused { text, .. }) => return Err(Error::Load { pid, reason: text }),
                Err(error) => return Err(error.into()),
            }
        }
        Err(Error::Place { pid, reason: reasons.join("; ") })
    }

    /// Takes the connection.
    fn meet(jvm: &Jvm, limit: Duration) -> Result<Self, Error> {
        let pid = jvm.target.pid;
        let load = |reason: String| Error::Load { pid, reason };
        let began = Instant::now();
        let (path, descriptor) = loop {
            if let Some(found) = find_peer(jvm).map_err(load)? {
                break found;
            }
            if began.elapsed() > limit {
                return Err(load("it does not begin".to_owned()));
            }
            std::thread::sleep(POLL);
        };
        let stream = take_descriptor(pid, descriptor).map_err(|error| load(format!("its connection: {error}")))?;
        let mut visit =
            Self { stream: UnixStream::from(stream), path, told: VecDeque::new(), waiting: 0, followed: Vec::new() };
        let limit = Some(ORDER_LIMIT);
        visit.stream.set_read_timeout(limit).and_then(|()| visit.stream.set_write_timeout(limit)).map_err(silent)?;
        // The library waits for a first word.
        visit.ask(&Order::Switch(Vec::new()))?;
        Ok(visit)
    }

    /// How many methods each rule names in loaded classes, and all of them together.
    pub fn matched(&mut self, rules: &[tracer_weave::Rule]) -> Result<(Vec<Matched>, u64), Error> {
        match self.ask(&Order::Match(rules.to_vec()))? {
            Told::Matched { rules, methods } => Ok((rules, methods)),
            other => Err(unexpected(&other)),
        }
    }

    /// Names of loaded classes.
    pub fn classes(&mut self) -> Result<Vec<String>, Error> {
        match self.ask(&Order::Classes)? {
            Told::Classes(classes) => Ok(classes),
            other => Err(unexpected(&other)),
        }
    }

    /// Weaves; what came of it is in the flow, too.
    pub fn weave(&mut self, order: &Order) -> Result<Done, Error> {
        match self.ask(order)? {
            Told::Woven(done) => {
                self.told.push_back(Inside::Woven(woven(done.clone())));
                Ok(done)
            }
            other => Err(unexpected(&other)),
        }
    }

    /// Sets switches of markers.
    pub fn switch(&mut self, markers: Vec<(u32, u8)>) -> Result<(), Error> {
        match self.ask(&Order::Switch(markers))? {
            Told::Switched { .. } => Ok(()),
            other => Err(unexpected(&other)),
        }
    }

    /// Gives an order whose answer is [`Told::Switched`], and does not wait: a JVM that stands still must not hold up what arrives.
    pub fn order(&mut self, order: &Order) -> Result<(), Error> {
        control::write(&mut self.stream, order).map_err(silent)?;
        self.waiting += 1;
        Ok(())
    }

    /// When such orders were followed, of those that were since the last time, in their order.
    pub fn followed(&mut self) -> Vec<u64> {
        if self.waiting > 0 {
            self.listen();
        }
        std::mem::take(&mut self.followed)
    }

    /// Lets the library restore everything and go.
    pub fn leave(&mut self) -> Result<Woven, Error> {
        control::write(&mut self.stream, &Order::Leave).map_err(silent)?;
        loop {
            match self.read()? {
                Told::Left(done) => return Ok(woven(done)),
                Told::Refused(reason) => return Err(Error::Refused(reason)),
                other => self.keep(other),
            }
        }
    }

    /// What the library has told besides answers.
    pub fn pump(&mut self, sink: &mut dyn FnMut(Inside)) {
        self.listen();
        self.told.drain(..).for_each(sink);
    }

    fn listen(&mut self) {
        while self.has_message() {
            match self.read() {
                Ok(told) => self.keep(told),
                // The target is gone, or the library is; the session notices the one, and the other at the end.
                Err(_) => break,
            }
        }
    }

    fn ask(&mut self, order: &Order) -> Result<Told, Error> {
        control::write(&mut self.stream, order).map_err(silent)?;
        loop {
            match self.read()? {
                Told::Refused(reason) => return Err(Error::Refused(reason)),
                switched @ Told::Switched { .. } if self.waiting > 0 => self.keep(switched),
                answer @ (Told::Matched { .. } | Told::Classes(_) | Told::Woven(_) | Told::Switched { .. }) => {
                    return Ok(answer);
                }
                Told::Ready { version } if version != VERSION => {
                    return Err(Error::Refused(format!("it speaks version {version}, and this jtrace {VERSION}")));
                }
                other => self.keep(other),
            }
        }
    }

    fn keep(&mut self, told: Told) {
        if let Told::Switched { time_ns } = told
            && self.waiting > 0
        {
            self.waiting -= 1;
            self.followed.push(time_ns);
        }
        self.told.extend(match told {
            Told::Sampled(sampled) => Some(Inside::Sampled(sampled)),
            Told::Place(place) => Some(Inside::Place(place)),
            Told::Class { number, name } => Some(Inside::Class { number, name }),
            Told::Unwoven(done) => Some(Inside::Unwoven(woven(done))),
            Told::Lacks(what) => Some(Inside::Lacks(what)),
            _ => None,
        });
    }

    fn read(&mut self) -> Result<Told, Error> {
        control::read(&mut self.stream).map_err(silent)
    }

    fn has_message(&self) -> bool {
        let mut polled = [PollFd::new(&self.stream, PollFlags::IN)];
        poll(&mut polled, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })).is_ok_and(|ready| ready > 0)
    }
}

#[expect(clippy::needless_pass_by_value, reason = "what a failed call gives")]
fn silent(error: io::Error) -> Error {
    Error::Silent(error.to_string())
}

fn unexpected(told: &Told) -> Error {
    Error::Silent(format!("it says {told:?} to something else"))
}

fn woven(done: Done) -> Woven {
    let Done { classes, methods, took_ns, longest_step_ns, skipped, skipped_count, mut running, running_count } = done;
    running.truncate(MAX_RUNNING);
    Woven { classes, methods, took_ns, longest_step_ns, skipped, skipped_count, running, running_count }
}

/// Whether a refusal is about the file, so that another place may do.
fn is_place(text: &str) -> bool {
    ["cannot open shared object", "failed to map", "Operation not permitted", "Permission denied"]
        .iter()
        .any(|reason| text.contains(reason))
}

/// The library's file for uprobes, and the number of the descriptor that it offers.
fn find_peer(jvm: &Jvm) -> Result<Option<(PathBuf, i32)>, String> {
    let found = variables(jvm, PEER_SYMBOL)?.into_iter().find(|(_, descriptor)| *descriptor > 2);
    Ok(found.map(|(mapping, descriptor)| (mapping.path, descriptor)))
}

/// Whether some jtrace is in a JVM.
fn is_taken(jvm: &Jvm) -> Result<bool, String> {
    Ok(variables(jvm, ACTIVE_SYMBOL)?.into_iter().any(|(_, is_active)| is_active == 1))
}

/// The values of a variable in all our libraries that a JVM has mapped. Of one that another version of jtrace has left it is
/// whatever lies there.
fn variables(jvm: &Jvm, name: &str) -> Result<Vec<(Mapping, i32)>, String> {
    let pid = jvm.target.pid;
    let offset = library::variable(name)?;
    let maps = std::fs::read_to_string(format!("/proc/{pid}/maps")).map_err(|error| error.to_string())?;
    let first = maps.lines().filter_map(|line| mapping(pid, line)).filter(|mapping| mapping.is_first);
    let value = |mapping: &Mapping| {
        let mut value = [0; 4];
        jvm.memory.read_exact(mapping.start.checked_add(offset)?, &mut value).ok()?;
        Some(i32::from_le_bytes(value))
    };
    Ok(first.filter_map(|mapping| Some((value(&mapping)?, mapping))).map(|(value, mapping)| (mapping, value)).collect())
}

struct Mapping {
    start: u64,
    is_first: bool,
    path: PathBuf,
}

/// A mapping of a library of ours, from a line of `/proc/PID/maps`.
fn mapping(pid: u32, line: &str) -> Option<Mapping> {
    let (head, path) = line.split_once('/')?;
    let name = Path::new(path.trim_end_matches(" (deleted)")).file_name()?.to_str()?;
    if !name.starts_with(PREFIX) {
        return None;
    }
    let mut fields = head.split_whitespace();
    let range = fields.next()?;
    let offset = fields.nth(1)?;
    let (start, _) = range.split_once('-')?;
    Some(Mapping {
        start: u64::from_str_radix(start, 16).ok()?,
        is_first: offset.bytes().all(|digit| digit == b'0'),
        path: PathBuf::from(format!("/proc/{pid}/map_files/{range}")),
    })
}

fn take_descriptor(pid: u32, descriptor: i32) -> io::Result<OwnedFd> {
    let pid = NonZeroU32::new(pid).and_then(|pid| i32::try_from(pid.get()).ok()).and_then(Pid::from_raw);
    let process = pidfd_open(pid.ok_or(io::ErrorKind::InvalidInput)?, PidfdFlags::empty())?;
    Ok(pidfd_getfd(process, descriptor, PidfdGetfdFlags::empty())?)
}

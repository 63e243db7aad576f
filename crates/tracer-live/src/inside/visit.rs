//! The conversation with the library in a JVM.
//!
//! jtrace loads it by the attach protocol and takes one end of a pair of sockets out of the JVM, by the number that stands in a
//! variable of the library: so it needs no name that both would have to see. When that end is closed, by jtrace or by the kernel
//! after jtrace's death, the library restores everything.
//!
//! Whoever runs the JVM can say anything in the library's place, or nothing. So every wait here has an end and is cut short by
//! signals, what is kept until the session takes it is bounded, and a connection with which anything is wrong is closed.

use std::{
    collections::VecDeque,
    ffi::OsString,
    io,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use tracer_weave::control::{ACTIVE_SYMBOL, Done, MAX_RUNNING, Matched, Order, PEER_SYMBOL, Told, VERSION};

use super::{
    connection::Connection,
    library, place,
    sizes::{Size, Sizes},
    unnamed::Namer,
};
use crate::{
    ending::{self, Cut, Patience, Until},
    jvm::{
        attach_protocol,
        breakpoints::LIBRARY,
        find::{
            Jvm,
            process::{Identity, Stat},
        },
        forked,
        memory::maps,
    },
    mark::{CodeBefore, Inside, MAX_SKIPPED, Woven},
};

/// The first release that the library's classes run on.
const SINCE: u32 = 11;
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
/// How long the library may take to restore everything while jtrace looks on. It goes on without jtrace.
const RESTORE_LIMIT: Duration = Duration::from_secs(30);
/// How often it is looked whether a process that says nothing is stopped.
const LOOK: Duration = Duration::from_millis(200);
/// Most bytes that are taken in at one look, so that whoever talks without end does not keep a session from all else.
const MAX_LOOK_BYTES: usize = 4 << 20;
/// Most that is kept until the session takes it, in bytes: some 300,000 places.
const MAX_KEPT_BYTES: usize = 128 << 20;
/// Longest text of the library that is shown.
const MAX_TEXT_BYTES: usize = 1000;

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
    /// The library's classes are for newer JVMs.
    #[error("the library that jtrace loads into a JVM needs JDK {SINCE} or later, and process {pid} is JDK {release}")]
    TooOld {
        /// The target.
        pid: u32,
        /// Its feature release.
        release: u32,
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
            Self::TooOld { .. } => Some(
                "`methods`, `calls`, `alloc` and `jni` without --lane inside or --inside, `attach` and `threads` need no library",
            ),
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
        place::put_here(library::bytes()).map(Self).map_err(failed)
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
    /// Once something was wrong with it, what that was.
    connection: Result<Connection, String>,
    target: Identity,
    /// Path of the library's file for uprobes.
    pub path: PathBuf,
    told: VecDeque<Inside>,
    /// What that takes.
    kept_bytes: usize,
    /// Orders that were given without waiting, and when those were followed that were since that was asked.
    waiting: usize,
    followed: Vec<u64>,
    /// For what the library does not name.
    namer: Namer,
    /// For objects that are made at its places.
    sizes: Sizes,
    /// How long the library may take to leave, once it was asked to.
    leaving: Until,
}

impl Visit {
    /// Loads the library and begins.
    pub fn begin(jvm: &Jvm) -> Result<Self, Error> {
        let pid = jvm.target.pid;
        if (1..SINCE).contains(&jvm.target.jdk_release) {
            return Err(Error::TooOld { pid, release: jvm.target.jdk_release });
        }
        let leaves = Until::within(LEAVE_LIMIT, Patience::First);
        while is_taken(jvm).map_err(|reason| Error::Load { pid, reason })? {
            match ending::pause(POLL, leaves) {
                Ok(()) => {}
                Err(Cut::Late) => return Err(Error::Taken { pid }),
                Err(cut) => return Err(silent(cut)),
            }
        }
        let attachment = attach_protocol::Attachment::open(jvm)?;
        let mut reasons = Vec::new();
        for directory in place::directories() {
            let placed = match place::put_there(attachment.files(), directory, library::bytes()) {
                Ok(placed) => placed,
                Err(error) => {
                    reasons.push(format!("{directory}: {error}"));
                    continue;
                }
            };
            match attachment.load(&placed.path, &VERSION.to_string(), LOAD_LIMIT) {
                Ok(()) => {
                    drop(placed);
                    return Self::meet(jvm, BEGIN_LIMIT);
                }
                Err(attach_protocol::Error::Refused { text, .. }) if is_place(&text) => {
                    reasons.push(format!("{directory}: {text}"));
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
        let until = Until::within(limit, Patience::First);
        let (path, descriptor) = loop {
            if let Some(found) = find_peer(jvm).map_err(load)? {
                break found;
            }
            match ending::pause(POLL, until) {
                Ok(()) => {}
                Err(Cut::Late) => return Err(load("it does not begin".to_owned())),
                Err(cut) => return Err(silent(cut)),
            }
        };
        let connection = forked::socket_of(pid, descriptor).and_then(Connection::new);
        let connection = connection.map_err(|error| load(format!("its connection: {error}")))?;
        let mut visit =
            Self { namer: Namer::of(jvm), sizes: Sizes::of(jvm), ..Self::over(connection, jvm.identity(), path) };
        // The library waits for a first word.
        visit.ask(&Order::Switch(Vec::new()))?;
        Ok(visit)
    }

    fn over(connection: Connection, target: Identity, path: PathBuf) -> Self {
        let (told, followed) = (VecDeque::new(), Vec::new());
        let (namer, sizes) = (Namer::default(), Sizes::default());
        let (kept_bytes, waiting, leaving) = (0, 0, Until::within(RESTORE_LIMIT, Patience::Second));
        Self { connection: Ok(connection), target, path, told, kept_bytes, waiting, followed, namer, sizes, leaving }
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

    /// Weaves, after it was decided what becomes of compiled code; what came of it is in the flow.
    pub fn weave(&mut self, order: &Order, code_before: Option<CodeBefore>) -> Result<(), Error> {
        match self.ask(order)? {
            Told::Woven(done) => {
                self.told.push_back(Inside::Woven(Woven { code_before, ..woven(done, &self.namer) }));
                Ok(())
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
        self.with(|connection| connection.give(order))?;
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

    /// Lets the library restore everything and go. What it has not done when this returns it does without jtrace.
    pub fn leave(&mut self) -> Result<Woven, Error> {
        self.begin_leaving();
        loop {
            if let Some(left) = self.has_left(RESTORE_LIMIT) {
                return left;
            }
        }
    }

    /// Asks for that, without waiting: what the library has to tell until then can be more than a ring buffer holds.
    pub fn begin_leaving(&mut self) {
        self.told.extend(self.sizes.look().into_iter().map(size));
        // Where it fails, it is known with the answer.
        let _: Result<(), Error> = self.with(|connection| connection.give(&Order::Leave));
        self.leaving = Until::within(RESTORE_LIMIT, Patience::Second);
    }

    /// What became of that, once it is known: waits so long for it.
    pub fn has_left(&mut self, within: Duration) -> Option<Result<Woven, Error>> {
        let look = Instant::now() + within;
        let left = loop {
            match self.next_until(self.leaving, look) {
                Ok(Some(Told::Left(done))) => break Ok(woven(done, &self.namer)),
                Ok(Some(Told::Refused(reason))) => break Err(Error::Refused(shortened(reason))),
                Ok(Some(other)) => {
                    if let Err(error) = self.keep(other) {
                        break Err(error);
                    }
                }
                Ok(None) => return None,
                Err(error) => break Err(error),
            }
        };
        if self.connection.is_ok() {
            self.connection = Err("the connection is closed".to_owned());
        }
        Some(left)
    }

    /// What the library has told besides answers.
    pub fn pump(&mut self, sink: &mut dyn FnMut(Inside)) {
        self.listen();
        self.told.drain(..).for_each(&mut *sink);
        self.kept_bytes = 0;
        self.sizes.due().into_iter().map(size).for_each(sink);
    }

    /// Takes in what is there, up to a bound: the rest is there the next time.
    fn listen(&mut self) {
        let mut bytes = 0;
        let _: Result<(), Error> = self.with(Connection::push);
        while bytes < MAX_LOOK_BYTES {
            let kept = match self.with(Connection::take) {
                Ok(Some((told, length))) => {
                    bytes += length + size_of::<Told>();
                    self.keep(told)
                }
                Ok(None) => return,
                Err(error) => Err(error),
            };
            // The target is gone, or the library is; the session notices the one, and the other at the end.
            if kept.is_err() {
                return;
            }
        }
    }

    fn ask(&mut self, order: &Order) -> Result<Told, Error> {
        self.with(|connection| connection.give(order))?;
        let until = Until::within(ORDER_LIMIT, Patience::First);
        loop {
            match self.next(until)? {
                Told::Refused(reason) => return Err(Error::Refused(shortened(reason))),
                switched @ Told::Switched { .. } if self.waiting > 0 => self.keep(switched)?,
                answer @ (Told::Matched { .. }
                | Told::Classes(_)
                | Told::Woven(_)
                | Told::Switched { .. }
                | Told::Channel(_)) => return Ok(answer),
                Told::Ready { version } if version != VERSION => {
                    return Err(Error::Refused(format!("it speaks version {version}, and this jtrace {VERSION}")));
                }
                other => self.keep(other)?,
            }
        }
    }

    /// Keeps a message until the session takes it.
    fn keep(&mut self, told: Told) -> Result<(), Error> {
        if let Told::Switched { time_ns } = told
            && self.waiting > 0
        {
            self.waiting -= 1;
            self.followed.push(time_ns);
        }
        let kept = match told {
            Told::Sampled(sampled) => Inside::Sampled(sampled),
            Told::Place(place) => {
                self.namer.woven(&place.class);
                self.sizes.woven(&place);
                Inside::Place(place)
            }
            Told::Class { number, name } => Inside::Class { number, name },
            Told::Unwoven(done) => Inside::Unwoven(woven(done, &self.namer)),
            Told::Lacks(what) => Inside::Lacks(shortened(what)),
            _ => return Ok(()),
        };
        self.kept_bytes = self.kept_bytes.saturating_add(kept.bytes());
        if self.kept_bytes > MAX_KEPT_BYTES {
            return self.with(|_| Err(io::Error::other("it tells more than jtrace keeps")));
        }
        self.told.push_back(kept);
        Ok(())
    }

    /// The next message. A process that is stopped is not waited for: it goes on some day, or never.
    fn next(&mut self, until: Until) -> Result<Told, Error> {
        loop {
            if let Some(told) = self.next_until(until, until.deadline)? {
                return Ok(told);
            }
        }
    }

    /// The same, or nothing where there is none by then.
    fn next_until(&mut self, until: Until, then: Instant) -> Result<Option<Told>, Error> {
        loop {
            // Also where messages come without end.
            if let Some(cut) = until.is_over() {
                return self.with(|_| Err(cut.into()));
            }
            if let Some((told, _)) = self.with(Connection::take)? {
                return Ok(Some(told));
            }
            let now = Instant::now();
            if now >= then {
                return Ok(None);
            }
            let look = Until { deadline: until.deadline.min(then).min(now + LOOK), ..until };
            let waited = self.with(|connection| match connection.wait(look) {
                Err(error) if error.kind() == io::ErrorKind::TimedOut => Ok(false),
                other => other.map(|()| true),
            })?;
            if !waited && Stat::read(self.target.pid).is_ok_and(Stat::is_stopped) {
                return self.with(|_| Err(io::Error::other(STOPPED)));
            }
        }
    }

    /// Does something with the connection, and closes it where that fails: the library then restores everything by itself.
    fn with<T>(&mut self, act: impl FnOnce(&mut Connection) -> io::Result<T>) -> Result<T, Error> {
        let connection = self.connection.as_mut().map_err(|reason| Error::Silent(reason.clone()))?;
        act(connection).map_err(|error| {
            let reason = shortened(error.to_string());
            self.connection = Err(reason.clone());
            Error::Silent(reason)
        })
    }
}

/// What is said of a process that cannot answer.
const STOPPED: &str =
    "the process is stopped (SIGSTOP, or a debugger); the library restores everything when it runs on";

/// A text of the library, no longer than anybody reads.
fn shortened(mut text: String) -> String {
    text.truncate(text.floor_char_boundary(MAX_TEXT_BYTES));
    text
}

fn silent(error: impl Into<io::Error>) -> Error {
    let error = error.into();
    Error::Silent(shortened(error.to_string()))
}

fn unexpected(told: &Told) -> Error {
    let what = match told {
        Told::Matched { .. } => "matches",
        Told::Classes(_) => "classes",
        Told::Woven(_) => "what it has woven",
        _ => "something else",
    };
    Error::Silent(format!("it answers with {what}, which nobody asked for"))
}

fn size((class, bytes): Size) -> Inside {
    Inside::Size { class, bytes }
}

fn woven(mut done: Done, namer: &Namer) -> Woven {
    namer.name(&mut done);
    let Done {
        classes, methods, took_ns, longest_step_ns, mut skipped, skipped_count, mut running, running_count, ..
    } = done;
    running.truncate(MAX_RUNNING);
    skipped.truncate(MAX_SKIPPED);
    let code_before = None;
    Woven { classes, methods, took_ns, longest_step_ns, skipped, skipped_count, running, running_count, code_before }
}

/// Whether a refusal is about the file, so that another place may do. JDK 11 gives no reason at all.
fn is_place(text: &str) -> bool {
    text.trim_end().ends_with("was not loaded.")
        || ["cannot open shared object", "failed to map", "Operation not permitted", "Permission denied"]
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
    let maps = maps::read_text(pid).map_err(|error| error.to_string())?;
    let maps = String::from_utf8_lossy(&maps);
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
    if !name.starts_with(LIBRARY) {
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

mod walk;

pub use walk::Heard;

#[cfg(test)]
mod tests;

//! Talks to a JVM by its own attach protocol: one command on a local socket, one bounded reply. It is what `jcmd` speaks.
//!
//! The JVM listens at `.java_pid<PID>` in its `/tmp` once somebody has asked for it: by a file `.attach_pid<PID>` there and
//! SIGQUIT. That directory is whatever the target's user makes of it, so it is reached as that user (`target_files`), and
//! the socket is used only where the kernel says that this very process listens at its other end. Nothing is loaded into
//! the target by this module; what a command does there is the caller's business.

mod place;

use std::{
    io,
    os::fd::{AsFd as _, OwnedFd},
    path::Path,
    time::{Duration, Instant},
};

use rustix::{
    event::PollFlags,
    io::Errno,
    net::{SendFlags, send, sockopt::socket_peercred},
    process::{PidfdFlags, Signal, pidfd_open, pidfd_send_signal},
};

use self::place::{Found, Place};
use super::{
    find::{
        Jvm,
        process::{Identity, Signals, Stat},
    },
    target_files::TargetFiles,
};
use crate::ending::{self, Cut, Patience, Until};

/// Longest argument that HotSpot takes: 1024 bytes with the NUL behind it.
pub const MAX_COMMAND_BYTES: usize = 1023;
/// Largest reply that is read.
const MAX_REPLY_BYTES: u64 = 1 << 20;
/// How long the JVM may take to listen after it was asked to. It takes some 10 ms.
const LISTEN_PATIENCE: Duration = Duration::from_secs(5);
/// How often it is looked whether a JVM that says nothing is stopped.
const LOOK: Duration = Duration::from_millis(200);
/// How often it is looked whether the JVM listens.
const POLL: Duration = Duration::from_millis(10);

/// Why a JVM was not reached, or did not do what it was told.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It was started with `-XX:+DisableAttachMechanism`.
    #[error("process {0} was started with -XX:+DisableAttachMechanism and takes no commands")]
    Disabled(u32),
    /// SIGQUIT would end it (`-Xrs`), or nothing in it waits for the signal yet.
    #[error("process {0} does not handle SIGQUIT, by which a JVM is asked to listen: the signal would end it")]
    NoSignal(u32),
    /// It is stopped, so it could answer nothing.
    #[error("process {0} is stopped")]
    Stopped(u32),
    /// It is gone.
    #[error("process {0} is gone")]
    Gone(u32),
    /// What is in its shared directory is not what a JVM puts there.
    #[error("{path} in the directory of process {pid} {problem}")]
    Impostor {
        /// The target.
        pid: u32,
        /// The name.
        path: String,
        /// What is wrong with it.
        problem: String,
    },
    /// It was asked to listen, and does not.
    #[error("process {pid} does not listen after {} ms", waited.as_millis())]
    Silent {
        /// The target.
        pid: u32,
        /// How long was waited.
        waited: Duration,
    },
    /// The command cannot be sent as it is.
    #[error("a command of {len} bytes cannot be sent: the JVM takes {MAX_COMMAND_BYTES} without NUL")]
    Command {
        /// Its length.
        len: usize,
    },
    /// The kernel did not let us do something.
    #[error("cannot {action} for process {pid}: {source}")]
    Io {
        /// What was tried.
        action: &'static str,
        /// The target.
        pid: u32,
        /// What the kernel said.
        source: io::Error,
    },
    /// The reply is none, is too long, or comes too late.
    #[error("process {pid} gives no sound reply: {problem}")]
    Reply {
        /// The target.
        pid: u32,
        /// What is wrong with it.
        problem: String,
    },
    /// The JVM understood and refused.
    #[error("the JVM in process {pid} refuses the command (code {code}): {text}")]
    Refused {
        /// The target.
        pid: u32,
        /// Its code.
        code: i32,
        /// What it says; hostile like all that comes from a target.
        text: String,
    },
}

impl Error {
    /// What to do about it.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Disabled(_) | Self::NoSignal(_) => {
                Some("restart the JVM without -XX:+DisableAttachMechanism and -Xrs")
            }
            Self::Stopped(_) | Self::Silent { .. } => Some("let the process run (SIGCONT), then try again"),
            Self::Impostor { .. } => Some("look who wrote it, and delete it"),
            Self::Reply { .. } => Some("run jtrace as the target's own user, or as root of its user namespace"),
            Self::Io { .. } => Some("see whether the JVM's own user may make files and sockets in its /tmp"),
            Self::Gone(_) | Self::Command { .. } | Self::Refused { .. } => None,
        }
    }
}

/// A JVM that takes commands.
#[derive(Debug)]
pub struct Attachment {
    target: Identity,
    place: Place,
}

impl Attachment {
    /// Makes sure that the JVM listens. It starts one thread ("Attach Listener") where nobody has asked before.
    pub fn open(jvm: &Jvm) -> Result<Self, Error> {
        let target = jvm.identity();
        let disabled = jvm.flags.as_ref().ok().and_then(|flags| flags.bool(&jvm.memory, "DisableAttachMechanism"));
        if disabled == Some(true) {
            return Err(Error::Disabled(target.pid));
        }
        let place = Place::open(target, jvm.target.namespace_pid)?;
        let attachment = Self { target, place };
        if attachment.place.socket()? == Found::Nothing {
            attachment.ask(LISTEN_PATIENCE)?;
        }
        Ok(attachment)
    }

    /// Runs a diagnostic command (`JFR.check`) and gives what the JVM says.
    pub fn command(&self, command: &str, limit: Duration) -> Result<String, Error> {
        if command.len() > MAX_COMMAND_BYTES || command.contains('\0') {
            return Err(Error::Command { len: command.len() });
        }
        // Much of what is undone is undone by commands: the first signal must not keep it from that.
        let until = Until::within(limit, Patience::Second);
        // Version, name and always three arguments, a NUL behind each.
        parse(self.target.pid, &self.talk(&format!("1\0jcmd\0{command}\0\0\0"), until)?)
    }

    /// Loads a library into the JVM, by its path as the JVM sees it.
    pub fn load(&self, library: &Path, options: &str, limit: Duration) -> Result<(), Error> {
        let path = library.to_string_lossy();
        let len = path.len().max(options.len());
        if len > MAX_COMMAND_BYTES || path.contains('\0') || options.contains('\0') {
            return Err(Error::Command { len });
        }
        let pid = self.target.pid;
        let until = Until::within(limit, Patience::First);
        // The path is absolute.
        let text = parse(pid, &self.talk(&format!("1\0load\0{path}\0true\0{options}\0"), until)?)?;
        // What the library's own function has said comes behind what the JVM says.
        let line = text.lines().next().unwrap_or_default();
        match line.rsplit(' ').next().unwrap_or_default().parse() {
            Ok(0) => Ok(()),
            Ok(code) => Err(Error::Refused { pid, code, text: format!("the library says {code}") }),
            // Why it was not loaded stands in the second line.
            Err(_) => {
                let text = text.lines().take(2).collect::<Vec<_>>().join(" ");
                Err(Error::Refused { pid, code: -1, text })
            }
        }
    }

    /// Asks the JVM to listen, and waits until it does.
    fn ask(&self, patience: Duration) -> Result<(), Error> {
        let pid = self.target.pid;
        let handle = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw).ok_or(Error::Gone(pid))?;
        let handle = pidfd_open(handle, PidfdFlags::empty()).map_err(|_| Error::Gone(pid))?;
        let stat = Stat::read(pid).map_err(|_| Error::Gone(pid))?;
        if stat.is_stopped() {
            return Err(Error::Stopped(pid));
        }
        // Without a handler the signal ends the process.
        let handled = Signals::read(pid).map_err(|_| Error::Gone(pid))?.catches(Signal::QUIT);
        // Asked last: all of the above was then about the process that the handle names.
        if !self.target.is_alive() {
            return Err(Error::Gone(pid));
        }
        if !handled {
            return Err(Error::NoSignal(pid));
        }
        let _request = self.place.request()?;
        pidfd_send_signal(&handle, Signal::QUIT).map_err(|errno| self.failed("send SIGQUIT")(errno.into()))?;
        let began = Instant::now();
        let until = Until::within(patience, Patience::First);
        while self.place.socket()? == Found::Nothing {
            if !self.target.is_alive() {
                return Err(Error::Gone(pid));
            }
            match ending::pause(POLL, until) {
                Ok(()) => {}
                Err(Cut::Late) => return Err(Error::Silent { pid, waited: began.elapsed() }),
                Err(cut) => return Err(Error::Reply { pid, problem: cut.to_string() }),
            }
        }
        Ok(())
    }

    /// The files of the target, as its user reaches them.
    pub fn files(&self) -> &TargetFiles {
        &self.place.files
    }

    /// Connects without ever waiting: a queue that is full belongs to a JVM that does not answer.
    fn connect(&self) -> Result<OwnedFd, Error> {
        let pid = self.target.pid;
        let stream = match self.place.connect() {
            Ok(stream) => stream,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                return Err(Error::Silent { pid, waited: Duration::ZERO });
            }
            Err(error) => return Err(self.failed("connect to the socket")(error)),
        };
        // Who listens is known to the kernel; the name in the directory proves nothing.
        let peer =
            socket_peercred(&stream).map_err(|errno: Errno| self.failed("connect to the socket")(errno.into()))?;
        let peer = peer.pid.as_raw_nonzero().get();
        if u32::try_from(peer) != Ok(pid) || !self.target.is_alive() {
            let problem = format!("is listened to by process {peer}");
            return Err(Error::Impostor { pid, path: self.place.socket_name(), problem });
        }
        // It stays as it is, without waiting: what waits for it has a limit of its own.
        Ok(stream.into())
    }

    /// Sends a request and gives the reply.
    fn talk(&self, request: &str, until: Until) -> Result<Vec<u8>, Error> {
        let socket = self.connect()?;
        let mut rest = request.as_bytes();
        while !rest.is_empty() {
            match send(&socket, rest, SendFlags::DONTWAIT | SendFlags::NOSIGNAL) {
                Ok(sent) => rest = rest.get(sent..).unwrap_or_default(),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => self.wait(&socket, PollFlags::OUT, until)?,
                Err(errno) => return Err(self.failed("write to the socket")(errno.into())),
            }
        }
        self.read(&socket, until)
    }

    /// A process that is stopped is not waited for: it goes on some day, or never.
    fn wait(&self, socket: &OwnedFd, how: PollFlags, until: Until) -> Result<(), Error> {
        let pid = self.target.pid;
        loop {
            let look = Until { deadline: until.deadline.min(Instant::now() + LOOK), ..until };
            if ending::wait(socket.as_fd(), how, look).is_ok() {
                return Ok(());
            }
            match until.is_over() {
                Some(Cut::Late) => return Err(Error::Reply { pid, problem: "it comes too late".to_owned() }),
                Some(cut) => return Err(Error::Reply { pid, problem: cut.to_string() }),
                // Only the look is over.
                None if Stat::read(pid).is_ok_and(Stat::is_stopped) => return Err(Error::Stopped(pid)),
                None => {}
            }
        }
    }

    fn read(&self, socket: &OwnedFd, until: Until) -> Result<Vec<u8>, Error> {
        let wrong = |problem: String| Error::Reply { pid: self.target.pid, problem };
        let mut reply = Vec::new();
        let mut piece = [0; 4096];
        loop {
            // Also where a reply comes byte by byte.
            self.wait(socket, PollFlags::IN, until)?;
            match rustix::io::read(socket, &mut piece) {
                Ok(0) => return Ok(reply),
                Ok(len) => reply.extend_from_slice(&piece[..len]),
                Err(Errno::INTR | Errno::AGAIN) => {}
                Err(errno) => return Err(wrong(errno.to_string())),
            }
            if reply.len() as u64 > MAX_REPLY_BYTES {
                return Err(wrong("it is too long".to_owned()));
            }
        }
    }

    fn failed(&self, action: &'static str) -> impl Fn(io::Error) -> Error + use<> {
        let pid = self.target.pid;
        move |source| Error::Io { action, pid, source }
    }
}

/// A reply is a line with a number, 0 for success, and a text.
fn parse(pid: u32, reply: &[u8]) -> Result<String, Error> {
    let text = String::from_utf8_lossy(reply);
    let problem = if reply.is_empty() { "it is empty: the JVM does not accept this user" } else { "no code" };
    let wrong = || Error::Reply { pid, problem: problem.to_owned() };
    let (code, text) = text.split_once('\n').ok_or_else(wrong)?;
    match code.trim().parse().map_err(|_| wrong())? {
        0 => Ok(text.to_owned()),
        code => Err(Error::Refused { pid, code, text: text.lines().next().unwrap_or_default().to_owned() }),
    }
}

#[cfg(test)]
mod tests;

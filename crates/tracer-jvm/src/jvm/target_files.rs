//! Files of a target, reached as its user: in its mount namespace, with the user's ids and groups, and without any capability.
//!
//! A user decides what her processes see at `/tmp`: she can mount any directory there, in a namespace of her own. What root
//! would do below `/proc/PID/root` she could therefore turn to files of others. So a child process does it, which can do no
//! more than she can (`enter`); it is asked over a socket (`message`), with a limit for every answer. A child that a
//! file system of hers holds up is left behind. jtrace is executed anew for it: a process with threads must not fork and
//! go on, and nothing of jtrace's memory or descriptors is then within the target's reach.
//!
//! This is not for `/proc/PID` itself, which belongs to the kernel, nor for files that a target has mapped
//! ([`super::memory::library`]).

mod enter;
mod message;
mod serve;

use std::{
    io,
    os::{
        fd::{AsFd as _, OwnedFd},
        unix::net::UnixStream,
    },
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{Mutex, MutexGuard, OnceLock, PoisonError},
    time::{Duration, Instant},
};

use self::message::{Answer, Request};
pub use self::message::{Examined, Kind};
use super::find::process::Identity;

/// The hidden command of the child.
pub const COMMAND: &str = "as-target-user";
/// How long the child may take for one request. A file system that answers needs some milliseconds.
const LIMIT: Duration = Duration::from_secs(5);
/// How long a child that was told to end may take.
const END_LIMIT: Duration = Duration::from_millis(200);
/// Most bytes of one file that are written; a map of a full code cache has some MiB.
const MAX_WRITTEN_BYTES: usize = 256 << 20;

static PROGRAM: OnceLock<PathBuf> = OnceLock::new();

/// Names the jtrace that is executed for the child, for programs that use this library without being jtrace.
pub fn use_program(path: &Path) {
    // The first one stays.
    let _: Result<(), PathBuf> = PROGRAM.set(path.to_owned());
}

/// The executable of jtrace: whatever is at its path now, this is the one that runs.
pub fn program() -> &'static Path {
    PROGRAM.get().map_or(Path::new("/proc/self/exe"), PathBuf::as_path)
}

/// A file by its directory, as the target sees it, and its name there.
#[derive(Clone, Copy, Debug)]
pub struct At<'a> {
    /// An absolute path.
    pub directory: &'a str,
    /// Without a slash.
    pub name: &'a str,
}

/// The files of one target. The child that reaches them ends with this value.
#[derive(Debug)]
pub struct TargetFiles {
    connection: Mutex<Connection>,
}

#[derive(Debug)]
struct Connection {
    stream: UnixStream,
    /// Absent in tests, where a thread serves.
    child: Option<Child>,
    broken: bool,
}

impl TargetFiles {
    /// Starts the child and waits until it has become the target's user.
    ///
    /// # Errors
    /// It cannot be started, or is not allowed to; the target is gone; nothing answers.
    pub fn open(target: Identity) -> io::Result<Self> {
        let (own, theirs) = UnixStream::pair()?;
        let child = Command::new(program())
            .arg(COMMAND)
            .args([target.pid.to_string(), target.start_ticks.to_string()])
            .env_clear()
            .stdin(OwnedFd::from(theirs))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .current_dir("/")
            .spawn()?;
        let connection = Connection { stream: own, child: Some(child), broken: false };
        let files = Self { connection: Mutex::new(connection) };
        files.lock().answer(Instant::now() + LIMIT)?;
        Ok(files)
    }

    /// What lies under a name; a link is not followed. Absent where there is nothing.
    pub fn examine(&self, at: At<'_>) -> io::Result<Option<Examined>> {
        match self.ask(&Request::Examine(at.into()), &[]) {
            Ok((Answer::Examined(examined), _)) => Ok(Some(examined)),
            Ok(_) => Err(message::wrong()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Writes a new file. One that is temporary goes with the child, however jtrace ends.
    pub fn create(&self, at: At<'_>, mode: u32, is_temporary: bool, bytes: &[u8]) -> io::Result<()> {
        if bytes.len() > MAX_WRITTEN_BYTES {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.done(&Request::Create { at: at.into(), mode, is_temporary }, bytes)
    }

    /// Moves a file to another name in its directory, in place of what is there.
    pub fn rename(&self, at: At<'_>, to: &str) -> io::Result<()> {
        self.done(&Request::Rename { at: at.into(), to: to.to_owned() }, &[])
    }

    /// Removes a file.
    pub fn remove(&self, at: At<'_>) -> io::Result<()> {
        self.done(&Request::Remove(at.into()), &[])
    }

    /// Reads a regular file that belongs to the target's user, cut at `most` bytes.
    pub fn read(&self, at: At<'_>, most: usize) -> io::Result<Vec<u8>> {
        match self.ask(&Request::Read { at: at.into(), most }, &[])? {
            (Answer::Done, Attached { bytes, .. }) if bytes.len() <= most => Ok(bytes),
            _ => Err(message::wrong()),
        }
    }

    /// Connects to a socket, without waiting for who listens there.
    pub fn connect(&self, at: At<'_>) -> io::Result<UnixStream> {
        match self.ask(&Request::Connect(at.into()), &[])? {
            (Answer::Done, Attached { descriptor: Some(descriptor), .. }) => Ok(UnixStream::from(descriptor)),
            _ => Err(message::wrong()),
        }
    }

    fn done(&self, request: &Request, bytes: &[u8]) -> io::Result<()> {
        match self.ask(request, bytes)? {
            (Answer::Done, _) => Ok(()),
            (Answer::Examined(_), _) => Err(message::wrong()),
        }
    }

    fn ask(&self, request: &Request, bytes: &[u8]) -> io::Result<(Answer, Attached)> {
        let deadline = Instant::now() + LIMIT;
        let mut connection = self.lock();
        if connection.broken {
            return Err(io::Error::other("the process that reaches the target's files has ended"));
        }
        let sent = message::send(&connection.stream, request, bytes, None, deadline);
        sent.map_err(|error| connection.failed(error))?;
        connection.answer(deadline)
    }

    fn lock(&self) -> MutexGuard<'_, Connection> {
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A directory in the place of a target's `/tmp`, served by a thread of this process.
    #[cfg(any(test, feature = "testing"))]
    #[doc(hidden)]
    pub fn within(directory: &Path) -> Self {
        let (own, theirs) = UnixStream::pair().expect("a pair of sockets");
        let directory = directory.to_owned();
        std::thread::spawn(move || serve::serve(&theirs, Some(&directory)));
        Self { connection: Mutex::new(Connection { stream: own, child: None, broken: false }) }
    }
}

/// What came with an answer.
#[derive(Debug, Default)]
struct Attached {
    bytes: Vec<u8>,
    descriptor: Option<OwnedFd>,
}

impl Connection {
    fn answer(&mut self, deadline: Instant) -> io::Result<(Answer, Attached)> {
        let received = message::receive::<Result<Answer, message::Refusal>>(&self.stream, deadline);
        let (answer, bytes, descriptor) = received.map_err(|error| self.failed(error))?;
        // What the file system says is no failure of the connection.
        Ok((answer.map_err(io::Error::from)?, Attached { bytes, descriptor }))
    }

    /// Nothing that comes later could be told from an answer to something else.
    fn failed(&mut self, error: io::Error) -> io::Error {
        self.broken = true;
        if error.kind() != io::ErrorKind::TimedOut {
            return error;
        }
        self.end();
        io::Error::new(
            io::ErrorKind::TimedOut,
            format!("a file system of the target does not answer within {} s", LIMIT.as_secs()),
        )
    }

    /// Lets the child end, and makes it. One that the kernel does not let go is left behind.
    fn end(&mut self) {
        let Some(mut child) = self.child.take() else { return };
        let _: io::Result<()> = self.stream.shutdown(std::net::Shutdown::Both);
        if is_over(&mut child, END_LIMIT) {
            return;
        }
        let _: io::Result<()> = child.kill();
        if !is_over(&mut child, END_LIMIT) {
            log::warn!("process {} hangs in a file system of the target, and was left behind", child.id());
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.end();
    }
}

/// Whether a child ends within a limit.
pub fn is_over(child: &mut Child, limit: Duration) -> bool {
    let deadline = Instant::now() + limit;
    loop {
        match child.try_wait() {
            Ok(None) if Instant::now() < deadline => std::thread::sleep(Duration::from_millis(1)),
            Ok(None) => return false,
            Ok(Some(_)) | Err(_) => return true,
        }
    }
}

/// The child: becomes the user of the target, and serves what comes through standard input until that is closed.
///
/// # Errors
/// It may not; that was answered as well.
pub fn run_as_target_user(target: Identity) -> io::Result<()> {
    let stream = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    let entered = enter::enter(target);
    let answer = entered.as_ref().map(|()| Answer::Done).map_err(message::Refusal::from);
    message::send(&stream, &answer, &[], None, Instant::now() + LIMIT)?;
    entered?;
    serve::serve(&stream, None);
    Ok(())
}

#[cfg(test)]
mod tests;

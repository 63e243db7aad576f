//! A child process whose output is collected while it runs, so that a test can wait for a line or for the end, with a limit.

use std::{
    fmt::Write as _,
    fs,
    io::{Read, Write as _},
    os::{fd::OwnedFd, unix::process::ExitStatusExt as _},
    process::{Child, ChildStdin, Command, ExitStatus, Stdio},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, bail};
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    process::{Pid, PidfdFlags, pidfd_open, pidfd_send_signal},
};

pub use rustix::process::Signal;

/// What a process wrote to one of its outputs so far.
#[derive(Clone, Debug, Default)]
pub struct Output(Arc<(Mutex<Written>, Condvar)>);

#[derive(Debug, Default)]
struct Written {
    bytes: Vec<u8>,
    ended: bool,
}

impl Output {
    fn collect(mut from: impl Read + Send + 'static) -> Self {
        let output = Self::default();
        let writer = output.clone();
        thread::spawn(move || {
            let mut chunk = vec![0; 1 << 16];
            loop {
                let count = from.read(&mut chunk).unwrap_or(0);
                let mut written = writer.lock();
                written.bytes.extend_from_slice(&chunk[..count]);
                written.ended = count == 0;
                writer.0.1.notify_all();
                if count == 0 {
                    return;
                }
            }
        });
        output
    }

    fn lock(&self) -> MutexGuard<'_, Written> {
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// All bytes so far.
    pub fn bytes(&self) -> Vec<u8> {
        self.lock().bytes.clone()
    }

    /// All text so far; what is not UTF-8 is replaced.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.lock().bytes).into_owned()
    }

    /// The first complete line from byte `from` on that begins with `prefix`, and the place after it.
    ///
    /// # Errors
    /// The output ended, or the limit passed, without such a line.
    pub fn wait_for_line(&self, prefix: &str, from: usize, limit: Duration) -> Result<(String, usize)> {
        let deadline = Instant::now() + limit;
        let mut written = self.lock();
        loop {
            let mut start = from.min(written.bytes.len());
            while let Some(length) = written.bytes[start..].iter().position(|byte| *byte == b'\n') {
                let line = String::from_utf8_lossy(&written.bytes[start..start + length]).into_owned();
                start += length + 1;
                if line.starts_with(prefix) {
                    return Ok((line, start));
                }
            }
            if written.ended {
                bail!("the output ended without a line `{prefix}`: {}", String::from_utf8_lossy(&written.bytes));
            }
            let Some(left) = deadline.checked_duration_since(Instant::now()) else {
                bail!("no line `{prefix}` within {limit:?}: {}", String::from_utf8_lossy(&written.bytes));
            };
            written = self.0.1.wait_timeout(written, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Waits until everything was read.
    fn wait_for_end(&self, limit: Duration) {
        let deadline = Instant::now() + limit;
        let mut written = self.lock();
        while !written.ended {
            let Some(left) = deadline.checked_duration_since(Instant::now()) else { return };
            written = self.0.1.wait_timeout(written, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

/// How long a process takes at most to die that was killed.
const KILLED: Duration = Duration::from_mins(1);

/// A running child; killed when dropped.
#[derive(Debug)]
pub struct Process {
    child: Child,
    handle: OwnedFd,
    stdin: Option<ChildStdin>,
    /// What it writes to stdout.
    pub stdout: Output,
    /// What it writes to stderr.
    pub stderr: Output,
    status: Option<ExitStatus>,
}

impl Process {
    /// Starts a process with all three standard streams piped.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn spawn(command: &mut Command) -> Result<Self> {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start {command:?}"))?;
        let stdin = child.stdin.take();
        let stdout = Output::collect(child.stdout.take().context("stdout is piped")?);
        let stderr = Output::collect(child.stderr.take().context("stderr is piped")?);
        let handle = pidfd_open(pid_of(child.id())?, PidfdFlags::empty())?;
        Ok(Self { child, handle, stdin, stdout, stderr, status: None })
    }

    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Writes a line to its stdin.
    ///
    /// # Errors
    /// Its stdin is closed.
    pub fn send_line(&mut self, line: &str) -> Result<()> {
        let stdin = self.stdin.as_mut().context("stdin is closed already")?;
        stdin.write_all(format!("{line}\n").as_bytes())?;
        Ok(stdin.flush()?)
    }

    /// Closes its stdin.
    pub fn close_stdin(&mut self) {
        self.stdin = None;
    }

    /// Sends a signal.
    ///
    /// # Errors
    /// It is gone already.
    pub fn signal(&self, signal: Signal) -> Result<()> {
        pidfd_send_signal(&self.handle, signal).with_context(|| format!("cannot signal process {}", self.pid()))
    }

    /// Whether it runs.
    pub fn is_running(&self) -> bool {
        self.status.is_none() && !ended(&self.handle, Duration::ZERO)
    }

    /// Waits for its end and for the rest of its output.
    ///
    /// # Errors
    /// It still runs when the limit has passed.
    pub fn wait(&mut self, limit: Duration) -> Result<ExitStatus> {
        let status = self.wait_for_exit(limit)?;
        self.stdout.wait_for_end(limit);
        self.stderr.wait_for_end(limit);
        Ok(status)
    }

    /// Waits for its end, and not for its output, which its children may go on writing.
    ///
    /// # Errors
    /// It still runs when the limit has passed.
    pub fn wait_for_exit(&mut self, limit: Duration) -> Result<ExitStatus> {
        if let Some(status) = self.status {
            return Ok(status);
        }
        if !ended(&self.handle, limit) {
            bail!("process {} still runs after {limit:?}: {}", self.pid(), self.transcript());
        }
        let status = self.reap()?;
        self.status = Some(status);
        Ok(status)
    }

    /// A JVM that was killed leaves the socket at which it listens for tools. The next one of that pid could belong to another user, and
    /// jtrace would trust it no more. Until it is reaped nobody has its pid.
    fn reap(&mut self) -> Result<ExitStatus> {
        let _ = fs::remove_file(format!("/tmp/.java_pid{}", self.pid()));
        Ok(self.child.wait()?)
    }

    /// Waits for the process to end without reaping it, so that it stays behind as a zombie.
    ///
    /// # Errors
    /// It still runs when the limit has passed.
    pub fn wait_for_zombie(&self, limit: Duration) -> Result<()> {
        if ended(&self.handle, limit) { Ok(()) } else { bail!("process {} still runs after {limit:?}", self.pid()) }
    }

    /// Both outputs, for messages of failed tests.
    pub fn transcript(&self) -> String {
        let mut text = String::new();
        for (name, output) in [("stdout", &self.stdout), ("stderr", &self.stderr)] {
            let written = output.text();
            let shown: String = written.chars().take(4000).collect();
            let _ = writeln!(text, "--- {name} ({} bytes)\n{shown}", written.len());
        }
        text
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if self.status.is_none() {
            let _ = pidfd_send_signal(&self.handle, Signal::KILL);
            ended(&self.handle, KILLED);
            let _ = self.reap();
        }
    }
}

/// What a process came to that ran to its end.
#[derive(Clone, Debug)]
pub struct Finished {
    /// Exit code, or 128 + signal.
    pub code: i32,
    /// Everything on stdout.
    pub stdout: Vec<u8>,
    /// Everything on stderr.
    pub stderr: String,
}

impl Finished {
    /// Runs a command to its end.
    ///
    /// # Errors
    /// It cannot be started, or does not end within the limit.
    pub fn of(command: &mut Command, limit: Duration) -> Result<Self> {
        let mut process = Process::spawn(command)?;
        process.close_stdin();
        process.wait(limit)?;
        Self::from_process(&process)
    }

    /// What a process came to that was waited for.
    ///
    /// # Errors
    /// It was not waited for.
    pub fn from_process(process: &Process) -> Result<Self> {
        let status = process.status.context("the process was not waited for")?;
        let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal)).unwrap_or(-1);
        Ok(Self { code, stdout: process.stdout.bytes(), stderr: process.stderr.text() })
    }

    /// Stdout as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }
}

/// A pid from its number.
///
/// # Errors
/// It is not a positive number.
pub fn pid_of(pid: u32) -> Result<Pid> {
    Pid::from_raw(i32::try_from(pid)?).context("pid 0")
}

/// Whether the process behind a pid file descriptor ends within the limit.
fn ended(handle: &OwnedFd, limit: Duration) -> bool {
    let timeout = Timespec { tv_sec: limit.as_secs().cast_signed(), tv_nsec: i64::from(limit.subsec_nanos()) };
    let mut fds = [PollFd::new(handle, PollFlags::IN)];
    matches!(poll(&mut fds, Some(&timeout)), Ok(1))
}

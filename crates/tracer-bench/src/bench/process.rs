//! A child process of a measurement: its output is collected while it runs, with a bound, and it is ended with us.

pub(in crate::bench) mod bound;

use std::{
    io::{self, Read, Write as _},
    os::{fd::OwnedFd, unix::process::CommandExt as _},
    process::{Child, ChildStdin, Command, ExitStatus, Stdio},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread,
    time::{Duration, Instant},
};

pub use rustix::process::Signal;
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    process::{Pid, PidfdFlags, pidfd_open, pidfd_send_signal},
};

use crate::{jvm::find::process::Stat, text::escape};

/// Most bytes of an output that are kept; of longer ones the end.
const KEPT: usize = 64 << 10;
/// Most characters of a line that are quoted.
const QUOTED: usize = 200;
/// How long the rest of an output may take to arrive, once its process has ended; its own children may hold it open.
const REST: Duration = Duration::from_secs(2);

/// What a process wrote to one of its outputs, as far as it is kept.
#[derive(Clone, Debug)]
pub struct Output(Arc<(Mutex<Written>, Condvar)>);

#[derive(Debug)]
struct Written {
    bytes: Vec<u8>,
    /// Bytes that went before those that are kept.
    gone: u64,
    keep: usize,
    ended: bool,
}

/// Why a line did not come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Silence {
    /// The output ended.
    Ended,
    /// The time was over.
    Late,
}

impl Written {
    fn add(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        // Twice the bound is kept at most, so that not every line moves all of them.
        if self.bytes.len() > 2 * self.keep {
            let gone = self.bytes.len() - self.keep;
            self.bytes.drain(..gone);
            self.gone += gone as u64;
        }
    }

    /// The next complete line from a place on, and the place behind it. A line whose beginning is gone is none.
    fn line(&self, from: u64) -> Option<(&[u8], u64)> {
        let mut start = usize::try_from(from.saturating_sub(self.gone)).ok()?.min(self.bytes.len());
        if from < self.gone {
            start += memchr::memchr(b'\n', &self.bytes[start..])? + 1;
        }
        let length = memchr::memchr(b'\n', &self.bytes[start..])?;
        Some((&self.bytes[start..start + length], self.gone + (start + length + 1) as u64))
    }
}

impl Output {
    fn collect(mut from: impl Read + Send + 'static, keep: usize) -> Self {
        let written = Written { bytes: Vec::new(), gone: 0, keep, ended: false };
        let output = Self(Arc::new((Mutex::new(written), Condvar::new())));
        let writer = output.clone();
        thread::spawn(move || {
            let mut chunk = vec![0; 1 << 14];
            loop {
                let count = match from.read(&mut chunk) {
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                    read => read.unwrap_or(0),
                };
                let mut written = writer.lock();
                written.add(&chunk[..count]);
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

    /// All bytes that are kept.
    pub fn bytes(&self) -> Vec<u8> {
        self.lock().bytes.clone()
    }

    /// The first complete line from a place on that begins with one of these words, and the place behind it.
    pub fn wait_for_line(&self, words: &[&str], from: u64, limit: Duration) -> Result<(String, u64), Silence> {
        let deadline = Instant::now() + limit;
        let mut from = from;
        let mut written = self.lock();
        loop {
            while let Some((line, behind)) = written.line(from) {
                from = behind;
                if words.iter().any(|word| line.starts_with(word.as_bytes())) {
                    return Ok((String::from_utf8_lossy(line).into_owned(), behind));
                }
            }
            if written.ended {
                return Err(Silence::Ended);
            }
            let left = deadline.checked_duration_since(Instant::now()).ok_or(Silence::Late)?;
            written = self.0.1.wait_timeout(written, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Waits until all was read.
    fn wait_for_end(&self, limit: Duration) {
        let deadline = Instant::now() + limit;
        let mut written = self.lock();
        while !written.ended {
            let Some(left) = deadline.checked_duration_since(Instant::now()) else { return };
            written = self.0.1.wait_timeout(written, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// The last lines that say something, escaped and on one line, to be quoted in an error.
    pub fn last_lines(&self, count: usize) -> String {
        let bytes = self.bytes();
        let text = String::from_utf8_lossy(&bytes);
        let mut lines: Vec<_> = text.lines().rev().filter(|line| !line.trim().is_empty()).take(count).collect();
        lines.reverse();
        let quoted = lines.iter().map(|line| {
            let cut: String = line.trim().chars().take(QUOTED).collect();
            escape::terminal(&cut).into_owned()
        });
        quoted.collect::<Vec<_>>().join(" | ")
    }
}

/// A running child in a process group of its own, so that Ctrl-C reaches it only through us. It is killed when dropped,
/// and when the thread that started it ends, as it does where we are killed.
#[derive(Debug)]
pub struct Process {
    child: Child,
    handle: OwnedFd,
    stdin: Option<ChildStdin>,
    /// What it writes to standard output.
    pub stdout: Output,
    /// What it writes to standard error.
    pub stderr: Output,
    status: Option<ExitStatus>,
}

impl Process {
    /// Starts a process with all three standard streams piped.
    pub fn spawn(command: &Command) -> io::Result<Self> {
        Self::spawn_keeping(command, KEPT)
    }

    /// As [`Self::spawn`], where more of what it writes to standard output is to be kept.
    pub fn spawn_keeping(command: &Command, keep: usize) -> io::Result<Self> {
        let mut child = bound::spawn(command, |command| {
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        })?;
        match Self::pipes(&mut child, keep) {
            Ok((handle, stdout, stderr)) => {
                let stdin = child.stdin.take();
                Ok(Self { child, handle, stdin, stdout, stderr, status: None })
            }
            Err(error) => {
                let _: io::Result<()> = child.kill();
                let _: io::Result<ExitStatus> = child.wait();
                Err(error)
            }
        }
    }

    fn pipes(child: &mut Child, keep: usize) -> io::Result<(OwnedFd, Output, Output)> {
        let handle = pidfd_open(pid_of(child.id())?, PidfdFlags::empty())?;
        let missing = || io::Error::other("the output of a child is not piped");
        let stdout = Output::collect(child.stdout.take().ok_or_else(missing)?, keep);
        let stderr = Output::collect(child.stderr.take().ok_or_else(missing)?, KEPT);
        Ok((handle, stdout, stderr))
    }

    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// A handle by which it can be signalled from elsewhere, even when its pid belongs to another.
    pub fn handle(&self) -> io::Result<OwnedFd> {
        self.handle.try_clone()
    }

    /// Writes a line to its standard input.
    pub fn send_line(&mut self, line: &str) -> io::Result<()> {
        let stdin = self.stdin.as_mut().ok_or(io::ErrorKind::BrokenPipe)?;
        stdin.write_all(format!("{line}\n").as_bytes())?;
        stdin.flush()
    }

    /// Closes its standard input.
    pub fn close_stdin(&mut self) {
        self.stdin = None;
    }

    /// Sends it a signal.
    pub fn signal(&self, signal: Signal) -> io::Result<()> {
        Ok(pidfd_send_signal(&self.handle, signal)?)
    }

    /// Whether it ends within a time. It stays a zombie, of which the kernel still says how much CPU time it used.
    pub fn ends_within(&self, limit: Duration) -> bool {
        self.status.is_some() || ended(&self.handle, limit)
    }

    /// CPU time of all its threads so far, user and system; as precise as a clock tick of the kernel, 10 ms.
    pub fn cpu_ns(&self) -> io::Result<u64> {
        let tick_ns = 1_000_000_000 / rustix::param::clock_ticks_per_second().max(1);
        Ok(Stat::read(self.pid())?.cpu_ticks.saturating_mul(tick_ns))
    }

    /// Waits for its end and for the rest of its output; absent where it still runs when the time is over.
    pub fn wait(&mut self, limit: Duration) -> io::Result<Option<ExitStatus>> {
        if self.status.is_none() {
            if !ended(&self.handle, limit) {
                return Ok(None);
            }
            self.status = Some(self.child.wait()?);
            self.stdout.wait_for_end(REST);
            self.stderr.wait_for_end(REST);
        }
        Ok(self.status)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if self.status.is_none() {
            // It may have ended just now.
            let _: io::Result<()> = self.signal(Signal::KILL);
            let _: io::Result<ExitStatus> = self.child.wait();
        }
    }
}

fn pid_of(pid: u32) -> io::Result<Pid> {
    i32::try_from(pid).ok().and_then(Pid::from_raw).ok_or_else(|| io::Error::other("a pid out of range"))
}

/// Whether the process behind a handle ends within a time.
fn ended(handle: &OwnedFd, limit: Duration) -> bool {
    let deadline = Instant::now() + limit;
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let timeout = Timespec { tv_sec: left.as_secs().cast_signed(), tv_nsec: i64::from(left.subsec_nanos()) };
        let mut fds = [PollFd::new(handle, PollFlags::IN)];
        match poll(&mut fds, Some(&timeout)) {
            Err(rustix::io::Errno::INTR) => {}
            polled => return polled == Ok(1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Duration = Duration::from_mins(10);

    fn shell(script: &str) -> Process {
        Process::spawn(Command::new("/bin/sh").args(["-c", script])).unwrap()
    }

    #[test]
    fn a_line_is_found_behind_a_place_and_its_absence_is_told_apart_from_its_delay() {
        let mut process = shell("echo noise; echo READY 1; echo READY 2; read line; echo $line >&2");
        let (first, behind) = process.stdout.wait_for_line(&["READY"], 0, LIMIT).unwrap();
        let (second, behind) = process.stdout.wait_for_line(&["READY"], behind, LIMIT).unwrap();
        assert_eq!((first.as_str(), second.as_str()), ("READY 1", "READY 2"));
        assert_eq!(process.stdout.wait_for_line(&["READY"], behind, Duration::ZERO), Err(Silence::Late));
        process.send_line("heard \u{1b}[2J").unwrap();
        assert!(process.wait(LIMIT).unwrap().unwrap().success());
        assert_eq!(process.stdout.wait_for_line(&["READY"], behind, LIMIT), Err(Silence::Ended));
        assert_eq!(process.stderr.last_lines(3), "heard \\x1b[2J");
    }

    #[test]
    fn an_endless_output_is_bounded_and_half_a_line_is_none() {
        let mut written = Written { bytes: Vec::new(), gone: 0, keep: 8, ended: false };
        written.add(b"0123456789READY yes\nnext\n");
        assert_eq!(written.bytes.len(), 8);
        assert_eq!(written.line(0), Some((&b"next"[..], 25)));
        assert_eq!(written.line(20), Some((&b"next"[..], 25)));
        assert_eq!(written.line(25), None);
    }

    #[test]
    fn a_child_is_gone_when_it_is_dropped_and_its_cpu_time_outlives_it() {
        let process = shell("while :; do :; done");
        let pid = process.pid();
        while process.cpu_ns().unwrap() == 0 {
            thread::yield_now();
        }
        process.signal(Signal::KILL).unwrap();
        assert!(process.ends_within(LIMIT));
        assert!(process.cpu_ns().unwrap() > 0, "a zombie tells what it used");
        drop(process);
        assert!(Stat::read(pid).is_err());
    }
}

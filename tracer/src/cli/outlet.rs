//! Standard output for events that pass: written by a thread of its own, so that a reader who does not read holds up nothing
//! but that thread. Not for reports, which are written when nothing is attached any more.
//!
//! Whatever writes here never waits. What the reader is behind with is kept up to a bound; above it whole pieces are left
//! out and counted, and a line of its own says where and how many lines that were.

use std::{
    io::{self, Write},
    os::fd::AsFd as _,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread,
    time::{Duration, Instant},
};

use super::attach::say;
use crate::{ending, privilege};

/// Most that is kept for a reader who is slower than the events.
const MAX_WAITING_BYTES: usize = 32 << 20;
/// How long the reader may take, after the end, for each piece that it has not taken yet.
const READ_LIMIT: Duration = Duration::from_secs(10);
/// How often it is looked at the end whether a signal asks to wait no longer.
const LOOK: Duration = Duration::from_millis(20);

/// What is still to be written.
#[derive(Debug, Default)]
struct Waiting {
    bytes: Vec<u8>,
    /// Lines that were left out since the last one that was not.
    omitted: u64,
    /// The same, of the whole session.
    all_omitted: u64,
    /// Pieces that the reader has taken.
    written: u64,
    /// Whether the thread holds a piece.
    is_writing: bool,
    ended: bool,
    failed: Option<io::ErrorKind>,
}

type Shared = Arc<(Mutex<Waiting>, Condvar)>;

/// Takes whole lines.
#[derive(Debug)]
pub(super) struct Outlet {
    shared: Shared,
    most: usize,
    /// Whether what came last ended with a line: only there something can be left out.
    at_line: bool,
    omits: bool,
}

impl Outlet {
    /// Standard output.
    pub(super) fn open() -> io::Result<Self> {
        // Of its own: the standard library's is locked while somebody writes.
        Self::into(std::fs::File::from(io::stdout().as_fd().try_clone_to_owned()?), MAX_WAITING_BYTES)
    }

    fn into(to: impl Write + Send + 'static, most: usize) -> io::Result<Self> {
        let shared = Shared::default();
        let given = Arc::clone(&shared);
        thread::Builder::new().name("events".to_owned()).spawn(move || {
            if let Err(error) = privilege::keep_only(privilege::SESSION) {
                log::warn!("a thread of jtrace keeps all its capabilities: {error}");
            }
            pass_on(&given, to);
        })?;
        Ok(Self { shared, most, at_line: true, omits: false })
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        lock(&self.shared)
    }

    /// Adds a line, or the part of one.
    fn add(&mut self, line: &[u8]) -> io::Result<()> {
        let (at_line, most) = (self.at_line, self.most);
        self.at_line = line.last() == Some(&b'\n');
        let mut waiting = lock(&self.shared);
        if let Some(kind) = waiting.failed {
            return Err(kind.into());
        }
        if at_line {
            self.omits = waiting.bytes.len() + line.len() > most;
        }
        if self.omits {
            let lines = u64::from(self.at_line);
            waiting.omitted += lines;
            waiting.all_omitted += lines;
            return Ok(());
        }
        if at_line && waiting.omitted > 0 {
            let omitted = std::mem::take(&mut waiting.omitted);
            waiting.bytes.extend_from_slice(gap(omitted).as_bytes());
        }
        waiting.bytes.extend_from_slice(line);
        Ok(())
    }
}

/// The line that stands for those that were left out.
fn gap(omitted: u64) -> String {
    format!("{{\"event\":\"omitted\",\"lines\":{omitted}}}\n")
}

fn lock(shared: &Shared) -> MutexGuard<'_, Waiting> {
    shared.0.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Write for Outlet {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.add(line)?;
        }
        self.shared.1.notify_one();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        match self.lock().failed {
            Some(kind) => Err(kind.into()),
            None => Ok(()),
        }
    }
}

impl Outlet {
    /// Waits until the reader has everything, as long as it goes on reading. A signal ends that.
    pub(super) fn finish(self) -> io::Result<()> {
        let mut waiting = self.lock();
        waiting.ended = true;
        if waiting.omitted > 0 {
            let omitted = std::mem::take(&mut waiting.omitted);
            waiting.bytes.extend_from_slice(gap(omitted).as_bytes());
        }
        self.shared.1.notify_one();
        let before = ending::count();
        let (mut written, mut since) = (waiting.written, Instant::now());
        while waiting.failed.is_none() && (waiting.is_writing || !waiting.bytes.is_empty()) {
            if waiting.written != written {
                (written, since) = (waiting.written, Instant::now());
            }
            if since.elapsed() > READ_LIMIT || ending::count() > before {
                return Err(io::Error::new(
                    io::ErrorKind::TimedOut,
                    format!("nobody reads the last {} bytes of the events", waiting.bytes.len()),
                ));
            }
            waiting = self.shared.1.wait_timeout(waiting, LOOK).unwrap_or_else(PoisonError::into_inner).0;
        }
        if waiting.all_omitted > 0 {
            say(&format!("{} lines of events were left out: their reader was too slow", waiting.all_omitted));
        }
        waiting.failed.map_or(Ok(()), |kind| Err(kind.into()))
    }
}

impl Drop for Outlet {
    fn drop(&mut self) {
        self.lock().ended = true;
        self.shared.1.notify_one();
    }
}

/// The thread: hands on what there is. It ends with the session, or with its reader, or with the process.
fn pass_on(shared: &Shared, mut to: impl Write) {
    let mut piece = Vec::new();
    loop {
        {
            let mut waiting = lock(shared);
            waiting.is_writing = false;
            while waiting.bytes.is_empty() {
                if waiting.ended {
                    return;
                }
                waiting = shared.1.wait(waiting).unwrap_or_else(PoisonError::into_inner);
            }
            piece.clear();
            std::mem::swap(&mut piece, &mut waiting.bytes);
            waiting.is_writing = true;
        }
        // In small parts, so that a slow reader is seen to read.
        for part in piece.chunks(64 << 10) {
            let written = to.write_all(part).and_then(|()| to.flush());
            let mut waiting = lock(shared);
            waiting.written += 1;
            if let Err(error) = written {
                waiting.failed = Some(error.kind());
                waiting.bytes = Vec::new();
                return;
            }
        }
        shared.1.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use std::{io::Read as _, os::unix::net::UnixStream};

    use super::*;

    const LINES: u64 = 100_000;

    /// As much as 100,000 lines for a reader who begins when all have been written: nothing waits, nothing is kept above the bound,
    /// and all lines are accounted for.
    #[test]
    fn a_reader_who_does_not_read_holds_up_nothing_and_learns_what_was_left_out() {
        let (ours, mut theirs) = UnixStream::pair().expect("sockets");
        let mut outlet = Outlet::into(ours, 10_000).expect("a thread");
        for number in 0..LINES {
            writeln!(outlet, "{{\"number\":{number}}}").expect("nothing waits");
            assert!(outlet.lock().bytes.len() <= 10_100, "no more is kept than that, and a line about a gap");
        }
        let reader = thread::spawn(move || {
            let mut text = String::new();
            theirs.read_to_string(&mut text).expect("text");
            text
        });
        outlet.finish().expect("somebody reads");
        let text = reader.join().expect("read");
        let (mut told, mut omitted) = (0, 0);
        for line in text.lines() {
            let value: serde_json::Value = serde_json::from_str(line).expect("whole lines");
            match value["lines"].as_u64() {
                Some(lines) => omitted += lines,
                None => told += 1,
            }
        }
        assert_eq!(told + omitted, LINES);
        assert!(told > 0 && omitted > 0, "{told} and {omitted}");
    }

    #[test]
    fn a_reader_who_has_gone_is_an_error_and_no_wait() {
        let (ours, theirs) = UnixStream::pair().expect("sockets");
        drop(theirs);
        let mut outlet = Outlet::into(ours, 10_000).expect("a thread");
        writeln!(outlet, "{{}}").expect("it is only kept");
        assert_eq!(outlet.finish().expect_err("nobody is there").kind(), io::ErrorKind::BrokenPipe);
    }
}

//! What is told to jtrace, in the order in which it was: any thread may tell something, and waits for jtrace but a moment.

use std::{
    collections::VecDeque,
    io,
    os::{fd::AsFd as _, unix::net::UnixStream},
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tracer_weave::control::{self, Told};

/// How long a thread of the program waits at most until there is room for a message.
const ROOM_LIMIT: Duration = Duration::from_millis(100);
/// Most messages that wait for jtrace; more than that nobody reads them.
const MAX_OUTGOING: usize = 1 << 20;

/// What other threads have to tell jtrace.
static OUTGOING: Mutex<VecDeque<Told>> = Mutex::new(VecDeque::new());
/// Our end of the connection, for all that tell something.
static WRITER: Mutex<Option<UnixStream>> = Mutex::new(None);

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// From now on what is told goes here, and nothing of before.
pub(crate) fn open(stream: &UnixStream) {
    lock(&OUTGOING).clear();
    *lock(&WRITER) = stream.try_clone().ok();
}

/// Nothing is told any more.
pub(crate) fn close() {
    *lock(&WRITER) = None;
}

/// Tells jtrace something. It lies in the connection when this returns, before any mark that needs it can be made; only where jtrace
/// reads nothing for long it waits here, and not the thread.
pub(crate) fn tell(what: Told) {
    {
        let mut outgoing = lock(&OUTGOING);
        if outgoing.len() < MAX_OUTGOING {
            outgoing.push_back(what);
        }
    }
    let _ = send(ROOM_LIMIT);
}

/// Sends what waits, as long as there is room for it within a limit.
pub(crate) fn send(limit: Duration) -> io::Result<()> {
    let mut writer = lock(&WRITER);
    let Some(stream) = writer.as_mut() else { return Ok(()) };
    loop {
        if lock(&OUTGOING).is_empty() || !is_ready(stream, PollFlags::OUT, limit)? {
            return Ok(());
        }
        let Some(told) = lock(&OUTGOING).pop_front() else { return Ok(()) };
        control::write(stream, &told)?;
    }
}

/// Whether a connection can be read or written, within a limit.
pub(crate) fn is_ready(stream: &UnixStream, how: PollFlags, limit: Duration) -> io::Result<bool> {
    let mut polled = [PollFd::from_borrowed_fd(stream.as_fd(), how)];
    let limit = Timespec { tv_sec: limit.as_secs().cast_signed(), tv_nsec: limit.subsec_nanos().into() };
    match poll(&mut polled, Some(&limit)) {
        Ok(ready) => Ok(ready > 0),
        Err(rustix::io::Errno::INTR) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

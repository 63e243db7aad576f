//! The wish that jtrace ends: signals are heard by a thread of their own, and every wait for something that a target or a
//! reader decides can be cut short by them. Not what an end consists of: a wait returns, and who waited undoes what it did.
//!
//! The first signal asks for an end in good order. The second one says that nothing is worth waiting for any more: whatever
//! jtrace does then, it is gone within [`LAST_LIMIT`]. What it owes a target then is in the undo journal, sites vanish with
//! its descriptors, and a library in a JVM restores by itself when its connection closes.

use std::{
    future::poll_fn,
    io,
    os::fd::{AsFd as _, BorrowedFd, OwnedFd},
    pin::Pin,
    sync::{
        OnceLock,
        atomic::{AtomicBool, AtomicI32, AtomicUsize, Ordering},
    },
    task::Poll,
    thread,
    time::{Duration, Instant},
};

use rustix::{
    event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll},
    io::Errno,
    process::{getppid, set_parent_process_death_signal},
};
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::{priority, privilege, standard_error};

use self::pending::Pending;

pub(crate) mod at_once;
mod pending;

/// How long jtrace may take to end after the last signal that matters.
pub const LAST_LIMIT: Duration = Duration::from_millis(800);
/// How long giving the terminal back may take of that.
const SCREEN_LIMIT: Duration = Duration::from_millis(100);
/// First and last of the real-time signals that the C library leaves to programs.
const REAL_TIME: std::ops::RangeInclusive<i32> = 34..=64;

/// Signals that ask for an end, besides those in real time. These are all whose default ends a process and that can be
/// caught, without the faults of a program (`SIGSEGV`, `SIGBUS`, `SIGILL`, `SIGFPE`), which leave nothing to go on with, and
/// without `SIGPIPE`, which Rust's runtime ignores: there a write fails instead.
pub const SIGNALS: [i32; 16] = [
    libc::SIGHUP,
    libc::SIGINT,
    libc::SIGQUIT,
    libc::SIGTRAP,
    libc::SIGABRT,
    libc::SIGUSR1,
    libc::SIGUSR2,
    libc::SIGALRM,
    libc::SIGTERM,
    libc::SIGSTKFLT,
    libc::SIGXCPU,
    libc::SIGXFSZ,
    libc::SIGVTALRM,
    libc::SIGPROF,
    libc::SIGIO,
    libc::SIGPWR,
];

/// In place of a signal's number: no memory is left.
pub const NO_MEMORY: i32 = 126;
/// In place of a signal's number: another thread has panicked.
pub const FAULT: i32 = 125;

/// How many signals have asked for an end.
static ASKED: AtomicUsize = AtomicUsize::new(0);
/// Number of the first one.
static FIRST: AtomicI32 = AtomicI32::new(0);
/// Whether everything is undone: then one signal is enough.
static UNDONE: AtomicBool = AtomicBool::new(false);
/// Readable from the first signal on, and from the second.
static WAKES: OnceLock<[OwnedFd; 2]> = OnceLock::new();

/// How many signals a wait takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Patience {
    /// The first one ends it.
    First,
    /// The first one asked for this; the second one ends it.
    Second,
}

/// What ends a wait that nothing else ends.
#[derive(Clone, Copy, Debug)]
pub struct Until {
    /// When it is over.
    pub deadline: Instant,
    /// Which signal ends it earlier.
    pub patience: Patience,
}

impl Until {
    /// From now on for so long.
    pub fn within(limit: Duration, patience: Patience) -> Self {
        Self { deadline: Instant::now() + limit, patience }
    }

    /// What has ended a wait by now.
    pub fn is_over(&self) -> Option<Cut> {
        if ASKED.load(Ordering::Acquire) > self.patience.index() {
            return Some(Cut::Asked);
        }
        (Instant::now() >= self.deadline).then_some(Cut::Late)
    }
}

impl Patience {
    const fn index(self) -> usize {
        match self {
            Self::First => 0,
            Self::Second => 1,
        }
    }
}

/// Why a wait ended without what was waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Cut {
    /// A signal asked for the end.
    #[error("a signal asked jtrace to end")]
    Asked,
    /// Its time was over.
    #[error("it took too long")]
    Late,
}

impl From<Cut> for io::Error {
    fn from(cut: Cut) -> Self {
        let kind = if cut == Cut::Asked { io::ErrorKind::Interrupted } else { io::ErrorKind::TimedOut };
        Self::new(kind, cut)
    }
}

/// Takes over all signals that end a process. Made before anything in a target is changed: from then on nothing but
/// `SIGKILL`, a fault and what is said above ends jtrace before it has undone that. A second call changes nothing.
pub fn heed() -> io::Result<()> {
    if WAKES.get().is_some() {
        return Ok(());
    }
    let wake = || eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK);
    // Its own handler comes first, ours behind it.
    priority::catch_limit();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut signals = {
        let _context = runtime.enter();
        Signals::of(SIGNALS.into_iter().chain(REAL_TIME))?
    };
    if WAKES.set([wake()?, wake()?]).is_err() {
        return Ok(());
    }
    thread::Builder::new().name("signals".to_owned()).spawn(move || {
        // It begins before the session gives up what it needs no more, and would keep that.
        if let Err(error) = privilege::keep_only(privilege::SESSION) {
            log::warn!("a thread of jtrace keeps all its capabilities: {error}");
        }
        leave(runtime.block_on(last_of(async || signals.next().await, tokio::time::sleep)));
    })?;
    Ok(())
}

/// Has the kernel ask this process to end (`SIGTERM`) as soon as the one with this pid has, which has started it. An error where
/// that has happened already.
pub fn with_parent(parent: u32) -> io::Result<()> {
    set_parent_process_death_signal(Some(rustix::process::Signal::TERM))?;
    let own = getppid().map(|pid| pid.as_raw_nonzero().get().cast_unsigned());
    if own == Some(parent) { Ok(()) } else { Err(io::Error::other("who started this process has ended")) }
}

/// Everything in the target is as it was: what still waits, for a reader of the report, the next signal ends.
pub fn undone() {
    UNDONE.store(true, Ordering::Release);
}

/// Number of the first signal that asked for an end.
pub fn asked() -> Option<i32> {
    Some(FIRST.load(Ordering::Acquire)).filter(|number| *number != 0)
}

/// Whether it is jtrace itself that could not go on.
pub fn is_failure() -> bool {
    matches!(asked(), Some(NO_MEMORY | FAULT))
}

/// How many signals have asked for an end.
pub fn count() -> usize {
    ASKED.load(Ordering::Acquire)
}

/// What a session's end is called that a signal asked for.
pub fn reason(number: i32) -> &'static str {
    match number {
        libc::SIGINT => "interrupted",
        libc::SIGHUP => "hung up",
        libc::SIGXCPU => "out of CPU time",
        libc::SIGXFSZ => "a file became too large",
        NO_MEMORY => "out of memory",
        FAULT => "a fault in jtrace",
        _ => "terminated",
    }
}

/// A descriptor that is readable as soon as one more signal comes than have come; nothing after the second.
pub fn next() -> io::Result<Option<OwnedFd>> {
    let wakes = WAKES.get().ok_or(io::ErrorKind::NotFound)?;
    wakes.get(ASKED.load(Ordering::Acquire)).map(OwnedFd::try_clone).transpose()
}

/// The same for the first signal, which may have come already.
pub fn first() -> io::Result<OwnedFd> {
    WAKES.get().and_then(|wakes| wakes.first()).ok_or(io::ErrorKind::NotFound)?.try_clone()
}

/// Waits until a descriptor is ready.
pub fn wait(descriptor: BorrowedFd<'_>, how: PollFlags, until: Until) -> Result<(), Cut> {
    let wakes = WAKES.get();
    loop {
        if let Some(cut) = until.is_over() {
            return Err(cut);
        }
        let wake = wakes.and_then(|wakes| wakes.get(until.patience.index())).map(OwnedFd::as_fd);
        let mut polled = vec![PollFd::from_borrowed_fd(descriptor, how)];
        polled.extend(wake.map(|wake| PollFd::from_borrowed_fd(wake, PollFlags::IN)));
        let left = timespec(until.deadline.saturating_duration_since(Instant::now()));
        match poll(&mut polled, Some(&left)) {
            // Also where the other side is gone: what is done next then says so.
            Ok(_) if polled.first().is_some_and(|one| !one.revents().is_empty()) => return Ok(()),
            Ok(_) | Err(Errno::INTR) => {}
            // Memory of the kernel; the next look finds out.
            Err(_) => thread::sleep(Duration::from_millis(1)),
        }
    }
}

/// Does nothing for a while, or less where that ends earlier.
pub fn pause(limit: Duration, until: Until) -> Result<(), Cut> {
    let end = Instant::now() + limit;
    let wake = WAKES.get().and_then(|wakes| wakes.get(until.patience.index()));
    loop {
        if let Some(cut) = until.is_over() {
            return Err(cut);
        }
        let left = end.min(until.deadline).saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(());
        }
        match wake {
            Some(wake) => {
                let mut polled = [PollFd::new(wake, PollFlags::IN)];
                // A signal in between is what is looked for next.
                let _: rustix::io::Result<usize> = poll(&mut polled, Some(&timespec(left)));
            }
            None => thread::sleep(left),
        }
    }
}

fn timespec(duration: Duration) -> Timespec {
    Timespec { tv_sec: duration.as_secs().cast_signed(), tv_nsec: i64::from(duration.subsec_nanos()) }
}

/// The signals that are heard: each by its handler, in whatever thread the kernel chooses, or where that thread cannot run it.
struct Signals {
    handled: Vec<(i32, Signal)>,
    pending: Pending,
}

impl Signals {
    fn of(numbers: impl Iterator<Item = i32> + Clone) -> io::Result<Self> {
        let handled = numbers.clone().map(|number| Ok((number, signal(SignalKind::from_raw(number))?)));
        // The handler of this one has more to do, and comes to a thread that runs.
        let pending = Pending::of(numbers.filter(|number| *number != libc::SIGXCPU));
        Ok(Self { handled: handled.collect::<io::Result<Vec<_>>>()?, pending: pending? })
    }

    async fn next(&mut self) -> i32 {
        tokio::select! {
            number = next_handled(&mut self.handled) => number,
            Ok(number) = self.pending.next() => number,
        }
    }
}

async fn next_handled(signals: &mut [(i32, Signal)]) -> i32 {
    poll_fn(|context| {
        for (number, signal) in signals.iter_mut() {
            if let Poll::Ready(Some(())) = Pin::new(signal).poll_recv(context) {
                return Poll::Ready(*number);
            }
        }
        Poll::Pending
    })
    .await
}

/// Hears signals up to the last one that matters, and gives its number once jtrace has had its time to end by itself.
async fn last_of<F: Future>(mut next: impl AsyncFnMut() -> i32, sleep: impl Fn(Duration) -> F) -> i32 {
    loop {
        let number = next().await;
        // The kernel sends this one also to a thread that is urgent for too long, which has been dealt with.
        if number == libc::SIGXCPU && !is_cpu_time_over() {
            continue;
        }
        let before = ask(number);
        if before > 0 || UNDONE.load(Ordering::Acquire) {
            sleep(LAST_LIMIT).await;
            return number;
        }
    }
}

/// Notes a wish to end; gives how many there were.
pub fn ask(number: i32) -> usize {
    let _: Result<i32, i32> = FIRST.compare_exchange(0, number, Ordering::AcqRel, Ordering::Acquire);
    let before = ASKED.fetch_add(1, Ordering::AcqRel);
    if let Some(wake) = WAKES.get().and_then(|wakes| wakes.get(before)) {
        // It can only fail where it is readable already.
        let _: rustix::io::Result<usize> = rustix::io::write(wake, &1_u64.to_ne_bytes());
    }
    before
}

/// Whether the process has used up the CPU time that it may have. With each signal the kernel adds a second to the limit, so that
/// the next one comes a second later.
fn is_cpu_time_over() -> bool {
    let limit = rustix::process::getrlimit(rustix::process::Resource::Cpu).current;
    limit.is_some_and(|seconds| priority::cpu_of_process_ns() / 1_000_000_000 + 1 >= seconds)
}

/// Ends the process, whatever its other threads do: also where the main thread is past its last line, and waits for a reader of what
/// it has buffered. An end in order (`exit`) would wait for that thread.
fn leave(number: i32) -> ! {
    // A terminal that takes nothing more must not hold up the end either.
    let screen = thread::Builder::new().spawn(crate::terminal::restore);
    let began = Instant::now();
    while screen.as_ref().is_ok_and(|screen| !screen.is_finished()) && began.elapsed() < SCREEN_LIMIT {
        thread::sleep(Duration::from_millis(5));
    }
    if !UNDONE.load(Ordering::Acquire) {
        standard_error::bytes(
            b"jtrace ends without waiting any longer: what it has changed in a process and not undone is in its journal, and \
              its next start restores that\n",
        );
    }
    at_once::end((128 + number) & 0xff)
}

#[cfg(test)]
mod tests;

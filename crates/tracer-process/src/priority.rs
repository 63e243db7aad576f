//! A real-time priority for the thread that empties ring buffers and governs: a target with thousands of runnable threads
//! must not starve its own observer, because then events are lost and nobody takes sites away.
//!
//! The thread has `SCHED_RR` at its lowest priority, and nice -20 where that is refused. It is bounded three times:
//!
//! - a second thread looks every 100 ms at the CPU time of the process, and every 25 ms while less than half of what may be taken
//!   at once is left. Above a quarter of a core, with 500 ms at once, it puts the thread back among the others until the quarter
//!   has paid for it (`allowance`);
//! - `RLIMIT_RTTIME` sends `SIGXCPU` where the thread runs for half a second without waiting; the handler puts it back;
//! - the kernel's own limit, 95 % of a core unless the administrator says something else.
//!
//! `SCHED_RESET_ON_FORK` keeps the priority from threads and processes that are made meanwhile.
#![expect(unsafe_code, reason = "libc's calls for scheduling, limits and signals")]

use std::{
    io, mem, ptr,
    sync::{
        Arc, Once,
        atomic::{AtomicBool, AtomicI32, Ordering},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use rustix::thread::CapabilitySet;

use crate::{
    clock::{self, ClockId},
    privilege::keep_only,
};

use self::allowance::{Allowance, Class};

mod allowance;

/// How often the CPU time is looked at.
const PERIOD: Duration = Duration::from_millis(25);
/// The same while half of the allowance is left: a thread that takes all of a core would not get through that meanwhile.
const QUIET_PERIOD: Duration = Duration::from_millis(100);
/// CPU time without waiting, in us, after which the kernel sends `SIGXCPU`.
const MOST_AT_ONCE_US: u64 = 500_000;
/// The lowest real-time priority, and that of the thread that bounds it: it must be able to step in on the only CPU.
const PRIORITY: i32 = 1;
const WATCHER_PRIORITY: i32 = 2;
/// The best place among ordinary threads.
const NICE: i32 = -20;

/// The thread that has the priority at present; 0 where none has.
static URGENT: AtomicI32 = AtomicI32::new(0);
/// Whether the kernel's signal has put it back since this was looked at.
static PUT_BACK: AtomicBool = AtomicBool::new(false);

/// What a thread could be given.
#[derive(Debug)]
pub enum Standing {
    /// A real-time class.
    RealTime,
    /// A better place among ordinary threads, because of this error.
    Nice(io::Error),
    /// Nothing, because of this error.
    Usual(io::Error),
    /// It had a real-time class already; that is its user's business.
    Given,
}

/// The calling thread is urgent until this is dropped.
pub struct Urgent {
    standing: Standing,
    watcher: Option<(Arc<AtomicBool>, JoinHandle<()>)>,
    nice: i32,
}

impl Urgent {
    /// Makes the calling thread urgent, as far as that is allowed.
    pub fn begin() -> Self {
        let nice = own_nice();
        let mut urgent = Self { standing: Standing::Given, watcher: None, nice };
        if is_real_time() {
            return urgent;
        }
        let refused = match urgent.begin_real_time() {
            Ok(()) => {
                urgent.standing = Standing::RealTime;
                // What it is while it is put back.
                _ = set_nice(NICE);
                return urgent;
            }
            Err(error) => error,
        };
        // Threads that are made meanwhile are ordinary ones, as they are beside a real-time class.
        // SAFETY: the call has no precondition.
        _ = set_class(unsafe { libc::gettid() }, Class::Ordinary, 0);
        urgent.standing = match set_nice(NICE) {
            Ok(()) => Standing::Nice(refused),
            Err(error) => Standing::Usual(error),
        };
        match &urgent.standing {
            Standing::Nice(error) => log::debug!("nice {NICE} instead of a real-time priority: {error}"),
            Standing::Usual(error) => log::debug!("no better priority than other programs: {error}"),
            Standing::RealTime | Standing::Given => {}
        }
        urgent
    }

    /// What it was given.
    pub const fn standing(&self) -> &Standing {
        &self.standing
    }

    fn begin_real_time(&mut self) -> io::Result<()> {
        // SAFETY: the call has no precondition.
        let tid = unsafe { libc::gettid() };
        // Whether this is allowed is found out before anything is begun.
        set_class(tid, Class::RealTime, PRIORITY)?;
        let over = Arc::new(AtomicBool::new(false));
        let shared = Arc::clone(&over);
        let watcher = thread::Builder::new().name("bound".to_owned()).spawn(move || watch(tid, &shared));
        match watcher {
            Ok(watcher) => {
                catch_limit();
                limit(MOST_AT_ONCE_US);
                URGENT.store(tid, Ordering::Relaxed);
                self.watcher = Some((over, watcher));
                Ok(())
            }
            Err(error) => {
                // Nobody would bound it.
                set_class(tid, Class::Ordinary, 0)?;
                Err(error)
            }
        }
    }
}

impl Drop for Urgent {
    fn drop(&mut self) {
        let Some((over, watcher)) = self.watcher.take() else {
            if matches!(self.standing, Standing::Nice(_)) {
                _ = set_nice(self.nice);
            }
            return;
        };
        over.store(true, Ordering::Relaxed);
        watcher.thread().unpark();
        let _: thread::Result<()> = watcher.join();
        let tid = URGENT.swap(0, Ordering::Relaxed);
        if let Err(error) = set_class(tid, Class::Ordinary, 0) {
            log::warn!("a thread of jtrace keeps its real-time priority: {error}");
        }
        _ = set_nice(self.nice);
        limit(libc::RLIM_INFINITY);
    }
}

/// Gives the calling thread what the urgent thread has at present: for threads that it waits for, which end at once.
pub fn join() {
    let urgent = URGENT.load(Ordering::Relaxed);
    // SAFETY: the calls have no precondition.
    let (class, own) = unsafe { (libc::sched_getscheduler(urgent), libc::gettid()) };
    if urgent != 0 && class & !libc::SCHED_RESET_ON_FORK == libc::SCHED_RR {
        _ = set_class(own, Class::RealTime, PRIORITY);
    }
}

/// Whether a thread may have a real-time class here, tried out on one that ends at once.
pub fn try_out() -> Standing {
    let tried = thread::Builder::new().spawn(|| {
        // SAFETY: the call has no precondition.
        let tid = unsafe { libc::gettid() };
        match set_class(tid, Class::RealTime, PRIORITY) {
            Ok(()) => Standing::RealTime,
            Err(error) => set_nice(NICE).map_or_else(Standing::Usual, |()| Standing::Nice(error)),
        }
    });
    let failed = |_| Standing::Usual(io::Error::other("the thread failed"));
    tried.map_or_else(Standing::Usual, |tried| tried.join().unwrap_or_else(failed))
}

/// Keeps a thread within its allowance until it is over.
fn watch(tid: i32, over: &AtomicBool) {
    // SAFETY: the call has no precondition.
    let own = unsafe { libc::gettid() };
    if let Err(error) = keep_only(CapabilitySet::SYS_NICE) {
        log::warn!("a thread of jtrace keeps all its capabilities: {error}");
    }
    if let Err(error) = set_class(own, Class::RealTime, WATCHER_PRIORITY) {
        log::debug!("who bounds the urgent thread waits for its turn: {error}");
    }
    let mut allowance = Allowance::new();
    let mut class = Class::RealTime;
    let (mut looked, mut cpu_ns) = (Instant::now(), cpu_of_process_ns());
    while !over.load(Ordering::Relaxed) {
        thread::park_timeout(if allowance.is_ample() { QUIET_PERIOD } else { PERIOD });
        let (now, now_cpu_ns) = (Instant::now(), cpu_of_process_ns());
        let elapsed_ns = u64::try_from((now - looked).as_nanos()).unwrap_or(u64::MAX);
        let next = allowance.step(elapsed_ns, now_cpu_ns.saturating_sub(cpu_ns));
        (looked, cpu_ns) = (now, now_cpu_ns);
        if PUT_BACK.swap(false, Ordering::Relaxed) {
            allowance.take_all();
            class = Class::Ordinary;
            limit(MOST_AT_ONCE_US);
            log::info!(
                "the thread that empties ring buffers ran for long without waiting: it has no priority for a while"
            );
        } else if next != class {
            let priority = if next == Class::RealTime { PRIORITY } else { 0 };
            match set_class(tid, next, priority) {
                Ok(()) => class = next,
                Err(error) => log::debug!("the class of thread {tid} stays as it is: {error}"),
            }
        }
    }
}

fn set_class(tid: i32, class: Class, priority: i32) -> io::Result<()> {
    let policy = match class {
        Class::RealTime => libc::SCHED_RR,
        Class::Ordinary => libc::SCHED_OTHER,
    };
    // SAFETY: any bytes are valid for this structure of integers.
    let mut parameter: libc::sched_param = unsafe { mem::zeroed() };
    parameter.sched_priority = priority;
    // SAFETY: `parameter` outlives the call.
    let result = unsafe { libc::sched_setscheduler(tid, policy | libc::SCHED_RESET_ON_FORK, &raw const parameter) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

fn is_real_time() -> bool {
    // SAFETY: the call has no precondition.
    let policy = unsafe { libc::sched_getscheduler(0) } & !libc::SCHED_RESET_ON_FORK;
    matches!(policy, libc::SCHED_RR | libc::SCHED_FIFO | libc::SCHED_DEADLINE)
}

/// The nice value of the calling thread.
fn own_nice() -> i32 {
    rustix::process::getpriority_process(None).unwrap_or(0)
}

/// Linux keeps a nice value per thread.
fn set_nice(nice: i32) -> io::Result<()> {
    Ok(rustix::process::setpriority_process(None, nice)?)
}

pub(crate) fn cpu_of_process_ns() -> u64 {
    clock::read_ns(ClockId::ProcessCPUTime)
}

/// Limits CPU time at real-time priority without waiting; the hard limit, which kills, stays as it is.
fn limit(soft_us: u64) {
    // SAFETY: any bytes are valid for this structure of integers.
    let mut limits: libc::rlimit = unsafe { mem::zeroed() };
    // SAFETY: `limits` outlives both calls.
    unsafe {
        if libc::getrlimit(libc::RLIMIT_RTTIME, &raw mut limits) == 0 {
            limits.rlim_cur = soft_us.min(limits.rlim_max);
            libc::setrlimit(libc::RLIMIT_RTTIME, &raw const limits);
        }
    }
}

/// Without a handler the signal would end jtrace, and leave behind what it has changed. Only the first call does anything: others
/// put their handlers before this one, and call it.
pub(crate) fn catch_limit() {
    static CAUGHT: Once = Once::new();
    CAUGHT.call_once(install);
}

fn install() {
    // SAFETY: any bytes are valid for this structure, and the handler only calls what a handler may call.
    unsafe {
        let mut action: libc::sigaction = mem::zeroed();
        action.sa_sigaction = put_back as extern "C" fn(libc::c_int) as libc::sighandler_t;
        action.sa_flags = libc::SA_RESTART;
        libc::sigaction(libc::SIGXCPU, &raw const action, ptr::null_mut());
    }
}

/// Puts the urgent thread back among the others, from whatever thread the signal has come to.
extern "C" fn put_back(_signal: libc::c_int) {
    let tid = URGENT.load(Ordering::Relaxed);
    if tid == 0 {
        return;
    }
    // SAFETY: a plain system call, and `errno`, which the interrupted code may be about to read, is put back.
    unsafe {
        let errno = *libc::__errno_location();
        let parameter: libc::sched_param = mem::zeroed();
        libc::sched_setscheduler(tid, libc::SCHED_OTHER | libc::SCHED_RESET_ON_FORK, &raw const parameter);
        *libc::__errno_location() = errno;
    }
    PUT_BACK.store(true, Ordering::Relaxed);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn class() -> i32 {
        // SAFETY: the call has no precondition.
        unsafe { libc::sched_getscheduler(0) & !libc::SCHED_RESET_ON_FORK }
    }

    /// Only where the user may: the live ring runs as root, and looks at jtrace's threads as well.
    #[test]
    fn a_thread_that_does_not_wait_loses_its_priority_and_threads_that_it_starts_have_none() {
        let urgent = Urgent::begin();
        if !matches!(urgent.standing(), Standing::RealTime) {
            assert!(matches!(urgent.standing(), Standing::Nice(_) | Standing::Usual(_)), "{:?}", urgent.standing());
            return;
        }
        assert_eq!(class(), libc::SCHED_RR);
        assert_eq!(thread::spawn(class).join().unwrap(), libc::SCHED_OTHER);
        let joined = thread::spawn(|| {
            join();
            class()
        });
        assert_eq!(joined.join().unwrap(), libc::SCHED_RR);
        let before_ns = cpu_of_process_ns();
        // It ends: the tests have a limit of minutes.
        while class() == libc::SCHED_RR {
            std::hint::spin_loop();
        }
        let taken_ns = cpu_of_process_ns() - before_ns;
        // Other tests of this process count as well.
        assert!(taken_ns < 10_000_000_000, "{taken_ns}");
        drop(urgent);
        assert_eq!(class(), libc::SCHED_OTHER);
        // That was the one that watches it, or the kernel. The kernel's limit is there, and its signal is heard at once.
        let urgent = Urgent::begin();
        // SAFETY: any bytes are valid for this structure of integers, which outlives the call, and a signal may be raised.
        let (limit, raised) = unsafe {
            let mut limits: libc::rlimit = mem::zeroed();
            libc::getrlimit(libc::RLIMIT_RTTIME, &raw mut limits);
            (limits.rlim_cur, libc::raise(libc::SIGXCPU))
        };
        assert_eq!((limit, raised, class()), (500_000, 0, libc::SCHED_OTHER));
        drop(urgent);
    }
}

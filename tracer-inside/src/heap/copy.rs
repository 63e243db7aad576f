//! The copy of the JVM: making it, what it does before it walks, and being rid of it.
//!
//! It is a child without a signal for its end, so a program that waits for its children does not see it, and only this library, which
//! knows its number, waits for it. `fork` of the C library is not used: it waits for locks that other threads may hold for long, and it
//! calls functions of the program. What the copy gets of the JVM by it: memory, and nothing else. Its descriptors are closed at once, so
//! that what the JVM closes is closed; it dies with the JVM, is the first that the kernel kills where memory is short, and leaves no core.
#![expect(unsafe_code, reason = "system calls that make a process")]

use std::{
    ffi::{c_int, c_long, c_void},
    io,
    os::fd::{AsRawFd as _, BorrowedFd, FromRawFd as _, OwnedFd, RawFd},
    ptr,
    sync::atomic::Ordering,
};

use tracer_weave::walk::ended;

use super::{
    imports::{NAMES, Slots},
    reference::{WALK, Walk},
};

const PAGE: usize = 4096;
/// Signals, those in real time included.
const SIGNALS: c_int = 64;
/// Bytes of the kernel's set of signals.
const SET_BYTES: usize = 8;
/// As the kernel gets it: handler, flags, restorer, set.
type Action = [usize; 4];

/// The copy, as the JVM sees it.
pub(super) struct Child {
    pid: c_int,
    process: OwnedFd,
}

/// What came of copying.
pub(super) enum Copied {
    /// This is the JVM.
    Jvm(Child),
    /// This is the copy.
    Copy {
        /// Whether it is the first to be killed.
        is_safe: bool,
    },
    /// There is no copy.
    Failed(io::Error),
}

impl Child {
    pub(super) const fn pid(&self) -> c_int {
        self.pid
    }

    /// Its status, once it has ended.
    pub(super) fn ended(&self) -> Option<c_int> {
        self.wait(libc::WNOHANG)
    }

    fn wait(&self, options: c_int) -> Option<c_int> {
        let mut status = 0;
        loop {
            // SAFETY: waits for a child of ours, of any kind.
            let waited = unsafe { libc::waitpid(self.pid, &raw mut status, options | libc::__WALL) };
            match waited {
                0 => return None,
                pid if pid == self.pid => return Some(status),
                _ if io::Error::last_os_error().kind() == io::ErrorKind::Interrupted => {}
                // Somebody else has waited for it.
                _ => return Some(0),
            }
        }
    }

    /// Ends it.
    pub(super) fn signal(&self) {
        let none = ptr::null::<c_void>();
        // SAFETY: a signal through a descriptor of the process, whose number nobody else can have got meanwhile.
        unsafe { libc::syscall(libc::SYS_pidfd_send_signal, self.process.as_raw_fd(), libc::SIGKILL, none, 0) };
    }

    /// Ends it and waits for that.
    pub(super) fn kill(self) {
        self.signal();
        self.wait(0);
    }
}

/// A descriptor by its number, for as long as whoever calls holds it.
pub(super) fn borrowed(descriptor: RawFd) -> BorrowedFd<'static> {
    // SAFETY: the session holds the connection while it walks, and the copy until it ends.
    unsafe { BorrowedFd::borrow_raw(descriptor) }
}

/// Copies this process. Nothing here may allocate or wait for a lock: other threads are wherever they are.
pub(super) fn copy(socket: RawFd) -> Copied {
    let (all, mut before) = (u64::MAX, 0_u64);
    let mut descriptor: c_int = -1;
    // SAFETY: plain system calls. The copy goes on with its own copy of this stack.
    unsafe {
        let jvm = libc::getpid();
        // No handler of the program may run in the copy.
        libc::syscall(libc::SYS_rt_sigprocmask, libc::SIG_SETMASK, &raw const all, &raw mut before, SET_BYTES);
        let flags = c_long::from(libc::CLONE_PIDFD);
        let made = libc::syscall(libc::SYS_clone, flags, 0_usize, &raw mut descriptor, 0_usize, 0_usize);
        if made == 0 {
            return Copied::Copy { is_safe: settle(jvm, socket) };
        }
        let error = io::Error::last_os_error();
        libc::syscall(libc::SYS_rt_sigprocmask, libc::SIG_SETMASK, &raw const before, ptr::null::<u64>(), SET_BYTES);
        match c_int::try_from(made) {
            Ok(pid) if pid > 0 => Copied::Jvm(Child { pid, process: OwnedFd::from_raw_fd(descriptor) }),
            _ => Copied::Failed(error),
        }
    }
}

/// What the copy does first; says whether it will be the first to be killed where memory is short.
///
/// # Safety
///
/// This is the copy.
unsafe fn settle(jvm: c_int, socket: RawFd) -> bool {
    // SAFETY: plain system calls that concern this process only.
    unsafe {
        let default: Action = [0; 4];
        for signal in 1..=SIGNALS {
            libc::syscall(libc::SYS_rt_sigaction, signal, &raw const default, ptr::null::<Action>(), SET_BYTES);
        }
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        if libc::getppid() != jvm {
            leave();
        }
        libc::prctl(libc::PR_SET_NAME, c"jtrace-heap".as_ptr());
        // A core of one byte is none, also where a program takes cores.
        let none = libc::rlimit { rlim_cur: 1, rlim_max: 1 };
        libc::setrlimit(libc::RLIMIT_CORE, &raw const none);
        libc::setpriority(libc::PRIO_PROCESS, 0, 19);
        let file = libc::open(c"/proc/self/oom_score_adj".as_ptr(), libc::O_WRONLY | libc::O_CLOEXEC);
        let is_safe = file >= 0 && libc::write(file, c"1000".as_ptr().cast(), 4) == 4;
        let socket = libc::c_uint::try_from(socket).unwrap_or(0);
        if socket > 0 {
            libc::syscall(libc::SYS_close_range, 0, socket - 1, 0);
        }
        libc::syscall(libc::SYS_close_range, socket + 1, libc::c_uint::MAX, 0);
        is_safe
    }
}

/// The copy is gone.
pub(super) fn leave() -> ! {
    // SAFETY: ends this process, without anything that the C library would do.
    unsafe { libc::_exit(0) }
}

/// Lets the JVM's library call what is below.
pub(super) fn replace(slots: &Slots) {
    let ends = ends as *const () as usize;
    let ours: [usize; NAMES.len()] = [
        allocate as *const () as usize,
        allocate_zeros as *const () as usize,
        reallocate as *const () as usize,
        give_back as *const () as usize,
        allocate_aligned as *const () as usize,
        lock as *const () as usize,
        ends,
        ends,
        ends,
        ends,
        ends,
        system_call as *const () as usize,
    ];
    for (slots, ours) in slots.0.iter().zip(ours) {
        for slot in slots.iter().filter(|slot| **slot != 0) {
            let place = ptr::with_exposed_provenance_mut::<usize>(*slot);
            let page = ptr::with_exposed_provenance_mut(*slot & !(PAGE - 1));
            // SAFETY: the slot lies in the JVM's library, of which this process has a copy of its own. It lies in one page.
            unsafe {
                if libc::mprotect(page, PAGE, libc::PROT_READ | libc::PROT_WRITE) == 0 {
                    place.write(ours);
                }
            }
        }
    }
}

fn walk() -> Option<&'static mut Walk> {
    // SAFETY: set by the only thread of this process, which is the one that asks.
    unsafe { WALK.load(Ordering::Acquire).as_mut() }
}

/// Memory, or the end.
fn block(bytes: usize) -> *mut c_void {
    let Some(walk) = walk() else { leave() };
    let block = walk.arena.take(bytes);
    block.map_or_else(
        || {
            walk.finish(ended::MEMORY);
            ptr::null_mut()
        },
        <*mut u8>::cast,
    )
}

extern "C" fn allocate(bytes: usize) -> *mut c_void {
    block(bytes)
}

extern "C" fn allocate_zeros(count: usize, bytes: usize) -> *mut c_void {
    // What was given back is never taken again, so all of it is zero.
    count.checked_mul(bytes).map_or(ptr::null_mut(), block)
}

extern "C" fn allocate_aligned(place: *mut *mut c_void, alignment: usize, bytes: usize) -> c_int {
    let memory = block(bytes.saturating_add(alignment));
    let at = memory.expose_provenance().next_multiple_of(alignment.max(16));
    // SAFETY: the caller passes a place for it.
    unsafe { *place = ptr::with_exposed_provenance_mut(at) };
    0
}

extern "C" fn reallocate(old: *mut c_void, bytes: usize) -> *mut c_void {
    let new = block(bytes);
    if !old.is_null() {
        let known = walk().and_then(|walk| walk.arena.len_of(old.cast()));
        // SAFETY: what was not taken here is of the C library, which knows its length.
        unsafe {
            let len = known.unwrap_or_else(|| libc::malloc_usable_size(old));
            ptr::copy_nonoverlapping(old.cast::<u8>(), new.cast(), len.min(bytes));
        }
        give_back(old);
    }
    new
}

extern "C" fn give_back(old: *mut c_void) {
    if let Some(walk) = walk().filter(|_| !old.is_null()) {
        walk.arena.give_back(old.cast());
    }
}

/// A lock that is held is never given back here.
extern "C" fn lock(mutex: *mut libc::pthread_mutex_t) -> c_int {
    // SAFETY: the caller's lock.
    let taken = unsafe { libc::pthread_mutex_trylock(mutex) };
    if taken == libc::EBUSY
        && let Some(walk) = walk()
    {
        walk.finish(ended::LOCKED);
    }
    taken
}

/// The JVM wakes somebody, or waits: it has walked to the end.
extern "C" fn ends() -> c_int {
    if let Some(walk) = walk() {
        walk.finish(ended::DONE);
    }
    leave()
}

/// The same by the system call.
extern "C" fn system_call(
    number: c_long,
    one: usize,
    two: usize,
    three: usize,
    four: usize,
    five: usize,
    six: usize,
) -> c_long {
    if number == libc::SYS_futex {
        ends();
    }
    // SAFETY: what the caller has asked for.
    unsafe { libc::syscall(number, one, two, three, four, five, six) }
}

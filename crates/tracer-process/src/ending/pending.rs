//! Signals that the kernel has handed to a thread that cannot take them.
//!
//! A signal for the process goes to one thread, and to its first one where that does not block it. Where that thread waits in
//! the kernel and only `SIGKILL` wakes it, as for a page of a target that never comes, the signal waits with it. The kernel
//! then drops each further one of its kind, so no number of them ends jtrace. A signalfd takes it from any other thread.
//!
//! In <https://github.com/torvalds/linux/blob/v6.12/kernel/signal.c> `complete_signal` chooses the thread, and
//! `legacy_queue` drops the others.
#![expect(unsafe_code, reason = "no crate that jtrace has wraps signalfd")]

use std::{
    io, mem,
    os::fd::{FromRawFd as _, OwnedFd},
    ptr,
};

use rustix::io::Errno;
use tokio::io::unix::AsyncFd;

/// A descriptor that is readable as long as one of its signals waits for any thread of the process.
pub(super) struct Pending(AsyncFd<OwnedFd>);

impl Pending {
    /// Needs a runtime with I/O around it.
    pub(super) fn of(signals: impl IntoIterator<Item = i32>) -> io::Result<Self> {
        // SAFETY: the set is made by the call that is there for that, and the descriptor is nobody else's.
        let descriptor = unsafe {
            let mut set = mem::zeroed();
            libc::sigemptyset(&raw mut set);
            for number in signals {
                libc::sigaddset(&raw mut set, number);
            }
            let descriptor = libc::signalfd(-1, ptr::from_ref(&set), libc::SFD_CLOEXEC | libc::SFD_NONBLOCK);
            if descriptor < 0 {
                return Err(io::Error::last_os_error());
            }
            OwnedFd::from_raw_fd(descriptor)
        };
        AsyncFd::new(descriptor).map(Self)
    }

    /// The number of the next one that no handler has taken before.
    pub(super) async fn next(&self) -> io::Result<i32> {
        loop {
            let mut ready = self.0.readable().await?;
            let mut information = [0; size_of::<libc::signalfd_siginfo>()];
            match rustix::io::read(self.0.get_ref(), &mut information) {
                // The number comes first.
                Ok(_) => {
                    let [a, b, c, d, ..] = information;
                    return Ok(i32::from_ne_bytes([a, b, c, d]));
                }
                // A handler was faster.
                Err(Errno::AGAIN) => ready.clear_ready(),
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::timeout;

    use super::*;

    /// The thread of the test blocks the signal, as a wait in the kernel would; a handler could never run there.
    #[test]
    fn a_signal_that_its_thread_cannot_take_is_heard() {
        let number = libc::SIGURG;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            // SAFETY: the set is made by the call that is there for that, and the signal is for this thread alone.
            unsafe {
                let mut set = mem::zeroed();
                libc::sigemptyset(&raw mut set);
                libc::sigaddset(&raw mut set, number);
                libc::pthread_sigmask(libc::SIG_BLOCK, &raw const set, ptr::null_mut());
            }
            let pending = Pending::of([number]).unwrap();
            timeout(Duration::from_millis(10), pending.next()).await.unwrap_err();
            // SAFETY: the thread lives.
            unsafe { libc::pthread_kill(libc::pthread_self(), number) };
            assert_eq!(timeout(Duration::from_mins(1), pending.next()).await.unwrap().unwrap(), number);
        });
    }
}

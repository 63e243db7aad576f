//! Questions to the kernel at which a target's user can keep whoever asks waiting, with a file of a file system that she serves
//! herself. No signal ends such a wait, and a thread that waits keeps its whole process from ending. So a copy of this process asks,
//! for a moment. It has none of jtrace's descriptors, and where it is held up it is left behind.
//!
//! It is a copy and no new execution, as everywhere else, because a session can start no program any more. A process with threads may
//! make one that calls nothing but the kernel until it ends.
#![expect(unsafe_code, reason = "no crate that jtrace has makes a copy of a process, or closes all descriptors")]

use std::{
    ffi::CString,
    io::{self, IoSlice, IoSliceMut},
    mem::MaybeUninit,
    os::{
        fd::{AsFd as _, AsRawFd as _, BorrowedFd, OwnedFd},
        unix::net::UnixStream,
    },
    time::Duration,
};

use rustix::{
    event::PollFlags,
    fs::{Mode, OFlags, open},
    io::Errno,
    net::{
        AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
        SendFlags, SocketType, recvmsg, send, sendmsg, sockopt,
    },
    process::{Pid, PidfdFlags, PidfdGetfdFlags, Signal, WaitOptions, kill_process, pidfd_getfd, pidfd_open, waitpid},
};

use crate::ending::{self, Patience, Until};

/// How long an answer may take.
const LIMIT: Duration = Duration::from_secs(2);
/// How long the copy may take to be gone after it.
const LAST_LIMIT: Duration = Duration::from_millis(20);
/// How much is read at a time.
const PIECE_BYTES: usize = 4096;

/// What files of `/proc` hold, one after the other, up to so many bytes. An error where one of them gives no answer.
pub(super) fn read(paths: &[String], most: usize) -> io::Result<Vec<u8>> {
    let paths: Vec<CString> = paths.iter().filter_map(|path| CString::new(path.as_str()).ok()).collect();
    let copy = Forked::start(|to| {
        for path in &paths {
            let Ok(file) = open(path.as_c_str(), OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()) else { continue };
            let mut piece = [0; PIECE_BYTES];
            while let Ok(len @ 1..) = rustix::io::read(&file, &mut piece) {
                let mut rest = piece.get(..len).unwrap_or_default();
                while !rest.is_empty() {
                    let Ok(sent) = send(to, rest, SendFlags::NOSIGNAL) else { return };
                    rest = rest.get(sent..).unwrap_or_default();
                }
            }
        }
    })?;
    let mut bytes = Vec::new();
    while bytes.len() < most {
        let had = bytes.len();
        bytes.resize(most.min(had + PIECE_BYTES), 0);
        let (got, _) = copy.receive(&mut bytes[had..])?;
        bytes.truncate(had + got);
        if got == 0 {
            break;
        }
    }
    Ok(bytes)
}

/// Takes a socket out of a process: a stream of two ends on this machine. What else is there under that number is never one of
/// this process's descriptors: closing it can take as long as its file system likes.
pub fn socket_of(pid: u32, descriptor: i32) -> io::Result<OwnedFd> {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw).ok_or(io::ErrorKind::InvalidInput)?;
    let copy = Forked::start(|to| {
        let Ok(process) = pidfd_open(pid, PidfdFlags::empty()) else { return };
        let Ok(taken) = pidfd_getfd(process, descriptor, PidfdGetfdFlags::empty()) else { return };
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        let ours = [taken.as_fd()];
        if is_local_stream(taken.as_fd()) {
            control.push(SendAncillaryMessage::ScmRights(&ours));
        }
        // Where nobody waits for it any more, it goes with this process.
        let _: rustix::io::Result<usize> = sendmsg(to, &[IoSlice::new(b"x")], &mut control, SendFlags::NOSIGNAL);
        // It goes at the end: after the answer, that is.
        std::mem::forget(taken);
    })?;
    let (_, taken) = copy.receive(&mut [0])?;
    taken.ok_or_else(|| io::Error::other("it is no stream of this machine"))
}

/// Whether a descriptor is what the library in a JVM makes: reading from anything else could hold up who does.
pub fn is_local_stream(socket: BorrowedFd<'_>) -> bool {
    sockopt::socket_type(socket) == Ok(SocketType::STREAM) && sockopt::socket_domain(socket) == Ok(AddressFamily::UNIX)
}

/// A copy of this process, until this goes.
struct Forked {
    pid: Pid,
    from: UnixStream,
}

impl Forked {
    /// What `ask` does with the copy's end of a connection may take no lock and no memory: other threads had them when it was made.
    fn start(ask: impl FnOnce(BorrowedFd<'_>)) -> io::Result<Self> {
        let (from, to) = UnixStream::pair()?;
        let heard = block_signals()?;
        // SAFETY: the copy calls nothing but the kernel until its end, and never returns from here.
        let pid = unsafe { libc::fork() };
        if pid == 0 {
            if only(&to).is_ok() {
                // SAFETY: it is open, see `only`.
                ask(unsafe { BorrowedFd::borrow_raw(0) });
            }
            // SAFETY: the call has no precondition.
            unsafe { libc::_exit(0) }
        }
        let failed = io::Error::last_os_error();
        // SAFETY: both point to sets that are there.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const heard, std::ptr::null_mut()) };
        Pid::from_raw(pid).filter(|_| pid > 0).map(|pid| Self { pid, from }).ok_or(failed)
    }

    /// The next bytes, and a descriptor; none at the end. An error where nothing comes.
    fn receive(&self, to: &mut [u8]) -> io::Result<(usize, Option<OwnedFd>)> {
        ending::wait(self.from.as_fd(), PollFlags::IN, Until::within(LIMIT, Patience::Second))?;
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let flags = RecvFlags::CMSG_CLOEXEC | RecvFlags::DONTWAIT;
        let got = recvmsg(&self.from, &mut [IoSliceMut::new(to)], &mut control, flags)?.bytes;
        let mut taken = None;
        for message in control.drain() {
            if let RecvAncillaryMessage::ScmRights(descriptors) = message {
                taken = descriptors.last().or(taken);
            }
        }
        Ok((got, taken))
    }
}

impl Drop for Forked {
    fn drop(&mut self) {
        // Most have ended by now. One that the kernel does not let go stays behind.
        let _: rustix::io::Result<()> = kill_process(self.pid, Signal::KILL);
        let until = Until::within(LAST_LIMIT, Patience::Second);
        while let Ok(None) = waitpid(Some(self.pid), WaitOptions::NOHANG) {
            if ending::pause(Duration::from_millis(1), until).is_err() {
                return;
            }
        }
    }
}

/// Lets no signal be handled in this thread; gives which were. The copy's handlers would write to descriptors that are others there.
fn block_signals() -> io::Result<libc::sigset_t> {
    let (mut all, mut before) = (MaybeUninit::uninit(), MaybeUninit::uninit());
    // SAFETY: the calls fill what they are given, and `before` is read only where that was done.
    unsafe {
        libc::sigfillset(all.as_mut_ptr());
        match libc::pthread_sigmask(libc::SIG_BLOCK, all.as_ptr(), before.as_mut_ptr()) {
            0 => Ok(before.assume_init()),
            error => Err(io::Error::from_raw_os_error(error)),
        }
    }
}

/// Closes all descriptors but this one, which becomes the first. What is left behind must keep nothing attached.
fn only(socket: &UnixStream) -> rustix::io::Result<()> {
    // SAFETY: nothing of this process uses the other descriptors any more.
    let closed = unsafe {
        libc::dup2(socket.as_raw_fd(), 0) == 0 && libc::syscall(libc::SYS_close_range, 1_u32, u32::MAX, 0_u32) == 0
    };
    if closed { Ok(()) } else { Err(Errno::NOSYS) }
}

#[cfg(test)]
mod tests {
    use std::{
        fs::{self, File},
        os::fd::IntoRawFd as _,
    };

    use super::*;

    #[test]
    fn files_of_proc_are_read_one_after_the_other_and_up_to_a_bound() {
        let path = |name: &str| format!("/proc/{}/{name}", std::process::id());
        let both = [path("cmdline"), path("nothing"), path("cgroup")];
        let expected = [fs::read(&both[0]).unwrap(), fs::read(&both[2]).unwrap()].concat();
        assert_eq!(read(&both, 1 << 20).unwrap(), expected);
        assert_eq!(read(&both, 3).unwrap(), expected[..3]);
    }

    /// What waits for ever does so in a copy, which has ended by the time that this says so.
    #[test]
    fn a_file_that_answers_nobody_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let fifo = folder.path().join("fifo");
        rustix::fs::mkfifoat(rustix::fs::CWD, &fifo, Mode::RUSR | Mode::WUSR).unwrap();
        let error = read(&[fifo.to_string_lossy().into_owned()], 10).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    }

    #[test]
    fn a_socket_of_this_machine_is_taken_and_nothing_else_is() {
        let own = std::process::id();
        let (socket, mut other) = UnixStream::pair().unwrap();
        let taken = socket_of(own, socket.as_raw_fd()).unwrap();
        io::Write::write_all(&mut other, b"y").unwrap();
        let mut byte = [0];
        io::Read::read_exact(&mut UnixStream::from(taken), &mut byte).unwrap();
        assert_eq!(byte, *b"y");
        let (datagrams, _other) = std::os::unix::net::UnixDatagram::pair().unwrap();
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let file = File::open("/dev/zero").unwrap();
        for wrong in [datagrams.as_raw_fd(), listener.as_raw_fd(), file.as_raw_fd(), i32::MAX, -1] {
            assert!(socket_of(own, wrong).is_err(), "{wrong}");
        }
    }

    /// A copy that is left behind would keep sites attached, were it to have the descriptors of a session.
    #[test]
    fn a_copy_has_one_descriptor() {
        let kept = File::open("/dev/null").unwrap().into_raw_fd();
        let copy = Forked::start(|to| {
            let mut found = [0; 4];
            for number in 0..1024 {
                // SAFETY: it is only asked whether there is one of this number.
                let is_open = rustix::io::fcntl_getfd(unsafe { BorrowedFd::borrow_raw(number) }).is_ok();
                found[0] += u8::from(is_open);
                found[1] |= u8::from(is_open && number == kept);
            }
            let _: rustix::io::Result<usize> = send(to, &found, SendFlags::NOSIGNAL);
        })
        .unwrap();
        let mut found = [9; 4];
        assert_eq!(copy.receive(&mut found).unwrap().0, 4);
        assert_eq!(found[..2], [1, 0]);
        // SAFETY: it is open, as nobody has closed it.
        rustix::io::fcntl_getfd(unsafe { BorrowedFd::borrow_raw(kept) }).unwrap();
    }
}

//! Why a thread left its CPU: out of the kernel's task state, the system call that it was in, and the frames of its stack.
//!
//! Frames say most and are looked at from the innermost outwards, up to the first method of the program: below it
//! everything is on behalf of what blocks. The system call decides only where no frame is known to mean something, as in a
//! libjvm.so without symbols.

use super::super::{site::is_app, state::is_vm};
use crate::stack::{Frame, Kind};

/// Why a thread was off its CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(in super::super) enum Reason {
    /// It waited for a monitor that another thread held.
    Monitor,
    /// `Object.wait`.
    Wait,
    /// `LockSupport.park`, and with it all of `java.util.concurrent`.
    Park,
    /// `Thread.sleep`, or a sleep in native code.
    Sleep,
    /// Input, output, or waiting for either.
    Io,
    /// Memory was not there.
    PageFault,
    /// It was ready, and others ran.
    RunQueue,
    /// The JVM stopped it, for a safepoint or a handshake.
    Safepoint,
    /// Anything else that the JVM waits for by itself: workers without work, its own locks.
    Vm,
    /// None of these.
    Other,
}

impl Reason {
    /// All, in the order of the report.
    pub(in super::super) const ALL: [Self; 10] = [
        Self::Monitor,
        Self::Wait,
        Self::Park,
        Self::Sleep,
        Self::Io,
        Self::PageFault,
        Self::RunQueue,
        Self::Safepoint,
        Self::Vm,
        Self::Other,
    ];

    /// Its key in a timeline.
    pub(in super::super) const fn key(self) -> &'static str {
        match self {
            Self::Monitor => "monitor_ns",
            Self::Wait => "wait_ns",
            Self::Park => "park_ns",
            Self::Sleep => "sleep_ns",
            Self::Io => "io_ns",
            Self::PageFault => "page_fault_ns",
            Self::RunQueue => "run_queue_ns",
            Self::Safepoint => "safepoint_ns",
            Self::Vm => "vm_ns",
            Self::Other => "other_ns",
        }
    }

    /// What users call it.
    pub(in super::super) const fn title(self) -> &'static str {
        match self {
            Self::Monitor => "monitor",
            Self::Wait => "wait",
            Self::Park => "park",
            Self::Sleep => "sleep",
            Self::Io => "I/O",
            Self::PageFault => "page fault",
            Self::RunQueue => "run queue",
            Self::Safepoint => "safepoint",
            Self::Vm => "VM",
            Self::Other => "other",
        }
    }
}

/// What the kernel tells of a thread that left its CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(in super::super) struct Left {
    /// The kernel's task state: 0 is ready to run.
    pub(in super::super) task_state: u64,
    /// Number of the system call; [`NO_SYSCALL`] outside of any.
    pub(in super::super) syscall: u64,
}

/// [`Left::syscall`] of a thread that was in none.
const NO_SYSCALL: u64 = u64::MAX;
/// Bit of an uninterruptible sleep in a task state.
const UNINTERRUPTIBLE: u64 = 2;

/// Why a thread with these frames, innermost first, left its CPU.
pub(in super::super) fn reason<'a>(left: Left, frames: impl Iterator<Item = &'a Frame>) -> Reason {
    if left.task_state == 0 {
        return Reason::RunQueue;
    }
    let (mut in_vm, mut in_java, mut on_disk) = (false, false, false);
    for frame in frames {
        match of_frame(frame) {
            // Waiting for a disk can be part of a page fault, which then is the reason.
            Some(Reason::Io) => on_disk = true,
            Some(reason) => return reason,
            None => {}
        }
        if on_disk && frame.kind != Kind::Kernel {
            break;
        }
        in_java |= frame.kind.is_java();
        // libc is between the kernel and whoever called it.
        in_vm |= !in_java && is_vm(frame);
        if is_app(frame) {
            break;
        }
    }
    if on_disk { Reason::Io } else { by_syscall(left, in_vm) }
}

/// Functions of the kernel.
const KERNEL: &[(&str, Reason)] = &[
    ("handle_mm_fault", Reason::PageFault),
    ("exc_page_fault", Reason::PageFault),
    ("asm_exc_page_fault", Reason::PageFault),
    ("do_user_addr_fault", Reason::PageFault),
    ("do_page_fault", Reason::PageFault),
    ("__do_page_fault", Reason::PageFault),
    ("filemap_fault", Reason::PageFault),
    ("io_schedule", Reason::Io),
    ("io_schedule_timeout", Reason::Io),
];

/// Beginnings of the names of HotSpot's functions, where libjvm.so has symbols.
const VM: &[(&str, Reason)] = &[
    ("SafepointSynchronize::block", Reason::Safepoint),
    ("SafepointMechanism::", Reason::Safepoint),
    ("HandshakeState::", Reason::Safepoint),
    ("ObjectMonitor::enter", Reason::Monitor),
    ("ObjectMonitor::EnterI", Reason::Monitor),
    ("ObjectMonitor::ReenterI", Reason::Monitor),
    ("ObjectMonitor::reenter_internal", Reason::Monitor),
    ("ObjectSynchronizer::enter", Reason::Monitor),
    ("ObjectMonitor::wait", Reason::Wait),
    ("JVM_MonitorWait", Reason::Wait),
    ("Parker::park", Reason::Park),
    ("Unsafe_Park", Reason::Park),
    ("JavaThread::sleep", Reason::Sleep),
    ("os::sleep", Reason::Sleep),
    ("os::naked_sleep", Reason::Sleep),
    ("JVM_Sleep", Reason::Sleep),
];

/// Native methods of the JDK, and those around them. Releases differ in which of them is the native one.
const JAVA: &[(&str, Reason)] = &[
    ("jdk.internal.misc.Unsafe.park", Reason::Park),
    ("sun.misc.Unsafe.park", Reason::Park),
    ("java.util.concurrent.locks.LockSupport.park", Reason::Park),
    ("java.util.concurrent.locks.LockSupport.parkNanos", Reason::Park),
    ("java.util.concurrent.locks.LockSupport.parkUntil", Reason::Park),
    ("java.lang.Object.wait", Reason::Wait),
    ("java.lang.Object.wait0", Reason::Wait),
    ("java.lang.Thread.sleep", Reason::Sleep),
    ("java.lang.Thread.sleep0", Reason::Sleep),
    ("java.lang.Thread.sleepNanos0", Reason::Sleep),
];

/// Whether a reason can depend on what this frame is called.
pub(in super::super) fn means_something(frame: &Frame) -> bool {
    of_frame(frame).is_some()
}

fn of_frame(frame: &Frame) -> Option<Reason> {
    let name = frame.name.as_str();
    let equal = |table: &[(&str, Reason)], name: &str| {
        table.iter().find(|(known, _)| name == *known).map(|(_, reason)| *reason)
    };
    match frame.kind {
        // Compilers make variants of functions: `do_user_addr_fault.constprop.0`.
        Kind::Kernel => equal(KERNEL, name.split('.').next().unwrap_or(name)),
        Kind::Native if is_vm(frame) => VM.iter().find(|(known, _)| name.starts_with(known)).map(|(_, reason)| *reason),
        Kind::Interpreted | Kind::Compiled | Kind::Inlined => equal(JAVA, name),
        Kind::Stub if name.contains("monitorenter") || name.contains("complete_monitor_locking") => {
            Some(Reason::Monitor)
        }
        Kind::Native | Kind::Stub | Kind::Unknown => None,
    }
}

/// Reads, writes, waiting for either, and what goes to a file system, as x86-64 numbers them.
#[rustfmt::skip]
const IO: &[u64] = &[
    0, 1, 2, 3, 4, 5, 6, 7, 8, // read, write, open, close, stat, fstat, lstat, poll, lseek
    16, 17, 18, 19, 20, 23, // ioctl, pread64, pwrite64, readv, writev, select
    40, 42, 43, 44, 45, 46, 47, // sendfile, connect, accept, sendto, recvfrom, sendmsg, recvmsg
    73, 74, 75, 76, 77, 82, 83, 87, // flock, fsync, fdatasync, truncate, ftruncate, rename, mkdir, unlink
    162, 208, 217, 232, 257, 262, 263, // sync, io_getevents, getdents64, epoll_wait, openat, newfstatat, unlinkat
    270, 271, 275, 277, 281, 285, 288, // pselect6, ppoll, splice, sync_file_range, epoll_pwait, fallocate, accept4
    295, 296, 299, 306, 307, 326, 327, 328, // preadv, pwritev, recvmmsg, syncfs, sendmmsg, copy_file_range, preadv2, pwritev2
    332, 426, 441, // statx, io_uring_enter, epoll_pwait2
];
/// `nanosleep`, `clock_nanosleep`.
const SLEEP: &[u64] = &[35, 230];
/// `futex`, `futex_waitv`, `futex_wait`.
const FUTEX: &[u64] = &[202, 449, 455];

fn by_syscall(left: Left, in_vm: bool) -> Reason {
    let Left { task_state, syscall } = left;
    match syscall {
        // Outside of a system call only a page fault sleeps without being interruptible.
        NO_SYSCALL if task_state & UNINTERRUPTIBLE != 0 => Reason::PageFault,
        number if SLEEP.contains(&number) => Reason::Sleep,
        number if IO.contains(&number) => Reason::Io,
        number if FUTEX.contains(&number) && in_vm => Reason::Vm,
        _ => Reason::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::{super::super::testing::Play, *};

    fn why(task_state: u64, syscall: u64, frames: &[&str]) -> Reason {
        let mut play = Play::default();
        let id = play.stack(frames);
        reason(Left { task_state, syscall }, play.stacks.frames_of(id))
    }

    const FUTEX_WAIT: [&str; 3] = ["libc.so.6 pthread_cond_wait", "kernel futex_wait", "kernel schedule"];

    fn in_futex(frames: &[&str]) -> Reason {
        why(1, 202, &[frames, &FUTEX_WAIT].concat())
    }

    #[test]
    fn a_futex_is_what_its_frames_say() {
        let park = ["a.Main.take:1", "java.util.concurrent.locks.LockSupport.park", "jdk.internal.misc.Unsafe.park"];
        assert_eq!(
            in_futex(&[&park[..], &["libjvm.so Unsafe_Park", "libjvm.so Parker::park(bool, long)"]].concat()),
            Reason::Park
        );
        assert_eq!(in_futex(&["a.Main.run:1", "java.lang.Object.wait", "libjvm.so <no symbol>"]), Reason::Wait);
        assert_eq!(
            in_futex(&["a.Main.run:1", "java.lang.Thread.sleep", "libjvm.so JavaThread::sleep(long)"]),
            Reason::Sleep
        );
        assert_eq!(
            in_futex(&["a.Main.run:1", "stub _complete_monitor_locking_Java", "libjvm.so <no symbol>"]),
            Reason::Monitor
        );
        assert_eq!(in_futex(&["a.Main.run:1", "libjvm.so ObjectMonitor::enter(JavaThread*)"]), Reason::Monitor);
        assert_eq!(
            in_futex(&["a.Main.run:1", "libjvm.so SafepointSynchronize::block(JavaThread*)"]),
            Reason::Safepoint
        );
        assert_eq!(in_futex(&["libc.so.6 start_thread", "libjvm.so GangWorker::loop()"]), Reason::Vm);
        assert_eq!(in_futex(&["libc.so.6 start_thread", "libuv.so uv_cond_wait"]), Reason::Other);
        assert_eq!(why(1, 202, &[]), Reason::Other);
    }

    #[test]
    fn the_innermost_frame_that_means_something_decides() {
        let waits = ["a.Main.run:1", "java.lang.Object.wait", "libjvm.so ObjectMonitor::wait(long, bool, JavaThread*)"];
        assert_eq!(in_futex(&waits), Reason::Wait);
        assert_eq!(
            in_futex(&[&waits[..], &["libjvm.so ObjectMonitor::ReenterI(JavaThread*)"]].concat()),
            Reason::Monitor
        );
    }

    #[test]
    fn what_called_the_program_says_nothing() {
        let frames = ["java.lang.Object.wait", "a.Main.finalize:1", "java.io.FileInputStream.read", "libc.so.6 read"];
        assert_eq!(why(1, 0, &frames), Reason::Io);
        assert_eq!(why(1, 202, &frames), Reason::Other);
    }

    #[test]
    fn the_task_state_and_the_system_call_decide_where_frames_do_not() {
        assert_eq!(why(0, 202, &["a.Main.run:1", "java.lang.Object.wait"]), Reason::RunQueue);
        assert_eq!(why(0, u64::MAX, &[]), Reason::RunQueue);
        assert_eq!(why(2, u64::MAX, &[]), Reason::PageFault);
        assert_eq!(
            why(2, 262, &["a.Main.run:1", "libc.so.6 stat", "kernel ext4_lookup", "kernel io_schedule"]),
            Reason::Io
        );
        assert_eq!(why(2, 59, &["a.Main.run:1", "kernel bread", "kernel io_schedule", "kernel schedule"]), Reason::Io);
        assert_eq!(why(4, u64::MAX, &["a.Main.run:1"]), Reason::Other, "stopped by a signal");
        for (syscall, expected) in [
            (232, Reason::Io),
            (45, Reason::Io),
            (74, Reason::Io),
            (35, Reason::Sleep),
            (230, Reason::Sleep),
            (61, Reason::Other),
        ] {
            assert_eq!(why(1, syscall, &["a.Main.run:1", "libc.so.6 syscall"]), expected, "{syscall}");
        }
    }

    #[test]
    fn a_page_fault_is_one_wherever_it_happens_and_whatever_it_waits_for() {
        let fault = ["a.Main.run:1", "kernel exc_page_fault", "kernel filemap_fault", "kernel io_schedule"];
        assert_eq!(why(0x102, u64::MAX, &fault), Reason::PageFault);
        assert_eq!(why(1, 0, &["a.Main.run:1", "kernel do_user_addr_fault.constprop.0"]), Reason::PageFault);
        assert_eq!(
            why(2, 1, &["libc.so.6 write", "kernel exc_page_fault", "kernel handle_mm_fault", "kernel schedule"]),
            Reason::PageFault
        );
    }

    #[test]
    fn the_program_cannot_choose_its_reason_by_a_name() {
        assert_eq!(why(1, 202, &["libfoo.so ObjectMonitor::enter"]), Reason::Other);
        assert_eq!(why(1, 0, &["a.Unsafe.park:1"]), Reason::Io);
    }
}

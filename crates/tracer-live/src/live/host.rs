//! What jtrace asks of the kernel about itself and its target: pids, clocks, ends of processes.

use std::{
    num::NonZeroU32,
    os::{fd::OwnedFd, unix::fs::MetadataExt as _},
};

use rustix::process::Pid;

use crate::clock::{self, ClockId};

/// The inode of the initial pid namespace, which the kernel gives a fixed number.
const INITIAL_PID_NAMESPACE: u64 = 0xefff_fffc;

/// Whether this process counts pids as the kernel's programs see them.
pub fn in_initial_pid_namespace() -> bool {
    std::fs::metadata("/proc/self/ns/pid").is_ok_and(|namespace| namespace.ino() == INITIAL_PID_NAMESPACE)
}

/// What the programs compare pids with; in another pid namespace the process has another number, which is not known.
pub(super) fn known_tgid(pid: NonZeroU32) -> u32 {
    if in_initial_pid_namespace() { pid.get() } else { 0 }
}

/// `CLOCK_MONOTONIC`, the clock of the records.
pub fn now_ns() -> u64 {
    clock::read_ns(ClockId::Monotonic)
}

pub(super) fn wall_ms() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// A descriptor that becomes readable when the process ends.
pub fn exit_descriptor(pid: NonZeroU32) -> rustix::io::Result<OwnedFd> {
    let pid = i32::try_from(pid.get()).ok().and_then(Pid::from_raw).ok_or(rustix::io::Errno::SRCH)?;
    rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::NONBLOCK)
}

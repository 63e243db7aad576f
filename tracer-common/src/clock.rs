//! What the programs of the scheduler remember of a thread while it is not on a CPU.

/// Most threads of a target that can be remembered at a time.
pub const MAX_AWAY: usize = 16_384;

/// A thread's last leaving of a CPU. An entry stays until its thread ends, because writing into one that is there is cheap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Away {
    /// When it left its CPU; 0 while it is on one.
    pub since_ns: u64,
    /// When it became ready to run; 0 while it is not.
    pub runnable_ns: u64,
    /// Its stack when it left.
    pub stack: u64,
    /// Number of the system call that it was in; `u64::MAX` for none.
    pub syscall: u64,
    /// Thread id in the kernel's initial pid namespace.
    pub tid: u32,
    /// The kernel's task state, see [`TASK_STATES`]; 0 where it was preempted.
    pub task_state: u32,
    /// [`crate::site::TargetLayout::sched_epoch`] of that moment.
    pub epoch: u32,
    /// [`crate::site::TargetLayout::tgid`] of that moment.
    pub tgid: u32,
}

/// The bits of a task state that say what a thread waits for. The others say in which ways it may be woken, and moved
/// between releases of the kernel.
pub const TASK_STATES: u32 = 0x7f;
/// Bit of a task state: the thread has ended and never comes back.
pub const TASK_DEAD: u32 = 0x80;

const _: () = assert!(size_of::<Away>() == 48);

//! The kernel's clocks, in nanoseconds.

pub use rustix::time::ClockId;

/// Reads a clock.
pub fn read_ns(clock: ClockId) -> u64 {
    let time = rustix::time::clock_gettime(clock);
    u64::try_from(time.tv_sec).unwrap_or(0) * 1_000_000_000 + u64::try_from(time.tv_nsec).unwrap_or(0)
}

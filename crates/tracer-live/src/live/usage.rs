//! What jtrace itself uses.

use crate::clock::{self, ClockId};

/// CPU time and memory.
pub(super) struct Usage {
    pub(super) cpu_ns: u64,
    pub(super) memory_bytes: u64,
}

/// CPU time and largest resident size of this process.
pub(super) fn own_usage() -> Usage {
    let cpu_ns = clock::read_ns(ClockId::ProcessCPUTime);
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak_kib = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .and_then(|value| value.trim().trim_end_matches(" kB").parse::<u64>().ok());
    Usage { cpu_ns, memory_bytes: peak_kib.unwrap_or(0) * 1024 }
}

//! Whether a JVM may be copied: its heap must be its own, and the copy must find room where the kernel would otherwise kill.

use std::fs;

use crate::{
    jvm::{find::Jvm, memory::maps, os_process},
    text::column,
};

/// Memory that is left alone.
const RESERVE: u64 = 64 << 20;
/// Largest shared mapping that is none of a heap.
const SHARED: u64 = 8 << 20;
/// From this release on the JVM notes beside the heap which objects it has visited; before, it does in each object, so that the copy gets
/// pages of its own for all of it.
const NOTES_BESIDE: u32 = 21;
/// Share of its memory that a JVM may write while it is walked through, in percent.
const WRITTEN_PERCENT: u64 = 50;

/// Why a JVM is not copied.
#[derive(Debug, thiserror::Error)]
pub enum Unsafe {
    /// A copy would see what the JVM writes.
    #[error("the heap of process {pid} ({collector}) cannot be copied: {why}")]
    Shared {
        /// The target.
        pid: u32,
        /// Its collector.
        collector: String,
        /// What is in the way.
        why: &'static str,
    },
    /// The copy could cost the JVM its life.
    #[error(
        "a copy of process {pid} could take {} more and {} of {} is free, so something could be killed",
        bytes(*.needed), bytes(*.free), .place
    )]
    Short {
        /// The target.
        pid: u32,
        /// What the copy could take.
        needed: u64,
        /// What is there.
        free: u64,
        /// Where.
        place: String,
    },
    /// Nothing is known of its memory.
    #[error("the memory of process {pid} cannot be looked at: {reason}")]
    Unknown {
        /// The target.
        pid: u32,
        /// Why.
        reason: String,
    },
}

impl Unsafe {
    /// What to do about it.
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::Shared { .. } => {
                "`--stop` walks in the JVM itself, which stands still for it; `jcmd PID GC.heap_dump FILE` dumps it, and `jtrace heap FILE` reads that"
            }
            Self::Short { .. } => {
                "give the machine or the cgroup more memory, or use `--stop`: it walks in the JVM itself, which stands still for it"
            }
            Self::Unknown { .. } => "run as root, or as the user of the JVM",
        }
    }
}

/// What is free for a process.
#[derive(Debug)]
pub struct Headroom {
    pid: u32,
    resident: u64,
    needed: u64,
    free: u64,
}

impl Headroom {
    /// Looks at a process.
    pub fn open(jvm: &Jvm) -> Result<Self, Unsafe> {
        let pid = jvm.target.pid;
        let unknown = |reason: String| Unsafe::Unknown { pid, reason };
        let status = fs::read_to_string(format!("/proc/{pid}/status")).map_err(|error| unknown(error.to_string()))?;
        let field = |name: &str| kilobytes(&status, name);
        let own = field("RssAnon:").ok_or_else(|| unknown("no RssAnon".to_owned()))?;
        let resident = own + field("RssShmem:").unwrap_or(0) + field("VmSwap:").unwrap_or(0);
        let release = jvm.target.jdk_release;
        let written = if release >= NOTES_BESIDE { own * WRITTEN_PERCENT / 100 } else { own };
        let mut headroom = Self { pid, resident, needed: written + RESERVE, free: 0 };
        headroom.free = headroom.now().0;
        Ok(headroom)
    }

    /// Memory that the process has.
    pub const fn resident(&self) -> u64 {
        self.resident
    }

    /// What the copy may ask for while it walks.
    pub fn for_copy(&self) -> u64 {
        (self.free / 2).max(RESERVE)
    }

    /// What is free now, and where the least is.
    fn now(&self) -> (u64, String) {
        let machine = fs::read_to_string("/proc/meminfo").ok().and_then(|info| kilobytes(&info, "MemAvailable:"));
        let machine = (machine.unwrap_or(0), "the machine".to_owned());
        let group = os_process::memory_limit(self.pid)
            .map(|(group, limit)| (limit.room_bytes(), format!("its cgroup ({group})")));
        group.filter(|(free, _)| *free < machine.0).unwrap_or(machine)
    }

    /// How much less is free than before, and whether too little is.
    pub fn look(&self) -> (u64, bool) {
        let free = self.now().0;
        (self.free.saturating_sub(free), free < RESERVE / 2)
    }
}

/// Looks whether a JVM may be copied.
pub fn check(jvm: &Jvm) -> Result<Headroom, Unsafe> {
    let pid = jvm.target.pid;
    let collector = jvm.target.collector.clone();
    let shared = |why| Unsafe::Shared { pid, collector: collector.clone(), why };
    if collector.contains("ZGC") {
        return Err(shared("it moves objects while the program runs, and shares its heap's memory with itself"));
    }
    if collector.contains("Shenandoah") {
        return Err(shared("it moves objects while the program runs"));
    }
    let maps = maps::read_text(pid).map_err(|error| Unsafe::Unknown { pid, reason: error.to_string() })?;
    if maps.len() >= maps::MAX_BYTES {
        let reason = "its list of mappings is longer than what is read of it".to_owned();
        return Err(Unsafe::Unknown { pid, reason });
    }
    if String::from_utf8_lossy(&maps).lines().any(is_shared) {
        return Err(shared("it lies in shared memory, of which a copy would see every change"));
    }
    let headroom = Headroom::open(jvm)?;
    let (free, place) = headroom.now();
    if free < headroom.needed {
        return Err(Unsafe::Short { pid, needed: headroom.needed, free, place });
    }
    Ok(headroom)
}

/// Whether a line of `/proc/PID/maps` is a large piece of memory that others can have as well.
fn is_shared(line: &str) -> bool {
    let mut fields = line.split_whitespace();
    let (Some(range), Some(rights)) = (fields.next(), fields.next()) else { return false };
    let name = fields.nth(3).unwrap_or("/memfd:");
    let is_memory = ["/memfd:", "/dev/zero", "/SYSV", "/dev/shm/", "/dev/hugepages", "/anon_hugepage"]
        .iter()
        .any(|start| name.starts_with(start));
    let len = range
        .split_once('-')
        .and_then(|(start, end)| u64::from_str_radix(end, 16).ok()?.checked_sub(u64::from_str_radix(start, 16).ok()?));
    rights.starts_with("rw") && rights.ends_with('s') && is_memory && len.is_some_and(|len| len > SHARED)
}

fn bytes(value: u64) -> String {
    column::bytes(value as f64)
}

fn kilobytes(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse::<u64>().ok()?.checked_mul(1024)
}

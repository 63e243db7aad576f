//! Running totals of a JVM, from its own counters and the kernel's accounts.

use crate::{
    clock::{self, ClockId},
    item::look::OsProcess,
    jvm::{find::Jvm, os_process, perfdata::PerfData},
};

/// Collectors, generations and spaces that are asked for: more than any JVM has.
const COLLECTORS: usize = 8;
const GENERATIONS: usize = 4;
const SPACES: usize = 8;

/// Totals at a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Vitals {
    /// `CLOCK_MONOTONIC`.
    pub(super) time_ns: u64,
    pub(super) process: OsProcess,
    /// Time in pauses of all collectors.
    pub(super) paused_ns: Option<u64>,
    pub(super) heap_used_bytes: Option<u64>,
    pub(super) threads: Option<u64>,
}

impl Vitals {
    /// Reads them; none where the process has gone. A JVM with `-XX:-UsePerfData` has no counters.
    pub(super) fn read(jvm: &Jvm) -> Option<Self> {
        let process = os_process::read(jvm.target.pid)?;
        let counters = PerfData::from_memory(&jvm.memory, &jvm.tables).ok();
        let counters = counters.as_ref();
        Some(Self {
            time_ns: clock::read_ns(ClockId::Monotonic),
            process,
            paused_ns: counters.and_then(paused_ns),
            heap_used_bytes: counters.and_then(heap_used_bytes),
            threads: counters.and_then(|counters| number(counters, "java.threads.live")),
        })
    }
}

fn number(counters: &PerfData, name: &str) -> Option<u64> {
    u64::try_from(counters.get_long(name)?).ok()
}

/// Collectors count in ticks of a clock whose frequency is a counter, too.
fn paused_ns(counters: &PerfData) -> Option<u64> {
    let per_s = number(counters, "sun.os.hrt.frequency").filter(|per_s| *per_s > 0)?;
    let ticks = (0..COLLECTORS).filter_map(|of| number(counters, &format!("sun.gc.collector.{of}.time")));
    let ticks: Vec<u64> = ticks.collect();
    let sum = ticks.iter().copied().fold(0, u64::saturating_add);
    (!ticks.is_empty()).then(|| u64::try_from(u128::from(sum) * 1_000_000_000 / u128::from(per_s)).unwrap_or(u64::MAX))
}

/// Some collectors bring it up to date at collections only: 0 stands for nothing known yet.
fn heap_used_bytes(counters: &PerfData) -> Option<u64> {
    let of = |generation: usize, space: usize| {
        number(counters, &format!("sun.gc.generation.{generation}.space.{space}.used"))
    };
    let used = (0..GENERATIONS).flat_map(|generation| (0..SPACES).filter_map(move |space| of(generation, space)));
    Some(used.fold(0, u64::saturating_add)).filter(|used| *used > 0)
}

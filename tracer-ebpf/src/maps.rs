//! The maps; their names are spelled in `tracer_common::names`.

use aya_ebpf::{
    btf_maps::{Array, ArrayOfMaps, HashMap, LruHashMap, PerCpuArray, RingBuf},
    macros::btf_map,
};
use tracer_common::{
    clock::{Away, MAX_AWAY},
    site::{MAX_SITES, SiteSpec, TargetLayout},
    stack::StackEnd,
    stats::SiteStats,
    unwind::{CodeLayout, MAX_REGIONS, Region, RowChunk},
};

use crate::unwind::{
    place::{PLACES, Remembered},
    scratch::{SLOTS, Scratch},
};

/// Most CPUs whose ring buffers can be told apart; hits on a CPU above count as lost.
const MAX_CPUS: usize = 1024;

/// Names that can be remembered as defined. An evicted one is defined again at its next use, which costs a record.
const MAX_DEFINED: usize = 65_536;

/// Stacks that can be remembered as sent.
const MAX_STACKS: usize = 65_536;

/// Number of reasons, with a place for 0.
const ENDS_LEN: usize = StackEnd::ALL.len() + 1;

/// Only a template: user space makes one ring buffer per CPU, of the size that it wants.
pub(crate) type Ring = RingBuf<u64, 4096>;

#[btf_map]
pub(crate) static SITES: Array<SiteSpec, MAX_SITES> = Array::new();

#[btf_map]
pub(crate) static TARGET: Array<TargetLayout, 1> = Array::new();

#[btf_map]
pub(crate) static STATS: PerCpuArray<SiteStats, MAX_SITES> = PerCpuArray::new();

#[btf_map]
pub(crate) static DEFINED: LruHashMap<u64, u8, MAX_DEFINED> = LruHashMap::new();

#[btf_map]
pub(crate) static RINGS: ArrayOfMaps<Ring, MAX_CPUS> = ArrayOfMaps::new();

#[btf_map]
pub(crate) static CODE: Array<CodeLayout, 1> = Array::new();

#[btf_map]
pub(crate) static GENERATION: Array<u64, 1> = Array::new();

#[btf_map]
pub(crate) static REGIONS: Array<Region, MAX_REGIONS> = Array::new();

/// User space makes it as large as the tables are.
#[btf_map]
pub(crate) static ROWS: Array<RowChunk, 1> = Array::new();

#[btf_map]
pub(crate) static REMEMBERED: PerCpuArray<Remembered, PLACES> = PerCpuArray::new();

#[btf_map]
pub(crate) static SCRATCH: PerCpuArray<Scratch, SLOTS> = PerCpuArray::new();

#[btf_map]
pub(crate) static STACKS: LruHashMap<u64, u8, MAX_STACKS> = LruHashMap::new();

#[btf_map]
pub(crate) static ENDS: PerCpuArray<u64, ENDS_LEN> = PerCpuArray::new();
/// Allocated in advance, as the scheduler's lock is held where it is written. User space makes it small where no lens
/// needs it.
#[btf_map]
pub(crate) static OFFCPU: HashMap<u64, Away, MAX_AWAY> = HashMap::new();

/// When the reader was woken for a new stack last.
#[btf_map]
pub(crate) static WOKEN: PerCpuArray<u64, 1> = PerCpuArray::new();

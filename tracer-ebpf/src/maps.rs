//! The maps; their names are spelled in `tracer_common::names`.

use aya_ebpf::{
    bindings::BPF_F_NO_PREALLOC,
    btf_maps::{Array, ArrayOfMaps, HashMap, LruHashMap, PerCpuArray, PerCpuHashMap, ProgramArray, RingBuf},
    macros::btf_map,
};
use tracer_common::{
    clock::{Away, MAX_AWAY},
    filter::{Answer, Filter, GRAPHS, MAX_TALLIES},
    site::{MAX_SITES, SiteSpec, TargetLayout},
    stack::StackEnd,
    stats::SiteStats,
    tally::{
        Cell, Context, Demand, MAX_BUCKETS, MAX_CELLS, MAX_CONTEXTS, MAX_CUT_CONTEXTS, MAX_SUBJECTS, MAX_THREADS,
        OUTCOMES as OUTCOMES_LEN, Subject,
    },
    unwind::{CodeLayout, MAX_REGIONS, Region, Remembered, RowChunk},
};

use crate::shadow::{Chunk, Thread};
use crate::unwind::{
    place::PLACES,
    scratch::{SLOTS, Scratch},
};

/// Most CPUs whose ring buffers can be told apart; hits on a CPU above count as lost.
const MAX_CPUS: usize = 1024;

/// Names that can be remembered as defined. An evicted one is defined again at its next use, which costs a record.
const MAX_DEFINED: usize = 65_536;

/// Stacks that can be remembered as sent.
const MAX_STACKS: usize = 65_536;

/// Chunks of further calls, for all threads: four million calls.
const MAX_CHUNKS: usize = 65_536;

/// Memory is taken when an entry is made.
const ON_DEMAND: usize = BPF_F_NO_PREALLOC as usize;

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

/// Until when the reader is woken for new stacks ([`crate::unwind`]).
#[btf_map]
pub(crate) static HURRY: Array<u64, 1> = Array::new();

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

#[btf_map]
pub(crate) static DEMAND: Array<Demand, 1> = Array::new();

#[btf_map]
pub(crate) static FILTER: Array<Filter, GRAPHS> = Array::new();

/// How many events came to a node of the filter.
#[btf_map]
pub(crate) static TALLIES: Array<u64, MAX_TALLIES> = Array::new();

/// What jtrace's own test is told.
#[btf_map]
pub(crate) static ANSWER: Array<Answer, 1> = Array::new();

/// User space makes these small where no lens needs them.
#[btf_map]
pub(crate) static SUBJECTS: HashMap<u64, Subject, MAX_SUBJECTS> = HashMap::new();

/// Masks of threads, where the filter asks for their names.
#[btf_map]
pub(crate) static MASKS: HashMap<u32, u64, MAX_THREADS, ON_DEMAND> = HashMap::new();

/// Buffers of woven code whose marks nobody wants.
#[btf_map]
pub(crate) static UNWANTED: HashMap<u32, u8, MAX_THREADS, ON_DEMAND> = HashMap::new();

#[btf_map]
pub(crate) static CELLS: PerCpuArray<Cell, MAX_CELLS> = PerCpuArray::new();

#[btf_map]
pub(crate) static BUCKETS: PerCpuHashMap<u64, u64, MAX_BUCKETS, ON_DEMAND> = PerCpuHashMap::new();

#[btf_map]
pub(crate) static CONTEXTS: HashMap<u64, Context, { MAX_CONTEXTS + MAX_CUT_CONTEXTS }, ON_DEMAND> = HashMap::new();

/// How many contexts were made, and how many user space took away.
#[btf_map]
pub(crate) static CONTEXTS_MADE: Array<u64, 2> = Array::new();

#[btf_map]
pub(crate) static THREADS: HashMap<u32, Thread, MAX_THREADS, ON_DEMAND> = HashMap::new();

#[btf_map]
pub(crate) static CHUNKS: HashMap<u64, Chunk, MAX_CHUNKS, ON_DEMAND> = HashMap::new();

#[btf_map]
pub(crate) static OUTCOMES: PerCpuArray<u64, OUTCOMES_LEN> = PerCpuArray::new();

/// What new entries of the maps begin with; nobody writes here, and it would not fit onto a program's stack.
#[btf_map]
pub(crate) static EMPTY_THREAD: Array<Thread, 1> = Array::new();

#[btf_map]
pub(crate) static EMPTY_CHUNK: Array<Chunk, 1> = Array::new();

/// Always empty ([`crate::shared_stack`]).
#[btf_map]
pub(crate) static NO_PROGRAM: ProgramArray<1> = ProgramArray::new();

/// When the reader was woken for a new stack last.
#[btf_map]
pub(crate) static WOKEN: PerCpuArray<u64, 1> = PerCpuArray::new();

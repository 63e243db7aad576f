//! The maps of JNI calls; their names are spelled in `tracer_common::names`.

use aya_ebpf::{
    bindings::BPF_F_NO_PREALLOC,
    btf_maps::{Array, HashMap, PerCpuArray},
    macros::btf_map,
};
use tracer_common::{
    jni::{
        Caller, Count, CountKey, JniDemand, MAX_CALLERS, MAX_COUNTS, MAX_FUNCTIONS, MAX_SECTIONS,
        OUTCOMES as OUTCOMES_LEN, Thread,
    },
    tally::{BUCKETS, MAX_THREADS, Subject},
};

/// Memory is taken when an entry is made.
const ON_DEMAND: usize = BPF_F_NO_PREALLOC as usize;

#[btf_map]
pub(super) static JNI_DEMAND: Array<JniDemand, 1> = Array::new();

/// What the predicate says of each function.
#[btf_map]
pub(super) static JNI_FUNCTIONS: Array<Subject, MAX_FUNCTIONS> = Array::new();

#[btf_map]
pub(super) static JNI_CALLERS: HashMap<u64, Caller, MAX_CALLERS, ON_DEMAND> = HashMap::new();

/// The thread is part of the key, so that nobody else writes a value meanwhile.
#[btf_map]
pub(super) static JNI_COUNTS: HashMap<CountKey, Count, MAX_COUNTS, ON_DEMAND> = HashMap::new();

#[btf_map]
pub(super) static JNI_SECTIONS: HashMap<CountKey, Count, MAX_SECTIONS, ON_DEMAND> = HashMap::new();

#[btf_map]
pub(super) static JNI_LASTED: PerCpuArray<u64, BUCKETS> = PerCpuArray::new();

#[btf_map]
pub(super) static JNI_THREADS: HashMap<u32, Thread, MAX_THREADS, ON_DEMAND> = HashMap::new();

#[btf_map]
pub(super) static JNI_OUTCOMES: PerCpuArray<u64, OUTCOMES_LEN> = PerCpuArray::new();

/// What a new thread begins with; nobody writes here, and it would not fit onto a program's stack.
#[btf_map]
pub(super) static JNI_NO_CALLS: Array<Thread, 1> = Array::new();

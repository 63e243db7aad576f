//! What the kernel counts itself, per subject: a method that is called, or a class whose objects are made.

/// Most subjects that are told apart; events of others come as events.
pub const MAX_SUBJECTS: usize = 65_536;
/// Most threads whose names the filter can ask for.
pub const MAX_THREADS: usize = 32_768;
/// Most subjects that the kernel counts itself.
pub const MAX_CELLS: usize = 16_384;
/// Most pairs of a cell and a bucket of durations.
pub const MAX_BUCKETS: usize = 131_072;

/// Most contexts that the kernel tells apart ([`Context`]).
pub const MAX_CONTEXTS: usize = 262_144;
/// Where it stands how many contexts the kernel has made, and how many of these user space took away.
pub const CONTEXTS_MADE: u32 = 0;
/// As above.
pub const CONTEXTS_TAKEN: u32 = 1;
/// Room for contexts that are met when there are so many already: they are told apart without what is around them. Some may
/// go to contexts that programs on several CPUs make at once.
pub const MAX_CUT_CONTEXTS: usize = 65_536;

/// What the kernel was told about a subject.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Subject {
    /// A bit for each condition on its names that holds ([`crate::filter::Input::Subject`]).
    pub mask: u64,
    /// Index of its [`Cell`]; 0 where it has none, and its events leave the kernel.
    pub cell: u32,
    /// [`Verdict`] as a number.
    pub verdict: u32,
}

/// What the predicate says about a subject by its names alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Verdict {
    /// None of its events is wanted.
    Never = 1,
    /// All are.
    Always = 2,
    /// The filter must look at each.
    Depends = 3,
}

/// What the programs for methods and objects shall do, and what they must know of the JVM.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Demand {
    /// 1 where the kernel follows the calls of each thread, for their durations; 0 where it only counts entries, or sends
    /// entries and returns as they come.
    pub timed: u32,
    /// 1 where the filter looks at an event when the method returns, because it asks for the duration.
    pub at_return: u32,
    /// 1 where the filter asks for the calling method: then calls of unwanted methods must be followed, too.
    pub callers: u32,
    /// 1 where the filter asks for names of threads.
    pub threads: u32,
    /// 1 where nobody asks how long calls last, so that entries are all that comes.
    pub untimed: u32,
    /// 1 where calls are counted by context ([`Context`]): their thread, the place of the call, and the calls around it.
    pub contexts: u32,
    /// 1 where objects are counted by context: their thread and stack.
    pub places: u32,
    /// 1 where calls are counted by thread as well.
    pub by_thread: u32,
    /// Bits of [`Demand::METHODS`] and [`Demand::OBJECTS`]: whose hits are turned down, because their sites come and go one after
    /// another and shall begin and end at one moment.
    pub paused: u32,
    /// Grows whenever sites of methods come back: calls that were under way before that are not known any more.
    pub epoch: u32,
    /// How a class is found from an object, and its size.
    pub object: ObjectLayout,
}

impl Demand {
    /// Bit of [`Demand::paused`]: methods.
    pub const METHODS: u32 = 1;
    /// Bit of [`Demand::paused`]: objects.
    pub const OBJECTS: u32 = 2;
}

/// How objects and their classes lie in memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct ObjectLayout {
    /// Address that compressed class pointers count from.
    pub klass_base: u64,
    /// Bits by which they are shifted.
    pub klass_shift: u32,
    /// Bits of the word at `klass_offset` that lie below the class pointer (42 where headers are compact).
    pub klass_low_bit: u32,
    /// Offset of the class pointer in an object.
    pub klass_offset: u32,
    /// Bytes of the class pointer: 4 where it is compressed, 8 otherwise.
    pub klass_bytes: u32,
    /// `Klass::_layout_helper`; 0 where the layout is not known.
    pub layout_helper: u32,
    /// Offset of an array's length.
    pub length: u32,
    /// Objects lie at multiples of this.
    pub alignment: u32,
    /// Where an instance of `java.lang.Class` has its size in words, and the class of such instances; 0 where unknown.
    pub mirror_size: u32,
    /// `Klass*` of `java.lang.Class`.
    pub mirror_klass: u64,
}

/// What is counted of one subject on one CPU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Cell {
    /// Calls, or objects.
    pub count: u64,
    /// Returns with a duration.
    pub timed: u64,
    /// Calls that an exception ended.
    pub errors: u64,
    /// Sum of durations.
    pub total_ns: u64,
    /// Of these, in callees that are chosen too.
    pub inner_ns: u64,
    /// Bytes of objects.
    pub bytes: u64,
}

/// What is counted of a subject on one thread, with one stack, below one other context. A thread runs on one CPU at a time, so
/// nobody else writes there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Context {
    /// Id of the context around it ([`context_id`]); 0 for none, [`CUT`] where it is not told.
    pub parent: u64,
    /// Index of the subject's [`Cell`]; its address where it had none yet.
    pub subject: u64,
    /// Id of the stack; 0 where none was taken.
    pub stack: u64,
    /// The thread.
    pub tid: u32,
    /// 1 where the method runs within the frame of the one that called it: a compiler has inlined it.
    pub inlined: u32,
    /// Calls, or objects.
    pub count: u64,
    /// Calls that an exception ended.
    pub errors: u64,
    /// Sum of durations.
    pub total_ns: u64,
    /// Of these, in the contexts below.
    pub inner_ns: u64,
    /// Longest duration, or bytes of the largest object.
    pub largest: u64,
    /// Bytes of objects.
    pub bytes: u64,
}

/// The parent of a context whose surroundings are not told, because there are [`MAX_CONTEXTS`] already.
pub const CUT: u64 = 1;

/// What is counted in no context: what found no room, or is not wanted.
pub const NO_CONTEXT: u64 = u64::MAX;

/// Id of a context: a hash of what tells it apart, and none of 0, [`CUT`] and [`NO_CONTEXT`].
#[inline]
pub const fn context_id(parent: u64, subject: u64, stack: u64, tid: u32) -> u64 {
    let mut hash = parent ^ (tid as u64).rotate_left(40);
    hash = (hash ^ subject).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    hash = (hash ^ (hash >> 32) ^ stack).wrapping_mul(0xd6e8_feb8_6659_fd93);
    hash = (hash ^ (hash >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    hash ^= hash >> 32;
    if hash <= CUT || hash == NO_CONTEXT { 2 } else { hash }
}

/// What can become of a call besides being counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Outcome {
    /// A return whose entry was not seen.
    ReturnWithoutEntry = 0,
    /// An entry whose return was missing when another event showed that it was over.
    EntryWithoutReturn = 1,
    /// An event that found no room in the kernel's tables.
    Overflow = 2,
}

/// Number of [`Outcome`]s.
pub const OUTCOMES: usize = 3;

/// Words of a thread's calls under way: how many, 3 words, [`Demand::epoch`], and the outer ones.
pub const CALLS_WORDS: usize = CALLS_HEAD + CALLS_INLINE * CALL_WORDS;
/// Words before the first call.
pub const CALLS_HEAD: usize = 5;
/// Calls that such a value has room for; deeper ones lie elsewhere.
pub const CALLS_INLINE: usize = 24;
/// Words of a call under way.
pub const CALL_WORDS: usize = 7;
/// Where in them its `Method*` and its cell or context stand.
pub const CALL_METHOD: usize = 1;
/// As above.
pub const CALL_CELL: usize = 4;

/// How far below or above its entry's stack pointer a call can return: the interpreter's frame has results, monitors and
/// alignment by then, and a loop that was compiled meanwhile goes on in a frame of another size (OSR).
pub const RETURN_BYTES: u64 = 2048;

/// Key of the map of buckets.
///
/// A bucket is one of durations where a cell is a method's, and one of array lengths where it is a class's.
pub const fn bucket_key(cell: u32, bucket: u32) -> u64 {
    ((cell as u64) << 32) | bucket as u64
}

/// Sub-buckets of a power of two: durations are known within 1/16 of their value.
const SUB_BITS: u32 = 4;

/// Number of buckets.
pub const BUCKETS: usize = ((64 - SUB_BITS as usize) << SUB_BITS) + (1 << SUB_BITS);

/// Bucket of a duration: exact up to 15 ns, then 16 to each power of two.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "both are below 16")]
pub const fn bucket(ns: u64) -> u32 {
    if ns < 1 << SUB_BITS {
        return ns as u32;
    }
    let shift = ns.ilog2() - SUB_BITS;
    ((shift + 1) << SUB_BITS) + ((ns >> shift) & ((1 << SUB_BITS) - 1)) as u32
}

/// Smallest and largest duration of a bucket.
pub const fn bounds(bucket: u32) -> (u64, u64) {
    let row = bucket >> SUB_BITS;
    let column = (bucket & ((1 << SUB_BITS) - 1)) as u64;
    if row == 0 {
        return (column, column);
    }
    let shift = if row > 60 { 59 } else { row - 1 };
    let low = ((1 << SUB_BITS) | column) << shift;
    (low, low + ((1 << shift) - 1))
}

const _: () = {
    assert!(size_of::<Subject>() == 16 && size_of::<Cell>() == 48);
    assert!(size_of::<ObjectLayout>() == 48 && size_of::<Demand>() == 88 && size_of::<Context>() == 80);
    let samples = [0, 1, 15, 16, 17, 31, 32, 1000, 1 << 20, u64::MAX / 3, u64::MAX];
    let mut i = 0;
    while i < samples.len() {
        let (low, high) = bounds(bucket(samples[i]));
        assert!(low <= samples[i] && samples[i] <= high && (bucket(samples[i]) as usize) < BUCKETS);
        i += 1;
    }
};

//! What the kernel counts itself, per subject: a method that is called, or a class whose objects are made.

/// Most subjects that are told apart; events of others come as events.
pub const MAX_SUBJECTS: usize = 65_536;
/// Most subjects that the kernel counts itself.
pub const MAX_CELLS: usize = 16_384;
/// Most pairs of a cell and a bucket of durations.
pub const MAX_BUCKETS: usize = 131_072;

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

/// Sub-buckets of a power of two: durations are known within 1/16 of their value.
const SUB_BITS: u32 = 4;

/// Number of buckets.
pub const BUCKETS: usize = ((64 - SUB_BITS as usize) << SUB_BITS) + (1 << SUB_BITS);

/// Bucket of a duration: exact up to 15 ns, then 16 to each power of two.
#[inline(always)]
pub const fn bucket(ns: u64) -> u32 {
    if ns < 1 << SUB_BITS {
        return ns as u32;
    }
    let exponent = 63 - ns.leading_zeros();
    let shift = exponent - SUB_BITS;
    ((shift + 1) << SUB_BITS) + ((ns >> shift) as u32 & ((1 << SUB_BITS) - 1))
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
    let samples = [0, 1, 15, 16, 17, 31, 32, 1000, 1 << 20, u64::MAX / 3, u64::MAX];
    let mut i = 0;
    while i < samples.len() {
        let (low, high) = bounds(bucket(samples[i]));
        assert!(low <= samples[i] && samples[i] <= high && (bucket(samples[i]) as usize) < BUCKETS);
        i += 1;
    }
};

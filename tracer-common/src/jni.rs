//! What the programs at JNI functions are told, and what they count: calls by thread, function and caller, and critical
//! sections.
//!
//! A function is known by its number in user space's list. Who calls it is known by an address: of a native method in the
//! interpreter its `Method*`, of a compiled one the last Java program counter, of native code a return address. User space
//! names each address once and gives it a number; until then its calls come as events.

/// Most JNI functions; there are 238 in JDK 25.
pub const MAX_FUNCTIONS: usize = 256;
/// Most groups of functions that are attached and detached together.
pub const MAX_FAMILIES: usize = 16;
/// Calls under way of one thread that have durations of their own; deeper ones are counted without.
pub const MAX_DEPTH: usize = 64;
/// Most callers that are told apart by the kernel; calls of further ones come as events.
pub const MAX_CALLERS: usize = 65_536;
/// Most combinations of thread, function and caller that the kernel counts; further ones come as events.
pub const MAX_COUNTS: usize = 65_536;
/// Most combinations of thread, function and caller of critical sections that the kernel counts.
pub const MAX_SECTIONS: usize = 16_384;

/// Word of a site's specification that holds the function's number.
pub const FIELD_FUNCTION: usize = 0;
/// Word that holds the `JNIEnv*`, or the constant 0 where the function has none.
pub const FIELD_ENV: usize = 1;
/// Word that holds [`Role`] as a number.
pub const FIELD_ROLE: usize = 2;
/// Word that holds the function's family.
pub const FIELD_FAMILY: usize = 3;
/// Word that holds what the function returns, at a site of [`Role::Opens`].
pub const FIELD_RESULT: usize = 4;

/// What a site means besides a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Role {
    /// Nothing.
    None = 0,
    /// Its return opens a critical section, if it returns anything.
    Opens = 1,
    /// Its entry closes one.
    Closes = 2,
    /// It never returns: there is no site that would tell.
    NeverReturns = 3,
}

/// What the programs shall do, and what they must know of the JVM.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct JniDemand {
    /// 1 where every call is sent, and the kernel counts nothing.
    pub each: u32,
    /// 1 where the filter asks for names of threads.
    pub threads: u32,
    /// From a `JNIEnv*` to the thread's last Java stack pointer, as a distance (the environment lies behind or before); meaningful where
    /// `known` is 1.
    pub last_sp: i32,
    /// To the last Java program counter.
    pub last_pc: i32,
    /// To the last Java frame pointer.
    pub last_fp: i32,
    /// 1 where these distances are known.
    pub known: u32,
    /// From an interpreter frame's rbp down to its `Method*`.
    pub method_below_fp: u32,
    /// Explicit padding: the struct is copied as bytes.
    pub reserved: u32,
    /// The interpreter's code: first address and first behind it.
    pub interpreter: [u64; 2],
    /// For each family how often it came and went: a call that began before does not end now, and while the number is odd
    /// the family is away, or about to be, and its hits are turned down.
    pub epochs: [u32; MAX_FAMILIES],
}

/// What the kernel was told about a caller.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Caller {
    /// A bit for each condition on its names that holds ([`crate::filter::Input::Caller`]).
    pub mask: u64,
    /// Its number, from 1.
    pub number: u32,
    /// Explicit padding: the struct is copied as bytes.
    pub reserved: u32,
}

/// What is counted apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[repr(C)]
pub struct CountKey {
    /// The thread.
    pub tid: u32,
    /// Number of the function; of a section the one that opened it.
    pub function: u32,
    /// Number of the caller.
    pub caller: u32,
    /// Explicit padding: the key is compared as bytes.
    pub reserved: u32,
}

/// Calls of one thread, function and caller: nobody else writes it meanwhile.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Count {
    /// Calls.
    pub calls: u64,
    /// Of these, with a duration.
    pub timed: u64,
    /// Sum of durations.
    pub total_ns: u64,
    /// Of these, in JNI functions below.
    pub inner_ns: u64,
    /// The longest.
    pub longest_ns: u64,
}

/// A call under way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Frame {
    /// Stack pointer at the entry's site.
    pub sp: u64,
    /// When it began.
    pub entered_ns: u64,
    /// Time in JNI functions below it.
    pub inner_ns: u64,
    /// Address of its caller.
    pub caller: u64,
    /// Number of the function.
    pub function: u32,
    /// Its family's epoch.
    pub epoch: u32,
}

/// A thread's calls and critical sections under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Thread {
    /// Calls under way, up to [`MAX_DEPTH`].
    pub depth: u64,
    /// Further ones, which are only counted.
    pub beyond: u64,
    /// Its `JNIEnv*`, as seen last.
    pub env: u64,
    /// Critical sections that are open.
    pub open: u64,
    /// When the outermost began.
    pub since_ns: u64,
    /// Address of the caller that opened it.
    pub opener: u64,
    /// Function that opened it.
    pub section: u32,
    /// Epoch of its family at that moment.
    pub section_epoch: u32,
    /// What is known of its being wanted ([`Wanted`]).
    pub section_wanted: u64,
    /// The calls, outermost first.
    pub frames: [Frame; MAX_DEPTH],
}

/// Whether a call is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum Wanted {
    /// User space decides.
    Undecided = 0,
    /// It is.
    Yes = 1,
    /// It is not.
    No = 2,
}

/// Bits 16 to 31 of the first word of [`crate::record::EventKind::JniEntry`], `JniReturn` and `JniSection`. Bits 0 to 15 are the function, 32 to 63
/// calls under way, this one included.
pub struct Flags;

impl Flags {
    /// The predicate was not applied yet.
    pub const UNDECIDED: u64 = 1 << 16;
    /// User space has found that it is not wanted.
    pub const UNWANTED: u64 = 2 << 16;
    /// It has no duration.
    pub const UNTIMED: u64 = 4 << 16;
}

/// What can become of a call besides being counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Outcome {
    /// A return whose entry was not seen.
    ReturnWithoutEntry = 0,
    /// An entry whose return was missing when another event showed that it was over.
    EntryWithoutReturn = 1,
    /// A thread that found no room in the kernel's tables: its call is not counted.
    Overflow = 2,
    /// A call below [`MAX_DEPTH`] others: counted, without a duration.
    TooDeep = 3,
    /// A section that was closed and whose opening was not seen.
    CloseWithoutOpen = 4,
}

/// Number of [`Outcome`]s.
pub const OUTCOMES: usize = 5;

const _: () = {
    assert!(size_of::<JniDemand>() == 48 + 4 * MAX_FAMILIES && size_of::<Caller>() == 16);
    assert!(size_of::<CountKey>() == 16 && size_of::<Count>() == 40 && size_of::<Frame>() == 40);
    assert!(size_of::<Thread>() == 64 + 40 * MAX_DEPTH);
};

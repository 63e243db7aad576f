//! What a program puts into a ring buffer: a fixed header, then the words of an event or the text of a definition.
//!
//! All numbers are little-endian. Sizes are constants, because the verifier wants them so.

use crate::site::MAX_FIELDS;

/// First bytes of every record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct RecordHeader {
    /// [`EventKind`] as a number, [`KIND_DEFINITION`], or [`crate::stack::KIND_STACK`].
    pub kind: u16,
    /// Site whose hit caused the record.
    pub site: u16,
    /// Words that follow the header of an event.
    pub words: u16,
    /// CPU on which the record was written.
    pub cpu: u16,
    /// Thread id in the kernel's initial pid namespace.
    pub tid: u32,
    /// Always 0.
    pub reserved: u32,
    /// `CLOCK_MONOTONIC`, in nanoseconds.
    pub time_ns: u64,
    /// Stack of the thread at the hit: the id of a [`crate::stack::StackHeader`], or a reserved one.
    pub stack: u64,
}

/// Size of [`RecordHeader`] in bytes.
pub const HEADER_BYTES: usize = size_of::<RecordHeader>();

/// [`RecordHeader::kind`] of a definition.
pub const KIND_DEFINITION: u16 = 0xffff;

/// An event with up to four words; most are.
pub const SMALL_EVENT_WORDS: usize = 4;
/// Bytes of an event with up to [`SMALL_EVENT_WORDS`] words.
pub const SMALL_EVENT_BYTES: usize = HEADER_BYTES + 8 * SMALL_EVENT_WORDS;
/// Bytes of an event with up to [`MAX_FIELDS`] words.
pub const LARGE_EVENT_BYTES: usize = HEADER_BYTES + 8 * MAX_FIELDS;

/// What follows the header of a definition, before the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct DefinitionHeader {
    /// The id that the text gets: a hash of its content, see [`name_hash_step`].
    pub id: u64,
    /// Length of the whole text in bytes.
    pub text_bytes: u32,
    /// Bytes of text that follow; less than `text_bytes` where the text was cut.
    pub stored_bytes: u32,
}

/// Longest text that a definition carries; a longer one is cut and marked.
pub const MAX_TEXT_BYTES: usize = 1024;
/// Longest text that is accepted at all: the longest that a class file can hold.
pub const MAX_NAME_BYTES: usize = 65535;
/// Room for text in the three sizes of definition records.
pub const DEFINITION_TEXT_BYTES: [usize; 3] = [64, 256, MAX_TEXT_BYTES];
/// Bytes of a definition's two headers.
pub const DEFINITION_HEADER_BYTES: usize = HEADER_BYTES + size_of::<DefinitionHeader>();

/// Reserved name id: the text could not be read.
pub const NAME_UNREADABLE: u64 = 0;
/// Reserved name id: the length was negative or above [`MAX_NAME_BYTES`].
pub const NAME_BAD_LENGTH: u64 = 1;
/// Reserved name id: the site does not give this name.
pub const NAME_ABSENT: u64 = 2;
/// Ids below this one are reserved.
pub const NAME_FIRST: u64 = 16;

/// Bytes that are read and hashed at a time.
pub const NAME_CHUNK_BYTES: usize = 64;

/// Start value of a name's hash, for a text of `text_bytes` bytes.
pub const fn name_hash_start(text_bytes: u64) -> u64 {
    0x9e37_79b9_7f4a_7c15 ^ text_bytes.wrapping_mul(0xff51_afd7_ed55_8ccd)
}

/// Takes the next 8 bytes of a text (zero-padded to a multiple of [`NAME_CHUNK_BYTES`]) into its hash.
///
/// Ids are hashes of the content, so a `Symbol` whose address is reused after class unloading cannot be mistaken for its
/// predecessor.
#[inline]
pub const fn name_hash_step(hash: u64, word: u64) -> u64 {
    let mixed = (hash ^ word).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed ^ (mixed >> 29)
}

/// Makes the hash an id that is not reserved.
pub const fn name_hash_finish(hash: u64) -> u64 {
    if hash < NAME_FIRST { hash + NAME_FIRST } else { hash }
}

macro_rules! event_kinds {
    ($($(#[$doc:meta])* $name:ident = $number:literal, $words:literal;)*) => {
        /// Kind of an event. Numbers are part of the recording format and are never reused.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u16)]
        pub enum EventKind { $($(#[$doc])* $name = $number,)* }

        impl EventKind {
            /// Every kind, in the order of the numbers.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// Number of words of an event of this kind.
            pub const fn words(self) -> usize {
                match self { $(Self::$name => $words,)* }
            }

            /// The kind with this number.
            pub const fn from_number(number: u16) -> Option<Self> {
                match number { $($number => Some(Self::$name),)* _ => None }
            }
        }
    };
}

event_kinds! {
    /// full, cause, last cause.
    GcBegin = 1, 3;
    /// cause, last cause.
    GcEnd = 2, 2;
    /// manager, pool, initial, used, committed, maximum bytes.
    MemPoolGcBegin = 3, 6;
    /// manager, pool, initial, used, committed, maximum bytes.
    MemPoolGcEnd = 4, 6;
    /// operation, mode.
    VmOperationRequest = 16, 2;
    /// operation, mode.
    VmOperationBegin = 17, 2;
    /// operation, mode.
    VmOperationEnd = 18, 2;
    /// No words.
    SafepointBegin = 19, 0;
    /// No words.
    SafepointEnd = 20, 0;
    /// monitor, class, the monitor's owner as the JVM writes it, holder. The last is 0 as the kernel sends it: user space
    /// finds the thread that the owner stands for, and writes it there before anything else looks at the record.
    MonitorContendedEnter = 32, 4;
    /// monitor, class.
    MonitorContendedEntered = 33, 2;
    /// monitor, class.
    MonitorContendedExit = 34, 2;
    /// monitor, class.
    MonitorNotify = 35, 2;
    /// monitor, class.
    MonitorNotifyAll = 36, 2;
    /// monitor, class, timeout in ms.
    MonitorWait = 37, 3;
    /// monitor, class.
    MonitorWaited = 38, 2;
    /// monitor, class, holder: this thread is blocked, as a look at the JVM's own structures says. No site sends it.
    MonitorBlocked = 39, 3;
    /// blocked threads, threads: a look is over; it comes behind the [`Self::MonitorBlocked`] of the same time.
    MonitorLook = 40, 2;
    /// parker, is absolute, time.
    ThreadParkBegin = 48, 3;
    /// parker.
    ThreadParkEnd = 49, 1;
    /// parker.
    ThreadUnpark = 50, 1;
    /// name, java tid, os tid, daemon.
    ThreadStart = 64, 4;
    /// name, java tid, os tid, daemon.
    ThreadStop = 65, 4;
    /// duration in ms, as HotSpot gives it on every release.
    ThreadSleepBegin = 66, 1;
    /// interrupted.
    ThreadSleepEnd = 67, 1;
    /// No words.
    ThreadYield = 68, 0;
    /// The new thread's os tid in the lower 32 bits: this thread starts another one.
    ThreadStarting = 69, 1;
    /// class, loader, from the CDS archive.
    ClassLoaded = 80, 3;
    /// class, loader, from the CDS archive.
    ClassUnloaded = 81, 3;
    /// class, loader: initialisation is required.
    ClassInitRequired = 82, 2;
    /// class, loader: requested by the thread that runs it already.
    ClassInitRecursive = 83, 2;
    /// class, loader: the class is in error.
    ClassInitErroneous = 84, 2;
    /// class, loader: another thread had run it meanwhile.
    ClassInitConcurrent = 85, 2;
    /// class, loader: the superclass failed.
    ClassInitSuperFailed = 86, 2;
    /// class, loader: the initialiser is called.
    ClassInitClinit = 87, 2;
    /// class, loader: the initialiser threw.
    ClassInitError = 88, 2;
    /// class, loader: done.
    ClassInitEnd = 89, 2;
    /// compiler, class, method, signature.
    CompileBegin = 96, 4;
    /// compiler, class, method, signature, success.
    CompileEnd = 97, 5;
    /// class, method, signature, code start, code bytes.
    CodeLoaded = 98, 5;
    /// class, method, signature.
    CodeUnloaded = 99, 3;
    /// class, TLAB bytes, object bytes.
    AllocInNewTlab = 112, 3;
    /// class, object bytes.
    AllocOutsideTlab = 113, 2;
    /// No words.
    VmShutdown = 128, 0;
    /// Nanoseconds that the sample stands for.
    CpuSample = 144, 1;
    /// blocked ns (until it ran again), of these ns on the run queue, task state, system call (-1: none).
    OffCpu = 145, 4;
    /// subject, stack pointer (0 where the kernel times calls itself), [`SubjectState`], calls of chosen methods under way (this one included; the
    /// caller's `Method*` where the predicate asks for that and was not applied yet): a method is called. The subject is the `Method*` as the kernel sends it; user
    /// space writes the number there by which it has named the method.
    MethodEntry = 160, 4;
    /// subject, stack pointer, [`SubjectState`]: a method returns, or an exception leaves it.
    MethodReturn = 161, 3;
    /// stack pointer: an exception has left a frame. The return of the method, which comes just before, does not say so.
    FrameUnwound = 162, 1;
    /// subject (the `Klass*` as the kernel sends it), bytes, length of an array (`u64::MAX`: no array), [`SubjectState`].
    ObjectAlloc = 163, 4;
    /// subject, duration, of which callees that were chosen too, [`Timed`]: a call is over that the kernel has timed and not
    /// counted, because it did not know the method yet, or because it shall be sent.
    MethodTimed = 164, 4;
    /// function and [`crate::jni::Flags`], caller: native code calls a JNI function that never tells when it ends. The caller is
    /// an address as the kernel sends it; user space writes the id of its name there.
    JniEntry = 176, 2;
    /// function and [`crate::jni::Flags`], caller (as above), duration, of which in JNI functions below: a call is over.
    JniReturn = 177, 4;
    /// function that opened it and [`crate::jni::Flags`], caller that opened it (as above), duration: a critical section is
    /// over.
    JniSection = 178, 3;
    /// place and state (as in a [`crate::marks::Word`]), object's number, number of its class, history: a symbol has come that the
    /// property does not allow in this state. The history has the last symbols before, 8 bits each, the latest lowest.
    IllegalTransition = 192, 4;
    /// buffer and (from bit 32 on) [`crate::marks::hand`], words that came out of that buffer before, words that follow and (from bit
    /// 32 on) words that were kept back: what woven code has told ([`crate::marks::MarksHeader`]).
    Marks = 193, 3;
    /// class (what the exception's header says of it, as the kernel sends it; user space writes the id of the name there): the JVM writes
    /// a stack trace into a new exception.
    ExceptionCreated = 208, 1;
    /// No words: the JVM throws an `OutOfMemoryError` of its own.
    OutOfMemory = 209, 0;
}

/// Whether the predicate was applied to an event already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum SubjectState {
    /// The kernel did not know the subject yet: user space must decide.
    Undecided = 0,
    /// The event is wanted.
    Wanted = 1,
    /// User space has found that it is not.
    Unwanted = 2,
    /// The kernel has counted it; it is sent so that its subject becomes known.
    Counted = 3,
}

/// Bits of the last word of [`EventKind::MethodTimed`].
pub struct Timed;

impl Timed {
    /// An exception ended the call.
    pub const EXCEPTIONAL: u64 = 1;
    /// No entry was sent of it: it is to be counted now.
    pub const UNCOUNTED: u64 = 2;
    /// The predicate was not applied yet. Where it asks for the caller, its `Method*` stands in the third word.
    pub const UNDECIDED: u64 = 4;
    /// User space has found that it is not wanted.
    pub const UNWANTED: u64 = 8;
    /// Of an undecided call: from this bit on stands how many calls of chosen methods were under way, itself included, until
    /// user space has decided.
    pub const DEPTH_BIT: u32 = 32;
}

const _: () = {
    assert!(HEADER_BYTES == 32 && size_of::<DefinitionHeader>() == 16);
    let mut i = 0;
    while i < EventKind::ALL.len() {
        assert!(EventKind::ALL[i].words() <= MAX_FIELDS);
        i += 1;
    }
};

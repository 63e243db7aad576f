//! Names of maps and programs, spelled once for the side that defines them and the side that looks them up.

/// Program attached to every argument-reading probe site.
pub const PROGRAM_SITE: &str = "site_hit";
/// Program at entries of methods.
pub const PROGRAM_METHOD_ENTRY: &str = "method_entry";
/// Program at returns of methods.
pub const PROGRAM_METHOD_RETURN: &str = "method_return";
/// Program where an exception has left a frame.
pub const PROGRAM_FRAME_UNWOUND: &str = "frame_unwound";
/// Program where an object was made.
pub const PROGRAM_OBJECT_ALLOC: &str = "object_alloc";
/// Program at entries and returns of JNI functions.
pub const PROGRAM_JNI: &str = "jni_hit";
/// Program where the library in the JVM hands over what woven code has told.
pub const PROGRAM_MARKS: &str = "marks_flushed";
/// Program that asks the predicate's graph what jtrace's own test wants to know; no session loads it.
pub const PROGRAM_JUDGEMENT: &str = "judgement";
/// Program that the sampling clock runs.
pub const PROGRAM_CPU_SAMPLE: &str = "cpu_sample";
/// Program that runs when a CPU goes from one thread to another.
pub const PROGRAM_SCHED_SWITCH: &str = "sched_switch";
/// Program that runs when a thread becomes ready to run.
pub const PROGRAM_SCHED_WAKEUP: &str = "sched_wakeup";

/// Array of [`crate::site::SiteSpec`], indexed by site id: written before attaching, read by the programs.
pub const MAP_SITES: &str = "SITES";
/// One-element array of [`crate::site::TargetLayout`].
pub const MAP_TARGET: &str = "TARGET";
/// Per-CPU array of [`crate::stats::SiteStats`], indexed by site id.
pub const MAP_STATS: &str = "STATS";
/// LRU set of the name ids that were already defined.
pub const MAP_DEFINED: &str = "DEFINED";
/// One-element array of [`crate::unwind::CodeLayout`].
pub const MAP_CODE: &str = "CODE";
/// One-element array: changes whenever an address of code may have got another meaning.
pub const MAP_GENERATION: &str = "GENERATION";
/// One-element array: until when the reader is woken for new stacks, because code or classes are going away.
pub const MAP_HURRY: &str = "HURRY";
/// Per-CPU array of [`crate::unwind::Remembered`]: what walks over stacks know of program counters.
pub const MAP_REMEMBERED: &str = "REMEMBERED";
/// Sorted array of [`crate::unwind::Region`].
pub const MAP_REGIONS: &str = "REGIONS";
/// Array of [`crate::unwind::Row`], the tables of all files one after another.
pub const MAP_ROWS: &str = "ROWS";
/// Ids of stacks that were sent.
pub const MAP_STACKS: &str = "STACKS";
/// Per-CPU array of counters, indexed by [`crate::stack::StackEnd`].
pub const MAP_ENDS: &str = "ENDS";
/// Array of ring buffers, indexed by CPU.
pub const MAP_RINGS: &str = "RINGS";
/// Hash map of [`crate::clock::Away`], by the address of the thread's `task_struct`.
pub const MAP_OFFCPU: &str = "OFFCPU";
/// One-element array of [`crate::tally::Demand`].
pub const MAP_DEMAND: &str = "DEMAND";
/// Array of the predicate's [`crate::filter::Filter`].
pub const MAP_FILTER: &str = "FILTER";
/// Hash map of [`crate::tally::Subject`], by `Method*` or `Klass*`.
pub const MAP_SUBJECTS: &str = "SUBJECTS";
/// Per-CPU array of [`crate::tally::Cell`].
pub const MAP_CELLS: &str = "CELLS";
/// Per-CPU hash map of how many durations fell into a bucket, by cell and bucket.
pub const MAP_BUCKETS: &str = "BUCKETS";
/// Hash map of [`crate::tally::Context`], by [`crate::tally::context_id`].
pub const MAP_CONTEXTS: &str = "CONTEXTS";
/// Array of how many contexts were made ([`crate::tally::CONTEXTS_MADE`]), and how many were taken away.
pub const MAP_CONTEXTS_MADE: &str = "CONTEXTS_MADE";
/// Per-CPU array of counters that belong to no subject, indexed by [`crate::tally::Outcome`].
pub const MAP_OUTCOMES: &str = "OUTCOMES";
/// Hash map of the calls under way, by thread ([`crate::tally::CALLS_WORDS`]).
pub const MAP_THREADS: &str = "THREADS";
/// Hash map of masks ([`crate::filter::Input::Thread`]), by thread.
pub const MAP_MASKS: &str = "MASKS";
/// Hash map of the buffers whose marks nobody wants ([`crate::marks::MarksHeader::buffer`]).
pub const MAP_UNWANTED: &str = "UNWANTED";
/// One-element array of [`crate::filter::Answer`].
pub const MAP_ANSWER: &str = "ANSWER";
/// One-element array of [`crate::jni::JniDemand`].
pub const MAP_JNI_DEMAND: &str = "JNI_DEMAND";
/// Array of [`crate::tally::Subject`], by number of the JNI function.
pub const MAP_JNI_FUNCTIONS: &str = "JNI_FUNCTIONS";
/// Hash map of [`crate::jni::Caller`], by address.
pub const MAP_JNI_CALLERS: &str = "JNI_CALLERS";
/// Hash map of [`crate::jni::Count`], by [`crate::jni::CountKey`].
pub const MAP_JNI_COUNTS: &str = "JNI_COUNTS";
/// The same of critical sections.
pub const MAP_JNI_SECTIONS: &str = "JNI_SECTIONS";
/// Per-CPU array of how many critical sections lasted as long as a bucket ([`crate::tally::bucket`]).
pub const MAP_JNI_LASTED: &str = "JNI_LASTED";
/// Hash map of [`crate::jni::Thread`], by thread.
pub const MAP_JNI_THREADS: &str = "JNI_THREADS";
/// Per-CPU array of counters, indexed by [`crate::jni::Outcome`].
pub const MAP_JNI_OUTCOMES: &str = "JNI_OUTCOMES";

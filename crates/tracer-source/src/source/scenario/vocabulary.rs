//! The words of scenarios: how every kind of event and each of its fields is called.

use tracer_common::record::EventKind;

use crate::lens::Lens;

/// How a field's value is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    /// A quoted text whose id is the word.
    Name(&'static str),
    /// A number or a flag.
    Word(&'static str),
}

use Field::{Name, Word};

const METHOD: [Field; 3] = [Name("class"), Name("method"), Name("signature")];
const CLASS: &[Field] = &[Name("class"), Word("loader"), Word("shared")];
const INIT: &[Field] = &[Name("class"), Word("loader")];
const MONITOR: &[Field] = &[Word("monitor"), Name("class")];
const ENTER: &[Field] = &[Word("monitor"), Name("class"), Word("owner"), Word("holder")];
const POOL: &[Field] = &[Name("manager"), Name("pool"), Word("init"), Word("used"), Word("committed"), Word("max")];
const OPERATION: &[Field] = &[Name("name"), Word("mode")];
const THREAD: &[Field] = &[Name("name"), Word("java_tid"), Word("os_tid"), Word("daemon")];

/// Word, lens and fields of a kind, the fields in the order of the record's words.
const fn entry(kind: EventKind) -> (&'static str, Lens, &'static [Field]) {
    use EventKind as K;
    match kind {
        K::GcBegin => ("gc_begin", Lens::Gc, &[Word("full"), Name("cause"), Name("last_cause")]),
        K::GcEnd => ("gc_end", Lens::Gc, &[Name("cause"), Name("last_cause")]),
        K::MemPoolGcBegin => ("pool_begin", Lens::Gc, POOL),
        K::MemPoolGcEnd => ("pool_end", Lens::Gc, POOL),
        K::VmOperationRequest => ("vm_operation_request", Lens::Safepoint, OPERATION),
        K::VmOperationBegin => ("vm_operation_begin", Lens::Safepoint, OPERATION),
        K::VmOperationEnd => ("vm_operation_end", Lens::Safepoint, OPERATION),
        K::SafepointBegin => ("safepoint_begin", Lens::Safepoint, &[]),
        K::SafepointEnd => ("safepoint_end", Lens::Safepoint, &[]),
        K::MonitorContendedEnter => ("contended_enter", Lens::Locks, ENTER),
        K::MonitorContendedEntered => ("contended_entered", Lens::Locks, MONITOR),
        K::MonitorContendedExit => ("contended_exit", Lens::Locks, MONITOR),
        K::MonitorNotify => ("notify", Lens::Locks, MONITOR),
        K::MonitorNotifyAll => ("notify_all", Lens::Locks, MONITOR),
        K::MonitorWait => ("wait", Lens::Locks, &[Word("monitor"), Name("class"), Word("timeout_ms")]),
        K::MonitorWaited => ("waited", Lens::Locks, MONITOR),
        K::MonitorBlocked => ("blocked", Lens::Locks, &[Word("monitor"), Name("class"), Word("holder")]),
        K::MonitorLook => ("look", Lens::Locks, &[Word("blocked"), Word("threads")]),
        K::ThreadParkBegin => ("park_begin", Lens::Locks, &[Word("parker"), Word("absolute"), Word("time")]),
        K::ThreadParkEnd => ("park_end", Lens::Locks, &[Word("parker")]),
        K::ThreadUnpark => ("unpark", Lens::Locks, &[Word("parker")]),
        K::ThreadStart => ("thread_start", Lens::Threads, THREAD),
        K::ThreadStop => ("thread_stop", Lens::Threads, THREAD),
        K::ThreadSleepBegin => ("sleep_begin", Lens::Threads, &[Word("duration")]),
        K::ThreadSleepEnd => ("sleep_end", Lens::Threads, &[Word("interrupted")]),
        K::ThreadStarting => ("thread_starting", Lens::Threads, &[Word("os_tid")]),
        K::ThreadYield => ("yield", Lens::Threads, &[]),
        K::ClassLoaded => ("class_loaded", Lens::Classes, CLASS),
        K::ClassUnloaded => ("class_unloaded", Lens::Classes, CLASS),
        K::ClassInitRequired => ("init_required", Lens::Classes, INIT),
        K::ClassInitRecursive => ("init_recursive", Lens::Classes, INIT),
        K::ClassInitErroneous => ("init_erroneous", Lens::Classes, INIT),
        K::ClassInitConcurrent => ("init_concurrent", Lens::Classes, INIT),
        K::ClassInitSuperFailed => ("init_super_failed", Lens::Classes, INIT),
        K::ClassInitClinit => ("init_clinit", Lens::Classes, INIT),
        K::ClassInitError => ("init_error", Lens::Classes, INIT),
        K::ClassInitEnd => ("init_end", Lens::Classes, INIT),
        K::CompileBegin => ("compile_begin", Lens::Jit, &[Name("compiler"), METHOD[0], METHOD[1], METHOD[2]]),
        K::CompileEnd => {
            ("compile_end", Lens::Jit, &[Name("compiler"), METHOD[0], METHOD[1], METHOD[2], Word("success")])
        }
        K::CodeLoaded => ("code_loaded", Lens::Jit, &[METHOD[0], METHOD[1], METHOD[2], Word("start"), Word("bytes")]),
        K::CodeUnloaded => ("code_unloaded", Lens::Jit, &METHOD),
        K::AllocInNewTlab => ("new_tlab", Lens::Alloc, &[Name("class"), Word("tlab"), Word("object")]),
        K::AllocOutsideTlab => ("outside_tlab", Lens::Alloc, &[Name("class"), Word("object")]),
        K::ExceptionCreated => ("exception_created", Lens::Exceptions, &[Name("class")]),
        K::MethodEntry => {
            ("method_entry", Lens::Methods, &[Word("subject"), Word("sp"), Word("wanted"), Word("depth")])
        }
        K::MethodReturn => ("method_return", Lens::Methods, &[Word("subject"), Word("sp"), Word("wanted")]),
        K::FrameUnwound => ("frame_unwound", Lens::Methods, &[Word("sp")]),
        K::MethodTimed => {
            ("method_timed", Lens::Methods, &[Word("subject"), Word("total"), Word("inner"), Word("timed")])
        }
        K::ObjectAlloc => {
            ("object_alloc", Lens::Alloc, &[Word("subject"), Word("bytes"), Word("length"), Word("wanted")])
        }
        K::JniEntry => ("jni_entry", Lens::Jni, &[Word("function"), Name("caller")]),
        K::JniReturn => ("jni_return", Lens::Jni, &[Word("function"), Name("caller"), Word("total"), Word("inner")]),
        K::JniSection => ("jni_section", Lens::Jni, &[Word("function"), Name("caller"), Word("lasted")]),
        K::IllegalTransition => {
            ("illegal_transition", Lens::Typestate, &[Word("at"), Word("object"), Word("class"), Word("history")])
        }
        K::Marks => ("marks", Lens::Markers, &[Word("buffer"), Word("first"), Word("count")]),
        K::OutOfMemory => ("out_of_memory", Lens::Exceptions, &[]),
        K::VmShutdown => ("vm_shutdown", Lens::Threads, &[]),
        K::CpuSample => ("cpu_sample", Lens::Cpu, &[Word("period")]),
        K::OffCpu => {
            ("off_cpu", Lens::Offcpu, &[Word("blocked"), Word("run_queue"), Word("task_state"), Word("syscall")])
        }
    }
}

/// What a kind is called.
pub(super) const fn word(kind: EventKind) -> &'static str {
    entry(kind).0
}

/// The lens that a kind's site belongs to.
pub(super) const fn lens(kind: EventKind) -> Lens {
    entry(kind).1
}

/// The fields of a kind.
pub(super) const fn fields(kind: EventKind) -> &'static [Field] {
    entry(kind).2
}

/// The kind that is called so.
pub(super) fn kind(name: &str) -> Option<EventKind> {
    EventKind::ALL.iter().copied().find(|kind| word(*kind) == name)
}

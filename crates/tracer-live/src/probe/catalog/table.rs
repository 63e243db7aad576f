//! The catalogue's table, in the order of the lenses and, within, of what happens.
//!
//! The arguments are those of HotSpot's `dtrace/hotspot.d` and `hs_private.d`; where they lie is the note's business.

use tracer_common::record::EventKind;

use super::{
    Flag, Function, Origin, Probe, Usdt,
    Word::{self, Argument, GcCause, LastGcCause, MonitorOwner, Name},
    function, stand_in,
};
use crate::{
    group::{EXCEPTIONS_GROUP, INSIDE_GROUP, METHODS_GROUP, OBJECTS_GROUP},
    lens::Lens,
};

const GC: &[Lens] = &[Lens::Gc];
/// The VM operation's name says what kind of pause a collection was.
const SAFEPOINT_AND_GC: &[Lens] = &[Lens::Safepoint, Lens::Gc];
const LOCKS: &[Lens] = &[Lens::Locks];
const THREADS: &[Lens] = &[Lens::Threads];
const CLASSES: &[Lens] = &[Lens::Classes];
const JIT: &[Lens] = &[Lens::Jit];
/// Whoever takes stacks must know when an address of code gets another meaning.
const CODE: &[Lens] = &[
    Lens::Jit,
    Lens::Safepoint,
    Lens::Locks,
    Lens::Threads,
    Lens::Classes,
    Lens::Alloc,
    Lens::Exceptions,
    Lens::Cpu,
    Lens::Offcpu,
    Lens::Wall,
    Lens::Methods,
    Lens::Calls,
    Lens::Explain,
    Lens::Jni,
    Lens::Markers,
    Lens::Typestate,
];
const ALLOC: &[Lens] = &[Lens::Alloc];
const EXCEPTIONS: &[Lens] = &[Lens::Exceptions];
const JNI: &[Lens] = &[Lens::Jni];
const INSIDE: &[Lens] = &[Lens::Markers, Lens::Typestate, Lens::Explain];
const TYPESTATE: &[Lens] = &[Lens::Typestate];
const METHODS: &[Lens] = &[Lens::Methods, Lens::Calls];

const fn probe(kind: EventKind, lenses: &'static [Lens], group: &'static str, origin: Origin) -> Probe {
    Probe { kind, lenses, group, flag: None, on_demand: false, dispensable: "", origin }
}

const fn usdt(name: &'static str, words: &'static [Word]) -> Usdt {
    Usdt { provider: "hotspot", name, words }
}

const fn only(name: &'static str, words: &'static [Word]) -> Origin {
    Origin::Usdt(usdt(name, words))
}

const fn or(name: &'static str, words: &'static [Word], functions: &'static [Function]) -> Origin {
    Origin::UsdtOr(usdt(name, words), functions)
}

/// The first argument is the Java thread's id, which the kernel's thread id makes needless.
const fn monitor(kind: EventKind, group: &'static str, name: &'static str, words: &'static [Word]) -> Probe {
    monitor_or(kind, group, name, words, &[])
}

/// The flag silences the note alone.
const fn monitor_or(
    kind: EventKind,
    group: &'static str,
    name: &'static str,
    words: &'static [Word],
    functions: &'static [Function],
) -> Probe {
    Probe { flag: Some(Flag::Monitor), ..probe(kind, LOCKS, group, or(name, words, functions)) }
}

/// Sites that fire as often as the program calls or allocates: only for those who ask for them.
const fn on_demand(kind: EventKind, lenses: &'static [Lens], flag: Flag, group: &'static str, origin: Origin) -> Probe {
    Probe { flag: Some(flag), on_demand: true, ..probe(kind, lenses, group, origin) }
}

const fn mem_pool(kind: EventKind, name: &'static str) -> Probe {
    Probe {
        dispensable: "memory pools are not told, and of ZGC and Shenandoah only pauses are counted, not collections",
        ..probe(kind, GC, "mem-pool", only(name, MEM_POOL))
    }
}

const fn class_init(kind: EventKind, name: &'static str, functions: &'static [Function]) -> Probe {
    probe(kind, CLASSES, "class-init", or(name, &[Name(1, 2), Argument(3)], functions))
}

/// A step of which no function tells.
const fn class_init_step(kind: EventKind, name: &'static str) -> Probe {
    Probe {
        dispensable: "a class counts as failed to initialise also where its superclass did, and later uses of such a class are not \
            counted",
        ..class_init(kind, name, &[])
    }
}

const MEM_POOL: &[Word] = &[Name(1, 2), Name(3, 4), Argument(5), Argument(6), Argument(7), Argument(8)];
const VM_OPERATION: &[Word] = &[Name(1, 2), Argument(3)];
const MONITOR: &[Word] = &[Argument(2), Name(3, 4)];
/// The last word is for user space to fill in.
const ENTER: &[Word] = &[Argument(2), Name(3, 4), MonitorOwner(2), Word::Constant(0)];
const THREAD: &[Word] = &[Name(1, 2), Argument(3), Argument(4), Argument(5)];
const CLASS: &[Word] = &[Name(1, 2), Argument(3), Argument(4)];

/// Every probe that a lens uses.
#[rustfmt::skip]
pub const PROBES: &[Probe] = &[
    probe(EventKind::GcBegin, GC, "gc", or("gc__begin", &[Argument(1), GcCause, LastGcCause], stand_in::GC_BEGIN)),
    probe(EventKind::GcEnd, GC, "gc", or("gc__end", &[GcCause, LastGcCause], stand_in::GC_END)),
    mem_pool(EventKind::MemPoolGcBegin, "mem__pool__gc__begin"),
    mem_pool(EventKind::MemPoolGcEnd, "mem__pool__gc__end"),

    probe(EventKind::VmOperationRequest, SAFEPOINT_AND_GC, "vm-operation-request", or("vmops__request", VM_OPERATION, stand_in::VM_OPERATION_REQUEST)),
    probe(EventKind::VmOperationBegin, SAFEPOINT_AND_GC, "vm-operation", or("vmops__begin", VM_OPERATION, stand_in::VM_OPERATION_BEGIN)),
    probe(EventKind::VmOperationEnd, SAFEPOINT_AND_GC, "vm-operation", or("vmops__end", VM_OPERATION, stand_in::VM_OPERATION_END)),
    probe(EventKind::SafepointBegin, SAFEPOINT_AND_GC, "safepoint", Origin::UsdtOr(
        Usdt { provider: "hs_private", name: "safepoint__begin", words: &[] }, &[function::SAFEPOINT_BEGIN])),
    probe(EventKind::SafepointEnd, SAFEPOINT_AND_GC, "safepoint", Origin::UsdtOr(
        Usdt { provider: "hs_private", name: "safepoint__end", words: &[] }, &[function::SAFEPOINT_END])),

    monitor_or(EventKind::MonitorContendedEnter, "contended", "monitor__contended__enter", ENTER, stand_in::CONTENDED_ENTER),
    monitor_or(EventKind::MonitorContendedEntered, "contended", "monitor__contended__entered", MONITOR, stand_in::CONTENDED_ENTERED),
    monitor_or(EventKind::MonitorContendedExit, "contended", "monitor__contended__exit", MONITOR, stand_in::CONTENDED_EXIT),
    monitor(EventKind::MonitorNotify, "notify", "monitor__notify", MONITOR),
    monitor(EventKind::MonitorNotifyAll, "notify", "monitor__notifyAll", MONITOR),
    monitor_or(EventKind::MonitorWait, "wait", "monitor__wait", &[Argument(2), Name(3, 4), Argument(5)], stand_in::MONITOR_WAIT),
    monitor_or(EventKind::MonitorWaited, "wait", "monitor__waited", MONITOR, stand_in::MONITOR_WAITED),
    probe(EventKind::ThreadParkBegin, LOCKS, "park",
        or("thread__park__begin", &[Argument(1), Argument(2), Argument(3)], stand_in::PARK_BEGIN)),
    probe(EventKind::ThreadParkEnd, LOCKS, "park", or("thread__park__end", &[Argument(1)], stand_in::PARK_END)),
    probe(EventKind::ThreadUnpark, LOCKS, "unpark", or("thread__unpark", &[Argument(1)], stand_in::UNPARK)),

    probe(EventKind::ThreadStart, THREADS, "thread", or("thread__start", THREAD, &[function::THREAD_START])),
    probe(EventKind::ThreadStop, THREADS, "thread", or("thread__stop", THREAD, &[function::THREAD_STOP])),
    probe(EventKind::ThreadStarting, THREADS, "thread-starting", Origin::Function(function::THREAD_STARTING)),
    probe(EventKind::ThreadSleepBegin, THREADS, "sleep", or("thread__sleep__begin", &[Argument(1)], stand_in::SLEEP_BEGIN)),
    probe(EventKind::ThreadSleepEnd, THREADS, "sleep", or("thread__sleep__end", &[Argument(1)], stand_in::SLEEP_END)),
    probe(EventKind::ThreadYield, THREADS, "yield", or("thread__yield", &[], &[function::THREAD_YIELD])),

    probe(EventKind::ClassLoaded, CLASSES, "class-load", or("class__loaded", CLASS, &[function::CLASS_LOADED])),
    probe(EventKind::ClassUnloaded, CLASSES, "class-load", or("class__unloaded", CLASS, &[function::CLASS_UNLOADED])),
    class_init_step(EventKind::ClassInitRequired, "class__initialization__required"),
    class_init_step(EventKind::ClassInitRecursive, "class__initialization__recursive"),
    class_init_step(EventKind::ClassInitErroneous, "class__initialization__erroneous"),
    class_init_step(EventKind::ClassInitConcurrent, "class__initialization__concurrent"),
    class_init_step(EventKind::ClassInitSuperFailed, "class__initialization__super__failed"),
    class_init(EventKind::ClassInitClinit, "class__initialization__clinit", stand_in::CLASS_CLINIT),
    class_init_step(EventKind::ClassInitError, "class__initialization__error"),
    class_init(EventKind::ClassInitEnd, "class__initialization__end", stand_in::CLASS_INITIALIZED),

    probe(EventKind::CompileBegin, JIT, "compile",
        or("method__compile__begin", &[Name(1, 2), Name(3, 4), Name(5, 6), Name(7, 8)], stand_in::COMPILE_BEGIN)),
    probe(EventKind::CompileEnd, JIT, "compile",
        or("method__compile__end", &[Name(1, 2), Name(3, 4), Name(5, 6), Name(7, 8), Argument(9)], stand_in::COMPILE_END)),
    probe(EventKind::CodeLoaded, CODE, "code",
        or("compiled__method__load", &[Name(1, 2), Name(3, 4), Name(5, 6), Argument(7), Argument(8)], stand_in::CODE_LOADED)),
    Probe {
        dispensable: "code that the JVM removes is not counted",
        ..probe(EventKind::CodeUnloaded, CODE, "code",
            only("compiled__method__unload", &[Name(1, 2), Name(3, 4), Name(5, 6)]))
    },

    probe(EventKind::AllocInNewTlab, ALLOC, "alloc", Origin::Function(function::ALLOC_IN_NEW_TLAB)),
    probe(EventKind::AllocOutsideTlab, ALLOC, "alloc", Origin::Function(function::ALLOC_OUTSIDE_TLAB)),

    probe(EventKind::ExceptionCreated, EXCEPTIONS, EXCEPTIONS_GROUP, Origin::Function(function::FILL_IN_STACK_TRACE)),

    Probe {
        dispensable: "an OutOfMemoryError that the JVM itself throws is not told with its place, because libjvm.so has no symbols",
        ..probe(EventKind::OutOfMemory, EXCEPTIONS, "out-of-memory", Origin::Function(function::OUT_OF_MEMORY))
    },

    on_demand(EventKind::ObjectAlloc, ALLOC, Flag::Alloc, OBJECTS_GROUP, Origin::Functions(function::OBJECT_ALLOC)),

    on_demand(EventKind::MethodEntry, METHODS, Flag::Method, METHODS_GROUP, Origin::Function(function::METHOD_ENTRY)),
    on_demand(EventKind::MethodReturn, METHODS, Flag::Method, METHODS_GROUP, Origin::Function(function::METHOD_EXIT)),
    Probe {
        dispensable: "errors are not told in full: a call that an exception ends counts as one that returns, except in code of C1, \
            because libjvm.so has no symbols of the functions that look for handlers",
        ..on_demand(EventKind::FrameUnwound, METHODS, Flag::Method, METHODS_GROUP, Origin::Functions(function::FRAME_UNWOUND))
    },

    probe(EventKind::JniEntry, JNI, "jni", Origin::Jni),
    probe(EventKind::JniReturn, JNI, "jni", Origin::Jni),

    probe(EventKind::IllegalTransition, TYPESTATE, INSIDE_GROUP, Origin::Inside(function::ILLEGAL_TRANSITION)),
    probe(EventKind::Marks, INSIDE, INSIDE_GROUP, Origin::Inside(function::MARKS_FLUSHED)),

    probe(EventKind::VmShutdown, Lens::ALL, "shutdown", or("vm__shutdown", &[], &[function::VM_SHUTDOWN])),
];

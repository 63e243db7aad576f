//! Functions that stand in for notes with a beginning and an end: their entry is the one, their returns are the other.
//!
//! A return has no arguments any more, so user space gives the end the words of its beginning ([`Rest::Beginning`]); what a
//! function gets a pointer to is looked up there as well. What was looked at: Corretto 25, Zulu 17 for musl and Zulu 11.0.2. Where another compiler
//! took a function into one of its `callers`, it is not used.
//!
//! What has no function here and why: memory pools are told from the middle of a function, once for each pool; a notify that
//! wakes nobody has a function and no note; a removed nmethod has a different function on each release, which is not always called.

use tracer_common::site::Operand;

use super::{
    Function, Moment, Rest, Word,
    function::{FUNCTION, RDI, RDX, RSI, SIL},
};

const fn end(function: Function, words: &'static [Word]) -> Function {
    Function { at: Moment::Exit, arguments: &[], words, rest: Rest::Beginning, lacks: "", ..function }
}

const NO_NAME: [Word; 2] = [Word::Constant(0), Word::AbsentName];
const MONITOR: &[Word] = &[Word::Argument(1), Word::MonitorClass(1)];

/// `(ObjectMonitor*, ...)`: called when a thread has given up spinning; the notes are hit within, at both ends.
const ENTER: Function = Function {
    arguments: &[RDI],
    words: &[Word::Argument(1), Word::MonitorClass(1), Word::MonitorOwner(1), Word::Constant(0)],
    rest: Rest::MonitorClass,
    ..FUNCTION
};
/// Since 24.
const ENTER_WITH_MARK: Function = Function {
    name: "ObjectMonitor::enter_with_contention_mark",
    symbols: &["_ZN13ObjectMonitor26enter_with_contention_markEP10JavaThreadR27ObjectMonitorContentionMark"],
    callers: &["_ZN13ObjectMonitor5enterEP10JavaThread"],
    ..ENTER
};
/// Up to 23: called in a loop that goes round for suspended threads only. Compilers like to take it in.
const ENTER_I: Function = Function {
    name: "ObjectMonitor::EnterI",
    symbols: &["_ZN13ObjectMonitor6EnterIEP10JavaThread", "_ZN13ObjectMonitor6EnterIEP6Thread"],
    callers: &["_ZN13ObjectMonitor5enterEP10JavaThread", "_ZN13ObjectMonitor5enterEP6Thread"],
    lacks: "a thread that is suspended while it waits for a monitor counts again when it goes on",
    ..ENTER
};
pub(super) const CONTENDED_ENTER: &[Function] = &[ENTER_WITH_MARK, ENTER_I];
pub(super) const CONTENDED_ENTERED: &[Function] = &[end(ENTER_WITH_MARK, &NO_NAME), end(ENTER_I, &NO_NAME)];

/// `(ObjectMonitor*, Thread*, ObjectWaiter*)`: wakes the next one; `monitor__contended__exit` is hit within.
pub(super) const CONTENDED_EXIT: &[Function] = &[Function {
    name: "ObjectMonitor::exit_epilog",
    symbols: &[
        "_ZN13ObjectMonitor11exit_epilogEP10JavaThreadP12ObjectWaiter",
        "_ZN13ObjectMonitor10ExitEpilogEP10JavaThreadP12ObjectWaiter",
        "_ZN13ObjectMonitor10ExitEpilogEP6ThreadP12ObjectWaiter",
    ],
    arguments: &[RDI],
    words: MONITOR,
    rest: Rest::MonitorClass,
    ..FUNCTION
}];

/// `(ObjectMonitor*, jlong, bool, Thread*)`; the first note is hit just before.
const WAIT: Function = Function {
    name: "ObjectMonitor::wait",
    symbols: &["_ZN13ObjectMonitor4waitElbP10JavaThread", "_ZN13ObjectMonitor4waitElbP6Thread"],
    callers: &["_ZN18ObjectSynchronizer4waitE6HandlelP10JavaThread", "_ZN18ObjectSynchronizer4waitE6HandlelP6Thread"],
    arguments: &[RDI, RSI],
    words: &[Word::Argument(1), Word::MonitorClass(1), Word::Argument(2)],
    rest: Rest::MonitorClass,
    lacks: "waits end where the thread has its monitor again, so their times include getting it back; waits of the JVM itself count too",
    ..FUNCTION
};
pub(super) const MONITOR_WAIT: &[Function] = &[WAIT];
pub(super) const MONITOR_WAITED: &[Function] = &[end(WAIT, &NO_NAME)];

/// `(Parker*, bool, jlong)`: both notes are hit around the call.
const PARKER_PARK: Function = Function {
    name: "Parker::park",
    symbols: &["_ZN6Parker4parkEbl"],
    callers: &["Unsafe_Park"],
    arguments: &[RDI, SIL, RDX],
    words: &[Word::Argument(1), Word::Argument(2), Word::Argument(3)],
    ..FUNCTION
};
pub(super) const PARK_BEGIN: &[Function] = &[PARKER_PARK];
pub(super) const PARK_END: &[Function] = &[end(PARKER_PARK, &[Word::Constant(0)])];

/// `(Parker*)`.
pub(super) const UNPARK: &[Function] = &[Function {
    name: "Parker::unpark",
    symbols: &["_ZN6Parker6unparkEv"],
    callers: &["Unsafe_Unpark"],
    arguments: &[RDI],
    words: &[Word::Argument(1)],
    lacks: "interrupting a thread counts as unparking it",
    ..FUNCTION
}];

/// `(JNIEnv*, jclass, jlong)`: milliseconds. Exported, so no `strip` removes it.
const SLEEP: Function = Function {
    name: "JVM_Sleep",
    symbols: &["JVM_Sleep"],
    arguments: &[RDX],
    words: &[Word::Argument(1)],
    lacks: "whether a sleep was interrupted is not known",
    ..FUNCTION
};
/// The same in nanoseconds, since 21.
const SLEEP_NANOS: Function =
    Function { name: "JVM_SleepNanos", symbols: &["JVM_SleepNanos"], rest: Rest::Milliseconds, ..SLEEP };
pub(super) const SLEEP_BEGIN: &[Function] = &[SLEEP_NANOS, SLEEP];
pub(super) const SLEEP_END: &[Function] = &[awake(SLEEP_NANOS), awake(SLEEP)];

const fn awake(sleep: Function) -> Function {
    Function { rest: Rest::Nothing, ..end(sleep, &[Word::Constant(0)]) }
}

/// `(VMThread*, VM_Operation*)`: both notes are hit within.
const EVALUATE: Function = Function {
    name: "VMThread::evaluate_operation",
    symbols: &["_ZN8VMThread18evaluate_operationEP12VM_Operation"],
    callers: &["_ZN8VMThread13inner_executeEP12VM_Operation", "_ZN8VMThread4loopEv"],
    arguments: &[RSI],
    words: &[Word::Pointee(1), Word::Constant(0)],
    rest: Rest::Operation,
    ..FUNCTION
};
pub(super) const VM_OPERATION_BEGIN: &[Function] = &[EVALUATE];
pub(super) const VM_OPERATION_END: &[Function] = &[end(EVALUATE, &[Word::AbsentName, Word::Constant(0)])];

/// `(VM_Operation*)`, since 15, and `(VM_Operation*)`, which leads to it there.
pub(super) const VM_OPERATION_REQUEST: &[Function] = &[
    Function {
        name: "VMThread::wait_until_executed",
        symbols: &["_ZN8VMThread19wait_until_executedEP12VM_Operation"],
        callers: &["_ZN8VMThread7executeEP12VM_Operation"],
        arguments: &[RDI],
        ..EVALUATE
    },
    Function {
        name: "VMThread::execute",
        symbols: &["_ZN8VMThread7executeEP12VM_Operation"],
        callers: &[],
        arguments: &[RDI],
        lacks: "requests of VM operations count also where the operation then finds nothing to do",
        ..EVALUATE
    },
];

const BEGUN: [Word; 3] = [Word::Constant(0), Word::GcCause, Word::LastGcCause];
const OVER: &[Word] = &[Word::GcCause, Word::LastGcCause];
const DIL: Operand = Operand { width: 1, ..RDI };

/// `(bool full)`: what the notes lie in. Both are empty without them, and still called where a collector stops the world.
pub(super) const GC_BEGIN: &[Function] = &[
    Function {
        name: "VM_GC_Operation::notify_gc_begin",
        symbols: &["_ZN15VM_GC_Operation15notify_gc_beginEb"],
        callers: G1,
        arguments: &[DIL],
        words: &[Word::Argument(1), Word::GcCause, Word::LastGcCause],
        ..FUNCTION
    },
    Function { words: &BEGUN, ..SERIAL },
    Function { words: &[Word::Constant(1), Word::GcCause, Word::LastGcCause], ..SERIAL_FULL },
];
pub(super) const GC_END: &[Function] = &[
    Function {
        name: "VM_GC_Operation::notify_gc_end",
        symbols: &["_ZN15VM_GC_Operation13notify_gc_endEv"],
        callers: G1,
        words: OVER,
        ..FUNCTION
    },
    Function { at: Moment::Exit, words: OVER, ..SERIAL },
    Function { at: Moment::Exit, words: OVER, ..SERIAL_FULL },
];
/// Collections of G1, which call both.
const G1: &[&str] = &[
    "_ZN15G1CollectedHeap39do_collection_pause_at_safepoint_helperEv",
    "_ZN15G1CollectedHeap39do_collection_pause_at_safepoint_helperEd",
    "_ZN15G1CollectedHeap32do_collection_pause_at_safepointEd",
];
/// Collections of Serial up to 20: their file is the empty functions' own, so a compiler leaves these out there.
const SERIAL: Function = Function {
    name: "VM_GenCollectForAllocation::doit",
    symbols: &["_ZN26VM_GenCollectForAllocation4doitEv"],
    ..FUNCTION
};
const SERIAL_FULL: Function =
    Function { name: "VM_GenCollectFull::doit", symbols: &["_ZN17VM_GenCollectFull4doitEv"], ..FUNCTION };

const INITIALIZE: &[&str] =
    &["_ZN13InstanceKlass15initialize_implEP10JavaThread", "_ZN13InstanceKlass15initialize_implEP6Thread"];

/// `(InstanceKlass*, Thread*)`.
pub(super) const CLASS_CLINIT: &[Function] = &[Function {
    name: "InstanceKlass::call_class_initializer",
    symbols: &[
        "_ZN13InstanceKlass22call_class_initializerEP10JavaThread",
        "_ZN13InstanceKlass22call_class_initializerEP6Thread",
    ],
    callers: INITIALIZE,
    arguments: &[RDI],
    words: &[Word::Klass(1), Word::Constant(0)],
    ..FUNCTION
}];

/// `(InstanceKlass*, ClassState, Thread*)`: how the initialisation has ended.
pub(super) const CLASS_INITIALIZED: &[Function] = &[Function {
    name: "InstanceKlass::set_initialization_state_and_notify",
    symbols: &[
        "_ZN13InstanceKlass35set_initialization_state_and_notifyENS_10ClassStateEP10JavaThread",
        "_ZN13InstanceKlass35set_initialization_state_and_notifyENS_10ClassStateEP6Thread",
    ],
    callers: INITIALIZE,
    arguments: &[RDI, SIL],
    words: &[Word::Klass(1), Word::Argument(2)],
    rest: Rest::ClassState,
    ..FUNCTION
}];

/// `(CompileTask*)`: both notes are hit within.
const COMPILE: Function = Function {
    name: "CompileBroker::invoke_compiler_on_method",
    symbols: &["_ZN13CompileBroker25invoke_compiler_on_methodEP11CompileTask"],
    callers: &["_ZN13CompileBroker20compiler_thread_loopEv"],
    arguments: &[RDI],
    words: &[Word::TaskLevel(1), Word::TaskMethod(1), Word::AbsentName, Word::AbsentName],
    rest: Rest::Task,
    lacks: "a compilation succeeds where it installs code; one that was under way at the beginning counts as such, without a name",
    ..FUNCTION
};
pub(super) const COMPILE_BEGIN: &[Function] = &[COMPILE];
pub(super) const COMPILE_END: &[Function] = &[end(COMPILE, &NO_NAMES)];
const NO_NAMES: [Word; 5] = [Word::AbsentName, Word::AbsentName, Word::AbsentName, Word::AbsentName, Word::Constant(1)];

/// `(nmethod*, ...)`: a compiler has installed code, and the JVM a wrapper of a native method.
const INSTALLED: Function = Function {
    arguments: &[RDI],
    words: &[Word::NmethodMethod(1), Word::AbsentName, Word::AbsentName, Word::Argument(1), Word::Constant(0)],
    rest: Rest::Nmethod,
    ..FUNCTION
};
pub(super) const CODE_LOADED: &[Function] = &[
    Function {
        name: "nmethod::post_compiled_method",
        symbols: &["_ZN7nmethod20post_compiled_methodEP11CompileTask"],
        ..INSTALLED
    },
    Function {
        name: "nmethod::post_compiled_method_load_event",
        symbols: &[
            "_ZN7nmethod31post_compiled_method_load_eventEP16JvmtiThreadState",
            "_ZN7nmethod31post_compiled_method_load_eventEv",
        ],
        ..INSTALLED
    },
];

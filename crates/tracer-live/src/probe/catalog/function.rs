//! Functions whose entry is a site: the allocation tracer, which has no USDT probe, and equivalents of USDT probes for
//! builds of the JVM without notes.
//!
//! The System V calling convention puts the first arguments into rdi, rsi, rdx, rcx; a `bool` is the lowest byte of its
//! register. Those with a beginning and an end are in [`super::stand_in`].

use tracer_common::site::{Operand, Register};

use super::{Function, Moment, Note, Rest, Which, Word};

pub(super) const RDI: Operand = Operand::register(Register::Rdi);
pub(super) const RSI: Operand = Operand::register(Register::Rsi);
pub(super) const RDX: Operand = Operand::register(Register::Rdx);
const RCX: Operand = Operand::register(Register::Rcx);
pub(super) const SIL: Operand = Operand { width: 1, ..Operand::register(Register::Rsi) };

/// What most functions have in common.
pub(super) const FUNCTION: Function = Function {
    name: "",
    symbols: &[],
    callers: &[],
    at: Moment::Entry,
    arguments: &[],
    words: &[],
    rest: Rest::Nothing,
    lacks: "",
    note: None,
};

/// `(Klass*, HeapWord*, size_t tlab_size, size_t alloc_size, Thread*)`. Both sizes are bytes: the callers of 8, 11, 17, 21
/// and 25 shift the TLAB's words left by 3 and pass the object's bytes. 8 passes a `KlassHandle`, which is a `Klass*` in a register.
pub(super) const ALLOC_IN_NEW_TLAB: Function = Function {
    name: "AllocTracer::send_allocation_in_new_tlab",
    symbols: &[
        "_ZN11AllocTracer27send_allocation_in_new_tlabEP5KlassPP12HeapWordImplmmP10JavaThread",
        "_ZN11AllocTracer27send_allocation_in_new_tlabEP5KlassPP12HeapWordImplmmP6Thread",
        "_ZN11AllocTracer27send_allocation_in_new_tlabEP5KlassP8HeapWordmmP6Thread",
        "_ZN11AllocTracer33send_allocation_in_new_tlab_eventE11KlassHandleP8HeapWordmmP6Thread",
    ],
    arguments: &[RDI, RSI, RDX, RCX],
    words: &[Word::Klass(1), Word::Argument(3), Word::Argument(4)],
    ..FUNCTION
};

/// `(Klass*, HeapWord*, size_t alloc_size, Thread*)`, in bytes as above.
pub(super) const ALLOC_OUTSIDE_TLAB: Function = Function {
    name: "AllocTracer::send_allocation_outside_tlab",
    symbols: &[
        "_ZN11AllocTracer28send_allocation_outside_tlabEP5KlassPP12HeapWordImplmP10JavaThread",
        "_ZN11AllocTracer28send_allocation_outside_tlabEP5KlassPP12HeapWordImplmP6Thread",
        "_ZN11AllocTracer28send_allocation_outside_tlabEP5KlassP8HeapWordmP6Thread",
        "_ZN11AllocTracer34send_allocation_outside_tlab_eventE11KlassHandleP8HeapWordmP6Thread",
    ],
    arguments: &[RDI, RSI, RDX],
    words: &[Word::Klass(1), Word::Argument(3)],
    ..FUNCTION
};

/// The VM thread starts to stop the other threads. `safepoint__begin` is hit within, after the same request.
pub(super) const SAFEPOINT_BEGIN: Function = Function {
    name: "SafepointSynchronize::begin",
    symbols: &["_ZN20SafepointSynchronize5beginEv"],
    arguments: &[],
    words: &[],
    ..FUNCTION
};

/// The VM thread starts to let the other threads go; `safepoint__end` is hit within, when it has done so.
pub(super) const SAFEPOINT_END: Function = Function {
    name: "SafepointSynchronize::end",
    symbols: &["_ZN20SafepointSynchronize3endEv"],
    arguments: &[],
    words: &[],
    lacks: "safepoints end where the JVM starts to release its threads, so their times lack the release itself",
    ..FUNCTION
};

/// First function of a new Java thread, on that thread, in which `thread__start` is hit.
pub(super) const THREAD_START: Function = Function {
    name: "JavaThread::run",
    symbols: &["_ZN10JavaThread3runEv"],
    arguments: &[],
    words: &[Word::AbsentName, Word::Constant(0), Word::Constant(0), Word::Constant(0)],
    lacks: "names of threads, their ids in Java and whether they are daemons are not known",
    ..FUNCTION
};

/// `(Thread*)`: the last thing that the starting thread does before the new one runs; by then that one has its id.
pub(super) const THREAD_STARTING: Function = Function {
    name: "os::start_thread",
    symbols: &["_ZN2os12start_threadEP6Thread"],
    arguments: &[RDI],
    words: &[Word::OsThreadId(1)],
    ..FUNCTION
};

/// Called on the thread itself after `JavaThread::run`, once. Since 12; 11 has no such function and so no fallback.
pub(super) const THREAD_STOP: Function = Function {
    name: "JavaThread::post_run",
    symbols: &["_ZN10JavaThread8post_runEv"],
    arguments: &[],
    words: &[Word::AbsentName, Word::Constant(0), Word::Constant(0), Word::Constant(0)],
    ..FUNCTION
};

/// The native method behind `Thread.yield`; `thread__yield` is its first act. Exported, so no `strip` removes it.
pub(super) const THREAD_YIELD: Function =
    Function { name: "JVM_Yield", symbols: &["JVM_Yield"], arguments: &[], words: &[], ..FUNCTION };

/// `(JNIEnv*, jobject exception)`: the native method behind `Throwable.fillInStackTrace`, which the constructors call where they shall
/// write a stack trace. The handle is a local one, which holds the object's address itself. Exported, so no `strip` removes it.
pub(super) const FILL_IN_STACK_TRACE: Function = Function {
    name: "JVM_FillInStackTrace",
    symbols: &["JVM_FillInStackTrace"],
    arguments: &[Operand::memory(Register::Rsi, 0)],
    words: &[Word::ObjectClass(1)],
    rest: Rest::ObjectClass,
    ..FUNCTION
};

/// `(const char* message)`: called each time before the JVM throws an `OutOfMemoryError` for the heap, metaspace, or an array that is too
/// long. Those that it has in store are not made like other exceptions.
/// <https://github.com/openjdk/jdk17u/blob/jdk-17.0.15-ga/src/hotspot/share/utilities/debug.cpp#L322>
pub(super) const OUT_OF_MEMORY: Function = Function {
    name: "report_java_out_of_memory",
    symbols: &["_Z25report_java_out_of_memoryPKc"],
    arguments: &[],
    words: &[],
    ..FUNCTION
};

/// `(InstanceKlass*, bool shared)`; `class__loaded` is hit within.
pub(super) const CLASS_LOADED: Function = Function {
    name: "ClassLoadingService::notify_class_loaded",
    symbols: &["_ZN19ClassLoadingService19notify_class_loadedEP13InstanceKlassb"],
    arguments: &[RDI, SIL],
    words: &[Word::Klass(1), Word::Constant(0), Word::Argument(2)],
    lacks: "class loaders of loaded classes are not known",
    ..FUNCTION
};

/// `(InstanceKlass*)`; `class__unloaded` is hit within, while the class still has its name.
pub(super) const CLASS_UNLOADED: Function = Function {
    name: "ClassLoadingService::notify_class_unloaded",
    symbols: &["_ZN19ClassLoadingService21notify_class_unloadedEP13InstanceKlass"],
    arguments: &[RDI],
    words: &[Word::Klass(1), Word::Constant(0), Word::Constant(0)],
    ..FUNCTION
};

/// The JVM begins to shut down, by `System.exit` or after the last thread. It can be entered by more than one thread;
/// the first entry is the shutdown.
pub(super) const VM_SHUTDOWN: Function = Function {
    name: "before_exit",
    symbols: &["_Z11before_exitP10JavaThreadb", "_Z11before_exitP10JavaThread"],
    arguments: &[],
    words: &[],
    ..FUNCTION
};

/// `(JavaThread*, Method*)`: called where the JVM's own code says that a method begins; `method__entry` is hit within. Read
/// at the entry, because there the method is a pointer, and nothing has been done yet.
pub(super) const METHOD_ENTRY: Function = Function {
    name: "SharedRuntime::dtrace_method_entry",
    symbols: &["_ZN13SharedRuntime19dtrace_method_entryEP10JavaThreadP6Method"],
    arguments: &[RDI, RSI],
    words: &[Word::Argument(2), Word::Constant(0), Word::Constant(0), Word::Constant(0)],
    note: Some(Note { name: "method__entry", which: Which::Single }),
    ..FUNCTION
};

/// `(JavaThread*, Method*)`: the same of its end.
pub(super) const METHOD_EXIT: Function = Function {
    name: "SharedRuntime::dtrace_method_exit",
    symbols: &["_ZN13SharedRuntime18dtrace_method_exitEP10JavaThreadP6Method"],
    arguments: &[RDI, RSI],
    words: &[Word::Argument(2), Word::Constant(0), Word::Constant(0)],
    note: Some(Note { name: "method__return", which: Which::Single }),
    ..FUNCTION
};

/// Called when an exception has left a frame, to find out who goes on: from the interpreter and from C1's code, and from C2's.
pub(super) const FRAME_UNWOUND: &[Function] = &[
    Function {
        name: "SharedRuntime::exception_handler_for_return_address",
        symbols: &["_ZN13SharedRuntime36exception_handler_for_return_addressEP10JavaThreadPh"],
        arguments: &[],
        words: &[Word::Constant(0)],
        lacks: "",
        ..FUNCTION
    },
    Function {
        name: "OptoRuntime::rethrow_C",
        symbols: &["_ZN11OptoRuntime9rethrow_CEP7oopDescP10JavaThreadPh"],
        arguments: &[],
        words: &[Word::Constant(0)],
        lacks: "",
        ..FUNCTION
    },
];

/// The functions that report an object, each with an `object__alloc` of its own within: from compiled and interpreted code,
/// and from the JVM's.
pub(super) const OBJECT_ALLOC: &[Function] = &[
    Function { symbols: &["_ZN13SharedRuntime19dtrace_object_allocEP7oopDesci"], ..OBJECT },
    Function { symbols: &["_ZN13SharedRuntime19dtrace_object_allocEP7oopDesc"], ..OBJECT },
    Function { symbols: &["_ZN13SharedRuntime24dtrace_object_alloc_baseEP6ThreadP7oopDesci"], ..OBJECT_OF_THREAD },
    Function { symbols: &["_ZN13SharedRuntime19dtrace_object_allocEP10JavaThreadP7oopDesc"], ..OBJECT_OF_THREAD },
    Function { symbols: &["_ZN13SharedRuntime19dtrace_object_allocEP10JavaThreadP7oopDescm"], ..OBJECT_OF_THREAD },
    // Only the first of them finds out itself which thread runs it.
    Function { note: Some(Note { name: "object__alloc", which: Which::FindsThread }), ..OBJECT },
    Function { note: Some(Note { name: "object__alloc", which: Which::GetsThread }), ..OBJECT_OF_THREAD },
];

/// `(oop, ...)`.
const OBJECT: Function = Function {
    name: "SharedRuntime::dtrace_object_alloc",
    symbols: &[],
    arguments: &[RDI],
    words: &[Word::Argument(1), Word::Constant(0), Word::Constant(0), Word::Constant(0)],
    ..FUNCTION
};

/// `(Thread*, oop, ...)`.
const OBJECT_OF_THREAD: Function = Function { arguments: &[RSI], ..OBJECT };

/// `(place and state, object, class, history)`: a property does not allow a symbol. Of the library in the JVM.
pub(super) const ILLEGAL_TRANSITION: Function = Function {
    name: "jtrace_illegal_transition",
    symbols: &["jtrace_illegal_transition"],
    arguments: &[RDI, RSI, RDX, RCX],
    words: &[Word::Argument(1), Word::Argument(2), Word::Argument(3), Word::Argument(4)],
    ..FUNCTION
};

/// `(words, how many, buffer and whether it is this thread's, words before)`: what woven code has told. Of the library in the JVM.
pub(super) const MARKS_FLUSHED: Function = Function {
    name: "jtrace_marks_flushed",
    symbols: &["jtrace_marks_flushed"],
    arguments: &[RDI, RSI, RDX, RCX],
    words: &[Word::Argument(3), Word::Argument(4), Word::Argument(2)],
    ..FUNCTION
};

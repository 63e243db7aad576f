//! The typed value of a record: what happened, when, on which thread. Names are ids, resolved by [`crate::names`].

pub mod fields;
mod ids;
mod monitor;
mod values;

pub use self::{
    ids::{NameId, SiteId, StackId, SubjectId, Tid},
    monitor::{Holder, MonitorAction, NoHolder},
    values::{ClassInit, Edge, MethodName, PauseStep},
};
pub use tracer_common::record::EventKind;

use crate::jni::Function;

/// Whether events of this kind come from a clock of the kernel: then they are no traps.
pub const fn is_clock(kind: u16) -> bool {
    kind == EventKind::CpuSample as u16 || kind == EventKind::OffCpu as u16
}

/// One thing that happened in the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// `CLOCK_MONOTONIC`, in nanoseconds.
    pub time_ns: u64,
    /// Thread that hit the site.
    pub tid: Tid,
    /// Site that was hit.
    pub site: SiteId,
    /// Stack of the thread at that moment.
    pub stack: StackId,
    /// What happened.
    pub payload: Payload,
}

/// The kinds of events with their values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Payload {
    /// A collection begins. `cause` and `last_cause` are HotSpot's `sun.gc.cause` and `sun.gc.lastCause` at this moment.
    GcBegin {
        /// Whole heap rather than a part of it.
        full: bool,
        /// What another recorder says that the pause is.
        step: PauseStep,
        /// Cause of the collection that is under way (`No GC` where it is not set yet).
        cause: NameId,
        /// Cause of the collection before.
        last_cause: NameId,
    },
    /// A collection ends.
    GcEnd {
        /// Cause of the collection that is under way (`No GC` where it is reset already).
        cause: NameId,
        /// Cause of the last finished collection.
        last_cause: NameId,
    },
    /// State of a memory pool before or after a collection.
    MemPool {
        /// Before or after.
        edge: Edge,
        /// Memory manager (the collector's part).
        manager: NameId,
        /// Memory pool.
        pool: NameId,
        /// Initial size.
        init_bytes: u64,
        /// Bytes in use.
        used_bytes: u64,
        /// Bytes that the JVM has from the system.
        committed_bytes: u64,
        /// Limit; `u64::MAX` where there is none.
        max_bytes: u64,
    },
    /// A VM operation was requested by this thread.
    VmOperationRequest {
        /// Name of the operation (`G1CollectForAllocation`).
        name: NameId,
        /// HotSpot's evaluation mode (0: at a safepoint).
        mode: u64,
    },
    /// A VM operation begins or ends.
    VmOperation {
        /// Begin or end.
        edge: Edge,
        /// Name of the operation.
        name: NameId,
        /// HotSpot's evaluation mode.
        mode: u64,
    },
    /// A safepoint begins (threads are being stopped) or ends.
    Safepoint {
        /// Begin or end.
        edge: Edge,
    },
    /// Something was done with a monitor.
    Monitor {
        /// What.
        action: MonitorAction,
        /// Address of the `ObjectMonitor`.
        monitor: u64,
        /// Class of the object whose monitor it is.
        class: NameId,
    },
    /// A look at all threads found this one blocked on a monitor; no site says so.
    MonitorBlocked {
        /// Address of the `ObjectMonitor`.
        monitor: u64,
        /// Class of the object whose monitor it is.
        class: NameId,
        /// Who held it when it was looked at.
        holder: Holder,
    },
    /// A look at all threads is over. Those that it found blocked were told before, with the same time.
    MonitorLook {
        /// How many were blocked.
        blocked: u64,
        /// How many threads there were.
        threads: u64,
    },
    /// `LockSupport.park` begins; `absolute` deadlines are in ms since the epoch, others in ns from now, 0 without limit.
    ParkBegin {
        /// Address of the thread's `Parker`.
        parker: u64,
        /// Whether `time` is a deadline.
        absolute: bool,
        /// Limit.
        time: u64,
    },
    /// `LockSupport.park` returns.
    ParkEnd {
        /// Address of the thread's `Parker`.
        parker: u64,
    },
    /// `LockSupport.unpark` is called for the owner of `parker`.
    Unpark {
        /// Address of the other thread's `Parker`.
        parker: u64,
    },
    /// A Java thread starts (fires on the new thread) or stops.
    Thread {
        /// Begin is start, end is stop.
        edge: Edge,
        /// Name of the thread.
        name: NameId,
        /// `Thread.threadId()`.
        java_tid: u64,
        /// Thread id as the JVM sees it (its own pid namespace).
        os_tid: u64,
        /// Whether it is a daemon.
        daemon: bool,
    },
    /// This thread starts another one (fires before that one runs).
    ThreadStarting {
        /// The new thread's id as the JVM sees it, which is in its start event too.
        os_tid: u64,
    },
    /// `Thread.sleep` begins or ends.
    Sleep {
        /// Begin or end.
        edge: Edge,
        /// Requested duration (begin), 0 at the end.
        duration_ns: u64,
        /// Whether it was interrupted (end).
        interrupted: bool,
    },
    /// `Thread.yield`.
    Yield,
    /// The JVM throws an `OutOfMemoryError` of its own: it finds no memory, and makes no exception for that.
    OutOfMemory,
    /// The JVM writes a stack trace into a new exception.
    ExceptionCreated {
        /// Name of its class with slashes.
        class: NameId,
    },
    /// A class was loaded.
    ClassLoaded {
        /// Name with slashes.
        class: NameId,
        /// Address of the `ClassLoaderData`, 0 for the boot loader on some releases.
        loader: u64,
        /// From the CDS archive.
        shared: bool,
    },
    /// A class was unloaded.
    ClassUnloaded {
        /// Name with slashes.
        class: NameId,
        /// Address of the `ClassLoaderData`.
        loader: u64,
    },
    /// A step in the initialisation of a class.
    ClassInitialization {
        /// The step.
        step: ClassInit,
        /// Name with slashes.
        class: NameId,
        /// Address of the class loader.
        loader: u64,
    },
    /// The compilation of a method begins or ends.
    Compile {
        /// Begin or end.
        edge: Edge,
        /// Name of the compiler.
        compiler: NameId,
        /// The method.
        method: MethodName,
        /// Whether it gave code (end; true at the beginning).
        success: bool,
    },
    /// Compiled code was installed.
    CodeLoaded {
        /// The method.
        method: MethodName,
        /// First address of its instructions.
        start: u64,
        /// Size of its instructions.
        bytes: u64,
    },
    /// Compiled code was removed.
    CodeUnloaded {
        /// The method.
        method: MethodName,
    },
    /// A thread-local allocation buffer was refilled: a sample of allocation.
    AllocInNewTlab {
        /// Class of the object that did not fit into the old buffer.
        class: NameId,
        /// Size of the new buffer.
        tlab_bytes: u64,
        /// Size of the object.
        object_bytes: u64,
    },
    /// An object was allocated outside of any thread-local buffer.
    AllocOutsideTlab {
        /// Class of the object.
        class: NameId,
        /// Size of the object.
        object_bytes: u64,
    },
    /// The JVM shuts down.
    VmShutdown,
    /// The thread was running when the sampling clock ticked.
    CpuSample {
        /// Time that the sample stands for.
        period_ns: u64,
    },
    /// The thread runs again after it had left its CPU; the stack is that of the moment when it left.
    OffCpu {
        /// From leaving the CPU until running again.
        blocked_ns: u64,
        /// Of these, ready to run and waiting for a CPU.
        run_queue_ns: u64,
        /// The kernel's task state when it left: 0 is preempted, 1 interruptible, 2 uninterruptible sleep.
        task_state: u64,
        /// Number of the system call that it was in; `u64::MAX` for none (a page fault, preemption).
        syscall: u64,
    },
    /// A method is called, or is left: it returns, or an exception ends it.
    Method {
        /// Entry or return.
        edge: Edge,
        /// The method that is declared, not the one of the receiver's class.
        method: SubjectId,
        /// Stack pointer at that moment, in the method's own frame: what tells whose return is missing.
        sp: u64,
        /// Whether the predicate wants it; what it does not want is here only because the kernel could not tell.
        wanted: bool,
    },
    /// An exception has left a frame of this thread; the method's own return comes just before.
    FrameUnwound {
        /// Stack pointer at that moment, some words below the caller's frame.
        sp: u64,
    },
    /// A call is over whose entry came as an event though the kernel counts itself: it did not know the method yet.
    MethodTimed {
        /// The method.
        method: SubjectId,
        /// Its duration, callees included.
        total_ns: u64,
        /// Of these, in callees that are chosen too.
        inner_ns: u64,
        /// Whether an exception ended it.
        exceptional: bool,
        /// Whether no entry was sent of it, so that it is to be counted now.
        uncounted: bool,
        /// Whether the predicate wants it.
        wanted: bool,
    },
    /// A call of a JNI function is over, or, where nothing tells of its end, it has begun.
    JniCall {
        /// The function.
        function: Function,
        /// The Java method, or the native code, that called it.
        caller: NameId,
        /// Its duration, unless it is not known.
        total_ns: Option<u64>,
        /// Of these, in JNI functions below it.
        inner_ns: u64,
        /// JNI calls under way on the thread, this one included.
        depth: u64,
        /// Whether the predicate wants it; what it does not want is here only because the kernel could not tell.
        wanted: bool,
    },
    /// A critical section of JNI is over.
    JniSection {
        /// The function that opened it.
        function: Function,
        /// Who opened it.
        caller: NameId,
        /// How long it was open.
        lasted_ns: u64,
        /// Whether the predicate wants the call that opened it.
        wanted: bool,
    },
    /// A symbol has come that its property does not allow in the state of the object.
    IllegalTransition {
        /// The place of the symbol.
        place: u32,
        /// The state.
        state: u8,
        /// Number of the object.
        object: u32,
        /// Number of its class.
        class: u32,
        /// The symbols before, 8 bits each, the latest lowest: its number and 1.
        history: u64,
    },
    /// Woven code has handed over what it had to tell; `tracer_query::mark` reads it.
    Marks {
        /// Number of the buffer.
        buffer: u32,
        /// Whether the buffer is this thread's.
        is_owner: bool,
        /// Words that came out of that buffer before.
        first: u64,
        /// Words that follow.
        count: u32,
        /// Words that came out of it now, and that the kernel kept back: nobody wants them.
        kept_back: u32,
    },
    /// An object was made.
    ObjectAlloc {
        /// Its class.
        class: SubjectId,
        /// Its size in the heap.
        bytes: u64,
        /// Elements, where it is an array.
        length: Option<u64>,
        /// Whether the predicate wants it; what it does not want is here only because the kernel could not tell.
        wanted: bool,
    },
}

//! The types of events, in the order of their numbers.

use super::{
    EventType, Field, Part, Type, Unit,
    shared::{
        APPLICATION, CLASSES, COLLECTOR, FUNCTION, GC_ID, JTRACE, METHOD, MONITOR, MONITOR_CLASS, OPERATION, PHASE,
        PHASES, RECORDER, REPORT, RUNTIME, SAFEPOINT, SAFEPOINT_ID, THROWN, event,
    },
};

/// All of them.
pub(in crate::export::jfr) const EVENTS: &[EventType] = &[
    event(
        Type::ExecutionSample,
        "jdk.ExecutionSample",
        "Method Profiling Sample",
        &["Java Virtual Machine", "Profiling"],
        &[
            Field::new("sampledThread", "Thread", Type::Thread),
            Field::new("stackTrace", "Stack Trace", Type::StackTrace),
            Field::new("state", "Thread State", Type::ThreadState),
        ],
    ),
    event(
        Type::JavaMonitorEnter,
        "jdk.JavaMonitorEnter",
        "Java Monitor Blocked",
        APPLICATION,
        &[MONITOR_CLASS, Field::new("previousOwner", "Previous Monitor Owner", Type::Thread), MONITOR],
    )
    .lasting()
    .at(Part::Java),
    event(
        Type::JavaMonitorWait,
        "jdk.JavaMonitorWait",
        "Java Monitor Wait",
        APPLICATION,
        &[MONITOR_CLASS, Field::number("timeout", "Timeout", Unit::Milliseconds), MONITOR],
    )
    .lasting()
    .at(Part::Java),
    event(
        Type::JavaMonitorNotify,
        "jdk.JavaMonitorNotify",
        "Java Monitor Notify",
        APPLICATION,
        &[MONITOR_CLASS, MONITOR],
    )
    .at(Part::Java),
    event(
        Type::ThreadPark,
        "jdk.ThreadPark",
        "Java Thread Park",
        APPLICATION,
        &[
            Field::new("parkedClass", "Class Parked On", Type::Class),
            Field::number("timeout", "Park Timeout", Unit::Nanoseconds),
            Field::number("until", "Park Until", Unit::SinceEpoch),
            Field::number("address", "Address of Object Parked", Unit::Address),
        ],
    )
    .lasting()
    .at(Part::Java),
    event(
        Type::ThreadSleep,
        "jdk.ThreadSleep",
        "Java Thread Sleep",
        APPLICATION,
        &[Field::number("time", "Sleep Time", Unit::Nanoseconds)],
    )
    .lasting()
    .at(Part::Java),
    event(
        Type::ThreadStart,
        "jdk.ThreadStart",
        "Java Thread Start",
        APPLICATION,
        &[
            Field::new("thread", "New Java Thread", Type::Thread),
            Field::new("parentThread", "Parent Java Thread", Type::Thread),
        ],
    )
    .at(Part::Java),
    event(
        Type::ThreadEnd,
        "jdk.ThreadEnd",
        "Java Thread End",
        APPLICATION,
        &[Field::new("thread", "Java Thread", Type::Thread)],
    )
    .on_thread(),
    event(
        Type::GarbageCollection,
        "jdk.GarbageCollection",
        "Garbage Collection",
        COLLECTOR,
        &[
            GC_ID,
            Field::new("name", "Name", Type::GcName),
            Field::new("cause", "Cause", Type::GcCause),
            Field::number("sumOfPauses", "Sum of Pauses", Unit::Ticks),
            Field::number("longestPause", "Longest Pause", Unit::Ticks),
        ],
    )
    .lasting()
    .on_thread(),
    event(Type::GcPhasePause, "jdk.GCPhasePause", "GC Phase Pause", PHASES, &PHASE).lasting().on_thread(),
    event(Type::YoungGarbageCollection, "jdk.YoungGarbageCollection", "Young Garbage Collection", COLLECTOR, &[GC_ID])
        .lasting()
        .on_thread(),
    event(Type::OldGarbageCollection, "jdk.OldGarbageCollection", "Old Garbage Collection", COLLECTOR, &[GC_ID])
        .lasting()
        .on_thread(),
    event(
        Type::GcHeapSummary,
        "jdk.GCHeapSummary",
        "Heap Summary",
        &["Java Virtual Machine", "GC", "Heap"],
        &[GC_ID, Field::new("when", "When", Type::GcWhen), Field::number("heapUsed", "Heap Used", Unit::Bytes)],
    ),
    event(
        Type::SafepointBegin,
        "jdk.SafepointBegin",
        "Safepoint Begin",
        SAFEPOINT,
        &[
            SAFEPOINT_ID,
            Field::new("totalThreadCount", "Total Threads", Type::Text),
            Field::new("jniCriticalThreadCount", "JNI Critical Threads", Type::Text),
        ],
    )
    .lasting()
    .on_thread(),
    event(
        Type::SafepointStateSynchronization,
        "jdk.SafepointStateSynchronization",
        "Safepoint State Synchronization",
        SAFEPOINT,
        &[SAFEPOINT_ID],
    )
    .lasting()
    .on_thread(),
    event(Type::SafepointEnd, "jdk.SafepointEnd", "Safepoint End", SAFEPOINT, &[SAFEPOINT_ID]).on_thread(),
    event(
        Type::ExecuteVmOperation,
        "jdk.ExecuteVMOperation",
        "VM Operation",
        RUNTIME,
        &[
            OPERATION,
            Field::new("safepoint", "At Safepoint", Type::Boolean),
            Field::new("blocking", "Caller Blocked", Type::Boolean),
            Field::new("caller", "Caller", Type::Thread),
            SAFEPOINT_ID,
        ],
    )
    .lasting()
    .on_thread(),
    event(
        Type::ObjectAllocationSample,
        "jdk.ObjectAllocationSample",
        "Object Allocation Sample",
        APPLICATION,
        &[
            Field::new("objectClass", "Object Class", Type::Class),
            Field::number("weight", "Sample Weight", Unit::Bytes),
            Field::number("objectSize", "Object Size", Unit::Bytes),
        ],
    )
    .at(Part::Java),
    event(
        Type::ClassLoad,
        "jdk.ClassLoad",
        "Class Load",
        CLASSES,
        &[Field::new("loadedClass", "Loaded Class", Type::Class)],
    )
    .at(Part::Java),
    event(
        Type::ClassUnload,
        "jdk.ClassUnload",
        "Class Unload",
        CLASSES,
        &[Field::new("unloadedClass", "Unloaded Class", Type::Class)],
    )
    .on_thread(),
    event(
        Type::Compilation,
        "jdk.Compilation",
        "Compilation",
        &["Java Virtual Machine", "Compiler"],
        &[
            Field::new("compiler", "Compiler", Type::Compiler),
            METHOD,
            Field::new("compileLevel", "Compilation Level", Type::Text),
            // The JDK's own spelling.
            Field::new("succeded", "Succeeded", Type::Boolean),
        ],
    )
    .lasting()
    .on_thread(),
    event(Type::JavaExceptionThrow, "jdk.JavaExceptionThrow", "Java Exception", APPLICATION, &THROWN).at(Part::Thrown),
    event(Type::Shutdown, "jdk.Shutdown", "JVM Shutdown", RUNTIME, &[Field::new("reason", "Reason", Type::Text)])
        .at(Part::Java),
    event(
        Type::JvmInformation,
        "jdk.JVMInformation",
        "JVM Information",
        &["Java Virtual Machine"],
        &[
            Field::new("jvmName", "JVM Name", Type::Text),
            Field::new("jvmVersion", "JVM Version", Type::Text),
            Field::new("jvmArguments", "JVM Command Line Arguments", Type::Text),
            Field::new("javaArguments", "Java Application Arguments", Type::Text),
            Field::number("jvmStartTime", "JVM Start Time", Unit::SinceEpoch),
            Field::new("pid", "Process Identifier", Type::Long),
        ],
    ),
    event(
        Type::ActiveRecording,
        "jdk.ActiveRecording",
        "Flight Recording",
        RECORDER,
        &[
            Field::new("id", "Id", Type::Long),
            Field::new("name", "Name", Type::Text),
            Field::new("destination", "Destination", Type::Text),
            Field::number("maxAge", "Max Age", Unit::Milliseconds),
            Field::number("maxSize", "Max Size", Unit::Bytes),
            Field::number("recordingStart", "Start Time", Unit::SinceEpoch),
            Field::number("recordingDuration", "Recording Duration", Unit::Milliseconds),
        ],
    ),
    event(
        Type::ActiveSetting,
        "jdk.ActiveSetting",
        "Recording Setting",
        RECORDER,
        &[
            Field::new("id", "Event Id", Type::Long),
            Field::new("name", "Setting Name", Type::Text),
            Field::new("value", "Setting Value", Type::Text),
        ],
    ),
    event(
        Type::OffCpu,
        "jtrace.OffCpu",
        "Off CPU",
        JTRACE,
        &[
            Field::number("runQueue", "Waiting for a CPU", Unit::Nanoseconds),
            Field::new("taskState", "Task State", Type::Symbol),
            Field::new("systemCall", "System Call", Type::Long),
        ],
    )
    .lasting()
    .at(Part::Whole),
    event(
        Type::MemoryPool,
        "jtrace.MemoryPool",
        "Memory Pool",
        JTRACE,
        &[
            Field::new("manager", "Manager", Type::Symbol),
            Field::new("pool", "Pool", Type::Symbol),
            Field::new("when", "When", Type::GcWhen),
            Field::number("used", "Used", Unit::Bytes),
            Field::number("committed", "Committed", Unit::Bytes),
        ],
    )
    .on_thread(),
    event(Type::VmOperationRequest, "jtrace.VMOperationRequest", "VM Operation Request", JTRACE, &[OPERATION])
        .at(Part::Java),
    event(
        Type::ObjectAllocation,
        "jtrace.ObjectAllocation",
        "Object Allocation",
        JTRACE,
        &[
            Field::new("objectClass", "Object Class", Type::Class),
            Field::number("size", "Size", Unit::Bytes),
            Field::new("length", "Array Length", Type::Long),
        ],
    )
    .at(Part::Java),
    event(Type::MethodEntry, "jtrace.MethodEntry", "Method Entry", JTRACE, &[METHOD]).at(Part::Java),
    event(Type::MethodReturn, "jtrace.MethodReturn", "Method Return", JTRACE, &[METHOD]).on_thread(),
    event(
        Type::MethodCall,
        "jtrace.MethodCall",
        "Method Call",
        JTRACE,
        &[
            METHOD,
            Field::number("selfTime", "Own Time", Unit::Nanoseconds),
            Field::new("exceptional", "Ended by an Exception", Type::Boolean),
        ],
    )
    .lasting()
    .at(Part::Java),
    event(
        Type::JniCall,
        "jtrace.JniCall",
        "JNI Call",
        JTRACE,
        &[FUNCTION[0], FUNCTION[1], Field::number("selfTime", "Own Time", Unit::Nanoseconds)],
    )
    .lasting()
    .at(Part::Whole),
    event(Type::JniCriticalSection, "jtrace.JniCriticalSection", "JNI Critical Section", JTRACE, &FUNCTION)
        .lasting()
        .at(Part::Whole),
    event(
        Type::Finding,
        "jtrace.Finding",
        "Finding",
        REPORT,
        &[
            Field::new("id", "Id", Type::Text),
            Field::new("severity", "Severity", Type::Text),
            Field::new("title", "Title", Type::Text),
            Field::new("evidence", "Evidence", Type::Text),
            Field::new("nextStep", "Next Step", Type::Text),
        ],
    ),
    event(
        Type::Completeness,
        "jtrace.Completeness",
        "Completeness",
        REPORT,
        &[
            Field::new("emitted", "Emitted Events", Type::Long),
            Field::new("delivered", "Delivered Events", Type::Long),
            Field::new("lost", "Lost Events", Type::Long),
            Field::new("refused", "Refused Hits", Type::Long),
            Field::new("undecodable", "Undecodable Records", Type::Long),
        ],
    ),
    event(
        Type::Site,
        "jtrace.Site",
        "Probe Site",
        REPORT,
        &[
            Field::new("probe", "Probe", Type::Text),
            Field::new("lens", "Lens", Type::Text),
            Field::new("hits", "Hits", Type::Long),
            Field::new("emitted", "Emitted Events", Type::Long),
            Field::new("delivered", "Delivered Events", Type::Long),
            Field::new("lost", "Lost Events", Type::Long),
            Field::new("state", "State", Type::Text),
        ],
    ),
    event(Type::Missing, "jtrace.Missing", "Missing", REPORT, &[Field::new("sentence", "Sentence", Type::Text)]),
    event(Type::GcPhasePauseLevel1, "jdk.GCPhasePauseLevel1", "GC Phase Pause Level 1", PHASES, &PHASE).lasting(),
    event(Type::GcPhasePauseLevel2, "jdk.GCPhasePauseLevel2", "GC Phase Pause Level 2", PHASES, &PHASE).lasting(),
    event(Type::GcPhasePauseLevel3, "jdk.GCPhasePauseLevel3", "GC Phase Pause Level 3", PHASES, &PHASE).lasting(),
    event(Type::GcPhasePauseLevel4, "jdk.GCPhasePauseLevel4", "GC Phase Pause Level 4", PHASES, &PHASE).lasting(),
    event(Type::JavaErrorThrow, "jdk.JavaErrorThrow", "Java Error", APPLICATION, &THROWN).at(Part::Thrown),
    event(Type::SocketRead, "jdk.SocketRead", "Socket Read", APPLICATION, &[]).lasting().at(Part::Java),
    event(Type::SocketWrite, "jdk.SocketWrite", "Socket Write", APPLICATION, &[]).lasting().at(Part::Java),
    event(Type::FileRead, "jdk.FileRead", "File Read", APPLICATION, &[]).lasting().at(Part::Java),
    event(Type::FileWrite, "jdk.FileWrite", "File Write", APPLICATION, &[]).lasting().at(Part::Java),
];

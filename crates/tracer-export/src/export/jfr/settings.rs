//! Which types of events a session can have, from the sites that it has: the settings that a chunk names.

use tracer_common::record::EventKind;

use super::schema::Type;
use crate::item::Site;

/// The types, each once, in the order of their numbers.
pub(super) fn of(sites: &[Site]) -> Vec<Type> {
    let kinds = sites.iter().filter_map(|site| EventKind::from_number(site.kind));
    let mut types: Vec<Type> = kinds.flat_map(types).copied().collect();
    types.sort_by_key(|of| of.id());
    types.dedup();
    types
}

/// What events of a kind become. An event with a beginning and an end is known at its end.
const fn types(kind: EventKind) -> &'static [Type] {
    use EventKind as K;
    match kind {
        K::GcEnd => &[
            Type::GarbageCollection,
            Type::GcPhasePause,
            Type::YoungGarbageCollection,
            Type::OldGarbageCollection,
            Type::GcHeapSummary,
        ],
        K::MemPoolGcBegin | K::MemPoolGcEnd => &[Type::MemoryPool],
        K::VmOperationRequest => &[Type::VmOperationRequest],
        K::VmOperationEnd => &[Type::ExecuteVmOperation],
        K::SafepointEnd => &[Type::SafepointBegin, Type::SafepointStateSynchronization, Type::SafepointEnd],
        K::MonitorContendedEntered => &[Type::JavaMonitorEnter],
        K::MonitorNotify | K::MonitorNotifyAll => &[Type::JavaMonitorNotify],
        K::MonitorWaited => &[Type::JavaMonitorWait],
        K::ThreadParkEnd => &[Type::ThreadPark],
        K::ThreadStart => &[Type::ThreadStart],
        K::ThreadStop => &[Type::ThreadEnd],
        K::ThreadSleepEnd => &[Type::ThreadSleep],
        K::ClassLoaded => &[Type::ClassLoad],
        K::ClassUnloaded => &[Type::ClassUnload],
        K::CompileEnd => &[Type::Compilation],
        K::AllocInNewTlab | K::AllocOutsideTlab => &[Type::ObjectAllocationSample],
        K::VmShutdown => &[Type::Shutdown],
        K::CpuSample => &[Type::ExecutionSample],
        K::OffCpu => &[Type::OffCpu],
        K::MethodEntry => &[Type::MethodEntry],
        K::MethodReturn => &[Type::MethodReturn],
        K::MethodTimed => &[Type::MethodCall],
        K::ObjectAlloc => &[Type::ObjectAllocation],
        K::JniEntry | K::JniReturn => &[Type::JniCall],
        K::JniSection => &[Type::JniCriticalSection],
        K::ExceptionCreated => &[Type::JavaExceptionThrow],
        // Beginnings, and what has no event of its own.
        K::GcBegin
        | K::VmOperationBegin
        | K::SafepointBegin
        | K::MonitorContendedEnter
        | K::MonitorContendedExit
        | K::MonitorWait
        | K::MonitorBlocked
        | K::MonitorLook
        | K::ThreadParkBegin
        | K::ThreadUnpark
        | K::ThreadSleepBegin
        | K::ThreadYield
        | K::ThreadStarting
        | K::ClassInitRequired
        | K::ClassInitRecursive
        | K::ClassInitErroneous
        | K::ClassInitConcurrent
        | K::ClassInitSuperFailed
        | K::ClassInitClinit
        | K::ClassInitError
        | K::ClassInitEnd
        | K::CompileBegin
        | K::CodeLoaded
        | K::CodeUnloaded
        | K::FrameUnwound
        | K::IllegalTransition
        | K::OutOfMemory
        | K::Marks => &[],
    }
}

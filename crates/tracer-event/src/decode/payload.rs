//! The words of an event by its kind.

use tracer_common::{
    jni::Flags,
    marks::{Word, hand},
    record::{EventKind, SubjectState, Timed},
};

use crate::{
    event::{ClassInit, Edge, Holder, MethodName, MonitorAction, NameId, PauseStep, Payload, SubjectId},
    jni::Function,
};

/// The little-endian word at a byte offset; 0 past the end, which callers exclude.
pub(super) fn word(bytes: &[u8], at: usize) -> u64 {
    bytes.get(at..).and_then(|rest| rest.first_chunk()).map_or(0, |chunk| u64::from_le_bytes(*chunk))
}

pub(super) struct Words<'a>(pub(super) &'a [u8]);

impl Words<'_> {
    fn at(&self, index: usize) -> u64 {
        word(self.0, 8 * index)
    }

    fn name(&self, index: usize) -> NameId {
        NameId(self.at(index))
    }

    fn subject(&self, index: usize) -> SubjectId {
        SubjectId(u32::try_from(self.at(index)).unwrap_or(SubjectId::UNKNOWN.0))
    }

    /// The lower half of a word.
    fn number(&self, index: usize) -> u32 {
        u32::try_from(self.at(index) & 0xffff_ffff).unwrap_or(0)
    }

    /// The upper half.
    fn upper(&self, index: usize) -> u32 {
        u32::try_from(self.at(index) >> 32).unwrap_or(0)
    }

    fn function(&self) -> Function {
        Function(u16::try_from(self.at(0) & 0xffff).unwrap_or(u16::MAX))
    }

    fn flag(&self, index: usize) -> bool {
        self.at(index) != 0
    }

    fn method(&self, index: usize) -> MethodName {
        MethodName { class: self.name(index), method: self.name(index + 1), signature: self.name(index + 2) }
    }
}

/// What the library in the JVM tells.
fn inside(kind: EventKind, words: &Words<'_>) -> Payload {
    if kind == EventKind::Marks {
        return Payload::Marks {
            buffer: words.number(0),
            is_owner: words.upper(0) & hand::OWNER != 0,
            first: words.at(1),
            count: words.number(2),
            kept_back: words.upper(2),
        };
    }
    let at = Word(words.at(0));
    Payload::IllegalTransition {
        place: at.place(),
        state: at.state(),
        object: words.number(1),
        class: words.number(2),
        history: words.at(3),
    }
}

fn gc_begin(words: &Words<'_>) -> Payload {
    // The flag of the JVM is a byte; what stands above it, another recorder says.
    let [flag, step, ..] = words.at(0).to_le_bytes();
    let step = PauseStep::from_number(step);
    Payload::GcBegin { full: flag != 0, step, cause: words.name(1), last_cause: words.name(2) }
}

pub(super) fn payload(kind: EventKind, words: &Words<'_>) -> Payload {
    match kind {
        EventKind::GcBegin => gc_begin(words),
        EventKind::GcEnd => Payload::GcEnd { cause: words.name(0), last_cause: words.name(1) },
        EventKind::MemPoolGcBegin => mem_pool(Edge::Begin, words),
        EventKind::MemPoolGcEnd => mem_pool(Edge::End, words),
        EventKind::VmOperationRequest => Payload::VmOperationRequest { name: words.name(0), mode: words.at(1) },
        EventKind::VmOperationBegin => {
            Payload::VmOperation { edge: Edge::Begin, name: words.name(0), mode: words.at(1) }
        }
        EventKind::VmOperationEnd => Payload::VmOperation { edge: Edge::End, name: words.name(0), mode: words.at(1) },
        EventKind::SafepointBegin => Payload::Safepoint { edge: Edge::Begin },
        EventKind::SafepointEnd => Payload::Safepoint { edge: Edge::End },
        EventKind::MonitorContendedEnter => {
            monitor(MonitorAction::ContendedEnter { holder: Holder::from_word(words.at(3)) }, words)
        }
        EventKind::MonitorContendedEntered => monitor(MonitorAction::ContendedEntered, words),
        EventKind::MonitorContendedExit => monitor(MonitorAction::ContendedExit, words),
        EventKind::MonitorNotify => monitor(MonitorAction::Notify, words),
        EventKind::MonitorNotifyAll => monitor(MonitorAction::NotifyAll, words),
        EventKind::MonitorWait => monitor(MonitorAction::Wait { timeout_ms: words.at(2) }, words),
        EventKind::MonitorWaited => monitor(MonitorAction::Waited, words),
        EventKind::MonitorBlocked => Payload::MonitorBlocked {
            monitor: words.at(0),
            class: words.name(1),
            holder: Holder::from_word(words.at(2)),
        },
        EventKind::MonitorLook => Payload::MonitorLook { blocked: words.at(0), threads: words.at(1) },
        EventKind::ThreadParkBegin => {
            Payload::ParkBegin { parker: words.at(0), absolute: words.flag(1), time: words.at(2) }
        }
        EventKind::ThreadParkEnd => Payload::ParkEnd { parker: words.at(0) },
        EventKind::ThreadUnpark => Payload::Unpark { parker: words.at(0) },
        EventKind::ThreadStart => thread(Edge::Begin, words),
        EventKind::ThreadStop => thread(Edge::End, words),
        EventKind::ThreadSleepBegin => {
            // All releases give milliseconds, those after 20 by dividing.
            let duration_ns = words.at(0).saturating_mul(1_000_000);
            Payload::Sleep { edge: Edge::Begin, duration_ns, interrupted: false }
        }
        EventKind::ThreadSleepEnd => Payload::Sleep { edge: Edge::End, duration_ns: 0, interrupted: words.flag(0) },
        EventKind::ThreadYield => Payload::Yield,
        EventKind::ThreadStarting => Payload::ThreadStarting { os_tid: words.at(0) & 0xffff_ffff },
        EventKind::ClassLoaded => {
            Payload::ClassLoaded { class: words.name(0), loader: words.at(1), shared: words.flag(2) }
        }
        EventKind::ClassUnloaded => Payload::ClassUnloaded { class: words.name(0), loader: words.at(1) },
        EventKind::ClassInitRequired => class_init(ClassInit::Required, words),
        EventKind::ClassInitRecursive => class_init(ClassInit::Recursive, words),
        EventKind::ClassInitErroneous => class_init(ClassInit::Erroneous, words),
        EventKind::ClassInitConcurrent => class_init(ClassInit::Concurrent, words),
        EventKind::ClassInitSuperFailed => class_init(ClassInit::SuperFailed, words),
        EventKind::ClassInitClinit => class_init(ClassInit::Clinit, words),
        EventKind::ClassInitError => class_init(ClassInit::Error, words),
        EventKind::ClassInitEnd => class_init(ClassInit::End, words),
        EventKind::CompileBegin => {
            Payload::Compile { edge: Edge::Begin, compiler: words.name(0), method: words.method(1), success: true }
        }
        EventKind::CompileEnd => Payload::Compile {
            edge: Edge::End,
            compiler: words.name(0),
            method: words.method(1),
            success: words.flag(4),
        },
        EventKind::CodeLoaded => {
            Payload::CodeLoaded { method: words.method(0), start: words.at(3), bytes: words.at(4) }
        }
        EventKind::CodeUnloaded => Payload::CodeUnloaded { method: words.method(0) },
        EventKind::AllocInNewTlab => {
            Payload::AllocInNewTlab { class: words.name(0), tlab_bytes: words.at(1), object_bytes: words.at(2) }
        }
        EventKind::AllocOutsideTlab => Payload::AllocOutsideTlab { class: words.name(0), object_bytes: words.at(1) },
        EventKind::ExceptionCreated => Payload::ExceptionCreated { class: words.name(0) },
        EventKind::OutOfMemory => Payload::OutOfMemory,
        EventKind::VmShutdown => Payload::VmShutdown,
        EventKind::CpuSample => Payload::CpuSample { period_ns: words.at(0) },
        EventKind::OffCpu => Payload::OffCpu {
            blocked_ns: words.at(0),
            run_queue_ns: words.at(1),
            task_state: words.at(2),
            syscall: words.at(3),
        },
        EventKind::MethodEntry => method_edge(Edge::Begin, words),
        EventKind::MethodReturn => method_edge(Edge::End, words),
        EventKind::FrameUnwound => Payload::FrameUnwound { sp: words.at(0) },
        EventKind::MethodTimed => Payload::MethodTimed {
            method: words.subject(0),
            total_ns: words.at(1),
            inner_ns: words.at(2),
            exceptional: words.at(3) & Timed::EXCEPTIONAL != 0,
            uncounted: words.at(3) & Timed::UNCOUNTED != 0,
            wanted: words.at(3) & Timed::UNWANTED == 0,
        },
        EventKind::IllegalTransition | EventKind::Marks => inside(kind, words),
        EventKind::JniEntry | EventKind::JniReturn | EventKind::JniSection => jni(kind, words),
        EventKind::ObjectAlloc => Payload::ObjectAlloc {
            class: words.subject(0),
            bytes: words.at(1),
            length: Some(words.at(2)).filter(|&length| length != u64::MAX),
            wanted: words.at(3) != SubjectState::Unwanted as u64,
        },
    }
}

fn method_edge(edge: Edge, words: &Words<'_>) -> Payload {
    let wanted = words.at(2) != SubjectState::Unwanted as u64;
    Payload::Method { edge, method: words.subject(0), sp: words.at(1), wanted }
}

fn jni(kind: EventKind, words: &Words<'_>) -> Payload {
    let first = words.at(0);
    let (function, caller, wanted) = (words.function(), words.name(1), first & Flags::UNWANTED == 0);
    if kind == EventKind::JniSection {
        return Payload::JniSection { function, caller, lasted_ns: words.at(2), wanted };
    }
    let timed = kind == EventKind::JniReturn && first & Flags::UNTIMED == 0;
    Payload::JniCall {
        function,
        caller,
        total_ns: timed.then(|| words.at(2)),
        inner_ns: if timed { words.at(3) } else { 0 },
        depth: first >> 32,
        wanted,
    }
}

fn mem_pool(edge: Edge, words: &Words<'_>) -> Payload {
    Payload::MemPool {
        edge,
        manager: words.name(0),
        pool: words.name(1),
        init_bytes: words.at(2),
        used_bytes: words.at(3),
        committed_bytes: words.at(4),
        max_bytes: words.at(5),
    }
}

fn monitor(action: MonitorAction, words: &Words<'_>) -> Payload {
    Payload::Monitor { action, monitor: words.at(0), class: words.name(1) }
}

fn thread(edge: Edge, words: &Words<'_>) -> Payload {
    Payload::Thread { edge, name: words.name(0), java_tid: words.at(1), os_tid: words.at(2), daemon: words.flag(3) }
}

fn class_init(step: ClassInit, words: &Words<'_>) -> Payload {
    Payload::ClassInitialization { step, class: words.name(0), loader: words.at(1) }
}

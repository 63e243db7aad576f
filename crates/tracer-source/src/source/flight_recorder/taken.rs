//! The types of events that have a place among jtrace's: of each the lens, and how it is read. All others are counted.

#![expect(clippy::unnecessary_wraps, reason = "all readers have one type, and some events may lack what they must say")]

use tracer_common::record::EventKind;

use super::{
    edges::{Edges, Head},
    order::Within,
    values::Object,
};
use crate::{
    event::{SiteId, StackId},
    lens::Lens,
};

/// A type of events that is taken.
pub(super) struct Taken {
    pub(super) name: &'static str,
    pub(super) lens: Lens,
    /// What an event counts as: of something that lasts, its end.
    pub(super) kind: EventKind,
    /// Gives nothing where the event does not say what it must.
    pub(super) read: Read,
}

/// Takes an event of the file.
type Read = fn(&mut Edges, &Object<'_, '_>, SiteId) -> Option<()>;

const fn taken(name: &'static str, lens: Lens, kind: EventKind, read: Read) -> Taken {
    Taken { name, lens, kind, read }
}

/// All of them. Their order is that of the report's sites.
#[rustfmt::skip]
pub(super) const TAKEN: &[Taken] = &[
    taken("jdk.GCPhasePause", Lens::Gc, EventKind::GcEnd, pause),
    taken("jdk.SafepointEnd", Lens::Safepoint, EventKind::SafepointEnd, let_go),
    taken("jdk.ExecuteVMOperation", Lens::Safepoint, EventKind::VmOperationEnd, operation),
    taken("jdk.JavaMonitorEnter", Lens::Locks, EventKind::MonitorContendedEntered, monitor_enter),
    taken("jdk.JavaMonitorWait", Lens::Locks, EventKind::MonitorWaited, monitor_wait),
    taken("jdk.JavaMonitorNotify", Lens::Locks, EventKind::MonitorNotify, monitor_notify),
    taken("jdk.ThreadPark", Lens::Locks, EventKind::ThreadParkEnd, park),
    taken("jdk.ThreadStart", Lens::Threads, EventKind::ThreadStart, thread_start),
    taken("jdk.ThreadEnd", Lens::Threads, EventKind::ThreadStop, thread_end),
    taken("jdk.ThreadSleep", Lens::Threads, EventKind::ThreadSleepEnd, sleep),
    taken("jdk.ClassLoad", Lens::Classes, EventKind::ClassLoaded, class_load),
    taken("jdk.ClassUnload", Lens::Classes, EventKind::ClassUnloaded, class_unload),
    taken("jdk.Compilation", Lens::Jit, EventKind::CompileEnd, compilation),
    taken(ALLOCATION_SAMPLE, Lens::Alloc, EventKind::AllocInNewTlab, allocation_sample),
    taken(IN_NEW_TLAB, Lens::Alloc, EventKind::AllocInNewTlab, in_new_tlab),
    taken(OUTSIDE_TLAB, Lens::Alloc, EventKind::AllocOutsideTlab, outside_tlab),
    taken("jdk.JavaExceptionThrow", Lens::Exceptions, EventKind::ExceptionCreated, exception),
    taken(EXECUTION_SAMPLE, Lens::Cpu, EventKind::CpuSample, execution_sample),
    taken(CPU_TIME_SAMPLE, Lens::Cpu, EventKind::CpuSample, cpu_time_sample),
];

pub(super) const EXECUTION_SAMPLE: &str = "jdk.ExecutionSample";
pub(super) const CPU_TIME_SAMPLE: &str = "jdk.CPUTimeSample";
pub(super) const ALLOCATION_SAMPLE: &str = "jdk.ObjectAllocationSample";
pub(super) const IN_NEW_TLAB: &str = "jdk.ObjectAllocationInNewTLAB";
pub(super) const OUTSIDE_TLAB: &str = "jdk.ObjectAllocationOutsideTLAB";
/// Tells of collections, whose pauses are taken.
pub(super) const COLLECTION: &str = "jdk.GarbageCollection";
/// Tells when a safepoint was asked for, whose end is taken.
pub(super) const STOP: &str = "jdk.SafepointBegin";

const THREAD: &str = "eventThread";

/// Its place in the list.
pub(super) fn site_of(name: &str) -> Option<usize> {
    TAKEN.iter().position(|taken| taken.name == name)
}

/// Takes an event that tells something of those that are taken.
pub(super) fn beside(edges: &mut Edges, name: &str, event: &Object<'_, '_>) -> Option<()> {
    match name {
        COLLECTION => {
            let cause = edges.known.name_or_none(event.text("cause").as_deref());
            let part = event.text("name");
            edges.collection(event.number("gcId")?, part.as_deref().unwrap_or_default(), cause);
        }
        STOP => {
            let Head { tid, .. } = edges.head(event, THREAD, SiteId(0));
            edges.stop(event.number("safepointId")?, event.stretch().0, tid);
        }
        _ => {}
    }
    Some(())
}

fn pause(edges: &mut Edges, event: &Object<'_, '_>, site: SiteId) -> Option<()> {
    let head = edges.head(event, THREAD, site);
    edges.pause(event.stretch(), head, event.number("gcId")?);
    Some(())
}

fn let_go(edges: &mut Edges, event: &Object<'_, '_>, site: SiteId) -> Option<()> {
    edges.go(event.number("safepointId")?, event.stretch().1, site).then_some(())
}

fn operation(edges: &mut Edges, event: &Object<'_, '_>, site: SiteId) -> Option<()> {
    let head = edges.head(event, THREAD, site);
    let name = edges.known.name_or_none(event.text("operation").as_deref());
    // The second word is HotSpot's mode: 0 is at a safepoint, 1 beside the program.
    let mode = u64::from(!event.flag("safepoint")?);
    let words: &[u64] = &[name.0, mode];
    let both = [(EventKind::VmOperationBegin, words), (EventKind::VmOperationEnd, words)];
    edges.add_stretch(event.stretch(), Within::Operation, head, both);
    Some(())
}

fn monitor_enter(edges: &mut Edges, event: &Object<'_, '_>, site: SiteId) -> Option<()> {
    let head = edges.head(event, THREAD, site);
    let class = edges.known.class(event, "monitorClass");
    // Who had it last need not be who held it when the thread came, so no holder is named.
    let words: &[u64] = &[event.address("address"), class.0];
    let both = [(EventKind::MonitorContendedEnter, words), (EventKind::MonitorContendedEntered, words)];
    edges.add_stretch(event.stretch(), Within::Thread, head, both);
    Some(())
}

fn monitor_wait(edges: &mut Edges, event: &Object<'_, '_>, site: SiteId) -> Option<()> {
    let head = edges.head(event, THREAD, site);
    let class = edges.known.class(event, "monitorClass");
    let timeout_ms = event.span_ns("timeout").unwrap_or(0) / 1_000_000;
    let words: &[u64] = &[event.address("address"), class.0, timeout_ms];
    let both = [(EventKind::MonitorWait, words), (EventKind::MonitorWaited, &words[..2])];
    edges.add_stretch(event.stretch(), Within::Thread, head, both);
    Some(())
}

fn monitor_notify(edges: &mut Edges, event: &Object<'_, '_>, site: SiteId) -> Option<()> {
    let head = edges.head(event, THREAD, site);
    let class = edges.known.class(event, "monitorClass");
    edges.add(event.stretch().0, head, EventKind::MonitorNotify, &[event.address("address"), class.0]);
    Some(())
}

fn park(edges: &mut Edges, event: &Object<'_, '_>, site: SiteId) -> Option<()> {
    let head = edges.head(event, THREAD, site);
    let address = event.address("address");
    let words: &[u64] = &[address, 0, event.span_ns("timeout").unwrap_or(0)];
    let both = [(EventKind::ThreadParkBegin, words), (EventKind::ThreadParkEnd, &words[..1])];
    edges.add_stretch(event.stretch(), Within::Thread, head, both);
    Some(())
}

fn thread_start(edges: &mut Edges, event: &Object<'_, '_>, site: SiteId) -> Option<()> {
    let thread = edges.thread(event, "thread")?;
    let time_ns = event.stretch().0;
    // The stack is that of who started it.
    let starter = edges.head(event, "parentThread", site);
    if starter.tid.0 != 0 {
        edges.add_beside(time_ns, starter, EventKind::ThreadStarting, &[thread.tid.0.into()]);
    }
    let head = Head { tid: thread.tid, stack: StackId::default(), site };
    let words = [thread.name.0, thread.java_tid, thread.tid.0.into()];
    edges.add(time_ns, head, EventKind::ThreadStart, &words);
    Some(())
}

fn thread_end(edges: &mut Edges, event: &Object<'_, '_>, site: SiteId) -> Option<()> {
    let thread = edges.thread(event, "thread")?;
    let head = Head { tid: thread.tid, ..edges.head(event, "thread", site) };
    let words = [thread.name.0, thread.java_tid, thread.tid.0.into()];
    edges.add(event.stretch().0, head, EventKind::ThreadStop, &words);
    Some(())
}

fn sleep(edges: &mut Edges, event: &Object<'_, '_>, site: SiteId) -> Option<()> {
    let head = edges.head(event, THREAD, site);
    let asked_ms = event.span_ns("time").unwrap_or(0) / 1_000_000;
    let both: [(EventKind, &[u64]); 2] =
        [(EventKind::ThreadSleepBegin, &[asked_ms]), (EventKind::ThreadSleepEnd, &[0])];
    edges.add_stretch(event.stretch(), Within::Thread, head, both);
    Some(())
}

fn class_load(edges: &mut Edges, event: &Object<'_, '_>, site: SiteId) -> Option<()> {
    let head = edges.head(event, THREAD, site);
    let class = edges.known.class(event, "loadedClass");
    let loader = event.key("definingClassLoader").unwrap_or(0).cast_unsigned();
    edges.add(event.stretch().1, head, EventKind::ClassLoaded, &[class.0, loader, 0]);
    Some(())
}

fn class_unload(edges: &mut Edges, event: &Object<'_, '_>, site: SiteId) -> Option<()> {
    let head = edges.head(event, THREAD, site);
    let class = edges.known.class(event, "unloadedClass");
    let loader = event.key("definingClassLoader").unwrap_or(0).cast_unsigned();
    edges.add(event.stretch().0, head, EventKind::ClassUnloaded, &[class.0, loader, 0]);
    Some(())
}

fn compilation(edges: &mut Edges, event: &Object<'_, '_>, site: SiteId) -> Option<()> {
    let head = edges.head(event, THREAD, site);
    let compiler = edges.known.name_or_none(event.text("compiler").as_deref());
    let [class, method, signature] = edges.known.method(event, "method");
    let success = event.flag("succeded").or_else(|| event.flag("succeeded"))?;
    let words: &[u64] = &[compiler.0, class.0, method.0, signature.0, success.into()];
    let both = [(EventKind::CompileBegin, &words[..4]), (EventKind::CompileEnd, words)];
    edges.add_stretch(event.stretch(), Within::Thread, head, both);
    Some(())
}

fn allocation_sample(edges: &mut Edges, event: &Object<'_, '_>, site: SiteId) -> Option<()> {
    let head = edges.head(event, THREAD, site);
    let class = edges.known.class(event, "objectClass");
    // What a sample stands for, as the bytes of a thread's buffer are; how large the object is it does not say.
    let words = [class.0, u64::try_from(event.number("weight")?).ok()?, 0];
    edges.add(event.stretch().0, head, EventKind::AllocInNewTlab, &words);
    Some(())
}

fn in_new_tlab(edges: &mut Edges, event: &Object<'_, '_>, site: SiteId) -> Option<()> {
    let head = edges.head(event, THREAD, site);
    let class = edges.known.class(event, "objectClass");
    let words = [class.0, event.amount("tlabSize"), event.amount("allocationSize")];
    edges.add(event.stretch().0, head, EventKind::AllocInNewTlab, &words);
    Some(())
}

fn outside_tlab(edges: &mut Edges, event: &Object<'_, '_>, site: SiteId) -> Option<()> {
    let head = edges.head(event, THREAD, site);
    let class = edges.known.class(event, "objectClass");
    edges.add(event.stretch().0, head, EventKind::AllocOutsideTlab, &[class.0, event.amount("allocationSize")]);
    Some(())
}

fn exception(edges: &mut Edges, event: &Object<'_, '_>, site: SiteId) -> Option<()> {
    let head = edges.head(event, THREAD, site);
    let class = edges.known.class(event, "thrownClass");
    edges.add(event.stretch().0, head, EventKind::ExceptionCreated, &[class.0]);
    Some(())
}

fn execution_sample(edges: &mut Edges, event: &Object<'_, '_>, site: SiteId) -> Option<()> {
    let head = edges.head(event, "sampledThread", site);
    // What it stands for says a setting, which may come later.
    edges.add(event.stretch().0, head, EventKind::CpuSample, &[0]);
    Some(())
}

fn cpu_time_sample(edges: &mut Edges, event: &Object<'_, '_>, site: SiteId) -> Option<()> {
    let head = edges.head(event, THREAD, site);
    edges.add(event.stretch().0, head, EventKind::CpuSample, &[event.span_ns("samplingPeriod")?]);
    Some(())
}

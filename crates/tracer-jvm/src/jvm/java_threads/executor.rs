//! The executor (`ThreadPoolExecutor`, `ForkJoinPool`, or a `java.util.Timer`) for which a thread works, and how many tasks wait in its queue: read from
//! the thread's task, which is the executor's `Worker`, by the names of fields; and how many tasks both have got done.
//!
//! What has no count that can be read has none here. A `SynchronousQueue` keeps nothing. The queue of a scheduled executor keeps what is
//! to be done later, as that of a timer does, so there only tasks count that are late.

use super::{
    fork_join::ForkJoinPools,
    named_fields::{MAX_DEPTH, NamedFields},
    reader::Reader,
};
use crate::{
    clock::{self, ClockId},
    jvm::peek::Peek,
};

/// Other libraries have an executor of the same shape under the same name.
const WORKER: &str = ".ThreadPoolExecutor$Worker";
/// Queues, by the class that has the count, with the field that is it: a number, or an `AtomicInteger` with one.
const COUNTS: [(&str, &str); 5] = [
    ("java.util.concurrent.LinkedBlockingQueue", "count"),
    ("java.util.concurrent.ArrayBlockingQueue", "count"),
    ("java.util.concurrent.LinkedBlockingDeque", "count"),
    ("java.util.concurrent.PriorityBlockingQueue", "size"),
    // A number of 64 bits, of which the lower half is enough.
    ("java.lang.ref.ReferenceQueue", "queueLength"),
];

/// A queue that keeps nothing.
const HANDING_OVER: &str = "java.util.concurrent.SynchronousQueue";
/// Queue of a scheduled executor, and what is in it.
const DELAYED: &str = "java.util.concurrent.ScheduledThreadPoolExecutor$DelayedWorkQueue";
const DELAYED_TASK: &str = "java.util.concurrent.ScheduledThreadPoolExecutor$ScheduledFutureTask";
/// The thread of a `Timer`, which has a queue of its own: an array of tasks from its second element on.
const TIMER: &str = "java.util.TimerThread";
/// Most of its tasks that are looked at. They are a heap, so those that are due first lie near its beginning.
const MAX_DELAYED: u32 = 64;
/// How late a task must be to count: on a busy machine all are late by some milliseconds.
const LATE_NS: i64 = 100_000_000;
const NS_PER_MS: i64 = 1_000_000;

/// An executor at a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Executor {
    /// Address of the object, at that moment.
    pub address: u64,
    /// Tasks that wait in its queue.
    pub queued: u64,
    /// Tasks that threads got done which have ended since; absent where it counts none.
    pub completed: Option<u64>,
    /// Tasks that this thread got done.
    pub completed_here: u64,
}

impl Executor {
    /// The executor of a thread object; none where its task is no worker, or the queue has no count.
    pub(super) fn of<P: Peek>(
        fields: &NamedFields,
        reader: &Reader<'_, P>,
        pools: &ForkJoinPools,
        thread: u64,
    ) -> Option<Self> {
        if reader.class(reader.klass(thread)?)?.0 == TIMER {
            let address = fields.reference(reader, thread, "queue")?;
            let queued = late_timer_tasks(fields, reader, address, now_ms())?;
            return Some(Self { address, queued, completed: None, completed_here: 0 });
        }
        if let Some((address, queued)) = pools.of(fields, reader, thread) {
            return Some(Self { address, queued, completed: None, completed_here: 0 });
        }
        let held = reader.platform(thread)?;
        // Where the thread has an object for what only platform threads have, the task is in that, under another name.
        let task = fields.reference(reader, held, if held == thread { "target" } else { "task" })?;
        let (class, _) = reader.class(reader.klass(task)?)?;
        if !class.ends_with(WORKER) {
            return None;
        }
        let address = fields.reference(reader, task, "this$0")?;
        let queue = fields.reference(reader, address, "workQueue")?;
        let queued = count(fields, reader, queue)
            .or_else(|| late(fields, reader, queue, now_ns()))
            .or_else(|| is_empty_always(reader, queue).then_some(0))?;
        let completed = fields.long(reader, address, "completedTaskCount");
        let completed_here = fields.long(reader, task, "completedTasks").unwrap_or(0);
        Some(Self { address, queued, completed, completed_here })
    }
}

/// Whether a queue hands tasks over and keeps none.
fn is_empty_always<P: Peek>(reader: &Reader<'_, P>, queue: u64) -> bool {
    reader.classes(queue, MAX_DEPTH).iter().any(|class| class == HANDING_OVER)
}

/// What waits in a queue; none where it is no queue with a count that can be read.
pub(super) fn count<P: Peek>(fields: &NamedFields, reader: &Reader<'_, P>, queue: u64) -> Option<u64> {
    let classes = reader.classes(queue, MAX_DEPTH);
    let (_, field) = COUNTS.iter().find(|(class, _)| classes.iter().any(|known| known == class))?;
    let found = fields.of_object(reader, queue, field)?;
    let at = queue.wrapping_add(found.offset);
    let at = if found.is_reference {
        let atomic = reader.reference(at)?;
        atomic.wrapping_add(fields.of_object(reader, atomic, "value").filter(|value| !value.is_reference)?.offset)
    } else {
        at
    };
    // A count that is below zero is none.
    reader.memory.u32(at).ok().filter(|count| *count <= i32::MAX.cast_unsigned()).map(u64::from)
}

/// Tasks of a scheduled executor whose time has passed, by `System.nanoTime`.
fn late<P: Peek>(fields: &NamedFields, reader: &Reader<'_, P>, queue: u64, now_ns: i64) -> Option<u64> {
    if reader.class(reader.klass(queue)?)?.0 != DELAYED {
        return None;
    }
    let size = fields.int(reader, queue, "size").filter(|size| *size <= i32::MAX.cast_unsigned())?;
    let tasks = fields.reference(reader, queue, "queue")?;
    let is_late = |index: u32| {
        let task = reader.element(tasks, index)?;
        reader.class(reader.klass(task)?).filter(|(class, _)| class == DELAYED_TASK)?;
        let time = fields.of_object(reader, task, "time").filter(|time| !time.is_reference)?;
        let due_ns = reader.memory.u64(task.wrapping_add(time.offset)).ok()?.cast_signed();
        // As Java compares such times: they may overflow.
        Some(now_ns.wrapping_sub(due_ns) > LATE_NS)
    };
    Some((0..size.min(MAX_DELAYED)).filter(|index| is_late(*index) == Some(true)).count() as u64)
}

/// Tasks of a timer whose time has passed, by `System.currentTimeMillis`.
fn late_timer_tasks<P: Peek>(fields: &NamedFields, reader: &Reader<'_, P>, queue: u64, now_ms: i64) -> Option<u64> {
    let size = fields.int(reader, queue, "size").filter(|size| *size <= i32::MAX.cast_unsigned())?;
    let tasks = fields.reference(reader, queue, "queue")?;
    let is_late = |index: u32| {
        let task = reader.element(tasks, index)?;
        let time = fields.of_object(reader, task, "nextExecutionTime").filter(|time| !time.is_reference)?;
        let due_ms = reader.memory.u64(task.wrapping_add(time.offset)).ok()?.cast_signed();
        Some(now_ms.saturating_sub(due_ms) > LATE_NS / NS_PER_MS)
    };
    Some((1..=size.min(MAX_DELAYED)).filter(|index| is_late(*index) == Some(true)).count() as u64)
}

fn now_ms() -> i64 {
    clock::read_ns(ClockId::Realtime).cast_signed() / NS_PER_MS
}

/// `System.nanoTime` of HotSpot on Linux: the same clock in all processes, unless a time namespace shifts it.
fn now_ns() -> i64 {
    clock::read_ns(ClockId::Monotonic).cast_signed()
}

//! The executor for which a thread works (`ThreadPoolExecutor`, `ForkJoinPool`, those of other libraries and languages, or a `java.util.Timer`), and how many
//! tasks wait in its queue: read from the thread's task, which is the executor's worker, by the names of fields; and how many tasks both have
//! got done.
//!
//! What has no count that can be read has none here. A `SynchronousQueue` keeps nothing. The queue of a scheduled executor keeps what is
//! to be done later, as that of a timer does, so there only tasks count that are late.

use super::{
    coroutines, fork_join,
    held::task,
    named_fields::{MAX_DEPTH, NamedFields},
    pools::{self, Pools},
    reader::Reader,
};
use crate::{
    clock::{self, ClockId},
    jvm::peek::Peek,
};

/// Where an executor says what waits.
enum Waiting {
    /// In the queue of this field.
    In(&'static str),
    /// In its own field: a number of 64 bits, whose lower half it is. The upper one is how much may wait.
    Itself(&'static str),
}

/// How an executor says of itself what is asked.
struct Form {
    waiting: Waiting,
    /// The field with the most threads that it starts.
    may_have: Option<&'static str>,
}

/// Executors by the class of a worker, which is an inner one of theirs: how its name ends. Other libraries have one of the first's shape under
/// the same name. The others are Jetty's and that of `jboss-threads`, which keeps its bound among other bits.
const WORKERS: [(&str, Form); 3] = [
    (".ThreadPoolExecutor$Worker", Form { waiting: Waiting::In("workQueue"), may_have: Some("maximumPoolSize") }),
    (".QueuedThreadPool$Runner", Form { waiting: Waiting::In("_jobs"), may_have: Some("_maxThreads") }),
    (".EnhancedQueueExecutor$ThreadBody", Form { waiting: Waiting::Itself("queueSize"), may_have: None }),
];
/// Queues, by the class that has the count, with the field that is it: a number, or an `AtomicInteger` with one.
const COUNTS: [(&str, &str); 6] = [
    ("java.util.concurrent.LinkedBlockingQueue", "count"),
    ("java.util.concurrent.ArrayBlockingQueue", "count"),
    ("java.util.concurrent.LinkedBlockingDeque", "count"),
    ("java.util.concurrent.PriorityBlockingQueue", "size"),
    // A number of 64 bits, of which the lower half is enough.
    ("java.lang.ref.ReferenceQueue", "queueLength"),
    ("org.eclipse.jetty.util.BlockingArrayQueue", "_size"),
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
    /// Whether a thread of it that has nothing to do may begin with one of them.
    pub may_begin: bool,
    /// Tasks that threads got done which have ended since; absent where it counts none.
    pub completed: Option<u64>,
    /// Tasks that this thread got done.
    pub completed_here: u64,
    /// The most threads that it may have; absent where it does not say.
    pub may_have: Option<u64>,
}

impl Executor {
    /// The executor of a thread object; none where its task is no worker, or the queue has no count.
    pub(super) fn of<P: Peek>(
        fields: &NamedFields,
        reader: &Reader<'_, P>,
        pools: &Pools,
        thread: u64,
    ) -> Option<Self> {
        if reader.class(reader.klass(thread)?)?.0 == TIMER {
            let address = fields.reference(reader, thread, "queue")?;
            let queued = late_timer_tasks(fields, reader, address, now_ms())?;
            return Some(Self::uncounted(address, queued, true));
        }
        let of_many_queues = fork_join::pool(fields, reader, pools, thread)
            .or_else(|| coroutines::scheduler(fields, reader, pools, thread));
        if let Some((address, pools::Waiting { queued, may_begin })) = of_many_queues {
            return Some(Self::uncounted(address, queued, may_begin));
        }
        let (worker, form) = worker(fields, reader, task(fields, reader, thread)?)?;
        let address = fields.reference(reader, worker, "this$0")?;
        let queued = match form.waiting {
            Waiting::In(field) => queued(fields, reader, fields.reference(reader, address, field)?)?,
            Waiting::Itself(field) => fields.long(reader, address, field)? & u64::from(u32::MAX >> 1),
        };
        let completed = fields.long(reader, address, "completedTaskCount");
        let completed_here = fields.long(reader, worker, "completedTasks").unwrap_or(0);
        let may_have = form.may_have.and_then(|field| fields.int(reader, address, field));
        let may_have = may_have.filter(|most| *most <= i32::MAX.cast_unsigned()).map(u64::from);
        Some(Self { completed, completed_here, may_have, ..Self::uncounted(address, queued, true) })
    }

    /// One that neither counts what it got done nor says how many threads it may have.
    pub const fn uncounted(address: u64, queued: u64, may_begin: bool) -> Self {
        Self { address, queued, may_begin, completed: None, completed_here: 0, may_have: None }
    }
}

/// The worker that a thread's task is, or that it has in a field: what makes threads may put something of its own around their tasks, as
/// Tomcat does, and as a lambda does that sets up the thread.
fn worker<P: Peek>(fields: &NamedFields, reader: &Reader<'_, P>, task: u64) -> Option<(u64, &'static Form)> {
    let known = |object: u64| {
        let (class, _) = reader.class(reader.klass(object)?)?;
        let (_, form) = WORKERS.iter().find(|(worker, _)| class.ends_with(worker))?;
        Some((object, form))
    };
    let within = || {
        let references = fields.references(reader, reader.klass(task)?);
        references.iter().find_map(|(_, offset)| known(reader.reference(task.wrapping_add(*offset))?))
    };
    known(task).or_else(within)
}

/// What waits in the queue of an executor.
fn queued<P: Peek>(fields: &NamedFields, reader: &Reader<'_, P>, queue: u64) -> Option<u64> {
    count(fields, reader, queue)
        .or_else(|| late(fields, reader, queue, now_ns()))
        .or_else(|| is_empty_always(reader, queue).then_some(0))
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

#[cfg(test)]
mod tests {
    use super::{
        super::{
            named_fields::of_objects,
            reader::Classes,
            virtual_threads::tests::{METADATA, PLACES},
        },
        *,
    };
    use crate::{
        fuzz::{self, Metered},
        jvm::peek::copy::Copy,
    };

    /// `Klass*`s: of a thread and its holder, and of a worker, an executor, a queue and a counter.
    const THREAD: u64 = 0x5000;
    const HOLDER: u64 = 0x5100;
    const WORKER: u64 = 0x5200;
    const EXECUTOR: u64 = 0x5300;
    const QUEUE: u64 = 0x5400;
    const COUNTER: u64 = 0x5500;
    const KLASSES: [u64; 6] = [THREAD, HOLDER, WORKER, EXECUTOR, QUEUE, COUNTER];
    /// And of what may be around a worker.
    const WRAPPER: u64 = 0x5600;
    /// Where each object has its one field, and the objects.
    const FIELD: u64 = 0x10;
    const BOUND: u64 = 0x20;
    const OBJECTS: u64 = 0x10_0000;

    fn at(number: u64) -> u64 {
        OBJECTS + number * 0x80
    }

    /// What leads from a thread to the number in an executor's queue, each by its one field.
    fn memory(queued: u64, is_in_executor: bool) -> Copy {
        let mut copy = Copy::default();
        for (number, klass) in (0..).zip(KLASSES) {
            copy.write(at(number), &[0; 0x80]);
            copy.write_u32(at(number) + 8, u32::try_from(klass).unwrap());
            copy.write_u32(at(number) + FIELD, u32::try_from(at(number + 1)).unwrap());
        }
        copy.write_u32(at(0) + PLACES.holder.unwrap(), u32::try_from(at(1)).unwrap());
        copy.write(at(if is_in_executor { 3 } else { 5 }) + FIELD, &queued.to_le_bytes());
        copy
    }

    /// Around the worker of a thread there is something of the program.
    fn wrapped(mut memory: Copy) -> Copy {
        memory.write(at(6), &[0; 0x80]);
        memory.write_u32(at(6) + 8, u32::try_from(WRAPPER).unwrap());
        memory.write_u32(at(6) + FIELD, u32::try_from(at(2)).unwrap());
        memory.write_u32(at(1) + FIELD, u32::try_from(at(6)).unwrap());
        memory
    }

    /// What is read of a worker of this class, whose executor has a queue of this one.
    fn found(memory: &impl Peek, worker: &str, queue: &str) -> Option<Executor> {
        let field = |klass, name, is_reference| of_objects(klass, name, is_reference, FIELD);
        let known = [
            field(HOLDER, "task", true),
            field(WORKER, "this$0", true),
            field(EXECUTOR, "workQueue", true),
            field(EXECUTOR, "_jobs", true),
            field(EXECUTOR, "queueSize", false),
            of_objects(EXECUTOR, "maximumPoolSize", false, BOUND),
            field(QUEUE, "count", true),
            field(QUEUE, "_size", true),
            field(COUNTER, "value", false),
        ];
        let names = ["java.lang.Thread", "java.lang.Thread$FieldHolder", worker, "Pool", queue, "Counter"];
        let wrapper = "org.apache.tomcat.util.threads.TaskThread$WrappingRunnable";
        let named: Vec<(u64, &str)> = KLASSES.into_iter().zip(names).chain([(WRAPPER, wrapper)]).collect();
        let references = [(WRAPPER, "TaskThread$WrappingRunnable.wrappedRunnable", FIELD)];
        let fields = NamedFields::with(known.to_vec()).with_references(&references);
        let classes = Classes::with(&named);
        let reader = Reader { memory, metadata: &METADATA, places: &PLACES, classes: &classes };
        Executor::of(&fields, &reader, &Pools::default(), at(0))
    }

    const OF_JDK: [&str; 2] =
        ["java.util.concurrent.ThreadPoolExecutor$Worker", "java.util.concurrent.LinkedBlockingQueue"];
    const OF_JETTY: [&str; 2] =
        ["org.eclipse.jetty.util.thread.QueuedThreadPool$Runner", "org.eclipse.jetty.util.BlockingArrayQueue"];
    const OF_JBOSS: [&str; 2] = ["org.jboss.threads.EnhancedQueueExecutor$ThreadBody", "none"];

    #[test]
    fn what_waits_is_read_where_each_executor_says_it() {
        let told = |memory: &Copy, [worker, queue]: [&str; 2]| {
            found(memory, worker, queue).map(|executor| (executor.address, executor.queued))
        };
        assert_eq!(told(&memory(7, false), OF_JDK), Some((at(3), 7)));
        assert_eq!(told(&memory(7, false), OF_JETTY), Some((at(3), 7)));
        assert_eq!(told(&memory(0x7fff_ffff_0000_0009, true), OF_JBOSS), Some((at(3), 9)), "of as many as may wait");
        assert_eq!(told(&wrapped(memory(7, false)), OF_JDK), Some((at(3), 7)), "as Tomcat does it");
        assert_eq!(told(&memory(7, false), ["com.shop.Mailer", "none"]), None);
        assert_eq!(told(&memory(7, false), [OF_JDK[0], "com.shop.Heap"]), None, "nobody knows how much is in it");
        assert_eq!(told(&memory(u64::MAX, false), OF_JDK), None, "no count is below zero");
    }

    #[test]
    fn how_many_threads_an_executor_may_have_is_read_where_it_says_so() {
        let told = |bound: u32, worker: &str| {
            let mut memory = memory(7, false);
            memory.write_u32(at(3) + BOUND, bound);
            found(&memory, worker, OF_JDK[1]).map(|executor| executor.may_have)
        };
        assert_eq!(told(128, OF_JDK[0]), Some(Some(128)));
        assert_eq!(told(u32::MAX, OF_JDK[0]), Some(None), "no bound is below zero");
        assert_eq!(told(128, OF_JETTY[0]).flatten(), None, "it has another field");
    }

    #[test]
    fn fuzz_executors() {
        let sound = [memory(7, false), wrapped(memory(7, false)), memory(7, true)];
        fuzz::each("executors", 1 << 20, |dice| {
            let [worker, queue] = dice.pick(&[OF_JDK, OF_JETTY, OF_JBOSS]);
            let mut copy = sound[dice.below(3)].clone();
            fuzz::damage(dice, &mut copy);
            let _: Option<Executor> = found(&Metered::new(copy, 1 << 20), worker, queue);
        });
    }
}

//! What waits in the queues of a `ForkJoinPool`: each worker has one, and tasks from outside come to others of the pool.
//!
//! A task that is split puts its parts there, and the same workers run them soon. These are no backlog, so a queue whose next task is one
//! that is split (`RecursiveTask`, `RecursiveAction`, and the `CountedCompleter`s of parallel streams) counts as empty.

use super::{
    named_fields::{MAX_DEPTH, NamedFields},
    pools::{Pools, Waiting},
    reader::Reader,
};
use crate::jvm::peek::Peek;

const WORKER: &str = "java.util.concurrent.ForkJoinWorkerThread";
/// Workers that carry virtual threads: what waits in their queues are threads, not tasks.
const CARRIER: &str = "jdk.internal.misc.CarrierThread";
/// Classes of tasks that are split.
const SPLIT: [&str; 3] = [
    "java.util.concurrent.CountedCompleter",
    "java.util.concurrent.RecursiveAction",
    "java.util.concurrent.RecursiveTask",
];
/// Most tasks of a queue that are asked for their class: a slot is empty while its task is being taken.
const MAX_ASKED: u32 = 8;
/// Most tasks of a queue (`ForkJoinPool.WorkQueue.MAXIMUM_QUEUE_CAPACITY`).
const MAX_TASKS: u32 = 1 << 26;

/// The pool for which a thread works, and what waits in its queues; none where it is no worker of one, or that cannot be read.
pub(super) fn pool<P: Peek>(
    fields: &NamedFields,
    reader: &Reader<'_, P>,
    pools: &Pools,
    thread: u64,
) -> Option<(u64, Waiting)> {
    let classes = reader.classes(thread, MAX_DEPTH);
    if !classes.iter().any(|class| class == WORKER) || classes.iter().any(|class| class == CARRIER) {
        return None;
    }
    let pool = fields.reference(reader, thread, "pool")?;
    let read = || Some(Waiting { queued: queued(fields, reader, pools, pool)?, may_begin: true });
    Some((pool, pools.waiting(pool, read)?))
}

/// What waits in all queues of a pool; none where they are more than may be looked at.
fn queued<P: Peek>(fields: &NamedFields, reader: &Reader<'_, P>, pools: &Pools, pool: u64) -> Option<u64> {
    // The field has another name up to 16.
    let queues = ["queues", "workQueues"].into_iter().find_map(|name| fields.reference(reader, pool, name))?;
    let length = reader.length(queues)?;
    pools.allow(length)?;
    let each = (0..length).filter_map(|index| reader.element(queues, index));
    Some(each.filter_map(|queue| tasks(fields, reader, queue)).map(u64::from).sum())
}

/// Tasks of a queue, which lie from `base` up to `top` in an array of a power of two; none where these are split, or the queue was
/// changed while it was read.
fn tasks<P: Peek>(fields: &NamedFields, reader: &Reader<'_, P>, queue: u64) -> Option<u32> {
    let (base, top) = (fields.int(reader, queue, "base")?, fields.int(reader, queue, "top")?);
    // Both overflow.
    let tasks = top.wrapping_sub(base);
    if tasks == 0 {
        return Some(0);
    }
    let array = fields.reference(reader, queue, "array")?;
    let length = reader.length(array).filter(|length| length.is_power_of_two() && *length <= MAX_TASKS)?;
    if tasks > length {
        return None;
    }
    let slot = |at: u32| reader.element(array, base.wrapping_add(at) & (length - 1));
    let next = (0..tasks.min(MAX_ASKED)).find_map(slot);
    let is_split =
        next.is_some_and(|task| reader.classes(task, MAX_DEPTH).iter().any(|class| SPLIT.contains(&class.as_str())));
    (!is_split).then_some(tasks)
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

    /// `Klass*`s.
    const THREAD: u64 = 0x5000;
    const POOL: u64 = 0x5100;
    const QUEUE: u64 = 0x5200;
    const TASK: u64 = 0x5300;
    const PART: u64 = 0x5400;
    const CARRYING: u64 = 0x5500;
    const NAMES: [(u64, &str); 6] = [
        (THREAD, WORKER),
        (POOL, "java.util.concurrent.ForkJoinPool"),
        (QUEUE, "java.util.concurrent.ForkJoinPool$WorkQueue"),
        (TASK, "java.util.concurrent.CompletableFuture$AsyncRun"),
        (PART, "java.util.concurrent.RecursiveTask"),
        (CARRYING, CARRIER),
    ];
    /// Fields of objects.
    const FIELD: u64 = 0x10;
    const BASE: u64 = 0x14;
    const TOP: u64 = 0x18;
    /// The length of an array, and its first element.
    const LENGTH: u64 = 12;
    const FIRST: u64 = 16;
    const OBJECTS: u64 = 0x10_0000;
    const SLOTS: u32 = 8;

    fn at(number: u64) -> u64 {
        OBJECTS + number * 0x80
    }

    /// A worker of a pool with three queues: none, one with `tasks`, and one with `parts` of a task that is split, from `base` on.
    struct Pool {
        worker: u64,
        base: u32,
        tasks: u32,
        parts: u32,
    }

    const SOUND: Pool = Pool { worker: THREAD, base: 6, tasks: 5, parts: 4 };

    impl Pool {
        fn memory(&self) -> Copy {
            let mut copy = Copy::default();
            let mut object = |number: u64, klass: u64, words: &[(u64, u32)]| {
                copy.write(at(number), &[0; 0x80]);
                copy.write_u32(at(number) + 8, u32::try_from(klass).unwrap());
                for (offset, word) in words {
                    copy.write_u32(at(number) + offset, *word);
                }
            };
            let to = |number: u64| u32::try_from(at(number)).unwrap();
            object(0, self.worker, &[(FIELD, to(1))]);
            object(1, POOL, &[(FIELD, to(2))]);
            object(2, 0, &[(LENGTH, 3), (FIRST + 4, to(3)), (FIRST + 8, to(5))]);
            for (queue, task, count) in [(3, 7, self.tasks), (5, 8, self.parts)] {
                let top = self.base.wrapping_add(count);
                object(queue, QUEUE, &[(FIELD, to(queue + 1)), (BASE, self.base), (TOP, top)]);
                let slot = |index: u32| (FIRST + 4 * u64::from(self.base.wrapping_add(index) % SLOTS), to(task));
                // The first task is being taken.
                let slots: Vec<_> = (1..count.min(SLOTS)).map(slot).chain([(LENGTH, SLOTS)]).collect();
                object(queue + 1, 0, &slots);
            }
            object(7, TASK, &[]);
            object(8, PART, &[]);
            copy
        }
    }

    fn found(memory: &impl Peek, field_of_queues: &'static str) -> Option<(u64, u64)> {
        found_by(&Pools::default(), memory, field_of_queues)
    }

    fn found_by(pools: &Pools, memory: &impl Peek, field_of_queues: &'static str) -> Option<(u64, u64)> {
        let known = [
            of_objects(THREAD, "pool", true, FIELD),
            of_objects(CARRYING, "pool", true, FIELD),
            of_objects(POOL, field_of_queues, true, FIELD),
            of_objects(QUEUE, "array", true, FIELD),
            of_objects(QUEUE, "base", false, BASE),
            of_objects(QUEUE, "top", false, TOP),
        ];
        let fields = NamedFields::with(known.to_vec());
        let classes = Classes::with(&NAMES);
        let reader = Reader { memory, metadata: &METADATA, places: &PLACES, classes: &classes };
        pool(&fields, &reader, pools, at(0)).map(|(pool, waiting)| (pool, waiting.queued))
    }

    fn told(pool: &Pool) -> Option<u64> {
        found(&pool.memory(), "queues").map(|(_, queued)| queued)
    }

    #[test]
    fn tasks_of_all_queues_are_counted_and_parts_of_tasks_are_not() {
        assert_eq!(found(&SOUND.memory(), "queues"), Some((at(1), 5)));
        assert_eq!(told(&Pool { tasks: 0, ..SOUND }), Some(0), "an empty one is one");
        assert_eq!(told(&Pool { base: u32::MAX - 1, ..SOUND }), Some(5), "indices overflow");
        assert_eq!(told(&Pool { tasks: SLOTS + 1, ..SOUND }), Some(0), "no queue has more than its array");
    }

    #[test]
    fn a_look_reads_so_many_queues_and_a_pool_with_more_has_no_number() {
        assert_eq!(found_by(&Pools::with_room(3), &SOUND.memory(), "queues"), Some((at(1), 5)));
        assert_eq!(found_by(&Pools::with_room(2), &SOUND.memory(), "queues"), None);
    }

    #[test]
    fn the_field_with_the_queues_has_another_name_in_older_ones() {
        assert_eq!(found(&SOUND.memory(), "workQueues"), Some((at(1), 5)));
        assert_eq!(found(&SOUND.memory(), "others"), None);
    }

    #[test]
    fn who_works_for_no_pool_and_who_carries_virtual_threads_has_none() {
        assert_eq!(told(&Pool { worker: CARRYING, ..SOUND }), None);
        assert_eq!(told(&Pool { worker: TASK, ..SOUND }), None);
    }

    #[test]
    fn fuzz_fork_join_pools() {
        let sound = SOUND.memory();
        fuzz::each("fork_join_pools", 1 << 20, |dice| {
            let mut copy = sound.clone();
            fuzz::damage(dice, &mut copy);
            // A pool that claims as many queues as may be looked at has some reads for each.
            let _: Option<(u64, u64)> = found(&Metered::new(copy, 32 << 20), "queues");
        });
    }
}

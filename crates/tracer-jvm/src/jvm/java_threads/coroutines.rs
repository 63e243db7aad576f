//! What waits for the threads of Kotlin's dispatchers, `Dispatchers.Default` and `Dispatchers.IO`, which share them: the scheduler has a
//! queue for tasks that compute and one for those that may block, and each of its workers has one of its own.
//!
//! A worker needs a permit for tasks that compute, of which there are as many as CPUs. Where none is left, threads that have nothing to do
//! may not begin with these. What waits because `Dispatchers.IO` runs no more than its limit at a time is in a queue of its own, which no
//! thread leads to.
//!
//! Fields of atomic numbers have another name from version 1.8 on.
//! <https://github.com/Kotlin/kotlinx.coroutines/blob/1.10.2/kotlinx-coroutines-core/jvm/src/scheduling/CoroutineScheduler.kt>

use super::{
    named_fields::NamedFields,
    pools::{Pools, Waiting},
    reader::Reader,
};
use crate::jvm::peek::Peek;

/// How the class of a worker is called, wherever a program has put the library.
const WORKER: &str = "coroutines.scheduling.CoroutineScheduler$Worker";
/// Places in a queue (`LockFreeTaskQueueCore`): the first one that is taken, and behind it the one after the last.
const PLACE_BITS: u32 = 30;
const PLACE_MASK: u64 = (1 << PLACE_BITS) - 1;
/// Permits in the scheduler's `controlState`.
const PERMITS_SHIFT: u32 = 42;
/// Most tasks in the queue of a worker (`WorkQueue`).
const MAX_OWN: u32 = 128;

/// The scheduler for which a thread works, and what waits there.
pub(super) fn scheduler<P: Peek>(
    fields: &NamedFields,
    reader: &Reader<'_, P>,
    pools: &Pools,
    thread: u64,
) -> Option<(u64, Waiting)> {
    if !reader.class(reader.klass(thread)?)?.0.ends_with(WORKER) {
        return None;
    }
    let scheduler = fields.reference(reader, thread, "this$0")?;
    let waiting = pools.waiting(scheduler, || waiting(fields, reader, pools, scheduler))?;
    Some((scheduler, waiting))
}

fn waiting<P: Peek>(fields: &NamedFields, reader: &Reader<'_, P>, pools: &Pools, scheduler: u64) -> Option<Waiting> {
    let queue = |name| shared(fields, reader, fields.reference(reader, scheduler, name)?);
    let (compute, may_block) = (queue("globalCpuQueue")?, queue("globalBlockingQueue")?);
    let workers = fields.reference(reader, scheduler, "workers")?;
    let workers = fields.reference(reader, fields.reference(reader, workers, "array")?, "array")?;
    let length = reader.length(workers)?;
    pools.allow(length)?;
    let each = (0..length).filter_map(|index| reader.element(workers, index));
    let own: u64 = each.filter_map(|worker| own(fields, reader, worker)).map(u64::from).sum();
    let control = one_of(["controlState$volatile", "controlState"], |name| fields.long(reader, scheduler, name))?;
    let may_begin = control >> PERMITS_SHIFT > 0 || may_block > 0;
    Some(Waiting { queued: compute + may_block + own, may_begin })
}

/// Tasks in a queue of all workers. One that has become too small leads to a larger one, and says how much it had itself.
fn shared<P: Peek>(fields: &NamedFields, reader: &Reader<'_, P>, queue: u64) -> Option<u64> {
    let core = one_of(["_cur$volatile", "_cur"], |name| fields.reference(reader, queue, name))?;
    let state = one_of(["_state$volatile", "_state"], |name| fields.long(reader, core, name))?;
    Some((state >> PLACE_BITS).wrapping_sub(state) & PLACE_MASK)
}

/// Tasks in the queue of a worker, the one that it will run next included.
fn own<P: Peek>(fields: &NamedFields, reader: &Reader<'_, P>, worker: u64) -> Option<u32> {
    let queue = fields.reference(reader, worker, "localQueue")?;
    let end = one_of(["producerIndex$volatile", "producerIndex"], |name| fields.int(reader, queue, name))?;
    let begin = one_of(["consumerIndex$volatile", "consumerIndex"], |name| fields.int(reader, queue, name))?;
    let next =
        one_of(["lastScheduledTask$volatile", "lastScheduledTask"], |name| fields.reference(reader, queue, name));
    let tasks = Some(end.wrapping_sub(begin)).filter(|tasks| *tasks <= MAX_OWN)?;
    Some(tasks + u32::from(next.is_some()))
}

fn one_of<T>(names: [&'static str; 2], read: impl FnMut(&'static str) -> Option<T>) -> Option<T> {
    names.into_iter().find_map(read)
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
    const SCHEDULER: u64 = 0x5100;
    const QUEUE: u64 = 0x5200;
    const CORE: u64 = 0x5300;
    const LIST: u64 = 0x5400;
    const OWN: u64 = 0x5500;
    const TASK: u64 = 0x5600;
    const NAMES: [(u64, &str); 7] = [
        (THREAD, "kotlinx.coroutines.scheduling.CoroutineScheduler$Worker"),
        (SCHEDULER, "kotlinx.coroutines.scheduling.CoroutineScheduler"),
        (QUEUE, "kotlinx.coroutines.scheduling.GlobalQueue"),
        (CORE, "kotlinx.coroutines.internal.LockFreeTaskQueueCore"),
        (LIST, "java.util.concurrent.atomic.AtomicReferenceArray"),
        (OWN, "kotlinx.coroutines.scheduling.WorkQueue"),
        (TASK, "kotlinx.coroutines.scheduling.TaskImpl"),
    ];
    /// Fields of objects, the last one of 64 bits.
    const FIRST: u64 = 0x10;
    const SECOND: u64 = 0x14;
    const THIRD: u64 = 0x18;
    const LONG: u64 = 0x20;
    /// The length of an array, and its first element.
    const LENGTH: u64 = 12;
    const ELEMENT: u64 = 16;
    const OBJECTS: u64 = 0x10_0000;

    fn at(number: u64) -> u64 {
        OBJECTS + number * 0x80
    }

    /// A scheduler of two workers, the second of which has tasks of its own.
    struct Plan {
        compute: [u64; 2],
        may_block: [u64; 2],
        own: [u32; 2],
        has_next: bool,
        permits: u64,
    }

    const SOUND: Plan =
        Plan { compute: [PLACE_MASK - 1, 5], may_block: [7, 7], own: [u32::MAX, 2], has_next: true, permits: 0 };

    impl Plan {
        fn memory(&self) -> Copy {
            let mut copy = Copy::default();
            let mut object = |number: u64, klass: u64, words: &[(u64, u32)], long: u64| {
                copy.write(at(number), &[0; 0x80]);
                copy.write_u32(at(number) + 8, u32::try_from(klass).unwrap());
                copy.write(at(number) + LONG, &long.to_le_bytes());
                for (offset, word) in words {
                    copy.write_u32(at(number) + offset, *word);
                }
            };
            let to = |number: u64| u32::try_from(at(number)).unwrap();
            let state = |[head, tail]: [u64; 2]| head | tail << PLACE_BITS;
            object(0, THREAD, &[(FIRST, to(2)), (SECOND, to(10))], 0);
            object(1, THREAD, &[(FIRST, to(2)), (SECOND, to(11))], 0);
            object(2, SCHEDULER, &[(FIRST, to(3)), (SECOND, to(5)), (THIRD, to(7))], self.permits << PERMITS_SHIFT | 2);
            object(3, QUEUE, &[(FIRST, to(4))], 0);
            object(4, CORE, &[], state(self.compute));
            object(5, QUEUE, &[(FIRST, to(6))], 0);
            object(6, CORE, &[], state(self.may_block));
            object(7, LIST, &[(FIRST, to(8))], 0);
            object(8, LIST, &[(FIRST, to(9))], 0);
            object(9, 0, &[(LENGTH, 3), (ELEMENT + 4, to(0)), (ELEMENT + 8, to(1))], 0);
            object(10, OWN, &[], 0);
            let next = if self.has_next { to(12) } else { 0 };
            object(11, OWN, &[(FIRST, self.own[0]), (SECOND, self.own[1]), (THIRD, next)], 0);
            object(12, TASK, &[], 0);
            copy
        }
    }

    fn found(memory: &impl Peek, is_new: bool, pools: &Pools) -> Option<(u64, Waiting)> {
        let name = |new: &'static str, old: &'static str| if is_new { new } else { old };
        let known = [
            of_objects(THREAD, "this$0", true, FIRST),
            of_objects(THREAD, "localQueue", true, SECOND),
            of_objects(SCHEDULER, "globalCpuQueue", true, FIRST),
            of_objects(SCHEDULER, "globalBlockingQueue", true, SECOND),
            of_objects(SCHEDULER, "workers", true, THIRD),
            of_objects(SCHEDULER, name("controlState$volatile", "controlState"), false, LONG),
            of_objects(QUEUE, name("_cur$volatile", "_cur"), true, FIRST),
            of_objects(CORE, name("_state$volatile", "_state"), false, LONG),
            of_objects(LIST, "array", true, FIRST),
            of_objects(OWN, name("consumerIndex$volatile", "consumerIndex"), false, FIRST),
            of_objects(OWN, name("producerIndex$volatile", "producerIndex"), false, SECOND),
            of_objects(OWN, name("lastScheduledTask$volatile", "lastScheduledTask"), true, THIRD),
        ];
        let fields = NamedFields::with(known.to_vec());
        let classes = Classes::with(&NAMES);
        let reader = Reader { memory, metadata: &METADATA, places: &PLACES, classes: &classes };
        scheduler(&fields, &reader, pools, at(0))
    }

    fn told(plan: &Plan) -> Option<(u64, bool)> {
        let found = found(&plan.memory(), true, &Pools::default());
        found.map(|(_, Waiting { queued, may_begin })| (queued, may_begin))
    }

    #[test]
    fn tasks_of_the_scheduler_and_of_its_workers_are_counted() {
        // 7 behind the end of the places, none that may block, and 3 and the next one of a worker, whose places overflow as well.
        let expected = Some((at(2), Waiting { queued: 7 + 3 + 1, may_begin: false }));
        for is_new in [true, false] {
            assert_eq!(found(&SOUND.memory(), is_new, &Pools::default()), expected);
        }
        let idle = Plan { compute: [3, 3], own: [9, 9], has_next: false, permits: 2, ..SOUND };
        assert_eq!(told(&idle), Some((0, true)));
        assert_eq!(told(&Plan { own: [0, MAX_OWN + 1], ..SOUND }), Some((7, false)), "no worker has so many");
    }

    #[test]
    fn threads_without_work_may_begin_where_a_permit_is_left_or_a_task_may_block() {
        assert_eq!(told(&Plan { permits: 1, ..SOUND }).map(|(_, may_begin)| may_begin), Some(true));
        assert_eq!(told(&Plan { may_block: [0, 2], ..SOUND }).map(|(_, may_begin)| may_begin), Some(true));
    }

    #[test]
    fn a_scheduler_with_more_workers_than_may_be_looked_at_has_no_number() {
        assert!(found(&SOUND.memory(), true, &Pools::with_room(3)).is_some());
        assert_eq!(found(&SOUND.memory(), true, &Pools::with_room(2)), None);
    }

    #[test]
    fn fuzz_coroutine_schedulers() {
        let sound = SOUND.memory();
        fuzz::each("coroutine_schedulers", 1 << 20, |dice| {
            let mut copy = sound.clone();
            fuzz::damage(dice, &mut copy);
            // A pool that claims as many queues as may be looked at has some reads for each.
            let _: Option<_> = found(&Metered::new(copy, 32 << 20), true, &Pools::default());
        });
    }
}

//! The queue of a thread that works without an executor: what a program writes itself has a thread, a loop, and a queue from which that takes.
//!
//! The queue is found in fields: of the thread's own class, of its task, and of what a lambda or an inner class has caught. Those in static
//! fields are no thread's own, and come from elsewhere.

use super::{
    executor::count,
    held::{Held, each},
    named_fields::NamedFields,
    reader::Reader,
};
use crate::{jvm::peek::Peek, text::class_name::without_address};

/// A queue at a moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnQueue {
    /// Address of the object, at that moment.
    pub address: u64,
    /// The field that has it: `com.shop.Mailer.letters`; the class of the queue where a lambda has it.
    pub field: String,
    /// What waits in it.
    pub queued: u64,
}

impl OwnQueue {
    /// The fullest of the queues that a thread, or its task, has in a field; none where there is no such field.
    pub(super) fn of<P: Peek>(fields: &NamedFields, reader: &Reader<'_, P>, thread: u64) -> Option<Self> {
        let mut fullest: Option<Self> = None;
        each(fields, reader, thread, &mut |Held { object, class, field, .. }| {
            let queued = count(fields, reader, object);
            let known = fullest.as_ref().map(|known| known.queued);
            if let Some(queued) = queued.filter(|queued| known.is_none_or(|known| known < *queued)) {
                let field = if field.contains(LAMBDA) { class } else { field };
                fullest = Some(Self { address: object, field: field.to_owned(), queued });
            }
            queued.is_some()
        });
        fullest
    }
}

/// Part of the name of a lambda's class.
pub(super) const LAMBDA: &str = "$$Lambda";

/// How a field is called.
pub(super) fn label(class: &str, field: &str) -> String {
    format!("{}.{field}", without_address(class))
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

    /// `Klass*`s: of a thread, its holder, a lambda, what that has caught, two queues, and a counter.
    const MAILER: u64 = 0x5000;
    const HOLDER: u64 = 0x5100;
    const TASK: u64 = 0x5200;
    const DEPOT: u64 = 0x5300;
    const ARRAY: u64 = 0x5400;
    const LINKED: u64 = 0x5500;
    const ATOMIC: u64 = 0x5600;
    const NAMES: [(u64, &str); 7] = [
        (MAILER, "com.shop.Mailer"),
        (HOLDER, "java.lang.Thread$FieldHolder"),
        (TASK, "com.shop.Main$$Lambda"),
        (DEPOT, "com.shop.Depot"),
        (ARRAY, "java.util.concurrent.ArrayBlockingQueue"),
        (LINKED, "java.util.concurrent.LinkedBlockingQueue"),
        (ATOMIC, "java.util.concurrent.atomic.AtomicInteger"),
    ];
    /// Where fields lie, and objects.
    const FIELD: u64 = 0x10;
    const OBJECTS: u64 = 0x10_0000;

    fn at(number: u64) -> u64 {
        OBJECTS + number * 0x80
    }

    /// A mailer with `letters`, and a task that has caught a depot with a `belt`, with so many things in each.
    fn memory(letters: u32, parcels: u32) -> Copy {
        let mut copy = Copy::default();
        for (number, (klass, _)) in (0..).zip(NAMES) {
            copy.write(at(number), &[0; 0x80]);
            copy.write_u32(at(number) + 8, u32::try_from(klass).unwrap());
        }
        let mut set =
            |object: u64, offset: u64, to: u64| copy.write_u32(at(object) + offset, u32::try_from(to).unwrap());
        set(0, 0x34, at(1));
        set(0, FIELD, at(5));
        set(1, FIELD, at(2));
        set(2, FIELD, at(3));
        set(3, FIELD, at(4));
        set(4, FIELD, parcels.into());
        set(5, FIELD, at(6));
        set(6, FIELD, letters.into());
        copy
    }

    fn found(memory: &impl Peek) -> Option<OwnQueue> {
        let field = |klass, name, is_reference| of_objects(klass, name, is_reference, FIELD);
        let known = [
            field(HOLDER, "task", true),
            field(ARRAY, "count", false),
            field(LINKED, "count", true),
            field(ATOMIC, "value", false),
        ];
        let references = [
            (MAILER, "com.shop.Mailer.letters", FIELD),
            (TASK, "com.shop.Main$$Lambda.arg$1", FIELD),
            (DEPOT, "com.shop.Depot.belt", FIELD),
        ];
        let fields = NamedFields::with(known.to_vec()).with_references(&references);
        let classes = Classes::with(&NAMES);
        let reader = Reader { memory, metadata: &METADATA, places: &PLACES, classes: &classes };
        OwnQueue::of(&fields, &reader, at(0))
    }

    #[test]
    fn the_fullest_queue_of_a_thread_and_its_task_is_told_with_its_field() {
        let told = |letters, parcels| found(&memory(letters, parcels)).map(|queue| (queue.field, queue.queued));
        assert_eq!(told(7, 3), Some(("com.shop.Mailer.letters".to_owned(), 7)));
        assert_eq!(told(7, 30), Some(("com.shop.Depot.belt".to_owned(), 30)));
        assert_eq!(told(0, 0).map(|(_, queued)| queued), Some(0), "an empty one is one");
        assert_eq!(told(u32::MAX, 3).map(|(_, queued)| queued), Some(3), "no count is below zero");
    }

    #[test]
    fn fuzz_own_queues() {
        let sound = memory(7, 30);
        fuzz::each("own_queues", 1 << 20, |dice| {
            let mut copy = sound.clone();
            fuzz::damage(dice, &mut copy);
            let _: Option<OwnQueue> = found(&Metered::new(copy, 1 << 20));
        });
    }
}

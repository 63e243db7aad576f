//! Fields of a program in a heap that is written by hand, and damaged.

use super::{
    super::{
        named_fields::of_objects,
        reader,
        virtual_threads::tests::{METADATA, PLACES},
    },
    *,
};
use crate::{
    fuzz::{self, Metered},
    jvm::peek::copy::Copy,
};

/// `Klass*`s.
const REGISTRY: u64 = 0x5000;
const APP: u64 = 0x5200;
const CACHE: u64 = 0x5400;
const DEEP: u64 = 0x5600;
const MAP: u64 = 0x5800;
const THREAD: u64 = 0x5a00;
const HOLDER: u64 = 0x5c00;
const TASK: u64 = 0x5e00;
const QUEUE: u64 = 0x6000;
const WORKER: u64 = 0x6200;
const POOL: u64 = 0x6400;
const DELAYED: u64 = 0x6600;
const ARRAY: u64 = 0x6800;
const FUTURE: u64 = 0x6a00;
const ADAPTER: u64 = 0x6c00;
const SHARDS: u64 = 0x6e00;
const NAMES: [(u64, &str); 16] = [
    (REGISTRY, "com.shop.Registry"),
    (APP, "com.shop.App"),
    (CACHE, "com.shop.Cache"),
    (DEEP, "com.shop.Deep"),
    (MAP, "java.util.HashMap"),
    (THREAD, "java.lang.Thread"),
    (HOLDER, "java.lang.Thread$FieldHolder"),
    (TASK, "com.shop.Main$$Lambda"),
    (QUEUE, "java.util.concurrent.ArrayBlockingQueue"),
    (WORKER, "java.util.concurrent.ThreadPoolExecutor$Worker"),
    (POOL, "java.util.concurrent.ThreadPoolExecutor"),
    (DELAYED, "java.util.concurrent.ScheduledThreadPoolExecutor$DelayedWorkQueue"),
    (ARRAY, "java.util.concurrent.RunnableScheduledFuture[]"),
    (FUTURE, "java.util.concurrent.FutureTask"),
    (ADAPTER, "java.util.concurrent.Executors$RunnableAdapter"),
    (SHARDS, "java.util.Map[]"),
];
/// Where the handle of a mirror is in a class, and static fields in a mirror.
const MIRROR: u64 = 0x70;
const STATIC: u64 = 0x40;
const FIELD: u64 = 0x10;
const SECOND: u64 = 0x14;
const HANDLES: u64 = 0x9000;
const OBJECTS: u64 = 0x10_0000;

fn at(number: u64) -> u64 {
    OBJECTS + number * 0x80
}

/// The heap: a map in a static field, an application in another one that leads to two more, and a thread whose task has caught one.
struct Heap(Copy);

impl Heap {
    fn new() -> Self {
        let mut heap = Self(Copy::default());
        let objects = [MAP, APP, CACHE, MAP, DEEP, MAP, THREAD, HOLDER, TASK, MAP, QUEUE, REGISTRY, APP];
        let of_pool = [THREAD, HOLDER, WORKER, POOL, DELAYED, ARRAY, FUTURE, ADAPTER, CACHE, MAP];
        let shards = [SHARDS, MAP, MAP];
        for (number, klass) in (0..).zip(objects.into_iter().chain(of_pool).chain(shards)) {
            heap.0.write(at(number), &[0; 0x80]);
            heap.set(number, 8, klass);
        }
        // The mirrors of two classes, which are the last two objects.
        for (klass, mirror) in [(REGISTRY, 11), (APP, 12)] {
            heap.0.write_u64(klass + MIRROR, HANDLES + mirror * 8);
            heap.0.write_u64(HANDLES + mirror * 8, at(mirror));
        }
        heap.set(11, STATIC, at(0));
        heap.set(11, STATIC + 4, at(10));
        heap.set(12, STATIC, at(1));
        heap.set(1, FIELD, at(2));
        heap.set(2, FIELD, at(3));
        heap.set(2, SECOND, at(4));
        heap.set(4, FIELD, at(5));
        heap.set(6, PLACES.holder.unwrap(), at(7));
        heap.set(7, FIELD, at(8));
        heap.set(8, FIELD, at(9));
        heap.set(10, FIELD, 6);
        // A thread of a pool in whose queue there is one task.
        heap.set(13, PLACES.holder.unwrap(), at(14));
        for object in [14, 15, 16, 17, 19, 20, 21] {
            heap.set(object, FIELD, at(object + 1));
        }
        heap.set(18, 12, 1);
        heap.set(18, 16, at(19));
        heap.set(22, FIELD, 50);
        // Two maps in an array.
        heap.set(11, STATIC + 8, at(23));
        heap.set(23, 12, 2);
        for (place, map, entries) in [(16, 24, 3), (20, 25, 4)] {
            heap.set(23, place, at(map));
            heap.set(map, FIELD, entries);
        }
        heap.entries([10, 20, 30, 40])
    }

    fn set(&mut self, object: u64, offset: u64, value: u64) {
        self.0.write_u32(at(object) + offset, u32::try_from(value).unwrap());
    }

    /// With so many entries in the four maps: the one in the static field, those near to and far from the application, and the task's.
    fn entries(mut self, entries: [u64; 4]) -> Self {
        for (map, entries) in [0, 3, 5, 9].into_iter().zip(entries) {
            self.set(map, FIELD, entries);
        }
        self
    }
}

fn keeping() -> Keeping {
    let classes = Classes { loaded: LoadedLayout::ZERO, mirror: MIRROR, is_handle: true };
    let root = |(klass, offset, field): (u64, u64, &str)| Root {
        klass,
        offset,
        field: field.into(),
        entries: None,
        changed: true,
        is_queue: false,
    };
    let roots = [
        (REGISTRY, STATIC, "com.shop.Registry.CALLS"),
        (REGISTRY, STATIC + 4, "com.shop.Registry.ORDERS"),
        (APP, STATIC, "com.shop.App.ONE"),
        (REGISTRY, STATIC + 8, "com.shop.Registry.SHARDS"),
    ];
    // Fields are found on real JVMs; here they are known.
    Keeping { roots: roots.map(root).into(), from: usize::MAX, ..Keeping::of(classes) }
}

fn look(keeping: &mut Keeping, memory: &impl Peek) -> Vec<(String, Option<String>, u64)> {
    look_with(keeping, memory, &[6])
}

fn look_with(keeping: &mut Keeping, memory: &impl Peek, threads: &[u64]) -> Vec<(String, Option<String>, u64)> {
    look_at(keeping, memory, threads, &[])
}

fn look_at(
    keeping: &mut Keeping,
    memory: &impl Peek,
    threads: &[u64],
    on_stack: &[OnStack],
) -> Vec<(String, Option<String>, u64)> {
    with(memory, |fields, reader| {
        let threads = threads.iter().map(|thread| at(*thread));
        let kept = keeping.look(memory, fields, reader, threads, on_stack);
        kept.into_iter().map(|kept| (kept.field, kept.root, kept.entries)).collect()
    })
}

fn with<P: Peek, R>(memory: &P, run: impl FnOnce(&NamedFields, &Reader<'_, P>) -> R) -> R {
    let known = [
        of_objects(MAP, "size", false, FIELD),
        of_objects(HOLDER, "task", true, FIELD),
        of_objects(QUEUE, "count", false, FIELD),
        of_objects(WORKER, "this$0", true, FIELD),
        of_objects(POOL, "workQueue", true, FIELD),
        of_objects(DELAYED, "queue", true, FIELD),
        of_objects(FUTURE, "callable", true, FIELD),
        of_objects(ADAPTER, "task", true, FIELD),
    ];
    let references = [
        (APP, "com.shop.App.cache", FIELD),
        (CACHE, "com.shop.Cache.pages", FIELD),
        (CACHE, "com.shop.Cache.deep", SECOND),
        (DEEP, "com.shop.Deep.map", FIELD),
        (TASK, "com.shop.Main$$Lambda.arg$1", FIELD),
    ];
    let fields = NamedFields::with(known.to_vec()).with_references(&references);
    let classes = reader::Classes::with(&NAMES);
    run(&fields, &Reader { memory, metadata: &METADATA, places: &PLACES, classes: &classes })
}

fn told(field: &str, root: Option<&str>, entries: u64) -> (String, Option<String>, u64) {
    (field.to_owned(), root.map(str::to_owned), entries)
}

#[test]
fn what_static_fields_and_tasks_lead_to_is_told_with_its_field() {
    let (mut keeping, heap) = (keeping(), Heap::new());
    assert_eq!(
        look(&mut keeping, &heap.0),
        [
            told("java.util.HashMap in a lambda of com.shop.Main", None, 40),
            told("com.shop.Cache.pages", Some("com.shop.App.ONE"), 20),
            told("com.shop.Registry.CALLS", None, 10),
            told("com.shop.Registry.ORDERS", None, 6),
            told("com.shop.Registry.SHARDS[]", None, 3 + 4),
        ],
        "what is farther from a static field is not looked for"
    );
}

#[test]
fn what_a_task_keeps_that_waits_in_a_queue_is_found_by_the_threads_of_its_executor() {
    let (mut keeping, heap) = (keeping(), Heap::new());
    let found = look_with(&mut keeping, &heap.0, &[13]);
    assert_eq!(found[0], told("com.shop.Cache.pages", None, 50));
    let mut circle = Heap::new();
    circle.set(20, FIELD, at(15));
    assert_eq!(look_with(&mut keeping, &circle.0, &[13]).len(), found.len() - 1, "what leads back leads nowhere");
}

#[test]
fn what_variables_may_have_is_told_with_the_method_and_only_where_nothing_else_has_it() {
    let (mut keeping, heap) = (keeping(), Heap::new());
    // A map, an object with one, the application that a static field has as well, and what is no object.
    let objects = [at(3), at(8), at(1), at(9) + 8, 0x1000].to_vec();
    let on_stack = [OnStack { method: "com.shop.Main.main".to_owned(), objects }];
    let told = look_at(&mut keeping, &heap.0, &[], &on_stack);
    let of_variables: Vec<_> = told.into_iter().filter(|(_, root, _)| root.is_none()).collect();
    let ours = |field: &str| of_variables.iter().any(|(told, ..)| told == field);
    assert!(ours("java.util.HashMap in a variable of com.shop.Main.main"), "{of_variables:?}");
    assert!(ours("java.util.HashMap in a lambda of com.shop.Main"), "{of_variables:?}");
    assert!(!ours("com.shop.Cache.pages"), "a static field leads to it: {of_variables:?}");
}

#[test]
fn what_changes_is_looked_at_each_time_and_the_rest_seldom() {
    let mut keeping = keeping();
    let mut seen = [0; 2];
    for entries in 0..(2 + 2 * SELDOM as u64) {
        let heap = Heap::new().entries([10 + entries, 20, 30, 40]);
        let told = look(&mut keeping, &heap.0);
        for (seen, field) in seen.iter_mut().zip(["com.shop.Registry.CALLS", "com.shop.Cache.pages"]) {
            *seen += told.iter().filter(|(told, ..)| told == field).count();
        }
    }
    // Twice in the beginning: it is not known before that it stays as it is.
    assert_eq!(seen, [2 + 2 * SELDOM, 2 + 2]);
}

/// What a look does not come to is what the next one begins with, and nothing is told in part.
#[test]
fn more_fields_than_a_look_reads_are_looked_at_in_turn() {
    let (mut keeping, heap) = (keeping(), Heap::new());
    let more = (0..3 * MAX_OBJECTS[0]).map(|at| Root {
        klass: APP,
        offset: STATIC,
        field: format!("com.shop.App.f{at:05}").into(),
        entries: None,
        changed: true,
        is_queue: false,
    });
    keeping.roots = more.collect();
    let mut seen = HashSet::new();
    for _ in 0..60 {
        let told = look(&mut keeping, &heap.0);
        assert!(told.iter().filter(|(_, root, _)| root.is_some()).all(|(_, _, entries)| *entries == 20), "{told:?}");
        seen.extend(told.into_iter().filter_map(|(_, root, _)| root));
    }
    assert_eq!(seen.len(), 3 * MAX_OBJECTS[0]);
}

#[test]
fn queues_in_static_fields_are_known_from_the_first_look_on() {
    let (mut keeping, heap) = (keeping(), Heap::new());
    let queues = |keeping: &Keeping| with(&heap.0, |fields, reader| keeping.queues(fields, reader));
    assert_eq!(queues(&keeping), []);
    look(&mut keeping, &heap.0);
    let orders = OwnQueue { address: at(10), field: "com.shop.Registry.ORDERS".to_owned(), queued: 6 };
    assert_eq!(queues(&keeping), [orders]);
    keeping.forget();
    assert_eq!(queues(&keeping), [], "its class may be gone");
    let mut once = self::keeping();
    with(&heap.0, |fields, reader| once.find_queues(&heap.0, fields, reader));
    assert_eq!(queues(&once).len(), 1, "who looks once needs no walk");
}

#[test]
fn fuzz_kept_collections() {
    let sound = Heap::new();
    fuzz::each("kept_collections", 1 << 20, |dice| {
        let mut copy = sound.0.clone();
        fuzz::damage(dice, &mut copy);
        let (mut keeping, memory) = (keeping(), Metered::new(copy, 4 << 20));
        for _ in 0..2 {
            let objects = (0..26).map(|object| at(object) + dice.below(9) as u64).collect();
            let on_stack = [OnStack { method: "com.shop.Main.main".to_owned(), objects }];
            let _: Vec<_> = look_at(&mut keeping, &memory, &[6, 13], &on_stack);
        }
        let _: Vec<OwnQueue> = with(&memory, |fields, reader| keeping.queues(fields, reader));
    });
}

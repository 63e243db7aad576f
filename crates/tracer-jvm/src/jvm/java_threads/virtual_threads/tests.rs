//! Sets of virtual threads in a heap that is written by hand, and damaged.

use std::{cell::Cell, sync::LazyLock};

use super::{
    super::{
        places::{Places, References},
        reader::Classes,
    },
    *,
};
use crate::{
    fuzz::{self, Metered},
    jvm::{memory::Error, metadata::Field, peek::copy::Copy, world::World},
};
use tracer_common::tally::ObjectLayout;

/// `Klass*`s.
const CONTAINER: u64 = 0x5000;
const TRACKED: u64 = 0x5100;
const CLASS: u64 = 0x5200;
const SET: u64 = 0x5300;
const MAP: u64 = 0x5400;
const NODE: u64 = 0x5500;
const FORWARD: u64 = 0x5600;
const TREE_BIN: u64 = 0x5700;
const PLATFORM: u64 = 0x5800;
/// Offset of the handle of a mirror in a class.
const MIRROR: u64 = 0x70;
/// Where the static field lies in a mirror, and other fields in objects.
const STATIC: u64 = 0x40;
const FIELD: u64 = 0x10;
const BUCKETS: u32 = 8;
/// Where objects lie, one behind the other.
const HEAP: u64 = 0x10_0000;
const OBJECT_BYTES: u64 = 0x80;

pub(in crate::jvm::java_threads) const PLACES: Places = Places {
    thread_object: 0,
    is_handle: true,
    name: 0x20,
    id: 0x28,
    blocker: 0x30,
    holder: Some(0x34),
    daemon: 0,
    status: 0,
    owner: Some(0),
    super_class: 0x60,
    value: 0,
    coder: Some(0),
    references: References::Narrow { base: 0, shift: 0 },
    objects: ObjectLayout {
        klass_base: 0,
        klass_shift: 0,
        klass_low_bit: 0,
        klass_offset: 8,
        klass_bytes: 4,
        layout_helper: 0,
        length: 12,
        alignment: 8,
        mirror_size: 0,
        mirror_klass: 0,
    },
    bytes: 16,
};

const THREADS: VirtualThreads = VirtualThreads {
    containers: CONTAINER,
    tracking: Some(TRACKED),
    class: CLASS,
    mirror: MIRROR,
    states: Vec::new(),
    suspended: 0x100,
};

/// A heap that is being written.
struct Heap {
    copy: Copy,
    next: u64,
}

impl Heap {
    fn object(&mut self, klass: u64) -> u64 {
        let object = self.next;
        self.next += OBJECT_BYTES;
        self.copy.write(object, &[0; 0x80]);
        self.set(object, 8, klass);
        object
    }

    fn set(&mut self, object: u64, offset: u64, value: u64) {
        self.copy.write_u32(object + offset, u32::try_from(value).unwrap());
    }

    fn thread(&mut self, id: u64, state: u32) -> u64 {
        let thread = self.object(CLASS);
        self.copy.write_u64(thread + 0x28, id);
        self.copy.write_u32(thread + FIELD, state);
        self.set(thread, FIELD + 4, 0x8000 + id);
        thread
    }

    /// A node of a chain: `hash`, `key`, `next`.
    fn node(&mut self, klass: u64, [hash, key, next]: [u64; 3]) -> u64 {
        let node = self.object(klass);
        self.set(node, FIELD, hash);
        self.set(node, FIELD + 4, key);
        self.set(node, FIELD + 8, next);
        node
    }

    fn table(&mut self, buckets: &[u64]) -> u64 {
        let table = self.object(MAP);
        self.set(table, 12, u64::from(BUCKETS));
        for (index, bucket) in (0..).zip(buckets) {
            self.set(table, 16 + 4 * index, *bucket);
        }
        table
    }
}

/// Five threads: two in a chain, one in a tree, one in the next table of a map that grows, and one that is mounted; and one of the platform.
fn heap() -> Copy {
    let mut heap = Heap { copy: Copy::default(), next: HEAP };
    let [first, second, third, fourth] = [1, 2, 3, 4].map(|id| heap.thread(id, 4));
    let (mounted, platform) = (heap.thread(5, 1), heap.object(PLATFORM));
    let behind = heap.node(NODE, [7, second, 0]);
    let chain = heap.node(NODE, [7, first, behind]);
    let other = heap.node(NODE, [9, mounted, 0]);
    let beside = heap.node(NODE, [10, platform, 0]);
    let leaf = heap.node(NODE, [8, third, 0]);
    let tree = heap.node(TREE_BIN, [u64::from(u32::MAX - 1), leaf, 0]);
    let moved = heap.node(NODE, [3, fourth, 0]);
    let next = heap.table(&[0, 0, 0, moved]);
    let forward = heap.node(FORWARD, [u64::from(u32::MAX), next, 0]);
    let table = heap.table(&[chain, tree, 0, forward, other, beside]);
    let map = heap.object(MAP);
    heap.set(map, FIELD, table);
    let set = heap.object(SET);
    heap.set(set, FIELD, map);
    let (mirror, handle) = (heap.object(PLATFORM), 0x9000);
    heap.copy.write_u64(TRACKED + MIRROR, handle);
    heap.copy.write_u64(handle, mirror);
    heap.set(mirror, STATIC, set);
    heap.copy
}

/// Numbers of those that were told.
#[derive(Default)]
struct Told(Vec<u64>);

impl Visitor for Told {
    type Stack = ();

    fn walk(&mut self, _: &impl Peek, continuation: u64) {
        assert!(continuation > 0);
    }

    fn take(&mut self, thread: VirtualThread, (): ()) {
        self.0.push(thread.object.id);
    }
}

pub(in crate::jvm::java_threads) static METADATA: LazyLock<MetadataLayout> = LazyLock::new(|| {
    let world = World::new(21);
    MetadataLayout::from_tables(&world.copy, &world.tables).unwrap()
});

fn told(memory: &impl Peek, most: usize) -> (Vec<u64>, NotRead) {
    let field = |klass, name: &'static str, offset, is_reference| {
        let field = Field { name: name.to_owned(), is_reference, is_static: false, offset };
        (klass, name, field)
    };
    let of_class = |klass, name: &'static str| {
        let field = Field { name: name.to_owned(), is_reference: true, is_static: true, offset: STATIC };
        (klass, name, field)
    };
    let mut known = vec![
        of_class(TRACKED, "VTHREADS"),
        of_class(CONTAINER, "CONTAINER_REGISTRY"),
        field(CLASS, "state", FIELD, false),
        field(CLASS, "cont", FIELD + 4, true),
        field(SET, "map", FIELD, true),
        field(MAP, "table", FIELD, true),
        field(FORWARD, "nextTable", FIELD + 4, true),
        field(TREE_BIN, "first", FIELD + 4, true),
    ];
    for klass in [NODE, FORWARD, TREE_BIN] {
        known.push(field(klass, "hash", FIELD, false));
        known.push(field(klass, "key", FIELD + 4, true));
        known.push(field(klass, "next", FIELD + 8, true));
    }
    let fields = NamedFields::with(known);
    let classes = Classes::with(&[(PLATFORM, "java.lang.Thread"), (CLASS, VIRTUAL_THREAD), (SET, "a.Set")]);
    let near = Pages::new(memory);
    let reader = Reader { memory: &near, metadata: &METADATA, places: &PLACES, classes: &classes };
    let threads = VirtualThreads { states: vec![(4, "WAITING (parking)")], ..THREADS };
    let mut told = Told::default();
    let not_read = threads.each(most, memory, &fields, &reader, &mut told);
    (told.0, not_read)
}

#[test]
fn threads_are_found_in_chains_trees_and_tables_that_grow() {
    let (mut ids, not_read) = told(&heap(), 100);
    ids.sort_unstable();
    assert_eq!(ids, [1, 2, 3, 4]);
    assert_eq!(not_read, NotRead { mounted: 1, ..NotRead::default() });
    let (ids, not_read) = told(&heap(), 2);
    assert_eq!((ids.len(), not_read.more), (2, true), "no more than are asked for");
}

#[test]
fn a_chain_that_leads_back_to_itself_ends() {
    let mut copy = heap();
    // The first node is the seventh object.
    let behind = HEAP + 6 * OBJECT_BYTES;
    copy.write_u32(behind + FIELD + 8, u32::try_from(behind).unwrap());
    let (mut ids, _) = told(&copy, 100);
    ids.sort_unstable();
    assert_eq!(ids, [1, 2, 3, 4]);
}

/// A memory that has no end behind the heap, and of which so much may be read.
struct Endless {
    copy: Copy,
    left: Cell<u32>,
}

impl Peek for Endless {
    fn peek(&self, address: u64, buffer: &mut [u8]) -> Result<(), Error> {
        self.left.set(self.left.get().checked_sub(1).expect("more is read than any set has"));
        match self.copy.peek(address, buffer) {
            Err(_) if address > HEAP => {
                buffer.fill(0);
                Ok(())
            }
            read => read,
        }
    }
}

/// Its length says four billion buckets, and there is memory for all of them.
#[test]
fn a_table_without_end_is_left_after_so_many_buckets() {
    let mut copy = heap();
    // The table is the sixteenth object, see `heap`.
    let table = HEAP + 15 * OBJECT_BYTES;
    assert_eq!(copy.u32(table + 12).unwrap(), BUCKETS);
    copy.write_u32(table + 12, u32::MAX);
    let most = u32::try_from(MAX_ENTRIES).unwrap() / NEAR_BUCKETS;
    let (mut ids, not_read) = told(&Endless { copy, left: Cell::new(4 * most) }, 100);
    ids.sort_unstable();
    assert!(ids.starts_with(&[1, 2, 3]) && not_read.more, "{ids:?}, {not_read:?}");
}

#[test]
fn fuzz_virtual_threads() {
    let sound = heap();
    fuzz::each("virtual_threads", 16 << 20, |dice| {
        let mut copy = sound.clone();
        fuzz::damage(dice, &mut copy);
        // A circle is as long as it may be, which takes a thousand times as long.
        let most = if dice.once_in(1000) { MAX_VIRTUAL_THREADS } else { dice.pick(&[1, 100]) };
        let (ids, _) = told(&Metered::new(copy, 1 << 30), most);
        assert!(ids.len() <= most);
    });
}

//! Virtual threads that are not mounted: no kernel thread runs them, and no list of the JVM has them. Java keeps them in sets, for its
//! own thread dump (`ThreadContainers`): one of those that the API of `Thread` has started, and one for each executor and scope.
//!
//! The sets are hash tables in the heap, which the JVM may change and a collector may move meanwhile. So each object must be of the class
//! that it should be, a thread that is seen twice counts once, and what led nowhere is counted. The fields are the same in 21 and 25.

use std::collections::HashSet;

use super::{ThreadObject, named_fields::NamedFields, reader::Reader, thread_object::described};
use crate::jvm::{
    memory::Memory,
    metadata::{LoadedLayout, MetadataLayout, class_of},
    peek::{Pages, Peek},
    vmstructs::VmStructs,
};

/// Most virtual threads that are read.
pub const MAX_VIRTUAL_THREADS: usize = 131_072;
/// Most buckets of hash tables and entries in these that are looked at, all together.
const MAX_ENTRIES: usize = 1 << 21;
/// Most entries of a bucket: it is a tree from eight on, and hashes of threads seldom meet.
const MAX_CHAIN: usize = 4096;
/// Most sets of threads.
const MAX_SETS: usize = 16_384;
/// Bytes of a thread object in which all that it says of itself lies.
const THREAD_BYTES: usize = 128;
/// How often one is read that runs meanwhile.
const ATTEMPTS: u32 = 3;
/// Buckets that are read at once: what is remembered of the heap is a moment old at most.
const NEAR_BUCKETS: u32 = 256;

const CONTAINERS: &str = "jdk.internal.vm.ThreadContainers";
const TRACKING: &str = "jdk.internal.vm.ThreadContainers$RootContainer$TrackingRootContainer";
const VIRTUAL_THREAD: &str = "java.lang.VirtualThread";

/// What `VirtualThread.state` says of a thread that is not mounted, by the names of its constants, in `jstack`'s words.
const STATES: [(&str, &str); 10] = [
    ("STARTED", "RUNNABLE"),
    ("UNPARKED", "RUNNABLE"),
    ("YIELDED", "RUNNABLE"),
    ("UNBLOCKED", "RUNNABLE"),
    ("PARKED", "WAITING (parking)"),
    ("TIMED_PARKED", "TIMED_WAITING (parking)"),
    ("BLOCKED", "BLOCKED (on object monitor)"),
    ("WAIT", "WAITING (on object monitor)"),
    ("TIMED_WAIT", "TIMED_WAITING (on object monitor)"),
    ("SUSPENDED", ""),
];

/// `ConcurrentHashMap.Node.hash` of what stands for another table, and for a tree.
const MOVED: i32 = -1;
const TREE: i32 = -2;

/// A virtual thread that is not mounted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VirtualThread {
    /// What its thread object says.
    pub object: ThreadObject,
    /// As Java says it, like `WAITING (parking)`.
    pub state: &'static str,
    /// Its `Continuation`, at that moment.
    pub continuation: u64,
}

/// Who is told of virtual threads.
pub trait Visitor {
    /// What is read of one's stack.
    type Stack;
    /// Walks the stack of a continuation, which lies near its thread.
    fn walk(&mut self, near: &impl Peek, continuation: u64) -> Self::Stack;
    /// Takes one that did not run while it was read.
    fn take(&mut self, thread: VirtualThread, stack: Self::Stack);
}

/// How many there were beside those that were read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NotRead {
    /// Mounted ones, or such as were about to be: their carriers tell of them.
    pub mounted: u64,
    /// Those that ran meanwhile, however often they were read.
    pub ran: u64,
    /// Entries that led to no thread, because something was moved or changed meanwhile.
    pub torn: u64,
    /// Whether there were more than are read.
    pub more: bool,
    /// Whether those are not listed that the API of `Thread` has started (`-Djdk.trackAllThreads=false`).
    pub untracked: bool,
}

/// Where the JVM keeps them.
#[derive(Debug)]
pub(super) struct VirtualThreads {
    /// `Klass*` of the class that has the sets.
    containers: u64,
    /// The same of the container of threads that the API of `Thread` has started; absent where these are not listed.
    tracking: Option<u64>,
    /// The same of virtual threads.
    class: u64,
    /// `Klass::_java_mirror`.
    mirror: u64,
    /// States by number.
    states: Vec<(u32, &'static str)>,
    /// A bit that is set in the state of a suspended one.
    suspended: u32,
}

impl VirtualThreads {
    /// Finds the classes; nothing in a JVM that has made no virtual thread.
    pub(super) fn find(
        memory: &Memory,
        tables: &VmStructs,
        metadata: &MetadataLayout,
        fields: &NamedFields,
        reader: &Reader<'_, impl Peek>,
    ) -> Option<Self> {
        let loaded = LoadedLayout::from_tables(tables).ok()?;
        let near = Pages::new(memory);
        let (mut containers, mut tracking, mut class) = (None, None, None);
        loaded.classes(&near, &mut |klass| {
            match class_of(&near, metadata, klass).as_deref() {
                Ok(CONTAINERS) => containers = Some(klass),
                Ok(TRACKING) => tracking = Some(klass),
                Ok(VIRTUAL_THREAD) => class = Some(klass),
                _ => {}
            }
            containers.is_none() || tracking.is_none() || class.is_none()
        });
        let mirror = tables.offset("Klass", "_java_mirror")?;
        let mut found =
            Self { containers: containers?, tracking, class: class?, mirror, states: Vec::new(), suspended: 0 };
        for (constant, state) in STATES {
            let Some(number) = found.static_int(fields, reader, constant) else { continue };
            if state.is_empty() {
                found.suspended = number;
            } else {
                found.states.push((number, state));
            }
        }
        Some(found)
    }

    /// Tells a visitor of each, up to so many.
    pub(super) fn each<P: Peek>(
        &self,
        most: usize,
        memory: &P,
        fields: &NamedFields,
        reader: &Reader<'_, Pages<&P>>,
        visitor: &mut impl Visitor,
    ) -> NotRead {
        let mut not_read = NotRead { untracked: self.tracking.is_none(), ..NotRead::default() };
        let mut known = HashSet::new();
        // A list that leads back to itself has nothing new.
        let mut looked_at = HashSet::new();
        let mut left = MAX_ENTRIES;
        let mut sets = Vec::new();
        let walk = Walk { memory, fields, of: reader };
        sets.extend(self.tracking.and_then(|klass| self.static_reference(fields, reader, klass, "VTHREADS")));
        if let Some(registry) = self.static_reference(fields, reader, self.containers, "CONTAINER_REGISTRY") {
            walk.elements(registry, &mut left, &mut |near, weak| {
                let container = fields.reference(near, weak, "referent");
                sets.extend(container.and_then(|container| set_of(fields, near, container)));
                sets.len() < MAX_SETS
            });
        }
        let is_cut = sets.len() >= MAX_SETS;
        // Each set has its share, so that none is left out for another; in a second round they have what others left over.
        for round in 0..2 {
            not_read.more = is_cut;
            for (index, set) in sets.iter().enumerate() {
                let room = most.saturating_sub(known.len());
                let share = if round == 0 { room.div_ceil(sets.len() - index) } else { room };
                let enough = known.len() + share;
                walk.elements(*set, &mut left, &mut |near, object| {
                    if looked_at.contains(&object) {
                        return true;
                    }
                    if known.len() >= enough {
                        not_read.more = true;
                        return false;
                    }
                    looked_at.insert(object);
                    self.visit(object, near, &walk, &mut known, &mut not_read, visitor);
                    true
                });
            }
            if !not_read.more {
                break;
            }
        }
        not_read.more |= left == 0;
        not_read
    }

    /// Tells of the thread that an entry leads to, if it does not run meanwhile.
    fn visit<P: Peek>(
        &self,
        object: u64,
        locks: &Near<'_, P>,
        walk: &Walk<'_, P>,
        known: &mut HashSet<u64>,
        not_read: &mut NotRead,
        visitor: &mut impl Visitor,
    ) {
        for _ in 0..ATTEMPTS {
            let pages = Pages::new(walk.memory);
            let thread = match self.one(walk.fields, &walk.near(&pages), locks, object) {
                One::Unmounted(thread) => thread,
                One::Mounted => return not_read.mounted += 1,
                One::Torn => return not_read.torn += 1,
                One::Other => return,
            };
            if known.contains(&thread.object.id) {
                return;
            }
            let stack = visitor.walk(&pages, thread.continuation);
            let again = walk.memory.bytes(object, THREAD_BYTES).ok();
            if again.is_some() && again == pages.bytes(object, THREAD_BYTES).ok() {
                known.insert(thread.object.id);
                return visitor.take(*thread, stack);
            }
        }
        not_read.ran += 1;
    }

    fn one<P: Peek>(&self, fields: &NamedFields, reader: &Near<'_, P>, locks: &Near<'_, P>, object: u64) -> One {
        let Some(klass) = reader.klass(object) else { return One::Torn };
        if klass != self.class {
            // A scope's set has threads of the platform as well.
            let is_thread =
                reader.classes(object, super::named_fields::MAX_DEPTH).iter().any(|class| class == "java.lang.Thread");
            return if is_thread { One::Other } else { One::Torn };
        }
        let read = || {
            let state = fields.int(reader, object, "state")? & !self.suspended;
            let continuation = fields.reference(reader, object, "cont")?;
            Some((state, continuation, described(reader, locks, Some(fields), object)?))
        };
        let Some((number, continuation, object)) = read() else { return One::Torn };
        match self.states.iter().find(|(known, _)| *known == number) {
            Some((_, state)) => One::Unmounted(Box::new(VirtualThread { object, state, continuation })),
            None => One::Mounted,
        }
    }

    fn static_int<P: Peek>(&self, fields: &NamedFields, reader: &Reader<'_, P>, name: &'static str) -> Option<u32> {
        let field = fields.of_class(reader, self.class, name).filter(|field| field.is_static && !field.is_reference)?;
        reader.memory.u32(self.mirror_of(reader, self.class)?.wrapping_add(field.offset)).ok()
    }

    fn static_reference<P: Peek>(
        &self,
        fields: &NamedFields,
        reader: &Reader<'_, P>,
        klass: u64,
        name: &'static str,
    ) -> Option<u64> {
        let field = fields.of_class(reader, klass, name).filter(|field| field.is_static && field.is_reference)?;
        reader.reference(self.mirror_of(reader, klass)?.wrapping_add(field.offset))
    }

    fn mirror_of<P: Peek>(&self, reader: &Reader<'_, P>, klass: u64) -> Option<u64> {
        reader.wide(reader.memory.u64(klass.wrapping_add(self.mirror)).ok()?)
    }
}

/// What an entry of a set leads to.
enum One {
    Unmounted(Box<VirtualThread>),
    Mounted,
    /// A thread of the platform.
    Other,
    Torn,
}

/// The set of threads of a container: of an executor, of a pool, or of a scope.
fn set_of<P: Peek>(fields: &NamedFields, reader: &Reader<'_, P>, container: u64) -> Option<u64> {
    let own = || fields.reference(reader, container, "threads");
    let shared = || fields.reference(reader, container, "virtualThreads");
    let of_scope = || fields.reference(reader, fields.reference(reader, container, "flock")?, "threads");
    own().or_else(shared).or_else(of_scope)
}

/// Walks sets that are views of a `ConcurrentHashMap`.
struct Walk<'a, P> {
    memory: &'a P,
    fields: &'a NamedFields,
    of: &'a Reader<'a, Pages<&'a P>>,
}

/// Reads what lies near what was read before.
type Near<'a, P> = Reader<'a, Pages<&'a P>>;

impl<'a, P: Peek> Walk<'a, P> {
    /// Reads what lies near, and nothing that was read before.
    const fn near<'b>(&self, memory: &'b Pages<&'b P>) -> Near<'b, P>
    where
        'a: 'b,
    {
        self.of.near(memory)
    }

    /// Hands each element to `take`, until that says that it has enough.
    fn elements(&self, set: u64, left: &mut usize, take: &mut dyn FnMut(&Near<'_, P>, u64) -> bool) {
        let Some(map) = self.fields.reference(self.of, set, "map") else { return };
        let mut table = self.fields.reference(self.of, map, "table");
        // While it grows, what has gone to the next table is there.
        for _ in 0..2 {
            let Some(current) = table else { return };
            match self.buckets(current, left, take) {
                Next::Table(next) => table = Some(next),
                Next::Nothing => return,
            }
        }
    }

    fn buckets(&self, table: u64, left: &mut usize, take: &mut dyn FnMut(&Near<'_, P>, u64) -> bool) -> Next {
        let Ok(length) = self.memory.u32(table.wrapping_add(self.of.places.objects.length.into())) else {
            return Next::Nothing;
        };
        let mut next = Next::Nothing;
        for first in (0..length).step_by(NEAR_BUCKETS as usize) {
            let pages = Pages::new(self.memory);
            let near = self.near(&pages);
            // An array lies in one piece: behind what cannot be read there is none of it, whatever its length says.
            if !near.has_element(table, first) {
                return next;
            }
            for index in first..length.min(first + NEAR_BUCKETS) {
                *left = left.saturating_sub(1);
                if *left == 0 {
                    return Next::Nothing;
                }
                let Some(node) = near.element(table, index) else { continue };
                let chain = match self.fields.int(&near, node, "hash").map(u32::cast_signed) {
                    Some(MOVED) => {
                        let table = self.fields.reference(&near, node, "nextTable");
                        next = table.map_or(next, Next::Table);
                        None
                    }
                    Some(TREE) => self.fields.reference(&near, node, "first"),
                    Some(0..) => Some(node),
                    Some(_) | None => None,
                };
                if !self.chain(&near, chain, left, take) {
                    return Next::Nothing;
                }
            }
        }
        next
    }

    /// The keys of a bucket; says whether more are wanted.
    fn chain(
        &self,
        near: &Near<'_, P>,
        mut node: Option<u64>,
        left: &mut usize,
        take: &mut dyn FnMut(&Near<'_, P>, u64) -> bool,
    ) -> bool {
        for _ in 0..MAX_CHAIN {
            let Some(current) = node else { return true };
            *left = left.saturating_sub(1);
            if *left == 0 {
                return false;
            }
            if let Some(key) = self.fields.reference(near, current, "key")
                && !take(near, key)
            {
                return false;
            }
            node = self.fields.reference(near, current, "next");
        }
        true
    }
}

/// Where the rest of a table is that grows.
#[derive(Clone, Copy)]
enum Next {
    Nothing,
    Table(u64),
}

#[cfg(test)]
pub(super) mod tests;

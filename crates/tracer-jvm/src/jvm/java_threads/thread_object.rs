//! What a thread object says beside its name: its id, its state, and on whose behalf it is parked.

use super::{
    JavaThread, Layout,
    doors::{Door, doors},
    executor::Executor,
    kept::{Keeping, Kept, OnStack},
    named_fields::{MAX_DEPTH, NamedFields},
    own_queue::OwnQueue,
    places::Places,
    pools::Pools,
    reader::{Classes, Reader},
    virtual_threads::{NotRead, VirtualThreads, Visitor},
};
use crate::jvm::{
    find::Jvm,
    memory::Memory,
    metadata::MetadataLayout,
    peek::{Pages, Peek},
    vmstructs::VmStructs,
};

/// What locks of `java.util.concurrent` extend that one thread can own.
const OWNABLE: &str = "java.util.concurrent.locks.AbstractOwnableSynchronizer";
/// Its field that says who owns it.
const OWNER: &str = "exclusiveOwnerThread";
const THREAD: &str = "java.lang.Thread";
/// `JVMTI_THREAD_STATE_TERMINATED`, in the status of a platform thread.
const TERMINATED: u32 = 2;

/// What a parked thread waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blocker {
    /// Address of the object, at that moment.
    pub address: u64,
    /// Its class.
    pub class: String,
    /// The thread object of the thread that owns it; 0 where nobody does. Absent where nobody can.
    pub owner: Option<u64>,
}

/// What a thread object says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadObject {
    /// Address of the object, at that moment.
    pub address: u64,
    /// `Thread.getName()`.
    pub name: Option<String>,
    /// `Thread.threadId()`.
    pub id: u64,
    /// Absent for virtual threads, which have none of their own.
    pub daemon: Option<bool>,
    /// `java.lang.Thread.State` in the JVM's bits; absent for virtual threads.
    pub status: Option<u32>,
    /// What it is parked for.
    pub blocker: Option<Blocker>,
}

/// Reads thread objects.
pub struct ThreadObjects {
    memory: Memory,
    metadata: MetadataLayout,
    places: Places,
    classes: Classes,
    fields: Option<NamedFields>,
    mounted: Option<u64>,
    virtual_threads: Option<VirtualThreads>,
    keeping: Option<Keeping>,
}

impl ThreadObjects {
    /// Finds out where things are; the error names what is missing.
    pub fn open(jvm: &Jvm, layout: &Layout) -> Result<Self, String> {
        let metadata = MetadataLayout::from_tables(&jvm.memory, &jvm.tables).map_err(|error| error.to_string())?;
        let memory = Memory::open(jvm.target.pid).map_err(|error| error.to_string())?;
        let mounted = layout.virtual_threads.map(|[_, mounted]| mounted);
        let fields = NamedFields::new(&jvm.tables)
            .inspect_err(|error| log::debug!("queues of executors and virtual threads: {error}"))
            .ok();
        let (places, classes) = (Places::find(jvm)?, Classes::default());
        let keeping = Keeping::new(&jvm.tables, jvm.target.jdk_release);
        Ok(Self { memory, metadata, places, classes, fields, mounted, virtual_threads: None, keeping })
    }

    /// Whether the JVM's sets of virtual threads are known.
    pub const fn has_virtual_threads(&self) -> bool {
        self.virtual_threads.is_some()
    }

    /// Looks for the JVM's sets of virtual threads, which come with the first of these.
    pub fn find_virtual_threads(&mut self, tables: &VmStructs) {
        if self.virtual_threads.is_none() && self.mounted.is_some() {
            let near = Pages::new(&self.memory);
            let reader = self.reader(&near);
            let find = |fields| VirtualThreads::find(&self.memory, tables, &self.metadata, fields, &reader);
            self.virtual_threads = self.fields.as_ref().and_then(find);
        }
    }

    /// Tells a visitor of each virtual thread that is not mounted, up to so many.
    pub fn unmounted(&self, most: usize, visitor: &mut impl Visitor) -> NotRead {
        let (Some(fields), Some(threads)) = (&self.fields, &self.virtual_threads) else { return NotRead::default() };
        let near = Pages::new(&self.memory);
        threads.each(most, &self.memory, fields, &self.reader(&near), visitor)
    }

    /// Classes have been loaded, or have gone, and others may come to their addresses.
    pub fn forget(&mut self) {
        self.classes.forget();
        if let Some(fields) = &self.fields {
            fields.forget();
        }
        if let Some(keeping) = &mut self.keeping {
            keeping.forget_kinds();
        }
    }

    /// Classes may have gone, and their static fields with them.
    pub fn classes_unloaded(&mut self) {
        if let Some(keeping) = &mut self.keeping {
            keeping.forget();
        }
    }

    /// Collections that the program keeps, with these threads and what may be in variables, as far as a look goes.
    pub fn kept(&mut self, threads: &[JavaThread], on_stack: &[OnStack]) -> Vec<Kept> {
        let Self { memory, metadata, places, classes, fields, keeping, .. } = self;
        let (Some(fields), Some(keeping)) = (fields, keeping) else { return Vec::new() };
        let reader = Reader { memory: &*memory, metadata, places, classes };
        let objects = threads.iter().filter_map(|thread| reader.thread_object(thread.address));
        keeping.look(&*memory, fields, &reader, objects, on_stack)
    }

    /// Finds the queues in static fields.
    pub fn find_static_queues(&mut self) {
        let Self { memory, metadata, places, classes, fields, keeping, .. } = self;
        if let (Some(fields), Some(keeping)) = (fields, keeping) {
            keeping.find_queues(&*memory, fields, &Reader { memory: &*memory, metadata, places, classes });
        }
    }

    /// The queues in static fields, as far as they are known.
    pub fn static_queues(&self) -> Vec<OwnQueue> {
        let near = Pages::small(&self.memory);
        let queues = |fields| Some(self.keeping.as_ref()?.queues(fields, &self.reader(&near)));
        self.fields.as_ref().and_then(queues).unwrap_or_default()
    }

    /// The executor for which a thread works, and how many tasks wait in its queue. Pools are those of the same look.
    pub fn executor_of(&self, thread: &JavaThread, pools: &Pools) -> Option<Executor> {
        let near = Pages::small(&self.memory);
        let reader = self.reader(&near);
        Executor::of(self.fields.as_ref()?, &reader, pools, reader.thread_object(thread.address)?)
    }

    /// The queue that a thread which works for no executor has of its own.
    pub fn own_queue_of(&self, thread: &JavaThread) -> Option<OwnQueue> {
        let near = Pages::small(&self.memory);
        let reader = self.reader(&near);
        OwnQueue::of(self.fields.as_ref()?, &reader, reader.thread_object(thread.address)?)
    }

    /// The sockets that listen, of a thread.
    pub fn doors_of(&self, thread: &JavaThread) -> Vec<Door> {
        let near = Pages::small(&self.memory);
        let reader = self.reader(&near);
        let doors = |fields| Some(doors(fields, &reader, reader.thread_object(thread.address)?));
        self.fields.as_ref().and_then(doors).unwrap_or_default()
    }

    /// Address of its thread object now.
    pub fn address_of(&self, thread: &JavaThread) -> Option<u64> {
        Reader { memory: &self.memory, metadata: &self.metadata, places: &self.places, classes: &self.classes }
            .thread_object(thread.address)
    }

    /// The thread itself.
    pub fn of(&self, thread: &JavaThread) -> Option<ThreadObject> {
        let near = Pages::small(&self.memory);
        let reader = self.reader(&near);
        described(&reader, &reader, self.fields.as_ref(), reader.thread_object(thread.address)?)
    }

    /// The virtual thread that it carries.
    pub fn mounted_on(&self, thread: &JavaThread) -> Option<ThreadObject> {
        let near = Pages::small(&self.memory);
        let reader = self.reader(&near);
        let mounted = reader.wide(near.u64(thread.address.wrapping_add(self.mounted?)).ok()?)?;
        let described = || described(&reader, &reader, self.fields.as_ref(), mounted);
        (mounted != reader.thread_object(thread.address)?).then(described).flatten()
    }

    /// Name of the thread of this object, where that has ended. Objects move: of one that is none any more nothing is said.
    pub fn ended(&self, object: u64) -> Option<String> {
        let near = Pages::small(&self.memory);
        let reader = self.reader(&near);
        let is_thread = reader.classes(object, MAX_DEPTH).iter().any(|class| class == THREAD);
        let thread = is_thread.then(|| described(&reader, &reader, self.fields.as_ref(), object)).flatten()?;
        (thread.status == Some(TERMINATED)).then(|| thread.name.unwrap_or_default())
    }

    /// What belongs to one object lies near, so that few reads give all of it.
    const fn reader<'a>(&'a self, near: &'a Pages<&'a Memory>) -> Reader<'a, Pages<&'a Memory>> {
        Reader { memory: near, metadata: &self.metadata, places: &self.places, classes: &self.classes }
    }
}

/// What a thread object says; what it is parked for is read by `locks`, which may have read it already.
pub(super) fn described<P: Peek>(
    reader: &Reader<'_, P>,
    locks: &Reader<'_, impl Peek>,
    fields: Option<&NamedFields>,
    object: u64,
) -> Option<ThreadObject> {
    let (memory, places) = (reader.memory, reader.places);
    let platform = reader.platform(object);
    Some(ThreadObject {
        address: object,
        name: reader.name(object),
        id: memory.u64(object.wrapping_add(places.id)).ok()?,
        daemon: platform.and_then(|_| reader.is_daemon(object)),
        status: platform.and_then(|held| memory.u32(held.wrapping_add(places.status)).ok()),
        blocker: reader
            .reference(object.wrapping_add(places.blocker))
            .and_then(|object| blocker(locks, fields, object)),
    })
}

fn blocker<P: Peek>(reader: &Reader<'_, P>, fields: Option<&NamedFields>, address: u64) -> Option<Blocker> {
    let classes = reader.classes(address, MAX_DEPTH);
    let is_ownable = classes.iter().any(|class| class == OWNABLE);
    // 8 looks for the field only when somebody asks the JVM itself who owns what.
    let owner = || match reader.places.owner {
        Some(offset) => reader.reference(address.wrapping_add(offset)),
        None => fields?.reference(reader, address, OWNER),
    };
    let owner = is_ownable.then(|| owner().unwrap_or(0));
    Some(Blocker { address, class: classes.into_iter().next()?, owner })
}

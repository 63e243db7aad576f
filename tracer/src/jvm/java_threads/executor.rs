//! The executor (`ThreadPoolExecutor`) for which a thread works, and how many tasks wait in its queue: read from the thread's
//! task, which is the executor's `Worker`, by the names of fields.
//!
//! What has no count that can be read has none here: a `SynchronousQueue` keeps nothing, and the queue of a scheduled executor
//! keeps what is to be done later.

use std::{cell::RefCell, collections::HashMap};

use super::reader::Reader;
use crate::jvm::{
    code_cache::Error,
    metadata::{Field, FieldsLayout},
    peek::Peek,
    vmstructs::VmStructs,
};

/// Other libraries have an executor of the same shape under the same name.
const WORKER: &str = ".ThreadPoolExecutor$Worker";
/// Most classes that an object's class is looked through for a field.
const MAX_DEPTH: usize = 16;
/// Queues, by the class that has the count, with the field that is it: a number, or an `AtomicInteger` with one.
const COUNTS: [(&str, &str); 4] = [
    ("java.util.concurrent.LinkedBlockingQueue", "count"),
    ("java.util.concurrent.ArrayBlockingQueue", "count"),
    ("java.util.concurrent.LinkedBlockingDeque", "count"),
    ("java.util.concurrent.PriorityBlockingQueue", "size"),
];

/// An executor at a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Executor {
    /// Address of the object, at that moment.
    pub address: u64,
    /// Tasks that wait in its queue.
    pub queued: u64,
}

/// Reads executors. Fields are looked up once for all objects of a look at the JVM.
#[derive(Debug)]
pub(super) struct Executors {
    layout: FieldsLayout,
    fields: RefCell<HashMap<(u64, &'static str), Option<Field>>>,
}

impl Executors {
    pub(super) fn new(tables: &VmStructs) -> Result<Self, Error> {
        Ok(Self { layout: FieldsLayout::from_tables(tables)?, fields: RefCell::default() })
    }

    pub(super) fn forget(&self) {
        self.fields.borrow_mut().clear();
    }

    /// The executor of a thread object; none where its task is no worker, or the queue has no count.
    pub(super) fn of<P: Peek>(&self, reader: &Reader<'_, P>, thread: u64) -> Option<Executor> {
        let held = reader.platform(thread)?;
        // Where the thread has an object for what only platform threads have, the task is in that, under another name.
        let task = self.reference(reader, held, if held == thread { "target" } else { "task" })?;
        let (class, _) = reader.class(reader.klass(task)?)?;
        if !class.ends_with(WORKER) {
            return None;
        }
        let address = self.reference(reader, task, "this$0")?;
        let queue = self.reference(reader, address, "workQueue")?;
        let queued = self.count(reader, queue)?;
        Some(Executor { address, queued })
    }

    fn count<P: Peek>(&self, reader: &Reader<'_, P>, queue: u64) -> Option<u64> {
        let classes = reader.classes(queue, MAX_DEPTH);
        let (_, field) = COUNTS.iter().find(|(class, _)| classes.iter().any(|known| known == class))?;
        let found = self.field(reader, queue, field)?;
        let at = queue.wrapping_add(found.offset);
        let at = if found.is_reference {
            let atomic = reader.reference(at)?;
            atomic.wrapping_add(self.field(reader, atomic, "value").filter(|value| !value.is_reference)?.offset)
        } else {
            at
        };
        // A count that is below zero is none.
        reader.memory.u32(at).ok().filter(|count| *count <= i32::MAX.cast_unsigned()).map(u64::from)
    }

    fn reference<P: Peek>(&self, reader: &Reader<'_, P>, object: u64, name: &'static str) -> Option<u64> {
        let field = self.field(reader, object, name).filter(|field| field.is_reference)?;
        reader.reference(object.wrapping_add(field.offset))
    }

    /// A field of an object, by its name: of its class, or of one that this extends.
    fn field<P: Peek>(&self, reader: &Reader<'_, P>, object: u64, name: &'static str) -> Option<Field> {
        let own = reader.klass(object)?;
        if let Some(known) = self.fields.borrow().get(&(own, name)) {
            return known.clone();
        }
        let parent = |klass: &u64| Some(reader.class(*klass)?.1).filter(|parent| *parent != 0);
        let classes = std::iter::successors(Some(own), parent).take(MAX_DEPTH);
        let mut all = classes.flat_map(|klass| self.layout.of(reader.memory, reader.metadata, klass));
        let found = all.find(|field| field.name == name);
        self.fields.borrow_mut().insert((own, name), found.clone());
        found
    }
}

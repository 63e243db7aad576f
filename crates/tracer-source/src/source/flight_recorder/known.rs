//! What events refer to, in jtrace's terms: names, threads and stacks get the ids that a live session would give them.

use std::{
    collections::{BTreeMap, HashMap, hash_map::Entry},
    rc::Rc,
};

use tracer_common::{record::NAME_ABSENT, stack::STACK_FIRST};

use super::values::Object;
use crate::{
    event::{NameId, StackId, Tid},
    item::{Item, ThreadName},
    source::encode::{encode_definition, name_id},
    stack::{End, Frame, FrameDefinition, Kind, StackDefinition},
    text::class_name::java_class_name,
};

/// Most frames of one stack.
const MAX_FRAMES: usize = 2048;
/// Most names, threads, frames and stacks that are kept of a file, each; a session keeps less.
const MAX_KEPT: usize = 1 << 20;
/// From here on stand the numbers of threads that have none of the system for themselves. Those of Linux are far below.
const VIRTUAL: u32 = 1 << 31;
/// Why a stack has no root.
const CUT: &str = "the recorder keeps no more frames";

/// What events of all chunks referred to.
#[derive(Debug, Default)]
pub(super) struct Known {
    texts: BTreeMap<NameId, Box<str>>,
    threads: BTreeMap<Tid, Box<str>>,
    frames: HashMap<Frame, u32>,
    stacks: HashMap<(Box<[u32]>, bool), StackId>,
    /// The number in Java of the first thread that had a number of the system; 0 where it has none.
    owners: HashMap<u64, u64>,
    of_chunk: OfChunk,
    /// Whether some found no room.
    pub(super) is_full: bool,
}

/// The same by its keys, which hold within one chunk.
#[derive(Debug, Default)]
struct OfChunk {
    threads: HashMap<i64, Thread>,
    methods: HashMap<i64, Rc<Method>>,
    stacks: HashMap<i64, StackId>,
}

/// A thread.
#[derive(Clone, Copy, Debug)]
pub(super) struct Thread {
    pub(super) tid: Tid,
    pub(super) name: NameId,
    pub(super) java_tid: u64,
}

#[derive(Debug)]
struct Method {
    class: Option<Rc<str>>,
    name: Rc<str>,
    signature: Option<Rc<str>>,
}

/// A class, a method's name and its descriptor, by their names.
pub(super) type MethodNames = [NameId; 3];

impl Known {
    /// Keys of the next chunk stand for other things.
    pub(super) fn next_chunk(&mut self) {
        self.of_chunk = OfChunk::default();
    }

    /// The id of a text.
    pub(super) fn name(&mut self, text: &str) -> NameId {
        let id = name_id(text.as_bytes());
        if self.has_room(self.texts.len()) || self.texts.contains_key(&id) {
            self.texts.entry(id).or_insert_with(|| text.into());
        }
        id
    }

    fn has_room(&mut self, kept: usize) -> bool {
        self.is_full |= kept >= MAX_KEPT;
        kept < MAX_KEPT
    }

    /// The id of a text that may not be there.
    pub(super) fn name_or_none(&mut self, text: Option<&str>) -> NameId {
        text.map_or(NameId(NAME_ABSENT), |text| self.name(text))
    }

    /// The name of a class, with slashes.
    pub(super) fn class(&mut self, of: &Object<'_, '_>, field: &str) -> NameId {
        self.name_or_none(of.text(field).as_deref())
    }

    /// A thread that an event names; threads of the JVM itself count too.
    pub(super) fn thread(&mut self, of: &Object<'_, '_>, field: &str) -> Option<Thread> {
        let key = of.key(field)?;
        if let Some(thread) = self.of_chunk.threads.get(&key) {
            return Some(*thread);
        }
        let thread = self.read_thread(&of.object(field)?);
        self.of_chunk.threads.insert(key, thread);
        Some(thread)
    }

    fn read_thread(&mut self, thread: &Object<'_, '_>) -> Thread {
        let (os_tid, java_tid) = (thread.amount("osThreadId"), thread.amount("javaThreadId"));
        let given = |field| thread.text(field).filter(|name| !name.is_empty());
        let is_known = os_tid > 0 && thread.flag("virtual") != Some(true) && self.is_owner(os_tid, java_tid);
        let number = u32::try_from(if is_known { os_tid } else { java_tid }).unwrap_or(u32::MAX);
        let tid = Tid(if is_known { number & !VIRTUAL } else { number | VIRTUAL });
        let name = given("javaName").or_else(|| given("osName"));
        let name = name.unwrap_or_else(|| format!("thread {java_tid}").into());
        if self.has_room(self.threads.len()) {
            self.threads.insert(tid, (*name).into());
        }
        Thread { tid, name: self.name(&name), java_tid }
    }

    /// Whether a number of the system is this thread's. Others come to have it: the system gives it away again, and the
    /// JVM makes another thread of its main thread.
    fn is_owner(&mut self, os_tid: u64, java_tid: u64) -> bool {
        if self.owners.len() >= MAX_KEPT && !self.owners.contains_key(&os_tid) {
            return true;
        }
        let owner = self.owners.entry(os_tid).or_insert(java_tid);
        if *owner == 0 {
            *owner = java_tid;
        }
        java_tid == 0 || *owner == java_tid
    }

    /// A method that an event names.
    pub(super) fn method(&mut self, of: &Object<'_, '_>, field: &str) -> MethodNames {
        let Some(method) = of.object(field) else { return [NameId(NAME_ABSENT); 3] };
        let part = |known: &mut Self, field| known.name_or_none(method.text(field).as_deref());
        [part(self, "type"), part(self, "name"), part(self, "descriptor")]
    }

    /// The stack of an event.
    pub(super) fn stack(&mut self, of: &Object<'_, '_>) -> StackId {
        const FIELD: &str = "stackTrace";
        let Some(key) = of.key(FIELD).filter(|key| *key > 0) else { return StackId::default() };
        if let Some(id) = self.of_chunk.stacks.get(&key) {
            return *id;
        }
        let id = of.object(FIELD).map_or_else(StackId::default, |stack| self.read_stack(&stack));
        self.of_chunk.stacks.insert(key, id);
        id
    }

    fn read_stack(&mut self, stack: &Object<'_, '_>) -> StackId {
        if !self.has_room(self.frames.len().max(self.stacks.len())) {
            return StackId::default();
        }
        let frames: Vec<u32> = stack.list("frames").take(MAX_FRAMES).map(|frame| self.frame(&frame)).collect();
        if frames.is_empty() {
            return StackId::default();
        }
        let next = STACK_FIRST + self.stacks.len() as u64;
        let is_cut = stack.flag("truncated") == Some(true) || frames.len() == MAX_FRAMES;
        *self.stacks.entry((frames.into(), !is_cut)).or_insert(StackId(next))
    }

    fn frame(&mut self, frame: &Object<'_, '_>) -> u32 {
        let method = self.method_of(frame);
        let positive = |field| frame.number(field).and_then(|number| u32::try_from(number).ok());
        let kind = frame.text("type");
        let class = method.class.as_deref().map(java_class_name).filter(|class| !class.is_empty());
        // What jtrace writes of machine code has a file in the place of the class, and no descriptor; of what it does not know neither.
        let is_known = method.signature.as_deref() != Some(NO_DESCRIPTOR);
        let is_java = class.is_some() && is_known && frame.flag("javaFrame") != Some(false);
        let kind = match kind_of(kind.as_deref().unwrap_or_default(), is_java) {
            Kind::Native if class.as_deref() == Some("unknown") => Kind::Unknown,
            kind => kind,
        };
        let frame = match class {
            Some(class) if kind.is_java() => Frame {
                name: format!("{class}.{}", method.name).into(),
                class: Some(class.into()),
                signature: method.signature.as_deref().map(Into::into),
                line: positive("lineNumber").filter(|line| *line > 0),
                bci: positive("bytecodeIndex"),
                ..Frame::named(kind, "")
            },
            module => Frame {
                module: module.filter(|_| kind == Kind::Native).map(Into::into),
                ..Frame::named(kind, &*method.name)
            },
        };
        let next = u32::try_from(self.frames.len()).unwrap_or(u32::MAX);
        match self.frames.entry(frame) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(new) => *new.insert(next),
        }
    }

    fn method_of(&mut self, frame: &Object<'_, '_>) -> Rc<Method> {
        let key = frame.key("method").unwrap_or(0);
        if let Some(method) = self.of_chunk.methods.get(&key) {
            return Rc::clone(method);
        }
        let method = frame.object("method");
        let text = |field| method.as_ref().and_then(|method| method.text(field));
        let name = text("name").unwrap_or_else(|| "<method not in the file>".into());
        let method = Rc::new(Method { class: text("type"), name, signature: text("descriptor") });
        self.of_chunk.methods.insert(key, Rc::clone(&method));
        method
    }

    /// Gives all of it to a session, in an order that does not depend on the order of a table.
    pub(super) fn define(&self, sink: &mut dyn FnMut(Item<'_>)) {
        for (tid, name) in &self.threads {
            sink(Item::Thread(ThreadName { tid: *tid, name: name.to_string() }));
        }
        for (id, text) in &self.texts {
            sink(Item::Record(&encode_definition(*id, text.as_bytes())));
        }
        let mut frames: Vec<_> = self.frames.iter().map(|(frame, id)| (*id, frame)).collect();
        frames.sort_unstable_by_key(|(id, _)| *id);
        for (id, frame) in frames {
            sink(Item::Frame(FrameDefinition { id, frame: frame.clone().into() }));
        }
        let mut stacks: Vec<_> = self.stacks.iter().map(|((frames, root), id)| (*id, frames, *root)).collect();
        stacks.sort_unstable_by_key(|(id, ..)| *id);
        for (id, frames, root) in stacks {
            let reason = if root { String::new() } else { CUT.to_owned() };
            sink(Item::Stack(StackDefinition { id, frames: frames.to_vec(), end: End { root, reason } }));
        }
    }
}

/// How a frame runs, by the word of the recorder: the JDK's, async-profiler's or jtrace's.
/// Stands for a descriptor that is not known.
const NO_DESCRIPTOR: &str = "()L;";

fn kind_of(word: &str, is_java: bool) -> Kind {
    match word {
        "Interpreted" => Kind::Interpreted,
        "Inlined" => Kind::Inlined,
        "JIT compiled" | "C1 compiled" => Kind::Compiled,
        "Kernel" => Kind::Kernel,
        "Stub" => Kind::Stub,
        "Unknown" => Kind::Unknown,
        // What the JDK calls so is a native method of a class.
        "Native" if is_java => Kind::Compiled,
        "Native" | "C++" => Kind::Native,
        _ if is_java => Kind::Compiled,
        _ => Kind::Unknown,
    }
}

//! Reads what the library in a JVM tells of its heap ([`tracer_weave::walk`]), piece by piece.
//!
//! Whoever runs the JVM can write anything here. Lengths are bounded, what is no record ends it, and what cannot be is counted.

mod fields;
mod front;

use std::collections::HashMap;

use tracer_weave::walk::{
    self, CLASS_HAS_FIELDS, CLASS_INTERFACE, End, FIELD_STATIC, KIND_MASK, MAX_VALUE_BYTES, TO_KNOWN, TO_LAST, kind,
    unfold,
};

use self::front::{Cut, Front};
use super::{
    build::{Builder, java_name},
    contents::Value,
    graph::{Graph, Root, RootKind, Via},
};

/// Most classes, threads, and fields of a class.
const MAX_CLASSES: usize = 4 << 20;
const MAX_THREADS: usize = 1 << 20;
const MAX_FIELDS: u64 = 1 << 16;
const MAX_INTERFACES: u64 = 1 << 16;
/// Longest record: a class with many fields.
const MAX_RECORD: usize = 1 << 24;
/// Most bytes of names of classes, fields and threads, and of lists of them; a hundred thousand classes have a tenth of that.
const MAX_TEXT_BYTES: usize = 256 << 20;
/// Most roots: threads are deep, and there are many.
const MAX_ROOTS: usize = 64 << 20;

/// Why a stream was given up.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum Error {
    /// No record looks like this.
    #[error("what the library tells of the heap makes no sense at byte {0}")]
    Malformed(u64),
    /// There is more than the process has memory for.
    #[error("the library tells of more {0} than the process has room for")]
    TooMany(&'static str),
}

/// Most that a process can have of each.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Objects.
    pub objects: usize,
    /// References.
    pub references: usize,
    /// Bytes of names.
    pub texts: usize,
}

impl Bounds {
    /// An object has 16 bytes and a reference 4: more of them than memory holds there cannot be.
    pub fn of_memory(bytes: u64) -> Self {
        let of = |size: u64| usize::try_from(bytes / size).unwrap_or(usize::MAX).saturating_add(1 << 16);
        Self { objects: of(16), references: of(4), texts: MAX_TEXT_BYTES }
    }
}

/// A class as it was told.
#[derive(Debug, Default)]
struct Told {
    number: u32,
    above: u64,
    is_interface: bool,
    interfaces: Vec<u64>,
    /// Names of its own fields.
    fields: Vec<u32>,
    /// Whether it is below one of the references that collectors cut.
    is_weak: bool,
}

/// Reads a stream.
#[derive(Debug)]
pub struct Reader {
    builder: Builder,
    bounds: Bounds,
    /// What has come and was not read yet.
    rest: Vec<u8>,
    read: u64,
    classes: HashMap<u64, Told>,
    texts: usize,
    numbered: usize,
    /// Names of fields by their index, of those classes whose objects refer.
    fields: HashMap<u32, Vec<Via>>,
    told_of: HashMap<u32, u64>,
    /// Which class an object stands for.
    class_objects: HashMap<u32, u32>,
    last_object: i64,
    last_node: Option<u32>,
    last_from: i64,
    last_root: i64,
    /// The end, once it was told.
    pub end: Option<End>,
}

impl Reader {
    /// Reads a stream of a process with so much memory.
    pub fn new(bounds: Bounds) -> Self {
        Self {
            builder: Builder::new(),
            bounds,
            rest: Vec::new(),
            read: 0,
            classes: HashMap::new(),
            texts: 0,
            numbered: 0,
            fields: HashMap::new(),
            told_of: HashMap::new(),
            class_objects: HashMap::new(),
            last_object: 0,
            last_node: None,
            last_from: 0,
            last_root: 0,
            end: None,
        }
    }

    /// Bytes that were read.
    pub const fn read(&self) -> u64 {
        self.read
    }

    /// Objects so far.
    pub fn objects(&self) -> usize {
        self.builder.len()
    }

    /// Takes a piece in.
    pub fn take(&mut self, piece: &[u8]) -> Result<(), Error> {
        let mut buffer = std::mem::take(&mut self.rest);
        let joined = if buffer.is_empty() {
            piece
        } else {
            buffer.extend_from_slice(piece);
            &buffer
        };
        let mut at = 0;
        while let Some(rest) = joined.get(at..).filter(|rest| !rest.is_empty()) {
            let mut front = Front(rest);
            match self.record(&mut front) {
                Ok(true) => {
                    let len = rest.len() - front.0.len();
                    at += len;
                    self.read += len as u64;
                }
                Ok(false) => return Err(Error::Malformed(self.read)),
                // The longest number is ten bytes long: a record of numbers that is longer than that is none.
                Err(Cut) if rest.len() > MAX_RECORD => return Err(Error::Malformed(self.read)),
                Err(Cut) => break,
            }
            if self.builder.len() > self.bounds.objects {
                return Err(Error::TooMany("objects"));
            }
            if self.builder.references() > self.bounds.references {
                return Err(Error::TooMany("references"));
            }
            if self.texts > self.bounds.texts {
                return Err(Error::TooMany("names"));
            }
        }
        let rest = joined.get(at..).unwrap_or_default().to_vec();
        self.rest = rest;
        Ok(())
    }

    /// Reads a record. It is read as a whole before anything is changed. `false`: it is none.
    fn record(&mut self, front: &mut Front<'_>) -> Result<bool, Cut> {
        if self.end.is_some() {
            return Ok(false);
        }
        let what = front.byte()?;
        match what {
            walk::CLASS => self.class(front),
            walk::THREAD => {
                let (number, name) = (front.number()?, front.text()?);
                let threads = &mut self.builder.graph().threads;
                if threads.len() < MAX_THREADS {
                    self.texts += name.len();
                    threads.insert(number, name);
                }
                Ok(true)
            }
            walk::OBJECT | walk::CLASS_OBJECT => self.object(front, what == walk::CLASS_OBJECT),
            walk::CONTENT => {
                let (digest, zeros) = (front.eight()?, front.number()?);
                match self.last_node {
                    Some(node) => self.builder.content(node, digest, zeros),
                    None => self.builder.odd += 1,
                }
                Ok(true)
            }
            walk::VALUE => {
                let (digest, bytes) = (front.eight()?, front.number()?);
                match front.bytes(MAX_VALUE_BYTES)? {
                    Some(first) => self.builder.value(digest, Value { first, bytes }),
                    None => return Ok(false),
                }
                Ok(true)
            }
            walk::FROM => {
                let from = self.last_from.wrapping_add(unfold(front.number()?));
                self.last_from = from;
                let node = self.builder.at(from.cast_unsigned());
                self.builder.odd += u64::from(node.is_none());
                self.builder.from(node);
                Ok(true)
            }
            walk::END => {
                let mut words = [0; 10];
                for word in &mut words {
                    *word = front.number()?;
                }
                self.end = Some(End::of(words));
                Ok(true)
            }
            _ if what & !KIND_MASK == TO_KNOWN || what & !KIND_MASK == TO_LAST => self.reference(front, what),
            _ => Ok(false),
        }
    }

    fn class(&mut self, front: &mut Front<'_>) -> Result<bool, Cut> {
        let [id, flags, above, count] = [front.number()?, front.number()?, front.number()?, front.number()?];
        if count > MAX_INTERFACES || self.classes.len() >= MAX_CLASSES {
            return Ok(false);
        }
        let mut interfaces = Vec::new();
        for _ in 0..count {
            interfaces.push(front.number()?);
        }
        let name = front.text()?;
        let count = front.number()?;
        if count > MAX_FIELDS {
            return Ok(false);
        }
        let mut fields = Vec::new();
        for _ in 0..count {
            let is_static = front.number()? & FIELD_STATIC != 0;
            fields.push((is_static, front.text()?));
        }
        if self.classes.contains_key(&id) {
            self.builder.odd += 1;
            return Ok(true);
        }
        let of_fields = fields.iter().map(|(_, name)| name.len() + size_of::<u32>()).sum::<usize>();
        self.texts += name.len() + of_fields + size_of_val(&*interfaces);
        let number = self.builder.class(java_name(&name));
        let is_interface = flags & CLASS_INTERFACE != 0;
        let is_weak = matches!(
            name.as_str(),
            "Ljava/lang/ref/WeakReference;"
                | "Ljava/lang/ref/SoftReference;"
                | "Ljava/lang/ref/PhantomReference;"
                | "Ljava/lang/ref/FinalReference;"
        );
        let has_fields = flags & CLASS_HAS_FIELDS != 0;
        let fields = if has_fields { fields } else { Vec::new() };
        let fields = fields.iter().map(|(_, name)| self.builder.name(name)).collect();
        self.told_of.insert(number, id);
        self.classes.insert(id, Told { number, above, is_interface, interfaces, fields, is_weak });
        Ok(true)
    }

    fn object(&mut self, front: &mut Front<'_>, is_class: bool) -> Result<bool, Cut> {
        let [near, class, units, length] = [front.number()?, front.number()?, front.number()?, front.number()?];
        let of = if is_class { front.number()? } else { 0 };
        let address = self.last_object.wrapping_add(unfold(near));
        self.last_object = address;
        let class = self.classes.get(&class).map_or(0, |class| class.number);
        let units = u32::try_from(units).unwrap_or(u32::MAX);
        let length = length.checked_sub(1).map(|length| u32::try_from(length).unwrap_or(u32::MAX));
        self.last_node = self.builder.object(address.cast_unsigned(), class, units, length);
        if let (Some(node), Some(told)) = (self.last_node, self.classes.get(&of)) {
            let number = told.number;
            self.builder.class_object(number, node);
            self.class_objects.insert(node, number);
        }
        Ok(true)
    }

    fn reference(&mut self, front: &mut Front<'_>, what: u8) -> Result<bool, Cut> {
        let of = what & KIND_MASK;
        let is_root = of >= kind::JNI_GLOBAL;
        if of == 0 || of > kind::LAST || (of > kind::SUPER && !is_root) {
            return Ok(false);
        }
        let known = if what & TO_KNOWN == 0 { None } else { Some(unfold(front.number()?)) };
        let mut words = [0; 4];
        for word in words.iter_mut().take(walk::root_words(of)) {
            *word = front.number()?;
        }
        let near = if is_root { self.last_root } else { self.last_from };
        let address = known.map_or(self.last_object, |difference| near.wrapping_add(difference));
        if is_root {
            self.last_root = address;
        }
        let node = if known.is_some() { self.builder.at(address.cast_unsigned()) } else { self.last_node };
        let Some(node) = node else {
            self.builder.odd += 1;
            return Ok(true);
        };
        if is_root {
            self.root(of, node, words);
        } else {
            let via = self.via(of, words[0]);
            self.builder.reference(node, via);
        }
        Ok(true)
    }

    fn root(&mut self, of: u8, node: u32, words: [u64; 4]) {
        if self.builder.graph().roots.len() >= MAX_ROOTS {
            self.builder.odd += 1;
            return;
        }
        let kind = match of {
            kind::JNI_GLOBAL => RootKind::JniGlobal,
            kind::SYSTEM_CLASS => RootKind::SystemClass,
            kind::MONITOR => RootKind::Monitor,
            kind::STACK_LOCAL => RootKind::StackLocal,
            kind::JNI_LOCAL => RootKind::JniLocal,
            kind::THREAD => RootKind::Thread,
            _ => RootKind::Other,
        };
        let [thread, depth, method, _] = words;
        let frame = if method == 0 { 0 } else { u32::try_from(depth).unwrap_or(u32::MAX).saturating_add(1) };
        self.builder.root(Root { node, kind, thread, frame, method });
    }

    fn via(&mut self, of: u8, index: u64) -> Via {
        let index = u32::try_from(index).unwrap_or(u32::MAX);
        match of {
            kind::FIELD => self.field(self.builder.source().map_or(0, |from| self.builder.class_of(from)), index),
            kind::ELEMENT => Via::Element(index),
            kind::STATIC => {
                let object = self.builder.source();
                let class = object.and_then(|object| self.class_objects.get(&object)).copied();
                match self.field(class.unwrap_or(0), index) {
                    Via::Field(name) | Via::Referent(name) => Via::Static(name),
                    other => other,
                }
            }
            kind::LOADER => Via::Loader,
            kind::CONSTANT => Via::Constant,
            kind::SUPER => Via::Super,
            _ => Via::Other,
        }
    }

    /// The graph, and how much of what was told made no sense.
    pub fn finish(mut self) -> (Graph, u64) {
        let links: Vec<(u32, u32)> = self
            .classes
            .values()
            .filter_map(|told| Some((told.number, self.classes.get(&told.above)?.number)))
            .collect();
        for (class, above) in links {
            if let Some(class) = self.builder.graph().classes.get_mut(class as usize) {
                class.above = above;
            }
        }
        self.builder.hold_array_classes();
        let odd = self.builder.odd;
        (self.builder.finish(), odd)
    }
}

#[cfg(test)]
mod tests;

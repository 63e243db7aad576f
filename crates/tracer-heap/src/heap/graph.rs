//! A heap graph in compact arrays: objects by number, references in rows, names in tables.

use std::collections::HashMap;

use super::contents::Contents;
use crate::text::class_name::{PRIMITIVES, is_of_jdk};

/// Number of an object.
pub type Node = u32;

/// No object.
pub const NOBODY: Node = u32::MAX;

/// Bits of a label that are not its kind.
const INDEX_BITS: u32 = 28;
const INDEX_MASK: u32 = (1 << INDEX_BITS) - 1;

/// How an object refers to another one: a kind, and the name of a field or the index of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Label(u32);

/// The kind of a reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Via {
    /// A field, by its name's number.
    Field(u32),
    /// An element, by its index.
    Element(u32),
    /// A static field, by its name's number.
    Static(u32),
    /// What a weak, soft, phantom or final reference refers to.
    Referent(u32),
    /// The loader of a class.
    Loader,
    /// A constant of a class.
    Constant,
    /// The superclass.
    Super,
    /// The class of an object.
    Class,
    /// Something else that belongs to a class.
    Other,
}

impl Label {
    /// Packs it. Indices beyond 2^28 become 2^28 - 1.
    pub fn new(via: Via) -> Self {
        let (kind, index) = match via {
            Via::Field(name) => (0, name),
            Via::Element(index) => (1, index),
            Via::Static(name) => (2, name),
            Via::Referent(name) => (3, name),
            Via::Loader => (4, 0),
            Via::Constant => (5, 0),
            Via::Super => (6, 0),
            Via::Class => (7, 0),
            Via::Other => (8, 0),
        };
        Self(kind << INDEX_BITS | index.min(INDEX_MASK))
    }

    /// Undoes that.
    pub const fn via(self) -> Via {
        let index = self.0 & INDEX_MASK;
        match self.0 >> INDEX_BITS {
            0 => Via::Field(index),
            1 => Via::Element(index),
            2 => Via::Static(index),
            3 => Via::Referent(index),
            4 => Via::Loader,
            5 => Via::Constant,
            6 => Via::Super,
            7 => Via::Class,
            _ => Via::Other,
        }
    }

    /// Whether a collector may cut it.
    pub const fn is_weak(self) -> bool {
        self.0 >> INDEX_BITS == 3
    }

    /// As it is written into files.
    pub const fn word(self) -> u32 {
        self.0
    }

    /// From a file.
    pub const fn of_word(word: u32) -> Self {
        Self(word)
    }
}

/// A class.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Class {
    /// As Java writes it: `java.lang.String`, `byte[]`.
    pub name: String,
    /// The class above; itself where there is none.
    pub above: u32,
    /// The object that stands for it, or [`NOBODY`].
    pub object: Node,
}

/// Whether a class is the program's own, or an array of such: neither the JDK's, nor of numbers.
pub fn is_own(class: &str) -> bool {
    let element = class.trim_end_matches("[]");
    !is_of_jdk(element) && !PRIMITIVES.iter().any(|(primitive, _)| *primitive == element)
}

/// Why an object lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RootKind {
    /// Native code holds it.
    JniGlobal,
    /// A class of the JVM itself.
    SystemClass,
    /// Threads use its monitor.
    Monitor,
    /// A variable of a frame.
    StackLocal,
    /// A variable of native code.
    JniLocal,
    /// A thread that lives.
    Thread,
    /// Something else of the JVM's.
    Other,
    /// Only weak, soft, phantom or final references lead to it.
    OnlyWeak,
    /// Nothing that was told of leads to it.
    Unreached,
}

impl RootKind {
    /// All of them, in the order of their numbers in files.
    pub const ALL: [Self; 9] = [
        Self::JniGlobal,
        Self::SystemClass,
        Self::Monitor,
        Self::StackLocal,
        Self::JniLocal,
        Self::Thread,
        Self::Other,
        Self::OnlyWeak,
        Self::Unreached,
    ];

    /// Whether it is gone as soon as a frame ends: what it holds for now, something else mostly holds for longer.
    pub const fn is_passing(self) -> bool {
        matches!(self, Self::StackLocal | Self::JniLocal | Self::Monitor)
    }

    /// As JSON and predicates have it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::JniGlobal => "jni_global",
            Self::SystemClass => "system_class",
            Self::Monitor => "monitor",
            Self::StackLocal => "stack_local",
            Self::JniLocal => "jni_local",
            Self::Thread => "thread",
            Self::Other => "other",
            Self::OnlyWeak => "only_weak",
            Self::Unreached => "unreached",
        }
    }

    /// In words.
    pub const fn text(self) -> &'static str {
        match self {
            Self::JniGlobal => "a global reference of native code",
            Self::SystemClass => "a class of the JVM itself",
            Self::Monitor => "a monitor in use",
            Self::StackLocal => "a local variable",
            Self::JniLocal => "a local reference of native code",
            Self::Thread => "a live thread",
            Self::Other => "the JVM itself",
            Self::OnlyWeak => "weak, soft, phantom or final references only",
            Self::Unreached => "nothing that was told of",
        }
    }
}

/// A root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Root {
    /// What it holds.
    pub node: Node,
    /// Why.
    pub kind: RootKind,
    /// The thread, as Java numbers it; 0: none.
    pub thread: u64,
    /// The frame, from the innermost on, plus 1; 0: none.
    pub frame: u32,
    /// Its method, by the number that [`Graph::methods`] has.
    pub method: u64,
}

/// The graph.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    /// Classes; the first one stands for those that are not known.
    pub classes: Vec<Class>,
    /// Names of fields.
    pub names: Vec<String>,
    /// Class of each object.
    pub class: Vec<u32>,
    /// Size of each object in units of 8 bytes.
    pub size: Vec<u32>,
    /// Lengths of arrays, in the order of their numbers.
    pub lengths: Vec<(Node, u32)>,
    /// Where the references of each object begin, and in the end where all do.
    pub first: Vec<u32>,
    /// Where they lead.
    pub to: Vec<Node>,
    /// How.
    pub label: Vec<Label>,
    /// Roots.
    pub roots: Vec<Root>,
    /// Names of threads by their numbers.
    pub threads: HashMap<u64, String>,
    /// Names of methods by their numbers.
    pub methods: HashMap<u64, String>,
    /// What is known of what arrays hold, where somebody looked.
    pub contents: Option<Contents>,
}

impl Graph {
    /// How many objects there are.
    pub fn len(&self) -> usize {
        self.class.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.class.is_empty()
    }

    /// The references of an object, without that to its class.
    pub fn references(&self, node: Node) -> impl Iterator<Item = (Node, Label)> + '_ {
        let row = self.row(node);
        let to = self.to.get(row.clone()).unwrap_or_default();
        to.iter().copied().zip(self.label.get(row).unwrap_or_default().iter().copied())
    }

    /// Where they lie.
    pub fn row(&self, node: Node) -> std::ops::Range<usize> {
        let at = node as usize;
        let bound = |at: usize| self.first.get(at).map_or(0, |first| *first as usize);
        bound(at)..bound(at + 1)
    }

    /// The class of an object.
    pub fn class_of(&self, node: Node) -> &Class {
        let class = self.class.get(node as usize).map_or(0, |class| *class as usize);
        self.classes.get(class).unwrap_or(&UNKNOWN)
    }

    /// The object that stands for an object's class, unless it is that object.
    pub fn class_object(&self, node: Node) -> Option<Node> {
        let object = self.class_of(node).object;
        (object != NOBODY && object != node).then_some(object)
    }

    /// Bytes of an object.
    pub fn bytes(&self, node: Node) -> u64 {
        u64::from(self.size.get(node as usize).copied().unwrap_or(0)) << 3
    }

    /// Bytes of all.
    pub fn total_bytes(&self) -> u64 {
        self.size.iter().map(|size| u64::from(*size) << 3).sum()
    }

    /// Length of an array.
    pub fn length(&self, node: Node) -> Option<u32> {
        let at = self.lengths.binary_search_by_key(&node, |(node, _)| *node).ok()?;
        self.lengths.get(at).map(|(_, length)| *length)
    }

    /// Name of a field.
    pub fn name(&self, number: u32) -> &str {
        self.names.get(number as usize).map_or("?", String::as_str)
    }

    /// Bytes that the graph takes in memory, and what each object takes without references.
    pub fn memory(&self) -> (usize, usize) {
        let references = size_of::<Node>() * self.to.capacity() + size_of::<Label>() * self.label.capacity();
        let lengths = size_of::<(Node, u32)>() * self.lengths.capacity();
        let objects = size_of::<u32>() * (self.class.capacity() + self.size.capacity() + self.first.capacity());
        let contents = self.contents.as_ref().map_or(0, Contents::memory);
        (references + lengths + objects + contents, lengths + objects + contents)
    }
}

static UNKNOWN: Class = Class { name: String::new(), above: 0, object: NOBODY };

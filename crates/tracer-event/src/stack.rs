//! Stacks with names: what the frames of a thread are called, and the table that events' stack ids lead to.
//!
//! A source names frames while the target still runs, and puts each frame and each stack into the flow once; nothing
//! downstream asks the target again.

pub mod handlers;
pub mod opcode;
pub mod shared_text;

use std::{
    collections::HashMap,
    fmt,
    hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher},
    sync::Arc,
};

use serde::{Deserialize, Serialize};
use tracer_common::stack::{STACK_ABSENT, STACK_BUSY, STACK_FIRST, STACK_NO_REGISTERS};

use self::{handlers::Handlers, shared_text::SharedText};
use crate::event::StackId;

/// A source tells a stack again that it did not use for so long, in ns: whoever keeps stacks may forget it then.
pub const TOLD_AGAIN_NS: u64 = 120_000_000_000;

/// Number of a frame that nobody has defined.
const UNKNOWN_FRAME: u32 = u32::MAX;

/// How a frame's code runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A Java method in the interpreter.
    Interpreted,
    /// A Java method compiled by C1 or C2 (or the wrapper of a native method).
    Compiled,
    /// A Java method inlined into the compiled one that called it.
    Inlined,
    /// Machine code of a file.
    Native,
    /// Code that the JVM makes at run time and that is no method.
    Stub,
    /// The kernel.
    Kernel,
    /// It is not known what stands there; the name says why.
    Unknown,
}

impl Kind {
    /// Whether the frame is a Java method.
    pub const fn is_java(self) -> bool {
        matches!(self, Self::Interpreted | Self::Compiled | Self::Inlined)
    }
}

/// One frame. Texts are as the target gave them.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Frame {
    /// How it runs.
    pub kind: Kind,
    /// `com.shop.Cart.add` for Java, the demangled symbol for machine code, the blob's name for a stub, the reason in
    /// angle brackets for an unknown one.
    pub name: SharedText,
    /// Class of a Java method, as Java writes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<SharedText>,
    /// Descriptor of a Java method.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<SharedText>,
    /// Source file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<SharedText>,
    /// Line in the source file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// Bytecode index.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bci: Option<u32>,
    /// Opcode there, as the class file has it, where another method can begin to run from it ([`opcode::name`]).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opcode: Option<u8>,
    /// File that holds the machine code (`libjvm.so`, `[vdso]`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub module: Option<SharedText>,
    /// Which build of that file it is, in hexadecimal digits: what its linker has noted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub build_id: Option<SharedText>,
    /// Exception handlers of a Java method, where one of them is for this bytecode index, and else none of them; not there where they were
    /// not read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handlers: Option<Handlers>,
}

impl Frame {
    /// A frame of which nothing but a name is known.
    pub fn named(kind: Kind, name: impl Into<SharedText>) -> Self {
        Self {
            kind,
            name: name.into(),
            class: None,
            signature: None,
            file: None,
            line: None,
            bci: None,
            opcode: None,
            module: None,
            build_id: None,
            handlers: None,
        }
    }
}

/// What a frame is called that stands for several.
const SEVERAL: &str = "<rarely seen>";

impl Frame {
    /// A frame that stands for several of this kind, and of this file where that is known.
    pub fn of_several(kind: Kind, module: Option<SharedText>) -> Self {
        Self { module, ..Self::named(kind, SEVERAL) }
    }

    /// Whether it stands for several.
    pub fn is_of_several(&self) -> bool {
        self.name == SEVERAL && self.class.is_none()
    }

    /// About what it takes in memory.
    pub fn bytes(&self) -> usize {
        let Self { name, class, signature, file, module, build_id, .. } = self;
        let texts = [class, signature, file, module, build_id].into_iter().flatten().map(|text| text.len());
        let handlers = self.handlers.as_ref().map_or(0, Handlers::bytes);
        size_of::<Self>() + name.len() + texts.sum::<usize>() + handlers
    }
}

impl fmt::Display for Frame {
    /// `com.shop.Cart.add:12`, `libjvm.so!JVM_Sleep`, `kernel!futex_wait`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.kind, &self.module) {
            (Kind::Kernel, _) => write!(f, "kernel!{}", self.name)?,
            (_, Some(module)) => write!(f, "{module}!{}", self.name)?,
            (_, None) => f.write_str(&self.name)?,
        }
        match self.line {
            Some(line) => write!(f, ":{line}"),
            None => Ok(()),
        }
    }
}

/// Where a stack ends.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct End {
    /// Whether the thread's outermost frame was reached.
    pub root: bool,
    /// What stopped unwinding; empty at a root.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
}

/// Gives a frame its number; numbers count from 0 in the order of the definitions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FrameDefinition {
    /// The number.
    pub id: u32,
    /// The frame.
    pub frame: Arc<Frame>,
}

/// Gives a stack its id.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StackDefinition {
    /// The id.
    pub id: StackId,
    /// Numbers of its frames, innermost first.
    pub frames: Vec<u32>,
    /// Where it ends.
    pub end: End,
}

/// A stack of the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stack {
    /// Numbers of its frames in the table, innermost first.
    pub frames: Box<[u32]>,
    /// Where it ends.
    pub end: Arc<End>,
}

/// The frames and stacks of a session.
#[derive(Clone, Debug, Default)]
pub struct Stacks {
    frames: Vec<Arc<Frame>>,
    /// Where the frames of the source are among them, in the order of its numbers.
    of_source: Vec<u32>,
    /// Where those are that stand for several.
    own: HashMap<Arc<Frame>, u32>,
    by_id: HashMap<StackId, Stack>,
    ends: HashMap<End, Arc<End>>,
}

impl Stacks {
    /// An empty table.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes a frame. Numbers come in order; a number out of order is damage, and its frame is left unknown.
    pub fn define_frame(&mut self, definition: FrameDefinition) {
        let FrameDefinition { id, frame } = definition;
        if usize::try_from(id).is_ok_and(|id| id == self.of_source.len()) {
            let number = self.push(frame);
            self.of_source.push(number);
        }
    }

    /// Takes a stack; the latest one of an id wins.
    pub fn define_stack(&mut self, definition: StackDefinition) {
        let StackDefinition { id, mut frames, end } = definition;
        for frame in &mut frames {
            let of_source = usize::try_from(*frame).ok().and_then(|number| self.of_source.get(number));
            *frame = of_source.copied().unwrap_or(UNKNOWN_FRAME);
        }
        let end = Arc::clone(self.ends.entry(end).or_insert_with_key(|end| Arc::new(end.clone())));
        self.by_id.insert(id, Stack { frames: frames.into(), end });
    }

    /// The number of a frame that stands for several, and that no source defines.
    pub fn own_frame(&mut self, frame: Frame) -> u32 {
        if let Some(number) = self.own.get(&frame) {
            return *number;
        }
        let frame = Arc::new(frame);
        let number = self.push(Arc::clone(&frame));
        self.own.insert(frame, number);
        number
    }

    /// The id of a stack that stands for several, and that no source defines.
    pub fn own_stack(&mut self, stack: Stack) -> StackId {
        // A source numbers its frames otherwise, so that the same numbers there are another stack.
        let hash = BuildHasherDefault::<DefaultHasher>::default().hash_one(("own", &stack.frames, &stack.end));
        let id = StackId(hash.max(STACK_FIRST));
        self.by_id.insert(id, stack);
        id
    }

    /// A stack is not asked for any more.
    pub fn forget(&mut self, id: StackId) -> Option<Stack> {
        self.by_id.remove(&id)
    }

    fn push(&mut self, frame: Arc<Frame>) -> u32 {
        let number = u32::try_from(self.frames.len()).unwrap_or(UNKNOWN_FRAME);
        self.frames.push(frame);
        number
    }

    /// The frame with this number of a stack in the table.
    pub fn frame(&self, id: u32) -> Option<&Frame> {
        self.frames.get(usize::try_from(id).ok()?).map(|frame| &**frame)
    }

    /// All frames, in the order of their numbers.
    pub fn frames(&self) -> &[Arc<Frame>] {
        &self.frames
    }

    /// The stack with this id.
    pub fn get(&self, id: StackId) -> Option<&Stack> {
        self.by_id.get(&id)
    }

    /// The frames of a stack, innermost first; none where the id leads to no stack.
    pub fn frames_of(&self, id: StackId) -> impl Iterator<Item = &Frame> + '_ {
        self.get(id).into_iter().flat_map(|stack| stack.frames.iter().filter_map(|frame| self.frame(*frame)))
    }

    /// Why an id leads to no stack.
    pub const fn absence(id: StackId) -> &'static str {
        match id.0 {
            STACK_ABSENT => "<no stack taken>",
            STACK_BUSY => "<no room to unwind>",
            STACK_NO_REGISTERS => "<no registers>",
            _ => "<stack lost>",
        }
    }

    /// Number of stacks.
    pub fn len(&self) -> usize {
        self.by_id.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.by_id.is_empty()
    }
}

//! What events refer to, each thing once a chunk: classes, methods, stacks, threads and texts. Entries are encoded
//! when they are met first, so that the end of a chunk only puts them together.
//!
//! Every text is a target's and reaches terminals through tools that may not escape: each is escaped and cut here.

mod threads;

use std::{
    collections::HashMap,
    hash::{DefaultHasher, Hash, Hasher as _},
};

use self::threads::Threads;
use super::{
    bytes::Bytes,
    schema::{Part, Type},
};
use crate::{
    event::{MethodName, NameId, StackId, Tid},
    names::Names,
    report::descriptor::Descriptor,
    stack::{Frame, Kind, Stack, Stacks},
    subject::{MethodPart, Subject},
    text::{class_name::java_class_name, escape},
};

/// Longest text, in bytes before what is hostile is replaced.
const MAX_TEXT_BYTES: usize = 2048;
/// Most frames of a stack; what is beyond is cut off at its outer end.
const MAX_FRAMES: usize = 2048;
/// Stands for a descriptor that is not known: readers need one, and this one has a return type without a name.
const NO_DESCRIPTOR: &str = "()L;";
/// What is on top of a stack when an exception gets its own.
const FILL_IN_STACK_TRACE: &str = "java.lang.Throwable.fillInStackTrace";
/// What a map takes for an entry besides its key.
const ENTRY_BYTES: usize = 64;

/// A text as the file has it.
pub(super) fn shown(text: &str) -> String {
    let cut = text.floor_char_boundary(MAX_TEXT_BYTES);
    let end = if cut < text.len() { "…" } else { "" };
    escape::terminal(&text[..cut]).into_owned() + end
}

/// Things of one type with their numbers, which begin with 1: 0 is none.
#[derive(Clone, Debug)]
struct Pool<K> {
    ids: HashMap<K, u64>,
    entries: Bytes,
}

impl<K> Default for Pool<K> {
    fn default() -> Self {
        Self { ids: HashMap::new(), entries: Bytes::default() }
    }
}

impl<K: Eq + Hash> Pool<K> {
    /// The number of a thing; what it is made of is written where it is new.
    fn id(&mut self, key: K, write: impl FnOnce(&mut Bytes, &K)) -> u64 {
        let next = self.ids.len() as u64 + 1;
        match self.ids.entry(key) {
            std::collections::hash_map::Entry::Occupied(known) => *known.get(),
            std::collections::hash_map::Entry::Vacant(new) => {
                self.entries.number(next);
                write(&mut self.entries, new.key());
                new.insert(next);
                next
            }
        }
    }

    fn write(&self, of: Type, out: &mut Bytes) {
        out.number(of.id());
        out.number(self.ids.len() as u64);
        out.raw(self.entries.as_slice());
    }

    fn bytes(&self) -> usize {
        self.entries.len() + self.ids.len() * ENTRY_BYTES
    }
}

impl Pool<String> {
    fn text(&mut self, text: &str) -> u64 {
        self.id(shown(text), |out, text| out.text(text))
    }
}

/// Where a frame of the session's table stands in this chunk.
#[derive(Clone, Copy, Debug)]
struct Framed {
    method: u64,
    kind: u64,
    line: Option<u32>,
    bci: Option<u32>,
}

/// All that the events of a chunk refer to.
#[derive(Clone, Debug, Default)]
pub(super) struct Pools {
    symbols: Pool<String>,
    packages: Pool<u64>,
    classes: Pool<u64>,
    methods: Pool<[u64; 3]>,
    states: Pool<String>,
    gc_names: Pool<String>,
    gc_causes: Pool<String>,
    gc_whens: Pool<String>,
    operations: Pool<String>,
    compilers: Pool<String>,
    stacks: Pool<(StackId, Part, u64)>,
    frames: HashMap<u32, Framed>,
    threads: Threads,
}

impl Pools {
    /// A text of a type that is nothing but one; 0 where the type is another.
    pub(super) fn word(&mut self, of: Type, text: &str) -> u64 {
        match of {
            Type::Symbol => self.symbols.text(text),
            Type::ThreadState => self.states.text(text),
            Type::GcName => self.gc_names.text(text),
            Type::GcCause => self.gc_causes.text(text),
            Type::GcWhen => self.gc_whens.text(text),
            Type::VmOperation => self.operations.text(text),
            Type::Compiler => self.compilers.text(text),
            _ => 0,
        }
    }

    /// A thread.
    pub(super) fn thread(&mut self, tid: Tid, names: &Names) -> u64 {
        self.threads.id(tid, names)
    }

    /// A thread has told its number in Java, or has another name.
    pub(super) fn threads(&mut self) -> &mut Threads {
        &mut self.threads
    }

    /// A class by the name that the JVM has for it (`java/util/Map`, `[B`), or by the reason why there is none.
    pub(super) fn class(&mut self, id: NameId, names: &Names) -> u64 {
        match names.get(id) {
            Ok(name) => self.named_class(&name),
            Err(reason) => self.named_class(&reason.to_string()),
        }
    }

    /// The class of a subject.
    pub(super) fn class_of(&mut self, subject: Option<&Subject>) -> u64 {
        subject.map_or(0, |subject| self.java_class(&subject.class))
    }

    /// A class as Java writes it. That of an array is written as the JVM does, which is the form that readers take
    /// apart.
    fn java_class(&mut self, name: &str) -> u64 {
        let element = name.trim_end_matches("[]");
        let dimensions = (name.len() - element.len()) / 2;
        if dimensions == 0 {
            return self.named_class(&name.replace('.', "/"));
        }
        let letter = ["B", "C", "D", "F", "I", "J", "S", "Z"]
            .into_iter()
            .find(|letter| java_class_name(&format!("[{letter}")) == format!("{element}[]"));
        let element = letter.map_or_else(|| format!("L{};", element.replace('.', "/")), str::to_owned);
        self.named_class(&("[".repeat(dimensions) + &element))
    }

    fn named_class(&mut self, name: &str) -> u64 {
        let mut name = shown(name);
        // Readers take such a name apart, and fail where it is none.
        if name.starts_with('[') && Descriptor::parse(&format!("({name})V")).is_none() {
            name = format!("<{name}>");
        }
        let package = match name.rsplit_once('/') {
            Some((package, _)) if !name.starts_with(['[', '<']) => {
                let symbol = self.symbols.text(package);
                self.packages.id(symbol, |out, symbol| out.number(*symbol))
            }
            _ => 0,
        };
        let symbol = self.symbols.text(&name);
        self.classes.id(symbol, |out, symbol| {
            for number in [0, *symbol, package, 0] {
                out.number(number);
            }
            out.flag(false);
        })
    }

    /// A method by its three names.
    pub(super) fn method(&mut self, method: MethodName, names: &Names) -> u64 {
        let class = self.class(method.class, names);
        self.method_of(class, &names.text(method.method), names.get(method.signature).ok().as_deref())
    }

    /// The method of a subject.
    pub(super) fn method_subject(&mut self, subject: Option<&Subject>) -> u64 {
        let Some(subject) = subject else { return 0 };
        let class = self.java_class(&subject.class);
        match &subject.method {
            Some(MethodPart { name, signature, native: _ }) => self.method_of(class, name, Some(signature)),
            None => self.method_of(class, "<unknown>", None),
        }
    }

    fn method_of(&mut self, class: u64, name: &str, descriptor: Option<&str>) -> u64 {
        let name = self.symbols.text(name);
        let descriptor = descriptor.map(shown).filter(|text| Descriptor::parse(text).is_some());
        let descriptor = self.symbols.text(descriptor.as_deref().unwrap_or(NO_DESCRIPTOR));
        self.methods.id([class, name, descriptor], |out, parts| {
            parts.iter().chain([&0]).for_each(|part| out.number(*part));
            out.flag(false);
        })
    }

    /// A stack, or that part of it; none where it was not taken, or nothing of it is wanted.
    pub(super) fn stack(&mut self, id: StackId, part: Part, stacks: &Stacks) -> u64 {
        let Some(stack) = stacks.get(id) else { return 0 };
        let Stack { frames, end } = stack;
        // The same id comes again when the code that it leads to has got another name.
        let mut hasher = DefaultHasher::new();
        (frames, end.root).hash(&mut hasher);
        let key = (id, part, hasher.finish());
        if let Some(known) = self.stacks.ids.get(&key) {
            return *known;
        }
        let known = frames.iter().filter_map(|frame| Some((*frame, stacks.frame(*frame)?)));
        let wanted = known.filter(|(_, frame)| part == Part::Whole || frame.kind.is_java());
        let wanted = wanted.skip_while(|(_, frame)| part == Part::Thrown && frame.name == FILL_IN_STACK_TRACE);
        let mut framed: Vec<Framed> = wanted.take(MAX_FRAMES + 1).map(|(id, frame)| self.frame(id, frame)).collect();
        if framed.is_empty() {
            return 0;
        }
        let is_cut = !end.root || framed.len() > MAX_FRAMES;
        framed.truncate(MAX_FRAMES);
        self.stacks.id(key, |out, _| {
            out.flag(is_cut);
            out.number(framed.len() as u64);
            for Framed { method, kind, line, bci } in framed {
                out.number(method);
                out.int(line);
                out.int(bci);
                out.number(kind);
            }
        })
    }

    fn frame(&mut self, id: u32, frame: &Frame) -> Framed {
        if let Some(known) = self.frames.get(&id) {
            return *known;
        }
        let (class, name) = parts(frame);
        let class = if frame.kind.is_java() { self.java_class(class) } else { self.named_class(class) };
        let framed = Framed {
            method: self.method_of(class, name, frame.signature.as_deref()),
            kind: frame_type(frame.kind),
            line: frame.line,
            bci: frame.bci,
        };
        self.frames.insert(id, framed);
        framed
    }

    /// About what all of it takes.
    pub(super) fn bytes(&self) -> usize {
        let texts = [
            &self.symbols,
            &self.states,
            &self.gc_names,
            &self.gc_causes,
            &self.gc_whens,
            &self.operations,
            &self.compilers,
        ];
        // The keys are texts as well.
        let texts: usize = texts.iter().map(|pool| 2 * pool.bytes()).sum();
        let frames = self.frames.len() * (size_of::<Framed>() + ENTRY_BYTES);
        texts
            + self.packages.bytes()
            + self.classes.bytes()
            + self.methods.bytes()
            + self.stacks.bytes()
            + frames
            + self.threads.bytes()
    }

    /// Writes the pools that have something: readers take an empty one for damage.
    pub(super) fn write(&self, out: &mut Bytes) {
        let mut pools = Vec::new();
        let mut add = |is_used: bool, write: &dyn Fn(&mut Bytes)| {
            if is_used {
                let mut bytes = Bytes::default();
                write(&mut bytes);
                pools.push(bytes);
            }
        };
        add(!self.packages.ids.is_empty(), &|out| self.packages.write(Type::Package, out));
        add(!self.classes.ids.is_empty(), &|out| self.classes.write(Type::Class, out));
        add(!self.methods.ids.is_empty(), &|out| self.methods.write(Type::Method, out));
        add(!self.stacks.ids.is_empty(), &|out| self.stacks.write(Type::StackTrace, out));
        add(!self.stacks.ids.is_empty(), &|out| {
            out.number(Type::FrameKind.id());
            out.number(FRAME_TYPES.len() as u64);
            for (id, name) in FRAME_TYPES {
                out.number(id);
                out.text(name);
            }
        });
        add(!self.threads.is_empty(), &|out| self.threads.write(out));
        for (of, pool) in [
            (Type::Symbol, &self.symbols),
            (Type::ThreadState, &self.states),
            (Type::GcName, &self.gc_names),
            (Type::GcCause, &self.gc_causes),
            (Type::GcWhen, &self.gc_whens),
            (Type::VmOperation, &self.operations),
            (Type::Compiler, &self.compilers),
        ] {
            add(!pool.ids.is_empty(), &|out| pool.write(of, out));
        }
        out.number(pools.len() as u64);
        for pool in &pools {
            out.raw(pool.as_slice());
        }
    }
}

/// Class and name of a frame's method. Machine code has its file in the place of the class.
fn parts(frame: &Frame) -> (&str, &str) {
    let Frame { kind, name, class, module, .. } = frame;
    match (kind, class, module) {
        (Kind::Kernel, ..) => ("kernel", name),
        (_, Some(class), _) => {
            let method = name.strip_prefix(class.as_str()).and_then(|rest| rest.strip_prefix('.'));
            (class, method.unwrap_or(name))
        }
        (_, None, Some(module)) => (module, name),
        (kind, None, None) if kind.is_java() && !name.starts_with('<') => name.rsplit_once('.').unwrap_or(("", name)),
        (Kind::Stub, ..) => ("stub", name),
        (_, None, None) => ("unknown", name),
    }
}

/// How frames run, by the numbers that the JDK and async-profiler have for it: some readers know the numbers alone, and none above 6.
/// Code that the JVM makes has the number of C++.
const FRAME_TYPES: [(u64, &str); 6] =
    [(0, "Interpreted"), (1, "JIT compiled"), (2, "Inlined"), (3, "Native"), (4, "Stub"), (5, "Kernel")];

const fn frame_type(kind: Kind) -> u64 {
    match kind {
        Kind::Interpreted => 0,
        Kind::Compiled => 1,
        Kind::Inlined => 2,
        Kind::Native | Kind::Unknown => 3,
        Kind::Stub => 4,
        Kind::Kernel => 5,
    }
}

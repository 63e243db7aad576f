//! The graph of calls: the contexts without their past.

use std::collections::HashMap;

use super::{
    super::{
        table::{FastMap, FastSet},
        woven::ThreadLabel,
    },
    contexts::{Amounts, Contexts, Node},
};
use crate::{
    event::{StackId, SubjectId, Tid},
    stack::{Frame, Kind, Stacks},
    subject::Subjects,
};

/// Who calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Caller {
    /// A chosen method.
    Chosen(SubjectId),
    /// A method that nobody chose: the first frame of it that was met.
    Other(u32),
    /// No Java method, or none that was chosen: a thread begins here, or the JVM calls.
    Root,
    /// It was not looked for.
    Unknown,
}

/// Where in the caller a call is made; nothing where no stack tells it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Place {
    pub(super) bci: Option<u32>,
    pub(super) line: Option<u32>,
    /// Of the instruction that calls.
    pub(super) opcode: Option<u8>,
}

impl Place {
    const fn of(frame: &Frame) -> Self {
        Self { bci: frame.bci, line: frame.line, opcode: frame.opcode }
    }

    pub(super) const fn is_known(self) -> bool {
        self.bci.is_some() || self.line.is_some()
    }
}

/// An edge: caller, place, callee.
pub(super) type Edge = (Caller, Place, SubjectId);

/// What was counted on a thread.
#[derive(Clone, Debug, Default)]
pub(super) struct OfThread {
    pub(super) calls: u64,
    pub(super) contexts: u64,
    pub(super) methods: FastSet<u32>,
    pub(super) edges: std::collections::BTreeSet<Edge>,
}

/// What numbers of methods and of stacks stand for.
#[derive(Clone, Copy)]
pub(super) struct Lookup<'a> {
    pub(super) stacks: &'a Stacks,
    pub(super) subjects: &'a Subjects,
}

/// What a thread of the contexts is called.
pub(super) type Naming<'a> = &'a dyn Fn(Tid) -> ThreadLabel;

/// The graph.
pub(super) struct Graph<'a> {
    pub(super) resolver: Resolver<'a>,
    pub(super) thread: Naming<'a>,
    pub(super) by_edge: HashMap<Edge, Amounts>,
    pub(super) by_thread: HashMap<Tid, OfThread>,
    /// The caller's place of each context, in the order of the contexts.
    pub(super) places: Vec<Place>,
    contexts: u64,
    uncounted: u64,
}

impl<'a> Graph<'a> {
    /// Of all threads together, and of each.
    pub(super) fn of(contexts: &Contexts, lookup: Lookup<'a>, thread: Naming<'a>) -> Self {
        let mut graph = Self {
            resolver: Resolver::new(contexts, lookup),
            thread,
            by_edge: HashMap::new(),
            by_thread: HashMap::new(),
            places: Vec::with_capacity(contexts.nodes().len()),
            contexts: contexts.nodes().iter().filter(|node| !node.cut).count() as u64,
            uncounted: contexts.uncounted(),
        };
        for node in contexts.nodes() {
            let parent = node.parent.and_then(|at| contexts.nodes().get(usize::try_from(at).ok()?));
            let outermost = if node.cut { Caller::Unknown } else { Caller::Root };
            let around = parent.map_or(outermost, |parent| Caller::Chosen(parent.method));
            let (caller, place) = graph.resolver.caller(node, around);
            let edge = (caller, place, node.method);
            graph.by_edge.entry(edge).or_default().add(&node.amounts);
            graph.places.push(place);
            let thread = graph.by_thread.entry(node.tid).or_default();
            thread.calls = thread.calls.saturating_add(node.amounts.calls);
            thread.contexts += u64::from(!node.cut);
            thread.methods.insert(node.method.0);
            thread.edges.insert(edge);
        }
        for (caller, callee, amounts) in contexts.beyond() {
            let edge = (caller.map_or(Caller::Root, Caller::Chosen), Place::default(), callee);
            graph.by_edge.entry(edge).or_default().add(amounts);
        }
        graph
    }

    /// Methods: those that were called, and those that called them.
    pub(super) fn nodes(&self) -> u64 {
        let mut nodes = std::collections::HashSet::new();
        for (caller, _, callee) in self.by_edge.keys() {
            nodes.insert(Caller::Chosen(*callee));
            if !matches!(caller, Caller::Root | Caller::Unknown) {
                nodes.insert(*caller);
            }
        }
        nodes.len() as u64
    }

    /// Triples of caller, place and callee; the beginning of a thread calls too.
    pub(super) fn edges(&self) -> u64 {
        self.by_edge.len() as u64
    }

    /// Places from which calls were made, as far as they are known.
    pub(super) fn sites(&self) -> u64 {
        let sites: std::collections::HashSet<(Caller, Place)> =
            self.by_edge.keys().filter(|edge| edge.1.is_known()).map(|edge| (edge.0, edge.1)).collect();
        sites.len() as u64
    }

    pub(super) const fn contexts(&self) -> u64 {
        self.contexts
    }

    pub(super) fn calls(&self) -> u64 {
        self.by_edge.values().fold(self.uncounted, |sum, amounts| sum.saturating_add(amounts.calls))
    }

    pub(super) fn has_places(&self) -> bool {
        self.by_edge.keys().any(|edge| edge.1.is_known())
    }
}

/// What is below a called method on a stack.
#[derive(Clone, Copy, Debug)]
enum Below {
    Nothing,
    /// `is_place` where it is known where in it the call is.
    Frame {
        id: u32,
        is_place: bool,
    },
}

/// Finds callers on stacks. Each stack and each frame is looked at once.
pub(super) struct Resolver<'a> {
    lookup: Lookup<'a>,
    /// Text of a method and its chosen one of that text; of several (of several loaders) the first.
    chosen: HashMap<String, SubjectId>,
    titles: FastMap<u32, String>,
    of_stack: FastMap<(StackId, u32), Below>,
    of_frame: FastMap<u32, Caller>,
    others: HashMap<String, u32>,
}

impl<'a> Resolver<'a> {
    fn new(contexts: &Contexts, lookup: Lookup<'a>) -> Self {
        let mut resolver = Self {
            lookup,
            chosen: HashMap::new(),
            titles: FastMap::default(),
            of_stack: FastMap::default(),
            of_frame: FastMap::default(),
            others: HashMap::new(),
        };
        for id in contexts.nodes().iter().map(|node| node.method) {
            if resolver.titles.contains_key(&id.0) {
                continue;
            }
            let Some(subject) = lookup.subjects.get(id) else { continue };
            let title = subject.title();
            if let Some(method) = &subject.method {
                resolver.chosen.entry(format!("{title}{}", method.signature)).or_insert(id);
                resolver.chosen.entry(title.clone()).or_insert(id);
            }
            resolver.titles.insert(id.0, title);
        }
        resolver
    }

    /// Who calls the method of a context, and where; `around` where its stack does not tell.
    fn caller(&mut self, node: &Node, around: Caller) -> (Caller, Place) {
        let (stack, callee) = (node.stack, node.method);
        if stack == StackId::default() {
            return (around, Place::default());
        }
        if let (true, Caller::Chosen(caller)) = (node.inlined, around) {
            return (around, self.place_within(stack, callee, caller));
        }
        let known = self.of_stack.get(&(stack, callee.0)).copied();
        let found = known.unwrap_or_else(|| {
            let found = self.frame_below(stack, callee);
            self.of_stack.insert((stack, callee.0), found);
            found
        });
        let (id, is_place) = match found {
            Below::Frame { id, is_place } => (id, is_place),
            // A whole stack without a caller is one: the method is the thread's first.
            Below::Nothing => {
                let whole = self.lookup.stacks.get(stack).is_some_and(|stack| stack.end.root);
                return (if whole { Caller::Root } else { around }, Place::default());
            }
        };
        let Some(frame) = self.lookup.stacks.frame(id) else { return (around, Place::default()) };
        let place = if is_place { Place::of(frame) } else { Place::default() };
        if let Caller::Chosen(method) = around
            && self.is_of(frame, method)
        {
            return (around, place);
        }
        (self.of_frame(id, frame), place)
    }

    /// The Java frames of the innermost frame of machine code, and those behind it. A compiler notes no place where a method
    /// begins: what is told of the first ones is that of the next place of the code, which may lie behind the method.
    fn java_frames(&self, stack: StackId) -> (Vec<u32>, Option<u32>) {
        let stacks = self.lookup.stacks;
        let Some(stack) = stacks.get(stack) else { return (Vec::new(), None) };
        let mut java =
            stack.frames.iter().copied().filter(|id| stacks.frame(*id).is_some_and(|frame| frame.kind.is_java()));
        let mut first = Vec::new();
        for id in java.by_ref() {
            first.push(id);
            if stacks.frame(id).is_none_or(|frame| frame.kind != Kind::Inlined) {
                break;
            }
        }
        (first, java.next())
    }

    /// The Java frame below that of a called method that has a frame of its own, or is inlined where nobody looks.
    fn frame_below(&self, stack: StackId, callee: SubjectId) -> Below {
        let (first, next) = self.java_frames(stack);
        let is_callee = |id: u32| self.lookup.stacks.frame(id).is_some_and(|frame| self.is_of(frame, callee));
        let Some(compiled) = first.last().copied() else { return Below::Nothing };
        if is_callee(compiled) {
            return next.map_or(Below::Nothing, |id| Below::Frame { id, is_place: true });
        }
        let callers: Vec<u32> = first.windows(2).filter(|pair| is_callee(pair[0])).map(|pair| pair[1]).collect();
        match callers[..] {
            [id] => Below::Frame { id, is_place: true },
            [id, ..] => Below::Frame { id, is_place: false },
            // It was inlined, and the compiler noted no place in it.
            [] => Below::Frame { id: compiled, is_place: false },
        }
    }

    /// Where a method calls one that was inlined into the same code; nothing where the JVM does not know, or it can be either of
    /// several places.
    fn place_within(&self, stack: StackId, callee: SubjectId, caller: SubjectId) -> Place {
        let (first, _) = self.java_frames(stack);
        let frame = |id: u32| self.lookup.stacks.frame(id);
        let mut places = first.windows(2).filter_map(|pair| {
            let (inner, outer) = (frame(pair[0])?, frame(pair[1])?);
            let fits = self.is_of(inner, callee) && self.is_of(outer, caller);
            fits.then_some(Place::of(outer))
        });
        let Some(place) = places.next() else { return Place::default() };
        if places.all(|other| other == place) { place } else { Place::default() }
    }

    fn is_of(&self, frame: &Frame, method: SubjectId) -> bool {
        let title = self.titles.get(&method.0);
        let subject = self.lookup.subjects.get(method).and_then(|subject| subject.method.as_ref());
        let (Some(title), Some(subject)) = (title, subject) else { return false };
        frame.name == *title && frame.signature.as_ref().is_none_or(|signature| *signature == subject.signature)
    }

    fn of_frame(&mut self, id: u32, frame: &Frame) -> Caller {
        let Self { chosen, of_frame, others, .. } = self;
        *of_frame.entry(id).or_insert_with(|| {
            let text = format!("{}{}", frame.name, frame.signature.as_deref().unwrap_or_default());
            match chosen.get(&text) {
                Some(method) => Caller::Chosen(*method),
                None => Caller::Other(*others.entry(text).or_insert(id)),
            }
        })
    }

    /// What a caller is called, and its signature where it is known.
    pub(super) fn name(&self, caller: Caller) -> (String, Option<String>) {
        match caller {
            Caller::Chosen(method) => (self.title(method), self.signature(method)),
            Caller::Other(frame) => {
                let frame = self.lookup.stacks.frame(frame);
                (
                    frame.map_or_else(|| "<frame lost>".to_owned(), |frame| frame.name.to_string()),
                    frame.and_then(|frame| frame.signature.as_ref().map(ToString::to_string)),
                )
            }
            Caller::Root => ("<root>".to_owned(), None),
            Caller::Unknown => ("<not known>".to_owned(), None),
        }
    }

    /// Class and name of a chosen method.
    pub(super) fn title(&self, method: SubjectId) -> String {
        self.titles.get(&method.0).cloned().unwrap_or_else(|| "<method not named>".to_owned())
    }

    pub(super) fn signature(&self, method: SubjectId) -> Option<String> {
        let subject = self.lookup.subjects.get(method)?;
        Some(subject.method.as_ref()?.signature.clone())
    }

    /// What is special about a callee.
    pub(super) fn kind(&self, method: SubjectId) -> &'static str {
        match self.lookup.subjects.get(method).and_then(|subject| subject.method.as_ref()) {
            Some(method) if method.native => "native",
            Some(method) if method.name == "<clinit>" => "initialiser",
            Some(method) if method.name == "<init>" => "constructor",
            Some(_) => "method",
            None => "<not known>",
        }
    }
}

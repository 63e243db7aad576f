//! The contexts as profiles: a stack for each, with the number of its calls, or with its own time.

use std::collections::{BTreeMap, HashMap};

use super::{
    super::{
        super::table::FastMap,
        contexts::{Amounts, Contexts, Node},
        graph::{Graph, Lookup, Place},
    },
    MadeIn,
};
use crate::{
    event::SubjectId,
    report::{Profile, ProfileStack, ProfileThread, Shape, Unit},
    stack::{Frame, Kind},
};

/// Most frames of one stack: the innermost ones.
const DEPTH: usize = 512;
/// Most frames of all stacks: 16 MiB.
const FRAMES: usize = 4 << 20;

/// Why a context is not told whole.
const TOO_MANY: &str = "<too many contexts>";
/// Why nothing is told of one.
const NOT_KNOWN: &str = "<not known>";

/// Calls by context, and own time by context where any is known.
pub(super) fn profiles(graph: &Graph<'_>, contexts: &Contexts, lookup: Lookup<'_>) -> Vec<Shape> {
    let profile = |id, title: &str, unit, value: fn(&Amounts) -> u64| {
        let profile = Builder::new(graph, contexts, lookup).build(id, title, unit, value);
        (!profile.stacks.is_empty()).then_some(Shape::Profile(profile))
    };
    let calls = profile("calls", "Calls by context", Unit::Count, |amounts| amounts.calls);
    let times = profile("context_times", "Own time by context", Unit::Ns, |amounts| amounts.self_ns);
    calls.into_iter().chain(times).collect()
}

/// What is made by context, and by the place in its method.
pub(super) fn made(graph: &Graph<'_>, contexts: &Contexts, made: &[MadeIn], lookup: Lookup<'_>) -> Option<Shape> {
    let mut sums: BTreeMap<(Option<u32>, Place), (u64, u64)> = BTreeMap::new();
    for MadeIn { context, place, objects, bytes, .. } in made {
        let (of_objects, of_bytes) = sums.entry((*context, *place)).or_default();
        *of_objects = of_objects.saturating_add(*objects);
        *of_bytes = of_bytes.saturating_add(*bytes);
    }
    let mut order: Vec<_> = sums.into_iter().filter(|(_, (objects, _))| *objects > 0).collect();
    order.sort_by_key(|(_, (_, bytes))| std::cmp::Reverse(*bytes));
    let mut builder = Builder::new(graph, contexts, lookup);
    let mut room = FRAMES;
    let mut stacks = Vec::with_capacity(order.len());
    for ((context, place), (count, value)) in order {
        let node = context.and_then(|at| usize::try_from(at).ok()).filter(|at| *at < builder.nodes.len());
        let (frames, cut) = match node {
            Some(at) if room > 0 => builder.path(at, room.min(DEPTH), place),
            Some(_) => (Vec::new(), TOO_MANY.to_owned()),
            None => (Vec::new(), NOT_KNOWN.to_owned()),
        };
        room -= frames.len();
        let thread = node.map(|at| builder.thread(builder.nodes[at].tid.0));
        stacks.push(ProfileStack { frames, thread, value, count, cut });
    }
    let Builder { frames, threads, .. } = builder;
    let (id, title) = ("made_stacks", "What is made, by context and line".to_owned());
    let profile = Profile { id, title, unit: Unit::Bytes, contexts: false, frames, threads, stacks, steps: None };
    (!profile.stacks.is_empty()).then_some(Shape::Profile(profile))
}

struct Builder<'a> {
    graph: &'a Graph<'a>,
    nodes: &'a [Node],
    lookup: Lookup<'a>,
    frames: Vec<Frame>,
    numbers: FastMap<(u32, Place), u32>,
    threads: Vec<ProfileThread>,
    thread_numbers: HashMap<u32, u32>,
}

impl<'a> Builder<'a> {
    fn new(graph: &'a Graph<'a>, contexts: &'a Contexts, lookup: Lookup<'a>) -> Self {
        Self {
            graph,
            nodes: contexts.nodes(),
            lookup,
            frames: Vec::new(),
            numbers: FastMap::default(),
            threads: Vec::new(),
            thread_numbers: HashMap::new(),
        }
    }

    fn build(mut self, id: &'static str, title: &str, unit: Unit, value: fn(&Amounts) -> u64) -> Profile {
        // A context without an amount has calls all the same.
        let has_any = self.nodes.iter().any(|node| value(&node.amounts) > 0);
        let is_called = |at: &usize| has_any && self.nodes[*at].amounts.calls > 0;
        let mut order: Vec<usize> = (0..self.nodes.len()).filter(is_called).collect();
        order.sort_by_key(|at| (std::cmp::Reverse(value(&self.nodes[*at].amounts)), *at));
        let mut room = FRAMES;
        let mut stacks = Vec::with_capacity(order.len());
        let (mut rest, mut rest_calls) = (0_u64, 0_u64);
        for at in order {
            let node = self.nodes[at];
            if room == 0 {
                rest = rest.saturating_add(value(&node.amounts));
                rest_calls = rest_calls.saturating_add(node.amounts.calls);
                continue;
            }
            let (frames, cut) = self.path(at, room.min(DEPTH), Place::default());
            room -= frames.len();
            let thread = Some(self.thread(node.tid.0));
            let (value, count) = (value(&node.amounts), node.amounts.calls);
            stacks.push(ProfileStack { frames, thread, value, count, cut });
        }
        // Stable, so that contexts keep their order among equals.
        stacks.sort_by_key(|stack| std::cmp::Reverse(stack.value));
        if rest_calls > 0 {
            let cut = TOO_MANY.to_owned();
            stacks.push(ProfileStack { frames: Vec::new(), thread: None, value: rest, count: rest_calls, cut });
        }
        let Self { frames, threads, .. } = self;
        Profile { id, title: title.to_owned(), unit, contexts: true, frames, threads, stacks, steps: None }
    }

    /// Frames of a context, outermost first, each at the place where it calls the next one, and the innermost at its own place; and why
    /// they are not all.
    fn path(&mut self, at: usize, most: usize, mut place: Place) -> (Vec<u32>, String) {
        let mut frames = Vec::new();
        let mut next = Some(at);
        let mut is_cut = false;
        while let Some(at) = next
            && frames.len() < most
        {
            let node = self.nodes[at];
            frames.push(self.frame(node.method, place));
            place = self.graph.places.get(at).copied().unwrap_or_default();
            next = node.parent.and_then(|parent| usize::try_from(parent).ok());
            is_cut = node.cut;
        }
        frames.reverse();
        let cut = match next {
            Some(_) => format!("{DEPTH} frames"),
            None if is_cut => TOO_MANY.to_owned(),
            None => String::new(),
        };
        (frames, cut)
    }

    fn frame(&mut self, method: SubjectId, place: Place) -> u32 {
        let Self { graph, lookup, frames, numbers, .. } = self;
        *numbers.entry((method.0, place)).or_insert_with(|| {
            let subject = lookup.subjects.get(method);
            frames.push(Frame {
                class: subject.map(|subject| subject.class.as_str().into()),
                signature: graph.resolver.signature(method).map(Into::into),
                line: place.line,
                bci: place.bci,
                opcode: place.opcode,
                // Which code ran is not known of a call.
                ..Frame::named(Kind::Compiled, graph.resolver.title(method))
            });
            u32::try_from(frames.len() - 1).unwrap_or(u32::MAX)
        })
    }

    fn thread(&mut self, tid: u32) -> u32 {
        let Self { graph, threads, thread_numbers, .. } = self;
        *thread_numbers.entry(tid).or_insert_with(|| {
            let (name, of_kernel) = (graph.thread)(crate::event::Tid(tid));
            threads.push(ProfileThread { tid: of_kernel.map_or(0, |tid| tid.0), name });
            u32::try_from(threads.len() - 1).unwrap_or(u32::MAX)
        })
    }
}

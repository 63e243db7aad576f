//! How much a snapshot has of what, by class and by how it is held: names and amounts only. Censuses of several moments can be laid beside each
//! other when their graphs are long gone, and addresses mean nothing any more.
//!
//! A *position* is a way from a root or a static field, written as classes and fields: all entries of one map are at one position. Lists and
//! trees have one position for all their links.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use serde::Serialize;

use super::{
    dominators::Dominators,
    graph::{Graph, Label, NOBODY, Node, RootKind, Via},
    paths::Paths,
};
use crate::text::class_name as name;

/// Most positions that are told apart, and most steps of one.
const MAX_POSITIONS: usize = 1 << 17;
const MAX_DEPTH: u32 = 64;
/// Longest name, in characters.
const MAX_NAME: usize = 400;
/// Set in the number of a class for the object that stands for it.
const STANDS_FOR: u32 = 1 << 31;
/// Where what is not told apart any more is counted.
const REST: &str = "(more ways than are told apart)";

/// An amount of objects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Amount {
    /// How many.
    pub objects: u64,
    /// Their own bytes.
    pub bytes: u64,
    /// Bytes that they retain, without what one of them retains in another one: no less than this would be freed with all of them.
    pub retained_bytes: u64,
}

impl Amount {
    /// Adds another one to it.
    pub const fn add(&mut self, other: Self) {
        let Self { objects, bytes, retained_bytes } = other;
        self.objects += objects;
        self.bytes += bytes;
        self.retained_bytes += retained_bytes;
    }
}

/// Objects that are held in the same way.
#[derive(Clone, Debug)]
pub struct Position {
    /// The position of what holds them; none: a way begins here.
    pub above: Option<u32>,
    /// Of a way's beginning, the root that it is; none of static fields.
    pub root: Option<RootKind>,
    /// How they are held: `com.shop.Registry.entries (static)`, a field, `[]`, or a root in words.
    pub by: Arc<str>,
    /// Their class; of objects that stand for classes `class` and that.
    pub class: Arc<str>,
    /// How many they are.
    pub amount: Amount,
}

/// The census of a snapshot.
#[derive(Clone, Debug, Default)]
pub struct Census {
    /// All objects; what they retain is all there is.
    pub total: Amount,
    /// By class; those of one name together, and hidden ones without their addresses.
    pub classes: BTreeMap<Arc<str>, Amount>,
    /// By position; what holds comes before what is held.
    pub positions: Vec<Position>,
    /// Objects that are counted at a position nearer to the root than their own.
    pub unfollowed: u64,
}

/// How a position is held, by numbers of the graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum How {
    /// A root, with the method of its frame.
    Root(RootKind, u64),
    /// A static field: class and name.
    Static(u32, u32),
    /// A reference.
    Step(Label),
    Rest,
}

/// What makes a position: what is above ([`NOBODY`]: nothing), how it is held, and its class.
type Key = (u32, How, u32);

struct Draft {
    key: Key,
    depth: u32,
    objects: u64,
    bytes: u64,
}

struct Survey<'a> {
    graph: &'a Graph,
    paths: Paths,
    dominators: Dominators,
    names: Vec<Arc<str>>,
    /// The first class of the same name, for each class.
    first_of: Vec<u32>,
    /// How many classes of the name are loaded, by the first one of it.
    loaded: Vec<u32>,
    stands_for: HashMap<Node, u32>,
    drafts: Vec<Draft>,
    index: HashMap<Key, u32>,
    /// The position of each object.
    of: Vec<u32>,
    unfollowed: u64,
}

impl Census {
    /// Counts a snapshot.
    pub fn of(graph: &Graph) -> Self {
        let mut survey = Survey::new(graph);
        let mut way = Vec::new();
        for node in 0..u32::try_from(graph.len()).unwrap_or(NOBODY) {
            survey.follow(node, &mut way);
        }
        survey.finish()
    }
}

impl<'a> Survey<'a> {
    fn new(graph: &'a Graph) -> Self {
        let names: Vec<Arc<str>> = graph.classes.iter().map(|class| shown(&class.name)).collect();
        let mut by_name: HashMap<&str, u32> = HashMap::new();
        let first_of =
            (0..).zip(&names).map(|(number, name)| *by_name.entry(name).or_insert(number)).collect::<Vec<_>>();
        let mut loaded = vec![0; names.len()];
        let mut stands_for = HashMap::new();
        for (class, first) in graph.classes.iter().zip(&first_of).filter(|(class, _)| class.object != NOBODY) {
            loaded[*first as usize] += 1;
            stands_for.insert(class.object, *first);
        }
        Self {
            graph,
            paths: Paths::lasting(graph),
            dominators: Dominators::of(graph),
            names,
            first_of,
            loaded,
            stands_for,
            drafts: Vec::new(),
            index: HashMap::new(),
            of: vec![NOBODY; graph.len()],
            unfollowed: 0,
        }
    }

    /// Gives an object its position, and all objects on the way to it.
    fn follow(&mut self, node: Node, way: &mut Vec<Node>) {
        let mut next = node;
        let mut above = loop {
            match self.of.get(next as usize).copied() {
                Some(NOBODY) => way.push(next),
                Some(position) => break position,
                None => break NOBODY,
            }
            match self.paths.step(self.graph, next) {
                Some(step) => next = step.from,
                None => break NOBODY,
            }
        };
        while let Some(node) = way.pop() {
            above = self.enter(above, node);
            self.of[node as usize] = above;
            let draft = &mut self.drafts[above as usize];
            draft.objects += 1;
            draft.bytes += self.graph.bytes(node);
        }
    }

    /// The first class of the name of an object's class; of an object that stands for a class, that.
    fn class(&self, node: Node) -> u32 {
        let of = self.graph.class.get(node as usize).and_then(|class| self.first_of.get(*class as usize));
        self.stands_for.get(&node).map_or_else(|| of.copied().unwrap_or(0), |class| class | STANDS_FOR)
    }

    /// The position of an object, from that of the object before it on its way.
    fn enter(&mut self, above: u32, node: Node) -> u32 {
        let class = self.class(node);
        let key = match self.paths.step(self.graph, node) {
            None => (NOBODY, self.root(node), class),
            Some(step) => {
                let of = self.stands_for.get(&step.from).copied();
                match (step.label.via(), of) {
                    // However a class is reached, its static fields are called by its name. Where there are several of the name, that would
                    // hide what keeps all of them.
                    (Via::Static(name), Some(of)) if self.loaded.get(of as usize) == Some(&1) => {
                        (NOBODY, How::Static(of, name), class)
                    }
                    (Via::Element(_), _) => (above, How::Step(Label::new(Via::Element(0))), class),
                    _ => (above, How::Step(step.label), class),
                }
            }
        };
        match self.index.get(&key) {
            Some(position) => *position,
            None => self.add(key),
        }
    }

    fn root(&self, node: Node) -> How {
        match self.paths.root(node) {
            Some(root) => How::Root(root.kind, root.method),
            None if self.dominators.unreached.binary_search(&node).is_ok() => How::Root(RootKind::Unreached, 0),
            None => How::Root(RootKind::OnlyWeak, 0),
        }
    }

    /// A new position, or the one on its own way that it repeats.
    fn add(&mut self, key: Key) -> u32 {
        let (above, how, class) = key;
        let depth = self.drafts.get(above as usize).map_or(0, |draft| draft.depth + 1);
        let new = u32::try_from(self.drafts.len()).unwrap_or(NOBODY);
        let position = if let Some(repeated) = self.repeated(key) {
            repeated
        } else if self.drafts.len() < MAX_POSITIONS && depth < MAX_DEPTH {
            self.drafts.push(Draft { key: (above, how, class), depth, objects: 0, bytes: 0 });
            new
        } else {
            self.unfollowed += 1;
            if above != NOBODY {
                // Not kept in the index, which stays as small as the positions are few.
                return above;
            }
            let rest = (NOBODY, How::Rest, 0);
            if let Some(position) = self.index.get(&rest) {
                return *position;
            }
            self.drafts.push(Draft { key: rest, depth: 0, objects: 0, bytes: 0 });
            self.index.insert(rest, new);
            return new;
        };
        self.index.insert(key, position);
        position
    }

    /// The position above that a step repeats: links of a list are one position, and so are parts of a tree. What collections refer by may
    /// come a second time: there are maps of maps.
    fn repeated(&self, (above, how, class): Key) -> Option<u32> {
        let holder = self.drafts.get(above as usize)?.key.2;
        let is_of_collections = self.names.get(holder as usize).is_some_and(|name| name.starts_with("java.util."));
        let mut left = if is_of_collections { 2 } else { 1 };
        let (mut next, mut nearest) = (above, None);
        while let Some(draft) = self.drafts.get(next as usize) {
            if (draft.key.1, draft.key.2) == (how, class) {
                nearest = nearest.or(Some(next));
                left -= if next == above { 2 } else { 1 };
                if left <= 0 {
                    return nearest;
                }
            }
            next = draft.key.0;
        }
        None
    }

    fn class_name(&self, class: u32) -> Arc<str> {
        let name = self.names.get((class & !STANDS_FOR) as usize).cloned().unwrap_or_else(|| "?".into());
        if class & STANDS_FOR == 0 { name } else { format!("class {name}").into() }
    }

    fn by(&self, how: How) -> String {
        let field = |number| shown(self.graph.name(number));
        match how {
            How::Rest => REST.to_owned(),
            How::Root(kind, method) => match self.graph.methods.get(&method) {
                Some(method) => format!("{} of {}", kind.text(), shown(method)),
                None => kind.text().to_owned(),
            },
            How::Static(class, name) => format!("{}.{} (static)", self.class_name(class), field(name)),
            How::Step(label) => match label.via() {
                Via::Field(name) | Via::Referent(name) => field(name).to_string(),
                Via::Static(name) => format!("{} (static)", field(name)),
                Via::Element(_) => "[]".to_owned(),
                Via::Loader => "<loader>".to_owned(),
                Via::Constant => "<constant>".to_owned(),
                Via::Super => "<superclass>".to_owned(),
                Via::Class => "<class>".to_owned(),
                Via::Other => "<other>".to_owned(),
            },
        }
    }

    fn finish(self) -> Census {
        let retained = self.dominators.retained_by(&self.of, self.drafts.len());
        let mut texts: HashMap<How, Arc<str>> = HashMap::new();
        let position = |(draft, retained_bytes): (&Draft, u64)| {
            let (above, how, class) = draft.key;
            let root = if let How::Root(kind, _) = how { Some(kind) } else { None };
            let by = texts.entry(how).or_insert_with(|| self.by(how).into()).clone();
            let amount = Amount { objects: draft.objects, bytes: draft.bytes, retained_bytes };
            Position { above: (above != NOBODY).then_some(above), root, by, class: self.class_name(class), amount }
        };
        let positions: Vec<Position> = self.drafts.iter().zip(retained).map(position).collect();
        let total = Amount {
            objects: self.graph.len() as u64,
            bytes: self.graph.total_bytes(),
            retained_bytes: self.graph.total_bytes(),
        };
        Census { total, classes: self.classes(), positions, unfollowed: self.unfollowed }
    }

    fn classes(&self) -> BTreeMap<Arc<str>, Amount> {
        let first = |class: &u32| self.first_of.get(*class as usize).copied().unwrap_or(0);
        let group: Vec<u32> = self.graph.class.iter().map(first).collect();
        let mut amounts = vec![Amount::default(); self.names.len().max(1)];
        for (class, size) in group.iter().zip(&self.graph.size) {
            amounts[*class as usize].objects += 1;
            amounts[*class as usize].bytes += u64::from(*size) << 3;
        }
        let retained = self.dominators.retained_by(&group, amounts.len());
        let named = self.names.iter().zip(amounts.into_iter().zip(retained));
        let rows = named.filter(|(_, (amount, _))| amount.objects > 0);
        rows.map(|(name, (amount, retained_bytes))| (name.clone(), Amount { retained_bytes, ..amount })).collect()
    }
}

/// A name as it is compared: without the address of a hidden class, which differs from run to run, and not longer than a name is.
fn shown(text: &str) -> Arc<str> {
    let element = text.trim_end_matches("[]");
    let brackets = &text[element.len()..];
    let element = name::without_address(element);
    match element.char_indices().nth(MAX_NAME) {
        Some((end, _)) => format!("{}...", &element[..end]).into(),
        None if brackets.len() > MAX_NAME => element.into(),
        None => format!("{element}{brackets}").into(),
    }
}

#[cfg(test)]
pub(super) mod tests;

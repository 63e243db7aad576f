//! What collections hold. Their types are erased, and the objects in them have not forgotten theirs.

use std::collections::{HashMap, HashSet};

use serde::Serialize;

use super::{
    collections::{COLLECTIONS, Collections, Form, TOLD},
    graph::{NOBODY, Node, Via, is_own},
    held::Ways,
    summary::Analysis,
};

/// Classes of elements that are named; of more it is said that there are others.
const NAMED: usize = 2;

/// Collections of a class that are held in the same way, and hold objects of the same classes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CollectionRow {
    /// The class.
    pub class: String,
    /// Classes of its keys; none where it has no keys.
    pub keys: Vec<String>,
    /// Classes of its values, or of its elements.
    pub values: Vec<String>,
    /// Whether there are further classes.
    pub has_others: bool,
    /// From what refers to it on, up to the first class of the program's own, or the root.
    pub held_by: Vec<String>,
    /// Collections.
    pub collections: u64,
    /// Elements of all of them; a key with its value is one.
    pub elements: u64,
    /// Elements of the largest.
    pub largest: u64,
}

impl CollectionRow {
    /// Whether it is the program's: a class of its own holds it, or is in it.
    pub fn is_of_program(&self) -> bool {
        let is_field = |held_by: &String| !held_by.contains(' ') && is_own(held_by);
        self.held_by.last().is_some_and(is_field) || self.keys.iter().chain(&self.values).any(|class| is_own(class))
    }

    /// What it holds, in words: `from java.lang.String to com.shop.Order`.
    pub fn holds(&self) -> String {
        let others = if self.has_others { ", and others" } else { "" };
        let (keys, values) = (self.keys.join(", "), self.values.join(", "));
        match (keys.is_empty(), values.is_empty()) {
            (true, _) => format!("of {values}{others}"),
            (false, true) => format!("from {keys} to nothing{others}"),
            (false, false) => format!("from {keys} to {values}{others}"),
        }
    }
}

/// Which of the two an element is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Key,
    Value,
}

/// The first classes of some elements, in the order of their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Types {
    named: [u32; NAMED],
    has_others: bool,
}

impl Types {
    const NONE: Self = Self { named: [NOBODY; NAMED], has_others: false };

    fn add(&mut self, class: u32) {
        if self.named.contains(&class) {
            return;
        }
        match self.named.iter_mut().find(|free| **free == NOBODY) {
            Some(free) => *free = class,
            None => self.has_others = true,
        }
    }

    /// Two collections of the same classes are alike, whichever came first.
    fn sorted(mut self) -> Self {
        self.named.sort_unstable();
        self
    }
}

/// What a collection holds.
struct Content {
    keys: Types,
    values: Types,
    elements: u64,
}

/// Numbers of the fields by which entries lead on, and to what is held.
struct Fields {
    next: u32,
    first: u32,
    left: u32,
    right: u32,
    node: u32,
    key: u32,
    values: [u32; 3],
    /// Those in which a collection has its only elements.
    own: [u32; 2],
    own_key: u32,
    own_value: u32,
}

impl Fields {
    fn of(analysis: &Analysis) -> Self {
        let number = |name| analysis.number_of(name);
        Self {
            next: number("next"),
            first: number("first"),
            left: number("left"),
            right: number("right"),
            node: number("node"),
            key: number("key"),
            values: ["value", "val", "item"].map(number),
            own: ["e0", "e1"].map(number),
            own_key: number("k0"),
            own_value: number("v0"),
        }
    }
}

/// Goes through collections.
struct Walk<'a> {
    analysis: &'a Analysis,
    collections: Collections,
    fields: Fields,
    /// Stands for an element that is not there.
    no_element: Option<Node>,
    /// Steps that are left: dumps can have entries of which each is the next one of another.
    left: usize,
}

impl Analysis {
    /// What collections hold, with so many rows.
    pub fn elements(&self, rows: usize) -> Vec<CollectionRow> {
        let known: Vec<_> = COLLECTIONS.into_iter().chain(TOLD).collect();
        let mut walk = Walk {
            analysis: self,
            collections: self.collections(&known),
            fields: Fields::of(self),
            no_element: self.no_element(),
            left: self.graph.len() + self.graph.to.len(),
        };
        let mut ways = Ways::of(self);
        let mut rows_by_key: HashMap<(u32, u32, Types, Types), [u64; 3]> = HashMap::new();
        for (node, class) in walk.outer() {
            let Content { keys, values, elements } = walk.content(node);
            if elements > 0 {
                let row = rows_by_key.entry((class, ways.way(node), keys.sorted(), values.sorted())).or_default();
                *row = [row[0] + 1, row[1] + elements, row[2].max(elements)];
            }
        }
        let mut told: Vec<_> = rows_by_key.into_iter().collect();
        let order = |types: &Types| (types.named, types.has_others);
        // The same snapshot has its rows in the same order.
        told.sort_by_key(|((class, way, keys, values), [_, elements, _])| {
            (std::cmp::Reverse(*elements), *class, *way, order(keys), order(values))
        });
        told.truncate(rows);
        let row =
            |((class, way, keys, values), [collections, elements, largest]): ((u32, u32, Types, Types), [u64; 3])| {
                CollectionRow {
                    class: self.name_of(class),
                    keys: self.names_of(&keys),
                    values: self.names_of(&values),
                    has_others: keys.has_others || values.has_others,
                    held_by: ways.text(way),
                    collections,
                    elements,
                    largest,
                }
            };
        told.into_iter().map(row).collect()
    }

    /// The object that stands in a list of one element where a list of two has its second, since JDK 16:
    /// <https://github.com/openjdk/jdk/blob/jdk-17-ga/src/java.base/share/classes/java/util/ImmutableCollections.java>.
    fn no_element(&self) -> Option<Node> {
        let of = self.graph.classes.iter().find(|class| class.name == "java.util.ImmutableCollections")?.object;
        let empty = self.number_of("EMPTY");
        let references = (of != NOBODY).then(|| self.graph.references(of))?;
        references.filter(|(_, label)| label.via() == Via::Static(empty)).map(|(to, _)| to).next()
    }

    fn name_of(&self, class: u32) -> String {
        let name = self.graph.classes.get(class as usize).map_or("", |class| &class.name);
        if name.is_empty() { "<not known>".to_owned() } else { name.to_owned() }
    }

    fn names_of(&self, types: &Types) -> Vec<String> {
        types.named.iter().filter(|class| **class != NOBODY).map(|class| self.name_of(*class)).collect()
    }
}

impl Walk<'_> {
    fn form(&self, node: Node) -> Option<(u32, Form)> {
        self.collections.get(self.analysis.graph.class.get(node as usize)?).copied()
    }

    fn class(&self, node: Node) -> u32 {
        self.analysis.graph.class.get(node as usize).copied().unwrap_or(0)
    }

    /// Collections with their classes, without those in which others keep their elements.
    fn outer(&self) -> Vec<(Node, u32)> {
        let nodes = || 0..u32::try_from(self.analysis.graph.len()).unwrap_or(NOBODY);
        let inner_of = |node: Node| match self.form(node)? {
            (field, Form::Inner | Form::Keys) => self.analysis.field(node, field),
            _ => None,
        };
        let inner: HashSet<Node> = nodes().filter_map(inner_of).collect();
        let is_outer = |node: &Node| self.form(*node).is_some() && !inner.contains(node);
        nodes().filter(is_outer).map(|node| (node, self.class(node))).collect()
    }

    fn content(&mut self, node: Node) -> Content {
        let mut content = Content { keys: Types::NONE, values: Types::NONE, elements: 0 };
        match self.form(node) {
            Some((field, Form::Inner)) => self.inner(node, field, &mut content),
            Some((field, Form::Keys)) => {
                self.inner(node, field, &mut content);
                // What a set's map has for each key is no element.
                content.values = std::mem::replace(&mut content.keys, Types::NONE);
            }
            _ => self.flat(node, &mut content),
        }
        content
    }

    /// What the collection holds in which another one keeps its elements. Nothing lies deeper than that.
    fn inner(&mut self, node: Node, field: u32, content: &mut Content) {
        if let Some(inner) = self.analysis.field(node, field) {
            self.flat(inner, content);
        }
    }

    fn flat(&mut self, node: Node, content: &mut Content) {
        let Some((field, form)) = self.form(node) else { return };
        if form == Form::Fields {
            return self.fields(node, content);
        }
        let Some(held) = self.analysis.field(node, field) else { return };
        match form {
            Form::Array | Form::Pairs => self.array(held, form == Form::Pairs, content),
            Form::Table => self.table(held, content),
            Form::Nodes => {
                let Fields { next, left, right, .. } = self.fields;
                self.nodes(held, &[next, left, right], false, content);
            }
            Form::Levels => {
                if let Some(first) = self.analysis.field(held, self.fields.node) {
                    self.nodes(first, &[self.fields.next], true, content);
                }
            }
            Form::Inner | Form::Keys | Form::Fields => {}
        }
    }

    fn take(&self, side: Side, node: Node, content: &mut Content) {
        let class = self.class(node);
        match side {
            Side::Key => content.keys.add(class),
            Side::Value => content.values.add(class),
        }
    }

    fn fields(&self, collection: Node, content: &mut Content) {
        let Fields { own, own_key, own_value, .. } = self.fields;
        for (to, label) in self.analysis.graph.references(collection).filter(|(to, _)| Some(*to) != self.no_element) {
            let Via::Field(name) = label.via() else { continue };
            let side = match name {
                name if name == own_key => Side::Key,
                name if name == own_value || own.contains(&name) => Side::Value,
                _ => continue,
            };
            self.take(side, to, content);
            // A key with its value is one.
            content.elements += u64::from(name != own_value);
        }
    }

    fn array(&mut self, array: Node, are_pairs: bool, content: &mut Content) {
        for (element, label) in self.analysis.graph.references(array) {
            let Via::Element(index) = label.via() else { continue };
            self.left = self.left.saturating_sub(1);
            let side = if are_pairs && index % 2 == 0 { Side::Key } else { Side::Value };
            content.elements += u64::from(!are_pairs || side == Side::Key);
            self.take(side, element, content);
        }
    }

    fn table(&mut self, table: Node, content: &mut Content) {
        for (entry, label) in self.analysis.graph.references(table) {
            if matches!(label.via(), Via::Element(_)) {
                // Some maps keep what collides behind an object of its own, which is no entry. Where entries are a tree, they are a list as well.
                let first = self.analysis.field(entry, self.fields.first).unwrap_or(entry);
                self.nodes(first, &[self.fields.next], false, content);
            }
        }
    }

    /// Entries that lead to each other by these fields: a list, or a tree.
    fn nodes(&mut self, first: Node, links: &[u32], need_value: bool, content: &mut Content) {
        let mut to_do = vec![first];
        while let Some(node) = to_do.pop().filter(|_| self.left > 0) {
            self.left -= 1;
            let (mut key, mut value) = (None, None);
            for (to, label) in self.analysis.graph.references(node) {
                match label.via() {
                    // The keys of a map of weak references.
                    Via::Referent(_) => key = Some(to),
                    Via::Field(name) if name == self.fields.key => key = Some(to),
                    Via::Field(name) if self.fields.values.contains(&name) => value = Some(to),
                    Via::Field(name) if links.contains(&name) => to_do.push(to),
                    _ => {}
                }
            }
            // What has been taken out of a skip list has lost its value, and may still stand there for a while.
            let is_entry = value.is_some() || (key.is_some() && !need_value);
            if !is_entry {
                continue;
            }
            content.elements += 1;
            for (side, held) in [(Side::Key, key), (Side::Value, value)] {
                if let Some(held) = held {
                    self.take(side, held, content);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;

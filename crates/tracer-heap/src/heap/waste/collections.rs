//! The JDK's collections: which have no element, and which hash tables put many keys into few places.

use std::collections::{HashMap, HashSet};

use serde::Serialize;

use crate::heap::{
    graph::{NOBODY, Node, Via},
    summary::{Analysis, PathRow},
};

use super::elements;

/// Tables with fewer entries are not looked at, and those with more for each used place are crowded. With good hashes and the JDK's load
/// factor there are less than 1.5.
const FEWEST_ENTRIES: u64 = 64;
const CROWDED: u64 = 3;

/// By the class of a collection, the number of the field that holds its elements, and how.
pub(super) type Collections = HashMap<u32, (u32, Form)>;

/// By what a collection holds its elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// An array; none where there never was an element.
    Array,
    /// An array of chains of entries.
    Table,
    /// The first of its nodes; none where there are none.
    Nodes,
    /// Another collection.
    Inner,
}

/// Collections, with the field that holds their elements. Those below these classes have it as well; the nearest one decides.
const COLLECTIONS: [(&str, &str, Form); 17] = [
    ("java.util.ArrayList", "elementData", Form::Array),
    ("java.util.Vector", "elementData", Form::Array),
    ("java.util.ArrayDeque", "elements", Form::Array),
    ("java.util.PriorityQueue", "queue", Form::Array),
    ("java.util.IdentityHashMap", "table", Form::Array),
    ("java.util.concurrent.CopyOnWriteArrayList", "array", Form::Array),
    ("java.util.concurrent.PriorityBlockingQueue", "queue", Form::Array),
    ("java.util.HashMap", "table", Form::Table),
    ("java.util.Hashtable", "table", Form::Table),
    ("java.util.WeakHashMap", "table", Form::Table),
    ("java.util.concurrent.ConcurrentHashMap", "table", Form::Table),
    ("java.util.LinkedList", "first", Form::Nodes),
    ("java.util.TreeMap", "root", Form::Nodes),
    ("java.util.HashSet", "map", Form::Inner),
    ("java.util.TreeSet", "m", Form::Inner),
    ("java.util.concurrent.CopyOnWriteArraySet", "al", Form::Inner),
    // It is a `Hashtable` that holds nothing itself.
    ("java.util.Properties", "map", Form::Inner),
];

/// A hash table whose keys collide.
#[derive(Clone, Debug, Serialize)]
pub struct Crowded {
    /// The number of the map in this snapshot.
    pub object: u32,
    /// Its class.
    pub class: String,
    /// Entries.
    pub entries: u64,
    /// Places that have any.
    pub used: u64,
    /// Places.
    pub places: u64,
    /// Entries of the place that has most.
    pub longest: u64,
    /// The shortest way from a root.
    pub path: PathRow,
}

/// How many entries a table has in how many places.
#[derive(Clone, Copy, Debug, Default)]
struct Load {
    entries: u64,
    used: u64,
    longest: u64,
}

impl Analysis {
    /// Of each class whose objects are collections, the field that holds their elements.
    pub(super) fn collections(&self) -> Collections {
        let classes = &self.graph.classes;
        let of = |class: u32| {
            let mut at = class;
            // A chain that closes is no chain.
            for _ in 0..classes.len().min(1000) {
                let row = classes.get(at as usize)?;
                if let Some((_, field, form)) = COLLECTIONS.iter().rev().find(|(name, _, _)| *name == row.name) {
                    return Some((self.number_of(field), *form));
                }
                at = row.above;
            }
            None
        };
        (0..u32::try_from(classes.len()).unwrap_or(0)).filter_map(|class| Some((class, of(class)?))).collect()
    }

    /// The number of a field's name. Where no object has such a field, no reference has this number.
    fn number_of(&self, field: &str) -> u32 {
        let at = self.graph.names.iter().position(|name| name == field);
        at.and_then(|at| u32::try_from(at).ok()).unwrap_or(NOBODY)
    }

    fn field(&self, node: Node, name: u32) -> Option<Node> {
        self.graph.references(node).find(|(_, label)| label.via() == Via::Field(name)).map(|(to, _)| to)
    }

    /// Collections without an element.
    pub(super) fn empty_collections(&self, collections: &Collections) -> HashSet<Node> {
        let nodes = 0..u32::try_from(self.graph.len()).unwrap_or(NOBODY);
        nodes.filter(|node| self.is_empty(collections, *node, true)).collect()
    }

    /// Whether it is a collection without an element. A set is as empty as its map, and nothing lies deeper than that.
    fn is_empty(&self, collections: &Collections, node: Node, may_be_outer: bool) -> bool {
        let class = self.graph.class.get(node as usize);
        let Some((field, form)) = class.and_then(|class| collections.get(class)) else { return false };
        match (form, self.field(node, *field)) {
            (Form::Inner, inner) => may_be_outer && inner.is_some_and(|inner| self.is_empty(collections, inner, false)),
            (Form::Nodes, first) => first.is_none(),
            (Form::Array | Form::Table, array) => array.is_none_or(|array| elements(&self.graph, array) == 0),
        }
    }

    /// Hash tables whose keys collide.
    pub(super) fn crowded_tables(&self, collections: &Collections, rows: usize) -> Vec<Crowded> {
        let links = [self.number_of("next"), self.number_of("first")];
        // Dumps can have entries of which each is the next one of another: all tables together have no more than there are objects.
        let mut left = self.graph.len();
        let mut crowded: Vec<(Node, Node, Load)> = Vec::new();
        for node in 0..u32::try_from(self.graph.len()).unwrap_or(NOBODY) {
            let Some((field, Form::Table)) = self.graph.class.get(node as usize).and_then(|of| collections.get(of))
            else {
                continue;
            };
            let Some(table) = self.field(node, *field) else { continue };
            let load = self.load(table, links, &mut left);
            if load.entries >= FEWEST_ENTRIES && load.entries > load.used * CROWDED {
                crowded.push((node, table, load));
            }
        }
        crowded.sort_by_key(|(node, _, load)| (std::cmp::Reverse(load.entries), *node));
        crowded.truncate(rows);
        let row = |(node, table, load): (Node, Node, Load)| Crowded {
            object: node,
            class: self.title(node),
            entries: load.entries,
            used: load.used,
            places: u64::from(self.graph.length(table).unwrap_or(0)),
            longest: load.longest,
            path: self.path(node),
        };
        crowded.into_iter().map(row).collect()
    }

    fn load(&self, table: Node, [next, first]: [u32; 2], left: &mut usize) -> Load {
        let mut load = Load::default();
        for (entry, label) in self.graph.references(table) {
            if !matches!(label.via(), Via::Element(_)) {
                continue;
            }
            // Some maps keep what collides behind an object of its own, which is no entry.
            let mut entry = self.field(entry, first).or(Some(entry));
            let mut chain = 0;
            while let Some(at) = entry.filter(|_| *left > 0) {
                *left -= 1;
                chain += 1;
                entry = self.field(at, next);
            }
            load.entries += chain;
            load.used += u64::from(chain > 0);
            load.longest = load.longest.max(chain);
        }
        load
    }
}

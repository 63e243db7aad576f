//! Which of the JDK's collections have no element, and which hash tables put many keys into few places.

use std::collections::HashSet;

use serde::Serialize;

use crate::heap::{
    collections::{Collections, Form},
    graph::{NOBODY, Node, Via},
    summary::{Analysis, PathRow},
};

use super::elements;

/// Tables with fewer entries are not looked at, and those with more for each used place are crowded. With good hashes and the JDK's load
/// factor there are less than 1.5.
const FEWEST_ENTRIES: u64 = 64;
const CROWDED: u64 = 3;

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
            (Form::Inner | Form::Keys, inner) => {
                may_be_outer && inner.is_some_and(|inner| self.is_empty(collections, inner, false))
            }
            (Form::Nodes | Form::Levels | Form::Fields, first) => first.is_none(),
            (Form::Array | Form::Pairs | Form::Table, array) => {
                array.is_none_or(|array| elements(&self.graph, array) == 0)
            }
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

//! What of a heap could be saved: copies of what is there already, and room that holds nothing.
//!
//! Each byte is counted once. What an empty collection holds is counted with it, and not as an array without elements. Of equal arrays one
//! is needed, and zeros at the ends of the others are not counted again.

mod collections;

use std::collections::{HashMap, HashSet};

use serde::Serialize;

use super::{
    collections::COLLECTIONS,
    contents::{Value, element_bytes},
    graph::{Graph, Node, Via},
    held::Ways,
    summary::Analysis,
};

pub use collections::Crowded;

/// Arrays of references with so many elements or more are looked at, and of these so many hundredths are null.
const FEWEST_ELEMENTS: u32 = 8;
const NULL_PERCENT: u64 = 75;
/// Contents of a row that are shown, where they are known.
const VALUES: usize = 5;
/// What holds the bytes of a text.
const TEXT: &str = "java.lang.String.value";
/// Zeros at the end of an array count where they are so many hundredths of it.
const ZERO_PERCENT: u64 = 50;

/// What could be saved.
#[derive(Clone, Debug, Serialize)]
pub struct Waste {
    /// All of it.
    pub bytes: u64,
    /// Whether it was looked at what arrays and boxed numbers hold.
    pub contents_known: bool,
    /// By kind, where there is any; those first that have most bytes.
    pub kinds: Vec<WasteKind>,
    /// Hash tables whose keys collide, those first that have most entries.
    pub crowded_tables: Vec<Crowded>,
}

impl Waste {
    /// What is to be said where nobody looked at contents.
    pub const CONTENTS_NOT_KNOWN: &str =
        "Nobody looked at what arrays hold: which are equal, and which end in zeros, is not known";

    /// Its part of so many bytes.
    pub fn percent_of(&self, bytes: u64) -> f64 {
        self.bytes as f64 / bytes.max(1) as f64 * 100.0
    }
}

/// Why bytes could be saved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Arrays of numbers that hold what another one holds.
    DuplicateArrays,
    /// Boxed numbers likewise.
    DuplicateBoxes,
    /// Collections without an element, with all that they hold.
    EmptyCollections,
    /// Arrays of references that are null but for a few.
    SparseArrays,
    /// Arrays of numbers that end in zeros.
    ZeroTails,
}

impl Kind {
    /// In words.
    pub const fn text(self) -> &'static str {
        match self {
            Self::DuplicateArrays => "duplicate arrays: all but one of each content",
            Self::DuplicateBoxes => "duplicate boxed numbers: all but one of each value",
            Self::EmptyCollections => "empty collections, with what they hold",
            Self::SparseArrays => "sparse arrays: their null elements",
            Self::ZeroTails => "arrays that end in zeros: these zeros",
        }
    }
}

/// What could be saved for one reason.
#[derive(Clone, Debug, Serialize)]
pub struct WasteKind {
    /// The reason.
    pub kind: Kind,
    /// Objects.
    pub objects: u64,
    /// Bytes that could be saved.
    pub bytes: u64,
    /// By class and by what holds them, those first that have most bytes.
    pub rows: Vec<WasteRow>,
    /// Rows that are left out.
    pub further: u64,
}

/// Objects of a class that are held in the same way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WasteRow {
    /// The class.
    pub class: String,
    /// From what refers to them on: `java.lang.String.value`, and so on up to the first class of the program's own, or the root.
    pub held_by: Vec<String>,
    /// Objects.
    pub objects: u64,
    /// Bytes that could be saved.
    pub bytes: u64,
    /// Of duplicates, how many different ones there are.
    pub contents: Option<u64>,
    /// Of these, what those hold that have most bytes, as far as it was asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<WasteValue>,
}

/// Duplicates that hold the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WasteValue {
    /// What they hold: `"DE"`, or digits in hexadecimal.
    pub value: String,
    /// Objects.
    pub objects: u64,
    /// Bytes that could be saved.
    pub bytes: u64,
}

/// An object of which something could be saved.
#[derive(Clone, Copy)]
struct Found {
    node: Node,
    bytes: u64,
    /// What it holds, of duplicates.
    content: Option<u32>,
}

impl Analysis {
    /// What could be saved, with so many rows of each kind. Of a heap of which not all was seen this would say what is not so.
    pub fn waste(&self, rows: usize) -> Waste {
        let collections = self.collections(&COLLECTIONS);
        let empty = self.empty_collections(&collections);
        let covered = self.covered(&empty);
        let is_free = |node: Node| covered.get(node as usize) == Some(&false);
        let mut ways = Ways::of(self);
        let mut kinds = Vec::new();
        let mut add = |kind: Kind, found: Vec<Found>| kinds.extend(self.kind(kind, &found, &mut ways, rows));
        let mut outermost: Vec<Node> =
            empty.into_iter().filter(|node| self.dominators.dominator(*node).is_none_or(is_free)).collect();
        // The same snapshot has its rows in the same order.
        outermost.sort_unstable();
        let whole = |node: Node| Found { node, bytes: self.dominators.retained(node), content: None };
        add(Kind::EmptyCollections, outermost.into_iter().map(whole).collect());
        add(Kind::SparseArrays, self.sparse(is_free));
        if let Some(contents) = &self.graph.contents {
            let (arrays, boxes) = self.duplicates(&contents.equal, is_free);
            let copies: HashSet<Node> = arrays.iter().map(|found| found.node).collect();
            let zeros = contents.zeros.iter().filter(|(node, _)| is_free(*node) && !copies.contains(node));
            add(Kind::ZeroTails, zeros.filter_map(|(node, zeros)| self.zero_tail(*node, *zeros)).collect());
            add(Kind::DuplicateArrays, arrays);
            add(Kind::DuplicateBoxes, boxes);
        }
        kinds.sort_by_key(|kind| (std::cmp::Reverse(kind.bytes), kind.kind));
        Waste {
            bytes: kinds.iter().map(|kind| kind.bytes).sum(),
            contents_known: self.graph.contents.is_some(),
            kinds,
            crowded_tables: self.crowded_tables(&collections, rows),
        }
    }

    /// Which objects are gone with these.
    fn covered(&self, empty: &HashSet<Node>) -> Vec<bool> {
        let mut covered = vec![false; self.graph.len()];
        for (node, above) in self.dominators.top_down() {
            covered[node as usize] = empty.contains(&node) || above.is_some_and(|above| covered[above as usize]);
        }
        covered
    }

    /// All but the first of each content: arrays, and boxed numbers.
    fn duplicates(&self, equal: &[(Node, u32)], is_free: impl Fn(Node) -> bool) -> (Vec<Found>, Vec<Found>) {
        let mut first = HashSet::new();
        let copies = equal.iter().filter(|(node, content)| is_free(*node) && !first.insert(*content));
        let found = |(node, content): &(Node, u32)| Found {
            node: *node,
            bytes: self.graph.bytes(*node),
            content: Some(*content),
        };
        copies.map(found).partition(|found| self.graph.length(found.node).is_some())
    }

    fn sparse(&self, is_free: impl Fn(Node) -> bool) -> Vec<Found> {
        let graph = &self.graph;
        let of_references = |node: &Node| element_bytes(&graph.class_of(*node).name).is_none();
        let long = graph.lengths.iter().filter(|(_, length)| *length >= FEWEST_ELEMENTS);
        let long = long.filter(|(node, _)| is_free(*node) && of_references(node));
        let found = |(node, length): &(Node, u32)| {
            let length = u64::from(*length);
            let nulls = length.saturating_sub(elements(graph, *node));
            let reference = if graph.bytes(*node) > length * 8 { 8 } else { 4 };
            let is_sparse = nulls * 100 >= length * NULL_PERCENT;
            is_sparse.then_some(Found { node: *node, bytes: nulls * reference, content: None })
        };
        long.filter_map(found).collect()
    }

    fn zero_tail(&self, node: Node, zeros: u32) -> Option<Found> {
        let width = element_bytes(&self.graph.class_of(node).name)?;
        let all = u64::from(self.graph.length(node)?) * width;
        // An element that is not zero can end in zeros.
        let zeros = (u64::from(zeros) / width * width).min(all);
        (zeros > 0 && zeros * 100 >= all * ZERO_PERCENT).then_some(Found { node, bytes: zeros, content: None })
    }

    fn kind(&self, kind: Kind, found: &[Found], ways: &mut Ways<'_>, rows: usize) -> Option<WasteKind> {
        #[derive(Default)]
        struct Row {
            objects: u64,
            bytes: u64,
            contents: HashSet<u32>,
            values: HashMap<u32, (u64, u64)>,
        }
        if found.is_empty() {
            return None;
        }
        let mut by_way: HashMap<(u32, u32), Row> = HashMap::new();
        for Found { node, bytes, content } in found {
            let class = self.graph.class.get(*node as usize).copied().unwrap_or(0);
            let row = by_way.entry((class, ways.way(*node))).or_default();
            row.objects += 1;
            row.bytes += bytes;
            row.contents.extend(content);
            if let Some(content) = content.filter(|content| self.value(*content).is_some()) {
                let value = row.values.entry(content).or_default();
                *value = (value.0 + 1, value.1 + bytes);
            }
        }
        let has_contents = matches!(kind, Kind::DuplicateArrays | Kind::DuplicateBoxes);
        let mut told: Vec<((u32, u32), Row)> = by_way.into_iter().collect();
        told.sort_by_key(|(key, row)| (std::cmp::Reverse(row.bytes), *key));
        let further = told.len().saturating_sub(rows) as u64;
        told.truncate(rows);
        let row = |((class, way), row): ((u32, u32), Row)| {
            let class = self.graph.classes.get(class as usize).map_or_else(String::new, |class| class.name.clone());
            let held_by = ways.text(way);
            WasteRow {
                values: self.values(row.values, &class, held_by.first().is_some_and(|by| by == TEXT)),
                class,
                held_by,
                objects: row.objects,
                bytes: row.bytes,
                contents: has_contents.then_some(row.contents.len() as u64),
            }
        };
        Some(WasteKind {
            kind,
            objects: found.len() as u64,
            bytes: found.iter().map(|found| found.bytes).sum(),
            rows: told.into_iter().map(row).collect(),
            further,
        })
    }
}

impl Analysis {
    fn value(&self, content: u32) -> Option<&Value> {
        self.graph.contents.as_ref()?.value(content)
    }

    /// What those of a row hold that have most bytes.
    fn values(&self, of: HashMap<u32, (u64, u64)>, class: &str, is_of_string: bool) -> Vec<WasteValue> {
        let mut most: Vec<(u32, (u64, u64))> = of.into_iter().collect();
        most.sort_by_key(|(content, (_, bytes))| (std::cmp::Reverse(*bytes), *content));
        let text = |(content, (objects, bytes)): (u32, (u64, u64))| {
            Some(WasteValue { value: self.value(content)?.text(class, is_of_string), objects, bytes })
        };
        most.into_iter().take(VALUES).filter_map(text).collect()
    }
}

/// Elements of an array that are not null.
fn elements(graph: &Graph, node: Node) -> u64 {
    graph.references(node).filter(|(_, label)| matches!(label.via(), Via::Element(_))).count() as u64
}

#[cfg(test)]
mod tests;

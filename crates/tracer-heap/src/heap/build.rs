//! Makes a graph out of objects and references in the order in which they are told of, by addresses.

use std::collections::HashMap;

use tracer_weave::{
    content::{self, GOLDEN, folded},
    walk::MAX_VALUES,
};

use super::{
    contents::{Contents, Told, Value},
    graph::{Class, Graph, Label, NOBODY, Node, Root, RootKind, Via},
};
use crate::text::class_name::primitive;

/// Share of the table of addresses that is used at most, in hundredths.
const FULL: usize = 60;
const FIRST_PLACES: usize = 1 << 12;
/// The name of the first class.
pub const UNKNOWN_CLASS: &str = "(a class that was loaded meanwhile)";

/// Addresses with their numbers.
#[derive(Debug)]
struct Numbers {
    addresses: Vec<u64>,
    /// Numbers plus 1, by a hash of the address.
    places: Vec<u32>,
    /// Others each time: whoever writes a dump or tells of a heap chooses the addresses, and must not choose their places.
    keys: [u64; 2],
}

impl Default for Numbers {
    fn default() -> Self {
        Self { addresses: Vec::new(), places: vec![0; FIRST_PLACES], keys: content::keys() }
    }
}

impl Numbers {
    /// One product alone is not enough: some keys put multiples of a number into one long row.
    fn hashed(&self, address: u64) -> usize {
        let [mask, multiplier] = self.keys;
        usize::try_from(folded(folded(address ^ mask, multiplier | 1), GOLDEN)).unwrap_or(0)
    }

    /// The place of an address: it, or the free one where it would be.
    fn place(&self, address: u64) -> usize {
        let mask = self.places.len() - 1;
        let mut at = self.hashed(address) & mask;
        loop {
            match self.places.get(at).copied() {
                None | Some(0) => return at,
                Some(number) if self.addresses.get(number as usize - 1) == Some(&address) => return at,
                Some(_) => at = (at + 1) & mask,
            }
        }
    }

    fn get(&self, address: u64) -> Option<Node> {
        self.places.get(self.place(address)).and_then(|number| number.checked_sub(1))
    }

    /// A new number; `None` where the address has one.
    fn add(&mut self, address: u64) -> Option<Node> {
        if self.addresses.len() * 100 >= self.places.len() * FULL {
            self.places = vec![0; self.places.len() * 2];
            for number in 0..self.addresses.len() {
                let at = self.place(self.addresses[number]);
                self.places[at] = u32::try_from(number + 1).ok()?;
            }
        }
        let at = self.place(address);
        let node = u32::try_from(self.addresses.len()).ok().filter(|node| *node < NOBODY - 1)?;
        let place = self.places.get_mut(at).filter(|place| **place == 0)?;
        *place = node + 1;
        self.addresses.push(address);
        Some(node)
    }
}

/// A graph that is being made.
#[derive(Debug, Default)]
pub struct Builder {
    graph: Graph,
    numbers: Numbers,
    names: HashMap<String, u32>,
    /// Where the references of an object begin, and how many there are.
    starts: Vec<(u32, u32)>,
    from: Option<Node>,
    /// References of objects that were told of twice.
    strays: Vec<(Node, Node, Label)>,
    /// What was told of contents, in the order of objects; nothing where nobody looked.
    contents: Option<Vec<Told>>,
    /// What some arrays hold, by its digest.
    values: Vec<(u64, Value)>,
    /// What could not be taken in: an object twice, or a reference from or to nothing.
    pub odd: u64,
}

impl Builder {
    /// Nothing but a class for what has none.
    pub fn new() -> Self {
        let mut builder = Self::default();
        builder.graph.classes.push(Class { name: UNKNOWN_CLASS.to_owned(), above: 0, object: NOBODY });
        builder
    }

    /// Objects so far.
    pub fn len(&self) -> usize {
        self.graph.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.graph.is_empty()
    }

    /// References so far.
    pub fn references(&self) -> usize {
        self.graph.to.len() + self.strays.len()
    }

    /// Number of a name.
    pub fn name(&mut self, name: &str) -> u32 {
        if let Some(number) = self.names.get(name) {
            return *number;
        }
        let number = u32::try_from(self.graph.names.len()).unwrap_or(u32::MAX);
        self.graph.names.push(name.to_owned());
        self.names.insert(name.to_owned(), number);
        number
    }

    /// Whether a number is that of a name.
    pub fn is_name(&self, number: u32, name: &str) -> bool {
        self.graph.name(number) == name
    }

    /// The graph, for what is not in rows.
    pub fn graph(&mut self) -> &mut Graph {
        &mut self.graph
    }

    /// Adds a class; gives its number.
    pub fn class(&mut self, name: String) -> u32 {
        let number = u32::try_from(self.graph.classes.len()).unwrap_or(0);
        self.graph.classes.push(Class { name, above: number, object: NOBODY });
        number
    }

    /// Adds an object.
    pub fn object(&mut self, address: u64, class: u32, units: u32, length: Option<u32>) -> Option<Node> {
        let Some(node) = self.numbers.add(address) else {
            self.odd += 1;
            return None;
        };
        self.graph.class.push(if (class as usize) < self.graph.classes.len() { class } else { 0 });
        self.graph.size.push(units);
        if let Some(length) = length {
            self.graph.lengths.push((node, length));
        }
        self.starts.push((0, 0));
        Some(node)
    }

    /// What an object holds, which was told of after all that were told of so far.
    pub fn content(&mut self, node: Node, digest: u64, zeros: u64) {
        let told = self.contents.get_or_insert_default();
        if told.last().is_none_or(|last| last.node < node) {
            told.push(Told { node, digest, zeros });
        } else {
            self.odd += 1;
        }
    }

    /// What arrays with a digest hold; of more of them than are ever told there are none.
    pub fn value(&mut self, digest: u64, value: Value) {
        if self.values.len() < MAX_VALUES {
            self.values.push((digest, value));
        } else {
            self.odd += 1;
        }
    }

    /// The number of an address.
    pub fn at(&self, address: u64) -> Option<Node> {
        self.numbers.get(address)
    }

    /// The class of an object.
    pub fn class_of(&self, node: Node) -> u32 {
        self.graph.class.get(node as usize).copied().unwrap_or(0)
    }

    /// What is added from now on are references of this object.
    pub fn from(&mut self, node: Option<Node>) {
        self.from = node;
    }

    /// The object of which references are added.
    pub const fn source(&self) -> Option<Node> {
        self.from
    }

    /// Adds a reference.
    pub fn reference(&mut self, to: Node, via: Via) {
        let label = Label::new(via);
        let Some(from) = self.from else {
            self.odd += 1;
            return;
        };
        let Ok(next) = u32::try_from(self.graph.to.len()) else {
            self.odd += 1;
            return;
        };
        let Some((start, count)) = self.starts.get_mut(from as usize) else { return };
        if *count == 0 {
            *start = next;
        }
        if *start + *count == next {
            *count += 1;
            self.graph.to.push(to);
            self.graph.label.push(label);
        } else {
            self.strays.push((from, to, label));
        }
    }

    /// Adds a root.
    pub fn root(&mut self, root: Root) {
        self.graph.roots.push(root);
    }

    /// The object that stands for a class.
    pub fn class_object(&mut self, class: u32, node: Node) {
        if let Some(class) = self.graph.classes.get_mut(class as usize) {
            class.object = node;
        }
    }

    /// Classes of arrays live as long as those of their elements, and nothing tells of that.
    pub fn hold_array_classes(&mut self) {
        let objects = self.graph.classes.iter().filter(|class| class.object != NOBODY);
        let by_name: HashMap<&str, Node> = objects.clone().map(|class| (class.name.as_str(), class.object)).collect();
        let (mut held, mut roots) = (Vec::new(), Vec::new());
        for class in objects {
            let Some(element) = class.name.strip_suffix("[]") else { continue };
            match by_name.get(element) {
                Some(element) => held.push((*element, class.object, Label::new(Via::Other))),
                None => roots.push(class.object),
            }
        }
        self.strays.extend(held);
        let root = |node| Root { node, kind: RootKind::SystemClass, thread: 0, frame: 0, method: 0 };
        self.graph.roots.extend(roots.into_iter().map(root));
    }

    /// The graph, with its rows in the order of its objects.
    pub fn finish(self) -> Graph {
        let Self { mut graph, starts, mut strays, numbers, contents, values, .. } = self;
        drop(numbers);
        graph.contents = contents.map(|told| Contents::of(&told, values));
        strays.sort_by_key(|(from, _, _)| *from);
        let mut strays = strays.into_iter().peekable();
        let total = graph.to.len() + strays.len();
        let (mut first, mut to, mut label) =
            (Vec::with_capacity(starts.len() + 1), Vec::with_capacity(total), Vec::with_capacity(total));
        for (node, (start, count)) in (0..).zip(&starts) {
            first.push(u32::try_from(to.len()).unwrap_or(u32::MAX));
            let row = *start as usize..*start as usize + *count as usize;
            to.extend_from_slice(graph.to.get(row.clone()).unwrap_or_default());
            label.extend_from_slice(graph.label.get(row).unwrap_or_default());
            while let Some((_, leads, how)) = strays.next_if(|(from, _, _)| *from == node) {
                to.push(leads);
                label.push(how);
            }
        }
        first.push(u32::try_from(to.len()).unwrap_or(u32::MAX));
        (graph.first, graph.to, graph.label) = (first, to, label);
        graph.class.shrink_to_fit();
        graph.size.shrink_to_fit();
        graph.lengths.shrink_to_fit();
        graph
    }
}

/// A class as Java writes it, from its descriptor.
pub fn java_name(descriptor: &str) -> String {
    let element = descriptor.trim_start_matches('[');
    let dimensions = descriptor.len() - element.len();
    let name = primitive(element).map_or_else(
        || {
            let inner = element.strip_prefix('L').and_then(|inner| inner.strip_suffix(';')).unwrap_or(element);
            inner.replace('/', ".")
        },
        str::to_owned,
    );
    name + &"[]".repeat(dimensions.min(255))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As many as show a key that spreads badly, if there are such.
    const HEAPS: u32 = 50;

    /// With one multiplier for all heaps, a dump of some megabytes took hours: each address came to the same place.
    /// With a random one, it was one heap among some hundreds.
    #[test]
    fn addresses_that_were_chosen_for_it_have_places_of_their_own() {
        const CHOSEN: u64 = 20_000;
        // The number by which the product with the golden one is divided again.
        let inverse =
            (0..6).fold(GOLDEN, |inverse, _| inverse.wrapping_mul(2_u64.wrapping_sub(GOLDEN.wrapping_mul(inverse))));
        let same = |number: u64| (number << 44).wrapping_mul(inverse);
        let upper = |number: u64| number.wrapping_mul(inverse);
        let multiples = |number: u64| number << 40;
        let objects = |number: u64| number * 16;
        for choose in [&same as &dyn Fn(u64) -> u64, &upper, &multiples, &objects] {
            for _ in 0..HEAPS {
                let mut numbers = Numbers::default();
                for number in 1..=CHOSEN {
                    numbers.add(choose(number));
                }
                let mask = numbers.places.len() - 1;
                let far = |address: &u64| numbers.place(*address).wrapping_sub(numbers.hashed(*address) & mask) & mask;
                let steps: usize = numbers.addresses.iter().map(far).sum();
                assert!(steps < numbers.addresses.len(), "{steps}, keys {:x?}", numbers.keys);
                assert!(numbers.addresses.iter().all(|address| numbers.get(*address).is_some()));
            }
        }
    }
}

//! What a snapshot says: how much there is of what, what holds most, and what holds that.

mod rows;
mod ways;

use std::collections::HashMap;

use super::{
    dominators::Dominators,
    facts::Facts,
    graph::{Graph, NOBODY, Node, RootKind},
    paths::Paths,
};

pub use rows::{
    Accumulation, ClassRow, Head, Holder, Merged, ObjectRow, Origin, PathRow, RootRow, RootText, SizeRow, StepRow,
    Summary,
};

/// Ways in which objects of a class are held, of which each row has so many.
const HOLDERS: usize = 3;
/// What exact sizes may cost, in objects and references that are looked at.
const EXACT_STEPS: usize = 60_000_000;
/// An object is an accumulation point where none of what it holds has more than this share of what it holds, in percent.
const PART_PERCENT: u64 = 50;
/// It holds so many objects directly, or more, and this share of all bytes, in thousandths.
const MANY: u32 = 100;
const LARGE_PERMILLE: u64 = 5;

/// A graph with what was found out about it.
#[derive(Debug)]
pub struct Analysis {
    /// The graph.
    pub graph: Graph,
    /// Its dominators.
    pub dominators: Dominators,
    /// Its ways.
    pub paths: Paths,
    /// Which class an object stands for.
    stands_for: HashMap<Node, u32>,
}

impl Analysis {
    /// Finds dominators and ways.
    pub fn of(graph: Graph) -> Self {
        let dominators = Dominators::of(&graph);
        let paths = Paths::of(&graph);
        let objects = graph.classes.iter().zip(0..).filter(|(class, _)| class.object != NOBODY);
        let stands_for = objects.map(|(class, number)| (class.object, number)).collect();
        Self { graph, dominators, paths, stands_for }
    }

    /// The class that an object stands for.
    pub(super) fn stands_for(&self, node: Node) -> Option<u32> {
        self.stands_for.get(&node).copied()
    }

    /// The answers, with so many rows in each table. What could be saved is told where the heap is whole.
    pub fn summary(&self, origin: Origin, cost: Option<Facts>, is_whole: bool, rows: usize) -> Summary {
        let by_class = self.by_class(rows);
        Summary {
            head: self.head(origin, cost),
            roots: self.roots(),
            by_class,
            biggest: self.biggest(rows),
            accumulations: self.accumulations(rows),
            collections: self.elements(rows),
            sizes: self.sizes(),
            waste: is_whole.then(|| self.waste(rows)),
        }
    }

    /// Where it is from, and how much there is.
    pub fn head(&self, origin: Origin, cost: Option<Facts>) -> Head {
        Head {
            origin,
            cost,
            objects: self.graph.len() as u64,
            bytes: self.graph.total_bytes(),
            references: self.graph.to.len() as u64,
            classes: self.counts().iter().filter(|(objects, _)| *objects > 0).count() as u64,
        }
    }

    /// The class that an object is of, or that it stands for.
    pub(super) fn title(&self, node: Node) -> String {
        let stands_for = self.stands_for.get(&node).and_then(|class| self.graph.classes.get(*class as usize));
        stands_for.map_or_else(|| self.graph.class_of(node).name.clone(), |class| format!("class {}", class.name))
    }

    fn counts(&self) -> Vec<(u64, u64)> {
        let mut counts = vec![(0, 0); self.graph.classes.len()];
        for (class, size) in self.graph.class.iter().zip(&self.graph.size) {
            if let Some((objects, bytes)) = counts.get_mut(*class as usize) {
                *objects += 1;
                *bytes += u64::from(*size) << 3;
            }
        }
        counts
    }

    /// Objects by powers of two of their bytes.
    fn sizes(&self) -> Vec<SizeRow> {
        let mut rows = std::collections::BTreeMap::<u64, SizeRow>::new();
        for size in &self.graph.size {
            let bytes = u64::from(*size) << 3;
            let to_bytes = bytes.next_power_of_two();
            let row = rows.entry(to_bytes).or_insert(SizeRow { to_bytes, ..SizeRow::default() });
            row.objects += 1;
            row.bytes += bytes;
        }
        rows.into_values().collect()
    }

    /// Bytes that objects of each class retain that none of the same class retains.
    fn retained_by_class(&self) -> Vec<u64> {
        self.dominators.retained_by(&self.graph.class, self.graph.classes.len())
    }

    /// Bytes that would be freed with all objects of a class.
    pub fn freed_with(&self, class: u32) -> u64 {
        self.freed_with_all(|node| self.graph.class.get(node as usize) == Some(&class))
    }

    /// Bytes that would be freed with all of these objects.
    pub(super) fn freed_with_all(&self, is_one: impl Fn(Node) -> bool) -> u64 {
        let mut reached = vec![false; self.graph.len()];
        let starts = self.graph.roots.iter().map(|root| root.node);
        let mut to_do: Vec<Node> =
            starts.chain(self.dominators.only_weak.iter().chain(&self.dominators.unreached).copied()).collect();
        let mut left = 0;
        while let Some(node) = to_do.pop() {
            if is_one(node) {
                continue;
            }
            let Some(place) = reached.get_mut(node as usize).filter(|place| !**place) else { continue };
            *place = true;
            left += self.graph.bytes(node);
            // Most references lead to what is known already: all objects of a class to that class.
            let is_new = |to: &Node| !reached.get(*to as usize).copied().unwrap_or(true);
            let references = self.graph.references(node).filter(|(_, label)| !label.is_weak()).map(|(to, _)| to);
            to_do.extend(references.chain(self.graph.class_object(node)).filter(is_new));
        }
        self.graph.total_bytes() - left
    }

    /// How many rows may have exact sizes.
    pub(super) fn most_exact(&self) -> usize {
        EXACT_STEPS / (self.graph.len() * 2 + self.graph.to.len()).max(1)
    }

    fn by_class(&self, rows: usize) -> Vec<ClassRow> {
        let counts = self.counts();
        let retained = self.retained_by_class();
        let mut classes: Vec<usize> = (0..counts.len()).filter(|class| counts[*class].0 > 0).collect();
        classes.sort_by_key(|class| (std::cmp::Reverse(retained[*class]), *class));
        classes.truncate(rows);
        let exact = self.most_exact();
        let objects = self.objects_of(&classes);
        let row = |(at, class): (usize, usize)| {
            let is_exact = at < exact;
            // What a single object retains is exact as it is.
            let is_asked = is_exact && counts[class].0 > 1;
            let number = u32::try_from(class).unwrap_or(0);
            let objects = objects.get(&class).map_or(&[][..], Vec::as_slice);
            ClassRow {
                class: self.graph.classes[class].name.clone(),
                objects: counts[class].0,
                bytes: counts[class].1,
                retained_bytes: if is_asked { self.freed_with(number) } else { retained[class] },
                retained_exact: is_exact,
                held_by: self.holders(objects),
                merged_path: self.merged(objects),
            }
        };
        let mut rows: Vec<ClassRow> = classes.into_iter().enumerate().map(row).collect();
        // They were chosen by what is known at once of all classes.
        rows.sort_by_key(|row| std::cmp::Reverse(row.retained_bytes));
        rows
    }

    fn objects_of(&self, classes: &[usize]) -> HashMap<usize, Vec<Node>> {
        let mut objects: HashMap<usize, Vec<Node>> = classes.iter().map(|class| (*class, Vec::new())).collect();
        for (node, class) in (0..).zip(&self.graph.class) {
            if let Some(of) = objects.get_mut(&(*class as usize)) {
                of.push(node);
            }
        }
        objects
    }

    pub(super) fn object(&self, node: Node) -> ObjectRow {
        ObjectRow {
            object: node,
            class: self.title(node),
            length: self.graph.length(node),
            bytes: self.graph.bytes(node),
            retained_bytes: self.dominators.retained(node),
            path: self.path(node),
        }
    }

    fn biggest(&self, rows: usize) -> Vec<ObjectRow> {
        // Links of a list, and parts of a tree, are in what the first of them retains.
        let class = |node: Node| self.graph.class[node as usize];
        let tops = self.dominators.top_down();
        let tops = tops.filter(|(node, above)| above.is_none_or(|above| class(above) != class(*node)));
        let mut nodes: Vec<Node> = tops.map(|(node, _)| node).collect();
        let key = |node: &Node| (std::cmp::Reverse(self.dominators.retained(*node)), *node);
        if nodes.len() > rows {
            nodes.select_nth_unstable_by_key(rows, key);
            nodes.truncate(rows);
        }
        nodes.sort_by_key(key);
        nodes.into_iter().map(|node| self.object(node)).collect()
    }

    fn accumulations(&self, rows: usize) -> Vec<Accumulation> {
        let count = self.graph.len();
        let (mut holds, mut largest) = (vec![0_u32; count], vec![0_u64; count]);
        for (node, above) in self.dominators.top_down() {
            if let Some(above) = above {
                holds[above as usize] += 1;
                largest[above as usize] = largest[above as usize].max(self.dominators.retained(node));
            }
        }
        let large = self.graph.total_bytes() / 1000 * LARGE_PERMILLE;
        let mut points: Vec<Node> = (0..)
            .zip(holds.iter().zip(&largest))
            .filter(|(node, (holds, largest))| {
                let retained = self.dominators.retained(*node);
                **holds >= MANY && retained >= large && **largest * 100 < retained * PART_PERCENT
            })
            .map(|(node, _)| node)
            .collect();
        points.sort_by_key(|node| (std::cmp::Reverse(self.dominators.retained(*node)), *node));
        points.truncate(rows);
        let mut by_class: HashMap<Node, HashMap<u32, u64>> =
            points.iter().map(|node| (*node, HashMap::new())).collect();
        for (node, above) in self.dominators.top_down() {
            if let Some(classes) = above.and_then(|above| by_class.get_mut(&above)) {
                *classes.entry(self.graph.class[node as usize]).or_default() += 1;
            }
        }
        let row = |node: Node| {
            let classes = by_class.get(&node).into_iter().flatten();
            let name = |class: u32| {
                self.graph.classes.get(class as usize).map_or_else(String::new, |class| class.name.clone())
            };
            let mut holds_by_class: Vec<Holder> =
                classes.map(|(class, objects)| Holder { by: name(*class), objects: *objects }).collect();
            holds_by_class.sort_by(|one, other| other.objects.cmp(&one.objects).then_with(|| one.by.cmp(&other.by)));
            holds_by_class.truncate(HOLDERS);
            Accumulation { object: self.object(node), holds: u64::from(holds[node as usize]), holds_by_class }
        };
        points.into_iter().map(row).collect()
    }

    fn roots(&self) -> Vec<RootRow> {
        let mut rows: HashMap<Option<RootKind>, (u64, u64)> = HashMap::new();
        for kind in RootKind::ALL {
            rows.insert(Some(kind), (0, 0));
        }
        for (node, above) in self.dominators.top_down() {
            let kind = self.paths.root(node).map(|root| root.kind).or_else(|| {
                let is_in = |list: &[Node]| list.binary_search(&node).is_ok();
                is_in(&self.dominators.unreached)
                    .then_some(RootKind::Unreached)
                    .or_else(|| self.dominators.is_only_weak(node).then_some(RootKind::OnlyWeak))
            });
            if kind.is_none() && above.is_some() {
                continue;
            }
            let (objects, retained) = rows.entry(kind).or_default();
            *objects += 1;
            if above.is_none() {
                *retained += self.dominators.retained(node);
            }
        }
        let mut rows: Vec<RootRow> = rows
            .into_iter()
            .filter(|(_, (objects, _))| *objects > 0)
            .map(|(kind, (objects, retained_bytes))| RootRow { kind, objects, retained_bytes })
            .collect();
        rows.sort_by_key(|row| (std::cmp::Reverse(row.retained_bytes), row.kind));
        rows
    }
}

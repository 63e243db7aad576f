//! What a snapshot says: how much there is of what, what holds most, and what holds that.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::{
    dominators::Dominators,
    facts::Facts,
    graph::{Graph, NOBODY, Node, Root, RootKind, Via},
    paths::{Path, Paths, Step},
};

/// Steps of a path that are told: those nearest to the root, and those nearest to the object.
const MAX_STEPS: usize = 32;
/// Steps of a merged path.
const MAX_MERGED: usize = 12;
/// Ways in which objects of a class are held, of which each row has so many.
const HOLDERS: usize = 3;
/// What exact sizes may cost, in objects and references that are looked at.
const EXACT_STEPS: usize = 60_000_000;
/// An object is an accumulation point where none of what it holds has more than this share of what it holds, in percent.
const PART_PERCENT: u64 = 50;
/// It holds so many objects directly, or more, and this share of all bytes, in thousandths.
const MANY: u32 = 100;
const LARGE_PERMILLE: u64 = 5;

/// Where a snapshot is from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// Process id; 0 where it is not known.
    pub pid: u32,
    /// What ran.
    pub command: String,
    /// Version of the JVM.
    pub jvm: String,
    /// Its collector.
    pub collector: String,
    /// When, in milliseconds since 1970; 0 where it is not known.
    pub time_ms: u64,
    /// The file, for dumps.
    pub file: String,
}

/// What stands above all answers.
#[derive(Clone, Debug, Serialize)]
pub struct Head {
    /// Where it is from.
    pub origin: Origin,
    /// What it cost; absent of dumps that others wrote.
    pub cost: Option<Facts>,
    /// Objects.
    pub objects: u64,
    /// Their bytes.
    pub bytes: u64,
    /// References that are not null.
    pub references: u64,
    /// Classes of which there are objects.
    pub classes: u64,
}

/// The answers.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// Where it is from, and how much there is.
    #[serde(flatten)]
    pub head: Head,
    /// Roots by kind.
    pub roots: Vec<RootRow>,
    /// Classes, those first whose objects retain most.
    pub by_class: Vec<ClassRow>,
    /// Objects that retain most.
    pub biggest: Vec<ObjectRow>,
    /// Objects that hold many small ones.
    pub accumulations: Vec<Accumulation>,
}

/// Roots of a kind.
#[derive(Clone, Debug, Serialize)]
pub struct RootRow {
    /// The kind; absent for what several roots hold together.
    pub kind: Option<RootKind>,
    /// Objects that are such roots, each counted once, for its first kind.
    pub objects: u64,
    /// Bytes that only they keep alive.
    pub retained_bytes: u64,
}

/// A class.
#[derive(Clone, Debug, Serialize)]
pub struct ClassRow {
    /// Its name.
    pub class: String,
    /// Objects.
    pub objects: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Bytes that would be freed with all of them.
    pub retained_bytes: u64,
    /// Whether that is exact; else it is at least so much.
    pub retained_exact: bool,
    /// How they are held, on the shortest way from a root.
    pub held_by: Vec<Holder>,
    /// The shortest ways, merged: from the object towards the root, where most of them go.
    pub merged_path: Vec<Merged>,
}

/// How objects are held.
#[derive(Clone, Debug, Serialize)]
pub struct Holder {
    /// `class.field`, or what kind of root.
    pub by: String,
    /// How many.
    pub objects: u64,
}

/// A step of a merged path.
#[derive(Clone, Debug, Serialize)]
pub struct Merged {
    /// `class.field`.
    pub by: String,
    /// Objects that refer so.
    pub objects: u64,
}

/// An object.
#[derive(Clone, Debug, Serialize)]
pub struct ObjectRow {
    /// Its number in this snapshot.
    pub object: u32,
    /// Its class; for an object that stands for a class, that.
    pub class: String,
    /// Length of an array.
    pub length: Option<u32>,
    /// Its bytes.
    pub bytes: u64,
    /// Bytes that would be freed with it.
    pub retained_bytes: u64,
    /// The shortest way from a root.
    pub path: PathRow,
}

/// An object that holds many small ones.
#[derive(Clone, Debug, Serialize)]
pub struct Accumulation {
    /// The object.
    #[serde(flatten)]
    pub object: ObjectRow,
    /// How many objects it holds directly.
    pub holds: u64,
    /// Their classes.
    pub holds_by_class: Vec<Holder>,
}

/// A way from a root.
#[derive(Clone, Debug, Serialize)]
pub struct PathRow {
    /// Why the first object lives.
    pub root: RootText,
    /// From there to the object: each step that is taken several times in a row once.
    pub steps: Vec<StepRow>,
    /// Steps between the first and the last ones that are not told.
    pub left_out: u64,
}

/// A root in words.
#[derive(Clone, Debug, Serialize)]
pub struct RootText {
    /// Its kind.
    pub kind: RootKind,
    /// The thread.
    pub thread: Option<String>,
    /// The method of the frame.
    pub method: Option<String>,
    /// The class of the object.
    pub class: String,
}

/// A step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StepRow {
    /// Class of the object that refers; of static fields, the class that has them.
    pub class: String,
    /// Field, `[index]`, or what else it is: `<class>`, `<loader>`, ...
    pub by: String,
    /// How often this step is taken in a row.
    pub times: u64,
}

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

    /// The answers, with so many rows in each table.
    pub fn summary(&self, origin: Origin, cost: Option<Facts>, rows: usize) -> Summary {
        let by_class = self.by_class(rows);
        Summary {
            head: self.head(origin, cost),
            roots: self.roots(),
            by_class,
            biggest: self.biggest(rows),
            accumulations: self.accumulations(rows),
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
            to_do.extend(self.graph.references(node).filter(|(_, label)| !label.is_weak()).map(|(to, _)| to));
            to_do.extend(self.graph.class_object(node));
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
            let number = u32::try_from(class).unwrap_or(0);
            let objects = objects.get(&class).map_or(&[][..], Vec::as_slice);
            ClassRow {
                class: self.graph.classes[class].name.clone(),
                objects: counts[class].0,
                bytes: counts[class].1,
                retained_bytes: if is_exact { self.freed_with(number) } else { retained[class] },
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

    /// `class.field` of a step.
    fn by(&self, step: Step, exactly: bool) -> StepRow {
        let name = |number| self.graph.name(number).to_owned();
        let class = self.graph.class_of(step.from).name.clone();
        let by = match step.label.via() {
            Via::Field(number) | Via::Referent(number) => name(number),
            Via::Element(index) if exactly => format!("[{index}]"),
            Via::Element(_) => "[]".to_owned(),
            Via::Static(number) => {
                let of = self.title(step.from);
                let class = of.strip_prefix("class ").unwrap_or(&of).to_owned();
                return StepRow { class, by: name(number), times: 1 };
            }
            Via::Loader => "<loader>".to_owned(),
            Via::Constant => "<constant>".to_owned(),
            Via::Super => "<superclass>".to_owned(),
            Via::Class => "<class>".to_owned(),
            Via::Other => "<other>".to_owned(),
        };
        let class = if matches!(step.label.via(), Via::Loader | Via::Constant | Via::Super | Via::Other) {
            self.title(step.from)
        } else {
            class
        };
        StepRow { class, by, times: 1 }
    }

    fn short(&self, step: Step) -> String {
        let StepRow { class, by, .. } = self.by(step, false);
        let joint = if by.starts_with(['[', '<']) { "" } else { "." };
        // The brackets of an array's class are those of its elements.
        let class = if by == "[]" { class.strip_suffix("[]").unwrap_or(&class) } else { &class };
        format!("{class}{joint}{by}")
    }

    /// How objects are held, those ways first that most are held by.
    fn holders(&self, objects: &[Node]) -> Vec<Holder> {
        let mut ways: HashMap<(u32, u32), (u64, Node)> = HashMap::new();
        for node in objects {
            let step = self.paths.step(&self.graph, *node);
            let key = step.map_or((u32::MAX, 0), |step| {
                let class = self.graph.class[step.from as usize];
                match step.label.via() {
                    Via::Element(_) => (class, super::graph::Label::new(Via::Element(0)).word()),
                    Via::Static(_) => (class | 1 << 31, step.label.word()),
                    _ => (class, step.label.word()),
                }
            });
            ways.entry(key).or_insert((0, *node)).0 += 1;
        }
        let mut holders: Vec<Holder> = ways
            .into_values()
            .map(|(objects, node)| {
                let by = self.paths.step(&self.graph, node).map(|step| self.short(step));
                let by = by.unwrap_or_else(|| self.root_text(&self.paths.to(&self.graph, node)).kind.text().to_owned());
                Holder { by, objects }
            })
            .collect();
        holders.sort_by(|one, other| other.objects.cmp(&one.objects).then_with(|| one.by.cmp(&other.by)));
        holders.truncate(HOLDERS);
        holders
    }

    /// The shortest ways of objects, merged step by step, where most of them go.
    fn merged(&self, objects: &[Node]) -> Vec<Merged> {
        let mut merged: Vec<Merged> = Vec::new();
        let mut seen = vec![0_u64; self.graph.len().div_ceil(64)];
        let mut is_new = |node: Node| {
            let (at, bit) = (node as usize / 64, 1 << (node % 64));
            seen.get_mut(at).is_some_and(|word| std::mem::replace(word, *word | bit) & bit == 0)
        };
        let mut row = objects.to_vec();
        while merged.len() < MAX_MERGED {
            let mut ways: HashMap<String, Vec<Node>> = HashMap::new();
            // Names are made once for each kind of step.
            let mut texts: HashMap<(u32, u32), String> = HashMap::new();
            for node in &row {
                let Some(step) = self.paths.step(&self.graph, *node).filter(|step| is_new(step.from)) else { continue };
                let label = if let Via::Element(_) = step.label.via() { 1 << 28 } else { step.label.word() };
                let of = if let Via::Static(_) = step.label.via() {
                    step.from | 1 << 31
                } else {
                    self.graph.class[step.from as usize]
                };
                let text = texts.entry((of, label)).or_insert_with(|| self.short(step));
                if let Some(way) = ways.get_mut(text.as_str()) {
                    way.push(step.from);
                } else {
                    ways.insert(text.clone(), vec![step.from]);
                }
            }
            let most = ways.into_iter().max_by(|one, other| one.1.len().cmp(&other.1.len()).then(other.0.cmp(&one.0)));
            let Some((by, from)) = most else { break };
            match merged.last_mut().filter(|last| last.by == by) {
                // A list, or a tree: its links are one step.
                Some(last) => last.objects += from.len() as u64,
                None => merged.push(Merged { by, objects: from.len() as u64 }),
            }
            row = from;
        }
        merged
    }

    fn root_text(&self, path: &Path) -> RootText {
        let none = Root { node: path.start, kind: RootKind::Unreached, thread: 0, frame: 0, method: 0 };
        let mut root = path.root.unwrap_or(none);
        if path.root.is_none() && self.dominators.unreached.binary_search(&path.start).is_err() {
            root.kind = RootKind::OnlyWeak;
        }
        let thread = (root.thread != 0).then(|| {
            self.graph.threads.get(&root.thread).cloned().unwrap_or_else(|| format!("number {}", root.thread))
        });
        let method = self.graph.methods.get(&root.method).cloned();
        RootText { kind: root.kind, thread, method, class: self.title(path.start) }
    }

    /// A path in words.
    pub fn path(&self, node: Node) -> PathRow {
        self.path_of(&self.paths.to(&self.graph, node))
    }

    /// The same of one that was found otherwise.
    pub(super) fn path_of(&self, path: &Path) -> PathRow {
        let mut steps: Vec<StepRow> = Vec::new();
        for step in &path.steps {
            let row = self.by(*step, true);
            match steps.last_mut().filter(|last| last.class == row.class && last.by == row.by) {
                Some(last) => last.times += 1,
                None => steps.push(row),
            }
        }
        let left_out = steps.len().saturating_sub(MAX_STEPS);
        if left_out > 0 {
            steps.drain(MAX_STEPS / 2..MAX_STEPS / 2 + left_out);
        }
        PathRow { root: self.root_text(path), steps, left_out: left_out as u64 }
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

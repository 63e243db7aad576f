//! Why objects live: ways from a root, of one object and of all objects of a class.

use std::collections::HashMap;

use super::{Analysis, HOLDERS, Holder, Merged, PathRow, RootText, StepRow};
use crate::heap::{
    graph::{Label, Node, Root, RootKind, Via},
    paths::{Path, Step},
};

/// Steps of a path that are told: those nearest to the root, and those nearest to the object.
const MAX_STEPS: usize = 32;
/// Steps of a merged path.
const MAX_MERGED: usize = 12;

/// Objects of a way, each with the bytes of what the way leads to, and these bytes in all.
#[derive(Default)]
struct Weighed {
    nodes: Vec<(Node, u64)>,
    bytes: u64,
}

impl Weighed {
    fn push(&mut self, node: Node, bytes: u64) {
        self.nodes.push((node, bytes));
        self.bytes = self.bytes.saturating_add(bytes);
    }
}

impl Analysis {
    /// Class and field of a step.
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

    /// What steps have in common that have one text.
    pub(in crate::heap) fn kind_of(&self, step: Step) -> (u32, u32) {
        let class = self.graph.class[step.from as usize];
        match step.label.via() {
            Via::Element(_) => (class, Label::new(Via::Element(0)).word()),
            // These are told by what refers so, and not by its class: that of all classes is one.
            Via::Static(_) | Via::Loader | Via::Constant | Via::Super | Via::Other => {
                (step.from | 1 << 31, step.label.word())
            }
            Via::Field(_) | Via::Referent(_) | Via::Class => (class, step.label.word()),
        }
    }

    /// `class.field` of a step.
    pub(in crate::heap) fn short(&self, step: Step) -> String {
        let StepRow { class, by, .. } = self.by(step, false);
        let joint = if by.starts_with(['[', '<']) { "" } else { "." };
        // The brackets of an array's class are those of its elements.
        let class = if by == "[]" { class.strip_suffix("[]").unwrap_or(&class) } else { &class };
        format!("{class}{joint}{by}")
    }

    /// How objects are held, those ways first that most are held by.
    pub(super) fn holders(&self, objects: &[Node]) -> Vec<Holder> {
        let mut ways: HashMap<(u32, u32), (u64, Node)> = HashMap::new();
        for node in objects {
            let step = self.paths.step(&self.graph, *node);
            let key = step.map_or((u32::MAX, 0), |step| self.kind_of(step));
            ways.entry(key).or_insert((0, *node)).0 += 1;
        }
        let mut holders: Vec<Holder> = ways
            .into_values()
            .map(|(objects, node)| {
                let by = self.paths.step(&self.graph, node).map(|step| self.short(step));
                let by = by.unwrap_or_else(|| self.root_kind(node).text().to_owned());
                Holder { by, objects }
            })
            .collect();
        holders.sort_by(|one, other| other.objects.cmp(&one.objects).then_with(|| one.by.cmp(&other.by)));
        holders.truncate(HOLDERS);
        holders
    }

    /// The shortest ways of objects, merged step by step, where most of what they retain goes: one large object says more than many
    /// small ones.
    pub(super) fn merged(&self, objects: &[Node]) -> Vec<Merged> {
        let mut merged: Vec<Merged> = Vec::new();
        let mut seen = vec![0_u64; self.graph.len().div_ceil(64)];
        let mut row: Vec<(Node, u64)> = objects.iter().map(|node| (*node, self.dominators.retained(*node))).collect();
        while merged.len() < MAX_MERGED && !row.is_empty() {
            for (node, _) in &row {
                if let Some(word) = seen.get_mut(*node as usize / 64) {
                    *word |= 1 << (node % 64);
                }
            }
            let (ways, ends) = self.a_step(&row, &seen);
            let most =
                ways.into_iter().max_by(|one, other| one.1.bytes.cmp(&other.1.bytes).then_with(|| other.0.cmp(&one.0)));
            let end = ends.nodes.first().filter(|_| most.as_ref().is_none_or(|(_, from)| from.bytes < ends.bytes));
            if let Some((node, _)) = end {
                let by = self.root_kind(*node).text().to_owned();
                merged.push(Merged { by, objects: ends.nodes.len() as u64 });
                break;
            }
            let Some((by, Weighed { nodes: mut from, .. })) = most else { break };
            // What several objects of a row are held by is one object, and has the bytes of all.
            from.sort_unstable_by_key(|(node, _)| *node);
            from.dedup_by(|next, kept| {
                let is_same = next.0 == kept.0;
                kept.1 = kept.1.saturating_add(if is_same { next.1 } else { 0 });
                is_same
            });
            match merged.last_mut().filter(|last| last.by == by) {
                // A list, or a tree: its links are one step.
                Some(last) => last.objects += from.len() as u64,
                None => merged.push(Merged { by, objects: from.len() as u64 }),
            }
            row = from;
        }
        merged
    }

    /// The next step of each object's way, by its text: what refers so, with the bytes of what it refers to. Objects that roots
    /// refer to are at their ends, and those that were on a way before are left out.
    fn a_step(&self, row: &[(Node, u64)], seen: &[u64]) -> (HashMap<String, Weighed>, Weighed) {
        let is_seen = |node: Node| seen.get(node as usize / 64).is_some_and(|word| word >> (node % 64) & 1 == 1);
        let (mut ways, mut ends): (HashMap<String, Weighed>, _) = (HashMap::new(), Weighed::default());
        // Names are made once for each kind of step.
        let mut texts: HashMap<(u32, u32), String> = HashMap::new();
        for (node, bytes) in row {
            let Some(step) = self.paths.step(&self.graph, *node) else {
                ends.push(*node, *bytes);
                continue;
            };
            if is_seen(step.from) {
                continue;
            }
            let text = texts.entry(self.kind_of(step)).or_insert_with(|| self.short(step));
            if let Some(way) = ways.get_mut(text.as_str()) {
                way.push(step.from, *bytes);
            } else {
                ways.entry(text.clone()).or_default().push(step.from, *bytes);
            }
        }
        (ways, ends)
    }

    /// The kind of the root that the shortest way to an object begins with.
    pub(in crate::heap) fn root_kind(&self, node: Node) -> RootKind {
        self.root_text(&self.paths.to(&self.graph, node)).kind
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
    pub(in crate::heap) fn path_of(&self, path: &Path) -> PathRow {
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
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::heap::sample::Planter;

    /// Many small lists of a registry, and a large one of a method: that one is what there is to know of lists.
    #[test]
    fn the_way_of_most_bytes_is_told_and_not_that_of_most_objects() {
        let mut plant = Planter::new();
        let classes = plant.class("java.lang.Class");
        let [list, array] = ["java.util.ArrayList", "byte[]"].map(|name| plant.class(name));
        let registry = plant.loaded("com.shop.Registry", classes).1;
        plant.root(registry, RootKind::SystemClass);
        for _ in 0..5 {
            let (of, content) = (plant.object(list, 24), plant.object(array, 64));
            plant.statics(registry, "small", of);
            plant.field(of, "content", content);
        }
        let (large, content) = (plant.object(list, 24), plant.object(array, 4000));
        plant.root(large, RootKind::StackLocal);
        plant.field(large, "content", content);
        let analysis = Analysis::of(plant.builder.finish());
        let way = |class: u32| -> Vec<(String, u64)> {
            let is_one = |node: &Node| analysis.graph.class[*node as usize] == class;
            let objects: Vec<Node> = (0..).take(analysis.graph.len()).filter(is_one).collect();
            analysis.merged(&objects).into_iter().map(|step| (step.by, step.objects)).collect()
        };
        assert_eq!(way(list), [("a local variable".to_owned(), 1)]);
        // All arrays are held alike, and then most of their bytes by the large list.
        assert_eq!(way(array), [("java.util.ArrayList.content".to_owned(), 6), ("a local variable".to_owned(), 1)]);
    }

    /// Singletons are all in a field of one name, and it was the first class that had them all.
    #[test]
    fn equal_names_of_two_classes_are_two_holders() {
        let mut plant = Planter::new();
        let classes = plant.class("java.lang.Class");
        let list = plant.class("java.util.ArrayList");
        for name in ["com.shop.Cart", "com.shop.Order"] {
            let holder = plant.loaded(name, classes).1;
            plant.root(holder, RootKind::SystemClass);
            let of = plant.object(list, 24);
            plant.statics(holder, "INSTANCE", of);
        }
        let analysis = Analysis::of(plant.builder.finish());
        let is_list = |node: &Node| analysis.graph.class[*node as usize] == list;
        let lists: Vec<Node> = (0..).take(analysis.graph.len()).filter(is_list).collect();
        let holders = analysis.holders(&lists);
        let holders: Vec<_> = holders.iter().map(|holder| (holder.by.as_str(), holder.objects)).collect();
        assert_eq!(holders, [("com.shop.Cart.INSTANCE", 1), ("com.shop.Order.INSTANCE", 1)]);
    }
}

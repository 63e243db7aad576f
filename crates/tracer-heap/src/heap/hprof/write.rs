//! Writes a snapshot as a dump of the JVM's own form, for the tools that read those.
//!
//! A snapshot has no values: what is no reference is written as zeros under a name that says so, as many bytes as make the objects as large as
//! they are. It does not say which class of a chain has a field: that is the uppermost one whose objects were seen to have it.

mod record;

use std::{
    collections::{BTreeMap, HashMap},
    io::{self, Write},
};

use self::record::{Record, zeros};
use super::{ARRAY_HEADER, HEADER, MAGIC, NO_VALUES, NOT_WHOLE, REFERENCE, records};
use crate::{
    heap::graph::{Class, Graph, Label, NOBODY, Node, RootKind, Via},
    text::class_name as name,
};

/// The name of what the snapshot has no value of.
pub const UNKNOWN_VALUE: &str = "(value not in the snapshot)";
/// Most fields of a class, of each kind.
const MAX_FIELDS: usize = 30_000;
/// Most bytes of an array; the JVM cuts longer ones as well.
const MAX_ARRAY: u64 = 1 << 31;
/// Most bytes that lie unused at the end of an object.
const UNUSED: u64 = 7;
/// Bytes of an identifier.
const ID: u64 = 8;
const LONG: u8 = 11;
const BYTE: u8 = 8;

/// A text, by its place among all.
type Text = u32;

/// Which fields objects of a class have.
#[derive(Clone, Debug, Default)]
struct Layout {
    /// Names of references that the class itself adds; a name can stand there several times.
    references: Vec<Text>,
    /// Bytes of what is no reference that it adds.
    other_bytes: u64,
    /// Bytes of an object.
    size: u64,
}

/// What is known before anything is written.
struct Plan<'a> {
    graph: &'a Graph,
    texts: Vec<String>,
    text_of: HashMap<String, Text>,
    layouts: Vec<Layout>,
    /// Which class an object stands for.
    stands_for: HashMap<Node, u32>,
    /// References that have no place in a dump.
    left_out: u64,
}

/// Writes it, and says how many references had no place in it. Why a snapshot is not whole is told in a text that nothing refers to.
pub fn write(graph: &Graph, time_ms: u64, not_whole: Option<&str>, out: &mut dyn Write) -> io::Result<u64> {
    let mut plan = Plan::of(graph);
    out.write_all(MAGIC)?;
    out.write_all(b"2\0")?;
    out.write_all(&8_u32.to_be_bytes())?;
    out.write_all(&time_ms.to_be_bytes())?;
    let names: Vec<Text> = graph.classes.iter().map(|class| plan.text(&internal(&class.name))).collect();
    for (number, text) in (1..).zip(&plan.texts) {
        let mut record = Record::default();
        record.eight(number).bytes(text.as_bytes());
        record.write(0x01, out)?;
    }
    for (class, (number, name)) in (0..).zip((1..).zip(&names)) {
        let mut record = Record::default();
        record.four(number).eight(plan.class_id(class)).four(1).eight(u64::from(*name) + 1);
        record.write(0x02, out)?;
    }
    // One stack without frames, for all that wants one.
    let mut record = Record::default();
    record.four(1).four(0).four(0);
    record.write(0x05, out)?;
    let mut segment = Record::default();
    for class in 0..u32::try_from(graph.classes.len()).unwrap_or(NOBODY) {
        plan.class(class, &mut segment);
        segment.write_if_long(out)?;
    }
    for node in 0..u32::try_from(graph.len()).unwrap_or(NOBODY) {
        if !plan.stands_for.contains_key(&node) {
            plan.object(node, &mut segment, out)?;
            segment.write_if_long(out)?;
        }
    }
    plan.roots(&mut segment);
    segment.write(0x1c, out)?;
    let left_out = plan.left_out;
    let without = || format!("it was written without {left_out} references that have no place in a dump");
    if let Some(reason) = not_whole.map(str::to_owned).or_else(|| (left_out > 0).then(without)) {
        let mut record = Record::default();
        record.eight(plan.texts.len() as u64 + 1).bytes(NOT_WHOLE.as_bytes()).bytes(reason.as_bytes());
        record.write(0x01, out)?;
    }
    let mut record = Record::default();
    record.eight(plan.texts.len() as u64 + 2).bytes(NO_VALUES.as_bytes());
    record.write(0x01, out)?;
    Record::default().write(0x2c, out)?;
    Ok(left_out)
}

/// How many bytes the elements of arrays take in a dump: most of it.
pub fn array_bytes(graph: &Graph) -> u64 {
    let bytes = |(node, _): &(Node, u32)| {
        let (kind, count) = elements(graph, *node)?;
        Some(count * kind.map_or(ID, |kind| records::primitive(kind).1))
    };
    graph.lengths.iter().filter_map(bytes).sum()
}

/// The elements of an object, where it is an array: their type, if they are primitive, and how many there are.
fn elements(graph: &Graph, node: Node) -> Option<(Option<u8>, u64)> {
    let length = u64::from(graph.length(node)?);
    let kind = primitive(graph.class_of(node).name.strip_suffix("[]")?);
    let (own, written) = kind.map_or((REFERENCE, ID), |kind| (records::primitive(kind).1, records::primitive(kind).1));
    // Anybody can write a length: an array is not longer than its object.
    let most = (graph.bytes(node).saturating_sub(ARRAY_HEADER) / own).min(MAX_ARRAY / written);
    Some((kind, length.min(most)))
}

/// As dumps write classes: `java/lang/String`, `[Ljava/lang/String;`, `[B`.
fn internal(name: &str) -> String {
    let element = name.trim_end_matches("[]");
    let dimensions = (name.len() - element.len()) / 2;
    // A hidden class has its address behind another letter, which is part of its name.
    let named = name::without_address(element);
    let address = element.get(named.len() + 1..).map_or_else(String::new, |address| format!("+{address}"));
    let inner = named.replace('.', "/") + &address;
    match (dimensions, primitive(element)) {
        (0, _) => inner,
        (_, Some(kind)) => format!("{}{}", "[".repeat(dimensions), char::from(records::primitive(kind).0)),
        (_, None) => format!("{}L{inner};", "[".repeat(dimensions)),
    }
}

/// The type of a primitive's name.
fn primitive(name: &str) -> Option<u8> {
    const NAMES: [&str; 8] = ["boolean", "char", "float", "double", "byte", "short", "int", "long"];
    (4..).zip(NAMES).find(|(_, one)| *one == name).map(|(kind, _)| kind)
}

const fn id(node: Node) -> u64 {
    (node as u64 + 1) * ID
}

impl<'a> Plan<'a> {
    fn of(graph: &'a Graph) -> Self {
        let mut stands_for = HashMap::new();
        for (class, number) in graph.classes.iter().zip(0..).filter(|(class, _)| class.object != NOBODY) {
            stands_for.entry(class.object).or_insert(number);
        }
        let layouts = vec![Layout::default(); graph.classes.len()];
        let (texts, text_of) = (Vec::new(), HashMap::new());
        let mut plan = Self { graph, texts, text_of, layouts, stands_for, left_out: 0 };
        // The first one, so that nothing else has its number.
        plan.text(UNKNOWN_VALUE);
        let seen = plan.seen();
        plan.lay_out(&seen);
        plan
    }

    fn text(&mut self, text: &str) -> Text {
        if let Some(number) = self.text_of.get(text) {
            return *number;
        }
        let number = u32::try_from(self.texts.len()).unwrap_or(u32::MAX);
        self.texts.push(text.to_owned());
        self.text_of.insert(text.to_owned(), number);
        number
    }

    /// The name of a reference.
    fn name(&mut self, label: Label) -> Text {
        let graph = self.graph;
        match label.via() {
            Via::Field(name) | Via::Static(name) | Via::Referent(name) => self.text(graph.name(name)),
            Via::Element(_) => self.text("[]"),
            Via::Loader => self.text("<loader>"),
            Via::Constant => self.text("<constant>"),
            Via::Super => self.text("<superclass>"),
            Via::Class => self.text("<class>"),
            Via::Other => self.text("<other>"),
        }
    }

    /// The object that stands for a class, or a number that none has.
    fn class_id(&self, class: u32) -> u64 {
        let object = self.graph.classes.get(class as usize).map_or(NOBODY, |class| class.object);
        if self.stands_for.get(&object) == Some(&class) {
            id(object)
        } else {
            (self.graph.len() as u64 + 1 + u64::from(class)) * ID
        }
    }

    /// A class and those above it.
    fn chain(&self, class: u32) -> Vec<u32> {
        let mut chain = Vec::new();
        let mut next = class;
        while let Some(known) =
            self.graph.classes.get(next as usize).filter(|_| !chain.contains(&next) && chain.len() < 1000)
        {
            chain.push(next);
            next = known.above;
        }
        chain
    }

    /// Which references objects of each class were seen to have, and how many of a name at once.
    fn seen(&mut self) -> Vec<BTreeMap<Text, u32>> {
        let mut seen: Vec<BTreeMap<Text, u32>> = vec![BTreeMap::new(); self.graph.classes.len()];
        let reference = self.graph.classes.iter().position(|class| class.name == "java.lang.ref.Reference");
        let graph = self.graph;
        for node in 0..u32::try_from(graph.len()).unwrap_or(NOBODY) {
            if self.stands_for.contains_key(&node) {
                // Static fields: their names are wanted before the first class.
                for (_, label) in graph.references(node) {
                    self.name(label);
                }
            }
            if self.stands_for.contains_key(&node) || elements(self.graph, node).is_some() {
                continue;
            }
            let class = graph.class[node as usize];
            self.layouts[class as usize].size = graph.bytes(node);
            let mut here: BTreeMap<Text, u32> = BTreeMap::new();
            for (_, label) in graph.references(node) {
                let name = self.name(label);
                *here.entry(name).or_default() += 1;
                // Readers know what collectors may cut by the class that has the field.
                if let Some(reference) = reference.filter(|_| label.is_weak()) {
                    seen[reference].insert(name, 1);
                }
            }
            for (name, count) in here {
                let most = seen[class as usize].entry(name).or_default();
                *most = count.max(*most);
            }
        }
        seen
    }

    /// Gives each class the fields that those above it have not.
    fn lay_out(&mut self, seen: &[BTreeMap<Text, u32>]) {
        let mut is_done = vec![false; self.layouts.len()];
        for class in 0..u32::try_from(self.layouts.len()).unwrap_or(NOBODY) {
            let chain = self.chain(class);
            for at in (0..chain.len()).rev().filter(|at| !std::mem::replace(&mut is_done[chain[*at] as usize], true)) {
                let above: Vec<&Layout> = chain[at + 1..].iter().map(|class| &self.layouts[*class as usize]).collect();
                let mut references = Vec::new();
                for (name, count) in &seen[chain[at] as usize] {
                    let has = above.iter().flat_map(|layout| &layout.references).filter(|has| *has == name).count();
                    references.extend(std::iter::repeat_n(*name, (*count as usize).saturating_sub(has)));
                }
                references.truncate(MAX_FIELDS);
                let count = references.len() + above.iter().map(|layout| layout.references.len()).sum::<usize>();
                let taken =
                    HEADER + REFERENCE * count as u64 + above.iter().map(|layout| layout.other_bytes).sum::<u64>();
                let layout = &mut self.layouts[chain[at] as usize];
                // As few as make it so large: what lies unused at its end, a class below may use.
                layout.other_bytes = layout.size.saturating_sub(taken + UNUSED).min(MAX_FIELDS as u64);
                layout.references = references;
            }
        }
    }

    fn class(&mut self, class: u32, segment: &mut Record) {
        let Class { above, object, .. } = self.graph.classes[class as usize];
        let is_object = self.stands_for.get(&object) == Some(&class);
        let graph = self.graph;
        let (mut statics, mut constants, mut others, mut loader) = (Vec::new(), Vec::new(), Vec::new(), 0);
        for (to, label) in is_object.then(|| graph.references(object)).into_iter().flatten() {
            match label.via() {
                Via::Static(_) if statics.len() < MAX_FIELDS => statics.push((self.name(label), id(to))),
                Via::Loader if loader == 0 => loader = id(to),
                Via::Super => {}
                Via::Other if others.len() < 2 => others.push(id(to)),
                _ if constants.len() < MAX_FIELDS => constants.push(id(to)),
                _ => self.left_out += 1,
            }
        }
        let above = if above == class { 0 } else { self.class_id(above) };
        let Layout { references, other_bytes, size } = &self.layouts[class as usize];
        segment.one(0x20).eight(self.class_id(class)).four(1).eight(above).eight(loader);
        segment
            .eight(others.first().copied().unwrap_or(0))
            .eight(others.get(1).copied().unwrap_or(0))
            .eight(0)
            .eight(0);
        segment.four(u32::try_from(*size).unwrap_or(u32::MAX)).two(constants.len());
        for (index, to) in constants.iter().enumerate() {
            segment.two(index).one(records::OBJECT).eight(*to);
        }
        segment.two(statics.len());
        for (name, to) in statics {
            segment.eight(u64::from(name) + 1).one(records::OBJECT).eight(to);
        }
        let (longs, bytes) = (other_bytes / 8, other_bytes % 8);
        segment.two(references.len() + usize::try_from(longs + bytes).unwrap_or(0));
        for name in references {
            segment.eight(u64::from(*name) + 1).one(records::OBJECT);
        }
        for kind in std::iter::repeat_n(LONG, usize::try_from(longs).unwrap_or(0)).chain((0..bytes).map(|_| BYTE)) {
            segment.eight(1).one(kind);
        }
    }

    fn object(&mut self, node: Node, segment: &mut Record, out: &mut dyn Write) -> io::Result<()> {
        let class = self.class_id(self.graph.class[node as usize]);
        match elements(self.graph, node) {
            None => self.instance(node, class, segment),
            Some((Some(kind), count)) => {
                let mut head = Record::default();
                head.one(0x23).eight(id(node)).four(1).four(u32::try_from(count).unwrap_or(u32::MAX)).one(kind);
                self.left_out += self.graph.row(node).len() as u64;
                let length = count * records::primitive(kind).1;
                segment.array(&head, length, out, |out| zeros(length, out))?;
            }
            Some((None, count)) => {
                let mut head = Record::default();
                head.one(0x22).eight(id(node)).four(1).four(u32::try_from(count).unwrap_or(u32::MAX)).eight(class);
                let mut elements: Vec<(u64, u64)> = Vec::new();
                for (to, label) in self.graph.references(node) {
                    match label.via() {
                        Via::Element(index) if u64::from(index) < count => elements.push((index.into(), id(to))),
                        _ => self.left_out += 1,
                    }
                }
                elements.sort_by_key(|(index, _)| *index);
                let all = elements.len();
                elements.dedup_by_key(|(index, _)| *index);
                self.left_out += (all - elements.len()) as u64;
                segment.array(&head, count * ID, out, |out| {
                    let mut next = 0;
                    for (index, to) in elements {
                        zeros((index - next) * ID, out)?;
                        out.write_all(&to.to_be_bytes())?;
                        next = index + 1;
                    }
                    zeros((count - next) * ID, out)
                })?;
            }
        }
        Ok(())
    }

    fn instance(&mut self, node: Node, class: u64, segment: &mut Record) {
        let graph = self.graph;
        let mut values: BTreeMap<Text, Vec<u64>> = BTreeMap::new();
        for (to, label) in graph.references(node) {
            values.entry(self.name(label)).or_default().push(id(to));
        }
        let mut fields = Record::default();
        for of in self.chain(graph.class[node as usize]) {
            let Layout { references, other_bytes, .. } = &self.layouts[of as usize];
            for name in references {
                fields.eight(values.get_mut(name).and_then(Vec::pop).unwrap_or(0));
            }
            fields.0.resize(fields.0.len() + usize::try_from(*other_bytes).unwrap_or(0), 0);
        }
        self.left_out += values.values().map(|left| left.len() as u64).sum::<u64>();
        let length = u32::try_from(fields.0.len()).unwrap_or(u32::MAX);
        segment.one(0x21).eight(id(node)).four(1).eight(class).four(length).bytes(&fields.0);
    }

    fn roots(&self, segment: &mut Record) {
        // Threads are known by numbers from 1 on.
        let mut threads: HashMap<u64, u32> = HashMap::new();
        for root in &self.graph.roots {
            let next = u32::try_from(threads.len() + 1).unwrap_or(u32::MAX);
            let thread = *threads.entry(root.thread).or_insert(next);
            let (node, frame) = (id(root.node), root.frame.wrapping_sub(1));
            match root.kind {
                RootKind::JniGlobal => segment.one(0x01).eight(node).eight(0),
                RootKind::JniLocal => segment.one(0x02).eight(node).four(thread).four(frame),
                RootKind::StackLocal => segment.one(0x03).eight(node).four(thread).four(frame),
                RootKind::SystemClass => segment.one(0x05).eight(node),
                RootKind::Monitor => segment.one(0x07).eight(node),
                RootKind::Thread => segment.one(0x08).eight(node).four(thread).four(1),
                RootKind::Other | RootKind::OnlyWeak | RootKind::Unreached => segment.one(0xff).eight(node),
            };
        }
    }
}

#[cfg(test)]
pub(in crate::heap) mod tests;

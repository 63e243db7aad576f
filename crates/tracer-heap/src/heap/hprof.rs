//! Reads the JVM's own dumps (HPROF binary, `JAVA PROFILE 1.0.1` and `1.0.2`), in two passes: first what there is, then what refers to what.
//!
//! A dump names no sizes of objects, only their fields, and says nothing of headers and gaps. So sizes are computed as a JVM with compressed
//! references lays objects out, where the dump does not say more, and are an estimate. Anybody can write a dump: lengths are bounded by
//! what is there, and what does not fit is left out and counted. `write` makes dumps of snapshots.

use std::{
    collections::HashMap,
    fs::File,
    io::{self, BufReader, Read},
    path::Path,
};

use tracer_weave::content::{self, Content};

use super::{
    build::{Builder, java_name},
    contents::is_box,
    graph::{Graph, Node, Root, Via},
};

mod records;
mod values;
pub mod write;

use records::{Class, Item, Records};
use values::Values;

/// What a dump begins with.
pub const MAGIC: &[u8] = b"JAVA PROFILE 1.0.";
/// Bytes of headers of objects and arrays where references are compressed.
const HEADER: u64 = 12;
const ARRAY_HEADER: u64 = 16;
const REFERENCE: u64 = 4;
/// What a text begins with that says why a dump of jtrace's is not whole.
const NOT_WHOLE: &str = "jtrace: not complete: ";
/// A text of a dump of jtrace's: elements and numbers in it are zeros because the snapshot had none.
const NO_VALUES: &str = "jtrace: without values";
/// Most bytes that lie unused between fields.
const MOST_GAPS: u64 = 64;

/// Why a file is no dump.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It cannot be read.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// It is something else.
    #[error("it is no heap dump")]
    NoDump,
    /// It is damaged.
    #[error("it is damaged at byte {at}: {what}")]
    Damaged {
        /// Where.
        at: u64,
        /// What is wrong.
        what: &'static str,
    },
}

/// A dump.
#[derive(Debug)]
pub struct Dump {
    /// The heap.
    pub graph: Graph,
    /// When it was made, in milliseconds since 1970.
    pub time_ms: u64,
    /// References to what is not there, and objects that are there twice.
    pub odd: u64,
    /// Why it has not all that there was; absent where nothing speaks against that.
    pub not_whole: Option<String>,
}

/// What is known of a class.
#[derive(Debug, Default)]
struct Known {
    number: u32,
    dump: Class,
    /// Where references lie in an object's bytes, and how they are called; found at its first object.
    fields: Option<Vec<(usize, Via)>>,
    /// Size of its objects, likewise.
    units: Option<u32>,
    /// Whether its objects hold one number.
    is_box: bool,
}

#[derive(Default)]
struct Reader {
    builder: Builder,
    texts: HashMap<u64, String>,
    /// Classes by the identifiers of their objects.
    classes: HashMap<u64, Known>,
    names: HashMap<u64, u64>,
    arrays: HashMap<u8, u32>,
    odd: u64,
    not_whole: Option<String>,
    /// Keys of contents; absent where the dump has none.
    keys: Option<[u64; 2]>,
    values: Values,
}

/// Reads a dump from a file.
pub fn open(path: &Path) -> Result<Dump, Error> {
    let pass = || File::open(path).map(|file| BufReader::with_capacity(1 << 20, file));
    read(pass()?, pass()?)
}

/// Whether a file begins as a dump does.
pub fn is_dump(beginning: &[u8]) -> bool {
    beginning.starts_with(MAGIC)
}

/// Reads a dump, twice.
pub fn read(first: impl Read, second: impl Read) -> Result<Dump, Error> {
    let (builder, keys, values) = (Builder::new(), Some(content::keys()), Values::new());
    let mut reader = Reader { builder, keys, values, ..Reader::default() };
    let mut records = Records::open(first)?;
    let time_ms = records.time_ms;
    while let Some(item) = records.step()? {
        reader.first(&item);
    }
    reader.class_objects();
    let mut records = Records::open(second)?;
    records.wanted = reader.keys;
    while let Some(item) = records.step()? {
        reader.second(&item);
    }
    let links: Vec<(u32, u32)> = reader
        .classes
        .values()
        .filter_map(|class| Some((class.number, reader.classes.get(&class.dump.above)?.number)))
        .collect();
    for (class, above) in links {
        if let Some(class) = reader.builder.graph().classes.get_mut(class as usize) {
            class.above = above;
        }
    }
    let odd = reader.odd + reader.builder.odd;
    let not_whole = reader.not_whole.take().or_else(|| match odd {
        _ if !records.is_ended => Some("the dump has no end".to_owned()),
        0 => None,
        odd => Some(format!("{odd} references or objects of the dump made no sense")),
    });
    reader.values.tell(&mut reader.builder);
    reader.builder.hold_array_classes();
    Ok(Dump { graph: reader.builder.finish(), time_ms, odd, not_whole })
}

fn units(bytes: u64) -> u32 {
    u32::try_from(bytes.div_ceil(8)).unwrap_or(u32::MAX)
}

impl Reader {
    fn first(&mut self, item: &Item<'_>) {
        match item {
            Item::Text { id, text } => {
                let text = String::from_utf8_lossy(text).into_owned();
                if let Some(reason) = text.strip_prefix(NOT_WHOLE) {
                    self.not_whole = Some(reason.to_owned());
                }
                self.keys = self.keys.filter(|_| text != NO_VALUES);
                self.texts.insert(*id, text);
            }
            Item::Name { class, name } => drop(self.names.insert(*class, *name)),
            Item::Class(class) => self.class(class),
            Item::Instance { id, class, .. } => {
                let number = self.classes.get(class).map_or(0, |known| known.number);
                let units = self.instance_units(*class);
                self.builder.object(*id, number, units, None);
            }
            Item::Objects { id, class, count } => {
                let number = self.classes.get(class).map_or(0, |known| known.number);
                let size = ARRAY_HEADER + u64::from(*count) * REFERENCE;
                self.builder.object(*id, number, units(size), Some(*count));
            }
            Item::Primitives { id, element, count, .. } => {
                let (letter, bytes) = records::primitive(*element);
                let number = self.array_of(letter);
                let size = ARRAY_HEADER + u64::from(*count) * bytes;
                self.builder.object(*id, number, units(size), Some(*count));
            }
            Item::Elements { .. } | Item::Root { .. } => {}
        }
    }

    /// Size of the objects of a class: what the dump states where that can be the size of an object, which some JVMs write there, and
    /// others the size of the fields; else what the fields need behind a header.
    fn instance_units(&mut self, class: u64) -> u32 {
        if let Some(units) = self.classes.get(&class).and_then(|known| known.units) {
            return units;
        }
        let width = |(_, kind): &(u64, u8)| records::width(*kind, 4) as u64;
        let fields =
            |id: &u64| self.classes.get(id).map_or(0, |known| known.dump.fields.iter().map(width).sum::<u64>());
        let computed = (HEADER + self.chain(class).iter().map(fields).sum::<u64>()).next_multiple_of(8);
        let stated = self.classes.get(&class).map_or(0, |known| u64::from(known.dump.instance_bytes));
        let can_be = stated >= computed && stated <= computed + MOST_GAPS && stated.is_multiple_of(8);
        let units = units(if can_be { stated } else { computed });
        if let Some(known) = self.classes.get_mut(&class) {
            known.units = Some(units);
        }
        units
    }

    /// A class, and those above it.
    fn chain(&self, class: u64) -> Vec<u64> {
        let mut chain = vec![];
        let mut next = class;
        while let Some(known) = self.classes.get(&next).filter(|_| !chain.contains(&next) && chain.len() < 1000) {
            chain.push(next);
            next = known.dump.above;
        }
        chain
    }

    fn array_of(&mut self, letter: u8) -> u32 {
        if let Some(number) = self.arrays.get(&letter) {
            return *number;
        }
        let name = java_name(&format!("[{}", char::from(letter)));
        let classes = self.builder.graph().classes.iter().position(|class| class.name == name);
        let number = classes.and_then(|at| u32::try_from(at).ok()).unwrap_or_else(|| self.builder.class(name));
        self.arrays.insert(letter, number);
        number
    }

    fn class(&mut self, class: &Class) {
        if self.classes.contains_key(&class.id) {
            self.odd += 1;
            return;
        }
        let name = self.names.get(&class.id).and_then(|name| self.texts.get(name)).map_or("?", String::as_str);
        // Dumps write `java/lang/String` and `[Ljava/lang/String;`.
        let name = if name.starts_with('[') { java_name(name) } else { name.replace('/', ".") };
        let is_box = is_box(&name);
        let number = self.builder.class(name);
        self.classes.insert(class.id, Known { number, dump: class.clone(), fields: None, units: None, is_box });
    }

    fn name(&mut self, id: u64) -> u32 {
        let name = self.texts.get(&id).cloned().unwrap_or_else(|| "?".to_owned());
        self.builder.name(&name)
    }

    fn second(&mut self, item: &Item<'_>) {
        match item {
            Item::Class(class) => self.class_references(class),
            Item::Instance { id, class, bytes, id_bytes } => {
                let from = self.builder.at(*id);
                self.builder.from(from);
                for (at, via) in self.fields(*class, *id_bytes) {
                    if let Some(to) = bytes.get(at..at + id_bytes) {
                        self.refer(records::number(to), via);
                    } else {
                        self.odd += 1;
                    }
                }
                let is_box = self.classes.get(class).is_some_and(|known| known.is_box);
                if let Some(keys) = self.keys.filter(|_| is_box) {
                    let mut content = Content::new(keys, *class);
                    content.add(bytes);
                    self.content(from, &content);
                }
            }
            Item::Primitives { id, content: Some(content), element, count, head } => {
                self.content(self.builder.at(*id), content);
                let (letter, width) = records::primitive(*element);
                let bytes = u64::from(*count) * width;
                match letter {
                    b'B' => self.values.add(content.digest(), bytes, head),
                    // Dumps write the higher byte of a letter first.
                    b'C' => {
                        let swapped: Vec<u8> =
                            head.as_chunks::<2>().0.iter().flat_map(|[high, low]| [*low, *high]).collect();
                        self.values.add(content.digest(), bytes, &swapped);
                    }
                    _ => {}
                }
            }
            Item::Elements { id, first, ids } => {
                let from = self.builder.at(*id);
                self.builder.from(from);
                for (index, to) in (*first..).zip(ids.iter()) {
                    self.refer(*to, Via::Element(index));
                }
            }
            Item::Root { id, kind, thread, frame } => match self.builder.at(*id) {
                Some(node) => {
                    let (kind, thread, frame) = (*kind, u64::from(*thread), *frame);
                    self.builder.root(Root { node, kind, thread, frame, method: 0 });
                }
                None => self.odd += 1,
            },
            Item::Text { .. } | Item::Name { .. } | Item::Objects { .. } | Item::Primitives { .. } => {}
        }
    }

    fn content(&mut self, node: Option<Node>, content: &Content) {
        match node {
            Some(node) => self.builder.content(node, content.digest(), content.zeros()),
            None => self.odd += 1,
        }
    }

    fn refer(&mut self, to: u64, via: Via) {
        if to == 0 {
            return;
        }
        match self.builder.at(to) {
            Some(to) if self.builder.source().is_some() => self.builder.reference(to, via),
            _ => self.odd += 1,
        }
    }

    fn class_references(&mut self, class: &Class) {
        let from = self.builder.at(class.id);
        self.builder.from(from);
        self.refer(class.above, Via::Super);
        self.refer(class.loader, Via::Loader);
        self.refer(class.signers, Via::Other);
        self.refer(class.domain, Via::Other);
        for to in &class.constants {
            self.refer(*to, Via::Constant);
        }
        for (name, to) in &class.statics {
            let name = self.name(*name);
            self.refer(*to, Via::Static(name));
        }
    }

    /// Where references lie in objects of a class: its own fields first, then those of the classes above.
    fn fields(&mut self, class: u64, id_bytes: usize) -> Vec<(usize, Via)> {
        if let Some(fields) = self.classes.get(&class).and_then(|known| known.fields.as_ref()) {
            return fields.clone();
        }
        let chain = self.chain(class);
        let names: Vec<String> = chain.iter().map(|id| self.graph_name(*id)).collect();
        let is_weak = names.iter().any(|name| {
            ["Weak", "Soft", "Phantom", "Final"].iter().any(|kind| *name == format!("java.lang.ref.{kind}Reference"))
        });
        let (mut at, mut fields) = (0, Vec::new());
        for (id, of) in chain.iter().zip(&names) {
            let own = self.classes.get(id).map_or_else(Vec::new, |known| known.dump.fields.clone());
            for (name, kind) in own {
                if kind == records::OBJECT {
                    let number = self.name(name);
                    let is_referent =
                        is_weak && of == "java.lang.ref.Reference" && self.builder.is_name(number, "referent");
                    fields.push((at, if is_referent { Via::Referent(number) } else { Via::Field(number) }));
                }
                at += records::width(kind, id_bytes);
            }
        }
        if let Some(known) = self.classes.get_mut(&class) {
            known.fields = Some(fields.clone());
        }
        fields
    }

    fn graph_name(&mut self, id: u64) -> String {
        let number = self.classes.get(&id).map_or(0, |known| known.number);
        self.builder.graph().classes.get(number as usize).map_or_else(String::new, |class| class.name.clone())
    }
}

impl Reader {
    /// Objects that stand for classes: dumps have them as classes only.
    fn class_objects(&mut self) {
        let of_classes = self.classes.values().find(|known| {
            known.number != 0 && {
                let name = self.names.get(&known.dump.id).and_then(|name| self.texts.get(name));
                name.is_some_and(|name| name == "java/lang/Class")
            }
        });
        let (class, size) = of_classes.map_or((0, 0), |known| (known.number, known.dump.instance_bytes));
        let mut ids: Vec<(u64, u32)> = self.classes.values().map(|known| (known.dump.id, known.number)).collect();
        ids.sort_unstable();
        for (id, number) in ids {
            if let Some(node) = self.builder.object(id, class, units(u64::from(size)), None) {
                self.builder.class_object(number, node);
            }
        }
    }
}

#[cfg(test)]
mod tests;

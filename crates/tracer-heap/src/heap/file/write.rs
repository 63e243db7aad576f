//! Writes snapshots into files.

use std::io::{self, BufWriter, Write};

use flate2::{Compression, Crc, write::DeflateEncoder};
use tracer_weave::walk::{fold, put};

use super::{
    ABOUT, About, CLASSES, CONTENTS, END, MAGIC, METHODS, NAMES, OBJECTS, REFERENCES, ROOTS, THREADS, VALUES, VERSION,
};
use crate::heap::{
    contents::{Contents, Value},
    facts::Facts,
    graph::{Graph, NOBODY, RootKind},
    summary::Origin,
};

/// A section that is being written.
struct Section {
    packed: DeflateEncoder<Vec<u8>>,
}

impl Section {
    fn new() -> Self {
        Self { packed: DeflateEncoder::new(Vec::new(), Compression::fast()) }
    }

    fn number(&mut self, number: u64) -> io::Result<()> {
        let mut room = [0; 10];
        let len = put(&mut room, number);
        self.packed.write_all(&room[..len])
    }

    fn text(&mut self, text: &str) -> io::Result<()> {
        self.bytes(text.as_bytes())
    }

    fn bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.number(bytes.len() as u64)?;
        self.packed.write_all(bytes)
    }

    fn end(self, number: u32, out: &mut impl Write) -> io::Result<()> {
        end(&self.packed.finish()?, number, out)
    }
}

/// Writes a section that is packed.
pub(super) fn end(packed: &[u8], number: u32, out: &mut impl Write) -> io::Result<()> {
    let mut sum = Crc::new();
    sum.update(packed);
    out.write_all(&number.to_le_bytes())?;
    out.write_all(&(packed.len() as u64).to_le_bytes())?;
    out.write_all(&sum.sum().to_le_bytes())?;
    out.write_all(packed)
}

/// Writes a snapshot.
pub fn write(graph: &Graph, origin: &Origin, cost: Option<&Facts>, to: impl Write) -> io::Result<()> {
    let mut out = BufWriter::new(to);
    out.write_all(MAGIC)?;
    out.write_all(&VERSION.to_le_bytes())?;
    let mut section = Section::new();
    let about = About { origin: origin.clone(), cost: cost.cloned() };
    section.packed.write_all(&serde_json::to_vec(&about)?)?;
    section.end(ABOUT, &mut out)?;
    let mut section = Section::new();
    for class in &graph.classes {
        section.text(&class.name)?;
        section.number(u64::from(class.above))?;
        section.number(u64::from(class.object.wrapping_add(1)))?;
    }
    section.end(CLASSES, &mut out)?;
    let mut section = Section::new();
    for name in &graph.names {
        section.text(name)?;
    }
    section.end(NAMES, &mut out)?;
    let mut section = Section::new();
    let mut lengths = graph.lengths.iter().peekable();
    for (node, (class, size)) in (0..).zip(graph.class.iter().zip(&graph.size)) {
        section.number(u64::from(*class))?;
        section.number(u64::from(*size))?;
        let length = lengths.next_if(|(of, _)| *of == node).map_or(0, |(_, length)| u64::from(*length) + 1);
        section.number(length)?;
    }
    section.end(OBJECTS, &mut out)?;
    let mut section = Section::new();
    for node in 0..u32::try_from(graph.len()).unwrap_or(NOBODY) {
        section.number(graph.row(node).len() as u64)?;
        for (to, label) in graph.references(node) {
            section.number(fold(i64::from(to) - i64::from(node)))?;
            // The kind last, so that small indices are short.
            section.number(u64::from(label.word().rotate_left(4)))?;
        }
    }
    section.end(REFERENCES, &mut out)?;
    let mut section = Section::new();
    for root in &graph.roots {
        let kind = RootKind::ALL.iter().position(|kind| *kind == root.kind).unwrap_or(0);
        for number in [u64::from(root.node), kind as u64, root.thread, u64::from(root.frame), root.method] {
            section.number(number)?;
        }
    }
    section.end(ROOTS, &mut out)?;
    for (number, texts) in [(THREADS, &graph.threads), (METHODS, &graph.methods)] {
        let mut section = Section::new();
        let mut texts: Vec<_> = texts.iter().collect();
        texts.sort_unstable();
        for (number, text) in texts {
            section.number(*number)?;
            section.text(text)?;
        }
        section.end(number, &mut out)?;
    }
    if let Some(Contents { equal, zeros, values }) = &graph.contents {
        let mut section = Section::new();
        for rows in [equal, zeros] {
            section.number(rows.len() as u64)?;
            let mut last = 0;
            for (node, number) in rows {
                section.number(u64::from(node - last))?;
                section.number(u64::from(*number))?;
                last = *node;
            }
        }
        section.end(CONTENTS, &mut out)?;
        // Only where somebody has asked for them.
        if !values.is_empty() {
            let mut section = Section::new();
            for (number, Value { first, bytes }) in values {
                section.number(u64::from(*number))?;
                section.number(*bytes)?;
                section.bytes(first)?;
            }
            section.end(VALUES, &mut out)?;
        }
    }
    Section::new().end(END, &mut out)?;
    out.flush()
}

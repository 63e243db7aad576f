//! Reads snapshots from files, which anybody can have written.

use std::io::{self, BufReader, Read};

use flate2::{Crc, read::DeflateDecoder};
use tracer_weave::walk::{MAX_VALUE_BYTES, MAX_VALUES, get, unfold};

use super::{
    ABOUT, About, CLASSES, CONTENTS, END, Error, MAGIC, METHODS, NAMES, OBJECTS, REFERENCES, ROOTS, Stored, THREADS,
    VALUES, VERSION,
};
use crate::heap::{
    contents::{Contents, Value},
    graph::{Class, Label, NOBODY, Root, RootKind},
};

/// Deflate makes at most so many bytes of one.
const MOST_UNPACKED: u64 = 1040;
/// Longest text.
const MAX_TEXT: u64 = 1 << 16;

/// A section that is being read.
struct Numbers<R> {
    from: BufReader<DeflateDecoder<R>>,
}

impl<R: Read> Numbers<R> {
    /// The next number, or the end.
    fn maybe(&mut self) -> Result<Option<u64>, Error> {
        let mut bytes = [0; 10];
        for at in 0..bytes.len() {
            let mut byte = [0];
            if self.from.read(&mut byte)? == 0 {
                return if at == 0 { Ok(None) } else { Err(Error::Damaged("a number is cut")) };
            }
            bytes[at] = byte[0];
            if byte[0] & 0x80 == 0 {
                let number = get(&bytes[..=at]).ok_or(Error::Damaged("a number is none"))?;
                return Ok(Some(number.0));
            }
        }
        Err(Error::Damaged("a number is too long"))
    }

    fn number(&mut self) -> Result<u64, Error> {
        self.maybe()?.ok_or(Error::Damaged("a section is cut"))
    }

    fn small(&mut self) -> Result<u32, Error> {
        u32::try_from(self.number()?).map_err(|_| Error::Damaged("a number is too large"))
    }

    fn text(&mut self, length: u64) -> Result<String, Error> {
        Ok(String::from_utf8_lossy(&self.bytes(length, MAX_TEXT)?).into_owned())
    }

    fn bytes(&mut self, length: u64, most: u64) -> Result<Vec<u8>, Error> {
        if length > most {
            return Err(Error::Damaged("a text is too long"));
        }
        let mut bytes = Vec::new();
        (&mut self.from).take(length).read_to_end(&mut bytes)?;
        if bytes.len() as u64 != length {
            return Err(Error::Damaged("a text is cut"));
        }
        Ok(bytes)
    }
}

/// Counts and checks what is read.
struct Summed<'a, R> {
    from: io::Take<&'a mut R>,
    sum: Crc,
}

impl<R: Read> Read for Summed<'_, R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let count = self.from.read(to)?;
        self.sum.update(to.get(..count).unwrap_or_default());
        Ok(count)
    }
}

/// Reads a snapshot of so many bytes.
pub fn read(mut from: impl Read, len: u64) -> Result<Stored, Error> {
    let mut head = [0; 12];
    from.read_exact(&mut head).map_err(|_| Error::NoSnapshot)?;
    let (magic, version) = head.split_at(MAGIC.len());
    if magic != MAGIC {
        return Err(Error::NoSnapshot);
    }
    let version = u32::from_le_bytes(version.try_into().unwrap_or_default());
    if version != VERSION {
        return Err(Error::Version(version));
    }
    let mut stored = Stored::default();
    let mut first = Vec::new();
    loop {
        let mut head = [0; 16];
        from.read_exact(&mut head).map_err(|_| Error::Damaged("it is cut"))?;
        let word = |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
        let (number, sum) = (word(0), word(12));
        let packed = u64::from(word(8)) << 32 | u64::from(word(4));
        if packed > len {
            return Err(Error::Damaged("a section is longer than the file"));
        }
        let mut summed = Summed { from: from.by_ref().take(packed), sum: Crc::new() };
        if number != END {
            let mut numbers = Numbers { from: BufReader::new(DeflateDecoder::new(&mut summed)) };
            section(number, &mut numbers, &mut stored, &mut first, packed.saturating_mul(MOST_UNPACKED))?;
        }
        io::copy(&mut summed, &mut io::sink())?;
        if summed.from.limit() > 0 {
            return Err(Error::Damaged("it is cut"));
        }
        if summed.sum.sum() != sum {
            return Err(Error::Damaged("a checksum is wrong"));
        }
        if number == END {
            break;
        }
    }
    check(&mut stored, first)?;
    Ok(stored)
}

fn section<R: Read>(
    number: u32,
    from: &mut Numbers<R>,
    stored: &mut Stored,
    first: &mut Vec<u32>,
    most: u64,
) -> Result<(), Error> {
    let graph = &mut stored.graph;
    match number {
        ABOUT => {
            let mut text = Vec::new();
            (&mut from.from).take(MAX_TEXT).read_to_end(&mut text)?;
            let about: About = serde_json::from_slice(&text).map_err(|_| Error::Damaged("what it is about"))?;
            (stored.origin, stored.cost) = (about.origin, about.cost);
        }
        CLASSES => {
            while let Some(length) = from.maybe()? {
                let name = from.text(length)?;
                let (above, object) = (from.small()?, from.small()?);
                graph.classes.push(Class { name, above, object: object.wrapping_sub(1) });
            }
        }
        NAMES => {
            while let Some(length) = from.maybe()? {
                graph.names.push(from.text(length)?);
            }
        }
        OBJECTS => {
            while let Some(class) = from.maybe()? {
                let node = u32::try_from(graph.class.len()).ok().filter(|node| *node < NOBODY - 1);
                let node = node.ok_or(Error::Damaged("too many objects"))?;
                graph.class.push(u32::try_from(class).map_err(|_| Error::Damaged("a class has no number"))?);
                graph.size.push(from.small()?);
                if let Some(length) = from.number()?.checked_sub(1) {
                    graph.lengths.push((node, u32::try_from(length).unwrap_or(u32::MAX)));
                }
            }
        }
        REFERENCES => {
            let mut node = 0_i64;
            while let Some(count) = from.maybe()? {
                if count > most {
                    return Err(Error::Damaged("a row is longer than its section"));
                }
                first.push(u32::try_from(graph.to.len()).map_err(|_| Error::Damaged("too many references"))?);
                for _ in 0..count {
                    let to = node.checked_add(unfold(from.number()?)).and_then(|to| u32::try_from(to).ok());
                    graph.to.push(to.ok_or(Error::Damaged("a reference leads nowhere"))?);
                    graph.label.push(Label::of_word(from.small()?.rotate_right(4)));
                }
                node += 1;
            }
        }
        ROOTS => {
            while let Some(node) = from.maybe()? {
                let node = u32::try_from(node).map_err(|_| Error::Damaged("a root holds nothing"))?;
                let kind = usize::try_from(from.number()?).ok().and_then(|kind| RootKind::ALL.get(kind).copied());
                let kind = kind.ok_or(Error::Damaged("a root of no kind"))?;
                let root = Root { node, kind, thread: from.number()?, frame: from.small()?, method: from.number()? };
                graph.roots.push(root);
            }
        }
        THREADS | METHODS => {
            let texts = if number == THREADS { &mut graph.threads } else { &mut graph.methods };
            while let Some(number) = from.maybe()? {
                let length = from.number()?;
                texts.insert(number, from.text(length)?);
            }
        }
        CONTENTS => {
            let (equal, zeros) = (numbered(from)?, numbered(from)?);
            graph.contents = Some(Contents { equal, zeros, values: Vec::new() });
        }
        VALUES => {
            let values = values(from)?;
            if let Some(contents) = &mut graph.contents {
                contents.values = values;
            }
        }
        _ => {}
    }
    Ok(())
}

/// What arrays hold, by numbers in their order.
fn values<R: Read>(from: &mut Numbers<R>) -> Result<Vec<(u32, Value)>, Error> {
    let mut values = Vec::<(u32, Value)>::new();
    while let Some(number) = from.maybe()? {
        let number = u32::try_from(number).ok().filter(|number| values.last().is_none_or(|(last, _)| last < number));
        let number = number.filter(|_| values.len() < MAX_VALUES).ok_or(Error::Damaged("what an array holds"))?;
        let (bytes, length) = (from.number()?, from.number()?);
        values.push((number, Value { first: from.bytes(length, MAX_VALUE_BYTES as u64)?, bytes }));
    }
    Ok(values)
}

/// Objects in their order, with a number each.
fn numbered<R: Read>(from: &mut Numbers<R>) -> Result<Vec<(u32, u32)>, Error> {
    let mut rows = Vec::new();
    let mut last = 0_u32;
    for _ in 0..from.number()? {
        let node = last.checked_add(from.small()?).ok_or(Error::Damaged("an object has no number"))?;
        if node == last && !rows.is_empty() {
            return Err(Error::Damaged("an object is there twice"));
        }
        rows.push((node, from.small()?));
        last = node;
    }
    Ok(rows)
}

/// Holds numbers to what is there.
fn check(stored: &mut Stored, mut first: Vec<u32>) -> Result<(), Error> {
    let graph = &mut stored.graph;
    let (objects, classes) = (graph.class.len(), graph.classes.len());
    first.push(u32::try_from(graph.to.len()).map_err(|_| Error::Damaged("too many references"))?);
    if first.len() != objects + 1 {
        return Err(Error::Damaged("objects without references"));
    }
    graph.first = first;
    let is_object = |node: u32| (node as usize) < objects;
    let is_whole = graph.class.iter().all(|class| (*class as usize) < classes)
        && graph.to.iter().all(|to| is_object(*to))
        && graph.roots.iter().all(|root| is_object(root.node))
        && graph.classes.iter().all(|class| class.object == NOBODY || is_object(class.object))
        && graph.contents.iter().flat_map(|of| of.equal.iter().chain(&of.zeros)).all(|(node, _)| is_object(*node));
    if is_whole { Ok(()) } else { Err(Error::Damaged("a number of what is not there")) }
}

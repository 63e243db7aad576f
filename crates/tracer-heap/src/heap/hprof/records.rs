//! The records of a dump, one after another.

use std::io::{ErrorKind, Read};

use tracer_weave::{content::Content, walk::MAX_VALUE_BYTES};

use super::{Error, MAGIC};
use crate::heap::graph::RootKind;

/// Types of values: a reference, and the first and last primitive one.
pub(super) const OBJECT: u8 = 2;
/// Longest text that is kept.
const MAX_TEXT: u64 = 1 << 16;
/// Most elements that are given at a time.
const ELEMENTS: u32 = 1 << 16;
/// Longest object that is looked into: 65,535 fields of 8 bytes in each of some classes.
const MAX_INSTANCE: u64 = 4 << 20;
/// Longest head.
const MAX_HEAD: usize = 32;
/// Bytes of an array that are looked at at a time.
const PIECE_BYTES: u64 = 1 << 16;

/// A class.
#[derive(Clone, Debug, Default)]
pub(super) struct Class {
    pub(super) id: u64,
    pub(super) above: u64,
    pub(super) loader: u64,
    pub(super) signers: u64,
    pub(super) domain: u64,
    pub(super) instance_bytes: u32,
    pub(super) constants: Vec<u64>,
    /// Names and values of static fields that refer.
    pub(super) statics: Vec<(u64, u64)>,
    /// Names and types of its own fields.
    pub(super) fields: Vec<(u64, u8)>,
}

/// A record.
pub(super) enum Item<'a> {
    /// A text.
    Text {
        id: u64,
        text: &'a [u8],
    },
    /// A class has a name.
    Name {
        class: u64,
        name: u64,
    },
    Class(Class),
    /// An object, with the bytes of its fields.
    Instance {
        id: u64,
        class: u64,
        bytes: &'a [u8],
        id_bytes: usize,
    },
    /// An array of references; its elements follow.
    Objects {
        id: u64,
        class: u64,
        count: u32,
    },
    /// Elements of an array, from an index on.
    Elements {
        id: u64,
        first: u32,
        ids: &'a [u64],
    },
    Primitives {
        id: u64,
        element: u8,
        count: u32,
        /// What it holds, and the first bytes of that, where it is wanted.
        content: Option<Content>,
        head: &'a [u8],
    },
    Root {
        id: u64,
        kind: RootKind,
        thread: u32,
        frame: u32,
    },
}

/// Bytes of a value of a type.
pub(super) fn width(kind: u8, id_bytes: usize) -> usize {
    match kind {
        OBJECT => id_bytes,
        4 | 8 => 1,
        5 | 9 => 2,
        6 | 10 => 4,
        _ => 8,
    }
}

/// The letter of a primitive type, and its bytes.
pub(super) fn primitive(kind: u8) -> (u8, u64) {
    match kind {
        4 => (b'Z', 1),
        5 => (b'C', 2),
        6 => (b'F', 4),
        7 => (b'D', 8),
        8 => (b'B', 1),
        9 => (b'S', 2),
        10 => (b'I', 4),
        _ => (b'J', 8),
    }
}

/// A number of some bytes, the highest first.
pub(super) fn number(bytes: &[u8]) -> u64 {
    bytes.iter().take(8).fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// Reads records.
pub(super) struct Records<R> {
    from: R,
    at: u64,
    id_bytes: usize,
    pub(super) time_ms: u64,
    /// Whether its last record was read; a dump that is cut between two records has none.
    pub(super) is_ended: bool,
    /// Keys of contents, where those of arrays are wanted.
    pub(super) wanted: Option<[u64; 2]>,
    /// Bytes that are left of a segment.
    left: u64,
    buffer: Vec<u8>,
    /// First bytes of what the last array of numbers holds.
    head: Vec<u8>,
    ids: Vec<u64>,
    /// An array whose elements come next: which one, from where on, how many are left.
    array: Option<(u64, u32, u32)>,
}

impl<R: Read> Records<R> {
    pub(super) fn open(from: R) -> Result<Self, Error> {
        let (buffer, ids) = (Vec::new(), Vec::new());
        let mut records = Self {
            from,
            at: 0,
            id_bytes: 8,
            time_ms: 0,
            is_ended: false,
            wanted: None,
            left: 0,
            buffer,
            head: Vec::new(),
            ids,
            array: None,
        };
        let mut head = Vec::new();
        loop {
            let mut byte = [0];
            records.from.read_exact(&mut byte).map_err(|_| Error::NoDump)?;
            records.at += 1;
            if byte[0] == 0 {
                break;
            }
            head.push(byte[0]);
            if head.len() > MAX_HEAD {
                return Err(Error::NoDump);
            }
        }
        if !head.starts_with(MAGIC) {
            return Err(Error::NoDump);
        }
        let id_bytes = records.fixed(4)?;
        records.time_ms = records.fixed(8)?;
        records.id_bytes = match id_bytes {
            4 => 4,
            8 => 8,
            _ => return Err(records.damaged("identifiers of an odd length")),
        };
        Ok(records)
    }

    fn damaged(&self, what: &'static str) -> Error {
        Error::Damaged { at: self.at, what }
    }

    fn fixed(&mut self, bytes: usize) -> Result<u64, Error> {
        let mut room = [0; 8];
        let Some(room) = room.get_mut(..bytes) else { return Err(self.damaged("a number is too long")) };
        match self.from.read_exact(room) {
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Err(self.damaged("it is cut")),
            other => other?,
        }
        let number = number(room);
        self.at += bytes as u64;
        Ok(number)
    }

    /// The same within a segment.
    fn within(&mut self, bytes: usize) -> Result<u64, Error> {
        self.left = self.left.checked_sub(bytes as u64).ok_or_else(|| self.damaged("a segment is cut"))?;
        self.fixed(bytes)
    }

    fn id(&mut self) -> Result<u64, Error> {
        self.within(self.id_bytes)
    }

    fn four(&mut self) -> Result<u32, Error> {
        self.within(4).map(|number| u32::try_from(number).unwrap_or(u32::MAX))
    }

    fn byte(&mut self) -> Result<u8, Error> {
        self.within(1).map(|number| u8::try_from(number).unwrap_or(u8::MAX))
    }

    fn skip(&mut self, bytes: u64) -> Result<(), Error> {
        let skipped = std::io::copy(&mut self.from.by_ref().take(bytes), &mut std::io::sink())?;
        self.at += skipped;
        if skipped < bytes { Err(self.damaged("it is cut")) } else { Ok(()) }
    }

    fn fill(&mut self, bytes: u64) -> Result<(), Error> {
        self.buffer.clear();
        let read = self.from.by_ref().take(bytes).read_to_end(&mut self.buffer)?;
        self.at += read as u64;
        if (read as u64) < bytes { Err(self.damaged("it is cut")) } else { Ok(()) }
    }

    /// The next record.
    pub(super) fn step(&mut self) -> Result<Option<Item<'_>>, Error> {
        if self.array.is_some() {
            return self.elements().map(Some);
        }
        loop {
            if self.left > 0 {
                return self.sub().map(Some);
            }
            let mut tag = [0];
            if self.from.read(&mut tag)? == 0 {
                return Ok(None);
            }
            self.at += 1;
            self.fixed(4)?;
            let length = self.fixed(4)?;
            match tag[0] {
                0x01 => {
                    let Some(text) = length.checked_sub(self.id_bytes as u64) else {
                        return Err(self.damaged("a text without a number"));
                    };
                    let id = self.fixed(self.id_bytes)?;
                    let kept = text.min(MAX_TEXT);
                    self.fill(kept)?;
                    self.skip(text - kept)?;
                    return Ok(Some(Item::Text { id, text: &self.buffer }));
                }
                0x02 => {
                    if length != 8 + 2 * self.id_bytes as u64 {
                        return Err(self.damaged("a class without a name"));
                    }
                    self.fixed(4)?;
                    let class = self.fixed(self.id_bytes)?;
                    self.fixed(4)?;
                    let name = self.fixed(self.id_bytes)?;
                    return Ok(Some(Item::Name { class, name }));
                }
                tag @ (0x0c | 0x1c) => {
                    self.left = length;
                    // What is not in segments is in one record, behind which there can be an end.
                    self.is_ended |= tag == 0x0c;
                }
                0x2c => {
                    self.is_ended = true;
                    self.skip(length)?;
                }
                _ => self.skip(length)?,
            }
        }
    }

    /// The next part of a segment.
    fn sub(&mut self) -> Result<Item<'_>, Error> {
        let tag = self.byte()?;
        let (kind, words) = match tag {
            0xff => (RootKind::Other, 0),
            0x01 => (RootKind::JniGlobal, 0),
            0x02 => (RootKind::JniLocal, 2),
            0x03 => (RootKind::StackLocal, 2),
            0x04 | 0x06 => (RootKind::JniLocal, 1),
            0x05 => (RootKind::SystemClass, 0),
            0x07 => (RootKind::Monitor, 0),
            0x08 => (RootKind::Thread, 2),
            0x20 => return self.class().map(Item::Class),
            0x21 => return self.instance(),
            0x22 => {
                let (id, _, count, class) = (self.id()?, self.four()?, self.four()?, self.id()?);
                if u64::from(count) * self.id_bytes as u64 > self.left {
                    return Err(self.damaged("an array is longer than its segment"));
                }
                self.array = Some((id, 0, count)).filter(|_| count > 0);
                return Ok(Item::Objects { id, class, count });
            }
            0x23 => {
                let (id, _, count, element) = (self.id()?, self.four()?, self.four()?, self.byte()?);
                if !(4..=11).contains(&element) {
                    return Err(self.damaged("an array of an unknown type"));
                }
                let bytes = u64::from(count) * primitive(element).1;
                self.left = self.left.checked_sub(bytes).ok_or_else(|| self.damaged("a segment is cut"))?;
                let content = self.content(element, bytes)?;
                return Ok(Item::Primitives { id, element, count, content, head: &self.head });
            }
            _ => return Err(self.damaged("an unknown record of a segment")),
        };
        let id = self.id()?;
        if tag == 0x01 {
            self.id()?;
        }
        let thread = if words > 0 { self.four()? } else { 0 };
        let frame = if words > 1 { self.four()? } else { 0 };
        let frame = if tag == 0x08 { 0 } else { frame.wrapping_add(u32::from(words > 1)) };
        Ok(Item::Root { id, kind, thread, frame })
    }

    /// Looks at the elements of an array where that is wanted, and passes over them else.
    fn content(&mut self, element: u8, bytes: u64) -> Result<Option<Content>, Error> {
        let Some(keys) = self.wanted else { return self.skip(bytes).map(|()| None) };
        let mut content = Content::new(keys, u64::from(element));
        self.head.clear();
        let mut left = bytes;
        while left > 0 {
            let piece = left.min(PIECE_BYTES);
            self.fill(piece)?;
            content.add(&self.buffer);
            let room = MAX_VALUE_BYTES.saturating_sub(self.head.len());
            self.head.extend(self.buffer.iter().take(room));
            left -= piece;
        }
        Ok(Some(content))
    }

    fn instance(&mut self) -> Result<Item<'_>, Error> {
        let (id, _, class, length) = (self.id()?, self.four()?, self.id()?, self.four()?);
        let length = u64::from(length);
        self.left = self.left.checked_sub(length).ok_or_else(|| self.damaged("a segment is cut"))?;
        let kept = length.min(MAX_INSTANCE);
        self.fill(kept)?;
        self.skip(length - kept)?;
        Ok(Item::Instance { id, class, bytes: &self.buffer, id_bytes: self.id_bytes })
    }

    fn elements(&mut self) -> Result<Item<'_>, Error> {
        let (id, first, left) = self.array.take().unwrap_or_default();
        let count = left.min(ELEMENTS);
        self.array = Some((id, first.saturating_add(count), left - count)).filter(|(_, _, left)| *left > 0);
        let bytes = u64::from(count) * self.id_bytes as u64;
        self.left = self.left.checked_sub(bytes).ok_or_else(|| self.damaged("a segment is cut"))?;
        self.fill(bytes)?;
        self.ids.clear();
        self.ids.extend(self.buffer.chunks_exact(self.id_bytes).map(number));
        Ok(Item::Elements { id, first, ids: &self.ids })
    }

    fn value(&mut self) -> Result<Option<u64>, Error> {
        let kind = self.byte()?;
        if kind != OBJECT && !(4..=11).contains(&kind) {
            return Err(self.damaged("a field of an unknown type"));
        }
        let value = self.within(width(kind, self.id_bytes))?;
        Ok((kind == OBJECT).then_some(value))
    }

    fn class(&mut self) -> Result<Class, Error> {
        let mut class = Class { id: self.id()?, ..Class::default() };
        self.four()?;
        class.above = self.id()?;
        class.loader = self.id()?;
        class.signers = self.id()?;
        class.domain = self.id()?;
        self.id()?;
        self.id()?;
        class.instance_bytes = self.four()?;
        for _ in 0..self.within(2)? {
            self.within(2)?;
            class.constants.extend(self.value()?);
        }
        for _ in 0..self.within(2)? {
            let name = self.id()?;
            class.statics.extend(self.value()?.map(|value| (name, value)));
        }
        for _ in 0..self.within(2)? {
            let name = self.id()?;
            let kind = self.byte()?;
            class.fields.push((name, kind));
        }
        Ok(class)
    }
}

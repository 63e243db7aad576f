//! Tables of a method that point into its code, moved with it: lines, local variables, type annotations.

use super::code::{Code, CodeAttribute, Reason};

/// Nesting of annotations that is followed.
const DEEPEST: u32 = 64;

/// Where things are now.
pub(crate) trait Moved {
    /// Where a branch to an instruction goes; for the number of instructions, the end of them all.
    fn label(&self, index: usize) -> usize;
    /// Where an instruction is itself.
    fn instruction(&self, index: usize) -> usize;
    /// Which entry of the new exception table is the first that an old entry became.
    fn handler(&self, old: u16) -> u16;
}

/// An attribute's content for moved code; as it was where it does not point into code.
pub(crate) fn moved(attribute: &CodeAttribute<'_>, code: &Code<'_>, to: &dyn Moved) -> Result<Vec<u8>, Reason> {
    let mut table = Table { bytes: attribute.content.to_vec(), at: 0, code, to, name: attribute.name };
    match attribute.name {
        "LineNumberTable" => table.lines()?,
        "LocalVariableTable" | "LocalVariableTypeTable" => table.variables()?,
        "RuntimeVisibleTypeAnnotations" | "RuntimeInvisibleTypeAnnotations" => table.type_annotations()?,
        _ => {}
    }
    Ok(table.bytes)
}

/// A table that is changed where it stands: no entry changes its size.
struct Table<'a> {
    bytes: Vec<u8>,
    at: usize,
    code: &'a Code<'a>,
    to: &'a dyn Moved,
    name: &'a str,
}

impl Table<'_> {
    fn cut_off(&self) -> Reason {
        format!("its {} cannot be read: it is cut off", self.name)
    }

    fn byte(&mut self) -> Result<u8, Reason> {
        let byte = *self.bytes.get(self.at).ok_or_else(|| self.cut_off())?;
        self.at += 1;
        Ok(byte)
    }

    fn number(&mut self) -> Result<u16, Reason> {
        Ok(u16::from_be_bytes([self.byte()?, self.byte()?]))
    }

    /// Puts a number where the last was read.
    fn put(&mut self, value: usize) -> Result<(), Reason> {
        let value = u16::try_from(value).map_err(|_| format!("its {} would point too far", self.name))?;
        let bytes = self.at.checked_sub(2).and_then(|start| self.bytes.get_mut(start..self.at));
        if let Some(bytes) = bytes {
            bytes.copy_from_slice(&value.to_be_bytes());
        }
        Ok(())
    }

    fn lines(&mut self) -> Result<(), Reason> {
        for _ in 0..self.number()? {
            let start = self.number()?;
            // What is put before the first instruction belongs to its line.
            let start = if start == 0 { 0 } else { self.to.label(self.code.index_around(start)) };
            self.put(start)?;
            self.number()?;
        }
        Ok(())
    }

    fn variables(&mut self) -> Result<(), Reason> {
        for _ in 0..self.number()? {
            self.range()?;
            self.number()?;
            self.number()?;
            self.number()?;
        }
        Ok(())
    }

    /// A start and a length.
    fn range(&mut self) -> Result<(), Reason> {
        let start = self.number()?;
        let new_start = if start == 0 { 0 } else { self.to.label(self.code.index_around(start)) };
        self.put(new_start)?;
        let length = self.number()?;
        let end = self.code.index_around(start.saturating_add(length));
        self.put(self.to.label(end).saturating_sub(new_start))
    }

    fn type_annotations(&mut self) -> Result<(), Reason> {
        for _ in 0..self.number()? {
            match self.byte()? {
                0x00 | 0x01 | 0x16 => self.skip(1)?,
                0x10 | 0x11 | 0x12 | 0x17 => self.skip(2)?,
                0x13..=0x15 => {}
                0x40 | 0x41 => {
                    for _ in 0..self.number()? {
                        self.range()?;
                        self.number()?;
                    }
                }
                0x42 => {
                    let old = self.number()?;
                    self.put(usize::from(self.to.handler(old)))?;
                }
                kind @ 0x43..=0x4B => {
                    let at = self.number()?;
                    self.put(self.to.instruction(self.code.index_around(at)))?;
                    self.skip(usize::from(kind >= 0x47))?;
                }
                kind => return Err(format!("its {} has a target of kind {kind}, which is not known", self.name)),
            }
            let path = self.byte()?;
            self.skip(2 * usize::from(path))?;
            self.annotation(0)?;
        }
        Ok(())
    }

    fn skip(&mut self, count: usize) -> Result<(), Reason> {
        self.at += count;
        if self.at > self.bytes.len() { Err(self.cut_off()) } else { Ok(()) }
    }

    fn annotation(&mut self, depth: u32) -> Result<(), Reason> {
        self.number()?;
        for _ in 0..self.number()? {
            self.number()?;
            self.element(depth + 1)?;
        }
        Ok(())
    }

    fn element(&mut self, depth: u32) -> Result<(), Reason> {
        if depth > DEEPEST {
            return Err(format!("its {} nests deeper than {DEEPEST}", self.name));
        }
        match self.byte()? {
            b'e' => self.skip(4),
            b'@' => self.annotation(depth),
            b'[' => {
                for _ in 0..self.number()? {
                    self.element(depth + 1)?;
                }
                Ok(())
            }
            _ => self.skip(2),
        }
    }
}

/// Lines of a method's source: where each begins, by instruction, in order.
pub(crate) struct Lines(Vec<(usize, u16)>);

impl Lines {
    /// Reads all tables of lines. What cannot be read says nothing.
    pub(crate) fn read(code: &Code<'_>) -> Self {
        let mut lines = Vec::new();
        for attribute in code.attributes.iter().filter(|attribute| attribute.name == "LineNumberTable") {
            for entry in attribute.content.get(2..).unwrap_or_default().as_chunks::<4>().0 {
                let start = code.index_around(u16::from_be_bytes([entry[0], entry[1]]));
                lines.push((start, u16::from_be_bytes([entry[2], entry[3]])));
            }
        }
        lines.sort_by_key(|(start, _)| *start);
        Self(lines)
    }

    /// Whether nothing is known.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The line of an instruction.
    pub(crate) fn of(&self, index: usize) -> Option<u16> {
        let behind = self.0.partition_point(|(start, _)| *start <= index);
        behind.checked_sub(1).and_then(|last| self.0.get(last)).map(|(_, line)| *line)
    }
}

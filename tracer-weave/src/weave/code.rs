//! The code of a method, read: its instructions, where control goes behind each, and its exception handlers. Everything is
//! numbered by instruction here, not by byte.

use ristretto_classfile::byte_reader::ByteReader;

use crate::class::ClassBytes;

/// Why a method cannot be woven, in words.
pub(crate) type Reason = String;

/// Attributes that point into code.
const POINTING: [&str; 6] = [
    "StackMapTable",
    "LineNumberTable",
    "LocalVariableTable",
    "LocalVariableTypeTable",
    "RuntimeVisibleTypeAnnotations",
    "RuntimeInvisibleTypeAnnotations",
];

/// No instruction begins at this byte.
const NONE: usize = usize::MAX;

/// Sizes of instructions by their codes; 0: see [`length`].
#[rustfmt::skip]
const LENGTHS: [u8; 202] = [
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 3, 2, 3, 3, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 3, 3, 3, 3, 3, 3, 3,
    3, 3, 3, 3, 3, 3, 3, 3, 3, 2, 0, 0, 1, 1, 1, 1, 1, 1, 3, 3, 3, 3, 3, 3, 3, 5, 5, 3, 2, 3, 1, 1, 3, 3, 1, 1, 0, 4, 3, 3,
    5, 5,
];

pub(crate) const GETSTATIC: u8 = 178;
pub(crate) const GETFIELD: u8 = 180;
pub(crate) const PUTFIELD: u8 = 181;
pub(crate) const INVOKEVIRTUAL: u8 = 182;
pub(crate) const INVOKESPECIAL: u8 = 183;
pub(crate) const INVOKEINTERFACE: u8 = 185;
pub(crate) const NEW: u8 = 187;
const WIDE: u8 = 196;

/// Where control goes behind an instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Flow {
    /// On.
    Next,
    /// To an instruction.
    Goto(usize),
    /// On, or to an instruction.
    If(usize),
    /// To one of these: the default, then the cases.
    Switch(Box<[usize]>),
    /// To a subroutine, which comes back behind it.
    Subroutine(usize),
    /// Back from a subroutine.
    Ret,
    /// Out of the method.
    Return,
    /// Where the exception is caught.
    Throw,
}

impl Flow {
    /// Instructions that it names.
    pub(crate) fn targets(&self) -> &[usize] {
        match self {
            Self::Goto(target) | Self::If(target) | Self::Subroutine(target) => std::slice::from_ref(target),
            Self::Switch(targets) => targets,
            Self::Next | Self::Ret | Self::Return | Self::Throw => &[],
        }
    }

    /// Whether control may come to the instruction behind it.
    pub(crate) const fn falls_through(&self) -> bool {
        matches!(self, Self::Next | Self::If(_) | Self::Subroutine(_))
    }
}

/// An instruction.
#[derive(Clone, Debug)]
pub(crate) struct Instruction {
    /// Where it begins.
    pub(crate) bci: usize,
    /// How many bytes it has.
    pub(crate) length: usize,
    /// Its code; that of what is widened for `wide`.
    pub(crate) opcode: u8,
    /// Where control goes behind it.
    pub(crate) flow: Flow,
}

/// An entry of the exception table. The end may be the number of instructions.
#[derive(Clone, Debug)]
pub(crate) struct Handler {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) target: usize,
    pub(crate) catch_type: u16,
}

/// An attribute of code.
#[derive(Clone, Debug)]
pub(crate) struct CodeAttribute<'a> {
    pub(crate) name_index: u16,
    /// Which one it is; empty for those that do not point into code.
    pub(crate) name: &'static str,
    pub(crate) content: &'a [u8],
}

/// The code of a method.
pub(crate) struct Code<'a> {
    pub(crate) max_stack: u16,
    pub(crate) max_locals: u16,
    pub(crate) bytes: &'a [u8],
    pub(crate) instructions: Vec<Instruction>,
    pub(crate) handlers: Vec<Handler>,
    pub(crate) attributes: Vec<CodeAttribute<'a>>,
    count: usize,
    index_of: Vec<usize>,
}

fn broken(error: impl std::fmt::Display) -> Reason {
    format!("its code cannot be read: {error}")
}

impl<'a> Code<'a> {
    /// Reads the content of a `Code` attribute.
    pub(crate) fn read(content: &'a [u8], class: &ClassBytes<'_>) -> Result<Self, Reason> {
        let mut reader = ByteReader::new(content);
        let max_stack = reader.read_u16().map_err(broken)?;
        let max_locals = reader.read_u16().map_err(broken)?;
        let length = reader.read_u32().map_err(broken)?;
        if length == 0 || length > u32::from(u16::MAX) {
            return Err(broken(format!("it has {length} bytes")));
        }
        let bytes = reader.read_bytes(usize::try_from(length).map_err(broken)?).map_err(broken)?;
        let (spans, index_of) = spans(bytes)?;
        let mut code = Self {
            max_stack,
            max_locals,
            bytes,
            instructions: Vec::new(),
            handlers: Vec::new(),
            attributes: Vec::new(),
            count: spans.len(),
            index_of,
        };
        let instructions =
            spans.iter().map(|&(bci, length)| code.decode(bci, length)).collect::<Result<Vec<_>, _>>()?;
        if instructions.last().is_some_and(|last| last.flow.falls_through()) {
            return Err(broken("control falls off its end"));
        }
        code.instructions = instructions;
        code.read_handlers(&mut reader)?;
        for _ in 0..reader.read_u16().map_err(broken)? {
            let name_index = reader.read_u16().map_err(broken)?;
            let length = reader.read_u32().map_err(broken)?;
            let content = reader.read_bytes(usize::try_from(length).map_err(broken)?).map_err(broken)?;
            let name = POINTING.into_iter().find(|name| class.is_utf8(name_index, name)).unwrap_or_default();
            code.attributes.push(CodeAttribute { name_index, name, content });
        }
        if reader.remaining() > 0 {
            return Err(broken("bytes stand behind its end"));
        }
        Ok(code)
    }

    fn read_handlers(&mut self, reader: &mut ByteReader<'_>) -> Result<(), Reason> {
        for _ in 0..reader.read_u16().map_err(broken)? {
            let start = self.index_at(usize::from(reader.read_u16().map_err(broken)?))?;
            let end = usize::from(reader.read_u16().map_err(broken)?);
            let end = if end == self.bytes.len() { self.count() } else { self.index_at(end)? };
            let target = self.index_at(usize::from(reader.read_u16().map_err(broken)?))?;
            let catch_type = reader.read_u16().map_err(broken)?;
            self.handlers.push(Handler { start, end, target, catch_type });
        }
        Ok(())
    }

    /// How many instructions there are.
    pub(crate) const fn count(&self) -> usize {
        self.count
    }

    /// The instruction that begins at this byte.
    pub(crate) fn index_at(&self, bci: usize) -> Result<usize, Reason> {
        self.index_of
            .get(bci)
            .copied()
            .filter(|index| *index != NONE)
            .ok_or_else(|| broken(format!("no instruction begins at byte {bci}")))
    }

    /// The instruction that this byte is of; the number of instructions behind the last.
    pub(crate) fn index_around(&self, bci: u16) -> usize {
        self.instructions.partition_point(|instruction| instruction.bci + instruction.length <= usize::from(bci))
    }

    fn decode(&self, bci: usize, length: usize) -> Result<Instruction, Reason> {
        let at = bci;
        let opcode = self.bytes[at];
        let relative = |offset: i32| {
            let target = isize::try_from(offset).ok().and_then(|offset| bci.checked_add_signed(offset));
            self.index_at(target.ok_or_else(|| broken(format!("the branch at byte {bci} leaves it")))?)
        };
        let flow = match opcode {
            153..=166 | 198 | 199 => Flow::If(relative(i32::from(self.short(at + 1)))?),
            167 => Flow::Goto(relative(i32::from(self.short(at + 1)))?),
            168 => Flow::Subroutine(relative(i32::from(self.short(at + 1)))?),
            200 => Flow::Goto(relative(self.word(at + 1))?),
            201 => Flow::Subroutine(relative(self.word(at + 1))?),
            169 => Flow::Ret,
            172..=177 => Flow::Return,
            191 => Flow::Throw,
            170 | 171 => {
                Flow::Switch(self.switch_offsets(bci).map(|at| relative(self.word(at))).collect::<Result<_, _>>()?)
            }
            WIDE if self.bytes[at + 1] == 169 => Flow::Ret,
            _ => Flow::Next,
        };
        let opcode = if opcode == WIDE { self.bytes[at + 1] } else { opcode };
        Ok(Instruction { bci, length, opcode, flow })
    }

    /// Where in the code the offsets of a switch stand: the default, then the cases. The switch has been measured before.
    pub(crate) fn switch_offsets(&self, bci: usize) -> impl Iterator<Item = usize> + use<> {
        let operands = (bci & !3) + 4;
        let (first, step, count) = if self.bytes[bci] == 170 {
            let count = i64::from(self.word(operands + 8)) - i64::from(self.word(operands + 4)) + 1;
            (operands + 12, 4, count)
        } else {
            (operands + 12, 8, i64::from(self.word(operands + 4)))
        };
        std::iter::once(operands).chain((0..usize::try_from(count).unwrap_or(0)).map(move |case| first + case * step))
    }

    /// The two bytes here, as a signed number; inside the code, as has been measured.
    pub(crate) fn short(&self, at: usize) -> i16 {
        i16::from_be_bytes([self.bytes[at], self.bytes[at + 1]])
    }

    /// The two bytes here: number of a constant.
    pub(crate) fn constant(&self, instruction: &Instruction) -> u16 {
        self.short(instruction.bci + 1).cast_unsigned()
    }

    fn word(&self, at: usize) -> i32 {
        i32::from_be_bytes([self.bytes[at], self.bytes[at + 1], self.bytes[at + 2], self.bytes[at + 3]])
    }

    /// The local variable that an instruction stores to.
    pub(crate) fn stores_to(&self, instruction: &Instruction) -> Option<(u16, u16)> {
        let at = instruction.bci;
        let operand = || {
            if self.bytes[at] == WIDE { self.short(at + 2).cast_unsigned() } else { u16::from(self.bytes[at + 1]) }
        };
        let two = |opcode| if opcode == 55 || opcode == 57 { 2 } else { 1 };
        match instruction.opcode {
            opcode @ 54..=58 => Some((operand(), two(opcode))),
            132 => Some((operand(), 1)),
            opcode @ 59..=78 => Some((u16::from((opcode - 59) % 4), two(54 + (opcode - 59) / 4))),
            _ => None,
        }
    }

    /// The attribute of this name.
    pub(crate) fn attribute(&self, name: &str) -> Option<&'a [u8]> {
        self.attributes.iter().find(|attribute| attribute.name == name).map(|attribute| attribute.content)
    }
}

/// Where an instruction begins, and how many bytes it has.
type Span = (usize, usize);

/// Where instructions begin and how long they are, and the other way round: which instruction begins at a byte.
fn spans(bytes: &[u8]) -> Result<(Vec<Span>, Vec<usize>), Reason> {
    let mut spans = Vec::with_capacity(bytes.len() / 2);
    let mut index_of = vec![NONE; bytes.len()];
    let mut at = 0;
    while at < bytes.len() {
        let length = length(bytes, at).filter(|length| at + length <= bytes.len());
        let length = length.ok_or_else(|| broken(format!("the instruction at byte {at} is none, or cut off")))?;
        index_of[at] = spans.len();
        spans.push((at, length));
        at += length;
    }
    Ok((spans, index_of))
}

/// The codes of the instructions of a method, as far as they can be told apart.
pub(crate) fn opcodes(bytes: &[u8]) -> impl Iterator<Item = u8> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let opcode = *bytes.get(at)?;
        // The last one is told also where its length is not known.
        at = length(bytes, at).filter(|length| *length > 0).map_or(bytes.len(), |length| at.saturating_add(length));
        Some(opcode)
    })
}

/// How many bytes the instruction here has.
fn length(bytes: &[u8], at: usize) -> Option<usize> {
    let word = |at: usize| {
        let bytes: [u8; 4] = bytes.get(at..at + 4)?.try_into().ok()?;
        Some(i64::from(i32::from_be_bytes(bytes)))
    };
    let opcode = *bytes.get(at)?;
    let operands = (at & !3) + 4;
    match (opcode, *LENGTHS.get(usize::from(opcode))?) {
        (170, _) => {
            let cases = word(operands + 8)? - word(operands + 4)? + 1;
            usize::try_from(cases).ok().filter(|cases| *cases > 0)?.checked_mul(4)?.checked_add(operands + 12 - at)
        }
        (171, _) => usize::try_from(word(operands + 4)?).ok()?.checked_mul(8)?.checked_add(operands + 8 - at),
        (WIDE, _) => match *bytes.get(at + 1)? {
            132 => Some(6),
            21..=25 | 54..=58 | 169 => Some(4),
            _ => None,
        },
        (_, length) => Some(usize::from(length)),
    }
}

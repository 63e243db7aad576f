//! What an exception handler does with its exception, as far as its bytecode says that.
//!
//! Every way through a handler is gone until it reads the exception, loses it, or throws it again. The bytecode is the target's, and may
//! be anything: each instruction is looked at once, and where one cannot be followed the handler is taken for one that reads.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

/// What a handler does with the exception.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Use {
    /// It may read it.
    Reads,
    /// No way through it reads it.
    Ignores,
    /// Every way through it throws it again, from this bytecode index: `finally`, `synchronized`, `try` with resources.
    Rethrows(u16),
}

/// Most instructions that are followed.
const MAX_INSTRUCTIONS: usize = 512;

mod op {
    pub(super) const ALOAD: u8 = 0x19;
    pub(super) const ALOAD_0: u8 = 0x2a;
    pub(super) const ALOAD_3: u8 = 0x2d;
    /// All that store into a variable: with its number behind them, then those that say it themselves, four for each kind.
    pub(super) const ISTORE: u8 = 0x36;
    pub(super) const ASTORE: u8 = 0x3a;
    pub(super) const ISTORE_0: u8 = 0x3b;
    pub(super) const ASTORE_3: u8 = 0x4e;
    pub(super) const ASTORE_0: u8 = 0x4b;
    pub(super) const POP: u8 = 0x57;
    pub(super) const IFEQ: u8 = 0x99;
    pub(super) const IF_ACMPNE: u8 = 0xa6;
    pub(super) const GOTO: u8 = 0xa7;
    pub(super) const IRETURN: u8 = 0xac;
    pub(super) const RETURN: u8 = 0xb1;
    pub(super) const ATHROW: u8 = 0xbf;
    pub(super) const IFNULL: u8 = 0xc6;
    pub(super) const IFNONNULL: u8 = 0xc7;
    pub(super) const GOTO_W: u8 = 0xc8;
}

/// What the handler at a bytecode index does with the exception that it is given. `of_class_file` says what opcode of a class file an
/// opcode stands for: a JVM has some of its own.
pub fn does(code: &[u8], of_class_file: impl Fn(u8) -> Option<u8>, handler: u16) -> Use {
    followed(code, &of_class_file, handler).unwrap_or(Use::Reads)
}

fn followed(code: &[u8], of_class_file: &dyn Fn(u8) -> Option<u8>, handler: u16) -> Option<Use> {
    let begin = usize::from(handler);
    let first = of_class_file(*code.get(begin)?)?;
    let variable = match first {
        op::ATHROW => return Some(Use::Rethrows(handler)),
        op::POP => return Some(Use::Ignores),
        op::ASTORE => usize::from(*code.get(begin + 1)?),
        op::ASTORE_0..=op::ASTORE_3 => usize::from(first - op::ASTORE_0),
        _ => return None,
    };
    let mut ways = Ways { code, of_class_file, variable, open: vec![begin + length(first)?], seen: HashSet::new() };
    ways.all()
}

/// Ways through a handler.
struct Ways<'a> {
    code: &'a [u8],
    of_class_file: &'a dyn Fn(u8) -> Option<u8>,
    /// Where the exception is.
    variable: usize,
    open: Vec<usize>,
    seen: HashSet<usize>,
}

impl Ways<'_> {
    fn all(&mut self) -> Option<Use> {
        let (mut rethrows, mut loses) = (None, false);
        while let Some(at) = self.open.pop() {
            if !self.seen.insert(at) {
                continue;
            }
            if self.seen.len() > MAX_INSTRUCTIONS {
                return None;
            }
            let opcode = (self.of_class_file)(*self.code.get(at)?)?;
            if self.loads(opcode, at) {
                let behind = at + length(opcode)?;
                if self.code.get(behind) != Some(&op::ATHROW) {
                    return Some(Use::Reads);
                }
                rethrows = Some(u16::try_from(behind).ok()?);
            } else if self.stores(opcode, at) || matches!(opcode, op::IRETURN..=op::RETURN | op::ATHROW) {
                loses = true;
            } else {
                self.go_on(opcode, at)?;
            }
        }
        match rethrows {
            Some(at) if !loses => Some(Use::Rethrows(at)),
            Some(_) => Some(Use::Reads),
            None => Some(Use::Ignores),
        }
    }

    /// Adds what runs next.
    fn go_on(&mut self, opcode: u8, at: usize) -> Option<()> {
        let target = |offset: isize| at.checked_add_signed(offset);
        match opcode {
            op::GOTO => self.open.push(target(self.short(at + 1)?)?),
            op::GOTO_W => self.open.push(target(self.long(at + 1)?)?),
            op::IFEQ..=op::IF_ACMPNE | op::IFNULL | op::IFNONNULL => {
                self.open.extend([target(self.short(at + 1)?)?, at + length(opcode)?]);
            }
            _ => self.open.push(at + length(opcode)?),
        }
        Some(())
    }

    fn loads(&self, opcode: u8, at: usize) -> bool {
        match opcode {
            op::ALOAD => self.code.get(at + 1).is_some_and(|number| usize::from(*number) == self.variable),
            op::ALOAD_0..=op::ALOAD_3 => usize::from(opcode - op::ALOAD_0) == self.variable,
            _ => false,
        }
    }

    fn stores(&self, opcode: u8, at: usize) -> bool {
        match opcode {
            op::ISTORE..=op::ASTORE => {
                self.code.get(at + 1).is_some_and(|number| usize::from(*number) == self.variable)
            }
            op::ISTORE_0..=op::ASTORE_3 => usize::from((opcode - op::ISTORE_0) % 4) == self.variable,
            _ => false,
        }
    }

    fn short(&self, at: usize) -> Option<isize> {
        let bytes = self.code.get(at..)?.first_chunk()?;
        Some(i16::from_be_bytes(*bytes).into())
    }

    fn long(&self, at: usize) -> Option<isize> {
        let bytes = self.code.get(at..)?.first_chunk()?;
        isize::try_from(i32::from_be_bytes(*bytes)).ok()
    }
}

/// Bytes of an instruction, by its opcode in the class file; of none that has no fixed length, or calls within the method (`jsr`, `ret`,
/// `wide` of it).
///
/// The JVM's own opcodes stand where these stood, and leave what is behind them: some do what the next one says as well, which is skipped
/// then.
const fn length(opcode: u8) -> Option<usize> {
    Some(match opcode {
        0x00..=0x0f | 0x1a..=0x35 | 0x3b..=0x83 | 0x85..=0x98 | 0xac..=0xb1 | 0xbe..=0xbf | 0xc2..=0xc3 => 1,
        0x10 | 0x12 | 0x15..=0x19 | 0x36..=0x3a | 0xbc => 2,
        0x11 | 0x13..=0x14 | 0x84 | 0x99..=0xa7 | 0xb2..=0xb8 | 0xbb | 0xbd | 0xc0..=0xc1 | 0xc6..=0xc7 => 3,
        0xc5 => 4,
        0xb9..=0xba | 0xc8 => 5,
        _ => return None,
    })
}

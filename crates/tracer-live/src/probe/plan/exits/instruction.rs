//! Where an x86-64 instruction ends, and whether it leaves its function. Nothing else is decoded.
//!
//! Encodings that compilers do not write are refused rather than guessed: whoever walks through code would be out of step
//! from then on.

/// Longest instruction of x86-64.
const MAX_BYTES: usize = 15;

/// What an instruction does to the flow of control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flow {
    /// It goes on behind it; a call does so in the end.
    On,
    /// It returns.
    Return,
    /// It goes on this far behind it.
    Jump(i64),
    /// It goes on this far behind it, or behind it.
    Branch(i64),
    /// It goes on wherever a register or memory says.
    Elsewhere,
}

/// An instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Instruction {
    pub(super) bytes: usize,
    pub(super) flow: Flow,
}

/// The instruction that code begins with; none where it is unknown or cut.
pub(super) fn first(code: &[u8]) -> Option<Instruction> {
    let mut reader = Reader { code: code.get(..MAX_BYTES).unwrap_or(code), at: 0 };
    let flow = reader.instruction()?;
    Some(Instruction { bytes: reader.at, flow })
}

struct Reader<'a> {
    code: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn byte(&mut self) -> Option<u8> {
        let byte = *self.code.get(self.at)?;
        self.at += 1;
        Some(byte)
    }

    fn skip(&mut self, bytes: usize) -> Option<()> {
        self.at += bytes;
        (self.at <= self.code.len()).then_some(())
    }

    /// A distance of one byte or of four.
    fn distance(&mut self, bytes: usize) -> Option<i64> {
        let start = self.at;
        self.skip(bytes)?;
        let read = self.code.get(start..self.at)?;
        match *read {
            [byte] => Some(byte.cast_signed().into()),
            [a, b, c, d] => Some(i32::from_le_bytes([a, b, c, d]).into()),
            _ => None,
        }
    }

    /// Passes a `ModRM` byte with all that belongs to it, and gives it.
    fn operands(&mut self) -> Option<u8> {
        let modrm = self.byte()?;
        let (mode, low) = (modrm >> 6, modrm & 7);
        let base = if mode != 3 && low == 4 { self.byte()? & 7 } else { low };
        match mode {
            0 if base == 5 => self.skip(4)?,
            1 => self.skip(1)?,
            2 => self.skip(4)?,
            _ => {}
        }
        Some(modrm)
    }

    fn instruction(&mut self) -> Option<Flow> {
        let (mut narrow, mut wide) = (false, false);
        let opcode = loop {
            match self.byte()? {
                0x66 => narrow = true,
                0x26 | 0x2e | 0x36 | 0x3e | 0x64 | 0x65 | 0xf0 | 0xf2 | 0xf3 => {}
                rex @ 0x40..=0x4f => {
                    wide = rex & 8 != 0;
                    break self.byte()?;
                }
                opcode => break opcode,
            }
        };
        // Immediate values have at most four bytes, but for moves into a register.
        let full = if narrow && !wide { 2 } else { 4 };
        match opcode {
            0x0f => return self.two_byte_opcode(),
            0x00..=0x3f if opcode & 7 < 4 => self.operands().map(drop)?,
            0x00..=0x3f if opcode & 7 == 4 => self.skip(1)?,
            0x00..=0x3f if opcode & 7 == 5 => self.skip(full)?,
            0x50..=0x5f
            | 0x6c..=0x6f
            | 0x90..=0x99
            | 0x9b..=0x9f
            | 0xa4..=0xa7
            | 0xaa..=0xaf
            | 0xc9
            | 0xcc
            | 0xec..=0xef
            | 0xf1
            | 0xf4
            | 0xf5
            | 0xf8..=0xfd => {}
            0x63 | 0x84..=0x8f | 0xd0..=0xd3 | 0xd8..=0xdf | 0xfe => self.operands().map(drop)?,
            0x68 | 0xa9 => self.skip(full)?,
            0x6a | 0xa8 | 0xb0..=0xb7 | 0xcd | 0xe4..=0xe7 => self.skip(1)?,
            0x69 | 0x81 | 0xc7 => self.operands().and_then(|_| self.skip(full))?,
            0x6b | 0x80 | 0x83 | 0xc0 | 0xc1 | 0xc6 => self.operands().and_then(|_| self.skip(1))?,
            0xa0..=0xa3 => self.skip(8)?,
            0xb8..=0xbf => self.skip(if wide { 8 } else { full })?,
            0xf6 | 0xf7 => {
                let modrm = self.operands()?;
                // Of this group only `test` has an immediate value.
                let bytes = if opcode == 0xf6 { 1 } else { full };
                self.skip(if modrm & 0x38 < 0x10 { bytes } else { 0 })?;
            }
            0xe8 => self.skip(4)?,
            0xc3 | 0xcb => return Some(Flow::Return),
            0xc2 | 0xca => return self.skip(2).map(|()| Flow::Return),
            0xe9 => return self.distance(4).map(Flow::Jump),
            0xeb => return self.distance(1).map(Flow::Jump),
            0x70..=0x7f | 0xe0..=0xe3 => return self.distance(1).map(Flow::Branch),
            0xff => {
                let is_jump = matches!(self.operands()? >> 3 & 7, 4 | 5);
                return Some(if is_jump { Flow::Elsewhere } else { Flow::On });
            }
            0xc5 => return self.skip(1).and_then(|()| self.vector(1)),
            0xc4 => {
                let map = self.byte()? & 0x1f;
                return self.skip(1).and_then(|()| self.vector(map));
            }
            _ => return None,
        }
        Some(Flow::On)
    }

    fn two_byte_opcode(&mut self) -> Option<Flow> {
        let opcode = self.byte()?;
        match opcode {
            0x38 => self.skip(1).and_then(|()| self.operands()).map(drop)?,
            0x3a => self.skip(1).and_then(|()| self.operands()).and_then(|_| self.skip(1))?,
            0x80..=0x8f => return self.distance(4).map(Flow::Branch),
            0x05..=0x09 | 0x0b | 0x30..=0x33 | 0x77 | 0xa0..=0xa2 | 0xa8..=0xaa | 0xc8..=0xcf => {}
            0x04 | 0x0a | 0x0c | 0x0e | 0x0f | 0x24..=0x27 | 0x34..=0x3f | 0xa6 | 0xa7 => return None,
            _ => {
                self.operands()?;
                self.skip(usize::from(has_immediate(opcode)))?;
            }
        }
        Some(Flow::On)
    }

    /// What follows a VEX prefix.
    fn vector(&mut self, map: u8) -> Option<Flow> {
        let opcode = self.byte()?;
        match (map, opcode) {
            // `vzeroupper` and `vzeroall`.
            (1, 0x77) => {}
            (1..=3, _) => {
                self.operands()?;
                self.skip(usize::from(map == 3 || map == 1 && has_immediate(opcode)))?;
            }
            _ => return None,
        }
        Some(Flow::On)
    }
}

/// Whether an opcode after 0x0f has an immediate value of one byte.
const fn has_immediate(opcode: u8) -> bool {
    matches!(opcode, 0x70..=0x73 | 0xa4 | 0xac | 0xba | 0xc2 | 0xc4..=0xc6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(flow: Flow, code: &[u8]) {
        let padded = [code, &[0x90; 16]].concat();
        assert_eq!(first(&padded), Some(Instruction { bytes: code.len(), flow }), "{code:x?}");
        for len in 0..code.len() {
            assert_eq!(first(&code[..len]), None, "{code:x?} is cut");
        }
    }

    #[test]
    fn instructions_end_where_they_end() {
        check(Flow::On, &[0x55]);
        check(Flow::On, &[0x48, 0x89, 0xe5]);
        check(Flow::On, &[0x48, 0x8b, 0x05, 1, 2, 3, 4]);
        check(Flow::On, &[0x48, 0x8b, 0x44, 0x24, 8]);
        check(Flow::On, &[0x8b, 0x04, 0x25, 1, 2, 3, 4]);
        check(Flow::On, &[0x48, 0xb8, 1, 2, 3, 4, 5, 6, 7, 8]);
        check(Flow::On, &[0x66, 0xc7, 0x45, 0xf0, 1, 2]);
        check(Flow::On, &[0xf6, 0x47, 8, 1]);
        check(Flow::On, &[0xf7, 0xd8]);
        check(Flow::On, &[0x66, 0x0f, 0x3a, 0x0f, 0xc1, 8]);
        check(Flow::On, &[0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0]);
        check(Flow::On, &[0xf0, 0x48, 0x0f, 0xb1, 0x0f]);
        check(Flow::On, &[0xc5, 0xf9, 0x70, 0xc1, 1]);
        check(Flow::On, &[0xc4, 0xe2, 0x7d, 0x58, 0xc0]);
        check(Flow::On, &[0x66, 0x66, 0x48, 0xe8, 1, 2, 3, 4]);
        check(Flow::On, &[0xff, 0x50, 0x18]);
    }

    #[test]
    fn what_leaves_a_function_is_told() {
        check(Flow::Return, &[0xc3]);
        check(Flow::Return, &[0xf3, 0xc3]);
        check(Flow::Return, &[0xc2, 8, 0]);
        check(Flow::Jump(-2), &[0xeb, 0xfe]);
        check(Flow::Jump(0x100), &[0xe9, 0, 1, 0, 0]);
        check(Flow::Branch(-1), &[0x0f, 0x84, 0xff, 0xff, 0xff, 0xff]);
        check(Flow::Elsewhere, &[0xff, 0xe0]);
        check(Flow::Elsewhere, &[0x3e, 0xff, 0xe0]);
    }

    #[test]
    fn what_no_compiler_writes_is_refused() {
        for code in [&[0x06][..], &[0x62, 0xf1], &[0x9a], &[0x0f, 0x0a], &[0xc4, 0x1f, 0, 0]] {
            assert_eq!(first(&[code, &[0; 16]].concat()), None, "{code:x?}");
        }
        assert_eq!(first(&[0x66; 32]), None);
    }
}

//! Writing the code of a method anew: its instructions as they were, at their new places, with what was found to stand
//! between them, and everything that points into code pointing to the new places.

use super::code::{Code, Handler, Instruction, Reason};
use super::paths::Paths;
use super::tables::Moved;

const GOTO: u8 = 167;
const ATHROW: u8 = 191;
/// Most bytes that a method's code may have.
const MOST_BYTES: usize = 65_535;
/// Most bytes of a method's code that HotSpot compiles (`HugeMethodLimit`).
const MOST_COMPILED: usize = 8_000;

/// Where everything is now.
pub(crate) struct Layout {
    /// By instruction, and then the end of them: where branches go.
    labels: Vec<usize>,
    /// By instruction, and then the end of them: where it is itself.
    instructions: Vec<usize>,
    /// By instruction: how long it is; a switch may have changed.
    lengths: Vec<usize>,
    /// Where each handler of what nothing else catches is.
    pub(crate) last: Vec<usize>,
    /// Where each detour is.
    pub(crate) detours: Vec<usize>,
    /// By entry of the old exception table: its first new one.
    first_handlers: Vec<u16>,
}

impl Moved for Layout {
    fn label(&self, index: usize) -> usize {
        self.labels[index.min(self.labels.len() - 1)]
    }

    fn instruction(&self, index: usize) -> usize {
        self.instructions[index.min(self.instructions.len() - 1)]
    }

    fn handler(&self, old: u16) -> u16 {
        self.first_handlers.get(usize::from(old)).copied().unwrap_or(old)
    }
}

/// Bytes between a switch's code and its operands.
const fn padding(at: usize) -> usize {
    3 - (at & 3)
}

/// Whether it is a `tableswitch` or `lookupswitch`.
const fn is_switch(instruction: &Instruction) -> bool {
    matches!(instruction.opcode, 170 | 171)
}

impl Layout {
    /// Gives everything its place.
    pub(crate) fn new(code: &Code<'_>, paths: &Paths) -> Result<Self, Reason> {
        let count = code.count();
        let mut layout = Self {
            labels: Vec::with_capacity(count + 1),
            instructions: Vec::with_capacity(count + 1),
            lengths: Vec::with_capacity(count),
            last: Vec::new(),
            detours: Vec::new(),
            first_handlers: Vec::new(),
        };
        let mut at = 0;
        for (index, instruction) in code.instructions.iter().enumerate() {
            at += paths.falling[index].len();
            layout.labels.push(at);
            at += paths.before[index].len();
            layout.instructions.push(at);
            let length = if is_switch(instruction) {
                instruction.length - padding(instruction.bci) + padding(at)
            } else {
                instruction.length
            };
            layout.lengths.push(length);
            at += length;
        }
        layout.labels.push(at);
        layout.instructions.push(at);
        for handler in &paths.last {
            layout.last.push(at);
            at += handler.calls.len() + 1;
        }
        for detour in &paths.detours {
            layout.detours.push(at);
            at += detour.calls.len() + 3;
        }
        if at > MOST_BYTES {
            return Err("its code would be longer than the 65,535 bytes that a method may have".to_owned());
        }
        if at > MOST_COMPILED && code.bytes.len() <= MOST_COMPILED {
            return Err("its code would be longer than the 8,000 bytes up to which HotSpot compiles".to_owned());
        }
        Ok(layout)
    }

    /// The code.
    pub(crate) fn write(&self, code: &Code<'_>, paths: &Paths) -> Result<Vec<u8>, Reason> {
        let mut bytes = Vec::new();
        for (index, instruction) in code.instructions.iter().enumerate() {
            bytes.extend(&paths.falling[index]);
            bytes.extend(&paths.before[index]);
            self.write_instruction(code, paths, index, instruction, &mut bytes)?;
        }
        for handler in &paths.last {
            bytes.extend(&handler.calls);
            bytes.push(ATHROW);
        }
        for detour in &paths.detours {
            bytes.extend(&detour.calls);
            let offset = near(bytes.len(), self.labels[detour.target])?;
            bytes.push(GOTO);
            bytes.extend(offset);
        }
        Ok(bytes)
    }

    fn write_instruction(
        &self,
        code: &Code<'_>,
        paths: &Paths,
        index: usize,
        instruction: &Instruction,
        bytes: &mut Vec<u8>,
    ) -> Result<(), Reason> {
        let at = bytes.len();
        let old = &code.bytes[instruction.bci..instruction.bci + instruction.length];
        let place = |target: &usize| match paths.branches.get(&(index, *target)) {
            Some(detour) => self.detours[*detour],
            None => self.labels[*target],
        };
        let targets = instruction.flow.targets();
        if is_switch(instruction) {
            bytes.push(old[0]);
            bytes.extend(std::iter::repeat_n(0, padding(at)));
            bytes.extend(&old[1 + padding(instruction.bci)..]);
            for (operand, target) in code.switch_offsets(instruction.bci).zip(targets) {
                let operand = at + 1 + padding(at) + (operand - (instruction.bci + 1 + padding(instruction.bci)));
                bytes[operand..operand + 4].copy_from_slice(&far(at, place(target))?);
            }
            return Ok(());
        }
        bytes.extend(old);
        if let Some(target) = targets.first() {
            let place = place(target);
            match old.len() {
                3 => bytes[at + 1..].copy_from_slice(&near(at, place)?),
                _ => bytes[at + 1..].copy_from_slice(&far(at, place)?),
            }
        }
        Ok(())
    }

    /// The exception table: old entries, parted where some of their instructions take a detour, then the handlers of what
    /// nothing else catches.
    pub(crate) fn write_handlers(&mut self, code: &Code<'_>, paths: &Paths) -> Result<Vec<u8>, Reason> {
        let mut table = Vec::new();
        for Handler { start, end, target, catch_type } in &code.handlers {
            if start >= end {
                return Err("an entry of its exception table covers nothing".to_owned());
            }
            let entries = u16::try_from(table.len() / 8).map_err(|_| too_many_handlers())?;
            self.first_handlers.push(entries);
            let place = |index: usize| match paths.caught.get(&(index, *target)) {
                Some(detour) => self.detours[*detour],
                None => self.labels[*target],
            };
            self.runs(*start..*end, |index| Some(place(index)), *catch_type, &mut table)?;
            // Where the stack has no room left for a call of the recorder, the error goes where the exception would have gone: a
            // monitor is left in spite of it.
            let mut detours: Vec<usize> =
                (*start..*end).filter_map(|index| paths.caught.get(&(index, *target)).copied()).collect();
            detours.dedup();
            for detour in detours {
                let (begins, calls) = (self.detours[detour], paths.detours[detour].calls.len());
                entry([begins, begins + calls, self.labels[*target]], *catch_type, &mut table)?;
            }
        }
        self.runs(0..code.count(), |index| paths.uncaught[index].map(|number| self.last[number]), 0, &mut table)?;
        let count = u16::try_from(table.len() / 8).map_err(|_| too_many_handlers())?;
        let mut bytes = count.to_be_bytes().to_vec();
        bytes.extend(table);
        Ok(bytes)
    }

    /// An entry for each longest row of instructions that have the same handler.
    fn runs(
        &self,
        range: std::ops::Range<usize>,
        handler_of: impl Fn(usize) -> Option<usize>,
        catch_type: u16,
        table: &mut Vec<u8>,
    ) -> Result<(), Reason> {
        let mut index = range.start;
        while index < range.end {
            let handler = handler_of(index);
            let first = index;
            while index < range.end && handler_of(index) == handler {
                index += 1;
            }
            let Some(handler) = handler else { continue };
            let end = self.instructions[index - 1] + self.lengths[index - 1];
            entry([self.instructions[first], end, handler], catch_type, table)?;
        }
        Ok(())
    }
}

/// An entry of the exception table: where it begins, where it ends, and its handler.
fn entry(places: [usize; 3], catch_type: u16, table: &mut Vec<u8>) -> Result<(), Reason> {
    for place in places {
        table.extend(u16::try_from(place).map_err(|_| too_many_handlers())?.to_be_bytes());
    }
    table.extend(catch_type.to_be_bytes());
    if table.len() / 8 > usize::from(u16::MAX) { Err(too_many_handlers()) } else { Ok(()) }
}

fn too_many_handlers() -> Reason {
    "its exception table would have too many entries".to_owned()
}

/// The operand of a branch with two bytes.
fn near(from: usize, to: usize) -> Result<[u8; 2], Reason> {
    let offset = i16::try_from(to.cast_signed() - from.cast_signed());
    Ok(offset.map_err(|_| "a branch would have to go further than 32,767 bytes")?.to_be_bytes())
}

/// The operand of a branch with four bytes.
fn far(from: usize, to: usize) -> Result<[u8; 4], Reason> {
    let offset = i32::try_from(to.cast_signed() - from.cast_signed());
    Ok(offset.map_err(|_| "a branch would have to go too far")?.to_be_bytes())
}

//! Goes through the code of a segment.

use iced_x86::{Decoder, DecoderOptions, Instruction, Mnemonic, OpKind};
use tracer_common::unwind::{Row, Rule};

use super::{
    Known, Segment,
    frame::{Frame, begins_function},
};
use crate::unwind::table::MAX_ROWS;

/// How often code is looked for behind jumps through tables: it may have such jumps itself.
const MAX_ROUNDS: usize = 4;
/// What compilers align functions to.
const ALIGNMENT: u32 = 16;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Pass {
    Functions,
    Rules,
}

/// What is known of a segment, by its bytes.
pub(super) struct Walk<'data> {
    segment: Segment<'data>,
    known: &'data Known,
    decoder: Decoder<'data>,
    /// The rule of each byte that was followed, and else [`Rule::NONE`].
    rules: Vec<Rule>,
    /// Where an instruction begins behind a jump through a table, with the jump's frame.
    behind_jumps: Vec<(u32, Frame)>,
    /// Addresses that code takes.
    taken: Vec<u32>,
    /// Functions that were called or taken.
    pub(super) found: Vec<u32>,
    pass: Pass,
    left: Vec<(u32, Frame)>,
}

impl<'data> Walk<'data> {
    pub(super) fn new(segment: &Segment<'data>, known: &'data Known, pass: Pass) -> Self {
        Self {
            segment: *segment,
            known,
            decoder: Decoder::new(64, segment.bytes, DecoderOptions::NONE),
            rules: vec![Rule::NONE; segment.bytes.len()],
            behind_jumps: Vec::new(),
            taken: known.taken.clone(),
            found: Vec::new(),
            pass,
            left: Vec::new(),
        }
    }

    pub(super) fn run(&mut self) {
        for entry in &self.known.entries {
            self.follow(*entry, Frame::ENTRY);
        }
        // What only a table of jumps leads to, and then what nothing leads to but its address.
        for _ in 0..MAX_ROUNDS {
            let mut jumps = std::mem::take(&mut self.behind_jumps);
            jumps.sort_unstable_by_key(|(address, _)| *address);
            let ends: Vec<u32> = jumps.iter().skip(1).map(|(address, _)| *address).chain([u32::MAX]).collect();
            for ((address, frame), end) in jumps.into_iter().zip(ends) {
                self.follow_rest(address, end, frame);
            }
        }
        while let Some(address) = self.taken.pop() {
            self.found.push(address);
            self.follow(address, Frame::ENTRY);
        }
    }

    /// Follows what else is there up to the next function: cases of a `switch`, which nothing but a table leads to.
    fn follow_rest(&mut self, from: u32, end: u32, frame: Frame) {
        let next = self.known.entries.partition_point(|entry| *entry < from);
        let next = self.known.entries.get(next).copied().unwrap_or(u32::MAX);
        let end = end.min(next).min(self.segment.end());
        let mut address = from;
        while address < end {
            if !self.is_new(address) {
                address += 1;
                continue;
            }
            match self.decoded(address) {
                Some(padding) if matches!(padding.mnemonic(), Mnemonic::Nop | Mnemonic::Int3) => {
                    address = padding.next_ip32();
                }
                Some(first) if begins_function(&first) => return,
                Some(_) => self.follow(address, frame),
                None => return,
            }
        }
    }

    /// The instruction there.
    fn decoded(&mut self, address: u32) -> Option<Instruction> {
        let offset = address.checked_sub(self.segment.address)?;
        self.decoder.set_position(offset as usize).ok()?;
        self.decoder.set_ip(address.into());
        let instruction = self.decoder.decode();
        (!instruction.is_invalid()).then_some(instruction)
    }

    /// Whether code lies there that was not followed yet.
    fn is_new(&self, address: u32) -> bool {
        let offset = address.checked_sub(self.segment.address);
        offset.and_then(|offset| self.rules.get(offset as usize)) == Some(&Rule::NONE)
    }

    /// Follows code until all that it leads to is known.
    fn follow(&mut self, address: u32, frame: Frame) {
        self.left.push((address, frame));
        while let Some((mut address, mut frame)) = self.left.pop() {
            while self.is_new(address) {
                let Some(next) = self.step(address, frame) else { break };
                (address, frame) = next;
                // Another function begins there, and the last call does not come back.
                if frame != Frame::ENTRY && self.known.entries.contains_sorted(address) {
                    break;
                }
            }
        }
    }

    /// Reads one instruction; returns the next one that is run if nothing jumps.
    fn step(&mut self, address: u32, frame: Frame) -> Option<(u32, Frame)> {
        let instruction = self.decoded(address)?;
        let offset = (address - self.segment.address) as usize;
        self.rules[offset..][..instruction.len()].fill(frame.rule());
        let next = u32::try_from(instruction.next_ip()).ok()?;
        if instruction.op0_kind() == OpKind::NearBranch64 {
            let target = u32::try_from(instruction.near_branch_target()).ok()?;
            if instruction.mnemonic() != Mnemonic::Call {
                self.left.push((target, frame));
                return (instruction.mnemonic() != Mnemonic::Jmp).then_some((next, frame));
            }
            if self.pass == Pass::Functions {
                self.found.push(target);
            }
            let comes_back = !self.known.never.contains_sorted(target) && !self.is_padding(next);
            return comes_back.then_some((next, frame));
        }
        if instruction.mnemonic() == Mnemonic::Jmp {
            self.behind_jumps.push((next, frame));
            return None;
        }
        if instruction.mnemonic() == Mnemonic::Lea && instruction.is_ip_rel_memory_operand() {
            self.taken.extend(u32::try_from(instruction.ip_rel_memory_address()));
        }
        match instruction.mnemonic() {
            Mnemonic::Ret
            | Mnemonic::Retf
            | Mnemonic::Iretq
            | Mnemonic::Hlt
            | Mnemonic::Ud2
            | Mnemonic::Int3
            | Mnemonic::Enter => None,
            _ => Some((next, frame.behind(&instruction))),
        }
    }

    /// Whether what fills up to the next function begins there: instructions that do nothing, up to a multiple of 16.
    fn is_padding(&mut self, mut address: u32) -> bool {
        let begin = address;
        while !address.is_multiple_of(ALIGNMENT) || address == begin {
            match self.decoded(address) {
                Some(padding) if matches!(padding.mnemonic(), Mnemonic::Nop | Mnemonic::Int3) => {
                    address = padding.next_ip32();
                }
                _ => return false,
            }
        }
        true
    }

    /// Adds what is known, in the order of addresses; between what was followed there is no rule.
    pub(super) fn push_rows(&self, rows: &mut Vec<Row>) {
        for (address, rule) in (self.segment.address..).zip(self.rules.iter().copied().chain([Rule::NONE])) {
            // Where the segment before ends, nothing is known only if this one does not say it.
            rows.pop_if(|last| last.address == address);
            if rows.last().is_none_or(|last| last.rule != rule) && rows.len() < MAX_ROWS {
                rows.push(Row { address, rule });
            }
        }
    }
}

/// Whether a sorted list has an address.
trait ContainsSorted {
    fn contains_sorted(&self, address: u32) -> bool;
}

impl ContainsSorted for [u32] {
    fn contains_sorted(&self, address: u32) -> bool {
        self.binary_search(&address).is_ok()
    }
}

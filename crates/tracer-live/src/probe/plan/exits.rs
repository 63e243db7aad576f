//! Where a function is left: the end of what its entry begins.
//!
//! Sites at the returns themselves leave the stack as it is; a probe of returns would put an address of its own there, at which
//! unwinding ends. The code is walked through instruction by instruction. A function that jumps where no instruction says, or
//! leaves by a condition, has no known exits, and so is not used: an end that is not seen would be taken for a thing that lasts.

mod instruction;

use std::collections::BTreeMap;

use self::instruction::{Flow, first};
use super::{Entry, Libjvm};
use crate::probe::catalog::{Moment, PROBES, Probe};

/// Most bytes of a function that are walked through; the longest of the catalogue has 6,000.
const MAX_CODE_BYTES: u64 = 64 << 10;
/// Most exits of a function.
const MAX_EXITS: usize = 16;

impl Libjvm {
    /// Finds the exits of the catalogue's functions that need them, where a probe has no note. `read` gives bytes of the file by
    /// offset and number.
    ///
    /// # Errors
    /// What `read` fails with.
    pub fn find_exits<E>(&mut self, read: impl Fn(u64, usize) -> Result<Vec<u8>, E>) -> Result<(), E> {
        let mut exits = BTreeMap::new();
        let unnoted = PROBES.iter().filter(|probe| {
            probe.usdt().is_none_or(|usdt| self.sites.locations(usdt.provider, usdt.name).next().is_none())
        });
        for function in unnoted.flat_map(Probe::functions).filter(|function| function.at == Moment::Exit) {
            for entry in self.entries(function) {
                let mut parts = Vec::new();
                for part in self.code_of(entry).into_iter().filter(|part| part.bytes <= MAX_CODE_BYTES) {
                    parts.push((part, read(part.file_offset, usize::try_from(part.bytes).unwrap_or(0))?));
                }
                exits.insert(entry.address, exits_of(&parts).unwrap_or_default());
            }
        }
        self.exits = exits;
        Ok(())
    }
}

/// The exits of a function that lies in these parts, the first of them at its entry; none where they are not sure.
fn exits_of(parts: &[(Entry, Vec<u8>)]) -> Option<Vec<Entry>> {
    let part_at = |address: u64| {
        parts.iter().position(|(part, code)| (part.address..part.address + code.len() as u64).contains(&address))
    };
    let mut reached = vec![0];
    let mut exits = Vec::new();
    let mut next = 0;
    while let Some(&index) = reached.get(next) {
        next += 1;
        let (part, code) = parts.get(index)?;
        if code.is_empty() || code.len() as u64 != part.bytes {
            return None;
        }
        let mut at = 0;
        while at < code.len() {
            let instruction = first(code.get(at..)?)?;
            let offset = at as u64;
            at += instruction.bytes;
            let target = |distance: i64| (part.address + at as u64).wrapping_add_signed(distance);
            let leaves = match instruction.flow {
                Flow::On => false,
                Flow::Return => true,
                Flow::Jump(distance) | Flow::Branch(distance) => match part_at(target(distance)) {
                    Some(other) => {
                        if !reached.contains(&other) {
                            reached.push(other);
                        }
                        false
                    }
                    // Another function returns in its place; where that depends, the site would be hit too often.
                    None if matches!(instruction.flow, Flow::Jump(_)) => true,
                    None => return None,
                },
                Flow::Elsewhere => return None,
            };
            if leaves {
                exits.push(Entry { address: part.address + offset, file_offset: part.file_offset + offset, bytes: 0 });
            }
        }
    }
    (!exits.is_empty() && exits.len() <= MAX_EXITS).then_some(exits)
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: u64 = 0x1000;

    fn part(address: u64, code: &[u8]) -> (Entry, Vec<u8>) {
        (Entry { address, file_offset: address + 0x10, bytes: code.len() as u64 }, code.to_vec())
    }

    #[track_caller]
    fn check(parts: &[(Entry, Vec<u8>)], expected: Option<&[u64]>) {
        let exits = exits_of(parts).map(|exits| exits.iter().map(|exit| exit.address).collect::<Vec<_>>());
        assert_eq!(exits.as_deref(), expected);
        assert!(exits_of(parts).into_iter().flatten().all(|exit| exit.file_offset == exit.address + 0x10));
    }

    #[test]
    fn every_return_is_an_exit_and_a_byte_that_looks_like_one_is_none() {
        // mov $0xc3, %al; je over; ret; over: nop; ret
        check(&[part(AT, &[0xb0, 0xc3, 0x74, 1, 0xc3, 0x90, 0xc3])], Some(&[AT + 4, AT + 6]));
    }

    #[test]
    fn a_jump_to_another_function_is_an_exit_and_one_to_its_own_part_is_none() {
        let jump = |distance: i32| [&[0xe9][..], &distance.to_le_bytes()].concat();
        check(&[part(AT, &jump(0x500))], Some(&[AT]));
        let cold = part(AT + 5 + 0x500, &[0x90, 0xc3]);
        check(&[part(AT, &jump(0x500)), cold.clone()], Some(&[cold.0.address + 1]));
        // A part that nothing leads to is another function.
        check(&[part(AT, &[0xc3]), cold], Some(&[AT]));
    }

    #[test]
    fn a_function_whose_exits_are_not_sure_has_none() {
        check(&[part(AT, &[0x0f, 0x84, 0, 0x10, 0, 0, 0xc3])], None);
        check(&[part(AT, &[0xff, 0xe0, 0xc3])], None);
        check(&[part(AT, &[0x06, 0xc3])], None);
        check(&[part(AT, &[0xeb, 0xfe])], None);
        let (entry, code) = part(AT, &[0x90, 0xc3]);
        check(&[(Entry { bytes: 3, ..entry }, code)], None);
        check(&[], None);
    }
}

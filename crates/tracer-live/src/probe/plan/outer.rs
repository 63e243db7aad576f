//! Which functions of one meaning only lead to another of them, so that sites at both would count an event twice.
//!
//! Compilers inline one into the other in some builds and not in all. What a build did is in its code: a direct call or jump
//! to the very entry of the other function. Every offset is tried and no instruction is decoded; chance makes one in 2^32
//! tries such a match. The event is then counted at the innermost function, which every way to it passes.

use std::collections::{BTreeMap, BTreeSet};

use super::{Entry, Libjvm};
use crate::{
    jvm::elf::{Elf, Symbol},
    probe::catalog::{self, PROBES, Probe},
};

/// Most bytes of a function that are read; those of the catalogue have some hundred.
const MAX_CODE_BYTES: u64 = 64 << 10;
/// Most pieces of one function; compilers make one or two.
const MAX_PIECES: usize = 8;

/// `call rel32` and `jmp rel32`.
const CALL: u8 = 0xe8;
const JUMP: u8 = 0xe9;
/// The bytes of `jcc rel32`: this one, and one of sixteen that begin with 8.
const CONDITIONAL: [u8; 2] = [0x0f, 0x80];
/// `jmp rel8`. One byte is too little to find among others, so it counts as the last instruction of a function only.
const SHORT_JUMP: u8 = 0xeb;

impl Libjvm {
    /// Finds the functions that only lead to another one of the same meaning, which are then not planned. `read` gives bytes
    /// of the file by offset and number, and fewer where the file has no more.
    ///
    /// # Errors
    /// What `read` fails with.
    pub fn find_outer<E>(&mut self, read: impl Fn(u64, usize) -> Result<Vec<u8>, E>) -> Result<(), E> {
        let mut outer = BTreeSet::new();
        for probe in PROBES.iter().filter(|probe| probe.functions().len() > 1) {
            let entries = self.distinct_entries(probe);
            for entry in &entries {
                let others = || entries.iter().map(|other| other.address).filter(|other| *other != entry.address);
                for piece in self.code_of(*entry) {
                    let bytes = usize::try_from(piece.bytes.min(MAX_CODE_BYTES)).unwrap_or(0);
                    let code = read(piece.file_offset, bytes)?;
                    if others().any(|other| leads_to(&code, piece.address, other)) {
                        outer.insert(entry.address);
                    }
                }
            }
        }
        self.outer = outer;
        Ok(())
    }

    /// Finds the functions that a compiler has taken into a function that calls them, which are then not planned: they would be
    /// seen where others call them, and nowhere else. `read` is as above.
    ///
    /// # Errors
    /// What `read` fails with.
    pub fn find_inlined<E>(&mut self, read: impl Fn(u64, usize) -> Result<Vec<u8>, E>) -> Result<(), E> {
        let mut inlined = BTreeSet::new();
        for function in PROBES.iter().flat_map(Probe::functions).filter(|function| !function.callers.is_empty()) {
            let callers: Vec<_> = function.callers.iter().filter_map(|caller| self.functions.get(caller)).collect();
            for entry in self.entries(function) {
                let mut is_called = callers.is_empty();
                for (Symbol { address, size, .. }, file_offset) in &callers {
                    let caller = Entry { address: *address, file_offset: *file_offset, bytes: *size };
                    for piece in self.code_of(caller) {
                        let bytes = usize::try_from(piece.bytes.min(MAX_CODE_BYTES)).unwrap_or(0);
                        is_called |= leads_to(&read(piece.file_offset, bytes)?, piece.address, entry.address);
                    }
                }
                if !is_called {
                    inlined.insert(entry.address);
                }
            }
        }
        self.inlined = inlined;
        Ok(())
    }

    /// The entries of all functions of a probe, each address once.
    fn distinct_entries(&self, probe: &Probe) -> Vec<Entry> {
        let mut seen = BTreeSet::new();
        let entries = probe.functions().iter().flat_map(|function| self.entries(function));
        entries.filter(|entry| seen.insert(entry.address)).collect()
    }

    /// The code of a function: from its entry on, and the pieces that a compiler has moved elsewhere.
    pub(super) fn code_of(&self, entry: Entry) -> Vec<Entry> {
        let names = self.functions.iter().filter(|(_, (symbol, _))| symbol.address == entry.address);
        let pieces = names.filter_map(|(name, _)| self.pieces.get(name)).flatten().copied();
        std::iter::once(entry).chain(pieces).collect()
    }
}

/// The pieces of the catalogue's functions that a compiler has moved elsewhere: `name.part.0`, `name.cold`.
pub(super) fn pieces(elf: &Elf<'_>) -> BTreeMap<&'static str, Vec<Entry>> {
    let names = catalog::symbols();
    let lengths: BTreeSet<usize> = names.iter().map(|name| name.len()).collect();
    let whole = |name: &[u8]| {
        let dot = memchr::memchr(b'.', name).filter(|dot| lengths.contains(dot))?;
        names.iter().find(|known| known.as_bytes() == &name[..dot]).copied()
    };
    let mut pieces: BTreeMap<&'static str, Vec<Entry>> = BTreeMap::new();
    for (name, symbol) in elf.symbols() {
        let Some(known) = whole(name) else { continue };
        if let Some(file_offset) = elf.code_offset(symbol.address) {
            let piece = Entry { address: symbol.address, file_offset, bytes: symbol.size };
            let pieces = pieces.entry(known).or_default();
            if pieces.len() < MAX_PIECES {
                pieces.push(piece);
            }
        }
    }
    pieces
}

/// Whether code that stands at an address calls, or jumps to, another address.
fn leads_to(code: &[u8], address: u64, to: u64) -> bool {
    let target = |end: usize, distance: i64| address.wrapping_add(end as u64).wrapping_add_signed(distance);
    let near = code.windows(5).enumerate().any(|(at, bytes)| {
        let is_conditional = at > 0 && code[at - 1] == CONDITIONAL[0] && bytes[0] & 0xf0 == CONDITIONAL[1];
        let distance = i32::from_le_bytes([bytes[1], bytes[2], bytes[3], bytes[4]]);
        (matches!(bytes[0], CALL | JUMP) || is_conditional) && target(at + 5, distance.into()) == to
    });
    let last = code.last_chunk::<2>().filter(|last| last[0] == SHORT_JUMP);
    near || last.is_some_and(|last| target(code.len(), last[1].cast_signed().into()) == to)
}

#[cfg(test)]
#[expect(clippy::cast_possible_truncation, reason = "made files are small")]
mod tests {
    use tracer_common::record::EventKind;

    use super::{super::Facts, *};
    use crate::lens::Lens;

    const AT: u64 = 0x10_0000;

    const OBJECT: &str = "_ZN13SharedRuntime19dtrace_object_allocEP7oopDesci";
    const BASE: &str = "_ZN13SharedRuntime24dtrace_object_alloc_baseEP6ThreadP7oopDesci";
    /// Where the first byte of a made file lies in memory.
    const BASE_ADDRESS: u64 = 0x40_0000;
    const CODE_OFFSET: u64 = 64 + 56;

    fn instruction(opcode: &[u8], from: u64, to: u64) -> Vec<u8> {
        let behind = from + opcode.len() as u64 + 4;
        let distance = i32::try_from(to.cast_signed() - behind.cast_signed()).unwrap();
        [opcode, &distance.to_le_bytes()].concat()
    }

    #[test]
    fn calls_and_jumps_to_the_very_entry_lead_there() {
        for opcode in [&[CALL][..], &[JUMP], &[0x0f, 0x84], &[0x0f, 0x8f]] {
            for to in [AT - 0x5000, AT + 0x5000] {
                let code = [&[0x90; 3][..], &instruction(opcode, AT + 3, to), &[0xc3]].concat();
                assert!(leads_to(&code, AT, to), "{opcode:x?}");
                assert!(!leads_to(&code, AT, to + 1) && !leads_to(&code, AT + 1, to), "{opcode:x?}");
                assert!(!leads_to(&code[..code.len() - 2], AT, to), "{opcode:x?} is cut");
            }
        }
        // Another opcode, and the second byte of a conditional jump without its first.
        for opcode in [&[0xb8][..], &[0x84], &[0x0f, 0x74]] {
            assert!(!leads_to(&instruction(opcode, AT, AT + 64), AT, AT + 64), "{opcode:x?}");
        }
    }

    #[test]
    fn a_short_jump_counts_at_the_end_of_a_function() {
        assert!(leads_to(&[0x90, SHORT_JUMP, 0x10], AT, AT + 3 + 0x10));
        assert!(leads_to(&[0x90, SHORT_JUMP, 0xf0], AT, AT + 3 - 0x10));
        assert!(!leads_to(&[0x90, SHORT_JUMP, 0x10, 0x90], AT, AT + 3 + 0x10));
        assert!(!leads_to(&[], AT, AT) && !leads_to(&[SHORT_JUMP], AT, AT));
    }

    /// An ELF file of one executable segment, whose functions have these names and this code, one behind the other.
    fn made_elf(functions: &[(&str, Vec<u8>)]) -> Vec<u8> {
        let le = |values: &[u64]| values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>();
        let (mut code, mut names, mut symbols) = (Vec::new(), vec![0], vec![0; 24]);
        for (name, bytes) in functions {
            let address = BASE_ADDRESS + CODE_OFFSET + code.len() as u64;
            symbols.extend((names.len() as u32).to_le_bytes());
            // A local function of section 1.
            symbols.extend([0x02, 0, 1, 0]);
            symbols.extend(le(&[address, bytes.len() as u64]));
            names.extend([name.as_bytes(), b"\0"].concat());
            code.extend(bytes);
        }
        let symbols_at = CODE_OFFSET + code.len() as u64;
        let names_at = symbols_at + symbols.len() as u64;
        let sections_at = names_at + names.len() as u64;
        let section = |kind: u32, offset: u64, bytes: usize, link: u32, entry: u64| {
            let head = [0_u32.to_le_bytes(), kind.to_le_bytes()].concat();
            let links = [link.to_le_bytes(), 0_u32.to_le_bytes()].concat();
            [head, le(&[0, 0, offset, bytes as u64]), links, le(&[1, entry])].concat()
        };
        let mut file = b"\x7fELF\x02\x01\x01".to_vec();
        file.resize(16, 0);
        file.extend([3, 0, 62, 0, 1, 0, 0, 0]);
        file.extend(le(&[0, 64, sections_at]));
        file.extend([0, 0, 0, 0, 64, 0, 56, 0, 1, 0, 64, 0, 4, 0, 3, 0]);
        file.extend([1, 0, 0, 0, 5, 0, 0, 0]);
        file.extend(le(&[0, BASE_ADDRESS, BASE_ADDRESS, sections_at, sections_at, 0x1000]));
        let parts = [code, symbols.clone(), names.clone()].concat();
        file.extend(parts);
        file.extend(section(0, 0, 0, 0, 0));
        file.extend(section(1, CODE_OFFSET, (symbols_at - CODE_OFFSET) as usize, 0, 0));
        file.extend(section(2, symbols_at, symbols.len(), 3, 24));
        file.extend(section(3, names_at, names.len(), 0, 0));
        file
    }

    /// Names of the functions at which a made file has its objects counted.
    fn counted_at<'a>(functions: &[(&'a str, Vec<u8>)]) -> Vec<&'a str> {
        let file = made_elf(functions);
        let elf = Elf::parse(&file).unwrap();
        let mut libjvm = Libjvm::read(&elf);
        let read = |offset: u64, bytes: usize| {
            let end = (offset as usize + bytes).min(file.len());
            Ok::<_, std::convert::Infallible>(file[offset as usize..end].to_vec())
        };
        let Ok(()) = libjvm.find_outer(read);
        let plan = super::super::plan(&libjvm, &[Lens::Alloc], Facts::default(), true);
        let sites = plan.sites.iter().filter(|site| site.kind == EventKind::ObjectAlloc);
        let name = |address: u64| {
            let mut at = BASE_ADDRESS + CODE_OFFSET;
            let function = functions.iter().find(|(_, code)| {
                at += code.len() as u64;
                address < at
            });
            function.unwrap().0
        };
        sites.map(|site| name(site.address)).collect()
    }

    #[test]
    fn a_function_that_none_of_its_callers_calls_is_not_used() {
        const PARK: &str = "_ZN6Parker4parkEbl";
        let code = BASE_ADDRESS + CODE_OFFSET;
        let inlined = |functions: &[(&str, Vec<u8>)]| {
            let file = made_elf(functions);
            let mut libjvm = Libjvm::read(&Elf::parse(&file).unwrap());
            let read = |offset: u64, bytes: usize| {
                Ok::<_, std::convert::Infallible>(file[offset as usize..offset as usize + bytes].to_vec())
            };
            let Ok(()) = libjvm.find_inlined(read);
            libjvm.inlined.into_iter().collect::<Vec<_>>()
        };
        let park = (PARK, vec![0x90; 64]);
        assert_eq!(inlined(std::slice::from_ref(&park)), [0; 0], "nobody who calls it is there");
        let calling = [vec![0x90; 20], instruction(&[CALL], code + 84, code)].concat();
        assert_eq!(inlined(&[park.clone(), ("Unsafe_Park", calling)]), [0; 0]);
        assert_eq!(inlined(&[park, ("Unsafe_Park", vec![0x90; 64])]), [code]);
    }

    #[test]
    fn an_object_is_counted_at_the_innermost_of_functions_that_lead_to_each_other() {
        let base = vec![0x90; 64];
        let code = BASE_ADDRESS + CODE_OFFSET;
        // As in Debian's OpenJDK 17: a tail call backwards.
        let calling = |at: u64| [vec![0x90; 20], instruction(&[JUMP], at + 20, code)].concat();
        assert_eq!(counted_at(&[(BASE, base.clone()), (OBJECT, calling(code + 64))]), [BASE]);
        // As in Temurin's: inlined.
        assert_eq!(counted_at(&[(BASE, base.clone()), (OBJECT, base.clone())]), [OBJECT, BASE]);
        // What calls is a part that the compiler has moved away.
        let part = format!("{OBJECT}.part.0");
        let moved = [(BASE, base.clone()), (OBJECT, base.clone()), (&*part, calling(code + 128))];
        assert_eq!(counted_at(&moved), [BASE]);
        let other = [(BASE, base.clone()), (OBJECT, base), ("_ZN5Other4callEv", calling(code + 128))];
        assert_eq!(counted_at(&other), [OBJECT, BASE], "only ways between the functions matter");
    }
}

//! Makes rules of machine code that has no unwinding table, by following how each function moves the stack pointer: musl, the C
//! library of Alpine, is built without tables, and every wait of a JVM there ends in it.
//!
//! Functions are followed from their entries, along all branches: from symbols, from what is called, and from addresses that code
//! takes. What lies behind a jump through a table is taken to have the jump's frame. `tests/unwound_code.rs` compares the rules with
//! the tables of files that have them.
//!
//! The code is the target's: each of its bytes is followed at most once in each of two passes.

use iced_x86::{Decoder, DecoderOptions, Instruction, Mnemonic, OpKind, Register};
use object::{
    ReadRef,
    elf::{self, FileHeader64},
    read::elf::{FileHeader as _, ProgramHeader as _, Rela as _, SectionHeader as _, Sym as _},
};
use tracer_common::unwind::{Row, Rule, RuleBase};

use super::table::MAX_ROWS;

/// Most code of one file that is followed: musl has 600 KiB.
const MAX_CODE_BYTES: u64 = 8 << 20;
/// Most functions of one file.
const MAX_FUNCTIONS: usize = 1 << 18;
const ENDIAN: object::LittleEndian = object::LittleEndian;
const WORD_BYTES: i32 = 8;
/// How often code is looked for behind jumps through tables: it may have such jumps itself.
const MAX_ROUNDS: usize = 4;
/// What compilers align functions to.
const ALIGNMENT: u32 = 16;
/// Functions of C libraries that do not come back.
const NEVER: [&[u8]; 12] = [
    b"abort",
    b"exit",
    b"_exit",
    b"_Exit",
    b"quick_exit",
    b"pthread_exit",
    b"thrd_exit",
    b"longjmp",
    b"_longjmp",
    b"siglongjmp",
    b"__assert_fail",
    b"__stack_chk_fail",
];

/// What a file says of its functions.
#[derive(Default)]
struct Known {
    /// Where they begin, in rising order.
    entries: Vec<u32>,
    /// Those that do not come back, likewise.
    never: Vec<u32>,
    /// Addresses that data holds: of functions, most of them.
    taken: Vec<u32>,
}

/// Machine code at its addresses.
#[derive(Clone, Copy, Debug)]
struct Segment<'data> {
    /// Address of the first byte.
    address: u32,
    /// The code.
    bytes: &'data [u8],
}

/// Where the caller's frame is, at an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Frame {
    /// Bytes from rsp up to the CFA; absent where rsp cannot be told.
    stack: Option<i32>,
    /// Bytes from rbp up to the CFA, where rbp is a frame pointer.
    pointer: Option<i32>,
    /// Bytes from the CFA down to the caller's rbp; 0 while rbp still is the caller's.
    saved: i32,
    /// Where a loop that touches each page of a large frame ends: a register, and bytes from it up to the CFA.
    probed: Option<(Register, i32)>,
    /// There is no caller: rbp was set to 0 without being saved, which the System V ABI asks for where a thread begins.
    outermost: bool,
}

impl Frame {
    /// At the entry of a function.
    const ENTRY: Self = Self { stack: Some(WORD_BYTES), pointer: None, saved: 0, probed: None, outermost: false };

    fn rule(self) -> Rule {
        if self.outermost {
            return Rule::ROOT;
        }
        let words = |bytes: i32| u32::try_from(bytes).ok().filter(|bytes| bytes % 8 == 0).map(|bytes| bytes / 8);
        let (base, distance) = match (self.stack, self.pointer) {
            (Some(stack), _) => (RuleBase::Rsp, stack),
            (None, Some(pointer)) => (RuleBase::Rbp, pointer),
            (None, None) => return Rule::UNSUPPORTED,
        };
        let rule = words(distance).zip(words(self.saved)).and_then(|(cfa, saved)| Rule::new(base, cfa, saved));
        rule.unwrap_or(Rule::UNSUPPORTED)
    }

    /// The frame behind an instruction that goes on to the next one.
    fn behind(self, instruction: &Instruction) -> Self {
        let mut next = self;
        let target =
            if instruction.op0_kind() == OpKind::Register { instruction.op0_register() } else { Register::None };
        match instruction.mnemonic() {
            Mnemonic::Push | Mnemonic::Pushfq => {
                next.grow(WORD_BYTES);
                if target == Register::RBP && self.saved == 0 {
                    next.saved = next.stack.unwrap_or(0);
                }
            }
            Mnemonic::Pop | Mnemonic::Popfq => {
                next.grow(-WORD_BYTES);
                if target == Register::RBP {
                    (next.pointer, next.saved) = (None, 0);
                }
            }
            Mnemonic::Leave => {
                next.stack = self.pointer.map(|pointer| pointer - WORD_BYTES);
                (next.pointer, next.saved) = (None, 0);
            }
            Mnemonic::Mov if writes_word_of_frame(instruction) => {
                if self.saved == 0
                    && let Some(stack) = self.stack
                {
                    next.saved = stack.saturating_sub(instruction.memory_displacement64() as i32);
                }
            }
            // What compilers write for frames of pages: `lea r11, [rsp - n]`, and `sub rsp, 4096` until rsp is r11.
            Mnemonic::Sub if target == Register::RSP && self.probed.is_some() => next.stack = None,
            Mnemonic::Cmp if target == Register::RSP => {
                let end = self.probed.filter(|(register, _)| *register == instruction.op1_register());
                next.stack = end.map_or(self.stack, |(_, bytes)| Some(bytes));
            }
            _ if target == Register::RSP => next.stack = self.stack_after(instruction),
            Mnemonic::Mov if target == Register::RBP && instruction.op1_register() == Register::RSP => {
                next.pointer = self.stack
            }
            Mnemonic::Lea
                if target == Register::RBP
                    && instruction.memory_base() == Register::RSP
                    && !is_indexed(instruction) =>
            {
                next.pointer = self.stack.map(|stack| stack.saturating_sub(instruction.memory_displacement64() as i32));
            }
            Mnemonic::Lea if instruction.memory_base() == Register::RSP && !is_indexed(instruction) => {
                let below = Some(instruction.memory_displacement64() as i32).filter(|by| *by < 0);
                next.probed = self.stack.zip(below).map(|(stack, by)| (target, stack.saturating_sub(by)));
            }
            Mnemonic::Xor if target == Register::EBP && instruction.op1_register() == Register::EBP => {
                next.outermost = self.saved == 0;
            }
            _ => {}
        }
        next
    }

    fn grow(&mut self, bytes: i32) {
        self.stack = self.stack.map(|stack| stack.saturating_add(bytes));
    }

    /// Bytes from rsp up to the CFA behind an instruction that sets rsp.
    fn stack_after(self, instruction: &Instruction) -> Option<i32> {
        let by = || i32::try_from(instruction.immediate(1).cast_signed()).ok();
        let is_immediate =
            instruction.op_count() > 1 && !matches!(instruction.op1_kind(), OpKind::Register | OpKind::Memory);
        match instruction.mnemonic() {
            Mnemonic::Sub if is_immediate => self.stack?.checked_add(by()?),
            Mnemonic::Add if is_immediate => self.stack?.checked_sub(by()?),
            Mnemonic::Lea if !is_indexed(instruction) => {
                let base = match instruction.memory_base() {
                    Register::RSP => self.stack?,
                    Register::RBP => self.pointer?,
                    _ => return None,
                };
                base.checked_sub(instruction.memory_displacement64() as i32)
            }
            Mnemonic::Mov
                if instruction.op1_kind() == OpKind::Register && instruction.op1_register() == Register::RBP =>
            {
                self.pointer
            }
            Mnemonic::Test => self.stack,
            _ => None,
        }
    }
}

/// `mov [rsp + n], rbp`.
fn writes_word_of_frame(instruction: &Instruction) -> bool {
    instruction.op0_kind() == OpKind::Memory
        && instruction.memory_base() == Register::RSP
        && !is_indexed(instruction)
        && instruction.op1_kind() == OpKind::Register
        && instruction.op1_register() == Register::RBP
}

/// What a case of a `switch` hardly begins with.
fn begins_function(instruction: &Instruction) -> bool {
    match instruction.mnemonic() {
        Mnemonic::Push | Mnemonic::Endbr64 => true,
        Mnemonic::Sub => instruction.op0_register() == Register::RSP,
        _ => false,
    }
}

fn is_indexed(instruction: &Instruction) -> bool {
    instruction.memory_index() != Register::None
}

/// How many bytes of code a file has, without what is too much.
///
/// # Errors
/// The file's headers are damaged.
pub fn bytes<'data, R: ReadRef<'data>>(file: R) -> Result<u64, object::Error> {
    let header = FileHeader64::parse(file)?;
    Ok(segments(header, file)?.iter().map(|segment| segment.bytes.len() as u64).sum())
}

/// The rows of all functions that the file names, and that these lead to.
///
/// # Errors
/// The file's headers are damaged.
pub fn rows<'data, R: ReadRef<'data>>(file: R) -> Result<Vec<Row>, object::Error> {
    let header = FileHeader64::parse(file)?;
    let (segments, mut known) = (segments(header, file)?, known(header, file)?);
    let mut rows = Vec::new();
    // Once to find out which functions there are, and once more because none may be taken for the rest of the one before it.
    for pass in [Pass::Functions, Pass::Rules] {
        known.entries.sort_unstable();
        known.entries.dedup();
        let mut found = Vec::new();
        for segment in &segments {
            let mut walk = Walk::new(segment, &known, pass);
            walk.run();
            found.append(&mut walk.found);
            if pass == Pass::Rules {
                walk.push_rows(&mut rows);
            }
        }
        found.truncate(MAX_FUNCTIONS);
        known.entries.append(&mut found);
    }
    Ok(rows)
}

type Header = FileHeader64<object::LittleEndian>;

fn segments<'data, R: ReadRef<'data>>(header: &Header, file: R) -> Result<Vec<Segment<'data>>, object::Error> {
    let mut left = MAX_CODE_BYTES;
    let mut segments = Vec::new();
    for segment in header.program_headers(ENDIAN, file)? {
        let (address, bytes) = (u32::try_from(segment.p_vaddr(ENDIAN)), segment.p_filesz(ENDIAN));
        let is_code = segment.p_type(ENDIAN) == elf::PT_LOAD && segment.p_flags(ENDIAN) & elf::PF_X != 0;
        let (true, Ok(address)) = (is_code, address) else { continue };
        if let Some(rest) = left.checked_sub(bytes)
            && let Ok(bytes) = file.read_bytes_at(segment.p_offset(ENDIAN), bytes)
        {
            left = rest;
            segments.push(Segment { address, bytes });
        }
    }
    segments.sort_by_key(|segment| segment.address);
    Ok(segments)
}

fn known<'data, R: ReadRef<'data>>(header: &Header, file: R) -> Result<Known, object::Error> {
    let mut known = Known::default();
    known.entries.extend(u32::try_from(header.e_entry(ENDIAN)).ok().filter(|entry| *entry != 0));
    let sections = header.sections(ENDIAN, file)?;
    // Tables of functions: the loader writes their addresses into data.
    for (relocations, _) in sections.iter().filter_map(|section| section.rela(ENDIAN, file).ok().flatten()) {
        let relative =
            relocations.iter().filter(|relocation| relocation.r_type(ENDIAN, false) == elf::R_X86_64_RELATIVE);
        let addresses = relative.filter_map(|relocation| u32::try_from(relocation.r_addend(ENDIAN)).ok());
        known.taken.extend(addresses.take(MAX_FUNCTIONS));
    }
    for kind in [elf::SHT_SYMTAB, elf::SHT_DYNSYM] {
        let Ok(symbols) = sections.symbols(ENDIAN, file, kind) else { continue };
        let is_function = |kind| matches!(kind, elf::STT_FUNC | elf::STT_GNU_IFUNC);
        let functions = symbols.iter().filter(|symbol| is_function(symbol.st_type()) && symbol.st_shndx(ENDIAN) != 0);
        for symbol in functions.take(MAX_FUNCTIONS) {
            let Ok(address) = u32::try_from(symbol.st_value(ENDIAN)) else { continue };
            known.entries.push(address);
            if symbol.name(ENDIAN, symbols.strings()).is_ok_and(|name| NEVER.contains(&name)) {
                known.never.push(address);
            }
        }
    }
    known.never.sort_unstable();
    Ok(known)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Pass {
    Functions,
    Rules,
}

/// What is known of a segment, by its bytes.
struct Walk<'data> {
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
    found: Vec<u32>,
    pass: Pass,
    left: Vec<(u32, Frame)>,
}

impl<'data> Walk<'data> {
    fn new(segment: &Segment<'data>, known: &'data Known, pass: Pass) -> Self {
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

    fn run(&mut self) {
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
        let end = end.min(next).min(self.segment.address.saturating_add(self.rules.len() as u32));
        let mut address = from;
        while address < end {
            if !self.is_new(address) {
                address += 1;
                continue;
            }
            match self.decoded(address) {
                Some(padding) if matches!(padding.mnemonic(), Mnemonic::Nop | Mnemonic::Int3) => {
                    address = padding.next_ip32()
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
                    address = padding.next_ip32()
                }
                _ => return false,
            }
        }
        true
    }

    /// Adds what is known, in the order of addresses; between what was followed there is no rule.
    fn push_rows(&self, rows: &mut Vec<Row>) {
        for (address, rule) in (self.segment.address..).zip(self.rules.iter().copied().chain([Rule::NONE])) {
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

//! Stacks of a live target: gives the kernel side what it needs to unwind, and names what it found while the target runs.

use std::{
    collections::VecDeque,
    sync::Arc,
    time::{Duration, Instant},
};

use tracer_common::{
    stack::{FRAME_BYTECODE_POINTER, FRAME_RETURN_ADDRESS, FrameKind, KIND_STACK, RawFrame, StackEnd},
    unwind::{CodeLayout, Region},
};

use super::{definitions::Definitions, known_frames::KnownFrames, machine::Machine, sent_stacks::SentStacks};
use crate::{
    decode::{Decoded, Header, RawStack, decode},
    ebpf::{Error, load::Kernel},
    event::{Event, EventKind, Payload, StackId},
    item::Item,
    jvm::{
        find::Jvm,
        memory::{self, Memory},
        unloads::Unloads,
    },
    stack::{End, Frame, Kind, TOLD_AGAIN_NS},
    symbol::java::JavaSymbols,
    unwind::regions::{self, Tables},
};

/// Stacks that are named before the ring buffers are looked at again, for code that was installed meanwhile.
const STACKS_AT_A_TIME: usize = 32;
/// How long names of code are kept that nobody asks for; up to twice as long.
const AGE: Duration = Duration::from_mins(5);
/// How long stacks are kept that do not come; up to twice as long, and then they are told again.
const AGE_OF_STACKS: Duration = Duration::from_nanos(TOLD_AGAIN_NS / 2);

/// What user space knows about the code of a target.
pub struct Unwinding {
    memory: Memory,
    tables: Tables,
    layout: CodeLayout,
    heaps: Vec<Region>,
    java: Option<JavaSymbols<Memory>>,
    machine: Machine,
    definitions: Definitions,
    /// Records of stacks that have no names yet.
    waiting: VecDeque<Box<[u8]>>,
    /// What cannot be unwound or named, and why.
    missing: Vec<String>,
    rows_written: usize,
    unknown_code: u64,
    unloads: Unloads,
    /// Whether it was asked since [`Self::look_again`] if classes were unloaded.
    has_asked: bool,
    known: KnownFrames,
    sent: SentStacks,
    /// When names of code were forgotten that nobody had asked for.
    aged: Instant,
    /// When stacks were, that did not come.
    stacks_aged: Instant,
}

impl Unwinding {
    /// Reads the tables of the target's files and the layout of its code. What cannot be read is missing, and no error:
    /// events then come with shorter stacks.
    pub fn open(jvm: &Jvm) -> Result<Self, memory::Error> {
        let mut missing = Vec::new();
        let memory = Memory::open(jvm.target.pid)?;
        let tables = regions::tables(&memory).unwrap_or_else(|error| {
            missing.push(format!("stacks end at machine code, because the target's mappings cannot be read: {error}"));
            Tables::default()
        });
        let mut java = None;
        let (mut layout, mut heaps) = (CodeLayout::default(), Vec::new());
        match JavaSymbols::open(Memory::open(jvm.target.pid)?, &jvm.tables) {
            Ok(mut symbols) => {
                symbols.find_in_symbols(&jvm.library);
                layout = symbols.code_cache().layout();
                heaps = symbols.code_cache().regions();
                java = Some(symbols);
            }
            Err(error) => missing.push(format!("stacks have no Java frames: {error}")),
        }
        let machine = Machine::new(&memory);
        Ok(Self {
            memory,
            tables,
            layout,
            heaps,
            java,
            machine,
            definitions: Definitions::default(),
            waiting: VecDeque::new(),
            missing,
            rows_written: 0,
            unknown_code: 0,
            unloads: Unloads::new(jvm),
            has_asked: false,
            known: KnownFrames::default(),
            sent: SentStacks::default(),
            aged: Instant::now(),
            stacks_aged: Instant::now(),
        })
    }

    /// Begins to read symbols, on a thread of its own: to be called while nothing is timed.
    pub fn read_symbols(&mut self) {
        self.machine.begin();
    }

    /// Waits until they are read.
    pub fn wait_for_symbols(&mut self) {
        self.machine.wait();
    }

    /// Rows of unwinding tables, for which the kernel side must have room.
    pub fn rows(&self) -> usize {
        self.tables.rows.len()
    }

    /// What cannot be unwound or named, and why.
    pub fn missing(&self) -> &[String] {
        &self.missing
    }

    /// Tells the kernel side everything. `remember` where every unloading of code will be seen.
    pub fn install(&mut self, kernel: &mut Kernel, remember: bool) -> Result<(), Error> {
        self.layout.remember = u32::from(remember);
        let left_out = kernel.unwinding().set_rows(&self.tables.rows, self.rows_written)?;
        self.rows_written = self.tables.rows.len().saturating_sub(left_out);
        if left_out > 0 {
            log::warn!("{left_out} rows of unwinding tables found no room");
        }
        kernel.unwinding().set_code(self.layout, &self.regions())
    }

    /// Looks for files that were mapped meanwhile, where stacks ended in code that is not known.
    pub fn refresh(&mut self, kernel: &mut Kernel) -> Result<(), Error> {
        self.forget_what_is_old(kernel);
        let unknown = kernel.unwinding().ends_of(StackEnd::UnknownCode)?;
        if unknown == std::mem::replace(&mut self.unknown_code, unknown) {
            return Ok(());
        }
        if self.tables.update(&self.memory).unwrap_or(false) {
            self.machine.native().refresh();
            self.known.forget();
            let remember = self.layout.remember != 0;
            self.install(kernel, remember)?;
        }
        Ok(())
    }

    fn forget_what_is_old(&mut self, kernel: &mut Kernel) {
        for stack in self.sent.take_forgotten() {
            kernel.unwinding().forget_stack(stack.0);
        }
        let now = Instant::now();
        let is_over = |since: &mut Instant, age| {
            let is_over = now.saturating_duration_since(*since) >= age;
            if is_over {
                *since = now;
            }
            is_over
        };
        if is_over(&mut self.stacks_aged, AGE_OF_STACKS) {
            self.sent.age();
            self.definitions.age();
        }
        if is_over(&mut self.aged, AGE)
            && let Some(java) = &mut self.java
        {
            java.age();
        }
    }

    fn regions(&self) -> Vec<Region> {
        let mut regions: Vec<Region> = self.tables.regions.iter().chain(&self.heaps).copied().collect();
        regions.sort_by_key(|region| region.start);
        regions
    }

    /// Looks at a record as it comes out of its ring buffer; whether it was a stack, which then waits for
    /// [`Unwinding::name_some`]. Code that was installed is read at once: stacks with its frames may come next.
    pub fn take(&mut self, record: &[u8]) -> bool {
        let kind = Header::read(record).map_or(0, |header| header.kind);
        if kind == KIND_STACK {
            if let Ok(Decoded::Stack(raw)) = decode(record)
                && self.sent.is_new(raw.id)
            {
                // Another CPU may send it as well.
                self.sent.keep(raw.id, raw.id);
                self.waiting.push_back(record.into());
            }
            return true;
        }
        if kind == EventKind::CodeLoaded as u16
            && let Some(java) = &mut self.java
            && let Ok(Decoded::Event(Event { payload: Payload::CodeLoaded { start, bytes, .. }, .. })) = decode(record)
        {
            java.code_loaded(start, bytes);
        }
        false
    }

    /// Time passes: another round of records comes out of the ring buffers.
    pub(super) fn look_again(&mut self) {
        self.has_asked = false;
    }

    /// Names some of the stacks that wait and puts them into the flow; says whether there are more.
    pub fn name_some(&mut self, sink: &mut dyn FnMut(Item<'_>)) -> bool {
        if self.waiting.is_empty() {
            return false;
        }
        self.forget_what_is_gone();
        for _ in 0..STACKS_AT_A_TIME {
            let Some(record) = self.waiting.pop_front() else { return false };
            if let Ok(Decoded::Stack(raw)) = decode(&record) {
                self.name(&raw, sink);
            }
        }
        !self.waiting.is_empty()
    }

    /// The JVM is asked once a round whether it has unloaded classes: what a round brought was seen before, with the names of that time.
    fn forget_what_is_gone(&mut self) {
        self.known.forget_passing();
        if !std::mem::replace(&mut self.has_asked, true) && self.unloads.may_have_happened(&self.memory) {
            self.known.forget();
            if let Some(java) = &mut self.java {
                java.classes_unloaded();
            }
        }
    }

    fn name(&mut self, raw: &RawStack<'_>, sink: &mut dyn FnMut(Item<'_>)) {
        let mut frames = Vec::with_capacity(raw.frames().len() * 2);
        for frame in raw.frames() {
            match self.known.get(frame) {
                Some(numbers) => frames.extend_from_slice(numbers),
                None => self.name_frame(frame, &mut frames, sink),
            }
        }
        let end = self.end(raw);
        let told = self.definitions.stack(frames, end, sink);
        self.sent.keep(raw.id, told);
    }

    fn name_frame(&mut self, raw: RawFrame, frames: &mut Vec<u32>, sink: &mut dyn FnMut(Item<'_>)) {
        let first = frames.len();
        let kind = FrameKind::from_number(raw.tag.to_le_bytes()[0]);
        let mut is_named = true;
        for frame in self.frames_of(kind, raw) {
            is_named &= frame.kind != Kind::Unknown;
            frames.push(self.definitions.frame(frame, sink));
        }
        let lasts = match kind {
            Some(FrameKind::Kernel | FrameKind::Native) => true,
            Some(FrameKind::Interpreted) => is_named && (raw.tag & FRAME_BYTECODE_POINTER == 0 || raw.tag >> 16 != 0),
            // Numbers of compilations are given once; some wrappers have none.
            Some(FrameKind::Compiled) => is_named && raw.tag >> 32 != 0,
            Some(FrameKind::Stub) | None => false,
        };
        self.known.keep(raw, frames.get(first..).unwrap_or_default(), lasts);
    }

    fn frames_of(&mut self, kind: Option<FrameKind>, RawFrame { tag, address }: RawFrame) -> Vec<Arc<Frame>> {
        let return_address = tag & FRAME_RETURN_ADDRESS != 0;
        let [number, _, bci_low, bci_high, check @ ..] = tag.to_le_bytes();
        let bci = u16::from_le_bytes([bci_low, bci_high]);
        let check = u32::from_le_bytes(check);
        match (kind, &mut self.java) {
            (Some(FrameKind::Kernel), _) => vec![self.machine.kernel(address)],
            (Some(FrameKind::Native), _) => vec![self.machine.native().frame(address, return_address)],
            (Some(FrameKind::Interpreted), Some(java)) if tag & FRAME_BYTECODE_POINTER != 0 => {
                vec![java.interpreted_at(address, tag >> 16)]
            }
            (Some(FrameKind::Interpreted), Some(java)) => vec![java.interpreted(address, check, bci)],
            (Some(FrameKind::Compiled), Some(java)) => java.compiled(address, return_address, check),
            (Some(FrameKind::Stub), Some(_)) if address == self.layout.return_barrier => {
                vec![Frame::named(Kind::Stub, "<frames in the heap>").into()]
            }
            (Some(FrameKind::Stub), Some(java)) => vec![java.stub(address)],
            (Some(_), None) => vec![Frame::named(Kind::Unknown, "<the JVM's tables are not known>").into()],
            (None, _) => vec![Frame::named(Kind::Unknown, format!("<frame of kind {number}>")).into()],
        }
    }

    /// The id under which a stack is told.
    pub(super) fn told(&mut self, sent: StackId) -> StackId {
        self.sent.told(sent)
    }

    /// What has been put into the flow so far.
    pub(super) const fn definitions(&mut self) -> &mut Definitions {
        &mut self.definitions
    }

    fn end(&mut self, raw: &RawStack<'_>) -> End {
        let Some(end) = raw.end else {
            return End { root: false, reason: "for a reason that this version does not know".to_owned() };
        };
        let reason = match end {
            StackEnd::Root => return End { root: true, reason: String::new() },
            StackEnd::TooDeep if raw.frames().len() < tracer_common::stack::MAX_FRAMES => {
                "no more frames were asked for".to_owned()
            }
            StackEnd::TooDeep => format!("more than {} frames", tracer_common::stack::MAX_FRAMES),
            StackEnd::UnknownCode => "unknown code".to_owned(),
            StackEnd::NoCodeBlob => "no code blob in the code heap".to_owned(),
            StackEnd::NoTable => {
                format!("no unwinding table for {}", self.machine.native().frame(raw.end_pc, true))
            }
            StackEnd::UnsupportedRule => {
                format!("unwinding rule of {}", self.machine.native().frame(raw.end_pc, true))
            }
            StackEnd::UnreadableStack => "unreadable stack".to_owned(),
            StackEnd::BadInterpreterFrame => "no frame of the interpreter".to_owned(),
            StackEnd::NotRising => "stack does not rise".to_owned(),
            StackEnd::UnknownLayout => "the JVM's tables are not known".to_owned(),
            StackEnd::InHeap => "frames of a virtual thread in the heap".to_owned(),
        };
        log::trace!("a stack ends at {:#x}: {reason}", raw.end_pc);
        End { root: false, reason }
    }
}

//! The Java frames of a thread that is not running Java code, read from outside while the JVM goes on.
//!
//! Whoever leaves Java code, into a native method, the JVM, or a wait, writes into its `JavaThread` where its last Java frame is: the
//! frame anchor. From there frames lead to their callers as they do for the JVM itself: those of the interpreter by rbp, those of
//! compiled code by their size. A frame of the call stub leads to the anchor that was there before, so that Java code which native
//! code has called is followed as well. Nothing stops the thread, so callers have to find out whether it ran meanwhile.
//!
//! The offsets in frames are those of x86-64 (`frame_x86.hpp`), the same from JDK 11 to 25, and one word fewer in 8.

mod frozen;
mod variables;

use tracer_common::unwind::CodeLayout;

use super::{
    code_cache::{BlobKind, CodeCache, Error, fields::Fields},
    peek::{Peek, at},
    vmstructs::VmStructs,
};

pub use self::variables::Variables;

/// Most frames of a stack; `jstack` shows as many.
const MAX_FRAMES: usize = 1024;
/// Most bytes of a stack that are looked at.
const MAX_STACK_BYTES: u64 = 4 << 20;
/// Most times that Java code was called by native code that Java code had called.
const MAX_ENTRIES: u32 = 256;
/// A compiled method's entry barrier keeps such a word between its return address and its frame (17 and later).
const ENTRY_BARRIER_COOKIE: u64 = u64::MAX;
/// Words that a compiled method may have pushed before it called a stub.
const MAX_PUSHED_WORDS: u64 = 16;
const WORD: u64 = 8;

/// In a frame of the interpreter, in words below rbp: where it goes on in the caller's stack, and its method.
const SENDER_SP: u64 = 1;
const METHOD: u64 = 3;

/// Where a frame is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Place {
    /// In the interpreter: the `Method*` and its bytecode pointer, 0 in a native method.
    Interpreted {
        /// `Method*`.
        method: u64,
        /// Address in its bytecode.
        pointer: u64,
    },
    /// In compiled code, behind a call.
    Compiled {
        /// Address behind the call.
        pc: u64,
        /// Number of the compilation.
        compile_id: u32,
        /// Whether it is the wrapper of a native method.
        native: bool,
    },
}

/// Where a walk ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum End {
    /// At the outermost Java frame.
    Root,
    /// The thread left no anchor: it runs Java code, or has not called any.
    NoAnchor,
    /// There are more frames than are looked at.
    TooDeep,
    /// A word of the stack could not be read.
    UnreadableStack,
    /// What a frame says cannot be; the thread may have run meanwhile.
    Torn,
    /// The other frames of a virtual thread lie in the heap, in a way that is not followed.
    InHeap,
}

impl End {
    /// What a user is told; nothing where the stack is whole.
    pub const fn reason(self) -> Option<&'static str> {
        match self {
            Self::Root => None,
            Self::NoAnchor => Some("it runs Java code, or has called none"),
            Self::TooDeep => Some("there are more frames"),
            Self::UnreadableStack => Some("its stack cannot be read"),
            Self::Torn => Some("it ran while its stack was read"),
            Self::InHeap => Some("other frames of its virtual thread lie in the heap"),
        }
    }
}

/// The frames of a thread.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct JavaStack {
    /// Innermost first.
    pub places: Vec<Place>,
    /// Where they end.
    pub end: End,
}

/// Where anchors and what leads to them lie.
#[derive(Clone, Copy, Debug)]
struct Offsets {
    /// `JavaThread::_anchor`.
    thread_anchor: u64,
    /// `JavaCallWrapper::_anchor`.
    wrapper_anchor: u64,
    /// `JavaFrameAnchor::_last_Java_sp`, `_last_Java_pc` and `_last_Java_fp`.
    sp: u64,
    pc: u64,
    fp: u64,
    /// From rbp of a frame of the call stub to its `JavaCallWrapper*`, in words.
    wrapper_words: i32,
}

/// Walks stacks of one JVM.
#[derive(Debug)]
pub struct JavaStacks {
    code: CodeCache,
    layout: CodeLayout,
    offsets: Offsets,
}

impl JavaStacks {
    /// Finds the offsets; the error names the field that is missing or absurd.
    pub fn new(code: CodeCache, tables: &VmStructs) -> Result<Self, Error> {
        let fields = Fields(tables);
        let one = |owner, name| fields.offset(&[(owner, name)]);
        let offsets = Offsets {
            thread_anchor: one("JavaThread", "_anchor")?,
            wrapper_anchor: one("JavaCallWrapper", "_anchor")?,
            sp: one("JavaFrameAnchor", "_last_Java_sp")?,
            pc: one("JavaFrameAnchor", "_last_Java_pc")?,
            fp: one("JavaFrameAnchor", "_last_Java_fp")?,
            wrapper_words: fields.constant(&["frame::entry_frame_call_wrapper_offset"])?.cast_signed(),
        };
        Ok(Self { layout: code.layout(), code, offsets })
    }

    /// The frames of the thread with this `JavaThread*`, whose stack ends at `base`. `memory` is asked for what changes as the thread
    /// runs, `code` for what its code says, which may be older.
    pub fn of(&self, memory: &impl Peek, code: &impl Peek, thread: u64, base: u64) -> JavaStack {
        let mut walk = Walk::new(self, memory, code, base);
        let end = match walk.start(thread.wrapping_add(self.offsets.thread_anchor)) {
            Ok(true) => walk.run(),
            Ok(false) => End::NoAnchor,
            Err(end) => end,
        };
        JavaStack { places: walk.places, end }
    }

    /// The frames of a virtual thread that is not mounted, by its `Continuation`.
    pub fn of_unmounted(&self, memory: &impl Peek, code: &impl Peek, continuation: u64) -> JavaStack {
        let mut walk = Walk::new(self, memory, code, 0);
        let end = walk.unmounted(continuation).err().unwrap_or(End::Root);
        JavaStack { places: walk.places, end }
    }
}

/// A walk under way.
struct Walk<'a, M, C> {
    stacks: &'a JavaStacks,
    memory: &'a M,
    code: &'a C,
    base: u64,
    /// What was read of the stack at once, and where that begins.
    copy: (u64, Vec<u8>),
    places: Vec<Place>,
    /// Variables of the frames in the interpreter, where they are asked for.
    variables: Option<Vec<Variables>>,
    entries: u32,
    /// Whether the frame below is a stub's.
    below_is_stub: bool,
    /// Whether frames lie in the heap, where addresses are counted from where they are written.
    relative: bool,
    pc: u64,
    sp: u64,
    fp: u64,
}

impl<'a, M: Peek, C: Peek> Walk<'a, M, C> {
    fn new(stacks: &'a JavaStacks, memory: &'a M, code: &'a C, base: u64) -> Self {
        Self {
            stacks,
            memory,
            code,
            base,
            copy: (0, Vec::new()),
            places: Vec::new(),
            variables: None,
            entries: 0,
            below_is_stub: false,
            relative: false,
            pc: 0,
            sp: 0,
            fp: 0,
        }
    }

    /// Goes to the frame that an anchor names; false where it names none.
    fn start(&mut self, anchor: u64) -> Result<bool, End> {
        let Offsets { sp, pc, fp, .. } = self.stacks.offsets;
        let bytes = usize::try_from(sp.max(pc).max(fp) + WORD).map_err(|_| End::Torn)?;
        let read = match self.copied(anchor, bytes) {
            Some(read) => read.to_vec(),
            None => self.memory.bytes(anchor, bytes).map_err(|_| End::UnreadableStack)?,
        };
        let word = |offset: u64| at::u64(&read, offset).ok_or(End::Torn);
        let (sp, pc, fp) = (word(sp)?, word(pc)?, word(fp)?);
        if sp == 0 {
            return Ok(false);
        }
        if !sp.is_multiple_of(WORD) || sp >= self.base || self.base - sp > MAX_STACK_BYTES || sp <= self.sp {
            return Err(End::Torn);
        }
        if self.copy.1.is_empty() {
            let bytes = usize::try_from(self.base - sp + WORD).map_err(|_| End::Torn)?;
            self.copy = (sp - WORD, self.memory.bytes(sp - WORD, bytes).map_err(|_| End::UnreadableStack)?);
        }
        // Where the address is not written down it lies on the stack, as at any call.
        self.pc = if pc == 0 { self.word(sp - WORD)? } else { pc };
        (self.sp, self.fp) = (sp, fp);
        Ok(true)
    }

    fn run(&mut self) -> End {
        loop {
            match self.step() {
                Ok(()) if self.places.len() >= MAX_FRAMES => return End::TooDeep,
                Ok(()) => {}
                Err(end) => return end,
            }
        }
    }

    /// Takes a frame and goes to its caller.
    fn step(&mut self) -> Result<(), End> {
        let layout = &self.stacks.layout;
        if self.pc == layout.call_stub_return {
            return self.entry();
        }
        if layout.return_barrier != 0 && self.pc == layout.return_barrier {
            return self.frozen();
        }
        self.step_within()
    }

    /// The same for a frame whose caller lies in the same piece of stack.
    fn step_within(&mut self) -> Result<(), End> {
        let [first, behind] = self.stacks.layout.interpreter;
        if (first..behind).contains(&self.pc) { self.interpreted() } else { self.compiled() }
    }

    fn interpreted(&mut self) -> Result<(), End> {
        let below = |words: u64| self.fp.wrapping_sub(words * WORD);
        let (method, pointer) =
            (self.word(below(METHOD))?, self.word(below(self.stacks.layout.bytecode_pointer_words.into()))?);
        let (sender, link) = (self.word(below(SENDER_SP))?, self.word(self.fp)?);
        let absolute = |words| if self.relative { frozen::relative(self.fp, words) } else { words };
        let (sender, link) = (absolute(sender), absolute(link));
        if self.fp < self.sp || sender <= self.fp || !method.is_multiple_of(WORD) || pointer >> 47 != 0 {
            return Err(End::Torn);
        }
        let caller = self.word(self.fp.wrapping_add(WORD))?;
        self.places.push(Place::Interpreted { method, pointer });
        self.take_variables();
        self.go_on(caller, sender, link)
    }

    /// Native code has called Java here: goes to the Java code that had called that.
    fn entry(&mut self) -> Result<(), End> {
        self.entries += 1;
        if self.entries > MAX_ENTRIES {
            return Err(End::TooDeep);
        }
        let words = i64::from(self.stacks.offsets.wrapper_words);
        let wrapper = self.word(self.fp.wrapping_add_signed(words * WORD.cast_signed()))?;
        match self.start(wrapper.wrapping_add(self.stacks.offsets.wrapper_anchor)) {
            Ok(true) => Ok(()),
            Ok(false) => Err(End::Root),
            Err(end) => Err(end),
        }
    }

    fn compiled(&mut self) -> Result<(), End> {
        let blob = self.stacks.code.blob_at(self.code, self.pc).map_err(|_| End::Torn)?;
        if let Some(compiled) = blob.compiled {
            let original = (self.pc == compiled.deopt_handler).then(|| self.original_pc(blob.address)).flatten();
            let native = blob.kind == BlobKind::NativeMethod;
            let pc = original.unwrap_or(self.pc);
            self.places.push(Place::Compiled { pc, compile_id: compiled.compile_id, native });
        }
        let is_stub = blob.compiled.is_none();
        if blob.frame_size == 0 {
            // Such stubs keep a frame pointer where they call.
            let (link, caller) = (self.word(self.fp)?, self.word(self.fp.wrapping_add(WORD))?);
            let sp = self.fp.wrapping_add(2 * WORD);
            self.below_is_stub = is_stub;
            return self.go_on(caller, sp, link);
        }
        let mut sp = self.sp.wrapping_add(u64::from(blob.frame_size) * WORD);
        if self.below_is_stub && !is_stub {
            sp = self.behind_pushed(sp);
        }
        let saved = sp.wrapping_sub(2 * WORD);
        let (link, mut caller) = (self.word(saved)?, self.word(sp.wrapping_sub(WORD))?);
        if caller == ENTRY_BARRIER_COOKIE {
            caller = self.word(sp)?;
            sp = sp.wrapping_add(WORD);
        }
        self.below_is_stub = is_stub;
        self.go_on(caller, sp, if self.relative { frozen::relative(saved, link) } else { link })
    }

    /// Where code had pushed words before it called a stub, its frame ends above them: at the first word that leads into code.
    fn behind_pushed(&self, sp: u64) -> u64 {
        let returns = |sp: u64| self.word(sp.wrapping_sub(WORD)).is_ok_and(|word| self.is_code(word));
        (0..MAX_PUSHED_WORDS).map(|words| sp.wrapping_add(words * WORD)).find(|sp| returns(*sp)).unwrap_or(sp)
    }

    fn is_code(&self, address: u64) -> bool {
        self.stacks.code.heaps().iter().any(|heap| heap.contains(address))
    }

    /// Deoptimised code keeps the address at which it was in its frame.
    fn original_pc(&self, blob: u64) -> Option<u64> {
        let offset = self.code.u32(blob.wrapping_add(self.stacks.layout.nmethod_orig_pc_offset.into())).ok()?;
        self.word(self.sp.wrapping_add(offset.into())).ok()
    }

    fn go_on(&mut self, pc: u64, sp: u64, fp: u64) -> Result<(), End> {
        if sp <= self.sp {
            return Err(End::Torn);
        }
        (self.pc, self.sp, self.fp) = (pc, sp, fp);
        Ok(())
    }

    /// A word of the stack, as it was when all of it was read.
    fn word(&self, address: u64) -> Result<u64, End> {
        let bytes = self.copied(address, size_of::<u64>()).filter(|_| address.is_multiple_of(WORD)).ok_or(End::Torn)?;
        at::u64(bytes, 0).ok_or(End::Torn)
    }

    /// Bytes of the stack, if all of them are of what was read at once.
    fn copied(&self, address: u64, len: usize) -> Option<&[u8]> {
        let (start, bytes) = &self.copy;
        let offset = usize::try_from(address.checked_sub(*start)?).ok()?;
        bytes.get(offset..offset.checked_add(len)?)
    }
}

#[cfg(test)]
mod tests;

//! The memory that woven code and this library share: switches of places, automata, and a buffer for each thread.
//!
//! All of it lies outside of the Java heap. It stays mapped when the library leaves, because compiled code knows its addresses;
//! its pages are given back. Java code writes a buffer without a lock and tells by its `next` what is whole; everything else
//! about a buffer is done under its lock.
#![expect(unsafe_code, reason = "memory that Java code writes")]

mod buffer;
mod contexts;
mod counters;
mod pages;

use std::{
    collections::HashMap,
    ops::Range,
    ptr,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicI64, AtomicU8, AtomicU32, AtomicU64, Ordering},
    },
};

use tracer_weave::control::Told;

pub(crate) use self::counters::Counters;
use self::{
    buffer::Buffer,
    contexts::{CONTEXTS_AT_ONCE, Contexts},
    counters::COUNTERS_BYTES,
    pages::{discard, map, unmap},
};
use crate::{jvm::ArrayLayout, site::jtrace_marks_flushed, telling};

/// Most places of one JVM.
pub(crate) const PLACES: usize = 1 << 18;
/// Threads that have a buffer at the same time.
const SLOTS: usize = 1 << 12;
/// Most properties, with room for one that is none.
const PROPERTIES: usize = 256;
/// Bytes of a property's automaton: 64 symbols of 64 states.
const MACHINE_BYTES: usize = 64 * 64;
/// Bytes of the word of a symbol's place: its switch in the lowest bits, then its symbol and its property, which lead to a row of the
/// automata. Marks have nothing of that, and a byte for their switch: what they touch is in the way of the program's own data.
const SYMBOL_BYTES: usize = 4;
const SWITCH_MASK: u32 = 63;
const SYMBOL_SHIFT: u32 = 6;
const PROPERTY_SHIFT: u32 = 12;
/// Symbols that a property can have.
const MAX_SYMBOLS: usize = 63;
/// Behind them: whether an object may die in a state.
const MAY_END: usize = 63;
/// States that it can have.
const MAX_STATES: usize = 64;

/// Virtual threads of which it is known where they were last.
const MAX_CARRIED: usize = 1 << 16;

/// Bytes before a buffer's words.
const HEADER_BYTES: usize = 64;
/// Words of a buffer, and those behind its end that the longest mark may need.
const WORDS: usize = 4000;
const SLACK_WORDS: usize = 64;
/// Bytes of a buffer.
const BUFFER_BYTES: usize = HEADER_BYTES + 8 * (WORDS + SLACK_WORDS);
/// Offsets in a buffer's header, as `JtraceMarks` has them.
const NEXT: usize = 0;
const END: usize = 8;
const COUNTS: usize = 16;
const LAST_THREAD: usize = 24;
const MAY_HAVE_SLOT: usize = 40;
const TID: usize = 48;

/// No thread has this id.
const NOBODY: i64 = -1;

/// All of it.
pub(crate) struct Memory {
    arrays: ArrayLayout,
    switches: usize,
    symbols: usize,
    machines: usize,
    buffers: Mutex<Vec<Buffer>>,
    /// In which buffer each virtual thread has written last.
    carried: Mutex<HashMap<i64, usize>>,
    made: AtomicU64,
    /// Whether a thread got no buffer.
    refused: AtomicBool,
    /// Whether contexts found no room.
    is_full: AtomicBool,
}

impl Memory {
    /// Maps it; pages come as they are used.
    pub(crate) fn new(arrays: ArrayLayout) -> Option<Self> {
        Some(Self {
            arrays,
            switches: map(PLACES)?,
            symbols: map(PLACES * SYMBOL_BYTES)?,
            machines: map(PROPERTIES * MACHINE_BYTES)?,
            buffers: Mutex::new(Vec::new()),
            carried: Mutex::new(HashMap::new()),
            made: AtomicU64::new(0),
            refused: AtomicBool::new(false),
            is_full: AtomicBool::new(false),
        })
    }

    /// What `JtraceMarks.at` asks for.
    pub(crate) const fn at(&self, which: i32) -> i64 {
        let ArrayLayout { alignment, elements_at, reference } = self.arrays;
        let value = match which {
            0 => self.switches,
            1 => SLOTS,
            2 => self.machines,
            3 => self.symbols,
            4 => COUNTERS_BYTES / 2,
            5 => return alignment,
            6 => return elements_at,
            7 => return reference,
            _ => 0,
        };
        value.cast_signed() as i64
    }

    /// Sets the switch of a place.
    pub(crate) fn switch(&self, place: u32, bits: u8) {
        if (place as usize) < PLACES {
            let word = self.symbol(place);
            let symbol = word.load(Ordering::Relaxed) & !SWITCH_MASK;
            word.store(symbol | u32::from(bits) & SWITCH_MASK, Ordering::Release);
            Self::byte(self.switches + place as usize).store(bits, Ordering::Release);
        }
    }

    /// Says what a place's symbol is.
    pub(crate) fn set_symbol(&self, place: u32, property: u8, symbol: u8) {
        if (place as usize) < PLACES {
            let of = u32::from(property) << PROPERTY_SHIFT | u32::from(symbol) << SYMBOL_SHIFT;
            self.symbol(place).store(of, Ordering::Release);
        }
    }

    /// Says that objects are counted at a place.
    pub(crate) fn set_objects(&self, place: u32) {
        // No property has the number 0.
        self.set_symbol(place, 0, 1);
    }

    /// Writes the automaton of a property: next states by symbol and state.
    pub(crate) fn set_machine(&self, property: u8, next: &[Vec<u8>], may_end: &[bool]) {
        for (state, may_end) in may_end.iter().enumerate().take(MAX_STATES) {
            let at = self.machines + usize::from(property) * MACHINE_BYTES + MAY_END * MAX_STATES + state;
            Self::byte(at).store(u8::from(*may_end), Ordering::Release);
        }
        for (symbol, states) in next.iter().enumerate().take(MAX_SYMBOLS) {
            for (state, to) in states.iter().enumerate().take(MAX_STATES) {
                let at = self.machines + usize::from(property) * MACHINE_BYTES + symbol * MAX_STATES + state;
                Self::byte(at).store(*to, Ordering::Release);
            }
        }
    }

    /// The word of a symbol's place; only the thread that follows orders writes it, or one that loads a class and is alone with its places.
    fn symbol(&self, place: u32) -> &'static AtomicU32 {
        // SAFETY: all callers stay in a mapping that is never taken away; words are aligned.
        unsafe { &*ptr::with_exposed_provenance::<AtomicU32>(self.symbols + place as usize * SYMBOL_BYTES) }
    }

    fn byte(address: usize) -> &'static AtomicU8 {
        // SAFETY: all callers stay in a mapping that is never taken away.
        unsafe { &*ptr::with_exposed_provenance::<AtomicU8>(address) }
    }

    fn word(address: usize) -> &'static AtomicI64 {
        // SAFETY: as above; all of them are aligned to 8 bytes.
        unsafe { &*ptr::with_exposed_provenance::<AtomicI64>(address) }
    }

    fn half(address: usize) -> &'static AtomicU32 {
        // SAFETY: all callers stay in a mapping that is there as long as they have it; all of them are aligned to 4 bytes.
        unsafe { &*ptr::with_exposed_provenance::<AtomicU32>(address) }
    }

    fn buffers(&self) -> MutexGuard<'_, Vec<Buffer>> {
        self.buffers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets a buffer's thread have the slot that the lower bits of its id name, unless another one that lives has it.
    fn give_slot(buffers: &[Buffer], to: &Buffer) {
        let may_have = |of: &Buffer| Self::word(of.base + MAY_HAVE_SLOT);
        let same = |of: &&Buffer| (of.tid ^ to.tid).cast_unsigned().is_multiple_of(SLOTS as u64);
        if buffers.iter().filter(same).all(|of| may_have(of).load(Ordering::Relaxed) == 0) {
            may_have(to).store(1, Ordering::Relaxed);
        }
    }

    /// The buffer of a thread that has none in its slot; 0 where there is no room.
    pub(crate) fn buffer_of(&self, tid: i64) -> i64 {
        let mut buffers = self.buffers();
        if let Some(at) = buffers.iter().position(|buffer| buffer.tid == tid) {
            buffers[at].introduce();
            Self::give_slot(&buffers, &buffers[at]);
            return buffers[at].base.cast_signed() as i64;
        }
        if tid <= 0 {
            return 0;
        }
        let room = (buffers.len() < SLOTS).then(|| map(BUFFER_BYTES).zip(map(COUNTERS_BYTES))).flatten();
        let Some((base, counts)) = room else {
            drop(buffers);
            self.refuse();
            return 0;
        };
        let words = base + HEADER_BYTES;
        Self::word(base + NEXT).store(words.cast_signed() as i64, Ordering::Relaxed);
        Self::word(base + END).store((words + 8 * WORDS).cast_signed() as i64, Ordering::Relaxed);
        Self::word(base + COUNTS).store(counts.cast_signed() as i64, Ordering::Relaxed);
        Self::word(base + LAST_THREAD).store(tid, Ordering::Relaxed);
        Self::word(base + TID).store(tid, Ordering::Relaxed);
        let number = u32::try_from(self.made.fetch_add(1, Ordering::Relaxed) + 1).unwrap_or(u32::MAX);
        let mut buffer = Buffer::new(number, tid, base, counts);
        buffer.introduce();
        buffers.push(buffer);
        Self::give_slot(&buffers, &buffers[buffers.len() - 1]);
        base.cast_signed() as i64
    }

    /// The tree of contexts of a thread, with room for one more where there is any; 0 where there is none. Its thread waits for this.
    pub(crate) fn contexts_of(&self, tid: i64) -> i64 {
        let mut buffers = self.buffers();
        let Some(buffer) = buffers.iter_mut().find(|buffer| buffer.tid == tid) else { return 0 };
        let has_room = match &mut buffer.contexts {
            Some(contexts) => contexts.has_room() || contexts.grow(),
            none => {
                *none = Contexts::new();
                none.is_some()
            }
        };
        let base = buffer.contexts.as_ref().map_or(0, |contexts| contexts.base.cast_signed() as i64);
        drop(buffers);
        if !has_room && !self.is_full.swap(true, Ordering::Relaxed) {
            telling::tell(Told::Lacks(contexts::lack()));
        }
        base
    }

    /// Counting in contexts goes on after a pause.
    pub(crate) fn pause_contexts(&self) {
        for contexts in self.buffers().iter().filter_map(|buffer| buffer.contexts.as_ref()) {
            contexts.pause();
        }
    }

    /// A thread gets no buffer: that is said once.
    fn refuse(&self) {
        if !self.refused.swap(true, Ordering::Relaxed) {
            let why = format!("marks of some threads were not told: no more than {SLOTS} can have a buffer");
            telling::tell(Told::Lacks(why));
        }
    }

    /// A virtual thread goes on in another buffer. What it wrote elsewhere is handed over now, so that it comes first.
    pub(crate) fn moved(&self, base: i64, thread: i64) {
        let base = usize::try_from(base).unwrap_or(0);
        let mut carried = self.carried.lock().unwrap_or_else(PoisonError::into_inner);
        let is_full = carried.len() >= MAX_CARRIED && !carried.contains_key(&thread);
        if is_full {
            carried.clear();
        }
        let last = carried.insert(thread, base).filter(|last| *last != base);
        if let Some(buffer) = self.buffers().iter_mut().find(|buffer| buffer.base == base) {
            buffer.carries = true;
        }
        if !is_full && last.is_none() {
            return;
        }
        for buffer in self.buffers().iter_mut().filter(|buffer| is_full || Some(buffer.base) == last) {
            Self::hand_over(buffer, false);
            // When it comes back, this must be asked again, also where nobody else has written there. Of threads that are no longer
            // known that is true of all.
            let owner = Self::word(buffer.base + LAST_THREAD);
            let now = if is_full { owner.load(Ordering::Relaxed) } else { thread };
            let _ = owner.compare_exchange(now, NOBODY, Ordering::AcqRel, Ordering::Relaxed);
        }
    }

    /// A visit begins, and nothing is switched on yet: its jtrace knows nothing of what an earlier one heard. Threads that ask for their
    /// buffers from now on are introduced again.
    pub(crate) fn begin_visit(&self) {
        for buffer in self.buffers().iter_mut() {
            buffer.from = Self::next(buffer);
            buffer.handed = 0;
            buffer.is_introduced = false;
            if let Some(contexts) = &mut buffer.contexts {
                contexts.forget();
            }
            if buffer.carries {
                // Which virtual thread wrote here last is not known any more: the next one says who it is.
                Self::word(buffer.base + LAST_THREAD).store(NOBODY, Ordering::Release);
            }
        }
    }

    /// Hands over what is in a full buffer; its thread calls this.
    pub(crate) fn flush(&self, base: i64) {
        let base = usize::try_from(base).unwrap_or(0);
        let mut buffers = self.buffers();
        if let Some(buffer) = buffers.iter_mut().find(|buffer| buffer.base == base) {
            Self::hand_over(buffer, true);
            let words = buffer.base + HEADER_BYTES;
            buffer.from = words;
            Self::word(base + NEXT).store(words.cast_signed() as i64, Ordering::Release);
        }
    }

    /// Hands over what idle threads have left, and what was counted.
    pub(crate) fn flush_idle(&self, places: &Range<u32>, counters: Counters) {
        let mut buffers = self.buffers();
        let contexts = match counters {
            Counters::None => 0,
            Counters::Some => (CONTEXTS_AT_ONCE / buffers.len().max(1)).max(1),
            Counters::All => usize::MAX,
        };
        for buffer in buffers.iter_mut() {
            Self::hand_over(buffer, false);
            if counters != Counters::None {
                self.tell_counters(buffer, places, contexts);
            }
        }
    }

    /// The last time: hands over everything, and forgets what the places were.
    pub(crate) fn flush_last(&self, places: &Range<u32>) {
        self.flush_idle(places, Counters::All);
        self.buffers().iter().for_each(Buffer::close);
        self.refused.store(false, Ordering::Relaxed);
        self.is_full.store(false, Ordering::Relaxed);
        discard(self.switches, PLACES);
        discard(self.symbols, PLACES * SYMBOL_BYTES);
    }

    /// Where what is whole in a buffer ends; where what is not handed over yet begins, if no sense can be made of that.
    fn next(buffer: &Buffer) -> usize {
        let end = buffer.base + HEADER_BYTES + 8 * (WORDS + SLACK_WORDS);
        let next = usize::try_from(Self::word(buffer.base + NEXT).load(Ordering::Acquire)).unwrap_or(0);
        if (buffer.from..=end).contains(&next) { next } else { buffer.from }
    }

    fn hand_over(buffer: &mut Buffer, is_owner: bool) {
        let next = Self::next(buffer);
        if next == buffer.from {
            return;
        }
        let count = (next - buffer.from) / 8;
        let number = buffer.by(is_owner);
        jtrace_marks_flushed(ptr::with_exposed_provenance(buffer.from), count as u64, number, buffer.handed);
        buffer.handed += count as u64;
        buffer.from = next;
    }

    /// A thread ends: hands over what is left, and takes its buffer back.
    pub(crate) fn end_thread(&self, tid: i64, places: &Range<u32>) {
        let mut buffers = self.buffers();
        let Some(at) = buffers.iter().position(|buffer| buffer.tid == tid) else { return };
        let mut buffer = buffers.swap_remove(at);
        Self::hand_over(&mut buffer, true);
        self.tell_counters(&mut buffer, places, usize::MAX);
        buffer.close();
        // Only that thread knew them, and it has ended.
        unmap(buffer.base, BUFFER_BYTES);
        unmap(buffer.counts, COUNTERS_BYTES);
        if let Some(contexts) = buffer.contexts {
            contexts.release();
        }
    }

    /// Switches everything off.
    pub(crate) fn switch_off(&self, places: &Range<u32>) {
        places.clone().for_each(|place| self.switch(place, 0));
    }
}

//! The tree of calling contexts of a thread: memory that `JtraceContexts` writes, and what was told of it.
//!
//! Only its thread writes the tree. The library makes it, makes it larger while that thread waits for it, and reads what was counted.

use std::sync::atomic::{AtomicI64, AtomicU32, AtomicUsize, Ordering};

use tracer_common::marks::{Context, Word, WordKind};

use super::{Memory, discard, map};

/// Bytes of the trees of all threads together; a context takes 40.
pub(super) const MOST_BYTES: usize = 64 << 20;
/// Contexts that are told at once, half a megabyte: each time for all threads together. A thread can have a million.
pub(super) const CONTEXTS_AT_ONCE: usize = 1 << 14;
/// Words with which a context is told.
pub(super) const TOLD_WORDS: usize = 4;
/// Contexts for which a tree has room at first.
const LEAST: usize = 256;

/// As `JtraceContexts` has them: fields of the header, of a node, and nodes that are there from the beginning.
const CURRENT: usize = 0;
const USED: usize = 4;
const CAPACITY: usize = 8;
const IS_FULL: usize = 20;
const EPOCH: usize = 24;
const HEADER_BYTES: usize = 64;
const PLACE: usize = 0;
const PARENT: usize = 4;
const CALLS: usize = 16;
const ERRORS: usize = 24;
const NODE_BYTES: usize = 32;
const INDEX_BYTES: usize = 8;
const AGAIN: usize = 2;
const FIRST: usize = 3;
/// What was told of a context that was not told yet: it is, also where nothing is counted in it yet, as others can be within it.
const UNTOLD: [i64; 2] = [-1; 2];
/// What is given back at a time. No tree is smaller.
const PAGE: usize = 4096;
/// The sign of a place that stands for the end of its region.
const LEFT: u32 = 1 << 31;

/// Bytes of all trees at present.
static BYTES: AtomicUsize = AtomicUsize::new(0);

/// The tree of a thread.
pub(super) struct Contexts {
    pub(super) base: usize,
    capacity: usize,
    /// What was told of each context: entered, and left by an exception.
    told: Vec<[i64; 2]>,
    /// Which one is looked at next.
    next: usize,
}

const fn bytes(capacity: usize) -> usize {
    HEADER_BYTES + capacity * (NODE_BYTES + INDEX_BYTES)
}

impl Contexts {
    /// An empty tree; nothing where there is no room.
    pub(super) fn new() -> Option<Self> {
        let tree = Self { base: mapped(LEAST)?, capacity: LEAST, told: Vec::new(), next: FIRST };
        tree.begin();
        Some(tree)
    }

    fn begin(&self) {
        self.node(AGAIN, PLACE).store(LEFT, Ordering::Relaxed);
        self.header(CAPACITY).store(number(self.capacity), Ordering::Relaxed);
        self.header(USED).store(number(FIRST), Ordering::Release);
    }

    fn header(&self, field: usize) -> &'static AtomicU32 {
        Memory::half(self.base + field)
    }

    fn node(&self, number: usize, field: usize) -> &'static AtomicU32 {
        Memory::half(self.base + HEADER_BYTES + number * NODE_BYTES + field)
    }

    fn counter(&self, number: usize, field: usize) -> &'static AtomicI64 {
        Memory::word(self.base + HEADER_BYTES + number * NODE_BYTES + field)
    }

    fn index(&self, at: usize) -> &'static AtomicU32 {
        Memory::half(self.base + HEADER_BYTES + self.capacity * NODE_BYTES + at * 4)
    }

    /// How many contexts there are. The header is memory of a program that may be broken.
    fn used(&self) -> usize {
        (self.header(USED).load(Ordering::Acquire) as usize).min(self.capacity)
    }

    /// Whether there is room for one more.
    pub(super) fn has_room(&self) -> bool {
        self.used() < self.capacity
    }

    /// Makes it twice as large, and says whether there was room; its thread waits for this.
    pub(super) fn grow(&mut self) -> bool {
        let capacity = 2 * self.capacity;
        let Some(base) = mapped(capacity) else {
            self.header(IS_FULL).store(1, Ordering::Relaxed);
            return false;
        };
        let larger = Self { base, capacity, told: std::mem::take(&mut self.told), next: self.next };
        for at in (0..HEADER_BYTES + self.used() * NODE_BYTES).step_by(8) {
            Memory::word(base + at).store(Memory::word(self.base + at).load(Ordering::Relaxed), Ordering::Relaxed);
        }
        larger.header(CAPACITY).store(number(capacity), Ordering::Relaxed);
        for at in FIRST..self.used() {
            larger.enter_index(at);
        }
        let smaller = std::mem::replace(self, larger);
        smaller.release();
        true
    }

    fn enter_index(&self, at: usize) {
        let [parent, place] = [PARENT, PLACE].map(|field| self.node(at, field).load(Ordering::Relaxed));
        let mask = 2 * self.capacity - 1;
        let hash = parent.wrapping_mul(31).wrapping_add(place).wrapping_mul(0x9e37_79b1) >> 8;
        let mut to = hash as usize & mask;
        while self.index(to).load(Ordering::Relaxed) != 0 {
            to = (to + 1) & mask;
        }
        self.index(to).store(number(at), Ordering::Relaxed);
    }

    /// From the first one on: all are to be told.
    pub(super) fn begin_again(&mut self) {
        self.next = FIRST;
    }

    /// What was counted since the last time, of so many contexts at most. A context has a greater number than what is around it, so what is
    /// around it was told before.
    pub(super) fn tell(&mut self, words: &mut Vec<u64>, most: usize) {
        let used = self.used();
        self.told.resize(used.max(self.told.len()), UNTOLD);
        // What is around everything after a pause is not told: nothing is known of it.
        let begin = if self.next < used { self.next } else { FIRST };
        self.next = FIRST;
        for at in begin..used {
            if words.len() >= most * TOLD_WORDS {
                self.next = at;
                break;
            }
            let now = [CALLS, ERRORS].map(|field| self.counter(at, field).load(Ordering::Relaxed));
            let [place, parent] = [PLACE, PARENT].map(|field| self.node(at, field).load(Ordering::Relaxed));
            let Some(told) = self.told.get_mut(at) else { continue };
            let what = if place & LEFT == 0 { Context::Region } else { Context::Left };
            // Where nothing is counted, what is around others is told once.
            let now = if what == Context::Region { now } else { [1, 0] };
            if now == *told {
                continue;
            }
            let counted =
                |field: usize| if what == Context::Region { now[field].wrapping_sub(told[field].max(0)) } else { 0 };
            words.push(Word::new(WordKind::Context, what as u8, place & !LEFT, number(at)).0);
            words.push(parent.into());
            words.extend([counted(0), counted(1)].map(i64::cast_unsigned));
            *told = now;
        }
    }

    /// Goes on after a pause: what is around the regions that come next is not known.
    pub(super) fn pause(&self) {
        self.header(EPOCH).fetch_add(1, Ordering::Relaxed);
        self.header(CURRENT).store(number(AGAIN), Ordering::Release);
    }

    /// Forgets everything, for a new visit; nothing is counted at present. It keeps its memory and its size: a thread that lost its CPU in
    /// the middle of a step may go on with that.
    pub(super) fn forget(&mut self) {
        self.header(EPOCH).fetch_add(1, Ordering::Relaxed);
        for at in (HEADER_BYTES..PAGE).step_by(8) {
            Memory::word(self.base + at).store(0, Ordering::Relaxed);
        }
        discard(self.base + PAGE, bytes(self.capacity) - PAGE);
        for field in [CURRENT, IS_FULL] {
            self.header(field).store(0, Ordering::Relaxed);
        }
        self.told.clear();
        self.next = FIRST;
        self.begin();
    }

    /// Gives its memory back; nobody knows it any more.
    pub(super) fn release(self) {
        super::unmap(self.base, bytes(self.capacity));
        BYTES.fetch_sub(bytes(self.capacity), Ordering::Relaxed);
    }
}

/// Memory for so many contexts, as long as all trees together stay within their bound.
fn mapped(capacity: usize) -> Option<usize> {
    let bytes = bytes(capacity);
    if BYTES.fetch_add(bytes, Ordering::Relaxed) + bytes <= MOST_BYTES
        && let Some(base) = map(bytes)
    {
        return Some(base);
    }
    BYTES.fetch_sub(bytes, Ordering::Relaxed);
    None
}

fn number(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

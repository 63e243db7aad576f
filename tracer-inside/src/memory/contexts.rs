//! The tree of calling contexts of a thread: memory that `JtraceContexts` writes, and what was told of it.
//!
//! Only its thread writes the tree. The library makes it, gives it more room while that thread waits for it, and reads what was counted.
//! Addresses are reserved for all that a tree can have, so it never moves: nodes have their memory from the beginning on, and the tables
//! of their children from the end on.

use std::{
    ops::Range,
    ptr,
    sync::atomic::{AtomicI64, AtomicU32, AtomicUsize, Ordering},
};

use rustix::mm::{MapFlags, MprotectFlags, ProtFlags, mmap_anonymous, mprotect};
use tracer_common::marks::{Context, Word, WordKind};

use super::{
    Memory,
    pages::{discard, unmap},
};

/// Bytes of the trees of all threads together, and for which one tree has addresses.
const MOST_BYTES: usize = 64 << 20;
/// Contexts that are told at once, half a megabyte: each time for all threads together. A thread can have a million.
pub(super) const CONTEXTS_AT_ONCE: usize = 1 << 14;
/// Words with which a context is told.
pub(super) const TOLD_WORDS: usize = 4;
/// Bytes that nodes have at first, and tables.
const NODES_AT_FIRST: usize = 8 << 10;
const TABLES_AT_FIRST: usize = 4 << 10;
/// The most that is added to either at a time, unless more is asked for.
const MOST_AT_A_TIME: usize = 1 << 20;

/// As `JtraceContexts` has them: fields of the header, of a node, and nodes that are there from the beginning.
const CURRENT: usize = 0;
const EPOCH: usize = 4;
const USED: usize = 8;
const NODES_END: usize = 12;
const TABLES: usize = 16;
const TABLES_FLOOR: usize = 20;
const WANTED: usize = 24;
const IS_FULL: usize = 28;
const HEADER_BYTES: usize = 64;
const PLACE: usize = 0;
const PARENT: usize = 4;
const TABLE: usize = 8;
const ONLY: usize = 16;
const NODE_BYTES: usize = 32;
const CALLS: usize = 8;
const ENTRY_BYTES: usize = 16;
const ROOT: usize = 0;
const AGAIN: usize = 2;
const FIRST: usize = 3;
/// Numbers of pauses have the sign, so that what code keeps of them is negative.
const SIGN: u32 = 1 << 31;
/// What was told of a context that was not told yet: it is, also where nothing is counted in it yet, as others can be within it.
const UNTOLD: i64 = -1;
/// What memory is taken and given back by.
const PAGE: usize = 4096;
/// The sign of a place that stands for the end of its region.
const LEFT: u32 = 1 << 31;
/// What stands in the place of what counts by how many exceptions the node around it was left.
const ERRORS: u32 = 1 << 30;
/// The sign of a place of whose arrays the bytes are counted.
const BYTES_OF: u32 = 1 << 29;

/// Bytes of all trees at present.
static BYTES: AtomicUsize = AtomicUsize::new(0);

/// The tree of a thread.
pub(super) struct Contexts {
    pub(super) base: usize,
    /// Where nodes end that have memory, and where tables begin.
    memory: Range<usize>,
    /// What was told of each node.
    told: Vec<i64>,
    /// Which one is looked at next.
    next: usize,
}

impl Contexts {
    /// An empty tree; nothing where there is no room.
    pub(super) fn new() -> Option<Self> {
        let base = reserved()?;
        let mut tree = Self { base, memory: 0..MOST_BYTES, told: Vec::new(), next: ROOT };
        if !tree.add_nodes(NODES_AT_FIRST) || !tree.add_tables(TABLES_AT_FIRST) {
            tree.release();
            return None;
        }
        tree.header(EPOCH).store(SIGN, Ordering::Relaxed);
        tree.begin();
        Some(tree)
    }

    fn begin(&self) {
        for number in 0..FIRST {
            self.node(number, TABLE).store(self::number(at(number) + ONLY), Ordering::Relaxed);
        }
        self.node(AGAIN, PLACE).store(LEFT, Ordering::Relaxed);
        for field in [WANTED, IS_FULL] {
            self.header(field).store(0, Ordering::Relaxed);
        }
        self.header(TABLES).store(number(MOST_BYTES), Ordering::Relaxed);
        self.header(CURRENT).store(number(at(ROOT)), Ordering::Relaxed);
        self.header(USED).store(number(at(FIRST)), Ordering::Release);
    }

    fn header(&self, field: usize) -> &'static AtomicU32 {
        Memory::half(self.base + field)
    }

    fn node(&self, number: usize, field: usize) -> &'static AtomicU32 {
        Memory::half(self.base + at(number) + field)
    }

    /// How many nodes there are. The header is memory of a program that may be broken.
    fn used(&self) -> usize {
        let used = self.header(USED).load(Ordering::Acquire) as usize;
        used.min(self.memory.start).saturating_sub(HEADER_BYTES) / NODE_BYTES
    }

    /// Whether there is room for one more, and for what is wanted for a table.
    pub(super) fn has_room(&self) -> bool {
        at(self.used()) + NODE_BYTES <= self.memory.start && self.tables_lack().is_none()
    }

    /// How many bytes there are too few for the table that is wanted.
    fn tables_lack(&self) -> Option<usize> {
        let wanted = self.header(WANTED).load(Ordering::Relaxed) as usize;
        let free = (self.header(TABLES).load(Ordering::Relaxed) as usize).saturating_sub(self.memory.end);
        wanted.checked_sub(free).filter(|lack| *lack > 0)
    }

    /// Gives it more room, and says whether there was any; its thread waits for this.
    pub(super) fn grow(&mut self) -> bool {
        let step = |bytes: usize| bytes.min(MOST_AT_A_TIME);
        let has_nodes = at(self.used()) + NODE_BYTES <= self.memory.start || self.add_nodes(step(self.memory.start));
        let has_tables = self.tables_lack().is_none_or(|lack| {
            let bytes = step(MOST_BYTES - self.memory.end).max(lack.next_multiple_of(PAGE));
            self.add_tables(bytes) || self.add_tables(lack.next_multiple_of(PAGE))
        });
        self.header(WANTED).store(0, Ordering::Relaxed);
        let has_room = has_nodes && has_tables;
        if !has_room {
            self.header(IS_FULL).store(1, Ordering::Relaxed);
        }
        has_room
    }

    fn add_nodes(&mut self, bytes: usize) -> bool {
        let end = self.memory.start + bytes;
        let is_there = end <= self.memory.end && self.take(self.memory.start, bytes);
        if is_there {
            self.memory.start = end;
            self.header(NODES_END).store(number(end), Ordering::Relaxed);
        }
        is_there
    }

    fn add_tables(&mut self, bytes: usize) -> bool {
        let Some(floor) = self.memory.end.checked_sub(bytes).filter(|floor| *floor >= self.memory.start) else {
            return false;
        };
        let is_there = self.take(floor, bytes);
        if is_there {
            self.memory.end = floor;
            self.header(TABLES_FLOOR).store(number(floor), Ordering::Relaxed);
        }
        is_there
    }

    /// Takes memory for a part of its addresses, as long as all trees together stay within their bound.
    fn take(&self, from: usize, bytes: usize) -> bool {
        if BYTES.fetch_add(bytes, Ordering::Relaxed) + bytes <= MOST_BYTES {
            let at = ptr::with_exposed_provenance_mut(self.base + from);
            // SAFETY: a part of what was reserved for this tree.
            if unsafe { mprotect(at, bytes, MprotectFlags::READ | MprotectFlags::WRITE) }.is_ok() {
                return true;
            }
        }
        BYTES.fetch_sub(bytes, Ordering::Relaxed);
        false
    }

    /// From the first one on: all are to be told.
    pub(super) fn begin_again(&mut self) {
        self.next = ROOT;
    }

    /// What was counted since the last time: of the children of so many nodes that there are about as many contexts as are asked for. A node
    /// has a greater number than what is around it, so what is around a context was told before.
    pub(super) fn tell(&mut self, words: &mut Vec<u64>, most: usize) {
        let used = self.used();
        self.told.resize(used.max(self.told.len()), UNTOLD);
        let begin = if self.next < used { self.next } else { ROOT };
        self.next = ROOT;
        for node in begin..used {
            if words.len() >= most * TOLD_WORDS {
                self.next = node;
                break;
            }
            for entry in self.entries_of(node) {
                self.tell_child(node, entry, words);
            }
        }
    }

    /// Where the entries of a node's table lie. They are in memory of a program that may be broken.
    fn entries_of(&self, node: usize) -> impl Iterator<Item = usize> + use<> {
        let [table, mask] = halves(Memory::word(self.base + at(node) + TABLE)).map(|half| half as usize);
        let end = table + mask + ENTRY_BYTES;
        let is_there = end <= self.memory.start || (self.memory.end..=MOST_BYTES).contains(&table) && end <= MOST_BYTES;
        let from = self.base + table;
        (0..if is_there { mask / ENTRY_BYTES + 1 } else { 0 }).map(move |at| from + at * ENTRY_BYTES)
    }

    fn tell_child(&mut self, parent: usize, entry: usize, words: &mut Vec<u64>) {
        let [place, child] = halves(Memory::word(entry));
        let (place, child) = (!place, number_at(child));
        let calls = Memory::word(entry + CALLS).load(Ordering::Relaxed);
        // An empty entry has no child; the root is nobody's.
        let Some(told) = self.told.get_mut(child).filter(|_| child != ROOT) else { return };
        // Where nothing is counted, what is around others is told once.
        let now = if place & LEFT == 0 { calls } else { 0 };
        if now == *told {
            return;
        }
        let counted = now.wrapping_sub((*told).max(0)).cast_unsigned();
        *told = now;
        words.extend(match place {
            ERRORS => {
                let [place, around] = [PLACE, PARENT].map(|field| self.node(parent, field).load(Ordering::Relaxed));
                told_as(Context::Region, place, parent, number_at(around), [0, counted])
            }
            _ if place & LEFT != 0 => told_as(Context::Left, place & !LEFT, child, parent, [0, 0]),
            _ if place & BYTES_OF != 0 => told_as(Context::Bytes, place & !BYTES_OF, child, parent, [counted, 0]),
            _ => told_as(Context::Region, place, child, parent, [counted, 0]),
        });
    }

    /// Goes on after a pause: what is around the regions that come next is not known.
    pub(super) fn pause(&self) {
        self.header(EPOCH).fetch_add(1, Ordering::Relaxed);
        self.header(CURRENT).store(number(at(AGAIN)), Ordering::Release);
    }

    /// Forgets everything, for a new visit; nothing is counted at present. It keeps its room: a thread that lost its CPU in the middle of
    /// a step may go on with that.
    pub(super) fn forget(&mut self) {
        self.header(EPOCH).fetch_add(1, Ordering::Relaxed);
        for at in (HEADER_BYTES..PAGE).step_by(8) {
            Memory::word(self.base + at).store(0, Ordering::Relaxed);
        }
        discard(self.base + PAGE, self.memory.start - PAGE);
        discard(self.base + self.memory.end, MOST_BYTES - self.memory.end);
        self.told.clear();
        self.next = ROOT;
        self.begin();
    }

    /// Gives its memory back; nobody knows it any more.
    pub(super) fn release(self) {
        unmap(self.base, MOST_BYTES);
        BYTES.fetch_sub(self.memory.start + MOST_BYTES - self.memory.end, Ordering::Relaxed);
    }
}

/// What is said where there is no room.
pub(super) fn lack() -> String {
    match BYTES.load(Ordering::Relaxed).div_ceil(1 << 20) {
        0 => "the JVM's process got no memory for calling contexts: calls are counted without what is around them"
            .to_owned(),
        mib => format!(
            "calling contexts took {mib} MiB in the JVM, and get no more: calls in further ones are counted without what is around them"
        ),
    }
}

/// The words that tell of a context: entered, and left by an exception.
fn told_as(what: Context, place: u32, at: usize, around: usize, [calls, errors]: [u64; 2]) -> [u64; TOLD_WORDS] {
    [Word::new(WordKind::Context, what as u8, place, number(at)).0, around as u64, calls, errors]
}

/// The lower and the upper half of a word, which belong together.
fn halves(word: &AtomicI64) -> [u32; 2] {
    let word = word.load(Ordering::Acquire).cast_unsigned();
    [word, word >> 32].map(|half| u32::try_from(half & 0xffff_ffff).unwrap_or(0))
}

/// Where a node lies in its tree.
const fn at(number: usize) -> usize {
    HEADER_BYTES + number * NODE_BYTES
}

/// Which node lies there.
fn number_at(at: u32) -> usize {
    (at as usize).saturating_sub(HEADER_BYTES) / NODE_BYTES
}

/// Addresses for a tree: what reads or writes there ends the program until memory is taken for them.
fn reserved() -> Option<usize> {
    // SAFETY: a new mapping of its own.
    let mapped = unsafe {
        mmap_anonymous(ptr::null_mut(), MOST_BYTES, ProtFlags::empty(), MapFlags::PRIVATE | MapFlags::NORESERVE)
    };
    mapped.ok().map(<*mut std::ffi::c_void>::expose_provenance)
}

fn number(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

//! What is counted and not told one by one: by place, and in contexts. Each is told as what came since the last time.

use std::{ops::Range, sync::atomic::Ordering, thread, time::Duration};

use tracer_common::marks::{Word, WordKind};

use super::{
    Memory, PLACES, PROPERTY_SHIFT, SYMBOL_SHIFT, WORDS,
    buffer::Buffer,
    contexts::{self, CONTEXTS_AT_ONCE},
};
use crate::site::jtrace_marks_flushed;

/// Counters of a place: entered, left, thrown, entered and left. Of a symbol's place they are symbols of objects that are not tracked,
/// those that changed their object's state, none, and those that left it.
const COUNTERS: usize = 4;
/// Bytes of all of them. Those that are seldom used together lie far apart: the first two of all places, then the others.
pub(super) const COUNTERS_BYTES: usize = PLACES * COUNTERS * 8;
/// What they count.
const OF_MARKER: [&[WordKind]; COUNTERS] =
    [&[WordKind::Enter], &[WordKind::Exit], &[WordKind::Thrown], &[WordKind::Enter, WordKind::Exit]];
const OF_SYMBOL: [&[WordKind]; COUNTERS] =
    [&[WordKind::Enter], &[WordKind::Exit], &[WordKind::Thrown], &[WordKind::Symbol]];
/// Objects, and of arrays their bytes.
const OF_OBJECTS: [&[WordKind]; COUNTERS] = [&[WordKind::Enter], &[WordKind::Bytes], &[], &[]];

/// The pause before more: so jtrace, which takes some 200 ns for each, comes along before a ring buffer is full.
const BREATH: Duration = Duration::from_millis(8);

/// Which counters are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Counters {
    None,
    /// Of contexts some, and others the next time.
    Some,
    All,
}

/// Where the counter with this index lies, in bytes: as `JtraceMarks` has it.
const fn counter_at(index: usize) -> usize {
    let (place, which) = (index / COUNTERS, index % COUNTERS);
    which / 2 * (COUNTERS_BYTES / 2) + place * 16 + which % 2 * 8
}

impl Memory {
    /// What the counters of a place count.
    fn counted(&self, place: u32) -> [&'static [WordKind]; COUNTERS] {
        let symbol = self.symbol(place).load(Ordering::Relaxed);
        match (symbol >> PROPERTY_SHIFT, symbol >> SYMBOL_SHIFT) {
            (0, 0) => OF_MARKER,
            (0, _) => OF_OBJECTS,
            _ => OF_SYMBOL,
        }
    }

    /// Tells what was counted since the last time, in so many contexts at most.
    pub(super) fn tell_counters(&self, buffer: &mut Buffer, places: &Range<u32>, contexts: usize) {
        let mut words = Vec::new();
        for index in places.start as usize * COUNTERS..places.end as usize * COUNTERS {
            let now = Self::word(buffer.counts + counter_at(index)).load(Ordering::Relaxed).cast_unsigned();
            if now == 0 {
                continue;
            }
            let told = buffer.told.entry(index).or_default();
            if now > *told {
                let place = u32::try_from(index / COUNTERS).unwrap_or(0);
                for kind in self.counted(place)[index % COUNTERS] {
                    words.push(Word::new(WordKind::Count, *kind as u8, place, 0).0);
                    words.push(now - *told);
                }
                *told = now;
            }
        }
        Self::tell(buffer, &words);
        let mut left = contexts;
        if let Some(of) = buffer.contexts.as_mut().filter(|_| contexts == usize::MAX) {
            of.begin_again();
        }
        while let Some(of) = &mut buffer.contexts {
            words.clear();
            let at_once = left.min(CONTEXTS_AT_ONCE);
            of.tell(&mut words, at_once);
            Self::tell(buffer, &words);
            left -= at_once;
            // Where all are told, the reader has to come along.
            if left == 0 || words.len() < at_once * contexts::TOLD_WORDS {
                break;
            }
            thread::sleep(BREATH);
        }
    }

    /// Tells words. No mark is torn: the words of a batch are a multiple of those of any mark here.
    fn tell(buffer: &mut Buffer, words: &[u64]) {
        for words in words.chunks(WORDS) {
            jtrace_marks_flushed(words.as_ptr(), words.len() as u64, buffer.by(false), buffer.handed);
            buffer.handed += words.len() as u64;
        }
    }
}

//! The threads that marks come from: by the buffer in which they stand, or by the number that Java gives a virtual one.

use std::collections::HashMap;

use super::stack::Stack;
use crate::{event::Tid, mark::MarkBatch, names::Names};

/// Threads with a stack of their own; further ones share the last.
const MAX_THREADS: usize = 1 << 16;

/// A thread.
#[derive(Clone, Debug, Default)]
pub struct Thread {
    /// Its index; marks of one thread always have the same.
    pub index: usize,
    /// Its number for the kernel, where it is known.
    pub tid: Option<Tid>,
    /// Its `Thread.getId()`, where its marks stand in the buffers of other threads (it is a virtual one).
    pub java: Option<u64>,
    /// Number of its buffer.
    pub buffer: u32,
    /// Its open regions.
    pub stack: Stack,
}

impl Thread {
    /// What it is called in tables.
    pub fn label(&self, names: &Names) -> String {
        match (self.java, self.tid) {
            (Some(java), _) => format!("#{java}"),
            (None, Some(tid)) => names.thread(tid),
            (None, None) => format!("buffer {}", self.buffer),
        }
    }
}

/// A thread as batches name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Key {
    Buffer(u32),
    Java(u64),
}

/// What a batch says of its buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arrival {
    /// It goes on where the last one ended.
    Next,
    /// So many words before it were lost.
    Lost(u64),
    /// It begins before the end of the last one, which no buffer does.
    Back,
}

/// All threads.
#[derive(Clone, Debug, Default)]
pub struct Threads {
    list: Vec<Thread>,
    by_key: HashMap<Key, usize>,
    /// Words that are known to have come out of each buffer.
    words: HashMap<u32, u64>,
    /// Virtual threads whose marks stood last in a buffer.
    carried: HashMap<u32, u64>,
    /// Whether threads were more than are told apart.
    pub(super) shared: bool,
}

impl Threads {
    /// The threads, in the order of their first marks.
    pub fn all(&self) -> &[Thread] {
        &self.list
    }

    pub(super) fn get_mut(&mut self, index: usize) -> Option<&mut Thread> {
        self.list.get_mut(index)
    }

    pub(super) fn all_mut(&mut self) -> impl Iterator<Item = &mut Thread> {
        self.list.iter_mut()
    }

    /// Whether words are missing before a batch.
    pub(super) fn arrival(&mut self, batch: &MarkBatch<'_>) -> Arrival {
        let next = batch.first.saturating_add(batch.len() as u64).saturating_add(batch.kept_back.into());
        if self.words.len() >= MAX_THREADS && !self.words.contains_key(&batch.buffer) {
            return Arrival::Next;
        }
        // The first batch that comes of a buffer tells of what was lost before it, too: a buffer begins with word 0.
        match self.words.insert(batch.buffer, next).unwrap_or(0) {
            expected if expected == batch.first => Arrival::Next,
            expected => batch.first.checked_sub(expected).map_or(Arrival::Back, Arrival::Lost),
        }
    }

    /// The index of the thread of a mark.
    pub(super) fn index(&mut self, batch: &MarkBatch<'_>, java: Option<u64>) -> usize {
        let key = java.map_or(Key::Buffer(batch.buffer), Key::Java);
        if let Some(index) = self.by_key.get(&key) {
            return *index;
        }
        if self.list.len() >= MAX_THREADS {
            self.shared = true;
            return MAX_THREADS - 1;
        }
        let index = self.list.len();
        let tid = batch.tid.filter(|_| java.is_none());
        self.list.push(Thread { index, tid, java, buffer: batch.buffer, stack: Stack::default() });
        self.by_key.insert(key, index);
        index
    }

    /// The index of the thread to which the batch's buffer belongs. A buffer that changes hands is another thread from then on.
    pub(super) fn owner(&mut self, batch: &MarkBatch<'_>) -> usize {
        let key = Key::Buffer(batch.buffer);
        let known = self.by_key.get(&key).and_then(|index| self.list.get_mut(*index));
        if let (Some(thread), Some(tid)) = (known, batch.tid) {
            match thread.tid {
                None => thread.tid = Some(tid),
                Some(old) if old != tid => {
                    self.by_key.remove(&key);
                }
                Some(_) => {}
            }
        }
        self.index(batch, None)
    }

    /// The virtual thread whose marks stood last in a buffer.
    pub(super) fn carried(&self, buffer: u32) -> Option<u64> {
        self.carried.get(&buffer).copied()
    }

    /// Remembers it.
    pub(super) fn carry(&mut self, buffer: u32, java: Option<u64>) {
        match java {
            Some(java) if self.carried.len() < MAX_THREADS => drop(self.carried.insert(buffer, java)),
            _ => drop(self.carried.remove(&buffer)),
        }
    }

    /// The indices of all threads whose marks stand in a buffer: after a loss none of them is sure.
    pub(super) fn of_buffer(&self, buffer: u32) -> Vec<usize> {
        let of_buffer = |thread: &&Thread| thread.buffer == buffer;
        self.list.iter().filter(of_buffer).map(|thread| thread.index).collect()
    }

    /// Remembers in which buffer a thread's marks stood last.
    pub(super) fn moved(&mut self, index: usize, buffer: u32) {
        if let Some(thread) = self.list.get_mut(index) {
            thread.buffer = buffer;
        }
    }
}

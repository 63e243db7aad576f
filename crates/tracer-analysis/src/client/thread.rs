//! The threads that marks come from: by the buffer in which they stand, or by the number that Java gives a virtual one.

use std::collections::{HashMap, HashSet};

use super::stack::Stack;
use crate::{event::Tid, mark::MarkBatch, names::Names};

/// Threads with a stack of their own; further ones share the last.
const MAX_THREADS: usize = 1 << 16;
/// So many are told apart before those that ended are one.
const MANY_THREADS: usize = 4096;
/// The buffer of a thread that ended: none.
const NO_BUFFER: u32 = u32::MAX;

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

/// Threads that ended and are no longer told apart.
#[derive(Clone, Debug)]
pub struct EndedIndices {
    indices: HashSet<usize>,
    /// The index that stands for all of them from now on.
    pub into: usize,
}

impl EndedIndices {
    /// Their indices, which are given to other threads next.
    pub fn indices(&self) -> impl Iterator<Item = usize> + '_ {
        self.indices.iter().copied()
    }

    /// What stands for an index from now on.
    pub fn now(&self, index: usize) -> usize {
        if self.indices.contains(&index) { self.into } else { index }
    }
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
    /// Indices that stand for no thread any more.
    free: Vec<usize>,
    /// Stands for threads that ended.
    ended: Option<usize>,
    /// Ended when it was asked last: marks of these can still come out of their buffers.
    ending: HashSet<Tid>,
    /// Whether threads were more than are told apart.
    pub(super) shared: bool,
}

impl Threads {
    /// The threads, in the order of their first marks.
    pub fn all(&self) -> &[Thread] {
        &self.list
    }

    /// How many indices stand for no thread any more, as theirs has ended.
    pub fn ended(&self) -> usize {
        self.free.len()
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

    /// Whether words came out of a buffer, and its thread is still told apart.
    pub(super) fn has_told(&self, buffer: u32) -> bool {
        self.words.contains_key(&buffer)
    }

    /// The index of the thread of a mark.
    pub(super) fn index(&mut self, batch: &MarkBatch<'_>, java: Option<u64>) -> usize {
        let key = java.map_or(Key::Buffer(batch.buffer), Key::Java);
        if let Some(index) = self.by_key.get(&key) {
            return *index;
        }
        if self.list.len() >= MAX_THREADS && self.free.is_empty() {
            self.shared = true;
            return MAX_THREADS - 1;
        }
        let tid = batch.tid.filter(|_| java.is_none());
        let index = self.add(Thread { index: 0, tid, java, buffer: batch.buffer, stack: Stack::default() });
        self.by_key.insert(key, index);
        index
    }

    fn add(&mut self, thread: Thread) -> usize {
        let index = self.free.pop().unwrap_or(self.list.len());
        let thread = Thread { index, ..thread };
        match self.list.get_mut(index) {
            Some(free) => *free = thread,
            None => self.list.push(thread),
        }
        index
    }

    /// Threads whose indices are given to others from now on, where there are many; what is kept of them is to be added up.
    pub(super) fn sum_up(&mut self, ended: impl Iterator<Item = Tid>) -> Option<EndedIndices> {
        let before = std::mem::replace(&mut self.ending, ended.collect());
        if self.list.len() - self.free.len() <= MANY_THREADS {
            return None;
        }
        let has_ended = |thread: &&Thread| thread.java.is_none() && thread.tid.is_some_and(|tid| before.contains(&tid));
        let indices: HashSet<usize> = self.list.iter().filter(has_ended).map(|thread| thread.index).collect();
        if indices.is_empty() {
            return None;
        }
        let stands_for_them = Thread { tid: Some(Tid::ENDED), buffer: NO_BUFFER, ..Thread::default() };
        let into = self.ended.unwrap_or_else(|| self.add(stands_for_them));
        self.ended = Some(into);
        self.by_key.retain(|_, index| !indices.contains(index));
        for index in &indices {
            if let Some(thread) = self.list.get_mut(*index) {
                self.words.remove(&thread.buffer);
                *thread = Thread { index: *index, buffer: NO_BUFFER, ..Thread::default() };
            }
        }
        self.free.extend(&indices);
        Some(EndedIndices { indices, into })
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

//! The JVM's list of threads and what they are blocked on, read from outside while it runs.
//!
//! Nothing is stopped and nothing is kept: what is read can have changed a moment later, so callers that need an answer of
//! one moment read twice, or know from events that nothing has happened since. Lists and lengths are bounded.

mod coroutines;
mod doors;
mod entries;
mod executor;
mod fork_join;
mod held;
mod kept;
mod layout;
mod leads;
mod named_fields;
mod names;
mod object;
mod own_queue;
mod places;
mod pools;
mod reader;
mod thread_object;
mod virtual_threads;

use std::{
    cell::Cell,
    collections::{BTreeMap, HashSet},
};

use self::layout::List;
pub use self::{
    doors::Door,
    executor::Executor,
    kept::{Kept, OnStack},
    layout::Layout,
    names::{NamedThread, ThreadNames},
    own_queue::OwnQueue,
    pools::Pools,
    thread_object::{Blocker, ThreadObject, ThreadObjects},
    virtual_threads::{MAX_VIRTUAL_THREADS, NotRead, VirtualThread, Visitor},
};
use super::{
    memory::Error,
    peek::{Peek, at},
};
use crate::event::NoHolder;

/// Most threads that are looked at.
const MAX_THREADS: usize = 32_768;
/// Largest stack of a thread that is believed.
const MAX_STACK_BYTES: u64 = 16 << 30;
/// Most threads that are asked what they have locked, for all monitors together, until the list is read again. Of each monitor whose owner
/// has not signed all are asked, and a target decides how many there are of both.
const MAX_ASKED: usize = 16_384;
/// `ObjectMonitor::_owner` of a monitor that was locked before it became one: the owner signs when it leaves.
const ANONYMOUS: u64 = 1;
/// `ObjectMonitor::_owner` of a monitor that is being taken away; -1 up to 20.
const DEFLATING: [u64; 2] = [2, u64::MAX];

/// A thread of the JVM's list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JavaThread {
    /// Its `JavaThread*`.
    pub address: u64,
    /// Its id as the JVM sees it.
    pub os_tid: u32,
    /// The `ObjectMonitor*` that it is blocked on, or 0.
    pub pending_monitor: u64,
    stack: [u64; 2],
    /// What it writes into monitors that it owns, since 24.
    owner_id: Option<u64>,
}

impl JavaThread {
    /// First address behind its stack.
    pub const fn stack_base(&self) -> u64 {
        self.stack[1]
    }
}

/// Who an owner is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// This thread of the list.
    Thread(JavaThread),
    /// Not known, and why.
    Unknown(NoHolder),
}

/// Threads of a running JVM.
#[derive(Debug)]
pub struct JavaThreads<P> {
    peek: P,
    layout: Layout,
    addresses: Vec<u64>,
    threads: BTreeMap<u64, JavaThread>,
    /// Highest address of each stack, with its thread.
    stacks: BTreeMap<u64, u64>,
    owner_ids: BTreeMap<u64, u64>,
    most_asked: usize,
    /// How many may still be asked.
    left: Cell<usize>,
}

impl<P: Peek> JavaThreads<P> {
    /// Nothing is read yet.
    pub fn new(peek: P, layout: Layout) -> Self {
        Self {
            peek,
            layout,
            addresses: Vec::new(),
            threads: BTreeMap::new(),
            stacks: BTreeMap::new(),
            owner_ids: BTreeMap::new(),
            most_asked: MAX_ASKED,
            left: Cell::new(MAX_ASKED),
        }
    }

    /// As many threads may be asked what they have locked, where nothing waits for the answer.
    #[must_use]
    pub fn asking(mut self, most: usize) -> Self {
        self.most_asked = most;
        self
    }

    /// Where things are.
    pub const fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Reads the list again, and each thread where the list has changed; whether it has.
    pub fn refresh(&mut self) -> Result<bool, Error> {
        let Some(addresses) = self.list_changed()? else { return Ok(false) };
        self.addresses = addresses;
        self.read_all();
        Ok(true)
    }

    /// Reads the list again, and those threads that it did not have before: of some thousands of which one begins now and then, each would
    /// be read thousands of times. One that began where another had ended looks like that one, until [`Self::read_all`].
    pub fn refresh_list(&mut self) -> Result<bool, Error> {
        let Some(addresses) = self.list_changed()? else { return Ok(false) };
        let listed: HashSet<u64> = addresses.iter().copied().collect();
        let gone: Vec<u64> = self.threads.keys().filter(|address| !listed.contains(address)).copied().collect();
        for address in gone {
            self.remove(address);
        }
        let fresh: Vec<u64> = addresses.iter().filter(|address| !self.threads.contains_key(address)).copied().collect();
        self.addresses = addresses;
        self.insert(&fresh);
        Ok(true)
    }

    /// Reads each thread of the list as it is now. One that cannot be read is left out: it is beginning or ending.
    pub fn read_all(&mut self) {
        self.threads.clear();
        self.stacks.clear();
        self.owner_ids.clear();
        self.insert(&self.addresses.clone());
    }

    /// The list, where it is another one than before.
    fn list_changed(&mut self) -> Result<Option<Vec<u64>>, Error> {
        self.left.set(self.most_asked);
        let addresses = self.list()?;
        Ok(Some(addresses).filter(|addresses| *addresses != self.addresses))
    }

    fn insert(&mut self, addresses: &[u64]) {
        for thread in self.each(addresses) {
            self.stacks.insert(thread.stack_base(), thread.address);
            if let Some(id) = thread.owner_id {
                self.owner_ids.insert(id, thread.address);
            }
            self.threads.insert(thread.address, thread);
        }
    }

    fn remove(&mut self, address: u64) {
        let Some(thread) = self.threads.remove(&address) else { return };
        // A younger one can have the same stack.
        if self.stacks.get(&thread.stack_base()) == Some(&address) {
            self.stacks.remove(&thread.stack_base());
        }
        if let Some(id) = thread.owner_id {
            self.owner_ids.remove(&id);
        }
    }

    /// Every thread of the list as it was when it was read.
    pub fn listed(&self) -> impl Iterator<Item = JavaThread> + '_ {
        self.threads.values().copied()
    }

    /// A thread of the list as it is now.
    pub fn again(&self, thread: JavaThread) -> Result<JavaThread, Error> {
        self.thread(thread.address)
    }

    fn list(&self) -> Result<Vec<u64>, Error> {
        match self.layout.list {
            List::Array { list, length, threads } => {
                let list = self.peek.u64(list)?;
                // Both stand in one small structure: this is read with each drain in which threads block.
                let (first, last) = (length.min(threads), length.max(threads));
                let span = usize::try_from(last - first + 8).unwrap_or(usize::MAX);
                let head = self.peek.bytes(list.wrapping_add(first), span)?;
                let count = at::u32(&head, length - first).and_then(|count| usize::try_from(count).ok());
                let array = at::u64(&head, threads - first).unwrap_or(0);
                let bytes = self.peek.bytes(array, 8 * count.unwrap_or(usize::MAX).min(MAX_THREADS))?;
                let (words, _) = bytes.as_chunks::<8>();
                Ok(words.iter().map(|word| u64::from_ne_bytes(*word)).collect())
            }
            List::Linked { first, next } => {
                let (mut addresses, mut known) = (Vec::new(), HashSet::new());
                let mut at = self.peek.u64(first)?;
                // A list that leads back to itself has no more threads than it has, and each is asked for much.
                while at != 0 && addresses.len() < MAX_THREADS && known.insert(at) {
                    addresses.push(at);
                    at = self.peek.u64(at.wrapping_add(next))?;
                }
                Ok(addresses)
            }
        }
    }

    /// Those of some threads that can be read: a thousand take no more calls than a few.
    fn each(&self, addresses: &[u64]) -> Vec<JavaThread> {
        let bytes = self.peek.each(addresses, self.layout.thread_bytes);
        let read: Vec<(u64, Vec<u8>)> =
            addresses.iter().zip(bytes).filter_map(|(address, bytes)| Some((*address, bytes?))).collect();
        let ids: Vec<u64> = read.iter().map(|(_, bytes)| self.id_at(bytes)).collect();
        let ids = self.peek.each(&ids, size_of::<u32>());
        let thread = |((address, bytes), id): ((u64, Vec<u8>), Option<Vec<u8>>)| {
            Some(self.thread_of(address, &bytes, u32::from_ne_bytes(id?.try_into().ok()?)))
        };
        read.into_iter().zip(ids).filter_map(thread).collect()
    }

    fn thread(&self, address: u64) -> Result<JavaThread, Error> {
        let bytes = self.peek.bytes(address, self.layout.thread_bytes)?;
        let os_tid = self.peek.u32(self.id_at(&bytes))?;
        Ok(self.thread_of(address, &bytes, os_tid))
    }

    /// Where the id lies that the operating system gave a thread of which these bytes were read.
    fn id_at(&self, bytes: &[u8]) -> u64 {
        at::u64(bytes, self.layout.os_thread).unwrap_or(0).wrapping_add(self.layout.thread_id)
    }

    fn thread_of(&self, address: u64, bytes: &[u8], os_tid: u32) -> JavaThread {
        let layout = &self.layout;
        let word = |offset| at::u64(bytes, offset).unwrap_or(0);
        let (base, size) = (word(layout.stack_base), word(layout.stack_size).min(MAX_STACK_BYTES));
        JavaThread {
            address,
            os_tid,
            pending_monitor: word(layout.pending_monitor),
            stack: [base.saturating_sub(size), base],
            owner_id: layout.owner_id.map(word),
        }
    }

    /// The `ObjectMonitor*` in whose set of waiters a thread is, or 0.
    pub fn waited_for(&self, thread: u64) -> u64 {
        let at = self.layout.waiting_monitor.map(|offset| thread.wrapping_add(offset));
        at.and_then(|at| self.peek.u64(at).ok()).unwrap_or(0)
    }

    /// Whether a thread is blocked on a monitor now.
    pub fn is_blocked_on(&self, thread: u64, monitor: u64) -> bool {
        self.peek.u64(thread.wrapping_add(self.layout.pending_monitor)).is_ok_and(|pending| pending == monitor)
    }

    /// What a monitor has as its owner now.
    pub fn owner_of(&self, monitor: u64) -> Result<u64, Error> {
        self.peek.u64(monitor.wrapping_add(self.layout.owner))
    }

    /// The thread that the owner of a monitor stands for, where it is in the list as it was read last. What is found is read
    /// again, so that it is a thread of now.
    pub fn owner(&self, owner: u64, monitor: u64) -> Owner {
        if owner == 0 || DEFLATING.contains(&owner) {
            return Owner::Unknown(NoHolder::Nobody);
        }
        if owner == ANONYMOUS {
            return self.anonymous(monitor);
        }
        let found = if self.layout.owner_id.is_some() {
            match self.owner_ids.get(&owner) {
                Some(address) => Some(*address),
                // Virtual threads have such ids too, and are in no list.
                None => return Owner::Unknown(NoHolder::Virtual),
            }
        } else if self.threads.contains_key(&owner) {
            Some(owner)
        } else {
            // The highest word of a stack is below its base.
            self.stacks.range(owner + 1..).next().map(|(_, address)| *address)
        };
        let Some(thread) = found.and_then(|address| self.thread(address).ok()) else {
            return Owner::Unknown(NoHolder::Gone);
        };
        let [low, high] = thread.stack;
        let is_it = match thread.owner_id {
            Some(id) => id == owner,
            None => thread.address == owner || (low..high).contains(&owner),
        };
        match is_it {
            true if self.carries_another(thread.address) => Owner::Unknown(NoHolder::Virtual),
            true => Owner::Thread(thread),
            false => Owner::Unknown(NoHolder::Gone),
        }
    }

    /// Whether a thread carries a virtual one at the moment, whose id it then writes into monitors.
    fn carries_another(&self, address: u64) -> bool {
        let Some([own, mounted]) = self.layout.virtual_threads else { return false };
        let object = |offset| {
            let handle = self.peek.u64(address.wrapping_add(offset)).ok()?;
            self.peek.u64(handle).ok()
        };
        matches!((object(own), object(mounted)), (Some(own), Some(mounted)) if own != mounted)
    }

    /// Once an owner has signed, a monitor never has an anonymous one again. So if it has one still, that is who had locked
    /// the object before, and has it among its locked objects.
    fn anonymous(&self, monitor: u64) -> Owner {
        let found = || {
            let lock_stack = self.layout.lock_stack?;
            self.left.set(self.left.get().checked_sub(self.addresses.len())?);
            let object = self.object(monitor)?;
            let mut holders = self.addresses.iter().filter(|address| self.has_locked(**address, lock_stack, object));
            let holder = *holders.next()?;
            let only = holders.next().is_none();
            let still = self.owner_of(monitor).ok()? == ANONYMOUS && self.object(monitor)? == object;
            (only && still).then(|| self.thread(holder).ok()).flatten()
        };
        match found() {
            Some(thread) if self.carries_another(thread.address) => Owner::Unknown(NoHolder::Virtual),
            Some(thread) => Owner::Thread(thread),
            None => Owner::Unknown(NoHolder::Anonymous),
        }
    }

    fn has_locked(&self, thread: u64, lock_stack: layout::LockStack, object: u64) -> bool {
        let start = thread.wrapping_add(lock_stack.base);
        // The top is an offset from the thread.
        let Ok(top) = self.peek.u32(thread.wrapping_add(lock_stack.top)) else { return false };
        let bytes = u64::from(top).saturating_sub(lock_stack.base).min(layout::LOCK_STACK_BYTES);
        let Ok(bytes) = self.peek.bytes(start, usize::try_from(bytes).unwrap_or(0)) else { return false };
        let (words, _) = bytes.as_chunks::<8>();
        words.iter().any(|word| u64::from_ne_bytes(*word) == object)
    }
}

#[cfg(test)]
pub(super) mod tests;

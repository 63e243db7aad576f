//! Virtual threads that are not mounted. There may be a hundred thousand of them, so those that do the same are one from the beginning.

use std::collections::{HashMap, hash_map::Entry};

use serde::Serialize;

use super::{StackFrame, room::Named};
use crate::{
    item::look::Waits,
    jvm::{
        java_stack::{JavaStack, JavaStacks},
        java_threads::{NotRead, VirtualThread, Visitor},
        memory::Memory,
        peek::{Pages, Peek},
    },
    text::format,
};

/// Most names of a group that are kept.
const MAX_NAMES: usize = 256;
/// Most groups; threads beyond are counted.
const MAX_GROUPS: usize = 16_384;

/// Where a virtual thread waits for what `epoll` tells, and what it reads from then.
const POLLS: &str = "sun.nio.ch.Poller.poll";
const READS: [&str; 3] = [
    "sun.nio.ch.NioSocketImpl.implRead",
    "sun.nio.ch.SocketChannelImpl.read",
    "sun.nio.ch.SocketChannelImpl.blockingRead",
];

/// Virtual threads that are not mounted, by what they do.
#[derive(Debug, Default, Serialize)]
pub struct Unmounted {
    /// The largest group first.
    pub groups: Vec<UnmountedGroup>,
    /// Those that are in no group, because there are too many groups.
    pub beyond: u64,
    /// Those that were mounted, and are told with their carriers.
    pub mounted: u64,
    /// Whether there are more than were read.
    pub more: bool,
    /// Why some are not told, in sentences.
    pub missing: Vec<String>,
}

impl Unmounted {
    /// How many were read.
    pub fn count(&self) -> u64 {
        self.groups.iter().map(UnmountedGroup::count).sum::<u64>() + self.beyond
    }
}

/// Virtual threads with the same state, stack and reason to wait.
#[derive(Clone, Debug, Default, Serialize)]
pub struct UnmountedGroup {
    /// `Thread.threadId()` of each.
    pub java_ids: Vec<u64>,
    /// `Thread.getName()` of those that have one, as far as they are kept.
    pub names: Vec<String>,
    /// As Java says it.
    pub state: &'static str,
    /// What they wait for.
    pub waits: Option<Waits>,
    /// The virtual thread that owns that, where it is none that is mounted.
    pub owner: Option<UnmountedOwner>,
    /// Their frames, innermost first.
    pub frames: Vec<StackFrame>,
    /// Why there are no more frames; absent where the stack is whole.
    pub incomplete: Option<&'static str>,
}

impl UnmountedGroup {
    /// How many threads it has.
    pub const fn count(&self) -> u64 {
        self.java_ids.len() as u64
    }

    /// Whether they wait for something to read from a socket, of which their thread objects say nothing.
    pub(super) fn reads_socket(&self) -> bool {
        let is_in = |names: &[&str]| self.frames.iter().any(|frame| names.contains(&frame.frame.name.as_str()));
        self.waits.is_none() && is_in(&[POLLS]) && is_in(&READS)
    }
}

/// A virtual thread that others wait for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UnmountedOwner {
    /// `Thread.threadId()`.
    pub java_id: u64,
    /// `Thread.getName()`.
    pub name: String,
}

/// What threads of a group have in common.
#[derive(PartialEq, Eq, Hash)]
struct Key {
    stack: JavaStack,
    state: &'static str,
    /// Class of what they wait for, and the object where somebody owns it.
    waits: Option<(String, u64)>,
}

/// A group as it is read.
#[derive(Default)]
struct Read {
    java_ids: Vec<u64>,
    names: Vec<String>,
    /// What the first one waits for, and the thread object of who owns it.
    blocker: Option<(u64, Option<u64>)>,
}

/// Puts virtual threads into groups as they come.
pub(super) struct Grouping<'a> {
    stacks: &'a JavaStacks,
    memory: &'a Memory,
    code: &'a Pages<&'a Memory>,
    groups: HashMap<Key, Read>,
    beyond: u64,
    /// Each by its thread object.
    by_object: HashMap<u64, UnmountedOwner>,
}

impl<'a> Grouping<'a> {
    pub(super) fn new(stacks: &'a JavaStacks, memory: &'a Memory, code: &'a Pages<&'a Memory>) -> Self {
        Self { stacks, memory, code, groups: HashMap::new(), beyond: 0, by_object: HashMap::new() }
    }

    /// The groups, with the frames that `name` gives them. `tid_of` knows the kernel's ids of all other threads by their objects.
    pub(super) fn told(
        self,
        most: usize,
        tid_of: &dyn Fn(u64) -> Option<u32>,
        not_read: NotRead,
        name: &mut dyn FnMut(&JavaStack) -> Named,
    ) -> Unmounted {
        let Self { groups, beyond, by_object, .. } = self;
        let told = |(Key { stack, state, waits }, Read { java_ids, names, blocker }): (Key, Read)| {
            let (address, object) = blocker.unwrap_or_default();
            let unmounted = object.and_then(|object| by_object.get(&object).cloned());
            let owner = object.filter(|_| unmounted.is_none()).and_then(tid_of);
            let (frames, cut) = name(&stack);
            UnmountedGroup {
                java_ids,
                names,
                state,
                waits: waits.map(|(class, _)| Waits::Unpark { class, address, owner, ended: None }),
                owner: unmounted,
                frames,
                incomplete: cut.or_else(|| stack.end.reason()),
            }
        };
        let mut groups = alike(groups.into_iter().map(told));
        groups.sort_by(|a, b| b.count().cmp(&a.count()).then_with(|| a.java_ids.cmp(&b.java_ids)));
        Unmounted { groups, beyond, mounted: not_read.mounted, more: not_read.more, missing: sentences(not_read, most) }
    }
}

/// One group for all whose frames have the same names: interpreted or compiled, it is the same code.
fn alike(groups: impl Iterator<Item = UnmountedGroup>) -> Vec<UnmountedGroup> {
    let mut merged: HashMap<_, UnmountedGroup> = HashMap::new();
    for mut group in groups {
        let waits = group.waits.as_ref().map(|waits| match waits {
            Waits::Unpark { class, address, .. } if group.owner.is_some() || waits.owner().is_some() => {
                (class.clone(), *address)
            }
            Waits::Unpark { class, .. } => (class.clone(), 0),
            _ => (String::new(), 0),
        });
        let places = group.frames.iter().map(|StackFrame { frame, .. }| (frame.name.clone(), frame.line));
        let places: Vec<_> = places.collect();
        match merged.entry((places, group.state, group.incomplete, waits)) {
            Entry::Vacant(entry) => drop(entry.insert(group)),
            Entry::Occupied(mut entry) => {
                let known = entry.get_mut();
                // Who owned it when most of them were read.
                if group.java_ids.len() > known.java_ids.len() {
                    std::mem::swap(known, &mut group);
                }
                known.java_ids.append(&mut group.java_ids);
                known.names.append(&mut group.names);
                known.names.truncate(MAX_NAMES);
            }
        }
    }
    let mut groups: Vec<UnmountedGroup> = merged.into_values().collect();
    for group in &mut groups {
        group.java_ids.sort_unstable();
    }
    groups
}

/// What could not be read, and why.
fn sentences(not_read: NotRead, most: usize) -> Vec<String> {
    let NotRead { mounted: _, ran, torn, more, untracked } = not_read;
    let mut sentences = Vec::new();
    if ran > 0 {
        sentences
            .push(format!("{} ran while they were read", format::plural(ran, "virtual thread", "virtual threads")));
    }
    if torn > 0 {
        let entries = format::plural(torn, "entry", "entries");
        sentences.push(format!(
            "{entries} of the lists of virtual threads led to none, because objects were moved meanwhile"
        ));
    }
    if more {
        sentences.push(format!("virtual threads beyond the first {}", format::count(most as u64)));
    }
    if untracked {
        sentences.push(
            "virtual threads that the API of `Thread` started, because the JVM does not list them (`jdk.trackAllThreads`)".to_owned(),
        );
    }
    sentences
}

impl Visitor for Grouping<'_> {
    type Stack = JavaStack;

    /// Code is read through pages first; if that leads nowhere it may be newer than they are.
    fn walk(&mut self, near: &impl Peek, continuation: u64) -> JavaStack {
        let stack = self.stacks.of_unmounted(near, self.code, continuation);
        let is_whole = stack.end.reason().is_none();
        if is_whole { stack } else { self.stacks.of_unmounted(self.memory, self.memory, continuation) }
    }

    fn take(&mut self, thread: VirtualThread, stack: JavaStack) {
        let VirtualThread { object, state, .. } = thread;
        let name = object.name.unwrap_or_default();
        self.by_object.insert(object.address, UnmountedOwner { java_id: object.id, name: name.clone() });
        let waits = object.blocker.as_ref().map(|blocker| {
            let owner = blocker.owner.filter(|owner| *owner != 0);
            (blocker.class.clone(), owner.map_or(0, |_| blocker.address))
        });
        let is_full = self.groups.len() >= MAX_GROUPS;
        let group = match self.groups.entry(Key { stack, state, waits }) {
            Entry::Vacant(_) if is_full => {
                self.beyond += 1;
                return;
            }
            entry => entry.or_default(),
        };
        if group.java_ids.is_empty() {
            group.blocker = object.blocker.map(|blocker| (blocker.address, blocker.owner.filter(|owner| *owner != 0)));
        }
        group.java_ids.push(object.id);
        if !name.is_empty() && group.names.len() < MAX_NAMES {
            group.names.push(name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jvm::{
        code_cache::CodeCache,
        java_stack::{End, Place},
        java_threads::ThreadObject,
        world::World,
    };

    /// A JVM can have as many as it likes, each with a stack of its own.
    #[test]
    fn so_many_groups_and_names_are_kept_and_the_others_count() {
        let world = World::new(21);
        let code = CodeCache::read(&world.copy, &world.tables).unwrap();
        let stacks = JavaStacks::new(code, &world.tables).unwrap();
        let memory = Memory::open(std::process::id()).unwrap();
        let pages = Pages::new(&memory);
        let mut grouping = Grouping::new(&stacks, &memory, &pages);
        let mut take = |id: u64, method: u64| {
            let name = Some(format!("virtual-{id}"));
            let object = ThreadObject { address: id, name, id, daemon: None, status: None, blocker: None };
            let places = vec![Place::Interpreted { method, pointer: 0 }];
            grouping.take(
                VirtualThread { object, state: "RUNNABLE", continuation: id },
                JavaStack { places, end: End::Root },
            );
        };
        (0..2 * MAX_NAMES as u64).for_each(|id| take(id, 0));
        (0..MAX_GROUPS as u64 + 9).for_each(|number| take(100_000 + number, number + 1));
        assert_eq!((grouping.groups.len(), grouping.beyond), (MAX_GROUPS, 10));
        assert_eq!(grouping.groups.values().map(|read| read.names.len()).max(), Some(MAX_NAMES));
    }
}

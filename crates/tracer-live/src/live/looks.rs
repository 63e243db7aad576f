//! Looks at all threads: at the beginning, and then as often as the bound of CPU time lets, but not more often than each second.
//!
//! They are taken on a thread of their own, because reading a thousand threads takes longer than ring buffers may wait. What stands
//! in them gets its numbers when it is passed on, beside all other stacks.

mod collections;
mod crowded;
mod executors;
mod peers;
mod queues;
mod since;
mod socket_threads;
mod unmounted;

use std::{
    collections::{HashMap, HashSet},
    sync::{
        Arc,
        mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel},
    },
    thread,
    time::Duration,
};

use collections::Collections;
use crowded::{CrowdedNow, crowded_now};
use executors::executors;
use peers::Peers;
use queues::queues;
use since::{Since, Totals};
use socket_threads::SocketThreads;

use super::{
    definitions::Definitions, host::now_ns, mapped::Mapped, opened::Opening, threads::Threads, volume::Fullest,
};
use crate::{
    clock::{self, ClockId},
    event::{StackId, Tid},
    item::{
        Item,
        look::{
            Circled, CollectionLook, DatagramLook, Holding, LookGroup, MappedFile, Opened, OsProcess, PeerLook,
            ThreadLook, Volume, Waits,
        },
    },
    jvm::{descriptor::datagrams::Dropping, os_process},
    privilege,
    stack::End,
    thread_dump::{self, StackFrame, Thread, ThreadReader, Unmounted, UnmountedGroup, deadlocks, groups},
};

/// Shortest time between two looks.
const LEAST: Duration = Duration::from_secs(1);
/// Of the CPU time that a look took, how much must pass until the next one: so looks take half a percent of a core.
const REST: u32 = 200;
/// Looks that come one after another in the beginning, where each takes no more CPU time than that: one says little, and the first answer is
/// waited for.
const FIRST: u32 = 3;
const FIRST_CPU: Duration = Duration::from_millis(100);
/// Looks that wait to be passed on.
const WAITING: usize = 2;
/// Most names of threads that a group keeps, and of those in none.
const MAX_NAMES: usize = 256;
/// Most virtual threads of a look: those in the first buckets of their tables, which are as good as drawn.
const MAX_VIRTUAL: usize = 200;
/// Most groups of a look.
const MAX_GROUPS: usize = 1024;

/// Takes looks until it is dropped.
pub(super) struct Looks {
    seen: Receiver<Seen>,
    /// Whoever looks ends when this is gone.
    _stop: Sender<()>,
}

/// What a look has seen.
pub struct Seen {
    time_ns: u64,
    cpu_ns: u64,
    /// Of this, for collections, which rest by themselves.
    collections_ns: u64,
    since: Since,
    process: Option<OsProcess>,
    mapped: Option<MappedFile>,
    opened: Option<Opened>,
    volume: Option<Volume>,
    crowded: Vec<CrowdedNow>,
    /// Each with the thread that reads there.
    datagrams: Vec<(Dropping, Option<u32>)>,
    collections: Vec<CollectionLook>,
    peers: Vec<PeerLook>,
    out_of_memory: Option<bool>,
    threads: Vec<Thread>,
    unmounted: Vec<UnmountedGroup>,
    virtual_more: bool,
}

impl Looks {
    /// Begins; nothing where there is no room for a thread.
    pub(super) fn begin(reader: ThreadReader) -> Option<Self> {
        let (stop, stopped) = channel();
        let (tell, seen) = sync_channel(WAITING);
        let begun = thread::Builder::new().spawn(move || {
            if let Err(error) = privilege::keep_only(privilege::SESSION) {
                log::warn!("a thread of jtrace keeps all its capabilities: {error}");
            }
            look_again(reader, &tell, &stopped);
        });
        begun.inspect_err(|error| log::warn!("threads are not looked at: {error}")).ok()?;
        Some(Self { seen, _stop: stop })
    }

    /// Passes on what was seen, behind the stacks in it and the names of threads that had none of their own.
    pub(super) fn tell(&self, definitions: &mut Definitions, names: &mut Threads, sink: &mut dyn FnMut(Item<'_>)) {
        while let Ok(seen) = self.seen.try_recv() {
            for thread in &seen.threads {
                if let Some(name) = names.learn(Tid(thread.tid), &thread.name, seen.time_ns) {
                    sink(Item::Thread(name));
                }
            }
            let look = seen.told(definitions, sink);
            sink(Item::Look(Box::new(look)));
        }
    }
}

fn look_again(reader: ThreadReader, tell: &SyncSender<Seen>, stopped: &Receiver<()>) {
    let mut looker = Looker::new(reader);
    for looks in 1.. {
        let seen = match looker.look() {
            Ok(seen) => seen,
            Err(error) => return log::debug!("threads are not looked at any more: {error}"),
        };
        let rest = seen.rest(looks);
        // One more does not help whoever has not come to the last two.
        let _ = tell.try_send(seen);
        if stopped.recv_timeout(rest) != Err(RecvTimeoutError::Timeout) {
            return;
        }
    }
}

/// How long to rest after a look, of so many, that took so much CPU time.
fn rest(looks: u32, cpu: Duration) -> Duration {
    if looks < FIRST && cpu <= FIRST_CPU { LEAST } else { cpu.saturating_mul(REST).max(LEAST) }
}

/// Looks at all threads of a JVM.
pub struct Looker {
    reader: ThreadReader,
    totals: Totals,
    mapped: Mapped,
    opening: Opening,
    fullest: Fullest,
    at_sockets: SocketThreads,
    collections: Collections,
    peers: Peers,
}

impl Looker {
    /// One that has not looked yet.
    pub fn new(reader: ThreadReader) -> Self {
        Self {
            reader,
            totals: Totals::default(),
            mapped: Mapped::default(),
            opening: Opening::default(),
            fullest: Fullest::default(),
            at_sockets: SocketThreads::default(),
            collections: Collections::default(),
            peers: Peers::default(),
        }
    }

    /// Looks once.
    pub fn look(&mut self) -> Result<Seen, thread_dump::Error> {
        let Self { reader, totals, mapped, opening, fullest, at_sockets, collections, peers } = self;
        let (time_ns, cpu) = (now_ns(), clock::read_ns(ClockId::ThreadCPUTime));
        let threads = reader.threads()?;
        let Unmounted { groups: unmounted, more: virtual_more, .. } = reader.unmounted(MAX_VIRTUAL).unwrap_or_default();
        at_sockets.look(&threads);
        let crowded = crowded_now(reader.crowded(), at_sockets, &threads);
        let with_reader = |(socket, held_by): (Dropping, Vec<u32>)| {
            let tid = at_sockets.at(&socket.name, &held_by, &threads);
            (socket, tid)
        };
        let datagrams = reader.dropping().into_iter().map(with_reader).collect();
        let (collections, collections_ns) = collections.look(time_ns, reader);
        let peers = peers.since(reader.connections(&threads));
        let since = totals.since(time_ns, &threads);
        let process = os_process::read(reader.pid());
        let mapped = mapped.since(reader.pid(), process);
        let mapped = mapped.map(|mapped| MappedFile { path: reader.file(mapped.path), ..mapped });
        let opened = opening.since(reader.pid(), process, |descriptor| reader.leads_to(descriptor));
        let volume = fullest.of(reader.pid());
        let volume = volume.map(|volume| Volume { file: reader.file(volume.file), ..volume });
        let out_of_memory = reader.out_of_memory();
        let cpu_ns = clock::read_ns(ClockId::ThreadCPUTime).saturating_sub(cpu);
        Ok(Seen {
            time_ns,
            cpu_ns,
            collections_ns,
            since,
            process,
            mapped,
            opened,
            volume,
            crowded,
            datagrams,
            collections,
            peers,
            out_of_memory,
            threads,
            unmounted,
            virtual_more,
        })
    }
}

impl Seen {
    /// How long to rest until the next look, where this was one of so many.
    pub fn rest(&self, looks: u32) -> Duration {
        rest(looks, Duration::from_nanos(self.cpu_ns.saturating_sub(self.collections_ns)))
    }

    /// The look, behind the stacks in it.
    pub fn told(&self, definitions: &mut Definitions, sink: &mut dyn FnMut(Item<'_>)) -> ThreadLook {
        let threads = &self.threads;
        let by_tid = |tid: u32| threads.iter().find(|thread| thread.tid == tid);
        let whole = |thread: &Thread| !thread.frames.is_empty() && thread.incomplete.is_none();
        let mut known = |frames: &[StackFrame], incomplete| define(frames, incomplete, definitions, sink);
        let mut told = self.told_unmounted(&mut known);
        let mut stack = |thread: &Thread| known(&thread.frames, thread.incomplete);
        let grouped = groups(threads, false);
        let stands = grouped.iter().filter(|group| group.first().is_some_and(|first| whole(first))).take(MAX_GROUPS);
        for group in stands {
            let Some(first) = group.first() else { continue };
            let owner = first.waits.as_ref().and_then(|waits| by_tid(waits.owner()?));
            let those_in = |ran: &HashSet<u32>| group.iter().filter(|thread| ran.contains(&thread.tid)).count() as u64;
            let seldom = those_in(&self.since.seldom);
            told.push(LookGroup {
                stack: stack(first),
                threads: group.len() as u64,
                ran: those_in(&self.since.often) + seldom,
                seldom,
                running: those_in(&self.since.busy),
                held_back: group.iter().filter(|thread| is_held_back(thread)).count() as u64,
                together: together(group),
                is_virtual: false,
                names: group.iter().take(MAX_NAMES).map(|thread| thread.name.clone()).collect(),
                waits: first.waits.clone(),
                holder: match &first.waits {
                    Some(Waits::Unpark { ended: Some(name), .. }) => {
                        Some(Holding { name: name.clone(), stack: None, ended: true })
                    }
                    _ => owner.map(|owner| Holding {
                        name: owner.name.clone(),
                        stack: (!owner.frames.is_empty()).then(|| stack(owner)),
                        ended: false,
                    }),
                },
            });
        }
        let executors = executors(threads, &self.since, &mut stack);
        let queues = queues(threads, &mut stack);
        let crowded = self.crowded.iter().map(|crowded| crowded.told(threads, &mut stack)).collect();
        let datagrams = self.datagrams.iter().map(|(socket, tid)| DatagramLook {
            socket: socket.name.clone(),
            dropped: socket.dropped,
            unread_bytes: socket.unread_bytes,
            reader: socket_threads::told(*tid, &socket.name, threads, &mut stack),
        });
        let datagrams = datagrams.collect();
        let mut circled = |tid: u32| {
            let thread = by_tid(tid)?;
            let waits = thread.waits.clone()?;
            let holder = by_tid(waits.owner()?)?.name.clone();
            Some(Circled { name: thread.name.clone(), stack: stack(thread), waits, holder })
        };
        let circles =
            deadlocks(threads).into_iter().map(|circle| circle.into_iter().filter_map(&mut circled).collect());
        ThreadLook {
            time_ns: self.time_ns,
            cpu_ns: self.cpu_ns,
            span_ns: self.since.span_ns,
            queued_ns: self.since.queued_ns,
            process: self.process,
            mapped: self.mapped.clone(),
            opened: self.opened.clone(),
            volume: self.volume.clone(),
            threads: threads.len() as u64,
            virtual_threads: self.unmounted.iter().map(UnmountedGroup::count).sum(),
            virtual_more: self.virtual_more,
            ran: threads.iter().filter(|thread| thread.incomplete.is_some()).count() as u64,
            circles: circles.collect(),
            executors,
            queues,
            crowded,
            datagrams,
            collections: self.collections.clone(),
            peers: self.peers.clone(),
            out_of_memory: self.out_of_memory,
            groups: told,
            others: threads
                .iter()
                .filter(|thread| !whole(thread))
                .take(MAX_NAMES)
                .map(|thread| thread.name.clone())
                .collect(),
        }
    }
}

fn is_held_back(thread: &Thread) -> bool {
    matches!(thread.waits, Some(Waits::SystemCall { held_back: true, .. }))
}

/// How many threads of a group wait for one object, at most.
fn together(group: &[&Thread]) -> u64 {
    let mut objects = HashMap::<u64, u64>::new();
    for thread in group {
        match thread.waits {
            Some(Waits::Monitor { address, .. } | Waits::Notify { address, .. } | Waits::Unpark { address, .. }) => {
                *objects.entry(address).or_default() += 1;
            }
            Some(Waits::SystemCall { .. }) | None => {}
        }
    }
    objects.into_values().max().unwrap_or(0)
}

/// Puts a stack into the flow.
fn define(
    frames: &[StackFrame],
    incomplete: Option<&'static str>,
    definitions: &mut Definitions,
    sink: &mut dyn FnMut(Item<'_>),
) -> StackId {
    let frames = frames.iter().map(|frame| definitions.frame(Arc::new(frame.frame.clone()), sink)).collect();
    let end = End { root: incomplete.is_none(), reason: incomplete.unwrap_or_default().to_owned() };
    definitions.stack(frames, end, sink)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        jvm::java_threads::Executor,
        live::looks::executors::MAX_EXECUTORS,
        stack::{Frame, Kind},
    };

    #[test]
    fn looks_rest_by_what_they_cost_and_the_first_ones_come_soon() {
        let [cheap, dear, dearest] = [1, 40, 101].map(Duration::from_millis);
        assert_eq!([1, 2, 3, 9].map(|looks| rest(looks, cheap)), [LEAST; 4]);
        assert_eq!([1, 2, 3, 9].map(|looks| rest(looks, dear).as_secs()), [1, 1, 8, 8]);
        assert_eq!(rest(1, dearest), Duration::from_millis(20_200));
    }

    /// A target lists as many threads as it likes, each with a stack, a name and an executor of its own.
    #[test]
    fn a_look_tells_of_so_many_groups_names_and_executors_and_no_more() {
        let frame =
            |number: usize| StackFrame { frame: Frame::named(Kind::Compiled, format!("a.A.{number}")), native: false };
        let thread = |number: usize| Thread {
            tid: u32::try_from(number).unwrap(),
            name: format!("made-up-{number}"),
            // Each tenth has none, and half of the others have the same.
            frames: if number.is_multiple_of(10) { Vec::new() } else { vec![frame(number % 2 * number)] },
            executor: Some(Executor::uncounted(number as u64, 0, true)),
            ..Thread::default()
        };
        let seen = Seen {
            time_ns: 1,
            cpu_ns: 1,
            collections_ns: 0,
            since: Since::default(),
            process: None,
            mapped: None,
            opened: None,
            volume: None,
            crowded: Vec::new(),
            datagrams: Vec::new(),
            collections: Vec::new(),
            peers: Vec::new(),
            out_of_memory: None,
            threads: (0..8000).map(thread).collect(),
            unmounted: Vec::new(),
            virtual_more: false,
        };
        let look = seen.told(&mut Definitions::default(), &mut |_| {});
        assert_eq!(
            (look.groups.len(), look.executors.len(), look.others.len()),
            (MAX_GROUPS, MAX_EXECUTORS, MAX_NAMES)
        );
        assert_eq!(look.groups.iter().map(|group| group.names.len()).max(), Some(MAX_NAMES));
        assert_eq!(look.threads, 8000, "all of them count");
    }
}

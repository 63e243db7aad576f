//! A look at all threads of the JVM: what each does or waits for at a moment, read from outside. Threads that do the same stand together.

mod process;

use serde::{Deserialize, Serialize};

pub use self::process::{MappedFile, MemoryLimit, Opened, OsProcess, ThreadLimit, Volume};
use crate::event::StackId;

/// What a thread waits for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "for", rename_all = "snake_case")]
pub enum Waits {
    /// To enter a monitor.
    Monitor {
        /// Class of its object, where it is known.
        class: Option<String>,
        /// Address of the `ObjectMonitor`.
        address: u64,
        /// Kernel id of the thread that holds it.
        owner: Option<u32>,
    },
    /// To be notified (`Object.wait`).
    Notify {
        /// Class of the object, where it is known.
        class: Option<String>,
        /// Address of the `ObjectMonitor`.
        address: u64,
        /// Kernel id of the thread whose end it waits for (`Thread.join`).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        joined: Option<u32>,
    },
    /// Until it is unparked: for a lock, a condition, a task of `java.util.concurrent`.
    Unpark {
        /// Class of the object that it is parked for.
        class: String,
        /// Address of that object at the time.
        address: u64,
        /// Kernel id of the thread that owns it.
        owner: Option<u32>,
        /// Name of the thread that owns it and has ended: nobody will release it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ended: Option<String>,
    },
    /// In a system call.
    SystemCall {
        /// Its name, or number.
        call: String,
        /// What it is about: a file, a socket with its peer, a pipe.
        on: Option<String>,
        /// Whether the peer, on this machine, has bytes for it that it does not send yet.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        held_back: bool,
    },
}

impl Waits {
    /// The thread that would have to go on first.
    pub const fn owner(&self) -> Option<u32> {
        match self {
            Self::Monitor { owner, .. } | Self::Unpark { owner, .. } => *owner,
            Self::Notify { joined, .. } => *joined,
            Self::SystemCall { .. } => None,
        }
    }

    /// What two threads have in common that wait for the same: a lock that is owned is the same one.
    pub fn same(&self) -> (&str, Option<u32>, u64, Option<&str>) {
        match self {
            Self::Monitor { class, address, owner } => (class.as_deref().unwrap_or("?"), *owner, *address, None),
            Self::Notify { class, .. } => (class.as_deref().unwrap_or("?"), None, 0, None),
            Self::Unpark { class, address, owner, ended } => {
                let is_owned = owner.is_some() || ended.is_some();
                (class, *owner, if is_owned { *address } else { 0 }, None)
            }
            Self::SystemCall { call, on, .. } => (call, None, 0, on.as_deref().map(peer)),
        }
    }
}

/// What a call is about without what differs by thread: `TCP 10.0.0.7:5432` of `TCP 10.0.0.7:5432 (from 10.0.0.3:41456)`, and `TCP`
/// of who has connected to the JVM.
pub fn peer(on: &str) -> &str {
    match (on.split_once(" (from "), on.split_once(" (to ")) {
        (Some((peer, _)), _) => peer,
        (None, Some((peer, _))) => peer.split_once(' ').map_or(peer, |(protocol, _)| protocol),
        (None, None) => on,
    }
}

/// Behind the address of a peer that is the JVM itself, at another of its sockets.
pub const OF_THIS_JVM: &str = " of this JVM";

/// Threads that do the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LookGroup {
    /// Their stack.
    pub stack: StackId,
    /// How many they are.
    pub threads: u64,
    /// How many of them have run since the look before.
    #[serde(default)]
    pub ran: u64,
    /// How many of these did so less than once a second.
    #[serde(default, skip_serializing_if = "is_none")]
    pub seldom: u64,
    /// How many of them ran, or were ready to, all the time since the look before.
    #[serde(default, skip_serializing_if = "is_none")]
    pub running: u64,
    /// How many of them wait for bytes that a peer on this machine has and does not send yet.
    #[serde(default, skip_serializing_if = "is_none")]
    pub held_back: u64,
    /// How many of them wait for one and the same object, at most; 0 where that is not known.
    #[serde(default, skip_serializing_if = "is_none")]
    pub together: u64,
    /// Whether they are virtual and not mounted: of these nobody knows which have run, and only some are looked at.
    #[serde(default, rename = "virtual", skip_serializing_if = "std::ops::Not::not")]
    pub is_virtual: bool,
    /// Names of all of them, as far as they are kept.
    pub names: Vec<String>,
    /// What they wait for.
    pub waits: Option<Waits>,
    /// Who holds that.
    pub holder: Option<Holding>,
}

/// A thread that others wait for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holding {
    /// Its name.
    pub name: String,
    /// Its stack, where it could be read.
    pub stack: Option<StackId>,
    /// Whether it has ended.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ended: bool,
}

/// A thread of a circle, with the one that it waits for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Circled {
    /// Its name.
    pub name: String,
    /// Its stack.
    pub stack: StackId,
    /// What it waits for.
    pub waits: Waits,
    /// Name of the next one.
    pub holder: String,
}

/// An executor with a queue (`ThreadPoolExecutor`) at the moment of a look.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExecutorLook {
    /// Name of one of its threads.
    pub name: String,
    /// How many threads it has.
    pub threads: u64,
    /// How many of them wait for a task.
    pub idle: u64,
    /// How many tasks wait for a thread.
    pub queued: u64,
    /// How many of its threads have run since the look before.
    #[serde(default, skip_serializing_if = "is_none")]
    pub ran: u64,
    /// How many tasks it has got done since it was made; absent where it counts none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completed: Option<u64>,
    /// The most threads that it may have; absent where it does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub may_have: Option<u64>,
    /// What most of its busy threads do, where their stacks could be read, and how many these are.
    pub busy: Option<(StackId, u64)>,
    /// What these wait for.
    pub waits: Option<Waits>,
}

/// A queue that a thread of the program's own has in a field, and may take from, at the moment of a look.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueueLook {
    /// The field: `com.shop.Mailer.letters`.
    pub field: String,
    /// Name of one of the threads that have it.
    pub name: String,
    /// How many threads have it.
    pub threads: u64,
    /// How many of them wait for something to come into a queue.
    pub idle: u64,
    /// What waits in it.
    pub queued: u64,
    /// What one of the other threads does, where its stack could be read.
    pub busy: Option<StackId>,
    /// What that one waits for.
    pub waits: Option<Waits>,
    /// One thread for each place, where the others are at several: who fills a queue has it, too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub places: Vec<BusyThread>,
}

/// A thread that does something.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BusyThread {
    /// Its name.
    pub name: String,
    /// What it does.
    pub stack: StackId,
    /// What it waits for.
    pub waits: Option<Waits>,
}

/// A socket at which connections wait to be accepted, at the moment of a look.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CrowdedLook {
    /// `TCP 0.0.0.0:8080, listening`.
    pub socket: String,
    /// Connections that wait.
    pub waiting: u64,
    /// How many may wait.
    pub most: u64,
    /// The thread that accepts there, where it is known.
    pub acceptor: Option<SocketThread>,
}

/// A UDP socket at which datagrams were thrown away, at the moment of a look.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DatagramLook {
    /// `UDP 0.0.0.0:8125`.
    pub socket: String,
    /// Datagrams that were thrown away since it was made.
    pub dropped: u64,
    /// Bytes that wait to be read.
    pub unread_bytes: u64,
    /// The thread that reads there, where it is known.
    pub reader: Option<SocketThread>,
}

/// A peer for whose answers threads wait, and what the network does meanwhile.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PeerLook {
    /// `TCP 10.0.0.7:5432`.
    pub peer: String,
    /// Time of a round trip, as the kernel has it of one connection.
    pub rtt_ns: u64,
    /// Segments that were sent again on that connection since the look before.
    pub resent: u64,
    /// Whether the oldest segment that is not acknowledged was sent again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unanswered: bool,
}

/// A thread that takes what comes to a socket: that accepts connections, or reads datagrams. It was seen to, or its name says so.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SocketThread {
    /// Its name.
    pub name: String,
    /// Whether it waits for something to come just now.
    pub idle: bool,
    /// What it does, where its stack could be read.
    pub stack: Option<StackId>,
    /// What it waits for.
    pub waits: Option<Waits>,
}

/// A collection that the program keeps and that has more entries than when it was seen first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CollectionLook {
    /// The field that has it: `com.shop.Registry.CALLS`.
    pub field: String,
    /// The static field that leads to the object with that field, where that is another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root: Option<String>,
    /// Its class.
    pub class: String,
    /// How many entries it had when it was seen first.
    pub first: u64,
    /// How many it had when it was seen last.
    pub last: u64,
    /// How much time lies between the two.
    pub span_ns: u64,
    /// How often it was seen.
    pub seen: u64,
    /// How often it had more entries than the time before.
    pub rose: u64,
    /// How often it had fewer.
    pub fell: u64,
}

/// A look at all threads.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadLook {
    /// When it began.
    pub time_ns: u64,
    /// CPU time that it took jtrace.
    pub cpu_ns: u64,
    /// Time since the look before; 0 in the first one.
    pub span_ns: u64,
    /// How long Java threads were ready to run in that time and waited for a CPU, all together.
    pub queued_ns: u64,
    /// Totals of the process; absent where they could not be read.
    pub process: Option<OsProcess>,
    /// The file of which most was mapped since the first look; only where more of files lies in RAM.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mapped: Option<MappedFile>,
    /// What is opened and stays open; only where more is open than at the first look.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opened: Option<Opened>,
    /// The fullest of the file systems on which the target writes; only where less than a tenth of it is left.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub volume: Option<Volume>,
    /// Java threads, without virtual ones.
    pub threads: u64,
    /// Virtual threads that are not mounted and were looked at.
    #[serde(default, skip_serializing_if = "is_none")]
    pub virtual_threads: u64,
    /// Whether there are more of these.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub virtual_more: bool,
    /// Those that ran, or ran while they were read.
    pub ran: u64,
    /// The others that have a stack.
    pub groups: Vec<LookGroup>,
    /// Names of threads that are in no group, as far as they are kept.
    pub others: Vec<String>,
    /// Threads that wait for each other, a list a circle.
    pub circles: Vec<Vec<Circled>>,
    /// Executors with a queue that can be read.
    #[serde(default)]
    pub executors: Vec<ExecutorLook>,
    /// Queues of threads that work for no executor.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub queues: Vec<QueueLook>,
    /// Sockets at which connections wait to be accepted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub crowded: Vec<CrowdedLook>,
    /// UDP sockets at which datagrams were thrown away.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub datagrams: Vec<DatagramLook>,
    /// Peers for whose answers threads wait.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub peers: Vec<PeerLook>,
    /// Whether the JVM itself has thrown an `OutOfMemoryError` since it started; absent where it does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub out_of_memory: Option<bool>,
    /// Collections in fields of the program that have grown, those that grew most first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub collections: Vec<CollectionLook>,
}

impl ThreadLook {
    /// The stacks in it.
    pub fn stacks(&self) -> impl Iterator<Item = StackId> + '_ {
        let of_group = |group: &LookGroup| [Some(group.stack), group.holder.as_ref().and_then(|holder| holder.stack)];
        let groups = self.groups.iter().flat_map(of_group).flatten();
        let circles = self.circles.iter().flatten().map(|circled| circled.stack);
        let executors = self.executors.iter().filter_map(|executor| Some(executor.busy?.0));
        let acceptors = self.crowded.iter().filter_map(|crowded| crowded.acceptor.as_ref()?.stack);
        let places = self.queues.iter().flat_map(|queue| &queue.places).map(|busy| busy.stack);
        let queues = self.queues.iter().filter_map(|queue| queue.busy).chain(places);
        let readers = self.datagrams.iter().filter_map(|datagrams| datagrams.reader.as_ref()?.stack);
        groups.chain(circles).chain(executors).chain(queues).chain(acceptors).chain(readers)
    }
}

/// Recordings without virtual threads stay as they are.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
const fn is_none(count: &u64) -> bool {
    *count == 0
}

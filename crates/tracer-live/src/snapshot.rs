//! Takes a snapshot of a live JVM's heap: looks whether that is safe, loads the library, has it walk in a copy of the JVM, receives what the
//! copy tells, watches what it costs, and ends it at its limits.

pub mod headroom;

use std::{
    io,
    os::fd::{AsFd as _, OwnedFd},
    time::{Duration, Instant},
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
    net::{RecvFlags, recv},
};
use tracer_weave::{
    control::{NUMBERED_METHODS, Order, Walk},
    walk::{End, ended},
};

use self::headroom::Headroom;
use crate::{
    ending::{Patience, Until},
    heap::{
        constants,
        facts::Facts,
        graph::Graph,
        stream::{self, Bounds, Reader},
    },
    inside::visit::{self, Heard, Visit},
    jvm::{
        find::Jvm,
        metadata::{MetadataLayout, Method},
    },
};

/// How much is read at a time.
const PIECE_BYTES: usize = 1 << 20;
/// How often it is looked at what a walk costs.
const LOOK: Duration = Duration::from_millis(50);
/// How long the library may take to end a walk, on top of the walk's own limit.
const GRACE: Duration = Duration::from_secs(10);
/// How often a copy is made that then waits for a lock of a thread that it does not have.
const TRIES: u32 = 3;
/// Most methods that are named.
const MAX_METHODS: usize = 65_536;

/// How a snapshot is to be taken.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    /// The JVM walks itself, and stands still for it.
    pub in_jvm: bool,
    /// Objects are known by tags.
    pub by_tags: bool,
    /// Values are told of those arrays whose copies take most memory.
    pub values: bool,
    /// How long the walk may take.
    pub limit: Duration,
}

/// A snapshot.
#[derive(Debug)]
pub struct Taken {
    /// The heap.
    pub graph: Graph,
    /// What it cost.
    pub facts: Facts,
}

/// Why there is none.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It would not be safe, or would say nothing.
    #[error(transparent)]
    Unsafe(#[from] headroom::Unsafe),
    /// The library.
    #[error(transparent)]
    Visit(#[from] visit::Error),
    /// What it tells.
    #[error(transparent)]
    Stream(#[from] stream::Error),
    /// The connection.
    #[error("what the library tells cannot be read: {0}")]
    Read(#[from] io::Error),
    /// The copy told nothing that could be used.
    #[error("the walk through the heap of process {pid} {reason}")]
    Walk {
        /// The target.
        pid: u32,
        /// What happened.
        reason: String,
    },
}

impl Error {
    /// What to do about it.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Unsafe(error) => Some(error.hint()),
            Self::Visit(visit::Error::Refused(reason)) if reason.contains("could not be copied") => {
                Some("limits of processes may forbid it (`ulimit -u`, pids.max); `--stop` walks in the JVM itself")
            }
            Self::Visit(error) => error.hint(),
            Self::Walk { .. } => Some("`--stop` walks in the JVM itself, which stands still for it"),
            Self::Stream(_) | Self::Read(_) => None,
        }
    }
}

/// Looks whether a snapshot can be taken, and loads nothing.
pub fn check(jvm: &Jvm, wanted: Wanted) -> Result<Headroom, Error> {
    Ok(if wanted.in_jvm { Headroom::open(jvm)? } else { headroom::check(jvm)? })
}

/// Takes a snapshot, after [`check`]. `begun` is called when the library is there, before anything that it tells is read.
pub fn take(jvm: &Jvm, wanted: Wanted, headroom: &Headroom, begun: impl FnOnce()) -> Result<Taken, Error> {
    let mut visit = Visit::begin(jvm)?;
    begun();
    let mut wanted = wanted;
    for tried in 1.. {
        let taken = walk(jvm, &mut visit, wanted, headroom)?;
        match taken.end.map(|end| end.reason) {
            Some(ended::LAYOUT) if !wanted.by_tags => wanted.by_tags = true,
            Some(ended::LOCKED) if tried < TRIES && !taken.is_complete() => {}
            _ => return finish(jvm, visit, wanted, taken),
        }
    }
    unreachable!("the loop ends by returning")
}

/// A walk that is over.
struct Walked {
    reader: Reader,
    walk: Walk,
    end: Option<End>,
    wall: Duration,
    memory_bytes: u64,
    /// Why it was ended.
    cut: Option<String>,
    status: i32,
}

impl Walked {
    fn is_complete(&self) -> bool {
        self.end.is_some_and(|end| {
            matches!(end.reason, ended::DONE | ended::LOCKED) && end.objects == end.visited && end.objects > 0
        })
    }

    /// Why it is not complete.
    fn reason(&self) -> String {
        let Some(end) = self.end else {
            return self.cut.clone().unwrap_or_else(|| match self.status & 0x7f {
                0 => "ended before its end was told".to_owned(),
                signal => format!("was ended by signal {signal}"),
            });
        };
        match end.reason {
            ended::MEMORY => format!("wanted more than {} bytes of memory", end.allocated),
            ended::LOCKED => "met a lock that was held when the JVM was copied, several times".to_owned(),
            ended::LAYOUT => "met objects that this JVM passes in an unknown way".to_owned(),
            ended::UNSAFE => "was given up: the copy could not make itself the first to be killed".to_owned(),
            ended::LATE => "took longer than it may".to_owned(),
            _ => format!("looked into {} of {} objects", end.visited, end.objects),
        }
    }
}

fn walk(jvm: &Jvm, visit: &mut Visit, wanted: Wanted, headroom: &Headroom) -> Result<Walked, Error> {
    let began = Instant::now();
    let channel = visit.channel()?;
    let limit_ms = u64::try_from(wanted.limit.as_millis()).unwrap_or(u64::MAX);
    let limit_bytes = headroom.for_copy();
    let Wanted { in_jvm, by_tags, values, .. } = wanted;
    let has_methods = (8..NUMBERED_METHODS).contains(&jvm.target.jdk_release);
    visit.give(&Order::Walk { in_jvm, by_tags, has_methods, values, limit_ms, limit_bytes })?;
    let until = Until::within(wanted.limit + GRACE, Patience::First);
    let mut reader = Reader::new(Bounds::of_memory(headroom.resident()));
    let mut piece = vec![0; PIECE_BYTES];
    let (mut walk, mut walked, mut over) = (None::<Walk>, None, false);
    let (mut cut, mut memory_bytes, mut looked) = (None, 0, Instant::now());
    loop {
        while let Some(heard) = visit.hear()? {
            match heard {
                Heard::Walks(walks) => walk = Some(walks),
                Heard::Walked { status } => walked = Some(status),
            }
        }
        let is_gone = walk.as_ref().is_some_and(|walk| walk.process == 0 || walked.is_some());
        if over && is_gone {
            break;
        }
        if let Some(late) = until.is_over() {
            return Err(Error::Read(late.into()));
        }
        if !over && receive(&channel, &mut piece, &mut reader)? {
            over = true;
        }
        if looked.elapsed() > LOOK && walk.is_some() && cut.is_none() {
            looked = Instant::now();
            let (used, is_short) = headroom.look();
            memory_bytes = memory_bytes.max(used);
            if is_short && !wanted.in_jvm {
                cut = Some(format!("was ended after {} objects: memory became short", reader.objects()));
                visit.give(&Order::EndWalk)?;
            }
        }
        wait(visit, (!over).then_some(&channel))?;
    }
    let walk = walk.unwrap_or_default();
    let end = reader.end;
    Ok(Walked { reader, walk, end, wall: began.elapsed(), memory_bytes, cut, status: walked.unwrap_or(0) })
}

/// Takes in what is there; says whether that was the end.
fn receive(channel: &OwnedFd, piece: &mut [u8], reader: &mut Reader) -> Result<bool, Error> {
    // Some pieces, so that the other connection is listened to meanwhile.
    for _ in 0..16 {
        match recv(channel, &mut *piece, RecvFlags::DONTWAIT) {
            Ok((_, 0)) | Err(Errno::CONNRESET) => return Ok(true),
            Ok((_, count)) => reader.take(piece.get(..count).unwrap_or_default())?,
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => return Ok(false),
            Err(errno) => return Err(Error::Read(errno.into())),
        }
    }
    Ok(false)
}

fn wait(visit: &Visit, channel: Option<&OwnedFd>) -> Result<(), Error> {
    let ears = visit.ear().into_iter().chain(channel.map(|channel| channel.as_fd()));
    let mut polled: Vec<PollFd<'_>> = ears.map(|ear| PollFd::from_borrowed_fd(ear, PollFlags::IN)).collect();
    let limit = Timespec { tv_sec: 0, tv_nsec: LOOK.subsec_nanos().into() };
    match poll(&mut polled, Some(&limit)) {
        Ok(_) | Err(Errno::INTR) => Ok(()),
        Err(errno) => Err(Error::Read(errno.into())),
    }
}

/// Asks for what only the JVM can say now, and lets the library go.
fn finish(jvm: &Jvm, mut visit: Visit, wanted: Wanted, walked: Walked) -> Result<Taken, Error> {
    let complete = walked.is_complete();
    let reason = if complete { String::new() } else { walked.reason() };
    let Walked { reader, walk, end, wall, memory_bytes, .. } = walked;
    let stream_bytes = reader.read();
    let (mut graph, odd) = reader.finish();
    if graph.is_empty() {
        return Err(Error::Walk { pid: jvm.target.pid, reason });
    }
    if constants::are_told(jvm.target.jdk_release, &jvm.target.collector) {
        constants::leave_out(&mut graph);
    }
    let mut methods: Vec<u64> = graph.roots.iter().map(|root| root.method).filter(|method| *method != 0).collect();
    methods.sort_unstable();
    methods.dedup();
    methods.truncate(MAX_METHODS);
    if let Ok(layout) = MetadataLayout::from_tables(&jvm.memory, &jvm.tables) {
        let named = |method: u64| Some((method, Method::read(&jvm.memory, &layout, method).ok()?.qualified.into()));
        graph.methods = methods.into_iter().filter_map(named).collect();
    }
    visit.leave()?;
    let nanoseconds = |of: Duration| u64::try_from(of.as_nanos()).unwrap_or(u64::MAX);
    let end = end.unwrap_or_default();
    let facts = Facts {
        in_jvm: wanted.in_jvm,
        complete,
        reason,
        pause_ns: walk.pause_ns,
        reach_ns: walk.reach_ns,
        copy_ns: walk.copy_ns,
        walk_ns: end.took_ns,
        cpu_ns: end.cpu_ns,
        classes_ns: walk.classes_ns,
        wall_ns: nanoseconds(wall),
        stream_bytes,
        memory_bytes,
        odd,
        references: end.references,
        unknown_class: end.unknown_class,
    };
    Ok(Taken { graph, facts })
}

//! Reads the dump of a running JVM.

mod heap;
mod outside;
mod waits;

use std::{
    cell::RefCell,
    collections::HashMap,
    time::{Instant, SystemTime},
};

pub use self::outside::{AskedConnection, CrowdedSocket};
use self::waits::Known;
use super::{
    Carried, Thread, ThreadDump, Unmounted, UnmountedGroup, deadlocks,
    queues::{of_class, queues},
    room::Room,
    unmounted::Grouping,
};
use crate::{
    item::{look::Waits, redaction::Redaction},
    jvm::{
        code_cache,
        descriptor::{Descriptors, datagrams::Datagrams, listening::Listening},
        find::Jvm,
        java_stack::{End, JavaStack, JavaStacks},
        java_threads::{self, JavaThread, JavaThreads, MAX_VIRTUAL_THREADS, Pools, ThreadObject, ThreadObjects},
        memory::{self, Memory},
        os_thread::{self, OsThread, Scheduled},
        out_of_memory::OutOfMemory,
        peek::Pages,
        unloads::Unloads,
    },
    symbol::java::JavaSymbols,
};

/// How often a thread is read that runs meanwhile.
const ATTEMPTS: u32 = 3;
/// Where a thread waits to be notified of the object of another one, which the JVM does when that ends.
const JOIN: &str = "java.lang.Thread.join";

/// Most threads that are asked what they have locked, for all monitors of a look: some seconds.
const MAX_ASKED: usize = 1 << 20;

/// Where the threads of executors, and those of timers, begin their work.
const WORKERS: [&str; 6] = [
    ".ThreadPoolExecutor$Worker.run",
    ".QueuedThreadPool$Runner.run",
    ".EnhancedQueueExecutor$ThreadBody.run",
    "java.util.concurrent.ForkJoinWorkerThread.run",
    ".CoroutineScheduler$Worker.run",
    "java.util.TimerThread.run",
];

/// Why there is no dump.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The JVM is laid out in an unknown way.
    #[error("its threads cannot be found: {0}")]
    Layout(#[from] code_cache::Error),
    /// Its memory could not be read.
    #[error("its threads cannot be read: {0}")]
    Memory(#[from] memory::Error),
}

/// States of `java.lang.Thread` in the JVM's bits (`java_lang_Thread::ThreadStatus`), with `jstack`'s words.
const STATES: [(u32, &str); 9] = [
    (0, "NEW"),
    (5, "RUNNABLE"),
    (225, "TIMED_WAITING (sleeping)"),
    (401, "WAITING (on object monitor)"),
    (417, "TIMED_WAITING (on object monitor)"),
    (657, "WAITING (parking)"),
    (673, "TIMED_WAITING (parking)"),
    (1025, "BLOCKED (on object monitor)"),
    (2, "TERMINATED"),
];

/// Reads all threads.
pub fn read(jvm: &Jvm, redacted: bool) -> Result<ThreadDump, Error> {
    let (began, at) = (Instant::now(), SystemTime::now());
    let mut reader = ThreadReader::open(jvm)?.redacted(redacted);
    reader.find_static_queues();
    let threads = reader.threads()?;
    let unmounted = reader.unmounted(MAX_VIRTUAL_THREADS);
    Ok(ThreadDump {
        pid: jvm.target.pid,
        jvm: format!("{} {}", jvm.target.jvm_name, jvm.target.jvm_version),
        at_ms: at
            .duration_since(SystemTime::UNIX_EPOCH)
            .map_or(0, |since| u64::try_from(since.as_millis()).unwrap_or(u64::MAX)),
        deadlocks: deadlocks(&threads),
        queues: queues(&threads),
        threads,
        unmounted,
        missing: reader.missing,
        took: began.elapsed(),
    })
}

/// What reads the threads of one JVM, as often as it is asked.
pub struct ThreadReader {
    pid: u32,
    memory: Memory,
    threads: JavaThreads<Memory>,
    objects: Option<ThreadObjects>,
    stacks: JavaStacks,
    symbols: JavaSymbols<Memory>,
    descriptors: Descriptors,
    listening: Option<Listening>,
    datagrams: Datagrams,
    out_of_memory: Option<OutOfMemory>,
    /// Whether variables of a thread that stands still lead to objects.
    has_variables: bool,
    unloads: Unloads,
    class_changes: Unloads,
    missing: Vec<String>,
    room: Room,
    /// Numbers in the place of peers and files, where these are to be left out.
    redaction: Option<RefCell<Redaction>>,
    /// Threads that stood still when they were read the last time, by the address of their `JavaThread` and kernel id.
    stood: HashMap<(u64, u32), Stood>,
}

impl ThreadReader {
    /// Finds out where everything is.
    pub fn open(jvm: &Jvm) -> Result<Self, Error> {
        let pid = jvm.target.pid;
        let layout = java_threads::Layout::from_tables(&jvm.memory, &jvm.tables, jvm.flags.as_ref().ok())?;
        let mut missing = Vec::new();
        let mut objects = ThreadObjects::open(jvm, &layout)
            .map_err(|what| {
                missing
                    .push(format!("names, states and parked threads' locks: libjvm.so does not say where {what} is"));
            })
            .ok();
        if let Some(objects) = &mut objects {
            objects.find_virtual_threads(&jvm.tables);
        }
        let mut symbols = JavaSymbols::open(Memory::open(pid)?, &jvm.tables)?;
        symbols.find_in_symbols(&jvm.library);
        let stacks = JavaStacks::new(symbols.code_cache().clone(), &jvm.tables)?;
        Ok(Self {
            pid,
            memory: Memory::open(pid)?,
            threads: JavaThreads::new(Memory::open(pid)?, layout).asking(MAX_ASKED),
            objects,
            stacks,
            symbols,
            descriptors: Descriptors::new(pid),
            listening: None,
            datagrams: Datagrams::new(pid),
            out_of_memory: OutOfMemory::find(jvm),
            has_variables: heap::has_variables(jvm),
            unloads: Unloads::new(jvm),
            class_changes: Unloads::and_loads(jvm),
            missing,
            room: Room::default(),
            redaction: None,
            stood: HashMap::new(),
        })
    }

    /// The JVM's process.
    pub const fn pid(&self) -> u32 {
        self.pid
    }

    /// All threads as they are now.
    pub fn threads(&mut self) -> Result<Vec<Thread>, Error> {
        // Since the last time classes may have gone, and descriptors may lead elsewhere.
        self.descriptors.look_again();
        if self.unloads.may_have_happened(&self.memory) {
            self.symbols.classes_unloaded();
            self.objects.iter_mut().for_each(ThreadObjects::classes_unloaded);
        }
        // Objects move, so what was read of one that was gone may be of no class. It may become that of one that is loaded.
        if self.class_changes.may_have_happened(&self.memory)
            && let Some(objects) = &mut self.objects
        {
            objects.forget();
        }
        self.threads.refresh()?;
        let code = Memory::open(self.pid)?;
        let code = Pages::new(&code);
        let known = self.known();
        let before = std::mem::take(&mut self.stood);
        self.room = Room::default();
        let (pools, static_queues) = (Pools::default(), self.static_queues());
        let threads = known.listed.iter().filter_map(|thread| {
            let tid = *known.tids.get(&thread.os_tid)?;
            let scheduled = Scheduled::of(self.pid, tid);
            let stood = before.get(&(thread.address, tid)).filter(|stood| Some(stood.scheduled) == scheduled);
            let mut told = match stood {
                Some(stood) => self.as_before(*thread, &stood.told, &known),
                None => self.thread(*thread, tid, scheduled, &known, &code)?,
            };
            // Whose object is waited for elsewhere is asked for something else. Few join, so others need no table of objects.
            if told.is_in(JOIN)
                && let Some(Waits::Notify { address, joined, .. }) = &mut told.waits
            {
                let object = self.threads.object(*address);
                *joined = object.and_then(|object| known.by_object(self.objects.as_ref()).get(&object).copied());
            }
            // A task may have come to the queue although the thread stood still. A thread that runs has no frames.
            if told.frames.is_empty() || WORKERS.iter().any(|worker| told.is_in(worker)) {
                told.executor = self.objects.as_ref().and_then(|objects| objects.executor_of(thread, &pools));
            }
            if told.executor.is_none() {
                // Of a thread that stands still as before, what it lacked then it lacks now.
                let may_have = stood.is_none() || told.queue.is_some();
                let own = || self.objects.as_ref()?.own_queue_of(thread);
                told.queue = may_have.then(own).flatten().or_else(|| of_class(&static_queues, &told));
            }
            let told = self.room.fit(told, || os_thread::name(self.pid, tid));
            if let Some(scheduled) = scheduled.filter(|_| told.incomplete.is_none() && told.kernel_state != 'R') {
                self.stood.insert((thread.address, tid), Stood { scheduled, told: told.clone() });
            }
            Some(told)
        });
        Ok(threads.collect())
    }

    /// Virtual threads that are not mounted, as they are now, up to so many; none where the JVM has made none, or does not list them.
    pub fn unmounted(&mut self, most: usize) -> Option<Unmounted> {
        let objects = self.objects.as_ref().filter(|objects| objects.has_virtual_threads())?;
        let code = Memory::open(self.pid).ok()?;
        let code = Pages::new(&code);
        let mut grouping = Grouping::new(&self.stacks, &self.memory, &code);
        let not_read = objects.unmounted(most, &mut grouping);
        let known = self.known();
        let tid_of = |object| known.by_object(Some(objects)).get(&object).copied();
        let (symbols, mut room) = (&mut self.symbols, Room::default());
        let mut unmounted = grouping.told(most, &tid_of, not_read, &mut |stack| {
            let named = room.named(symbols, stack);
            room.take(&named);
            named
        });
        if unmounted.groups.iter().any(UnmountedGroup::reads_socket) {
            let polled = self.descriptors.polled().map(|on| Waits::SystemCall {
                call: "read".to_owned(),
                on: Some(self.on(on)),
                held_back: false,
            });
            for group in unmounted.groups.iter_mut().filter(|group| group.reads_socket()) {
                group.waits.clone_from(&polled);
            }
        }
        Some(unmounted)
    }

    /// The threads of the JVM's list, as it was read last.
    fn known(&self) -> Known {
        let tids = os_thread::tids_of(self.pid).into_iter().map(|(inner, tid)| (inner, tid.0)).collect();
        Known::new(tids, self.threads.listed().collect())
    }

    /// A thread that has not run since it was read. What it waits for may have another owner, and have been moved.
    fn as_before(&self, thread: JavaThread, stood: &Thread, known: &Known) -> Thread {
        let waits = match &stood.waits {
            // What was held back then has come, or is something else.
            Some(Waits::SystemCall { call, on, .. }) => {
                Some(Waits::SystemCall { call: call.clone(), on: on.clone(), held_back: false })
            }
            None => None,
            Some(_) => self.threads.again(thread).ok().and_then(|thread| {
                let object = self.objects.as_ref().and_then(|objects| objects.of(&thread));
                self.waits(&thread, object.as_ref(), stood.tid, known)
            }),
        };
        Thread { waits, ..stood.clone() }
    }

    /// A thread; none where it has ended. One that runs in a native method, or in the kernel on its behalf, has a stack of Java
    /// frames that stays as it is: reading it twice shows that.
    fn thread(
        &mut self,
        thread: JavaThread,
        tid: u32,
        scheduled: Option<Scheduled>,
        known: &Known,
        code: &Pages<&Memory>,
    ) -> Option<Thread> {
        let mut previous: Option<JavaStack> = None;
        let mut always_ran = true;
        for attempt in 1.. {
            let before = OsThread::read(self.pid, tid).ok()?;
            let seen = self.seen(thread, previous.is_none().then_some(code))?;
            let waits = self.waits(&seen.thread, seen.object.as_ref(), tid, known);
            let after = OsThread::read(self.pid, tid).ok()?;
            let still = before.stood_still(after);
            always_ran &= before.state == 'R' && after.state == 'R';
            let same = previous.is_some_and(|stack| stack == seen.stack);
            let runs = seen.stack.end == End::NoAnchor && after.state == 'R';
            if still || same || runs || attempt == ATTEMPTS {
                let waits = waits.filter(|_| still);
                let told = self.told(tid, seen, waits, after, scheduled, still || same);
                return Some(Thread { always_ran, ..told });
            }
            previous = Some(seen.stack);
        }
        None
    }

    /// What is read of a thread at once.
    fn seen(&self, thread: JavaThread, code: Option<&Pages<&Memory>>) -> Option<Seen> {
        let thread = self.threads.again(thread).ok()?;
        let object = self.objects.as_ref().and_then(|objects| objects.of(&thread));
        Some(Seen { thread, object, stack: self.stack(&thread, code), carries: self.carried(&thread) })
    }

    fn told(
        &mut self,
        tid: u32,
        seen: Seen,
        waits: Option<Waits>,
        os: OsThread,
        scheduled: Option<Scheduled>,
        still: bool,
    ) -> Thread {
        let Seen { object, stack, carries, .. } = seen;
        let runs = (!still && stack.end != End::NoAnchor).then_some("it ran while its stack was read");
        let name = object.as_ref().and_then(|object| object.name.clone()).or_else(|| os_thread::name(self.pid, tid));
        let (frames, cut) = self.room.named(&mut self.symbols, &stack);
        Thread {
            tid,
            java_id: object.as_ref().map(|object| object.id),
            name: name.unwrap_or_default(),
            daemon: object.as_ref().and_then(|object| object.daemon),
            state: object.as_ref().and_then(|object| state(object.status?)),
            kernel_state: os.state,
            always_ran: os.state == 'R',
            cpu_ns: scheduled.map(|scheduled| scheduled.ran_ns),
            queued_ns: scheduled.map(|scheduled| scheduled.queued_ns),
            times: scheduled.map(|scheduled| scheduled.times),
            waits,
            carries,
            frames,
            executor: None,
            queue: None,
            incomplete: cut.or_else(|| incomplete(&stack, os)).or(runs),
        }
    }

    /// Code is read through pages first; if that leads nowhere it may be newer than they are.
    fn stack(&self, thread: &JavaThread, code: Option<&Pages<&Memory>>) -> JavaStack {
        let (memory, base) = (&self.memory, thread.stack_base());
        match code {
            Some(pages) => self.stacks.of(memory, pages, thread.address, base),
            None => self.stacks.of(memory, memory, thread.address, base),
        }
    }

    fn carried(&self, thread: &JavaThread) -> Option<Carried> {
        let carried = self.objects.as_ref()?.mounted_on(thread)?;
        Some(Carried { java_id: carried.id, name: carried.name.unwrap_or_default() })
    }
}

/// A thread that stood still.
struct Stood {
    scheduled: Scheduled,
    told: Thread,
}

/// What was read of a thread at once.
struct Seen {
    thread: JavaThread,
    object: Option<ThreadObject>,
    stack: JavaStack,
    carries: Option<Carried>,
}

fn state(status: u32) -> Option<&'static str> {
    STATES.iter().find(|(bits, _)| *bits == status).map(|(_, words)| *words)
}

/// Why a stack has no more frames. A thread of the JVM's own waits without having called Java.
fn incomplete(stack: &JavaStack, thread: OsThread) -> Option<&'static str> {
    match stack.end {
        End::NoAnchor if thread.state != 'R' => None,
        End::NoAnchor => Some("it runs: `jtrace attach PID -l cpu` samples its stack"),
        end => end.reason(),
    }
}

//! A thread dump, from outside: what every thread does or waits for at a moment, and its Java stack. Nothing is loaded into the JVM,
//! and no thread is stopped.
//!
//! Threads are read one after another, so a dump is not of one moment; whether a thread ran while it was read is known, and said.

mod deadlock;
mod groups;
mod queues;
mod read;
mod room;
mod text;
mod unmounted;

use std::time::Duration;

use serde::Serialize;

pub use self::{
    deadlock::deadlocks,
    groups::groups,
    queues::{WaitingQueue, queues},
    read::{AskedConnection, CrowdedSocket, Error, ThreadReader, read},
    text::write as write_text,
    unmounted::{Unmounted, UnmountedGroup, UnmountedOwner},
};
use crate::{
    item::look::Waits,
    jvm::java_threads::{Executor, OwnQueue},
    stack::Frame,
};

/// All threads of a JVM.
#[derive(Debug, Serialize)]
pub struct ThreadDump {
    /// The process.
    pub pid: u32,
    /// `OpenJDK 17.0.15`, as the JVM calls itself.
    pub jvm: String,
    /// Time of the beginning, in milliseconds since 1970.
    pub at_ms: u64,
    /// How long it took to read.
    #[serde(rename = "took_ns", serialize_with = "as_ns")]
    pub took: Duration,
    /// The threads, in the order of the JVM's list.
    pub threads: Vec<Thread>,
    /// Virtual threads that are not mounted; absent where the JVM has made none, or does not list them.
    pub unmounted: Option<Unmounted>,
    /// Threads that wait for each other in a circle, by their kernel ids.
    pub deadlocks: Vec<Vec<u32>>,
    /// Queues in which something waits for some of the threads, the fullest first.
    pub queues: Vec<WaitingQueue>,
    /// What could not be read, and why.
    pub missing: Vec<String>,
}

/// A thread.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Thread {
    /// Its id in the kernel, as jtrace sees it.
    pub tid: u32,
    /// `Thread.threadId()`.
    pub java_id: Option<u64>,
    /// `Thread.getName()`, or the kernel's name.
    pub name: String,
    /// Absent where it is not known.
    pub daemon: Option<bool>,
    /// Its state as Java says it, like `TIMED_WAITING (sleeping)`; absent where it is not known.
    pub state: Option<&'static str>,
    /// The kernel's letter: `R` runs or could run, `S` and `D` wait.
    pub kernel_state: char,
    /// Whether it ran, or could, each time that the kernel was asked.
    #[serde(skip)]
    pub always_ran: bool,
    /// CPU time that it has used.
    pub cpu_ns: Option<u64>,
    /// How long it was ready to run and waited for a CPU.
    pub queued_ns: Option<u64>,
    /// How often it came to a CPU.
    #[serde(skip)]
    pub times: Option<u64>,
    /// What it waits for.
    pub waits: Option<Waits>,
    /// The virtual thread that it carries.
    pub carries: Option<Carried>,
    /// Its Java frames, innermost first.
    pub frames: Vec<StackFrame>,
    /// The executor for which it works.
    #[serde(skip)]
    pub executor: Option<Executor>,
    /// The queue that it has of its own, where it works for no executor.
    #[serde(skip)]
    pub queue: Option<OwnQueue>,
    /// Why there are no more frames; absent where the stack is whole.
    pub incomplete: Option<&'static str>,
}

impl Thread {
    /// Whether one of its frames is this method.
    pub fn is_in(&self, method: &str) -> bool {
        self.frames.iter().any(|frame| frame.frame.name.ends_with(method))
    }
}

/// A frame of a thread.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct StackFrame {
    /// Its method and place.
    #[serde(flatten)]
    pub frame: Frame,
    /// Whether it is one of a native method.
    pub native: bool,
}

/// A virtual thread on its carrier.
#[derive(Clone, Debug, Serialize)]
pub struct Carried {
    /// `Thread.threadId()`.
    pub java_id: u64,
    /// `Thread.getName()`, mostly empty.
    pub name: String,
}

fn as_ns<S: serde::Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX))
}

//! Items: what flows from a source through a session's fold into a report.
//!
//! Everything that a report depends on is an [`Item`] of this flow, so that a recording of the items gives the same report,
//! byte for byte.

pub mod look;
pub mod redaction;
mod words;

use serde::{Deserialize, Serialize};

use self::look::ThreadLook;
use crate::{
    coverage::Coverage,
    event::{Event, Tid},
    lens::Lens,
    mark::Inside,
    stack::{FrameDefinition, StackDefinition},
    subject::SubjectDefinition,
    tally::Tallies,
};

/// The JVM that is looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Target {
    /// Process id, as jtrace sees it.
    pub pid: u32,
    /// Process id in the target's own pid namespace.
    pub namespace_pid: u32,
    /// Start time in clock ticks since boot; with the pid it names the process.
    pub start_ticks: u64,
    /// User that it runs as (name, or number).
    pub user: String,
    /// Main class or jar with arguments, as the JVM tells it (`sun.rt.javaCommand`), or the command line.
    pub command: String,
    /// Version of the JVM (`17.0.15+6`), or empty.
    pub jvm_version: String,
    /// Vendor and name of the JVM, or empty.
    pub jvm_name: String,
    /// Feature release (11, 17, 21, 25); 0 where it is unknown.
    pub jdk_release: u32,
    /// Garbage collector (`G1`, `Parallel`, `Serial`, `ZGC`, `Shenandoah`), or empty.
    pub collector: String,
    /// Path of libjvm.so as the target sees it.
    pub libjvm: String,
    /// Whether its mount or pid namespace differs from jtrace's.
    pub container: bool,
    /// Seconds since the process started, at the start of the session.
    pub uptime_s: u64,
    /// Live Java threads at the start of the session, from the JVM's own counters; absent where it has none.
    pub live_threads: Option<u64>,
    /// CPUs of the machine.
    pub cpus: u32,
    /// Largest heap in bytes, from the JVM's own counters; absent where it has none.
    pub max_heap_bytes: Option<u64>,
    /// Highest level that the JVM compiles to (its flag `TieredStopAtLevel`): 4 where nobody has chosen, 0 where it only interprets, 1 to 3
    /// without its second compiler; absent where that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compiles_to_level: Option<u32>,
    /// What is known of the time before the session; absent where nobody has looked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since_start: Option<SinceStart>,
    /// Who recorded the events, where it was not jtrace at the JVM itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recorder: Option<Recorder>,
}

/// Another recorder, whose file was read, and what its events cannot tell.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recorder {
    /// What it is called.
    pub name: String,
    /// Lenses of which it recorded a part only: what was long enough, or not too much at a time.
    pub partial: Vec<Lens>,
    /// Numbers that it cannot know, as `lens.key`; their sections leave them out.
    pub unknown: Vec<String>,
}

impl Target {
    /// Whether a number of a section can be known; another recorder does not tell of all.
    pub fn knows(&self, lens: Lens, key: &str) -> bool {
        let is_it = |unknown: &String| {
            unknown.split_once('.').is_some_and(|(section, number)| section == lens.id() && number == key)
        };
        !self.recorder.as_ref().is_some_and(|recorder| recorder.unknown.iter().any(is_it))
    }

    /// Whether another recorder has left out some of what a lens shows.
    pub fn has_part_of(&self, lens: Lens) -> bool {
        self.recorder.as_ref().is_some_and(|recorder| recorder.partial.contains(&lens))
    }
}

/// Totals from the start of the process up to that of the session; what is not known is absent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SinceStart {
    /// Collections and pauses of concurrent ones, as the JVM counts them.
    pub collections: Option<u64>,
    /// Of these, full ones.
    pub full_collections: Option<u64>,
    /// Time in all of them.
    pub collection_ns: Option<u64>,
    /// Time in safepoints.
    pub safepoint_ns: Option<u64>,
    /// Time of the JIT compilers.
    pub compilation_ns: Option<u64>,
    /// Java threads that were started.
    pub threads_started: Option<u64>,
    /// Most Java threads that were alive at a time.
    pub threads_peak: Option<u64>,
    /// Classes that were loaded.
    pub classes_loaded: Option<u64>,
    /// Classes that were unloaded.
    pub classes_unloaded: Option<u64>,
    /// CPU time of all threads.
    pub cpu_ns: Option<u64>,
    /// Page faults that read from a disk.
    pub major_faults: Option<u64>,
    /// How long its control group, or one above, was kept from running by a limit of CPU time.
    pub throttled_ns: Option<u64>,
    /// Memory in RAM when the session began.
    pub resident_bytes: Option<u64>,
    /// Most memory that was in RAM.
    pub resident_peak_bytes: Option<u64>,
}

/// A probe site of the session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Site {
    /// Probe name, `provider:name` or a symbol.
    pub probe: String,
    /// Lens that asked for it.
    pub lens: Lens,
    /// Number of the [`crate::event::EventKind`].
    pub kind: u16,
    /// Offset in the file.
    pub offset: u64,
}

/// First item of a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Start {
    /// The JVM.
    pub target: Target,
    /// Lenses that are shown.
    pub lenses: Vec<Lens>,
    /// Sites, in the order of their ids.
    pub sites: Vec<Site>,
    /// What is missing from the beginning, and why.
    pub missing: Vec<String>,
    /// `CLOCK_MONOTONIC`.
    pub time_ns: u64,
    /// Wall-clock time in ms since the epoch.
    pub wall_ms: u64,
    /// Cost of a trap in ps, as calibrated; absent where it was not.
    pub trap_cost_ps: Option<u64>,
    /// Duration of attaching.
    pub attach_ns: u64,
    /// CPU time of jtrace until then.
    #[serde(default)]
    pub attach_cpu_ns: u64,
    /// Threads that lived already, with their whole names, or those that the kernel knows (cut at 15 bytes).
    pub threads: Vec<(Tid, String)>,
}

/// Counters of all sites and of jtrace itself at one moment; each replaces the one before.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counters {
    /// `CLOCK_MONOTONIC`.
    pub time_ns: u64,
    /// Per site: hits, filtered, emitted, lost, unreadable, definitions emitted, definitions lost.
    pub sites: Vec<[u64; 7]>,
    /// Time in walks over stacks, by the programs' own account; absent in recordings of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stack_ns: Option<u64>,
    /// Per site: hits that the programs refused because user space had not looked for too many of them; nothing where none were.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<u64>,
    /// What a trap was measured to cost lately, in ps; absent where it was not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trap_cost_ps: Option<u64>,
    /// What woven code cost the target so far, traps apart; absent where none is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inside: Option<InsideCost>,
    /// CPU time of jtrace.
    pub own_cpu_ns: u64,
    /// Largest resident size of jtrace.
    pub own_memory_bytes: u64,
    /// Time in the programs, on all CPUs, where the kernel was asked to measure it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program_ns: Option<u64>,
    /// How often the programs ran, where the kernel was asked to measure it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program_runs: Option<u64>,
}

/// What woven code did and cost, by its governor's account.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct InsideCost {
    /// Marks and symbols, sent or counted.
    pub events: u64,
    /// CPU time of the target for these, and for markers that were off.
    pub cpu_ns: u64,
}

/// A decision of the governor about a group of sites.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GuardAction {
    /// `CLOCK_MONOTONIC`: from this moment on it holds.
    pub time_ns: u64,
    /// Name of the group of sites (`park`, `contended`, ...).
    pub group: String,
    /// The sites.
    pub sites: Vec<u16>,
    /// Lens whose numbers are affected.
    pub lens: Lens,
    /// What was done.
    pub action: GuardDecision,
    /// Why; absent where a group comes back, and in recordings of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<GuardReason>,
    /// Where a group comes back: how long it was to be away on average, when that was decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pause_ns: Option<u64>,
}

impl GuardAction {
    /// Of how many events of its group one has a stack from now on, where that changes.
    pub const fn stacks_of(&self) -> Option<u64> {
        match self.action {
            GuardDecision::Narrow { what: Narrowing::FewerStacks { one_in }, .. } => Some(one_in),
            _ => None,
        }
    }

    /// Whether ends of calls that are under way will not be seen.
    pub const fn hides_ends(&self) -> bool {
        match self.action {
            GuardDecision::Detach { .. } | GuardDecision::Stop { .. } | GuardDecision::Hold => true,
            GuardDecision::Narrow { what, .. } => matches!(what, Narrowing::Times),
            GuardDecision::Attach | GuardDecision::Look | GuardDecision::Release => false,
        }
    }
}

/// What the governor did with a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum GuardDecision {
    /// Detached, because its sites fired this often.
    Detach {
        /// Hits per second when it was detached.
        rate_per_s: u64,
    },
    /// Attached again for another look.
    Attach,
    /// Nothing; what it has done since it came back is a sample of what it does while it is away.
    Look,
    /// Left something out, so that counts stay exact.
    Narrow {
        /// What.
        what: Narrowing,
        /// Hits per second until then.
        rate_per_s: u64,
    },
    /// Detached for good: even short looks would cost too much.
    Stop {
        /// Hits per second until then.
        rate_per_s: u64,
    },
    /// Switched off because the user, or all who wanted it, asked for that: no decision of the governor.
    Hold,
    /// Switched on again for the same reason.
    Release,
}

/// What can be left out so that a group costs less and its counts stay exact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Narrowing {
    /// Its events get no stacks.
    Stacks,
    /// Of so many events one gets a stack.
    FewerStacks {
        /// Of how many.
        one_in: u64,
    },
    /// Only beginnings of calls are seen: no durations, no exceptions.
    Times,
    /// Marks are counted in the JVM and not sent: no nesting, no durations.
    Each,
    /// Of each class with many objects, only one of so many is tracked.
    Objects {
        /// Of how many; 0: none but those that are tracked already.
        one_in: u64,
    },
}

/// A marker, or those that are on and off with it, is to be on or off: what the user and clients can ask for while a session is live.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wish {
    /// What the governor calls it.
    pub group: String,
    /// Whether it is to be on.
    pub on: bool,
}

/// Why the governor decided something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GuardReason {
    /// What the group took of one core, in millionths: of the target's time, or where `own` of jtrace's.
    pub cost_ppm: u64,
    /// What it may take.
    pub budget_ppm: u64,
    /// What it took of the target's time, in millionths of a core, in either case.
    pub target_ppm: u64,
    /// Whether it is jtrace's own CPU time that was too much.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub own: bool,
    /// What woven code would take of the target's time while it is off, in millionths of a core, where that is why it was taken out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub off_ppm: Option<u64>,
    /// The time from when the budget was last seen to be enough until the decision was carried out.
    pub within_ns: u64,
}

/// The name of a thread.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadName {
    /// The thread.
    pub tid: Tid,
    /// Its name; what the kernel knows of it is cut at 15 bytes.
    pub name: String,
}

/// Last item of a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct End {
    /// `CLOCK_MONOTONIC`.
    pub time_ns: u64,
    /// Why (`duration`, `interrupted`, `target exited`, ...).
    pub reason: String,
    /// Whether the last counters were read after the last record had been taken: then they must add up.
    pub counters_final: bool,
}

/// One element of the flow from a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item<'a> {
    /// First.
    Start(Box<Start>),
    /// Bytes of one record, as the kernel delivered them.
    Record(&'a [u8]),
    /// Counters.
    Counters(Counters),
    /// The governor took sites away, gave them back, or left something out.
    Guard(GuardAction),
    /// A thread was seen for the first time, or has a new name.
    Thread(ThreadName),
    /// Threads that have ended, where no events say so: what comes under their ids from now on is of others.
    Ended(Vec<Tid>),
    /// A frame that stacks refer to by its number; before the first stack that does.
    Frame(FrameDefinition),
    /// A stack that events refer to by its id.
    Stack(StackDefinition),
    /// A method or class that events refer to by its number; before the first event that does.
    Subject(SubjectDefinition),
    /// What the kernel counted itself.
    Tallies(Tallies),
    /// What could not be seen of methods or objects; at the end.
    Coverage(Coverage),
    /// All threads were looked at; behind the stacks that it refers to.
    Look(Box<ThreadLook>),
    /// About the library in the JVM.
    Inside(Inside),
    /// Last.
    End(End),
}

/// What an item was, for those who look at the flow as it passes.
#[derive(Clone, Copy, Debug)]
pub enum Taken {
    /// An event, decoded.
    Event(Event),
    /// Anything else.
    Other,
}

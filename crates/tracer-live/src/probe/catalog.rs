//! Every probe that a lens uses: its kind of event and how its words are made from the site's arguments.
//!
//! The table is data and attaches nothing; [`super::plan`] matches it with a JVM. Adding a probe: its kind in
//! `tracer-common`, an entry in `catalog/table.rs`, and for a JVM without USDT notes a function whose entry means the same in
//! `catalog/function.rs`. A function that means only roughly the same is left out: no number is better than a wrong one.

mod function;
mod stand_in;
mod table;

use tracer_common::{record::EventKind, site::Operand};

use crate::{
    group::{EXCEPTIONS_GROUP, INSIDE_GROUP, METHODS_GROUP, OBJECTS_GROUP},
    jni::Family,
    lens::Lens,
};

pub use self::table::PROBES;

/// How one word of an event is made. Arguments count from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    /// The value of an argument.
    Argument(usize),
    /// The text that starts at the first argument and has as many bytes as the second says.
    Name(usize, usize),
    /// The NUL-terminated text at an argument.
    CString(usize),
    /// The name of the class whose `Klass*` an argument is.
    Klass(usize),
    /// Always this value.
    Constant(u64),
    /// A name that the site does not give.
    AbsentName,
    /// The text of the counter `sun.gc.cause`.
    GcCause,
    /// The text of the counter `sun.gc.lastCause`.
    LastGcCause,
    /// What the `ObjectMonitor` that an argument leads to has as its owner.
    MonitorOwner(usize),
    /// The id in the operating system of the `Thread` that an argument leads to.
    OsThreadId(usize),
    /// What the object of the `ObjectMonitor` that an argument leads to has as its class, where two steps lead there.
    MonitorClass(usize),
    /// The 8 bytes that an argument points to.
    Pointee(usize),
    /// What the object at an argument says of its class.
    ObjectClass(usize),
    /// The `CompileTask::_method` of an argument.
    TaskMethod(usize),
    /// The `CompileTask::_comp_level` of an argument, in the lower half.
    TaskLevel(usize),
    /// The `nmethod::_method` of an argument.
    NmethodMethod(usize),
}

/// Where in a function a site is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// At its first instruction.
    Entry,
    /// At all instructions that leave it.
    Exit,
}

/// What user space has to add to the words of an event, because a function does not tell it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rest {
    /// Nothing.
    Nothing,
    /// The words that the beginning on this thread had: of an end.
    Beginning,
    /// The second word is what an object's header says of its class, or absent, and shall be the name of the class of the monitor
    /// that is the first one.
    MonitorClass,
    /// The first word is what an object's header says of its class, or absent, and shall be the name of the class.
    ObjectClass,
    /// The first word is in nanoseconds, and shall be in milliseconds.
    Milliseconds,
    /// The first word is the table of virtual functions of a VM operation, and shall be its name.
    Operation,
    /// The second word is how the initialisation of a class has ended.
    ClassState,
    /// The first words are a level of compilation and a `Method*`, and shall be the names of both.
    Task,
    /// The first word is a `Method*`, the fourth an `nmethod*`.
    Nmethod,
}

/// A probe in the JVM's notes.
#[derive(Clone, Copy, Debug)]
pub struct Usdt {
    /// Provider (`hotspot`).
    pub provider: &'static str,
    /// Name (`gc__begin`).
    pub name: &'static str,
    /// The event's words, in their order.
    pub words: &'static [Word],
}

/// A function whose entry is a site.
#[derive(Clone, Copy, Debug)]
pub struct Function {
    /// What it is called in HotSpot's source.
    pub name: &'static str,
    /// Its mangled names on the supported releases, all with the same meaning of the arguments.
    pub symbols: &'static [&'static str],
    /// Functions that call it, by their mangled names on the supported releases. Where none of those that are there does, a compiler
    /// has taken it in, and it is not used.
    pub callers: &'static [&'static str],
    /// Where the site is.
    pub at: Moment,
    /// Its arguments at its first instruction.
    pub arguments: &'static [Operand],
    /// The event's words, in their order.
    pub words: &'static [Word],
    /// What user space adds to them.
    pub rest: Rest,
    /// What the event lacks compared with the USDT probe, as a sentence; empty where it lacks nothing.
    pub lacks: &'static str,
    /// The note that lies within it, by which it is found where there are no symbols.
    pub note: Option<Note>,
}

/// A note that lies in a function and leads to its entry: unlike the note, the entry has pointers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Note {
    /// Name of the note, of the provider `hotspot`.
    pub name: &'static str,
    /// Which of the functions that have it.
    pub which: Which,
}

/// Which of the functions that have a note of one name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// There must be one only.
    Single,
    /// The one that finds out which thread runs it, so that this is not its first argument.
    FindsThread,
    /// The others.
    GetsThread,
}

/// Where an event can come from. The notes are preferred, because they say where the arguments are.
#[derive(Clone, Copy, Debug)]
pub enum Origin {
    /// A USDT probe without an equivalent function.
    Usdt(Usdt),
    /// A USDT probe, or functions where there is none, each of which stands for events of its own.
    UsdtOr(Usdt, &'static [Function]),
    /// The entry of a function.
    Function(Function),
    /// The entries of several functions, each of which is called for events of its own.
    Functions(&'static [Function]),
    /// A function of the library in the JVM, where that is loaded.
    Inside(Function),
    /// All notes of JNI's functions; each has a group and a number of its own ([`crate::jni`]).
    Jni,
}

/// A flag without which HotSpot keeps probes silent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Flag {
    /// Contended monitors, waits, notifies; close to free.
    Monitor,
    /// Every call and return.
    Method,
    /// Every object.
    Alloc,
}

impl Flag {
    /// What is not seen without it, for sentences.
    pub const fn what(self) -> &'static str {
        match self {
            Self::Monitor => "monitors",
            Self::Method => "methods",
            Self::Alloc => "all objects",
        }
    }

    /// What HotSpot calls it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Monitor => "DTraceMonitorProbes",
            Self::Method => "DTraceMethodProbes",
            Self::Alloc => "DTraceAllocProbes",
        }
    }
}

/// One line of the catalogue.
#[derive(Clone, Copy, Debug)]
pub struct Probe {
    /// What its sites report.
    pub kind: EventKind,
    /// Lenses that need it; the first one that is asked for owns its sites.
    pub lenses: &'static [Lens],
    /// Sites of one group are attached and detached together, because an analysis pairs their events.
    pub group: &'static str,
    /// The flag without which the JVM keeps it silent.
    pub flag: Option<Flag>,
    /// Whether it is left out unless somebody asks for it: it may fire as often as the program does anything at all.
    pub on_demand: bool,
    /// What is not told without it, as a sentence; empty where its group is of no use without it.
    pub dispensable: &'static str,
    /// Where it comes from.
    pub origin: Origin,
}

impl Probe {
    /// What users call it: `hotspot:gc__begin`, or the function's name.
    pub fn name(&self) -> String {
        match self.origin {
            Origin::Usdt(usdt) | Origin::UsdtOr(usdt, _) => format!("{}:{}", usdt.provider, usdt.name),
            Origin::Function(function) | Origin::Functions(&[function, ..]) | Origin::Inside(function) => {
                function.name.to_owned()
            }
            Origin::Functions([]) => String::new(),
            Origin::Jni => "hotspot_jni:*".to_owned(),
        }
    }

    /// The USDT probe, if it can come from one.
    pub const fn usdt(&self) -> Option<Usdt> {
        match self.origin {
            Origin::Usdt(usdt) | Origin::UsdtOr(usdt, _) => Some(usdt),
            Origin::Function(_) | Origin::Functions(_) | Origin::Inside(_) | Origin::Jni => None,
        }
    }

    /// The functions that it can come from.
    pub const fn functions(&self) -> &[Function] {
        match &self.origin {
            Origin::Function(function) => std::slice::from_ref(function),
            Origin::Functions(functions) | Origin::UsdtOr(_, functions) => functions,
            Origin::Usdt(_) | Origin::Inside(_) | Origin::Jni => &[],
        }
    }
}

/// Kinds of events that come from no site of their own: looks at the JVM's own structures give them, or sites of others.
pub const LOOKS: [EventKind; 4] =
    [EventKind::MonitorBlocked, EventKind::MonitorLook, EventKind::MethodTimed, EventKind::JniSection];

/// Whether events of a kind get the stack of their thread: all on whose threads Java runs, but for the second event of a
/// pair, whose stack is the first one's.
pub const fn has_stack(kind: EventKind) -> bool {
    use EventKind as K;
    match kind {
        K::VmOperationRequest
        | K::MonitorContendedEnter
        | K::MonitorContendedExit
        | K::MonitorNotify
        | K::MonitorNotifyAll
        | K::MonitorWait
        | K::ThreadParkBegin
        | K::ThreadUnpark
        | K::ThreadStart
        | K::ThreadStarting
        | K::ThreadSleepBegin
        | K::ThreadYield
        | K::ClassLoaded
        | K::ClassInitRequired
        | K::ClassInitErroneous
        | K::ClassInitSuperFailed
        | K::ClassInitClinit
        | K::ClassInitError
        | K::AllocInNewTlab
        | K::AllocOutsideTlab
        | K::CpuSample
        | K::MethodEntry
        | K::MethodReturn
        | K::ObjectAlloc
        | K::JniEntry
        | K::JniReturn
        | K::IllegalTransition
        | K::ExceptionCreated
        | K::OutOfMemory
        | K::OffCpu => true,
        K::GcBegin
        | K::GcEnd
        | K::MemPoolGcBegin
        | K::MemPoolGcEnd
        | K::VmOperationBegin
        | K::VmOperationEnd
        | K::SafepointBegin
        | K::SafepointEnd
        | K::MonitorContendedEntered
        | K::MonitorWaited
        | K::MonitorBlocked
        | K::MonitorLook
        | K::ThreadParkEnd
        | K::ThreadStop
        | K::ThreadSleepEnd
        | K::ClassUnloaded
        | K::ClassInitRecursive
        | K::ClassInitConcurrent
        | K::ClassInitEnd
        | K::CompileBegin
        | K::CompileEnd
        | K::CodeLoaded
        | K::CodeUnloaded
        | K::FrameUnwound
        | K::MethodTimed
        | K::JniSection
        | K::Marks
        | K::VmShutdown => false,
    }
}

/// What the events of a group are about, for sentences.
pub fn group_title(group: &str) -> &'static str {
    match group {
        INSIDE_GROUP => "what woven code tells",
        "gc" => "collections",
        "mem-pool" => "memory pools before and after collections",
        "vm-operation-request" => "requests of VM operations",
        "vm-operation" => "VM operations",
        "safepoint" => "safepoints",
        "contended" => "contended monitors",
        "notify" => "notifies",
        "wait" => "waits",
        "park" => "parking",
        "unpark" => "unparking",
        "thread" => "starts and stops of threads",
        "thread-starting" => "who starts threads",
        "sleep" => "sleeps",
        "yield" => "yields",
        "class-load" => "class loading and unloading",
        "class-init" => "class initialisation",
        "compile" => "compilations",
        "code" => "installed and removed code",
        "alloc" => "allocation samples",
        EXCEPTIONS_GROUP => "exceptions",
        "out-of-memory" => "errors that the JVM throws where it finds no memory",
        OBJECTS_GROUP => "all allocations",
        METHODS_GROUP => "calls and returns",
        "jni" => "JNI calls",
        "shutdown" => "the JVM's shutdown",
        "cpu-clock" => "CPU samples",
        "sched" => "threads that leave a CPU and return",
        _ => Family::of_group(group).map_or("", Family::title),
    }
}

/// Names of all symbols that the catalogue can use, for one look-up.
pub fn symbols() -> Vec<&'static str> {
    let of = |function: &'static Function| function.symbols.iter().chain(function.callers).copied();
    PROBES.iter().flat_map(Probe::functions).flat_map(of).collect()
}

#[cfg(test)]
mod tests;

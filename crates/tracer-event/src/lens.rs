//! Lenses: what a user asks for. Which sites a lens needs is the catalogue's, what it makes of their events its analysis's.

/// What a user asks for: a set of sites and an analysis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Lens {
    /// Collections by cause and kind, pauses, memory pools.
    Gc,
    /// VM operations and safepoint time.
    Safepoint,
    /// Contended monitors, waits, parking.
    Locks,
    /// Threads that start, stop, sleep.
    Threads,
    /// Class loading and initialisation.
    Classes,
    /// Compilations and code.
    Jit,
    /// Allocation, sampled at TLAB refills.
    Alloc,
    /// Exceptions that are made, by class and place.
    Exceptions,
    /// Which code runs, sampled by a clock.
    Cpu,
    /// Where threads wait and for what, from the scheduler.
    Offcpu,
    /// Where threads spend their time, running or not.
    Wall,
    /// How often chosen methods are called, how long they take, and how they end.
    Methods,
    /// Who calls whom, from where, among chosen methods.
    Calls,
    /// What chosen calls cost: waiting, allocations, exceptions, and what they call.
    Explain,
    /// Which functions of JNI native code calls, and how long it holds critical sections open.
    Jni,
    /// Marked points and regions of code.
    Markers,
    /// Whether objects are used as their protocols say.
    Typestate,
}

impl Lens {
    /// Every lens, in the order of the report.
    pub const ALL: &'static [Self] = &[
        Self::Gc,
        Self::Safepoint,
        Self::Locks,
        Self::Threads,
        Self::Classes,
        Self::Jit,
        Self::Alloc,
        Self::Exceptions,
        Self::Cpu,
        Self::Offcpu,
        Self::Wall,
        Self::Methods,
        Self::Calls,
        Self::Explain,
        Self::Jni,
        Self::Markers,
        Self::Typestate,
    ];

    /// Those that are used where nobody says which: all that cost next to nothing on any target.
    pub const USUAL: &'static [Self] = &[
        Self::Gc,
        Self::Safepoint,
        Self::Locks,
        Self::Threads,
        Self::Classes,
        Self::Jit,
        Self::Alloc,
        Self::Exceptions,
        Self::Cpu,
    ];

    /// Whether all its sites are there on demand only.
    pub const fn is_on_demand(self) -> bool {
        matches!(self, Self::Methods | Self::Calls)
    }

    /// Whether it needs a library in the JVM.
    pub const fn is_inside(self) -> bool {
        matches!(self, Self::Markers | Self::Typestate)
    }

    /// The word that the command line, JSON and the docs use.
    pub const fn id(self) -> &'static str {
        match self {
            Self::Gc => "gc",
            Self::Safepoint => "safepoint",
            Self::Locks => "locks",
            Self::Threads => "threads",
            Self::Classes => "classes",
            Self::Jit => "jit",
            Self::Alloc => "alloc",
            Self::Exceptions => "exceptions",
            Self::Cpu => "cpu",
            Self::Offcpu => "offcpu",
            Self::Wall => "wall",
            Self::Methods => "methods",
            Self::Calls => "calls",
            Self::Explain => "explain",
            Self::Jni => "jni",
            Self::Markers => "markers",
            Self::Typestate => "typestate",
        }
    }
}

/// How the sentence begins that names what there is no site for.
pub fn unavailable(lens: &str) -> String {
    format!("{lens}: not available, because libjvm.so has no usable site for it: ")
}

/// Whether sentences on what is missing have one of those for a lens.
pub fn lacks_sites(missing: &[String], lens: &str) -> bool {
    let beginning = unavailable(lens);
    missing.iter().any(|sentence| sentence.starts_with(&beginning))
}

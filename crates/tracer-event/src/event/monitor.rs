//! What is done with monitors, and who holds them.

use super::Tid;

/// What was done with a monitor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MonitorAction {
    /// A thread found the monitor taken and will block.
    ContendedEnter {
        /// Who held it at that moment.
        holder: Holder,
    },
    /// A thread that had blocked got the monitor.
    ContendedEntered,
    /// The owner left a monitor that others wait for.
    ContendedExit,
    /// `Object.notify`.
    Notify,
    /// `Object.notifyAll`.
    NotifyAll,
    /// `Object.wait` begins; 0 means without limit.
    Wait {
        /// Limit of the wait in milliseconds.
        timeout_ms: u64,
    },
    /// `Object.wait` is over.
    Waited,
}

impl MonitorAction {
    /// What properties call the actions.
    pub const WORDS: [&'static str; 8] = [
        "contended_enter",
        "contended_entered",
        "contended_exit",
        "notify",
        "notify_all",
        "wait",
        "wait_timed",
        "waited",
    ];

    /// What properties call it.
    pub const fn word(self) -> &'static str {
        let [enter, entered, exit, notify, notify_all, wait, wait_timed, waited] = Self::WORDS;
        match self {
            Self::ContendedEnter { .. } => enter,
            Self::ContendedEntered => entered,
            Self::ContendedExit => exit,
            Self::Notify => notify,
            Self::NotifyAll => notify_all,
            Self::Wait { timeout_ms: 0 } => wait,
            Self::Wait { .. } => wait_timed,
            Self::Waited => waited,
        }
    }
}

/// Who holds a monitor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Holder {
    /// This thread.
    Thread(Tid),
    /// It is not known, or nobody does.
    Unknown(NoHolder),
}

/// Why the holder of a monitor is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u32)]
pub enum NoHolder {
    /// It was not looked for: the JVM's tables lack something, or the JVM had only begun.
    NotAsked = 0,
    /// Nobody held it: its holder had just left.
    Nobody = 1,
    /// The JVM did not know either: who locked it first has not yet signed, and is not found by what it has locked.
    Anonymous = 2,
    /// A virtual thread, or a thread that was gone when it was looked for: both have ids that no thread of the list has.
    Virtual = 3,
    /// The thread was gone when it was looked for, or cannot be told from one that began since.
    Gone = 4,
    /// The JVM counts threads in a pid namespace that cannot be seen from here.
    Namespace = 5,
    /// The JVM's structures could not be read.
    Unreadable = 6,
}

impl NoHolder {
    /// Every reason, in the order of the numbers.
    pub const ALL: [Self; 7] =
        [Self::NotAsked, Self::Nobody, Self::Anonymous, Self::Virtual, Self::Gone, Self::Namespace, Self::Unreadable];

    /// What is shown instead of a thread.
    pub const fn text(self) -> &'static str {
        match self {
            Self::NotAsked => "<holder not read>",
            Self::Nobody => "<nobody any more>",
            Self::Anonymous => "<holder has not signed>",
            Self::Virtual => "<virtual thread, or one that is gone>",
            Self::Gone => "<thread gone, or only just begun>",
            Self::Namespace => "<thread of another pid namespace>",
            Self::Unreadable => "<holder unreadable>",
        }
    }
}

impl Holder {
    /// From the word of a record: a thread id, or 0 and a reason above it.
    pub fn from_word(word: u64) -> Self {
        let [low, high] = [word & 0xffff_ffff, word >> 32].map(|half| u32::try_from(half).unwrap_or(0));
        if low != 0 {
            return Self::Thread(Tid(low));
        }
        let reason = NoHolder::ALL.into_iter().find(|reason| *reason as u32 == high);
        Self::Unknown(reason.unwrap_or(NoHolder::NotAsked))
    }

    /// The word of a record.
    pub fn word(self) -> u64 {
        match self {
            Self::Thread(tid) => tid.0.into(),
            Self::Unknown(reason) => u64::from(reason as u32) << 32,
        }
    }

    /// The thread, where it is known.
    pub const fn thread(self) -> Option<Tid> {
        match self {
            Self::Thread(tid) => Some(tid),
            Self::Unknown(_) => None,
        }
    }
}

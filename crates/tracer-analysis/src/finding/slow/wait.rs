//! What the program waits for: from when on it is told, and what helps.

/// Something that threads wait for.
pub(super) struct Wait {
    /// As the lens `threads` calls it.
    pub(super) kinds: &'static [&'static str],
    pub(super) id: &'static str,
    /// Threads on average from which on it is told, and those from which on it is a warning.
    pub(super) told: f64,
    pub(super) warning: f64,
    pub(super) next_step: &'static str,
}

pub(super) const PEER: Wait = Wait {
    kinds: &["socket"],
    id: "slow-peer",
    told: 0.5,
    warning: 1.5,
    next_step: "Look at that peer: it answers slowly, or is not asked for less; a time limit keeps threads from queueing.",
};

/// Of a peer that has not even taken the connection.
pub(super) const OF_CONNECTING: &str = "Look whether that peer is there and takes connections, and what lies between (a firewall drops without an answer); a \
                             short limit of time for connecting keeps threads from queueing.";

/// Of a peer that is the JVM itself.
pub(super) const OF_ITSELF: &str = "The JVM waits for an answer of its own: `jtrace threads PID` shows the threads that serve that port. Where all of them call it \
                         themselves, none is left to answer: call the method itself, or serve such calls by another pool.";

/// Of a peer on the way to which segments are lost.
pub(super) const OF_NETWORK: &str = "Look at the way to that peer (`ss -ti`, `mtr`): what is lost is sent again after 200 ms at the earliest, and ever later. A short \
                          limit of time and another connection help where it is one path that loses.";

/// The answer is there and is not sent: what the peer wrote last waits until what it wrote before is acknowledged.
pub(super) const NAGLE: Wait = Wait {
    kinds: &["socket"],
    id: "nagle",
    told: 0.5,
    warning: 1.5,
    next_step: "Have the peer write an answer at once (a buffer, one flush), or set TCP_NODELAY on its sockets; for the JDK's \
                HttpServer that is -Dsun.net.httpserver.nodelay=true.",
};

pub(super) const SYNC: Wait = Wait {
    kinds: &["file"],
    id: "slow-disk",
    told: 0.2,
    warning: 0.2,
    next_step: "Force data to the disk less often, or several requests' at once, and not on the way of a request.",
};

pub(super) const DISK: Wait = Wait {
    kinds: &["file"],
    id: "slow-disk",
    told: 0.5,
    warning: 2.0,
    next_step: "Look at that file and its disk (`iostat -x 1`): files opened for synchronous writing (`rwd`, `DSYNC`) wait \
                for it each time.",
};

pub(super) const PROCESS: Wait = Wait {
    kinds: &["process", "pipe"],
    id: "slow-process",
    told: 0.5,
    warning: 1.5,
    next_step: "Look at the processes that it starts (`ps --ppid PID`); start fewer of them, or do their work inside.",
};

/// Of what the program prints.
pub(super) const OF_PRINTED: &str = "Whoever reads that (a log driver of containers, what follows in a pipeline) is slower than the program prints: print \
                          less, or by an appender with a queue that may leave something out.";

pub(super) const QUEUE: Wait = Wait {
    kinds: &["queue"],
    id: "full-queue",
    told: 0.5,
    warning: 1.5,
    next_step: "Look at who takes from this queue: it is slower than those who fill it; `jtrace threads PID` shows both.",
};

pub(super) const TASK: Wait = Wait {
    kinds: &["task"],
    id: "slow-task",
    told: 1.0,
    warning: f64::INFINITY,
    next_step: "Look at what the tasks do: `jtrace threads PID` shows the threads that run them.",
};

pub(super) const PARTY: Wait = Wait {
    kinds: &["barrier"],
    id: "slow-party",
    told: 1.0,
    warning: f64::INFINITY,
    next_step: "Look at who comes last: `jtrace threads PID` shows which thread of these is not there yet, and what it does.",
};

/// Of a file that another process has locked.
pub(super) const OF_LOCKED_FILE: &str = "Another process holds a lock of that file, which `lslocks` names: hold it shorter, or give up after a time \
                              (`FileChannel.tryLock`).";

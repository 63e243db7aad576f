//! Per-site counters, one per outcome of a hit. They are kept per CPU and only ever grow.
//!
//! Invariant: `hits = filtered + counted + refused + emitted`, and, after the readers have drained the ring buffers,
//! `emitted = delivered + lost` exactly, where user space counts `delivered`.
//!
//! The programs of the clock and of the scheduler run for all processes; they count only what belongs to the target.

/// Counters of one site on one CPU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct SiteStats {
    /// Times the program ran; CPU samples of the target, or returns of its threads to a CPU. The programs of methods and
    /// objects leave it at 0: theirs is the sum of what became of them.
    pub hits: u64,
    /// Hits that were turned down: another process, a site without a specification, an absence that was too short.
    pub filtered: u64,
    /// Events that the program tried to put into a ring buffer.
    pub emitted: u64,
    /// Events that did not fit into the ring buffer.
    pub lost: u64,
    /// Operands or texts that could not be read (page not present, bad pointer); the event carries a reserved name id or 0.
    /// Scheduler: threads that left a CPU and could not be remembered, because too many were.
    pub unreadable: u64,
    /// Definitions that the program tried to put into a ring buffer.
    pub definitions_emitted: u64,
    /// Definitions that did not fit; they are tried again at the name's next use.
    pub definitions_lost: u64,
    /// Time in walks over stacks, in ns.
    pub stack_ns: u64,
    /// Hits that the kernel counted itself ([`crate::tally`]), so that no event was sent.
    pub counted: u64,
    /// Hits that got no stack and no event, because user space had not looked for too many of them
    /// ([`crate::site::TargetLayout::most_hits`]).
    pub refused: u64,
    /// The look of user space that this CPU knows of, and hits since.
    pub look: u32,
    /// See [`Self::look`].
    pub hits_since: u32,
}

/// Number of counters in [`SiteStats`], without the time, and without what the kernel counted itself or refused: that is in the hits.
pub const STATS_WORDS: usize = 7;

const _: () = assert!(size_of::<SiteStats>() == 8 * (STATS_WORDS + 4));

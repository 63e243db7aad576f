//! Sites that are in no file: the sampling clock and the scheduler. They take site ids behind those of the JVM.
//!
//! They are data as the catalogue is, and attached by [`crate::ebpf::clock`].

use tracer_common::record::EventKind;

use crate::lens::Lens;

/// What runs a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Source {
    /// A timer on every CPU.
    Timer,
    /// The scheduler, where a CPU goes from one thread to another.
    Scheduler,
}

impl Source {
    /// Name of its group, for the rate guard and for messages.
    pub const fn group(self) -> &'static str {
        match self {
            Self::Timer => "cpu-clock",
            Self::Scheduler => "sched",
        }
    }
}

/// A site in the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock {
    /// What runs its program.
    pub source: Source,
    /// What users call it.
    pub name: &'static str,
    /// What it reports.
    pub kind: EventKind,
    /// Lenses that need it; the first one that is asked for owns it.
    pub lenses: &'static [Lens],
}

/// All of them.
pub const CLOCKS: [Clock; 2] = [
    Clock {
        source: Source::Timer,
        name: "perf:cpu-clock",
        kind: EventKind::CpuSample,
        lenses: &[Lens::Cpu, Lens::Wall],
    },
    Clock {
        source: Source::Scheduler,
        name: "sched:sched_switch",
        kind: EventKind::OffCpu,
        lenses: &[Lens::Offcpu, Lens::Wall],
    },
];

/// A clock that is to be attached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlannedClock {
    /// The clock.
    pub clock: Clock,
    /// Lens that owns it.
    pub lens: Lens,
}

/// The clocks that some lenses need.
pub fn planned(lenses: &[Lens]) -> Vec<PlannedClock> {
    let owner = |clock: &Clock| clock.lenses.iter().copied().find(|lens| lenses.contains(lens));
    CLOCKS.iter().filter_map(|clock| Some(PlannedClock { clock: *clock, lens: owner(clock)? })).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::is_clock;

    #[test]
    fn wall_needs_both_clocks_and_owns_only_what_no_other_lens_asked_for() {
        let owners = |lenses: &[Lens]| {
            planned(lenses).iter().map(|planned| (planned.clock.source, planned.lens)).collect::<Vec<_>>()
        };
        assert_eq!(owners(&[Lens::Wall]), [(Source::Timer, Lens::Wall), (Source::Scheduler, Lens::Wall)]);
        assert_eq!(owners(&[Lens::Cpu, Lens::Wall]), [(Source::Timer, Lens::Cpu), (Source::Scheduler, Lens::Wall)]);
        assert_eq!(owners(&[Lens::Offcpu]), [(Source::Scheduler, Lens::Offcpu)]);
        assert_eq!(owners(&[Lens::Gc, Lens::Jit]), []);
    }

    #[test]
    fn only_kinds_of_clocks_are_no_traps() {
        let clocks: Vec<_> = EventKind::ALL.iter().filter(|kind| is_clock(**kind as u16)).collect();
        assert_eq!(clocks, [&EventKind::CpuSample, &EventKind::OffCpu]);
    }
}

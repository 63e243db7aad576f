//! Ties the sampling clock and the scheduler to their programs, and reads which threads are away from a CPU.
//!
//! A program is loaded when it is attached for the first time: a lens that is not asked for costs no verification.

use std::{io, path::PathBuf, time::Instant};

use aya::{
    maps::{HashMap, MapData},
    programs::{
        PerfEvent, ProgramError, RawTracePoint,
        perf_event::{PerfEventConfig, PerfEventLink, PerfEventScope, SamplePolicy, SoftwareEvent},
        raw_trace_point::RawTracePointLink,
    },
    util::online_cpus,
};
use tracer_common::{
    clock::Away,
    names::{PROGRAM_CPU_SAMPLE, PROGRAM_SCHED_SWITCH, PROGRAM_SCHED_WAKEUP},
};

use super::{
    Error,
    attach::{Attached, Link},
    load::Kernel,
    wire::AwayValue,
};
use crate::probe::clock::Source;

/// Samples per second on each CPU, where the user does not say: a rate that keeps step with no timer of the target.
pub const USUAL_SAMPLE_HZ: u32 = 99;
/// Most samples per second.
pub const MAX_SAMPLE_HZ: u32 = 10_000;

/// How time is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockOptions {
    /// Samples per second on each CPU.
    pub sample_hz: u32,
    /// Shortest absence from a CPU that becomes an event.
    pub min_block_ns: u64,
}

impl Default for ClockOptions {
    fn default() -> Self {
        Self { sample_hz: USUAL_SAMPLE_HZ, min_block_ns: 0 }
    }
}

impl ClockOptions {
    /// Time that a sample stands for.
    pub fn sample_period_ns(&self) -> u64 {
        1_000_000_000 / u64::from(self.sample_hz.max(1))
    }
}

impl Kernel {
    /// Attaches a clock as the site with this id.
    pub fn attach_clock(&mut self, source: Source, site: u16) -> Result<Attached, Error> {
        let began = Instant::now();
        self.set_clock_site(source, site)?;
        let link = self.load_clock(source).and_then(|()| match source {
            Source::Timer => self.attach_timer().map(|links| Link::Timer { _links: links }),
            Source::Scheduler => self.attach_scheduler(),
        });
        log::info!("`{}` took {:.1} ms to attach", source.group(), began.elapsed().as_secs_f64() * 1e3);
        link.map(Attached::new).map_err(|error| Error::Attach {
            group: source.group().to_owned(),
            count: 1,
            path: PathBuf::from("the kernel"),
            source: error,
        })
    }

    /// Loads the programs of a clock, if that was not done yet.
    pub(super) fn load_clock(&mut self, source: Source) -> io::Result<()> {
        match source {
            Source::Timer => {
                let program: &mut PerfEvent = self.program(PROGRAM_CPU_SAMPLE)?;
                load_once(program.fd().is_ok(), || program.load())
            }
            Source::Scheduler => {
                for name in [PROGRAM_SCHED_WAKEUP, PROGRAM_SCHED_SWITCH] {
                    let program: &mut RawTracePoint = self.program(name)?;
                    load_once(program.fd().is_ok(), || program.load())?;
                }
                Ok(())
            }
        }
    }

    fn attach_timer(&mut self) -> io::Result<Vec<PerfEventLink>> {
        let period = SamplePolicy::Period(self.clocks().sample_period_ns());
        let cpus = online_cpus().map_err(|(_, error)| error)?;
        let program: &mut PerfEvent = self.program(PROGRAM_CPU_SAMPLE)?;
        let attach = |cpu: u32| {
            let config = PerfEventConfig::Software(SoftwareEvent::CpuClock);
            let scope = PerfEventScope::AllProcessesOneCpu { cpu };
            let link = program.attach(config, scope, period, false).map_err(|error| other(&error))?;
            program.take_link(link).map_err(|error| other(&error))
        };
        cpus.into_iter().map(attach).collect()
    }

    /// First the wake-ups, so that no absence is seen without its end; they go away last.
    fn attach_scheduler(&mut self) -> io::Result<Link> {
        let wakeup = self.attach_tracepoint(PROGRAM_SCHED_WAKEUP, "sched_wakeup")?;
        let switch = self.attach_tracepoint(PROGRAM_SCHED_SWITCH, "sched_switch")?;
        Ok(Link::Scheduler { _switch: switch, _wakeup: wakeup })
    }

    fn attach_tracepoint(&mut self, program: &str, tracepoint: &str) -> io::Result<RawTracePointLink> {
        let program: &mut RawTracePoint = self.program(program)?;
        let link = program.attach(tracepoint).map_err(|error| other(&error))?;
        program.take_link(link).map_err(|error| other(&error))
    }

    /// The threads of the target that are away from a CPU since before `until_ns`, by their ids.
    pub fn away(&self, until_ns: u64) -> Vec<Away> {
        let map: &HashMap<MapData, u64, AwayValue> = self.away_map();
        let entries = map.iter().filter_map(Result::ok).map(|(_, AwayValue(away))| away);
        let mut away: Vec<Away> =
            entries.filter(|away| self.is_current(away) && (1..=until_ns).contains(&away.since_ns)).collect();
        away.sort_by_key(|away| away.tid);
        away
    }
}

fn load_once(loaded: bool, load: impl FnOnce() -> Result<(), ProgramError>) -> io::Result<()> {
    if loaded { Ok(()) } else { load().map_err(|error| other(&error)) }
}

/// The error with its causes: the kernel's own word is the innermost.
fn other(error: &ProgramError) -> io::Error {
    io::Error::other(super::bpf_object::chain(error))
}

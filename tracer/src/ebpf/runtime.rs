//! What the programs of a session cost by the kernel's own account: how often they ran, and for how long.
//!
//! The kernel measures only while somebody asks for it, because that costs every program of the machine some 20 ns a run.

use std::os::fd::OwnedFd;

use aya::{
    programs::{ProgramInfo, loaded_programs},
    sys::{Stats, enable_stats},
};

use super::{Error, census::own_programs};

/// The kernel measures while this lives.
pub struct Statistics {
    _enabled: OwnedFd,
    programs: Vec<u32>,
}

/// Runs of all programs of this process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Runs {
    /// Time in the programs, on all CPUs.
    pub run_ns: u64,
    /// How often they ran.
    pub runs: u64,
}

impl Statistics {
    /// Asks the kernel to measure.
    ///
    /// Minimum kernel: 5.8.
    pub fn enable() -> Result<Self, Error> {
        let enabled = enable_stats(Stats::RunTime)
            .map_err(|error| Error::System { call: "bpf(BPF_ENABLE_STATS)", source: error.io_error })?;
        Ok(Self { _enabled: enabled, programs: Vec::new() })
    }

    /// What was measured since then.
    pub fn read(&mut self) -> Runs {
        self.programs.extend(own_programs());
        self.programs.sort_unstable();
        self.programs.dedup();
        let own = |info: &ProgramInfo| self.programs.binary_search(&info.id()).is_ok();
        loaded_programs().filter_map(Result::ok).filter(own).fold(Runs::default(), |sum, info| Runs {
            run_ns: sum.run_ns + u64::try_from(info.run_time().as_nanos()).unwrap_or(u64::MAX),
            runs: sum.runs + info.run_count(),
        })
    }
}

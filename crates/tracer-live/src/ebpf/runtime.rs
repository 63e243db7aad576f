//! What the programs of a session cost by the kernel's own account: how often they ran, and for how long.
//!
//! The kernel measures only while somebody asks for it, because that costs every program of the machine some 20 ns a run.

use std::{collections::BTreeSet, os::fd::OwnedFd};

use aya::{
    programs::{ProgramInfo, loaded_programs},
    sys::{Stats, enable_stats},
};

use super::{Error, census::own_programs};

/// The kernel measures while this lives.
pub struct Statistics {
    _enabled: OwnedFd,
    programs: BTreeSet<u32>,
}

/// Runs of one program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Runs {
    /// Name of the program.
    pub program: String,
    /// Time in it, on all CPUs.
    pub run_ns: u64,
    /// How often it ran.
    pub runs: u64,
}

impl Statistics {
    /// Asks the kernel to measure.
    ///
    /// Minimum kernel: 5.8.
    pub fn enable() -> Result<Self, Error> {
        let enabled = enable_stats(Stats::RunTime)
            .map_err(|error| Error::System { call: "bpf(BPF_ENABLE_STATS)", source: error.io_error })?;
        Ok(Self { _enabled: enabled, programs: BTreeSet::new() })
    }

    /// What was measured since then, for each program of this process that has run.
    pub fn read(&mut self) -> Vec<Runs> {
        self.programs.extend(own_programs());
        let own = |info: &ProgramInfo| self.programs.contains(&info.id()) && info.run_count() > 0;
        loaded_programs().filter_map(Result::ok).filter(own).map(|info| runs(&info)).collect()
    }
}

fn runs(info: &ProgramInfo) -> Runs {
    Runs {
        program: info.name_as_str().unwrap_or_default().to_owned(),
        run_ns: u64::try_from(info.run_time().as_nanos()).unwrap_or(u64::MAX),
        runs: info.run_count(),
    }
}

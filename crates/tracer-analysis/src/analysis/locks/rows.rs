//! What the rows of the tables add up: contention, waits, and when each came.

use super::super::{distribution::Durations, row_steps::Timed, table::Merge};
use crate::event::{NameId, StackId, Tid};

/// When the amounts of its tables' rows came.
#[derive(Debug, Default)]
pub(super) struct TimedRows {
    pub(super) monitors: Timed<(NameId, u64)>,
    pub(super) threads: Timed<Tid>,
    pub(super) waiters: Timed<(NameId, StackId)>,
    pub(super) waits: Timed<NameId>,
    pub(super) parks: Timed<Tid>,
}

impl TimedRows {
    pub(super) fn start(&mut self, start_ns: u64) {
        self.monitors.start(start_ns);
        self.threads.start(start_ns);
        self.waiters.start(start_ns);
        self.waits.start(start_ns);
        self.parks.start(start_ns);
    }
}

/// Contention of one monitor, or of all monitors of a class.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Monitor {
    pub(super) enters: u64,
    pub(super) durations: Durations,
    pub(super) threads: u64,
    pub(super) monitors: u64,
}

impl Merge for Monitor {
    fn merge(&mut self, other: &Self) {
        self.enters += other.enters;
        self.durations.merge(&other.durations);
        self.threads += other.threads;
        self.monitors += other.monitors.max(1);
    }
}

/// Waits and notifications of a class's monitors.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Waits {
    pub(super) begun: u64,
    pub(super) durations: Durations,
    pub(super) notifies: u64,
}

impl Merge for Waits {
    fn merge(&mut self, other: &Self) {
        self.begun += other.begun;
        self.durations.merge(&other.durations);
        self.notifies += other.notifies;
    }
}

//! What the lane's governor knows of a marker, a group of markers, or a property: what it has done lately.

use super::{Kind, PACE_NS, off::Looks};
use crate::guard::Reason;

/// What a member did since the last step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LaneLoad {
    /// Marks or symbols.
    pub events: u64,
    /// What they cost the target.
    pub cost_ns: f64,
    /// What they would have cost it if marks had been counted only, or no object been new.
    pub counted_ns: f64,
    /// What they would cost it if the code were as it is, and everything off.
    pub off_ns: f64,
    /// What jtrace took for them.
    pub own_ns: f64,
    /// CPU time of all of the target meanwhile; 0 where it is not known.
    pub target_ns: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Always,
    Sampled,
    Stopped,
    /// Off until somebody asks for it again.
    Held,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Member {
    pub(super) kind: Kind,
    pub(super) state: State,
    pub(super) is_counted: bool,
    pub(super) level: u8,
    /// When its level was changed last.
    pub(super) changed_ns: u64,
    pub(super) growing: Stretch,
    pub(super) before: Stretch,
    pub(super) looks: Looks,
}

/// Sums over a stretch of time in which a member was on.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Stretch {
    pub(super) elapsed_ns: f64,
    pub(super) load: LaneLoad,
}

impl Stretch {
    pub(super) fn add(&mut self, elapsed_ns: f64, load: &LaneLoad) {
        self.elapsed_ns += elapsed_ns;
        self.load.events += load.events;
        self.load.cost_ns += load.cost_ns;
        self.load.counted_ns += load.counted_ns;
        self.load.off_ns += load.off_ns;
        self.load.own_ns += load.own_ns;
        self.load.target_ns += load.target_ns;
    }

    pub(super) fn with(mut self, later: &Self) -> Self {
        self.add(later.elapsed_ns, &later.load);
        self
    }
}

impl Member {
    pub(super) fn take(&mut self, elapsed_ns: f64, load: &LaneLoad) {
        if self.growing.elapsed_ns >= PACE_NS {
            self.before = std::mem::take(&mut self.growing);
        }
        self.growing.add(elapsed_ns, load);
    }

    /// Per nanosecond, over what is known lately.
    pub(super) fn rate(&self, of: impl Fn(&LaneLoad) -> f64) -> f64 {
        let lately = self.before.with(&self.growing);
        // What was decided takes a moment to have an effect, and what came before that arrives at once.
        of(&lately.load) / lately.elapsed_ns.max(PACE_NS / 2.0)
    }

    /// It costs something else from now on.
    pub(super) fn forget(&mut self) {
        (self.growing, self.before) = (Stretch::default(), Stretch::default());
    }

    pub(super) fn reason(&self, budget: f64, own: bool, enough_ns: u64) -> Reason {
        let target = self.rate(|load| load.cost_ns);
        let cost = if own { self.rate(|load| load.own_ns) } else { target };
        let rate_per_s = self.rate(|load| load.events as f64) * 1e9;
        Reason { rate_per_s, cost, target, budget, own, enough_ns, off: None }
    }
}

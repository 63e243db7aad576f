//! Buckets of time: filled by a budget, emptied by what is spent.

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "numbers of hits are positive; a cast saturates"
)]

use super::{LOOK_PART, USUAL_STACK_NS, USUAL_TRAP_NS};

/// Share of one core that the target may lose to traps, where the user does not say.
pub const USUAL_BUDGET: f64 = 0.01;

/// The same where methods or all objects are looked at.
pub const ON_DEMAND_BUDGET: f64 = 0.05;

/// For how many seconds a budget that is not used is saved, where the user does not say.
pub const USUAL_BURST_S: f64 = 5.0;

/// A stretch of time in which savings must not be spent all at once, in seconds.
pub const PEAK_S: f64 = 0.1;
/// Share of one core that may be spent over any such stretch.
const PEAK_SHARE: f64 = 0.25;
/// The same as a multiple of the budget, where that is more.
const PEAK_OF_BUDGET: f64 = 15.0;

/// Time that hits may cost at once in a look at a group that was too much before, with the usual budget: some 10,000 hits of
/// a usual machine. Time and not hits, so that a slow machine's target pays no more.
const LOOK_NS: f64 = 7e6;

/// Least share of one core that jtrace itself may take, whatever the budget: it names what arrives while the target goes on.
const OWN_BUDGET: f64 = 0.05;
/// CPU time that jtrace may take at once.
const OWN_BURST_NS: f64 = 0.25e9;
/// The same at the beginning, when it names everything for the first time.
pub(super) const OWN_FIRST_NS: f64 = 1e9;

/// What a target may lose.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Budget {
    /// Share of one core, over a longer time.
    pub share: f64,
    /// For how many seconds it is saved where it is not used.
    pub burst_s: f64,
}

impl Budget {
    /// A share of one core, saved for as long as usual.
    pub const fn of(share: f64) -> Self {
        Self { share, burst_s: USUAL_BURST_S }
    }

    /// Largest share of one core over any stretch of [`PEAK_S`].
    pub const fn peak(self) -> f64 {
        PEAK_SHARE.max(PEAK_OF_BUDGET * self.share)
    }
}

/// Most hits of a site that a CPU may take before user space has looked: by then they take all that a target may lose to a
/// peak. A session whose budget is a whole core or more refuses none.
pub fn most_hits(budget: Budget, trap_cost_ps: Option<u64>) -> u32 {
    if budget.share >= 1.0 {
        return u32::MAX;
    }
    let hit_ns = trap_cost_ps.map_or(USUAL_TRAP_NS, |ps| ps as f64 / 1e3) + USUAL_STACK_NS;
    (budget.peak() * PEAK_S * 1e9 / hit_ns) as u32
}

/// A bucket of time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bucket {
    pub(super) budget: f64,
    pub(super) burst_ns: f64,
    pub(super) left_ns: f64,
    /// What it holds after a group was relieved: the others start with one that is not empty, as they are not to blame.
    relief_ns: f64,
    /// When it was last seen not to be empty.
    pub(super) enough_ns: u64,
}

impl Bucket {
    const fn full(budget: f64, burst_ns: f64, now_ns: u64) -> Self {
        Self { budget, burst_ns, left_ns: burst_ns, relief_ns: burst_ns / 2.0, enough_ns: now_ns }
    }

    /// For what looks at a group may cost a target. A larger budget allows larger ones as well.
    pub(super) const fn of_looks(budget: f64, now_ns: u64) -> Self {
        Self::full(budget, LOOK_NS * (budget / USUAL_BUDGET).max(1.0), now_ns)
    }

    /// For what a target may lose, with all that may be saved at the beginning.
    pub(super) const fn of_savings(budget: Budget, now_ns: u64) -> Self {
        let look = Self::of_looks(budget.share, now_ns);
        let saved_ns = (budget.share * budget.burst_s * 1e9).max(look.burst_ns);
        Self { relief_ns: look.relief_ns, ..Self::full(budget.share, saved_ns, now_ns) }
    }

    /// For how fast it may lose that: half of the peak is there at once, and the other half comes over the stretch.
    pub(super) const fn of_peak(budget: Budget, now_ns: u64) -> Self {
        let half = budget.peak() / 2.0;
        Self::full(half, half * PEAK_S * 1e9, now_ns)
    }

    /// For what jtrace itself may take.
    pub(super) const fn of_own(budget: f64, now_ns: u64) -> Self {
        let budget = budget.max(OWN_BUDGET);
        let burst_ns = OWN_BURST_NS * (budget / OWN_BUDGET);
        Self { left_ns: burst_ns.max(OWN_FIRST_NS), ..Self::full(budget, burst_ns, now_ns) }
    }

    /// How long it takes until it is half full again, while something takes this share of a core.
    pub(super) const fn until_half_ns(&self, always: f64) -> f64 {
        let lacking_ns = (self.burst_ns / 2.0 - self.left_ns).max(0.0);
        lacking_ns / (self.budget - always).max(self.budget * LOOK_PART)
    }

    pub(super) const fn fill(&mut self, elapsed_ns: f64) {
        // What it began with may be more than it holds later.
        let full_ns = self.left_ns.max(self.burst_ns);
        self.left_ns = (self.left_ns + elapsed_ns * self.budget).min(full_ns);
    }

    pub(super) const fn spend(&mut self, spent_ns: f64) {
        self.left_ns -= spent_ns;
    }

    pub(super) const fn is_empty(&mut self, now_ns: u64) -> bool {
        if self.left_ns >= 0.0 {
            self.enough_ns = now_ns;
        }
        self.left_ns < 0.0
    }

    /// A group was relieved.
    pub(super) const fn relieve(&mut self) {
        self.left_ns = self.left_ns.max(self.relief_ns);
    }
}

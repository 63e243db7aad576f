//! What a group of sites did, and how fast it does it.

use super::Narrowing;

/// Shortest stretch of time that a pace is told from.
const PACE_NS: f64 = 20e6;

/// What a group did since it was looked at last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Load {
    /// Traps.
    pub hits: u64,
    /// Of these, at ends of calls.
    pub ends: u64,
    /// Events that jtrace took.
    pub delivered: u64,
    /// Time in walks over stacks, where it is known.
    pub stack_ns: Option<u64>,
}

impl Load {
    /// What it cost the target.
    pub fn cost_ns(&self, trap_ns: f64, stack_ns: f64) -> f64 {
        self.hits as f64 * trap_ns + self.stack_ns.map_or(self.hits as f64 * stack_ns, |ns| ns as f64)
    }

    /// The same with what its stacks took, by the average where that is not known.
    pub(super) fn known(self, stack_ns: f64) -> Self {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "positive; a cast saturates")]
        let average = (self.hits as f64 * stack_ns) as u64;
        Self { stack_ns: self.stack_ns.or(Some(average)), ..self }
    }

    /// What would be left of it without some of it.
    pub(super) fn without(self, narrowings: &[Narrowing]) -> Self {
        narrowings.iter().fold(self, |load, narrowing| match narrowing {
            Narrowing::Stacks => Self { stack_ns: Some(0), ..load },
            Narrowing::FewerStacks { one_in } => Self { stack_ns: load.stack_ns.map(|ns| ns / one_in.max(&1)), ..load },
            Narrowing::Times => Self { hits: load.hits.saturating_sub(load.ends), ends: 0, ..load },
            // These are of the library in the JVM, and not of sites.
            Narrowing::Each | Narrowing::Objects { .. } => load,
        })
    }
}

/// What was taken over a stretch of time.
#[derive(Clone, Copy, Debug, Default)]
struct Stretch {
    elapsed_ns: f64,
    load: Load,
    cost_ns: f64,
    own_ns: f64,
}

impl Stretch {
    fn and(self, other: Self) -> Self {
        Self {
            elapsed_ns: self.elapsed_ns + other.elapsed_ns,
            load: Load {
                hits: self.load.hits + other.load.hits,
                ends: self.load.ends + other.load.ends,
                delivered: self.load.delivered + other.load.delivered,
                stack_ns: self.load.stack_ns.zip(other.load.stack_ns).map(|(a, b)| a + b),
            },
            cost_ns: self.cost_ns + other.cost_ns,
            own_ns: self.own_ns + other.own_ns,
        }
    }
}

/// How fast a group fires lately: over the last step, or as many as make a stretch that tells something.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pace {
    /// Of the last step alone.
    latest: Stretch,
    /// Of the stretch that grows, and of the one before.
    growing: Stretch,
    before: Stretch,
}

impl Pace {
    pub(super) fn take(&mut self, elapsed_ns: f64, load: &Load, cost_ns: f64, own_ns: f64) {
        if self.growing.elapsed_ns >= PACE_NS {
            self.before = std::mem::take(&mut self.growing);
        }
        self.latest = Stretch { elapsed_ns, load: *load, cost_ns, own_ns };
        self.growing = if self.growing.elapsed_ns > 0.0 { self.growing.and(self.latest) } else { self.latest };
    }

    fn lately(&self) -> Stretch {
        if self.growing.elapsed_ns >= PACE_NS || self.before.elapsed_ns == 0.0 {
            self.growing
        } else {
            self.growing.and(self.before)
        }
    }

    fn rate(&self, of: impl Fn(&Stretch) -> f64) -> f64 {
        let lately = self.lately();
        of(&lately) / lately.elapsed_ns.max(1.0)
    }

    /// Whether it fired in the last step.
    pub(super) const fn fires(&self) -> bool {
        self.latest.load.hits > 0
    }

    /// What the last step cost the target, and jtrace.
    pub(super) const fn latest_ns(&self) -> [f64; 2] {
        [self.latest.cost_ns, self.latest.own_ns]
    }

    /// Traps per second.
    pub(super) fn hits_per_s(&self) -> f64 {
        self.rate(|stretch| stretch.load.hits as f64 * 1e9)
    }

    /// Events per second that jtrace takes.
    pub(super) fn delivered_per_s(&self) -> f64 {
        self.rate(|stretch| stretch.load.delivered as f64 * 1e9)
    }

    /// Share of one core that it takes of the target.
    pub(super) fn share(&self) -> f64 {
        self.rate(|stretch| stretch.cost_ns)
    }

    /// Share of one core that it takes of jtrace.
    pub(super) fn own_share(&self) -> f64 {
        self.rate(|stretch| stretch.own_ns)
    }

    /// Share of one core that it would take of the target without some of it.
    pub(super) fn share_without(&self, narrowings: &[Narrowing], trap_ns: f64, stack_ns: f64) -> f64 {
        self.rate(|stretch| stretch.load.known(stack_ns).without(narrowings).cost_ns(trap_ns, stack_ns))
    }
}

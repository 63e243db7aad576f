//! The rate guard: takes sites away whose traps would cost the target too much, and gives them back for short looks.
//!
//! A bucket of time is filled by the budget and emptied by every hit, by what a hit costs. When it is empty, the group of
//! sites that fired most is detached. After a pause that makes the hits of its last window cheap enough it is attached
//! again, so that a hot group is sampled in windows. Cost to the target stays below `budget * time + burst`, whatever it
//! does; a group that fires 100,000 times a second is detached within 100 ms.
//!
//! Pure: it reads no clock and attaches nothing.
#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "rates and pauses are positive and far below 2^64; a cast saturates"
)]

/// Time that hits may cost at once before the guard steps in, with the usual budget: some 10,000 hits of a usual machine.
/// Class loading comes in such bursts. Time and not hits, so that a slow machine's target pays no more.
const BURST_NS: f64 = 7e6;

/// Share of one core that the target may lose to traps, where the user does not say.
pub const USUAL_BUDGET: f64 = 0.01;

/// The same where methods or all objects are looked at.
pub const ON_DEMAND_BUDGET: f64 = 0.05;

/// Share of one core that looking again at a detached group may cost.
const LOOK_BUDGET: f64 = 0.0025;

/// Shortest pause before looking again.
const SHORTEST_PAUSE_NS: f64 = 1e9;

/// What a trap is taken to cost where it was not calibrated, in ns.
const USUAL_TRAP_NS: f64 = 700.0;

/// What to do with a group of sites.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Take its sites away.
    Detach {
        /// Index of the group.
        group: usize,
        /// Hits per second in its last window.
        rate_per_s: u64,
    },
    /// Attach its sites again.
    Attach {
        /// Index of the group.
        group: usize,
    },
}

#[derive(Clone, Copy, Debug)]
struct Group {
    /// Start of the window in which `hits` were counted.
    window_ns: u64,
    hits: u64,
    /// Hits in the last step: what the group does at present.
    recent: u64,
    /// When to attach again, for a detached group.
    attach_at_ns: Option<u64>,
}

/// State of the guard.
#[derive(Clone, Debug)]
pub struct RateGuard {
    trap_ns: f64,
    budget: f64,
    burst_ns: f64,
    /// What is left in the bucket.
    left_ns: f64,
    latest_ns: u64,
    groups: Vec<Group>,
}

impl RateGuard {
    /// A guard over `groups` groups that are all attached at `now_ns`; `budget` is a share of one core. A larger budget
    /// allows larger bursts as well.
    pub fn new(groups: usize, trap_cost_ps: Option<u64>, budget: f64, now_ns: u64) -> Self {
        let group = Group { window_ns: now_ns, hits: 0, recent: 0, attach_at_ns: None };
        Self {
            trap_ns: trap_cost_ps.map_or(USUAL_TRAP_NS, |ps| ps as f64 / 1e3).max(1.0),
            budget,
            burst_ns: BURST_NS * (budget / USUAL_BUDGET).max(1.0),
            left_ns: BURST_NS * (budget / USUAL_BUDGET).max(1.0),
            latest_ns: now_ns,
            groups: vec![group; groups],
        }
    }

    /// A hit costs this much on average, as it turned out; stacks included.
    pub fn expect(&mut self, hit_ns: f64) {
        self.trap_ns = hit_ns.max(1.0);
    }

    /// Takes the hits of every group since the last step.
    pub fn step(&mut self, now_ns: u64, hits: &[u64]) -> Vec<Decision> {
        let elapsed = now_ns.saturating_sub(self.latest_ns) as f64;
        self.latest_ns = now_ns;
        self.left_ns = (self.left_ns + elapsed * self.budget).min(self.burst_ns);
        for (group, hits) in self.groups.iter_mut().zip(hits) {
            group.hits += hits;
            group.recent = *hits;
            self.left_ns -= *hits as f64 * self.trap_ns;
        }
        let mut decisions: Vec<Decision> = self.attach_again(now_ns).collect();
        if self.left_ns < 0.0 {
            decisions.extend(self.detach_hottest(now_ns));
        }
        decisions
    }

    fn attach_again(&mut self, now_ns: u64) -> impl Iterator<Item = Decision> + '_ {
        self.groups.iter_mut().enumerate().filter_map(move |(index, group)| {
            if group.attach_at_ns? > now_ns {
                return None;
            }
            *group = Group { window_ns: now_ns, hits: 0, recent: 0, attach_at_ns: None };
            Some(Decision::Attach { group: index })
        })
    }

    fn detach_hottest(&mut self, now_ns: u64) -> Option<Decision> {
        // A group that is detached can be hit until that is done; the others are not to blame.
        let hot = |group: &Group| group.attach_at_ns.is_none() && group.recent > 0;
        let attached = self.groups.iter_mut().enumerate().filter(|(_, group)| hot(group));
        let (index, group) = attached.max_by_key(|(_, group)| group.recent)?;
        let window_ns = now_ns.saturating_sub(group.window_ns).max(1) as f64;
        let pause_ns = (group.hits as f64 * self.trap_ns).min(4.0 * self.burst_ns) / LOOK_BUDGET;
        group.attach_at_ns = Some(now_ns + pause_ns.max(SHORTEST_PAUSE_NS) as u64);
        // The others start with a bucket that is not empty: they are not to blame.
        self.left_ns = self.burst_ns / 2.0;
        Some(Decision::Detach { group: index, rate_per_s: (group.hits as f64 * 1e9 / window_ns) as u64 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// Steps every 25 ms with `rates` hits per second, and returns when each group was detached and attached.
    fn run(rates: &[u64], seconds: u64) -> Vec<(u64, Decision)> {
        let mut guard = RateGuard::new(rates.len(), Some(600_000), USUAL_BUDGET, 0);
        let mut attached = vec![true; rates.len()];
        let mut seen = Vec::new();
        for step in 1..=seconds * 40 {
            let hits: Vec<_> = rates.iter().zip(&attached).map(|(rate, on)| if *on { rate / 40 } else { 0 }).collect();
            for decision in guard.step(step * 25 * MS, &hits) {
                match decision {
                    Decision::Detach { group, .. } => attached[group] = false,
                    Decision::Attach { group } => attached[group] = true,
                }
                seen.push((step * 25, decision));
            }
        }
        seen
    }

    #[test]
    fn a_quiet_target_keeps_all_its_sites() {
        assert_eq!(run(&[5_000, 8_000, 100], 60), []);
    }

    #[test]
    fn a_hot_group_is_detached_within_200_ms_and_the_others_stay() {
        let decisions = run(&[1_000, 400_000, 1_000], 20);
        let (at_ms, first) = decisions[0];
        assert!(at_ms <= 200, "{at_ms}");
        assert!(matches!(first, Decision::Detach { group: 1, rate_per_s: 300_000.. }), "{first:?}");
        assert!(decisions.iter().all(|(_, decision)| !matches!(decision, Decision::Detach { group: 0 | 2, .. })));
    }

    #[test]
    fn a_hot_group_is_sampled_below_the_budget() {
        let decisions = run(&[400_000], 60);
        let windows = decisions.iter().filter(|(_, decision)| matches!(decision, Decision::Detach { .. })).count();
        // Every window is at most two steps of 10,000 hits of 0.6 us, as the burst is spent in the second.
        assert!(windows >= 3, "{windows}");
        assert!(windows as f64 * 20_000.0 * 0.6e-6 < 0.01 * 60.0, "{windows}");
    }

    #[test]
    fn a_burst_of_costly_hits_is_as_short_as_they_are_costly() {
        let mut guard = RateGuard::new(1, Some(2_800_000), USUAL_BUDGET, 0);
        assert_eq!(guard.step(1, &[2_000]), []);
        assert!(matches!(guard.step(2, &[1_000])[..], [Decision::Detach { group: 0, .. }]));
    }

    #[test]
    fn a_larger_budget_lets_more_through() {
        let mut guard = RateGuard::new(1, Some(600_000), 0.1, 0);
        assert_eq!(guard.step(25 * MS, &[90_000]), []);
    }

    #[test]
    fn a_group_that_does_nothing_is_not_detached_for_one_that_goes_on_while_it_is_detached() {
        let mut guard = RateGuard::new(2, Some(600_000), USUAL_BUDGET, 0);
        assert!(matches!(guard.step(25 * MS, &[50_000, 0])[..], [Decision::Detach { group: 0, .. }]));
        assert_eq!(guard.step(50 * MS, &[50_000, 0]), []);
    }

    #[test]
    fn a_burst_is_let_through() {
        let mut guard = RateGuard::new(1, Some(600_000), USUAL_BUDGET, 0);
        assert_eq!(guard.step(25 * MS, &[9_000]), []);
        assert_eq!(guard.step(2_000 * MS, &[9_000]), []);
    }
}

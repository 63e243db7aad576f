//! The governor: holds what a session costs within a budget. Where it would be exceeded it narrows what is armed, samples, or
//! stops, in that order.
//!
//! Buckets of time are filled by the budget (`bucket`), and emptied by what hits cost the target:
//!
//! - *savings*: what was not used in the last seconds may be spent, so that bursts are seen as a whole;
//! - *peak*: no tenth of a second may take more than a stated share of a core;
//! - *looks*: what groups cost that were too much before, and are there for a look.
//!
//! One more is emptied by the CPU time that jtrace itself spends on what arrives. When one is empty, the group of sites that is
//! most to blame is relieved:
//!
//! - *narrowed*, where that alone makes it cheap enough at its present rate: it gives no stacks any more, or tells no ends of
//!   calls; its counts stay exact. Narrowing that would not be enough is left: a window with stacks tells more than one without;
//! - else *sampled*: detached, and after a pause that makes its last window cheap enough on average attached again for a look.
//!   The pause is random, and its end as likely in any moment as in any other: so the beginnings of windows are a fair sample
//!   of the time between them, whatever the target's own rhythm and whatever ended the window before;
//! - else, where a single look costs more than the budget earns in a minute, *stopped*: it does not come back.
//!
//! Cost to the target stays below `budget * (time + burst)`, whatever it does, and below the peak in every tenth of a second,
//! but for what hits cost until the next step and until sites are gone.
//!
//! Pure: it reads no clock and attaches nothing.
#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "rates and pauses are positive and far below 2^64; a cast saturates"
)]

mod bucket;
mod group;
pub mod lane;
mod load;

use bucket::Bucket;
pub use bucket::{Budget, ON_DEMAND_BUDGET, PEAK_S, USUAL_BUDGET, USUAL_BURST_S, most_hits};
use group::{Group, Place, away};
pub use load::Load;
use load::Pace;

use crate::{
    item::{GuardReason, Narrowing},
    random::Random,
};

/// Part of the budget that looking again at detached groups may take.
const LOOK_PART: f64 = 0.5;

/// From how much of a window on its beginning says how fast a group fires. How long the whole window is depends on that, so
/// that the whole of it would be no fair sample.
const LOOK_NS: u64 = 20_000_000;

/// What a trap is taken to cost where it was not calibrated, in ns.
const USUAL_TRAP_NS: f64 = 700.0;

/// What a stack of 32 frames takes on top of a trap (`cargo xtask bench --only unwind`).
pub const USUAL_STACK_NS: f64 = 1300.0;

/// Events per second from which on a group is to blame for what jtrace takes.
const BLAMED_PER_S: f64 = 2000.0;

/// What may be left out of a group; what is not there cannot be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Means {
    /// Its events get stacks that can be left out.
    pub stacks: bool,
    /// Ends of calls can be left out.
    pub times: bool,
}

/// Why something was decided.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reason {
    /// Hits of the group per second, lately.
    pub rate_per_s: f64,
    /// What that takes of one core: of the target's, or where `own` of jtrace's.
    pub cost: f64,
    /// What it takes of the target's in either case.
    pub target: f64,
    /// What it may take.
    pub budget: f64,
    /// Whether it is jtrace's own CPU time that was too much.
    pub own: bool,
    /// When the budget was last seen to be enough.
    pub enough_ns: u64,
    /// What it would take of the target's while it is off, where that is why it goes for good.
    pub off: Option<f64>,
}

impl Reason {
    /// The reason as the flow has it; what follows from it holds from `now_ns` on.
    pub fn in_flow(&self, now_ns: u64) -> GuardReason {
        GuardReason {
            cost_ppm: to_whole(self.cost * 1e6),
            budget_ppm: to_whole(self.budget * 1e6),
            target_ppm: to_whole(self.target * 1e6),
            own: self.own,
            off_ppm: self.off.map(|off| to_whole(off * 1e6)),
            within_ns: now_ns.saturating_sub(self.enough_ns),
        }
    }
}

/// The nearest whole number that is not below 0.
pub const fn to_whole(number: f64) -> u64 {
    number.round() as u64
}

/// What to do with a group of sites.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Decision {
    /// Leave something out of its events.
    Narrow {
        /// Index of the group.
        group: usize,
        /// What.
        what: Narrowing,
        /// Why.
        reason: Reason,
    },
    /// Take its sites away.
    Detach {
        /// Index of the group.
        group: usize,
        /// Why.
        reason: Reason,
    },
    /// Attach its sites again.
    Attach {
        /// Index of the group.
        group: usize,
        /// How long its pause was to be on average.
        pause_ns: u64,
    },
    /// Note what it has done since it was attached again.
    Look {
        /// Index of the group.
        group: usize,
    },
    /// Take its sites away for good.
    Stop {
        /// Index of the group.
        group: usize,
        /// Why.
        reason: Reason,
    },
}

/// State of the guard.
#[derive(Clone, Debug)]
pub struct RateGuard {
    trap_ns: f64,
    /// Time in walks over stacks per hit, on average.
    stack_ns: f64,
    savings: Bucket,
    peak: Bucket,
    looks: Bucket,
    own: Bucket,
    latest_ns: u64,
    groups: Vec<Group>,
    random: Random,
}

impl RateGuard {
    /// A guard over groups that are attached from `now_ns` on. Pauses follow from `now_ns`.
    pub fn new(groups: &[Means], trap_cost_ps: Option<u64>, budget: Budget, now_ns: u64) -> Self {
        let group = |means: &Means| Group {
            place: Place::Attached,
            is_look: false,
            means: *means,
            stacks_of: None,
            window_ns: 0.0,
            own_window_ns: 0.0,
            pace: Pace::default(),
        };
        Self {
            trap_ns: trap_cost_ps.map_or(USUAL_TRAP_NS, |ps| ps as f64 / 1e3).max(1.0),
            stack_ns: 0.0,
            savings: Bucket::of_savings(budget, now_ns),
            peak: Bucket::of_peak(budget, now_ns),
            looks: Bucket::of_looks(budget.share, now_ns),
            own: Bucket::of_own(budget.share, now_ns),
            latest_ns: now_ns,
            groups: groups.iter().map(group).collect(),
            random: Random::new(now_ns),
        }
    }

    /// A hit's stack costs this much on average, over all hits, where a load does not say it.
    pub const fn expect_stacks(&mut self, stack_ns: f64) {
        self.stack_ns = stack_ns.max(0.0);
    }

    /// A trap costs this much from now on.
    pub const fn expect_traps(&mut self, trap_ns: f64) {
        self.trap_ns = trap_ns.max(1.0);
    }

    /// Takes the loads of every group since the last step, and the CPU time that jtrace spent on them.
    pub fn step(&mut self, now_ns: u64, loads: &[Load], own_cpu_ns: u64) -> Vec<Decision> {
        let elapsed_ns = now_ns.saturating_sub(self.latest_ns) as f64;
        self.latest_ns = now_ns;
        for bucket in [&mut self.savings, &mut self.peak, &mut self.looks, &mut self.own] {
            bucket.fill(elapsed_ns);
        }
        self.own.spend(own_cpu_ns as f64);
        let delivered: u64 = loads.iter().map(|load| load.delivered).sum();
        for (group, load) in self.groups.iter_mut().zip(loads) {
            let cost_ns = load.cost_ns(self.trap_ns, group.stack_ns(self.stack_ns));
            let own_ns = own_cpu_ns as f64 * load.delivered as f64 / delivered.max(1) as f64;
            if let Place::Away { pause_ns, .. } = group.place
                && cost_ns > 0.0
            {
                // Going away took a while; it stays away for longer, and no other group is to blame.
                let pause_ns = pause_ns + cost_ns / (self.savings.budget * LOOK_PART);
                group.place = away(&mut self.random, now_ns, pause_ns);
            }
            if !group.place.is_attached() {
                continue;
            }
            self.savings.spend(cost_ns);
            self.peak.spend(cost_ns);
            self.looks.spend(if group.is_look { cost_ns } else { 0.0 });
            group.window_ns += cost_ns;
            group.own_window_ns += own_ns;
            group.pace.take(elapsed_ns, load, cost_ns, own_ns);
        }
        let mut decisions = self.attach_again(now_ns);
        self.look(now_ns, &mut decisions);
        let all = [self.savings.is_empty(now_ns), self.peak.is_empty(now_ns)].contains(&true);
        if self.looks.is_empty(now_ns) || all {
            // Going away takes a while, in which the others go on: those that are too much as well go at the same time.
            while self.relieve_target(now_ns, all, &mut decisions) && self.share() > self.savings.budget {}
        }
        if self.own.is_empty(now_ns) {
            self.relieve_own(now_ns, &mut decisions);
        }
        decisions
    }

    /// It became known what can be left out of the groups.
    pub fn allow(&mut self, means: &[Means]) {
        for (group, means) in self.groups.iter_mut().zip(means) {
            group.means = *means;
        }
    }

    /// Of the events of these groups some can go without a stack.
    pub fn allow_fewer_stacks(&mut self, groups: &[bool]) {
        for (group, possible) in self.groups.iter_mut().zip(groups) {
            group.stacks_of = possible.then(|| group.stacks_of.unwrap_or(1));
        }
    }

    /// A group is attached again, which took until now.
    pub fn came_back(&mut self, group: usize, now_ns: u64) {
        if let Some(Place::Back { since_ns }) = self.groups.get_mut(group).map(|group| &mut group.place) {
            *since_ns = now_ns;
        }
    }

    /// A group could not be attached again: it stays away.
    pub fn gave_up(&mut self, group: usize) {
        if let Some(group) = self.groups.get_mut(group) {
            group.place = Place::Stopped;
        }
    }

    fn attach_again(&mut self, now_ns: u64) -> Vec<Decision> {
        let mut decisions = Vec::new();
        for (index, group) in self.groups.iter_mut().enumerate() {
            let Place::Away { until_ns, pause_ns } = group.place else { continue };
            if until_ns > now_ns {
                continue;
            }
            *group = Group {
                place: Place::Back { since_ns: now_ns },
                window_ns: 0.0,
                own_window_ns: 0.0,
                pace: Pace::default(),
                ..*group
            };
            decisions.push(Decision::Attach { group: index, pause_ns: pause_ns as u64 });
        }
        decisions
    }

    /// Has it noted what groups that came back do, before anything else is decided about them.
    fn look(&mut self, now_ns: u64, decisions: &mut Vec<Decision>) {
        for (index, group) in self.groups.iter_mut().enumerate() {
            if let Place::Back { since_ns } = group.place
                && now_ns.saturating_sub(since_ns) >= LOOK_NS
            {
                group.place = Place::Attached;
                decisions.push(Decision::Look { group: index });
            }
        }
    }

    /// The group that costs most at present. One that is away can be hit until that is done; the others are not to blame.
    fn hottest(&self, cost: impl Fn(&Group) -> f64) -> Option<usize> {
        let attached = self.groups.iter().enumerate().filter(|(_, group)| group.place.is_attached());
        let costly = attached.filter(|(_, group)| group.pace.fires() && cost(group) > 0.0);
        costly.max_by(|(_, a), (_, b)| cost(a).total_cmp(&cost(b))).map(|(index, _)| index)
    }

    /// Share of one core that the attached groups take of the target.
    pub fn share(&self) -> f64 {
        let attached = self.groups.iter().filter(|group| group.place.is_attached());
        attached.map(|group| group.pace.share()).sum()
    }

    /// Relieves the group that costs most, of all or of those that are there for a look; whether another one may have to go
    /// with it.
    fn relieve_target(&mut self, now_ns: u64, all: bool, decisions: &mut Vec<Decision>) -> bool {
        let cost = |group: &Group| if all || group.is_look { group.pace.latest_ns()[0] } else { 0.0 };
        let Some(index) = self.hottest(cost) else { return false };
        let others = self.share();
        let Self { trap_ns, stack_ns, savings, peak, looks, groups, random, .. } = self;
        let Some(group) = groups.get_mut(index) else { return false };
        let share = group.pace.share();
        let reason = Reason {
            rate_per_s: group.pace.hits_per_s(),
            cost: share,
            target: share,
            budget: savings.budget,
            own: false,
            enough_ns: savings.enough_ns.min(peak.enough_ns).min(looks.enough_ns),
            off: None,
        };
        for bucket in [&mut *savings, peak, looks] {
            bucket.relieve();
        }
        let room = savings.budget - (others - share);
        if let Some((what, is_enough)) = group.fewer_stacks(*trap_ns, *stack_ns, room) {
            decisions.push(Decision::Narrow { group: index, what, reason });
            if is_enough {
                return false;
            }
        }
        let narrowings = group.narrowings(*trap_ns, *stack_ns, room);
        if narrowings.is_empty() {
            // What was saved has paid for the first window.
            let most_ns = if group.is_look { 4.0 * looks.burst_ns } else { looks.burst_ns };
            let window_ns = group.window_ns.min(most_ns).max(group.pace.latest_ns()[0]);
            group.is_look = true;
            decisions.push(group.leave(index, now_ns, window_ns / (savings.budget * LOOK_PART), reason, random));
        }
        decisions.extend(narrowings.iter().map(|what| Decision::Narrow { group: index, what: *what, reason }));
        narrowings.is_empty()
    }

    fn relieve_own(&mut self, now_ns: u64, decisions: &mut Vec<Decision>) {
        let blamed = |group: &Group| group.pace.delivered_per_s() >= BLAMED_PER_S;
        let Some(index) = self.hottest(|group| if blamed(group) { group.pace.latest_ns()[1] } else { 0.0 }) else {
            return;
        };
        let Self { own, groups, random, .. } = self;
        let Some(group) = groups.get_mut(index) else { return };
        let reason = Reason {
            rate_per_s: group.pace.hits_per_s(),
            cost: group.pace.own_share(),
            target: group.pace.share(),
            budget: own.budget,
            own: true,
            enough_ns: own.enough_ns,
            off: None,
        };
        own.relieve();
        let window_ns = group.own_window_ns.min(own.burst_ns).max(group.pace.latest_ns()[1]);
        decisions.push(group.leave(index, now_ns, window_ns / (own.budget * LOOK_PART), reason, random));
    }
}

#[cfg(test)]
mod tests;

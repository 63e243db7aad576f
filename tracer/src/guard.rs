//! The governor: holds what a session costs within a budget. Where it would be exceeded it narrows what is armed, samples, or
//! stops, in that order.
//!
//! Two buckets of time are filled by the budget: one is emptied by what hits cost the target, the other one by the CPU time
//! that jtrace itself spends on what arrives. When one is empty, the group of sites that is most to blame is relieved:
//!
//! - *narrowed*, where that alone makes it cheap enough at its present rate: it gives no stacks any more, or tells no ends of
//!   calls; its counts stay exact. Narrowing that would not be enough is left: a window with stacks tells more than one without;
//! - else *sampled*: detached, and after a pause that makes its last window cheap enough attached again for a look;
//! - else, where a single look costs more than the budget earns in a minute, *stopped*: it does not come back.
//!
//! Cost to the target stays below `budget * time + burst`, whatever it does; a group that fires 100,000 times a second is
//! relieved within 100 ms.
//!
//! Pure: it reads no clock and attaches nothing.
#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "rates and pauses are positive and far below 2^64; a cast saturates"
)]

pub mod lane;
mod load;

pub use load::Load;
use load::Pace;

/// Time that hits may cost at once before the guard steps in, with the usual budget: some 10,000 hits of a usual machine.
/// Class loading comes in such bursts. Time and not hits, so that a slow machine's target pays no more.
const BURST_NS: f64 = 7e6;

/// Share of one core that the target may lose to traps, where the user does not say.
pub const USUAL_BUDGET: f64 = 0.01;

/// The same where methods or all objects are looked at.
pub const ON_DEMAND_BUDGET: f64 = 0.05;

/// Part of the budget that looking again at detached groups may take.
const LOOK_PART: f64 = 0.25;

/// Shortest pause before looking again.
const SHORTEST_PAUSE_NS: f64 = 1e9;

/// Longest pause: what comes back more rarely is no sample.
const LONGEST_PAUSE_NS: f64 = 60e9;

/// What a trap is taken to cost where it was not calibrated, in ns.
const USUAL_TRAP_NS: f64 = 700.0;

/// Least share of one core that jtrace itself may take, whatever the budget: it names what arrives while the target goes on.
const OWN_BUDGET: f64 = 0.05;
/// CPU time that jtrace may take at once.
const OWN_BURST_NS: f64 = 0.25e9;
/// The same at the beginning, when it names everything for the first time.
const OWN_FIRST_NS: f64 = 1e9;
/// Events per second from which on a group is to blame for what jtrace takes.
const BLAMED_PER_S: f64 = 2000.0;

/// What can be left out so that a group costs less and its counts stay exact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Narrowing {
    /// Its events get no stacks.
    Stacks,
    /// Only beginnings of calls are seen: no durations, no exceptions.
    Times,
    /// Marks are counted in the JVM and not sent: no nesting, no durations.
    Each,
    /// Of each class with many objects, only one of so many is tracked.
    Objects {
        /// Of how many; 0: none but those that are tracked already.
        one_in: u64,
    },
}

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
    },
    /// Take its sites away for good.
    Stop {
        /// Index of the group.
        group: usize,
        /// Why.
        reason: Reason,
    },
}

/// Where a group is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Attached,
    /// Until then.
    Away(u64),
    Stopped,
}

#[derive(Clone, Copy, Debug)]
struct Group {
    place: Place,
    /// What can still be left out.
    means: Means,
    /// What its hits have cost the target since it was attached, and jtrace.
    window_ns: f64,
    own_window_ns: f64,
    pace: Pace,
}

/// A bucket of time.
#[derive(Clone, Copy, Debug)]
struct Bucket {
    budget: f64,
    burst_ns: f64,
    left_ns: f64,
    /// When it was last seen not to be empty.
    enough_ns: u64,
}

impl Bucket {
    /// For what a target may lose. A larger budget allows larger bursts as well.
    fn of_target(budget: f64, now_ns: u64) -> Self {
        let burst_ns = BURST_NS * (budget / USUAL_BUDGET).max(1.0);
        Self { budget, burst_ns, left_ns: burst_ns, enough_ns: now_ns }
    }

    /// For what jtrace itself may take.
    fn of_own(budget: f64, now_ns: u64) -> Self {
        let budget = budget.max(OWN_BUDGET);
        let burst_ns = OWN_BURST_NS * (budget / OWN_BUDGET);
        Self { budget, burst_ns, left_ns: burst_ns.max(OWN_FIRST_NS), enough_ns: now_ns }
    }

    /// How long it takes until it is half full again, while something takes this share of a core.
    fn until_half_ns(&self, always: f64) -> f64 {
        let lacking_ns = (self.burst_ns / 2.0 - self.left_ns).max(0.0);
        lacking_ns / (self.budget - always).max(self.budget * LOOK_PART)
    }

    fn fill(&mut self, elapsed_ns: f64) {
        // What it began with may be more than it holds later.
        let full_ns = self.left_ns.max(self.burst_ns);
        self.left_ns = (self.left_ns + elapsed_ns * self.budget).min(full_ns);
    }

    fn is_empty(&mut self, now_ns: u64) -> bool {
        if self.left_ns >= 0.0 {
            self.enough_ns = now_ns;
        }
        self.left_ns < 0.0
    }

    /// The others start with a bucket that is not empty: they are not to blame.
    fn relieve(&mut self) {
        self.left_ns = self.burst_ns / 2.0;
    }
}

/// State of the guard.
#[derive(Clone, Debug)]
pub struct RateGuard {
    trap_ns: f64,
    /// Time in walks over stacks per hit, on average.
    stack_ns: f64,
    target: Bucket,
    own: Bucket,
    latest_ns: u64,
    groups: Vec<Group>,
}

impl RateGuard {
    /// A guard over groups that are all attached at `now_ns`; `budget` is a share of one core.
    pub fn new(groups: &[Means], trap_cost_ps: Option<u64>, budget: f64, now_ns: u64) -> Self {
        let group = |means: &Means| Group {
            place: Place::Attached,
            means: *means,
            window_ns: 0.0,
            own_window_ns: 0.0,
            pace: Pace::default(),
        };
        Self {
            trap_ns: trap_cost_ps.map_or(USUAL_TRAP_NS, |ps| ps as f64 / 1e3).max(1.0),
            stack_ns: 0.0,
            target: Bucket::of_target(budget, now_ns),
            own: Bucket::of_own(budget, now_ns),
            latest_ns: now_ns,
            groups: groups.iter().map(group).collect(),
        }
    }

    /// A hit's stack costs this much on average, over all hits, where a load does not say it.
    pub const fn expect_stacks(&mut self, stack_ns: f64) {
        self.stack_ns = stack_ns.max(0.0);
    }

    /// Takes the loads of every group since the last step, and the CPU time that jtrace spent on them.
    pub fn step(&mut self, now_ns: u64, loads: &[Load], own_cpu_ns: u64) -> Vec<Decision> {
        let elapsed_ns = now_ns.saturating_sub(self.latest_ns) as f64;
        self.latest_ns = now_ns;
        self.target.fill(elapsed_ns);
        self.own.fill(elapsed_ns);
        self.own.left_ns -= own_cpu_ns as f64;
        let delivered: u64 = loads.iter().map(|load| load.delivered).sum();
        for (group, load) in self.groups.iter_mut().zip(loads) {
            let cost_ns = load.cost_ns(self.trap_ns, self.stack_ns);
            let own_ns = own_cpu_ns as f64 * load.delivered as f64 / delivered.max(1) as f64;
            if let Place::Away(until_ns) = &mut group.place {
                // Going away took a while; it stays away for longer, and no other group is to blame.
                *until_ns = until_ns.saturating_add((cost_ns / (self.target.budget * LOOK_PART)) as u64);
            }
            if group.place != Place::Attached {
                continue;
            }
            self.target.left_ns -= cost_ns;
            group.window_ns += cost_ns;
            group.own_window_ns += own_ns;
            group.pace.take(elapsed_ns, load, cost_ns, own_ns);
        }
        let mut decisions = self.attach_again(now_ns);
        if self.target.is_empty(now_ns) {
            // Going away takes a while, in which the others go on: those that are too much as well go at the same time.
            while self.relieve_target(now_ns, &mut decisions) && self.share() > self.target.budget {}
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

    /// A group could not be attached again: it stays away.
    pub fn gave_up(&mut self, group: usize) {
        if let Some(group) = self.groups.get_mut(group) {
            group.place = Place::Stopped;
        }
    }

    fn attach_again(&mut self, now_ns: u64) -> Vec<Decision> {
        let due = |group: &Group| matches!(group.place, Place::Away(until_ns) if until_ns <= now_ns);
        let groups = self.groups.iter_mut().enumerate().filter(|(_, group)| due(group));
        groups
            .map(|(index, group)| {
                *group = Group {
                    place: Place::Attached,
                    window_ns: 0.0,
                    own_window_ns: 0.0,
                    pace: Pace::default(),
                    ..*group
                };
                Decision::Attach { group: index }
            })
            .collect()
    }

    /// The group that costs most at present. One that is away can be hit until that is done; the others are not to blame.
    fn hottest(&self, cost: impl Fn(&Group) -> f64) -> Option<usize> {
        let attached = self.groups.iter().enumerate().filter(|(_, group)| group.place == Place::Attached);
        let costly = attached.filter(|(_, group)| group.pace.fires() && cost(group) > 0.0);
        costly.max_by(|(_, a), (_, b)| cost(a).total_cmp(&cost(b))).map(|(index, _)| index)
    }

    /// Share of one core that the attached groups take of the target.
    pub fn share(&self) -> f64 {
        let attached = self.groups.iter().filter(|group| group.place == Place::Attached);
        attached.map(|group| group.pace.share()).sum()
    }

    /// Relieves the group that costs most; whether another one may have to go with it.
    fn relieve_target(&mut self, now_ns: u64, decisions: &mut Vec<Decision>) -> bool {
        let Some(index) = self.hottest(|group| group.pace.latest_ns()[0]) else { return false };
        let others = self.share();
        let Self { trap_ns, stack_ns, target, groups, .. } = self;
        let Some(group) = groups.get_mut(index) else { return false };
        let share = group.pace.share();
        let reason = Reason {
            rate_per_s: group.pace.hits_per_s(),
            cost: share,
            target: share,
            budget: target.budget,
            own: false,
            enough_ns: target.enough_ns,
            off: None,
        };
        target.relieve();
        let room = target.budget - (others - share);
        let narrowings = group.narrowings(*trap_ns, *stack_ns, room);
        if narrowings.is_empty() {
            let window_ns = group.window_ns.min(4.0 * target.burst_ns).max(group.pace.latest_ns()[0]);
            decisions.push(group.leave(index, now_ns, window_ns / (target.budget * LOOK_PART), reason));
        }
        decisions.extend(narrowings.iter().map(|what| Decision::Narrow { group: index, what: *what, reason }));
        narrowings.is_empty()
    }

    fn relieve_own(&mut self, now_ns: u64, decisions: &mut Vec<Decision>) {
        let blamed = |group: &Group| group.pace.delivered_per_s() >= BLAMED_PER_S;
        let Some(index) = self.hottest(|group| if blamed(group) { group.pace.latest_ns()[1] } else { 0.0 }) else {
            return;
        };
        let Self { own, groups, .. } = self;
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
        decisions.push(group.leave(index, now_ns, window_ns / (own.budget * LOOK_PART), reason));
    }
}

impl Group {
    /// What to leave out so that the group takes no more than `room` of one core; nothing where that cannot be had.
    fn narrowings(&mut self, trap_ns: f64, stack_ns: f64, room: f64) -> &'static [Narrowing] {
        let Means { stacks, times } = self.means;
        let steps: [(bool, &[Narrowing]); 3] = [
            (stacks, &[Narrowing::Stacks]),
            (times && !stacks, &[Narrowing::Times]),
            (times && stacks, &[Narrowing::Stacks, Narrowing::Times]),
        ];
        let fits = |what: &[Narrowing]| self.pace.share_without(what, trap_ns, stack_ns) <= room;
        let Some((_, what)) = steps.into_iter().find(|(possible, what)| *possible && fits(what)) else { return &[] };
        self.means.stacks &= !what.contains(&Narrowing::Stacks);
        self.means.times &= !what.contains(&Narrowing::Times);
        what
    }

    fn leave(&mut self, index: usize, now_ns: u64, pause_ns: f64, reason: Reason) -> Decision {
        if pause_ns > LONGEST_PAUSE_NS {
            self.place = Place::Stopped;
            return Decision::Stop { group: index, reason };
        }
        self.place = Place::Away(now_ns + pause_ns.max(SHORTEST_PAUSE_NS) as u64);
        Decision::Detach { group: index, reason }
    }
}

#[cfg(test)]
mod tests;

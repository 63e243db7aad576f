//! The governor of the inside lane: what markers and properties cost a JVM stays within the budget.
//!
//! Two buckets as in [`super`]: what woven code costs the target, and what jtrace takes for what arrives. When one is empty, that is
//! relieved which costs most; what is rare stays as it is:
//!
//! - *narrowed*: markers for which counting does are counted in the JVM and not sent; of a property fewer objects are tracked;
//! - *sampled*: markers are off but for windows. All that are sampled share their windows, so that what is said of them together
//!   is true within each. A window ends when the bucket is empty, and the next one begins when it is half full
//!   again: so, however costs vary, they stay below `budget * time + burst`. Properties are never on in windows only, because
//!   a symbol that is not seen makes every later verdict wrong;
//! - *stopped*: where the bucket would need more than a minute to fill again, a property would be too much without any
//!   new object, or a marker would be too much while it is off. It is taken out of the code then.
//!
//! What is sampled costs something between its windows, too ([`off`]): that is a part of the budget like what is always on. Where it
//! leaves too little for the windows, markers are stopped, those first that cost most, until it does not.
//!
//! Pure: it reads no clock and switches nothing.

mod member;
pub mod off;

pub use self::member::LaneLoad;
use self::member::{Member, State, Stretch};
use self::off::Looks;
use super::{Reason, bucket::Bucket, group::LONGEST_PAUSE_NS};

/// Part of the budget that may go to what is always on while other markers are sampled; the rest is for their windows.
const ALWAYS_PART: f64 = 0.75;
/// Part of the budget that markers may take while they are off. That is estimated, and more roughly than what is on.
const OFF_PART: f64 = 0.5;
/// Part of the budget below which a member is left as it is, whatever others cost.
const LITTLE_PART: f64 = 0.01;
/// Shortest stretch of time that a pace is told from: counters arrive every 100 ms.
const PACE_NS: f64 = 200e6;
/// How long a property with fewer objects is looked at before it gets fewer still.
const PATIENCE_NS: u64 = 250_000_000;
/// Most halvings of a property's rate at once.
const MOST_HALVINGS: u8 = 4;
/// From this many halvings on no new object is tracked.
pub const NO_NEW_OBJECTS: u8 = 31;

/// What the lane decides about: a marker (with those that ask for it), or a property.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A marker that is sent; it can be counted instead, where that does for all who want it.
    Marker {
        /// Whether it does.
        can_count: bool,
    },
    /// A property.
    Property,
}

/// What to do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LaneDecision {
    /// Count its marks and do not send them.
    Count(Reason),
    /// Halve the rate at which new objects are tracked so often, from the beginning on.
    Halve {
        /// How often; [`NO_NEW_OBJECTS`] or more: none.
        level: u8,
        /// Why.
        reason: Reason,
    },
    /// Switch it off until further notice.
    Off(Reason),
    /// Switch it on again.
    On,
    /// Switch it off for good, and take it out of the code.
    Stop(Reason),
}

/// State of the lane's governor.
#[derive(Clone, Debug)]
pub struct LaneGuard {
    budget: f64,
    target: Bucket,
    own: Bucket,
    members: Vec<Member>,
    /// Whether what is sampled is on.
    is_open: bool,
    /// When it went off last.
    closed_ns: u64,
    /// Threads that make marks, weighted by what these cost, and that cost.
    threads: [f64; 2],
    latest_ns: u64,
    /// What markers cost so far while they were off.
    off_ns: f64,
}

impl LaneGuard {
    /// Over members that are all on at `now_ns`; `budget` is a share of one core.
    pub fn new(kinds: &[Kind], budget: f64, now_ns: u64) -> Self {
        let member = |kind: &Kind| Member {
            kind: *kind,
            state: State::Always,
            is_counted: false,
            level: 0,
            changed_ns: 0,
            growing: Stretch::default(),
            before: Stretch::default(),
            looks: Looks::default(),
        };
        Self {
            budget,
            target: Bucket::of_looks(budget, now_ns),
            own: Bucket::of_own(budget, now_ns),
            members: kinds.iter().map(member).collect(),
            is_open: true,
            closed_ns: now_ns,
            threads: [0.0; 2],
            latest_ns: now_ns,
            off_ns: 0.0,
        }
    }

    /// What markers cost the target so far while they were off, as far as that is known.
    pub const fn off_ns(&self) -> f64 {
        self.off_ns
    }

    /// Takes what members did since the last step, in about so many threads; `others` is what probe sites take of the budget at present.
    /// What is decided names members by their index.
    pub fn step(&mut self, now_ns: u64, loads: &[LaneLoad], threads: f64, others: f64) -> Vec<(usize, LaneDecision)> {
        let elapsed_ns = now_ns.saturating_sub(self.latest_ns) as f64;
        self.latest_ns = now_ns;
        // Sites come first: they cannot be had for less.
        self.target.budget = (self.budget - others).max(self.budget * (1.0 - ALWAYS_PART));
        self.target.fill(elapsed_ns);
        self.own.fill(elapsed_ns);
        for (member, load) in self.members.iter_mut().zip(loads) {
            self.target.left_ns -= load.cost_ns;
            self.own.left_ns -= load.own_ns;
            self.threads[0] += threads * load.cost_ns;
            self.threads[1] += load.cost_ns;
            if member.state == State::Sampled && (self.is_open || member.looks.is_new) {
                if self.is_open {
                    member.looks.add(elapsed_ns, load);
                } else {
                    member.looks.add(0.0, &LaneLoad { target_ns: 0.0, ..*load });
                }
            }
            if member.state == State::Always {
                member.looks.follow(elapsed_ns, load);
            }
            // What comes late from a window that is over costs, and says nothing of the time since.
            if member.state == State::Always || member.state == State::Sampled && self.is_open {
                member.take(elapsed_ns, load);
            }
        }
        if !self.is_open {
            let off_ns = self.off() * elapsed_ns;
            self.target.left_ns -= off_ns;
            self.off_ns += off_ns;
        }
        let empty = [self.target.is_empty(now_ns), self.own.is_empty(now_ns)];
        let mut decisions = Vec::new();
        if self.has_sampled() {
            self.turn(now_ns, empty, &mut decisions);
        } else if let Some(own) = empty.into_iter().position(|is_empty| is_empty).map(|at| at == 1) {
            self.relieve(now_ns, own, &mut decisions);
        }
        decisions
    }

    /// Somebody asks that a member is off, or on again, whatever it costs. Says whether that changes anything.
    pub fn hold(&mut self, index: usize, is_held: bool) -> bool {
        let Some(member) = self.members.get_mut(index) else { return false };
        match (member.state, is_held) {
            (State::Always | State::Sampled, true) => member.state = State::Held,
            (State::Held, false) => {
                member.state = State::Always;
                member.forget();
            }
            (State::Stopped, _) | (State::Held, true) | (State::Always | State::Sampled, false) => return false,
        }
        member.looks = Looks::default();
        true
    }

    fn has_sampled(&self) -> bool {
        self.members.iter().any(|member| member.state == State::Sampled)
    }

    /// Shares of a core that what is always on takes, of the target and of jtrace.
    fn always(&self) -> [f64; 2] {
        let always = || self.members.iter().filter(|member| member.state == State::Always);
        [always().map(|member| member.rate(|load| load.cost_ns)).sum(), always().map(|m| m.rate(|l| l.own_ns)).sum()]
    }

    /// Share of a core that markers take that are off at present.
    fn off(&self) -> f64 {
        self.members.iter().filter(|member| member.state == State::Sampled).map(|member| member.looks.sure()).sum()
    }

    /// Ends a window, or begins the next one.
    fn turn(&mut self, now_ns: u64, empty: [bool; 2], decisions: &mut Vec<(usize, LaneDecision)>) {
        let [target, own] = empty;
        if self.is_open {
            if target || own {
                self.close(now_ns, own && !target, decisions);
            }
            return;
        }
        let is_new = self.members.iter().any(|member| member.looks.is_new);
        if is_new && now_ns.saturating_sub(self.closed_ns) < off::ARRIVED_NS {
            return;
        }
        if is_new {
            self.judge();
        }
        self.take_out(decisions);
        if !self.has_sampled() {
            return;
        }
        // What is always on must leave something for the windows.
        let [always, always_own] = self.always();
        let too_much = [always > self.target.budget * ALWAYS_PART, always_own > self.own.budget * ALWAYS_PART];
        if let Some(at) = (0..2).find(|at| empty[*at] && too_much[*at]) {
            return self.relieve(now_ns, at == 1, decisions);
        }
        let pause_ns = self.target.until_half_ns(always + self.off()).max(self.own.until_half_ns(always_own));
        if pause_ns > LONGEST_PAUSE_NS {
            self.stop_sampled(own && !target, decisions);
        } else if pause_ns <= 0.0 {
            self.is_open = true;
            self.threads = [0.0; 2];
            for (index, member) in self.members.iter_mut().enumerate() {
                if member.state == State::Sampled {
                    member.forget();
                    member.looks.begin();
                    decisions.push((index, LaneDecision::On));
                }
            }
        }
    }

    fn reason(&self, member: &Member, own: bool) -> Reason {
        let bucket = if own { &self.own } else { &self.target };
        member.reason(bucket.budget, own, bucket.enough_ns)
    }

    fn close(&mut self, now_ns: u64, own: bool, decisions: &mut Vec<(usize, LaneDecision)>) {
        (self.is_open, self.closed_ns) = (false, now_ns);
        for index in 0..self.members.len() {
            if self.members[index].state == State::Sampled {
                decisions.push((index, LaneDecision::Off(self.reason(&self.members[index], own))));
                self.members[index].looks.is_new = true;
            }
        }
    }

    /// All marks of the last window have arrived.
    fn judge(&mut self) {
        let [weighted, cost] = self.threads;
        let sampled = self.members.iter_mut().filter(|member| member.state == State::Sampled);
        off::judge(sampled.map(|member| &mut member.looks), if cost > 0.0 { weighted / cost } else { 1.0 });
    }

    /// Stops what costs most while it is off, until the rest leaves something for windows.
    fn take_out(&mut self, decisions: &mut Vec<(usize, LaneDecision)>) {
        let [always, _] = self.always();
        let room = (self.target.budget * ALWAYS_PART - always).clamp(0.0, self.target.budget * OFF_PART);
        let mut share = self.off();
        let mut order: Vec<usize> =
            (0..self.members.len()).filter(|index| self.members[*index].state == State::Sampled).collect();
        order.sort_by(|a, b| self.members[*b].looks.sure().total_cmp(&self.members[*a].looks.sure()));
        for index in order {
            let Member { looks, .. } = self.members[index];
            if share <= room || looks.sure() <= 0.0 {
                break;
            }
            share -= looks.sure();
            let cost = looks.rate(|load| load.cost_ns);
            let reason = Reason {
                rate_per_s: looks.rate(|load| load.events as f64) * 1e9,
                cost,
                target: cost,
                off: Some(looks.sure()),
                ..self.reason(&self.members[index], false)
            };
            self.members[index].state = State::Stopped;
            decisions.push((index, LaneDecision::Stop(reason)));
        }
    }

    fn stop_sampled(&mut self, own: bool, decisions: &mut Vec<(usize, LaneDecision)>) {
        for index in 0..self.members.len() {
            if self.members[index].state == State::Sampled {
                decisions.push((index, LaneDecision::Stop(self.reason(&self.members[index], own))));
                self.members[index].state = State::Stopped;
            }
        }
    }

    /// Relieves what costs most, until the rest should be cheap enough.
    fn relieve(&mut self, now_ns: u64, own: bool, decisions: &mut Vec<(usize, LaneDecision)>) {
        let cost = |load: &LaneLoad| if own { load.own_ns } else { load.cost_ns };
        let budget = if own { self.own.budget } else { self.target.budget };
        let room = budget * ALWAYS_PART;
        let mut order: Vec<usize> =
            (0..self.members.len()).filter(|index| self.members[*index].state == State::Always).collect();
        order.sort_by(|a, b| self.members[*b].rate(cost).total_cmp(&self.members[*a].rate(cost)));
        let mut share: f64 = order.iter().map(|index| self.members[*index].rate(cost)).sum();
        let before = decisions.len();
        for index in &order {
            // What costs next to nothing helps nobody.
            if share > room && self.members[*index].rate(cost) > room * LITTLE_PART {
                share -= self.narrow(now_ns, *index, own, share - room, room, decisions);
            }
        }
        let mut sampled = Vec::new();
        for index in order {
            let member = &self.members[index];
            let rate = if member.is_counted && !own {
                member.rate(|load| load.counted_ns)
            } else if member.is_counted {
                0.0
            } else {
                member.rate(cost)
            };
            if share <= room || rate <= 0.0 || member.kind == Kind::Property {
                continue;
            }
            share -= rate;
            sampled.push(index);
        }
        for index in sampled {
            let reason = self.reason(&self.members[index], own);
            self.members[index].looks.go_off();
            self.members[index].state = State::Sampled;
            decisions.push((index, LaneDecision::Off(reason)));
        }
        if self.has_sampled() {
            (self.is_open, self.closed_ns) = (false, now_ns);
        }
        for (index, decision) in &decisions[before..] {
            if !matches!(decision, LaneDecision::Off(_)) {
                self.members[*index].forget();
            }
        }
        if decisions.len() > before && !self.has_sampled() {
            // What was decided must have time to have an effect.
            if own { self.own.relieve() } else { self.target.relieve() }
        }
    }

    /// Narrows a member so that it costs `excess` less if it can; gives by how much it will cost less.
    fn narrow(
        &mut self,
        now_ns: u64,
        index: usize,
        own: bool,
        excess: f64,
        room: f64,
        decisions: &mut Vec<(usize, LaneDecision)>,
    ) -> f64 {
        let reason = self.reason(&self.members[index], own);
        let member = &mut self.members[index];
        match member.kind {
            Kind::Marker { can_count: true } if !member.is_counted && reason.cost > 0.0 => {
                member.is_counted = true;
                decisions.push((index, LaneDecision::Count(reason)));
                if own { reason.cost } else { reason.cost - member.rate(|load| load.counted_ns) }
            }
            Kind::Property if reason.cost > 0.0 && now_ns.saturating_sub(member.changed_ns) >= PATIENCE_NS => {
                member.changed_ns = now_ns;
                let least = if own { 0.0 } else { member.rate(|load| load.counted_ns) };
                if member.level >= NO_NEW_OBJECTS || least > room {
                    member.state = State::Stopped;
                    decisions.push((index, LaneDecision::Stop(reason)));
                } else {
                    let left = (reason.cost - excess).max(0.0) / reason.cost;
                    let halvings = (1..MOST_HALVINGS).find(|halvings| 0.5_f64.powi((*halvings).into()) <= left);
                    let level = member.level + halvings.unwrap_or(MOST_HALVINGS);
                    member.level = if level > FEWEST_OBJECTS { NO_NEW_OBJECTS } else { level };
                    decisions.push((index, LaneDecision::Halve { level: member.level, reason }));
                }
                excess.min(reason.cost)
            }
            _ => 0.0,
        }
    }
}

/// Halvings beyond which a sample is none: one object of a million.
const FEWEST_OBJECTS: u8 = 20;

#[cfg(test)]
mod tests;

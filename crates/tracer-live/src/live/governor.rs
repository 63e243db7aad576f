//! Carries out what the governor ([`crate::guard`]) decides: tells it what the groups of sites fire and what jtrace takes
//! itself, takes sites away, gives them back, or has them tell less.
//!
//! Sites of methods and objects pause before they go and until all are back, so that a window of them begins and ends at one
//! moment. What was decided becomes an item between the events before and after that moment, with what the kernel had
//! counted by then.

mod obey;

use std::collections::VecDeque;

use tracer_common::record::EventKind;

use super::{
    Live,
    groups::{GroupState, is_end, site_id},
    now_ns,
};
use crate::{
    clock::{self, ClockId},
    ebpf::{Error, load::Kernel},
    group::{EXCEPTIONS_GROUP, INSIDE_GROUP},
    guard::{Budget, Decision, Load, Means, RateGuard, USUAL_STACK_NS, to_whole},
    item::{Counters, GuardAction, GuardDecision, Item},
    probe::{clock::Source, plan::Plan},
    tally::Tallies,
};

/// Shortest time between two looks.
const STEP_NS: u64 = 15_000_000;
/// How often the machine is asked which CPUs it has.
const CPUS_EVERY_NS: u64 = 250_000_000;
/// Hits over which an average of their cost means something.
const ENOUGH_HITS: u64 = 1000;
/// How often the cost of a trap is measured again.
const MEASURE_EVERY_NS: u64 = 2_000_000_000;
/// What a trap on the target is reckoned to cost, of what it costs on jtrace: the target's caches are others, and traps may get
/// dearer between two measurements.
const TRAP_MARGIN: f64 = 1.1;

/// What the governor is told, and what it decided.
pub(super) struct Governor {
    guard: RateGuard,
    /// What the groups did since the guard looked last, and all that it was told before.
    pub(super) loads: Vec<Load>,
    told: Vec<Load>,
    /// When it looked.
    latest_ns: u64,
    /// When the machine was asked which CPUs it has.
    cpus_ns: u64,
    /// CPU time of jtrace in its work for the session since then, and what its clock said when it began to work.
    own_cpu_ns: u64,
    working_since_ns: u64,
    /// Decisions that wait for the events before them.
    pending: VecDeque<(GuardAction, Option<Tallies>)>,
    /// Of how many events of each group one gets a stack; 0: none does.
    stacks_of: Vec<u16>,
    /// When the cost of a trap is to be measured again; nothing where it cannot be.
    measure_ns: Option<u64>,
    /// What it was measured to be lately.
    trap_cost_ps: Option<u64>,
}

impl Governor {
    /// Over groups that are attached from now on, one after another.
    pub(super) fn new(means: &[Means], trap_cost_ps: Option<u64>, budget: Budget) -> Self {
        let mut governor = Self {
            guard: RateGuard::new(means, trap_cost_ps, budget, now_ns()),
            loads: vec![Load::default(); means.len()],
            told: vec![Load::default(); means.len()],
            latest_ns: 0,
            cpus_ns: 0,
            own_cpu_ns: 0,
            working_since_ns: cpu_ns(),
            pending: VecDeque::new(),
            stacks_of: vec![1; means.len()],
            measure_ns: None,
            trap_cost_ps: None,
        };
        governor.reckon(trap_cost_ps);
        governor
    }

    /// The session begins, with what was decided before: of each group what was decided last, and where that is not that it is
    /// there.
    pub(super) fn begin(&mut self, time_ns: u64, can_measure: bool) {
        let decided = self.pending.drain(..).map(|(action, _)| action);
        let decided: Vec<GuardAction> = decided.filter(|action| action.action != GuardDecision::Look).collect();
        for (index, action) in decided.iter().enumerate() {
            let is_last = decided[index + 1..].iter().all(|later| later.group != action.group);
            let narrows = matches!(action.action, GuardDecision::Narrow { .. });
            if narrows || is_last && action.action != GuardDecision::Attach {
                self.pending.push_back((GuardAction { time_ns, ..action.clone() }, None));
            }
        }
        self.measure_ns = can_measure.then_some(time_ns + MEASURE_EVERY_NS);
        self.working_since_ns = cpu_ns();
    }

    fn reckon(&mut self, trap_cost_ps: Option<u64>) {
        if let Some(ps) = trap_cost_ps {
            self.guard.expect_traps(ps as f64 / 1e3 * TRAP_MARGIN);
        }
    }

    /// The same where some events of these groups can go without a stack.
    pub(super) fn with_fewer_stacks(mut self, groups: &[bool]) -> Self {
        self.allow_fewer_stacks(groups);
        self
    }

    /// Whether a decision waits for the events before it.
    pub(super) fn is_waiting(&self) -> bool {
        !self.pending.is_empty()
    }

    /// What was decided up to a moment, the oldest first.
    fn due(&mut self, until_ns: u64) -> Option<(GuardAction, Option<Tallies>)> {
        self.pending.pop_front_if(|(action, _)| action.time_ns <= until_ns)
    }

    /// Of how many events of a group one gets a stack, as far as the governor goes; 0: none does.
    fn stacks_of(&self, group: usize) -> u16 {
        self.stacks_of.get(group).copied().unwrap_or(1)
    }

    /// In which groups some events can go without a stack.
    pub(super) fn allow_fewer_stacks(&mut self, groups: &[bool]) {
        self.guard.allow_fewer_stacks(groups);
    }

    /// The library in the JVM has done what was decided.
    pub(super) fn has_followed(&mut self, actions: Vec<GuardAction>) {
        self.pending.extend(actions.into_iter().map(|action| (action, None)));
    }

    /// It became known what can be left out.
    pub(super) fn allow(&mut self, means: &[Means]) {
        self.guard.allow(means);
    }
}

/// What can be left out of each group.
pub(super) fn means(groups: &[GroupState], plan: &Plan, stacks: bool, can_drop_times: bool) -> Vec<Means> {
    let of_group = |state: &GroupState| {
        let sites = state.sites();
        let planned = || sites.iter().filter_map(|site| plan.sites.get(usize::from(*site)));
        // Elsewhere a window with stacks is worth more than counts without.
        let on_demand = planned().any(|site| matches!(site.kind, EventKind::MethodEntry | EventKind::ObjectAlloc));
        Means {
            stacks: on_demand && stacks && planned().any(|site| site.spec.stack != 0),
            times: on_demand && can_drop_times && planned().any(|site| is_end(site.kind)),
        }
    };
    groups.iter().map(of_group).collect()
}

/// In which groups some events can go without a stack: those that are counted by other things, and are not told by the kernel.
pub(super) fn fewer_stacks(groups: &[GroupState], plan: &Plan, stacks: bool) -> Vec<bool> {
    let of_group = |state: &GroupState| {
        let sites = state.sites();
        let planned = || sites.iter().filter_map(|site| plan.sites.get(usize::from(*site)));
        let on_demand =
            |kind| matches!(kind, EventKind::MethodEntry | EventKind::MethodReturn | EventKind::ObjectAlloc);
        let of_jni = |kind| matches!(kind, EventKind::JniEntry | EventKind::JniReturn);
        stacks
            && planned().any(|site| site.spec.stack != 0)
            && !planned().any(|site| on_demand(site.kind) || of_jni(site.kind))
    };
    groups.iter().map(of_group).collect()
}

/// CPU time of this process so far, in all its threads.
fn cpu_ns() -> u64 {
    clock::read_ns(ClockId::ProcessCPUTime)
}

/// CPU time of a process so far, in all its threads.
fn cpu_ns_of(pid: u32) -> Option<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name before it can have spaces and brackets.
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11).map(str::parse::<u64>);
    let ticks = fields.next()?.ok()?.saturating_add(fields.next()?.ok()?);
    ticks.checked_mul(1_000_000_000)?.checked_div(rustix::param::clock_ticks_per_second())
}

impl Live {
    /// What jtrace takes for the session counts from now on.
    pub(super) fn begin_work(&mut self) {
        self.governor.working_since_ns = cpu_ns();
    }

    /// What comes next is not for the session.
    pub(super) fn end_work(&mut self) {
        self.note_work();
    }

    /// Adds what jtrace took since it was asked last; asking is a system call.
    fn note_work(&mut self) {
        let before_ns = std::mem::replace(&mut self.governor.working_since_ns, cpu_ns());
        self.governor.own_cpu_ns += self.governor.working_since_ns.saturating_sub(before_ns);
    }

    /// Lets the governor look at what happened, unless it has done so a moment ago, and obeys.
    pub(super) fn govern(&mut self) -> Result<(), Error> {
        let time_ns = now_ns();
        if time_ns.saturating_sub(self.governor.latest_ns) < STEP_NS {
            return Ok(());
        }
        self.governor.latest_ns = time_ns;
        self.count_hits()?;
        self.kernel.looked()?;
        if time_ns.saturating_sub(self.governor.cpus_ns) >= CPUS_EVERY_NS {
            self.governor.cpus_ns = time_ns;
            self.rings.follow_cpus()?;
        }
        self.measure_traps(time_ns);
        self.note_work();
        let own_cpu_ns = std::mem::take(&mut self.governor.own_cpu_ns);
        let lane_ns = self.govern_lane(time_ns, own_cpu_ns);
        let decisions = self.governor.guard.step(time_ns, &self.governor.loads, own_cpu_ns - lane_ns);
        self.governor.loads.fill(Load::default());
        self.carry_out(decisions)
    }

    /// The same between two groups that are attached: nobody is the target yet, so nothing arrives, and all hits are in the
    /// kernel's counters.
    pub(super) fn govern_attaching(&mut self) -> Result<(), Error> {
        self.drained_bytes = self.kernel.wakeup_bytes();
        self.count_hits()?;
        let decisions = self.governor.guard.step(now_ns(), &self.governor.loads, 0);
        self.governor.loads.fill(Load::default());
        self.carry_out(decisions)
    }

    /// Measures what a trap costs, now and then.
    fn measure_traps(&mut self, time_ns: u64) {
        let (Some(due_ns), Some(calibration)) = (self.governor.measure_ns, &self.calibration) else { return };
        if time_ns < due_ns {
            return;
        }
        self.governor.measure_ns = Some(time_ns + MEASURE_EVERY_NS);
        let ps = calibration.again_ps();
        self.governor.trap_cost_ps = Some(ps);
        self.governor.reckon(Some(ps));
    }

    /// What a trap was measured to cost lately.
    pub(super) const fn trap_cost_now_ps(&self) -> Option<u64> {
        self.governor.trap_cost_ps
    }

    fn carry_out(&mut self, decisions: Vec<Decision>) -> Result<(), Error> {
        // What is noted of a window must not wait until others are away.
        let (looks, decisions): (Vec<_>, Vec<_>) =
            decisions.into_iter().partition(|decision| matches!(decision, Decision::Look { .. }));
        for look in looks {
            self.obey(look, None)?;
        }
        // Those that go wait for the kernel side by side.
        let leaves = |decision: &Decision| match decision {
            Decision::Detach { group, .. } | Decision::Stop { group, .. } => Some(*group),
            Decision::Attach { .. } | Decision::Narrow { .. } | Decision::Look { .. } => None,
        };
        let gone = self.take_away(&decisions.iter().filter_map(leaves).collect::<Vec<_>>())?;
        for decision in decisions {
            let gone_ns = leaves(&decision).and_then(|group| gone.get(&group).copied());
            self.obey(decision, gone_ns)?;
        }
        Ok(())
    }

    /// Lets the inside lane govern itself: its sites are a small part of what it costs. Gives what jtrace took for it.
    fn govern_lane(&mut self, time_ns: u64, own_cpu_ns: u64) -> u64 {
        let Self { inside, governor, step_bytes, groups, place, .. } = self;
        let drained = std::mem::take(step_bytes);
        let Some(inside) = inside else { return 0 };
        for (load, state) in governor.loads.iter_mut().zip(groups) {
            if state.name() == INSIDE_GROUP {
                *load = Load::default();
            }
        }
        let own_ns = own_cpu_ns as f64 * inside.own_part(drained).min(1.0);
        let others = governor.guard.share();
        governor.has_followed(inside.govern(time_ns, own_ns, others, cpu_ns_of(place.pid.get())));
        to_whole(own_ns).min(own_cpu_ns)
    }

    /// Tells the guard what the groups fire. Events that arrived are counted as they come; where a ring buffer may have
    /// been full, the kernel's own counters are asked, because what did not fit was a trap all the same.
    fn count_hits(&mut self) -> Result<(), Error> {
        let may_have_lost = std::mem::take(&mut self.drained_bytes) >= self.kernel.wakeup_bytes();
        let scheduler = self.clock(Source::Scheduler);
        let Governor { loads, told, .. } = &mut self.governor;
        // What the kernel counts itself does not arrive.
        if may_have_lost || self.subjects.is_some() || self.jni.is_some() {
            let totals = loads_of_groups(&self.kernel, &self.groups, &self.group_of_site)?;
            for ((load, told), total) in loads.iter_mut().zip(told.iter_mut()).zip(totals) {
                let stack_ns = total.stack_ns.zip(told.stack_ns).map(|(now, before)| now.saturating_sub(before));
                load.hits = total.hits.saturating_sub(told.hits);
                load.ends = total.ends.saturating_sub(told.ends);
                // Between two such looks hits were told, and their stacks were not.
                load.stack_ns = stack_ns.filter(|_| self.subjects.is_some());
                told.ends = total.ends;
                if self.subjects.is_some() {
                    told.stack_ns = total.stack_ns;
                }
            }
        } else if let Some((group, site)) = scheduler {
            // Absences that are too short to become events cost as much as others.
            loads[group].hits = self.kernel.site_stats(site)?[0].saturating_sub(told[group].hits);
        }
        for (told, load) in told.iter_mut().zip(loads.iter()) {
            told.hits += load.hits;
        }
        if self.subjects.is_none() {
            self.count_stacks()?;
        }
        // The user says how often the timer fires, and no target can make it fire more often.
        if let Some((group, _)) = self.clock(Source::Timer) {
            self.governor.loads[group] = Load::default();
        }
        Ok(())
    }

    /// Tells the guard what stacks of exceptions took since it looked last: they can be as deep as the program likes, and an average over all
    /// groups would say little of them.
    fn count_stacks(&mut self) -> Result<(), Error> {
        let Self { governor, groups, kernel, .. } = self;
        let each = groups.iter().zip(&mut governor.loads).zip(&mut governor.told);
        for ((state, load), told) in each.filter(|((state, _), _)| state.name() == EXCEPTIONS_GROUP) {
            let mut now_ns = 0;
            for site in state.sites() {
                now_ns += kernel.site_load(site)?[1];
            }
            load.stack_ns = Some(now_ns.saturating_sub(told.stack_ns.unwrap_or(0)));
            told.stack_ns = Some(now_ns);
        }
        Ok(())
    }

    /// Tells the guard what stacks take of a hit: on average, over all hits so far.
    pub(super) fn expect(&mut self, counters: &Counters) {
        // Where some events go without, the average says nothing of what a stack costs.
        if self.governor.stacks_of.iter().any(|one_in| *one_in != 1) {
            return;
        }
        let hits: u64 = counters.sites.iter().map(|[hits, ..]| hits).sum();
        if let Some(stack_ns) = counters.stack_ns
            && hits >= ENOUGH_HITS
        {
            self.governor.guard.expect_stacks(stack_ns as f64 / hits as f64);
        }
    }

    /// Until stacks have come, they are taken to cost what they cost elsewhere.
    pub(super) fn expect_usual_stacks(&mut self) {
        self.governor.guard.expect_stacks(if self.unwinding.is_some() { USUAL_STACK_NS } else { 0.0 });
    }

    /// Passes on events up to a moment, with what was decided between them, unless some of that time have not arrived.
    pub(super) fn release_decided(&mut self, until_ns: u64, arrived: bool, sink: &mut dyn FnMut(Item<'_>)) {
        while arrived && let Some((action, tallies)) = self.governor.due(until_ns) {
            self.release(action.time_ns, sink);
            if let Some(tallies) = tallies {
                if let Some(subjects) = &mut self.subjects {
                    subjects.define(sink);
                }
                sink(Item::Tallies(tallies));
            }
            if let Some(completion) = self.completion.as_mut().filter(|_| action.hides_ends()) {
                completion.forget(&action.group);
            }
            sink(Item::Guard(action));
        }
        self.release(until_ns, sink);
    }
}

/// What each group did by the kernel's counters.
pub(super) fn loads_of_groups(
    kernel: &Kernel,
    groups: &[GroupState],
    group_of_site: &[usize],
) -> Result<Vec<Load>, Error> {
    let mut loads = vec![Load { stack_ns: Some(0), ..Load::default() }; groups.len()];
    let ends: Vec<u16> = groups.iter().flat_map(GroupState::ends).collect();
    for (site, group) in group_of_site.iter().enumerate() {
        let [hits, stack_ns] = kernel.site_load(site_id(site))?;
        let Some(load) = loads.get_mut(*group) else { continue };
        load.hits += hits;
        load.ends += if ends.contains(&site_id(site)) { hits } else { 0 };
        load.stack_ns = load.stack_ns.map(|sum| sum + stack_ns);
    }
    Ok(loads)
}

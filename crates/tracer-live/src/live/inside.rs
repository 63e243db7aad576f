//! The library in the JVM, as a part of a live session.

mod cost;
mod load;

use std::{
    collections::VecDeque,
    path::{Path, PathBuf},
    time::Duration,
};

use tracer_common::marks::switch;
use tracer_weave::control::Order;

pub use self::cost::Telling;
use self::{cost::Costs, load::Loads};
use super::thread_gate::ThreadGate;
use crate::{
    ebpf::load::Kernel,
    guard::{
        Reason,
        lane::{Kind, LaneDecision, LaneGuard, LaneLoad, NO_NEW_OBJECTS},
        to_whole,
    },
    inside::visit::Visit,
    item::{GuardAction, GuardDecision, GuardReason, InsideCost, Item, Narrowing, ThreadName, Wish},
    lens::Lens,
    mark::{Asked, Inside},
};

/// How long the library is waited for at a time while it leaves: what it tells meanwhile must not fill the ring buffers.
const LEAVING_LOOK: Duration = Duration::from_millis(5);

/// What is woven, and the library that has done it.
pub struct InsideLane {
    path: PathBuf,
    /// Nothing until a JVM that starts with it is up.
    visit: Option<Visit>,
    /// How markers and symbols tell, by their number.
    telling: Vec<Telling>,
    members: Vec<Member>,
    loads: Loads,
    guard: Option<LaneGuard>,
    gate: Option<ThreadGate>,
    /// What may be taken of one core.
    budget: f64,
    /// CPU time of the target so far.
    target_ns: Option<u64>,
    /// What waits for the library: it has been told, and has not said that it is done.
    waiting: VecDeque<Vec<GuardAction>>,
}

/// What the governor decides about.
struct Member {
    /// As decisions name it.
    name: String,
    lens: Lens,
    kind: Kind,
    /// Numbers of its markers or symbols.
    numbers: Vec<u32>,
    /// Names of its markers.
    markers: Vec<String>,
    /// Number of the property; 0 for markers.
    property: u8,
    /// Of how many objects one was tracked at the beginning.
    one_in: u32,
    is_counted: bool,
}

impl InsideLane {
    /// A lane whose markers are woven and off; `telling` is about markers and symbols in the order of their numbers, `one_in` says of how
    /// many objects one is tracked.
    pub fn new(visit: Visit, asked: &Asked, telling: Vec<Telling>, one_in: u32) -> Self {
        let lane = Self::coming(visit.path.clone(), asked, telling, one_in);
        Self { visit: Some(visit), ..lane }
    }

    /// The same of a JVM that has not begun; this is the library's file.
    pub fn coming(path: PathBuf, asked: &Asked, telling: Vec<Telling>, one_in: u32) -> Self {
        let members = members(asked, &telling, one_in);
        let loads = Loads::new(asked, &telling, Costs::here());
        let waiting = VecDeque::new();
        Self {
            path,
            visit: None,
            telling,
            members,
            loads,
            guard: None,
            gate: None,
            budget: 0.0,
            target_ns: None,
            waiting,
        }
    }

    /// Path of the file with its sites.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The JVM is up, and what was asked for is woven.
    pub(super) fn arrive(&mut self, visit: Visit, gate: Option<ThreadGate>, now_ns: u64, missing: &mut Vec<String>) {
        self.path.clone_from(&visit.path);
        self.visit = Some(visit);
        self.gate = gate;
        self.switch_on(now_ns, missing);
    }

    /// What it may cost, and what a trap does.
    pub(super) fn allow(&mut self, budget: f64, trap_cost_ps: Option<u64>) {
        self.budget = budget;
        self.loads.trap_costs(trap_cost_ps);
    }

    /// Everything listens: the markers are switched on. From now on the governor looks.
    pub(super) fn switch_on(&mut self, now_ns: u64, missing: &mut Vec<String>) {
        let Some(visit) = &mut self.visit else { return };
        let switches = (0..).zip(self.telling.iter().map(|telling| telling.switch)).collect();
        if let Err(error) = visit.switch(switches) {
            missing.push(format!("markers, typestate: {error}"));
        }
        let kinds: Vec<Kind> = self.members.iter().map(|member| member.kind).collect();
        self.guard = Some(LaneGuard::new(&kinds, self.budget, now_ns));
    }

    /// What judges threads, where markers ask for them.
    #[must_use]
    pub fn with_gate(mut self, gate: Option<ThreadGate>) -> Self {
        self.gate = gate;
        self
    }

    /// Takes notice of a record.
    pub(super) fn take(&mut self, record: &[u8]) {
        self.loads.take(record);
        if let Some(gate) = &mut self.gate {
            gate.take(record);
        }
    }

    /// Once the ring buffers are empty: tells the kernel whose marks nobody wants, and gives the names of new threads.
    pub(super) fn decide(&mut self, kernel: &mut Kernel) -> Vec<ThreadName> {
        self.gate.as_mut().map_or_else(Vec::new, |gate| gate.decide(kernel))
    }

    /// Passes on what it tells besides marks.
    pub(super) fn pump(&mut self, sink: &mut dyn FnMut(Item<'_>)) {
        let Self { visit: Some(visit), loads, .. } = self else { return };
        visit.pump(&mut |inside| {
            loads.inside(&inside);
            sink(Item::Inside(inside));
        });
    }

    /// Part of jtrace's work since the last step that was for what woven code told.
    pub(super) fn own_part(&self, drained_bytes: u64) -> f64 {
        self.loads.bytes() as f64 / drained_bytes.max(1) as f64
    }

    /// What woven code did and cost so far, without its traps, which are counted at their sites.
    pub(super) fn cost(&self) -> InsideCost {
        let [events, cost_ns] = self.loads.total();
        let off_ns = self.guard.as_ref().map_or(0.0, LaneGuard::off_ns);
        InsideCost { events: to_whole(events), cpu_ns: to_whole(cost_ns + off_ns) }
    }

    /// Takes notice of what arrived after the governor's last look.
    pub(super) fn settle(&mut self) {
        self.loads.finish_step(0.0);
    }

    /// Lets the governor look, and obeys; `others` is what probe sites take of the budget, `target_ns` the CPU time of the target so far,
    /// where that is known. Gives what holds from now on.
    pub(super) fn govern(&mut self, now_ns: u64, own_ns: f64, others: f64, target_ns: Option<u64>) -> Vec<GuardAction> {
        let threads = self.loads.threads();
        let by_number = self.loads.finish_step(own_ns);
        let before_ns = std::mem::replace(&mut self.target_ns, target_ns);
        let target_ns = target_ns.zip(before_ns).map_or(0.0, |(now, before)| now.saturating_sub(before) as f64);
        let of = |member: &Member| LaneLoad { target_ns, ..load::sum(&by_number, &member.numbers) };
        let loads: Vec<_> = self.members.iter().map(of).collect();
        let decisions = self.guard.as_mut().map_or_else(Vec::new, |guard| guard.step(now_ns, &loads, threads, others));
        let mut done = Vec::new();
        let (mut switches, mut waiting) = (Vec::new(), Vec::new());
        let (mut gone, mut going) = (Vec::new(), Vec::new());
        for (index, decision) in decisions {
            let Some(member) = self.members.get_mut(index) else { continue };
            let is_stop = matches!(decision, LaneDecision::Stop(_));
            if is_stop {
                gone.extend(&member.numbers);
            } else {
                switches.extend(member.switches(&decision, &self.telling));
            }
            let action = member.action(now_ns, &decision);
            if let Some(order) = member.order(&decision) {
                self.give(&order, vec![action]);
            } else if decision == LaneDecision::On && self.waiting.is_empty() {
                // Before that nothing was told, so a window begins here, whenever the library follows. It does what it is told in
                // its order: what waits for it holds before.
                done.push(action);
            } else if is_stop {
                going.push(action);
            } else {
                waiting.push(action);
            }
        }
        if !switches.is_empty() {
            self.give(&Order::Switch(switches), waiting);
        }
        if !gone.is_empty() {
            self.give(&Order::Unweave(gone), going);
        }
        done.extend(self.followed(now_ns));
        done
    }

    fn give(&mut self, order: &Order, actions: Vec<GuardAction>) {
        let Some(visit) = &mut self.visit else { return };
        match visit.order(order) {
            Ok(()) => self.waiting.push_back(actions),
            // The target is gone, most likely.
            Err(error) => log::debug!("the governor's order was not given: {error}"),
        }
    }

    /// Switches a marker off, or on again, with those that go with it; says whether that changes anything.
    pub(super) fn ask(&mut self, now_ns: u64, wish: &Wish) -> bool {
        let is_it = |member: &Member| member.property == 0 && member.name == wish.group;
        let Some(index) = self.members.iter().position(is_it) else { return false };
        let Some(guard) = &mut self.guard else { return false };
        if !guard.hold(index, !wish.on) {
            return false;
        }
        let Some(member) = self.members.get(index) else { return false };
        let action = if wish.on { GuardDecision::Release } else { GuardDecision::Hold };
        let switches = member.all(&self.telling, wish.on);
        let action = member.decided(now_ns, action, None);
        self.give(&Order::Switch(switches), vec![action]);
        true
    }

    /// Name of what is switched with a marker.
    pub(super) fn group_of(&self, marker: &str) -> Option<&str> {
        let is_it = |member: &&Member| member.property == 0 && member.markers.iter().any(|name| name == marker);
        self.members.iter().find(is_it).map(|member| member.name.as_str())
    }

    /// What the library has followed holds from then on, by its own account: all that was told before has been handed over.
    fn followed(&mut self, now_ns: u64) -> Vec<GuardAction> {
        let mut followed = Vec::new();
        for time_ns in self.visit.as_mut().map(Visit::followed).into_iter().flatten() {
            followed.extend(self.waiting.pop_front().into_iter().flatten().map(|mut action| {
                // In another time namespace its clock says something else.
                let time_ns = if (action.time_ns..=now_ns).contains(&time_ns) { time_ns } else { now_ns };
                if let Some(reason) = &mut action.reason {
                    reason.within_ns += time_ns.saturating_sub(action.time_ns);
                }
                GuardAction { time_ns, ..action }
            }));
        }
        followed
    }

    /// Begins to switch the markers off, to restore every class, and to let the library go.
    pub(super) fn begin_leaving(&mut self, sink: &mut dyn FnMut(Item<'_>)) {
        self.pump(sink);
        if let Some(visit) = &mut self.visit {
            visit.begin_leaving();
        }
    }

    /// Whether that is done, after a short wait. Gives what comes after all marks, which are still on their way, and what it has followed
    /// by then.
    pub(super) fn has_left(
        &mut self,
        now_ns: u64,
        sink: &mut dyn FnMut(Item<'_>),
    ) -> Option<(Inside, Vec<GuardAction>)> {
        let Some(visit) = &mut self.visit else {
            return Some((Inside::Lacks("the program ended before anything was woven".to_owned()), Vec::new()));
        };
        let left = visit.has_left(LEAVING_LOOK)?;
        self.pump(sink);
        let left = left.map_or_else(|error| Inside::Lacks(error.to_string()), Inside::Restored);
        Some((left, self.followed(now_ns)))
    }
}

/// Markers in groups that go together, then properties.
fn members(asked: &Asked, telling: &[Telling], one_in: u32) -> Vec<Member> {
    let can_count = |number: &usize| telling.get(*number).is_some_and(|telling| telling.counted != 0);
    let is_counted = |number: &usize| telling.get(*number).is_some_and(|telling| telling.switch & switch::COUNT != 0);
    let markers = asked.switched().into_iter().map(|of| Member {
        name: of.name,
        lens: Lens::Markers,
        kind: Kind::Marker { can_count: of.markers.iter().all(can_count) && !of.markers.iter().all(is_counted) },
        is_counted: of.markers.iter().all(is_counted),
        numbers: of.markers.iter().filter_map(|number| u32::try_from(*number).ok()).collect(),
        markers: of.markers.iter().filter_map(|number| Some(asked.markers.get(*number)?.name.clone())).collect(),
        property: 0,
        one_in: 1,
    });
    let mut first = u32::try_from(asked.markers.len()).unwrap_or(u32::MAX);
    let properties = asked.properties.iter().enumerate().map(|(index, property)| {
        let end = first.saturating_add(u32::try_from(property.machine.symbols.len()).unwrap_or(u32::MAX));
        let numbers = (first..end).collect();
        first = end;
        Member {
            name: asked.property_name(index),
            lens: Lens::Typestate,
            kind: Kind::Property,
            numbers,
            markers: Vec::new(),
            property: u8::try_from(index + 1).unwrap_or(u8::MAX),
            one_in,
            is_counted: false,
        }
    });
    markers.chain(properties).collect()
}

impl Member {
    /// Switches that follow from a decision.
    fn switches(&mut self, decision: &LaneDecision, telling: &[Telling]) -> Vec<(u32, u8)> {
        if self.property != 0 {
            return Vec::new();
        }
        if matches!(decision, LaneDecision::Count(_)) {
            self.is_counted = true;
        }
        self.all(telling, !matches!(decision, LaneDecision::Off(_) | LaneDecision::Stop(_)))
    }

    /// All its switches.
    fn all(&self, telling: &[Telling], on: bool) -> Vec<(u32, u8)> {
        let bits = |number: &u32| {
            let telling = telling.get(*number as usize).copied().unwrap_or_default();
            if !self.is_counted {
                return telling.switch;
            }
            // What is counted has no times.
            (telling.switch | telling.counted) & !switch::TIME
        };
        self.numbers.iter().map(|number| (*number, if on { bits(number) } else { 0 })).collect()
    }

    /// What the library is asked for where that is no switch.
    const fn order(&self, decision: &LaneDecision) -> Option<Order> {
        let property = self.property;
        match decision {
            LaneDecision::Halve { level, .. } if property != 0 => Some(Order::Halve { property, level: *level }),
            LaneDecision::Stop(_) if property != 0 => Some(Order::Forget { property }),
            _ => None,
        }
    }

    /// A decision as the flow has it.
    fn action(&self, time_ns: u64, decision: &LaneDecision) -> GuardAction {
        let rate = |reason: &Reason| to_whole(reason.rate_per_s);
        let (action, reason) = match decision {
            LaneDecision::Count(reason) => {
                (GuardDecision::Narrow { what: Narrowing::Each, rate_per_s: rate(reason) }, Some(reason))
            }
            LaneDecision::Halve { level, reason } => {
                let one_in = if *level >= NO_NEW_OBJECTS { 0 } else { u64::from(self.one_in) << level };
                (GuardDecision::Narrow { what: Narrowing::Objects { one_in }, rate_per_s: rate(reason) }, Some(reason))
            }
            LaneDecision::Off(reason) => (GuardDecision::Detach { rate_per_s: rate(reason) }, Some(reason)),
            LaneDecision::Stop(reason) => (GuardDecision::Stop { rate_per_s: rate(reason) }, Some(reason)),
            LaneDecision::On => (GuardDecision::Attach, None),
        };
        self.decided(time_ns, action, reason.map(|reason| reason.in_flow(time_ns)))
    }

    fn decided(&self, time_ns: u64, action: GuardDecision, reason: Option<GuardReason>) -> GuardAction {
        log::info!("`{}` {action}", self.name);
        GuardAction {
            time_ns,
            group: self.name.clone(),
            sites: Vec::new(),
            lens: self.lens,
            action,
            reason,
            pause_ns: None,
        }
    }
}

#[cfg(test)]
mod tests;

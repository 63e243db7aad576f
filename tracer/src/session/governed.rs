//! What the governor did in a session, and what follows for the numbers: which part of the span a group of sites covers that
//! was attached in windows only, and what would have been counted over the whole span.
//!
//! Until a group goes away for the first time all of it is seen. From then on its windows are a sample: the rate is what was
//! counted in all of them by their time together, and how much it differs from window to window says how well it is known
//! (a ratio estimate; its 95 % interval by Student's t with a degree of freedom less than there are windows). With fewer than
//! three windows there is no estimate.
//!
//! While a group is attached, traps slow the target down: outside of the windows it does more. By how much is not known, as traps
//! can meet one thread or many; the interval's upper end allows for all of them having met the same one, and where that makes
//! too much of a difference there is no estimate.

mod sample;
mod words;

use self::sample::{Estimate, Sample};
use crate::{
    analysis::{Lens, Scaled, column},
    guard::Narrowing,
    report::{Cell, Decision, Shape, Summary, Table, Unit},
    session::{GuardAction, GuardDecision, GuardReason},
};

/// Most decisions that a report names.
const MAX_DECISIONS: usize = 200;
/// Fewest windows that an estimate is made from.
const FEWEST_WINDOWS: u64 = 3;
/// What programs take on top of the cost of a trap that was calibrated, at most, as a factor of that.
const PROGRAM_FACTOR: f64 = 1.5;
/// Part of a core from which on traps change what they are to measure.
const MOST_SLOWED: f64 = 0.5;

/// All that the governor did.
#[derive(Debug, Default)]
pub(super) struct Governed {
    groups: Vec<Group>,
    decisions: Vec<Decision>,
    /// Decisions that found no room.
    further: u64,
}

impl Governed {
    /// Takes a decision, and the numbers of each lens as they were then.
    pub(super) fn take(&mut self, action: &GuardAction, start_ns: u64, numbers: Vec<(Lens, Scaled)>) {
        let at = self.groups.iter().position(|group| group.name == action.group).unwrap_or_else(|| {
            self.groups.push(Group::new(action, start_ns));
            self.groups.len() - 1
        });
        if let Some(group) = self.groups.get_mut(at) {
            group.take(action, numbers);
        }
        if self.decisions.len() < MAX_DECISIONS {
            self.decisions.push(decision(action, start_ns));
        } else {
            self.further += 1;
        }
    }

    /// The groups, in the order of their first decisions.
    pub(super) fn groups(&self) -> &[Group] {
        &self.groups
    }

    /// What was decided, one by one.
    pub(super) fn decisions(&self) -> &[Decision] {
        &self.decisions
    }

    /// Sentences about all of it.
    pub(super) fn sentences(&self, start_ns: u64, end_ns: u64) -> Vec<String> {
        let mut sentences: Vec<_> = self.groups.iter().flat_map(|group| group.sentences(start_ns, end_ns)).collect();
        if self.further > 0 {
            sentences.push(format!("{} further decisions of the governor are not listed one by one", self.further));
        }
        sentences
    }
}

fn decision(action: &GuardAction, start_ns: u64) -> Decision {
    let GuardAction { time_ns, group, sites: _, lens, action, reason } = action;
    let (gone, back) = if lens.is_inside() { ("switched_off", "switched_on") } else { ("detached", "attached") };
    let (name, rate) = match action {
        GuardDecision::Detach { rate_per_s } => (gone, Some(*rate_per_s)),
        GuardDecision::Attach => (back, None),
        GuardDecision::Narrow { what: Narrowing::Each, rate_per_s } => ("counted", Some(*rate_per_s)),
        GuardDecision::Narrow { what: Narrowing::Objects { .. }, rate_per_s } => ("fewer_objects", Some(*rate_per_s)),
        GuardDecision::Narrow { what: Narrowing::Stacks, rate_per_s } => ("without_stacks", Some(*rate_per_s)),
        GuardDecision::Narrow { what: Narrowing::Times, rate_per_s } => ("without_times", Some(*rate_per_s)),
        GuardDecision::Stop { rate_per_s } => ("stopped", Some(*rate_per_s)),
        GuardDecision::Hold => ("held", None),
        GuardDecision::Release => ("released", None),
    };
    let share = |of: fn(&GuardReason) -> u64| reason.as_ref().map(|reason| of(reason) as f64 / 1e4);
    Decision {
        at_ns: time_ns.saturating_sub(start_ns),
        group: group.clone(),
        lens: lens.id(),
        action: name,
        one_in: match action {
            GuardDecision::Narrow { what: Narrowing::Objects { one_in }, .. } => Some(*one_in),
            _ => None,
        },
        hits_per_s: rate,
        cost_percent: share(|reason| reason.cost_ppm),
        budget_percent: share(|reason| reason.budget_ppm),
        own: reason.is_some_and(|reason| reason.own),
        off_percent: reason.and_then(|reason| reason.off_ppm).map(|ppm| ppm as f64 / 1e4),
        within_ns: reason.map(|reason| reason.within_ns),
    }
}

/// What was done with one group.
#[derive(Debug)]
pub(super) struct Group {
    name: String,
    pub(super) lens: Lens,
    sites: Vec<u16>,
    start_ns: u64,
    /// When it went away first.
    first_away_ns: Option<u64>,
    /// Since when it is attached.
    since_ns: Option<u64>,
    /// Time for which it was attached until it went away last.
    attached_ns: u64,
    /// Times that it went away.
    windows: u64,
    highest_per_s: u64,
    /// What traps took of a core in the window in which they took most.
    slowed: f64,
    /// The reason that it went away for first.
    reason: Option<GuardReason>,
    narrowed: Vec<Narrowed>,
    stopped: Option<(u64, u64)>,
    stop_reason: Option<GuardReason>,
    held: Held,
    numbers: Vec<Number>,
}

/// When somebody asked that it is off.
#[derive(Clone, Copy, Debug, Default)]
struct Held {
    times: u64,
    since_ns: Option<u64>,
    total_ns: u64,
}

/// Something that was left out.
#[derive(Clone, Copy, Debug)]
struct Narrowed {
    what: Narrowing,
    at_ns: u64,
    rate_per_s: u64,
    reason: Option<GuardReason>,
}

impl Group {
    fn new(action: &GuardAction, start_ns: u64) -> Self {
        Self {
            name: action.group.clone(),
            lens: action.lens,
            sites: action.sites.clone(),
            start_ns,
            first_away_ns: None,
            since_ns: Some(start_ns),
            attached_ns: 0,
            windows: 0,
            highest_per_s: 0,
            slowed: 0.0,
            reason: None,
            narrowed: Vec::new(),
            stopped: None,
            stop_reason: None,
            held: Held::default(),
            numbers: Vec::new(),
        }
    }

    fn take(&mut self, action: &GuardAction, numbers: Vec<(Lens, Scaled)>) {
        let time_ns = action.time_ns;
        match action.action {
            GuardDecision::Detach { rate_per_s } => self.goes(time_ns, rate_per_s, action.reason, numbers),
            GuardDecision::Stop { rate_per_s } => {
                self.stopped = Some((time_ns, rate_per_s));
                self.stop_reason = action.reason;
                self.goes(time_ns, rate_per_s, action.reason, numbers);
            }
            GuardDecision::Attach => self.returns(time_ns, numbers),
            GuardDecision::Narrow { what, rate_per_s } => {
                self.narrowed.push(Narrowed { what, at_ns: time_ns, rate_per_s, reason: action.reason });
            }
            GuardDecision::Hold => self.hold(time_ns, numbers),
            GuardDecision::Release => {
                self.held.total_ns += self.held.since_ns.take().map_or(0, |since_ns| time_ns.saturating_sub(since_ns));
                self.returns(time_ns, numbers);
            }
        }
    }

    fn returns(&mut self, time_ns: u64, numbers: Vec<(Lens, Scaled)>) {
        self.since_ns = Some(time_ns);
        for (number, (_, now)) in self.numbers.iter_mut().zip(numbers) {
            number.base = now.seen;
        }
    }

    /// It is off because somebody asked for that. A window that is open ends.
    fn hold(&mut self, time_ns: u64, numbers: Vec<(Lens, Scaled)>) {
        self.held.times += 1;
        self.held.since_ns = Some(time_ns);
        let Some(since_ns) = self.since_ns.take() else { return };
        let window_ns = time_ns.saturating_sub(since_ns);
        self.attached_ns += window_ns;
        for (number, (_, now)) in self.numbers.iter_mut().zip(numbers) {
            number.sample.add(window_ns, now.seen.saturating_sub(number.base));
        }
    }

    fn goes(&mut self, time_ns: u64, rate_per_s: u64, reason: Option<GuardReason>, numbers: Vec<(Lens, Scaled)>) {
        let Some(since_ns) = self.since_ns.take() else { return };
        let window_ns = time_ns.saturating_sub(since_ns);
        self.attached_ns += window_ns;
        self.windows += 1;
        self.highest_per_s = self.highest_per_s.max(rate_per_s);
        self.reason = self.reason.or(reason);
        // What marks cost is known as a whole.
        let factor = if self.lens.is_inside() { 1.0 } else { PROGRAM_FACTOR };
        let slowed = reason.map_or(1.0, |reason| reason.target_ppm as f64 / 1e6 * factor);
        self.slowed = self.slowed.max(slowed);
        if self.first_away_ns.is_none() {
            self.first_away_ns = Some(time_ns);
            self.numbers = numbers
                .into_iter()
                .map(|(lens, now)| Number { lens, before: now.seen, base: now.seen, sample: Sample::default() })
                .collect();
            return;
        }
        for (number, (_, now)) in self.numbers.iter_mut().zip(numbers) {
            number.sample.add(window_ns, now.seen.saturating_sub(number.base));
        }
    }

    /// Its name.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Whether it is off because somebody asked for that.
    pub(super) const fn is_held(&self) -> bool {
        self.held.since_ns.is_some()
    }

    /// Whether it has this site.
    pub(super) fn has(&self, site: usize) -> bool {
        self.sites.iter().any(|known| usize::from(*known) == site)
    }

    /// What became of its sites.
    pub(super) const fn state(&self) -> &'static str {
        match (self.stopped, self.first_away_ns) {
            (Some(_), _) => "stopped by the rate guard",
            (None, Some(_)) => "sampled by the rate guard",
            (None, None) if self.held.times > 0 => "switched off by request",
            (None, None) => "narrowed by the rate guard",
        }
    }

    /// Part of the span for which it was attached.
    fn attached_share(&self, start_ns: u64, end_ns: u64) -> f64 {
        let open_ns = self.since_ns.map_or(0, |since| end_ns.saturating_sub(since));
        let span_ns = end_ns.saturating_sub(start_ns).max(1);
        (self.attached_ns + open_ns) as f64 / span_ns as f64
    }

    /// The estimates of a lens, where the group's windows allow them: of each number, what it is and what it will have been.
    fn estimates(&self, lens: Lens, end_ns: u64, numbers: &[Scaled]) -> Vec<(Scaled, Option<Estimate>)> {
        let Some(first_ns) = self.first_away_ns else { return Vec::new() };
        let until_ns = self.stopped.map_or(end_ns, |(at_ns, _)| at_ns);
        let span_ns = until_ns.saturating_sub(first_ns);
        let known = self.numbers.iter().filter(|number| number.lens == lens);
        known
            .zip(numbers)
            .map(|(number, now)| {
                let mut sample = number.sample;
                if let Some(since_ns) = self.since_ns {
                    sample.add(end_ns.saturating_sub(since_ns), now.seen.saturating_sub(number.base));
                }
                (*now, self.slowed().and_then(|slowed| sample.over(span_ns, number.before, now.seen, slowed)))
            })
            .collect()
    }

    /// Part of a core that traps take in the windows, unless that is so much that their rates say nothing about the rest.
    fn slowed(&self) -> Option<f64> {
        Some(self.slowed).filter(|slowed| *slowed <= MOST_SLOWED)
    }

    /// What a lens's summary says of its windows and estimates.
    pub(super) fn summary(&self, lens: Lens, span: (u64, u64), numbers: &[Scaled]) -> Summary {
        let estimates = self.estimates(lens, span.1, numbers);
        if estimates.is_empty() {
            return Summary::new();
        }
        let share = self.attached_share(span.0, span.1);
        // Several markers can be sampled, so theirs is a table.
        if lens.is_inside() {
            return Summary::new();
        }
        let summary = Summary::new().int("windows", self.windows).float("attached_percent", 100.0 * share.min(1.0));
        estimates.iter().fold(summary, |summary, (number, estimate)| {
            let [value, low, high] = number.estimate;
            match estimate {
                Some(estimate) => summary.int(value, estimate.value).int(low, estimate.low).int(high, estimate.high),
                None => summary,
            }
        })
    }

    /// What the table of sampled markers says of it, where it was on in windows only: name, windows, part of the span, when it was
    /// taken out, what was seen, the estimate and its interval.
    pub(super) fn row(&self, span: (u64, u64), numbers: &[Scaled]) -> Option<Vec<Cell>> {
        self.first_away_ns?;
        let (number, estimate) = self.estimates(self.lens, span.1, numbers).into_iter().next()?;
        let share = 100.0 * self.attached_share(span.0, span.1).min(1.0);
        Some(vec![
            self.name.clone().into(),
            (self.windows + u64::from(self.since_ns.is_some())).into(),
            Cell::Float(share),
            self.stopped.map(|(at_ns, _)| at_ns.saturating_sub(self.start_ns)).into(),
            number.seen.into(),
            estimate.map(|estimate| estimate.value).into(),
            estimate.map(|estimate| estimate.low).into(),
            estimate.map(|estimate| estimate.high).into(),
        ])
    }
}

/// The markers that were on in windows only.
pub(super) fn windows(rows: Vec<Vec<Cell>>) -> Option<Shape> {
    let columns = vec![
        column("group", "Marker", Unit::Text),
        column("windows", "Windows", Unit::Count),
        column("on_percent", "On", Unit::Percent),
        column("until_ns", "Until", Unit::Ns),
        column("seen", "Seen", Unit::Count),
        column("estimate", "Estimate", Unit::Count),
        column("low", "Low", Unit::Count),
        column("high", "High", Unit::Count),
    ];
    let title = "Markers that were on in windows".to_owned();
    (!rows.is_empty()).then_some(Shape::Table(Table { id: "marker_windows", title, columns, rows }))
}

/// A number over the windows of a group.
#[derive(Clone, Copy, Debug)]
struct Number {
    lens: Lens,
    /// When the group went away first, and when it came last.
    before: u64,
    base: u64,
    sample: Sample,
}

#[cfg(test)]
mod tests;

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

use crate::{
    analysis::{Lens, Scaled, column},
    guard::Narrowing,
    report::{Cell, Decision, Shape, Summary, Table, Unit},
    session::{GuardAction, GuardDecision, GuardReason},
    view::format::{duration, percent},
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

    /// What a reader of a lens's numbers must know of the estimates.
    pub(super) fn notes(&self, lens: Lens, end_ns: u64, numbers: &[Scaled]) -> Vec<String> {
        let estimates = self.estimates(lens, end_ns, numbers);
        let (tells, of) =
            if lens.is_inside() { ("marks", format!(" of {}", self.name)) } else { ("traps", String::new()) };
        // What was stopped says nothing of what came later.
        let span = self.stopped.map_or_else(
            || "over the whole span".to_owned(),
            |(at_ns, _)| {
                let after = duration(at_ns.saturating_sub(self.start_ns) as f64);
                format!("until that was stopped, {after} after the beginning,")
            },
        );
        let mut notes: Vec<String> = estimates
            .iter()
            .map(|(Scaled { what, seen, .. }, estimate)| match estimate {
                Some(Estimate { value, low, high, windows }) => format!(
                    "{seen} {what}{of} were seen; {span} there were about {value} (95 % interval {low} to {high}, \
                     from how much the rate differs between {windows} windows after the part that was seen whole; its upper \
                     end allows for what {tells} slow the target down in them)."
                ),
                None if self.slowed().is_none() => format!(
                    "{seen} {what}{of} were seen; how many there were {span} is not estimated: in the windows \
                     {tells} took so much of the target's time that it did less than outside of them."
                ),
                None => format!(
                    "{seen} {what}{of} were seen; how many there were {span} is not estimated: that needs \
                     {FEWEST_WINDOWS} windows after the part that was seen whole."
                ),
            })
            .collect();
        if !estimates.is_empty() {
            notes.push(
                "Tables and distributions show what was seen, in no row the whole; what is rare or comes in bursts can be \
                 missing."
                    .to_owned(),
            );
        }
        notes
    }

    /// What a reader of the numbers must know.
    pub(super) fn sentences(&self, start_ns: u64, end_ns: u64) -> Vec<String> {
        let mut sentences: Vec<String> =
            self.narrowed.iter().map(|narrowed| self.narrowed_sentence(narrowed, start_ns)).collect();
        if self.held.times > 0 {
            let open_ns = self.held.since_ns.map_or(0, |since_ns| end_ns.saturating_sub(since_ns));
            sentences.push(format!(
                "`{}` was switched off for {} of the span because that was asked for: its numbers are of the rest",
                self.name,
                duration((self.held.total_ns + open_ns) as f64),
            ));
        }
        if let Some((at_ns, rate_per_s)) = self.stopped {
            let too_much = match self.stop_reason.and_then(|reason| reason.off_ppm) {
                Some(ppm) => {
                    format!(
                        "and while it is off, its tests of a switch would still take {} of a core",
                        percent(ppm as f64 / 1e4)
                    )
                }
                None if self.lens == Lens::Typestate => {
                    "and even ignoring its objects would cost more than the budget".to_owned()
                }
                None => "and even short looks would cost more than the budget".to_owned(),
            };
            sentences.push(format!(
                "`{}` was taken {} for good after {}: it fired {rate_per_s} times a second{}, {too_much}; its numbers are of \
                 the time until then",
                self.name,
                if self.lens.is_inside() { "out of the code" } else { "away" },
                duration(at_ns.saturating_sub(start_ns) as f64),
                because(self.stop_reason),
            ));
        }
        if self.first_away_ns.is_some() && (self.stopped.is_none() || self.windows > 1) {
            sentences.push(format!(
                "`{}` fires {} times a second, which would cost more than the budget{}: it was {} in {} {} that cover \
                 {:.1} % of the span; its counts and times are lower bounds",
                self.name,
                self.highest_per_s,
                because(self.reason),
                if self.lens.is_inside() { "on" } else { "attached" },
                self.windows + u64::from(self.since_ns.is_some()),
                if self.windows + u64::from(self.since_ns.is_some()) == 1 { "window" } else { "windows" },
                100.0 * self.attached_share(start_ns, end_ns).min(1.0),
            ));
        }
        sentences
    }

    fn narrowed_sentence(&self, narrowed: &Narrowed, start_ns: u64) -> String {
        let what = match narrowed.what {
            Narrowing::Stacks => "its events have no stacks,",
            Narrowing::Times => "only beginnings of calls are seen, and no durations and exceptions,",
            Narrowing::Each => "its marks are counted in the JVM and not sent, without nesting,",
            Narrowing::Objects { one_in } => return self.fewer_sentence(narrowed, one_in, start_ns),
        };
        format!(
            "`{}` fired {} times a second{}: from {} on {what} so that its counts stay exact",
            self.name,
            narrowed.rate_per_s,
            because(narrowed.reason),
            duration(narrowed.at_ns.saturating_sub(start_ns) as f64),
        )
    }
}

impl Group {
    /// Objects that are tracked are tracked for all of their lives.
    fn fewer_sentence(&self, narrowed: &Narrowed, one_in: u64, start_ns: u64) -> String {
        let what = match one_in {
            0 => "no new object is tracked".to_owned(),
            _ => format!("one new object of {one_in} is tracked, of a class that has many"),
        };
        format!(
            "`{}` had {} symbols a second{}: from {} on {what}; what is said of tracked objects stays right",
            self.name,
            narrowed.rate_per_s,
            because(narrowed.reason),
            duration(narrowed.at_ns.saturating_sub(start_ns) as f64),
        )
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

fn because(reason: Option<GuardReason>) -> String {
    reason.map_or_else(String::new, |GuardReason { cost_ppm, budget_ppm, own, .. }| {
        format!(
            " ({} of a core{}, of which {} may be taken)",
            percent(cost_ppm as f64 / 1e4),
            if own { " for jtrace itself" } else { "" },
            percent(budget_ppm as f64 / 1e4)
        )
    })
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

/// Sums over windows, of seconds and counts.
#[derive(Clone, Copy, Debug, Default)]
struct Sample {
    windows: u64,
    time: f64,
    count: f64,
    times: f64,
    counts: f64,
    products: f64,
}

/// What a number is taken to be over a span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Estimate {
    value: u64,
    low: u64,
    high: u64,
    windows: u64,
}

impl Sample {
    fn add(&mut self, window_ns: u64, count: u64) {
        if window_ns == 0 {
            return;
        }
        let (time, count) = (window_ns as f64 / 1e9, count as f64);
        self.windows += 1;
        self.time += time;
        self.count += count;
        self.times += time * time;
        self.counts += count * count;
        self.products += time * count;
    }

    /// The number over a span of which the windows are a sample, with what was counted before it; never below what was seen.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "positive; a cast saturates")]
    fn over(&self, span_ns: u64, before: u64, seen: u64, slowed: f64) -> Option<Estimate> {
        if self.windows < FEWEST_WINDOWS {
            return None;
        }
        let (n, span) = (self.windows as f64, (span_ns as f64 / 1e9).max(self.time));
        let rate = self.count / self.time;
        // What the windows lie off the common rate, squared.
        let off = (self.counts - 2.0 * rate * self.products + rate * rate * self.times).max(0.0);
        let unseen = 1.0 - self.time / span;
        let error = span / self.time * (unseen * off * n / (n - 1.0)).sqrt();
        let half = student_95(self.windows - 1) * error;
        let value = before as f64 + rate * span;
        let at_least = |number: f64| (number.round() as u64).max(seen);
        let most = before as f64 + (rate * span + half) / (1.0 - slowed);
        Some(Estimate {
            value: at_least(value),
            low: at_least(value - half),
            high: at_least(most),
            windows: self.windows,
        })
    }
}

/// The 97.5 % quantile of Student's t; beyond 20 degrees of freedom within 0.3 %.
fn student_95(freedom: u64) -> f64 {
    const TABLE: [f64; 20] = [
        12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
        2.120, 2.110, 2.101, 2.093, 2.086,
    ];
    let at = usize::try_from(freedom.max(1) - 1).unwrap_or(usize::MAX);
    TABLE.get(at).copied().unwrap_or(1.96 + 2.5 / freedom as f64)
}

#[cfg(test)]
mod tests;

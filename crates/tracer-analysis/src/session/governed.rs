//! What the governor did in a session, and what follows for the numbers: which part of the span a group of sites covers that
//! was attached in windows only, and what would have been counted over the whole span.
//!
//! What was seen counts exactly. The time that a group was away is estimated from the beginnings of its windows, which are at
//! random moments of that time ([`sample`]): how long a window is depends on what happens in it, so the whole of it would be no
//! fair sample. With few windows there is no estimate.
//!
//! While a group is attached, traps slow the target down: outside of the windows it does more. By how much is not known, as traps
//! can meet one thread or many; the interval's upper end allows for all of them having met the same one, and where that makes
//! too much of a difference there is no estimate.

mod sample;
mod words;

use self::sample::{Estimate, Sample};
use crate::{
    analysis::{Analysis, Scaled, column},
    item::{Counters, GuardAction, GuardDecision, GuardReason, Narrowing},
    lens::Lens,
    report::{Cell, Decision, Section, Shape, Summary, Table, Unit},
    text::column::percent,
};

/// Most decisions that a report names.
const MAX_DECISIONS: usize = 200;
/// How much must have been seen of a window that is still open to be a sample.
const OPEN_NS: u64 = 20_000_000;
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
    pub(super) fn take(&mut self, action: &GuardAction, start_ns: u64, numbers: &[(Lens, Scaled)]) {
        let at = self.groups.iter().position(|group| group.name == action.group).unwrap_or_else(|| {
            self.groups.push(Group::new(action, start_ns));
            self.groups.len() - 1
        });
        if let Some(group) = self.groups.get_mut(at) {
            group.take(action, numbers);
        }
        if action.action == GuardDecision::Look {
            return;
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

    /// Adds to the section of a lens what is to be known of groups that were attached in windows only, or told less.
    pub(super) fn add_to(&self, section: &mut Section, analysis: &dyn Analysis, span: (u64, u64), counters: &Counters) {
        let lens = analysis.lens();
        let (mut rows, mut windows, mut least) = (Vec::new(), None, 1.0_f64);
        for group in &self.groups {
            let numbers = analysis.scaled(&group.name);
            let of = Of { lens, span, hits: group.hits(counters), numbers: &numbers };
            if group.lens == lens || !numbers.is_empty() {
                section.notes.extend(group.sentences(span.0, span.1));
            }
            section.notes.extend(group.notes(of));
            section.summary = std::mem::take(&mut section.summary).followed_by(group.summary(of));
            if group.first_away_ns.is_none() || numbers.is_empty() {
                continue;
            }
            rows.extend(group.rows(of));
            let share = group.attached_share(span.0, span.1).min(1.0);
            if windows.is_none() || share < least {
                (windows, least) = (Some(group.windows), share);
            }
            mark(&mut section.shapes, share, |id| analysis.shows(&group.name, id));
        }
        if let Some(windows) = windows.filter(|_| !lens.is_inside()) {
            let summary = std::mem::take(&mut section.summary);
            section.summary = summary.int("windows", windows).float("attached_percent", 100.0 * least);
        }
        section.shapes.extend(sampled(lens, rows));
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

/// Says in the titles of shapes that they show a part.
fn mark(shapes: &mut [Shape], share: f64, shows: impl Fn(&str) -> bool) {
    for shape in shapes {
        let (id, title) = (shape.id(), shape.title_mut());
        if shows(id) {
            *title = format!("{title}, seen in {} of the span", percent(100.0 * share));
        }
    }
}

/// How often the sites of a group were hit, and how many of these hits the programs refused.
#[derive(Clone, Copy, Debug, Default)]
struct Hits {
    all: u64,
    refused: u64,
}

impl Hits {
    /// Whether so many were refused that what was seen is no sample.
    const fn are_cut(self) -> bool {
        self.refused.saturating_mul(100) > self.all
    }
}

/// Numbers of a lens at the sites of a group.
#[derive(Clone, Copy, Debug)]
struct Of<'a> {
    lens: Lens,
    span: (u64, u64),
    hits: Hits,
    numbers: &'a [Scaled],
}

fn decision(action: &GuardAction, start_ns: u64) -> Decision {
    let GuardAction { time_ns, group, sites: _, lens, action, reason, pause_ns: _ } = action;
    let (gone, back) = if lens.is_inside() { ("switched_off", "switched_on") } else { ("detached", "attached") };
    let (name, rate) = match action {
        GuardDecision::Detach { rate_per_s } => (gone, Some(*rate_per_s)),
        GuardDecision::Attach | GuardDecision::Look => (back, None),
        GuardDecision::Narrow { what: Narrowing::Each, rate_per_s } => ("counted", Some(*rate_per_s)),
        GuardDecision::Narrow { what: Narrowing::Objects { .. }, rate_per_s } => ("fewer_objects", Some(*rate_per_s)),
        GuardDecision::Narrow { what: Narrowing::Stacks, rate_per_s } => ("without_stacks", Some(*rate_per_s)),
        GuardDecision::Narrow { what: Narrowing::FewerStacks { .. }, rate_per_s } => {
            ("fewer_stacks", Some(*rate_per_s))
        }
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
            GuardDecision::Narrow {
                what: Narrowing::Objects { one_in } | Narrowing::FewerStacks { one_in }, ..
            } => Some(*one_in),
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
    /// Since when it is away, and for how long it was before.
    away_since_ns: Option<u64>,
    away_ns: u64,
    /// What a window stands for whose beginning is still to be noted.
    stands_for_ns: Option<u64>,
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
            away_since_ns: None,
            away_ns: 0,
            stands_for_ns: None,
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

    fn take(&mut self, action: &GuardAction, numbers: &[(Lens, Scaled)]) {
        let time_ns = action.time_ns;
        match action.action {
            GuardDecision::Detach { rate_per_s } => self.goes(time_ns, rate_per_s, action.reason, numbers),
            GuardDecision::Stop { rate_per_s } => {
                self.stopped = Some((time_ns, rate_per_s));
                self.stop_reason = action.reason;
                self.goes(time_ns, rate_per_s, action.reason, numbers);
            }
            GuardDecision::Attach => self.returns(time_ns, action.pause_ns, numbers),
            GuardDecision::Look => self.look(time_ns, numbers),
            GuardDecision::Narrow { what, rate_per_s } => {
                self.narrowed.push(Narrowed { what, at_ns: time_ns, rate_per_s, reason: action.reason });
            }
            GuardDecision::Hold => self.hold(time_ns, numbers),
            GuardDecision::Release => {
                self.held.total_ns += self.held.since_ns.take().map_or(0, |since_ns| time_ns.saturating_sub(since_ns));
                self.begin(time_ns, numbers);
            }
        }
    }

    /// It comes back, at a random moment.
    fn returns(&mut self, time_ns: u64, pause_ns: Option<u64>, numbers: &[(Lens, Scaled)]) {
        let away_ns = self.away_since_ns.take().map(|since_ns| time_ns.saturating_sub(since_ns));
        self.away_ns += away_ns.unwrap_or(0);
        // Recordings of earlier versions say only how long it was.
        self.stands_for_ns = pause_ns.or(away_ns);
        self.begin(time_ns, numbers);
    }

    fn begin(&mut self, time_ns: u64, numbers: &[(Lens, Scaled)]) {
        self.since_ns = Some(time_ns);
        for (number, (_, now)) in self.numbers.iter_mut().zip(numbers) {
            number.base = now.seen;
        }
    }

    /// What a window began with is a sample, unless that was noted before.
    fn look(&mut self, time_ns: u64, numbers: &[(Lens, Scaled)]) {
        let (Some(since_ns), Some(stands_for_ns)) = (self.since_ns, self.stands_for_ns.take()) else { return };
        for (number, (_, now)) in self.numbers.iter_mut().zip(numbers) {
            let count = now.seen.saturating_sub(number.base);
            number.sample.add(stands_for_ns, time_ns.saturating_sub(since_ns), count);
        }
    }

    /// A window ends.
    fn end(&mut self, time_ns: u64, numbers: &[(Lens, Scaled)]) {
        self.look(time_ns, numbers);
        let Some(since_ns) = self.since_ns.take() else { return };
        let window_ns = time_ns.saturating_sub(since_ns);
        self.attached_ns += window_ns;
        for (number, (_, now)) in self.numbers.iter_mut().zip(numbers) {
            if window_ns > 0 {
                number.sample.bound(now.seen.saturating_sub(number.base) as f64 * 1e9 / window_ns as f64);
            }
        }
    }

    /// It is off because somebody asked for that; of that time nothing is estimated.
    fn hold(&mut self, time_ns: u64, numbers: &[(Lens, Scaled)]) {
        self.held.times += 1;
        self.held.since_ns = Some(time_ns);
        self.away_ns += self.away_since_ns.take().map_or(0, |since_ns| time_ns.saturating_sub(since_ns));
        self.end(time_ns, numbers);
    }

    fn goes(&mut self, time_ns: u64, rate_per_s: u64, reason: Option<GuardReason>, numbers: &[(Lens, Scaled)]) {
        if self.since_ns.is_none() {
            return;
        }
        if self.first_away_ns.is_none() {
            self.first_away_ns = Some(time_ns);
            let whole =
                |(lens, now): &(Lens, Scaled)| Number { lens: *lens, base: 0, sample: Sample::default(), key: now.key };
            self.numbers = numbers.iter().map(whole).collect();
        }
        self.end(time_ns, numbers);
        // What was stopped does not come back.
        self.away_since_ns = self.stopped.is_none().then_some(time_ns);
        self.windows += 1;
        self.highest_per_s = self.highest_per_s.max(rate_per_s);
        self.reason = self.reason.or(reason);
        // What marks cost is known as a whole.
        let factor = if self.lens.is_inside() { 1.0 } else { PROGRAM_FACTOR };
        let slowed = reason.map_or(1.0, |reason| reason.target_ppm as f64 / 1e6 * factor);
        self.slowed = self.slowed.max(slowed);
    }

    /// Its name.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Whether it is off because somebody asked for that.
    pub(super) const fn is_held(&self) -> bool {
        self.held.since_ns.is_some()
    }

    /// How often its sites were hit.
    fn hits(&self, counters: &Counters) -> Hits {
        let hits = |site: &u16| counters.sites.get(usize::from(*site)).map_or(0, |[hits, ..]| *hits);
        let refused = |site: &u16| counters.refused.get(usize::from(*site)).copied().unwrap_or(0);
        Hits { all: self.sites.iter().map(hits).sum(), refused: self.sites.iter().map(refused).sum() }
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
    fn estimates(&self, lens: Lens, end_ns: u64, hits: Hits, numbers: &[Scaled]) -> Vec<(Scaled, Option<Estimate>)> {
        if self.first_away_ns.is_none() {
            return Vec::new();
        }
        let until_ns = self.stopped.map_or(end_ns, |(at_ns, _)| at_ns);
        let away_ns = self.away_ns + self.away_since_ns.map_or(0, |since_ns| until_ns.saturating_sub(since_ns));
        let known = self.numbers.iter().filter(|number| number.lens == lens);
        known
            .filter_map(|number| numbers.iter().find(|now| now.key == number.key).map(|now| (number, now)))
            .map(|(number, now)| {
                let mut sample = number.sample;
                if let (Some(since_ns), Some(stands_for_ns)) = (self.since_ns, self.stands_for_ns)
                    && end_ns.saturating_sub(since_ns) >= OPEN_NS
                {
                    sample.add(stands_for_ns, end_ns.saturating_sub(since_ns), now.seen.saturating_sub(number.base));
                }
                // The rate of hits that ended a window, in what is counted.
                if hits.all > 0 {
                    sample.bound(self.highest_per_s as f64 * now.seen as f64 / hits.all as f64);
                }
                let slowed = self.slowed().filter(|_| !hits.are_cut());
                (*now, slowed.and_then(|slowed| sample.over(away_ns, now.seen, slowed)))
            })
            .collect()
    }

    /// Part of a core that traps take in the windows, unless that is so much that their rates say nothing about the rest.
    fn slowed(&self) -> Option<f64> {
        Some(self.slowed).filter(|slowed| *slowed <= MOST_SLOWED)
    }

    /// What a lens's summary says of the estimates.
    fn summary(&self, of: Of<'_>) -> Summary {
        // Several markers can be sampled, so theirs is a table.
        if of.lens.is_inside() {
            return Summary::new();
        }
        let seconds = of.span.1.saturating_sub(of.span.0).max(1) as f64 / 1e9;
        let estimates = self.estimates(of.lens, of.span.1, of.hits, of.numbers);
        estimates.iter().fold(Summary::new(), |summary, (number, estimate)| {
            let Some(Estimate { value, low, high, .. }) = *estimate else { return summary };
            let keys = number.estimate.into_iter().zip([value, low, high]);
            let summary = keys.fold(summary, |summary, (key, value)| summary.int(key, value));
            let rates = number.per_s.into_iter().flatten().zip([value, low, high]);
            rates.fold(summary, |summary, (key, value)| summary.float(key, value as f64 / seconds))
        })
    }

    /// What the table of what was sampled says of each number, where the group was attached in windows only: group, number,
    /// windows, part of the span, when it was stopped, what was seen, the estimate and its interval.
    fn rows(&self, of: Of<'_>) -> Vec<Vec<Cell>> {
        let share = 100.0 * self.attached_share(of.span.0, of.span.1).min(1.0);
        let row = |(number, estimate): (Scaled, Option<Estimate>)| {
            vec![
                self.name.clone().into(),
                number.what.into(),
                (self.windows + u64::from(self.since_ns.is_some())).into(),
                Cell::Float(share),
                self.stopped.map(|(at_ns, _)| at_ns.saturating_sub(self.start_ns)).into(),
                number.seen.into(),
                estimate.map(|estimate| estimate.value).into(),
                estimate.map(|estimate| estimate.low).into(),
                estimate.map(|estimate| estimate.high).into(),
            ]
        };
        self.estimates(of.lens, of.span.1, of.hits, of.numbers).into_iter().map(row).collect()
    }
}

/// What groups are sampled as.
fn sampled(lens: Lens, rows: Vec<Vec<Cell>>) -> Option<Shape> {
    let (id, title, group, share) = if lens.is_inside() {
        ("marker_windows", "Markers that were on in windows", "Marker", "On")
    } else {
        ("sampled", "Estimates of what was attached in windows", "Group", "Attached")
    };
    let columns = vec![
        column("group", group, Unit::Text),
        column("what", "What", Unit::Text),
        column("windows", "Windows", Unit::Count),
        column("on_percent", share, Unit::Percent),
        column("until_ns", "Until", Unit::Ns),
        column("seen", "Seen", Unit::Count),
        column("estimate", "Estimate", Unit::Count),
        column("low", "Low", Unit::Count),
        column("high", "High", Unit::Count),
    ];
    (!rows.is_empty()).then_some(Shape::Table(Table { id, title: title.to_owned(), columns, rows }))
}

/// A number over the windows of a group.
#[derive(Clone, Copy, Debug)]
struct Number {
    lens: Lens,
    key: &'static str,
    /// When the group came last.
    base: u64,
    sample: Sample,
}

#[cfg(test)]
mod coverage;
#[cfg(test)]
mod tests;

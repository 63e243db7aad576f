//! What the governor did with one group of sites, and what would have been counted at them over the whole span.

mod words;

use super::sample::{Estimate, Sample};
use crate::{
    analysis::Scaled,
    item::{Counters, GuardAction, GuardDecision, GuardReason, Narrowing},
    lens::Lens,
    report::{Cell, Summary},
};

/// How much must have been seen of a window that is still open to be a sample.
const OPEN_NS: u64 = 20_000_000;
/// What programs take on top of the cost of a trap that was calibrated, at most, as a factor of that.
const PROGRAM_FACTOR: f64 = 1.5;
/// Part of a core from which on traps change what they are to measure.
const MOST_SLOWED: f64 = 0.5;

/// How often the sites of a group were hit, and how many of these hits the programs refused.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Hits {
    pub(super) all: u64,
    pub(super) refused: u64,
}

impl Hits {
    /// Whether so many were refused that what was seen is no sample.
    const fn are_cut(self) -> bool {
        self.refused.saturating_mul(100) > self.all
    }
}

/// Numbers of a lens at the sites of a group.
#[derive(Clone, Copy, Debug)]
pub(super) struct Of<'a> {
    pub(super) lens: Lens,
    pub(super) span: (u64, u64),
    pub(super) hits: Hits,
    pub(super) numbers: &'a [Scaled],
}

/// What was done with one group.
#[derive(Debug)]
pub(in super::super) struct Group {
    name: String,
    pub(super) lens: Lens,
    sites: Vec<u16>,
    start_ns: u64,
    /// When it went away first.
    first_away_ns: Option<u64>,
    /// Since when it is attached.
    since_ns: Option<u64>,
    /// Time for which it was attached until it went away last.
    pub(super) attached_ns: u64,
    /// Since when it is away, and for how long it was before.
    away_since_ns: Option<u64>,
    pub(super) away_ns: u64,
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
    pub(super) fn new(action: &GuardAction, start_ns: u64) -> Self {
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

    pub(super) fn take(&mut self, action: &GuardAction, numbers: &[(Lens, Scaled)]) {
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
    pub(in super::super) fn name(&self) -> &str {
        &self.name
    }

    /// Whether it is off because somebody asked for that.
    pub(in super::super) const fn is_held(&self) -> bool {
        self.held.since_ns.is_some()
    }

    /// How often its sites were hit.
    pub(super) fn hits(&self, counters: &Counters) -> Hits {
        let hits = |site: &u16| counters.sites.get(usize::from(*site)).map_or(0, |[hits, ..]| *hits);
        let refused = |site: &u16| counters.refused.get(usize::from(*site)).copied().unwrap_or(0);
        Hits { all: self.sites.iter().map(hits).sum(), refused: self.sites.iter().map(refused).sum() }
    }

    /// Whether it has this site.
    pub(in super::super) fn has(&self, site: usize) -> bool {
        self.sites.iter().any(|known| usize::from(*known) == site)
    }

    /// What became of its sites.
    pub(in super::super) const fn state(&self) -> &'static str {
        match (self.stopped, self.first_away_ns) {
            (Some(_), _) => "stopped by the rate guard",
            (None, Some(_)) => "sampled by the rate guard",
            (None, None) if self.held.times > 0 => "switched off by request",
            (None, None) => "narrowed by the rate guard",
        }
    }

    /// How often it went away; nothing where it never did.
    pub(super) fn times_away(&self) -> Option<u64> {
        self.first_away_ns.map(|_| self.windows)
    }

    /// Part of the span for which it was attached.
    pub(super) fn attached_share(&self, start_ns: u64, end_ns: u64) -> f64 {
        let open_ns = self.since_ns.map_or(0, |since| end_ns.saturating_sub(since));
        let span_ns = end_ns.saturating_sub(start_ns).max(1);
        (self.attached_ns + open_ns) as f64 / span_ns as f64
    }

    /// The estimates of a lens, where the group's windows allow them: of each number, what it is and what it will have been.
    pub(super) fn estimates(
        &self,
        lens: Lens,
        end_ns: u64,
        hits: Hits,
        numbers: &[Scaled],
    ) -> Vec<(Scaled, Option<Estimate>)> {
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
    pub(super) fn summary(&self, of: Of<'_>) -> Summary {
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
    pub(super) fn rows(&self, of: Of<'_>) -> Vec<Vec<Cell>> {
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

/// A number over the windows of a group.
#[derive(Clone, Copy, Debug)]
struct Number {
    lens: Lens,
    key: &'static str,
    /// When the group came last.
    base: u64,
    sample: Sample,
}

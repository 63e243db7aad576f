//! How often the interval of an estimate covers the truth: thousands of made-up programs under the governor itself, on a clock of
//! the test's own. Taking sites away and attaching them again takes as long as kernels need for it.

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "times and counts of made-up sessions are positive and small"
)]

use super::{group::Hits, *};
use crate::{
    guard::{Budget, Decision, Load, Means, RateGuard, USUAL_BUDGET},
    random::Random,
};

const MS: u64 = 1_000_000;
/// Programs of each kind.
const PROGRAMS: u64 = 400;
/// How finely a program's rate is followed.
const GRAIN_NS: u64 = 5 * MS;

/// How often a program's sites fire.
enum Program {
    Steady(f64),
    /// From one rate to another over the session.
    Trend(f64, f64),
    /// On for a part of each period.
    Periodic {
        period_ns: f64,
        part: f64,
        rates: [f64; 2],
    },
    /// Stretches, in turn at the first and the second rate, until these times.
    Turns(Vec<u64>, [f64; 2]),
}

impl Program {
    fn per_s(&self, at_ns: u64, span_ns: u64) -> f64 {
        match self {
            Self::Steady(rate) => *rate,
            Self::Trend(from, to) => from + (to - from) * at_ns as f64 / span_ns as f64,
            Self::Periodic { period_ns, part, rates } => {
                rates[usize::from((at_ns as f64 / period_ns).fract() >= *part)]
            }
            Self::Turns(until, rates) => rates[until.partition_point(|until| *until <= at_ns) % 2],
        }
    }
}

/// Numbers that programs are made of.
struct Dice(Random);

impl Dice {
    fn share(&mut self) -> f64 {
        (self.0.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.share()
    }

    /// As likely in each order of magnitude.
    fn rate(&mut self, low: f64, high: f64) -> f64 {
        low * (high / low).powf(self.share())
    }

    fn exponential(&mut self, mean: f64) -> f64 {
        -mean * (1.0 - self.share()).ln()
    }

    /// About as many as independent events make.
    fn count(&mut self, mean: f64) -> u64 {
        let gauss = (-2.0 * (1.0 - self.share()).ln()).sqrt() * (std::f64::consts::TAU * self.share()).cos();
        let chance = self.share();
        (mean + mean.sqrt() * gauss + chance).max(0.0) as u64
    }

    fn turns(&mut self, span_ns: u64, means_s: [f64; 2], rates: [f64; 2]) -> Program {
        let (mut until, mut at) = (Vec::new(), 0_u64);
        while at < span_ns {
            at += (self.exponential(means_s[until.len() % 2]) * 1e9) as u64 + MS;
            until.push(at);
        }
        Program::Turns(until, rates)
    }

    fn program(&mut self, kind: &str, span_ns: u64) -> Program {
        match kind {
            "steady" => Program::Steady(self.rate(20e3, 500e3)),
            "trend" => Program::Trend(self.rate(20e3, 500e3), self.rate(20e3, 500e3)),
            // The pauses of a window of usual cost are 1.4 s on average.
            "periodic" => {
                let (period_ns, part) = (self.between(1e9, 2e9), self.between(0.2, 0.8));
                let (on, off) = (self.rate(50e3, 500e3), self.rate(10.0, 20e3));
                Program::Periodic { period_ns, part, rates: [on, off] }
            }
            "on and off" => {
                let means_s = [self.between(0.5, 4.0), self.between(0.5, 4.0)];
                let rates = [self.rate(50e3, 500e3), self.rate(1.0, 5e3)];
                self.turns(span_ns, means_s, rates)
            }
            "bursts" => {
                let means_s = [self.between(0.3, 3.0), self.between(0.05, 0.5)];
                let rates = [self.rate(1e3, 20e3), self.rate(100e3, 1e6)];
                self.turns(span_ns, means_s, rates)
            }
            other => panic!("no such kind: {other}"),
        }
    }
}

/// A program under the governor.
struct Play {
    program: Program,
    dice: Dice,
    span_ns: u64,
    now_ns: u64,
    attached: bool,
    /// What happened, and what was seen of it, also since the governor looked last.
    truth: u64,
    seen: u64,
    hits: u64,
}

impl Play {
    fn advance(&mut self, by_ns: u64) {
        let until_ns = self.now_ns + by_ns;
        while self.now_ns < until_ns {
            let grain_ns = GRAIN_NS.min(until_ns - self.now_ns);
            let mean = self.program.per_s(self.now_ns, self.span_ns) * grain_ns as f64 / 1e9;
            let count = self.dice.count(mean);
            self.now_ns += grain_ns;
            self.truth += count;
            if self.attached {
                self.seen += count;
                self.hits += count;
            }
        }
    }

    fn takes(&mut self, least_ms: f64, most_ms: f64) {
        let ns = self.dice.between(least_ms, most_ms) * 1e6;
        self.advance(ns as u64);
    }

    fn decided(&mut self, decision: &Decision) -> (GuardDecision, Option<GuardReason>, Option<u64>) {
        let why = |reason: &crate::guard::Reason| {
            let rate_per_s = reason.rate_per_s as u64;
            // Programs run on CPUs of their own: what one does is not slowed down.
            let reason =
                GuardReason { cost_ppm: 0, budget_ppm: 0, target_ppm: 0, own: false, off_ppm: None, within_ns: 0 };
            (rate_per_s, Some(reason))
        };
        match decision {
            Decision::Attach { pause_ns, .. } => {
                self.takes(5.0, 60.0);
                self.attached = true;
                (GuardDecision::Attach, None, Some(*pause_ns))
            }
            Decision::Look { .. } => (GuardDecision::Look, None, None),
            Decision::Detach { reason, .. } | Decision::Stop { reason, .. } => {
                self.takes(20.0, 130.0);
                self.attached = false;
                let (rate_per_s, reason) = why(reason);
                let stops = matches!(decision, Decision::Stop { .. });
                let action =
                    if stops { GuardDecision::Stop { rate_per_s } } else { GuardDecision::Detach { rate_per_s } };
                (action, reason, None)
            }
            Decision::Narrow { .. } => panic!("it has nothing that can be left out"),
        }
    }
}

/// What became of a program.
enum Outcome {
    /// It was seen whole, or stopped.
    Whole,
    /// There were too few windows.
    Unknown,
    /// An estimate; whether it covers the truth, and its width by that.
    Estimate { covers: bool, width: f64, bias: f64 },
}

fn play(kind: &str, seed: u64) -> Outcome {
    let mut dice = Dice(Random::new(seed));
    let span_ns = (dice.between(20.0, 120.0) * 1e9) as u64;
    let program = dice.program(kind, span_ns);
    let mut guard = RateGuard::new(&[Means::default()], Some(600_000), Budget::of(USUAL_BUDGET), seed << 20);
    let mut play = Play { program, dice, span_ns, now_ns: 0, attached: true, truth: 0, seen: 0, hits: 0 };
    let (mut governed, start_ns) = (Governed::default(), seed << 20);
    while play.now_ns < span_ns {
        play.takes(15.0, 40.0);
        let load = Load { hits: std::mem::take(&mut play.hits), ..Load::default() };
        for decision in guard.step(start_ns + play.now_ns, &[load], 0) {
            let (action, reason, pause_ns) = play.decided(&decision);
            if action == GuardDecision::Attach {
                guard.came_back(0, start_ns + play.now_ns);
            }
            let action = GuardAction {
                time_ns: play.now_ns,
                group: "parks".to_owned(),
                sites: vec![0],
                lens: Lens::Locks,
                action,
                reason,
                pause_ns,
            };
            governed.take(&action, 0, &[(Lens::Locks, Scaled::events(play.seen))]);
            if matches!(action.action, GuardDecision::Stop { .. }) {
                return Outcome::Whole;
            }
        }
    }
    let Some(group) = governed.groups.first() else { return Outcome::Whole };
    let seen = Scaled::events(play.seen);
    let estimates = group.estimates(Lens::Locks, play.now_ns, Hits { all: play.seen, refused: 0 }, &[seen]);
    let Some((_, Some(estimate))) = estimates.first() else { return Outcome::Unknown };
    assert!(estimate.low <= estimate.value && estimate.value <= estimate.high && play.seen <= estimate.low);
    Outcome::Estimate {
        covers: (estimate.low..=estimate.high).contains(&play.truth),
        width: (estimate.high - estimate.low) as f64 / play.truth as f64,
        bias: estimate.value as f64 / play.truth as f64 - 1.0,
    }
}

/// Percent of the intervals that cover the truth.
fn covered(kind: &str) -> f64 {
    let (mut covered, mut estimated, mut unknown) = (0, 0, 0);
    let (mut widths, mut bias) = (Vec::new(), 0.0);
    for seed in 1..=PROGRAMS {
        match play(kind, seed * 7_919 + kind.len() as u64) {
            Outcome::Whole => {}
            Outcome::Unknown => unknown += 1,
            Outcome::Estimate { covers, width, bias: off } => {
                estimated += 1;
                covered += u32::from(covers);
                widths.push(width);
                bias += off;
            }
        }
    }
    widths.sort_by(f64::total_cmp);
    let percent = 100.0 * f64::from(covered) / f64::from(estimated);
    println!(
        "{kind}: {covered} of {estimated} intervals cover the truth ({percent:.1} %), half of them are no wider than {:.0} % of it, on \
         average it is {:+.1} % off; {unknown} had too few windows",
        100.0 * widths[widths.len() / 2],
        100.0 * bias / f64::from(estimated),
    );
    assert!(3 * estimated > PROGRAMS as u32, "{kind}: only {estimated} have an estimate");
    percent
}

/// What an interval of 95 % promises. 93 of 100 are what 400 programs can tell from that.
const LEAST_PERCENT: f64 = 93.0;

#[test]
fn of_steady_programs_the_interval_covers_the_truth() {
    assert!(covered("steady") >= LEAST_PERCENT);
}

#[test]
fn of_programs_with_a_trend_the_interval_covers_the_truth() {
    assert!(covered("trend") >= LEAST_PERCENT);
}

#[test]
fn of_programs_with_the_rhythm_of_the_windows_the_interval_covers_the_truth() {
    assert!(covered("periodic") >= LEAST_PERCENT);
}

#[test]
fn of_programs_that_are_on_and_off_the_interval_covers_the_truth() {
    assert!(covered("on and off") >= LEAST_PERCENT);
}

#[test]
fn of_programs_with_bursts_the_interval_covers_the_truth() {
    assert!(covered("bursts") >= LEAST_PERCENT);
}

//! What a handful of measurements says, and how certain that is.
//!
//! A figure is a median; its interval is made by drawing the measurements again, [`RESAMPLES`] times, and taking the middle
//! 95 % of what comes out (percentile bootstrap). A program that is watched is compared with the same program of the same
//! round, so that what drifts from round to round (temperature, neighbours) drops out. The random numbers always begin
//! alike: the same measurements give the same report.

use std::{collections::BTreeMap, fmt};

use crate::random::Random;

/// How often the measurements are drawn again.
pub const RESAMPLES: usize = 2_000;

/// Fewest measurements that an interval is made from: the span of five holds the true median in 94 of 100 cases, that of
/// four in 87 only, and nothing that is drawn from them lies outside it.
pub const FEWEST: usize = 5;

/// Where the random numbers of every interval begin.
const SEED: u64 = 0x6a74_7261_6365;

/// The values in their order.
fn sorted(values: impl IntoIterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    values
}

/// The middle of sorted values, which must not be empty.
fn middle(sorted: &[f64]) -> f64 {
    let half = sorted.len() / 2;
    if sorted.len() % 2 == 1 { sorted[half] } else { f64::midpoint(sorted[half - 1], sorted[half]) }
}

/// The middle of the values.
pub fn median(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| middle(&sorted(values.iter().copied())))
}

/// Where the middle half of some values lies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quartiles {
    /// A quarter of the values is below.
    pub low: f64,
    /// The middle.
    pub median: f64,
    /// A quarter of the values is above.
    pub high: f64,
}

/// The quartiles of the values; between two values, the share of the way.
pub fn quartiles(values: &[f64]) -> Option<Quartiles> {
    let sorted = sorted(values.iter().copied());
    let last = sorted.len().checked_sub(1)?;
    let quarter = |number: usize| {
        let (at, rest) = (last * number / 4, last * number % 4);
        let next = sorted[(at + 1).min(last)];
        sorted[at] + (next - sorted[at]) * rest as f64 / 4.0
    };
    Some(Quartiles { low: quarter(1), median: middle(&sorted), high: quarter(3) })
}

/// Where a figure lies with 95 % certainty.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Its lower end.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
}

/// A figure, and how certain it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The figure.
    pub value: f64,
    /// Where it lies; absent where there are fewer than [`FEWEST`] measurements.
    pub interval: Option<Interval>,
    /// Measurements that it was made from.
    pub runs: usize,
}

/// What a ratio says: 1 is no difference.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Verdict {
    /// It takes more, by this share of what it takes plain.
    Slower {
        /// 0.03 is 3 % more.
        by: f64,
        /// Where that share lies.
        interval: Interval,
    },
    /// It takes less, by this share of what it takes plain.
    Faster {
        /// 0.03 is 3 % less.
        by: f64,
        /// Where that share lies.
        interval: Interval,
    },
    /// The noise hides what there may be.
    Hidden {
        /// The share that it is below, in one direction or the other.
        limit: f64,
    },
    /// There are too few measurements to say.
    TooFew {
        /// How many there are.
        runs: usize,
    },
}

impl Estimate {
    /// What it says, if it is a ratio.
    pub fn verdict(&self) -> Verdict {
        let Self { value, interval, runs } = *self;
        match interval {
            None => Verdict::TooFew { runs },
            Some(Interval { low, high }) if low > 1.0 => {
                Verdict::Slower { by: value - 1.0, interval: Interval { low: low - 1.0, high: high - 1.0 } }
            }
            Some(Interval { low, high }) if high < 1.0 => {
                Verdict::Faster { by: 1.0 - value, interval: Interval { low: 1.0 - high, high: 1.0 - low } }
            }
            Some(Interval { low, high }) => Verdict::Hidden { limit: (1.0 - low).max(high - 1.0) },
        }
    }
}

/// A limit in percent that is not rounded down: what is said to be below it is.
pub fn limit_percent(limit: f64) -> f64 {
    // What arithmetic adds to a whole number of tenths is no reason for another tenth.
    ((limit * 1000.0 - 1e-6).ceil() / 10.0).max(0.1)
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let difference = |f: &mut fmt::Formatter<'_>, by: f64, interval: &Interval, word: &str| {
            let Interval { low, high } = interval;
            write!(f, "{:.1} % {word} ({:.1} to {:.1} %)", by * 100.0, low * 100.0, high * 100.0)
        };
        match self {
            Self::Slower { by, interval } => difference(f, *by, interval, "slower"),
            Self::Faster { by, interval } => difference(f, *by, interval, "faster"),
            Self::Hidden { limit } => write!(f, "below {:.1} %, cannot be told from 0", limit_percent(*limit)),
            Self::TooFew { runs } => write!(f, "too few runs ({runs}, not {FEWEST})"),
        }
    }
}

/// Measurements of one thing, plain and watched, ready to be drawn again.
#[derive(Clone, Debug, PartialEq)]
pub enum Ratios {
    /// By round: watched over plain, sorted.
    Paired(Vec<f64>),
    /// Where too few rounds match: all values of both, sorted.
    Apart {
        /// Without an observer.
        plain: Vec<f64>,
        /// With one.
        watched: Vec<f64>,
    },
}

impl Ratios {
    /// From measurements with their rounds. Absent where there are none of one kind, where something is no number, and
    /// where something plain is not above 0: there is no ratio to nothing.
    pub fn new(plain: &[(u32, f64)], watched: &[(u32, f64)]) -> Option<Self> {
        let bad = |(_, value): &(u32, f64)| !value.is_finite() || *value < 0.0;
        if plain.is_empty() || watched.is_empty() || plain.iter().chain(watched).any(bad) {
            return None;
        }
        if plain.iter().any(|(_, value)| *value <= 0.0) {
            return None;
        }
        let (plain_rounds, watched_rounds) = (by_round(plain), by_round(watched));
        let paired = plain_rounds.iter().filter_map(|(round, plain)| Some(watched_rounds.get(round)? / plain));
        let paired = sorted(paired);
        if paired.len() >= FEWEST.min(plain.len()).min(watched.len()) {
            return Some(Self::Paired(paired));
        }
        let values = |of: &[(u32, f64)]| sorted(of.iter().map(|(_, value)| *value));
        Some(Self::Apart { plain: values(plain), watched: values(watched) })
    }

    /// What one configuration adds to the plain measurement, over what another one adds to it, by round. Absent where one
    /// of them is missing, and where the other adds nothing in more than half of the rounds: there is no ratio to noise.
    pub fn of_differences(plain: &[(u32, f64)], watched: &[(u32, f64)], other: &[(u32, f64)]) -> Option<Self> {
        let [plain, watched, other] = [plain, watched, other].map(by_round);
        let rounds: Vec<(f64, f64)> = plain
            .iter()
            .filter_map(|(round, plain)| Some((watched.get(round)? - plain, other.get(round)? - plain)))
            .collect();
        let ratios = rounds.iter().filter(|(_, other)| *other > 0.0).map(|(watched, other)| watched / other);
        let ratios = sorted(ratios);
        (!ratios.is_empty() && ratios.len() * 2 > rounds.len()).then_some(Self::Paired(ratios))
    }

    /// Rounds that both have, or measurements of which there are fewer.
    pub const fn runs(&self) -> usize {
        match self {
            Self::Paired(ratios) => ratios.len(),
            Self::Apart { plain, watched } if plain.len() < watched.len() => plain.len(),
            Self::Apart { plain: _, watched } => watched.len(),
        }
    }

    /// The ratio: the median over the rounds, or the ratio of the medians.
    pub fn value(&self) -> f64 {
        match self {
            Self::Paired(ratios) => middle(ratios),
            Self::Apart { plain, watched } => middle(watched) / middle(plain),
        }
    }

    /// The ratio of measurements drawn from these.
    fn redraw(&self, random: &mut Random, room: &mut Vec<f64>) -> f64 {
        match self {
            Self::Paired(ratios) => redraw_median(ratios, random, room),
            Self::Apart { plain, watched } => redraw_median(watched, random, room) / redraw_median(plain, random, room),
        }
    }

    /// The ratio with its interval.
    pub fn estimate(&self) -> Estimate {
        estimate(self.value(), self.runs(), |random, room| self.redraw(random, room))
    }
}

/// One value a round: where a round was measured more than once, the middle.
fn by_round(values: &[(u32, f64)]) -> BTreeMap<u32, f64> {
    let mut rounds: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for (round, value) in values {
        rounds.entry(*round).or_default().push(*value);
    }
    rounds.into_iter().map(|(round, values)| (round, middle(&sorted(values)))).collect()
}

/// The median of as many values drawn from these, which must not be empty, in room that is used again.
fn redraw_median(values: &[f64], random: &mut Random, room: &mut Vec<f64>) -> f64 {
    room.clear();
    room.extend(values.iter().map(|_| values[random.below(values.len())]));
    room.sort_unstable_by(f64::total_cmp);
    middle(room)
}

/// A figure with the interval that drawing again gives.
fn estimate(value: f64, runs: usize, mut redraw: impl FnMut(&mut Random, &mut Vec<f64>) -> f64) -> Estimate {
    if runs < FEWEST {
        return Estimate { value, interval: None, runs };
    }
    let (mut random, mut room) = (Random::new(SEED), Vec::new());
    let drawn = sorted((0..RESAMPLES).map(|_| redraw(&mut random, &mut room)));
    let tail = RESAMPLES / 40;
    Estimate { value, interval: Some(Interval { low: drawn[tail], high: drawn[RESAMPLES - 1 - tail] }), runs }
}

/// The geometric mean of the ratios of several programs. Its interval says how certain the measurements make it, not what
/// other programs would give: the rounds of each program are drawn again, the programs stay.
pub fn geometric_mean(programs: &[Ratios]) -> Option<Estimate> {
    let runs = programs.iter().map(Ratios::runs).min()?;
    let mean = |sum: f64| (sum / programs.len() as f64).exp();
    let value = mean(programs.iter().map(|ratios| ratios.value().ln()).sum());
    let redraw = |random: &mut Random, room: &mut Vec<f64>| {
        mean(programs.iter().map(|ratios| ratios.redraw(random, room).ln()).sum())
    };
    // The mean with something that came down to nothing is no number that says anything.
    (value > 0.0 && value.is_finite()).then(|| estimate(value, runs, redraw))
}

/// How much the median of some values is above that of others, divided by a number that is above 0.
pub fn difference(plain: &[f64], watched: &[f64], divisor: f64) -> Option<Estimate> {
    let per = |plain: f64, watched: f64| (watched - plain) / divisor;
    let value = per(median(plain)?, median(watched)?);
    let (plain, watched) = (sorted(plain.iter().copied()), sorted(watched.iter().copied()));
    let redraw = |random: &mut Random, room: &mut Vec<f64>| {
        per(redraw_median(&plain, random, room), redraw_median(&watched, random, room))
    };
    value.is_finite().then(|| estimate(value, plain.len().min(watched.len()), redraw))
}

#[cfg(test)]
mod tests;

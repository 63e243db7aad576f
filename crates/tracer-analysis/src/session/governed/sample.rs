//! What the beginnings of windows say of the time between them: an estimate with its interval.
//!
//! A group that is away comes back at a random moment, in each as likely as in any other of the same pause (`guard.rs`). So a
//! window's beginning is a fair sample of the time that the group is away, and stands for as much of it as a pause lasts on
//! average. What was seen is added exactly: only the time away is estimated.
//!
//! The interval is that of a weighted mean of independent samples by Student's t. Few samples of what comes in bursts know
//! little about the rarest of them, and then such an interval is too narrow; so two more samples are supposed at the highest
//! rate that was ever seen, and two at the lowest (as Agresti and Coull do for shares).

/// Fewest windows that an estimate is made from.
pub(super) const FEWEST_WINDOWS: u64 = 5;

/// Samples that are supposed at each end.
const SUPPOSED: f64 = 2.0;

/// Beginnings of windows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sample {
    windows: u64,
    /// Time that was looked at.
    time: f64,
    /// Sums of weights, their squares, and these times rates and squares of rates.
    weights: f64,
    rates: f64,
    squares: f64,
    rate_squares: f64,
    square_rates: f64,
    lowest: f64,
    highest: f64,
}

/// What a number is taken to be over a span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Estimate {
    pub(super) value: u64,
    pub(super) low: u64,
    pub(super) high: u64,
    pub(super) windows: u64,
}

impl Default for Sample {
    fn default() -> Self {
        Self {
            windows: 0,
            time: 0.0,
            weights: 0.0,
            rates: 0.0,
            squares: 0.0,
            rate_squares: 0.0,
            square_rates: 0.0,
            lowest: f64::INFINITY,
            highest: 0.0,
        }
    }
}

impl Sample {
    /// Takes the beginning of a window, which stands for so much time.
    pub(super) fn add(&mut self, stands_for_ns: u64, looked_ns: u64, count: u64) {
        if stands_for_ns == 0 || looked_ns == 0 {
            return;
        }
        let (weight, time) = (stands_for_ns as f64 / 1e9, looked_ns as f64 / 1e9);
        let rate = count as f64 / time;
        self.windows += 1;
        self.time += time;
        self.weights += weight;
        self.rates += weight * rate;
        self.squares += weight * weight;
        self.rate_squares += weight * weight * rate;
        self.square_rates += (weight * rate) * (weight * rate);
        self.bound(rate);
    }

    /// A rate was seen that is no sample.
    pub(super) const fn bound(&mut self, per_s: f64) {
        self.lowest = self.lowest.min(per_s);
        self.highest = self.highest.max(per_s);
    }

    /// The number where so much of the time was not seen; `slowed` is the share of a core that traps took in windows.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "positive; a cast saturates")]
    pub(super) fn over(&self, away_ns: u64, seen: u64, slowed: f64) -> Option<Estimate> {
        if self.windows < FEWEST_WINDOWS {
            return None;
        }
        let (n, away) = (self.windows as f64, away_ns as f64 / 1e9);
        let rate = self.rates / self.weights;
        // With those that are supposed, of a usual weight.
        let usual = (self.squares / n).sqrt();
        let added = SUPPOSED * usual;
        let weights = 2.0f64.mul_add(added, self.weights);
        let centre = added.mul_add(self.lowest + self.highest, self.rates) / weights;
        // What samples lie off it, by their weights and squared.
        let own = self.square_rates - 2.0 * centre * self.rate_squares + centre * centre * self.squares;
        let ends = [self.lowest, self.highest].map(|end| (end - centre) * (end - centre));
        let off = own.max(0.0) + SUPPOSED * usual * usual * (ends[0] + ends[1]);
        let all = 2.0f64.mul_add(SUPPOSED, n);
        // What came while nobody looked varies by itself as well.
        let error = (off * all / (all - 1.0)).sqrt() / weights * (1.0 + self.time / away.max(self.time)).sqrt();
        let half = student_95(self.windows - 1) * error;
        let at_least = |per_s: f64| ((away * per_s).max(0.0).round() as u64).saturating_add(seen);
        let [value, low] = [rate, (centre - half).min(rate)].map(at_least);
        let high = at_least((centre + half).max(rate) / (1.0 - slowed));
        Some(Estimate { value, low, high, windows: self.windows })
    }
}

/// The 97.5 % quantile of Student's t; beyond 20 degrees of freedom within 0.3 %.
pub(super) fn student_95(freedom: u64) -> f64 {
    const TABLE: [f64; 20] = [
        12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
        2.120, 2.110, 2.101, 2.093, 2.086,
    ];
    let at = usize::try_from(freedom.max(1) - 1).unwrap_or(usize::MAX);
    TABLE.get(at).copied().unwrap_or(1.96 + 2.5 / freedom as f64)
}

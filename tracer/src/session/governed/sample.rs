//! What windows say of the whole: a ratio estimate with its interval.

use super::FEWEST_WINDOWS;

/// Sums over windows, of seconds and counts.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sample {
    windows: u64,
    time: f64,
    count: f64,
    times: f64,
    counts: f64,
    products: f64,
}

/// What a number is taken to be over a span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Estimate {
    pub(super) value: u64,
    pub(super) low: u64,
    pub(super) high: u64,
    pub(super) windows: u64,
}

impl Sample {
    pub(super) fn add(&mut self, window_ns: u64, count: u64) {
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
    pub(super) fn over(&self, span_ns: u64, before: u64, seen: u64, slowed: f64) -> Option<Estimate> {
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
pub(super) fn student_95(freedom: u64) -> f64 {
    const TABLE: [f64; 20] = [
        12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
        2.120, 2.110, 2.101, 2.093, 2.086,
    ];
    let at = usize::try_from(freedom.max(1) - 1).unwrap_or(usize::MAX);
    TABLE.get(at).copied().unwrap_or(1.96 + 2.5 / freedom as f64)
}

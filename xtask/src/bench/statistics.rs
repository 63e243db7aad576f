//! Medians, and how certain they are.

use std::time::{SystemTime, UNIX_EPOCH};

/// How often the sample is drawn again.
const RESAMPLES: usize = 10_000;

/// Random numbers (xorshift); the benchmarks need no better ones.
pub(crate) struct Random(u64);

impl Random {
    /// Starts anywhere.
    pub(crate) fn from_clock() -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self(u64::from(now.subsec_nanos()) << 20 | 1)
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % limit.max(1) as u64).unwrap_or(0)
    }
}

/// The middle of the values, which must not be empty.
pub(crate) fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    if sorted.len() % 2 == 1 { sorted[middle] } else { f64::midpoint(sorted[middle - 1], sorted[middle]) }
}

/// The values that a quarter and three quarters of all do not exceed.
pub(crate) fn quartiles(values: &[f64]) -> (f64, f64) {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let at = |quarters: usize| sorted[(sorted.len() * quarters).div_ceil(4) - 1];
    (at(1), at(3))
}

/// Where the median lies with 95 % certainty: percentiles of the medians of samples drawn from this one (bootstrap).
pub(crate) fn interval(values: &[f64], random: &mut Random) -> (f64, f64) {
    let mut medians: Vec<f64> = (0..RESAMPLES)
        .map(|_| median(&values.iter().map(|_| values[random.below(values.len())]).collect::<Vec<_>>()))
        .collect();
    medians.sort_by(f64::total_cmp);
    (medians[RESAMPLES / 40], medians[RESAMPLES - 1 - RESAMPLES / 40])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_of_odd_and_even_samples() {
        assert!((median(&[3.0, 1.0, 2.0]) - 2.0).abs() < 1e-9);
        assert!((median(&[4.0, 1.0, 2.0, 3.0]) - 2.5).abs() < 1e-9);
    }

    #[test]
    fn quartiles_are_values_of_the_sample() {
        assert_eq!(quartiles(&[4.0, 1.0, 3.0, 2.0]), (1.0, 3.0));
        assert_eq!(quartiles(&[5.0]), (5.0, 5.0));
        assert_eq!(quartiles(&[3.0, 1.0, 2.0]), (1.0, 3.0));
    }

    #[test]
    fn the_interval_holds_the_median_and_shrinks_with_the_spread() {
        let mut random = Random(42);
        let wide: Vec<f64> = (0..20).map(|i| 1.0 + f64::from(i) / 100.0).collect();
        let (low, high) = interval(&wide, &mut random);
        assert!(low < median(&wide) && median(&wide) < high && low > 1.0 && high < 1.2);
        let (low, high) = interval(&[1.5; 20], &mut random);
        assert!((low - 1.5).abs() + (high - 1.5).abs() < 1e-9);
    }
}

//! Where a value lies on an axis, which is logarithmic where values are of different size.

/// From this ratio of the largest to the smallest value on, an axis is logarithmic.
const LARGE_RATIO: f64 = 4.0;
/// Most values that are written below an axis.
const MAX_TICKS: usize = 9;

/// An axis.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale {
    low: f64,
    high: f64,
    is_logarithmic: bool,
    left: f64,
    width: f64,
}

impl Scale {
    /// An axis from `left` on that has room for all of the values. Values that are not above 0 have no place.
    pub(super) fn new(values: impl Iterator<Item = f64>, left: f64, width: f64) -> Option<Self> {
        let values = values.filter(|value| value.is_finite() && *value > 0.0);
        let (low, high) = values.fold(None, |range: Option<(f64, f64)>, value| {
            Some(range.map_or((value, value), |(low, high)| (low.min(value), high.max(value))))
        })?;
        let is_logarithmic = high / low > LARGE_RATIO;
        if is_logarithmic {
            let room = (high / low).powf(0.04);
            return Some(Self { low: low / room, high: high * room, is_logarithmic, left, width });
        }
        // One value alone needs some room, too.
        let room = ((high - low) * 0.06).max(high * 0.005);
        Some(Self { low: low - room, high: high + room, is_logarithmic, left, width })
    }

    /// Whether steps are factors.
    pub(super) const fn is_logarithmic(&self) -> bool {
        self.is_logarithmic
    }

    /// Where the value is; what lies outside is at the end.
    pub(super) fn at(&self, value: f64) -> f64 {
        let Self { low, high, is_logarithmic, left, width } = *self;
        let value = value.clamp(low, high);
        let share = if is_logarithmic { (value / low).ln() / (high / low).ln() } else { (value - low) / (high - low) };
        left + share * width
    }

    /// Round values to be written below, and how far they are from each other at least.
    pub(super) fn ticks(&self) -> (Vec<f64>, f64) {
        if !self.is_logarithmic {
            return self.even_ticks();
        }
        let in_range = |value: &f64| (self.low..=self.high).contains(value);
        let powers: Vec<f64> = powers_of_ten(self.low, self.high);
        let all = |factors: &[f64]| -> Vec<f64> {
            powers.iter().flat_map(|power| factors.iter().map(move |factor| power * factor)).filter(in_range).collect()
        };
        let fine = all(&[1.0, 2.0, 5.0]);
        let ticks = if fine.len() <= MAX_TICKS { fine } else { all(&[1.0]) };
        let every = ticks.len().div_ceil(MAX_TICKS).max(1);
        let ticks: Vec<f64> = ticks.into_iter().step_by(every).collect();
        let step = ticks.first().copied().unwrap_or(1.0);
        (ticks, step)
    }

    fn even_ticks(&self) -> (Vec<f64>, f64) {
        let Self { low, high, .. } = *self;
        let wanted = (high - low) / 5.0;
        let candidates =
            powers_of_ten(wanted, wanted).into_iter().flat_map(|power| [1.0, 2.0, 5.0].map(|of| of * power));
        let step = candidates.filter(|step| *step >= wanted * 0.999).fold(f64::INFINITY, f64::min);
        let first = (low / step).ceil();
        let ticks = (0_u32..12).map(|at| (first + f64::from(at)) * step);
        (ticks.take_while(|value| *value <= high).collect(), step)
    }
}

/// The powers of ten from the last one that is not above the lowest value to the first one that is above the highest.
fn powers_of_ten(low: f64, high: f64) -> Vec<f64> {
    let first = low.log10().floor();
    let powers = (0_u32..400).map(|at| 10_f64.powf(first + f64::from(at)));
    let mut powers: Vec<f64> = powers.take_while(|power| *power <= high).collect();
    powers.extend(powers.last().map(|last| last * 10.0));
    powers
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scale(values: &[f64]) -> Scale {
        Scale::new(values.iter().copied(), 100.0, 500.0).unwrap()
    }

    #[test]
    fn values_of_similar_size_are_on_an_even_axis() {
        let scale = scale(&[1.0, 1.5, 2.0]);
        assert!(!scale.is_logarithmic());
        assert!((scale.at(1.5) - 350.0).abs() < 1e-9);
        assert!(scale.at(1.0) > 100.0 && scale.at(2.0) < 600.0);
        let (ticks, step) = scale.ticks();
        assert!((step - 0.5).abs() < 1e-12 && ticks.len() == 3, "{ticks:?}");
    }

    #[test]
    fn values_of_different_size_are_on_a_logarithmic_axis() {
        let scale = scale(&[1.0, 100.0]);
        assert!(scale.is_logarithmic());
        assert!((scale.at(10.0) - 350.0).abs() < 1e-9);
        assert_eq!(scale.ticks().0.len(), 7);
    }

    #[test]
    fn one_value_and_values_out_of_reach_have_a_place() {
        let one = scale(&[3.0, f64::NAN, -1.0, 0.0]);
        assert!((one.at(3.0) - 350.0).abs() < 1e-9);
        assert!((one.at(0.0) - 100.0).abs() < 1e-9 && (one.at(f64::INFINITY) - 600.0).abs() < 1e-9);
        assert!(Scale::new([f64::NAN].into_iter(), 0.0, 1.0).is_none());
    }

    #[test]
    fn every_axis_has_a_few_values_that_lie_on_it() {
        for values in [[1.0, 1.001], [0.9, 1.1], [1.0, 4.1], [1.0, 1e19], [2e9, 6.1e9], [1e-9, 1e-8], [999.0, 1001.0]] {
            let scale = scale(&values);
            let (ticks, _) = scale.ticks();
            assert!((2..=MAX_TICKS).contains(&ticks.len()), "{values:?} {ticks:?}");
            assert!(ticks.iter().all(|tick| (100.0..=600.0).contains(&scale.at(*tick))), "{values:?} {ticks:?}");
        }
    }
}

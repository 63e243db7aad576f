//! Amounts over time in a bounded number of equal steps: where a span outgrows them, steps become twice as wide.

use crate::report::Span;

/// Most steps of a timeline.
pub(super) const STEPS: usize = 600;

/// Width of a step in the beginning.
pub(super) const SECOND_NS: u64 = 1_000_000_000;

/// Amounts of `N` series a step.
#[derive(Clone, Debug)]
pub(super) struct Steps<const N: usize> {
    origin_ns: Option<u64>,
    step_ns: u64,
    values: Vec<[u64; N]>,
}

impl<const N: usize> Default for Steps<N> {
    fn default() -> Self {
        Self { origin_ns: None, step_ns: SECOND_NS, values: Vec::new() }
    }
}

impl<const N: usize> Steps<N> {
    /// Steps count from here. Without it they count from the first event.
    pub(super) fn start(&mut self, start_ns: u64) {
        self.origin_ns.get_or_insert(start_ns);
    }

    /// Adds an amount to a series at a time.
    pub(super) fn add(&mut self, series: usize, time_ns: u64, amount: u64) {
        let index = self.index(time_ns);
        if let Some(value) = self.values.get_mut(index).and_then(|step| step.get_mut(series)) {
            *value = value.saturating_add(amount);
        }
    }

    /// Adds a stretch of time to a series, to every step its part in ns.
    pub(super) fn add_stretch(&mut self, series: usize, begin_ns: u64, end_ns: u64) {
        let last = self.index(end_ns);
        let first = self.index(begin_ns).min(last);
        let origin = self.origin_ns.unwrap_or(begin_ns);
        for index in first..=last {
            let from = origin.saturating_add(self.step_ns.saturating_mul(index as u64));
            let to = from.saturating_add(self.step_ns);
            let part = end_ns.min(to).saturating_sub(begin_ns.max(from));
            if let Some(value) = self.values.get_mut(index).and_then(|step| step.get_mut(series)) {
                *value = value.saturating_add(part);
            }
        }
    }

    /// Width of a step, and per series one value for each step of the span.
    pub(super) fn series(&self, span: &Span) -> (u64, [Vec<f64>; N]) {
        let mut all = self.clone();
        if span.duration_ns > 0 {
            all.index(all.origin_ns.unwrap_or(span.start_ns).saturating_add(span.duration_ns - 1));
        }
        let values = std::array::from_fn(|series| {
            all.values.iter().map(|step| step.get(series).map_or(0.0, |value| *value as f64)).collect()
        });
        (all.step_ns, values)
    }

    /// The step of a time; widens steps until there is one.
    fn index(&mut self, time_ns: u64) -> usize {
        let since = time_ns.saturating_sub(*self.origin_ns.get_or_insert(time_ns));
        loop {
            let index = usize::try_from(since / self.step_ns).unwrap_or(usize::MAX);
            if index < STEPS {
                if index >= self.values.len() {
                    self.values.resize(index + 1, [0; N]);
                }
                return index;
            }
            self.widen();
        }
    }

    fn widen(&mut self) {
        self.step_ns = self.step_ns.saturating_mul(2);
        self.values = self
            .values
            .chunks(2)
            .map(|pair| {
                std::array::from_fn(|series| {
                    pair.iter().filter_map(|step| step.get(series)).fold(0_u64, |sum, value| sum.saturating_add(*value))
                })
            })
            .collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(seconds: u64) -> Span {
        Span { start_ns: 0, duration_ns: seconds * SECOND_NS, started_at_ms: 0, end: String::new() }
    }

    #[test]
    fn a_stretch_is_split_at_steps() {
        let mut steps = Steps::<1>::default();
        steps.start(0);
        steps.add_stretch(0, 900_000_000, 2_250_000_000);
        let (step_ns, [values]) = steps.series(&span(4));
        assert_eq!((step_ns, values), (SECOND_NS, vec![1e8, 1e9, 2.5e8, 0.0]));
    }

    #[test]
    fn steps_widen_and_keep_the_sum() {
        let mut steps = Steps::<2>::default();
        steps.start(0);
        for second in 0..1500 {
            steps.add(1, second * SECOND_NS, 2);
        }
        let (step_ns, [first, second]) = steps.series(&span(1500));
        assert_eq!((step_ns, second.len()), (4 * SECOND_NS, 375));
        assert!((second.iter().sum::<f64>() - 3000.0).abs() < 1e-9 && first.iter().all(|value| *value == 0.0));
    }

    #[test]
    fn absurd_times_end() {
        let mut steps = Steps::<1>::default();
        steps.start(u64::MAX);
        steps.add(0, 0, 1);
        steps.add_stretch(0, 0, u64::MAX);
        let mut steps = Steps::<1>::default();
        steps.start(0);
        steps.add_stretch(0, 0, u64::MAX);
        assert!(steps.series(&span(1)).1[0].len() <= STEPS);
    }
}

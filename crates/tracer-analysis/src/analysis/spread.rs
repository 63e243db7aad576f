//! Amounts by key over time, for keys whose meaning is known only when the section is built: a stack has its names then.
//!
//! As in [`super::steps`] there are at most so many steps, which become twice as wide where a span outgrows them. The number of entries
//! over all steps is bounded too: steps become wider where it is reached, so that what comes late has its keys as what came early. Where
//! there are few steps already, what comes is added up a step without its key.

mod step;

use std::hash::Hash;

use self::step::Step;
use super::{
    ended::{EndedThreads, OfThread},
    rare::{OfStack, Replaced},
    steps::{SECOND_NS, STEPS},
};
use crate::{event::Tid, report::Span};

/// Most entries over all steps: some 2 MiB.
const ENTRIES: usize = 65_536;
/// So few steps do not become wider for entries.
const FEW_STEPS: usize = 60;

/// Amounts by step and key.
#[derive(Clone, Debug)]
pub(super) struct Spread<K> {
    origin_ns: Option<u64>,
    step_ns: u64,
    steps: Vec<Step<K>>,
    entries: usize,
    limit: usize,
    most_steps: usize,
}

impl<K> Default for Spread<K> {
    fn default() -> Self {
        Self::new(SECOND_NS, STEPS, ENTRIES)
    }
}

impl<K> Spread<K> {
    /// Steps that are so wide in the beginning, at most so many of them, and at most so many entries.
    pub(super) const fn new(step_ns: u64, most_steps: usize, limit: usize) -> Self {
        Self { origin_ns: None, step_ns, steps: Vec::new(), entries: 0, limit, most_steps }
    }

    /// Width of a step, where it is known when the first one begins.
    pub(super) fn step_ns(&self) -> Option<u64> {
        self.origin_ns.map(|_| self.step_ns)
    }
}

impl<K: Copy + Ord + Hash> Spread<K> {
    /// Steps count from here. Without it they count from the first event.
    pub(super) fn start(&mut self, start_ns: u64) {
        self.origin_ns.get_or_insert(start_ns);
    }

    /// Adds an amount to a key at a time.
    pub(super) fn add(&mut self, key: K, time_ns: u64, amount: u64) {
        self.make_room();
        let index = self.index(time_ns);
        self.put(index, key, amount);
    }

    /// Adds a stretch of time to a key, to every step its part in ns; what lies before the first step is left out.
    pub(super) fn add_stretch(&mut self, key: K, begin_ns: u64, end_ns: u64) {
        self.make_room();
        let last = self.index(end_ns);
        let first = self.index(begin_ns).min(last);
        let origin = self.origin_ns.unwrap_or(begin_ns);
        for index in first..=last {
            let from = origin.saturating_add(self.step_ns.saturating_mul(index as u64));
            let to = from.saturating_add(self.step_ns);
            match end_ns.min(to).saturating_sub(begin_ns.max(from)) {
                0 => {}
                part => self.put(index, key, part),
            }
        }
    }

    /// Width of a step, and for each of `N` series one value a step of the span. `series` tells the one that a key belongs
    /// to; the last one takes what was added beyond the bound.
    pub(super) fn series<const N: usize>(
        &self,
        span: &Span,
        mut series: impl FnMut(K) -> usize,
    ) -> (u64, [Vec<f64>; N]) {
        let mut sums: Vec<[u64; N]> = self.steps.iter().map(|step| sums(step, &mut series)).collect();
        if let Some(last) = self.last_step(span)
            && last >= sums.len()
        {
            sums.resize(last + 1, [0; N]);
        }
        let values = std::array::from_fn(|series| {
            sums.iter().map(|step| step.get(series).map_or(0.0, |sum| *sum as f64)).collect()
        });
        (self.step_ns, values)
    }

    /// Width of a step with the entries, as [`Self::iter`] gives them.
    pub(super) fn entries(&self) -> (u64, impl Iterator<Item = (u32, K, u64)> + '_) {
        (self.step_ns, self.iter())
    }

    /// The entries, in no order within a step, without what is beyond the bound.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, K, u64)> + '_ {
        (0..).zip(&self.steps).flat_map(|(index, step)| step.iter().map(move |(key, amount)| (index, key, amount)))
    }

    /// The last step of the span, where it is one of those that there can be.
    fn last_step(&self, span: &Span) -> Option<usize> {
        let last_ns = span.duration_ns.checked_sub(1)?;
        usize::try_from(last_ns / self.step_ns).ok().filter(|index| *index < self.most_steps)
    }

    /// Entries of threads that ended become those of [`Tid::ENDED`], as the rows have whose steps these are.
    pub(super) fn sum_up(&mut self, ended: &EndedThreads)
    where
        K: OfThread,
    {
        self.change_keys(|key| if ended.contains(key.tid()) { key.with_tid(Tid::ENDED) } else { key });
    }

    /// Others take the place of stacks.
    pub(super) fn replace_stacks(&mut self, replaced: &Replaced)
    where
        K: OfStack,
    {
        self.change_keys(|key| key.with_stack(replaced.now(key.stack())));
    }

    fn change_keys(&mut self, change: impl Fn(K) -> K) {
        for step in &mut self.steps {
            step.change_keys(&change);
        }
        self.count();
    }

    fn put(&mut self, index: usize, key: K, amount: u64) {
        let Some(step) = self.steps.get_mut(index) else { return };
        if step.add(key, amount) {
            return;
        }
        if self.entries < self.limit {
            step.insert(key, amount);
            self.entries += 1;
        } else {
            step.others = step.others.saturating_add(amount);
        }
    }

    /// Widens steps where there are as many entries as there can be.
    fn make_room(&mut self) {
        while self.entries >= self.limit && self.steps.len() > FEW_STEPS {
            self.widen();
        }
    }

    /// The step of a time; widens steps until there is one.
    fn index(&mut self, time_ns: u64) -> usize {
        let since = time_ns.saturating_sub(*self.origin_ns.get_or_insert(time_ns));
        loop {
            let index = usize::try_from(since / self.step_ns).unwrap_or(usize::MAX);
            if index < self.most_steps {
                if index >= self.steps.len() {
                    self.steps.resize_with(index + 1, Step::default);
                }
                return index;
            }
            self.widen();
        }
    }

    fn widen(&mut self) {
        self.step_ns = self.step_ns.saturating_mul(2);
        let mut steps = std::mem::take(&mut self.steps).into_iter();
        while let Some(mut step) = steps.next() {
            if let Some(second) = steps.next() {
                step.merge(&second);
            }
            self.steps.push(step);
        }
        self.count();
    }

    fn count(&mut self) {
        self.entries = self.steps.iter().map(Step::len).sum();
    }
}

/// A step's amounts, added up by series.
fn sums<K: Copy + Ord + Hash, const N: usize>(step: &Step<K>, series: &mut impl FnMut(K) -> usize) -> [u64; N] {
    let mut sums = [0_u64; N];
    for (key, amount) in step.iter() {
        if let Some(sum) = sums.get_mut(series(key)) {
            *sum = sum.saturating_add(amount);
        }
    }
    if let Some(last) = sums.last_mut() {
        *last = last.saturating_add(step.others);
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(seconds: u64) -> Span {
        Span { start_ns: 0, duration_ns: seconds * SECOND_NS, started_at_ms: 0, end: String::new() }
    }

    #[test]
    fn keys_become_series_when_they_are_asked_for() {
        let mut spread = Spread::default();
        spread.start(0);
        spread.add(10_u64, 0, 1);
        spread.add(11, 500_000_000, 2);
        spread.add_stretch(20, 900_000_000, 2_250_000_000);
        let (step_ns, [tens, twenties]) = spread.series(&span(4), |key| usize::from(key >= 20));
        assert_eq!(step_ns, SECOND_NS);
        assert_eq!((tens, twenties), (vec![3.0, 0.0, 0.0, 0.0], vec![1e8, 1e9, 2.5e8, 0.0]));
    }

    #[test]
    fn steps_widen_and_keep_the_sum_of_each_key() {
        let mut spread = Spread::default();
        spread.start(0);
        for second in 0..1500 {
            spread.add(second % 2, second * SECOND_NS, 2);
        }
        let (step_ns, [even, odd]) = spread.series(&span(1500), |key| usize::from(key == 1));
        assert_eq!((step_ns, even.len(), spread.entries), (4 * SECOND_NS, 375, 750));
        assert!(even.iter().chain(&odd).all(|value| (value - 4.0).abs() < 1e-9));
    }

    #[test]
    fn steps_widen_where_keys_are_many_so_that_late_ones_are_told_apart() {
        let mut spread = Spread::new(SECOND_NS, STEPS, 1000);
        spread.start(0);
        for second in 0..200 {
            // Nine come each second, and one once.
            for key in (0..9).chain([1000 + second]) {
                spread.add(key, second * SECOND_NS, 1);
            }
        }
        let (step_ns, [usual, late, all]) = spread.series(&span(200), |key| match key {
            0..9 => 0,
            1199 => 1,
            _ => 2,
        });
        let sum = |values: &[f64]| values.iter().sum::<f64>();
        assert_eq!((sum(&usual), sum(&late), sum(&all)), (1800.0, 1.0, 199.0), "nothing is without its key");
        assert!(step_ns > SECOND_NS && spread.entries <= 1000 && usual.len() > FEW_STEPS / 2, "{step_ns}");
    }

    #[test]
    fn what_is_beyond_the_bound_is_in_the_last_series() {
        let mut spread = Spread { limit: 2, ..Spread::default() };
        for key in [1_u64, 2, 3, 1, 4] {
            spread.add(key, 5, 1);
        }
        let (_, [known, unknown]) = spread.series(&span(1), |_| 0);
        assert_eq!((known, unknown), (vec![3.0], vec![2.0]));
    }

    #[test]
    fn absurd_times_end() {
        let mut spread = Spread::default();
        spread.start(0);
        spread.add_stretch(1_u64, 0, u64::MAX);
        assert!(spread.series::<1>(&span(1), |_| 7).1[0].len() <= STEPS);
    }
}

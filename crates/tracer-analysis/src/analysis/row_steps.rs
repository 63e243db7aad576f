//! When the amounts of a table's rows came: by key and step of time, in bounded memory. Only pages show them.
//!
//! As in [`super::steps`] there are at most so many steps, which become twice as wide where a span outgrows them. Entries are
//! bounded over all steps too; what has none is counted, so that a page can say how much of a range it does not know.

use std::{collections::BTreeMap, hash::Hash};

use super::{
    distribution::Durations,
    steps::SECOND_NS,
    table::{FastMap, Merge as _},
};
use crate::report::{Cell, Gather, RowSteps, StepColumn, TableSteps, Word};

/// Most steps of a table; they double, so there are half as many at least.
const STEPS: usize = 240;
/// Most pairs of key and step: some 1 MiB here.
const ENTRIES: usize = 16_384;

/// Numbers and times by key over time.
#[derive(Clone, Debug)]
pub(super) struct Timed<K> {
    origin_ns: Option<u64>,
    step_ns: u64,
    steps: Vec<FastMap<K, Durations>>,
    entries: usize,
    left_out: u64,
}

impl<K> Default for Timed<K> {
    fn default() -> Self {
        Self { origin_ns: None, step_ns: SECOND_NS, steps: Vec::new(), entries: 0, left_out: 0 }
    }
}

impl<K: Copy + Eq + Hash> Timed<K> {
    /// Steps count from here. Without it nothing is kept.
    pub(super) fn start(&mut self, start_ns: u64) {
        self.origin_ns.get_or_insert(start_ns);
    }

    /// Adds that many things at a time.
    pub(super) fn count(&mut self, key: K, time_ns: u64, count: u64) {
        self.add(key, time_ns, Durations { count, ..Durations::default() });
    }

    /// Adds things at a time. What they amount to need not be a time.
    pub(super) fn add(&mut self, key: K, time_ns: u64, amounts: Durations) {
        if let Some(index) = self.index(time_ns) {
            self.put(index, key, amounts);
        }
    }

    /// Adds a stretch of time, to every step its part, and its length to the step in which it ends.
    pub(super) fn stretch(&mut self, key: K, begin_ns: u64, end_ns: u64) {
        let Some(origin) = self.origin_ns else { return };
        let Some(last) = self.index(end_ns) else { return };
        let first = self.index(begin_ns.max(origin)).unwrap_or(last).min(last);
        for index in first..=last {
            let from = origin.saturating_add(self.step_ns.saturating_mul(index as u64));
            let to = from.saturating_add(self.step_ns);
            let total_ns = end_ns.min(to).saturating_sub(begin_ns.max(from));
            let max_ns = if index == last { end_ns.saturating_sub(begin_ns) } else { 0 };
            self.put(index, key, Durations { count: 0, total_ns, max_ns });
        }
    }

    /// A thing that lasted so long, which counts where it ends.
    pub(super) fn record(&mut self, key: K, begin_ns: u64, end_ns: u64) {
        self.count(key, end_ns, 1);
        self.stretch(key, begin_ns, end_ns);
    }

    /// The steps of a table's rows, which its first cells tell apart: `label` gives a key's row, `None` of a key without one.
    /// `columns` says which of the amounts the table has.
    pub(super) fn table<L: Ord>(
        &self,
        (section, table): (Word, Word),
        columns: &[(Word, Amount)],
        label: impl Fn(&K) -> Option<L>,
        labels: impl Fn(L) -> Vec<Cell>,
    ) -> TableSteps {
        let mut rows: BTreeMap<L, BTreeMap<u32, Durations>> = BTreeMap::new();
        for (step, entries) in (0..).zip(&self.steps) {
            for (key, amounts) in entries {
                if let Some(label) = label(key) {
                    rows.entry(label).or_default().entry(step).or_default().merge(amounts);
                }
            }
        }
        let amounts = |of: &Durations| columns.iter().map(|(_, amount)| amount.of(of)).collect();
        let row = |(label, steps): (L, BTreeMap<u32, Durations>)| RowSteps {
            labels: labels(label),
            steps: steps.iter().map(|(step, of)| (*step, amounts(of))).collect(),
        };
        TableSteps {
            section,
            table,
            step_ns: self.step_ns,
            columns: columns.iter().map(|(key, amount)| StepColumn { key, gather: amount.gather() }).collect(),
            rows: rows.into_iter().map(row).collect(),
            left_out: self.left_out,
            weights: Vec::new(),
        }
    }

    fn put(&mut self, index: usize, key: K, amounts: Durations) {
        let Some(step) = self.steps.get_mut(index) else { return };
        if let Some(known) = step.get_mut(&key) {
            known.merge(&amounts);
        } else if self.entries < ENTRIES {
            step.insert(key, amounts);
            self.entries += 1;
        } else {
            self.left_out += 1;
        }
    }

    /// The step of a time from the origin on; widens steps until there is one.
    fn index(&mut self, time_ns: u64) -> Option<usize> {
        let since = time_ns.saturating_sub(self.origin_ns?);
        loop {
            let index = usize::try_from(since / self.step_ns).unwrap_or(usize::MAX);
            if index < STEPS {
                if index >= self.steps.len() {
                    self.steps.resize_with(index + 1, FastMap::default);
                }
                return Some(index);
            }
            self.widen();
        }
    }

    fn widen(&mut self) {
        self.step_ns = self.step_ns.saturating_mul(2);
        let mut steps = std::mem::take(&mut self.steps).into_iter();
        while let Some(mut step) = steps.next() {
            for (key, amounts) in steps.next().unwrap_or_default() {
                match step.get_mut(&key) {
                    Some(known) => {
                        known.merge(&amounts);
                        self.entries -= 1;
                    }
                    None => _ = step.insert(key, amounts),
                }
            }
            self.steps.push(step);
        }
    }
}

/// The steps of a table of one amount, out of what a [`Spread`](super::spread::Spread) kept.
pub(super) fn of_amounts<K, L: Ord>(
    (section, table): (Word, Word),
    column: Word,
    (step_ns, amounts): (u64, impl Iterator<Item = (u32, K, u64)>),
    mut label: impl FnMut(K) -> L,
    labels: impl Fn(L) -> Vec<Cell>,
) -> TableSteps {
    let mut rows: BTreeMap<L, BTreeMap<u32, u64>> = BTreeMap::new();
    for (step, key, amount) in amounts {
        let sum = rows.entry(label(key)).or_default().entry(step).or_default();
        *sum = sum.saturating_add(amount);
    }
    let row = |(label, steps): (L, BTreeMap<u32, u64>)| RowSteps {
        labels: labels(label),
        steps: steps.into_iter().map(|(step, amount)| (step, vec![amount])).collect(),
    };
    let columns = vec![StepColumn { key: column, gather: Gather::Sum }];
    let rows = rows.into_iter().map(row).collect();
    TableSteps { section, table, step_ns, columns, rows, left_out: 0, weights: Vec::new() }
}

/// An amount of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Amount {
    /// How many.
    Count,
    /// How long all together.
    Total,
    /// How long the longest, which counts where it ends.
    Max,
    /// The total by the weight of the steps.
    Mean,
}

impl Amount {
    const fn of(self, durations: &Durations) -> u64 {
        match self {
            Self::Count => durations.count,
            Self::Total | Self::Mean => durations.total_ns,
            Self::Max => durations.max_ns,
        }
    }

    const fn gather(self) -> Gather {
        match self {
            Self::Count | Self::Total => Gather::Sum,
            Self::Max => Gather::Max,
            Self::Mean => Gather::Mean,
        }
    }
}

/// The columns of most tables with times.
pub(super) const COUNT_TOTAL_MAX: [(Word, Amount); 3] =
    [("count", Amount::Count), ("total_ns", Amount::Total), ("max_ns", Amount::Max)];

#[cfg(test)]
mod tests {
    use super::*;

    const S: u64 = SECOND_NS;

    /// The steps of a row, each with its amounts.
    type Steps = Vec<(u32, Vec<u64>)>;

    fn rows(timed: &Timed<u64>) -> Vec<(u64, Steps)> {
        let table = timed.table(("gc", "t"), &COUNT_TOTAL_MAX, |key| Some(*key), |key| vec![key.into()]);
        let label = |row: &RowSteps| match row.labels[0] {
            Cell::Int(key) => key,
            ref other => panic!("{other:?}"),
        };
        table.rows.iter().map(|row| (label(row), row.steps.clone())).collect()
    }

    #[test]
    fn a_stretch_is_in_all_its_steps_and_its_length_where_it_ends() {
        let mut timed = Timed::default();
        timed.record(1, S, 2 * S);
        assert!(rows(&timed).is_empty(), "nobody said when the span began");
        timed.start(S);
        timed.record(1, S + S / 2, 3 * S + S / 4);
        timed.record(2, S / 2, S + S / 4);
        timed.count(2, 2 * S, 7);
        assert_eq!(
            rows(&timed),
            [
                (1, vec![(0, vec![0, S / 2, 0]), (1, vec![0, S, 0]), (2, vec![1, S / 4, 7 * S / 4])]),
                // What came before the span is not in it.
                (2, vec![(0, vec![1, S / 4, 3 * S / 4]), (1, vec![7, 0, 0])]),
            ]
        );
    }

    #[test]
    fn steps_widen_and_keep_their_amounts() {
        let mut timed = Timed::default();
        timed.start(0);
        for second in 0..1000 {
            timed.record(second % 2, second * S, second * S + second);
        }
        let rows = rows(&timed);
        assert_eq!(timed.step_ns, 8 * S);
        for (key, steps) in rows {
            let sum = |at: usize| steps.iter().map(|(_, amounts)| amounts[at]).sum::<u64>();
            let all: u64 = (0..1000).filter(|second| second % 2 == key).sum();
            assert_eq!((sum(0), sum(1)), (500, all));
            assert_eq!(steps.iter().map(|(_, amounts)| amounts[2]).max(), Some(998 + key));
        }
    }

    #[test]
    fn what_is_beyond_the_bound_is_counted() {
        let mut timed = Timed::default();
        timed.start(0);
        for key in 0..ENTRIES as u64 + 5 {
            timed.count(key, 0, 1);
        }
        assert_eq!((rows(&timed).len(), timed.left_out), (ENTRIES, 5));
    }
}

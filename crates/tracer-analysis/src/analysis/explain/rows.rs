//! What stands in the tables' rows: a method, or a part of its calls.

use super::{
    super::table::{Merge as _, REPORT_ROWS},
    parts::{Amount, Part, Parts},
    sums::Summed,
};
use crate::report::Cell;

/// A part of a method's calls.
pub(super) struct Row<'a> {
    pub(super) method: &'a Summed<'a>,
    pub(super) part: Part,
    pub(super) all: Amount,
    /// Of all calls around the median together.
    pub(super) typical: Amount,
    /// Nothing where only the duration of the slowest one is known.
    pub(super) slowest: Option<Amount>,
}

impl Row<'_> {
    /// So many calls this can be part of, and so many around the median: what marks tell is known of all.
    fn calls(&self) -> [u64; 2] {
        let Summed { of, around, .. } = self.method;
        if is_of_marks(&self.part) {
            [of.latencies.durations.count, around.calls]
        } else {
            [of.whole.count, around.whole]
        }
    }

    pub(super) fn per_call(&self, amount: u64) -> Cell {
        mean(amount, self.calls()[0])
    }

    pub(super) fn per_typical_call(&self, amount: u64) -> Cell {
        mean(amount, self.calls()[1])
    }

    /// Times of a mean call, of one around the median, and of the slowest.
    pub(super) fn times(&self) -> [Cell; 3] {
        let [calls, around] = self.calls();
        [whole_mean(self.all.sum, calls), whole_mean(self.typical.sum, around), self.slowest(|amount| amount.sum)]
    }

    pub(super) fn slowest(&self, amount: fn(&Amount) -> u64) -> Cell {
        self.slowest.as_ref().map_or(Cell::Missing, |of| amount(of).into())
    }
}

pub(super) fn mean(sum: u64, count: u64) -> Cell {
    if count == 0 { Cell::Missing } else { Cell::Float(sum as f64 / count as f64) }
}

/// A mean that is shown in whole ns or bytes.
pub(super) fn whole_mean(sum: u64, count: u64) -> Cell {
    sum.checked_div(count).map_or(Cell::Missing, Cell::Int)
}

pub(super) fn percent(part: u64, of: u64) -> Cell {
    if of == 0 { Cell::Missing } else { Cell::Float(100.0 * part as f64 / of as f64) }
}

/// The parts that one of these is asked of, added up.
pub(super) fn sum_of(parts: &Parts, is_wanted: fn(&Part) -> bool) -> Amount {
    let mut sum = Amount::default();
    for (_, amount) in parts.iter().filter(|(part, _)| is_wanted(part)) {
        sum.merge(amount);
    }
    sum
}

pub(super) const fn is_away(part: &Part) -> bool {
    matches!(part, Part::Away(..) | Part::Ready)
}

pub(super) const fn is_time(part: &Part) -> bool {
    matches!(part, Part::Running | Part::Away(..) | Part::Ready)
}

/// Whether it is known of calls of which else only the duration is.
pub(super) const fn is_of_marks(part: &Part) -> bool {
    matches!(part, Part::Called(_) | Part::Stopped { .. })
}

pub(super) const fn is_stopped(part: &Part) -> bool {
    matches!(part, Part::Stopped { .. })
}

pub(super) const fn is_allocated(part: &Part) -> bool {
    matches!(part, Part::Allocated(..))
}

pub(super) const fn is_thrown(part: &Part) -> bool {
    matches!(part, Part::Thrown(..))
}

pub(super) const fn is_contended(part: &Part) -> bool {
    matches!(part, Part::Contended(..))
}

pub(super) const fn is_called(part: &Part) -> bool {
    matches!(part, Part::Called(_))
}

pub(super) const fn is_sampled(part: &Part) -> bool {
    matches!(part, Part::Sampled(_))
}

/// The rows of some parts, those of the methods one after the other, the largest first.
pub(super) fn rows<'a>(methods: &'a [Summed<'a>], is_wanted: fn(&Part) -> bool) -> Vec<Row<'a>> {
    let mut rows = Vec::new();
    for method in methods {
        let slowest = method.of.slowest.first();
        let in_slowest = |part: &Part| {
            let slow = slowest.filter(|slow| slow.is_whole || is_of_marks(part))?;
            Some(slow.parts.get(part).copied().unwrap_or_default())
        };
        let mut of_method: Vec<Row<'_>> = (method.all.iter().filter(|(part, _)| is_wanted(part)))
            .map(|(part, all)| Row {
                method,
                part: *part,
                all: *all,
                typical: method.typical.get(part).copied().unwrap_or_default(),
                slowest: in_slowest(part),
            })
            .collect();
        of_method.sort_by_key(|row| std::cmp::Reverse((row.all.sum, row.all.count)));
        rows.extend(of_method);
    }
    rows.truncate(REPORT_ROWS);
    rows
}

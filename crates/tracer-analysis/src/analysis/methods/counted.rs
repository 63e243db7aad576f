//! What is counted of each method, from events and from the kernel's tallies.

use std::borrow::Cow;

use super::{
    super::{
        Context,
        distribution::{Durations, Latencies},
        profile::{self, Amounts},
        table::{FastMap, Groups, Keyed, Merge, OTHERS, REPORT_ROWS, column},
    },
    Labels,
};
use crate::{
    event::{SubjectId, Tid},
    report::{Cell, Column, Shape, Table, Unit},
    tally::{ContextTally, Tally},
};

/// Most methods with rows of their own.
const METHODS: usize = 16_384;
/// Most of these with percentiles: up to 36 KiB each, 14 KiB where no call takes 1 ms.
const WITH_PERCENTILES: usize = 2048;

/// Sums of calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sums {
    pub(super) calls: u64,
    pub(super) errors: u64,
    /// Calls that have a duration.
    pub(super) timed: u64,
    pub(super) total_ns: u64,
    pub(super) self_ns: u64,
    pub(super) max_ns: u64,
}

impl Sums {
    /// Takes a call that is over.
    pub(super) fn record(&mut self, total_ns: u64, self_ns: u64) {
        self.timed += 1;
        self.total_ns = self.total_ns.saturating_add(total_ns);
        self.self_ns = self.self_ns.saturating_add(self_ns);
        self.max_ns = self.max_ns.max(total_ns);
    }
}

impl Merge for Sums {
    fn merge(&mut self, other: &Self) {
        self.calls = self.calls.saturating_add(other.calls);
        self.errors = self.errors.saturating_add(other.errors);
        self.timed = self.timed.saturating_add(other.timed);
        self.total_ns = self.total_ns.saturating_add(other.total_ns);
        self.self_ns = self.self_ns.saturating_add(other.self_ns);
        self.max_ns = self.max_ns.max(other.max_ns);
    }
}

/// A method.
#[derive(Clone, Debug, Default)]
pub(super) struct Row {
    pub(super) sums: Sums,
    /// Not kept of methods beyond a number.
    latencies: Option<Box<Latencies<2>>>,
    /// Some of its durations are in no percentiles.
    incomplete: bool,
}

impl Row {
    fn percentile(&self, percent: f64) -> Cell {
        let known = self.latencies.as_ref().filter(|latencies| latencies.durations.count > 0 && !self.incomplete);
        known.map(|latencies| latencies.percentile(percent)).into()
    }
}

/// The methods.
#[derive(Clone, Debug, Default)]
pub(super) struct Rows {
    by_method: FastMap<SubjectId, Row>,
    with_percentiles: usize,
    others: Row,
    turned_away: u64,
    /// The durations of all calls.
    all: Latencies<3>,
}

impl Rows {
    /// The row of a method, or that of all beyond the limit.
    pub(super) fn entry(&mut self, method: SubjectId) -> &mut Row {
        if self.by_method.len() < METHODS || self.by_method.contains_key(&method) {
            self.by_method.entry(method).or_default()
        } else {
            self.turned_away += 1;
            &mut self.others
        }
    }

    /// Classes of the methods that were called.
    pub(super) fn classes(&self, labels: impl Fn(SubjectId) -> Labels) -> impl Iterator<Item = String> {
        let called = self.by_method.iter().filter(|(_, row)| row.sums.calls > 0);
        called.map(move |(id, _)| labels(*id).0)
    }

    /// Takes a call that is over.
    pub(super) fn record(&mut self, method: SubjectId, total_ns: u64, self_ns: u64) {
        self.all.record(total_ns);
        let room = self.with_percentiles < WITH_PERCENTILES;
        let row = self.entry(method);
        row.sums.record(total_ns, self_ns);
        match &mut row.latencies {
            Some(latencies) => latencies.record(total_ns),
            latencies @ None if room && row.sums.timed == 1 => {
                latencies.get_or_insert_default().record(total_ns);
                self.with_percentiles += 1;
            }
            None => row.incomplete = true,
        }
    }

    /// Adds what the kernel counted of a method. A bucket's durations count as its middle.
    fn add(&mut self, tally: &Tally) {
        let Tally { subject: _, count, timed, errors, total_ns, self_ns, bytes: _, buckets: durations } = tally;
        let room = self.with_percentiles < WITH_PERCENTILES;
        let row = self.entry(tally.subject());
        let mut sums =
            Sums { calls: *count, errors: *errors, timed: *timed, total_ns: *total_ns, self_ns: *self_ns, max_ns: 0 };
        let is_new = row.latencies.is_none();
        let mut middles = Vec::with_capacity(durations.len());
        for (bucket, count) in durations {
            let (low, high) = tracer_common::tally::bounds(u32::from(*bucket));
            sums.max_ns = sums.max_ns.max(high.min(*total_ns));
            let middle_ns = low + (high - low) / 2;
            let total_ns = middle_ns.saturating_mul(*count);
            middles.push(Durations { count: *count, total_ns, max_ns: middle_ns });
        }
        if is_new && (!room || row.sums.timed > 0) {
            row.incomplete |= !middles.is_empty();
        } else if !middles.is_empty() {
            let latencies = row.latencies.get_or_insert_default();
            for alike in &middles {
                latencies.record_alike(alike);
            }
        }
        let became = usize::from(is_new && row.latencies.is_some());
        row.sums.merge(&sums);
        self.with_percentiles += became;
        for alike in &middles {
            self.all.record_alike(alike);
        }
    }

    /// All calls.
    pub(super) fn total(&self) -> Sums {
        let mut total = self.others.sums;
        for row in self.by_method.values() {
            total.merge(&row.sums);
        }
        total
    }

    /// Calls of a method.
    pub(super) fn calls(&self, method: SubjectId) -> u64 {
        self.by_method.get(&method).map_or(0, |row| row.sums.calls)
    }

    /// Methods that were called.
    pub(super) fn called(&self) -> u64 {
        self.by_method.values().filter(|row| row.sums.calls > 0).count() as u64
    }

    pub(super) fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.turned_away > 0 {
            notes.push(format!(
                "Only the first {METHODS} methods were told apart; {} events of further ones are counted in rows `{OTHERS}`.",
                self.turned_away
            ));
        }
        if self.by_method.values().any(|row| row.incomplete) {
            notes.push(format!("Percentiles are kept of the first {WITH_PERCENTILES} methods that returned."));
        }
        notes
    }

    /// The distribution of all durations.
    pub(super) fn shape(&self) -> Option<Shape> {
        self.all.shape_with_curve("call_times", "Durations of calls")
    }

    /// A row a method, those that took most time first, then those called most.
    pub(super) fn table(&self, labels: impl Fn(SubjectId) -> Labels) -> Shape {
        let by_time = self.by_method.values().any(|row| row.sums.timed > 0);
        let rank = |sums: &Sums| if by_time { sums.self_ns } else { sums.calls };
        // The histograms are large: rows are looked at where they are.
        let mut order: Vec<(&SubjectId, &Row)> = self.by_method.iter().collect();
        order.sort_unstable_by_key(|(id, row)| (std::cmp::Reverse(rank(&row.sums)), **id));
        let rest = order.split_off(order.len().min(REPORT_ROWS));
        let mut rows: Vec<Vec<Cell>> = order
            .iter()
            .map(|(id, row)| {
                let (class, method, signature) = labels(**id);
                let mut cells: Vec<Cell> = vec![class.into(), method.into(), signature.into()];
                cells.extend(self::cells(row));
                cells
            })
            .collect();
        if !rest.is_empty() || self.turned_away > 0 {
            let mut others = Row { incomplete: true, sums: self.others.sums, latencies: None };
            for (_, row) in &rest {
                others.sums.merge(&row.sums);
            }
            let mut cells: Vec<Cell> = vec![OTHERS.into(), Cell::Missing, Cell::Missing];
            cells.extend(self::cells(&others));
            rows.push(cells);
        }
        Shape::Table(Table { id: "methods", title: "Methods".to_owned(), columns: columns(), rows })
    }
}

fn columns() -> Vec<Column> {
    vec![
        column("class", "Class", Unit::Text),
        column("method", "Method", Unit::Text),
        column("signature", "Signature", Unit::Text),
        column("calls", "Calls", Unit::Count),
        column("errors", "Errors", Unit::Count),
        column("total_ns", "Total", Unit::Ns),
        column("self_ns", "Self", Unit::Ns),
        column("p50_ns", "p50", Unit::Ns),
        column("p90_ns", "p90", Unit::Ns),
        column("p99_ns", "p99", Unit::Ns),
        column("max_ns", "Longest", Unit::Ns),
    ]
}

fn cells(row: &Row) -> Vec<Cell> {
    let Sums { calls, errors, timed, total_ns, self_ns, max_ns } = row.sums;
    let known = |ns: u64| Cell::from((timed > 0).then_some(ns));
    vec![
        calls.into(),
        errors.into(),
        known(total_ns),
        known(self_ns),
        row.percentile(50.0),
        row.percentile(90.0),
        row.percentile(99.0),
        known(max_ns),
    ]
}

/// Events and tallies together.
pub(super) struct Counted<'a> {
    pub(super) rows: Cow<'a, Rows>,
}

impl<'a> Counted<'a> {
    /// Adds the kernel's tallies to what came as events.
    pub(super) fn of(seen: &'a Rows, tallies: &[Tally]) -> Self {
        let mut rows = Cow::Borrowed(seen);
        if !tallies.is_empty() {
            let rows = rows.to_mut();
            for tally in tallies {
                rows.add(tally);
            }
            // The sum is known exactly, whatever buckets the parts were in.
            let Sums { total_ns, max_ns, .. } = rows.total();
            rows.all.durations.total_ns = total_ns;
            rows.all.durations.max_ns = max_ns;
        }
        Self { rows }
    }
}

/// Time by stack at the call, where stacks were taken.
pub(super) fn stacks_shape(seen: &Amounts, context: Context<'_>) -> Option<Shape> {
    let others = seen.others().copied();
    profile::shape("call_stacks", "Own time by stack at the call", Unit::Ns, context, seen.iter(), others, None)
}

/// Calls by thread: those that came as events, and those that the kernel counted.
pub(super) fn by_thread<L: Ord>(
    seen: &Keyed<(Tid, SubjectId), Sums>,
    tallies: &[ContextTally],
    label: impl Fn(Tid, SubjectId) -> L,
) -> Groups<L, Sums> {
    let mut groups = seen.grouped(|(tid, method)| Some(label(*tid, *method)));
    for tally in tallies {
        let ContextTally { count, errors, total_ns, self_ns, largest, .. } = *tally;
        let timed = if total_ns > 0 { count } else { 0 };
        let sums = Sums { calls: count, errors, timed, total_ns, self_ns, max_ns: largest };
        groups.rows.entry(label(tally.tid(), tally.subject())).or_default().merge(&sums);
    }
    groups
}

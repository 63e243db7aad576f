//! What is shown of the sums: tables, each with all calls of a method, those around its median, and the slowest one side by side.

use super::{
    super::{
        Context,
        offcpu::reason::Reason,
        table::{REPORT_ROWS, column},
    },
    parts::{Amount, Label, Labels, Part},
    rows::{
        Row, is_allocated, is_away, is_called, is_contended, is_sampled, is_stopped, is_thrown, is_time, mean, percent,
        rows, sum_of, whole_mean,
    },
    sums::{Slow, Summed},
};
use crate::report::{Cell, Column, Shape, Table, Unit};

/// What the tables are made of.
pub(super) struct Tables<'a> {
    /// Those with most time first.
    pub(super) methods: Vec<Summed<'a>>,
    pub(super) labels: &'a Labels,
    pub(super) context: Context<'a>,
}

impl Tables<'_> {
    /// All tables; those without rows, too.
    pub(super) fn all(&self) -> Vec<Shape> {
        let shapes = vec![
            self.explained(),
            self.time(),
            self.calls(),
            self.allocations(),
            self.things(("explained_exceptions", "Exceptions within"), is_thrown),
            self.things(("explained_monitors", "Monitors that were taken"), is_contended),
            self.cpu(),
            self.slowest(),
        ];
        let times = self.methods.first().and_then(|method| {
            method.of.latencies.shape_with_curve("explained_times", "Durations of the first method's calls")
        });
        shapes.into_iter().chain(times).collect()
    }

    fn class_and_site(&self, part: &Part) -> [Cell; 2] {
        match part {
            Part::Thrown(class, site) | Part::Allocated(class, site) | Part::Contended(class, site) => {
                [self.context.names.class(*class).into(), self.site(*site)]
            }
            Part::Sampled(site) | Part::Called(site) => [Cell::Missing, self.site(*site)],
            Part::Running | Part::Away(..) | Part::Ready | Part::Stopped { .. } => [Cell::Missing, Cell::Missing],
        }
    }

    fn name(&self, method: &Summed<'_>) -> Cell {
        self.labels.text(method.label).into()
    }

    fn site(&self, label: Label) -> Cell {
        self.labels.text(label).into()
    }

    /// A row for each method.
    fn explained(&self) -> Shape {
        let columns = vec![
            METHOD,
            column("calls", "Calls", Unit::Count),
            column("p50_ns", "p50", Unit::Ns),
            column("longest_ns", "Longest", Unit::Ns),
            column("running_ns", "On CPU", Unit::Ns),
            column("away_ns", "Off CPU", Unit::Ns),
            column("allocated_bytes", "Allocated", Unit::Bytes),
            column("exceptions_per_call", "Exceptions", Unit::Count),
            column("contended_per_call", "Monitors", Unit::Count),
            column("calls_within_per_call", "Calls in it", Unit::Count),
            column("stopped_ns", "Stopped", Unit::Ns),
            column("thrown", "By exception", Unit::Count),
            column("p99_ns", "p99", Unit::Ns),
            column("total_ns", "Total", Unit::Ns),
            column("explained_calls", "Explained", Unit::Count),
        ];
        let row = |method: &Summed<'_>| {
            let Summed { of, all, .. } = method;
            let (durations, calls) = (of.latencies.durations, of.whole.count);
            vec![
                self.name(method),
                durations.count.into(),
                of.latencies.percentile(50.0).into(),
                durations.max_ns.into(),
                whole_mean(sum_of(all, |part| *part == Part::Running).sum, calls),
                whole_mean(sum_of(all, is_away).sum, calls),
                whole_mean(sum_of(all, is_allocated).sum, calls),
                mean(sum_of(all, is_thrown).count, calls),
                mean(sum_of(all, is_contended).count, calls),
                mean(sum_of(all, is_called).count, durations.count),
                whole_mean(sum_of(all, is_stopped).sum, durations.count),
                of.thrown.into(),
                of.latencies.percentile(99.0).into(),
                durations.total_ns.into(),
                calls.into(),
            ]
        };
        table(
            "explained",
            "What a call costs: times, bytes and numbers are means",
            columns,
            self.methods.iter().map(row),
        )
    }

    /// Where the time goes.
    fn time(&self) -> Shape {
        let columns = vec![
            METHOD,
            column("what", "What", Unit::Text),
            column("site", "Place", Unit::Text),
            column("count", "Times", Unit::Count),
            column("total_ns", "Total", Unit::Ns),
            column("share_percent", "Share", Unit::Percent),
            column("mean_ns", "Mean call", Unit::Ns),
            column("median_ns", "Median call", Unit::Ns),
            column("slowest_ns", "Slowest call", Unit::Ns),
        ];
        let row = |row: Row<'_>| {
            let (what, site) = match row.part {
                Part::Away(reason, site) => (reason.title(), self.site(site)),
                Part::Ready => (Reason::RunQueue.title(), Cell::Missing),
                _ => ("on CPU", Cell::Missing),
            };
            let count = if row.part == Part::Running { Cell::Missing } else { row.all.count.into() };
            vec![
                self.name(row.method),
                what.into(),
                site,
                count,
                row.all.sum.into(),
                percent(row.all.sum, row.method.of.whole.total_ns),
            ]
            .into_iter()
            .chain(row.times())
            .collect()
        };
        table("explained_time", "Where the time goes", columns, rows(&self.methods, is_time).into_iter().map(row))
    }

    /// What was called.
    fn calls(&self) -> Shape {
        let columns = vec![
            METHOD,
            column("callee", "Calls", Unit::Text),
            column("count", "Times", Unit::Count),
            column("per_call", "Times / call", Unit::Count),
            column("self_ns", "Own time", Unit::Ns),
            column("mean_ns", "Mean call", Unit::Ns),
            column("median_ns", "Median call", Unit::Ns),
            column("slowest_ns", "Slowest call", Unit::Ns),
            column("slowest_count", "Times in it", Unit::Count),
        ];
        let row = |row: Row<'_>| {
            let [_, callee] = self.class_and_site(&row.part);
            vec![self.name(row.method), callee, row.all.count.into(), row.per_call(row.all.count), row.all.sum.into()]
                .into_iter()
                .chain(row.times())
                .chain([row.slowest(|amount| amount.count)])
                .collect()
        };
        table("explained_calls", "Calls within", columns, rows(&self.methods, is_called).into_iter().map(row))
    }

    /// What was allocated, by the estimate of the lens `alloc`.
    fn allocations(&self) -> Shape {
        let columns = vec![
            METHOD,
            column("class", "Class", Unit::Text),
            column("site", "Place", Unit::Text),
            column("samples", "Samples", Unit::Count),
            column("estimated_bytes", "Allocated", Unit::Bytes),
            column("share_percent", "Share", Unit::Percent),
            column("bytes_per_call", "Per call", Unit::Bytes),
        ];
        let row = |row: Row<'_>| {
            let [class, site] = self.class_and_site(&row.part);
            vec![
                self.name(row.method),
                class,
                site,
                row.all.count.into(),
                row.all.sum.into(),
                percent(row.all.sum, sum_of(&row.method.all, is_allocated).sum),
                whole_mean(row.all.sum, row.method.of.whole.count),
            ]
        };
        let rows = rows(&self.methods, is_allocated).into_iter().map(row);
        table("explained_allocations", "Allocated within", columns, rows)
    }

    /// What is counted: exceptions, or monitors.
    fn things(&self, (id, title): (&'static str, &str), is_wanted: fn(&Part) -> bool) -> Shape {
        let columns = vec![
            METHOD,
            column("class", "Class", Unit::Text),
            column("site", "Place", Unit::Text),
            column("count", "Times", Unit::Count),
            column("per_call", "Times / call", Unit::Count),
            column("median_per_call", "In a median call", Unit::Count),
            column("slowest_count", "In the slowest", Unit::Count),
        ];
        let row = |row: Row<'_>| {
            let [class, site] = self.class_and_site(&row.part);
            vec![
                self.name(row.method),
                class,
                site,
                row.all.count.into(),
                row.per_call(row.all.count),
                row.per_typical_call(row.typical.count),
                row.slowest(|amount| amount.count),
            ]
        };
        table(id, title, columns, rows(&self.methods, is_wanted).into_iter().map(row))
    }

    /// Where it ran, by samples.
    fn cpu(&self) -> Shape {
        let columns = vec![
            METHOD,
            column("site", "Place", Unit::Text),
            column("samples", "Samples", Unit::Count),
            column("share_percent", "Share", Unit::Percent),
        ];
        let row = |row: Row<'_>| {
            let [_, site] = self.class_and_site(&row.part);
            let all = sum_of(&row.method.all, is_sampled).count;
            vec![self.name(row.method), site, row.all.count.into(), percent(row.all.count, all)]
        };
        table("explained_cpu", "Where it runs", columns, rows(&self.methods, is_sampled).into_iter().map(row))
    }

    /// The slowest calls of each method.
    fn slowest(&self) -> Shape {
        let columns = vec![
            METHOD,
            column("duration_ns", "Duration", Unit::Ns),
            column("longest", "Longest part", Unit::Text),
            column("longest_ns", "Of it", Unit::Ns),
            column("running_ns", "On CPU", Unit::Ns),
            column("thread", "Thread", Unit::Text),
            column("at_ns", "Began at", Unit::Ns),
            column("exceptions", "Exceptions", Unit::Count),
            column("contended", "Monitors", Unit::Count),
            column("allocated_bytes", "Allocated", Unit::Bytes),
            column("stopped_ns", "Stopped", Unit::Ns),
            column("away_ns", "Off CPU", Unit::Ns),
            column("ended", "Ended by", Unit::Text),
            column("tid", "Thread id", Unit::Count),
        ];
        let row = |method: &Summed<'_>, slow: &Slow| {
            let names = self.context.names;
            let of = |is_wanted: fn(&Part) -> bool, amount: fn(Amount) -> u64| {
                if slow.is_whole { amount(sum_of(&slow.parts, is_wanted)).into() } else { Cell::Missing }
            };
            let times = slow.parts.iter().filter(|(part, _)| is_time(part));
            let longest = times.max_by_key(|(_, amount)| amount.sum);
            vec![
                self.name(method),
                slow.duration_ns.into(),
                longest.map_or(Cell::Missing, |(part, _)| self.doing(part).into()),
                longest.map_or(Cell::Missing, |(_, amount)| amount.sum.into()),
                of(|part| *part == Part::Running, |amount| amount.sum),
                slow.tid.map_or(Cell::Missing, |tid| names.thread(tid).into()),
                slow.begin_ns.saturating_sub(self.context.span.start_ns).into(),
                of(is_thrown, |amount| amount.count),
                of(is_contended, |amount| amount.count),
                of(is_allocated, |amount| amount.sum),
                sum_of(&slow.parts, is_stopped).sum.into(),
                of(is_away, |amount| amount.sum),
                if slow.thrown { "exception" } else { "return" }.into(),
                slow.tid.map_or(Cell::Missing, |tid| u64::from(tid.0).into()),
            ]
        };
        let rows = self.methods.iter().flat_map(|method| method.of.slowest.iter().map(|slow| row(method, slow)));
        table("explained_slowest", "The slowest calls", columns, rows)
    }
}

/// The first column of each table.
const METHOD: Column = column("method", "Method", Unit::Text);

fn table(id: &'static str, title: &str, columns: Vec<Column>, rows: impl Iterator<Item = Vec<Cell>>) -> Shape {
    Shape::Table(Table { id, title: title.to_owned(), columns, rows: rows.take(REPORT_ROWS).collect() })
}

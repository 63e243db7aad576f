//! Critical sections: from the return of `GetPrimitiveArrayCritical` or `GetStringCritical` to the call of their
//! counterpart. One within another is part of it.

use super::{
    super::{
        Context,
        distribution::{Durations, Latencies},
        ended::EndedThreads,
        table::{Keyed, Merge, column},
    },
    Key,
};
use crate::{
    report::{Cell, Column, Shape, Span, Unit},
    tally::jni::{JniTallies, JniTally, OpenSection},
};

/// Most combinations of function, caller and thread.
const ROWS: usize = 16_384;

/// Sums of sections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Section {
    /// Those that were closed.
    pub(super) sections: u64,
    pub(super) total_ns: u64,
    pub(super) longest_ns: u64,
    /// Those that are open at the end.
    pub(super) open: u64,
    /// How long the longest of these has been.
    pub(super) open_ns: u64,
}

impl Merge for Section {
    fn merge(&mut self, other: &Self) {
        self.sections = self.sections.saturating_add(other.sections);
        self.total_ns = self.total_ns.saturating_add(other.total_ns);
        self.longest_ns = self.longest_ns.max(other.longest_ns);
        self.open = self.open.saturating_add(other.open);
        self.open_ns = self.open_ns.max(other.open_ns);
    }
}

/// All sections.
#[derive(Clone, Debug)]
pub(super) struct Sections {
    rows: Keyed<Key, Section>,
    lasted: Latencies<3>,
}

impl Default for Sections {
    fn default() -> Self {
        Self { rows: Keyed::new(ROWS), lasted: Latencies::default() }
    }
}

impl Sections {
    /// Takes a section that came as an event.
    pub(super) fn record(&mut self, key: Key, lasted_ns: u64) {
        self.rows.entry(key).merge(&Section {
            sections: 1,
            total_ns: lasted_ns,
            longest_ns: lasted_ns,
            ..Section::default()
        });
        self.lasted.record(lasted_ns);
    }

    /// Threads that ended become one where there are many.
    pub(super) fn sum_up(&mut self, ended: &EndedThreads) {
        self.rows.sum_up(ended);
    }

    /// These with what the kernel counted, and what is open at the end of the span.
    pub(super) fn with(&self, tallies: &JniTallies, span: &Span) -> Self {
        let mut all = self.clone();
        for JniTally { tid, function, caller, count, total_ns, longest_ns, .. } in &tallies.sections {
            all.rows.entry(Key { function: *function, caller: *caller, tid: *tid }).merge(&Section {
                sections: *count,
                total_ns: *total_ns,
                longest_ns: *longest_ns,
                ..Section::default()
            });
        }
        let end_ns = span.start_ns.saturating_add(span.duration_ns);
        for OpenSection { tid, function, caller, since_ns } in &tallies.open {
            all.rows.entry(Key { function: *function, caller: *caller, tid: *tid }).merge(&Section {
                open: 1,
                open_ns: end_ns.saturating_sub(*since_ns),
                ..Section::default()
            });
        }
        for (bucket, count) in &tallies.lasted {
            let (low, high) = tracer_common::tally::bounds(u32::from(*bucket));
            let middle_ns = low + (high - low) / 2;
            all.lasted.record_alike(&Durations {
                count: *count,
                total_ns: middle_ns.saturating_mul(*count),
                max_ns: middle_ns,
            });
        }
        if !tallies.sections.is_empty() {
            // These are known exactly, whatever buckets the parts were in.
            let Section { total_ns, longest_ns, .. } = all.total();
            all.lasted.durations.total_ns = total_ns;
            all.lasted.durations.max_ns = longest_ns;
        }
        all
    }

    /// All added up.
    pub(super) fn total(&self) -> Section {
        self.rows.grouped(|_| Some(())).total()
    }

    pub(super) fn note(&self) -> Option<String> {
        self.rows.note("combinations of function, caller and thread with critical sections")
    }

    /// Tables and the distribution; nothing where there were no sections.
    pub(super) fn shapes(&self, context: Context<'_>) -> Vec<Shape> {
        if self.rows.iter().next().is_none() {
            return Vec::new();
        }
        let mut shapes = vec![self.by_caller(context), self.by_thread(context)];
        shapes.extend(self.lasted.shape_with_curve("jni_critical_times", "Durations of critical sections"));
        shapes
    }

    fn by_caller(&self, context: Context<'_>) -> Shape {
        let first = vec![column("caller", "Caller", Unit::Text), column("function", "Opened by", Unit::Text)];
        self.rows.grouped(|key| Some((context.names.text(key.caller), key.function.name()))).table(
            "jni_critical_sections",
            "Critical sections",
            columns(first),
            |section| section.total_ns.max(section.open_ns),
            |(caller, function)| vec![caller.into(), function.into()],
            cells,
        )
    }

    fn by_thread(&self, context: Context<'_>) -> Shape {
        let first = vec![column("thread", "Thread", Unit::Text), column("tid", "Thread id", Unit::Count)];
        self.rows.grouped(|key| Some((context.names.thread(key.tid), key.tid))).table(
            "jni_critical_threads",
            "Critical sections by thread",
            columns(first),
            |section| section.total_ns.max(section.open_ns),
            |(thread, tid)| vec![thread.into(), u64::from(tid.0).into()],
            cells,
        )
    }
}

fn columns(mut first: Vec<Column>) -> Vec<Column> {
    first.extend([
        column("sections", "Sections", Unit::Count),
        column("total_ns", "Total", Unit::Ns),
        column("longest_ns", "Longest", Unit::Ns),
        column("open", "Still open", Unit::Count),
        column("open_ns", "Open for", Unit::Ns),
    ]);
    first
}

fn cells(section: &Section) -> Vec<Cell> {
    let Section { sections, total_ns, longest_ns, open, open_ns } = *section;
    vec![sections.into(), total_ns.into(), longest_ns.into(), open.into(), Cell::from((open > 0).then_some(open_ns))]
}

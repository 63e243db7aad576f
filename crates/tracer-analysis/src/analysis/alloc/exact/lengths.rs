//! Lengths of arrays.

use super::super::super::{
    Context,
    distribution::{Durations, Latencies},
    table::{Groups, Keyed, Merge, column},
};
use crate::{
    event::SubjectId,
    report::{Shape, Unit},
    tally::Tally,
};

/// Most pairs of class and length that are told apart.
const PAIRS: usize = 16_384;

/// Arrays by class and length, and the distribution of all lengths.
#[derive(Debug)]
pub(super) struct Lengths {
    rows: Keyed<(SubjectId, u64), Arrays>,
    all: Latencies<3>,
}

/// Arrays of one class and length.
#[derive(Clone, Copy, Debug, Default)]
struct Arrays {
    arrays: u64,
    /// Not known of those that the kernel counted.
    bytes: Option<u64>,
}

impl Merge for Arrays {
    fn merge(&mut self, other: &Self) {
        if self.arrays == 0 {
            *self = *other;
        } else if other.arrays > 0 {
            self.bytes = self.bytes.zip(other.bytes).map(|(a, b)| a.saturating_add(b));
            self.arrays = self.arrays.saturating_add(other.arrays);
        }
    }
}

impl Default for Lengths {
    fn default() -> Self {
        Self { rows: Keyed::new(PAIRS), all: Latencies::default() }
    }
}

impl Lengths {
    pub(super) fn add(&mut self, class: SubjectId, length: u64, bytes: u64) {
        self.rows.entry((class, length)).merge(&Arrays { arrays: 1, bytes: Some(bytes) });
        self.all.record(length);
    }

    pub(super) fn note(&self) -> Option<String> {
        self.rows.note("pairs of class and length")
    }

    /// Of the arrays that came as events, and of those that the kernel counted by buckets of lengths. Nothing where there are
    /// none.
    pub(super) fn shapes(&self, tallies: &[Tally], context: Context<'_>) -> Vec<Shape> {
        let class = |id: SubjectId| {
            context.subjects.get(id).map_or_else(|| "<class not named>".to_owned(), |subject| subject.class.clone())
        };
        let Groups { mut rows, others } = self.rows.grouped(|(id, length)| Some((class(*id), *length, *length)));
        let mut all = self.all.clone();
        for tally in tallies {
            for (bucket, arrays) in &tally.buckets {
                let (low, high) = tracer_common::tally::bounds(u32::from(*bucket));
                let counted = Arrays { arrays: *arrays, bytes: None };
                rows.entry((class(tally.subject()), low, high)).or_default().merge(&counted);
                let middle = low + (high - low) / 2;
                all.record_alike(&Durations {
                    count: *arrays,
                    total_ns: middle.saturating_mul(*arrays),
                    max_ns: middle,
                });
            }
        }
        let Some(Shape::Histogram(mut histogram)) = all.shape_with_curve("array_lengths", "Lengths of arrays") else {
            return Vec::new();
        };
        histogram.unit = Unit::Count;
        let table = Groups { rows, others }.table(
            "arrays",
            "Arrays by class and length",
            vec![
                column("class", "Class", Unit::Text),
                column("length", "Length", Unit::Count),
                column("to_length", "Up to", Unit::Count),
                column("objects", "Arrays", Unit::Count),
                column("bytes", "Bytes", Unit::Bytes),
            ],
            |counted| counted.bytes.unwrap_or(counted.arrays),
            |(class, length, to)| vec![class.into(), length.into(), to.into()],
            |counted| vec![counted.arrays.into(), counted.bytes.into()],
        );
        vec![table, Shape::Histogram(histogram)]
    }
}

//! Lengths of arrays.

use super::{
    super::super::{
        Context,
        distribution::Latencies,
        table::{Keyed, column},
    },
    Made,
};
use crate::{
    event::SubjectId,
    report::{Shape, Unit},
};

/// Most pairs of class and length that are told apart.
const PAIRS: usize = 16_384;

/// Arrays by class and length, and the distribution of all lengths.
#[derive(Debug)]
pub(super) struct Lengths {
    rows: Keyed<(SubjectId, u64), Made>,
    all: Latencies<3>,
}

impl Default for Lengths {
    fn default() -> Self {
        Self { rows: Keyed::new(PAIRS), all: Latencies::default() }
    }
}

impl Lengths {
    pub(super) fn add(&mut self, class: SubjectId, length: u64, bytes: u64) {
        self.rows.entry((class, length)).add(bytes);
        self.all.record(length);
    }

    pub(super) fn note(&self) -> Option<String> {
        self.rows.note("pairs of class and length")
    }

    /// Nothing where there are no arrays.
    pub(super) fn shapes(&self, context: Context<'_>) -> Vec<Shape> {
        let Some(Shape::Histogram(mut histogram)) = self.all.shape_with_curve("array_lengths", "Lengths of arrays")
        else {
            return Vec::new();
        };
        histogram.unit = Unit::Count;
        let class = |id: SubjectId| {
            context.subjects.get(id).map_or_else(|| "<class not named>".to_owned(), |subject| subject.class.clone())
        };
        let table = self.rows.grouped(|(id, length)| Some((class(*id), *length))).table(
            "arrays",
            "Arrays by class and length",
            vec![
                column("class", "Class", Unit::Text),
                column("length", "Length", Unit::Count),
                column("objects", "Arrays", Unit::Count),
                column("bytes", "Bytes", Unit::Bytes),
            ],
            |made| made.bytes,
            |(class, length)| vec![class.into(), length.into()],
            |made| vec![made.objects.into(), made.bytes.into()],
        );
        vec![table, Shape::Histogram(histogram)]
    }
}

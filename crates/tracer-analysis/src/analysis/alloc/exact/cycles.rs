//! What was allocated between collections.

use super::super::super::table::column;
use crate::report::{Cell, Shape, Span, Table, Unit};

/// Most cycles with rows of their own; then the later of two neighbours is added to the earlier one, all over.
const CYCLES: usize = 512;

/// From one beginning of a collection to the next.
#[derive(Clone, Copy, Debug, Default)]
struct Cycle {
    begin_ns: u64,
    /// Collections that begin in it, at its end; more than one where cycles were put together.
    collections: u64,
    objects: u64,
    bytes: u64,
}

/// The cycles, the last of which goes on.
#[derive(Debug, Default)]
pub(super) struct Cycles {
    done: Vec<Cycle>,
    now: Cycle,
    /// Collections that a cycle has.
    width: u64,
    /// Collections that began.
    collections: u64,
}

impl Cycles {
    pub(super) const fn start(&mut self, start_ns: u64) {
        self.now.begin_ns = start_ns;
    }

    pub(super) const fn add(&mut self, objects: u64, bytes: u64) {
        self.now.objects = self.now.objects.saturating_add(objects);
        self.now.bytes = self.now.bytes.saturating_add(bytes);
    }

    /// A collection begins.
    pub(super) fn begin(&mut self, time_ns: u64) {
        self.collections += 1;
        self.now.collections += 1;
        if self.now.collections < self.width.max(1) {
            return;
        }
        self.done.push(self.now);
        self.now = Cycle { begin_ns: time_ns, ..Cycle::default() };
        if self.done.len() >= CYCLES {
            self.width = self.width.max(1) * 2;
            self.done = self.done.chunks(2).map(put_together).collect();
        }
    }

    pub(super) fn note(&self) -> Option<String> {
        (self.width > 1).then(|| {
            format!("There were {} collections: a row of `cycles` stands for {} of them.", self.collections, self.width)
        })
    }

    /// A row a cycle, in the order of time; nothing where no collection began.
    pub(super) fn shape(&self, span: &Span) -> Option<Shape> {
        if self.collections == 0 {
            return None;
        }
        let end_ns = span.start_ns.saturating_add(span.duration_ns);
        let ends = self.done.iter().skip(1).map(|cycle| cycle.begin_ns).chain([self.now.begin_ns, end_ns]);
        let mut number = 0_u64;
        let rows = self
            .done
            .iter()
            .chain([&self.now])
            .zip(ends)
            .map(|(cycle, end_ns)| {
                let Cycle { begin_ns, collections, objects, bytes } = *cycle;
                number += collections;
                let length_ns = end_ns.saturating_sub(begin_ns);
                let rate = (length_ns > 0).then(|| bytes as f64 * 1e9 / length_ns as f64);
                vec![
                    // The last one has no collection at its end.
                    Cell::from((collections > 0).then_some(number)),
                    begin_ns.saturating_sub(span.start_ns).into(),
                    length_ns.into(),
                    objects.into(),
                    bytes.into(),
                    rate.into(),
                ]
            })
            .collect();
        Some(Shape::Table(Table {
            id: "cycles",
            title: "Allocation from collection to collection".to_owned(),
            columns: vec![
                column("collection", "Collection", Unit::Count),
                column("start_ns", "From", Unit::Ns),
                column("length_ns", "For", Unit::Ns),
                column("objects", "Objects", Unit::Count),
                column("bytes", "Bytes", Unit::Bytes),
                column("bytes_per_s", "Rate", Unit::BytesPerSecond),
            ],
            rows,
        }))
    }
}

fn put_together(cycles: &[Cycle]) -> Cycle {
    cycles.iter().skip(1).fold(cycles.first().copied().unwrap_or_default(), |sum, cycle| Cycle {
        begin_ns: sum.begin_ns,
        collections: sum.collections + cycle.collections,
        objects: sum.objects.saturating_add(cycle.objects),
        bytes: sum.bytes.saturating_add(cycle.bytes),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_cycles_are_put_together_and_lose_nothing() {
        let mut cycles = Cycles::default();
        cycles.start(100);
        for collection in 1..=3000_u64 {
            cycles.add(1, 10);
            cycles.begin(100 + 10 * collection);
        }
        cycles.add(5, 50);
        let span = Span { start_ns: 100, duration_ns: 40_000, started_at_ms: 0, end: String::new() };
        let Some(Shape::Table(table)) = cycles.shape(&span) else { panic!("no table") };
        assert!(table.rows.len() <= CYCLES + 1, "{}", table.rows.len());
        let sum = |column: usize| {
            table.rows.iter().map(|row| if let Cell::Int(value) = row[column] { value } else { 0 }).sum::<u64>()
        };
        assert_eq!((sum(2), sum(3), sum(4)), (40_000, 3005, 30_050));
        assert!(cycles.note().is_some_and(|note| note.starts_with("There were 3000 collections")));
    }
}

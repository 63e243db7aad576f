//! What of the heap is in use after collections, over time: it holds what lives, and what the last collections left alone.

use std::collections::BTreeMap;

use super::super::steps::{SECOND_NS, STEPS};
use crate::{
    event::NameId,
    names::Names,
    report::{Series, Shape, Span, Timeline, Unit},
};

/// Most pools whose state is kept; real JVMs have about ten.
const POOLS: usize = 64;

/// Beginnings of the names of pools that are no part of the heap.
const OTHER_POOLS: [&str; 5] = ["CodeHeap", "CodeCache", "Code Cache", "Metaspace", "Compressed Class Space"];

/// Bytes in use in each pool after its last collection in a step; steps double as those of [`super::super::steps`].
#[derive(Debug)]
pub(super) struct LiveHeap {
    origin_ns: Option<u64>,
    step_ns: u64,
    steps: Vec<BTreeMap<NameId, u64>>,
    pools: Vec<NameId>,
}

impl Default for LiveHeap {
    fn default() -> Self {
        Self { origin_ns: None, step_ns: SECOND_NS, steps: Vec::new(), pools: Vec::new() }
    }
}

impl LiveHeap {
    /// Steps count from here.
    pub(super) fn start(&mut self, start_ns: u64) {
        self.origin_ns.get_or_insert(start_ns);
    }

    /// Takes what is in use in a pool at the end of a collection.
    pub(super) fn collected(&mut self, time_ns: u64, pool: NameId, used_bytes: u64) {
        if !self.pools.contains(&pool) {
            if self.pools.len() >= POOLS {
                return;
            }
            self.pools.push(pool);
        }
        let since = time_ns.saturating_sub(*self.origin_ns.get_or_insert(time_ns));
        while since / self.step_ns >= STEPS as u64 {
            self.widen();
        }
        let index = usize::try_from(since / self.step_ns).unwrap_or(STEPS);
        if index >= self.steps.len() {
            self.steps.resize_with(index + 1, BTreeMap::new);
        }
        if let Some(step) = self.steps.get_mut(index) {
            step.insert(pool, used_bytes);
        }
    }

    fn widen(&mut self) {
        self.step_ns = self.step_ns.saturating_mul(2);
        let mut steps = std::mem::take(&mut self.steps).into_iter();
        while let Some(mut step) = steps.next() {
            step.extend(steps.next().unwrap_or_default());
            self.steps.push(step);
        }
    }

    /// The timeline; nothing where no collection told of a pool of the heap. A step without a collection has the value of the one
    /// before it, and those before the first collection have none.
    pub(super) fn shape(&self, span: &Span, names: &Names) -> Option<Shape> {
        let is_heap = |pool: &NameId| {
            let name = names.text(*pool);
            !OTHER_POOLS.iter().any(|other| name.starts_with(other))
        };
        let heap: Vec<NameId> = self.pools.iter().copied().filter(is_heap).collect();
        let last = span.duration_ns.saturating_sub(1) / self.step_ns;
        let count = usize::try_from(last).unwrap_or(STEPS).saturating_add(1).min(STEPS).max(self.steps.len());
        let mut used: BTreeMap<NameId, u64> = BTreeMap::new();
        let mut values = Vec::with_capacity(count);
        for index in 0..count {
            let step = self.steps.get(index).into_iter().flatten();
            used.extend(step.filter(|(pool, _)| heap.contains(pool)).map(|(pool, bytes)| (*pool, *bytes)));
            let sum = used.values().fold(0_u64, |sum, bytes| sum.saturating_add(*bytes));
            values.push(if used.is_empty() { f64::NAN } else { sum as f64 });
        }
        let series = vec![Series { key: "used_after_bytes", title: "In use".to_owned(), values }];
        let title = "Heap in use after collections".to_owned();
        let timeline =
            Timeline { id: "heap_after", title, unit: Unit::Bytes, step_ns: self.step_ns, levels: true, series };
        (!used.is_empty()).then_some(Shape::Timeline(timeline))
    }
}

#[cfg(test)]
mod tests {
    use super::{super::super::testing::Play, *};

    fn values(live: &LiveHeap, play: &Play, seconds: u64) -> Option<(u64, Vec<f64>)> {
        let span = Span { start_ns: 0, duration_ns: seconds * SECOND_NS, started_at_ms: 0, end: String::new() };
        match live.shape(&span, &play.names) {
            Some(Shape::Timeline(timeline)) => Some((timeline.step_ns, timeline.series[0].values.clone())),
            _ => None,
        }
    }

    #[test]
    fn pools_of_the_heap_are_added_up_and_carried_on() {
        let mut play = Play::default();
        let [eden, old, meta] = ["G1 Eden Space", "G1 Old Gen", "Metaspace"].map(|name| play.name(name));
        let mut live = LiveHeap::default();
        live.start(0);
        assert_eq!(values(&live, &play, 3), None);
        live.collected(SECOND_NS, meta, 1000);
        assert_eq!(values(&live, &play, 3), None);
        for (time_ns, pool, bytes) in [(1, eden, 7), (2, old, 50), (3, eden, 0)] {
            live.collected(SECOND_NS + time_ns, pool, bytes);
        }
        live.collected(4 * SECOND_NS, old, 40);
        let (step_ns, values) = values(&live, &play, 6).expect("a timeline");
        assert_eq!(step_ns, SECOND_NS);
        assert!(values[0].is_nan());
        assert_eq!(values[1..], [50.0, 50.0, 50.0, 40.0, 40.0]);
    }

    #[test]
    fn steps_widen_and_keep_the_later_value() {
        let mut play = Play::default();
        let old = play.name("G1 Old Gen");
        let mut live = LiveHeap::default();
        live.start(0);
        for second in 0..700 {
            live.collected(second * SECOND_NS, old, second);
        }
        let (step_ns, values) = values(&live, &play, 700).expect("a timeline");
        assert_eq!((step_ns, values.len(), values[0], values[349]), (2 * SECOND_NS, 350, 1.0, 699.0));
    }

    #[test]
    fn absurd_times_and_many_pools_end() {
        let mut play = Play::default();
        let mut live = LiveHeap::default();
        live.start(0);
        for number in 0..500 {
            let pool = play.name(&format!("pool {number}"));
            live.collected(u64::MAX, pool, u64::MAX);
        }
        let (_, values) = values(&live, &play, 1).expect("a timeline");
        assert!(values.len() <= STEPS && live.pools.len() == POOLS);
    }
}

//! What parts of calls add up to: over all calls of a method, over those around its median, and of its slowest ones.

use std::{cmp::Reverse, collections::BTreeMap};

use super::{
    super::{
        distribution::{Durations, Latencies, class},
        table::{FastMap, Keyed, Merge},
    },
    calls::Finished,
    parts::{Amount, Label, Part, Parts},
};
use crate::event::Tid;

/// Most methods with sums of their own.
const METHODS: usize = 256;
/// Most combinations of method and part.
const PARTS: usize = 32_768;
/// Most combinations of method, class of duration, and part.
const OF_CLASSES: usize = 131_072;
/// Calls of a method that are kept whole.
pub(super) const SLOWEST: usize = 5;
/// Calls around the median: from and to these shares of all.
const AROUND_MEDIAN: [f64; 2] = [0.4, 0.6];

/// A call that is kept.
#[derive(Clone, Debug)]
pub(super) struct Slow {
    pub(super) duration_ns: u64,
    pub(super) begin_ns: u64,
    pub(super) tid: Option<Tid>,
    pub(super) thrown: bool,
    pub(super) parts: Parts,
    /// Whether these are all; else they are calls within, and stops.
    pub(super) is_whole: bool,
}

/// Calls that took about as long.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Alike {
    pub(super) calls: u64,
    /// Of these all that happened is known.
    pub(super) whole: u64,
}

impl Merge for Alike {
    fn merge(&mut self, other: &Self) {
        self.calls = self.calls.saturating_add(other.calls);
        self.whole = self.whole.saturating_add(other.whole);
    }
}

/// Calls of a method.
#[derive(Clone, Debug, Default)]
pub(super) struct OfMethod {
    pub(super) latencies: Latencies<2>,
    pub(super) thrown: u64,
    /// Of these all that happened is known.
    pub(super) whole: Durations,
    /// The slowest first.
    pub(super) slowest: Vec<Slow>,
}

/// A method with what its calls consist of.
#[derive(Debug)]
pub(super) struct Summed<'a> {
    pub(super) label: Label,
    pub(super) of: &'a OfMethod,
    pub(super) all: Parts,
    /// Calls around the median, and what they consist of.
    pub(super) around: Alike,
    pub(super) typical: Parts,
}

/// The sums.
#[derive(Debug)]
pub(super) struct Sums {
    methods: FastMap<Label, OfMethod>,
    parts: Keyed<(Label, Part), Amount>,
    classes: Keyed<(Label, u16), Alike>,
    parts_of_classes: Keyed<(Label, u16, Part), Amount>,
}

impl Default for Sums {
    fn default() -> Self {
        Self {
            methods: FastMap::default(),
            parts: Keyed::new(PARTS),
            classes: Keyed::new(PARTS),
            parts_of_classes: Keyed::new(OF_CLASSES),
        }
    }
}

impl Sums {
    /// Adds a call. Where not all is known of it, its parts are calls within, and stops.
    pub(super) fn add(&mut self, method: Label, call: &Finished, parts: Parts, is_whole: bool) {
        let is_known = self.methods.len() < METHODS || self.methods.contains_key(&method);
        let method = if is_known { method } else { Label::default() };
        let duration_ns = call.end_ns.saturating_sub(call.begin_ns);
        let of = self.methods.entry(method).or_default();
        of.latencies.record(duration_ns);
        of.thrown += u64::from(call.thrown);
        if is_whole {
            of.whole.record(duration_ns);
        }
        let class = class(duration_ns);
        self.classes.entry((method, class)).merge(&Alike { calls: 1, whole: u64::from(is_whole) });
        for (part, amount) in &parts {
            self.parts.entry((method, *part)).merge(amount);
            self.parts_of_classes.entry((method, class, *part)).merge(amount);
        }
        let Finished { begin_ns, tid, thrown, .. } = *call;
        if of.slowest.len() < SLOWEST || of.slowest.last().is_some_and(|least| least.duration_ns < duration_ns) {
            of.slowest.push(Slow { duration_ns, begin_ns, tid, thrown, parts, is_whole });
            of.slowest.sort_by_key(|slow| Reverse(slow.duration_ns));
            of.slowest.truncate(SLOWEST);
        }
    }

    /// Calls that have ended, and those of them of which all that happened is known.
    pub(super) fn counts(&self) -> [u64; 2] {
        let sum = |count: fn(&OfMethod) -> u64| self.methods.values().map(count).sum();
        [sum(|of| of.latencies.durations.count), sum(|of| of.whole.count)]
    }

    /// Methods that were called.
    pub(super) fn methods(&self) -> usize {
        self.methods.len()
    }

    /// The time of all calls.
    pub(super) fn total_ns(&self) -> u64 {
        self.methods.values().fold(0, |sum, of| sum.saturating_add(of.latencies.durations.total_ns))
    }

    /// The methods with what their calls consist of, those with most time first. Each table is gone through once, whatever the number of
    /// methods.
    pub(super) fn by_time(&self) -> Vec<Summed<'_>> {
        let mut all: FastMap<Label, Summed<'_>> = FastMap::default();
        for (label, of) in &self.methods {
            all.insert(
                *label,
                Summed { label: *label, of, all: Parts::new(), around: Alike::default(), typical: Parts::new() },
            );
        }
        for ((label, part), amount) in self.parts.iter() {
            all.entry(*label).and_modify(|method| _ = method.all.insert(*part, *amount));
        }
        let mut classes: FastMap<Label, BTreeMap<u16, Alike>> = FastMap::default();
        for ((label, class), alike) in self.classes.iter() {
            classes.entry(*label).or_default().insert(*class, *alike);
        }
        let around: FastMap<Label, (Alike, Vec<u16>)> =
            classes.into_iter().map(|(label, classes)| (label, around_median(&classes))).collect();
        for (label, (alike, _)) in &around {
            all.entry(*label).and_modify(|method| method.around = *alike);
        }
        for ((label, class, part), amount) in self.parts_of_classes.iter() {
            if around.get(label).is_some_and(|(_, chosen)| chosen.contains(class)) {
                all.entry(*label).and_modify(|method| method.typical.entry(*part).or_default().merge(amount));
            }
        }
        let mut methods: Vec<Summed<'_>> = all.into_values().collect();
        methods.sort_by_key(|method| (Reverse(method.of.latencies.durations.total_ns), method.label));
        methods
    }

    /// Sentences where a bound was reached.
    pub(super) fn notes(&self) -> Vec<String> {
        let notes = [
            self.parts.note("combinations of method and part"),
            self.parts_of_classes.note("combinations of method, class of duration and part"),
        ];
        notes.into_iter().flatten().collect()
    }
}

/// The calls around the median: how many, and the classes of their durations.
fn around_median(classes: &BTreeMap<u16, Alike>) -> (Alike, Vec<u16>) {
    let all: u64 = classes.values().map(|alike| alike.calls).sum();
    let [from, to] = AROUND_MEDIAN.map(|share| share * all as f64);
    let (mut before, mut around) = (0, Alike::default());
    let mut chosen = Vec::new();
    for (class, alike) in classes {
        let behind = before + alike.calls;
        if behind as f64 > from && (before as f64) < to {
            around.merge(alike);
            chosen.push(*class);
        }
        before = behind;
    }
    (around, chosen)
}

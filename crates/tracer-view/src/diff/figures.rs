//! Figures of a lens, two by two.

use serde::Serialize;

use super::{half_interval, variance};
use crate::report::{Estimate, Section, Word};

/// What a figure's two numbers are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// Things per second.
    PerSecond,
    /// Bytes per second.
    BytesPerSecond,
    /// Time, in percent of the session.
    PercentOfTime,
    /// As the report has them.
    AsReported,
}

/// A figure that both reports have.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Figure {
    /// Its key in the summary.
    pub key: Word,
    /// What the numbers are.
    pub basis: Basis,
    /// In the first report.
    pub before: f64,
    /// In the second one.
    pub after: f64,
    /// The change, in percent of `before`; absent where that is 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub change_percent: Option<f64>,
    /// Half the interval of `after - before` at 95 %; absent where chance cannot be reckoned: of times, bytes and extremes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<f64>,
}

/// Figures that count what happens while a session lasts. Everything else that is not named here is not compared: numbers
/// about jtrace's own work, and what neither adds up nor means anything alone.
const EVENTS: [&str; 30] = [
    "calls",
    "collections",
    "compilations",
    "contended_enters",
    "created",
    "critical_sections",
    "errors",
    "events",
    "failures",
    "full_collections",
    "initialization_errors",
    "java_samples",
    "loaded",
    "major_faults",
    "notifies",
    "objects",
    "parks",
    "pauses",
    "safepoints",
    "samples",
    "sleeps",
    "sleeps_interrupted",
    "started",
    "stopped",
    "transitions",
    "unloaded",
    "unparks",
    "vm_operations",
    "waits",
    "yields",
];
const BYTES: [&str; 3] = ["bytes", "estimated_bytes", "outside_tlab_bytes"];
const TIMES: [&str; 15] = [
    "blocked_total_ns",
    "compile_total_ns",
    "critical_ns",
    "initializer_total_ns",
    "off_cpu_ns",
    "on_cpu_ns",
    "park_total_ns",
    "pause_total_ns",
    "run_queue_ns",
    "run_queue_total_ns",
    "safepoint_total_ns",
    "sleep_total_ns",
    "throttled_ns",
    "to_stop_total_ns",
    "wait_total_ns",
];
const LEVELS: [&str; 19] = [
    "alive",
    "anonymous_bytes",
    "blocked_max_ns",
    "blocked_p99_ns",
    "compile_max_ns",
    "compile_p99_ns",
    "cpu_queue_average",
    "cpus_used",
    "cpus_used_by_others",
    "critical_longest_ns",
    "deadlocked_threads",
    "longest_ns",
    "pause_max_ns",
    "pause_p99_ns",
    "resident_bytes",
    "safepoint_max_ns",
    "safepoint_p99_ns",
    "swapped_bytes",
    "waiting_average",
];

#[cfg(any(test, feature = "testing"))]
/// Keys of summaries that are compared, by what they are measured in.
pub const COMPARED_KEYS: [&[&str]; 4] = [&EVENTS, &BYTES, &TIMES, &LEVELS];

/// A smaller change than this is not shown.
const NOTABLE: f64 = 0.1;

/// Figures that differ, the largest change first, and how many were compared and do not.
pub(super) fn compared(before: &Section, after: &Section, seconds: [f64; 2]) -> (Vec<Figure>, usize) {
    let in_both = |key: &Word| before.summary.get(key).is_some();
    // Rates and shares of what is compared per second anyway would say the same again.
    let of_another = |key: &Word| {
        let stem = key.strip_suffix("_per_s").map(str::to_owned);
        let share = key.strip_suffix("_share_percent").map(|stem| format!("{stem}_total_ns"));
        stem.or(share).is_some_and(|stem| {
            let is_compared = EVENTS.iter().chain(&BYTES).chain(&TIMES).any(|key| **key == stem);
            is_compared && after.summary.get(&stem).is_some() && before.summary.get(&stem).is_some()
        })
    };
    let keys = after.summary.iter().map(|(key, _)| key).filter(in_both).filter(|key| !of_another(key));
    let all: Vec<Figure> = keys.filter_map(|key| figure(key, [before, after], seconds)).collect();
    let compared = all.len();
    let mut different: Vec<Figure> = all.into_iter().filter(differs).collect();
    let size = |figure: &Figure| figure.change_percent.map_or(f64::INFINITY, f64::abs);
    different.sort_by(|a, b| size(b).total_cmp(&size(a)).then_with(|| a.key.cmp(b.key)));
    let alike = compared - different.len();
    (different, alike)
}

fn figure(key: Word, summaries: [&Section; 2], seconds: [f64; 2]) -> Option<Figure> {
    let rate_of = |scale: f64| -> Option<[Rate; 2]> {
        let [before, after] = summaries;
        Some([rate(before, key, seconds[0])?.times(scale), rate(after, key, seconds[1])?.times(scale)])
    };
    let (basis, [before, after]) = match key {
        key if EVENTS.contains(&key) => (Basis::PerSecond, rate_of(1.0)?),
        key if BYTES.contains(&key) => (Basis::BytesPerSecond, rate_of(1.0)?),
        key if TIMES.contains(&key) => (Basis::PercentOfTime, rate_of(1e-7)?),
        key if LEVELS.contains(&key) || key.ends_with("_percent") || key.ends_with("_per_s") => {
            let level = |of: &Section| Some(Rate { mean: of.number(key)?, variance: None });
            (Basis::AsReported, [level(summaries[0])?, level(summaries[1])?])
        }
        _ => return None,
    };
    // Chance of a single count says nothing of bytes and times: these have an interval where both are estimates with one.
    let variance = before.variance.zip(after.variance).map(|(before, after)| before + after);
    let interval = variance.filter(|_| basis == Basis::PerSecond).map(half_interval);
    let [before, after] = [before.mean, after.mean];
    if !(before.is_finite() && after.is_finite()) {
        return None;
    }
    let change_percent = (before != 0.0).then(|| (after - before) / before * 100.0);
    Some(Figure { key, basis, before, after, change_percent, interval })
}

/// An amount per second, and how much chance makes it vary.
#[derive(Clone, Copy)]
struct Rate {
    mean: f64,
    variance: Option<f64>,
}

impl Rate {
    fn times(self, scale: f64) -> Self {
        Self { mean: self.mean * scale, variance: self.variance.map(|variance| variance * scale * scale) }
    }
}

/// The rate of what a session has counted. Where a lens was there in windows only, this is what it estimates for the whole span;
/// `None` where it does not.
fn rate(section: &Section, key: Word, seconds: f64) -> Option<Rate> {
    if let Some(Estimate { value, interval }) = section.summary.estimate(key) {
        let variance = interval.map(|[low, high]| variance((high - low) / 2.0 / seconds));
        return Some(Rate { mean: value.as_f64() / seconds, variance });
    }
    if section.is_of_windows() {
        return None;
    }
    let count = section.number(key)?;
    // Events that come independently of each other.
    Some(Rate { mean: count / seconds, variance: Some(count / (seconds * seconds)) })
}

fn differs(figure: &Figure) -> bool {
    let Figure { before, after, interval, .. } = *figure;
    let difference = (after - before).abs();
    let is_notable = difference > NOTABLE * before.abs().max(after.abs());
    is_notable && interval.is_none_or(|interval| difference > interval)
}

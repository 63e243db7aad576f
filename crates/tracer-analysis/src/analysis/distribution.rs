//! Durations: totals, and distributions in HDR histograms. Not a view: it draws nothing.

use hdrhistogram::Histogram as Hdr;

use super::table::Merge;
use crate::report::{Bucket, CurvePoint, Histogram, Percentile, Shape, Span, Unit};

/// Longest duration that a histogram tells from longer ones: 39 hours. Totals and maxima stay exact beyond it.
const LONGEST_NS: u64 = 1 << 47;

/// Most durations that are taken at once.
const MOST_ALIKE: u64 = 1 << 40;

/// The percentiles of a report's histogram.
const PERCENTS: [f64; 5] = [50.0, 90.0, 99.0, 99.9, 100.0];

/// Number, sum and maximum of durations, exactly.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Durations {
    /// Number of durations.
    pub(super) count: u64,
    /// Their sum.
    pub(super) total_ns: u64,
    /// The longest.
    pub(super) max_ns: u64,
}

impl Durations {
    /// Takes a duration.
    pub(super) fn record(&mut self, ns: u64) {
        self.count += 1;
        self.total_ns = self.total_ns.saturating_add(ns);
        self.max_ns = self.max_ns.max(ns);
    }
}

impl Merge for Durations {
    fn merge(&mut self, other: &Self) {
        self.count = self.count.saturating_add(other.count);
        self.total_ns = self.total_ns.saturating_add(other.total_ns);
        self.max_ns = self.max_ns.max(other.max_ns);
    }
}

/// The class of a duration: its highest bit and the five below it, so that classes are 3 % wide or less.
pub(super) fn class(ns: u64) -> u16 {
    let bits = u64::BITS - ns.leading_zeros();
    let shift = bits.saturating_sub(6);
    // Below 64 times 64, so it fits.
    u16::try_from(u64::from(shift) * 64 + (ns >> shift)).unwrap_or(u16::MAX)
}

/// When the longest duration began, of those that are told with their beginnings.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Longest {
    begin_ns: u64,
    ns: u64,
}

impl Longest {
    /// Takes a duration. Of equal ones the first counts.
    pub(super) const fn record(&mut self, begin_ns: u64, ns: u64) {
        if ns > self.ns {
            *self = Self { begin_ns, ns };
        }
    }

    /// Its beginning since the start of the span; absent where there is none, or it began before.
    pub(super) fn at_ns(&self, span: &Span) -> Option<u64> {
        self.begin_ns.checked_sub(span.start_ns).filter(|_| self.ns > 0)
    }
}

/// Durations with their distribution to `DIGITS` significant digits.
///
/// Three digits cost up to 300 KiB, two up to 36 KiB: the former is for a lens as a whole, the latter for rows.
#[derive(Clone, Debug)]
pub(super) struct Latencies<const DIGITS: u8 = 3> {
    /// Exact sums.
    pub(super) durations: Durations,
    min_ns: u64,
    histogram: Hdr<u64>,
}

impl<const DIGITS: u8> Default for Latencies<DIGITS> {
    fn default() -> Self {
        const { assert!(DIGITS >= 1 && DIGITS <= 5) };
        let mut histogram = Hdr::new(DIGITS).expect("up to 5 significant digits are supported, as asserted above");
        histogram.auto(true);
        Self { durations: Durations::default(), min_ns: u64::MAX, histogram }
    }
}

impl<const DIGITS: u8> Latencies<DIGITS> {
    /// Takes a duration.
    pub(super) fn record(&mut self, ns: u64) {
        self.durations.record(ns);
        self.min_ns = self.min_ns.min(ns);
        // It resizes itself, so nothing up to the clamp can be refused.
        let _: Result<(), hdrhistogram::RecordError> = self.histogram.record(ns.min(LONGEST_NS));
    }

    /// Takes durations of about the same length, of which only number, sum and maximum are kept: they count as their mean.
    pub(super) fn record_alike(&mut self, alike: &Durations) {
        let Some(mean_ns) = alike.total_ns.checked_div(alike.count) else { return };
        // Sums of counts must not overflow, whatever a damaged recording claims.
        let count = alike.count.min(MOST_ALIKE);
        self.durations.merge(&Durations { count, ..*alike });
        self.min_ns = self.min_ns.min(mean_ns);
        // As in `record`.
        let _: Result<(), hdrhistogram::RecordError> = self.histogram.record_n(mean_ns.min(LONGEST_NS), count);
    }

    /// The duration that `percent` of the durations do not exceed, to the histogram's precision; 0 where there is none.
    pub(super) fn percentile(&self, percent: f64) -> u64 {
        if percent >= 100.0 {
            return self.durations.max_ns;
        }
        self.histogram.value_at_quantile(percent / 100.0).min(self.durations.max_ns)
    }

    /// The distribution as a shape; nothing where there are no durations.
    pub(super) fn shape(&self, id: &'static str, title: &str) -> Option<Shape> {
        let Durations { count, total_ns, max_ns } = self.durations;
        (count > 0).then(|| {
            Shape::Histogram(Histogram {
                id,
                title: title.to_owned(),
                unit: Unit::Ns,
                count,
                min: self.min_ns,
                max: max_ns,
                mean: total_ns as f64 / count as f64,
                percentiles: PERCENTS
                    .iter()
                    .map(|&percent| Percentile { percent, value: self.percentile(percent) })
                    .collect(),
                buckets: buckets(&self.histogram),
                curve: Vec::new(),
            })
        })
    }

    /// The same, with the curve of the percentiles.
    pub(super) fn shape_with_curve(&self, id: &'static str, title: &str) -> Option<Shape> {
        let mut shape = self.shape(id, title);
        if let Some(Shape::Histogram(histogram)) = &mut shape {
            histogram.curve = curve(&self.histogram, self.durations.max_ns);
        }
        shape
    }
}

impl<const DIGITS: u8> Merge for Latencies<DIGITS> {
    fn merge(&mut self, other: &Self) {
        self.durations.merge(&other.durations);
        self.min_ns = self.min_ns.min(other.min_ns);
        // Both resize themselves and hold nothing above the clamp.
        let _: Result<(), hdrhistogram::AdditionError> = self.histogram.add(&other.histogram);
    }
}

/// Points that lie closer the nearer they are to 100 %: 5 for each halving of what is left, as HdrHistogram's own output.
fn curve(histogram: &Hdr<u64>, max_ns: u64) -> Vec<CurvePoint> {
    let mut points: Vec<CurvePoint> = Vec::new();
    let mut count = 0_u64;
    for step in histogram.iter_quantiles(5) {
        count = count.saturating_add(step.count_since_last_iteration());
        points.push(CurvePoint {
            value: step.value_iterated_to().min(max_ns),
            percent: 100.0 * step.quantile_iterated_to(),
            count,
        });
    }
    points
}

/// Buckets whose upper ends are one below powers of two, without the empty ones at both ends.
fn buckets(histogram: &Hdr<u64>) -> Vec<Bucket> {
    let mut counts = [0_u64; 65];
    for step in histogram.iter_recorded() {
        let bits = u64::BITS - step.value_iterated_to().leading_zeros();
        counts[bits as usize] = counts[bits as usize].saturating_add(step.count_at_value());
    }
    let Some(first) = counts.iter().position(|count| *count > 0) else { return Vec::new() };
    let last = counts.iter().rposition(|count| *count > 0).unwrap_or(first);
    counts
        .iter()
        .enumerate()
        .take(last + 1)
        .skip(first)
        .map(|(bits, count)| Bucket { up_to: if bits == 64 { u64::MAX } else { (1 << bits) - 1 }, count: *count })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_of_1_to_1000_are_within_rank_and_precision() {
        let mut latencies = Latencies::<3>::default();
        for ms in 1..=1000 {
            latencies.record(ms * 1_000_000);
        }
        for (percent, expected_ms) in [(50.0, 500_u64), (90.0, 900), (99.0, 990), (99.9, 999), (100.0, 1000)] {
            let expected = expected_ms * 1_000_000;
            assert!(latencies.percentile(percent).abs_diff(expected) <= expected / 500, "{percent}");
        }
        assert_eq!(latencies.percentile(100.0), 1_000_000_000, "the maximum is exact");
    }

    #[test]
    fn buckets_are_powers_of_two_and_keep_holes() {
        let mut latencies = Latencies::<3>::default();
        for ns in [5, 6, 7, 8, 40] {
            latencies.record(ns);
        }
        let Some(Shape::Histogram(histogram)) = latencies.shape("h", "H") else { panic!("no histogram") };
        let found: Vec<_> = histogram.buckets.iter().map(|bucket| (bucket.up_to, bucket.count)).collect();
        assert_eq!(found, [(7, 3), (15, 1), (31, 0), (63, 1)]);
        assert_eq!((histogram.min, histogram.max, histogram.count), (5, 40, 5));
        assert!((histogram.mean - 13.2).abs() < 1e-9);
    }

    #[test]
    fn absurd_durations_are_kept_without_harm() {
        let mut latencies = Latencies::<2>::default();
        latencies.record(u64::MAX);
        latencies.record(u64::MAX);
        assert_eq!(latencies.durations.total_ns, u64::MAX);
        assert!(latencies.percentile(99.0) >= LONGEST_NS);
        assert!(Latencies::<3>::default().shape("h", "H").is_none());
    }
}

//! Histograms as bars and timelines as sparklines, in characters.

use crate::{
    report::{Histogram, Timeline},
    text::escape,
    view::format,
};

/// Eighths of a block, from the left.
const BAR: [char; 8] = ['▏', '▎', '▍', '▌', '▋', '▊', '▉', '█'];

/// Eighths of a block, from below.
const SPARK: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Part of `steps` that the value takes of the largest one; what is there at all takes at least one.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and `steps`, by the clamp")]
fn scale(value: f64, largest: f64, steps: usize) -> usize {
    if steps == 0 || !(value > 0.0 && largest > 0.0) {
        return 0;
    }
    ((value / largest * steps as f64).round() as usize).clamp(1, steps)
}

/// The buckets, the neighbours put together so that few enough remain, as largest value and number.
fn merged(histogram: &Histogram, most: usize) -> Vec<(u64, u64)> {
    let group = histogram.buckets.len().div_ceil(most.max(1)).max(1);
    let merge = |chunk: &[crate::report::Bucket]| {
        let up_to = chunk.last().map_or(0, |bucket| bucket.up_to);
        (up_to, chunk.iter().fold(0_u64, |sum, bucket| sum.saturating_add(bucket.count)))
    };
    histogram.buckets.chunks(group).map(merge).collect()
}

/// The distribution's key figures in one line.
pub(in crate::view) fn key_figures(histogram: &Histogram) -> String {
    let Histogram { id: _, title: _, unit, count, min, max, mean, percentiles, buckets: _, curve: _ } = histogram;
    let mut parts = vec![format!("n {}", format::count(*count)), format!("min {}", format::int(*min, *unit))];
    parts.push(format!("mean {}", format::float(*mean, *unit)));
    let inner = percentiles.iter().filter(|point| point.percent < 100.0);
    parts.extend(inner.map(|point| format!("p{} {}", point.percent, format::int(point.value, *unit))));
    parts.push(format!("max {}", format::int(*max, *unit)));
    parts.join(", ")
}

/// A distribution: key figures, then a bar for each bucket, of which there are at most `most`.
pub(in crate::view) fn histogram(histogram: &Histogram, width: usize, most: usize) -> Vec<String> {
    if histogram.count == 0 {
        return vec!["    none".to_owned()];
    }
    let figures = escape::wrap(&key_figures(histogram), width.saturating_sub(4));
    let mut lines: Vec<_> = figures.into_iter().map(|line| format!("    {line}")).collect();
    let buckets = merged(histogram, most);
    let largest = buckets.iter().map(|(_, count)| *count).max().unwrap_or(0);
    let number_width = format::count(largest).len();
    let room = width.saturating_sub(4 + 2 + 8 + 2 + number_width + 1);
    for (up_to, count) in buckets {
        let limit = format::int(up_to, histogram.unit);
        lines.push(format!("    ≤ {limit:>8}  {:>number_width$} {}", format::count(count), bar(count, largest, room)));
    }
    lines
}

/// A bar of at most `room` columns, exact to an eighth.
pub(in crate::view) fn bar(count: u64, largest: u64, room: usize) -> String {
    let eighths = scale(count as f64, largest as f64, room * 8);
    let mut bar = "█".repeat(eighths / 8);
    if let Some(rest) = (eighths % 8).checked_sub(1) {
        bar.push(BAR[rest]);
    }
    bar
}

/// Values over time: a sparkline for each series, with the largest value at its end.
pub(in crate::view) fn timeline(timeline: &Timeline, width: usize) -> Vec<String> {
    let Timeline { id: _, title: _, unit, step_ns, levels: _, series } = timeline;
    let name_width = series.iter().map(|series| escape::width(&escape::fit(&series.title, 24))).max().unwrap_or(0);
    let room = width.saturating_sub(4 + name_width + 2 + 16).max(8);
    let mut lines: Vec<_> = series
        .iter()
        .map(|series| {
            let name = escape::fit(&series.title, 24);
            let blanks = " ".repeat(name_width - escape::width(&name));
            let largest = series.values.iter().copied().filter(|value| value.is_finite()).fold(f64::NAN, f64::max);
            format!("    {name}{blanks} {} max {}", spark(&series.values, room), format::float(largest, *unit))
        })
        .collect();
    let steps = series.iter().map(|series| series.values.len()).max().unwrap_or(0);
    if steps == 0 {
        return vec!["    none".to_owned()];
    }
    let columns = steps.div_ceil(steps.div_ceil(room));
    let length = format::duration(steps as f64 * *step_ns as f64);
    lines.push(format!("    {:name_width$} {}{length}", "", " ".repeat(columns.saturating_sub(length.len()))));
    lines
}

/// A character for each step; where there are more steps than columns, the largest of some neighbours, since peaks are
/// what one looks for.
pub(in crate::view) fn spark(values: &[f64], room: usize) -> String {
    let peaks = peaks(values, room);
    let largest = peaks.iter().copied().fold(0.0, f64::max);
    peaks
        .iter()
        .map(|value| match scale(*value, largest, SPARK.len()) {
            0 if value.is_nan() => ' ',
            0 => '·',
            height => SPARK[height - 1],
        })
        .collect()
}

/// At most `room` values: the largest of each group of neighbours; NaN where there is none.
pub(in crate::view) fn peaks(values: &[f64], room: usize) -> Vec<f64> {
    let group = values.len().div_ceil(room.max(1)).max(1);
    let finite = |value: &f64| if value.is_finite() { *value } else { f64::NAN };
    values.chunks(group).map(|chunk| chunk.iter().map(finite).fold(f64::NAN, f64::max)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_proportional_and_never_vanish() {
        assert_eq!(bar(100, 100, 4), "████");
        assert_eq!(bar(50, 100, 4), "██");
        assert_eq!(bar(1, 1_000_000, 4), "▏");
        assert_eq!(bar(0, 100, 4), "");
    }

    #[test]
    fn sparkline_keeps_peaks() {
        assert_eq!(spark(&[0.0, 1.0, 4.0, 8.0], 8), "·▁▄█");
        assert_eq!(spark(&[0.0, 8.0, 0.0, 0.0], 2), "█·");
        assert_eq!(spark(&[f64::NAN, 8.0], 8), " █");
        assert_eq!(spark(&[f64::INFINITY, 8.0], 8), " █");
    }

    #[test]
    fn many_buckets_are_put_together_without_losing_any() {
        let buckets = (1..=100).map(|at| crate::report::Bucket { up_to: at, count: 1 }).collect();
        let histogram = Histogram { buckets, ..histogram_of(100) };
        let merged = merged(&histogram, 16);
        assert!(merged.len() <= 16);
        assert_eq!(merged.iter().map(|(_, count)| count).sum::<u64>(), 100);
        assert_eq!(merged.last().map(|(up_to, _)| *up_to), Some(100));
    }

    #[test]
    fn empty_shapes_say_so() {
        assert_eq!(histogram(&histogram_of(0), 80, 16), ["    none"]);
    }

    fn histogram_of(count: u64) -> Histogram {
        Histogram {
            id: "h",
            title: "H".into(),
            unit: crate::report::Unit::Count,
            count,
            min: 1,
            max: 100,
            mean: 50.0,
            percentiles: Vec::new(),
            buckets: Vec::new(),
            curve: Vec::new(),
        }
    }
}

//! A distribution in HdrHistogram's own text format (`.hgrm`), which its plotters read.

use std::io;

use crate::report::Histogram;

/// Writes a distribution.
pub fn write(histogram: &Histogram, out: &mut dyn io::Write) -> io::Result<()> {
    writeln!(out, "{:>12} {:>14} {:>10} {:>14}\n", "Value", "Percentile", "TotalCount", "1/(1-Percentile)")?;
    for (value, percent, count) in points(histogram) {
        let (value, share) = (value as f64, percent / 100.0);
        // There is no number for the last one.
        if share < 1.0 {
            writeln!(out, "{value:12.3} {share:1.12} {count:10} {:14.2}", 1.0 / (1.0 - share))?;
        } else {
            writeln!(out, "{value:12.3} {share:1.12} {count:10}")?;
        }
    }
    writeln!(out, "#[Mean    = {:12.3}]", histogram.mean)?;
    writeln!(out, "#[Max     = {:12.3}, Total count    = {:12}]", histogram.max as f64, histogram.count)
}

/// Value, percentile, and how many values do not exceed it; of a histogram without a curve, its percentiles.
fn points(histogram: &Histogram) -> Vec<(u64, f64, u64)> {
    if histogram.curve.is_empty() {
        let count = |percent: f64| crate::text::format::whole((histogram.count as f64 * percent / 100.0).ceil());
        return histogram.percentiles.iter().map(|point| (point.value, point.percent, count(point.percent))).collect();
    }
    histogram.curve.iter().map(|point| (point.value, point.percent, point.count)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{CurvePoint, Shape};

    fn written(histogram: &Histogram) -> String {
        let mut out = Vec::new();
        write(histogram, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    fn sample() -> Histogram {
        let report = crate::view::sample::report();
        let shapes = report.sections.into_iter().flat_map(|section| section.shapes);
        let found =
            shapes.filter_map(|shape| if let Shape::Histogram(histogram) = shape { Some(histogram) } else { None });
        found.into_iter().next().expect("a histogram")
    }

    #[test]
    fn a_curve_is_written_point_by_point() {
        let point = |value, percent, count| CurvePoint { value, percent, count };
        let curve = vec![point(90, 0.0, 1), point(300, 50.0, 4), point(411, 99.9, 6), point(412, 100.0, 7)];
        insta::assert_snapshot!(written(&Histogram { curve, ..sample() }));
    }

    #[test]
    fn without_a_curve_its_percentiles_are_written() {
        let text = written(&sample());
        assert!(text.contains("300000000.000 0.500000000000          4           2.00\n"), "{text}");
    }
}

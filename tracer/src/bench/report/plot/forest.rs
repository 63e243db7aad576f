//! Slowdowns with their intervals: a row a configuration, and a line where there is no difference. A slowdown that cannot be
//! told from 0 is hollow.

use super::{AXIS, MAX_PROGRAMS, MAX_ROWS, Plot, Scale, decimals, grid, name};
use crate::{
    bench::{
        comparison::{Figures, Quantity},
        report::{document::cut, words},
        statistics::{Estimate, Verdict},
    },
    view::escape,
};

/// Height of a row.
const ROW: f64 = 22.0;
/// Where the axis begins and ends.
const LEFT: f64 = 205.0;
const RIGHT: f64 = 720.0;

/// A plot of slowdowns.
pub(in crate::bench::report) struct Forest {
    pub(super) caption: String,
    rows: Vec<(String, Estimate)>,
    scale: Scale,
}

/// A plot of the means, and one for each program, all on the same axis. There are none where nothing has an interval.
pub(in crate::bench::report) fn forests(figures: &Figures) -> Vec<Plot> {
    let means = figures.configurations.iter().filter_map(|configuration| {
        let mean = figures.mean(configuration, Quantity::Wall)?;
        Some((configuration.clone(), mean.ratio))
    });
    let mut groups: Vec<(String, Vec<(String, Estimate)>)> =
        vec![("Slowdown, geometric mean over programs".to_owned(), means.collect())];
    groups.extend(figures.programs.iter().take(MAX_PROGRAMS).map(|program| {
        let of = figures.comparisons.iter().filter(|comparison| comparison.program == *program);
        let rows = of.filter_map(|comparison| Some((comparison.configuration.clone(), comparison.slowdown?)));
        (cut(format!("Slowdown of {program}")), rows.collect())
    }));
    let intervals = groups.iter().flat_map(|(_, rows)| rows).filter_map(|(_, estimate)| estimate.interval);
    let ends: Vec<f64> = intervals.flat_map(|interval| [interval.low, interval.high]).collect();
    if ends.is_empty() {
        return Vec::new();
    }
    let Some(scale) = Scale::new(ends.into_iter().chain([1.0]), LEFT, RIGHT - LEFT) else { return Vec::new() };
    let steps = if scale.is_logarithmic() { ", on a logarithmic axis" } else { "" };
    let drawn = groups.into_iter().filter(|(_, rows)| rows.iter().any(|(_, estimate)| estimate.interval.is_some()));
    drawn
        .map(|(caption, rows)| {
            let rows = rows.into_iter().take(MAX_ROWS).collect();
            Plot::Forest(Forest { caption: format!("{caption}, with 95 % intervals{steps}"), rows, scale })
        })
        .collect()
}

impl Forest {
    pub(super) fn draw(&self) -> (f64, Vec<String>) {
        let Self { caption: _, rows, scale } = self;
        let bottom = rows.len() as f64 * ROW;
        let one = scale.at(1.0);
        let mut parts = grid(scale, bottom, |value, step| format!("{value:.*}x", decimals(step)));
        parts.push(format!("<line class=\"one\" x1=\"{one:.1}\" y1=\"0\" x2=\"{one:.1}\" y2=\"{bottom:.1}\"/>"));
        for (at, (configuration, estimate)) in rows.iter().enumerate() {
            let middle = (at as f64 + 0.5) * ROW;
            parts.push(name(configuration, middle));
            parts.extend(mark(scale, estimate, middle));
            parts.push(format!(
                "<text x=\"{:.1}\" y=\"{:.1}\">{}</text>",
                RIGHT + 15.0,
                middle + 4.0,
                escape::html(&words::slowdown(estimate).text)
            ));
        }
        (bottom + AXIS, parts)
    }
}

/// The interval and the figure; nothing where there are too few runs.
fn mark(scale: &Scale, estimate: &Estimate, middle: f64) -> Option<String> {
    let interval = estimate.interval?;
    let [low, value, high] = [interval.low, estimate.value, interval.high].map(|value| scale.at(value));
    let class = match estimate.verdict() {
        Verdict::Slower { .. } | Verdict::Faster { .. } => "dot",
        Verdict::Hidden { .. } | Verdict::TooFew { .. } => "hidden",
    };
    let (above, below) = (middle - 4.0, middle + 4.0);
    Some(format!(
        "<path class=\"span\" d=\"M{low:.1} {above:.1}V{below:.1}M{low:.1} {middle:.1}H{high:.1}M{high:.1} {above:.1}V{below:.1}\"/>\
         <circle class=\"{class}\" cx=\"{value:.1}\" cy=\"{middle:.1}\" r=\"4\"/>"
    ))
}

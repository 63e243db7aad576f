//! Slowdowns with their intervals: a row a configuration, and a line where there is no difference. A slowdown that cannot be
//! told from 0 is hollow.

use super::{AXIS, MAX_PROGRAMS, MAX_ROWS, NEAR, Plot, Scale, axis, decimals, grid, name};
use crate::{
    bench::{
        comparison::{Figures, Quantity},
        report::{document::cut, words},
        statistics::{Estimate, Verdict},
    },
    text::escape,
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

/// The slowdowns of a program, or the means: a caption, and an estimate for each configuration.
type Group = (String, Vec<(String, Estimate)>);

/// A plot of the means, and one for each program, all on the same axis. There are none where nothing has an interval.
pub(in crate::bench::report) fn forests(figures: &Figures) -> Vec<Plot> {
    let groups = groups(figures);
    let Some(scale) = scale(&groups) else { return Vec::new() };
    if !scale.is_logarithmic() {
        return groups.into_iter().filter_map(|group| forest(group, scale)).collect();
    }
    let is_near = |(_, estimate): &(String, Estimate)| {
        estimate.interval.is_some_and(|interval| interval.high < NEAR && interval.low > 1.0 / NEAR)
    };
    let near = groups.iter().map(|(caption, rows)| {
        let rows: Vec<_> = rows.iter().filter(|row| is_near(row)).cloned().collect();
        (format!("{caption} where it is below {NEAR}x"), rows)
    });
    let near: Vec<Group> = near.collect();
    let near_scale = self::scale(&near);
    let both = groups.into_iter().zip(near);
    both.flat_map(|(all, near)| [forest(all, scale), near_scale.and_then(|scale| forest(near, scale))])
        .flatten()
        .collect()
}

fn groups(figures: &Figures) -> Vec<Group> {
    let means = figures.configurations.iter().filter_map(|configuration| {
        let mean = figures.mean(configuration, Quantity::Wall)?;
        Some((configuration.clone(), mean.ratio))
    });
    let programs = figures.programs.iter().take(MAX_PROGRAMS).map(|program| {
        let of = figures.comparisons.iter().filter(|comparison| comparison.program == *program);
        let rows = of.filter_map(|comparison| Some((comparison.configuration.clone(), comparison.slowdown?)));
        (cut(format!("Slowdown of {program}")), rows.take(MAX_ROWS).collect())
    });
    let means = ("Slowdown, geometric mean over programs".to_owned(), means.take(MAX_ROWS).collect());
    [means].into_iter().chain(programs).collect()
}

/// An axis for all intervals, and for no difference; absent where there is no interval.
fn scale(groups: &[Group]) -> Option<Scale> {
    let intervals = groups.iter().flat_map(|(_, rows)| rows).filter_map(|(_, estimate)| estimate.interval);
    let mut ends = intervals.flat_map(|interval| [interval.low, interval.high]).peekable();
    ends.peek()?;
    Scale::new(ends.chain([1.0]), LEFT, RIGHT - LEFT)
}

/// A plot of a group in which anything has an interval.
fn forest((caption, rows): Group, scale: Scale) -> Option<Plot> {
    rows.iter().find_map(|(_, estimate)| estimate.interval)?;
    Some(Plot::Forest(Forest { caption: format!("{caption}, with 95 % intervals{}", axis(&scale)), rows, scale }))
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

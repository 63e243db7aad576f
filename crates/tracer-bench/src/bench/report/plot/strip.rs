//! Every single run: a row a configuration, a point a run, from top to bottom in the order of time, so that drift is seen as a
//! slope and noise as a width.

use super::{AXIS, MAX_PROGRAMS, MAX_ROWS, NAMES, NEAR, Plot, Scale, WIDTH, axis, decimals, grid, name};
use crate::{
    bench::{
        comparison::{Figures, Quantity},
        configuration::PLAIN,
        report::document::{Runs, cut},
        statistics,
    },
    text::column,
};

/// Height of a row.
const ROW: f64 = 34.0;
/// Blanks above and below the points of a row.
const MARGIN: f64 = 6.0;
/// Where the axis begins and ends.
const LEFT: f64 = NAMES + 15.0;
const RIGHT: f64 = WIDTH - 25.0;
/// Most points of a row.
const MAX_POINTS: usize = 500;

/// A plot of the runs of a program.
pub(in crate::bench::report) struct Strip {
    pub(super) caption: String,
    rows: Vec<Row>,
    scale: Scale,
}

/// The runs of a configuration.
#[derive(Clone)]
struct Row {
    configuration: String,
    /// Rounds and nanoseconds.
    times: Vec<(u32, f64)>,
    median: f64,
}

/// A plot for each program that ran, and one more of what is near the first row where that is hard to see.
pub(in crate::bench::report) fn strips(figures: &Figures, runs: &Runs<'_>) -> Vec<Plot> {
    let programs = figures.programs.iter().take(MAX_PROGRAMS);
    let strips = programs.flat_map(|program| {
        let rows = rows(program, figures, runs);
        let all = strip(program, "", rows.clone());
        let median = rows.first().map(|row| row.median);
        let near = all.as_ref().filter(|all| all.scale.is_logarithmic()).and_then(|_| {
            let is_near = |row: &Row| median.is_some_and(|median| row.median < median * NEAR);
            strip(program, " where it is near the first row", rows.into_iter().filter(is_near).collect())
        });
        [all, near]
    });
    strips.flatten().map(Plot::Strip).collect()
}

fn rows(program: &str, figures: &Figures, runs: &Runs<'_>) -> Vec<Row> {
    let configurations = [PLAIN].into_iter().chain(figures.configurations.iter().map(String::as_str));
    let rows = configurations.filter_map(|configuration| {
        let runs = runs.get(&(program, configuration))?.iter();
        let times = runs.filter_map(|run| Some((run.round, Quantity::Wall.of(run)? as f64)));
        let times: Vec<(u32, f64)> = times.take(MAX_POINTS).collect();
        let values: Vec<f64> = times.iter().map(|(_, time)| *time).collect();
        Some(Row { configuration: configuration.to_owned(), median: statistics::median(&values)?, times })
    });
    rows.take(MAX_ROWS).collect()
}

fn strip(program: &str, which: &str, rows: Vec<Row>) -> Option<Strip> {
    let times = rows.iter().flat_map(|row| &row.times).map(|(_, time)| *time);
    let scale = Scale::new(times, LEFT, RIGHT - LEFT)?;
    let how = "the first run is at the top, a line is the median";
    let caption = cut(format!("Time of each run of {program}{which}{}; {how}", axis(&scale)));
    Some(Strip { caption, rows, scale })
}

impl Strip {
    pub(super) fn draw(&self) -> (f64, Vec<String>) {
        let Self { caption: _, rows, scale } = self;
        let bottom = rows.len() as f64 * ROW;
        let mut parts = grid(scale, bottom, time);
        parts.extend(rows.iter().enumerate().flat_map(|(at, row)| row.draw(scale, at as f64 * ROW)));
        (bottom + AXIS, parts)
    }
}

impl Row {
    fn draw(&self, scale: &Scale, top: f64) -> Vec<String> {
        let Self { configuration, times, median } = self;
        let rest = times.len().saturating_sub(1).max(1) as f64;
        let point = |(at, (round, time)): (usize, &(u32, f64))| {
            let y = top + MARGIN + at as f64 / rest * (ROW - 2.0 * MARGIN);
            format!(
                "<circle class=\"run\" cx=\"{:.1}\" cy=\"{y:.1}\" r=\"3\"><title>round {round}: {}</title></circle>",
                scale.at(*time),
                column::duration(*time)
            )
        };
        let mut parts = vec![name(configuration, top + ROW / 2.0)];
        parts.extend(times.iter().enumerate().map(point));
        let (x, from, to) = (scale.at(*median), top + 3.0, top + ROW - 3.0);
        parts.push(format!("<line class=\"middle\" x1=\"{x:.1}\" y1=\"{from:.1}\" x2=\"{x:.1}\" y2=\"{to:.1}\"/>"));
        parts
    }
}

/// A round time, with as many decimals as tell it from its neighbours.
fn time(ns: f64, step: f64) -> String {
    let units = [("s", 1e9), ("ms", 1e6), ("us", 1e3)];
    let (unit, size) = units.into_iter().find(|(_, size)| ns >= *size).unwrap_or(("ns", 1.0));
    format!("{:.*} {unit}", decimals(step.min(ns) / size), ns / size)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_below_an_axis_are_told_apart() {
        assert_eq!([time(2e9, 1e9), time(2.005e9, 5e6), time(5e8, 2e8)], ["2 s", "2.005 s", "500 ms"]);
        assert_eq!([time(20.0, 10.0), time(1e10, 1e6)], ["20 ns", "10.000 s"]);
    }
}

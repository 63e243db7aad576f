//! Every single run: a row a configuration, a point a run, from top to bottom in the order of time, so that drift is seen as a
//! slope and noise as a width.

use super::{AXIS, MAX_PROGRAMS, MAX_ROWS, NAMES, Plot, Scale, WIDTH, decimals, grid, name};
use crate::{
    bench::{
        comparison::{Figures, Quantity},
        configuration::PLAIN,
        report::document::{Runs, cut},
        statistics,
    },
    view::{escape, format},
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
    /// Nanoseconds of the runs of each configuration, with their rounds.
    rows: Vec<(String, Vec<(u32, f64)>)>,
    scale: Scale,
}

/// A plot for each program that ran.
pub(in crate::bench::report) fn strips(figures: &Figures, runs: &Runs<'_>) -> Vec<Plot> {
    figures.programs.iter().take(MAX_PROGRAMS).filter_map(|program| strip(program, figures, runs)).collect()
}

fn strip(program: &str, figures: &Figures, runs: &Runs<'_>) -> Option<Plot> {
    let configurations = [PLAIN].into_iter().chain(figures.configurations.iter().map(String::as_str));
    let rows = configurations.filter_map(|configuration| {
        let runs = runs.get(&(program, configuration))?;
        let times = runs.iter().filter_map(|run| Some((run.round, Quantity::Wall.of(run)? as f64)));
        Some((configuration.to_owned(), times.take(MAX_POINTS).collect::<Vec<_>>()))
    });
    let rows: Vec<_> = rows.filter(|(_, times)| !times.is_empty()).take(MAX_ROWS).collect();
    let times = rows.iter().flat_map(|(_, times)| times).map(|(_, time)| *time);
    let scale = Scale::new(times, LEFT, RIGHT - LEFT)?;
    let steps = if scale.is_logarithmic() { ", on a logarithmic axis" } else { "" };
    let caption =
        cut(format!("Time of each run of {program}{steps}; the first run is at the top, a line is the median"));
    Some(Plot::Strip(Strip { caption, rows, scale }))
}

impl Strip {
    pub(super) fn draw(&self) -> (f64, Vec<String>) {
        let Self { caption: _, rows, scale } = self;
        let bottom = rows.len() as f64 * ROW;
        let mut parts = grid(scale, bottom, time);
        for (at, (configuration, times)) in rows.iter().enumerate() {
            let top = at as f64 * ROW;
            parts.push(name(configuration, top + ROW / 2.0));
            let rest = times.len().saturating_sub(1).max(1) as f64;
            parts.extend(times.iter().enumerate().map(|(at, (round, time))| {
                let y = top + MARGIN + at as f64 / rest * (ROW - 2.0 * MARGIN);
                let words = format!("round {round}: {}", format::duration(*time));
                format!(
                    "<circle class=\"run\" cx=\"{:.1}\" cy=\"{y:.1}\" r=\"3\"><title>{}</title></circle>",
                    scale.at(*time),
                    escape::html(&words)
                )
            }));
            let values: Vec<f64> = times.iter().map(|(_, time)| *time).collect();
            parts.extend(statistics::median(&values).map(|median| {
                let (x, from, to) = (scale.at(median), top + 3.0, top + ROW - 3.0);
                format!("<line class=\"middle\" x1=\"{x:.1}\" y1=\"{from:.1}\" x2=\"{x:.1}\" y2=\"{to:.1}\"/>")
            }));
        }
        (bottom + AXIS, parts)
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

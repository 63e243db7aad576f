//! Plots of a page, drawn here as SVG: where slowdowns lie, and every single run. What they show is in the tables as well, or
//! in the file of results; they are there because noise is seen more easily than read.

mod forest;
mod scale;
mod strip;

use self::scale::Scale;
pub(super) use self::{
    forest::{Forest, forests},
    strip::{Strip, strips},
};
use crate::text::escape;

/// Width of a drawing; a page shrinks or enlarges it as a whole.
const WIDTH: f64 = 1000.0;
/// Where the names of rows end.
const NAMES: f64 = 190.0;
/// Most columns of a row's name.
const NAME_COLUMNS: usize = 27;
/// Room for the axis below the rows.
const AXIS: f64 = 24.0;

/// Where an axis must be logarithmic, what is slower by less than this is drawn once more, on an axis of its own: on the
/// other it would look the same.
const NEAR: f64 = 1.5;

/// Most programs that are drawn.
const MAX_PROGRAMS: usize = 60;
/// Most rows of a plot.
const MAX_ROWS: usize = 60;

/// A drawing.
pub(super) enum Plot {
    /// Slowdowns with their intervals.
    Forest(Forest),
    /// Times of single runs.
    Strip(Strip),
}

impl Plot {
    /// What it shows.
    pub(super) fn caption(&self) -> &str {
        match self {
            Self::Forest(forest) => &forest.caption,
            Self::Strip(strip) => &strip.caption,
        }
    }

    /// The drawing.
    pub(super) fn svg(&self) -> String {
        let (height, parts) = match self {
            Self::Forest(forest) => forest.draw(),
            Self::Strip(strip) => strip.draw(),
        };
        format!(
            "<svg viewBox=\"0 0 {WIDTH:.0} {height:.0}\" role=\"img\" aria-label=\"{}\">\n{}\n</svg>",
            escape::html(self.caption()),
            parts.join("\n")
        )
    }
}

/// The name of a row, before its middle.
fn name(name: &str, middle: f64) -> String {
    let short = escape::fit(name, NAME_COLUMNS);
    format!("<text x=\"{NAMES}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>", middle + 4.0, escape::html(&short))
}

/// Lines across the rows, with their values below.
fn grid(scale: &Scale, bottom: f64, words: fn(f64, f64) -> String) -> Vec<String> {
    let (ticks, step) = scale.ticks();
    let tick = |value: &f64| {
        let (x, below) = (scale.at(*value), bottom + 16.0);
        format!(
            "<line class=\"grid\" x1=\"{x:.1}\" y1=\"0\" x2=\"{x:.1}\" y2=\"{bottom:.1}\"/>\
             <text class=\"dim\" x=\"{x:.1}\" y=\"{below:.1}\" text-anchor=\"middle\">{}</text>",
            words(*value, step)
        )
    };
    ticks.iter().map(tick).collect()
}

/// How an axis goes, for a caption.
const fn axis(scale: &Scale) -> &'static str {
    if scale.is_logarithmic() { ", on a logarithmic axis" } else { "" }
}

/// Decimals that tell neighbours apart that lie this far from each other.
fn decimals(step: f64) -> usize {
    let (mut decimals, mut step) = (0, step);
    while step < 0.999 && decimals < 6 {
        step *= 10.0;
        decimals += 1;
    }
    decimals
}

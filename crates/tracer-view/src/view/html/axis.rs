//! The time axis of the page: every timeline of the report as a lane, all with one scale and one cursor.
//!
//! The lanes travel as JSON in a script element that no browser runs; `axis.js` draws them with uPlot, which is part of the
//! page. A timeline without any value has no lane.

use std::{fmt::Write as _, io};

use serde_json::{Value, json};

use crate::{
    report::{Decision, Finding, Report, Section, Series, Shape, Stretch, Timeline, Unit},
    text::escape,
    view::{format, json, text::chart},
};

/// The library that draws lanes, as its authors publish it (npm `uplot` 1.6.32). `uplot/SHA256SUMS` pins it.
pub(super) const LIBRARY: &str = include_str!("uplot/uPlot.iife.min.js");
pub(super) const LIBRARY_STYLE: &str = include_str!("uplot/uPlot.min.css");
/// It has to go with every copy, so with every page.
pub(super) const LIBRARY_LICENCE: &str = include_str!("uplot/LICENSE");

pub(super) const STYLE: &str = include_str!("axis.css");
pub(super) const SCRIPT: &str = include_str!("axis.js");

/// Lanes from top to bottom by what an incident asks first; sections that are not named come last.
const ORDER: [&str; 11] =
    ["safepoint", "gc", "cpu", "offcpu", "wall", "locks", "alloc", "threads", "exceptions", "classes", "jit"];

/// Most bars of a timeline where no script runs; neighbours are put together, the largest of them shows.
const BARS: usize = 400;

/// What is above the lanes: the range and its sums are for screen readers, too.
const HEAD: &str = r#"<section id="axis" aria-labelledby="axis-title">
<h2 id="axis-title">Time</h2>
<p class="dim" id="axis-help">Drag over the lanes to choose a range, Escape or a double click to leave it. With the keyboard: arrows move the cursor, Shift and arrows choose.</p>
<div id="lanes" tabindex="0" role="group" aria-roledescription="time axis" aria-labelledby="axis-title" aria-describedby="axis-help"></div>
<p id="axis-cursor" role="status"></p>"#;

/// Writes the lanes; nothing where the report has no timeline with a value.
pub(super) fn write(report: &Report, out: &mut dyn io::Write) -> io::Result<()> {
    let lanes = lanes(report);
    if lanes.is_empty() {
        return Ok(());
    }
    writeln!(out, "{HEAD}\n<noscript>")?;
    lanes.iter().try_for_each(|(section, timeline)| bars(section, timeline, out))?;
    let data = json!({
        "duration": report.span.duration_ns,
        "lanes": lanes.iter().map(|(section, timeline)| lane(section, timeline)).collect::<Vec<_>>(),
        "marks": report.completeness.decisions.iter().map(mark).collect::<Vec<_>>(),
        "findings": (0..).zip(&report.findings).filter_map(finding).collect::<Vec<_>>(),
    });
    let data = json::in_page(&data.to_string());
    writeln!(out, "</noscript>\n<script type=\"application/json\" id=\"axis-data\">{data}</script>\n</section>")
}

/// The timelines that have values, in the order of their lanes.
fn lanes(report: &Report) -> Vec<(&Section, &Timeline)> {
    let mut lanes: Vec<_> = report
        .sections
        .iter()
        .flat_map(|section| section.shapes.iter().map(move |shape| (section, shape)))
        .filter_map(|(section, shape)| match shape {
            Shape::Timeline(timeline) if !shape.is_empty() && timeline.step_ns > 0 => Some((section, timeline)),
            Shape::Timeline(_) | Shape::Table(_) | Shape::Tree(_) | Shape::Histogram(_) | Shape::Profile(_) => None,
        })
        .collect();
    lanes.sort_by_key(|(section, _)| ORDER.iter().position(|id| *id == section.id).unwrap_or(ORDER.len()));
    lanes
}

fn lane(section: &Section, timeline: &Timeline) -> Value {
    let Timeline { id, title, unit, step_ns, levels, series } = timeline;
    let used = series.iter().filter(|series| series.values.iter().any(|value| *value != 0.0));
    json!({
        "id": format!("{}.{id}", section.id),
        "lens": section.id,
        "section": escape::terminal(&section.title),
        "title": escape::terminal(title),
        "unit": unit,
        // Rates and shares of steps have no sum.
        "adds": !levels && matches!(unit, Unit::Count | Unit::Ns | Unit::Bytes),
        "levels": levels,
        "step": step_ns,
        "series": used.map(line).collect::<Vec<_>>(),
    })
}

fn line(series: &Series) -> Value {
    json!({
        "title": escape::terminal(&series.title),
        "values": series.values.iter().copied().map(number).collect::<Vec<_>>(),
    })
}

/// Counts without the `.0` that a float has in JSON: most values are counts, and pages are large enough.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole, and within 0 to 2^53")]
fn number(value: f64) -> Value {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if value.fract() == 0.0 && (0.0..EXACT).contains(&value) { (value as u64).into() } else { value.into() }
}

/// A finding with its number, where it is known when it held; the others are about the whole session.
fn finding((at, finding): (u64, &Finding)) -> Option<Value> {
    let Finding { severity, title, when, .. } = finding;
    let when: Vec<_> = when.iter().map(|Stretch { from_ns, to_ns }| json!([from_ns, to_ns])).collect();
    // There is no code in a name of a line.
    let title = escape::terminal(title).replace('`', "");
    (!when.is_empty()).then(|| json!({ "at": at, "severity": severity, "title": title, "when": when }))
}

/// A decision of the governor.
fn mark(decision: &Decision) -> Value {
    let Decision { at_ns, group, action, lens, .. } = decision;
    let mut text = String::from("governor: ");
    // Writing to a string does not fail.
    _ = write!(text, "{} {}", escape::terminal(group), action.replace('_', " "));
    json!({ "at": at_ns, "text": text, "lens": lens, "group": escape::terminal(group), "action": action })
}

/// A timeline as bars, where no script runs.
fn bars(section: &Section, timeline: &Timeline, out: &mut dyn io::Write) -> io::Result<()> {
    for series in &timeline.series {
        let peaks = chart::peaks(&series.values, BARS);
        let largest = peaks.iter().copied().fold(f64::NAN, f64::max);
        let length = format::duration(series.values.len() as f64 * timeline.step_ns as f64);
        let max = format::float(largest, timeline.unit);
        let title = format!("{}, {}, {}: max {max}, over {length}", section.title, timeline.title, series.title);
        writeln!(out, "<p>{}</p>", escape::html(&title))?;
        writeln!(out, "<svg viewBox=\"0 0 {} 100\" preserveAspectRatio=\"none\">", peaks.len().max(1))?;
        for (at, value) in peaks.iter().enumerate().filter(|(_, value)| **value > 0.0) {
            let height = value / largest * 100.0;
            writeln!(out, "<rect x=\"{at}\" y=\"{:.2}\" width=\"0.9\" height=\"{height:.2}\"/>", 100.0 - height)?;
        }
        writeln!(out, "</svg>")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::sample;

    fn data(report: &Report) -> Value {
        let mut out = Vec::new();
        write(report, &mut out).unwrap();
        let page = String::from_utf8(out).unwrap();
        let (_, rest) = page.split_once("id=\"axis-data\">").unwrap();
        serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap()
    }

    #[test]
    fn lanes_hold_all_values_and_the_governor_is_marked() {
        let data = data(&sample::report());
        assert_eq!(data["lanes"][0]["id"], "gc.pauses_over_time");
        let values = serde_json::to_string(&data["lanes"][0]["series"][0]["values"]).unwrap();
        assert_eq!(values, "[0,300000000,200000000,0,790000000,410000000,0,300000000,600000000,500000000]");
        assert_eq!(data["marks"][0]["at"], 3_100_000_000_u64);
        assert_eq!(data["marks"][0]["text"], "governor: park detached");
        // The other one has no times.
        assert_eq!(data["findings"].as_array().map(Vec::len), Some(1));
        assert_eq!((&data["findings"][0]["at"], &data["findings"][0]["severity"]), (&1.into(), &"warning".into()));
        assert_eq!(data["findings"][0]["when"][0], json!([1_000_000_000, 3_000_000_000_u64]));
    }

    #[test]
    fn hostile_titles_and_numbers_stay_data() {
        let mut report = sample::report();
        let hostile = "</script><!-- \u{2028}\u{202e}";
        for shape in report.sections.iter_mut().flat_map(|section| &mut section.shapes) {
            if let Shape::Timeline(timeline) = shape {
                timeline.title = hostile.to_owned();
                timeline.series[0].title = hostile.to_owned();
                timeline.series[0].values = vec![f64::NAN, f64::INFINITY, -1.5, 1e300, 0.25];
            }
        }
        let data = data(&report);
        assert_eq!(data["lanes"][0]["title"], "</script><!-- \\u{2028}\\u{202e}");
        let values = serde_json::to_string(&data["lanes"][0]["series"][0]["values"]).unwrap();
        assert_eq!(values, "[null,null,-1.5,1e+300,0.25]");
    }

    #[test]
    fn nothing_over_time_is_no_axis() {
        let mut report = sample::report();
        report.sections.clear();
        let mut out = Vec::new();
        write(&report, &mut out).unwrap();
        assert!(out.is_empty());
    }
}

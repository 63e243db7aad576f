//! Values over time on the screen: a strip of bars for each series.

use ratatui::{
    Frame,
    layout::{Constraint, Layout, Rect},
    style::{Color, Style},
    text::Line,
    widgets::Sparkline,
};

use super::draw;
use crate::{
    report::{Series, Timeline, Unit},
    text::escape,
    view::{format, text::chart},
};

/// Heights that a bar can be told apart by, well beyond what a screen shows.
const STEPS: u16 = 10_000;

/// Draws each series in its share of the lines: a legend, then bars.
pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, timeline: &Timeline) {
    let Timeline { id: _, title: _, unit, step_ns, levels: _, series } = timeline;
    let count = series.len().min(usize::from(area.height) / 2).max(1);
    let strips = Layout::vertical(vec![Constraint::Fill(1); count]).split(area);
    for (strip, series) in strips.iter().zip(series) {
        let [legend, bars] = Layout::vertical([Constraint::Length(1), Constraint::Fill(1)]).areas(*strip);
        draw::lines(frame, legend, vec![Line::styled(self::legend(series, *unit, *step_ns), draw::DIM)]);
        draw_bars(frame, bars, series);
    }
}

/// Name, last and largest value, and what length of time the bars span.
fn legend(series: &Series, unit: Unit, step_ns: u64) -> String {
    let finite = || series.values.iter().copied().filter(|value| value.is_finite());
    let (last, largest) = (finite().next_back().unwrap_or(f64::NAN), finite().fold(f64::NAN, f64::max));
    let (last, largest) = (format::float(last, unit), format::float(largest, unit));
    let length = format::duration(series.values.len() as f64 * step_ns as f64);
    format!("{}  last {last}  max {largest}  over {length}", escape::fit(&series.title, 24))
}

fn draw_bars(frame: &mut Frame<'_>, area: Rect, series: &Series) {
    let peaks = chart::peaks(&series.values, usize::from(area.width));
    let largest = peaks.iter().copied().fold(0.0, f64::max);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and STEPS, by the clamp")]
    let height = |value: f64| (value / largest * f64::from(STEPS)).clamp(0.0, f64::from(STEPS)).ceil() as u64;
    let data = peaks.iter().map(|value| (largest > 0.0 && value.is_finite()).then(|| height(*value)));
    let bars = Sparkline::default().data(data).max(STEPS.into()).style(Style::new().fg(Color::Cyan));
    frame.render_widget(bars, area);
}

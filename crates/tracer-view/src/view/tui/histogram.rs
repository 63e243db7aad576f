//! A distribution on the screen.

use ratatui::{Frame, layout::Rect, text::Line};

use super::draw;
use crate::{report::Histogram, view::text::chart};

/// Draws key figures and bars, with as many buckets as there are lines.
pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, histogram: &Histogram) {
    let (width, height) = (usize::from(area.width), usize::from(area.height));
    let head = chart::histogram(histogram, width, 1).len().saturating_sub(1);
    let lines = chart::histogram(histogram, width, height.saturating_sub(head).max(1));
    draw::lines(frame, area, lines.into_iter().map(Line::from).collect());
}

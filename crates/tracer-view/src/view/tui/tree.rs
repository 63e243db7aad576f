//! A tree on the screen, filtered by its labels.

use ratatui::{
    Frame,
    layout::Rect,
    style::{Modifier, Style},
    text::Line,
};

use super::{draw, state::State};
use crate::{report::Tree, view::text};

/// Most nodes that one can walk through.
const MOST: usize = 10_000;

/// Draws the tree; `selected` is the line that takes keys, if the tree does.
pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, state: &State, tree: &Tree, selected: Option<usize>) {
    let mut nodes = text::tree::lines(tree, usize::from(area.width), MOST);
    nodes.retain(|line| state.filter().lets_through(line));
    let height = usize::from(area.height);
    let selected = selected.map(|row| row.min(nodes.len().saturating_sub(1)));
    let first = selected.unwrap_or(0).saturating_sub(height / 2).min(nodes.len().saturating_sub(height));
    let lines = nodes.into_iter().enumerate().skip(first).take(height).map(|(at, line)| {
        let style = if selected == Some(at) { Style::new().add_modifier(Modifier::REVERSED) } else { Style::new() };
        Line::styled(line, style)
    });
    draw::lines(frame, area, lines.collect());
}

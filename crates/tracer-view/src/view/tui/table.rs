//! A table on the screen: sorted, filtered, with a selected row.

use ratatui::{
    Frame,
    layout::Rect,
    style::{Modifier, Style},
    text::Line,
};

use super::{
    draw,
    mouse::{Target, Targets},
    state::State,
};
use crate::{
    report::{Table, Word},
    text::escape,
    view::{
        format,
        labels::Labels,
        name::Label,
        order,
        text::table::{self, pad},
    },
};

/// Blanks between columns.
const GAP: usize = 2;

/// Draws the table; `selected` is the row that takes keys, if the table does. Gives the headings of columns that have no room.
pub(super) fn draw(
    frame: &mut Frame<'_>,
    area: Rect,
    state: &State,
    section: &'static str,
    table: &Table,
    selected: Option<usize>,
    targets: &mut Targets,
) -> Vec<Word> {
    let rows = state.rows(section, table);
    let (width, height) = (usize::from(area.width), usize::from(area.height).saturating_sub(1));
    if rows.is_empty() {
        let text = if table.rows.is_empty() { "nothing yet" } else { "no row matches the filter" };
        draw::lines(frame, area, vec![Line::styled(text, draw::DIM)]);
        return Vec::new();
    }
    // The selected row stays in the middle as far as there are rows around it.
    let selected = selected.map(|row| row.min(rows.len() - 1));
    let first = selected.unwrap_or(0).saturating_sub(height / 2).min(rows.len().saturating_sub(height));
    let labels = Labels::new(table);
    let on_screen: Vec<usize> = rows.iter().skip(first).take(height).copied().collect();
    let numbers = labels.columns_of(&on_screen);
    let cells = |row: &usize| numbers.iter().map(|column| labels.label(*row, *column)).collect();
    let shown: Vec<Vec<Label>> = on_screen.iter().map(cells).collect();
    let titles = order::titles(table, state.sort(section, table), &numbers);
    let columns: Vec<_> = numbers.iter().filter_map(|at| table.columns.get(*at)).collect();
    let units: Vec<_> = columns.iter().map(|column| column.unit).collect();
    let widths = format::columns(&table::natural(&titles, &shown), &units, width, GAP);
    let line = |cells: &[Label]| table::row(cells, &widths, &units, GAP);
    if selected.is_some() {
        // The heading is the first line.
        targets.put_headings(area, &table::headings(&numbers, &widths, 0, GAP));
        (0..shown.len()).for_each(|at| targets.put(draw::rows_below(area, at + 1, 1), Target::Row(first + at)));
    }
    let mut lines = vec![Line::styled(line(&titles), draw::HEADING)];
    lines.extend(shown.iter().enumerate().map(|(at, cells)| {
        let is_selected = selected == Some(first + at);
        let style = if is_selected { Style::new().add_modifier(Modifier::REVERSED) } else { Style::new() };
        Line::styled(line(cells), style)
    }));
    draw::lines(frame, area, lines);
    columns.iter().zip(&widths).filter(|(_, width)| width.is_none()).map(|(column, _)| column.title).collect()
}

/// The selected row with every cell in full, as lines of at most `width` columns.
pub(super) fn detail(state: &State, width: usize) -> Option<(String, Vec<String>)> {
    let (section, table) = state.table()?;
    let rows = state.rows(section, table);
    let row = *rows.get(state.row().min(rows.len().checked_sub(1)?))?;
    let labels = Labels::new(table);
    let name_width = table.columns.iter().map(|column| escape::width(column.title)).max().unwrap_or(0);
    let mut lines = Vec::new();
    for (column, heading) in table.columns.iter().enumerate() {
        let value = escape::fit(&labels.in_full(row, column), width * 6);
        for (at, piece) in escape::wrap(&value, width.saturating_sub(name_width + 2)).iter().enumerate() {
            lines.push(format!("{}  {piece}", pad(if at == 0 { heading.title } else { "" }, name_width, false)));
        }
    }
    Some((table.title.clone(), lines))
}

//! The text that rows are to have: typed after `/`, on the session's screen and on that of all JVMs.

use ratatui::{
    crossterm::event::KeyCode,
    text::{Line, Span},
};

use super::draw::{ALERT, DIM, HEADING};
use crate::{report::Cell, report::Table, text::escape, view::format};

/// Longest filter, in characters.
const LONGEST: usize = 64;

/// A filter, and whether letters go into it.
#[derive(Clone, Debug, Default)]
pub(in crate::view) struct Filter {
    text: String,
    is_typing: bool,
}

impl Filter {
    pub(in crate::view) fn text(&self) -> &str {
        &self.text
    }

    pub(in crate::view) const fn is_typing(&self) -> bool {
        self.is_typing
    }

    /// Letters go into it from now on.
    pub(in crate::view) fn begin(&mut self) {
        self.is_typing = true;
    }

    pub(in crate::view) fn clear(&mut self) {
        self.text.clear();
    }

    /// Takes a key while it is typed; other keys have no meaning in a line of text.
    pub(in crate::view) fn key(&mut self, code: KeyCode) {
        match code {
            KeyCode::Char(c) if !c.is_control() && self.text.chars().count() < LONGEST => self.text.push(c),
            KeyCode::Backspace => _ = self.text.pop(),
            KeyCode::Enter => self.is_typing = false,
            KeyCode::Esc => *self = Self::default(),
            _ => {}
        }
    }

    /// Whether it lets a text through.
    pub(in crate::view) fn lets_through(&self, text: &str) -> bool {
        self.text.is_empty() || escape::terminal(text).to_lowercase().contains(&self.text.to_lowercase())
    }

    /// Whether it lets a row of a table through, by any cell as it is shown.
    pub(in crate::view) fn lets_row_through(&self, table: &Table, row: &[Cell]) -> bool {
        let mut cells = row.iter().zip(&table.columns);
        // Numbers of processes and threads are typed as other tools show them, without marks between thousands.
        let is_number = |cell: &Cell| matches!(cell, Cell::Int(number) if self.lets_through(&number.to_string()));
        self.text.is_empty()
            || cells.any(|(cell, column)| is_number(cell) || self.lets_through(&format::cell(cell, column.unit)))
    }

    /// What the last line says of it; nothing where there is none.
    pub(in crate::view) fn footer(&self) -> Option<Line<'static>> {
        let text = escape::terminal(&self.text).into_owned();
        if self.is_typing {
            let rest = format!("{text}█  (Enter keeps, Esc clears)");
            return Some(Line::from(vec![Span::styled("filter: ", HEADING), rest.into()]));
        }
        let is_there = !text.is_empty();
        is_there.then(|| {
            Line::from(vec![Span::styled(format!("filter: {text}"), ALERT), Span::styled("  (Esc clears)", DIM)])
        })
    }
}

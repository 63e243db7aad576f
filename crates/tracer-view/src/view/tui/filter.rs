//! The text that rows are to have: typed after `/`, on the session's screen and on that of all JVMs.

use ratatui::{
    crossterm::event::KeyCode,
    text::{Line, Span},
};

use super::draw::{ALERT, DIM, HEADING};
use crate::{
    report::{Cell, Column, Table, Unit},
    text::escape,
    view::format,
};

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
        // Numbers of processes and threads are typed as other tools show them, without marks between thousands. An amount in another
        // unit is not shown as the number that it is.
        let lets_number_through = |cell: &Cell, unit| {
            unit == Unit::Count && matches!(cell, Cell::Int(number) if self.lets_through(&number.to_string()))
        };
        self.text.is_empty()
            || cells.any(|(cell, Column { unit, .. })| {
                lets_number_through(cell, *unit) || self.lets_through(&format::cell(cell, *unit))
            })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_found_as_it_is_typed_and_an_amount_as_it_is_shown() {
        let column = |unit| Column { key: "x", title: "X", unit };
        let columns = vec![column(Unit::Count), column(Unit::Ns)];
        let table = Table { id: "x", title: "X".to_owned(), columns, rows: Vec::new() };
        let row = [Cell::Int(30_919), Cell::Int(8_080_123)];
        let lets = |text: &str| Filter { text: text.to_owned(), is_typing: false }.lets_row_through(&table, &row);
        assert!(lets("30919") && lets("30,919") && lets("8.08 ms"));
        assert!(!lets("8080"), "nobody sees these digits");
    }
}

//! The screen of all JVMs: keys choose one, and Enter asks to attach to it. It reads no clock and no keyboard by itself.

use ratatui::{
    Frame,
    crossterm::event::{KeyCode, KeyEvent, KeyModifiers},
    layout::{Constraint, Layout},
    style::{Color, Modifier, Style},
    text,
    widgets::Paragraph,
};

use super::{Line, lines};
use crate::{
    report::{Severity, reading::Row},
    text::{escape, format},
    view::text::Style as Colours,
};

const KEYS: &str = "↑↓ choose  Enter attach  q quit";

/// What a key asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// Nothing but another look of the screen.
    Nothing,
    /// To attach to this process.
    Attach(u32),
    /// To end.
    Quit,
}

/// What is shown, and which JVM is chosen: it stays chosen where the order changes.
#[derive(Debug, Default)]
pub struct Shown {
    /// The JVMs, in their order.
    pub rows: Vec<Row>,
    chosen: Option<u32>,
    colours: Colours,
}

impl Shown {
    /// Nothing so far, with colours or without.
    pub fn in_colours(colours: Colours) -> Self {
        Self { colours, ..Self::default() }
    }

    fn chosen(&self) -> usize {
        let is_chosen = |row: &Row| Some(row.target.pid) == self.chosen;
        self.rows.iter().position(is_chosen).unwrap_or(0)
    }

    /// Takes a key.
    pub fn key(&mut self, key: KeyEvent) -> Asked {
        let at = self.chosen();
        match key.code {
            KeyCode::Char('q') | KeyCode::Esc => return Asked::Quit,
            KeyCode::Char('c') if key.modifiers.contains(KeyModifiers::CONTROL) => return Asked::Quit,
            KeyCode::Enter => {
                return self.rows.get(at).map_or(Asked::Nothing, |row| Asked::Attach(row.target.pid));
            }
            KeyCode::Down | KeyCode::Char('j') => self.choose((at + 1).min(self.rows.len().saturating_sub(1))),
            KeyCode::Up | KeyCode::Char('k') => self.choose(at.saturating_sub(1)),
            KeyCode::Home => self.choose(0),
            KeyCode::End => self.choose(self.rows.len().saturating_sub(1)),
            _ => {}
        }
        Asked::Nothing
    }

    fn choose(&mut self, at: usize) {
        self.chosen = self.rows.get(at).map(|row| row.target.pid);
    }

    /// Draws everything; `missing` says what was not looked at.
    pub fn draw(&self, frame: &mut Frame<'_>, missing: &[String]) {
        let [head, body, foot] =
            Layout::vertical([Constraint::Length(1), Constraint::Fill(1), Constraint::Length(1)]).areas(frame.area());
        let bold = Style::new().add_modifier(Modifier::BOLD);
        let dim = Style::new().fg(Color::DarkGray);
        let bad = self.rows.iter().filter(|row| row.worst().is_some()).count();
        let count = format::plural(self.rows.len() as u64, "JVM", "JVMs");
        let title =
            format!("jtrace top  {count}, {bad} with something wrong  {}", escape::terminal(&missing.join("  ")));
        let title = escape::ellipsis(&title, usize::from(head.width));
        frame.render_widget(Paragraph::new(&*title).style(bold), head);
        let chosen = self.chosen();
        let lines = lines(&self.rows, usize::from(body.width));
        let is_of_chosen = |(line, _): &(Line, String)| matches!(line, Line::Jvm(at) if *at == chosen);
        // The chosen one, and what is below it, stay on the screen.
        let at = lines.iter().position(is_of_chosen).unwrap_or(0);
        let first = (at + 2).saturating_sub(usize::from(body.height).saturating_sub(1)).max(1);
        let titles = lines.iter().take(1);
        let styled = titles.chain(lines.iter().skip(first)).map(|(line, text)| {
            let style = match line {
                Line::Titles => bold,
                Line::Jvm(at) if *at == chosen => Style::new().add_modifier(Modifier::REVERSED),
                Line::Jvm(_) => Style::new(),
                Line::Finding(_, Severity::Critical) => Style::new().fg(Color::Red),
                Line::Finding(..) => Style::new().fg(Color::Yellow),
                Line::Problem(_) => dim,
            };
            text::Line::styled(text.as_str(), style)
        });
        frame.render_widget(Paragraph::new(styled.collect::<Vec<_>>()), body);
        frame.render_widget(Paragraph::new(KEYS).style(dim), foot);
        self.colours.apply(frame.buffer_mut());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::item::Target;

    fn key(shown: &mut Shown, code: KeyCode) -> Asked {
        shown.key(KeyEvent::new(code, KeyModifiers::NONE))
    }

    #[test]
    fn the_chosen_jvm_stays_chosen_and_enter_attaches_to_it() {
        let row = |pid| Row { target: Target { pid, ..Target::default() }, reading: None, problem: None };
        let mut shown = Shown { rows: vec![row(1), row(2), row(3)], ..Shown::default() };
        assert!(matches!(key(&mut shown, KeyCode::Enter), Asked::Attach(1)));
        key(&mut shown, KeyCode::Down);
        shown.rows.reverse();
        shown.rows.rotate_left(1);
        assert!(matches!(key(&mut shown, KeyCode::Enter), Asked::Attach(2)), "whatever its place is");
        key(&mut shown, KeyCode::Up);
        assert!(matches!(key(&mut shown, KeyCode::Enter), Asked::Attach(2)), "there is none above it");
        assert!(matches!(key(&mut shown, KeyCode::Char('q')), Asked::Quit));
        assert!(matches!(Shown::default().key(KeyEvent::new(KeyCode::Enter, KeyModifiers::NONE)), Asked::Nothing));
    }
}

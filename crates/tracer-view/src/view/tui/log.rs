//! The log pane: jtrace's own messages and the kernel side's, as `tui-logger` keeps them.

use std::fmt;

use ratatui::{
    Frame,
    crossterm::event::{KeyCode, KeyEvent},
    layout::Rect,
    style::{Color, Style},
    text::{Line, Span},
};
use tui_logger::{ExtLogRecord, LogFormatter, TuiLoggerWidget, TuiWidgetEvent, TuiWidgetState};

use crate::text::escape;

/// Position in the log.
#[derive(Default)]
pub(super) struct Log {
    state: TuiWidgetState,
}

impl fmt::Debug for Log {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Log").finish_non_exhaustive()
    }
}

impl Log {
    /// Takes a key that scrolls; says whether it was one.
    pub(super) fn key(&self, event: KeyEvent, is_typing: bool) -> bool {
        let scroll = match event.code {
            _ if is_typing => return false,
            KeyCode::Up | KeyCode::PageUp => TuiWidgetEvent::PrevPageKey,
            KeyCode::Down | KeyCode::PageDown => TuiWidgetEvent::NextPageKey,
            KeyCode::End => TuiWidgetEvent::EscapeKey,
            _ => return false,
        };
        self.state.transition(scroll);
        true
    }

    pub(super) fn draw(&self, frame: &mut Frame<'_>, area: Rect) {
        // What was logged since its own thread last ran, or without one.
        tui_logger::move_events();
        frame.render_widget(TuiLoggerWidget::default().formatter(Box::new(Escaped)).state(&self.state), area);
    }
}

/// Lines whose texts, which may quote a target, do nothing to the terminal.
struct Escaped;

impl LogFormatter for Escaped {
    fn min_width(&self) -> u16 {
        20
    }

    fn format(&self, width: usize, record: &ExtLogRecord) -> Vec<Line<'_>> {
        let colour = match record.level {
            log::Level::Error => Color::Red,
            log::Level::Warn => Color::Yellow,
            log::Level::Info => Color::Reset,
            log::Level::Debug | log::Level::Trace => Color::DarkGray,
        };
        let lead = format!("{} {:5} ", record.timestamp.format("%H:%M:%S"), record.level);
        let message = escape::fit(record.msg(), 2000);
        let lines = escape::wrap(&message, width.saturating_sub(lead.len())).into_iter().enumerate();
        lines
            .map(|(at, line)| {
                let lead = if at == 0 { lead.clone() } else { " ".repeat(lead.len()) };
                Line::from(vec![Span::from(lead), Span::styled(line, Style::new().fg(colour))])
            })
            .collect()
    }
}

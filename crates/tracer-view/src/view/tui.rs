//! The report on a terminal, live: tabs, tables that sort and filter, the log.
//!
//! It draws snapshots of the same report as the other views and knows no analysis: a tab per section, a drawing per
//! shape. It reads no clock and no keyboard by itself: the caller passes reports, keys and the terminal.
//!
//! `tracer_process::terminal` takes the terminal over and gives it back, [`input`] delivers keys; [`Tui`] is everything between them.

pub(in crate::view) mod draw;
pub(in crate::view) mod filter;
mod findings;
mod histogram;
pub(in crate::view) mod key;
mod log;
pub(in crate::view) mod mouse;
mod overview;
mod profile;
mod state;
mod table;
mod timeline;
mod tree;

pub mod input;

use std::{cell::RefCell, io, sync::Arc};

use ratatui::{
    Terminal,
    backend::Backend,
    crossterm::event::{KeyCode, KeyEvent, MouseEvent},
};

use self::state::State;
use crate::{report::Report, view::text::Style};

/// What comes after a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Flow {
    /// Go on.
    Continue,
    /// The user wants to leave.
    Quit,
    /// A marker is to be switched off, or on again.
    Switch(String),
}

/// The screen: what is shown and what the user chose.
#[derive(Debug, Default)]
pub struct Tui {
    state: State,
    log: log::Log,
    targets: RefCell<mouse::Targets>,
    style: Style,
}

impl Tui {
    /// A screen without a report, and without colours.
    pub fn new() -> Self {
        Self::default()
    }

    /// The same with colours, or without.
    #[must_use]
    pub fn in_style(self, style: Style) -> Self {
        Self { style, ..self }
    }

    /// Takes a newer report. While the screen is frozen it goes on showing the one it was frozen at.
    pub fn update(&mut self, report: Arc<Report>) {
        self.state.update(report);
    }

    /// Draws everything.
    ///
    /// # Errors
    /// Where the terminal cannot be written to.
    pub fn draw<B: Backend>(&self, terminal: &mut Terminal<B>) -> io::Result<()> {
        let mut targets = mouse::Targets::default();
        terminal.draw(|frame| {
            draw::screen(frame, &self.state, &self.log, &mut targets);
            self.style.apply(frame.buffer_mut());
        })?;
        self.targets.replace(targets);
        Ok(())
    }

    /// Takes an event of the mouse: a click chooses what it points at, a second one shows more of it, and the wheel moves on.
    pub fn mouse(&mut self, event: MouseEvent) {
        let asked = mouse::asked(event, &self.targets.borrow());
        // The wheel moves what does not fit, where a box lies over the screen.
        let scrolls = self.targets.get_mut().below() > 0;
        match asked {
            mouse::Asked::Nothing => {}
            mouse::Asked::Show(target) => self.state.show(target),
            mouse::Asked::Down => _ = self.key(KeyEvent::from(if scrolls { KeyCode::PageDown } else { KeyCode::Down })),
            mouse::Asked::Up => _ = self.key(KeyEvent::from(if scrolls { KeyCode::PageUp } else { KeyCode::Up })),
        }
    }

    /// Takes a key.
    pub fn key(&mut self, event: KeyEvent) -> Flow {
        if self.state.is_log_tab() && self.log.key(event, self.state.filter().is_typing()) {
            return Flow::Continue;
        }
        let below = self.targets.get_mut().below();
        self.state.key(event, below)
    }

    /// Whether the screen is frozen.
    pub fn is_frozen(&self) -> bool {
        self.state.is_frozen()
    }
}

#[cfg(test)]
mod questions;
#[cfg(test)]
mod tests;

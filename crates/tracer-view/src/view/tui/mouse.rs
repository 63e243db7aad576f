//! What is where on the screen, for the mouse.

use ratatui::{
    crossterm::event::{MouseButton, MouseEvent, MouseEventKind},
    layout::{Position, Rect},
};

/// What can be pointed at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// A tab, by its number from 0 on.
    Tab(usize),
    /// A table or chart of the tab.
    Place(usize),
    /// A row of what takes keys, or a finding.
    Row(usize),
}

/// What the last drawing put where.
#[derive(Clone, Debug, Default)]
pub(super) struct Targets(Vec<(Rect, Target)>);

impl Targets {
    pub(super) fn put(&mut self, area: Rect, target: Target) {
        self.0.push((area, target));
    }

    /// What lies there; of several the one that was put last.
    fn at(&self, column: u16, row: u16) -> Option<Target> {
        let here = Position::new(column, row);
        self.0.iter().rev().find(|(area, _)| area.contains(here)).map(|(_, target)| *target)
    }
}

/// What the mouse asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    Nothing,
    Show(Target),
    Down,
    Up,
}

/// What an event of the mouse asks for.
pub(super) fn asked(event: MouseEvent, targets: &Targets) -> Asked {
    match event.kind {
        MouseEventKind::Down(MouseButton::Left) => {
            targets.at(event.column, event.row).map_or(Asked::Nothing, Asked::Show)
        }
        MouseEventKind::ScrollDown => Asked::Down,
        MouseEventKind::ScrollUp => Asked::Up,
        _ => Asked::Nothing,
    }
}

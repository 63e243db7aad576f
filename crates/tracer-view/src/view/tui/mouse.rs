//! What is where on the screen, for the mouse.

use ratatui::{
    crossterm::event::{MouseButton, MouseEvent, MouseEventKind},
    layout::{Position, Rect},
};

use crate::view::text::table::Heading;

/// What can be pointed at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::view) enum Target {
    /// A tab, by its number from 0 on.
    Tab(usize),
    /// A table or chart of the tab.
    Place(usize),
    /// A row of what takes keys, or a finding.
    Row(usize),
    /// A heading of the table that takes keys, by the number of its column.
    Column(usize),
}

/// What the last drawing put where.
#[derive(Clone, Debug, Default)]
pub(in crate::view) struct Targets {
    areas: Vec<(Rect, Target)>,
    /// Lines that the box over the screen has below those that fit.
    below: usize,
}

impl Targets {
    pub(in crate::view) fn put(&mut self, area: Rect, target: Target) {
        self.areas.push((area, target));
    }

    /// Puts the headings of a table, which are the first line of its area.
    pub(in crate::view) fn put_headings(&mut self, area: Rect, headings: &[Heading]) {
        let cells = |count: usize| u16::try_from(count).unwrap_or(u16::MAX);
        for Heading { column, range } in headings {
            let (x, width) = (area.x.saturating_add(cells(range.start)), cells(range.len()));
            self.put(Rect { x, width, height: 1, ..area }.intersection(area), Target::Column(*column));
        }
    }

    /// A box over the screen can be scrolled by so many lines.
    pub(super) fn scrolls_to(&mut self, below: usize) {
        self.below = below;
    }

    /// How far the box over the screen can be scrolled.
    pub(super) const fn below(&self) -> usize {
        self.below
    }

    /// What lies there; of several the one that was put last.
    fn at(&self, column: u16, row: u16) -> Option<Target> {
        let here = Position::new(column, row);
        self.areas.iter().rev().find(|(area, _)| area.contains(here)).map(|(_, target)| *target)
    }
}

/// What the mouse asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::view) enum Asked {
    Nothing,
    Show(Target),
    Down,
    Up,
}

/// What an event of the mouse asks for.
pub(in crate::view) fn asked(event: MouseEvent, targets: &Targets) -> Asked {
    match event.kind {
        MouseEventKind::Down(MouseButton::Left) => {
            targets.at(event.column, event.row).map_or(Asked::Nothing, Asked::Show)
        }
        MouseEventKind::ScrollDown => Asked::Down,
        MouseEventKind::ScrollUp => Asked::Up,
        _ => Asked::Nothing,
    }
}

//! What the user chose and which report is shown; no drawing, no terminal.

mod tab;
mod tree;

use std::{collections::BTreeMap, sync::Arc};

use ratatui::crossterm::event::{KeyCode, KeyEvent};

use super::{
    Flow,
    filter::Filter,
    key::{self, Action},
    mouse::Target,
    profile::Trees,
};
use crate::{
    report::{Cell, Finding, Report, Shape, Table, Word},
    view::order::{Sort, compare},
};

/// What flowed per second between the last two reports.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Rates {
    pub(super) events_per_s: f64,
    pub(super) traps_per_s: f64,
}

/// A box over the screen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Overlay {
    #[default]
    None,
    Help,
    Detail,
}

/// After this time a rate is taken although no trap was counted.
const LONGEST_RATE_NS: u64 = 2_500_000_000;

/// What is shown and how.
#[derive(Debug, Default)]
pub(super) struct State {
    latest: Option<Arc<Report>>,
    frozen: Option<(Arc<Report>, Rates)>,
    rates: Rates,
    /// Totals of the report from which on the next rates count.
    mark: (u64, u64, u64),
    tab: usize,
    /// Section and shape that take keys; `None` is the first table.
    place: Option<(Word, Word)>,
    row: usize,
    sorts: BTreeMap<(&'static str, &'static str), Sort>,
    filter: Filter,
    overlay: Overlay,
    /// Lines by which what is over the screen was scrolled.
    scrolled: usize,
    trees: Trees,
}

impl State {
    pub(super) fn update(&mut self, report: Arc<Report>) {
        let before = self.mark;
        let now = totals(&report);
        let elapsed_ns = now.0.saturating_sub(before.0);
        // Traps are counted once a second or so: between two counts their rate is not 0, but not known yet.
        if elapsed_ns > 0 && (now.2 != before.2 || elapsed_ns >= LONGEST_RATE_NS) {
            let rate = |now: u64, before: u64| now.saturating_sub(before) as f64 / elapsed_ns as f64 * 1e9;
            self.rates = Rates { events_per_s: rate(now.1, before.1), traps_per_s: rate(now.2, before.2) };
            self.mark = now;
        }
        self.latest = Some(report);
        self.refresh_trees();
    }

    /// The report to draw.
    pub(super) fn report(&self) -> Option<&Report> {
        self.shared_report().map(|report| &**report)
    }

    fn shared_report(&self) -> Option<&Arc<Report>> {
        self.frozen.as_ref().map(|(report, _)| report).or(self.latest.as_ref())
    }

    pub(super) fn rates(&self) -> Rates {
        self.frozen.as_ref().map_or(self.rates, |(_, rates)| *rates)
    }

    pub(super) const fn is_frozen(&self) -> bool {
        self.frozen.is_some()
    }

    /// The table that takes keys, if it is one.
    pub(super) fn table(&self) -> Option<(&'static str, &Table)> {
        let section = self.section()?;
        match self.shape()? {
            Shape::Table(table) => Some((section.id, table)),
            Shape::Tree(_) | Shape::Histogram(_) | Shape::Timeline(_) | Shape::Profile(_) => None,
        }
    }

    /// Shows what was pointed at.
    pub(super) fn show(&mut self, target: Target) {
        if self.overlay != Overlay::None {
            self.overlay = Overlay::None;
            return;
        }
        match target {
            Target::Tab(tab) => self.show_tab(tab),
            Target::Place(place) => self.show_place(place),
            Target::Row(row) => self.point(row),
            Target::Column(column) => self.sort_by(column),
        }
        self.refresh_trees();
    }

    /// Selects a row that was pointed at; one that is selected already is shown in full, or its evidence.
    fn point(&mut self, row: usize) {
        if self.row == row {
            _ = self.act(KeyEvent::from(KeyCode::Enter));
        } else {
            self.move_to(row);
        }
    }

    pub(super) fn row(&self) -> usize {
        self.row
    }

    pub(super) fn sort(&self, section: &'static str, table: &Table) -> Option<Sort> {
        self.sorts.get(&(section, table.id)).copied().filter(|sort| sort.column < table.columns.len())
    }

    pub(super) const fn filter(&self) -> &Filter {
        &self.filter
    }

    pub(super) const fn overlay(&self) -> Overlay {
        self.overlay
    }

    pub(super) const fn scrolled(&self) -> usize {
        self.scrolled
    }

    /// Indices of a table's rows, filtered and in the chosen order.
    pub(super) fn rows(&self, section: &'static str, table: &Table) -> Vec<usize> {
        let is_shown = |at: &usize| self.filter.lets_row_through(table, &table.rows[*at]);
        let mut rows: Vec<usize> = (0..table.rows.len()).filter(is_shown).collect();
        if let Some(Sort { column, descending }) = self.sort(section, table) {
            rows.sort_by(|a, b| compare(table.rows[*a].get(column), table.rows[*b].get(column), descending));
        }
        rows
    }

    /// Takes a key; the box over the screen, where there is one, can be scrolled by so many lines.
    pub(super) fn key(&mut self, event: KeyEvent, below: usize) -> Flow {
        let flow = if self.scrolls(event, below) { Flow::Continue } else { self.act(event) };
        self.refresh_trees();
        flow
    }

    /// Scrolls the box over the screen, where the key does that.
    fn scrolls(&mut self, event: KeyEvent, below: usize) -> bool {
        if self.overlay == Overlay::None {
            self.scrolled = 0;
            return false;
        }
        match key::action(event) {
            Some(Action::PageDown) => self.scrolled = self.scrolled.saturating_add(10).min(below),
            Some(Action::PageUp) => self.scrolled = self.scrolled.min(below).saturating_sub(10),
            _ => return false,
        }
        true
    }

    fn act(&mut self, event: KeyEvent) -> Flow {
        if self.filter.is_typing() && !key::is_interrupt(event) {
            self.filter.key(event.code);
            self.row = 0;
            return Flow::Continue;
        }
        let Some(action) = key::action(event) else { return Flow::Continue };
        if self.overlay != Overlay::None && !matches!(action, Action::Quit | Action::Help | Action::Down | Action::Up) {
            self.overlay = Overlay::None;
            return Flow::Continue;
        }
        if self.overlay == Overlay::None && self.tree_key(action, event.code) {
            return Flow::Continue;
        }
        match action {
            Action::Quit => return Flow::Quit,
            Action::Switch => return self.marker().map_or(Flow::Continue, Flow::Switch),
            Action::NextTab => self.show_tab((self.tab() + 1) % self.tabs().len()),
            Action::PreviousTab => self.show_tab((self.tab() + self.tabs().len() - 1) % self.tabs().len()),
            Action::Tab => self.show_numbered_tab(event.code),
            Action::Down => self.move_to(self.row.saturating_add(1)),
            Action::Up => self.move_to(self.row.saturating_sub(1)),
            Action::PageDown => self.move_to(self.row.saturating_add(10)),
            Action::PageUp => self.move_to(self.row.saturating_sub(10)),
            Action::First => self.move_to(0),
            Action::Last => self.move_to(usize::MAX),
            Action::NextShape => self.step_place(1),
            Action::PreviousShape => self.step_place(-1),
            Action::Detail if self.table().is_some() => self.overlay = Overlay::Detail,
            Action::Finding if self.table().is_some() || self.has_finding() => self.overlay = Overlay::Detail,
            Action::Detail if self.tab() == 0 => self.show_evidence(),
            // Only a profile can be inverted, and that is done by now.
            Action::Detail | Action::Finding | Action::Invert => {}
            Action::SortColumn => self.sort_by_next(),
            Action::SortDirection => self.turn_sort(),
            Action::Filter => self.filter.begin(),
            Action::Freeze => self.freeze(),
            Action::Help if self.overlay == Overlay::Help => self.overlay = Overlay::None,
            Action::Help => self.overlay = Overlay::Help,
            Action::Close => self.filter.clear(),
        }
        Flow::Continue
    }

    /// The findings that the filter lets through, by a text of theirs.
    pub(super) fn findings(&self) -> Vec<&Finding> {
        let lets_through = |finding: &&Finding| {
            let texts = std::iter::once(&finding.title).chain(&finding.evidence).chain([&finding.next_step]);
            texts.into_iter().any(|text| self.filter.lets_through(text))
        };
        self.report().map_or_else(Vec::new, |report| report.findings.iter().filter(lets_through).collect())
    }

    /// Whether the overview is shown and has a finding.
    fn has_finding(&self) -> bool {
        self.tab() == 0 && !self.findings().is_empty()
    }

    /// The marker that the selected row is about.
    fn marker(&self) -> Option<String> {
        let (section, table) = self.table()?;
        let at = table.column("marker").filter(|_| section == "markers")?;
        let row = table.rows.get(*self.rows(section, table).get(self.row)?)?;
        match row.get(at)? {
            Cell::Text(marker) => Some(marker.clone()),
            Cell::Int(_) | Cell::Float(_) | Cell::Missing => None,
        }
    }

    fn show_numbered_tab(&mut self, code: KeyCode) {
        let KeyCode::Char(digit) = code else { return };
        if let Some(tab) = digit.to_digit(10).and_then(|digit| usize::try_from(digit).ok()?.checked_sub(1)) {
            // The same digit again goes on to the next section of the tab.
            if tab == self.tab() { self.step_section() } else { self.show_tab(tab) }
        }
    }

    /// Selects a row; on the overview, where there is no table, a finding.
    fn move_to(&mut self, row: usize) {
        let count = match (self.table(), self.section()) {
            (Some((section, table)), _) => self.rows(section, table).len(),
            // How many lines a tree has depends on the drawing, which stops at the last one.
            (None, Some(section)) => self.shape().map_or(0, |shape| match shape {
                Shape::Profile(profile) => self.tree(section.id, profile).map_or(0, super::profile::Tree::len),
                Shape::Table(_) | Shape::Tree(_) | Shape::Histogram(_) | Shape::Timeline(_) => lines(shape),
            }),
            (None, None) => self.findings().len(),
        };
        self.row = row.min(count.saturating_sub(1));
    }

    fn sort_by_next(&mut self) {
        let Some((section, table)) = self.table() else { return };
        let next = self.sort(section, table).map_or(0, |sort| sort.column + 1);
        let id = (section, table.id);
        // After the last column comes the report's own order.
        match Sort::by(table, next) {
            Some(sort) => _ = self.sorts.insert(id, sort),
            None => _ = self.sorts.remove(&id),
        }
        self.row = 0;
    }

    /// Sorts by a column, and by one that it is sorted by already in the other direction.
    fn sort_by(&mut self, column: usize) {
        let Some((section, table)) = self.table() else { return };
        if self.sort(section, table).is_some_and(|sort| sort.column == column) {
            self.turn_sort();
        } else if let Some(sort) = Sort::by(table, column) {
            let id = (section, table.id);
            self.sorts.insert(id, sort);
            self.row = 0;
        }
    }

    fn turn_sort(&mut self) {
        let Some((section, table)) = self.table() else { return };
        let id = (section, table.id);
        if let Some(sort) = self.sorts.get_mut(&id) {
            *sort = sort.turned();
        }
        self.row = 0;
    }

    fn freeze(&mut self) {
        self.frozen = match self.frozen.take() {
            Some(_) => None,
            None => self.latest.clone().map(|report| (report, self.rates)),
        };
    }
}

/// Duration, events and traps so far.
fn totals(report: &Report) -> (u64, u64, u64) {
    (report.span.duration_ns, report.completeness.delivered, report.cost.traps)
}

/// Lines of a shape that can be walked through one by one.
fn lines(shape: &Shape) -> usize {
    fn nodes(node: &crate::report::Node) -> usize {
        1 + node.children.iter().map(nodes).sum::<usize>()
    }
    match shape {
        Shape::Tree(tree) => nodes(&tree.root),
        Shape::Table(table) => table.rows.len(),
        Shape::Histogram(_) | Shape::Timeline(_) | Shape::Profile(_) => 0,
    }
}

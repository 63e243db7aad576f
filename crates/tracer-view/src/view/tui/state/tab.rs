//! Tabs and what is in them. A tab answers a question, out of one section or several; what is empty is not in it.

use super::State;
use crate::{
    report::{Section, Shape, Word},
    view::{
        question::{Question, questions},
        tui::profile::Tree,
    },
};

impl State {
    /// Titles of the tabs.
    pub(in crate::view::tui) fn tabs(&self) -> Vec<Word> {
        let between = self.report().map(questions).unwrap_or_default();
        std::iter::once("overview").chain(between.iter().map(|tab| tab.title)).chain(["log"]).collect()
    }

    pub(in crate::view::tui) fn tab(&self) -> usize {
        self.tab.min(self.tabs().len() - 1)
    }

    pub(in crate::view::tui) fn is_log_tab(&self) -> bool {
        self.tab() + 1 == self.tabs().len()
    }

    /// The sections of the tab, if it has any.
    pub(super) fn sections(&self) -> Vec<&Section> {
        let tab = || questions(self.report()?).into_iter().nth(self.tab().checked_sub(1)?);
        tab().map(|tab| tab.sections).unwrap_or_default()
    }

    /// What the tab can show: each shape that has something in it.
    pub(in crate::view::tui) fn places(&self) -> Vec<(&Section, &Shape)> {
        let of = |section| Section::shapes_with_content(section).map(move |shape| (section, shape));
        self.sections().into_iter().flat_map(of).collect()
    }

    /// Which of them takes keys: the first table, until the user chooses.
    pub(in crate::view::tui) fn place(&self) -> Option<usize> {
        let places = self.places();
        let chosen = |(section, shape): &(Word, Word)| {
            places.iter().position(|(of, one)| of.id == *section && one.id() == *shape)
        };
        let first_table = || places.iter().position(|(_, shape)| matches!(shape, Shape::Table(_)));
        let first = || (!places.is_empty()).then_some(0);
        self.place.as_ref().and_then(chosen).or_else(first_table).or_else(first)
    }

    /// The section of what takes keys; else the first of the tab.
    pub(in crate::view::tui) fn section(&self) -> Option<&Section> {
        let places = self.places();
        let chosen = self.place().and_then(|at| places.get(at)).map(|(section, _)| *section);
        chosen.or_else(|| self.sections().first().copied())
    }

    /// What takes keys.
    pub(in crate::view::tui) fn shape(&self) -> Option<&Shape> {
        self.place().and_then(|at| self.places().get(at).map(|(_, shape)| *shape))
    }

    pub(super) fn show_tab(&mut self, tab: usize) {
        if tab < self.tabs().len() {
            self.tab = tab;
            self.place = None;
            self.row = 0;
        }
    }

    /// Chooses another of the tab's places: so many further on.
    pub(super) fn step_place(&mut self, step: isize) {
        let count = self.places().len();
        if let Some(at) = self.place().filter(|_| count > 0) {
            // Adding `count` keeps a step back from the first one positive.
            self.show_place((at + count).saturating_add_signed(step) % count);
        }
    }

    /// Chooses the first table of the tab's next section that has something to show.
    pub(super) fn step_section(&mut self) {
        let Some(own) = self.section().map(|section| section.id) else { return };
        let places = self.places();
        let last = places.iter().rposition(|(section, _)| section.id == own).unwrap_or(0);
        let order = || places.iter().enumerate().cycle().skip(last + 1).take(places.len());
        let Some(next) = order().next().map(|(_, (section, _))| section.id) else { return };
        let mut of_next = order().filter(|(_, (section, _))| section.id == next);
        let first = of_next.clone().find(|(_, (_, shape))| matches!(shape, Shape::Table(_))).or_else(|| of_next.next());
        let at = first.map(|(at, _)| at);
        if let Some(at) = at {
            self.show_place(at);
        }
    }

    pub(in crate::view::tui) fn show_place(&mut self, at: usize) {
        let Some((section, shape)) = self.places().get(at).copied() else { return };
        let row = match shape {
            Shape::Profile(profile) => self.tree(section.id, profile).map_or(0, Tree::start),
            Shape::Table(_) | Shape::Tree(_) | Shape::Histogram(_) | Shape::Timeline(_) => 0,
        };
        (self.place, self.row) = (Some((section.id, shape.id())), row);
    }

    /// Shows where the numbers of the selected finding stand: its shape, or its section where that is empty.
    pub(super) fn show_evidence(&mut self) {
        let finding = self.findings().get(self.row).copied();
        let Some((section, shape)) = finding.and_then(|finding| finding.shown_in.split_once('.')) else { return };
        let Some(report) = self.report() else { return };
        let all = questions(report);
        let has_it = |tab: &Question<'_>| tab.sections.iter().any(|of| of.id == section);
        let Some(tab) = all.iter().position(has_it) else { return };
        let first = |of: &&&Section| of.id == section;
        let ids = all.get(tab).and_then(|tab| tab.sections.iter().find(first)).map(|of| {
            let mut shapes = of.shapes_with_content().map(Shape::id);
            (of.id, shapes.clone().find(|id| *id == shape).or_else(|| shapes.next()))
        });
        self.show_tab(tab + 1);
        if let Some((section, Some(shape))) = ids {
            self.place = Some((section, shape));
        }
    }
}

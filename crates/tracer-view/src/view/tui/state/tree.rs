//! What keys do to the trees of profiles.

use ratatui::crossterm::event::KeyCode;

use super::State;
use crate::{
    report::{Profile, Shape},
    view::tui::{key::Action, profile::Tree},
};

impl State {
    /// Section and profile that take keys, if it is a profile.
    fn profile(&self) -> Option<(&'static str, &'static str)> {
        let section = self.section()?;
        match self.shape()? {
            Shape::Profile(profile) => Some((section.id, profile.id)),
            Shape::Table(_) | Shape::Tree(_) | Shape::Histogram(_) | Shape::Timeline(_) => None,
        }
    }

    /// Whether keys go to the tree of a profile.
    pub(in crate::view::tui) fn is_tree(&self) -> bool {
        self.profile().is_some()
    }

    /// The tree of a profile of the section that is shown.
    pub(in crate::view::tui) fn tree(&self, section: &'static str, profile: &Profile) -> Option<&Tree> {
        self.trees.get(section, profile)
    }

    /// How often the stacks of profiles were walked so far.
    #[cfg(test)]
    pub(in crate::view::tui) fn walks(&self) -> usize {
        self.trees.walks()
    }

    /// Makes the trees of the tab fit its report, and goes on selecting the same path.
    pub(super) fn refresh_trees(&mut self) {
        let Some(report) = self.shared_report().cloned() else { return };
        let sections: Vec<_> = self.sections().iter().filter_map(|section| report.section(section.id)).collect();
        let chosen = self.profile();
        let row = self.row;
        let mut trees = std::mem::take(&mut self.trees);
        let path = chosen.and_then(|(section, profile)| trees.get_mut(section, profile).path(row));
        for section in sections {
            trees.refresh(&report, section, &|text| self.filter.lets_through(text), self.filter.text());
        }
        if let Some((section, profile)) = chosen {
            let tree = trees.get_mut(section, profile);
            let found = path.and_then(|path| tree.find(path)).unwrap_or(row);
            self.row = found.min(tree.len().saturating_sub(1));
        }
        self.trees = trees;
    }

    /// Takes a key that means something only in the tree of a profile; says whether it was one.
    pub(super) fn tree_key(&mut self, action: Action, code: KeyCode) -> bool {
        let Some((section, profile)) = self.profile() else { return false };
        let mut trees = std::mem::take(&mut self.trees);
        let tree = trees.get_mut(section, profile);
        let (row, filter) = (self.row, |text: &str| self.filter.lets_through(text));
        let mut chosen = row;
        let taken = match (action, code) {
            (Action::NextTab, KeyCode::Right) => {
                tree.unfold(row, &filter);
                true
            }
            (Action::PreviousTab, KeyCode::Left) => {
                chosen = tree.fold(row, &filter);
                true
            }
            (Action::Detail, _) => {
                tree.toggle(row, &filter);
                true
            }
            (Action::Invert, _) => {
                tree.invert();
                chosen = 0;
                true
            }
            _ => false,
        };
        self.trees = trees;
        self.row = chosen;
        taken
    }
}

//! A profile on the screen: a tree of calls, or of callers, that unfolds.
//!
//! The rows are found when a report comes or a key changes them, not when they are drawn.

use std::{
    collections::{BTreeMap, HashSet},
    hash::{DefaultHasher, Hash as _, Hasher as _},
    sync::Arc,
};

use ratatui::{
    Frame,
    layout::Rect,
    style::{Color, Modifier, Style},
    text::{Line, Span},
};

use super::{draw, state::State};
use crate::{
    report::{Profile, Report, Section, Shape},
    stack::Kind,
    text::escape,
    view::{
        calls::{Call, Calls, Direction},
        format, name,
        symbol::Lines,
        text::profile::share,
    },
};

/// Most rows that one can walk through.
const MOST: usize = 10_000;

/// Most frames that one key unfolds along a path without branches.
const LONGEST_CHAIN: usize = 2_048;

/// A row of the tree.
#[derive(Debug)]
struct Row {
    call: Call,
    /// Stands for the labels from the root to here, so that a row is found again in the next report.
    path: u64,
    fold: Fold,
    is_match: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fold {
    Open,
    Closed,
    Leaf,
}

/// The tree of one profile.
#[derive(Debug, Default)]
pub(super) struct Tree {
    direction: Direction,
    open: HashSet<u64>,
    /// The report that the calls were made of; it is kept so that no other can have its address.
    of: Option<(Arc<Report>, Direction)>,
    calls: Option<Calls>,
    filter: String,
    rows: Vec<Row>,
    /// How often the stacks were walked to make the calls.
    #[cfg(test)]
    walks: usize,
}

/// The trees of all profiles, by section and profile.
#[derive(Debug, Default)]
pub(super) struct Trees(BTreeMap<(&'static str, &'static str), Tree>);

impl Trees {
    /// The tree of a profile that was shown before.
    pub(super) fn get(&self, section: &'static str, profile: &Profile) -> Option<&Tree> {
        self.0.get(&(section, profile.id))
    }

    /// The tree of a profile.
    pub(super) fn get_mut(&mut self, section: &'static str, profile: &'static str) -> &mut Tree {
        self.0.entry((section, profile)).or_default()
    }

    /// How often stacks were walked so far.
    #[cfg(test)]
    pub(super) fn walks(&self) -> usize {
        self.0.values().map(|tree| tree.walks).sum()
    }

    /// Makes the trees of a section's profiles fit the report and the filter.
    pub(super) fn refresh(
        &mut self,
        report: &Arc<Report>,
        section: &Section,
        filter: &dyn Fn(&str) -> bool,
        text: &str,
    ) {
        for shape in &section.shapes {
            if let Shape::Profile(profile) = shape {
                self.get_mut(section.id, profile.id).refresh(report, section.id, profile, filter, text);
            }
        }
    }
}

impl Tree {
    fn refresh(
        &mut self,
        report: &Arc<Report>,
        section: &'static str,
        profile: &Profile,
        filter: &dyn Fn(&str) -> bool,
        text: &str,
    ) {
        // A report with the same stacks is as good as the same report; comparing them is cheaper than walking them.
        let is_same = |(before, direction): &(Arc<Report>, Direction)| {
            *direction == self.direction
                && (Arc::ptr_eq(before, report)
                    || before.profiles().any(|(of, one)| of.id == section && one == profile))
        };
        let is_known = self.of.as_ref().is_some_and(is_same);
        if let Some((before, _)) = self.of.as_mut().filter(|_| is_known) {
            // The older report can go.
            *before = Arc::clone(report);
        }
        if is_known && self.filter == text {
            return;
        }
        let is_first = self.of.is_none();
        if !is_known {
            self.calls = Some(Calls::new(profile, Lines::Shown, self.direction));
            self.of = Some((Arc::clone(report), self.direction));
            #[cfg(test)]
            {
                self.walks += 1;
            }
        }
        text.clone_into(&mut self.filter);
        self.lay_out(filter);
        // What nearly all have in common says nothing: most stacks begin with the function that starts threads.
        for _ in 0..LONGEST_CHAIN {
            let at = self.start();
            if !is_first || !self.rows.get(at).is_some_and(|row| self.has_most(row)) || !self.unfold(at, filter) {
                break;
            }
        }
    }

    /// Finds the rows anew.
    fn lay_out(&mut self, filter: &dyn Fn(&str) -> bool) {
        let Some(calls) = &self.calls else { return };
        let matching = (!self.filter.is_empty()).then(|| calls.matching(filter));
        let mut rows = Vec::new();
        // A row's children are put on top of what is still to do, so that they come next.
        let mut pending = vec![(calls.root(), 0_u64, false)];
        while let Some((call, path, is_below_match)) = pending.pop() {
            let is_root = pending.is_empty() && rows.is_empty() && path == 0;
            let is_match = matching.as_ref().is_some_and(|matching| Calls::is_match(&call, matching));
            let leads_on = matching.is_some() && !is_match && !is_below_match;
            let fold = match (calls.has_children(&call), is_root || leads_on || self.open.contains(&path)) {
                (false, _) => Fold::Leaf,
                (true, true) => Fold::Open,
                (true, false) => Fold::Closed,
            };
            if fold == Fold::Open {
                let mut children = calls.children(&call);
                if let Some(matching) = matching.as_ref().filter(|_| leads_on) {
                    children.retain(|child| calls.holds_match(child, matching));
                }
                children.truncate(MOST - rows.len());
                let below = is_below_match || is_match;
                pending.extend(children.into_iter().rev().map(|child| {
                    let path = step(path, calls.label(&child));
                    (child, path, below)
                }));
            }
            if !is_root {
                rows.push(Row { call, path, fold, is_match });
            }
            if rows.len() == MOST {
                break;
            }
        }
        self.rows = rows;
    }

    /// Number of rows.
    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// The last of the rows that nearly all stacks have in common: those before it say nothing.
    pub(super) fn start(&self) -> usize {
        self.rows.iter().take_while(|row| self.has_most(row)).count().saturating_sub(1)
    }

    /// Whether nearly all stacks go through it: some are always cut.
    fn has_most(&self, row: &Row) -> bool {
        let all = self.calls.as_ref().map_or(0, |calls| calls.root().value);
        row.call.value >= all - all / 20
    }

    /// Stands for what a row shows.
    pub(super) fn path(&self, row: usize) -> Option<u64> {
        self.rows.get(row).map(|row| row.path)
    }

    /// Where a path is now.
    pub(super) fn find(&self, path: u64) -> Option<usize> {
        self.rows.iter().position(|row| row.path == path)
    }

    /// Unfolds a row, and with it what follows without a branch; tells whether there was anything to unfold.
    pub(super) fn unfold(&mut self, row: usize, filter: &dyn Fn(&str) -> bool) -> bool {
        let (Some(calls), Some(row)) = (&self.calls, self.rows.get(row)) else { return false };
        if row.fold != Fold::Closed {
            return false;
        }
        let (mut call, mut path) = (row.call.clone(), row.path);
        for _ in 0..LONGEST_CHAIN {
            self.open.insert(path);
            let mut children = calls.children(&call);
            match (children.pop(), children.is_empty()) {
                (Some(only), true) => {
                    path = step(path, calls.label(&only));
                    call = only;
                }
                (None, _) | (Some(_), false) => break,
            }
        }
        self.lay_out(filter);
        true
    }

    /// Folds a row, or goes to the one above it where it is folded; gives the row to select.
    pub(super) fn fold(&mut self, at: usize, filter: &dyn Fn(&str) -> bool) -> usize {
        let Some(row) = self.rows.get(at) else { return at };
        if row.fold == Fold::Open && self.open.remove(&row.path) {
            self.lay_out(filter);
            return at;
        }
        let depth = row.call.depth;
        self.rows[..at].iter().rposition(|above| above.call.depth < depth).unwrap_or(at)
    }

    /// Unfolds a row that is folded, and folds one that is not.
    pub(super) fn toggle(&mut self, row: usize, filter: &dyn Fn(&str) -> bool) {
        if !self.unfold(row, filter) && self.rows.get(row).is_some_and(|row| row.fold == Fold::Open) {
            self.fold(row, filter);
        }
    }

    /// Begins at the other end of the stacks.
    pub(super) fn invert(&mut self) {
        self.direction = match self.direction {
            Direction::Callees => Direction::Callers,
            Direction::Callers => Direction::Callees,
        };
        // What was unfolded from one end means nothing from the other.
        self.open.clear();
    }

    /// What the heading says beside the title.
    pub(super) fn mode(&self) -> &'static str {
        match self.direction {
            Direction::Callees => "calls",
            Direction::Callers => "callers",
        }
    }
}

/// The path one frame further.
fn step(path: u64, label: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    (path, label).hash(&mut hasher);
    hasher.finish()
}

/// Draws the tree; `selected` is the row that takes keys, if the tree does.
pub(super) fn draw(
    frame: &mut Frame<'_>,
    area: Rect,
    state: &State,
    section: &'static str,
    profile: &Profile,
    selected: Option<usize>,
) {
    let Some((tree, calls)) = state.tree(section, profile).and_then(|tree| Some((tree, tree.calls.as_ref()?))) else {
        return;
    };
    if tree.rows.is_empty() {
        let text = if profile.stacks.is_empty() { "nothing yet" } else { "no frame matches the filter" };
        draw::lines(frame, area, vec![Line::styled(text, draw::DIM)]);
        return;
    }
    let height = usize::from(area.height).saturating_sub(1);
    let selected = selected.map(|row| row.min(tree.rows.len() - 1));
    let middle = selected.unwrap_or_else(|| tree.start());
    let first = middle.saturating_sub(height / 2).min(tree.rows.len().saturating_sub(height));
    let (own, value) = ("self", "total");
    let mut lines = vec![Line::styled(format!("{value:>11} {:>8} {own:>8}", "share"), draw::HEADING)];
    let total = profile.total();
    let shown = || tree.rows.iter().enumerate().skip(first).take(height);
    // Deep below the beginning blanks would leave no room for names.
    let mut depths = shown().map(|(_, row)| row.call.depth);
    let first_depth = depths.next().unwrap_or(0);
    let indent = if depths.any(|depth| depth > usize::from(area.width) / 4) { first_depth } else { 0 };
    for (at, row) in shown() {
        let line = line(row, calls, tree.direction, total, (usize::from(area.width), indent));
        lines.push(if selected == Some(at) { line.patch_style(Modifier::REVERSED) } else { line });
    }
    draw::lines(frame, area, lines);
}

/// A row in this width, for so many levels less far from the left.
fn line(row: &Row, calls: &Calls, direction: Direction, total: u64, (width, indent): (usize, usize)) -> Line<'static> {
    let Row { call, path: _, fold, is_match } = row;
    // From the innermost frames, only these are where time was spent; the others called them.
    let own = match direction {
        Direction::Callees => call.own,
        Direction::Callers if call.depth == 0 => call.value,
        Direction::Callers => 0,
    };
    let own = if own == 0 { String::new() } else { format::percent(share(own, total)) };
    let value = format::int(call.value, calls.unit());
    let amounts = format!("{value:>11} {:>8} {own:>8} ", format::percent(share(call.value, total)));
    let mark = match fold {
        Fold::Open => '▾',
        Fold::Closed => '▸',
        Fold::Leaf => ' ',
    };
    let room = width.saturating_sub(escape::width(&amounts));
    let lead = format!("{}{mark} ", " ".repeat(call.depth.saturating_sub(indent).min(room / 2)));
    let label = name::fit(calls.label(call), room.saturating_sub(escape::width(&lead)));
    let style = if *is_match { draw::HEADING.add_modifier(Modifier::UNDERLINED) } else { Style::new() };
    Line::from(vec![
        amounts.into(),
        Span::styled(lead, draw::DIM),
        Span::styled(label, style.patch(colour(calls.kind(call)))),
    ])
}

/// Colours as in the pages' flame graphs, as far as a terminal has them.
const fn colour(kind: Kind) -> Style {
    match kind {
        Kind::Interpreted | Kind::Compiled | Kind::Inlined => Style::new(),
        Kind::Native | Kind::Stub => Style::new().fg(Color::Yellow),
        Kind::Kernel => Style::new().fg(Color::Red),
        Kind::Unknown => draw::DIM,
    }
}

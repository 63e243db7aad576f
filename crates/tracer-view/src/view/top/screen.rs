//! The screen of all JVMs: keys or the mouse choose one, and Enter or a second click ask to attach to it. It reads no clock and no
//! keyboard by itself.

use ratatui::{
    Frame,
    crossterm::event::{KeyCode, KeyEvent, MouseEvent},
    layout::{Constraint, Layout, Rect},
    style::{Color, Modifier, Style},
    text,
    widgets::Paragraph,
};

use super::{Line, laid};
use crate::{
    report::{
        Cell, Severity,
        reading::{Row, sort, table},
    },
    text::{escape, format},
    view::{
        order::{Sort, compare},
        text::Style as Colours,
        tui::{
            draw,
            filter::Filter,
            key::{self, Action, Binding},
            mouse::{self, Target, Targets},
        },
    },
};

const KEYS: &str = "? help  ↑↓ or click: choose  Enter or again: attach  s sort  / filter  q quit";
/// How far `PgUp` and `PgDn` go.
const PAGE: usize = 10;

/// What a key or the mouse asks for.
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
    all: Vec<Row>,
    /// Those that the filter lets through, in the order of the screen.
    rows: Vec<Row>,
    chosen: Option<u32>,
    /// What was clicked last, unless it was a key since then.
    clicked: Option<u32>,
    /// By which column of the whole table; by default the worst is first.
    sort: Option<Sort>,
    filter: Filter,
    shows_help: bool,
    colours: Colours,
    targets: Targets,
}

/// What a key does here, for the help; nothing where only a session's screen has it.
const fn said(binding: &Binding) -> Option<&'static str> {
    Some(match binding.action {
        Action::Quit => "quit",
        Action::Detail => "attach to the JVM",
        Action::Down
        | Action::Up
        | Action::PageDown
        | Action::PageUp
        | Action::First
        | Action::Last
        | Action::SortColumn
        | Action::SortDirection
        | Action::Filter
        | Action::Help
        | Action::Close => binding.description,
        Action::NextTab
        | Action::PreviousTab
        | Action::Tab
        | Action::NextShape
        | Action::PreviousShape
        | Action::Finding
        | Action::Invert
        | Action::Freeze
        | Action::Switch => return None,
    })
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

    /// Takes the JVMs as they are now.
    pub fn update(&mut self, rows: Vec<Row>) {
        self.all = rows;
        self.put_in_order();
    }

    /// Takes a key; the session's screen has the same ones.
    pub fn key(&mut self, key: KeyEvent) -> Asked {
        self.clicked = None;
        if self.filter.is_typing() && !key::is_interrupt(key) {
            self.filter.key(key.code);
            self.put_in_order();
            return Asked::Nothing;
        }
        let at = self.chosen();
        match key::action(key) {
            Some(Action::Quit) => return Asked::Quit,
            // Any other key closes the help, and does nothing else.
            _ if self.shows_help => self.shows_help = false,
            Some(Action::Help) => self.shows_help = true,
            Some(Action::Filter) => self.filter.begin(),
            Some(Action::Close) => {
                self.filter.clear();
                self.put_in_order();
            }
            Some(Action::Detail) => {
                return self.rows.get(at).map_or(Asked::Nothing, |row| Asked::Attach(row.target.pid));
            }
            Some(Action::Down) => self.choose(at.saturating_add(1)),
            Some(Action::Up) => self.choose(at.saturating_sub(1)),
            Some(Action::PageDown) => self.choose(at.saturating_add(PAGE)),
            Some(Action::PageUp) => self.choose(at.saturating_sub(PAGE)),
            Some(Action::First) => self.choose(0),
            Some(Action::Last) => self.choose(usize::MAX),
            Some(Action::SortColumn) => self.sort_by_next(),
            Some(Action::SortDirection) => self.sort_by(self.sort.map(Sort::turned)),
            // What `said` has no words for is not here.
            _ => {}
        }
        Asked::Nothing
    }

    /// Takes an event of the mouse: a click chooses a JVM, and a second one on the same attaches to it.
    pub fn mouse(&mut self, event: MouseEvent) -> Asked {
        match mouse::asked(event, &self.targets) {
            mouse::Asked::Show(_) if self.shows_help => self.shows_help = false,
            mouse::Asked::Show(Target::Row(at)) => return self.click(at),
            mouse::Asked::Show(Target::Column(column)) => self.sort_by_heading(column),
            mouse::Asked::Show(Target::Tab(_) | Target::Place(_)) | mouse::Asked::Nothing => {}
            mouse::Asked::Down => return self.key(KeyCode::Down.into()),
            mouse::Asked::Up => return self.key(KeyCode::Up.into()),
        }
        Asked::Nothing
    }

    fn click(&mut self, at: usize) -> Asked {
        let Some(pid) = self.rows.get(at).map(|row| row.target.pid) else { return Asked::Nothing };
        // A row can move between two clicks: the second one then only chooses another JVM.
        if self.clicked == Some(pid) {
            return Asked::Attach(pid);
        }
        (self.chosen, self.clicked) = (Some(pid), Some(pid));
        Asked::Nothing
    }

    /// The first click on a heading sorts by it, the second turns the direction, and the third has the worst first again.
    fn sort_by_heading(&mut self, column: usize) {
        let first = Sort::by(&table(&self.rows), column);
        self.sort_by(match self.sort.filter(|sort| sort.column == column) {
            None => first,
            Some(sort) if Some(sort) == first => Some(sort.turned()),
            Some(_) => None,
        });
    }

    /// After the last column comes the worst first again.
    fn sort_by_next(&mut self) {
        let next = self.sort.map_or(0, |sort| sort.column + 1);
        self.sort_by(Sort::by(&table(&self.rows), next));
    }

    fn sort_by(&mut self, sort: Option<Sort>) {
        self.sort = sort;
        self.put_in_order();
    }

    fn put_in_order(&mut self) {
        let all = table(&self.all);
        let lets_through = |(row, cells): &(&Row, &Vec<Cell>)| {
            let findings = row.reading.iter().flat_map(|reading| &reading.findings).map(|finding| &finding.title);
            self.filter.lets_row_through(&all, cells)
                || findings.chain(&row.problem).any(|text| self.filter.lets_through(text))
        };
        self.rows = self.all.iter().zip(&all.rows).filter(lets_through).map(|(row, _)| row.clone()).collect();
        sort(&mut self.rows);
        let Some(Sort { column, descending }) = self.sort else { return };
        let cells = table(&self.rows).rows;
        let mut rows: Vec<_> = std::mem::take(&mut self.rows).into_iter().zip(cells).collect();
        rows.sort_by(|(_, a), (_, b)| compare(a.get(column), b.get(column), descending));
        self.rows = rows.into_iter().map(|(row, _)| row).collect();
    }

    fn choose(&mut self, at: usize) {
        let at = at.min(self.rows.len().saturating_sub(1));
        self.chosen = self.rows.get(at).map(|row| row.target.pid);
    }

    /// Draws everything; `missing` says what was not looked at.
    pub fn draw(&mut self, frame: &mut Frame<'_>, missing: &[String]) {
        let [head, body, foot] =
            Layout::vertical([Constraint::Length(1), Constraint::Fill(1), Constraint::Length(1)]).areas(frame.area());
        let bold = Style::new().add_modifier(Modifier::BOLD);
        let dim = Style::new().fg(Color::DarkGray);
        let bad = self.all.iter().filter(|row| row.worst().is_some()).count();
        let count = format::plural(self.all.len() as u64, "JVM", "JVMs");
        let title =
            format!("jtrace top  {count}, {bad} with something wrong  {}", escape::terminal(&missing.join("  ")));
        let title = escape::ellipsis(&title, usize::from(head.width));
        frame.render_widget(Paragraph::new(&*title).style(bold), head);
        let chosen = self.chosen();
        let (mut lines, headings) = laid(&self.rows, usize::from(body.width), self.sort);
        if self.rows.is_empty() && !self.all.is_empty() {
            lines = vec![(Line::Titles, "no JVM matches the filter".to_owned())];
        }
        let is_of_chosen = |(line, _): &(Line, String)| matches!(line, Line::Jvm(at) if *at == chosen);
        // The chosen one, and what is below it, stay on the screen.
        let at = lines.iter().position(is_of_chosen).unwrap_or(0);
        let first = (at + 2).saturating_sub(usize::from(body.height).saturating_sub(1)).max(1);
        let shown = || lines.iter().take(1).chain(lines.iter().skip(first));
        self.targets = Targets::default();
        self.targets.put_headings(body, &headings);
        for ((line, _), y) in shown().zip(body.y..body.bottom()) {
            if let Line::Jvm(at) | Line::Finding(at, _) | Line::Problem(at) = line {
                self.targets.put(Rect { y, height: 1, ..body }, Target::Row(*at));
            }
        }
        let styled = shown().map(|(line, text)| {
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
        let last = self.filter.footer().unwrap_or_else(|| text::Line::styled(KEYS, dim));
        frame.render_widget(Paragraph::new(last), foot);
        if self.shows_help {
            let keys = key::BINDINGS.iter().filter_map(|binding| Some((binding.label, said(binding)?)));
            draw::help(frame, keys, (0, &mut self.targets));
        }
        self.colours.apply(frame.buffer_mut());
    }
}

#[cfg(test)]
mod tests;

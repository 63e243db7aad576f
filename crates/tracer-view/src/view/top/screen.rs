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
mod tests {
    use ratatui::{
        Terminal,
        backend::TestBackend,
        crossterm::event::{KeyModifiers, MouseButton, MouseEventKind},
    };

    use super::*;
    use crate::{
        item::Target as Jvm,
        report::reading::{Brief, Reading},
        view::sample,
    };

    fn row(pid: u32) -> Row {
        Row { target: Jvm { pid, ..Jvm::default() }, reading: None, problem: None }
    }

    fn using(pid: u32, cpu_percent: f64) -> Row {
        let reading = Reading { cpu_percent: Some(cpu_percent), threads: Some(7), ..Reading::default() };
        Row { reading: Some(reading), ..row(pid) }
    }

    fn of(rows: Vec<Row>) -> Shown {
        let mut shown = Shown::default();
        shown.update(rows);
        shown
    }

    fn key(shown: &mut Shown, code: KeyCode) -> Asked {
        shown.key(KeyEvent::new(code, KeyModifiers::NONE))
    }

    fn drawn(shown: &mut Shown) -> Vec<String> {
        let mut terminal = Terminal::new(TestBackend::new(100, 12)).unwrap();
        terminal.draw(|frame| shown.draw(frame, &[])).unwrap();
        let text = terminal.backend().buffer().content().iter().map(ratatui::buffer::Cell::symbol).collect::<Vec<_>>();
        text.chunks(100).map(<[&str]>::concat).collect()
    }

    fn mouse(shown: &mut Shown, kind: MouseEventKind, column: usize, row: usize) -> Asked {
        let [column, row] = [column, row].map(|at| u16::try_from(at).unwrap());
        shown.mouse(MouseEvent { kind, column, row, modifiers: KeyModifiers::NONE })
    }

    /// Clicks the place of a text on the screen.
    fn click(shown: &mut Shown, text: &str) -> Asked {
        let lines = drawn(shown);
        let is_there = |line: &String| line.find(text).map(|at| line[..at].chars().count());
        let (y, x) = lines.iter().enumerate().find_map(|(y, line)| Some((y, is_there(line)?))).unwrap();
        mouse(shown, MouseEventKind::Down(MouseButton::Left), x, y)
    }

    fn pids(shown: &Shown) -> Vec<u32> {
        shown.rows.iter().map(|row| row.target.pid).collect()
    }

    #[test]
    fn the_chosen_jvm_stays_chosen_and_enter_attaches_to_it() {
        let mut shown = of(vec![row(1), row(2), row(3)]);
        assert_eq!(key(&mut shown, KeyCode::Enter), Asked::Attach(1));
        key(&mut shown, KeyCode::Down);
        shown.update(vec![row(1), using(2, 1.0), using(3, 9.0)]);
        assert_eq!(pids(&shown), [3, 2, 1]);
        assert_eq!(key(&mut shown, KeyCode::Enter), Asked::Attach(2), "whatever its place is");
        for _ in 0..2 {
            key(&mut shown, KeyCode::Up);
            assert_eq!(key(&mut shown, KeyCode::Enter), Asked::Attach(3), "there is none above it");
        }
        key(&mut shown, KeyCode::End);
        assert_eq!(key(&mut shown, KeyCode::Enter), Asked::Attach(1));
        assert_eq!(key(&mut shown, KeyCode::Char('q')), Asked::Quit);
        assert_eq!(Shown::default().key(KeyCode::Enter.into()), Asked::Nothing);
    }

    #[test]
    fn a_click_chooses_a_second_one_attaches_and_the_wheel_moves_on() {
        let brief = Brief {
            id: "deadlock".to_owned(),
            severity: Severity::Critical,
            title: format!("stuck at {}", sample::HOSTILE),
            next_step: String::new(),
        };
        let mut bad = using(4711, 1.0);
        bad.reading.as_mut().unwrap().findings.push(brief);
        let mut shown = of(vec![bad, using(11, 5.0), using(12, 6.0)]);
        assert_eq!(click(&mut shown, "4711"), Asked::Nothing, "what is chosen by default was not clicked yet");
        assert_eq!(click(&mut shown, "stuck at"), Asked::Attach(4711), "what is wrong with it is part of it");
        assert_eq!(click(&mut shown, " 11 "), Asked::Nothing);
        assert_eq!(click(&mut shown, "4711"), Asked::Nothing, "another one was clicked between");
        mouse(&mut shown, MouseEventKind::ScrollDown, 0, 0);
        assert_eq!(click(&mut shown, "4711"), Asked::Nothing, "another one was chosen between");
        mouse(&mut shown, MouseEventKind::ScrollDown, 0, 0);
        assert_eq!(key(&mut shown, KeyCode::Enter), Asked::Attach(12));
        mouse(&mut shown, MouseEventKind::ScrollUp, 0, 0);
        assert_eq!(key(&mut shown, KeyCode::Enter), Asked::Attach(4711));
        assert_eq!(click(&mut shown, "jtrace top"), Asked::Nothing);
    }

    #[test]
    fn a_row_that_moves_between_two_clicks_is_not_attached_to() {
        let mut shown = of(vec![using(11, 5.0), using(12, 6.0)]);
        let line = drawn(&mut shown).iter().position(|line| line.contains(" 12 ")).unwrap();
        let click = MouseEventKind::Down(MouseButton::Left);
        assert_eq!(mouse(&mut shown, click, 5, line), Asked::Nothing);
        shown.update(vec![using(11, 7.0), using(12, 6.0)]);
        drawn(&mut shown);
        assert_eq!(mouse(&mut shown, click, 5, line), Asked::Nothing);
        assert_eq!(mouse(&mut shown, click, 5, line), Asked::Attach(11));
    }

    fn named(pid: u32, command: &str, finding: &str) -> Row {
        let mut row = using(pid, 1.0);
        row.target.command = command.to_owned();
        let title = format!("{finding} at {}", sample::HOSTILE);
        let brief = Brief { id: "x".to_owned(), severity: Severity::Warning, title, next_step: String::new() };
        row.reading.as_mut().unwrap().findings.push(brief);
        row
    }

    #[test]
    fn a_filter_leaves_jvms_with_a_text_in_their_row_or_in_what_is_wrong() {
        let rows = || vec![named(11, "com.shop.Checkout", "stuck"), named(12, "app.jar", "growing"), row(13)];
        let mut shown = of(rows());
        for letter in ['/', 's', 'H', 'O', 'P', 'q'] {
            assert_eq!(key(&mut shown, KeyCode::Char(letter)), Asked::Nothing, "letters go into the filter");
        }
        let lines = drawn(&mut shown);
        assert!(lines[1].contains("no JVM matches the filter"), "{lines:?}");
        assert!(lines[0].contains("3 JVMs, 2 with something wrong"), "{lines:?}");
        assert!(lines.last().unwrap().contains("filter: sHOPq█  (Enter keeps, Esc clears)"), "{lines:?}");
        key(&mut shown, KeyCode::Backspace);
        assert_eq!(key(&mut shown, KeyCode::Enter), Asked::Nothing, "it keeps the filter, and attaches to nothing");
        assert_eq!(pids(&shown), [11]);
        assert!(drawn(&mut shown).last().unwrap().contains("filter: sHOP  (Esc clears)"));
        shown.update(rows());
        assert_eq!(pids(&shown), [11], "JVMs that are looked for anew are filtered, too");
        assert_eq!(key(&mut shown, KeyCode::Enter), Asked::Attach(11));
        assert_eq!(key(&mut shown, KeyCode::Esc), Asked::Nothing);
        assert_eq!(pids(&shown), [11, 12, 13]);
        for letter in ['/', 'g', 'r', 'o', 'w'] {
            key(&mut shown, KeyCode::Char(letter));
        }
        assert_eq!(pids(&shown), [12], "by what is wrong with it");
        shown.update(vec![row(30_919), row(4711)]);
        for code in [KeyCode::Esc, KeyCode::Char('/')].into_iter().chain("30919".chars().map(KeyCode::Char)) {
            key(&mut shown, code);
        }
        assert_eq!(pids(&shown), [30_919], "by its number, as other tools write it");
        let interrupt = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
        assert_eq!(shown.key(interrupt), Asked::Quit, "while a filter is typed, too");
    }

    #[test]
    fn the_help_names_the_keys_of_this_screen_and_any_key_closes_it() {
        assert!(escape::width(KEYS) <= 80, "it is {} wide", escape::width(KEYS));
        let mut shown = of(vec![row(1), row(2)]);
        key(&mut shown, KeyCode::Char('?'));
        let mut terminal = Terminal::new(TestBackend::new(80, 24)).unwrap();
        terminal.draw(|frame| shown.draw(frame, &[])).unwrap();
        insta::assert_snapshot!(terminal.backend());
        assert_eq!(key(&mut shown, KeyCode::Enter), Asked::Nothing);
        assert!(!drawn(&mut shown).concat().contains("this help"));
        key(&mut shown, KeyCode::Char('?'));
        assert_eq!(click(&mut shown, "1"), Asked::Nothing, "a click closes it");
        assert!(!drawn(&mut shown).concat().contains("this help"));
        key(&mut shown, KeyCode::Char('?'));
        assert_eq!(key(&mut shown, KeyCode::Char('q')), Asked::Quit);
    }

    #[test]
    fn a_heading_sorts_turns_and_has_the_worst_first_again() {
        let mut shown = of(vec![using(9, 50.0), using(100, 5.0), row(20)]);
        assert_eq!(pids(&shown), [9, 100, 20]);
        click(&mut shown, "PID");
        assert_eq!(pids(&shown), [100, 20, 9], "by value, and not as texts");
        assert!(drawn(&mut shown)[1].contains("PID▼"));
        click(&mut shown, "PID");
        assert_eq!(pids(&shown), [9, 20, 100]);
        shown.update(vec![row(20), using(9, 50.0), using(100, 5.0), row(7)]);
        assert_eq!(pids(&shown), [7, 9, 20, 100], "the order stays");
        click(&mut shown, "PID");
        assert_eq!(pids(&shown), [9, 100, 7, 20]);
        click(&mut shown, "CPU");
        key(&mut shown, KeyCode::Char('S'));
        assert_eq!(pids(&shown), [100, 9, 7, 20], "what is not known comes last");
    }
}

//! What keys and clicks do to the list, and what of it is shown.

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

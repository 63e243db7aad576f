//! The screen on ratatui's `TestBackend`, and what keys do to it.

mod keys;
mod trees;

use std::{fmt::Write as _, sync::Arc};

use ratatui::{
    Terminal,
    backend::TestBackend,
    crossterm::event::{KeyCode, KeyEvent, KeyModifiers, MouseButton, MouseEvent, MouseEventKind},
    style::{Color, Modifier},
};

use super::{Flow, Tui};
use crate::{
    report::{Cell, Column, Section, Shape, Summary, Table, Unit},
    text::escape,
    view::{sample, text::Style},
};

fn tui() -> Tui {
    let mut tui = Tui::new();
    tui.update(Arc::new(sample::report()));
    tui
}

/// The screen's lines, without their trailing blanks.
pub(super) fn screen(tui: &Tui, width: u16, height: u16) -> String {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    tui.draw(&mut terminal).unwrap();
    let buffer = terminal.backend().buffer();
    let mut out = String::new();
    for y in 0..height {
        let line: String = (0..width).map(|x| buffer[(x, y)].symbol()).collect();
        writeln!(out, "{}", line.trim_end()).unwrap();
    }
    out
}

fn press(tui: &mut Tui, keys: &str) {
    for c in keys.chars() {
        let code = match c {
            '\n' => KeyCode::Enter,
            '\t' => KeyCode::Tab,
            '\x1b' => KeyCode::Esc,
            '↓' => KeyCode::Down,
            '←' => KeyCode::Left,
            '→' => KeyCode::Right,
            c => KeyCode::Char(c),
        };
        assert_eq!(tui.key(KeyEvent::new(code, KeyModifiers::NONE)), Flow::Continue, "{c:?}");
    }
}

#[test]
fn overview_at_80x24() {
    insta::assert_snapshot!(screen(&tui(), 80, 24));
}

#[test]
fn overview_at_120x40() {
    insta::assert_snapshot!(screen(&tui(), 120, 40));
}

#[test]
fn section_with_several_shapes_at_80x24() {
    let mut tui = tui();
    press(&mut tui, "4");
    insta::assert_snapshot!(screen(&tui, 80, 24));
}

#[test]
fn section_with_several_shapes_at_120x40() {
    let mut tui = tui();
    press(&mut tui, "4");
    insta::assert_snapshot!(screen(&tui, 120, 40));
}

#[test]
fn table_of_hostile_names_at_80x24() {
    let mut tui = tui();
    press(&mut tui, "3");
    insta::assert_snapshot!(screen(&tui, 80, 24));
}

#[test]
fn tree_and_timeline_at_120x40() {
    let mut tui = tui();
    press(&mut tui, "3n");
    insta::assert_snapshot!(screen(&tui, 120, 40));
}

#[test]
fn a_screen_without_colours_still_shows_what_is_chosen() {
    let styles = |tui: &Tui| {
        let mut terminal = Terminal::new(TestBackend::new(80, 24)).unwrap();
        tui.draw(&mut terminal).unwrap();
        let cells = terminal.backend().buffer().content.iter();
        let is_coloured = cells.clone().any(|cell| cell.fg != Color::Reset || cell.bg != Color::Reset);
        (is_coloured, cells.filter(|cell| cell.modifier.contains(Modifier::REVERSED)).count())
    };
    let (plain, coloured) = (tui(), tui().in_style(Style::Colour));
    let chosen = " 1 overview ".len();
    assert_eq!((styles(&plain), styles(&coloured)), ((false, chosen), (true, chosen)));
}

#[test]
fn help_at_80x24() {
    let mut tui = tui();
    press(&mut tui, "?");
    insta::assert_snapshot!(screen(&tui, 80, 24));
    press(&mut tui, "?");
    assert!(!screen(&tui, 80, 24).contains("previous tab"));
}

#[test]
fn detail_shows_the_whole_name() {
    let mut tui = tui();
    press(&mut tui, "3\n");
    let shown = screen(&tui, 80, 24);
    assert!(shown.contains(&*escape::terminal(sample::HOSTILE)), "{shown}");
    press(&mut tui, "\x1b");
    assert!(!screen(&tui, 80, 24).contains(&*escape::terminal(sample::HOSTILE)));
}

#[test]
fn no_tab_at_any_size_draws_something_hostile() {
    for (width, height) in [(1, 1), (10, 5), (40, 10), (80, 24), (300, 80)] {
        let mut tui = tui();
        for _ in 0..6 {
            for keys in ["", "n", "\n", "\x1b?", "\x1b"] {
                press(&mut tui, keys);
                for line in screen(&tui, width, height).lines() {
                    assert_eq!(escape::terminal(line), line);
                }
            }
            press(&mut tui, "\t");
        }
    }
}

#[test]
fn screen_without_a_report_waits() {
    let mut tui = Tui::new();
    press(&mut tui, "n↓s/x\n\x1bf");
    assert!(screen(&tui, 80, 24).contains("waiting for the first events"));
    assert!(!tui.is_frozen());
}

#[test]
fn log_pane_shows_messages_escaped() {
    tui_logger::set_default_level(log::LevelFilter::Info);
    let message = format!("kernel side says {}", sample::HOSTILE);
    tui_logger::Drain::new()
        .log(&log::Record::builder().args(format_args!("{message}")).level(log::Level::Warn).target("jtrace").build());
    let mut tui = tui();
    press(&mut tui, "5");
    let shown = screen(&tui, 120, 24);
    assert!(shown.contains("WARN  kernel side says evil.\\x1b[31mRed\\n"), "{shown}");
}

#[test]
fn tree_of_a_profile_at_100x24() {
    let mut tui = tui();
    press(&mut tui, "2→↓↓↓→");
    insta::assert_snapshot!(screen(&tui, 100, 24));
}

#[test]
fn callers_of_a_profile_at_100x24() {
    let mut tui = tui();
    press(&mut tui, "2i→");
    insta::assert_snapshot!(screen(&tui, 100, 24));
}

#[test]
fn what_is_empty_has_no_box() {
    let mut report = sample::report();
    for shape in report.sections.iter_mut().flat_map(|section| &mut section.shapes) {
        if let Shape::Table(table) = shape {
            table.rows.clear();
        }
    }
    let mut tui = Tui::new();
    tui.update(Arc::new(report));
    press(&mut tui, "4");
    let shown = screen(&tui, 120, 40);
    assert!(!shown.contains("By cause") && shown.contains("Pauses over time"), "{shown}");
    press(&mut tui, "3");
    assert_eq!(tui.state.section().map(|section| section.id), Some("threads"));
}

//! The questions of `docs/questions.md`, each asked with the keys that stand there on a small screen. `tracer/tests/page/questions.rs` asks
//! them on the page.

use std::sync::Arc;

use ratatui::crossterm::event::{KeyCode, KeyEvent};

use super::{Tui, tests::screen};
use crate::{item::Item, report::Report, session::Session, source::scenario::Scenario, view::sample};

fn report() -> Report {
    let scenario = Scenario::parse(sample::INCIDENT).unwrap_or_else(|error| panic!("{error}"));
    let mut session: Option<Session> = None;
    scenario.play(&mut |item| {
        if let Item::Start(start) = &item {
            session = Some(Session::new((**start).clone()));
        }
        _ = session.as_mut().expect("it begins with a start").accept(&item);
    });
    let mut report = session.expect("a start").report();
    sample::looked(&mut report);
    report.time = crate::finding::time(&report.span, &report.target, &report.sections);
    report
}

/// The words in code spans of a cell.
fn spans(cell: &str) -> Vec<&str> {
    cell.split('`').skip(1).step_by(2).collect()
}

#[test]
fn each_question_is_answered_by_its_keys_and_three_are_enough() {
    let page = include_str!("../../../../../docs/questions.md");
    let rows: Vec<Vec<&str>> = page
        .lines()
        .filter(|line| line.starts_with("| ") && !line.starts_with("| question"))
        .map(|line| line.trim_matches('|').split('|').map(str::trim).collect())
        .collect();
    assert!(rows.len() >= 10);
    let report = Arc::new(report());
    for row in rows {
        let &[question, keys, shown, page] = &row[..] else { panic!("{row:?}") };
        let clicks = page.chars().next().and_then(|digit| digit.to_digit(10));
        assert!(clicks.is_some_and(|clicks| clicks <= 3), "{question}: {page}");
        let (keys, shown) = (spans(keys), spans(shown));
        assert!(keys.len() <= 3, "{question}: {keys:?}");
        let mut tui = Tui::new();
        tui.update(Arc::clone(&report));
        for key in keys {
            let code = match key {
                "Enter" => KeyCode::Enter,
                key => KeyCode::Char(key.chars().next().expect("a key")),
            };
            tui.key(KeyEvent::from(code));
        }
        let screen = screen(&tui, 80, 24);
        for text in shown {
            assert!(screen.contains(text), "{question}: no {text:?} in\n{screen}");
        }
    }
}

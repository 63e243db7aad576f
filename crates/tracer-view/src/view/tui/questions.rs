//! The questions of `docs/questions.md`, each asked with the keys that stand there on a small screen.

use std::sync::Arc;

use ratatui::crossterm::event::{KeyCode, KeyEvent};

use super::{Tui, tests::screen};
use crate::{
    analysis::column,
    item::Item,
    report::{Cell, Report, Shape, Table, Unit},
    session::Session,
    source::scenario::Scenario,
};

/// Two workers that fight for a lock, samples, allocation, exceptions, and a pause.
const INCIDENT: &str = "target pid=42 command=\"com.shop.Main\" live_threads=10 collector=G1 cpus=4\n\
    thread 5 \"VM Thread\"\nthread 21 \"worker-1\"\nthread 22 \"worker-2\"\n\
    stack add \"java.lang.Thread.run:840\" \"com.shop.Cart.add:12\"\n\
    +100ms tid 5 safepoint_begin\n+100ms tid 5 vm_operation_begin name=\"G1CollectForAllocation\"\n\
    +100ms tid 5 gc_begin cause=\"G1 Evacuation Pause\"\n+310ms tid 5 gc_end cause=\"G1 Evacuation Pause\"\n\
    +310ms tid 5 vm_operation_end name=\"G1CollectForAllocation\"\n+311ms tid 5 safepoint_end\n\
    +350ms tid 21 contended_enter monitor=0xaa class=\"com/shop/Cart\" stack=add\n\
    +400ms tid 22 contended_exit monitor=0xaa class=\"com/shop/Cart\" stack=add\n\
    +401ms tid 21 contended_entered monitor=0xaa class=\"com/shop/Cart\"\n\
    +402ms tid 22 contended_enter monitor=0xaa class=\"com/shop/Cart\" stack=add\n\
    +900ms tid 21 contended_exit monitor=0xaa class=\"com/shop/Cart\" stack=add\n\
    +901ms tid 22 contended_entered monitor=0xaa class=\"com/shop/Cart\"\n\
    +910ms tid 21 cpu_sample period=10ms stack=add\n+920ms tid 21 exception_created class=\"com/shop/Empty\" stack=add\n\
    +930ms tid 21 new_tlab class=\"[B\" tlab=1MiB object=64KiB stack=add\nend +2s duration\n";

/// What looks at all threads would add; scenarios have none.
fn looked(report: &mut Report) {
    let columns = vec![
        column("kind", "Kind", Unit::Text),
        column("what", "What for", Unit::Text),
        column("site", "Place", Unit::Text),
        column("average", "Threads, average", Unit::Count),
    ];
    let rows = vec![vec!["monitor".into(), "com.shop.Cart".into(), "com.shop.Cart.add:12".into(), Cell::Float(1.2)]];
    let title = "What threads of the program wait for".to_owned();
    let section = report.sections.iter_mut().find(|section| section.id == "threads").expect("threads");
    section.shapes.insert(0, Shape::Table(Table { id: "waiting", title, columns, rows }));
    report.time = crate::finding::time(&report.span, &report.target, &report.sections);
}

fn report() -> Report {
    let scenario = Scenario::parse(INCIDENT).unwrap_or_else(|error| panic!("{error}"));
    let mut session: Option<Session> = None;
    scenario.play(&mut |item| {
        if let Item::Start(start) = &item {
            session = Some(Session::new((**start).clone()));
        }
        _ = session.as_mut().expect("it begins with a start").accept(&item);
    });
    let mut report = session.expect("a start").report();
    looked(&mut report);
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

//! Marks become calls as the other lane would have seen them.

use tracer_common::marks::WordKind;

use super::{super::super::woven::Counting, *};
use crate::{
    client::testing::Play,
    mark::testing::{Words, marker},
    mark::{CALLS, Inside, Marker},
    report::{Cell, Shape, Table},
};

fn calls(time: bool) -> Marker {
    Marker { token: CALLS.to_owned(), time, subscribers: vec![CALLS.to_owned()], ..marker(CALLS) }
}

fn play(time: bool) -> Play {
    let client = Calls { span_start_ns: 100, ..Calls::default() };
    Play::new(vec![calls(time), marker("other")], vec![Box::new(Counting::new(client))])
}

fn report(play: &Play) -> ClientReport {
    play.dispatch.reports(&crate::names::Names::default(), true).remove(0).1
}

/// Rows of a table without the columns of names.
fn rows(report: &ClientReport, id: &str, from: usize) -> Vec<Vec<Cell>> {
    let table = report.shapes.iter().find_map(|shape| match shape {
        Shape::Table(table) if table.id == id => Some(table),
        _ => None,
    });
    let Table { rows, .. } = table.unwrap_or_else(|| panic!("no table {id}"));
    rows.iter().map(|row| row[from..].to_vec()).collect()
}

/// A recursive call of 50 ns within one of 200 ns that an exception leaves, and a mark of another marker between.
#[test]
fn calls_have_their_times_and_what_lies_within_is_not_their_own() {
    let mut play = play(true);
    let mut words = Words::default();
    words.push(WordKind::Enter, 1, 0).at(1000).push(WordKind::Enter, 2, 0);
    words.push(WordKind::Enter, 1, 0).at(1100).push(WordKind::Exit, 1, 0).at(1150);
    words.push(WordKind::Exit, 2, 0).push(WordKind::Thrown, 1, 0).at(1200);
    play.batch(1, &words, false);
    let report = report(&play);
    let figures: Vec<_> = report.summary.iter().map(|(key, number)| (key, number.as_f64())).collect();
    assert_eq!(figures, [("calls", 2.0), ("errors", 1.0), ("methods", 1.0)]);
    let [row] = &rows(&report, "methods", 0)[..] else { panic!("one method") };
    assert_eq!(row[..3], ["com.shop.Cart".into(), "m1".into(), "()V".into()]);
    let [calls, errors, total, own] = &row[3..7] else { panic!("columns") };
    assert_eq!([calls, errors, total, own], [&Cell::Int(2), &Cell::Int(1), &Cell::Int(250), &Cell::Int(200)]);
    assert_eq!(row[10], Cell::Int(200), "the longest");
    let slowest = rows(&report, "slowest", 3);
    let shown = |row: &[Cell]| (row[0].clone(), row[1].clone(), row[2].clone(), row[5].clone());
    assert_eq!(shown(&slowest[0]), (Cell::Int(200), Cell::Int(150), Cell::Int(900), "exception".into()));
    assert_eq!(shown(&slowest[1]), (Cell::Int(50), Cell::Int(50), Cell::Int(1000), "returned".into()));
    let [of_thread] = &rows(&report, "threads", 1)[..] else { panic!("one thread") };
    assert_eq!(of_thread[..3], [Cell::Int(1001), Cell::Int(2), Cell::Int(1)]);
    assert!(report.notes.iter().all(|note| !note.contains("without a time")), "{:?}", report.notes);
}

#[test]
fn what_was_counted_in_the_jvm_has_no_times() {
    let mut play = play(false);
    let mut words = Words::default();
    words.push(WordKind::Enter, 1, 0).push(WordKind::Exit, 1, 0);
    words.counted(WordKind::Enter, 1, 1000).counted(WordKind::Thrown, 1, 20).counted(WordKind::Exit, 1, 980);
    play.batch(1, &words, false);
    let report = report(&play);
    let [row] = &rows(&report, "methods", 3)[..] else { panic!("one method") };
    assert_eq!(row[..3], [Cell::Int(1001), Cell::Int(20), Cell::Missing]);
}

#[test]
fn an_end_whose_call_was_not_seen_says_nothing() {
    let mut play = play(true);
    let mut words = Words::default();
    words.push(WordKind::Thrown, 1, 0).at(1000).push(WordKind::Enter, 1, 0).at(1010);
    play.batch(1, &words, false);
    let report = report(&play);
    let [row] = &rows(&report, "methods", 3)[..] else { panic!("one method") };
    assert_eq!(row[..3], [Cell::Int(1), Cell::Int(0), Cell::Missing]);
}

/// The end of the innermost call made no mark; then another one's is not seen because the marker is switched off.
#[test]
fn a_call_that_must_have_ended_has_ended_by_an_exception() {
    let client = Calls { span_start_ns: 100, ..Calls::default() };
    let mut play = Play::new(vec![calls(false), marker("other")], vec![Box::new(Counting::new(client))]);
    play.dispatch.inside(&Inside::Place(crate::mark::testing::place(3, 0)));
    let mut words = Words::default();
    words.push(WordKind::Enter, 1, 0).push(WordKind::Enter, 3, 0).push(WordKind::Exit, 1, 0);
    words.push(WordKind::Enter, 1, 0).push(WordKind::Enter, 3, 0);
    play.batch(1, &words, false);
    play.dispatch.switched(&[0]);
    let mut words = Words::default();
    words.push(WordKind::Exit, 1, 0).push(WordKind::Enter, 1, 0).push(WordKind::Exit, 1, 0);
    play.batch(1, &words, false);
    let report = report(&play);
    let sums = |row: &Vec<Cell>| (row[1].clone(), row[3].clone(), row[4].clone());
    let rows: Vec<_> = rows(&report, "methods", 0).iter().map(sums).collect();
    assert_eq!(rows, [("m1".into(), Cell::Int(3), Cell::Int(0)), ("m3".into(), Cell::Int(2), Cell::Int(1))]);
}

#[test]
fn without_such_a_marker_the_other_lane_says_what_there_is() {
    let mut woven = woven(0);
    assert!(!woven.is_asked);
    let asked = |markers| Inside::Asked(crate::mark::Asked { markers, ..Default::default() });
    woven.inside(&asked(vec![marker("calls")]));
    assert!(!woven.is_asked, "a marker of this name that a user has made");
    woven.inside(&asked(vec![calls(true)]));
    assert!(woven.is_asked);
}

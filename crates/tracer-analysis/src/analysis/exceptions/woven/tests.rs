//! Marks of exceptions become rows: where they came from, through which methods, and where they ended.

use tracer_common::marks::{Argument as Kind, Word, WordKind};
use tracer_weave::{ExceptionHandler, PlaceDefinition, Raised, Raiser};

use super::*;
use crate::{
    client::testing::Play,
    mark::{
        Inside,
        testing::{Words, marker, place},
    },
    report::Table,
};

/// Class number of `a.Late`.
const LATE: u32 = 3;

/// Places by number: what throws, what passes on, what catches, `finally`, and an instruction of the JVM's.
const THROWS: u32 = 2;
const PASSES: u32 = 3;
const CATCHES: u32 = 4;
const FINALLY: u32 = 5;
const AGAIN: u32 = 6;
const DIVIDES: u32 = 7;

fn play() -> Play {
    let of = Marker { token: EXCEPTIONS.to_owned(), subscribers: vec![EXCEPTIONS.to_owned()], ..marker(".exceptions") };
    let client = Thrown { rows: Keyed::new(SITES), ways: Ways::default(), by_place: FastMap::default() };
    let mut play = Play::new(vec![of], vec![Box::new(client)]);
    let handler = |line, does| Some(ExceptionHandler { line: Some(line), does });
    let places = [
        (THROWS, "find", Raiser::Throw, None),
        (PASSES, "read", Raiser::Call, None),
        (CATCHES, "serve", Raiser::Call, handler(40, Use::Reads)),
        (FINALLY, "close", Raiser::Call, handler(50, Use::Rethrows(9))),
        (AGAIN, "serve", Raiser::Throw, None),
        (DIVIDES, "serve", Raiser::Instruction, handler(60, Use::Ignores)),
    ];
    for (number, method, by, handler) in places {
        let raised = Some(Raised { by, handler });
        let of = PlaceDefinition { raised, method: method.to_owned(), ..place(number, 0) };
        play.dispatch.inside(&Inside::Place(of));
    }
    play.dispatch.inside(&Inside::Class { number: LATE, name: "a.Late".to_owned() });
    play
}

/// The exception with this hash comes to a place.
fn comes(words: &mut Words, place: u32, hash: u32, frames: i32) {
    words.push(WordKind::Point, place, LATE);
    let value = u64::from(hash) | u64::from(frames.cast_unsigned()) << 32;
    words.0.extend([Word::new(WordKind::Argument, 0, Kind::Object as u32, 0).0, value]);
}

fn report(play: &Play) -> ClientReport {
    play.dispatch.reports(&crate::names::Names::default(), true).remove(0).1
}

/// Rows of the table of places as text, without what is the same in all.
fn rows(report: &ClientReport) -> Vec<String> {
    let found = report.shapes.iter().find_map(|shape| match shape {
        Shape::Table(table) if table.id == "sites" => Some(table),
        _ => None,
    });
    let Table { columns, rows, .. } = found.expect("there is one");
    let of = |row: &Vec<Cell>, key: &str| {
        let at = columns.iter().position(|column| column.key == key).unwrap_or_else(|| panic!("no {key}"));
        match &row[at] {
            Cell::Text(text) => text.replace("com.shop.Cart.", ""),
            Cell::Int(number) => number.to_string(),
            _ => "-".to_owned(),
        }
    };
    let keys = ["site", "origin", "callers", "caught_at", "thrown", "mean_frames", "mean_unwound_frames"];
    rows.iter().map(|row| keys.map(|key| of(row, key)).join(" | ")).collect()
}

fn figures(report: &ClientReport) -> Vec<f64> {
    report.summary.iter().map(|(_, number)| number.as_f64()).collect()
}

#[test]
fn an_exception_is_one_from_where_it_is_thrown_to_where_it_is_caught() {
    let mut play = play();
    let mut words = Words::default();
    for hash in 1..=2 {
        comes(&mut words, THROWS, hash, 7);
        comes(&mut words, PASSES, hash, 7);
        // Recursion.
        comes(&mut words, PASSES, hash, 7);
        comes(&mut words, CATCHES, hash, 7);
    }
    comes(&mut words, DIVIDES, 3, 0);
    play.batch(1, &words, false);
    let report = report(&play);
    assert_eq!(
        rows(&report),
        [
            "find:7 | throw | read:7, from serve:7 | serve:40 | 2 | 7 | 3",
            "serve:7 | jvm | - | serve:60, ignored | 1 | - | 0"
        ]
    );
    // Thrown, thrown again, caught, left the chosen code, without a trace.
    assert_eq!(figures(&report), [3.0, 0.0, 3.0, 0.0, 1.0]);
    assert_eq!(play.dispatch.events(0), 3, "what is estimated of a session with gaps");
}

#[test]
fn what_finally_throws_again_goes_on_and_what_a_handler_throws_again_is_told() {
    let mut play = play();
    let mut words = Words::default();
    comes(&mut words, THROWS, 1, 4);
    comes(&mut words, FINALLY, 1, 4);
    // Within `finally` another one comes and goes.
    comes(&mut words, DIVIDES, 9, 0);
    comes(&mut words, PASSES, 1, 4);
    comes(&mut words, CATCHES, 1, 4);
    comes(&mut words, AGAIN, 1, 4);
    play.batch(1, &words, false);
    let report = report(&play);
    assert_eq!(
        rows(&report),
        [
            "find:7 | throw | close:7, from read:7, from serve:7 | serve:40 | 1 | 4 | 2",
            "serve:7 | jvm | - | serve:60, ignored | 1 | - | 0",
            "serve:7 | rethrow | - | <leaves the chosen code> | 1 | 4 | 1",
        ]
    );
    assert_eq!(figures(&report), [2.0, 1.0, 2.0, 1.0, 1.0]);
}

#[test]
fn an_exception_that_is_kept_and_thrown_for_all_cases_is_new_each_time() {
    let mut play = play();
    let mut words = Words::default();
    for _ in 0..3 {
        comes(&mut words, THROWS, 1, 0);
        comes(&mut words, CATCHES, 1, 0);
    }
    // Other code catches these.
    comes(&mut words, THROWS, 1, 0);
    comes(&mut words, THROWS, 1, 0);
    play.batch(1, &words, false);
    let expected = [
        "find:7 | throw | serve:7 | serve:40 | 3 | - | 1",
        "find:7 | throw | - | <leaves the chosen code> | 2 | - | 1",
    ];
    assert_eq!(rows(&report(&play)), expected);
}

#[test]
fn where_marks_were_lost_nobody_knows_where_an_exception_went() {
    let mut play = play();
    let mut words = Words::default();
    comes(&mut words, THROWS, 1, 4);
    play.batch(1, &words, false);
    play.batch(1, &words, true);
    let mut words = Words::default();
    comes(&mut words, PASSES, 2, 4);
    comes(&mut words, FINALLY, 3, -1);
    play.batch(1, &words, false);
    assert_eq!(
        rows(&report(&play)),
        [
            "close:7 | call | - | close:50, by `finally` | 1 | - | 0",
            "find:7 | throw | - | <not known> | 1 | 4 | 1",
            "read:7 | call | - | <leaves the chosen code> | 1 | 4 | 1",
        ]
    );
}

#[test]
fn a_thread_with_many_under_way_and_arguments_of_others_keep_within_bounds() {
    let mut play = play();
    let mut words = Words::default();
    for hash in 1..=100 {
        comes(&mut words, THROWS, hash, 4);
    }
    words.push(WordKind::Point, 1, LATE);
    words.0.extend([Word::new(WordKind::Argument, 0, Kind::Object as u32, 0).0, 5]);
    words.push(WordKind::Point, THROWS, 77);
    words.0.extend([Word::new(WordKind::Argument, 0, Kind::Integer as u32, 0).0, 5]);
    play.batch(1, &words, false);
    let report = report(&play);
    assert_eq!(rows(&report), ["find:7 | throw | - | <leaves the chosen code> | 100 | 4 | 1"]);
    assert_eq!(figures(&report), [100.0, 0.0, 0.0, 100.0, 0.0]);
}

//! Counts of places become objects by class, place, kind and thread.

use tracer_weave::Made as What;

use super::*;
use crate::{
    client::testing::Play,
    mark::{
        Inside,
        testing::{Words, marker, place},
    },
    report::{Cell, Table},
};

/// Place 1 makes carts, place 2 arrays of carts, places 3 and 4 an array of arrays.
fn play() -> Play {
    let objects = Marker { token: OBJECTS.to_owned(), subscribers: vec![OBJECTS.to_owned()], ..marker(".objects") };
    let mut play = Play::new(vec![marker("other"), objects], vec![Box::new(Objects::default())]);
    let made = [
        (3, "a.Cart", Maker::New),
        (4, "a.Cart[]", Maker::Array),
        (5, "int[][]", Maker::Array),
        (6, "int[]", Maker::Inner),
    ];
    for (number, class, by) in made {
        let made = Some(What { class: class.to_owned(), by });
        play.dispatch.inside(&Inside::Place(PlaceDefinition { made, bci: 9, ..place(number, 1) }));
    }
    play
}

fn report(play: &Play) -> ClientReport {
    play.dispatch.reports(&crate::names::Names::default(), true).remove(0).1
}

fn table<'a>(report: &'a ClientReport, id: &str) -> &'a Table {
    let found = report.shapes.iter().find_map(|shape| match shape {
        Shape::Table(table) if table.id == id => Some(table),
        _ => None,
    });
    found.unwrap_or_else(|| panic!("no table {id}"))
}

/// Some columns of all rows.
fn rows(report: &ClientReport, id: &str, keys: &[&str]) -> Vec<Vec<Cell>> {
    let Table { columns, rows, .. } = table(report, id);
    let at = |key: &&str| columns.iter().position(|column| column.key == *key).unwrap_or_else(|| panic!("no {key}"));
    let at: Vec<usize> = keys.iter().map(at).collect();
    rows.iter().map(|row| at.iter().map(|at| row[*at].clone()).collect()).collect()
}

fn size(class: &str, bytes: Option<u64>) -> Inside {
    Inside::Size { class: class.to_owned(), bytes }
}

#[test]
fn sums_over_places_are_those_of_classes_kinds_and_threads() {
    let mut play = play();
    play.dispatch.inside(&size("a.Cart", Some(24)));
    let mut words = Words::default();
    words.counted(WordKind::Enter, 3, 10).counted(WordKind::Enter, 4, 2).counted(WordKind::Bytes, 4, 64);
    play.batch(1, &words, false);
    let mut words = Words::default();
    words.counted(WordKind::Enter, 5, 1).counted(WordKind::Bytes, 5, 32);
    words.counted(WordKind::Enter, 6, 3).counted(WordKind::Bytes, 6, 96).counted(WordKind::Enter, 3, 5);
    play.batch(2, &words, false);
    let report = report(&play);
    let int = Cell::Int;
    let figures: Vec<_> = report.summary.iter().map(|(key, number)| (key, number.as_f64())).collect();
    assert_eq!(figures, [("objects", 21.0), ("bytes", 552.0), ("classes", 4.0), ("sites", 4.0)]);
    assert_eq!(
        rows(&report, "objects_by_class", &["class", "objects", "bytes", "largest_bytes"]),
        [
            vec!["a.Cart".into(), int(15), int(360), int(24)],
            vec!["int[]".into(), int(3), int(96), Cell::Missing],
            vec!["a.Cart[]".into(), int(2), int(64), Cell::Missing],
            vec!["int[][]".into(), int(1), int(32), Cell::Missing],
        ]
    );
    assert_eq!(
        rows(&report, "objects_by_site", &["class", "site", "objects", "kind", "bci", "signature"])[..2],
        [
            vec!["a.Cart".into(), "com.shop.Cart.m3:7".into(), int(15), "new".into(), int(9), "()V".into()],
            vec!["int[]".into(), "com.shop.Cart.m6:7".into(), int(3), "inner array".into(), int(9), "()V".into()],
        ]
    );
    assert_eq!(
        rows(&report, "objects_by_kind", &["kind", "objects", "bytes"]),
        [
            vec!["new".into(), int(15), int(360)],
            vec!["array".into(), int(3), int(96)],
            vec!["inner array".into(), int(3), int(96)],
        ]
    );
    assert_eq!(
        rows(&report, "objects_by_thread", &["tid", "objects", "bytes"]),
        [vec![int(1001), int(12), int(304)], vec![int(1002), int(9), int(248)]]
    );
    assert_eq!(play.dispatch.events(1), 21, "what is estimated of a session with gaps");
}

#[test]
fn objects_without_a_size_have_no_bytes_and_that_is_said() {
    for told in [vec![], vec![size("a.Cart", None)], vec![size("a.Cart", Some(16)), size("a.Cart", Some(24))]] {
        let mut play = play();
        for told in &told {
            play.dispatch.inside(told);
        }
        let mut words = Words::default();
        words.counted(WordKind::Enter, 3, 10);
        play.batch(1, &words, false);
        let report = report(&play);
        let shown = rows(&report, "objects_by_class", &["objects", "bytes", "mean_bytes"]);
        assert_eq!(shown, [[Cell::Int(10), Cell::Missing, Cell::Missing]], "{told:?}");
        assert!(report.notes.iter().any(|note| note.starts_with("Of 10 objects the size is not known")));
    }
}

#[test]
fn marks_of_other_places_and_kinds_are_nothing_here() {
    let mut play = play();
    let mut words = Words::default();
    words.counted(WordKind::Enter, 1, 7).counted(WordKind::Exit, 3, 7).counted(WordKind::Enter, 77, 7);
    words.counted(WordKind::Enter, 2, u64::MAX).counted(WordKind::Enter, 2, 1);
    play.batch(1, &words, false);
    let report = report(&play);
    assert_eq!(report.summary.iter().next().map(|(key, number)| (key, number.as_f64())), Some(("objects", 0.0)));
    assert!(table(&report, "objects_by_class").rows.is_empty());
}

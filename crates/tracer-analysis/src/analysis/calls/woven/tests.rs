//! Marks become the graph and the contexts that the other lane would have seen.

use super::{super::super::woven::Counting, *};
use tracer_common::marks::{Context, WordKind};
use tracer_weave::{Made as What, Maker, PlaceDefinition};

use crate::{
    client::testing::Play,
    mark::testing::{Words, marker, place},
    mark::{CALLS, Inside, Marker, OBJECTS},
    names::Names,
    report::{Cell, Node, Shape},
};

fn play() -> Play {
    let calls = Marker { token: CALLS.to_owned(), time: true, subscribers: vec![CALLS.to_owned()], ..marker(CALLS) };
    Play::new(vec![calls, marker("other")], vec![Box::new(Counting::new(Calls::default()))])
}

fn report(play: &Play) -> ClientReport {
    play.dispatch.reports(&Names::default(), true).remove(0).1
}

/// Caller, callee, calls, errors, total and self time of each edge.
fn edges(report: &ClientReport) -> Vec<[Cell; 6]> {
    let table = report.shapes.iter().find_map(|shape| match shape {
        Shape::Table(table) if table.id == "edges" => Some(table),
        _ => None,
    });
    let rows = table.expect("a table of edges").rows.iter();
    rows.map(|row| [0, 4, 7, 8, 9, 10].map(|at: usize| row[at].clone())).collect()
}

/// A method that calls itself, and an exception that leaves both.
#[test]
fn callers_are_the_innermost_calls_under_way() {
    let mut play = play();
    let mut words = Words::default();
    words.push(WordKind::Enter, 1, 0).at(1000).push(WordKind::Enter, 1, 0).at(1100);
    words.push(WordKind::Thrown, 1, 0).at(1150).push(WordKind::Thrown, 1, 0).at(1200);
    words.push(WordKind::Enter, 1, 0).at(1300).push(WordKind::Exit, 1, 0).at(1310);
    play.batch(1, &words, false);
    let report = report(&play);
    let name = "com.shop.Cart.m1";
    let int = Cell::Int;
    assert_eq!(
        edges(&report),
        [
            ["<root>".into(), name.into(), int(2), int(1), int(210), int(160)],
            [name.into(), name.into(), int(1), int(1), int(50), int(50)],
        ]
    );
    let figures: Vec<_> = report.summary.iter().map(|(key, number)| (key, number.as_f64())).collect();
    assert_eq!(figures, [("nodes", 1.0), ("edges", 2.0), ("call_sites", 0.0), ("contexts", 2.0), ("calls", 3.0)]);
}

#[test]
fn what_was_counted_in_the_jvm_has_no_caller() {
    let mut play = play();
    let mut words = Words::default();
    words.push(WordKind::Enter, 1, 0).at(1000).counted(WordKind::Enter, 1, 500).counted(WordKind::Thrown, 1, 20);
    play.batch(1, &words, false);
    let report = report(&play);
    let shown: Vec<_> =
        edges(&report).into_iter().map(|[caller, _, calls, errors, ..]| (caller, calls, errors)).collect();
    let int = Cell::Int;
    assert_eq!(shown, [("<not known>".into(), int(500), int(20)), ("<root>".into(), int(1), int(0))]);
    assert!(report.notes.iter().any(|note| note.starts_with("500 calls were counted")), "{:?}", report.notes);
    assert_eq!(play.dispatch.events(0), 501, "what is estimated of a session with gaps");
}

/// What was under way when counting began is around what was counted, until it ends; after a pause nobody knows what is.
#[test]
fn what_was_counted_in_contexts_has_its_callers() {
    let mut play = play();
    let mut words = Words::default();
    words.push(WordKind::Enter, 1, 0).at(1000);
    words.context(Context::Region, 1, [3, 0], 5, 0).context(Context::Region, 1, [4, 3], 2, 1);
    words.context(Context::Left, 1, [5, 0], 1, 0).context(Context::Region, 1, [6, 5], 7, 0);
    // Nothing was known to be under way any more when this ended.
    words.context(Context::Left, 1, [7, 5], 1, 0).context(Context::Region, 1, [8, 7], 20, 0);
    words.context(Context::Region, 1, [9, 2], 1, 0).context(Context::Region, 1, [4, 3], 100, 0);
    play.batch(1, &words, false);
    let report = report(&play);
    let mut shown: Vec<_> =
        edges(&report).into_iter().map(|[caller, _, calls, errors, ..]| (caller, calls, errors)).collect();
    shown.sort_by_key(|(caller, ..)| format!("{caller:?}"));
    let int = Cell::Int;
    assert_eq!(
        shown,
        [
            ("<not known>".into(), int(21), int(0)),
            ("<root>".into(), int(8), int(0)),
            ("com.shop.Cart.m1".into(), int(107), int(1)),
        ]
    );
    assert!(report.notes.iter().any(|note| note.starts_with("135 calls were counted in the JVM, with callers")));
    assert_eq!(play.dispatch.events(0), 136, "what is estimated of a session with gaps");
}

/// Objects are leaves of the contexts that make them, and none is a call.
#[test]
fn what_contexts_make_is_below_them() {
    let calls = Marker { token: CALLS.to_owned(), subscribers: vec![CALLS.to_owned()], ..marker(CALLS) };
    let both = vec![OBJECTS.to_owned(), CALLS.to_owned()];
    let objects = Marker { token: OBJECTS.to_owned(), subscribers: both, ..marker(OBJECTS) };
    let mut play = Play::new(vec![calls, objects], vec![Box::new(Counting::new(Calls::default()))]);
    for (number, class, by) in [(5, "a.Cart", Maker::New), (6, "int[]", Maker::Array)] {
        let made = Some(What { class: class.to_owned(), by });
        let definition = PlaceDefinition { made, line: Some(7), ..place(number, 1) };
        play.dispatch.inside(&Inside::Place(definition));
    }
    play.dispatch.inside(&Inside::Size { class: "a.Cart".to_owned(), bytes: Some(24) });
    let mut words = Words::default();
    words.context(Context::Region, 1, [3, 0], 5, 0).context(Context::Region, 5, [4, 3], 10, 0);
    words.context(Context::Region, 6, [7, 3], 2, 0).context(Context::Bytes, 6, [8, 3], 64, 0);
    // What is around this one was never told, and those are counted by their place alone.
    words.context(Context::Region, 5, [9, 2], 1, 0).counted(WordKind::Enter, 5, 100);
    play.batch(1, &words, false);
    let report = report(&play);
    let figures: Vec<_> = report.summary.iter().map(|(key, number)| (key, number.as_f64())).collect();
    assert_eq!(figures[3..], [("contexts", 1.0), ("calls", 5.0), ("objects", 113.0), ("bytes", 2728.0)]);
    let tree = report.shapes.iter().find_map(|shape| match shape {
        Shape::Tree(tree) if tree.id == "made" => Some(&tree.root),
        _ => None,
    });
    let shown = |nodes: &[Node]| nodes.iter().map(|node| (node.label.clone(), node.value)).collect::<Vec<_>>();
    let root = tree.expect("a tree of what is made");
    assert_eq!(
        shown(&root.children),
        [("<not known>: new a.Cart (101 objects, line 7)".to_owned(), 2424.0), ("com.shop.Cart.m1".to_owned(), 304.0)]
    );
    assert_eq!(
        shown(&root.children[1].children),
        [("new a.Cart (10 objects, line 7)".to_owned(), 240.0), ("new int[] (2 objects, line 7)".to_owned(), 64.0)]
    );
}

/// A call that is under way on a thread that lives goes on as the same context after those of threads that ended were summed up.
#[test]
fn threads_that_ended_are_one_and_calls_under_way_go_on() {
    let mut play = play();
    let mut begin = Words::default();
    begin.push(WordKind::Enter, 1, 0).at(1000);
    play.batch(0, &begin, false);
    let mut whole = Words::default();
    whole.push(WordKind::Enter, 1, 0).at(1000).push(WordKind::Exit, 1, 0).at(1010);
    (1..6000).for_each(|buffer| play.batch(buffer, &whole, false));
    let threads = play.dispatch.threads().all().len();
    let ended = || (1..6000).map(|buffer| Tid(1000 + buffer));
    play.dispatch.threads_ended(ended());
    assert_eq!(play.dispatch.threads().ended(), 0, "marks of these may still come");
    play.dispatch.threads_ended(ended());
    assert_eq!(play.dispatch.threads().ended(), 5999);
    let mut end = Words::default();
    end.push(WordKind::Exit, 1, 0).at(1500);
    play.batch(0, &end, false);
    // New ones take the places of those that ended.
    (6000..7000).for_each(|buffer| play.batch(buffer, &whole, false));
    assert_eq!(play.dispatch.threads().all().len(), threads + 1);
    let report = report(&play);
    let int = Cell::Int;
    assert_eq!(
        edges(&report),
        [["<root>".into(), "com.shop.Cart.m1".into(), int(7000), int(0), int(70_490), int(70_490)]]
    );
}

//! Answers as text: what they look like, and that nothing in them is hostile.

use super::*;
use crate::{
    heap::{
        answer::{Group, SCHEMA},
        graph::RootKind,
        summary::{Head, Origin, PathRow, RootText, StepRow},
    },
    text::escape,
    view::sample::HOSTILE,
};

fn object(class: &str) -> ObjectRow {
    let root = RootText {
        kind: RootKind::StackLocal,
        thread: Some("http-1".to_owned()),
        method: Some("com.shop.Shop.sell".to_owned()),
        class: "com.shop.Index".to_owned(),
    };
    let step = StepRow { class: "com.shop.Index".to_owned(), by: "last".to_owned(), times: 1 };
    let path = PathRow { root, steps: vec![step], left_out: 0 };
    ObjectRow { object: 6, class: class.to_owned(), length: Some(1200), bytes: 24, retained_bytes: 3 << 20, path }
}

fn answers(class: &str) -> Answers {
    let origin = Origin { pid: 4711, command: class.to_owned(), ..Origin::default() };
    let amounts =
        |objects| Amounts { objects, bytes: objects * 24, retained_bytes: objects << 20, retained_exact: objects > 1 };
    let judged = |verdict, found, against| Judged {
        assertion: format!("every {class} through com.shop.Book"),
        verdict,
        found,
        against,
        notes: vec![format!("no class of the snapshot is called {class}")],
    };
    let bound = |least, most| Found::Bound { measure: Measure::Retained, least, most };
    let through = |objects, otherwise| Found::Through { objects, otherwise };
    Answers {
        schema: SCHEMA,
        head: Head { origin, cost: None, objects: 12, bytes: 4096, references: 11, classes: 7 },
        not_whole: Some(format!("the dump {class} has no end")),
        cautions: vec!["sizes are estimates".to_owned()],
        answer: Some(Answer {
            predicate: Some("retained > 1MiB".to_owned()),
            total: amounts(3),
            undecided: 1,
            group: Some(Group::Class),
            groups: vec![
                GroupRow { name: class.to_owned(), amounts: amounts(2) },
                GroupRow { name: "A".to_owned(), amounts: amounts(1) },
            ],
            rows: vec![object(class)],
            further: 2,
        }),
        assertions: vec![
            judged(Verdict::Holds, bound(100, Some(100)), Vec::new()),
            judged(Verdict::Undecided, bound(5 << 20, None), Vec::new()),
            judged(Verdict::Undecided, Found::Bound { measure: Measure::Count, least: 1, most: Some(2) }, Vec::new()),
            judged(Verdict::Violated, through(3, 1), vec![object(class)]),
            judged(Verdict::Holds, through(0, 0), Vec::new()),
            judged(Verdict::Undecided, through(7, 0), Vec::new()),
        ],
    }
}

fn written(class: &str, width: usize) -> String {
    let mut out = Vec::new();
    write(&answers(class), &TextOptions { width, ..TextOptions::default() }, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn answers_at_100_columns() {
    insta::assert_snapshot!(written("com.shop.Order", 100));
}

#[test]
fn no_line_is_hostile() {
    for width in [60, 80, 200] {
        for line in written(HOSTILE, width).lines() {
            assert_eq!(escape::terminal(line), line);
        }
    }
}

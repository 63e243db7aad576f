//! Objects and groups: by hand, and against delete-and-recount on random heaps.

use super::*;
use crate::{
    heap::{
        dominators::tests::{random, reached},
        question::tests::shop,
        summary::{Analysis, Origin},
    },
    predicate::{Kind, Predicate},
};

fn answer(analysis: &Analysis, text: Option<&str>, group: Option<Group>, rows: usize) -> Answer {
    let expr = text.map(|text| Predicate::parse(text, Kind::HeapObject).expect(text).expr.expect("there is one"));
    let predicate = expr.as_ref().zip(text);
    Question { predicate, group, rows }.answer(&Asked::new(analysis, true)).expect("it is all there")
}

fn named(answer: &Answer) -> Vec<(&str, u64, u64)> {
    let row = |row: &'_ GroupRow| (row.amounts.objects, row.amounts.retained_bytes);
    answer.groups.iter().map(|group| (group.name.as_str(), row(group).0, row(group).1)).collect()
}

#[test]
fn objects_stand_by_what_they_retain_and_groups_have_each_object_once() {
    let analysis = Analysis::of(shop());
    let objects = answer(&analysis, Some(r#"class ~ "com.shop.*""#), None, 3);
    assert_eq!(
        objects.rows.iter().map(|row| (row.object, row.retained_bytes)).collect::<Vec<_>>(),
        [(2, 904), (3, 880), (4, 824)]
    );
    // Without all of them, the text goes, and what only the index holds, and the class of orders.
    assert_eq!((objects.total.objects, objects.total.bytes, objects.further, objects.undecided), (7, 184, 4, 1));
    assert_eq!(objects.total.retained_bytes, 184 + 800 + 80 + 16);
    let by_class = answer(&analysis, Some(r#"class ~ "com.shop.*""#), Some(Group::Class), 2);
    assert_eq!(named(&by_class), [("com.shop.Order", 3, 72 + 800 + 80), ("com.shop.Book", 1, 904)]);
    assert_eq!(by_class.further, 3);
    let by_holder = answer(&analysis, None, Some(Group::Holder), 9);
    let mut counted: Vec<(&str, u64)> =
        named(&by_holder).into_iter().map(|(name, objects, _)| (name, objects)).collect();
    counted.sort_unstable();
    assert_eq!(
        counted,
        [
            ("(no single object)", 6),
            ("class com.shop.Book", 1),
            ("com.shop.Book", 1),
            ("com.shop.Index", 1),
            ("com.shop.Order", 1),
            ("com.shop.Order[]", 2)
        ]
    );
    let by_root = answer(&analysis, None, Some(Group::Root), 9);
    assert_eq!(
        named(&by_root).iter().map(|(name, objects, _)| (*name, *objects)).collect::<Vec<_>>(),
        [("system_class", 7), ("stack_local", 4), ("only_weak", 1)]
    );
    let by_loader = answer(&analysis, None, Some(Group::Loader), 9);
    assert!(named(&by_loader).iter().any(|(name, objects, _)| (*name, *objects) == ("com.shop.Loader", 5)));
}

#[test]
fn a_loader_that_was_not_seen_is_not_taken_for_the_jvms_own() {
    let mut graph = shop();
    // The class of orders was found, and not looked into: its reference to its loader is missing.
    let row = graph.row(1);
    graph.label[row.start] = crate::heap::graph::Label::new(crate::heap::graph::Via::Other);
    let analysis = Analysis::of(graph);
    let loader = |is_whole: bool| {
        let question = Question { predicate: None, group: Some(Group::Loader), rows: 9 };
        let answer = question.answer(&Asked::of_what_was_seen(&analysis, is_whole)).expect("an answer");
        answer.groups.into_iter().map(|group| (group.name, group.amounts.objects)).collect::<HashMap<_, _>>()
    };
    // Three orders and their array; the bytes have no other loader.
    assert_eq!((loader(true)["bootstrap"], loader(false)["bootstrap"]), (5, 1));
    assert_eq!(loader(false)["com.shop.Loader"], 1);
}

#[test]
fn what_groups_retain_is_what_cannot_be_reached_without_them_in_random_heaps() {
    for seed in 0..300 {
        let graph = random(seed);
        let strong: Vec<Node> = graph.roots.iter().map(|root| root.node).collect();
        let analysis = Analysis::of(graph);
        let graph = &analysis.graph;
        let mut starts = strong;
        starts.extend(&analysis.dominators.only_weak);
        starts.extend(&analysis.dominators.unreached);
        for group in [Group::Class, Group::Holder, Group::Root, Group::Package] {
            let answer = answer(&analysis, Some("size > 8"), Some(group), usize::MAX);
            let objects: u64 = answer.groups.iter().map(|row| row.amounts.objects).sum();
            let large = |node: &Node| graph.bytes(*node) > 8;
            assert_eq!(objects, (0..60).filter(|node| (*node as usize) < graph.len() && large(node)).count() as u64);
            assert_eq!(objects, answer.total.objects, "seed {seed}");
            if group != Group::Class {
                continue;
            }
            for row in &answer.groups {
                let is_one = |node: Node| large(&node) && graph.class_of(node).name == row.name;
                let left = reached(graph, &starts, is_one);
                let freed: u64 = (0..).zip(&left).filter(|(_, left)| !**left).map(|(node, _)| graph.bytes(node)).sum();
                assert_eq!(
                    (row.amounts.retained_bytes, row.amounts.retained_exact),
                    (freed, true),
                    "{} of seed {seed}",
                    row.name
                );
            }
        }
    }
}

#[test]
fn a_document_has_what_was_asked_and_nothing_that_was_not() {
    let analysis = Analysis::of(shop());
    let head = analysis.head(Origin::default(), None);
    let answer = Some(answer(&analysis, Some(r#"class == "byte[]""#), None, 3));
    let answers =
        Answers { schema: SCHEMA, head, not_whole: None, cautions: Vec::new(), answer, assertions: Vec::new() };
    let json = serde_json::to_value(&answers).expect("JSON");
    assert_eq!(json["answer"]["where"], r#"class == "byte[]""#);
    assert_eq!(json["answer"]["rows"][0]["length"], 784);
    assert_eq!((json["objects"].as_u64(), json["answer"]["group"].is_null()), (Some(12), true));
}

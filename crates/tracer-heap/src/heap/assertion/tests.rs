//! Assertions: by hand, against their definition on random heaps, and on heaps of which a part was not seen.

use super::*;
use crate::{
    heap::{
        answer::{Group, Question},
        dominators::tests::{random, reached},
        graph::{Graph, NOBODY, Root},
        question::tests::shop,
        summary::Analysis,
    },
    predicate::{Kind, Predicate},
};

fn judged(analysis: &Analysis, is_whole: bool, text: &str) -> Judged {
    let assertion = Assertion::parse(text).unwrap_or_else(|error| panic!("{}", error.render()));
    judge(&Asked::new(analysis, is_whole), &assertion, text).unwrap_or_else(|error| panic!("{}", error.render()))
}

/// Asks for all that can be asked, of a graph that may be anything.
pub(in crate::heap) fn ask_anything(analysis: &Analysis) {
    const PREDICATE: &str = r#"class ~ "*a*" && retained > 8B && referrers < 9 && references < 9 && depth < 9 && (length != 3 || field ~ "*") && !(holder ~ "A")"#;
    let expr = Predicate::parse(PREDICATE, Kind::HeapObject).expect("a predicate").expr.expect("there is one");
    for is_whole in [false, true] {
        let asked = Asked::new(analysis, is_whole);
        for group in [
            None,
            Some(Group::Class),
            Some(Group::Package),
            Some(Group::Loader),
            Some(Group::Holder),
            Some(Group::Root),
        ] {
            let question = Question { predicate: Some((&expr, PREDICATE)), group, rows: 3 };
            question.answer(&asked).expect("all of it is there");
        }
        for text in [
            r#"count(root == "other" && package == "") > 1"#.to_owned(),
            format!("retained({PREDICATE}) > 1B"),
            format!("every ({PREDICATE}) through (size > 8)"),
        ] {
            judge(&asked, &Assertion::parse(&text).expect("an assertion"), &text).expect("all of it is there");
        }
        // Names of threads and loaders may be missing.
        for text in [r#"thread == "main""#, r#"loader == "bootstrap""#] {
            let expr = Predicate::parse(text, Kind::HeapObject).expect("a predicate").expr.expect("there is one");
            drop(asked.answers(&expr, "--where", text));
        }
    }
}

fn verdict(analysis: &Analysis, is_whole: bool, text: &str) -> Verdict {
    judged(analysis, is_whole, text).verdict
}

#[test]
fn bounds_and_ways_hold_or_do_not() {
    let analysis = Analysis::of(shop());
    for (text, expected) in [
        (r#"count(class == "com.shop.Book") <= 1"#, Verdict::Undecided),
        (r#"count(class == "com.shop.Book" && size > 16) <= 1"#, Verdict::Holds),
        (r#"count(class == "com.shop.Book") >= 1"#, Verdict::Holds),
        (r#"count(class == "com.shop.Order") < 3"#, Verdict::Violated),
        ("count(size > 0) == 12", Verdict::Holds),
        ("size(length > 0) == 832B", Verdict::Holds),
        (r#"retained(class == "com.shop.Book" && size > 16) <= 904B"#, Verdict::Holds),
        (r#"retained(class == "com.shop.Book" && size > 16) < 904B"#, Verdict::Violated),
        (r#"every (length == 3) through "com.shop.Book""#, Verdict::Holds),
        (r#"every "byte[]" through com.shop.Order"#, Verdict::Undecided),
        ("every (length > 3) through com.shop.Order", Verdict::Holds),
        ("every com.shop.Order through com.shop.Book", Verdict::Violated),
        ("every com.shop.Order through com.shop.*", Verdict::Holds),
        ("every (class == \"com.shop.Order\" && size == 24) through com.shop.*", Verdict::Holds),
        ("every (size == 24 && depth == 1) through com.shop.Order", Verdict::Violated),
    ] {
        assert_eq!(verdict(&analysis, true, text), expected, "{text}");
    }
}

#[test]
fn what_speaks_against_an_assertion_is_shown_with_its_way() {
    let analysis = Analysis::of(shop());
    let judged = judged(&analysis, true, "every com.shop.Order through com.shop.Book");
    assert_eq!(judged.found, Found::Through { objects: 3, otherwise: 1 });
    let [row] = &judged.against[..] else { panic!("{:?}", judged.against) };
    let step = &row.path.steps[0];
    assert_eq!((row.object, step.class.as_str(), step.by.as_str()), (6, "com.shop.Index", "last"));
    assert_eq!(row.path.root.thread.as_deref(), Some("http-1"));
}

#[test]
fn a_name_that_no_class_has_is_told() {
    let analysis = Analysis::of(shop());
    let judged = judged(&analysis, true, r#"count(class == "com.shop.Ordre" && size > 16) == 0"#);
    assert_eq!(judged.verdict, Verdict::Holds);
    assert_eq!(judged.notes, ["no class of the snapshot is called com.shop.Ordre; there is com.shop.Order"]);
}

/// Whether a way to one of the first objects passes none of the second ones before, by walking.
fn is_reached_otherwise(graph: &Graph, of: &str, by: &str) -> bool {
    let is = |node: Node, class: &str| graph.class_of(node).name == class;
    let starts: Vec<Node> = graph.roots.iter().map(|root| root.node).collect();
    (0..u32::try_from(graph.len()).expect("small")).filter(|node| is(*node, of)).any(|node| {
        // All others of the second class are taken away, and not this one.
        reached(graph, &starts, |other| other != node && is(other, by))[node as usize]
    })
}

#[test]
fn ways_of_random_heaps_are_those_that_are_left_without_what_they_must_pass() {
    let mut verdicts = [0; 2];
    for seed in 0..1000 {
        let analysis = Analysis::of(random(seed));
        for (of, by) in [("Class0", "Class1"), ("Class1", "Class1"), ("Class2", "Class0")] {
            let judged = judged(&analysis, true, &format!("every {of} through {by}"));
            let expected = is_reached_otherwise(&analysis.graph, of, by);
            assert_eq!(judged.verdict == Verdict::Violated, expected, "{of} {by} of seed {seed}");
            verdicts[usize::from(expected)] += 1;
            let graph = &analysis.graph;
            let is = |node: Node, class: &str| graph.class_of(node).name == class;
            let past = Paths::no_further_than(graph, |node| is(node, by));
            for row in &judged.against {
                let steps = past.to(graph, row.object).steps;
                assert!(is(row.object, of) && steps.iter().all(|step| !is(step.from, by)), "seed {seed}: {row:?}");
                // That way is the one that is shown.
                let shown: u64 = row.path.steps.iter().map(|step| step.times).sum();
                assert!(row.path.left_out > 0 || shown == steps.len() as u64, "seed {seed}: {row:?}");
            }
        }
    }
    assert!(verdicts.iter().all(|count| *count > 300), "{verdicts:?}");
}

#[test]
fn retained_is_what_cannot_be_reached_without_all_of_them_in_random_heaps() {
    for seed in 0..300 {
        let analysis = Analysis::of(random(seed));
        let graph = &analysis.graph;
        let mut starts: Vec<Node> = graph.roots.iter().map(|root| root.node).collect();
        starts.extend(&analysis.dominators.only_weak);
        starts.extend(&analysis.dominators.unreached);
        let left = reached(graph, &starts, |node| graph.class_of(node).name == "Class1");
        let freed: u64 = (0..).zip(&left).filter(|(_, left)| !**left).map(|(node, _)| graph.bytes(node)).sum();
        let text = |comparison: &str, value: u64| format!("retained(class == \"Class1\") {comparison} {value}B");
        assert_eq!(verdict(&analysis, true, &text("==", freed)), Verdict::Holds, "seed {seed}");
        assert_eq!(verdict(&analysis, true, &text("<", freed)), Verdict::Violated, "seed {seed}");
    }
}

/// A part of a heap, as a walk that was cut leaves it: objects are known, with class and size, and not all references of all.
fn part(graph: &Graph, seed: u64) -> Graph {
    let mut part = graph.clone();
    let keep = |at: usize| !(at as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(seed).is_multiple_of(3);
    let (mut first, mut to, mut label) = (vec![0], Vec::new(), Vec::new());
    for node in 0..u32::try_from(graph.len()).expect("small") {
        for at in graph.row(node).filter(|at| keep(*at)) {
            to.push(graph.to[at]);
            label.push(graph.label[at]);
        }
        first.push(u32::try_from(to.len()).expect("small"));
    }
    (part.first, part.to, part.label) = (first, to, label);
    // The last objects were not met at all.
    let count = u32::try_from(1 + graph.len() * 4 / 5).expect("small").min(u32::try_from(graph.len()).expect("small"));
    let mut cut = Graph { first: vec![0], to: Vec::new(), label: Vec::new(), ..part.clone() };
    for node in 0..count {
        for (to, label) in part.references(node).filter(|(to, _)| *to < count) {
            cut.to.push(to);
            cut.label.push(label);
        }
        cut.first.push(u32::try_from(cut.to.len()).expect("small"));
    }
    cut.class.truncate(count as usize);
    cut.size.truncate(count as usize);
    cut.roots.retain(|root| root.node < count);
    cut.classes.iter_mut().filter(|class| class.object >= count).for_each(|class| class.object = NOBODY);
    cut
}

#[test]
fn of_a_part_nothing_is_said_that_is_not_so_of_the_whole() {
    let texts = [
        "count(class == \"Class0\") >= 5",
        "count(class == \"Class0\" && size > 16) <= 9",
        "count(retained > 100B) > 2",
        "count(retained < 100B) > 2",
        "count(depth > 2) <= 3",
        "count(depth <= 2) >= 3",
        "count(references > 2) >= 3",
        "count(referrers < 2) < 8",
        "count(referrers in (1, 2)) != 3",
        "count(holder == \"Class1\") == 0",
        "count(field ~ \"*\") > 4",
        "count(field !~ \"*\") > 4",
        "size(class == \"Class1\") > 100B",
        "retained(class == \"Class1\") > 200B",
        "retained(class == \"Class1\") < 200B",
        "every Class0 through Class1",
        "every (size > 16) through Class2",
        "every Class0 through (depth < 2)",
    ];
    let (mut decided, mut undecided) = (0, 0);
    for seed in 0..400 {
        let whole = random(seed);
        let seen = Analysis::of(part(&whole, seed));
        let whole = Analysis::of(whole);
        for text in texts {
            match verdict(&seen, false, text) {
                Verdict::Undecided => undecided += 1,
                said => {
                    assert_eq!(said, verdict(&whole, true, text), "{text} of seed {seed}");
                    decided += 1;
                }
            }
        }
    }
    assert!(decided > 500 && undecided > 500, "{decided} {undecided}");
}

#[test]
fn a_long_list_needs_no_deep_stack_and_no_square_of_its_length() {
    let mut builder = crate::heap::build::Builder::new();
    let class = builder.class("Link".to_owned());
    for link in 0..300_000_u32 {
        builder.object(u64::from(link) * 8, class, 3, None);
    }
    for link in 1..300_000 {
        builder.from(Some(link - 1));
        builder.reference(link, crate::heap::graph::Via::Field(0));
    }
    builder.root(Root { node: 0, kind: crate::heap::graph::RootKind::Other, thread: 0, frame: 0, method: 0 });
    let analysis = Analysis::of(builder.finish());
    let all = judged(&analysis, true, "every Link through Nothing");
    assert_eq!(all.found, Found::Through { objects: 300_000, otherwise: 300_000 });
    assert_eq!(all.against.len(), 2);
    let strict = judged(&analysis, true, "every Link through Link");
    assert_eq!(strict.found, Found::Through { objects: 300_000, otherwise: 1 });
}

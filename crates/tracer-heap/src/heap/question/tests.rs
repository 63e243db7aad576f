//! What a predicate says of objects: by hand on a small heap, and against the definition on random ones.

use super::*;
use crate::{
    heap::{
        build::Builder,
        contents::Contents,
        dominators::tests::{random, reached},
        graph::Root,
    },
    predicate::{Kind, Predicate},
};

/// A shop: a book in a static field holds orders in a map, one of which a thread uses, and an index leads to another. A loader of
/// its own, an array, and what only a weak reference leads to.
pub(in crate::heap) fn shop() -> Graph {
    let mut builder = Builder::new();
    let classes = [
        "java.lang.Class",
        "com.shop.Book",
        "com.shop.Order",
        "com.shop.Order[]",
        "com.shop.Loader",
        "com.shop.Index",
        "byte[]",
        "com.other.Main$$Lambda.0x00007f01a4001000",
    ]
    .map(|name| builder.class(name.to_owned()));
    let [of_class, book, order, orders, loader, index, bytes, lambda] = classes;
    let [it, table, text, last] = ["it", "table", "text", "last"].map(|name| builder.name(name));
    // 0: class Book, 1: class Order, 2: the book, 3: its array, 4, 5, 6: orders, 7: a text, 8: the loader, 9: the index, 10: a lambda,
    // 11: an object of which nobody knows the class.
    for (address, (class, units, length)) in (0..).zip([
        (of_class, 10, None),
        (of_class, 10, None),
        (book, 3, None),
        (orders, 4, Some(3)),
        (order, 3, None),
        (order, 3, None),
        (order, 3, None),
        (bytes, 100, Some(784)),
        (loader, 5, None),
        (index, 2, None),
        (lambda, 2, None),
        (0, 2, None),
    ]) {
        builder.object(address * 8, class, units, length);
    }
    builder.class_object(book, 0);
    builder.class_object(order, 1);
    for (from, to, via) in [
        (0, 2, Via::Static(it)),
        (0, 8, Via::Loader),
        (1, 8, Via::Loader),
        (2, 3, Via::Field(table)),
        (3, 4, Via::Element(0)),
        (3, 5, Via::Element(1)),
        (3, 6, Via::Element(2)),
        (4, 7, Via::Field(text)),
        (9, 6, Via::Field(last)),
        (9, 10, Via::Referent(text)),
        (9, 11, Via::Field(it)),
    ] {
        builder.from(Some(from));
        builder.reference(to, via);
    }
    let root = |node, kind, thread| Root { node, kind, thread, frame: 1, method: 0 };
    builder.root(root(0, RootKind::SystemClass, 0));
    builder.root(root(9, RootKind::StackLocal, 7));
    builder.graph().threads.insert(7, "http-1".to_owned());
    builder.finish()
}

/// Those of which it holds.
fn holds(asked: &Asked<'_>, text: &str, least: Truth) -> Vec<Node> {
    let expr = Predicate::parse(text, Kind::HeapObject).unwrap_or_else(|error| panic!("{}", error.render())).expr;
    let answers =
        asked.answers(&expr.expect("there is one"), "--where", text).unwrap_or_else(|error| panic!("{error}"));
    (0..).zip(answers).filter(|(_, answer)| *answer >= least).map(|(node, _)| node).collect()
}

#[test]
fn conditions_choose_the_objects_that_they_say() {
    let analysis = Analysis::of(shop());
    let asked = Asked::new(&analysis, true);
    for (text, expected) in [
        (r#"class == "com.shop.Order""#, &[4, 5, 6][..]),
        (r#"class == "com/shop/Order" && size == 24"#, &[4, 5, 6]),
        (r#"class == "[Lcom/shop/Order;""#, &[3]),
        (r#"class ~ "com.shop.*" && class !~ "*[]" && class != "com.shop.Order""#, &[2, 8, 9]),
        (r#"class in ("com.shop.Book", "byte[]")"#, &[2, 7]),
        (r#"class == "com.other.Main$$Lambda""#, &[10]),
        (r#"package == "com.shop" && length == 3"#, &[3]),
        (r#"package == """#, &[7]),
        (r#"loader == "com.shop.Loader""#, &[2, 3, 4, 5, 6]),
        (r#"loader == "bootstrap""#, &[7]),
        ("retained >= 824B", &[0, 2, 3, 4]),
        ("retained == 16B", &[10, 11]),
        ("length > 3", &[7]),
        ("length != 3 && length !in (784)", &[0, 1, 2, 4, 5, 6, 8, 9, 10, 11]),
        ("references == 3", &[3, 9]),
        ("referrers == 2", &[6, 8]),
        ("referrers in (0)", &[0, 1, 9]),
        ("depth == 0", &[0, 9]),
        ("depth > 3", &[7]),
        ("depth == 3", &[4, 5]),
        (r#"field == "it""#, &[2, 11]),
        (r#"field == "[]" && field == "last""#, &[6]),
        (r#"field ~ "t*""#, &[3, 7, 10]),
        (r#"holder == "com.shop.Book""#, &[3, 4, 5, 7]),
        (r#"holder == "class com.shop.Book""#, &[2, 3, 4, 5, 7]),
        (r#"holder ~ "com.shop.*" && !(class == "byte[]")"#, &[3, 4, 5]),
        (r#"root == "stack_local""#, &[1, 6, 9, 11]),
        (r#"root == "only_weak""#, &[10]),
        (r#"thread ~ "http-*" || root == "only_weak""#, &[1, 6, 9, 10, 11]),
    ] {
        assert_eq!(holds(&asked, text, Truth::Yes), expected, "{text}");
    }
    // Of a class without a name nobody knows, also not the contrary.
    for text in [r#"class == "A""#, r#"class != "A""#, r#"loader ~ "*""#] {
        assert!(
            !holds(&asked, text, Truth::Yes).contains(&11) && holds(&asked, text, Truth::Unknown).contains(&11),
            "{text}"
        );
    }
}

#[test]
fn copies_are_those_that_hold_the_same_and_nobody_guesses_where_nobody_looked() {
    let mut graph = shop();
    let all = "copies >= 1";
    let analysis = Analysis::of(graph.clone());
    let expr = Predicate::parse(all, Kind::HeapObject).expect("a predicate").expr.expect("a condition");
    let error = Asked::new(&analysis, true).answers(&expr, "--where", all).expect_err("nobody looked");
    assert_eq!(error.what, "this snapshot does not tell what arrays hold");
    // The text, and two orders that would be arrays in another heap.
    graph.contents = Some(Contents { equal: vec![(4, 3), (5, 3)], zeros: Vec::new(), values: Vec::new() });
    let analysis = Analysis::of(graph);
    let asked = Asked::new(&analysis, true);
    assert_eq!(holds(&asked, "copies == 1", Truth::Yes), [7]);
    assert_eq!(holds(&asked, "copies > 1", Truth::Yes), [4, 5]);
    assert_eq!(holds(&asked, "copies > 1", Truth::Unknown), [4, 5, 11]);
    assert_eq!(holds(&asked, "copies != 2", Truth::Yes), [0, 1, 2, 3, 6, 7, 8, 9, 10]);
    // What was not seen can be equal as well.
    let asked = Asked::new(&analysis, false);
    assert_eq!(holds(&asked, "copies >= 2", Truth::Yes), [4, 5]);
    assert_eq!(holds(&asked, "copies < 3", Truth::Yes), [0_u32; 0]);
}

#[test]
fn where_not_all_was_seen_only_that_is_known_which_more_would_not_change() {
    let analysis = Analysis::of(shop());
    let asked = Asked::new(&analysis, false);
    for (text, yes, unknown) in [
        (r#"class == "com.shop.Order" && size <= 24"#, 3, 4),
        ("retained >= 800B", 1, 12),
        ("retained < 10B", 0, 0),
        ("references >= 3", 2, 12),
        ("references < 3", 0, 10),
        ("depth <= 0", 2, 12),
        ("depth > 3", 0, 2),
        (r#"field == "it""#, 2, 12),
        (r#"field != "it""#, 0, 10),
        (r#"holder == "com.shop.Book""#, 0, 12),
        (r#"root == "thread""#, 0, 12),
    ] {
        let count = |least| holds(&asked, text, least).len();
        assert_eq!((count(Truth::Yes), count(Truth::Unknown)), (yes, unknown), "{text}");
    }
}

#[test]
fn what_a_snapshot_does_not_have_is_an_error_that_shows_the_place() {
    let mut graph = shop();
    graph.threads.clear();
    graph.classes.iter_mut().for_each(|class| class.object = NOBODY);
    let analysis = Analysis::of(graph);
    let asked = Asked::new(&analysis, true);
    let mut messages = String::new();
    for text in [
        r#"size > 1 && thread == "main""#,
        r#"!(loader == "bootstrap")"#,
        r#"root == "stack_locals" || size > 1"#,
        r#"root ~ "java*""#,
    ] {
        let expr = Predicate::parse(text, Kind::HeapObject).expect(text).expr.expect("there is one");
        let error = asked.answers(&expr, "--where", text).expect_err(text);
        messages.push_str(&error.render());
        messages.push_str("\n\n");
    }
    insta::assert_snapshot!(messages);
}

#[test]
fn what_is_said_of_random_heaps_is_their_definition() {
    let mut chosen = 0;
    for seed in 0..300 {
        let graph = random(seed);
        let strong: Vec<Node> = graph.roots.iter().map(|root| root.node).collect();
        let analysis = Analysis::of(graph);
        let graph = &analysis.graph;
        let asked = Asked::new(&analysis, true);
        let mut starts = strong.clone();
        starts.extend(&analysis.dominators.only_weak);
        starts.extend(&analysis.dominators.unreached);
        let all = || 0..u32::try_from(graph.len()).expect("small");
        let freed = |without: Node| -> Vec<Node> {
            let left = reached(graph, &starts, |other| other == without);
            all().filter(|node| !left[*node as usize]).collect()
        };
        let is_of = |node: Node, class: &str| graph.class_of(node).name == class && analysis.stands_for(node).is_none();
        let by_definition: [(&str, Vec<Node>); 4] = [
            (
                r#"holder == "Class1""#,
                all()
                    .filter(|node| {
                        all().any(|other| other != *node && is_of(other, "Class1") && freed(other).contains(node))
                    })
                    .collect(),
            ),
            (
                "retained > 100B",
                all().filter(|node| freed(*node).iter().map(|one| graph.bytes(*one)).sum::<u64>() > 100).collect(),
            ),
            ("referrers == 1", all().filter(|node| graph.to.iter().filter(|to| *to == node).count() == 1).collect()),
            ("depth <= 1", {
                let mut near = strong.clone();
                for node in &strong {
                    near.extend(graph.references(*node).filter(|(_, label)| !label.is_weak()).map(|(to, _)| to));
                    near.extend(graph.class_object(*node));
                }
                near.sort_unstable();
                near.dedup();
                near
            }),
        ];
        for (text, expected) in by_definition {
            assert_eq!(holds(&asked, text, Truth::Yes), expected, "{text} of seed {seed}");
            chosen += expected.len();
        }
    }
    assert!(chosen > 3000, "{chosen}");
}

//! Objects of known numbers, sizes and places.

use proptest::prelude::*;

use super::{
    super::{
        super::{
            Analysis as _,
            testing::{Play, cells, first_keys, numbers, profile_rows, shape_ids},
        },
        Alloc,
    },
    *,
};
use crate::{
    coverage::{Coverage, Silent},
    event::{NameId, PauseStep},
    report::{Node, Shape},
    tally::ContextTallies,
};

fn object(class: SubjectId, bytes: u64) -> Payload {
    Payload::ObjectAlloc { class, bytes, length: None, wanted: true }
}

fn array(class: SubjectId, length: u64, bytes: u64) -> Payload {
    Payload::ObjectAlloc { class, bytes, length: Some(length), wanted: true }
}

const GC: Payload = Payload::GcBegin { full: false, step: PauseStep::Unsaid, cause: NameId(0), last_cause: NameId(0) };
const SUMMARY: [&str; 4] = ["objects", "bytes", "classes", "sites"];

/// Three classes at three places on two threads.
fn shop() -> (Play, Section) {
    let mut play = Play::default();
    let (cart, item, shorts) = (play.class("com.shop.Cart"), play.class("com.shop.Item"), play.class("short[]"));
    let add = play.stack(&["com.shop.Main.main:3", "com.shop.Shop.add:12", "java.util.ArrayList.grow:230"]);
    let make = play.stack(&["com.shop.Main.main:4"]);
    let mut events = vec![(1, 7, make, object(cart, 64)); 10];
    events.extend(vec![(2, 8, make, object(item, 24)); 4]);
    events.push((3, 7, StackId::default(), GC));
    events.extend(vec![(4, 7, add, array(shorts, 100, 216)); 3]);
    events.push((5, 7, StackId::default(), GC));
    events.extend([(6, 8, add, array(shorts, 4, 24)), (7, 7, make, object(cart, 64))]);
    let section = play.section_of_stacks(&mut Alloc::default(), 10, &events);
    (play, section)
}

#[test]
fn every_grouping_has_the_same_sums() {
    let (_, section) = shop();
    assert_eq!(first_keys(&section, 4), SUMMARY);
    let expected = [19, 10 * 64 + 4 * 24 + 3 * 216 + 24 + 64, 3, 3];
    assert_eq!(numbers(&section, SUMMARY), expected);
    let tables = ["objects_by_class", "objects_by_site", "objects_by_package", "objects_by_thread", "cycles"];
    for table in tables {
        let rows = cells(&section, table, ["objects", "bytes"]);
        let sum = |column: usize| rows.iter().map(|row| row[column].parse::<u64>().unwrap()).sum::<u64>();
        assert_eq!([sum(0), sum(1)], expected[..2], "{table}");
    }
}

#[test]
fn rows_are_by_bytes_with_place_and_innermost_frame() {
    let (_, section) = shop();
    assert_eq!(
        cells(&section, "objects_by_class", ["class", "objects", "bytes", "mean_bytes", "largest_bytes"]),
        [
            ["com.shop.Cart", "11", "704", "64.0", "64"],
            ["short[]", "4", "672", "168.0", "216"],
            ["com.shop.Item", "4", "96", "24.0", "24"]
        ]
        .map(|row| row)
    );
    assert_eq!(
        cells(&section, "objects_by_site", ["class", "site", "top", "bytes"])[1],
        ["short[]", "com.shop.Shop.add:12", "java.util.ArrayList.grow:230", "672"]
    );
    assert_eq!(cells(&section, "objects_by_package", ["package", "bytes"]), [["com.shop", "800"], ["(none)", "672"]]);
    assert_eq!(
        cells(&section, "arrays", ["class", "length", "objects", "bytes"]),
        [["short[]", "100", "3", "648"], ["short[]", "4", "1", "24"]]
    );
    assert_eq!(
        cells(&section, "cycles", ["collection", "start_ns", "length_ns", "objects", "bytes"]),
        [
            ["1", "0", "3000000", "14", "736"],
            ["2", "3000000", "2000000", "3", "648"],
            ["-", "5000000", "5000000", "2", "88"]
        ]
    );
    let rows: Vec<_> = profile_rows(&section, "object_stacks").into_iter().map(|row| (row.1, row.2, row.3)).collect();
    assert_eq!(rows[0], ("tid 7".to_owned(), 704, 11));
    assert!(section.notes[0].starts_with("Every object that reached the heap."));
}

#[test]
fn the_tree_goes_from_package_to_class_to_place() {
    let (_, section) = shop();
    let tree = section.shapes.iter().find_map(|shape| match shape {
        Shape::Tree(tree) => Some(&tree.root),
        _ => None,
    });
    let root = tree.expect("a tree");
    let of = |node: &Node| (node.label.clone(), node.value, node.children.len());
    assert_eq!(of(root), ("all objects".to_owned(), 1472.0, 2));
    assert_eq!(of(&root.children[0]), ("com.shop".to_owned(), 800.0, 2));
    assert_eq!(of(&root.children[0].children[0]), ("com.shop.Cart".to_owned(), 704.0, 1));
    assert_eq!(of(&root.children[0].children[0].children[0]), ("com.shop.Main.main:4".to_owned(), 704.0, 0));
}

#[test]
fn tallies_are_added_and_their_growth_is_the_cycles() {
    let mut play = Play::default();
    let cart = play.class("com.shop.Cart");
    let make = play.stack(&["com.shop.Main.main:4"]);
    let mut alloc = Alloc::default();
    let reading = |time_ns, count| Tallies {
        time_ns,
        objects: vec![Tally { subject: cart.0, count, bytes: 64 * count, ..Tally::default() }],
        // The latest hundred were counted after the contexts were read.
        contexts: Some(ContextTallies {
            calls: Vec::new(),
            objects: vec![ContextTally {
                id: 2,
                subject: cart.0,
                tid: 7,
                stack: make.0,
                count: count - 50,
                bytes: 64 * (count - 50),
                largest: 64,
                ..ContextTally::default()
            }],
        }),
        ..Tallies::default()
    };
    alloc.start(0);
    alloc.tallies(&reading(1, 100));
    alloc.event(&Event {
        time_ns: 2,
        tid: Tid(7),
        site: crate::event::SiteId(0),
        stack: StackId::default(),
        payload: GC,
    });
    alloc.tallies(&reading(3, 250));
    let section = play.section_of_stacks(&mut alloc, 10, &[(4, 7, make, object(cart, 64))]);
    assert_eq!(numbers(&section, SUMMARY), [251, 251 * 64, 1, 1]);
    assert_eq!(cells(&section, "cycles", ["collection", "objects"]), [["1", "100"], ["-", "151"]]);
    assert_eq!(
        cells(&section, "objects_by_class", ["class", "objects", "largest_bytes"]),
        [["com.shop.Cart", "251", "-"]]
    );
    assert_eq!(
        cells(&section, "objects_by_thread", ["tid", "objects", "largest_bytes", "share_percent"]),
        [["7", "201", "64", "80.1"]]
    );
    let sites = cells(&section, "objects_by_site", ["site", "objects"]);
    assert_eq!(sites, [["com.shop.Main.main:4", "201"], ["-", "50"]]);
    assert!(section.notes.iter().any(|note| note.starts_with("Counted in the kernel") && note.contains("of 50 ")));
}

#[test]
fn code_that_does_not_tell_of_its_objects_is_named_even_where_none_was_seen() {
    let play = Play::default();
    let mut alloc = Alloc::default();
    let silent = Silent {
        class: "com.shop.Main".to_owned(),
        method: "main".to_owned(),
        signature: "()V".to_owned(),
        level: 4,
        inlined: false,
        dropped: false,
        untraced: false,
    };
    let coverage = |objects| Coverage {
        objects,
        included: Vec::new(),
        armed: "the flag was set".to_owned(),
        interpreter: true,
        seen: 0,
        silent: vec![silent.clone()],
    };
    alloc.coverage(&coverage(false));
    assert!(play.section(&mut alloc, 10, &[]).table("not_covered").is_none(), "that is of methods");
    alloc.coverage(&coverage(true));
    let section = play.section(&mut alloc, 10, &[]);
    assert_eq!(cells(&section, "not_covered", ["class", "method", "level"]), [["com.shop.Main", "main", "4"]]);
    assert!(section.notes[0].starts_with("Covered: the flag was set") && section.notes[1].starts_with("1 methods run"));
}

#[test]
fn without_an_object_nothing_of_it_is_shown() {
    let play = Play::default();
    let section = play.section(&mut Alloc::default(), 10, &[(1, 7, GC)]);
    assert_eq!(shape_ids(&section), ["classes", "allocation"]);
    assert_eq!(first_keys(&section, 1), ["samples"]);
}

proptest! {
    #[test]
    fn no_grouping_loses_or_doubles_an_object(
        made in prop::collection::vec((0_usize..4, 0_usize..3, 7_u32..10, 1_u64..1000, any::<bool>()), 1..100),
        counted in prop::collection::vec((0_usize..4, 1_u64..100, 1_u64..10_000), 0..4),
    ) {
        let mut play = Play::default();
        let classes = ["com.shop.Cart", "com.shop.Item[]", "byte[]", "Unnamed"].map(|class| play.class(class));
        let stacks = [StackId::default(), play.stack(&["a.B.m:1"]), play.stack(&["a.B.m:1", "java.util.List.of:2"])];
        let mut events = Vec::new();
        for (ms, (class, stack, tid, bytes, collect)) in (0..).zip(&made) {
            events.push((ms, *tid, stacks[*stack], object(classes[*class], *bytes)));
            if *collect {
                events.push((ms, *tid, StackId::default(), GC));
            }
        }
        let tally = |(class, count, bytes): &(usize, u64, u64)| Tally {
            subject: classes[*class].0,
            count: *count,
            bytes: *bytes,
            ..Tally::default()
        };
        let objects: Vec<Tally> = counted.iter().map(tally).collect();
        let mut alloc = Alloc::default();
        alloc.tallies(&Tallies { time_ns: 1, objects, ..Tallies::default() });
        let section = play.section_of_stacks(&mut alloc, 1000, &events);
        let seen = [made.len() as u64, made.iter().map(|made| made.3).sum::<u64>()];
        let tallied = [counted.iter().map(|row| row.1).sum::<u64>(), counted.iter().map(|row| row.2).sum::<u64>()];
        let all = [seen[0] + tallied[0], seen[1] + tallied[1]];
        prop_assert_eq!(numbers(&section, ["objects", "bytes"]), all);
        let sums = |table: &str| {
            let rows = cells(&section, table, ["objects", "bytes"]);
            [0, 1].map(|column| rows.iter().map(|row| row[column].parse::<u64>().unwrap()).sum::<u64>())
        };
        for table in ["objects_by_class", "objects_by_package"] {
            prop_assert_eq!(sums(table), all, "{}", table);
        }
        prop_assert_eq!(sums("objects_by_thread"), seen, "what the kernel counted has no thread");
        if section.table("objects_by_site").is_some() {
            prop_assert_eq!(sums("objects_by_site"), all);
        }
        if section.table("cycles").is_some() {
            prop_assert_eq!(sums("cycles"), all);
        }
    }
}

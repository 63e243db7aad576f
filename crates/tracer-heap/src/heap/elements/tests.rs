//! Collections by hand.

use super::*;
use crate::heap::{graph::RootKind, sample::Planter};

struct Planted {
    plant: Planter,
    registry: Node,
}

impl Planted {
    /// With `com.shop.Registry`, whose static fields hold what is planted.
    fn new() -> Self {
        let (plant, registry) = Planter::with_registry();
        Self { plant, registry }
    }

    fn object(&mut self, class: &str) -> Node {
        let class = self.plant.class_named(class);
        self.plant.object(class, 32)
    }

    /// An object with fields that hold new objects of these classes.
    fn entry(&mut self, class: &str, fields: &[(&str, &str)]) -> Node {
        let entry = self.object(class);
        for (field, of) in fields {
            let held = self.object(of);
            self.plant.field(entry, field, held);
        }
        entry
    }

    /// A collection in a static field, and what its field holds.
    fn collection(&mut self, class: &str, field: &str, holds: &str) -> (Node, Node) {
        let (collection, held) = (self.object(class), self.object(holds));
        self.plant.field(collection, field, held);
        self.plant.statics(self.registry, "all", collection);
        (collection, held)
    }

    fn elements(&mut self, array: Node, classes: &[&str]) {
        for (at, class) in (0..).zip(classes) {
            let element = self.object(class);
            self.plant.element(array, at, element);
        }
    }

    /// Each row as text: elements, collections, largest, and what it is.
    fn told(self) -> Vec<String> {
        let analysis = Analysis::of(self.plant.builder.finish());
        let row = |row: CollectionRow| {
            let [elements, collections, largest] = [row.elements, row.collections, row.largest];
            let way = row.held_by.join(" < ");
            format!("{elements} in {collections}, {largest}: {} {} < {way}", row.class, row.holds())
        };
        analysis.elements(10).into_iter().map(row).collect()
    }
}

const NODE: &str = "java.util.HashMap$Node";
const STRING: &str = "java.lang.String";
const ORDER: &str = "com.shop.Order";

#[test]
fn of_a_map_keys_and_values_are_told_through_chains_and_trees() {
    let mut planted = Planted::new();
    let (_, table) = planted.collection("java.util.HashMap", "table", "java.util.HashMap$Node[]");
    let of_order = [("key", STRING), ("value", ORDER)];
    let [first, second, third] = [0; 3].map(|_| planted.entry(NODE, &of_order));
    // What collides in a `HashMap` becomes a tree, and stays a list.
    planted.plant.field(first, "next", second);
    planted.plant.field(second, "left", first);
    planted.plant.field(first, "right", second);
    planted.plant.element(table, 0, first);
    planted.plant.element(table, 5, third);
    let (_, root) = planted.collection("java.util.TreeMap", "root", "java.util.TreeMap$Entry");
    let [left, right] = ["left", "right"].map(|side| {
        let below = planted.entry("java.util.TreeMap$Entry", &[("key", "java.lang.Long"), ("value", ORDER)]);
        planted.plant.field(root, side, below);
        below
    });
    planted.plant.field(left, "parent", root);
    planted.plant.field(right, "parent", root);
    let (key, value) = (planted.object("java.lang.Long"), planted.object(ORDER));
    planted.plant.field(root, "key", key);
    planted.plant.field(root, "value", value);
    let held_by = "com.shop.Registry.all";
    assert_eq!(
        planted.told(),
        [
            format!("3 in 1, 3: java.util.HashMap from {STRING} to {ORDER} < {held_by}"),
            format!("3 in 1, 3: java.util.TreeMap from java.lang.Long to {ORDER} < {held_by}"),
        ]
    );
}

#[test]
fn collections_of_the_same_classes_are_one_row_whichever_came_first() {
    let mut planted = Planted::new();
    for classes in [[STRING, ORDER, ORDER], [ORDER, STRING, STRING], [ORDER, ORDER, ORDER]] {
        let (_, array) = planted.collection("java.util.ArrayList", "elementData", "java.lang.Object[]");
        planted.elements(array, &classes);
    }
    let (_, array) = planted.collection("java.util.ImmutableCollections$ListN", "elements", "java.lang.Object[]");
    planted.elements(array, &[STRING, ORDER, "com.shop.Cart", "com.shop.Line"]);
    assert_eq!(
        planted.told(),
        [
            format!("6 in 2, 3: java.util.ArrayList of {STRING}, {ORDER} < com.shop.Registry.all"),
            "4 in 1, 4: java.util.ImmutableCollections$ListN of java.lang.String, com.shop.Order, and others < \
             com.shop.Registry.all"
                .to_owned(),
            format!("3 in 1, 3: java.util.ArrayList of {ORDER} < com.shop.Registry.all"),
        ]
    );
}

#[test]
fn a_set_has_elements_and_its_map_is_none_of_its_own() {
    let mut planted = Planted::new();
    let (_, map) = planted.collection("java.util.HashSet", "map", "java.util.HashMap");
    let table = planted.object("java.util.HashMap$Node[]");
    planted.plant.field(map, "table", table);
    let entry = planted.entry(NODE, &[("key", ORDER), ("value", "java.lang.Object")]);
    planted.plant.element(table, 3, entry);
    let (_, pairs) = planted.collection("java.util.IdentityHashMap", "table", "java.lang.Object[]");
    planted.elements(pairs, &[STRING, ORDER, STRING, ORDER]);
    let (_, weak) = planted.collection("java.util.WeakHashMap", "table", "java.util.WeakHashMap$Entry[]");
    let entry = planted.entry("java.util.WeakHashMap$Entry", &[("value", ORDER)]);
    let (key, referent) = (planted.object(STRING), planted.plant.builder.name("referent"));
    planted.plant.builder.from(Some(entry));
    planted.plant.builder.reference(key, Via::Referent(referent));
    planted.plant.element(weak, 0, entry);
    assert_eq!(
        planted.told(),
        [
            format!("2 in 1, 2: java.util.IdentityHashMap from {STRING} to {ORDER} < com.shop.Registry.all"),
            format!("1 in 1, 1: java.util.HashSet of {ORDER} < com.shop.Registry.all"),
            format!("1 in 1, 1: java.util.WeakHashMap from {STRING} to {ORDER} < com.shop.Registry.all"),
        ]
    );
}

#[test]
fn one_or_two_elements_are_fields_of_their_collection() {
    let mut planted = Planted::new();
    let classes = planted.plant.class_named("java.lang.Class");
    let (_, immutable) = planted.plant.loaded("java.util.ImmutableCollections", classes);
    planted.plant.root(immutable, RootKind::SystemClass);
    let nothing = planted.object("java.lang.Object");
    planted.plant.statics(immutable, "EMPTY", nothing);
    let list = |planted: &mut Planted, fields: &[(&str, &str)]| {
        let list = planted.entry("java.util.ImmutableCollections$List12", fields);
        planted.plant.statics(planted.registry, "all", list);
        list
    };
    list(&mut planted, &[("e0", ORDER), ("e1", ORDER)]);
    let one = list(&mut planted, &[("e0", ORDER)]);
    planted.plant.field(one, "e1", nothing);
    for fields in [[("k0", STRING), ("v0", ORDER)], [("v0", ORDER), ("k0", STRING)]] {
        let map = planted.entry("java.util.ImmutableCollections$Map1", &fields);
        planted.plant.statics(planted.registry, "all", map);
    }
    assert_eq!(
        planted.told(),
        [
            format!("3 in 2, 2: java.util.ImmutableCollections$List12 of {ORDER} < com.shop.Registry.all"),
            format!("2 in 2, 1: java.util.ImmutableCollections$Map1 from {STRING} to {ORDER} < com.shop.Registry.all"),
        ]
    );
}

#[test]
fn a_queue_begins_with_a_node_that_holds_nothing_and_a_skip_list_with_its_levels() {
    let mut planted = Planted::new();
    let node = "java.util.concurrent.LinkedBlockingQueue$Node";
    let (_, head) = planted.collection("java.util.concurrent.LinkedBlockingQueue", "head", node);
    let first = planted.entry(node, &[("item", ORDER)]);
    planted.plant.field(head, "next", first);
    let map = "java.util.concurrent.ConcurrentSkipListMap";
    let node = "java.util.concurrent.ConcurrentSkipListMap$Node";
    let (_, level) = planted.collection(map, "head", "java.util.concurrent.ConcurrentSkipListMap$Index");
    let mut last = planted.object(node);
    planted.plant.field(level, "node", last);
    // The second has been taken out, and has no value any more.
    for fields in [&[("key", STRING), ("val", ORDER)][..], &[("key", STRING)], &[("key", STRING), ("val", ORDER)]] {
        let entry = planted.entry(node, fields);
        planted.plant.field(last, "next", entry);
        last = entry;
    }
    assert_eq!(
        planted.told(),
        [
            format!("2 in 1, 2: {map} from {STRING} to {ORDER} < com.shop.Registry.all"),
            format!("1 in 1, 1: java.util.concurrent.LinkedBlockingQueue of {ORDER} < com.shop.Registry.all"),
        ]
    );
}

/// Whoever wrote a dump decides what leads where.
#[test]
fn entries_that_lead_to_themselves_come_to_an_end() {
    let mut planted = Planted::new();
    let (_, table) = planted.collection("java.util.HashMap", "table", "java.util.HashMap$Node[]");
    let entry = planted.entry(NODE, &[("key", STRING)]);
    planted.plant.field(entry, "next", entry);
    planted.plant.field(entry, "left", entry);
    planted.plant.element(table, 0, entry);
    planted.plant.element(table, 1, table);
    let told = planted.told();
    assert!(
        told.len() == 1 && told[0].ends_with("from java.lang.String to nothing < com.shop.Registry.all"),
        "{told:?}"
    );
}

#[test]
fn a_row_is_the_programs_where_a_class_of_its_own_holds_it_or_is_in_it() {
    let row = |held_by: &str, values: &str| CollectionRow {
        class: "java.util.ArrayList".to_owned(),
        keys: Vec::new(),
        values: vec![values.to_owned()],
        has_others: false,
        held_by: vec![held_by.to_owned()],
        collections: 1,
        elements: 1,
        largest: 1,
    };
    assert!(row("com.shop.Cart.lines", STRING).is_of_program() && row("a local variable", ORDER).is_of_program());
    assert!(!row("java.lang.Module.names", STRING).is_of_program() && !row("a local variable", STRING).is_of_program());
}

#[test]
fn what_holds_nothing_is_no_row() {
    let mut planted = Planted::new();
    planted.collection("java.util.ArrayList", "elementData", "java.lang.Object[]");
    planted.collection("java.util.HashMap", "table", "java.util.HashMap$Node[]");
    assert_eq!(planted.told(), Vec::<String>::new());
}

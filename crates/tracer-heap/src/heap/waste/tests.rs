//! Heaps whose waste is known in closed form.

use super::*;
use crate::heap::sample::Planter;

/// A heap with `com.shop.Registry` in it, whose static fields hold what is planted.
struct Planted {
    plant: Planter,
    registry: Node,
    next: u64,
    holders: HashMap<String, Node>,
}

impl Planted {
    fn new() -> Self {
        let (plant, registry) = Planter::with_registry();
        Self { plant, registry, next: 1 << 32, holders: HashMap::new() }
    }

    fn class(&mut self, name: &str) -> u32 {
        self.plant.class_named(name)
    }

    fn object(&mut self, class: &str, bytes: u32) -> Node {
        let class = self.class(class);
        self.plant.object(class, bytes)
    }

    fn array(&mut self, class: &str, length: u32, width: u32) -> Node {
        let class = self.class(class);
        self.next += 8;
        let units = (16 + length * width).div_ceil(8);
        self.plant.builder.object(self.next, class, units, Some(length)).expect("a new address")
    }

    /// An array of numbers that holds this; a reference to it by the holder of that name.
    fn held(&mut self, class: &str, length: u32, width: u32, digest: u64, zeros: u64, holder: &str) -> Node {
        let node = self.array(class, length, width);
        self.plant.builder.content(node, digest, zeros);
        self.hold(holder, node);
        node
    }

    /// One of the objects of a class of the program's own, each in a static field.
    fn hold(&mut self, holder: &str, node: Node) {
        let of = self.object(holder, 16);
        self.holders.insert(holder.to_owned(), of);
        self.plant.statics(self.registry, "all", of);
        self.plant.field(of, "held", node);
    }

    fn waste(self) -> Waste {
        Analysis::of(self.plant.builder.finish()).waste(10)
    }
}

fn kind(waste: &Waste, wanted: Kind) -> (u64, u64) {
    waste.kinds.iter().find(|of| of.kind == wanted).map_or((0, 0), |of| (of.objects, of.bytes))
}

#[test]
fn of_equal_arrays_all_but_one_could_be_saved_whoever_holds_them() {
    let mut planted = Planted::new();
    for content in [7, 7, 7, 8, 9, 9] {
        planted.held("byte[]", 16, 1, content, 0, "com.shop.Order");
    }
    planted.held("byte[]", 16, 1, 7, 0, "com.shop.Cart");
    let boxed = ["one", "one", "two"].map(|_| planted.object("java.lang.Integer", 16));
    for (node, value) in boxed.into_iter().zip([1, 1, 2]) {
        planted.plant.builder.content(node, value, 0);
        planted.hold("com.shop.Order", node);
    }
    let waste = planted.waste();
    assert!(waste.contents_known);
    assert_eq!(kind(&waste, Kind::DuplicateArrays), (4, 4 * 32));
    assert_eq!(kind(&waste, Kind::DuplicateBoxes), (1, 16));
    assert_eq!(waste.bytes, 4 * 32 + 16);
    let row = |holder: &str, objects, contents| WasteRow {
        class: "byte[]".to_owned(),
        held_by: vec![format!("{holder}.held")],
        objects,
        bytes: objects * 32,
        contents: Some(contents),
        values: Vec::new(),
    };
    assert_eq!(waste.kinds[0].rows, [row("com.shop.Order", 3, 2), row("com.shop.Cart", 1, 1)]);
}

#[test]
fn what_duplicates_hold_is_shown_where_it_is_known_those_with_most_bytes_first() {
    let mut planted = Planted::new();
    for content in [7, 7, 7, 7, 8, 8, 9, 9, 9, 5] {
        planted.held("byte[]", 16, 1, content, 0, "java.lang.String");
    }
    // Of one nobody has told, one is there once, and of one there are no such arrays.
    for (digest, first) in [(9, &b"AT"[..]), (7, b"DE"), (5, b"CH"), (4, b"FR")] {
        planted.plant.builder.value(digest, Value { first: first.to_vec(), bytes: 16 });
    }
    let waste = planted.waste();
    let value = |value: &str, objects| WasteValue { value: value.to_owned(), objects, bytes: objects * 32 };
    // The field is not the one that texts have, and what is cut says so.
    assert_eq!(waste.kinds[0].rows[0].values, [value("\"DE…\"", 3), value("\"AT…\"", 2)]);
    assert_eq!(waste.kinds[0].rows[0].contents, Some(3));
}

#[test]
fn zeros_count_where_they_are_most_of_an_array_and_no_copy_is_counted_twice() {
    let mut planted = Planted::new();
    planted.held("byte[]", 1000, 1, 1, 600, "com.shop.Order");
    planted.held("byte[]", 1000, 1, 2, 400, "com.shop.Order");
    planted.held("long[]", 100, 8, 3, 799, "com.shop.Order");
    // Two of nothing but zeros: one is a copy, and the zeros of the other could be saved as well.
    for _ in 0..2 {
        planted.held("int[]", 100, 4, 4, 400, "com.shop.Order");
    }
    let waste = planted.waste();
    assert_eq!(kind(&waste, Kind::ZeroTails), (3, 600 + 792 + 400));
    assert_eq!(kind(&waste, Kind::DuplicateArrays), (1, 416));
}

#[test]
fn empty_collections_are_counted_with_what_they_hold_and_once() {
    let mut planted = Planted::new();
    // A set of a map of a table without entries; a map that never had one; a list with its first array.
    let (set, map) = (planted.object("java.util.HashSet", 16), planted.object("java.util.HashMap", 48));
    let table = planted.array("java.util.HashMap$Node[]", 16, 4);
    planted.plant.field(set, "map", map);
    planted.plant.field(map, "table", table);
    planted.hold("com.shop.Cart", set);
    let unused = planted.object("java.util.HashMap", 48);
    planted.hold("com.shop.Cart", unused);
    let (list, elements) = (planted.object("com.shop.Lines", 24), planted.array("java.lang.Object[]", 10, 4));
    let (below, above) = (planted.class("com.shop.Lines"), planted.class("java.util.ArrayList"));
    planted.plant.builder.graph().classes[below as usize].above = above;
    planted.plant.field(list, "elementData", elements);
    planted.hold("com.shop.Cart", list);
    // What has an element is not empty, and properties are no table of their own.
    let (full, array, one) = (
        planted.object("java.util.ArrayList", 24),
        planted.array("java.lang.Object[]", 10, 4),
        planted.object("com.shop.Line", 16),
    );
    planted.plant.field(full, "elementData", array);
    planted.plant.element(array, 0, one);
    planted.hold("com.shop.Cart", full);
    let (properties, entries) =
        (planted.object("java.util.Properties", 48), planted.object("java.util.concurrent.ConcurrentHashMap", 64));
    let (below, above) = (planted.class("java.util.Properties"), planted.class("java.util.Hashtable"));
    planted.plant.builder.graph().classes[below as usize].above = above;
    planted.plant.field(properties, "map", entries);
    let nodes = planted.array("java.util.concurrent.ConcurrentHashMap$Node[]", 2, 4);
    let entry = planted.object("java.util.concurrent.ConcurrentHashMap$Node", 32);
    planted.plant.field(entries, "table", nodes);
    planted.plant.element(nodes, 1, entry);
    planted.hold("com.shop.Cart", properties);
    let waste = planted.waste();
    assert!(!waste.contents_known);
    assert_eq!(kind(&waste, Kind::EmptyCollections), (3, (16 + 48 + 80) + 48 + (24 + 56)));
    // Nine of ten elements of the list that has one are null.
    assert_eq!(kind(&waste, Kind::SparseArrays), (1, 9 * 4));
}

/// Sets of the standard library are in another order each time.
#[test]
fn rows_of_as_many_bytes_stand_in_one_order() {
    let of = || {
        let mut planted = Planted::new();
        for at in 0..20 {
            let map = planted.object("java.util.HashMap", 48);
            planted.hold(&format!("com.shop.Holder{}", at % 5), map);
        }
        planted.waste().kinds[0].rows.iter().map(|row| row.held_by.clone()).collect::<Vec<_>>()
    };
    assert_eq!(of(), of());
}

#[test]
fn tables_are_sparse_from_three_quarters_on() {
    for (used, expected) in [(0, (1, 64)), (4, (1, 48)), (5, (0, 0))] {
        let mut planted = Planted::new();
        let array = planted.array("com.shop.Order[]", 16, 4);
        planted.hold("com.shop.Cart", array);
        for at in 0..used {
            let order = planted.object("com.shop.Order", 24);
            planted.plant.element(array, at, order);
        }
        assert_eq!(kind(&planted.waste(), Kind::SparseArrays), expected, "{used}");
    }
}

/// A map with chains of these lengths.
fn chained(planted: &mut Planted, chains: &[u32]) {
    let map = planted.object("java.util.HashMap", 48);
    let table = planted.array("java.util.HashMap$Node[]", 64, 4);
    planted.plant.field(map, "table", table);
    planted.hold("com.shop.Cart", map);
    let mut heads = Vec::new();
    for length in chains {
        let nodes: Vec<Node> = (0..*length).map(|_| planted.object("java.util.HashMap$Node", 32)).collect();
        for pair in nodes.windows(2) {
            planted.plant.field(pair[0], "next", pair[1]);
        }
        heads.extend(nodes.first().copied());
    }
    for (at, head) in (0..).zip(heads) {
        planted.plant.element(table, at, head);
    }
}

#[test]
fn tables_whose_keys_collide_are_named_and_others_are_not() {
    let mut planted = Planted::new();
    chained(&mut planted, &[200, 1, 1]);
    chained(&mut planted, &[2; 48]);
    chained(&mut planted, &[20, 20]);
    let waste = planted.waste();
    let told: Vec<_> = waste.crowded_tables.iter().map(|of| (of.entries, of.used, of.places, of.longest)).collect();
    assert_eq!(told, [(202, 3, 64, 200)]);
    let steps = &waste.crowded_tables[0].path.steps;
    assert_eq!(steps.last().map(|step| format!("{}.{}", step.class, step.by)).as_deref(), Some("com.shop.Cart.held"));
}

/// Each is the next one of the other.
#[test]
fn chains_without_an_end_are_left() {
    let mut planted = Planted::new();
    let map = planted.object("java.util.HashMap", 48);
    let table = planted.array("java.util.HashMap$Node[]", 64, 4);
    let [one, other] = [0, 1].map(|_| planted.object("java.util.HashMap$Node", 32));
    planted.plant.field(map, "table", table);
    planted.plant.element(table, 0, one);
    planted.plant.field(one, "next", other);
    planted.plant.field(other, "next", one);
    planted.hold("com.shop.Cart", map);
    assert!(planted.waste().crowded_tables.is_empty());
}

/// A list of a million links is one way, and each name in it is one.
#[test]
fn links_of_lists_and_parts_of_trees_are_one_way() {
    let mut planted = Planted::new();
    let list = planted.object("java.util.LinkedList", 32);
    planted.hold("com.shop.Cart", list);
    let mut last = None;
    for _ in 0..1000 {
        let link = planted.object("java.util.LinkedList$Node", 24);
        match last {
            Some(last) => planted.plant.field(last, "next", link),
            None => planted.plant.field(list, "first", link),
        }
        let (text, array) = (planted.object("java.lang.String", 24), planted.array("byte[]", 4, 1));
        planted.plant.builder.content(array, 5, 0);
        planted.plant.field(link, "item", text);
        planted.plant.field(text, "value", array);
        last = Some(link);
    }
    let waste = planted.waste();
    let duplicates = waste.kinds.iter().find(|of| of.kind == Kind::DuplicateArrays).expect("equal names");
    let way = [
        "java.lang.String.value",
        "java.util.LinkedList$Node.item",
        "java.util.LinkedList.first",
        "com.shop.Cart.held",
    ];
    assert_eq!(duplicates.rows.len(), 1);
    assert_eq!(duplicates.rows[0].held_by, way);
    assert_eq!((duplicates.rows[0].objects, duplicates.rows[0].contents), (999, Some(1)));
}

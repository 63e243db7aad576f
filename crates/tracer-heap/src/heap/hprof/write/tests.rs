//! Dumps that are written are read back: as many objects of each class, as many references, the same ways and sizes.

use std::collections::BTreeMap;

use super::*;
use crate::heap::{
    build::Builder,
    census::Census,
    dominators::tests::random,
    hprof,
    sample::{Shop, shop},
};

fn written(graph: &Graph) -> (Vec<u8>, u64) {
    let mut bytes = Vec::new();
    let left_out = write(graph, 1_700_000_000_000, None, &mut bytes).expect("memory");
    (bytes, left_out)
}

/// Writes a graph that somebody else has made up, unless it says that it is very large.
pub(in crate::heap) fn write_anything(graph: &Graph) {
    if array_bytes(graph) < 1 << 20 {
        write(graph, 0, None, &mut io::sink()).expect("nothing is kept");
    }
}

fn read_back(graph: &Graph) -> (Graph, u64) {
    let (bytes, left_out) = written(graph);
    let dump = hprof::read(&bytes[..], &bytes[..]).expect("a dump");
    assert_eq!((dump.odd, dump.time_ms), (0, 1_700_000_000_000));
    (dump.graph, left_out)
}

/// Objects by class, but for those that stand for classes: a dump has one for each class.
fn objects(graph: &Graph) -> BTreeMap<String, u64> {
    let mirrors: Vec<Node> = graph.classes.iter().map(|class| class.object).collect();
    let mut objects = BTreeMap::new();
    for node in (0..u32::try_from(graph.len()).expect("few")).filter(|node| !mirrors.contains(node)) {
        *objects.entry(name::without_address(&graph.class_of(node).name).to_owned()).or_default() += 1;
    }
    objects
}

#[test]
fn a_part_of_a_heap_stays_a_part_when_it_is_written_and_when_it_is_cut() {
    let graph = shop(Shop { orders: 5, cached: 3, soft: 0, plugins: 1 });
    let not_whole = |bytes: &[u8]| hprof::read(bytes, bytes).expect("a dump").not_whole;
    let (bytes, _) = written(&graph);
    assert_eq!(not_whole(&bytes), None);
    // Its last record has no content.
    assert_eq!(not_whole(&bytes[..bytes.len() - 9]).as_deref(), Some("the dump has no end"));
    let mut part = Vec::new();
    write(&graph, 0, Some("the walk took too long"), &mut part).expect("memory");
    assert_eq!(not_whole(&part).as_deref(), Some("the walk took too long"));
}

#[test]
fn a_shop_is_read_back_with_its_ways_and_its_sizes() {
    let graph = shop(Shop { orders: 500, cached: 3, soft: 0, plugins: 3 });
    let (back, left_out) = read_back(&graph);
    assert_eq!(left_out, 0);
    assert_eq!(objects(&graph), objects(&back));
    // Classes that have no object in the shop have one in a dump, and that of an array is held by that of its elements.
    let all = |graph: &Graph| graph.label.iter().filter(|label| label.via() != Via::Other).count();
    assert_eq!(all(&graph), all(&back));
    let ways = |graph: &Graph| {
        let census = Census::of(graph);
        let mut ways: Vec<_> = census
            .positions
            .iter()
            // Arrays of the shop are smaller than what they hold.
            .filter(|position| !position.class.starts_with("class ") && !position.class.ends_with("[]"))
            .map(|position| {
                (position.by.clone(), position.class.clone(), position.amount.objects, position.amount.bytes)
            })
            .collect();
        ways.sort();
        ways
    };
    let (before, after) = (ways(&graph), ways(&back));
    assert!(before.len() > 5 && before.iter().all(|way| after.contains(way)), "{before:#?} {after:#?}");
}

#[test]
fn as_many_objects_and_references_come_back_as_were_written() {
    for seed in 0..300 {
        let graph = random(seed);
        let (back, left_out) = read_back(&graph);
        assert_eq!(objects(&graph), objects(&back), "seed {seed}");
        assert_eq!(graph.to.len() as u64, back.to.len() as u64 + left_out, "seed {seed}");
    }
}

#[test]
fn arrays_of_all_kinds_and_weak_references_come_back() {
    let mut builder = Builder::new();
    let classes: Vec<u32> = [
        "java.lang.Object",
        "java.lang.Class",
        "java.lang.ref.Reference",
        "java.lang.ref.WeakReference",
        "int[]",
        "char[][]",
        "java.lang.Object[]",
    ]
    .iter()
    .map(|name| builder.class((*name).to_owned()))
    .collect();
    for (class, number) in classes.iter().zip(0_u64..) {
        let node = builder.object(8000 + number * 8, classes[1], 12, None).expect("new");
        builder.class_object(*class, node);
        builder.graph().classes[*class as usize].above = classes[0];
    }
    builder.graph().classes[classes[3] as usize].above = classes[2];
    let weak = builder.object(8, classes[3], 6, None).expect("new");
    builder.object(16, classes[4], 2 + 500_000, Some(1_000_000)).expect("new");
    let rows = builder.object(24, classes[5], 4, Some(3)).expect("new");
    let long = builder.object(32, classes[6], 2 + 100_000, Some(200_000)).expect("new");
    let hostile = builder.object(40, classes[4], 2, Some(u32::MAX)).expect("new");
    builder.from(Some(weak));
    let referent = builder.name("referent");
    builder.reference(rows, Via::Referent(referent));
    builder.from(Some(long));
    builder.reference(weak, Via::Element(199_999));
    builder.reference(hostile, Via::Element(0));
    let graph = builder.finish();
    assert_eq!(array_bytes(&graph), 4_000_000 + 3 * 8 + 1_600_000);
    let (back, left_out) = read_back(&graph);
    assert_eq!((objects(&graph), left_out), (objects(&back), 0));
    let of = |name: &str| (0..12).filter(|node| back.class_of(*node).name == name).collect::<Vec<Node>>();
    let [weak, long] = ["java.lang.ref.WeakReference", "java.lang.Object[]"].map(|name| of(name)[0]);
    assert!(back.references(weak).all(|(to, label)| label.is_weak() && back.class_of(to).name == "char[][]"));
    assert_eq!(back.references(weak).count(), 1);
    assert!(back.references(long).any(|(to, label)| to == weak && label.via() == Via::Element(199_999)));
    let lengths: Vec<_> = of("int[]").into_iter().map(|node| (back.length(node), back.bytes(node))).collect();
    // An array is not longer than its object.
    assert_eq!(lengths, [(Some(1_000_000), 4_000_016), (Some(0), 16)]);
}

#[test]
fn an_object_is_as_large_as_it_is_whatever_the_class_above_has() {
    let mut builder = Builder::new();
    let object = builder.class("java.lang.Object".to_owned());
    let below = builder.class("Below".to_owned());
    builder.graph().classes[below as usize].above = object;
    // The class above needs 12 bytes of its 16, and the one below has a field in the rest; another has three longs more.
    let [above, one] = [(8, object), (16, below)].map(|(at, class)| builder.object(at, class, 2, None).expect("new"));
    let more = builder.class("More".to_owned());
    builder.graph().classes[more as usize].above = below;
    builder.object(24, more, 5, None).expect("new");
    builder.from(Some(one));
    let field = builder.name("field");
    builder.reference(above, Via::Field(field));
    let (back, left_out) = read_back(&builder.finish());
    let size = |name: &str| (0..6).find(|node| back.class_of(*node).name == name).map(|node| back.bytes(node));
    assert_eq!((["java.lang.Object", "Below", "More"].map(size), left_out), ([Some(16), Some(16), Some(40)], 0));
}

#[test]
fn classes_are_called_as_dumps_call_them() {
    for (name, expected) in [
        ("com.shop.Order", "com/shop/Order"),
        ("com.shop.Order[][]", "[[Lcom/shop/Order;"),
        ("byte[]", "[B"),
        ("long[][]", "[[J"),
        ("int", "int"),
        ("com.shop.Main$$Lambda.0x00007f01a4001000", "com/shop/Main$$Lambda+0x00007f01a4001000"),
    ] {
        assert_eq!(internal(name), expected);
    }
}

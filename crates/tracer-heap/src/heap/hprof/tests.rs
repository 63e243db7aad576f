//! A dump by hand: what it says comes back, and damaged ones are refused.

use tracer_weave::walk::MAX_VALUE_BYTES;

use super::*;
use crate::{
    fuzz,
    heap::{contents::Value, graph::NOBODY, summary::Analysis},
};

/// Most memory for one damaged dump.
const ROOM: usize = 64 << 20;

#[derive(Default)]
struct Dumped(Vec<u8>);

impl Dumped {
    fn one(&mut self, byte: u8) -> &mut Self {
        self.0.push(byte);
        self
    }

    fn two(&mut self, number: u16) -> &mut Self {
        self.0.extend(number.to_be_bytes());
        self
    }

    fn four(&mut self, number: u32) -> &mut Self {
        self.0.extend(number.to_be_bytes());
        self
    }

    fn eight(&mut self, number: u64) -> &mut Self {
        self.0.extend(number.to_be_bytes());
        self
    }

    fn record(&mut self, tag: u8, body: &Self) {
        self.one(tag).four(0).four(u32::try_from(body.0.len()).expect("short"));
        self.0.extend(&body.0);
    }

    fn text(&mut self, id: u64, text: &str) {
        let mut body = Self::default();
        body.eight(id).0.extend(text.bytes());
        self.record(1, &body);
    }

    fn name(&mut self, class: u64, name: u64) {
        let mut body = Self::default();
        body.four(1).eight(class).four(0).eight(name);
        self.record(2, &body);
    }

    /// A class with a static field that refers, where there is one, and fields.
    fn class(&mut self, id: u64, above: u64, statics: Option<(u64, u64)>, fields: &[(u64, u8)]) -> &mut Self {
        self.one(0x20).eight(id).four(0).eight(above);
        for _ in 0..5 {
            self.eight(0);
        }
        self.four(16).two(0).two(u16::from(statics.is_some()));
        if let Some((name, value)) = statics {
            self.eight(name).one(2).eight(value);
        }
        self.two(u16::try_from(fields.len()).expect("few"));
        for (name, kind) in fields {
            self.eight(*name).one(*kind);
        }
        self
    }
}

/// `Order` with `next` and `id`; one in a static field, which leads to another, which an array holds as well; a weak reference.
fn dump() -> Vec<u8> {
    let mut dump = Dumped(b"JAVA PROFILE 1.0.2\0".to_vec());
    dump.four(8).eight(1_700_000_000_000);
    let texts = ["java/lang/Object", "java/lang/Class", "com/shop/Order", "[Lcom/shop/Order;", "next", "id", "all"];
    for (id, text) in (1..).zip(texts) {
        dump.text(id, text);
    }
    for (id, text) in [(8, "java/lang/ref/Reference"), (9, "java/lang/ref/WeakReference"), (10, "referent")] {
        dump.text(id, text);
    }
    for (id, text) in [(11, "java/lang/Integer"), (12, "value")] {
        dump.text(id, text);
    }
    for (class, name) in [(101, 1), (102, 2), (103, 3), (104, 4), (105, 8), (106, 9), (107, 11)] {
        dump.name(class, name);
    }
    let mut heap = Dumped::default();
    heap.class(101, 0, None, &[]).class(102, 101, None, &[]);
    heap.class(103, 101, Some((7, 201)), &[(5, 2), (6, 11)]).class(104, 101, None, &[]);
    heap.class(105, 101, None, &[(10, 2)]).class(106, 105, None, &[]).class(107, 101, None, &[(12, 10)]);
    heap.one(0x21).eight(201).four(0).eight(103).four(16).eight(202).eight(1);
    heap.one(0x21).eight(202).four(0).eight(103).four(16).eight(0).eight(2);
    heap.one(0x22).eight(203).four(0).four(2).eight(104).eight(0).eight(202);
    heap.one(0x23).eight(204).four(0).four(5).one(8).0.extend([0; 5]);
    // Three arrays, of which two are equal, and two numbers that are.
    for (id, content) in [(206, [1; 100]), (207, [2; 100]), (208, [1; 100])] {
        heap.one(0x23).eight(id).four(0).four(100).one(8).0.extend(content);
    }
    for id in [209, 210] {
        heap.one(0x21).eight(id).four(0).eight(107).four(4).four(1000);
    }
    heap.one(0x21).eight(205).four(0).eight(106).four(8).eight(204);
    // A class of the JVM, and a variable.
    heap.one(0x05).eight(103).one(0x03).eight(205).four(1).four(0);
    dump.record(0x1c, &heap);
    dump.record(0x2c, &Dumped::default());
    dump.0
}

#[test]
fn what_a_dump_says_comes_back() {
    let bytes = dump();
    let read = read(&bytes[..], &bytes[..]).expect("a dump");
    assert_eq!((read.time_ms, read.odd), (1_700_000_000_000, 0));
    let graph = &read.graph;
    let count = |name: &str| (0..).zip(&graph.class).filter(|(node, _)| graph.class_of(*node).name == name).count();
    assert_eq!(
        ["com.shop.Order", "com.shop.Order[]", "byte[]", "java.lang.ref.WeakReference", "java.lang.Class"].map(count),
        [2, 1, 4, 1, 7]
    );
    assert!(graph.class.iter().all(|class| (*class as usize) < graph.classes.len()));
    let contents = graph.contents.as_ref().expect("it has values");
    let equal: Vec<_> = contents.equal.iter().map(|(node, _)| graph.class_of(*node).name.as_str()).collect();
    assert_eq!(equal, ["byte[]", "byte[]", "java.lang.Integer", "java.lang.Integer"]);
    assert_eq!((contents.equal[0].1, contents.equal[2].1), (contents.equal[1].1, contents.equal[3].1));
    assert_eq!(contents.equal[1].0 - contents.equal[0].0, 2);
    // The first bytes of those that are equal, and of no other.
    assert_eq!(contents.values, [(contents.equal[0].1, Value { first: vec![1; MAX_VALUE_BYTES], bytes: 100 })]);
    let analysis = Analysis::of(read.graph);
    let first = analysis.graph.classes.iter().find(|class| class.name == "com.shop.Order").expect("there").object;
    assert_ne!(first, NOBODY);
    // Only the weak reference leads to the bytes.
    assert_eq!(analysis.dominators.only_weak.len(), 1);
    let order = (0..9).find(|node| analysis.graph.class_of(*node).name == "com.shop.Order").expect("there");
    let path = analysis.path(order);
    assert_eq!((path.steps[0].class.as_str(), path.steps[0].by.as_str()), ("com.shop.Order", "all"));
}

#[test]
fn what_is_no_dump_is_refused() {
    let bytes = dump();
    assert!(matches!(read(&b"JTHEAP"[..], &b"JTHEAP"[..]), Err(Error::NoDump)));
    for len in 0..bytes.len() {
        // What ends between two records is a dump of less.
        drop(read(&bytes[..len], &bytes[..len]));
    }
}

#[test]
fn fuzz_hprof() {
    let samples = [dump()];
    fuzz::each("hprof", ROOM, |dice| {
        let bytes = fuzz::damaged(dice, &samples);
        if let Ok(read) = read(&bytes[..], &bytes[..]) {
            write::tests::write_anything(&read.graph);
            let analysis = Analysis::of(read.graph);
            analysis.summary(crate::heap::summary::Origin::default(), None, true, 3);
        }
    });
}

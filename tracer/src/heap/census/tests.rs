//! Censuses of graphs whose numbers are known, and a shop that grows as it is told to.

use super::*;
use crate::heap::{
    build::Builder,
    dominators::tests::random,
    graph::{Root, RootKind},
};

/// How many of what a shop has.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::heap) struct Shop {
    /// Orders in the map of the registry.
    pub orders: u64,
    /// Entries of the cache.
    pub cached: u64,
    /// Objects that only soft references lead to.
    pub soft: u64,
    /// Copies of a class, each by a loader of its own, with one object by a static field.
    pub plugins: u64,
}

/// Builds a graph with less words.
pub(in crate::heap) struct Planter {
    builder: Builder,
    next: u64,
}

impl Planter {
    fn new() -> Self {
        Self { builder: Builder::new(), next: 0 }
    }

    fn class(&mut self, name: &str) -> u32 {
        self.builder.class(name.to_owned())
    }

    /// An object of so many bytes.
    fn object(&mut self, class: u32, bytes: u32) -> Node {
        self.next += 8;
        self.builder.object(self.next, class, bytes / 8, None).expect("a new address")
    }

    /// A class with the object that stands for it.
    fn loaded(&mut self, name: &str, classes: u32) -> (u32, Node) {
        let class = self.class(name);
        let mirror = self.object(classes, 96);
        self.builder.class_object(class, mirror);
        (class, mirror)
    }

    fn field(&mut self, from: Node, name: &str, to: Node) {
        let name = self.builder.name(name);
        self.builder.from(Some(from));
        self.builder.reference(to, Via::Field(name));
    }

    fn statics(&mut self, mirror: Node, name: &str, to: Node) {
        let name = self.builder.name(name);
        self.builder.from(Some(mirror));
        self.builder.reference(to, Via::Static(name));
    }

    fn element(&mut self, from: Node, index: u32, to: Node) {
        self.builder.from(Some(from));
        self.builder.reference(to, Via::Element(index));
    }

    fn root(&mut self, node: Node, kind: RootKind) {
        self.builder.root(Root { node, kind, thread: 0, frame: 0, method: 0 });
    }
}

/// A shop: `Registry.entries`, a map of orders that a frame uses as well; `Cache.all`, an array; `Main.loaders`, an array of loaders.
pub(in crate::heap) fn shop(of: Shop) -> Graph {
    let mut plant = Planter::new();
    let classes = plant.class("java.lang.Class");
    let map = plant.class("java.util.HashMap");
    let nodes = plant.class("java.util.HashMap$Node[]");
    let node = plant.class("java.util.HashMap$Node");
    let order = plant.class("com.shop.Order");
    let array = plant.class("java.lang.Object[]");
    let soft = plant.class("java.lang.ref.SoftReference");
    let loader = plant.class("com.shop.PluginLoader");
    let entry = plant.class("com.shop.Entry$$Lambda/0x000070012b003c18");
    let mirrors = ["com.shop.Registry", "com.shop.Cache", "com.shop.Main"].map(|name| plant.loaded(name, classes).1);
    for mirror in mirrors {
        plant.root(mirror, RootKind::SystemClass);
    }
    let [registry, cache, main] = mirrors;
    let (entries, table) = (plant.object(map, 48), plant.object(nodes, 64));
    plant.statics(registry, "entries", entries);
    plant.field(entries, "table", table);
    plant.root(entries, RootKind::StackLocal);
    for at in 0..of.orders {
        let (link, value) = (plant.object(node, 32), plant.object(order, 24));
        plant.element(table, u32::try_from(at).expect("few"), link);
        plant.field(link, "value", value);
    }
    let cached = plant.object(array, 64);
    plant.statics(cache, "all", cached);
    for at in 0..of.cached {
        let object = plant.object(entry, 16);
        plant.element(cached, u32::try_from(at).expect("few"), object);
    }
    let weak = plant.object(soft, 32);
    plant.statics(cache, "soft", weak);
    for _ in 0..of.soft {
        let object = plant.object(order, 24);
        let name = plant.builder.name("referent");
        plant.builder.from(Some(weak));
        plant.builder.reference(object, Via::Referent(name));
    }
    let loaders = plant.object(array, 64);
    plant.statics(main, "loaders", loaders);
    for at in 0..of.plugins {
        let of = plant.object(loader, 80);
        plant.element(loaders, u32::try_from(at).expect("few"), of);
        let (_, mirror) = plant.loaded("com.shop.Plugin", classes);
        plant.field(of, "classes", mirror);
        let state = plant.object(array, 4000);
        plant.statics(mirror, "state", state);
    }
    plant.builder.finish()
}

fn position<'a>(census: &'a Census, way: &[(&str, &str)]) -> &'a Position {
    let found = census.positions.iter().find(|position| {
        let (mut at, mut left) = (Some(*position), way.iter().rev());
        while let (Some(position), Some((by, class))) = (at, left.next()) {
            if (&*position.by, &*position.class) != (*by, *class) {
                return false;
            }
            at = position.above.map(|above| &census.positions[above as usize]);
        }
        at.is_none() && left.next().is_none()
    });
    found.unwrap_or_else(|| panic!("no position {way:?} in {:#?}", census.positions))
}

#[test]
fn what_a_static_field_leads_to_is_counted_there_whoever_else_uses_it() {
    let census = Census::of(&shop(Shop { orders: 10, cached: 3, ..Shop::default() }));
    let map = [
        ("com.shop.Registry.entries (static)", "java.util.HashMap"),
        ("table", "java.util.HashMap$Node[]"),
        ("[]", "java.util.HashMap$Node"),
        ("value", "com.shop.Order"),
    ];
    assert_eq!(position(&census, &map).amount, Amount { objects: 10, bytes: 240, retained_bytes: 240 });
    assert_eq!(position(&census, &map[..3]).amount, Amount { objects: 10, bytes: 320, retained_bytes: 560 });
    assert_eq!(position(&census, &map[..1]).amount, Amount { objects: 1, bytes: 48, retained_bytes: 672 });
    // Hidden classes are called without their addresses.
    let cached =
        position(&census, &[("com.shop.Cache.all (static)", "java.lang.Object[]"), ("[]", "com.shop.Entry$$Lambda")]);
    assert_eq!(cached.amount.objects, 3);
    assert_eq!(census.classes["com.shop.Order"], Amount { objects: 10, bytes: 240, retained_bytes: 240 });
}

#[test]
fn classes_that_are_loaded_several_times_are_counted_where_their_loaders_are_held() {
    let way = [
        ("com.shop.Main.loaders (static)", "java.lang.Object[]"),
        ("[]", "com.shop.PluginLoader"),
        ("classes", "class com.shop.Plugin"),
        ("state (static)", "java.lang.Object[]"),
    ];
    let census = Census::of(&shop(Shop { plugins: 3, ..Shop::default() }));
    assert_eq!(position(&census, &way).amount.objects, 3);
    let census = Census::of(&shop(Shop { plugins: 1, ..Shop::default() }));
    assert_eq!(position(&census, &[("com.shop.Plugin.state (static)", "java.lang.Object[]")]).amount.objects, 1);
}

#[test]
fn links_of_a_list_are_one_position_and_maps_of_maps_are_two() {
    let mut plant = Planter::new();
    let (link, map) = (plant.class("Link"), plant.class("java.util.HashMap"));
    let list: Vec<Node> = (0..5).map(|_| plant.object(link, 16)).collect();
    list.windows(2).for_each(|pair| plant.field(pair[0], "next", pair[1]));
    let inner: Vec<Node> = (0..4).map(|_| plant.object(map, 48)).collect();
    plant.field(list[4], "map", inner[0]);
    // Each map holds the next one through a map of another kind, as maps of maps do.
    let other = plant.class("java.util.TreeMap");
    for pair in inner.windows(2) {
        let between = plant.object(other, 48);
        plant.field(pair[0], "value", between);
        plant.field(between, "value", pair[1]);
    }
    plant.root(list[0], RootKind::Thread);
    let census = Census::of(&plant.builder.finish());
    let next = [("a live thread", "Link"), ("next", "Link")];
    assert_eq!(position(&census, &next).amount, Amount { objects: 4, bytes: 64, retained_bytes: 64 + 7 * 48 });
    let maps = [
        next[0],
        next[1],
        ("map", "java.util.HashMap"),
        ("value", "java.util.TreeMap"),
        ("value", "java.util.HashMap"),
        ("value", "java.util.TreeMap"),
        ("value", "java.util.HashMap"),
    ];
    assert_eq!(position(&census, &maps[..5]).amount.objects, 1);
    assert_eq!(census.positions.len(), maps.len(), "{:#?}", census.positions);
}

#[test]
fn every_object_is_counted_once() {
    for seed in 0..500 {
        let graph = random(seed);
        let census = Census::of(&graph);
        let objects: u64 = census.positions.iter().map(|position| position.amount.objects).sum();
        let bytes: u64 = census.positions.iter().map(|position| position.amount.bytes).sum();
        assert_eq!((objects, bytes), (graph.len() as u64, graph.total_bytes()), "seed {seed}");
        assert_eq!(census.classes.values().map(|amount| amount.objects).sum::<u64>(), objects, "seed {seed}");
        assert_eq!(census.unfollowed, 0, "seed {seed}");
    }
}

#[test]
fn ways_that_are_too_many_or_too_long_are_counted_nearer_to_the_root_and_said() {
    let mut plant = Planter::new();
    let mut last = None;
    for at in 0..100 {
        let class = plant.class(&format!("Class{at}"));
        let object = plant.object(class, 16);
        match last {
            Some(last) => plant.field(last, "next", object),
            None => plant.root(object, RootKind::Thread),
        }
        last = Some(object);
    }
    let census = Census::of(&plant.builder.finish());
    assert_eq!((census.positions.len(), census.unfollowed), (64, 36));
    assert_eq!(census.positions[63].amount.objects, 37);

    let mut plant = Planter::new();
    for at in 0..MAX_POSITIONS + 10 {
        let class = plant.class(&format!("Class{at}"));
        let object = plant.object(class, 16);
        plant.root(object, RootKind::Thread);
    }
    let census = Census::of(&plant.builder.finish());
    assert_eq!((census.positions.len(), census.unfollowed), (MAX_POSITIONS + 1, 10));
    assert_eq!((&*census.positions[MAX_POSITIONS].by, census.positions[MAX_POSITIONS].amount.objects), (REST, 10));
}

/// Threads with a variable of so many bytes in a frame each, and one list in a frame with so many links.
pub(in crate::heap) fn frames(threads: u64, bytes: u32, links: u64) -> Graph {
    let mut plant = Planter::new();
    let [thread, latch, link] = ["com.shop.Waiter", "Latch", "Link"].map(|name| plant.class(name));
    for _ in 0..threads {
        let (of, variable) = (plant.object(thread, 400), plant.object(latch, bytes));
        plant.root(of, RootKind::Thread);
        plant.root(variable, RootKind::StackLocal);
    }
    let mut last = plant.object(link, 16);
    plant.root(last, RootKind::StackLocal);
    for _ in 0..links {
        let next = plant.object(link, 16);
        plant.field(last, "next", next);
        last = next;
    }
    plant.builder.finish()
}

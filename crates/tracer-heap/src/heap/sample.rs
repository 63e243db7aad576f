//! Snapshots of heaps that grow as they are told to, for the tests of this crate and of those that show heaps.

use super::{
    build::Builder,
    census::Census,
    diff::{Counted, HeapDiff},
    facts::Facts,
    graph::{Graph, Node, Root, RootKind, Via},
    leaks::Leaks,
    summary::Origin,
};

/// A snapshot of a shop, counted.
pub fn counted(graph: &Graph, time_ms: u64) -> Counted {
    let origin = Origin {
        pid: 4711,
        command: "com.shop.Main".to_owned(),
        jvm: "21.0.5+11".to_owned(),
        collector: "G1".to_owned(),
        time_ms,
        file: String::new(),
    };
    Counted { origin, cost: Some(Facts { complete: true, ..Facts::default() }), census: Census::of(graph) }
}

/// Two snapshots of a shop that differ in many ways.
pub fn diff() -> HeapDiff {
    let before = counted(&shop(Shop { orders: 100, cached: 50, soft: 3, plugins: 1 }), 1_772_368_205_000);
    let after = counted(&shop(Shop { orders: 12_100, cached: 20, soft: 3, plugins: 4 }), 1_772_368_225_000);
    HeapDiff::of(&before, &after, 10)
}

/// Snapshots, ten seconds after each other.
pub fn series(graphs: impl Iterator<Item = Graph>) -> Vec<Counted> {
    graphs.zip(0..).map(|(graph, at)| counted(&graph, 1_772_368_205_000 + at * 10_000)).collect()
}

/// A shop that leaks orders and loaders, beside a cache that grows to its bound.
pub fn leaks() -> Leaks {
    let of = |orders, cached, soft, plugins| shop(Shop { orders, cached, soft, plugins });
    Leaks::of(&series([of(100, 0, 0, 2), of(6100, 5000, 0, 22), of(12_100, 5000, 9000, 42)].into_iter()), 10)
}

/// How many of what a shop has.
#[derive(Clone, Copy, Debug, Default)]
pub struct Shop {
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
pub struct Planter {
    pub builder: Builder,
    next: u64,
}

impl Planter {
    #[expect(clippy::new_without_default, reason = "a plant with nothing in it is no usual one")]
    pub fn new() -> Self {
        Self { builder: Builder::new(), next: 0 }
    }

    /// With the object that stands for `com.shop.Registry`, whose static fields hold what is planted.
    pub fn with_registry() -> (Self, Node) {
        let mut plant = Self::new();
        let classes = plant.class("java.lang.Class");
        let registry = plant.loaded("com.shop.Registry", classes).1;
        plant.root(registry, RootKind::SystemClass);
        (plant, registry)
    }

    pub fn class(&mut self, name: &str) -> u32 {
        self.builder.class(name.to_owned())
    }

    /// The class of this name, which may be there already.
    pub fn class_named(&mut self, name: &str) -> u32 {
        let known = self.builder.graph().classes.iter().position(|class| class.name == name);
        known.map_or_else(|| self.class(name), |at| u32::try_from(at).expect("few"))
    }

    /// An object of so many bytes.
    pub fn object(&mut self, class: u32, bytes: u32) -> Node {
        self.next += 8;
        self.builder.object(self.next, class, bytes / 8, None).expect("a new address")
    }

    /// A class with the object that stands for it.
    pub fn loaded(&mut self, name: &str, classes: u32) -> (u32, Node) {
        let class = self.class(name);
        let mirror = self.object(classes, 96);
        self.builder.class_object(class, mirror);
        (class, mirror)
    }

    pub fn field(&mut self, from: Node, name: &str, to: Node) {
        let name = self.builder.name(name);
        self.builder.from(Some(from));
        self.builder.reference(to, Via::Field(name));
    }

    pub fn statics(&mut self, mirror: Node, name: &str, to: Node) {
        let name = self.builder.name(name);
        self.builder.from(Some(mirror));
        self.builder.reference(to, Via::Static(name));
    }

    pub fn element(&mut self, from: Node, index: u32, to: Node) {
        self.builder.from(Some(from));
        self.builder.reference(to, Via::Element(index));
    }

    pub fn root(&mut self, node: Node, kind: RootKind) {
        self.builder.root(Root { node, kind, thread: 0, frame: 0, method: 0 });
    }
}

/// A shop: `Registry.entries`, a map of orders that a frame uses as well; `Cache.all`, an array; `Main.loaders`, an array of loaders.
pub fn shop(of: Shop) -> Graph {
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

/// Threads with a variable of so many bytes in a frame each, and one list in a frame with so many links.
pub fn frames(threads: u64, bytes: u32, links: u64) -> Graph {
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

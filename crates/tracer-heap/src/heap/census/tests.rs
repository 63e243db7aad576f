//! Censuses of graphs whose numbers are known, and a shop that grows as it is told to.

use super::*;
use crate::heap::{
    dominators::tests::random,
    graph::RootKind,
    sample::{Planter, Shop, shop},
};

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

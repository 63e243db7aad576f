//! Dominators against their definition: take an object away, and count what can still be reached.

use super::*;
use crate::heap::{
    build::Builder,
    graph::{Root, RootKind, Via},
};

/// A small generator of numbers: the same on every machine.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

fn root(node: Node) -> Root {
    Root { node, kind: RootKind::Other, thread: 0, frame: 0, method: 0 }
}

/// Objects, references (some of them weak), roots; every third graph has classes with objects of their own.
pub(in crate::heap) fn random(seed: u64) -> Graph {
    let mut numbers = Numbers(seed);
    let mut builder = Builder::new();
    let count = 1 + numbers.below(60);
    let classes: Vec<u32> = (0..4).map(|number| builder.class(format!("Class{number}"))).collect();
    for address in 0..count {
        let class = classes[usize::try_from(numbers.below(4)).expect("small")];
        let units = u32::try_from(1 + numbers.below(9)).expect("small");
        builder.object(address * 8, class, units, None);
    }
    if seed.is_multiple_of(3) {
        for class in classes {
            let object = u32::try_from(numbers.below(count)).expect("small");
            builder.class_object(class, object);
        }
    }
    let density = 1 + numbers.below(3);
    for from in 0..count {
        builder.from(builder.at(from * 8));
        for _ in 0..numbers.below(density * 2) {
            let to = u32::try_from(numbers.below(count)).expect("small");
            let via = match numbers.below(6) {
                0 => Via::Referent(0),
                1 => Via::Static(0),
                2 => Via::Element(from.try_into().expect("small")),
                _ => Via::Field(0),
            };
            builder.reference(to, via);
        }
    }
    for _ in 0..=numbers.below(4) {
        builder.root(root(u32::try_from(numbers.below(count)).expect("small")));
    }
    builder.finish()
}

/// Objects that can be reached without going through some of them.
pub(in crate::heap) fn reached(graph: &Graph, starts: &[Node], without: impl Fn(Node) -> bool) -> Vec<bool> {
    let mut reached = vec![false; graph.len()];
    let mut to_do: Vec<Node> = starts.to_vec();
    while let Some(node) = to_do.pop() {
        if without(node) || std::mem::replace(&mut reached[node as usize], true) {
            continue;
        }
        to_do.extend(graph.references(node).filter(|(_, label)| !label.is_weak()).map(|(to, _)| to));
        to_do.extend(graph.class_object(node));
    }
    reached
}

#[test]
fn what_an_object_retains_is_what_cannot_be_reached_without_it_in_1000_random_graphs() {
    for seed in 0..1000 {
        let graph = random(seed);
        let found = Dominators::of(&graph);
        let mut starts: Vec<Node> = graph.roots.iter().map(|root| root.node).collect();
        starts.extend(&found.only_weak);
        starts.extend(&found.unreached);
        let all = reached(&graph, &starts, |_| false);
        assert!(all.iter().all(|reached| *reached), "seed {seed}");
        let strong = reached(&graph, &graph.roots.iter().map(|root| root.node).collect::<Vec<_>>(), |_| false);
        assert!(found.only_weak.iter().chain(&found.unreached).all(|node| !strong[*node as usize]), "seed {seed}");
        for node in 0..u32::try_from(graph.len()).expect("small") {
            let left = reached(&graph, &starts, |other| other == node);
            let freed: u64 = (0..).zip(&left).filter(|(_, left)| !**left).map(|(node, _)| graph.bytes(node)).sum();
            assert_eq!(found.retained(node), freed, "object {node} of seed {seed}");
            // Whatever is reached without the dominator, its object is not.
            if let Some(above) = found.dominator(node) {
                assert!(
                    !reached(&graph, &starts, |other| other == above)[node as usize],
                    "object {node} of seed {seed}"
                );
            }
        }
        assert_eq!(found.total(), graph.total_bytes());
    }
}

fn list(links: u32) -> Graph {
    let mut builder = Builder::new();
    let class = builder.class("Link".to_owned());
    for link in 0..links {
        builder.object(u64::from(link) * 8, class, 3, None);
    }
    for link in 1..links {
        builder.from(Some(link - 1));
        builder.reference(link, Via::Field(0));
    }
    builder.root(root(0));
    builder.finish()
}

fn check(links: u32) {
    let graph = list(links);
    let found = Dominators::of(&graph);
    assert_eq!(found.retained(0), u64::from(links) * 24);
    assert_eq!(found.dominator(links - 1), Some(links - 2));
    assert_eq!(found.retained(links - 1), 24);
}

#[test]
fn a_list_of_a_million_links_needs_no_deep_stack() {
    check(1_000_000);
}

#[test]
#[ignore = "takes seconds and a gigabyte"]
fn a_list_of_ten_million_links_needs_no_deep_stack() {
    check(10_000_000);
}

#[test]
fn two_ways_to_an_object_share_it_and_weak_ones_do_not_count() {
    let mut builder = Builder::new();
    let class = builder.class("A".to_owned());
    for at in 0..4 {
        builder.object(at * 8, class, 2, None);
    }
    // 0 and 1 are roots and both lead to 2; only a weak reference of 0 leads to 3.
    builder.from(Some(0));
    builder.reference(2, Via::Field(0));
    builder.reference(3, Via::Referent(0));
    builder.from(Some(1));
    builder.reference(2, Via::Field(0));
    builder.root(root(0));
    builder.root(root(1));
    let graph = builder.finish();
    let found = Dominators::of(&graph);
    assert_eq!([0, 1, 2, 3].map(|node| found.retained(node)), [16; 4]);
    assert_eq!([0, 1, 2, 3].map(|node| found.dominator(node)), [None; 4]);
    assert_eq!(found.only_weak, [3]);
}

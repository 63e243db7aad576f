//! Differences of snapshots: nothing from itself, the opposite the other way round, and everything that differs once.

use super::*;
use crate::heap::{
    dominators::tests::random,
    graph::Graph,
    sample::{Shop, counted, shop},
};

fn diff(before: &Graph, after: &Graph) -> HeapDiff {
    HeapDiff::of(&counted(before, 1000), &counted(after, 2000), usize::MAX)
}

/// The same difference the other way round.
fn turned(diff: HeapDiff) -> HeapDiff {
    let fate = |fate| match fate {
        Fate::New => Fate::Gone,
        Fate::Gone => Fate::New,
        Fate::Grown => Fate::Shrunk,
        Fate::Shrunk => Fate::Grown,
    };
    let class = |row: ClassChange| ClassChange { fate: fate(row.fate), before: row.after, after: row.before, ..row };
    let holder = |row: HolderChange| HolderChange {
        fate: fate(row.fate),
        before: row.after,
        after: row.before,
        parts: row.parts.into_iter().map(class).collect(),
        way: row.way,
    };
    HeapDiff {
        before: diff.after,
        after: diff.before,
        by_class: diff.by_class.into_iter().map(class).collect(),
        holders: diff.holders.into_iter().map(holder).collect(),
        ..diff
    }
}

#[test]
fn a_snapshot_does_not_differ_from_itself() {
    for seed in 0..300 {
        let graph = random(seed);
        let diff = diff(&graph, &graph);
        assert!(diff.by_class.is_empty() && diff.holders.is_empty(), "seed {seed}: {diff:?}");
    }
}

#[test]
fn the_other_way_round_the_difference_is_the_opposite() {
    for seed in 0..300 {
        let [one, other] = [random(seed), random(seed + 1)];
        let (there, mut back) = (diff(&one, &other), turned(diff(&other, &one)));
        (back.before.origin.time_ms, back.after.origin.time_ms) = (1000, 2000);
        assert_eq!(format!("{there:#?}"), format!("{back:#?}"), "seed {seed}");
    }
}

#[test]
fn all_that_differs_is_counted_once_by_class_and_once_by_holder() {
    for seed in 0..300 {
        let [one, other] = [random(seed), random(seed + 7)];
        let diff = diff(&one, &other);
        let more = |before: Amount, after: Amount| {
            let of = |get: fn(Amount) -> u64| get(after).cast_signed() - get(before).cast_signed();
            (of(|amount| amount.objects), of(|amount| amount.bytes))
        };
        let sum =
            |all: &mut dyn Iterator<Item = (i64, i64)>| all.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        let total = more(Census::of(&one).total, Census::of(&other).total);
        assert_eq!(sum(&mut diff.by_class.iter().map(|row| more(row.before, row.after))), total, "seed {seed}");
        assert_eq!(sum(&mut diff.holders.iter().map(|row| more(row.before, row.after))), total, "seed {seed}");
    }
}

#[test]
fn what_has_come_and_gone_is_named_with_what_holds_it() {
    let before = shop(Shop { orders: 10, cached: 50, ..Shop::default() });
    let after = shop(Shop { orders: 1010, cached: 0, ..Shop::default() });
    let diff = diff(&before, &after);
    let rows: Vec<_> = diff
        .holders
        .iter()
        .map(|row| (row.way[0].by.as_str(), row.way.len(), row.fate, row.before.objects, row.after.objects))
        .collect();
    assert_eq!(
        rows,
        [
            ("com.shop.Registry.entries (static)", 2, Fate::Grown, 20, 2020),
            ("com.shop.Cache.all (static)", 1, Fate::Gone, 50, 0),
        ]
    );
    assert_eq!(diff.holders[0].parts[0].class, "java.util.HashMap$Node");
    let classes: Vec<_> = diff.by_class.iter().map(|row| (row.class.as_str(), row.fate)).collect();
    assert!(classes.contains(&("com.shop.Order", Fate::Grown)), "{classes:?}");
    assert!(classes.contains(&("com.shop.Entry$$Lambda", Fate::Gone)), "{classes:?}");
    assert!(diff.cautions.is_empty(), "{:?}", diff.cautions);
}

#[test]
fn what_makes_snapshots_unlike_is_said() {
    let graph = shop(Shop::default());
    let before = counted(&graph, 0);
    let mut after = counted(&graph, 5);
    after.origin.pid = 12;
    after.origin.jvm = "25".to_owned();
    after.cost = Some(Facts { reason: "took longer than it may".to_owned(), ..Facts::default() });
    let said = HeapDiff::of(&before, &after, 5).cautions.join("\n");
    for word in [
        "process ids differ (4711, 12)",
        "JVMs differ",
        "second snapshot is not complete",
        "first snapshot does not say when",
    ] {
        assert!(said.contains(word), "{word}: {said}");
    }
    after.cost = None;
    let said = HeapDiff::of(&before, &after, 5).cautions.join("\n");
    assert!(said.contains("second snapshot is a dump of the JVM's"), "{said}");
}

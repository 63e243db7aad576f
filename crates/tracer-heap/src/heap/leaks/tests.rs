//! Shops that grow in known ways: who is suspected, of what, and who is not.

use super::*;
use crate::heap::{
    facts::Facts,
    sample::{self, Shop, frames, shop},
};

/// Snapshots of a shop, ten seconds after each other.
fn snapshots(of: &[Shop]) -> Vec<Counted> {
    sample::series(of.iter().map(|of| shop(*of)))
}

fn of(orders: u64, cached: u64, soft: u64, plugins: u64) -> Shop {
    Shop { orders, cached, soft, plugins }
}

fn holders(leaks: &Leaks) -> Vec<(&str, &str)> {
    leaks.suspects.iter().map(|suspect| (suspect.holder.as_str(), suspect.class.as_str())).collect()
}

#[test]
fn what_goes_on_growing_is_named_with_its_class_its_holder_and_its_rate() {
    let leaks = sample::leaks();
    assert_eq!(
        holders(&leaks),
        [
            ("com.shop.Registry.entries (static)", "com.shop.Order"),
            ("com.shop.Main.loaders (static)", "com.shop.PluginLoader"),
        ]
    );
    let suspect = &leaks.suspects[0];
    assert_eq!(suspect.amounts.iter().map(|amount| amount.objects).collect::<Vec<_>>(), [200, 12_200, 24_200]);
    assert_eq!(suspect.class_objects, [100, 6100, 12_100]);
    // 12,000 more of 32 bytes and of 24, in 20 seconds.
    assert_eq!(suspect.bytes_per_hour, Some(f64::from(12_000 * 56 * 180)));
    assert_eq!(suspect.objects_per_hour, Some(f64::from(24_000 * 180)));
    assert_eq!((suspect.way.len(), suspect.way_on.len()), (2, 2));
    assert_eq!(
        suspect.by_class[0],
        Grown { class: "java.util.HashMap$Node".to_owned(), objects: 12_000, bytes: 384_000 }
    );
    assert!(!leaks.so_far && leaks.span_ms == Some(20_000), "{leaks:?}");
}

#[test]
fn places_of_a_suspects_classes_are_those_with_most_samples() {
    let of = |class: &str, place: &str, samples| Sampled { class: class.to_owned(), place: place.to_owned(), samples };
    let mut leaks = sample::leaks();
    leaks.add_places(&[
        of("com.shop.Order", "com.shop.Till.book:12", 1),
        of("com.shop.Order", "com.shop.Till.book:9", 7),
        of("com.shop.Order", "com.shop.Till.copy:30", 2),
        of("com.shop.Order", "libjvm.so!AllocTracer::send_allocation_in_new_tlab", 5),
        of("java.util.HashMap$Node", "com.shop.Registry.add:5", 4),
        of("com.shop.Other", "com.shop.Till.book:1", 90),
    ]);
    let made = |suspect: &Suspect| -> Vec<(String, String, u64, u64)> {
        let made = suspect.made_at.iter().flatten();
        made.map(|made| (made.class.clone(), made.place.clone(), made.samples, made.of)).collect()
    };
    let at = |class: &str, place: &str, samples, of| (class.to_owned(), place.to_owned(), samples, of);
    assert_eq!(
        made(&leaks.suspects[0]),
        [
            at("com.shop.Order", "com.shop.Till.book:9", 7, 15),
            at("com.shop.Order", "com.shop.Till.copy:30", 2, 15),
            at("java.util.HashMap$Node", "com.shop.Registry.add:5", 4, 4),
        ]
    );
    assert_eq!(made(&leaks.suspects[1]), []);
}

#[test]
fn a_cache_with_a_bound_and_what_softly_is_held_are_no_suspects() {
    let leaks = sample::leaks();
    let others: Vec<_> = leaks.others.iter().map(|other| (other.holder.as_str(), other.growth)).collect();
    assert_eq!(others, [("com.shop.Cache.all (static)", Growth::Stopped)]);
    assert_eq!(leaks.only_weak_bytes, 9000 * 24);
}

#[test]
fn what_rises_and_falls_and_what_is_little_are_no_suspects() {
    let leaks = Leaks::of(&snapshots(&[of(0, 0, 0, 0), of(900, 30, 0, 0), of(100, 60, 0, 0), of(1000, 90, 0, 0)]), 10);
    assert_eq!(holders(&leaks), []);
    let others: Vec<_> = leaks.others.iter().map(|other| (other.holder.as_str(), other.growth)).collect();
    assert_eq!(others, [("com.shop.Registry.entries (static)", Growth::RoseAndFell)]);
}

#[test]
fn two_snapshots_say_so_far_and_nothing_of_what_stops() {
    let leaks = Leaks::of(&snapshots(&[of(0, 0, 0, 0), of(1000, 500, 0, 0)]), 10);
    assert!(leaks.so_far);
    assert_eq!(leaks.suspects.len(), 2);
    assert!(leaks.others.is_empty());
}

#[test]
fn snapshots_in_another_order_are_put_in_that_of_their_times() {
    let mut all = snapshots(&[of(0, 0, 0, 0), of(1000, 0, 0, 0), of(2000, 0, 0, 0)]);
    all.swap(0, 2);
    let leaks = Leaks::of(&all, 10);
    assert_eq!(holders(&leaks).len(), 1);
    assert!(leaks.cautions[0].contains("order of their times"), "{:?}", leaks.cautions);
}

#[test]
fn without_times_there_is_no_rate_and_it_is_said() {
    let mut all = snapshots(&[of(0, 0, 0, 0), of(1000, 0, 0, 0), of(2000, 0, 0, 0)]);
    all[1].origin.time_ms = 0;
    let leaks = Leaks::of(&all, 10);
    assert_eq!((leaks.span_ms, leaks.suspects[0].bytes_per_hour), (None, None));
    assert!(leaks.cautions.iter().any(|said| said.contains("snapshot 2 does not say when")), "{:?}", leaks.cautions);
}

#[test]
fn a_snapshot_that_is_not_complete_is_left_out_and_said() {
    let mut all = snapshots(&[of(0, 0, 0, 0), of(1000, 0, 0, 0), of(500, 0, 0, 0), of(2000, 0, 0, 0)]);
    assert_eq!(holders(&Leaks::of(&all, 10)), []);
    all[2].cost = Some(Facts::default());
    let leaks = Leaks::of(&all, 10);
    assert_eq!((holders(&leaks).len(), leaks.snapshots.len()), (1, 3));
    assert_eq!(leaks.cautions, ["1 snapshot is not complete, and left out"]);
    // One alone says nothing.
    all.iter_mut().skip(1).for_each(|one| one.cost = Some(Facts::default()));
    let leaks = Leaks::of(&all, 10);
    assert_eq!((holders(&leaks).len(), leaks.so_far, leaks.span_ms), (0, true, None));
}

#[test]
fn threads_that_leak_are_told_of_once_and_what_frames_hold_where_it_is_much() {
    let found = |bytes: u32, links: u64| {
        let leaks = Leaks::of(&sample::series((1..4).map(|at| frames(at * 150, bytes, at * links))), 10);
        leaks.suspects.iter().map(|suspect| (suspect.holder.clone(), suspect.class.clone())).collect::<Vec<_>>()
    };
    let of = |holder: &str, class: &str| (holder.to_owned(), class.to_owned());
    let waiters = || of("a live thread", "com.shop.Waiter");
    assert_eq!(found(16, 0), [waiters()]);
    assert_eq!(found(800, 0), [of("a local variable", "Latch"), waiters()]);
    assert_eq!(found(16, 1000), [waiters(), of("a local variable", "Link")]);
}

#[test]
fn rows_that_are_left_out_are_counted() {
    let leaks = Leaks::of(&snapshots(&[of(0, 0, 0, 0), of(1000, 1000, 0, 0), of(2000, 2000, 0, 0)]), 1);
    assert_eq!((leaks.suspects.len(), leaks.further), (1, 1));
}

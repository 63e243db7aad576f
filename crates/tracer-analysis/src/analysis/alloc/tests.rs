//! Closed forms of estimates by TLABs.

use super::{
    super::testing::{Play, cells, first_keys, is_close, numbers, profile_rows},
    *,
};

#[test]
fn equal_tlabs_have_an_error_of_100_over_root_n() {
    let mut play = Play::default();
    let (bytes, cart, big) = (play.name("[B"), play.name("com/shop/Cart"), play.name("[Lcom/shop/Cart;"));
    let tlab = |class| Payload::AllocInNewTlab { class, tlab_bytes: 1000, object_bytes: 24 };
    let mut events = vec![(1, 7, tlab(bytes)); 16];
    events.extend([(2, 7, tlab(cart)); 4]);
    events.push((3, 8, Payload::AllocOutsideTlab { class: big, object_bytes: 5000 }));
    let section = play.section(&mut Alloc::default(), 500, &events);
    assert_eq!(first_keys(&section, 3), ["samples", "estimated_bytes", "estimated_bytes_per_s"]);
    assert_eq!(numbers(&section, ["samples", "estimated_bytes", "outside_tlab_bytes"]), [21, 25_000, 5000]);
    assert!(is_close(&section, "estimated_bytes_per_s", 50_000.0));
    assert_eq!(
        cells(&section, "classes", ["class", "samples", "estimated_bytes", "share_percent", "error_percent"]),
        [
            ["byte[]", "16", "16000", "64.0", "25.0"],
            ["com.shop.Cart[]", "1", "5000", "20.0", "0.0"],
            ["com.shop.Cart", "4", "4000", "16.0", "50.0"]
        ]
    );
    assert!(section.notes[0].starts_with("An estimate"));
}

#[test]
fn places_have_the_same_estimate_as_classes() {
    let mut play = Play::default();
    let (bytes, cart) = (play.name("[B"), play.name("com/shop/Cart"));
    let read = play.stack(&["com.shop.Main.main:3", "java.io.InputStream.readAllBytes:400"]);
    let add = play.stack(&["com.shop.Main.main:4", "com.shop.Cart.add:12"]);
    let tlab = |class| Payload::AllocInNewTlab { class, tlab_bytes: 1000, object_bytes: 24 };
    let mut events = vec![(1, 7, read, tlab(bytes)); 4];
    events.extend([(2, 7, add, tlab(bytes)), (3, 7, add, tlab(cart))]);
    events.push((4, 8, read, Payload::AllocOutsideTlab { class: bytes, object_bytes: 6000 }));
    let section = play.section_of_stacks(&mut Alloc::default(), 1000, &events);
    assert_eq!(
        cells(&section, "sites", ["class", "site", "samples", "estimated_bytes", "share_percent", "error_percent"]),
        [
            ["byte[]", "com.shop.Main.main:3", "5", "10000", "83.3", "20.0"],
            ["byte[]", "com.shop.Cart.add:12", "1", "1000", "8.3", "100.0"],
            ["com.shop.Cart", "com.shop.Cart.add:12", "1", "1000", "8.3", "100.0"]
        ]
    );
    assert_eq!(cells(&section, "sites", ["callers"]), [["-"], ["com.shop.Main.main:4"], ["com.shop.Main.main:4"]]);
    let rows: Vec<_> =
        profile_rows(&section, "allocation_stacks").into_iter().map(|row| (row.1, row.2, row.3)).collect();
    assert_eq!(rows, [("tid 8".to_owned(), 6000, 1), ("tid 7".to_owned(), 4000, 4), ("tid 7".to_owned(), 2000, 2)]);
}

/// Of the samples that go without, nothing is in the tables by place; those with a stack stand for all.
#[test]
fn a_stack_stands_for_the_samples_that_went_without() {
    let mut play = Play::default();
    let bytes = play.name("[B");
    let add = play.stack(&["com.shop.Main.main:4", "com.shop.Cart.add:12"]);
    let mut alloc = Alloc::default();
    let what = crate::item::Narrowing::FewerStacks { one_in: 4 };
    alloc.guard(&GuardAction {
        time_ns: 0,
        group: "alloc".to_owned(),
        sites: vec![0],
        lens: Lens::Alloc,
        action: crate::item::GuardDecision::Narrow { what, rate_per_s: 1 },
        reason: None,
        pause_ns: None,
    });
    let tlab = Payload::AllocInNewTlab { class: bytes, tlab_bytes: 1000, object_bytes: 24 };
    let without = StackId::default();
    let events = [(1, 7, add, tlab), (2, 7, without, tlab), (3, 7, without, tlab), (4, 7, without, tlab)];
    let section = play.section_of_stacks(&mut alloc, 1000, &events);
    assert_eq!(numbers(&section, ["samples", "estimated_bytes"]), [4, 4000]);
    assert_eq!(
        cells(&section, "sites", ["class", "site", "samples", "estimated_bytes", "share_percent"]),
        [["byte[]", "com.shop.Cart.add:12", "1", "4000", "100.0"]]
    );
    let rows: Vec<_> = profile_rows(&section, "allocation_stacks").into_iter().map(|row| (row.2, row.3)).collect();
    assert_eq!(rows, [(4000, 4)]);
}

#[test]
fn sizes_that_cannot_be_do_no_harm() {
    let mut play = Play::default();
    let class = play.name("A");
    let tlab = Payload::AllocInNewTlab { class, tlab_bytes: u64::MAX, object_bytes: u64::MAX };
    let section = play.section(&mut Alloc::default(), 1000, &[(1, 7, tlab), (2, 7, tlab)]);
    assert_eq!(numbers(&section, ["samples", "estimated_bytes"]), [2, u64::MAX]);
}

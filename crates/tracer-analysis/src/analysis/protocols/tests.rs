//! Closed forms: threads that take monitors in both orders, and those that do not.

use super::super::{
    Analysis as _,
    jni::Jni,
    locks::Locks,
    testing::{MS, Play, cells},
};
use crate::{
    event::{Edge, Event, Holder, MonitorAction, NameId, NoHolder, Payload, SiteId, StackId, Tid},
    jni::Function,
    report::{Section, Shape},
};

const A: u64 = 0xa;
const B: u64 = 0xb;
const ENTERED: MonitorAction = MonitorAction::ContendedEntered;
const EXIT: MonitorAction = MonitorAction::ContendedExit;

fn met(holder: u32) -> MonitorAction {
    MonitorAction::ContendedEnter { holder: Holder::Thread(Tid(holder)) }
}

fn played(events: &[(u32, MonitorAction, u64)]) -> (Play, Section) {
    let mut play = Play::default();
    let names = [play.name("com/shop/Cart"), play.name("com/shop/Stock")];
    let of = |monitor: u64| -> NameId { names[usize::from(monitor != A)] };
    let events: Vec<_> = events
        .iter()
        .zip(1_u64..)
        .map(|((tid, action, monitor), ms)| {
            (ms, *tid, Payload::Monitor { action: *action, monitor: *monitor, class: of(*monitor) })
        })
        .collect();
    let section = play.section(&mut Locks::default(), 1000, &events);
    (play, section)
}

fn pairs(events: &[(u32, MonitorAction, u64)]) -> Vec<[String; 4]> {
    let (_, section) = played(events);
    let is_there = section.shapes.iter().any(|shape| matches!(shape, Shape::Table(table) if table.id == "lock_order"));
    if !is_there {
        return Vec::new();
    }
    cells(&section, "lock_order", ["tid", "held_class", "taken_class", "count"])
}

/// Thread `tid` takes `second` while it holds `first`; threads 8 and 9 are who it meets, and who meets it.
fn nested(tid: u32, first: u64, second: u64) -> Vec<(u32, MonitorAction, u64)> {
    vec![(9, met(tid), first), (tid, met(8), second), (tid, ENTERED, second), (tid, EXIT, first), (9, ENTERED, first)]
}

#[test]
fn two_threads_that_take_two_monitors_in_both_orders_are_told() {
    let events = [nested(1, A, B), nested(2, B, A), nested(1, A, B)].concat();
    assert_eq!(
        pairs(&events),
        [
            ["1", "com.shop.Cart", "com.shop.Stock", "3"].map(str::to_owned),
            ["2", "com.shop.Stock", "com.shop.Cart", "3"].map(str::to_owned)
        ]
    );
}

#[test]
fn one_order_or_one_thread_is_no_inversion() {
    assert_eq!(pairs(&[nested(1, A, B), nested(2, A, B)].concat()), [[""; 4]; 0]);
    assert_eq!(pairs(&[nested(1, A, B), nested(1, B, A)].concat()), [[""; 4]; 0]);
    // Of three threads two did.
    assert_eq!(pairs(&[nested(1, A, B), nested(1, B, A), nested(3, A, B)].concat()).len(), 2);
}

#[test]
fn what_was_left_before_is_not_held() {
    let left = |how: MonitorAction, by: u32| {
        let first = vec![(9, met(1), A), (by, how, A), (1, met(8), B), (1, ENTERED, B)];
        pairs(&[first, nested(2, B, A)].concat())
    };
    assert_eq!(left(EXIT, 1), [[""; 4]; 0]);
    assert_eq!(left(MonitorAction::Wait { timeout_ms: 0 }, 1), [[""; 4]; 0]);
    assert_eq!(left(ENTERED, 9), [[""; 4]; 0]);
    assert_eq!(left(MonitorAction::Notify, 1).len(), 2);
}

#[test]
fn a_monitor_that_someone_got_meanwhile_was_not_held_throughout() {
    // 9 gets A before 1 gets B: so 1 had left A, and its event is missing.
    let first = vec![(9, met(1), A), (1, met(8), B), (9, ENTERED, A), (1, ENTERED, B)];
    assert_eq!(pairs(&[first, nested(2, B, A)].concat()), [[""; 4]; 0]);
}

#[test]
fn who_is_blocked_for_ever_has_taken_both() {
    // A deadlock: each holds what the other wants, and no one ever gets it.
    let events = [(1, met(2), B), (2, met(1), A)];
    assert_eq!(pairs(&events).len(), 2);
    let unknown = MonitorAction::ContendedEnter { holder: Holder::Unknown(NoHolder::Virtual) };
    assert_eq!(pairs(&[(1, unknown, B), (2, met(1), A)]), [[""; 4]; 0]);
}

#[test]
fn a_thread_that_ends_holds_nothing() {
    let mut play = Play::default();
    let class = play.name("com/shop/Cart");
    let monitor = |action, monitor| Payload::Monitor { action, monitor, class };
    let end = Payload::Thread { edge: Edge::End, name: class, java_tid: 1, os_tid: 1, daemon: false };
    let section = play.section(
        &mut Locks::default(),
        100,
        &[(1, 1, monitor(met(2), B)), (2, 1, end), (3, 2, monitor(met(1), A)), (4, 1, monitor(met(2), B))],
    );
    // The number 1 is that of another thread at last, which holds A and wants B; 2 holds B and wants A.
    assert_eq!(cells(&section, "lock_order", ["tid"]).len(), 2);
    let section = play.section(
        &mut Locks::default(),
        100,
        &[(1, 1, monitor(met(2), B)), (2, 2, monitor(met(1), A)), (3, 1, end), (4, 2, end)],
    );
    assert!(!section.shapes.iter().any(|shape| matches!(shape, Shape::Table(table) if table.id == "lock_order")));
}

#[test]
fn what_jni_gave_and_took_back_is_counted_by_pairs() {
    let mut play = Play::default();
    let caller = play.name("work");
    let mut jni = Jni::default();
    let calls = [
        ("NewGlobalRef", 5),
        ("DeleteGlobalRef", 2),
        ("GetIntArrayElements", 3),
        ("GetByteArrayElements", 1),
        ("ReleaseIntArrayElements", 3),
        ("PopLocalFrame", 1),
        ("GetArrayLength", 7),
    ];
    for (name, count) in calls {
        for _ in 0..count {
            let function = Function::named(name).expect("a function of JNI");
            let payload =
                Payload::JniCall { function, caller, total_ns: Some(MS), inner_ns: 0, depth: 1, wanted: true };
            jni.event(&Event { time_ns: MS, tid: Tid(1), site: SiteId(0), stack: StackId::default(), payload });
        }
    }
    let section = play.section(&mut jni, 100, &[]);
    assert_eq!(
        cells(&section, "jni_balance", ["what", "given", "taken", "left"]),
        [
            ["global references", "5", "2", "3"],
            ["frames of local references", "0", "1", "0"],
            ["contents of arrays", "4", "3", "1"]
        ]
    );
    let quiet = play.section(&mut Jni::default(), 100, &[]);
    assert!(!quiet.shapes.iter().any(|shape| matches!(shape, Shape::Table(table) if table.id == "jni_balance")));
}

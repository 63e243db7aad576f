//! Closed forms of the lens `locks`.

use super::{
    super::testing::{MS, Play, cells, first_keys, numbers},
    *,
};

fn monitor(action: MonitorAction, monitor: u64, class: NameId) -> Payload {
    Payload::Monitor { action, monitor, class }
}

const ENTER: MonitorAction = MonitorAction::ContendedEnter;
const ENTERED: MonitorAction = MonitorAction::ContendedEntered;

#[test]
fn blocked_time_is_by_monitor_class_and_thread() {
    let mut play = Play::default();
    let (cart, map) = (play.name("com/shop/Cart"), play.name("java/util/HashMap"));
    play.names.define_thread(Tid(7), "worker-7".to_owned());
    let section = play.section(
        &mut Locks::default(),
        1000,
        &[
            (0, 7, monitor(ENTER, 0xa, cart)),
            (0, 8, monitor(ENTER, 0xa, cart)),
            (10, 7, monitor(ENTERED, 0xa, cart)),
            (30, 8, monitor(ENTERED, 0xa, cart)),
            (40, 7, monitor(ENTER, 0xb, cart)),
            (45, 7, monitor(ENTERED, 0xb, cart)),
            (50, 8, monitor(ENTER, 0xc, map)),
            (51, 8, monitor(ENTERED, 0xc, map)),
            (60, 7, monitor(ENTER, 0xa, cart)),
            (61, 7, monitor(ENTERED, 0xa, cart)),
        ],
    );
    assert_eq!(
        first_keys(&section, 6),
        ["contended_enters", "blocked_total_ns", "blocked_max_ns", "waits", "parks", "park_total_ns"]
    );
    assert_eq!(
        numbers(&section, ["contended_enters", "blocked_total_ns", "blocked_max_ns", "blocked_open_ns"]),
        [5, 47 * MS, 30 * MS, 0]
    );
    assert_eq!(
        cells(&section, "monitors", ["class", "monitor", "count", "total_ns", "max_ns", "threads"]),
        [
            ["com.shop.Cart", "10", "3", "41000000", "30000000", "2"],
            ["com.shop.Cart", "11", "1", "5000000", "5000000", "1"],
            ["java.util.HashMap", "12", "1", "1000000", "1000000", "1"]
        ]
    );
    assert_eq!(
        cells(&section, "classes", ["class", "count", "total_ns", "monitors"]),
        [["com.shop.Cart", "4", "46000000", "2"], ["java.util.HashMap", "1", "1000000", "1"]]
    );
    assert_eq!(
        cells(&section, "threads", ["thread", "count", "total_ns"]),
        [["tid 8", "2", "31000000"], ["worker-7", "3", "16000000"]]
    );
}

#[test]
fn the_still_blocked_are_told_apart_and_foreign_ends_are_not_guessed() {
    let mut play = Play::default();
    let cart = play.name("com/shop/Cart");
    let section = play.section(
        &mut Locks::default(),
        1000,
        &[
            (1, 3, monitor(ENTERED, 0xa, cart)),
            (2, 4, monitor(ENTER, 0xa, cart)),
            (9, 4, monitor(ENTERED, 0xb, cart)),
            (100, 7, monitor(ENTER, 0xa, cart)),
            (400, 8, monitor(ENTER, 0xa, cart)),
        ],
    );
    assert_eq!(
        numbers(&section, ["contended_enters", "blocked_total_ns", "blocked_open_ns", "blocked_open_threads"]),
        [3, 0, 1500 * MS, 2]
    );
    assert!(section.notes[0].contains("2 threads were still blocked"));
    assert!(section.notes[1].contains("2 ends without a beginning") && section.notes[1].contains("1 beginnings"));
}

#[test]
fn waits_and_parks_are_apart() {
    let mut play = Play::default();
    let queue = play.name("com/shop/Queue");
    let park = Payload::ParkBegin { parker: 1, absolute: false, time: 0 };
    let section = play.section(
        &mut Locks::default(),
        1000,
        &[
            (0, 7, monitor(MonitorAction::Wait { timeout_ms: 0 }, 0xa, queue)),
            (3, 8, monitor(MonitorAction::Notify, 0xa, queue)),
            (4, 8, monitor(MonitorAction::NotifyAll, 0xa, queue)),
            (5, 7, monitor(MonitorAction::Waited, 0xa, queue)),
            (6, 9, park),
            (8, 7, Payload::Unpark { parker: 1 }),
            (9, 9, Payload::ParkEnd { parker: 1 }),
            (10, 9, park),
            (11, 10, Payload::ParkEnd { parker: 2 }),
        ],
    );
    assert_eq!(
        numbers(&section, ["waits", "wait_total_ns", "notifies", "parks", "park_total_ns", "unparks"]),
        [1, 5 * MS, 2, 2, 3 * MS, 1]
    );
    assert_eq!(
        cells(&section, "waits", ["class", "count", "total_ns", "notifies"]),
        [["com.shop.Queue", "1", "5000000", "2"]]
    );
    assert_eq!(cells(&section, "parks", ["thread", "count", "total_ns"]), [["tid 9", "1", "3000000"]]);
    assert!(section.notes.iter().any(|note| note.starts_with("Parks: 1 ends without")));
}

#[test]
fn a_stopped_thread_is_not_blocked_for_ever() {
    let mut play = Play::default();
    let (cart, name) = (play.name("com/shop/Cart"), play.name("worker"));
    let stop = Payload::Thread { edge: Edge::End, name, java_tid: 1, os_tid: 7, daemon: false };
    let events = [(1, 7, monitor(ENTER, 0xa, cart)), (5, 7, stop)];
    let section = play.section(&mut Locks::default(), 1000, &events);
    assert_eq!(numbers(&section, ["blocked_open_ns", "blocked_total_ns"]), [0, 0]);
    assert!(section.notes[0].contains("1 beginnings"));
}

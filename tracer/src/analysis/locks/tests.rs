//! Closed forms of the lens `locks`.

use super::{
    super::testing::{MS, Play, cells, first_keys, numbers, profile_rows},
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

const EXIT: MonitorAction = MonitorAction::ContendedExit;

#[test]
fn blocked_time_has_its_stacks_and_places() {
    let mut play = Play::default();
    let cart = play.name("com/shop/Cart");
    let add = play.stack(&["com.shop.Main.main:1", "com.shop.Cart.add:12"]);
    let take = play.stack(&["com.shop.Main.main:1", "java.util.concurrent.locks.LockSupport.park"]);
    let park = Payload::ParkBegin { parker: 1, absolute: false, time: 0 };
    let section = play.section_of_stacks(
        &mut Locks::default(),
        1000,
        &[
            (0, 7, add, monitor(ENTER, 0xa, cart)),
            (5, 8, add, monitor(ENTER, 0xb, cart)),
            (10, 7, add, monitor(ENTERED, 0xa, cart)),
            (25, 8, add, monitor(ENTERED, 0xb, cart)),
            (30, 8, take, park),
            (33, 8, take, Payload::ParkEnd { parker: 1 }),
        ],
    );
    assert_eq!(
        cells(&section, "waiters", ["class", "site", "count", "total_ns", "max_ns"]),
        [["com.shop.Cart", "com.shop.Cart.add:12", "2", "30000000", "20000000"]]
    );
    let frames = "com.shop.Main.main:1;com.shop.Cart.add:12".to_owned();
    assert_eq!(
        profile_rows(&section, "blocked_stacks"),
        [(frames.clone(), "tid 8".to_owned(), 20 * MS, 1), (frames, "tid 7".to_owned(), 10 * MS, 1)]
    );
    assert_eq!(profile_rows(&section, "park_stacks")[0].2, 3 * MS);
    assert!(
        !section.shapes.iter().any(|shape| matches!(shape, Shape::Profile(profile) if profile.id == "wait_stacks"))
    );
}

#[test]
fn a_thread_that_leaves_while_others_wait_was_waited_for() {
    let mut play = Play::default();
    let cart = play.name("com/shop/Cart");
    play.names.define_thread(Tid(1), "holder".to_owned());
    let [waits, leaves] =
        [&["a.Main.main:1", "a.Cart.add:2"], &["a.Main.main:1", "a.Cart.sum:9"]].map(|s| play.stack(s));
    let section = play.section_of_stacks(
        &mut Locks::default(),
        1000,
        &[
            (10, 7, waits, monitor(ENTER, 0xa, cart)),
            (30, 8, waits, monitor(ENTER, 0xa, cart)),
            // 40 + 20 ms for thread 1; then 8 waits 15 ms for 7, which got it.
            (50, 1, leaves, monitor(EXIT, 0xa, cart)),
            (51, 7, waits, monitor(ENTERED, 0xa, cart)),
            (66, 7, waits, monitor(EXIT, 0xa, cart)),
            (67, 8, waits, monitor(ENTERED, 0xa, cart)),
            // Nobody waits any more: nobody was waited for.
            (90, 8, waits, monitor(EXIT, 0xa, cart)),
        ],
    );
    assert_eq!(
        cells(&section, "holders", ["holder", "tid", "class", "site", "blocked_ns", "handovers", "waiters"]),
        [
            ["holder", "1", "com.shop.Cart", "a.Cart.sum:9", "60000000", "1", "2"],
            ["tid 7", "7", "com.shop.Cart", "a.Cart.add:2", "15000000", "1", "1"]
        ]
    );
    assert_eq!(numbers(&section, ["blocked_by_known_ns", "blocked_total_ns"]), [75 * MS, 78 * MS]);
    assert!(cells(&section, "chains", ["class"]).is_empty());
}

#[test]
fn a_holder_that_waits_itself_makes_a_chain() {
    let mut play = Play::default();
    let (cart, db) = (play.name("com/shop/Cart"), play.name("com/shop/Db"));
    let [waits, asks, sleeps] =
        [&["a.Cart.add:2"], &["a.Db.ask:3"], &["a.Cart.backOff:4"]].map(|stack| play.stack(stack));
    let sleep = |edge| Payload::Sleep { edge, duration_ns: 0, interrupted: false };
    let section = play.section_of_stacks(
        &mut Locks::default(),
        1000,
        &[
            (100, 1, asks, monitor(ENTER, 0xb, db)),
            (120, 7, waits, monitor(ENTER, 0xa, cart)),
            (150, 1, asks, monitor(ENTERED, 0xb, db)),
            (160, 1, waits, monitor(EXIT, 0xa, cart)),
            (161, 7, waits, monitor(ENTERED, 0xa, cart)),
            (200, 8, waits, monitor(ENTER, 0xa, cart)),
            (210, 7, sleeps, sleep(Edge::Begin)),
            (250, 7, sleeps, sleep(Edge::End)),
            (260, 7, waits, monitor(EXIT, 0xa, cart)),
            (261, 8, waits, monitor(ENTERED, 0xa, cart)),
        ],
    );
    assert_eq!(
        cells(&section, "chains", ["class", "holder_was", "site", "count", "total_ns"]),
        [
            ["com.shop.Cart", "asleep", "a.Cart.backOff:4", "1", "40000000"],
            ["com.shop.Cart", "blocked on com.shop.Db", "a.Db.ask:3", "1", "30000000"]
        ]
    );
}

#[test]
fn who_waited_for_the_monitor_itself_did_not_hold_it_meanwhile() {
    let mut play = Play::default();
    let cart = play.name("com/shop/Cart");
    let events = [
        (100, 7, monitor(ENTER, 0xa, cart)),
        (110, 8, monitor(ENTER, 0xa, cart)),
        (150, 7, monitor(ENTERED, 0xa, cart)),
        (160, 7, monitor(EXIT, 0xa, cart)),
    ];
    let section = play.section(&mut Locks::default(), 1000, &events);
    assert!(cells(&section, "chains", ["class"]).is_empty());
    assert_eq!(cells(&section, "holders", ["blocked_ns"]), [["10000000"]], "only since it changed hands");
}

#[test]
fn a_waiter_whose_getting_the_monitor_was_lost_waits_no_more() {
    let mut play = Play::default();
    let cart = play.name("com/shop/Cart");
    let events = [
        (100, 7, monitor(ENTER, 0xa, cart)),
        (120, 8, monitor(ENTER, 0xa, cart)),
        (150, 8, monitor(ENTER, 0xb, cart)),
        (160, 1, monitor(EXIT, 0xa, cart)),
        (900, 7, Payload::Unpark { parker: 1 }),
        (950, 2, monitor(EXIT, 0xa, cart)),
    ];
    let section = play.section(&mut Locks::default(), 1000, &events);
    assert_eq!(cells(&section, "holders", ["tid", "blocked_ns", "waiters"]), [["1", "60000000", "1"]]);
}

/// Threads 1 and 2 get a lock each after waiting, and then wait for each other's. `second` is the stack in which they wait.
fn embrace(play: &mut Play, second: StackId, end_ms: u64) -> Section {
    let cart = play.name("com/shop/Cart");
    let first = play.stack(&["a.Main.run:1", "a.Bank.transfer:10"]);
    play.section_of_stacks(
        &mut Locks::default(),
        end_ms,
        &[
            (10, 1, first, monitor(ENTER, 0xa, cart)),
            (10, 2, first, monitor(ENTER, 0xb, cart)),
            (20, 1, first, monitor(ENTERED, 0xa, cart)),
            (20, 2, first, monitor(ENTERED, 0xb, cart)),
            (30, 1, second, monitor(ENTER, 0xb, cart)),
            (30, 2, second, monitor(ENTER, 0xa, cart)),
        ],
    )
}

#[test]
fn threads_that_wait_for_each_other_at_the_end_are_a_circle() {
    let mut play = Play::default();
    let deeper = play.stack(&["a.Main.run:1", "a.Bank.transfer:11", "a.Account.add:5"]);
    let section = embrace(&mut play, deeper, 5000);
    assert_eq!(
        cells(&section, "deadlocks", ["circle", "tid", "monitor", "site", "blocked_ns", "holder", "holder_site"]),
        [
            ["1", "1", "11", "a.Account.add:5", "4970000000", "tid 2", "a.Bank.transfer:10"],
            ["1", "2", "10", "a.Account.add:5", "4970000000", "tid 1", "a.Bank.transfer:10"]
        ]
    );
}

#[test]
fn a_circle_is_not_claimed_where_the_evidence_is_weak() {
    let circles = |frames: &[&str], end_ms| {
        let mut play = Play::default();
        let stack = play.stack(frames);
        cells(&embrace(&mut play, stack, end_ms), "deadlocks", ["tid"]).len()
    };
    assert_eq!(circles(&["a.Main.run:1", "a.Bank.transfer:11"], 5000), 2);
    assert_eq!(circles(&["a.Main.run:1", "a.Bank.transfer:11"], 900), 0, "it may be over in a moment");
    assert_eq!(circles(&["a.Main.run:1", "a.Bank.other:11"], 5000), 0, "it left the method that had the lock");
    assert_eq!(circles(&["a.Main.run:2", "a.Bank.transfer:11"], 5000), 0, "it came back from another place");
    assert_eq!(circles(&["a.Main.run:1"], 5000), 0);
    let mut play = Play::default();
    let cut = play.cut_stack(&["a.Main.run:1", "a.Bank.transfer:11"], "no table");
    assert!(cells(&embrace(&mut play, cut, 5000), "deadlocks", ["tid"]).is_empty(), "the stack is not whole");
    assert!(cells(&embrace(&mut play, StackId(0), 5000), "deadlocks", ["tid"]).is_empty(), "there is no stack");
}

#[test]
fn a_holder_that_left_or_is_gone_or_runs_closes_no_circle() {
    let mut play = Play::default();
    let (cart, name) = (play.name("com/shop/Cart"), play.name("worker"));
    let stack = play.stack(&["a.Main.run:1", "a.Bank.transfer:10"]);
    let start = [
        (10, 1, stack, monitor(ENTER, 0xa, cart)),
        (10, 2, stack, monitor(ENTER, 0xb, cart)),
        (20, 1, stack, monitor(ENTERED, 0xa, cart)),
        (20, 2, stack, monitor(ENTERED, 0xb, cart)),
    ];
    let stop = Payload::Thread { edge: Edge::End, name, java_tid: 1, os_tid: 1, daemon: false };
    let waits = |tid, monitor_of| (40, tid, stack, monitor(ENTER, monitor_of, cart));
    for rest in [
        &[(30, 2, stack, monitor(EXIT, 0xb, cart)), waits(1, 0xb), waits(2, 0xa)][..],
        &[(30, 2, stack, monitor(MonitorAction::Wait { timeout_ms: 0 }, 0xb, cart)), waits(1, 0xb), waits(2, 0xa)],
        &[waits(1, 0xb)],
        // Thread 2 got its monitor, and the event of that is lost: it could not park otherwise.
        &[waits(1, 0xb), waits(2, 0xa), (50, 2, stack, Payload::ParkBegin { parker: 1, absolute: false, time: 0 })],
        &[waits(1, 0xb), (50, 2, stack, stop), waits(2, 0xa)],
    ] {
        let section = play.section_of_stacks(&mut Locks::default(), 5000, &[&start[..], rest].concat());
        assert!(cells(&section, "deadlocks", ["tid"]).is_empty(), "{rest:?}");
    }
}

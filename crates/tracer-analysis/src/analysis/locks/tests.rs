//! Closed forms of the lens `locks`.

mod circles;

use super::{
    super::testing::{MS, Play, cells, first_keys, numbers, profile_rows},
    *,
};
use crate::report::Shape;

fn monitor(action: MonitorAction, monitor: u64, class: NameId) -> Payload {
    Payload::Monitor { action, monitor, class }
}

const ENTER: MonitorAction = MonitorAction::ContendedEnter { holder: Holder::Unknown(NoHolder::NotAsked) };
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
    let timeline = section.shapes.iter().find_map(|shape| match shape {
        Shape::Timeline(timeline) if timeline.id == "blocked_time" => Some(&timeline.series[0].values),
        _ => None,
    });
    assert_eq!(
        timeline.map(|values| values.iter().sum::<f64>()),
        Some(1500.0 * MS as f64),
        "over time they stay blocked"
    );
    assert!(section.notes[1].contains("2 ends without a beginning") && section.notes[1].contains("1 beginning "));
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
    assert!(section.notes.iter().any(|note| note.starts_with("Parks: 1 end without")));
}

#[test]
fn a_stopped_thread_is_not_blocked_for_ever() {
    let mut play = Play::default();
    let (cart, name) = (play.name("com/shop/Cart"), play.name("worker"));
    let stop = Payload::Thread { edge: Edge::End, name, java_tid: 1, os_tid: 7, daemon: false };
    let events = [(1, 7, monitor(ENTER, 0xa, cart)), (5, 7, stop)];
    let section = play.section(&mut Locks::default(), 1000, &events);
    assert_eq!(numbers(&section, ["blocked_open_ns", "blocked_total_ns"]), [0, 0]);
    assert!(section.notes[0].contains("1 beginning "));
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

/// Sessions of days see more monitors than are followed: those that nobody waits for any more make room.
#[test]
fn holders_are_known_however_many_monitors_there_were() {
    let mut play = Play::default();
    let cart = play.name("com/shop/Cart");
    let events: Vec<_> = (0..20_000_u64)
        .flat_map(|number| {
            let (at, address) = (10 * number, 0x1000 + 8 * number);
            [
                (at, 7, monitor(ENTER, address, cart)),
                (at + 3, 1, monitor(EXIT, address, cart)),
                (at + 4, 7, monitor(ENTERED, address, cart)),
            ]
        })
        .collect();
    let section = play.section(&mut Locks::default(), 200_000, &events);
    assert_eq!(cells(&section, "holders", ["tid", "handovers", "blocked_ns"]), [["1", "20000", "60000000000"]]);
    assert!(!section.notes.iter().any(|note| note.contains("monitors at a time")), "{:#?}", section.notes);
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

fn held_by(tid: u32) -> MonitorAction {
    MonitorAction::ContendedEnter { holder: Holder::Thread(Tid(tid)) }
}

const LOOK: Payload = Payload::MonitorLook { blocked: 0, threads: 9 };

fn play_section(events: &[(u64, u32, StackId, Payload)]) -> Section {
    Play::default().section_of_stacks(&mut Locks::default(), 3500, events)
}

#[test]
fn a_chain_is_followed_to_the_thread_that_runs() {
    let mut play = Play::default();
    for (tid, name) in [(1, "first"), (2, "middle"), (3, "last")] {
        play.names.define_thread(Tid(tid), name.to_owned());
    }
    let (left, right) = (play.name("a/Left"), play.name("a/Right"));
    let [two, three] = [&["a.Main.right:10"], &["a.Main.left:20"]].map(|stack| play.stack(stack));
    let blocked =
        |monitor, class, holder| Payload::MonitorBlocked { monitor, class, holder: Holder::Thread(Tid(holder)) };
    let section = play.section_of_stacks(
        &mut Locks::default(),
        1000,
        &[
            (10, 2, two, monitor(held_by(1), 0xb, right)),
            (20, 3, three, monitor(held_by(2), 0xa, left)),
            (900, 2, StackId(0), blocked(0xb, right, 1)),
            (900, 3, StackId(0), blocked(0xa, left, 2)),
            (900, 42, StackId(0), LOOK),
        ],
    );
    assert_eq!(
        cells(&section, "blocked_threads", ["thread", "site", "holder", "holder_site", "chain"]),
        [
            ["middle", "a.Main.right:10", "first", "<not blocked on a monitor>", "middle \u{2192} first"],
            ["last", "a.Main.left:20", "middle", "a.Main.right:10", "last \u{2192} middle \u{2192} first"]
        ]
    );
    assert_eq!(
        cells(&section, "owners", ["holder", "class", "holder_was", "site", "count"]),
        [
            ["first", "a.Right", "not waiting", "", "1"],
            ["middle", "a.Left", "blocked on a.Right", "a.Main.right:10", "1"]
        ]
    );
}

#[test]
fn a_holder_that_is_not_known_is_counted_with_its_reason() {
    let mut play = Play::default();
    let cart = play.name("com/shop/Cart");
    let gone = MonitorAction::ContendedEnter { holder: Holder::Unknown(NoHolder::Gone) };
    let events = [(1, 7, monitor(gone, 0xa, cart)), (5, 7, monitor(ENTERED, 0xa, cart))];
    let section = play.section(&mut Locks::default(), 1000, &events);
    assert_eq!(numbers(&section, ["enters_with_holder", "contended_enters"]), [0, 1]);
    let expected = "The holder is not known at 1 contended enters: <thread gone, or only just begun> 1.";
    assert!(section.notes.iter().any(|note| note == expected), "{:?}", section.notes);
}

/// Threads that ended make room for others, and the numbers of threads stay lower bounds.
#[test]
fn pairs_that_were_not_told_apart_are_said_after_their_threads_ended() {
    let note = |threads: u32| {
        let (mut play, mut locks) = (Play::default(), Locks::default());
        let cart = play.name("com/shop/Cart");
        let event = |tid, payload| Event {
            time_ns: 0,
            tid: Tid(tid),
            site: crate::event::SiteId(0),
            stack: StackId::default(),
            payload,
        };
        for tid in 1..=threads {
            locks.event(&event(tid, monitor(ENTER, 0xa, cart)));
        }
        locks.threads_ended(&EndedThreads::of(1..=threads));
        assert!(locks.seen.is_empty(), "none of them lives");
        play.section(&mut locks, 1, &[]).notes.iter().any(|note| note.contains("Numbers of threads are lower bounds"))
    };
    let most = u32::try_from(MONITOR_THREADS).unwrap();
    assert_eq!([most, most + 1].map(note), [false, true]);
}

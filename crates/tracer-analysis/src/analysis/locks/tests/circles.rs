//! Threads that wait for each other.

use super::*;

/// Thread 1 wants a monitor of thread 2, and the other way round; neither was ever waited for before.
fn embrace(play: &mut Play) -> Vec<(u64, u32, StackId, Payload)> {
    let (left, right) = (play.name("a/Left"), play.name("a/Right"));
    let [one, two] = [&["a.Main.run:1", "a.Main.right:10"], &["a.Main.run:2", "a.Main.left:20"]].map(|s| play.stack(s));
    vec![(10, 1, one, monitor(held_by(2), 0xb, right)), (20, 2, two, monitor(held_by(1), 0xa, left))]
}

/// What a look finds while they wait.
fn look(play: &mut Play, ms: u64, holders: [u32; 2]) -> Vec<(u64, u32, StackId, Payload)> {
    let (left, right) = (play.name("a/Left"), play.name("a/Right"));
    let blocked =
        |monitor, class, holder| Payload::MonitorBlocked { monitor, class, holder: Holder::Thread(Tid(holder)) };
    vec![
        (ms, 1, StackId(0), blocked(0xb, right, holders[0])),
        (ms, 2, StackId(0), blocked(0xa, left, holders[1])),
        (ms, 42, StackId(0), LOOK),
    ]
}

#[test]
fn threads_that_wait_for_each_other_at_two_looks_are_deadlocked() {
    let mut play = Play::default();
    let events = [embrace(&mut play), look(&mut play, 1000, [2, 1]), look(&mut play, 2000, [2, 1])].concat();
    let section = play.section_of_stacks(&mut Locks::default(), 2010, &events);
    assert_eq!(
        cells(&section, "deadlocks", ["circle", "tid", "class", "site", "blocked_ns", "holder", "holder_site"]),
        [
            ["1", "1", "a.Right", "a.Main.right:10", "2000000000", "tid 2", "a.Main.left:20"],
            ["1", "2", "a.Left", "a.Main.left:20", "1990000000", "tid 1", "a.Main.right:10"]
        ]
    );
    assert_eq!(numbers(&section, ["deadlocked_threads", "enters_with_holder"]), [2, 2]);
    assert_eq!(cells(&section, "blocked_threads", ["chain"])[0], ["tid 1 \u{2192} tid 2 \u{2192} tid 1 \u{2192} ..."]);
}

#[test]
fn a_deadlock_from_before_the_first_event_is_found() {
    let mut play = Play::default();
    let events = [look(&mut play, 1, [2, 1]), look(&mut play, 1000, [2, 1])].concat();
    let section = play.section_of_stacks(&mut Locks::default(), 1010, &events);
    assert_eq!(
        cells(&section, "deadlocks", ["tid", "site", "blocked_ns"]),
        [
            ["1", "<blocked before it was watched>", "1009000000"],
            ["2", "<blocked before it was watched>", "1009000000"]
        ]
    );
}

#[test]
fn a_circle_that_did_not_last_or_is_none_is_not_claimed() {
    let mut play = Play::default();
    let right = play.name("a/Right");
    let moves = vec![(1500, 1, StackId(0), monitor(ENTERED, 0xb, right))];
    let begin = embrace(&mut play);
    let mut looked = |ms, holders| look(&mut play, ms, holders);
    for (rest, why) in [
        (vec![], "nobody looked"),
        (looked(1000, [2, 1]), "one look may see links of different moments"),
        ([looked(1000, [2, 1]), moves, looked(2000, [2, 1])].concat(), "thread 1 did something in between"),
        ([looked(1000, [2, 3]), looked(2000, [2, 1])].concat(), "the holder was another one"),
        ([looked(1000, [2, 3]), looked(2000, [2, 3])].concat(), "thread 3 runs"),
        ([looked(1000, [2, 1]), looked(2000, [2, 1]), vec![(3000, 42, StackId(0), LOOK)]].concat(), "it is over"),
    ] {
        let section = play_section(&[begin.clone(), rest].concat());
        assert!(cells(&section, "deadlocks", ["tid"]).is_empty(), "{why}");
        assert_eq!(numbers(&section, ["deadlocked_threads"]), [0], "{why}");
    }
}

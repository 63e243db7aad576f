//! Closed forms of the lens `threads`.

use super::{
    super::testing::{MS, Play, cells, first_keys, numbers, profile_rows},
    *,
};

fn thread(edge: Edge, name: NameId) -> Payload {
    Payload::Thread { edge, name, java_tid: 1, os_tid: 1, daemon: false }
}

#[test]
fn threads_are_grouped_by_the_pattern_of_their_names() {
    let mut play = Play::default();
    play.target.live_threads = Some(10);
    let mut events = Vec::new();
    for number in 0..41 {
        events.push((number, 100, thread(Edge::Begin, play.name(&format!("pool-{number}-thread-1")))));
    }
    events.push((50, 7, thread(Edge::End, play.name("main"))));
    let section = play.section(&mut Threads::default(), 1000, &events);
    assert_eq!(first_keys(&section, 3), ["started", "stopped", "alive"]);
    assert_eq!(numbers(&section, ["started", "stopped", "alive"]), [41, 1, 50]);
    assert_eq!(
        cells(&section, "patterns", ["pattern", "started", "stopped", "alive_change"]),
        [["pool-*-thread-*", "41", "0", "41"], ["main", "0", "1", "-1.0"]]
    );
}

#[test]
fn a_pool_that_has_most_of_the_threads_is_named() {
    let mut play = Play::default();
    let mut events = Vec::new();
    for number in 0..20 {
        events.push((number, 100, thread(Edge::Begin, play.name(&format!("pool-3-thread-{number}")))));
    }
    for pool in 4..10 {
        events.push((50, 100, thread(Edge::Begin, play.name(&format!("pool-{pool}-thread-1")))));
    }
    let section = play.section(&mut Threads::default(), 1000, &events);
    assert_eq!(
        cells(&section, "patterns", ["pattern", "started"]),
        [["pool-3-thread-*", "20"], ["pool-*-thread-*", "6"]]
    );
}

#[test]
fn alive_is_not_shown_where_it_is_not_known() {
    let section = Play::default().section(&mut Threads::default(), 1000, &[]);
    assert_eq!(section.number("alive"), None);
    assert!(section.notes[0].contains("not known"));
}

#[test]
fn sleep_is_paired_by_thread() {
    let sleep = |edge, interrupted| Payload::Sleep { edge, duration_ns: 0, interrupted };
    let section = Play::default().section(
        &mut Threads::default(),
        1000,
        &[
            (1, 7, sleep(Edge::End, false)),
            (2, 7, sleep(Edge::Begin, false)),
            (5, 8, sleep(Edge::Begin, false)),
            (12, 7, sleep(Edge::End, true)),
            (13, 7, Payload::Yield),
        ],
    );
    let keys = ["sleeps", "sleep_total_ns", "sleeps_interrupted", "sleeping", "yields"];
    assert_eq!(numbers(&section, keys), [2, 10 * MS, 1, 1, 1]);
    assert_eq!(cells(&section, "sleepers", ["thread", "count", "total_ns"]), [["tid 7", "1", "10000000"]]);
    assert!(section.notes.iter().any(|note| note.starts_with("Sleeps: 1 end without")));
}

#[test]
fn places_of_sleep_and_entries_of_new_threads_come_from_stacks() {
    let mut play = Play::default();
    let start = play.stack(&["libc.so.6 start_thread", "libjvm.so JavaThread::run()"]);
    let startup = play.stack(&["libc.so.6 start_thread", "libjvm.so JavaThread::run()", "libjvm.so Thing::new"]);
    let poll =
        play.stack(&["java.lang.Thread.run:840", "a.Poller.run:3", "a.Poller.pause:9", "java.lang.Thread.sleep"]);
    let sleep = |edge| Payload::Sleep { edge, duration_ns: 0, interrupted: false };
    let mut events = Vec::new();
    for number in 0..3 {
        let tid = 100 + number;
        let name = play.name(&format!("pool-1-thread-{number}"));
        events.push((1, tid, start, thread(Edge::Begin, name)));
        events.push((2, tid, startup, Payload::Yield));
        if number > 0 {
            events.push((3, tid, poll, sleep(Edge::Begin)));
            events.push((13, tid, poll, sleep(Edge::End)));
        }
    }
    let section = play.section_of_stacks(&mut Threads::default(), 1000, &events);
    assert_eq!(cells(&section, "sleep_sites", ["site", "count", "total_ns"]), [["a.Poller.pause:9", "2", "20000000"]]);
    assert_eq!(
        cells(&section, "entries", ["pattern", "entry", "started"]),
        [["pool-*-thread-*", "a.Poller.run", "2"], ["pool-*-thread-*", "<not seen in Java>", "1"]]
    );
    assert!(section.notes.iter().any(|note| note.starts_with("What new threads run")));
}

#[test]
fn without_stacks_there_are_no_entries_and_no_places() {
    let mut play = Play::default();
    let name = play.name("worker");
    let section =
        play.section(&mut Threads::default(), 1000, &[(1, 7, thread(Edge::Begin, name)), (2, 7, Payload::Yield)]);
    assert!(section.table("entries").is_none() && section.table("sleep_sites").is_none());
}

#[test]
fn starts_are_told_by_place_and_by_what_became_of_the_threads() {
    let mut play = Play::default();
    play.names.define_thread(Tid(1), "main".to_owned());
    let [make, serve, jvm] = [
        &["a.Main.main:3", "a.Pool.make:7", "java.lang.Thread.start:809", "java.lang.Thread.start0"][..],
        &["a.Main.main:4", "a.Web.serve:9", "java.lang.Thread.start:809"],
        &["libjvm.so WorkerThreads::create_worker"],
    ]
    .map(|stack| play.stack(stack));
    let none = StackId(0);
    let name = play.name("worker");
    let runs = |edge, os_tid| Payload::Thread { edge, name, java_tid: 1, os_tid, daemon: false };
    let starting = |os_tid| Payload::ThreadStarting { os_tid };
    let section = play.section_of_stacks(
        &mut Threads::default(),
        1000,
        &[
            (1, 1, make, starting(100)),
            (2, 100, none, runs(Edge::Begin, 100)),
            (3, 1, make, starting(101)),
            (4, 101, none, runs(Edge::Begin, 101)),
            (5, 101, none, runs(Edge::End, 101)),
            // The id is given again, to a thread from another place.
            (6, 1, serve, starting(101)),
            (7, 101, none, runs(Edge::Begin, 101)),
            (8, 1, jvm, starting(102)),
            (9, 103, none, runs(Edge::Begin, 103)),
        ],
    );
    assert_eq!(
        cells(&section, "started_by", ["site", "starter", "started", "alive"]),
        [["a.Pool.make:7", "main", "2", "1"], ["a.Web.serve:9", "main", "1", "1"]]
    );
    assert_eq!(numbers(&section, ["started", "started_by_known"]), [4, 3]);
    assert!(section.notes.iter().any(|note| note.contains("not known of 1 of 4 started threads")));
    assert_eq!(profile_rows(&section, "start_stacks").iter().map(|row| row.2).sum::<u64>(), 3);
}

//! Closed forms of the lens `offcpu`.

use super::{
    super::testing::{MS, Play, cells, first_keys, numbers, profile_rows},
    *,
};

fn block(blocked_ms: u64, run_queue_ms: u64, task_state: u64, syscall: u64) -> Payload {
    Payload::OffCpu { blocked_ns: blocked_ms * MS, run_queue_ns: run_queue_ms * MS, task_state, syscall }
}

fn play() -> (Play, StackId, StackId) {
    let mut play = Play::default();
    play.names.define_thread(Tid(7), "worker-7".to_owned());
    let park = play.stack(&[
        "java.lang.Thread.run:840",
        "com.shop.Worker.run:20",
        "java.util.concurrent.locks.LockSupport.park:211",
        "jdk.internal.misc.Unsafe.park",
        "libc.so.6 pthread_cond_wait",
        "kernel futex_wait",
    ]);
    let read = play.stack(&["com.shop.Main.main:3", "java.net.SocketInputStream.socketRead0", "libc.so.6 recv"]);
    (play, park, read)
}

#[test]
fn blocks_are_told_apart_by_reason_thread_and_place() {
    let (play, park, read) = play();
    let section = play.section_of_stacks(
        &mut Offcpu::default(),
        2000,
        &[
            (100, 7, park, block(40, 1, 1, 202)),
            (300, 7, park, block(60, 0, 1, 202)),
            (400, 8, park, block(10, 0, 1, 202)),
            (500, 8, read, block(300, 5, 1, 45)),
            (900, 7, read, block(2, 1, 0, u64::MAX)),
        ],
    );
    assert_eq!(first_keys(&section, 2), ["blocks", "blocked_total_ns"]);
    assert_eq!(
        numbers(&section, ["blocks", "blocked_total_ns", "run_queue_total_ns", "longest_ns"]),
        [5, 412 * MS, 8 * MS, 300 * MS]
    );
    assert_eq!(
        cells(&section, "reasons", ["reason", "blocks", "total_ns", "max_ns", "run_queue_ns"]),
        [
            ["I/O", "1", "300000000", "300000000", "5000000"],
            ["park", "3", "110000000", "60000000", "1000000"],
            ["run queue", "1", "2000000", "2000000", "2000000"]
        ]
    );
    assert_eq!(
        cells(&section, "threads", ["thread", "tid", "blocks", "total_ns", "max_ns"]),
        [["tid 8", "8", "2", "310000000", "300000000"], ["worker-7", "7", "3", "102000000", "60000000"]]
    );
    assert_eq!(
        cells(&section, "sites", ["site", "top", "reason", "blocks", "total_ns"]),
        [
            ["com.shop.Main.main:3", "java.net.SocketInputStream.socketRead0", "I/O", "1", "300000000"],
            ["com.shop.Worker.run:20", "jdk.internal.misc.Unsafe.park", "park", "3", "110000000"],
            ["com.shop.Main.main:3", "java.net.SocketInputStream.socketRead0", "run queue", "1", "2000000"]
        ]
    );
    let profile: Vec<_> = profile_rows(&section, "blocked").into_iter().map(|row| (row.1, row.2, row.3)).collect();
    let row = |thread: &str, ms: u64, count| (thread.to_owned(), ms * MS, count);
    assert_eq!(profile, [row("tid 8", 300, 1), row("worker-7", 100, 2), row("tid 8", 10, 1), row("worker-7", 2, 1)]);
}

#[test]
fn percentiles_of_a_reason_are_within_three_per_cent() {
    let (play, park, read) = play();
    let mut events: Vec<_> = (1..=1000).map(|ms| (2000, 7, park, block(ms, 0, 1, 202))).collect();
    events.push((2000, 7, read, block(77, 0, 1, 45)));
    let section = play.section_of_stacks(&mut Offcpu::default(), 2000, &events);
    let rows = cells(&section, "reasons", ["reason", "p50_ns", "p99_ns", "max_ns"]);
    let at = |column: usize| rows[0][column].parse::<u64>().expect("a number");
    assert_eq!(rows[0][0], "park");
    assert!(
        at(1).abs_diff(500 * MS) <= 500 * MS * 3 / 100 && at(2).abs_diff(990 * MS) <= 990 * MS * 3 / 100,
        "{rows:?}"
    );
    assert_eq!(at(3), 1000 * MS);
    assert!(rows[1][1].parse::<u64>().expect("a number").abs_diff(77 * MS) <= MS, "{rows:?}");
}

/// In hours a stack fills hundreds of classes: half of the growth of a session was theirs.
#[test]
fn durations_of_a_round_are_put_down_by_reason_and_take_no_more_room() {
    let (play, park, read) = play();
    let events: Vec<_> =
        (1..=1000).map(|ms| (2000, 7, if ms % 3 == 0 { read } else { park }, block(ms, 0, 1, 45))).collect();
    let told = |rounds: usize| {
        let mut offcpu = Offcpu::default();
        let mut sections = events.chunks(1000 / rounds).map(|some| {
            let section = play.section_of_stacks(&mut offcpu, 2000, some);
            offcpu.round_ends(&play.stacks);
            assert_eq!(offcpu.classes.iter().count(), 0);
            cells(&section, "reasons", ["reason", "blocks", "p50_ns", "p99_ns", "max_ns"])
        });
        sections.by_ref().last().expect("a section")
    };
    for (at_once, little_by_little) in told(1).iter().zip(told(10)) {
        let [one, other] = [at_once, &little_by_little].map(|row| [&row[..2], &row[4..]].concat());
        assert_eq!(one, other);
        for column in [2, 3] {
            let [one, other] = [at_once, &little_by_little].map(|row| row[column].parse::<u64>().expect("a number"));
            assert!(one.abs_diff(other) <= one * 3 / 100, "{at_once:?} {little_by_little:?}");
        }
    }
    // Nobody has told what this one is.
    let mut offcpu = Offcpu::default();
    play.section_of_stacks(&mut offcpu, 2000, &[(2000, 7, StackId(1 << 40), block(1, 0, 1, 45))]);
    offcpu.round_ends(&play.stacks);
    assert_eq!(offcpu.classes.iter().count(), 1);
}

#[test]
fn classes_of_durations_rise_and_are_narrow() {
    let mut last = class(0);
    for ns in (0..20_000).chain((15..64).flat_map(|bit| [(1 << bit) - 1, 1 << bit, (1 << bit) + (1 << (bit - 4))])) {
        assert!(class(ns) >= last, "{ns}");
        last = class(ns);
    }
    assert_ne!(class(1000), class(1040));
    assert!(class(u64::MAX) < u16::MAX);
}

#[test]
fn the_timeline_holds_the_time_and_not_only_its_end() {
    let (play, park, _) = play();
    let section = play.section_of_stacks(&mut Offcpu::default(), 2000, &[(1500, 7, park, block(1000, 0, 1, 202))]);
    let Some(Shape::Timeline(timeline)) = section.shapes.iter().find(|shape| matches!(shape, Shape::Timeline(_)))
    else {
        panic!("no timeline")
    };
    let park = timeline.series.iter().find(|series| series.key == "park_ns").expect("a reason");
    assert_eq!(park.values, [5e8, 5e8]);
}

#[test]
fn blocks_without_a_stack_have_a_reason_and_no_profile() {
    let events = [(100, 7, block(40, 0, 1, 232)), (200, 7, block(u64::MAX / MS, u64::MAX / MS, 1, 202))];
    let section = Play::default().section(&mut Offcpu::default(), 1000, &events);
    assert_eq!(cells(&section, "reasons", ["reason", "blocks"]), [["other", "1"], ["I/O", "1"]]);
    assert_eq!(cells(&section, "sites", ["site"]), [["<no stack taken>"], ["<no stack taken>"]]);
    assert!(!section.shapes.iter().any(|shape| matches!(shape, Shape::Profile(_))));
}

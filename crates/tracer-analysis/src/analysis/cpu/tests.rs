//! Closed forms of the lens `cpu`.

use super::{
    super::testing::{Play, cells, first_keys, numbers, profile_rows},
    *,
};

const SAMPLE: Payload = Payload::CpuSample { period_ns: 10_101_010 };

/// A worker in Java, in the VM and in the kernel, a collector and a compiler; stacks: 16 to 20.
fn mixed() -> (Play, Vec<(u64, u32, StackId, Payload)>) {
    let mut play = Play::default();
    for (tid, name) in [(7, "worker-7"), (8, "GC Thread#0"), (9, "C2 CompilerThre")] {
        play.names.define_thread(Tid(tid), name.to_owned());
    }
    let java =
        play.stack(&["libc.so.6 start_thread", "interpreted a.Main.main:1", "a.Cart.add:2", "inlined a.Cart.sum:3"]);
    let vm = play.stack(&["libc.so.6 start_thread", "interpreted a.Main.main:1", "libjvm.so JVM_Clone"]);
    let kernel = play.cut_stack(&["a.Cart.add:2", "libc.so.6 read", "kernel vfs_read"], "no table");
    let gc = play.stack(&["libc.so.6 start_thread", "libjvm.so G1::evacuate"]);
    let jit = play.stack(&["libc.so.6 start_thread", "unknown <no symbol>", "libjvm.so Compile::Optimize"]);
    let mut events = vec![(10, 7, java, SAMPLE); 5];
    events.extend([(1500, 7, vm, SAMPLE), (1500, 7, kernel, SAMPLE), (1600, 8, gc, SAMPLE), (1700, 9, jit, SAMPLE)]);
    events.push((1800, 8, StackId(1), SAMPLE));
    (play, events)
}

#[test]
fn samples_are_counted_by_state_thread_and_code() {
    let (play, events) = mixed();
    let section = play.section_of_stacks(&mut Cpu::default(), 2000, &events);
    assert_eq!(first_keys(&section, 5), ["samples", "stacks", "java_samples", "unwound_to_root", "unknown_frames"]);
    assert_eq!(
        numbers(&section, ["samples", "stacks", "java_samples", "unwound_to_root", "unknown_frames", "frames"]),
        [10, 5, 7, 6, 1, 5 * 4 + 3 + 3 + 2 + 3]
    );
    assert_eq!(
        numbers(
            &section,
            [
                "java_threads_samples",
                "java_threads_to_root",
                "gc_threads_samples",
                "jit_threads_samples",
                "without_stack"
            ]
        ),
        [7, 6, 2, 1, 1]
    );
    assert_eq!(numbers(&section, ["sampled_ns"]), [101_010_100]);
    assert_eq!(
        cells(&section, "states", ["state", "samples", "share_percent"]),
        [
            ["Java", "5", "50.0"],
            ["GC", "2", "20.0"],
            ["JIT", "1", "10.0"],
            ["VM", "1", "10.0"],
            ["kernel", "1", "10.0"]
        ]
    );
    assert_eq!(
        cells(&section, "threads", ["thread", "tid", "role", "samples", "share_percent"]),
        [
            ["worker-7", "7", "Java", "7", "70.0"],
            ["GC Thread#0", "8", "GC", "2", "20.0"],
            ["C2 CompilerThre", "9", "JIT", "1", "10.0"]
        ]
    );
    assert_eq!(cells(&section, "code", ["code", "samples"]), [["inlined", "5"]]);
    assert_eq!(cells(&section, "ends", ["reason", "samples"]), [["<no room to unwind>", "1"], ["no table", "1"]]);
    assert!(section.notes[0].contains("10 ms of a CPU's time (99 Hz)"), "{:?}", section.notes);
}

#[test]
fn methods_have_what_is_their_own_and_what_they_call() {
    let (play, events) = mixed();
    let section = play.section_of_stacks(&mut Cpu::default(), 2000, &events);
    let methods = cells(&section, "methods", ["method", "self", "self_percent", "total", "total_percent", "java_self"]);
    assert_eq!(methods[0], ["a.Cart.sum", "5", "50.0", "5", "50.0", "5"]);
    let row = |name: &str| methods.iter().find(|row| row[0] == name).unwrap_or_else(|| panic!("no {name}"));
    assert_eq!(row("a.Cart.add")[1..], ["0", "0.0", "6", "60.0", "1"]);
    assert_eq!(row("a.Main.main")[1..], ["0", "0.0", "6", "60.0", "1"]);
    assert_eq!(row("kernel!vfs_read")[1..], ["1", "10.0", "1", "10.0", "-"]);
    let own: u64 = methods.iter().map(|row| row[1].parse::<u64>().expect("a count")).sum();
    assert_eq!(own, 9, "every sample with a stack is one method's own");
}

#[test]
fn the_profile_counts_samples_and_says_where_stacks_are_cut() {
    let (play, events) = mixed();
    let section = play.section_of_stacks(&mut Cpu::default(), 2000, &events);
    let rows = profile_rows(&section, "samples");
    let first =
        ("libc.so.6!start_thread;a.Main.main:1;a.Cart.add:2;a.Cart.sum:3".to_owned(), "worker-7".to_owned(), 5, 5);
    assert_eq!(rows[0], first);
    assert_eq!(rows.iter().map(|row| row.2).sum::<u64>(), 10);
    assert!(rows.iter().any(|row| row.0 == "<no room to unwind>" && row.1 == "GC Thread#0"));
}

#[test]
fn the_timeline_tells_states_apart() {
    let (play, events) = mixed();
    let section = play.section_of_stacks(&mut Cpu::default(), 2000, &events);
    let Some(Shape::Timeline(timeline)) = section.shapes.iter().find(|shape| matches!(shape, Shape::Timeline(_)))
    else {
        panic!("no timeline")
    };
    let series = |key: &str| &timeline.series.iter().find(|series| series.key == key).expect("a state").values;
    assert_eq!((series("java"), series("gc")), (&vec![5.0, 0.0], &vec![0.0, 2.0]));
    assert_eq!(series("vm"), &vec![0.0, 1.0]);
}

#[test]
fn without_samples_nothing_is_claimed() {
    let section = Play::default().section(&mut Cpu::default(), 1000, &[]);
    assert_eq!(numbers(&section, ["samples", "java_samples", "sampled_ns"]), [0, 0, 0]);
    assert!(section.notes.is_empty() && section.shapes.iter().all(Shape::is_empty));
}

#[test]
fn periods_that_cannot_be_do_no_harm() {
    let events = [(1, 7, Payload::CpuSample { period_ns: u64::MAX }), (2, 7, Payload::CpuSample { period_ns: 0 })];
    let section = Play::default().section(&mut Cpu::default(), 1000, &events);
    assert_eq!(numbers(&section, ["samples", "sampled_ns", "without_stack"]), [2, u64::MAX, 2]);
}

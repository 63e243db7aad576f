//! Closed forms of the lens `gc`: sequences of events as each collector gives them, and what they must count to.

use super::{
    super::testing::{MS, Play, cells, first_keys, is_close, numbers, shape_ids},
    *,
};
use crate::event::{PauseStep, StackId};

fn begin(full: bool, cause: NameId, last_cause: NameId) -> Payload {
    Payload::GcBegin { full, step: PauseStep::Unsaid, cause, last_cause }
}

fn end(cause: NameId, last_cause: NameId) -> Payload {
    Payload::GcEnd { cause, last_cause }
}

fn operation(edge: Edge, name: NameId) -> Payload {
    Payload::VmOperation { edge, name, mode: 0 }
}

#[test]
fn pauses_causes_and_share_are_exact() {
    let mut play = Play::default();
    let (none, system, failure) = (play.name("No GC"), play.name("System.gc()"), play.name("Allocation Failure"));
    let (full, young) = (play.name("G1CollectFull"), play.name("G1CollectForAllocation"));
    let section = play.section(
        &mut Gc::default(),
        1000,
        &[
            (10, 5, operation(Edge::Begin, full)),
            (10, 5, begin(true, none, none)),
            (50, 5, end(system, none)),
            (51, 5, operation(Edge::End, full)),
            (100, 5, operation(Edge::Begin, young)),
            (100, 5, begin(false, failure, system)),
            (110, 5, end(none, failure)),
            (110, 5, operation(Edge::End, young)),
            (200, 5, begin(true, none, none)),
            (250, 5, end(none, system)),
        ],
    );
    assert_eq!(
        first_keys(&section, 6),
        ["collections", "full_collections", "pause_total_ns", "pause_max_ns", "pause_p99_ns", "pauses"]
    );
    assert_eq!(
        numbers(&section, ["collections", "full_collections", "pause_total_ns", "pause_max_ns", "pause_p99_ns"]),
        [3, 2, 100 * MS, 50 * MS, 50 * MS]
    );
    assert!(is_close(&section, "pause_share_percent", 10.0));
    assert_eq!(
        cells(&section, "causes", ["cause", "kind", "operation", "count", "total_ns", "max_ns"]),
        [
            ["System.gc()", "full", "-", "1", "50000000", "50000000"],
            ["System.gc()", "full", "G1CollectFull", "1", "40000000", "40000000"],
            ["Allocation Failure", "young", "G1CollectForAllocation", "1", "10000000", "10000000"],
        ]
    );
    assert_eq!(shape_ids(&section), ["causes", "pauses", "pause", "pause_counts", "pools"]);
    assert!(section.notes.is_empty(), "{:?}", section.notes);
}

#[test]
fn inner_collections_count_but_their_time_counts_once() {
    let mut play = Play::default();
    let cause = play.name("Allocation Failure");
    let section = play.section(
        &mut Gc::default(),
        1000,
        &[
            (0, 5, begin(false, cause, cause)),
            (10, 5, begin(true, cause, cause)),
            (30, 5, end(cause, cause)),
            (40, 5, end(cause, cause)),
        ],
    );
    assert_eq!(
        numbers(&section, ["collections", "full_collections", "pause_total_ns", "pause_max_ns"]),
        [2, 1, 40 * MS, 40 * MS]
    );
    assert_eq!(
        cells(&section, "causes", ["kind", "count", "total_ns"]),
        [["other", "1", "40000000"], ["full, inside another", "1", "20000000"]]
    );
}

#[test]
fn unpaired_edges_are_counted_and_never_guessed() {
    let mut play = Play::default();
    let (cause, name) = (play.name("Allocation Failure"), play.name("G1CollectForAllocation"));
    let section = play.section(
        &mut Gc::default(),
        1000,
        &[
            (5, 5, end(cause, cause)),
            (6, 5, operation(Edge::End, name)),
            (10, 5, operation(Edge::Begin, name)),
            (10, 5, begin(false, cause, cause)),
            // Its end is lost.
            (20, 5, operation(Edge::End, name)),
            (30, 5, begin(false, cause, cause)),
            (32, 5, end(cause, cause)),
            (900, 5, begin(true, cause, cause)),
        ],
    );
    assert_eq!(
        numbers(&section, ["collections", "full_collections", "pause_total_ns"]),
        [1, 0, 2 * MS],
        "the lost end does not make the next collection an inner one"
    );
    assert!(section.notes[0].contains("1 end without a beginning") && section.notes[0].contains("1 beginning "));
    assert!(section.notes[1].contains("not counted: 1 pause."));
}

#[test]
fn pools_keep_the_last_state_and_add_up_what_was_freed() {
    let mut play = Play::default();
    let (manager, old, eden) = (play.name("G1 Young Generation"), play.name("G1 Old Gen"), play.name("G1 Eden"));
    let pool = |edge, pool, used_bytes, max_bytes| Payload::MemPool {
        edge,
        manager,
        pool,
        init_bytes: 0,
        used_bytes,
        committed_bytes: 1000,
        max_bytes,
    };
    let section = play.section(
        &mut Gc::default(),
        1000,
        &[
            (0, 5, pool(Edge::End, eden, 1, u64::MAX)),
            (1, 5, pool(Edge::Begin, eden, 500, u64::MAX)),
            (2, 5, pool(Edge::End, eden, 20, u64::MAX)),
            (3, 5, pool(Edge::Begin, eden, 600, u64::MAX)),
            (4, 5, pool(Edge::End, eden, 10, u64::MAX)),
            (4, 5, pool(Edge::Begin, old, 100, 2000)),
            (4, 5, pool(Edge::End, old, 150, 2000)),
        ],
    );
    let keys = ["pool", "collections", "used_before_bytes", "used_after_bytes", "max_bytes", "freed_bytes"];
    assert_eq!(
        cells(&section, "pools", keys),
        [["G1 Eden", "3", "600", "10", "-", "1070"], ["G1 Old Gen", "1", "100", "150", "2000", "0"]]
    );
}

#[test]
fn nothing_seen_is_zero() {
    let section = Play::default().section(&mut Gc::default(), 1000, &[]);
    assert_eq!(numbers(&section, ["collections", "pause_p99_ns"]), [0; 2]);
    assert!(is_close(&section, "pause_share_percent", 0.0));
}

/// A pause of 1 ms inside a VM operation.
fn pause(events: &mut Vec<(u64, u32, Payload)>, ms: u64, name: NameId, cause: NameId) {
    events.extend([
        (ms, 5, operation(Edge::Begin, name)),
        (ms, 5, begin(false, cause, cause)),
        (ms + 1, 5, end(cause, cause)),
        (ms + 1, 5, operation(Edge::End, name)),
    ]);
}

fn pool(edge: Edge, manager: NameId, pool: NameId) -> Payload {
    Payload::MemPool { edge, manager, pool, init_bytes: 0, used_bytes: 10, committed_bytes: 20, max_bytes: 30 }
}

const COUNTS: [&str; 4] = ["collections", "full_collections", "pauses", "pause_total_ns"];

#[test]
fn an_explicit_collection_of_generational_zgc_is_one_in_eight_pauses() {
    let mut play = Play::default();
    let (manager, heap, code) = (play.name("ZGC Major Cycles"), play.name("ZHeap"), play.name("CodeCache"));
    let cause = play.name("System.gc()");
    let steps = [
        "ZMarkStartYoung",
        "ZMarkEndYoung",
        "ZRelocateStartYoung",
        "ZMarkStartYoungAndOld",
        "ZMarkEndYoung",
        "ZRelocateStartYoung",
        "ZMarkEndOld",
        "ZRelocateStartOld",
    ]
    .map(|name| play.name(name));
    let mut events = Vec::new();
    for cycle in 0..7 {
        let ms = 100 * cycle;
        events.extend([(ms, 9, pool(Edge::Begin, manager, heap)), (ms, 9, pool(Edge::Begin, manager, code))]);
        for (at, step) in (ms + 1..).step_by(2).zip(steps) {
            pause(&mut events, at, step, cause);
        }
        events.extend([(ms + 90, 9, pool(Edge::End, manager, heap)), (ms + 90, 9, pool(Edge::End, manager, code))]);
    }
    let section = play.section(&mut Gc::default(), 1000, &events);
    assert_eq!(numbers(&section, COUNTS), [7, 0, 56, 56 * MS]);
    let rows = cells(&section, "causes", ["kind", "count", "collections"]);
    assert!(rows.contains(&["mark start, young".to_owned(), "7".to_owned(), "7".to_owned()]), "{rows:?}");
    assert!(rows.contains(&["mark end, young".to_owned(), "14".to_owned(), "0".to_owned()]), "{rows:?}");
}

#[test]
fn a_minor_cycle_inside_a_major_one_is_counted() {
    let mut play = Play::default();
    let (major, minor, heap) = (play.name("ZGC Major Cycles"), play.name("ZGC Minor Cycles"), play.name("ZHeap"));
    let (warmup, rate) = (play.name("Warmup"), play.name("Allocation Rate"));
    let [both, young, old] = ["ZMarkStartYoungAndOld", "ZMarkStartYoung", "ZMarkEndOld"].map(|name| play.name(name));
    let mut events = vec![(0, 9, pool(Edge::Begin, major, heap))];
    pause(&mut events, 1, both, warmup);
    // The minor cycle's manager speaks before an older pause has ended: that one opens it, and only that one.
    events.push((5, 8, pool(Edge::Begin, minor, heap)));
    pause(&mut events, 6, old, warmup);
    pause(&mut events, 8, young, rate);
    events.extend([(20, 8, pool(Edge::End, minor, heap)), (30, 9, pool(Edge::End, major, heap))]);
    let section = play.section(&mut Gc::default(), 1000, &events);
    assert_eq!(numbers(&section, COUNTS), [2, 0, 3, 3 * MS]);
}

#[test]
fn zgc_of_11_tells_its_pools_inside_the_first_pause() {
    let mut play = Play::default();
    let (manager, heap, code) = (play.name("ZGC"), play.name("ZHeap"), play.name("CodeCache"));
    let (cause, step) = (play.name("System.gc()"), play.name("ZOperation"));
    let mut events = Vec::new();
    for cycle in 0..7 {
        let ms = 100 * cycle;
        events.extend([
            (ms, 5, operation(Edge::Begin, step)),
            (ms, 5, begin(false, cause, cause)),
            (ms, 5, pool(Edge::Begin, manager, heap)),
            (ms, 5, pool(Edge::Begin, manager, code)),
            (ms + 1, 5, end(cause, cause)),
            (ms + 1, 5, operation(Edge::End, step)),
        ]);
        pause(&mut events, ms + 10, step, cause);
        pause(&mut events, ms + 20, step, cause);
    }
    let section = play.section(&mut Gc::default(), 1000, &events);
    assert_eq!(numbers(&section, COUNTS), [7, 0, 21, 21 * MS]);
    assert_eq!(cells(&section, "causes", ["kind", "count", "collections"]), [["step of a cycle", "21", "7"]]);
}

#[test]
fn degenerated_and_full_collections_of_shenandoah_count_by_pause() {
    let mut play = Play::default();
    let (manager, heap) = (play.name("Shenandoah Cycles"), play.name("Shenandoah"));
    let (concurrent, failure) = (play.name("Concurrent GC"), play.name("Allocation Failure"));
    let [init, last, degenerated, full] = [
        "Shenandoah Init Marking",
        "Shenandoah Final Mark and Start Evacuation",
        "Shenandoah Degenerated GC",
        "Shenandoah Full GC",
    ]
    .map(|name| play.name(name));
    let mut events = Vec::new();
    let cycle = |ms, events: &mut Vec<_>| events.push((ms, 9, pool(Edge::Begin, manager, heap)));
    cycle(0, &mut events);
    pause(&mut events, 1, init, concurrent);
    pause(&mut events, 3, last, concurrent);
    cycle(10, &mut events);
    pause(&mut events, 11, degenerated, failure);
    cycle(20, &mut events);
    events.extend([
        (21, 5, operation(Edge::Begin, full)),
        (21, 5, begin(true, failure, failure)),
        (22, 5, end(failure, failure)),
        (22, 5, operation(Edge::End, full)),
    ]);
    let section = play.section(&mut Gc::default(), 1000, &events);
    assert_eq!(numbers(&section, COUNTS), [3, 1, 4, 4 * MS]);
}

#[test]
fn pauses_of_concurrent_marking_are_no_collections_and_have_no_cause_of_their_own() {
    let mut play = Play::default();
    let (none, system) = (play.name("No GC"), play.name("System.gc()"));
    let [start, remark, cleanup, both] =
        ["G1TryInitiateConcMark", "G1PauseRemark", "G1PauseCleanup", "CGC_Operation"].map(|name| play.name(name));
    let mut events = Vec::new();
    pause(&mut events, 0, start, system);
    for (ms, name) in [(10, remark), (20, cleanup), (30, both)] {
        events.extend([
            (ms, 5, operation(Edge::Begin, name)),
            (ms, 5, begin(false, none, system)),
            (ms + 1, 5, end(none, system)),
            (ms + 1, 5, operation(Edge::End, name)),
        ]);
    }
    let section = play.section(&mut Gc::default(), 1000, &events);
    assert_eq!(numbers(&section, COUNTS), [1, 0, 4, 4 * MS]);
    assert_eq!(
        cells(&section, "causes", ["cause", "kind", "collections"]),
        [
            ["System.gc()", "young, concurrent start", "1"],
            ["concurrent cycle", "cleanup", "0"],
            ["concurrent cycle", "remark", "0"],
            ["concurrent cycle", "remark or cleanup", "0"],
        ]
    );
}

#[test]
fn who_asked_for_a_collection_is_known_by_its_request() {
    let mut play = Play::default();
    let (collect, dump) = (play.name("G1CollectFull"), play.name("ThreadDump"));
    let (system_gc, none) = (play.name("System.gc()"), play.name("No GC"));
    let stack = play.stack(&["a.Main.tidy:7", "java.lang.System.gc:1", "java.lang.Runtime.gc", "libjvm.so JVM_GC"]);
    let section = play.section_of_stacks(
        &mut Gc::default(),
        1000,
        &[
            (0, 9, stack, Payload::VmOperationRequest { name: collect, mode: 0 }),
            (0, 9, stack, Payload::VmOperationRequest { name: dump, mode: 0 }),
            (1, 5, StackId(0), Payload::VmOperation { edge: Edge::Begin, name: collect, mode: 0 }),
            (
                1,
                5,
                StackId(0),
                Payload::GcBegin { full: true, step: PauseStep::Unsaid, cause: system_gc, last_cause: none },
            ),
            (9, 5, StackId(0), Payload::GcEnd { cause: none, last_cause: system_gc }),
            (9, 5, StackId(0), Payload::VmOperation { edge: Edge::End, name: collect, mode: 0 }),
        ],
    );
    assert_eq!(
        cells(&section, "requests", ["operation", "site", "top", "tid", "count"]),
        [["G1CollectFull", "a.Main.tidy:7", "java.lang.Runtime.gc", "9", "1"]],
        "an operation without a collection is not the collector's"
    );
}

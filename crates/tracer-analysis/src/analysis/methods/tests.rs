//! Closed forms of calls, and what is added up from events and tallies.

use super::{
    super::testing::{Play, cells, first_keys, numbers, profile_rows, shape_ids},
    *,
};
use crate::tally::{ContextTallies, ContextTally, Tally};

const SP: u64 = 1 << 40;

/// Events of threads that call and return.
#[derive(Default)]
struct Script {
    events: Vec<(u64, u32, StackId, Payload)>,
    ms: u64,
}

impl Script {
    fn push(&mut self, tid: u32, stack: StackId, payload: Payload) {
        self.ms += 1;
        self.events.push((self.ms, tid, stack, payload));
    }

    fn enter(&mut self, tid: u32, stack: StackId, method: SubjectId, depth: u64) {
        self.push(tid, stack, Payload::Method { edge: Edge::Begin, method, sp: SP - 100 * depth, wanted: true });
    }

    fn leave(&mut self, tid: u32, method: SubjectId, depth: u64) {
        let payload = Payload::Method { edge: Edge::End, method, sp: SP - 100 * depth, wanted: true };
        self.push(tid, StackId::default(), payload);
    }

    fn fib(&mut self, tid: u32, method: SubjectId, n: u64, depth: u64) {
        self.enter(tid, StackId::default(), method, depth);
        if n > 1 {
            self.fib(tid, method, n - 1, depth + 1);
            self.fib(tid, method, n - 2, depth + 1);
        }
        self.leave(tid, method, depth);
    }
}

fn section(play: &Play, methods: &mut Methods, script: &Script) -> Section {
    play.section_of_stacks(methods, script.ms, &script.events)
}

#[test]
fn fib_has_as_many_calls_as_its_formula_says() {
    let mut play = Play::default();
    let fib = play.method("com.shop.Fib", "fib", "(I)J");
    let mut script = Script::default();
    for tid in [7, 8] {
        script.fib(tid, fib, 15, 0);
    }
    let section = section(&play, &mut Methods::default(), &script);
    // 2 F(16) - 1 on each thread.
    assert_eq!(first_keys(&section, 9), ["calls", "errors", "methods"]);
    assert_eq!(numbers(&section, ["calls", "errors", "methods"]), [2 * 1973, 0, 1]);
    assert_eq!(
        cells(&section, "threads", ["thread", "tid", "calls", "errors"]),
        [["tid 7", "7", "1973", "0"], ["tid 8", "8", "1973", "0"]]
    );
    assert_eq!(shape_ids(&section), ["methods", "threads", "thread_methods", "slowest", "call_times"]);
    assert!(section.notes.is_empty(), "{:?}", section.notes);
}

#[test]
fn a_row_has_its_own_time_and_percentiles_to_two_digits() {
    let mut play = Play::default();
    let (outer, inner) = (play.method("a.B", "outer", "()V"), play.method("a.B", "inner", "()V"));
    let stack = play.stack(&["a.Main.main:3", "a.B.outer:7"]);
    let mut script = Script::default();
    script.enter(7, stack, outer, 0);
    for _ in 0..3 {
        script.enter(7, StackId::default(), inner, 1);
        script.leave(7, inner, 1);
    }
    script.leave(7, outer, 0);
    let section = section(&play, &mut Methods::default(), &script);
    let keys = ["class", "method", "signature", "calls", "errors", "total_ns", "self_ns", "p50_ns", "p99_ns", "max_ns"];
    let rows = cells(&section, "methods", keys);
    let inner: Vec<&str> = rows[1].iter().map(String::as_str).collect();
    assert_eq!(rows[0][..7], ["a.B", "outer", "()V", "1", "0", "7000000", "4000000"]);
    assert_eq!(inner[..7], ["a.B", "inner", "()V", "3", "0", "3000000", "3000000"]);
    for percentile in &inner[7..] {
        assert!(percentile.parse::<u64>().unwrap().abs_diff(1_000_000) <= 10_000, "{percentile}");
    }
    assert_eq!(
        cells(&section, "slowest", ["method", "duration_ns", "start_ns", "outcome", "stack"])[0],
        ["outer", "7000000", "1000000", "returned", "a.B.outer:7 < a.Main.main:3"]
    );
    let rows = profile_rows(&section, "call_stacks");
    assert_eq!(rows, [("a.Main.main:3;a.B.outer:7".to_owned(), "tid 7".to_owned(), 4_000_000, 1)]);
}

#[test]
fn exceptions_are_errors_whether_the_method_said_so_or_not() {
    let mut play = Play::default();
    let (caller, thrower) = (play.method("a.B", "caller", "()V"), play.method("a.B", "thrower", "()V"));
    let mut script = Script::default();
    let none = StackId::default();
    script.enter(7, none, caller, 0);
    // Code of C2: it returns, and then an exception has left it.
    script.enter(7, none, thrower, 1);
    script.leave(7, thrower, 1);
    script.push(7, none, Payload::FrameUnwound { sp: SP - 60 });
    // Two that C1 has inlined, one into the other, and whose exception is seen.
    script.enter(7, none, thrower, 1);
    script.enter(7, none, thrower, 1);
    script.push(7, none, Payload::FrameUnwound { sp: SP - 60 });
    script.leave(7, caller, 0);
    let section = section(&play, &mut Methods::default(), &script);
    assert_eq!(numbers(&section, ["calls", "errors", "methods"]), [4, 3, 2]);
    assert_eq!(
        cells(&section, "methods", ["method", "calls", "errors"]),
        [["caller", "1", "0"], ["thrower", "3", "3"]]
    );
    let outcomes = cells(&section, "slowest", ["method", "outcome"]);
    assert_eq!(
        outcomes,
        [["caller", "returned"], ["thrower", "exception"], ["thrower", "exception"], ["thrower", "exception"]]
    );
    assert!(section.notes.iter().any(|note| note.starts_with("2 calls ended without a return")), "{:?}", section.notes);
}

#[test]
fn tallies_and_events_are_added_and_each_reading_replaces_the_one_before() {
    let mut play = Play::default();
    let method = play.method("a.B", "m", "()V");
    let mut methods = Methods::default();
    let bucket = u16::try_from(tracer_common::tally::bucket(1_000_000)).unwrap();
    for count in [4_u64, 9] {
        let tally = Tally {
            subject: method.0,
            count,
            timed: count,
            errors: 1,
            total_ns: 1_000_000 * count,
            self_ns: 1_000_000 * count,
            buckets: vec![(bucket, count)],
            ..Tally::default()
        };
        methods.tallies(&Tallies { methods: vec![tally], ..Tallies::default() });
    }
    let mut script = Script::default();
    script.enter(7, StackId::default(), method, 0);
    script.leave(7, method, 0);
    let section = section(&play, &mut methods, &script);
    assert_eq!(numbers(&section, ["calls", "errors", "methods"]), [10, 1, 1]);
    let row = cells(&section, "methods", ["calls", "total_ns", "p50_ns", "max_ns"]).swap_remove(0);
    assert_eq!(row[..2], ["10", "10000000"]);
    for value in &row[2..] {
        assert!(value.parse::<u64>().unwrap().abs_diff(1_000_000) <= 1_000_000 / 16, "{value}");
    }
    assert!(section.notes.iter().any(|note| note.contains("within 1/16") && note.contains("--by-thread")));
}

#[test]
fn what_the_kernel_counted_by_thread_is_in_the_tables_of_threads() {
    let mut play = Play::default();
    let method = play.method("a.B", "m", "()V");
    let mut methods = Methods::default();
    let of_thread = |tid, count| ContextTally {
        id: u64::from(tid),
        subject: method.0,
        tid,
        count,
        errors: 1,
        total_ns: 10 * count,
        self_ns: 8 * count,
        largest: 12,
        ..ContextTally::default()
    };
    let tally =
        Tally { subject: method.0, count: 7, timed: 7, errors: 2, total_ns: 70, self_ns: 56, ..Tally::default() };
    let contexts = ContextTallies { calls: vec![of_thread(7, 4), of_thread(8, 3)], objects: Vec::new() };
    methods.tallies(&Tallies { methods: vec![tally.clone()], contexts: Some(contexts), ..Tallies::default() });
    // A reading without contexts leaves the latest.
    methods.tallies(&Tallies { methods: vec![tally], ..Tallies::default() });
    let section = section(&play, &mut methods, &Script::default());
    let keys = ["tid", "calls", "errors", "total_ns", "max_ns"];
    let rows = [["7", "4", "1", "40", "12"], ["8", "3", "1", "30", "12"]];
    assert_eq!(cells(&section, "threads", keys), rows);
    assert_eq!(cells(&section, "thread_methods", keys), rows);
}

#[test]
fn a_method_without_any_duration_has_none() {
    let mut play = Play::default();
    let method = play.method("a.B", "m", "()V");
    let mut script = Script::default();
    script.enter(7, StackId::default(), method, 0);
    script.leave(7, SubjectId::UNKNOWN, 9);
    let section = section(&play, &mut Methods::default(), &script);
    assert_eq!(
        cells(&section, "methods", ["method", "calls", "total_ns", "p50_ns", "max_ns"]),
        [["m", "1", "-", "-", "-"]]
    );
    assert!(section.notes[0].starts_with("1 returns without a call"), "{:?}", section.notes);
}

#[test]
fn the_log_keeps_the_slowest_and_among_equals_the_earliest() {
    let mut play = Play::default();
    let method = play.method("a.B", "m", "()V");
    let mut script = Script::default();
    for round in 0..200_u64 {
        script.enter(7, StackId::default(), method, 0);
        script.ms += u64::from(round % 100 == 99) * 50;
        script.leave(7, method, 0);
    }
    let section = section(&play, &mut Methods::default(), &script);
    let rows = cells(&section, "slowest", ["duration_ns", "start_ns"]);
    assert_eq!(rows.len(), 50);
    assert_eq!((rows[0][0].as_str(), rows[1][0].as_str(), rows[2][0].as_str()), ("51000000", "51000000", "1000000"));
    assert_eq!(rows[2][1], "1000000");
}

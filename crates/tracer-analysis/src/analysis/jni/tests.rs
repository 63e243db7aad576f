//! Sums by hand, from events, from what the kernel counted, and from both.

use super::{
    super::testing::{MS, Play, cells, first_keys, numbers, profile_rows, shape_ids},
    *,
};
use crate::tally::jni::OpenSection;

fn function(name: &str) -> Function {
    Function::named(name).unwrap_or_else(|| panic!("no function {name}"))
}

fn call(name: &str, caller: NameId, total_ns: u64, inner_ns: u64) -> Payload {
    Payload::JniCall { function: function(name), caller, total_ns: Some(total_ns), inner_ns, depth: 1, wanted: true }
}

fn critical(caller: NameId, lasted_ns: u64) -> Payload {
    let function = function("GetPrimitiveArrayCritical");
    Payload::JniSection { function, caller, lasted_ns, wanted: true }
}

fn tally(name: &str, caller: NameId, tid: u32, count: u64, total_ns: u64, longest_ns: u64) -> JniTally {
    let function = function(name);
    JniTally { tid: Tid(tid), function, caller, count, timed: count, total_ns, self_ns: total_ns, longest_ns }
}

#[test]
fn calls_are_added_up_by_function_caller_and_thread() {
    let mut play = Play::default();
    let (add, run) = (play.name("com.shop.Cart.add"), play.name("libshop.so!run"));
    let events = [
        (1, 7, call("GetArrayLength", add, 100, 0)),
        (2, 7, call("GetArrayLength", run, 300, 0)),
        (3, 8, call("CallVoidMethod", add, 5000, 400)),
    ];
    let section = play.section(&mut Jni::default(), 10, &events);
    assert_eq!(first_keys(&section, 2), ["calls", "total_ns"]);
    // Nested calls are part of the one around them: every moment counts once.
    assert_eq!(numbers(&section, ["calls", "total_ns", "functions"]), [3, 5000, 2]);
    assert_eq!(
        cells(
            &section,
            "jni_functions",
            ["function", "calls", "total_ns", "self_ns", "mean_ns", "longest_ns", "self_percent"]
        ),
        [
            ["CallVoidMethod", "1", "5000", "4600", "5000", "5000", "92.0"],
            ["GetArrayLength", "2", "400", "400", "200", "300", "8.0"]
        ]
    );
    assert_eq!(
        cells(&section, "jni_callers", ["function", "caller", "calls", "total_ns"]),
        [
            ["CallVoidMethod", "com.shop.Cart.add", "1", "5000"],
            ["GetArrayLength", "libshop.so!run", "1", "300"],
            ["GetArrayLength", "com.shop.Cart.add", "1", "100"]
        ]
    );
    assert_eq!(cells(&section, "jni_threads", ["tid", "calls"]), [["8", "1"], ["7", "2"]]);
}

#[test]
fn what_the_kernel_counted_and_what_came_as_events_is_one_sum() {
    let mut play = Play::default();
    let add = play.name("com.shop.Cart.add");
    let mut jni = Jni::default();
    let first = JniTallies { calls: vec![tally("GetArrayLength", add, 7, 5, 500, 150)], ..JniTallies::default() };
    let last = JniTallies { calls: vec![tally("GetArrayLength", add, 7, 9, 900, 200)], ..JniTallies::default() };
    for tallies in [first, last] {
        // The last reading has everything.
        Analysis::tallies(&mut jni, &Tallies { jni: tallies, ..Tallies::default() });
    }
    let section = play.section(&mut jni, 10, &[(1, 7, call("GetArrayLength", add, 1000, 0))]);
    assert_eq!(numbers(&section, ["calls", "total_ns"]), [10, 1900]);
    assert_eq!(
        cells(&section, "jni_functions", ["calls", "total_ns", "mean_ns", "longest_ns"]),
        [["10", "1900", "190", "1000"]]
    );
}

#[test]
fn a_call_without_a_duration_is_counted_and_one_that_is_not_wanted_is_not() {
    let mut play = Play::default();
    let add = play.name("com.shop.Cart.add");
    let fatal = |wanted| Payload::JniCall {
        function: function("FatalError"),
        caller: add,
        total_ns: None,
        inner_ns: 0,
        depth: 1,
        wanted,
    };
    let section = play.section(&mut Jni::default(), 10, &[(1, 7, fatal(true)), (2, 7, fatal(false))]);
    assert_eq!(numbers(&section, ["calls", "total_ns"]), [1, 0]);
    assert_eq!(cells(&section, "jni_functions", ["calls", "total_ns", "mean_ns"]), [["1", "-", "-"]]);
}

#[test]
fn critical_sections_have_their_caller_and_those_that_are_open_their_time_until_the_end() {
    let mut play = Play::default();
    let (sum, hold) = (play.name("com.shop.Cart.sum"), play.name("com.shop.Cart.hold"));
    let mut jni = Jni::default();
    let counted = JniTallies {
        sections: vec![tally("GetPrimitiveArrayCritical", sum, 7, 3, 60, 30)],
        lasted: vec![(10, 1), (20, 1), (30, 1)],
        open: vec![OpenSection {
            tid: Tid(9),
            function: function("GetStringCritical"),
            caller: hold,
            since_ns: 4 * MS,
        }],
        ..JniTallies::default()
    };
    Analysis::tallies(&mut jni, &Tallies { jni: counted, ..Tallies::default() });
    let section = play.section(&mut jni, 10, &[(1, 8, critical(sum, 40))]);
    let keys = ["critical_sections", "critical_ns", "critical_longest_ns", "critical_open", "critical_open_ns"];
    assert_eq!(numbers(&section, keys), [4, 100, 40, 1, 6 * MS]);
    assert_eq!(
        cells(
            &section,
            "jni_critical_sections",
            ["caller", "function", "sections", "total_ns", "longest_ns", "open", "open_ns"]
        ),
        [
            ["com.shop.Cart.hold", "GetStringCritical", "0", "0", "0", "1", "6000000"],
            ["com.shop.Cart.sum", "GetPrimitiveArrayCritical", "4", "100", "40", "0", "-"]
        ]
    );
    assert_eq!(
        cells(&section, "jni_critical_threads", ["tid", "sections", "open"]),
        [["9", "0", "1"], ["7", "3", "0"], ["8", "1", "0"]]
    );
    let distribution = section.shapes.iter().find_map(|shape| match shape {
        crate::report::Shape::Histogram(histogram) => Some((histogram.id, histogram.count, histogram.max)),
        _ => None,
    });
    assert_eq!(distribution, Some(("jni_critical_times", 4, 40)));
}

#[test]
fn without_critical_sections_there_are_no_tables_of_them() {
    let play = Play::default();
    let section = play.section(&mut Jni::default(), 10, &[]);
    assert_eq!(shape_ids(&section), ["jni_functions", "jni_callers", "jni_threads"]);
    assert_eq!(numbers(&section, ["calls", "critical_sections", "critical_open"]), [0, 0, 0]);
}

#[test]
fn time_is_shown_by_stack_where_stacks_were_taken() {
    let mut play = Play::default();
    let add = play.name("com.shop.Cart.add");
    let stack = play.stack(&["com.shop.Main.main:3", "com.shop.Cart.add", "libjvm.so jni_GetArrayLength"]);
    let events =
        [(1, 7, stack, call("GetArrayLength", add, 100, 0)), (2, 7, stack, call("GetArrayLength", add, 60, 0))];
    let section = play.section_of_stacks(&mut Jni::default(), 10, &events);
    let frames = "com.shop.Main.main:3;com.shop.Cart.add;libjvm.so!jni_GetArrayLength".to_owned();
    assert_eq!(profile_rows(&section, "jni_stacks"), [(frames, "tid 7".to_owned(), 160, 2)]);
}

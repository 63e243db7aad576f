//! Closed forms of the lens `jit`.

use super::{
    super::testing::{MS, Play, cells, first_keys, numbers},
    *,
};
use crate::event::StackId;

fn compile(edge: Edge, compiler: NameId, method: MethodName, success: bool) -> Payload {
    Payload::Compile { edge, compiler, method, success }
}

fn method(play: &mut Play, name: &str) -> MethodName {
    MethodName { class: play.name("com/shop/Cart"), method: play.name(name), signature: play.name("(I)V") }
}

#[test]
fn compilations_are_paired_by_thread() {
    let mut play = Play::default();
    let (c1, c2) = (play.name("C1"), play.name("C2"));
    let (add, total) = (method(&mut play, "add"), method(&mut play, "total"));
    let section = play.section(
        &mut Jit::default(),
        1000,
        &[
            (0, 1, compile(Edge::Begin, c1, add, true)),
            (0, 2, compile(Edge::Begin, c2, total, true)),
            (2, 1, compile(Edge::End, c1, add, true)),
            (2, 1, Payload::CodeLoaded { method: add, start: 0x1000, bytes: 300 }),
            (40, 2, compile(Edge::End, c2, total, false)),
            (41, 2, Payload::CodeUnloaded { method: add }),
        ],
    );
    assert_eq!(
        first_keys(&section, 5),
        ["compilations", "failures", "compile_total_ns", "code_loaded_bytes", "code_unloaded"]
    );
    assert_eq!(
        numbers(&section, ["compilations", "failures", "compile_total_ns", "code_loaded_bytes", "code_unloaded"]),
        [2, 1, 42 * MS, 300, 1]
    );
    assert_eq!(
        cells(&section, "compilers", ["compiler", "count", "failures", "total_ns"]),
        [["C2", "1", "1", "40000000"], ["C1", "1", "0", "2000000"]]
    );
    assert_eq!(
        cells(&section, "slowest", ["method", "total_ns"]),
        [["com.shop.Cart.total(I)V", "40000000"], ["com.shop.Cart.add(I)V", "2000000"]]
    );
    assert_eq!(cells(&section, "largest", ["method", "bytes"]), [["com.shop.Cart.add(I)V", "300"]]);
    assert_eq!(cells(&section, "failed", ["method"]), [["com.shop.Cart.total(I)V"]]);
    assert!(cells(&section, "repeated", ["method"]).is_empty());
}

#[test]
fn unpaired_ends_count_as_compilations_without_time() {
    let mut play = Play::default();
    let c2 = play.name("C2");
    let (add, total) = (method(&mut play, "add"), method(&mut play, "total"));
    let section = play.section(
        &mut Jit::default(),
        1000,
        &[
            (1, 1, compile(Edge::End, c2, add, true)),
            (2, 1, compile(Edge::Begin, c2, add, true)),
            (3, 1, compile(Edge::End, c2, total, true)),
            (4, 1, compile(Edge::Begin, c2, add, true)),
        ],
    );
    assert_eq!(numbers(&section, ["compilations", "compile_total_ns"]), [2, 0]);
    assert!(section.notes[0].contains("not counted: 1 compilation."));
    assert!(section.notes[1].contains("2 ends without") && section.notes[1].contains("1 beginning "));
}

#[test]
fn a_method_compiled_four_times_is_repeated() {
    let mut play = Play::default();
    let c2 = play.name("C2");
    let add = method(&mut play, "add");
    let events = vec![(1, 1, compile(Edge::End, c2, add, true)); 4];
    let section = play.section(&mut Jit::default(), 1000, &events);
    assert_eq!(cells(&section, "repeated", ["method", "count"]), [["com.shop.Cart.add(I)V", "4"]]);
}

#[test]
fn a_loop_is_compiled_again_after_its_code_was_given_up() {
    let mut play = Play::default();
    let c2 = play.name("C2");
    let (add, total) = (method(&mut play, "add"), method(&mut play, "total"));
    let trap = play.stack(&[
        "com.shop.Main.main:1",
        "com.shop.Cart.add:12",
        "stub UncommonTrapBlob",
        "libjvm.so Deoptimization::uncommon_trap(JavaThread*, int, int)",
    ]);
    let other = play.stack(&["com.shop.Cart.add:12", "libfoo.so Deoptimization::of_its_own"]);
    let mut events = Vec::new();
    for round in 0..5 {
        events.push((round, 1, StackId::default(), compile(Edge::End, c2, add, true)));
        events.push((round, 1, StackId::default(), compile(Edge::End, c2, total, true)));
    }
    let sample = Payload::CpuSample { period_ns: 1 };
    events.extend([(7, 7, trap, sample), (8, 7, trap, sample), (9, 7, other, sample)]);
    let section = play.section_of_stacks(&mut Jit::default(), 1000, &events);
    assert_eq!(
        cells(&section, "loops", ["method", "count", "unloaded", "deoptimised_samples"]),
        [["com.shop.Cart.add(I)V", "5", "0", "2"]]
    );
    assert_eq!(cells(&section, "deoptimised", ["method", "samples"]), [["com.shop.Cart.add", "2"]]);
    events.push((20, 7, StackId::default(), Payload::CodeUnloaded { method: total }));
    let section = play.section_of_stacks(&mut Jit::default(), 1000, &events);
    assert_eq!(cells(&section, "loops", ["method"]).len(), 2, "code that goes away is evidence, too");
}

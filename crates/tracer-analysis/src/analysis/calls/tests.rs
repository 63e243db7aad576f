//! Closed forms of graphs, contexts and places.

mod projection;

use tracer_common::tally::CUT;

use super::{
    super::testing::{Play, cells, first_keys, numbers, profile_rows, shape_ids},
    *,
};
use crate::{
    event::{StackId, SubjectId},
    report::{Node, Shape},
    subject::{MethodPart, Subject},
    tally::{ContextTallies, ContextTally},
};

const SP: u64 = 1 << 40;
const NONE: StackId = StackId(0);

/// Events of threads that call and return.
#[derive(Default)]
struct Script(Vec<(u64, u32, StackId, Payload)>);

impl Script {
    fn enter(&mut self, tid: u32, stack: StackId, method: SubjectId, depth: u64) {
        let payload = Payload::Method { edge: Edge::Begin, method, sp: SP - 100 * depth, wanted: true };
        self.0.push((self.0.len() as u64, tid, stack, payload));
    }

    fn leave(&mut self, tid: u32, method: SubjectId, depth: u64) {
        let payload = Payload::Method { edge: Edge::End, method, sp: SP - 100 * depth, wanted: true };
        self.0.push((self.0.len() as u64, tid, NONE, payload));
    }

    /// Calls inside each other, the outermost first, and back.
    fn path(&mut self, tid: u32, methods: &[SubjectId]) {
        for (depth, method) in (0..).zip(methods) {
            self.enter(tid, NONE, *method, depth);
        }
        for (depth, method) in (0..).zip(methods).collect::<Vec<_>>().into_iter().rev() {
            self.leave(tid, *method, depth);
        }
    }

    fn fib(&mut self, method: SubjectId, n: u64, depth: u64) {
        self.enter(7, NONE, method, depth);
        if n > 1 {
            self.fib(method, n - 1, depth + 1);
            self.fib(method, n - 2, depth + 1);
        }
        self.leave(7, method, depth);
    }

    fn section(&self, play: &Play) -> Section {
        play.section_of_stacks(&mut Calls::default(), self.0.len() as u64, &self.0)
    }
}

const SUMMARY: [&str; 5] = ["nodes", "edges", "call_sites", "contexts", "calls"];

#[test]
fn fib_has_as_many_contexts_as_it_is_deep() {
    let mut play = Play::default();
    let fib = play.method("Fib", "fib", "(I)J");
    let mut script = Script::default();
    script.fib(fib, 15, 0);
    let section = script.section(&play);
    assert_eq!(first_keys(&section, 9), SUMMARY);
    assert_eq!(numbers(&section, SUMMARY), [1, 2, 0, 15, 1973]);
    assert_eq!(
        cells(&section, "edges", ["caller", "callee", "signature", "kind", "calls"]),
        [["Fib.fib", "Fib.fib", "(I)J", "method", "1972"], ["<root>", "Fib.fib", "(I)J", "method", "1"]]
    );
    assert_eq!(shape_ids(&section), ["edges", "threads", "contexts", "calls", "context_times"]);
}

#[test]
fn contexts_keep_apart_what_the_graph_puts_together() {
    let mut play = Play::default();
    let methods = ["a", "b", "c", "d", "e"].map(|name| play.method("R", name, "()V"));
    let mut script = Script::default();
    for _ in 0..3 {
        script.path(7, &[0, 1, 2, 4].map(|at| methods[at]));
        script.path(8, &[0, 3, 2].map(|at| methods[at]));
    }
    let section = script.section(&play);
    assert_eq!(numbers(&section, SUMMARY), [5, 6, 0, 7, 21]);
    let edges = cells(&section, "edges", ["caller", "callee", "calls"]);
    for expected in [["R.b", "R.c", "3"], ["R.d", "R.c", "3"], ["R.c", "R.e", "3"], ["<root>", "R.a", "6"]] {
        assert!(edges.iter().any(|edge| edge == &expected), "{expected:?} is not in {edges:?}");
    }
    let paths: Vec<_> = profile_rows(&section, "calls").into_iter().map(|row| (row.0, row.1, row.2)).collect();
    assert!(paths.contains(&("R.a;R.b;R.c;R.e".to_owned(), "tid 7".to_owned(), 3)));
    assert!(paths.contains(&("R.a;R.d;R.c".to_owned(), "tid 8".to_owned(), 3)));
    assert!(!paths.iter().any(|(path, ..)| path == "R.a;R.d;R.c;R.e"), "{paths:?}");
    assert_eq!(
        cells(&section, "threads", ["thread", "calls", "methods", "edges", "contexts"]),
        [["tid 7", "12", "4", "4", "4"], ["tid 8", "9", "3", "3", "3"]]
    );
}

fn labels(node: &Node, depth: usize, into: &mut Vec<(usize, String, f64)>) {
    into.push((depth, node.label.clone(), node.value));
    node.children.iter().for_each(|child| labels(child, depth + 1, into));
}

#[test]
fn the_tree_has_every_call_once() {
    let mut play = Play::default();
    let [a, b] = ["a", "b"].map(|name| play.method("R", name, "()V"));
    let mut script = Script::default();
    script.path(7, &[a, b]);
    script.path(8, &[a, b, b]);
    script.path(8, &[b]);
    let section = script.section(&play);
    let Some(Shape::Tree(tree)) = section.shapes.iter().find(|shape| matches!(shape, Shape::Tree(_))) else {
        panic!("no tree")
    };
    let mut found = Vec::new();
    labels(&tree.root, 0, &mut found);
    let expected = [
        (0, "all threads", 6.0),
        (1, "R.a (2 calls)", 5.0),
        (2, "R.b (2 calls)", 3.0),
        (3, "R.b (1 calls)", 1.0),
        (1, "R.b (1 calls)", 1.0),
    ];
    let expected: Vec<_> = expected.into_iter().map(|(depth, label, value)| (depth, label.to_owned(), value)).collect();
    assert_eq!(found, expected);
}

#[test]
fn deep_recursion_is_one_context_a_level_and_its_tree_is_cut() {
    let mut play = Play::default();
    let down = play.method("R", "down", "(I)I");
    let mut script = Script::default();
    script.path(7, &vec![down; 10_000]);
    let section = script.section(&play);
    assert_eq!(numbers(&section, SUMMARY), [1, 2, 0, 10_000, 10_000]);
    let tree = section.shapes.iter().find_map(|shape| match shape {
        Shape::Tree(tree) => Some(tree),
        _ => None,
    });
    let mut found = Vec::new();
    labels(&tree.expect("a tree").root, 0, &mut found);
    assert_eq!(found.len(), 52);
    assert_eq!(found.last(), Some(&(51, "(others)".to_owned(), 9950.0)));
    let Some(Shape::Profile(profile)) = section.shapes.iter().find(|shape| matches!(shape, Shape::Profile(_))) else {
        panic!("no profile")
    };
    assert_eq!(profile.total(), 10_000, "what has no room of its own is in one stack");
    assert!(profile.stacks.iter().any(|stack| stack.cut == "512 frames"));
    assert!(profile.stacks.iter().map(|stack| stack.frames.len()).sum::<usize>() <= 4 << 20);
}

#[test]
fn a_stack_tells_the_caller_its_place_and_how_many_a_place_calls() {
    let mut play = Play::default();
    let [a, b, c] = ["A", "B", "C"].map(|class| play.method(class, "area", "()J"));
    let two = play.method("Receivers", "two", "()J");
    let from = |play: &mut Play, caller: &str, callee: &str| play.stack(&["Receivers.main:3", caller, callee]);
    let mut script = Script::default();
    let entry = play.stack(&["Receivers.main:3", "Receivers.two:20"]);
    script.enter(7, entry, two, 0);
    for (callee, name, times) in [(a, "A.area", 5), (b, "B.area", 3)] {
        let stack = from(&mut play, "Receivers.two:21", name);
        for _ in 0..times {
            script.enter(7, stack, callee, 1);
            script.leave(7, callee, 1);
        }
    }
    script.leave(7, two, 0);
    // Nobody chose `five`, so its calls are made from the root's context, but by `five`.
    for (callee, name) in [(a, "A.area"), (b, "B.area"), (c, "C.area")] {
        let stack = from(&mut play, "Receivers.five:31", name);
        script.enter(7, stack, callee, 1);
        script.leave(7, callee, 1);
    }
    let section = script.section(&play);
    // Nodes: four chosen methods, `main` and `five`.
    assert_eq!(numbers(&section, SUMMARY), [6, 6, 3, 6, 12]);
    assert_eq!(
        cells(&section, "sites", ["caller", "line", "kind", "callees", "names", "calls"]),
        [
            ["Receivers.five", "31", "megamorphic", "3", "A.area, B.area, C.area", "3"],
            ["Receivers.two", "21", "bimorphic", "2", "A.area, B.area", "8"],
            ["Receivers.main", "3", "monomorphic", "1", "Receivers.two", "1"]
        ]
    );
    assert_eq!(
        cells(&section, "site_kinds", ["kind", "sites", "calls"]),
        [["bimorphic", "1", "8"], ["megamorphic", "1", "3"], ["monomorphic", "1", "1"]]
    );
    let paths: Vec<_> = profile_rows(&section, "calls").into_iter().map(|row| (row.0, row.2)).collect();
    assert_eq!(paths[..2], [("Receivers.two:21;A.area".to_owned(), 5), ("Receivers.two:21;B.area".to_owned(), 3)]);
}

#[test]
fn an_initialiser_has_its_trigger_and_a_native_method_is_a_caller() {
    let mut play = Play::default();
    let clinit = play.method("Held", "<clinit>", "()V");
    let native = play.subject(Subject {
        class: "Bridge".to_owned(),
        method: Some(MethodPart { name: "call".to_owned(), signature: "()V".to_owned(), native: true }),
    });
    let back = play.method("Bridge", "back", "()V");
    let mut script = Script::default();
    let trigger = play.stack(&["Main.by:12", "libjvm.so InstanceKlass::initialize", "Held.<clinit>:1"]);
    script.enter(7, trigger, clinit, 1);
    script.leave(7, clinit, 1);
    let down = play.stack(&["Main.run:30", "Bridge.call"]);
    script.enter(7, down, native, 1);
    for _ in 0..4 {
        let up = play.stack(&["Main.run:30", "Bridge.call", "libbridge.so Java_Bridge_call", "Bridge.back:9"]);
        script.enter(7, up, back, 2);
        script.leave(7, back, 2);
    }
    script.leave(7, native, 1);
    let section = script.section(&play);
    assert_eq!(
        cells(&section, "initialisers", ["initialiser", "caller", "line", "calls"]),
        [["Held.<clinit>", "Main.by", "12", "1"]]
    );
    let edges = cells(&section, "edges", ["caller", "callee", "kind", "calls"]);
    assert!(edges.contains(&["Bridge.call", "Bridge.back", "method", "4"].map(str::to_owned)), "{edges:?}");
    assert!(edges.contains(&["Main.run", "Bridge.call", "native", "1"].map(str::to_owned)), "{edges:?}");
}

#[test]
fn two_methods_of_one_name_are_two_nodes() {
    let mut play = Play::default();
    let [first, second] = [play.method("a.B", "m", "()V"), play.method("a.B", "m", "()V")];
    let mut script = Script::default();
    script.path(7, &[first, second]);
    assert_eq!(numbers(&script.section(&play), ["nodes", "edges"]), [2, 2]);
}

#[test]
fn what_the_kernel_counted_by_context_is_the_same_graph_and_tree() {
    let mut play = Play::default();
    let [outer, method] = [play.method("a.Main", "main", "()V"), play.method("a.B", "m", "()V")];
    let stack = play.stack(&["a.Main.main:3", "a.B.m:9"]);
    let tally = |id, parent, subject: SubjectId, stack: StackId, count| ContextTally {
        id,
        parent,
        subject: subject.0,
        tid: 7,
        stack: stack.0,
        count,
        ..ContextTally::default()
    };
    let none = StackId::default();
    let list = vec![tally(11, 10, method, stack, 40), tally(10, 0, outer, none, 1), tally(12, CUT, method, none, 2)];
    let mut calls = Calls::default();
    let contexts = Some(ContextTallies { calls: list, objects: Vec::new() });
    calls.tallies(&Tallies { contexts, ..Tallies::default() });
    calls.tallies(&Tallies::default());
    let section = play.section(&mut calls, 10, &[]);
    assert_eq!(numbers(&section, SUMMARY), [2, 3, 1, 2, 43]);
    let mut edges = cells(&section, "edges", ["caller", "line", "callee", "calls"]);
    edges.sort();
    assert_eq!(
        edges,
        [["<not known>", "-", "a.B.m", "2"], ["<root>", "-", "a.Main.main", "1"], ["a.Main.main", "3", "a.B.m", "40"]]
    );
    let rows = profile_rows(&section, "calls");
    assert_eq!(rows[0], ("a.Main.main:3;a.B.m".to_owned(), "tid 7".to_owned(), 40, 40));
    assert_eq!(rows[1], ("a.B.m".to_owned(), "tid 7".to_owned(), 2, 2));
}

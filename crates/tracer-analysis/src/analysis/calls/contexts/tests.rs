//! Closed forms of the tree of contexts.

use tracer_common::tally::CUT;

use super::*;

#[test]
fn counted_contexts_get_their_parents_first_and_duplicates_become_one() {
    let tally =
        |id, parent, subject, count| ContextTally { id, parent, subject, tid: 7, count, ..ContextTally::default() };
    // 30 stands for what 20 does; 40 is cut, 50 is below something that is not there.
    let list = [
        tally(21, 20, 2, 3),
        tally(31, 30, 2, 4),
        tally(20, 0, 1, 5),
        tally(30, 0, 1, 6),
        tally(40, CUT, 1, 7),
        tally(50, 99, 3, 8),
    ];
    let contexts = Contexts::counted(&list);
    let told: Vec<_> =
        contexts.nodes().iter().map(|node| (node.parent, node.cut, node.method.0, node.amounts.calls)).collect();
    assert_eq!(told, [(None, false, 1, 11), (Some(0), false, 2, 7), (None, true, 1, 7), (None, true, 3, 8)]);
    assert!(contexts.note().is_some_and(|note| note.contains("15 calls")));
}

#[test]
fn contexts_of_threads_that_ended_are_one_tree_and_a_call_under_way_has_its_new_number() {
    let mut contexts = Contexts::default();
    let call = |method| Call { method: SubjectId(method), stack: StackId::default(), inlined: false };
    let mut under_way = Vec::new();
    for tid in 1..=20_000 {
        let outer = contexts.call(Tid(tid), None, call(0));
        under_way.push(contexts.call(Tid(tid), Some(outer), call(1)));
    }
    let numbers = contexts.sum_up(&EndedThreads::of(1..=19_999)).expect("there are many");
    let told: Vec<_> =
        contexts.nodes().iter().map(|node| (node.parent, node.tid.0, node.method.0, node.amounts.calls)).collect();
    assert_eq!(told, [(None, 0, 0, 19_999), (Some(0), 0, 1, 19_999), (None, 20_000, 0, 1), (Some(2), 20_000, 1, 1)]);
    let Some(ContextId::At(last)) = under_way.last() else { panic!("it has a context") };
    let now = ContextId::At(numbers[*last as usize]);
    contexts.left(now, 5, 5, false);
    assert_eq!(contexts.nodes()[3].amounts.total_ns, 5);
    assert_eq!(contexts.call(Tid(20_000), Some(now), call(0)), ContextId::At(4));
    assert!(contexts.sum_up(&EndedThreads::of(20_000..=20_000)).is_none(), "there are few now");
}

#[test]
fn contexts_beyond_the_limit_keep_caller_and_callee() {
    let mut contexts = Contexts { limit: 2, ..Contexts::default() };
    let call = |method| Call { method: SubjectId(method), stack: StackId::default(), inlined: false };
    let outer = contexts.call(Tid(1), None, call(0));
    let inner = contexts.call(Tid(1), Some(outer), call(1));
    for _ in 0..3 {
        let beyond = contexts.call(Tid(1), Some(inner), call(2));
        assert_eq!(beyond, ContextId::Beyond(SubjectId(2)));
        assert_eq!(contexts.call(Tid(1), Some(beyond), call(0)), ContextId::Beyond(SubjectId(0)));
    }
    assert_eq!(contexts.call(Tid(1), None, call(0)), outer);
    let mut beyond: Vec<_> =
        contexts.beyond().map(|(caller, callee, amounts)| (caller, callee, amounts.calls)).collect();
    beyond.sort_unstable();
    assert_eq!(beyond, [(Some(SubjectId(1)), SubjectId(2), 3), (Some(SubjectId(2)), SubjectId(0), 3)]);
    assert!(contexts.note().is_some_and(|note| note.contains("first 2 contexts") && note.contains("6 calls")));
}

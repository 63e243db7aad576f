//! Sums of what threads that ended have counted: no call is lost, whatever the order.

use tracer_common::tally::Context;

use super::*;
use crate::event::SubjectId;

fn met(id: u64, parent: u64, subject: u32, tid: u32, count: u64) -> Met {
    let context = Context { parent, stack: 7, tid, count, total_ns: 10 * count, largest: count, ..Context::default() };
    Met::new(id, &context, SubjectId(subject), true, true)
}

fn told(sums: &EndedContexts) -> Vec<(u32, u32, u64, u64, u64)> {
    let mut told: Vec<_> = sums
        .all()
        .map(|met| (met.tally.subject, met.tally.tid, met.tally.count, met.tally.total_ns, met.tally.largest))
        .collect();
    told.sort_unstable();
    told
}

#[test]
fn equal_contexts_of_ended_threads_are_one_and_no_call_is_lost() {
    let mut sums = EndedContexts::default();
    // Inner ones first: the kernel's table has no order.
    sums.add(&[met(11, 10, 2, 5, 3), met(10, 0, 1, 5, 1), met(12, 0, 2, 5, 9)]);
    sums.add(&[met(20, 0, 1, 6, 1), met(21, 20, 2, 6, 4)]);
    assert_eq!(told(&sums), [(1, 0, 2, 20, 1), (2, 0, 7, 70, 4), (2, 0, 9, 90, 9)]);
    let outer = sums.all().find(|met| met.tally.subject == 1).map(|met| met.tally.id);
    let inner = sums.all().find(|met| met.tally.count == 7).map(|met| met.tally.parent);
    assert_eq!(outer, inner, "what is around a context stays so");
}

#[test]
fn without_room_contexts_lose_what_is_around_them_and_no_call() {
    let mut sums = EndedContexts { limit: 1, ..EndedContexts::default() };
    sums.add(&[met(10, 0, 1, 5, 1), met(11, 10, 2, 5, 3), met(12, 11, 3, 5, 1), met(13, 12, 2, 5, 5)]);
    assert_eq!(told(&sums).iter().map(|one| (one.0, one.2)).collect::<Vec<_>>(), [(1, 1), (2, 8), (3, 1)]);
    assert!(sums.all().all(|met| met.tally.subject == 1 || met.tally.parent == CUT));
}

#[test]
fn a_circle_ends() {
    let mut sums = EndedContexts::default();
    sums.add(&[met(5, 6, 1, 1, 1), met(6, 5, 2, 1, 1)]);
    assert_eq!(told(&sums).iter().map(|one| one.2).sum::<u64>(), 2);
}

#[test]
fn a_thread_is_complete_once_it_had_ended_before_its_entries_were_read() {
    let mut threads = EndedThreads::default();
    let mut ask = |alive: &[u32], met: &[u32], is_last| {
        let complete =
            threads.complete_beside(&alive.iter().copied().collect(), met.iter().copied().collect(), is_last);
        let mut complete: Vec<_> = complete.into_iter().collect();
        complete.sort_unstable();
        complete
    };
    assert!(ask(&[1], &[1, 2, 3], false).is_empty());
    assert_eq!(ask(&[1, 3], &[1, 2, 3, 4], false), [2], "3 is another thread by now, 4 has ended just now");
    assert_eq!(ask(&[1], &[1, 3, 4], false), [4]);
    assert_eq!(ask(&[1], &[1, 3, 5], true), [3, 5]);
}
